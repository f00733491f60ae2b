//! Texts that are the same for equal values.

use jird::hooks::write_string;
use jird::{Kind, Number, Value, record::Field};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A JSON text that is the same for all values equal to this one: numbers are normalised by value, strings are escaped
/// only where they must be, and members are sorted by their keys. Of members with one key, the first counts. Unlike in
/// RFC 8785, numbers are exact: 9007199254740993 is not 9007199254740992.
///
/// Scalars cost nothing but a copy, if even that. An array or object is parsed, and its text is new.
///
/// ```
/// use jird::record::Field;
/// let text = |value| jird_formats::value_text(Field::from_raw(value), &mut String::new()).to_owned();
/// assert_eq!(text(r#"{"b": 1.0, "a": ["\u0041"]}"#), r#"{"a":["A"],"b":1}"#);
/// ```
pub fn value_text<'s>(field: Field<'s>, scratch: &'s mut String) -> &'s str {
    match field.kind() {
        Some(Kind::Number) => match field.as_number() {
            Some(number) => {
                scratch.clear();
                number.normalize(scratch);
                scratch
            }
            None => field.raw(),
        },
        Some(Kind::String) => match field.as_str() {
            Some(Cow::Owned(content)) => {
                scratch.clear();
                append_string(&content, scratch);
                scratch
            }
            _ => field.raw(),
        },
        Some(Kind::Array | Kind::Object) => match jird::parse(field.raw().as_bytes()) {
            Ok(document) => {
                scratch.clear();
                append(document.root(), scratch);
                scratch
            }
            Err(_) => field.raw(),
        },
        _ => field.raw(),
    }
}

fn append(value: Value<'_>, out: &mut String) {
    match value.kind() {
        Kind::Array => {
            out.push('[');
            for (index, element) in value.elements().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                append(element, out);
            }
            out.push(']');
        }
        Kind::Object => {
            let mut members = BTreeMap::new();
            for (key, value) in value.entries() {
                members.entry(key.as_str().unwrap_or_default().to_string()).or_insert(value);
            }
            out.push('{');
            for (index, (key, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                append_string(&key, out);
                out.push(':');
                append(value, out);
            }
            out.push('}');
        }
        Kind::String => append_string(&value.as_str().unwrap_or_default(), out),
        Kind::Number => {
            let text = String::from_utf8_lossy(value.raw());
            match Number::new(&text) {
                Some(number) => number.normalize(out),
                None => out.push_str(&text),
            }
        }
        Kind::Null | Kind::Bool => out.push_str(&String::from_utf8_lossy(value.raw())),
    }
}

fn append_string(content: &str, out: &mut String) {
    let mut text = std::mem::take(out).into_bytes();
    write_string(content, &mut text);
    *out = String::from_utf8(text).expect("a string as JSON is UTF-8");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_equal_texts() {
        let text = |value: &str| value_text(Field::from_raw(value), &mut String::new()).to_owned();
        for equal in [
            &["1", "1.0", "10e-1"][..],
            &[r#""a/b""#, r#""a\/b""#],
            &["[1,2]", "[ 1.0 , 20e-1 ]"],
            &[r#"{"a":1,"b":[]}"#, r#"{ "b" : [ ], "\u0061": 1 }"#, r#"{"a":1,"b":[],"a":2}"#],
        ] {
            equal.iter().for_each(|value| assert_eq!(text(value), text(equal[0]), "{value}"));
        }
        for (one, other) in [("[9007199254740993]", "[9007199254740992]"), ("[]", "{}"), (r#"["1"]"#, "[1]")] {
            assert_ne!(text(one), text(other));
        }
    }
}
