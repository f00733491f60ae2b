//! The order of all JSON values, as keys that any operator can sort, compare and take the least of.
//!
//! The order is that of [`Field::order_key`]. A key ends with the text that it was made of, so the least key tells the
//! least value.

use super::predicate::as_json;
use super::stateless::{Makes, Takes, column, function, of_one};
use crate::sql::{JSON_COMPARE, JSON_OF_KEY, JSON_OF_KEYS, ORDER_KEY, ORDER_VALUE};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringArray, StringBuilder, new_null_array};
use arrow::datatypes::DataType;
use datafusion::error::Result;
use datafusion::logical_expr::{ScalarFunctionArgs, ScalarUDF};
use jird::record::Field;
use std::sync::Arc;

/// All functions of keys.
pub(super) fn all() -> [ScalarUDF; 5] {
    let one = of_one;
    [
        // Equal values have equal keys.
        one(ORDER_VALUE, Makes::Always(DataType::Utf8), |args| keys(args, false)),
        // Equal values have keys that differ only in the text at their end.
        one(ORDER_KEY, Makes::Always(DataType::Utf8), |args| keys(args, true)),
        one(JSON_OF_KEY, Makes::Json, |args| {
            let keys = column(args, 0)?;
            Ok(Arc::new(keys.as_string::<i32>().iter().map(|key| text_of(key?)).collect::<StringArray>()))
        }),
        // The JSON array of the texts that the keys of a list were made of.
        one(JSON_OF_KEYS, Makes::Json, json_of_keys),
        function(JSON_COMPARE, Takes::Exactly(2), Makes::Always(DataType::Int64), json_compare),
    ]
}

/// The keys of JSON texts, with these texts if they are to be turned back into values. Each byte of a key is a character of
/// a text, which is ordered in the same way: windows can be ordered by texts, but not by bytes.
fn keys(args: &ScalarFunctionArgs, with_text: bool) -> Result<ArrayRef> {
    let texts = as_json(&column(args, 0)?)?;
    let mut keys = StringBuilder::with_capacity(texts.len(), 2 * texts.values().len());
    let (mut key, mut chars) = (Vec::new(), String::new());
    for text in &texts {
        key.clear();
        match text.map(Field::from_raw) {
            Some(field) if !field.is_null() => {
                field.order_key(&mut key);
                if with_text {
                    append_text(field, &mut key);
                }
                chars.clear();
                chars.extend(key.iter().map(|&byte| char::from(byte)));
                keys.append_value(&chars);
            }
            _ => keys.append_null(),
        }
    }
    Ok(Arc::new(keys.finish()))
}

/// The number of bytes at the end of a key that hold the length of its text.
const LENGTH_BYTES: usize = 4;

/// Appends the text of a value and its length.
fn append_text(field: Field<'_>, key: &mut Vec<u8>) {
    let text = field.raw().as_bytes();
    key.extend_from_slice(text);
    key.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes());
}

fn json_of_keys(args: &ScalarFunctionArgs) -> Result<ArrayRef> {
    let array = column(args, 0)?;
    let Some(lists) = array.as_list_opt::<i32>() else { return Ok(new_null_array(&DataType::Utf8, array.len())) };
    let json = |keys: ArrayRef| {
        let texts = keys.as_string_opt::<i32>().map(|keys| keys.iter().map(|key| text_of(key?)));
        let texts: Vec<_> = texts.into_iter().flatten().map(|text| text.unwrap_or_else(|| "null".to_owned())).collect();
        format!("[{}]", texts.join(","))
    };
    Ok(Arc::new(lists.iter().map(|keys| keys.map(json)).collect::<StringArray>()))
}

/// The text that a key was made of.
fn text_of(key: &str) -> Option<String> {
    let bytes: Vec<_> = key.chars().map(|char| u8::try_from(char).unwrap_or_default()).collect();
    text(&bytes).map(str::to_owned)
}

fn text(key: &[u8]) -> Option<&str> {
    let (rest, length) = key.split_last_chunk::<LENGTH_BYTES>()?;
    let start = rest.len().checked_sub(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    str::from_utf8(&rest[start..]).ok()
}

/// The order of two JSON values of one kind: -1, 0 or 1. Null if their kinds differ, or if one is null, as in the
/// engine's comparisons.
fn json_compare(args: &ScalarFunctionArgs) -> Result<ArrayRef> {
    let (left, right) = (as_json(&column(args, 0)?)?, as_json(&column(args, 1)?)?);
    let (mut left_key, mut right_key) = (Vec::new(), Vec::new());
    let mut compare = |left: &str, right: &str| {
        let (left, right) = (Field::from_raw(left), Field::from_raw(right));
        if left.kind() != right.kind() || left.is_null() {
            return None;
        }
        left_key.clear();
        right_key.clear();
        left.order_key(&mut left_key);
        right.order_key(&mut right_key);
        Some(left_key.cmp(&right_key) as i64)
    };
    Ok(Arc::new(left.iter().zip(&right).map(|(left, right)| compare(left?, right?)).collect::<Int64Array>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Vec<u8> {
        let (field, mut key) = (Field::from_raw(text), Vec::new());
        field.order_key(&mut key);
        append_text(field, &mut key);
        key
    }

    #[test]
    fn keys_tell_their_text_and_have_the_order_of_values() {
        let ordered = ["false", "-1", "9007199254740992.5", r#""a\u0000""#, "[9]", "[10]", r#"{"a": 1}"#, "{\"b\":0}"];
        for (index, left) in ordered.iter().enumerate() {
            assert!(ordered[index + 1..].iter().all(|right| key(left) < key(right)), "{left}");
            assert_eq!(text(&key(left)), Some(*left));
        }
        // The spelling decides between equal values only.
        assert!(key("1.0") > key("1") && key("1.0") < key("1.0000000001"));
        assert!(key(r#"{"b":1,"a":2}"#) > key(r#"{"a":2,"b":1}"#));
    }
}
