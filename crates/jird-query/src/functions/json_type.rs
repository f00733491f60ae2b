//! `json_type(x)`: the kind of JSON value that a field has.

use super::predicate::as_json;
use super::stateless::{Makes, column, of_one};
use arrow::array::StringArray;
use arrow::datatypes::DataType;
use datafusion::logical_expr::ScalarUDF;
use jird::{Kind, record::Field};
use std::sync::Arc;

/// The function. Its argument is a column of JSON text in which null is not NULL.
pub(super) fn json_type() -> ScalarUDF {
    of_one("json_type", Makes::Always(DataType::Utf8), |args| {
        let texts = as_json(&column(args, 0)?)?;
        let name = |text: &str| Field::from_raw(text).kind().map(name);
        Ok(Arc::new(texts.iter().map(|text| text.and_then(name)).collect::<StringArray>()))
    })
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Bool => "boolean",
        Kind::Number => "number",
        Kind::String => "string",
        Kind::Object => "object",
        Kind::Array => "array",
    }
}
