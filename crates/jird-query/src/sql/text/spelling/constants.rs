//! Constants of JSON: `json('[1, 2]')`, `json '[1, 2]'` and `{'a': 1}`, which all become `cast('…' as json)`.

use crate::base::error::Error;
use crate::sql::base::functions::JSON_OBJECT;
use crate::sql::base::literal::{is_json, json, literal, text};
use crate::sql::base::syntax::{arguments, call, function_name};
use crate::sql::base::syntax::{object as object_of, string};
use sqlparser::ast::{CastKind, DataType, DictionaryField, Expr};

/// Rewrites a constant, and checks that it is JSON.
pub(super) fn expr(expr: &mut Expr) -> Result<(), Error> {
    let of = match expr {
        Expr::Function(function) if function_name(function) == "json" => match arguments(function).as_slice() {
            [of] => (*of).clone(),
            _ => return Err(Error::sql("`json` takes one value")),
        },
        Expr::TypedString(typed) if is_json(&typed.data_type) => Expr::Value(typed.value.clone()),
        Expr::Interval(interval) => {
            if let Some(spelled) = text(&interval.value).and_then(|written| without_clock(&written)) {
                *interval.value = string(&spelled);
            }
            return Ok(());
        }
        Expr::Dictionary(fields) => {
            let Some(object) = object(fields) else {
                *expr = object_of(fields);
                return Ok(());
            };
            string(&object)
        }
        Expr::Struct { values, .. } => {
            *expr = structure(values);
            return Ok(());
        }
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

/// An interval with hours, minutes and seconds as `04:05:06.5`, with their names. `None` if it has none.
fn without_clock(written: &str) -> Option<String> {
    let clock = written.split_whitespace().find(|word| word.contains(':'))?;
    let (sign, digits) = clock.strip_prefix('-').map_or(("", clock), |digits| ("-", digits));
    let parts: Vec<_> = digits.split(':').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !(2..=3).contains(&parts.len()) || !parts.iter().all(is_number) {
        return None;
    }
    let named = parts.iter().zip(["hours", "minutes", "seconds"]).map(|(part, unit)| format!("{sign}{part} {unit}"));
    Some(written.replacen(clock, &named.collect::<Vec<_>>().join(" "), 1))
}

/// `struct(a, b)`, or `struct(a as x, b as y)`.
fn structure(values: &[Expr]) -> Expr {
    if !values.iter().any(|value| matches!(value, Expr::Named { .. })) {
        return call("row", values.to_vec());
    }
    let key = |key: String| string(&key);
    let members = values.iter().enumerate().flat_map(|(index, value)| match value {
        Expr::Named { expr, name } => [key(name.value.clone()), (**expr).clone()],
        value => [key(format!("c{index}")), value.clone()],
    });
    call(JSON_OBJECT, members.collect())
}

/// The text of an object of constants.
fn object(fields: &[DictionaryField]) -> Option<String> {
    let members = fields.iter().map(|field| {
        let key = jird::ser::to_string(&field.key.value).ok()?;
        Some(format!("{key}:{}", json(&literal(&field.value)?)))
    });
    Some(format!("{{{}}}", members.collect::<Option<Vec<_>>>()?.join(",")))
}
