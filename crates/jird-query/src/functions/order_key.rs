//! The order of all JSON values, as keys that any operator can sort, compare and take the least of.
//!
//! Values are ordered as jq orders them: false, true, numbers, texts, arrays, objects. Numbers are ordered by their exact
//! values, texts by their code points, arrays and objects by their canonical texts. A key ends with the text that it was
//! made of, so the least key tells the least value.

use super::predicate::as_json;
use crate::sql::{JSON_COMPARE, JSON_OF_KEY, ORDER_KEY, ORDER_VALUE};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringArray, StringBuilder};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use jird::{Kind, record::Field};
use jird_formats::{ColumnType, value_text};
use std::sync::Arc;

/// The key of a JSON text. Equal values have keys that differ only in the text at their end. Each byte of a key is a
/// character of a text, which is ordered in the same way: windows can be ordered by texts, but not by bytes.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct OrderKey {
    /// Whether the text follows. If not, equal values have equal keys.
    with_text: bool,
    signature: Signature,
}

impl OrderKey {
    /// Keys to sort by.
    pub(crate) fn bare() -> Self {
        Self { with_text: false, signature: Signature::any(1, Volatility::Immutable) }
    }

    /// Keys that can be turned back into values.
    pub(crate) fn with_text() -> Self {
        Self { with_text: true, ..Self::bare() }
    }
}

impl ScalarUDFImpl for OrderKey {
    fn name(&self) -> &'static str {
        if self.with_text { ORDER_KEY } else { ORDER_VALUE }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let array = args.args[0].to_array(args.number_rows)?;
        let texts = as_json(&array)?;
        let mut keys = StringBuilder::with_capacity(texts.len(), 2 * texts.values().len());
        let (mut key, mut chars) = (Vec::new(), String::new());
        for text in &texts {
            key.clear();
            match text.map(Field::from_raw) {
                Some(field) if !field.is_null() => {
                    append(field, &mut key);
                    if self.with_text {
                        append_text(field, &mut key);
                    }
                    chars.clear();
                    chars.extend(key.iter().map(|&byte| char::from(byte)));
                    keys.append_value(&chars);
                }
                _ => keys.append_null(),
            }
        }
        Ok(ColumnarValue::Array(Arc::new(keys.finish())))
    }
}

/// The number of bytes at the end of a key that hold the length of its text.
const LENGTH_BYTES: usize = 4;

fn append(field: Field<'_>, key: &mut Vec<u8>) {
    match field.kind() {
        None | Some(Kind::Null) => {}
        Some(Kind::Bool) => key.push(if field.as_bool() == Some(true) { 2 } else { 1 }),
        Some(Kind::Number) => {
            key.push(3);
            if let Some(number) = field.as_number() {
                number.order_key(key);
            }
        }
        Some(Kind::String) => {
            key.push(4);
            ended(field.as_str().unwrap_or_default().as_bytes(), key);
        }
        Some(kind @ (Kind::Array | Kind::Object)) => {
            key.push(if kind == Kind::Array { 5 } else { 6 });
            ended(value_text(field, &mut String::new()).as_bytes(), key);
        }
    }
}

/// A key that equal values have in common.
pub(super) fn value_key(field: Field<'_>) -> Vec<u8> {
    let mut key = Vec::new();
    append(field, &mut key);
    key
}

/// Appends the text of a value and its length.
fn append_text(field: Field<'_>, key: &mut Vec<u8>) {
    let text = field.raw().as_bytes();
    key.extend_from_slice(text);
    key.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes());
}

/// Appends a text and an end that sorts before everything, so that no text is the beginning of another.
fn ended(text: &[u8], key: &mut Vec<u8>) {
    for part in text.split_inclusive(|byte| *byte == 0) {
        key.extend_from_slice(part);
        if part.ends_with(&[0]) {
            key.push(0xff);
        }
    }
    key.extend_from_slice(&[0, 0]);
}

/// The JSON text that a key was made of.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct JsonOfKey(Signature);

impl JsonOfKey {
    pub(crate) fn new() -> Self {
        Self(Signature::any(1, Volatility::Immutable))
    }
}

impl ScalarUDFImpl for JsonOfKey {
    fn name(&self) -> &'static str {
        JSON_OF_KEY
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(ColumnType::Json.field(self.name())))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let array = args.args[0].to_array(args.number_rows)?;
        let bytes = |key: &str| key.chars().map(|char| u8::try_from(char).unwrap_or_default()).collect::<Vec<_>>();
        let texts: StringArray =
            array.as_string::<i32>().iter().map(|key| text(&bytes(key?)).map(str::to_owned)).collect();
        Ok(ColumnarValue::Array(Arc::new(texts) as ArrayRef))
    }
}

fn text(key: &[u8]) -> Option<&str> {
    let (rest, length) = key.split_last_chunk::<LENGTH_BYTES>()?;
    let start = rest.len().checked_sub(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    str::from_utf8(&rest[start..]).ok()
}

/// The order of two JSON values of one kind: -1, 0 or 1. Null if their kinds differ, or if one is null, an array or an
/// object, as in the engine's comparisons.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct JsonCompare(Signature);

impl JsonCompare {
    pub(crate) fn new() -> Self {
        Self(Signature::any(2, Volatility::Immutable))
    }
}

impl ScalarUDFImpl for JsonCompare {
    fn name(&self) -> &'static str {
        JSON_COMPARE
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let (left, right) = (as_json(&arrays[0])?, as_json(&arrays[1])?);
        let (mut left_key, mut right_key) = (Vec::new(), Vec::new());
        let mut compare = |left: &str, right: &str| {
            let (left, right) = (Field::from_raw(left), Field::from_raw(right));
            if left.kind() != right.kind()
                || matches!(left.kind(), None | Some(Kind::Null | Kind::Array | Kind::Object))
            {
                return None;
            }
            left_key.clear();
            right_key.clear();
            append(left, &mut left_key);
            append(right, &mut right_key);
            Some(left_key.cmp(&right_key) as i64)
        };
        let orders: Int64Array = left.iter().zip(&right).map(|(left, right)| compare(left?, right?)).collect();
        Ok(ColumnarValue::Array(Arc::new(orders) as ArrayRef))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Vec<u8> {
        let mut key = Vec::new();
        append(Field::from_raw(text), &mut key);
        append_text(Field::from_raw(text), &mut key);
        key
    }

    #[test]
    fn values_have_one_order() {
        let ordered = [
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
            "[1]",
            "[]",
            r#"{"a":1}"#,
            "{}",
        ];
        for (index, left) in ordered.iter().enumerate() {
            for right in &ordered[index + 1..] {
                assert!(key(left) < key(right), "{left} {right}");
            }
            assert_eq!(text(&key(left)), Some(*left));
        }
        // The spelling decides between equal values only.
        assert!(key("1.0") > key("1") && key("1.0") < key("1.0000000001"));
        assert!(key(r#"{"b":1,"a":2}"#) > key(r#"{"a":2,"b":1}"#));
    }
}
