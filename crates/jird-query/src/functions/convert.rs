//! `number(x)` and `text(x)`: a field as a number or a text, even if other records have other kinds of values.

use super::predicate::as_json;
use super::sort_key::unsigned_zero;
use super::stateless::{Makes, column, of_one};
use arrow::array::{Float64Array, StringArray};
use arrow::datatypes::DataType;
use datafusion::logical_expr::ScalarUDF;
use jird::{Number, record::Field};
use std::sync::Arc;

/// Both functions. The argument is a column of JSON text.
pub(super) fn all() -> [ScalarUDF; 2] {
    [
        // The nearest `f64`, or NULL for a value that is not a number or is beyond `f64`. 0.0 for -0.0, because DataFusion
        // treats them as different.
        of_one("number", Makes::Always(DataType::Float64), |args| {
            let number = |text: &str| Field::from_raw(text).as_number().and_then(Number::to_f64).map(unsigned_zero);
            let texts = as_json(&column(args, 0)?)?;
            Ok(Arc::new(texts.iter().map(|text| text.and_then(number)).collect::<Float64Array>()))
        }),
        // The content of a string; for other values, the JSON text as it stands.
        of_one("text", Makes::Always(DataType::Utf8), |args| {
            let content = |text| Field::from_raw(text).as_str().unwrap_or(text.into());
            let texts = as_json(&column(args, 0)?)?;
            Ok(Arc::new(texts.iter().map(|text: Option<&str>| text.map(content)).collect::<StringArray>()))
        }),
    ]
}
