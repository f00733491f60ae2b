//! SQL constants, as the engine compares them.

use jird::event::Numeral;
use jird::record::{Field, Literal};
use jird::{Kind, Number};
use sqlparser::ast::{DataType, Expr, UnaryOperator, Value};

/// The constant that an expression is; `None` if it is not a constant, or not one that JSON has.
pub(crate) fn literal(expr: &Expr) -> Option<Literal> {
    match expr {
        Expr::Nested(inner) => literal(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match literal(expr)? {
            Literal::Number(text) => match text.strip_prefix('-') {
                Some(positive) => Some(Literal::Number(positive.into())),
                None => Some(Literal::Number(format!("-{text}").into())),
            },
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Plus, expr } => {
            literal(expr).filter(|literal| matches!(literal, Literal::Number(_)))
        }
        Expr::Value(value) => match &value.value {
            Value::Null => Some(Literal::Null),
            Value::Boolean(value) => Some(Literal::Bool(*value)),
            Value::SingleQuotedString(text) => Some(Literal::Text(text.as_str().into())),
            Value::Number(text, false) => number(text).map(Literal::Number),
            _ => None,
        },
        Expr::Array(array) => {
            let elements = array.elem.iter().map(|element| literal(element).map(|element| json(&element)));
            Some(Literal::Container(format!("[{}]", elements.collect::<Option<Vec<_>>>()?.join(",")).into()))
        }
        Expr::Cast { expr, data_type, .. } if is_json(data_type) => match literal(expr)? {
            Literal::Text(text) => of_json(&text),
            other => Some(other),
        },
        _ => None,
    }
}

/// Whether an expression is a number that neither an integer of 64 bits nor the digits of a double are.
pub(crate) fn is_long(expr: &Expr) -> bool {
    let Some(Literal::Number(text)) = literal(expr) else { return false };
    if text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok() {
        return false;
    }
    let key = |text: &str| {
        let mut key = Vec::new();
        Field::from_raw(text).order_key(&mut key);
        key
    };
    let mut digits = Vec::new();
    let double = Number::new(&text).and_then(Number::to_f64);
    double.inspect(|double| Numeral::F64(*double).write(&mut digits));
    String::from_utf8(digits).is_ok_and(|digits| digits.is_empty() || key(&digits) != key(&text))
}

/// Whether a type is that of JSON.
pub(crate) fn is_json(data_type: &DataType) -> bool {
    matches!(data_type, DataType::JSON | DataType::JSONB)
}

/// The constant that a JSON text is; `None` if it is not JSON.
fn of_json(text: &str) -> Option<Literal> {
    let document = jird::parse(text.as_bytes()).ok()?;
    let root = document.root();
    Some(match root.kind() {
        Kind::Null => Literal::Null,
        Kind::Bool => Literal::Bool(root.as_bool()?),
        Kind::Number => Literal::Number(root.as_number()?.text().into()),
        Kind::String => Literal::Text(root.as_str()?.into()),
        Kind::Array | Kind::Object => {
            Literal::Container(String::from_utf8(jird::minify(text.as_bytes()).ok()?).ok()?.into())
        }
    })
}

/// A constant as JSON.
pub(crate) fn json(literal: &Literal) -> String {
    match literal {
        Literal::Null => "null".to_owned(),
        Literal::Bool(value) => value.to_string(),
        Literal::Number(json) | Literal::Container(json) => json.to_string(),
        Literal::Text(text) => jird::ser::to_string(&**text).expect("a text is JSON"),
    }
}

/// The content of a constant text.
pub(crate) fn text(expr: &Expr) -> Option<Box<str>> {
    match literal(expr) {
        Some(Literal::Text(text)) => Some(text),
        _ => None,
    }
}

/// Converts the ways to write numbers that SQL has and JSON does not: `.5`, `5.`, `007`.
fn number(text: &str) -> Option<Box<str>> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if fraction.is_empty() { "" } else { "." };
    let json = format!("{whole}{point}{fraction}{exponent}");
    Number::new(&json)?;
    Some(json.into())
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_of_sql_become_numbers_of_json() {
        for (sql, json) in
            [("200", "200"), (".5", "0.5"), ("5.", "5"), ("007", "7"), ("0", "0"), ("1e5", "1e5"), ("0.10", "0.10")]
        {
            assert_eq!(number(sql).as_deref(), Some(json), "{sql}");
        }
        assert_eq!(number("0x1f"), None);
    }
}
