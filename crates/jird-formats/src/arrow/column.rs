//! Sends values of Arrow arrays as events.
//!
//! | Arrow | event |
//! |---|---|
//! | integers | number |
//! | floats of 16, 32, 64 bits | number, as the double of the same value; see below for NaN and infinities |
//! | decimals of 32 to 256 bits | number, as exact text with all digits of the scale |
//! | texts | string; in a column marked `jird.json`, the value that the text denotes |
//! | binary | bytes |
//! | date | string `2024-02-29`; a `Date64` that is not a whole day, timestamp |
//! | time of day | string `12:30:00.5`; `24:00:00` ends the day; a time outside it is an error of its record |
//! | timestamp | timestamp; in UTC if the type has a zone, whose name is not kept |
//! | duration, interval | string as in ISO 8601-2: `PT-1.5S`, `P14M`, `P1M-2DT0.5S` |
//! | lists | array |
//! | struct | object |
//! | map | object if its keys are texts, else array of pairs |
//! | dictionary, run-end encoded, union | the value that it stands for |
//!
//! NaN and infinities are an error of their record, or null if the caller asks for that.

use super::error::malformed;
use crate::bad_value::{RawRecord, Untold, time_of_day};
use crate::columns::ColumnType;
use crate::error::Error;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{
    ArrowNativeType, BooleanBuffer, IntervalDayTime, IntervalMonthDayNano, NullBuffer, OffsetBuffer, ScalarBuffer, i256,
};
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};
use core::convert::Infallible;
use core::fmt::Display;
use core::ops::Range;
use jird::Number;
use jird::event::{Interest, JsonText, Key, Numeral, Sink, Timestamp};

/// An array taken apart, so that a value costs one branch on its type.
pub(crate) struct ArrowColumn {
    nulls: Option<NullBuffer>,
    values: Values,
}

enum Values {
    Null,
    Bool(BooleanBuffer),
    Int8(ScalarBuffer<i8>),
    Int16(ScalarBuffer<i16>),
    Int32(ScalarBuffer<i32>),
    Int64(ScalarBuffer<i64>),
    UInt8(ScalarBuffer<u8>),
    UInt16(ScalarBuffer<u16>),
    UInt32(ScalarBuffer<u32>),
    UInt64(ScalarBuffer<u64>),
    Float16(ScalarBuffer<<Float16Type as ArrowPrimitiveType>::Native>),
    Float32(ScalarBuffer<f32>),
    Float64(ScalarBuffer<f64>),
    /// Values and their scale.
    Decimal32(ScalarBuffer<i32>, i8),
    Decimal64(ScalarBuffer<i64>, i8),
    Decimal128(ScalarBuffer<i128>, i8),
    Decimal256(ScalarBuffer<i256>, i8),
    Text(ArrayRef, TextKind),
    Json(ArrayRef, TextKind),
    Bytes(ArrayRef, BytesKind),
    Date32(ScalarBuffer<i32>),
    Date64(ScalarBuffer<i64>),
    /// Values, and the number of units in a second.
    Time32(ScalarBuffer<i32>, i64),
    Time64(ScalarBuffer<i64>, i64),
    Timestamp {
        values: ScalarBuffer<i64>,
        per_second: i64,
        is_utc: bool,
    },
    Duration(ScalarBuffer<i64>, i64),
    Months(ScalarBuffer<i32>),
    DayTime(ScalarBuffer<IntervalDayTime>),
    MonthDayNano(ScalarBuffer<IntervalMonthDayNano>),
    List(Lists, Box<ArrowColumn>),
    Struct(Vec<(String, ArrowColumn)>),
    Map {
        entries: OffsetBuffer<i32>,
        keys: Box<ArrowColumn>,
        values: Box<ArrowColumn>,
    },
    /// The index of each row's value.
    Dictionary(Vec<usize>, Box<ArrowColumn>),
    /// The end of each run, and the offset at which this array begins.
    Runs {
        ends: Vec<usize>,
        offset: usize,
        values: Box<ArrowColumn>,
    },
    Union {
        types: ScalarBuffer<i8>,
        offsets: Option<ScalarBuffer<i32>>,
        children: Vec<(i8, ArrowColumn)>,
    },
}

#[derive(Clone, Copy)]
enum TextKind {
    Small,
    Large,
    View,
}

#[derive(Clone, Copy)]
enum BytesKind {
    Small,
    Large,
    View,
    Fixed,
}

/// Where each list's elements are.
enum Lists {
    Small(OffsetBuffer<i32>),
    Large(OffsetBuffer<i64>),
    Fixed(usize),
    View(ScalarBuffer<i32>, ScalarBuffer<i32>),
    LargeView(ScalarBuffer<i64>, ScalarBuffer<i64>),
}

/// What happens to a double that JSON cannot represent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NotFinite {
    /// It is an error.
    #[default]
    Refuse,
    /// It becomes null.
    Null,
}

/// Why sending a value stopped.
pub(crate) enum ArrowStop<E> {
    /// If the record is at fault, its place is not known here.
    Source(Error),
    Sink(E),
}

impl<E> From<E> for ArrowStop<E> {
    fn from(error: E) -> Self {
        Self::Sink(error)
    }
}

/// What the events of a value depend on, apart from the value.
#[derive(Clone, Copy)]
pub(crate) struct Sending<'a> {
    /// The column's name, for messages.
    pub(crate) column: &'a str,
    pub(crate) not_finite: NotFinite,
}

/// What happens to values that JSON cannot represent.
pub(crate) trait OnUntold<S: Sink>: Copy {
    fn untold(self, value: Untold<'_>, sink: &mut S) -> Result<(), ArrowStop<S::Error>>;
}

impl<S: Sink> OnUntold<S> for Sending<'_> {
    #[cold]
    fn untold(self, value: Untold<'_>, sink: &mut S) -> Result<(), ArrowStop<S::Error>> {
        match (value, self.not_finite) {
            (Untold::NotFinite(_), NotFinite::Null) => Ok(sink.null()?),
            _ => Err(ArrowStop::Source(Error::of_value(self.column, &value))),
        }
    }
}

/// Writes them into the text of a bad record.
#[derive(Clone, Copy)]
pub(crate) struct WrittenDown;

impl OnUntold<RawRecord> for WrittenDown {
    fn untold(self, value: Untold<'_>, record: &mut RawRecord) -> Result<(), ArrowStop<Infallible>> {
        record.untold(&value);
        Ok(())
    }
}

impl ArrowColumn {
    /// Takes apart an array of this field. Arrow validated the array when it was made.
    pub(crate) fn new(field: &Field, array: &ArrayRef) -> Result<Self, Error> {
        let values = Values::new(field, array)?;
        Ok(Self { nulls: array.nulls().cloned(), values })
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// Sends the value of a row. The row must exist.
    pub(crate) fn send<S: Sink>(
        &self,
        row: usize,
        sending: impl OnUntold<S>,
        sink: &mut S,
    ) -> Result<(), ArrowStop<S::Error>> {
        if self.is_null(row) {
            return Ok(sink.null()?);
        }
        match &self.values {
            Values::List(lists, elements) => {
                sink.begin_array()?;
                for element in lists.elements(row) {
                    elements.send(element, sending, sink)?;
                }
                sink.end_array()?;
            }
            Values::Struct(fields) => {
                sink.begin_object()?;
                for (name, field) in fields {
                    if sink.key(Key::new(name))? == Interest::Take {
                        field.send(row, sending, sink)?;
                    }
                }
                sink.end_object()?;
            }
            Values::Map { entries, keys, values } => {
                send_map(range(entries[row], entries[row + 1]), keys, values, sending, sink)?;
            }
            Values::Dictionary(keys, values) => values.send(keys[row], sending, sink)?,
            Values::Runs { ends, offset, values } => {
                let run = ends.partition_point(|end| *end <= row + offset);
                values.send(run, sending, sink)?;
            }
            Values::Union { types, offsets, children } => {
                let at = offsets.as_ref().map_or(row, |offsets| offsets[row] as usize);
                match children.iter().find(|(id, _)| *id == types[row]) {
                    Some((_, child)) => child.send(at, sending, sink)?,
                    None => sending.untold(Untold::NoType(types[row]), sink)?,
                }
            }
            single => single.send(row, sending, sink)?,
        }
        Ok(())
    }

    fn is_text(&self) -> bool {
        match &self.values {
            Values::Text(..) => true,
            Values::Dictionary(_, values) | Values::Runs { values, .. } => values.is_text(),
            _ => false,
        }
    }

    /// The text of a row.
    fn text(&self, row: usize) -> Option<&str> {
        match &self.values {
            _ if self.is_null(row) => None,
            Values::Text(texts, kind) => Some(kind.text(texts, row)),
            Values::Dictionary(keys, values) => values.text(keys[row]),
            Values::Runs { ends, offset, values } => values.text(ends.partition_point(|end| *end <= row + offset)),
            _ => None,
        }
    }
}

impl Values {
    /// Sends a value of a type that contains no others.
    #[inline(always)]
    fn send<S: Sink>(&self, row: usize, sending: impl OnUntold<S>, sink: &mut S) -> Result<(), ArrowStop<S::Error>> {
        match self {
            Self::Bool(values) => sink.bool(values.value(row))?,
            Self::Int8(values) => sink.number(Numeral::I64(values[row].into()))?,
            Self::Int16(values) => sink.number(Numeral::I64(values[row].into()))?,
            Self::Int32(values) => sink.number(Numeral::I64(values[row].into()))?,
            Self::Int64(values) => sink.number(Numeral::I64(values[row]))?,
            Self::UInt8(values) => sink.number(Numeral::U64(values[row].into()))?,
            Self::UInt16(values) => sink.number(Numeral::U64(values[row].into()))?,
            Self::UInt32(values) => sink.number(Numeral::U64(values[row].into()))?,
            Self::UInt64(values) => sink.number(Numeral::U64(values[row]))?,
            Self::Float16(values) => float(values[row].to_f64(), sending, sink)?,
            Self::Float32(values) => float(values[row].into(), sending, sink)?,
            Self::Float64(values) => float(values[row], sending, sink)?,
            Self::Decimal32(values, scale) => decimal(values[row].into(), *scale, sink)?,
            Self::Decimal64(values, scale) => decimal(values[row].into(), *scale, sink)?,
            Self::Decimal128(values, scale) => decimal(values[row], *scale, sink)?,
            Self::Decimal256(values, scale) => match values[row].to_i128() {
                Some(value) => decimal(value, *scale, sink)?,
                None => digits(&values[row], *scale, sink)?,
            },
            Self::Text(texts, kind) => sink.string(kind.text(texts, row))?,
            Self::Json(texts, kind) => json(kind.text(texts, row), sending, sink)?,
            Self::Bytes(bytes, kind) => sink.bytes(kind.bytes(bytes, row))?,
            Self::Date32(days) => sink.string(&date(i64::from(days[row]) * 86_400))?,
            Self::Date64(values) => match values[row] {
                value if value % 86_400_000 == 0 => sink.string(&date(value / 1000))?,
                value => sink.timestamp(instant(value, 1000, false))?,
            },
            Self::Time32(values, per_second) => time(values[row].into(), *per_second, sending, sink)?,
            Self::Time64(values, per_second) => time(values[row], *per_second, sending, sink)?,
            Self::Timestamp { values, per_second, is_utc } => {
                sink.timestamp(instant(values[row], *per_second, *is_utc))?;
            }
            Self::Duration(values, per_second) => {
                sink.string(&format!("PT{}S", seconds(values[row], *per_second)))?;
            }
            Self::Months(values) => sink.string(&format!("P{}M", values[row]))?,
            Self::DayTime(values) => {
                let IntervalDayTime { days, milliseconds } = values[row];
                sink.string(&format!("P{days}DT{}S", seconds(milliseconds.into(), 1000)))?;
            }
            Self::MonthDayNano(values) => {
                let IntervalMonthDayNano { months, days, nanoseconds } = values[row];
                sink.string(&format!("P{months}M{days}DT{}S", seconds(nanoseconds, 1_000_000_000)))?;
            }
            Self::Null => sink.null()?,
            Self::List(..)
            | Self::Struct(_)
            | Self::Map { .. }
            | Self::Dictionary(..)
            | Self::Runs { .. }
            | Self::Union { .. } => unreachable!("`ArrowColumn::send` sends values that contain others"),
        }
        Ok(())
    }

    /// A column of any type. This function handles Arrow's types that contain others.
    fn new(field: &Field, array: &ArrayRef) -> Result<Self, Error> {
        let child = |field: &Field, array: &ArrayRef| ArrowColumn::new(field, array).map(Box::new);
        let elements = |field: &Field, lists: Lists, array: &ArrayRef| {
            child(field, array).map(|elements| Self::List(lists, elements))
        };
        Ok(match array.data_type() {
            DataType::List(field) => {
                let list = array.as_list::<i32>();
                elements(field, Lists::Small(list.offsets().clone()), list.values())?
            }
            DataType::LargeList(field) => {
                let list = array.as_list::<i64>();
                elements(field, Lists::Large(list.offsets().clone()), list.values())?
            }
            DataType::FixedSizeList(field, len) => {
                elements(field, Lists::Fixed(*len as usize), array.as_fixed_size_list().values())?
            }
            DataType::ListView(field) => {
                let list = array.as_list_view::<i32>();
                elements(field, Lists::View(list.offsets().clone(), list.sizes().clone()), list.values())?
            }
            DataType::LargeListView(field) => {
                let list = array.as_list_view::<i64>();
                elements(field, Lists::LargeView(list.offsets().clone(), list.sizes().clone()), list.values())?
            }
            DataType::Struct(fields) => {
                let columns = fields.iter().zip(array.as_struct().columns());
                let column =
                    |(field, array): (&_, &_)| Ok((Field::name(field).clone(), ArrowColumn::new(field, array)?));
                Self::Struct(
                    columns.map(|(field, array)| column((field.as_ref(), array))).collect::<Result<_, Error>>()?,
                )
            }
            DataType::Map(field, _) => {
                let map = array.as_map();
                let DataType::Struct(fields) = field.data_type() else {
                    return Err(malformed("the entries of a map are not structs"));
                };
                let [key, value] = &fields[..] else {
                    return Err(malformed("the entries of a map are not pairs"));
                };
                let entries = map.offsets().clone();
                Self::Map { entries, keys: child(key, map.keys())?, values: child(value, map.values())? }
            }
            DataType::Dictionary(_, values) => {
                let dictionary = array.as_any_dictionary();
                if dictionary.values().is_empty() {
                    // Without values, every key stands for null.
                    return Ok(Self::Null);
                }
                let field = Field::new("", (**values).clone(), true).with_metadata(field.metadata().clone());
                Self::Dictionary(dictionary.normalized_keys(), child(&field, dictionary.values())?)
            }
            DataType::RunEndEncoded(ends, field) => match ends.data_type() {
                DataType::Int16 => Self::runs::<Int16Type>(field, array)?,
                DataType::Int32 => Self::runs::<Int32Type>(field, array)?,
                DataType::Int64 => Self::runs::<Int64Type>(field, array)?,
                other => return Err(malformed(format_args!("run ends have the type {other}"))),
            },
            DataType::Union(fields, _) => {
                let union = array.as_union();
                let column = |(id, field): (i8, &_)| Ok((id, ArrowColumn::new(field, union.child(id))?));
                Self::Union {
                    types: union.type_ids().clone(),
                    offsets: union.offsets().cloned(),
                    children: fields
                        .iter()
                        .map(|(id, field)| column((id, field.as_ref())))
                        .collect::<Result<_, Error>>()?,
                }
            }
            _ => return Self::flat(field, array),
        })
    }

    /// Handles the types that contain no others.
    fn flat(field: &Field, array: &ArrayRef) -> Result<Self, Error> {
        Ok(match array.data_type() {
            DataType::Null => Self::Null,
            DataType::Boolean => Self::Bool(array.as_boolean().values().clone()),
            DataType::Int8 => Self::Int8(words(array)),
            DataType::Int16 => Self::Int16(words(array)),
            DataType::Int32 => Self::Int32(words(array)),
            DataType::Int64 => Self::Int64(words(array)),
            DataType::UInt8 => Self::UInt8(words(array)),
            DataType::UInt16 => Self::UInt16(words(array)),
            DataType::UInt32 => Self::UInt32(words(array)),
            DataType::UInt64 => Self::UInt64(words(array)),
            DataType::Float16 => Self::Float16(words(array)),
            DataType::Float32 => Self::Float32(words(array)),
            DataType::Float64 => Self::Float64(words(array)),
            DataType::Decimal32(_, scale) => Self::Decimal32(words(array), *scale),
            DataType::Decimal64(_, scale) => Self::Decimal64(words(array), *scale),
            DataType::Decimal128(_, scale) => Self::Decimal128(words(array), *scale),
            DataType::Decimal256(_, scale) => Self::Decimal256(words(array), *scale),
            DataType::Utf8 => Self::text(field, array, TextKind::Small),
            DataType::LargeUtf8 => Self::text(field, array, TextKind::Large),
            DataType::Utf8View => Self::text(field, array, TextKind::View),
            DataType::Binary => Self::Bytes(array.clone(), BytesKind::Small),
            DataType::LargeBinary => Self::Bytes(array.clone(), BytesKind::Large),
            DataType::BinaryView => Self::Bytes(array.clone(), BytesKind::View),
            DataType::FixedSizeBinary(_) => Self::Bytes(array.clone(), BytesKind::Fixed),
            DataType::Date32 => Self::Date32(words(array)),
            DataType::Date64 => Self::Date64(words(array)),
            DataType::Time32(unit) => Self::Time32(words(array), per_second(*unit)),
            DataType::Time64(unit) => Self::Time64(words(array), per_second(*unit)),
            DataType::Timestamp(unit, zone) => {
                Self::Timestamp { values: words(array), per_second: per_second(*unit), is_utc: zone.is_some() }
            }
            DataType::Duration(unit) => Self::Duration(words(array), per_second(*unit)),
            DataType::Interval(IntervalUnit::YearMonth) => Self::Months(words(array)),
            DataType::Interval(IntervalUnit::DayTime) => Self::DayTime(words(array)),
            DataType::Interval(IntervalUnit::MonthDayNano) => Self::MonthDayNano(words(array)),
            other => return Err(malformed(format_args!("{other} is not a type of single values"))),
        })
    }

    fn text(field: &Field, array: &ArrayRef, kind: TextKind) -> Self {
        if ColumnType::is_json(field) { Self::Json(array.clone(), kind) } else { Self::Text(array.clone(), kind) }
    }

    fn runs<E: RunEndIndexType>(field: &Field, array: &ArrayRef) -> Result<Self, Error> {
        let Some(runs) = array.as_run_opt::<E>() else {
            return Err(malformed("the type of run ends differs from the schema"));
        };
        let ends = runs.run_ends().values().iter().map(|end| end.as_usize()).collect();
        let values = Box::new(ArrowColumn::new(field, runs.values())?);
        Ok(Self::Runs { ends, offset: runs.run_ends().offset(), values })
    }
}

impl TextKind {
    #[inline]
    fn text(self, array: &ArrayRef, row: usize) -> &str {
        match self {
            Self::Small => array.as_string::<i32>().value(row),
            Self::Large => array.as_string::<i64>().value(row),
            Self::View => array.as_string_view().value(row),
        }
    }
}

impl BytesKind {
    fn bytes(self, array: &ArrayRef, row: usize) -> &[u8] {
        match self {
            Self::Small => array.as_binary::<i32>().value(row),
            Self::Large => array.as_binary::<i64>().value(row),
            Self::View => array.as_binary_view().value(row),
            Self::Fixed => array.as_fixed_size_binary().value(row),
        }
    }
}

impl Lists {
    fn elements(&self, row: usize) -> Range<usize> {
        match self {
            Self::Small(offsets) => range(offsets[row], offsets[row + 1]),
            Self::Large(offsets) => range(offsets[row], offsets[row + 1]),
            Self::Fixed(len) => row * len..(row + 1) * len,
            Self::View(offsets, sizes) => range(offsets[row], offsets[row] + sizes[row]),
            Self::LargeView(offsets, sizes) => range(offsets[row], offsets[row] + sizes[row]),
        }
    }
}

fn range<T: ArrowNativeType>(start: T, end: T) -> Range<usize> {
    start.as_usize()..end.as_usize()
}

/// The values of an array of fixed width.
fn words<T: ArrowNativeType>(array: &ArrayRef) -> ScalarBuffer<T> {
    let data = array.to_data();
    ScalarBuffer::new(data.buffers()[0].clone(), data.offset(), data.len())
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

fn float<S: Sink>(value: f64, sending: impl OnUntold<S>, sink: &mut S) -> Result<(), ArrowStop<S::Error>> {
    if value.is_finite() {
        Ok(sink.number(Numeral::F64(value))?)
    } else {
        sending.untold(Untold::NotFinite(value), sink)
    }
}

fn decimal<S: Sink>(value: i128, scale: i8, sink: &mut S) -> Result<(), S::Error> {
    match (scale, i64::try_from(value), u64::try_from(value)) {
        (0, Ok(value), _) => sink.number(Numeral::I64(value)),
        (0, _, Ok(value)) => sink.number(Numeral::U64(value)),
        _ => digits(&value, scale, sink),
    }
}

/// Sends an integer times 10 to the power of `-scale`.
fn digits<S: Sink>(value: &impl Display, scale: i8, sink: &mut S) -> Result<(), S::Error> {
    let text = value.to_string();
    let (sign, digits) = text.strip_prefix('-').map_or(("", &text[..]), |digits| ("-", digits));
    let text = match usize::from(scale.unsigned_abs()) {
        0 => text,
        zeros if scale < 0 && digits != "0" => format!("{text}{:0<zeros$}", ""),
        _ if scale < 0 => text,
        places => {
            // Pads to at least one digit before the point.
            let padded = format!("{digits:0>width$}", width = places + 1);
            let (whole, part) = padded.split_at(padded.len() - places);
            format!("{sign}{whole}.{part}")
        }
    };
    match Number::new(&text) {
        Some(number) => sink.number(Numeral::Text(number)),
        None => unreachable!("{text} is a number"),
    }
}

/// Checks that a text is JSON, and sends the value that it denotes.
fn json<S: Sink>(text: &str, sending: impl OnUntold<S>, sink: &mut S) -> Result<(), ArrowStop<S::Error>> {
    let mut buffer = Vec::new();
    match JsonText::check(text.as_bytes(), &mut buffer) {
        Ok(text) => Ok(sink.json(text)?),
        Err(_) => sending.untold(Untold::NotJson(text), sink),
    }
}

fn send_map<S: Sink>(
    entries: Range<usize>,
    keys: &ArrowColumn,
    values: &ArrowColumn,
    sending: impl OnUntold<S>,
    sink: &mut S,
) -> Result<(), ArrowStop<S::Error>> {
    if keys.is_text() {
        sink.begin_object()?;
        for entry in entries {
            let interest = match keys.text(entry) {
                Some(key) => sink.key(Key::new(key))?,
                None => sending.untold(Untold::NullKey, sink).map(|()| Interest::Take)?,
            };
            if interest == Interest::Take {
                values.send(entry, sending, sink)?;
            }
        }
        return Ok(sink.end_object()?);
    }
    sink.begin_array()?;
    for entry in entries {
        sink.begin_array()?;
        keys.send(entry, sending, sink)?;
        values.send(entry, sending, sink)?;
        sink.end_array()?;
    }
    Ok(sink.end_array()?)
}

fn instant(value: i64, per_second: i64, is_utc: bool) -> Timestamp {
    let nanoseconds = value.rem_euclid(per_second) * (1_000_000_000 / per_second);
    Timestamp { seconds: value.div_euclid(per_second), nanoseconds: nanoseconds as u32, is_utc }
}

/// `2024-02-29`
fn date(seconds: i64) -> String {
    let mut text = instant(seconds, 1, false).to_string();
    text.truncate(text.find('T').unwrap_or(text.len()));
    text
}

/// `12:30:00.5`, up to the end of the day, which is `24:00:00` in ISO 8601. Other writers produce it, although Arrow's
/// own page ends the day a second earlier.
fn time<S: Sink>(
    value: i64,
    per_second: i64,
    sending: impl OnUntold<S>,
    sink: &mut S,
) -> Result<(), ArrowStop<S::Error>> {
    if (0..=86_400 * per_second).contains(&value) {
        Ok(sink.string(&time_of_day(value, per_second))?)
    } else {
        sending.untold(Untold::Time(value, per_second), sink)
    }
}

/// Seconds as a decimal with as many places as needed.
fn seconds(value: i64, per_second: i64) -> String {
    let (sign, value, per_second) = (if value < 0 { "-" } else { "" }, value.unsigned_abs(), per_second as u64);
    let nanoseconds = value % per_second * (1_000_000_000 / per_second);
    let text = format!("{sign}{}.{nanoseconds:09}", value / per_second);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
