//! `sum` and `avg` that are exact: they add decimals, round once at the end, and so give the same answer however the
//! records were cut among threads. DataFusion's add doubles one by one.

mod total;

use crate::base::error::Error;
use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Float64Array, StringArray};
use arrow::datatypes::{DataType, Decimal128Type, Field, FieldRef, Float64Type, Int64Type, UInt64Type};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::functions_aggregate::{average::avg_udaf, sum::sum_udaf};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
};
use jird_formats::ColumnType;
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::mem;
use std::sync::Arc;
use total::{Change, TooFar, Total};

/// What becomes of a total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Answer {
    /// The sum as a double.
    Sum,
    /// The mean as a double.
    Mean,
    /// The sum as a JSON number.
    Json,
}

/// An exact aggregate.
#[derive(Debug)]
pub(crate) struct Exact {
    name: &'static str,
    answer: Answer,
    signature: Signature,
    /// DataFusion's function of this name. It does what is not concerned with doubles.
    theirs: Option<Arc<AggregateUDF>>,
}

impl Exact {
    /// All exact aggregates: DataFusion's names over values, and names of ours over JSON texts.
    pub(crate) fn all() -> Vec<AggregateUDF> {
        let any = || Signature::any(1, Volatility::Immutable);
        let over_json = |name, answer| Self { name, answer, signature: any(), theirs: None };
        let over_values = |name, answer, theirs: Arc<AggregateUDF>| Self {
            name,
            answer,
            signature: theirs.signature().clone(),
            theirs: Some(theirs),
        };
        let all = [
            over_values("sum", Answer::Sum, sum_udaf()),
            over_values("avg", Answer::Mean, avg_udaf()),
            over_json(crate::sql::NUMBER_SUM, Answer::Sum),
            over_json(crate::sql::NUMBER_AVG, Answer::Mean),
            over_json(crate::sql::JSON_SUM, Answer::Json),
        ];
        all.into_iter().map(AggregateUDF::from).collect()
    }

    /// DataFusion's function, if it does the work for values of this type.
    fn delegate(&self, kind: &DataType, distinct: bool) -> Option<&AggregateUDF> {
        let theirs = self.theirs.as_deref()?;
        let is_ours = match kind {
            DataType::Float64 => true,
            DataType::Int64 | DataType::UInt64 | DataType::Decimal128(..) => self.answer == Answer::Mean,
            _ => false,
        };
        let is_theirs_anyway = distinct && self.answer == Answer::Sum && *kind != DataType::Float64;
        (is_theirs_anyway || !is_ours).then_some(theirs)
    }

    fn kind<'a>(args: &'a AccumulatorArgs<'_>) -> &'a DataType {
        args.expr_fields[0].data_type()
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Exact {}

impl Hash for Exact {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl AggregateUDFImpl for Exact {
    fn name(&self) -> &str {
        self.name
    }

    fn aliases(&self) -> &[String] {
        self.theirs.as_deref().map_or(&[], AggregateUDF::aliases)
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let exact = match types {
            [integer] if integer.is_signed_integer() => Some(DataType::Int64),
            [integer] if integer.is_unsigned_integer() => Some(DataType::UInt64),
            [DataType::Float16 | DataType::Float32 | DataType::Float64] => Some(DataType::Float64),
            [DataType::Decimal128(precision, scale)] => Some(DataType::Decimal128(*precision, *scale)),
            _ => None,
        };
        match (&self.theirs, exact) {
            (Some(_), Some(exact)) if self.answer == Answer::Mean => Ok(vec![exact]),
            (Some(theirs), _) => theirs.coerce_types(types),
            (None, _) => Ok(types.to_vec()),
        }
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        if let Some(theirs) = self.delegate(&types[0], false) {
            return theirs.return_type(types);
        }
        Ok(if self.answer == Answer::Json { DataType::Utf8 } else { DataType::Float64 })
    }

    fn return_field(&self, fields: &[FieldRef]) -> Result<FieldRef> {
        let kind = self.return_type(&fields.iter().map(|field| field.data_type().clone()).collect::<Vec<_>>())?;
        let field = match self.answer {
            Answer::Json => ColumnType::Json.field(self.name),
            _ => Field::new(self.name, kind, true),
        };
        Ok(Arc::new(field))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if let Some(theirs) = self.delegate(args.input_fields[0].data_type(), args.is_distinct) {
            return theirs.state_fields(args);
        }
        Ok(vec![Arc::new(Field::new(format!("{}[{}]", args.name, self.name), DataType::Binary, true))])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match self.delegate(Self::kind(&args), args.is_distinct) {
            Some(theirs) => theirs.accumulator(args),
            None if args.is_distinct => Ok(Box::new(Distinct { values: BTreeSet::new(), answer: self.answer })),
            None => Ok(Box::new(One { total: Total::default(), answer: self.answer })),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match self.delegate(Self::kind(&args), args.is_distinct) {
            Some(theirs) => theirs.create_sliding_accumulator(args),
            None => self.accumulator(args),
        }
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        match self.delegate(Self::kind(&args), args.is_distinct) {
            Some(theirs) => theirs.groups_accumulator_supported(args),
            None => !args.is_distinct,
        }
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        match self.delegate(Self::kind(&args), args.is_distinct) {
            Some(theirs) => theirs.create_groups_accumulator(args),
            None => Ok(Box::new(Groups { totals: Vec::new(), answer: self.answer })),
        }
    }
}

/// The sum or the mean of the numbers among JSON texts, as a JSON number. Without numbers there is none.
pub(super) fn exact_total<'t>(texts: impl Iterator<Item = &'t str>, mean: bool) -> Result<Option<String>> {
    let mut total = Total::default();
    for number in texts.filter_map(|text| jird::record::Field::from_raw(text).as_number()) {
        total.number(number, Change::Add).map_err(far)?;
    }
    if total.count() == 0 {
        return Ok(None);
    }
    if !mean {
        return Ok(total.text());
    }
    let mut text = Vec::new();
    jird::event::Numeral::F64(total.mean()).write(&mut text);
    Ok(String::from_utf8(text).ok())
}

/// Rows that belong to totals.
trait Rows {
    /// The total of a row, unless the row is left out.
    fn total(&mut self, row: usize) -> Option<&mut Total>;
}

/// The error for a number that is too far from the others.
fn far(TooFar(number): TooFar) -> Error {
    Error::data(format!(
        "{number} has more digits before or after its point than an exact sum takes: leave such numbers out, or sum number(x)"
    ))
}

/// Adds the numbers of a column to their totals, or takes them back. Nulls, and JSON texts that are not numbers, are
/// left out.
fn change(values: &ArrayRef, rows: &mut impl Rows, change: Change) -> Result<()> {
    macro_rules! each {
        ($values:expr, |$total:ident, $value:ident| $add:expr) => {
            for (row, value) in $values.iter().enumerate() {
                if let Some($value) = value
                    && let Some($total) = rows.total(row)
                {
                    $add
                }
            }
        };
    }
    match values.data_type() {
        DataType::Utf8 => each!(values.as_string::<i32>(), |total, text| {
            if let Some(number) = jird::record::Field::from_raw(text).as_number() {
                total.number(number, change).map_err(far)?;
            }
        }),
        DataType::Float64 => each!(values.as_primitive::<Float64Type>(), |total, value| {
            total.double(value, change).map_err(far)?;
        }),
        DataType::Int64 => {
            each!(values.as_primitive::<Int64Type>(), |total, value| total.scaled(value.into(), 0, change))
        }
        DataType::UInt64 => {
            each!(values.as_primitive::<UInt64Type>(), |total, value| total.scaled(value.into(), 0, change));
        }
        DataType::Decimal128(_, scale) => {
            let (places, zeros) = (u32::from(scale.max(&0).unsigned_abs()), u32::from(scale.min(&0).unsigned_abs()));
            let power = 10_i128.pow(zeros);
            each!(values.as_primitive::<Decimal128Type>(), |total, value| {
                total.scaled(value.saturating_mul(power), places, change);
            });
        }
        other => return Err(Error::sql(format!("there is no sum of {other}")).into()),
    }
    Ok(())
}

/// Adds totals of other threads.
fn merge(states: &ArrayRef, rows: &mut impl Rows) -> Result<()> {
    for (row, bytes) in states.as_binary::<i32>().iter().enumerate() {
        if let Some(bytes) = bytes
            && let Some(total) = rows.total(row)
        {
            let other = Total::of_bytes(bytes).ok_or_else(|| Error::data("a sum of another thread cannot be read"))?;
            total.merge(&other);
        }
    }
    Ok(())
}

impl Answer {
    /// The answers for some totals. Nothing was summed: null.
    fn of(self, totals: &[Total]) -> ArrayRef {
        let doubles = |answer: fn(&Total) -> f64| {
            let answers = totals.iter().map(|total| (total.count() > 0).then(|| answer(total)));
            Arc::new(answers.collect::<Float64Array>()) as ArrayRef
        };
        match self {
            Self::Sum => doubles(Total::sum),
            Self::Mean => doubles(Total::mean),
            Self::Json => {
                let texts = totals.iter().map(|total| if total.count() > 0 { total.text() } else { None });
                Arc::new(texts.collect::<StringArray>())
            }
        }
    }
}

/// A total without groups.
#[derive(Debug)]
struct One {
    total: Total,
    answer: Answer,
}

impl Rows for &mut Total {
    fn total(&mut self, _row: usize) -> Option<&mut Total> {
        Some(self)
    }
}

impl Accumulator for One {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        change(&columns[0], &mut &mut self.total, Change::Add)
    }

    fn retract_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        change(&columns[0], &mut &mut self.total, Change::TakeBack)
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        merge(&states[0], &mut &mut self.total)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Binary(Some(self.total.to_bytes()))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        ScalarValue::try_from_array(&self.answer.of(std::slice::from_ref(&self.total)), 0)
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.total.size()
    }
}

/// The different values of a group, as totals of one number each.
#[derive(Debug)]
struct Distinct {
    /// Each value as a normalised number, or as `inf`, `-inf` or `NaN`.
    values: BTreeSet<String>,
    answer: Answer,
}

impl Accumulator for Distinct {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        for row in 0..columns[0].len() {
            let mut total = Total::default();
            change(&columns[0].slice(row, 1), &mut &mut total, Change::Add)?;
            if total.count() > 0 {
                self.values.insert(total.text().unwrap_or_else(|| total.sum().to_string()));
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for bytes in states[0].as_binary::<i32>().iter().flatten() {
            let texts = str::from_utf8(bytes).unwrap_or_default();
            self.values.extend(texts.split_terminator(' ').map(str::to_owned));
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let texts: String = self.values.iter().flat_map(|text| [text.as_str(), " "]).collect();
        Ok(vec![ScalarValue::Binary(Some(texts.into_bytes()))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut total = Total::default();
        for text in &self.values {
            let added = match jird::Number::new(text) {
                Some(number) => total.number(number, Change::Add),
                None => total.double(text.parse().unwrap_or(f64::NAN), Change::Add),
            };
            added.map_err(far)?;
        }
        ScalarValue::try_from_array(&self.answer.of(&[total]), 0)
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.values.len() * 2 * size_of::<String>()
    }
}

/// A total for each group.
struct Groups {
    totals: Vec<Total>,
    answer: Answer,
}

/// The rows of a batch, by their groups.
struct Grouped<'a> {
    totals: &'a mut [Total],
    groups: &'a [usize],
    filter: Option<&'a BooleanArray>,
}

impl Rows for Grouped<'_> {
    #[inline]
    fn total(&mut self, row: usize) -> Option<&mut Total> {
        let is_in = self.filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
        if is_in { self.totals.get_mut(self.groups[row]) } else { None }
    }
}

impl Groups {
    fn emit(&mut self, emit: EmitTo) -> Vec<Total> {
        match emit {
            EmitTo::All => mem::take(&mut self.totals),
            EmitTo::First(count) => self.totals.drain(..count).collect(),
        }
    }
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        columns: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        self.totals.resize(count, Total::default());
        change(&columns[0], &mut Grouped { totals: &mut self.totals, groups, filter }, Change::Add)
    }

    fn convert_to_state(&self, columns: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let rows = columns[0].len();
        let mut each = Self { totals: Vec::new(), answer: self.answer };
        each.update_batch(columns, &(0..rows).collect::<Vec<_>>(), filter, rows)?;
        each.state(EmitTo::All)
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.totals.resize(count, Total::default());
        merge(&states[0], &mut Grouped { totals: &mut self.totals, groups, filter: None })
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let totals = self.emit(emit);
        Ok(self.answer.of(&totals))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let states = self.emit(emit).iter().map(|total| Some(total.to_bytes())).collect::<BinaryArray>();
        Ok(vec![Arc::new(states)])
    }

    fn size(&self) -> usize {
        // Big integers, which are rare, are not counted: that would take a walk over all groups for each batch.
        self.totals.capacity() * size_of::<Total>()
    }
}
