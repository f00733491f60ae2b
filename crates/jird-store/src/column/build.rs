//! Makes the columns of a block from its documents.

use super::decimal::{Digits, SampledNumbers};
use super::spellings::{self, Unusual};
use super::words::{Sampled, WordNumbers};
use super::{ColumnFacts, Numbers, texts};
use crate::index::FieldKinds;
use arrow_array::builder::{BooleanBuilder, Float64Builder, StringBuilder, UInt8Builder};
use arrow_array::{ArrayRef, DictionaryArray, StringArray};
use arrow_schema::{DECIMAL32_MAX_PRECISION, DataType, Field as ArrowField};
use jird::record::{Field, FieldReader, Projection};
use jird::{Error, Kind, Number, Path};
use std::sync::Arc;

/// All integers up to this one are doubles.
const INTEGER_MAX: u64 = 1 << 53;

/// A column has no room for longer texts, in bytes.
pub const TEXT_MAX: usize = 128;

/// The type of a column, which is the same in all blocks of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// Numbers, as doubles: Arrow's `Float64`.
    Number,
    /// Numbers with at most nine digits, of which this many are after the point: Arrow's `Decimal32` in a file, doubles in memory.
    Decimal(Digits),
    /// Texts: Arrow's `Utf8`.
    Text,
    /// Few texts, which repeat: Arrow's `Dictionary` of `UInt8` and `Utf8`, the same for all blocks of a span.
    Words,
    /// Booleans: Arrow's `Boolean`.
    Bool,
    /// The texts that the other columns do not show: Arrow's `Utf8`. It is the last column, of no path.
    Spellings,
}

impl ColumnType {
    /// Whether it is one of numbers.
    pub fn is_numeric(self) -> bool {
        matches!(self, Self::Number | Self::Decimal(_))
    }

    /// Arrow's type in a file.
    pub(crate) fn data_type(self) -> DataType {
        match self {
            Self::Number => DataType::Float64,
            Self::Decimal(digits) => DataType::Decimal32(DECIMAL32_MAX_PRECISION, digits.count() as i8),
            Self::Text | Self::Spellings => DataType::Utf8,
            Self::Words => DataType::Dictionary(DataType::UInt8.into(), DataType::Utf8.into()),
            Self::Bool => DataType::Boolean,
        }
    }
}

/// One column of a block.
#[derive(Clone, Debug)]
pub struct Column {
    /// A row per document.
    pub array: ArrayRef,
    /// What the array does not show. To be stored with the block.
    pub facts: ColumnFacts,
}

/// The paths that have a column in a span, and the types of the columns.
///
/// ```
/// use jird::{Path, record::{Comparison, Literal, Predicate}};
/// use jird_store::column::{ColumnPlan, Columns};
/// use jird_store::index::Condition;
/// let paths = [Path::root().key("Elapsed")];
/// let lines = b"{\"Elapsed\":12.5}\n{\"Elapsed\":250}\n{}\n";
/// let plan = ColumnPlan::choose(&paths, lines)?;
/// let columns = Columns::new(3, plan.paths().iter().cloned().zip(plan.build(lines)?));
/// let slow = Predicate::Compare { slot: 0, op: Comparison::Gt, literal: Literal::Number("200".into()) };
/// let kept = columns.decide(&Condition::new(&slow, &paths)).expect("the column decides");
/// assert_eq!(kept.iter().collect::<Vec<_>>(), [false, true, false]);
/// # Ok::<(), jird::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ColumnPlan {
    projection: Projection,
    types: Vec<ColumnType>,
    /// For each column of words the words, and nothing for others.
    words: Vec<StringArray>,
}

impl ColumnPlan {
    /// Columns of these types at these paths.
    ///
    /// # Panics
    /// If there are not as many types as paths, or one is `Words`, which takes a [choice](Self::choose).
    pub fn new(paths: &[Path], types: &[ColumnType]) -> Self {
        assert_eq!(paths.len(), types.len(), "each column has one path and one type");
        assert!(!types.contains(&ColumnType::Words), "these words are not known");
        let words = types.iter().map(|_| no_words()).collect();
        Self { projection: Projection::new(paths), types: types.to_vec(), words }
    }

    /// Columns of the types that most values have in some documents, such as a sample of a span. Values of
    /// other types have no room in the columns. `lines` ends each document with a line feed and is trusted to be JSON;
    /// an error means that it is not.
    pub fn choose(paths: &[Path], lines: &[u8]) -> Result<Self, Error> {
        let projection = Projection::new(paths);
        let mut counts = vec![[0_usize; 3]; paths.len()];
        let mut sampled: Vec<_> = paths.iter().map(|_| (SampledNumbers::new(), Sampled::default())).collect();
        let mut decoded = String::new();
        each_row(&projection, lines, |fields| {
            for ((counts, (numbers, sampled)), field) in counts.iter_mut().zip(&mut sampled).zip(fields) {
                match field.kind() {
                    Some(Kind::Number) => {
                        counts[0] += 1;
                        numbers.add(field.as_number().map_or(f64::INFINITY, double));
                    }
                    Some(Kind::String) if field.raw().len() <= TEXT_MAX + 2 => {
                        counts[1] += 1;
                        field.text(&mut decoded).into_iter().for_each(|text| sampled.add(text));
                    }
                    Some(Kind::Bool) => counts[2] += 1,
                    _ => {}
                }
            }
        })?;
        let chosen = counts.iter().zip(&sampled).map(|(&[numbers, texts, bools], (doubles, sampled))| {
            if numbers > texts && numbers >= bools {
                (doubles.digits().map_or(ColumnType::Number, ColumnType::Decimal), no_words())
            } else if bools > texts {
                (ColumnType::Bool, no_words())
            } else {
                let words = sampled.words().map(|words| (ColumnType::Words, words));
                words.unwrap_or_else(|| (ColumnType::Text, no_words()))
            }
        });
        let (types, words) = chosen.unzip();
        Ok(Self { projection, types, words })
    }

    /// The paths, in the order of the columns.
    pub fn paths(&self) -> &[Path] {
        self.projection.paths()
    }

    /// The types, in the order of the columns.
    pub fn types(&self) -> &[ColumnType] {
        &self.types
    }

    /// The fields of the Arrow schema. A field's name is the column's path as a JSON Pointer, which begins with `/`.
    pub fn fields(&self) -> Vec<ArrowField> {
        let fields = self.paths().iter().zip(&self.types);
        let fields = fields.map(|(path, kind)| ArrowField::new(path.to_string(), kind.data_type(), true));
        let spellings = ArrowField::new("spellings", ColumnType::Spellings.data_type(), true);
        fields.chain([spellings]).collect()
    }

    /// The path that a field's name means. `None` if it is not a column of this kind.
    pub fn path_of(name: &str) -> Option<Path> {
        let keys = name.strip_prefix('/')?.split('/');
        Some(keys.fold(Path::root(), |path, key| path.key(key.replace("~1", "/").replace("~0", "~"))))
    }

    /// The columns of a file of such blocks: the paths with their types, and the spellings, whose path is the root.
    pub fn columns(&self) -> Vec<(Path, ColumnType)> {
        let paths = self.paths().iter().cloned().zip(self.types.iter().copied());
        paths.chain([(Path::root(), ColumnType::Spellings)]).collect()
    }

    /// The words of each of these columns, none of those of other types.
    pub(crate) fn words(&self) -> Vec<StringArray> {
        self.words.iter().cloned().chain([no_words()]).collect()
    }

    /// The columns of a block, in the order of [`columns`](Self::columns). `lines` ends each document with a line feed and is trusted to be JSON; an error means
    /// that it is not. Takes the time of reading these fields from each document.
    pub fn build(&self, lines: &[u8]) -> Result<Vec<Column>, Error> {
        let columns = self.types.iter().zip(&self.words);
        let mut builders: Vec<Building> = columns.map(|(kind, words)| Building::new(*kind, words)).collect();
        let mut rows = 0;
        each_row(&self.projection, lines, |fields| {
            builders.iter_mut().zip(fields).for_each(|(builder, field)| builder.add(rows, *field));
            rows += 1;
        })?;
        let (mut columns, unusual): (Vec<_>, Vec<_>) = builders.into_iter().map(Building::finish).unzip();
        let spellings = spellings::column(self.paths(), unusual, rows);
        columns.push(Column { array: Arc::new(spellings), facts: ColumnFacts::OF_NONE });
        Ok(columns)
    }
}

/// Calls `each` with the fields of each document.
fn each_row(projection: &Projection, lines: &[u8], mut each: impl FnMut(&[Field<'_>])) -> Result<(), Error> {
    let mut reader = FieldReader::new(projection);
    let mut fields = vec![Field::MISSING; projection.slots()];
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        fields.fill(Field::MISSING);
        reader.read_trusted(line.strip_suffix(b"\n").unwrap_or(line), &mut fields)?;
        each(&fields);
    }
    Ok(())
}

/// What some documents have at a path, as an index and a column of them would tell: the kinds of values, and what numbers
/// they are if all of them are known. `lines` are as those of [`ColumnPlan::choose`].
pub(crate) fn of_lines(path: &Path, lines: &[u8]) -> Result<(FieldKinds, Option<Numbers>), Error> {
    let paths = std::slice::from_ref(path);
    let mut kinds = FieldKinds::NONE;
    each_row(&Projection::new(paths), lines, |fields| {
        kinds = fields.iter().fold(kinds, |kinds, field| kinds.with(FieldKinds::of(*field)));
    })?;
    let columns = ColumnPlan::new(paths, &[ColumnType::Number]).build(lines)?;
    Ok((kinds, columns.first().and_then(|column| column.facts.numbers())))
}

struct Building {
    values: Values,
    /// What holds of the rows so far.
    facts: ColumnFacts,
    unusual: Unusual,
    decoded: String,
    written: Vec<u8>,
}

fn no_words() -> StringArray {
    StringArray::new_null(0)
}

/// Whether a number is an integer of at most 2⁵³, or what is written for its double, in some spelling.
fn is_ordinary(number: Number<'_>, raw: &str, written: &[u8]) -> bool {
    if number.is_integer() {
        return number.as_i64().is_some_and(|value| value.unsigned_abs() <= INTEGER_MAX);
    }
    let is_written = || std::str::from_utf8(written).ok().and_then(Number::new);
    raw.as_bytes() == written || is_written().is_some_and(|written| written.compare(number).is_eq())
}

/// The nearest double, or an infinite one: rounding stops at infinity, which is beyond all that is finite.
fn double(number: Number<'_>) -> f64 {
    let infinite = if number.text().starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY };
    number.to_f64().unwrap_or(infinite)
}

enum Values {
    /// Doubles, or only those that are decimals.
    Numbers(Float64Builder, Option<Digits>),
    Texts(StringBuilder),
    Words(UInt8Builder, WordNumbers, StringArray),
    Bools(BooleanBuilder),
}

impl Building {
    fn new(kind: ColumnType, words: &StringArray) -> Self {
        let values = match kind {
            ColumnType::Words => Values::Words(UInt8Builder::new(), WordNumbers::new(words), words.clone()),
            ColumnType::Number => Values::Numbers(Float64Builder::new(), None),
            ColumnType::Decimal(digits) => Values::Numbers(Float64Builder::new(), Some(digits)),
            ColumnType::Text | ColumnType::Spellings => Values::Texts(StringBuilder::new()),
            ColumnType::Bool => Values::Bools(BooleanBuilder::new()),
        };
        let (unusual, decoded, written) = (Unusual::new(), String::new(), Vec::new());
        Self { values, facts: ColumnFacts::OF_NONE, unusual, decoded, written }
    }

    fn add(&mut self, row: usize, field: Field<'_>) {
        let Self { values, facts, unusual, decoded, written } = self;
        written.clear();
        // Whether the column has the value, and jird writes it as it stands there.
        let (has_value, is_written) = match values {
            Values::Numbers(values, digits) => {
                let value = field.as_number().map(|number| {
                    facts.add_if(!number.is_exact_f64(), ColumnFacts::IS_ROUNDED);
                    let is_integer = number.is_integer();
                    facts.add_if(!is_integer, ColumnFacts::HAS_FLOATS);
                    let double = double(number);
                    if texts::is_shortest(field.raw()) {
                        written.extend_from_slice(field.raw().as_bytes());
                    } else {
                        texts::number(double, written);
                        facts.remove_if(!is_ordinary(number, field.raw(), written), ColumnFacts::IS_ORDINARY);
                    }
                    double
                });
                let has_room = |double: &f64| digits.is_none_or(|digits| digits.units(*double).is_some());
                let value = value.filter(has_room);
                values.append_option(value);
                (value.is_some(), field.raw().as_bytes() == &written[..])
            }
            Values::Texts(values) => {
                // An escape is at most six times as long as what it stands for.
                let short = field.raw().len() <= 6 * TEXT_MAX + 2;
                let text = if short { field.text(decoded).filter(|text| text.len() <= TEXT_MAX) } else { None };
                values.append_option(text);
                let has_value = text.map(|text| texts::text(text, written)).is_some();
                (has_value, field.raw().as_bytes() == &written[..])
            }
            Values::Words(keys, numbers, _) => {
                let known = (field.kind() == Some(Kind::String)).then(|| numbers.of(field, decoded, written)).flatten();
                keys.append_option(known.map(|(number, _)| number));
                (known.is_some(), known.is_some_and(|(_, is_written)| is_written))
            }
            Values::Bools(values) => {
                let value = field.as_bool();
                values.append_option(value);
                (value.is_some(), true)
            }
        };
        facts.add_if(!has_value && !field.is_null(), ColumnFacts::HAS_OTHERS);
        facts.remove_if(has_value && !is_written, ColumnFacts::HAS_TEXTS);
        if field.kind().is_some() && !(has_value && is_written) {
            unusual.add(row, field.raw());
        }
        facts.remove_if(field.kind().is_none(), ColumnFacts::NONE_IS_MISSING);
        facts.remove_if(field.kind() == Some(Kind::Null), ColumnFacts::NONE_IS_NULL);
    }

    fn finish(mut self) -> (Column, Unusual) {
        if self.facts.text_of_null().is_some() {
            self.unusual.clear();
        } else {
            self.facts.add_if(self.unusual.is_whole(), ColumnFacts::IS_SPELLED);
        }
        let array: ArrayRef = match self.values {
            Values::Numbers(mut values, _) => Arc::new(values.finish()),
            Values::Texts(mut values) => Arc::new(values.finish()),
            Values::Words(mut keys, _, words) => Arc::new(DictionaryArray::new(keys.finish(), Arc::new(words))),
            Values::Bools(mut values) => Arc::new(values.finish()),
        };
        (Column { array, facts: self.facts }, self.unusual)
    }
}
