//! Texts as JSON: what is put into a plan where a text column stands for the JSON texts of the same field.

use arrow::array::{AsArray, StringArray};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use jird::event::write_string;
use jird_formats::ColumnType;
use std::sync::Arc;

/// The texts of a column as [keys](jird_formats::ColumnBuilder::key).
pub(crate) fn json_text(texts: Expr) -> Expr {
    ScalarUDF::from(JsonText(Signature::exact(vec![DataType::Utf8], Volatility::Immutable))).call(vec![texts])
}

/// Each text with its quotes and escapes.
pub(super) fn quoted(texts: &StringArray) -> StringArray {
    let mut json = Vec::new();
    let mut quote = |text| {
        json.clear();
        write_string(text, &mut json);
        String::from_utf8_lossy(&json).into_owned()
    };
    texts.iter().map(|text| text.map(&mut quote)).collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct JsonText(Signature);

impl ScalarUDFImpl for JsonText {
    fn name(&self) -> &'static str {
        "json_text"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    /// Marked as JSON.
    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(ColumnType::Json.field(self.name())))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let texts = args.args[0].to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(Arc::new(quoted(texts.as_string()))))
    }
}
