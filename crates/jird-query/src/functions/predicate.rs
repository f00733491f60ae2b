//! A predicate of the engine as a DataFusion function. If the scan cannot evaluate it, it is evaluated here, by the
//! same code.

use crate::sql::Leaf;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StringArray, StructArray};
use arrow::datatypes::{DataType, FieldRef, Float64Type};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use jird::event::Numeral;
use jird::hooks::{quoted, write_string};
use jird::record::{Field, Mismatches, Predicate};
use jird_formats::ColumnType;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One predicate as a function of its columns.
#[derive(Debug)]
pub(crate) struct PredicateUdf {
    leaf: Arc<Leaf>,
    signature: Signature,
    mismatches: Arc<AtomicU64>,
    /// How another process can make the same predicate.
    #[cfg(feature = "cluster")]
    recipe: Option<Arc<str>>,
}

impl PredicateUdf {
    /// `mismatches` counts the comparisons that are unknown because the kinds differ.
    pub(crate) fn new(leaf: Arc<Leaf>, mismatches: Arc<AtomicU64>) -> Self {
        Self {
            leaf,
            signature: Signature::variadic_any(Volatility::Immutable),
            mismatches,
            #[cfg(feature = "cluster")]
            recipe: None,
        }
    }

    pub(crate) fn predicate(&self) -> &Predicate {
        &self.leaf.predicate
    }

    pub(crate) fn text(&self) -> &str {
        &self.leaf.text
    }
}

/// What a message tells of the function.
#[cfg(feature = "cluster")]
impl PredicateUdf {
    /// The same predicate, which other processes can make too.
    pub(crate) fn with_recipe(self, recipe: Arc<str>) -> Self {
        Self { recipe: Some(recipe), ..self }
    }

    pub(crate) fn recipe(&self) -> Option<&Arc<str>> {
        self.recipe.as_ref()
    }

    pub(crate) fn leaf_name(&self) -> &str {
        &self.leaf.name
    }

    pub(crate) fn mismatches(&self) -> &Arc<AtomicU64> {
        &self.mismatches
    }
}

impl PartialEq for PredicateUdf {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.leaf, &other.leaf)
    }
}

impl Eq for PredicateUdf {}

impl Hash for PredicateUdf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.leaf.name.hash(state);
    }
}

impl ScalarUDFImpl for PredicateUdf {
    fn name(&self) -> &str {
        &self.leaf.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let texts = arrays
            .iter()
            .zip(&args.arg_fields)
            .map(|(array, field)| json_texts(array, field))
            .collect::<Result<Vec<_>>>()?;
        let mut mismatches = Mismatches::default();
        let mut fields = vec![Field::MISSING; texts.len()];
        let decide = |row: usize| {
            for (field, texts) in fields.iter_mut().zip(&texts) {
                *field = if texts.is_null(row) { Field::MISSING } else { Field::from_raw(texts.value(row)) };
            }
            self.leaf.predicate.eval(&fields, &mut mismatches)
        };
        let decided: BooleanArray = (0..args.number_rows).map(decide).collect();
        self.mismatches.fetch_add(mismatches.kinds, Relaxed);
        Ok(ColumnarValue::Array(Arc::new(decided)))
    }
}

/// A column that holds JSON texts, marked or not.
pub(super) fn as_json(array: &ArrayRef) -> Result<StringArray> {
    Ok(cast(array, &DataType::Utf8)?.as_string::<i32>().clone())
}

/// The JSON texts of an argument that a query was rewritten to give as JSON. DataFusion loses the mark in `coalesce`,
/// `nullif`, subqueries and other expressions that have a type and no field of their own.
pub(super) fn json_argument(args: &ScalarFunctionArgs, index: usize) -> Result<StringArray> {
    let array = args.args[index].to_array(args.number_rows)?;
    match array.data_type() {
        DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8 => {
            let texts = as_json(&array)?;
            debug_assert!(
                texts.iter().flatten().all(|text| jird::validate(text.as_bytes()).is_ok()),
                "an argument of a function of JSON is not JSON: {texts:?}"
            );
            Ok(texts)
        }
        _ => json_texts(&array, &args.arg_fields[index]),
    }
}

/// Converts any column to JSON texts. What JSON does not have becomes null.
pub(crate) fn json_texts(array: &ArrayRef, field: &FieldRef) -> Result<StringArray> {
    if array.data_type() == &DataType::Null {
        return as_json(array);
    }
    if let Some(doubles) = array.as_primitive_opt::<Float64Type>() {
        let text = |value: f64| {
            let mut text = Vec::new();
            Numeral::F64(value).write(&mut text);
            String::from_utf8(text).ok()
        };
        return Ok(doubles.iter().map(|value| value.filter(|value| value.is_finite()).and_then(text)).collect());
    }
    if let Some(structs) = array.as_struct_opt() {
        return objects(structs);
    }
    if let Some(maps) = array.as_map_opt() {
        let entries = maps.entries();
        let (keys, values) = (
            json_texts(entries.column(0), &entries.fields()[0])?,
            json_texts(entries.column(1), &entries.fields()[1])?,
        );
        let object = |row: usize| {
            let range = maps.value_offsets()[row] as usize..maps.value_offsets()[row + 1] as usize;
            maps.is_valid(row)
                .then(|| object_of(range.map(|at| (keys.value(at), values.is_valid(at).then(|| values.value(at))))))
        };
        return Ok((0..maps.len()).map(object).collect());
    }
    if let Some(lists) = array.as_list_opt::<i32>() {
        let DataType::List(inner) = array.data_type() else { return as_json(array) };
        let text = |list: ArrayRef| -> Result<String> {
            let elements = json_texts(&list, inner)?;
            let elements: Vec<_> = elements.iter().map(|element| element.unwrap_or("null")).collect();
            Ok(format!("[{}]", elements.join(",")))
        };
        return lists.iter().map(|list| list.map(text).transpose()).collect();
    }
    if array.data_type() == &DataType::Utf8 && (ColumnType::is_json(field) || is_ours(field)) {
        return Ok(array.as_string::<i32>().clone());
    }
    if matches!(array.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
        let texts = cast(array, &DataType::Utf8)?;
        return Ok(texts.as_string::<i32>().iter().map(|text| text.map(quoted)).collect());
    }
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(array, &options)?;
    let bare = array.data_type().is_numeric() || array.data_type() == &DataType::Boolean;
    let text = |row: usize| {
        (!array.is_null(row))
            .then(|| if bare { formatter.value(row).to_string() } else { format!("\"{}\"", formatter.value(row)) })
    };
    Ok((0..array.len()).map(text).collect())
}

/// A JSON object of these members. A key that is not a text is written as one.
fn object_of<'t>(members: impl Iterator<Item = (&'t str, Option<&'t str>)>) -> String {
    let mut text = b"{".to_vec();
    for (key, value) in members {
        if text.len() > 1 {
            text.push(b',');
        }
        if key.starts_with('"') {
            text.extend_from_slice(key.as_bytes());
        } else {
            write_string(key, &mut text);
        }
        text.push(b':');
        text.extend_from_slice(value.unwrap_or("null").as_bytes());
    }
    text.push(b'}');
    String::from_utf8_lossy(&text).into_owned()
}

/// Structs as JSON objects.
fn objects(structs: &StructArray) -> Result<StringArray> {
    let members = structs
        .columns()
        .iter()
        .zip(structs.fields())
        .map(|(column, field)| Ok((quoted(field.name()), json_texts(column, field)?)));
    let members = members.collect::<Result<Vec<_>>>()?;
    let object = |row: usize| {
        let member = |(key, values): &(String, StringArray)| {
            format!("{key}:{}", if values.is_valid(row) { values.value(row) } else { "null" })
        };
        structs.is_valid(row).then(|| format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(",")))
    };
    Ok((0..structs.len()).map(object).collect())
}

/// The names of raw and canonical columns, and of the results of our functions, mark JSON text, in case DataFusion drops the
/// mark in the field.
fn is_ours(field: &FieldRef) -> bool {
    ["raw:", "json:", "key:"].iter().any(|prefix| field.name().starts_with(prefix))
}

/// The field of a function's result that is JSON text.
pub(super) fn json_field(function: &str) -> FieldRef {
    Arc::new(ColumnType::Json.field(format!("json:{function}")))
}
