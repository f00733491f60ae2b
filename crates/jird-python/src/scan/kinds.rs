//! What columns hold, and how they are built.

use arrow_array::builder::{BooleanBufferBuilder, Date32Builder, Int64Builder};
use arrow_array::{ArrayRef, ListArray, NullArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field as ArrowField, FieldRef, Fields};
use core::fmt;
use jird::record::Field;
use jird::{Kind as ValueKind, Parser, Value};
use jird_formats::{ColumnBuilder, ColumnType, Unfit, ValueType, holds};
use std::collections::HashMap;
use std::sync::Arc;

/// What a column holds.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Values of a type.
    Of(ColumnType),
    /// Values of all kinds, as texts; see [`ColumnBuilder::any`].
    Any,
    /// No values of the records, but the offset of each record in its file.
    Offset,
    /// Days: strings such as `"2024-05-01"`.
    Date,
    /// Nothing but nulls.
    Null,
    List(Arc<Kind>),
    /// Objects: these keys of them.
    Struct(Arc<[(String, Kind)]>),
}

/// The extension type of Arrow for JSON texts ("Canonical Extension Types", JSON), which has no parameters.
const JSON: [(&str, &str); 2] = [("ARROW:extension:name", "arrow.json"), ("ARROW:extension:metadata", "")];

impl Kind {
    pub(super) fn field(&self, name: &str) -> ArrowField {
        let data_type = match self {
            Self::Of(ColumnType::Json) => {
                let marks = JSON.map(|(key, value)| (key.to_owned(), value.to_owned()));
                return ArrowField::new(name, DataType::Utf8, true).with_metadata(HashMap::from(marks));
            }
            Self::Of(kind) => kind.data_type(),
            Self::Any => DataType::Utf8,
            Self::Offset => DataType::Int64,
            Self::Date => DataType::Date32,
            Self::Null => DataType::Null,
            Self::List(elements) => DataType::List(Arc::new(elements.field("item"))),
            Self::Struct(fields) => DataType::Struct(fields_of(fields)),
        };
        ArrowField::new(name, data_type, true)
    }

    pub(super) fn column(&self) -> Column {
        match self {
            Self::Of(kind) => Column::Values(ColumnBuilder::new(*kind)),
            Self::Any => Column::Values(ColumnBuilder::any()),
            Self::Offset => Column::Offsets(Int64Builder::new()),
            Self::Date => Column::Dates(Date32Builder::new()),
            Self::Null => Column::Nulls(0),
            Self::List(_) | Self::Struct(_) => Column::Nested(Box::new(Nested::new(self))),
        }
    }

    /// What is wrong with a value that is not of this kind: its place within the column `name`, and its text.
    pub(super) fn unfit(&self, field: Field<'_>, name: &str) -> Option<String> {
        match (self, field.kind()) {
            (_, None | Some(ValueKind::Null)) | (Self::Any | Self::Offset, _) => None,
            (Self::Of(kind), _) if holds(*kind, field) => None,
            (Self::Date, Some(ValueKind::String)) if days_of(field).is_some() => None,
            (Self::List(elements), Some(ValueKind::Array)) => {
                let document = jird::parse(field.raw().as_bytes()).ok()?;
                let mut values = document.root().elements().enumerate();
                values.find_map(|(at, value)| elements.unfit(of_value(value), &format!("{name}[{at}]")))
            }
            (Self::Struct(fields), Some(ValueKind::Object)) => {
                let document = jird::parse(field.raw().as_bytes()).ok()?;
                // Each key is looked for once: of a repeated one, the first value counts.
                let mut kinds = fields.iter().map(|(key, kind)| (&**key, kind)).collect::<HashMap<_, _>>();
                document.root().entries().find_map(|(key, value)| {
                    let key = key.as_str()?;
                    kinds.remove(&*key)?.unfit(of_value(value), &format!("{name}.{key}"))
                })
            }
            (kind, _) => {
                let raw = field.raw();
                let shown = raw.chars().take(40).collect::<String>();
                let more = if shown.len() < raw.len() { "…" } else { "" };
                Some(format!("{name} is {shown}{more}, not {kind}"))
            }
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Of(kind) => kind.fmt(f),
            Self::Any | Self::Offset => f.write_str("text"),
            Self::Date => f.write_str("date"),
            Self::Null => f.write_str("null"),
            Self::List(_) => f.write_str("array"),
            Self::Struct(_) => f.write_str("object"),
        }
    }
}

impl From<&ValueType> for Kind {
    fn from(found: &ValueType) -> Self {
        match found {
            ValueType::Null => Self::Null,
            ValueType::Scalar(kind) => Self::Of(*kind),
            ValueType::List(elements) => Self::List(Arc::new(Self::from(&**elements))),
            ValueType::Struct(fields) => {
                Self::Struct(fields.iter().map(|(key, kind)| (key.clone(), Self::from(kind))).collect())
            }
        }
    }
}

fn fields_of(fields: &[(String, Kind)]) -> Fields {
    fields.iter().map(|(key, kind)| kind.field(key)).collect()
}

fn of_value(value: Value<'_>) -> Field<'_> {
    Field::from_raw(value.raw_str().unwrap_or_default())
}

/// A column that is being built.
pub(super) enum Column {
    Values(ColumnBuilder),
    Offsets(Int64Builder),
    Dates(Date32Builder),
    Nulls(usize),
    Nested(Box<Nested>),
}

impl Column {
    /// Appends a value of a record. After an error the column cannot be finished.
    pub(super) fn append(&mut self, field: Field<'_>) -> Result<(), Unfit> {
        match self {
            Self::Values(values) => values.append(field),
            Self::Nested(nested) => nested.append(field),
            Self::Dates(_) | Self::Nulls(_) if field.is_null() => {
                self.append_null();
                Ok(())
            }
            Self::Nulls(_) | Self::Offsets(_) => Err(Unfit),
            Self::Dates(dates) => {
                dates.append_value(days_of(field).ok_or(Unfit)?);
                Ok(())
            }
        }
    }

    fn append_null(&mut self) {
        match self {
            // A missing value is a null of every type.
            Self::Values(values) => values.append(Field::MISSING).unwrap_or_default(),
            Self::Offsets(offsets) => offsets.append_null(),
            Self::Dates(dates) => dates.append_null(),
            Self::Nulls(count) => *count += 1,
            Self::Nested(nested) => nested.append_null(),
        }
    }

    pub(super) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Values(values) => values.finish(),
            Self::Offsets(offsets) => Arc::new(offsets.finish()),
            Self::Dates(dates) => Arc::new(dates.finish()),
            Self::Nulls(count) => Arc::new(NullArray::new(core::mem::take(count))),
            Self::Nested(nested) => nested.finish(),
        }
    }
}

/// A column of lists or structs that is being built.
pub(super) struct Nested {
    parser: Parser,
    valid: BooleanBufferBuilder,
    within: Within,
}

enum Within {
    List {
        field: FieldRef,
        /// The number of elements up to the end of each list.
        ends: Vec<i32>,
        elements: Column,
    },
    Struct {
        fields: Fields,
        columns: Vec<Column>,
        places: HashMap<String, usize>,
        /// Which keys the current object has had.
        had: Vec<bool>,
    },
}

impl Nested {
    fn new(kind: &Kind) -> Self {
        let fields = if let Kind::Struct(fields) = kind { &fields[..] } else { &[] };
        let within = match kind {
            Kind::List(elements) => {
                Within::List { field: Arc::new(elements.field("item")), ends: Vec::new(), elements: elements.column() }
            }
            _ => Within::Struct {
                fields: fields_of(fields),
                columns: fields.iter().map(|(_, kind)| kind.column()).collect(),
                places: fields.iter().map(|(key, _)| key.clone()).zip(0..).collect(),
                had: vec![false; fields.len()],
            },
        };
        Self { parser: Parser::new(), valid: BooleanBufferBuilder::new(0), within }
    }

    fn append(&mut self, field: Field<'_>) -> Result<(), Unfit> {
        if field.is_null() {
            self.append_null();
            return Ok(());
        }
        let mut parser = core::mem::take(&mut self.parser);
        // The record was checked.
        let appended = self.append_value(parser.parse_trusted(field.raw().as_bytes()));
        self.parser = parser;
        appended
    }

    fn append_value(&mut self, value: Value<'_>) -> Result<(), Unfit> {
        match (&mut self.within, value.kind()) {
            (_, ValueKind::Null) => self.append_null(),
            (Within::List { ends, elements, .. }, ValueKind::Array) => {
                let start = ends.last().copied().unwrap_or(0);
                let len = i32::try_from(value.len()).map_err(|_| Unfit)?;
                ends.push(start.checked_add(len).ok_or(Unfit)?);
                value.elements().try_for_each(|element| append_within(elements, element))?;
                self.valid.append(true);
            }
            (Within::Struct { columns, places, had, .. }, ValueKind::Object) => {
                had.fill(false);
                for (key, value) in value.entries() {
                    // Keys that are not wanted are left out. Of a repeated key, the first value counts.
                    if let Some(&place) = key.as_str().and_then(|key| places.get(&*key))
                        && !core::mem::replace(&mut had[place], true)
                    {
                        append_within(&mut columns[place], value)?;
                    }
                }
                let missing = columns.iter_mut().zip(had).filter(|(_, had)| !**had);
                missing.for_each(|(column, _)| column.append_null());
                self.valid.append(true);
            }
            _ => return Err(Unfit),
        }
        Ok(())
    }

    fn append_null(&mut self) {
        self.valid.append(false);
        match &mut self.within {
            Within::List { ends, .. } => ends.push(ends.last().copied().unwrap_or(0)),
            Within::Struct { columns, .. } => columns.iter_mut().for_each(Column::append_null),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        let nulls = Some(NullBuffer::new(self.valid.finish()));
        match &mut self.within {
            Within::List { field, ends, elements } => {
                let offsets = [0].into_iter().chain(core::mem::take(ends)).collect::<Vec<i32>>();
                Arc::new(ListArray::new(field.clone(), OffsetBuffer::new(offsets.into()), elements.finish(), nulls))
            }
            Within::Struct { fields, columns, .. } => {
                let arrays = columns.iter_mut().map(Column::finish).collect();
                Arc::new(StructArray::new(fields.clone(), arrays, nulls))
            }
        }
    }
}

/// Appends a value within an object or array.
fn append_within(column: &mut Column, value: Value<'_>) -> Result<(), Unfit> {
    match column {
        Column::Nested(nested) => nested.append_value(value),
        column => column.append(of_value(value)),
    }
}

/// The days from 1970-01-01 to the date that a string is, such as `"2024-05-01"` (RFC 3339, `full-date`); `None` if it is
/// none.
fn days_of(field: Field<'_>) -> Option<i32> {
    let text = field.as_str()?;
    let [year @ .., b'-', _, _, b'-', _, _] = text.as_bytes() else { return None };
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0, |value, digit| digit.is_ascii_digit().then(|| value * 10 + i32::from(digit - b'0')))
    };
    if year.len() != 4 {
        return None;
    }
    let (year, month, day) = (number(year)?, number(&text.as_bytes()[5..7])?, number(&text.as_bytes()[8..])?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_of_month = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i32::from(is_leap),
        1..=12 => 31,
        _ => return None,
    };
    // Python has no year 0.
    if year == 0 || !(1..=days_of_month).contains(&day) {
        return None;
    }
    // Years that begin in March, so that the day of a leap year is the last one.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some(days - 719_468)
}
