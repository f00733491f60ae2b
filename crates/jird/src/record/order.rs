//! Keys of values: bytes that are ordered as the values are.
//!
//! A key begins with a byte for the value's kind. Numbers have their own keys behind it, texts their bytes and an end.
//! An array has the keys of its elements and an end. An object has its keys in order, an end, and then its values in
//! the order of their keys. No key is the beginning of another one.

use super::field::Field;
use crate::policy::Policy;
use crate::tape::{self, Elements, Kind, Value};
use core::cmp::Ordering;
use std::vec;

/// The first byte of a key.
const NULL: u8 = 1;
const FALSE: u8 = 2;
const TRUE: u8 = 3;
const NUMBER: u8 = 4;
const TEXT: u8 = 5;
const ARRAY: u8 = 6;
const OBJECT: u8 = 7;

/// Ends an array, and the keys of an object; less than the first byte of every key.
const END: u8 = 0;

/// A container whose key is being made.
enum Open<'a> {
    Elements(Elements<'a>),
    Values(vec::IntoIter<Value<'a>>),
}

/// Appends the key of a field. Nothing recurses, however deep the value is.
pub(super) fn order_key(field: Field<'_>, out: &mut Vec<u8>) {
    match field.kind() {
        None | Some(Kind::Null) => out.push(NULL),
        Some(Kind::Bool) => out.push(if field.as_bool() == Some(true) { TRUE } else { FALSE }),
        Some(Kind::Number) => {
            out.push(NUMBER);
            if let Some(number) = field.as_number() {
                number.order_key(out);
            }
        }
        Some(Kind::String) => text(&field.as_str().unwrap_or_default(), out),
        Some(kind @ (Kind::Array | Kind::Object)) => {
            let mut parser = tape::Parser::with_policy(Policy { depth_max: usize::MAX, ..Policy::default() });
            if let Ok(root) = parser.parse(field.raw().as_bytes()) {
                container(root, out);
            } else {
                // Only a text that was trusted comes here.
                out.push(if kind == Kind::Array { ARRAY } else { OBJECT });
                ended(field.raw().as_bytes(), out);
            }
        }
    }
}

/// The order of two arrays or of two objects.
pub(super) fn compare_containers(left: Field<'_>, right: Field<'_>) -> Ordering {
    if left.raw() == right.raw() {
        return Ordering::Equal;
    }
    let [left, right] = [left, right].map(|field| {
        let mut key = Vec::with_capacity(2 * field.raw().len());
        order_key(field, &mut key);
        key
    });
    left.cmp(&right)
}

fn container(root: Value<'_>, out: &mut Vec<u8>) {
    let mut open = Vec::new();
    open.extend(value(root, out));
    while let Some(last) = open.last_mut() {
        let next = match last {
            Open::Elements(elements) => elements.next(),
            Open::Values(values) => values.next(),
        };
        match next {
            Some(child) => open.extend(value(child, out)),
            None => {
                if let Some(Open::Elements(_)) = open.pop() {
                    out.push(END);
                }
            }
        }
    }
}

/// Appends the key of a scalar, or the begin of a container's, whose children come then.
fn value<'a>(value: Value<'a>, out: &mut Vec<u8>) -> Option<Open<'a>> {
    match value.kind() {
        Kind::Null => out.push(NULL),
        Kind::Bool => out.push(if value.as_bool() == Some(true) { TRUE } else { FALSE }),
        Kind::Number => {
            out.push(NUMBER);
            if let Some(number) = value.as_number() {
                number.order_key(out);
            }
        }
        Kind::String => text(&value.as_str().unwrap_or_default(), out),
        Kind::Array => {
            out.push(ARRAY);
            return Some(Open::Elements(value.elements()));
        }
        Kind::Object => {
            out.push(OBJECT);
            let mut members: Vec<_> =
                value.entries().map(|(key, value)| (key.as_str().unwrap_or_default(), value)).collect();
            // Of members with one key the first counts.
            members.sort_by(|(left, _), (right, _)| left.cmp(right));
            members.dedup_by(|(later, _), (first, _)| later == first);
            members.iter().for_each(|(key, _)| text(key, out));
            out.push(END);
            return Some(Open::Values(members.into_iter().map(|(_, value)| value).collect::<Vec<_>>().into_iter()));
        }
    }
    None
}

fn text(content: &str, out: &mut Vec<u8>) {
    out.push(TEXT);
    ended(content.as_bytes(), out);
}

/// Appends bytes and an end that sorts before everything, so that no text is the beginning of another.
fn ended(bytes: &[u8], out: &mut Vec<u8>) {
    for part in bytes.split_inclusive(|byte| *byte == 0) {
        out.extend_from_slice(part);
        if part.ends_with(&[0]) {
            out.push(0xff);
        }
    }
    out.extend_from_slice(&[0, 0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Vec<u8> {
        let mut key = Vec::new();
        order_key(Field::from_raw(text), &mut key);
        key
    }

    #[test]
    fn values_have_one_order() {
        let ordered = [
            "null",
            "false",
            "true",
            "-1e400",
            "-1",
            "0",
            "0.5",
            "9007199254740992",
            "9007199254740992.5",
            "9007199254740993",
            r#""""#,
            r#""\u0000""#,
            r#""\u0000a""#,
            r#""\u0001""#,
            r#""a""#,
            r#""a\u0000""#,
            r#""ab""#,
            r#""b""#,
            r#""\uffff""#,
            r#""\ud83d\ude00""#,
            "[]",
            "[null]",
            "[null, null]",
            "[9]",
            "[9, 1]",
            "[10]",
            r#"["a"]"#,
            r#"["a", 1]"#,
            r#"["a\u0000"]"#,
            r#"["ab"]"#,
            "[[]]",
            "[[], 1]",
            "[[1], 1]",
            "[{}]",
            "{}",
            r#"{"a":9}"#,
            r#"{"a":10}"#,
            r#"{"b":2,"a":10}"#,
            r#"{"a":11, "b":1}"#,
            r#"{"a":1,"b":1,"c":[]}"#,
            r#"{"b":0}"#,
        ];
        for (index, left) in ordered.iter().enumerate() {
            for right in &ordered[index + 1..] {
                assert!(key(left) < key(right), "{left} {right}");
                assert!(!key(right).starts_with(&key(left)), "{left} begins {right}");
            }
        }
    }

    #[test]
    fn equal_values_have_equal_keys() {
        let equal = [
            ["1.0", "10e-1"],
            [r#""A""#, r#""\u0041""#],
            ["[1, 2]", "[1.0,2e0]"],
            [r#"{"a":1,"b":{"x":[],"y":-0}}"#, r#"{"b": {"y": 0, "x": [ ]}, "\u0061": 1.0}"#],
            [r#"{"a":1,"a":2}"#, r#"{"a":1}"#],
        ];
        for [left, right] in equal {
            assert_eq!(key(left), key(right), "{left} {right}");
            assert_eq!(compare_containers(Field::from_raw(left), Field::from_raw(right)), Ordering::Equal);
        }
        assert_ne!(key(r#"{"a":2,"a":1}"#), key(r#"{"a":1}"#));
    }

    #[test]
    fn depth_takes_no_stack_and_what_is_no_value_has_a_key() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(key(&deep(900)) < key(&deep(901)));
        assert!(key(&deep(100_000)) < key(&deep(100_001)));
        assert_ne!(key("[1"), key("[2"));
        assert_ne!(key("{]"), key("[]"));
    }
}
