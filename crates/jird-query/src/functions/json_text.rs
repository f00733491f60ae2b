//! Converts any column to JSON texts in which equal values are equal. It is for values that replace the JSON text of
//! the same field.

use super::predicate::{as_json, json_field, json_texts};
use crate::sql::{JSON_KEY, JSON_TEXT};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use jird::record::Field;
use jird_formats::ColumnBuilder;

/// The values of a column as [keys](ColumnBuilder::key).
pub(crate) fn json_text(values: Expr) -> Expr {
    ScalarUDF::from(JsonText::new()).call(vec![values])
}

/// One of two functions. Of a column of any type it makes JSON texts; of JSON texts, which DataFusion may have lost the
/// mark of, it makes those that are equal for equal values.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct JsonText {
    of_json: bool,
    signature: Signature,
}

impl JsonText {
    pub(crate) fn new() -> Self {
        Self { of_json: false, signature: Signature::any(1, Volatility::Immutable) }
    }

    pub(crate) fn of_json() -> Self {
        Self { of_json: true, ..Self::new() }
    }
}

impl ScalarUDFImpl for JsonText {
    fn name(&self) -> &'static str {
        if self.of_json { JSON_KEY } else { JSON_TEXT }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    /// The result is marked as JSON.
    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(json_field(self.name()))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let values = args.args[0].to_array(args.number_rows)?;
        let texts = if self.of_json { as_json(&values)? } else { json_texts(&values, &args.arg_fields[0])? };
        let mut keys = ColumnBuilder::key();
        for text in &texts {
            let appended = keys.append(text.map_or(Field::MISSING, Field::from_raw));
            debug_assert!(appended.is_ok(), "there is a key of everything");
        }
        Ok(ColumnarValue::Array(keys.finish()))
    }
}
