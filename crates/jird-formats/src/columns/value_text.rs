//! Texts that are the same for equal values.

use jird::hooks::{quoted, write_array, write_object, write_string};
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
#[expect(clippy::missing_panics_doc, reason = "JSON is UTF-8")]
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
                *scratch = quoted(&content);
                scratch
            }
            _ => field.raw(),
        },
        Some(Kind::Array | Kind::Object) => match jird::parse(field.raw().as_bytes()) {
            Ok(document) => {
                let mut out = Vec::with_capacity(field.raw().len());
                append(document.root(), scratch, &mut out);
                *scratch = String::from_utf8(out).expect("JSON is UTF-8");
                scratch
            }
            Err(_) => field.raw(),
        },
        _ => field.raw(),
    }
}

/// Appends the text of a value. `number` is memory for the text of one.
fn append(value: Value<'_>, number: &mut String, out: &mut Vec<u8>) {
    match value.kind() {
        Kind::Array => write_array(out, |array| {
            value.elements().for_each(|element| array.with(|out| append(element, number, out)));
        }),
        Kind::Object => {
            let mut members = BTreeMap::new();
            for (key, value) in value.entries() {
                members.entry(key.as_str().unwrap_or_default()).or_insert(value);
            }
            write_object(out, |object| {
                members.iter().for_each(|(key, value)| object.with(key, |out| append(*value, number, out)));
            });
        }
        Kind::String => write_string(&value.as_str().unwrap_or_default(), out),
        Kind::Number => {
            let text = String::from_utf8_lossy(value.raw());
            match Number::new(&text) {
                Some(exact) => {
                    number.clear();
                    exact.normalize(number);
                    out.extend_from_slice(number.as_bytes());
                }
                None => out.extend_from_slice(text.as_bytes()),
            }
        }
        Kind::Null | Kind::Bool => out.extend_from_slice(value.raw()),
    }
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
