//! `timestamp(x)`: a field as a point in time.

use crate::error::Error;
use crate::time;
use arrow::array::{AsArray, TimestampNanosecondArray};
use arrow::datatypes::{DataType, TimeUnit};
use arrow_cast::cast;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use jird::record::Field;
use std::sync::Arc;

/// The function. Its argument is a column of JSON text. Values that are not the text of a time become NULL.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Timestamp(Signature);

impl Timestamp {
    pub(crate) fn new() -> Self {
        Self(Signature::any(1, Volatility::Immutable))
    }
}

impl ScalarUDFImpl for Timestamp {
    fn name(&self) -> &'static str {
        "timestamp"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let texts = cast(&arrays[0], &DataType::Utf8)?;
        let time = |text: Option<&str>| -> Result<Option<i64>> {
            let Some(content) = text.and_then(|text| Field::from_raw(text).as_str()) else { return Ok(None) };
            let Some((seconds, nanos)) = time::parse(&content) else { return Ok(None) };
            let all = seconds.checked_mul(1_000_000_000).and_then(|all| all.checked_add(i64::from(nanos)));
            all.map(Some).ok_or_else(|| {
                Error::data(format!("timestamp: {content} is beyond the years 1678 to 2261; compare it, or print it"))
                    .into()
            })
        };
        let times: TimestampNanosecondArray = texts.as_string::<i32>().iter().map(time).collect::<Result<_>>()?;
        Ok(ColumnarValue::Array(Arc::new(times.with_timezone("UTC"))))
    }
}
