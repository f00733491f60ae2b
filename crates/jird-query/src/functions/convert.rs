//! `number(x)` and `text(x)`: a field as a number or a text, even if other records have other kinds of values.

use super::sort_key::unsigned_zero;
use arrow::array::{ArrayRef, AsArray, Float64Array, StringArray};
use arrow::datatypes::DataType;
use arrow_cast::cast;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use jird::{Number, record::Field};
use std::sync::Arc;

/// One of the two functions. The argument is a column of JSON text.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Convert {
    to_number: bool,
    signature: Signature,
}

impl Convert {
    /// `number(x)`: the nearest `f64`, or NULL for a value that is not a number or is beyond `f64`. Returns 0.0 for
    /// -0.0, because DataFusion treats them as different.
    pub(crate) fn number() -> Self {
        Self { to_number: true, signature: Signature::any(1, Volatility::Immutable) }
    }

    /// `text(x)`: the content of a string; for other values, the JSON text as it stands.
    pub(crate) fn text() -> Self {
        Self { to_number: false, signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Convert {
    fn name(&self) -> &'static str {
        if self.to_number { "number" } else { "text" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(if self.to_number { DataType::Float64 } else { DataType::Utf8 })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let texts = cast(&arrays[0], &DataType::Utf8)?;
        let texts = texts.as_string::<i32>().iter();
        let array: ArrayRef = if self.to_number {
            let number = |text: &str| Field::from_raw(text).as_number().and_then(Number::to_f64).map(unsigned_zero);
            Arc::new(texts.map(|text| text.and_then(number)).collect::<Float64Array>())
        } else {
            let content = |text| Field::from_raw(text).as_str().unwrap_or(text.into());
            Arc::new(texts.map(|text: Option<&str>| text.map(content)).collect::<StringArray>())
        };
        Ok(ColumnarValue::Array(array))
    }
}
