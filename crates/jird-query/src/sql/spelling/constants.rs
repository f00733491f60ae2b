//! Constants of JSON: `json('[1, 2]')`, `json '[1, 2]'` and `{'a': 1}`, all of which become `cast('…' as json)`.

use super::super::expr::{arguments, function_name};
use super::super::literal::{is_json, json, literal, text};
use crate::error::Error;
use datafusion::sql::sqlparser::ast::{CastKind, DataType, DictionaryField, Expr, Value};

/// Rewrites a constant, and checks that it is JSON.
pub(super) fn expr(expr: &mut Expr) -> Result<(), Error> {
    let of = match expr {
        Expr::Function(function) if function_name(function) == "json" => match arguments(function).as_slice() {
            [of] => (*of).clone(),
            _ => return Err(Error::sql("`json` takes one value")),
        },
        Expr::TypedString(typed) if is_json(&typed.data_type) => Expr::Value(typed.value.clone()),
        Expr::Dictionary(fields) => match object(fields) {
            Some(object) => Expr::value(Value::SingleQuotedString(object)),
            None => return Ok(()),
        },
        Expr::Cast { expr, data_type, kind, .. } if is_json(data_type) => {
            return match text(expr).map(|text| jird::validate(text.as_bytes())) {
                Some(Err(error)) if matches!(kind, CastKind::Cast | CastKind::DoubleColon) => {
                    Err(Error::sql(format!("{expr} is not JSON: {error}")))
                }
                _ => Ok(()),
            };
        }
        _ => return Ok(()),
    };
    *expr = Expr::Cast { kind: CastKind::Cast, expr: of.into(), data_type: DataType::JSON, array: false, format: None };
    self::expr(expr)
}

/// The text of an object of constants.
fn object(fields: &[DictionaryField]) -> Option<String> {
    let members = fields.iter().map(|field| {
        let key = jird::ser::to_string(&field.key.value).ok()?;
        Some(format!("{key}:{}", json(&literal(&field.value)?)))
    });
    Some(format!("{{{}}}", members.collect::<Option<Vec<_>>>()?.join(",")))
}
