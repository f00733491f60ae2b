//! `json_type(x)`: the kind of JSON value that a field has.

use arrow::array::{AsArray, StringArray};
use arrow::datatypes::DataType;
use arrow_cast::cast;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use jird::{Kind, record::Field};
use std::sync::Arc;

/// The function. Its argument is a column of JSON text in which null is not NULL.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct JsonType(Signature);

impl JsonType {
    pub(crate) fn new() -> Self {
        Self(Signature::any(1, Volatility::Immutable))
    }
}

impl ScalarUDFImpl for JsonType {
    fn name(&self) -> &'static str {
        "json_type"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let texts = cast(&arrays[0], &DataType::Utf8)?;
        let name = |text: &str| {
            Field::from_raw(text).kind().map(|kind| match kind {
                Kind::Null => "null",
                Kind::Bool => "boolean",
                Kind::Number => "number",
                Kind::String => "string",
                Kind::Object => "object",
                Kind::Array => "array",
            })
        };
        let names: StringArray = texts.as_string::<i32>().iter().map(|text| text.and_then(name)).collect();
        Ok(ColumnarValue::Array(Arc::new(names)))
    }
}
