//! Converts any column to JSON texts in which equal values are equal. It is for values that replace the JSON text of
//! the same field.

use super::predicate::{as_json, json_texts};
use super::stateless::{Makes, column, of_one};
use crate::sql::{JSON_KEY, JSON_TEXT};
use arrow::array::{ArrayRef, StringArray};
use datafusion::logical_expr::{Expr, ScalarUDF};
use jird::record::Field;
use jird_formats::ColumnBuilder;

/// The values of a column as [keys](ColumnBuilder::key).
pub(crate) fn json_text(values: Expr) -> Expr {
    of_any().call(vec![values])
}

/// Makes JSON texts of a column of any type.
pub(super) fn of_any() -> ScalarUDF {
    of_one(JSON_TEXT, Makes::Json, |args| Ok(keys(&json_texts(&column(args, 0)?, &args.arg_fields[0])?)))
}

/// Makes them of JSON texts, which DataFusion may have lost the mark of.
pub(super) fn of_json() -> ScalarUDF {
    of_one(JSON_KEY, Makes::Json, |args| Ok(keys(&as_json(&column(args, 0)?)?)))
}

fn keys(texts: &StringArray) -> ArrayRef {
    let mut keys = ColumnBuilder::key();
    for text in texts {
        let appended = keys.append(text.map_or(Field::MISSING, Field::from_raw));
        debug_assert!(appended.is_ok(), "there is a key of everything");
    }
    keys.finish()
}
