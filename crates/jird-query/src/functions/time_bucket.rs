//! `time_bucket('1h', t)`: the start of the bucket that contains a time.

use crate::error::Error;
use arrow::array::{AsArray, TimestampNanosecondArray};
use arrow::datatypes::{DataType, TimeUnit, TimestampNanosecondType};
use arrow_cast::cast;
use arrow_cast::parse::string_to_timestamp_nanos;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use std::sync::Arc;

/// Monday, 3 January 2000, in seconds: weeks begin on Mondays, and shorter buckets begin with the day.
const ORIGIN_SECONDS: i64 = 946_857_600;

const NANOS: i64 = 1_000_000_000;

/// The function. Times without a zone are UTC.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct TimeBucket(Signature);

impl TimeBucket {
    pub(crate) fn new() -> Self {
        Self(Signature::any(2, Volatility::Immutable))
    }
}

impl ScalarUDFImpl for TimeBucket {
    fn name(&self) -> &'static str {
        "time_bucket"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(utc())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let width = match &args.args[0] {
            ColumnarValue::Scalar(scalar) => scalar.try_as_str().flatten().and_then(width_nanos),
            ColumnarValue::Array(_) => None,
        };
        let Some(width) = width else {
            return Err(
                Error::sql("time_bucket takes a width such as '1h': a number and one of ms, s, m, h, d, w").into()
            );
        };
        let times = args.args[1].to_array(args.number_rows)?;
        let times = if matches!(times.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
            parsed(cast(&times, &DataType::Utf8)?.as_string::<i32>())?
        } else {
            cast(&times, &DataType::Timestamp(TimeUnit::Nanosecond, None))?
                .as_primitive::<TimestampNanosecondType>()
                .clone()
        };
        let origin = ORIGIN_SECONDS * NANOS;
        let begin = |time: i64| time - (time.wrapping_sub(origin)).rem_euclid(width);
        let buckets: TimestampNanosecondArray = times.unary(begin);
        Ok(ColumnarValue::Array(Arc::new(buckets.with_timezone("UTC"))))
    }
}

fn utc() -> DataType {
    DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))
}

fn parsed(texts: &arrow::array::StringArray) -> Result<TimestampNanosecondArray> {
    texts
        .iter()
        .map(|text| match text {
            None => Ok(None),
            Some(text) => string_to_timestamp_nanos(text)
                .map(Some)
                .map_err(|_| Error::data(format!("time_bucket: '{text}' is not a time")).into()),
        })
        .collect()
}

fn width_nanos(text: &str) -> Option<i64> {
    let unit_at = text.find(|char: char| !char.is_ascii_digit())?;
    let (count, unit) = text.split_at(unit_at);
    let unit = match unit.trim() {
        "ms" => 1_000_000,
        "s" => NANOS,
        "m" | "min" => 60 * NANOS,
        "h" => 3600 * NANOS,
        "d" => 86_400 * NANOS,
        "w" => 7 * 86_400 * NANOS,
        _ => return None,
    };
    count.parse::<i64>().ok()?.checked_mul(unit).filter(|width| *width > 0)
}

#[cfg(test)]
mod tests {
    use super::width_nanos;

    #[test]
    fn widths_are_a_number_and_a_unit() {
        for (text, width) in [
            ("1h", Some(3_600_000_000_000)),
            ("15m", Some(900_000_000_000)),
            ("0s", None),
            ("h", None),
            ("1y", None),
            ("", None),
        ] {
            assert_eq!(width_nanos(text), width, "{text}");
        }
    }
}
