//! `timestamp(x)`: a value as a point in time, in microseconds as in `PostgreSQL` and `DuckDB`.

use super::narrow::LeftOut;
use crate::sql::TIME_OF_JSON;
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, TimeUnit};
use arrow_cast::cast;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use jird::{Kind, record::Field};
use jird_store::time::{self, Time};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A point in time, as DataFusion has it.
pub(super) fn data_type(zone: Option<Arc<str>>) -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, zone)
}

/// The function. Its arguments are a column and the number of the call. Values that are not times become NULL and are
/// counted.
#[derive(Debug)]
pub(crate) struct Timestamp {
    /// Whether the column is JSON text. If not, it has one type.
    of_json: bool,
    signature: Signature,
    left_out: LeftOut,
}

impl Timestamp {
    pub(crate) fn new(of_json: bool, left_out: LeftOut) -> Self {
        Self { of_json, signature: Signature::variadic_any(Volatility::Immutable), left_out }
    }
}

/// What a message tells of the function.
#[cfg(feature = "cluster")]
impl Timestamp {
    pub(crate) fn is_of_json(&self) -> bool {
        self.of_json
    }

    pub(crate) fn left_out(&self) -> &LeftOut {
        &self.left_out
    }
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.of_json == other.of_json && Arc::ptr_eq(&self.left_out, &other.left_out)
    }
}

impl Eq for Timestamp {}

impl Hash for Timestamp {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl ScalarUDFImpl for Timestamp {
    fn name(&self) -> &'static str {
        if self.of_json { TIME_OF_JSON } else { "timestamp" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(match &types[0] {
            DataType::Timestamp(_, Some(zone)) if !self.of_json && **zone != *"+00:00" => {
                data_type(Some(Arc::clone(zone)))
            }
            DataType::Timestamp(_, None) | DataType::Date32 | DataType::Date64 if !self.of_json => data_type(None),
            _ => data_type(Some("UTC".into())),
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let values = &arrays[0];
        if !self.of_json && values.data_type().is_temporal() {
            return Ok(ColumnarValue::Array(cast(values, args.return_field.data_type())?));
        }
        let times = if self.of_json {
            let time = |text: &str| {
                let field = Field::from_raw(text);
                match field.kind() {
                    Some(Kind::String) => micros(time::parse(field.as_str()?.as_bytes())?),
                    Some(Kind::Number) => time::parse_number(text).and_then(micros),
                    _ => None,
                }
            };
            texts(values)?.iter().map(|text| text.and_then(time)).collect::<TimestampMicrosecondArray>()
        } else if values.data_type().is_numeric() {
            let time = |text: &str| time::parse_number(text).and_then(micros);
            texts(values)?.iter().map(|text| text.and_then(time)).collect()
        } else {
            let time = |text: &str| time::parse(text.as_bytes()).and_then(micros);
            texts(values)?.iter().map(|text| text.and_then(time)).collect()
        };
        let nulls = if self.of_json { json_nulls(values)? } else { values.logical_null_count() };
        self.count(times.null_count() - nulls, arrays.get(1));
        Ok(ColumnarValue::Array(Arc::new(times.with_timezone("UTC"))))
    }
}

impl Timestamp {
    /// Counts values that are not times.
    fn count(&self, others: usize, call: Option<&ArrayRef>) {
        let call = call.and_then(|call| call.as_any().downcast_ref::<Int64Array>()).filter(|call| !call.is_empty());
        let counter = call.and_then(|call| self.left_out.get(usize::try_from(call.value(0)).ok()?));
        if let Some(counter) = counter.filter(|_| others > 0) {
            counter.fetch_add(others as u64, Relaxed);
        }
    }
}

fn texts(values: &ArrayRef) -> Result<StringArray> {
    Ok(cast(values, &DataType::Utf8)?.as_string::<i32>().clone())
}

/// The number of values that are null or missing.
fn json_nulls(values: &ArrayRef) -> Result<usize> {
    Ok(texts(values)?.iter().filter(|text| text.is_none_or(|text| Field::from_raw(text).is_null())).count())
}

/// Microseconds since 1970, if they fit. What is smaller is cut off.
fn micros((seconds, nanos): Time) -> Option<i64> {
    seconds.checked_mul(1_000_000)?.checked_add(i64::from(nanos / 1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_cast::parse::string_to_timestamp_nanos;

    #[test]
    fn times_are_what_arrow_takes_them_for() {
        for text in [
            "1970-01-01T00:00:00Z",
            "2024-02-29T23:59:59.123456789+05:30",
            "2023-12-31 07:00:00.5-08:00",
            "1969-12-31T23:59:59.999Z",
            "2000-03-01",
            "2100-03-01T00:00:00",
        ] {
            let (seconds, nanos) = time::parse(text.as_bytes()).unwrap();
            assert_eq!(
                Ok(seconds * 1_000_000_000 + i64::from(nanos)),
                string_to_timestamp_nanos(text).map_err(|_| ()),
                "{text}"
            );
        }
    }
}
