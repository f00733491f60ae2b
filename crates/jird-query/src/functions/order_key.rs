//! The order of all JSON values, as keys that any operator can sort, compare and take the least of.
//!
//! The order is that of [`Field::order_key`]. A key ends with the text that it was made of, so the least key tells the
//! least value.

use super::predicate::{as_json, json_field};
use crate::sql::{JSON_COMPARE, JSON_OF_KEY, JSON_OF_KEYS, ORDER_KEY, ORDER_VALUE};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringArray, StringBuilder};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use jird::record::Field;
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
                    field.order_key(&mut key);
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

/// Appends the text of a value and its length.
fn append_text(field: Field<'_>, key: &mut Vec<u8>) {
    let text = field.raw().as_bytes();
    key.extend_from_slice(text);
    key.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes());
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
        Ok(json_field(self.name()))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let array = args.args[0].to_array(args.number_rows)?;
        let texts: StringArray = array.as_string::<i32>().iter().map(|key| text_of(key?)).collect();
        Ok(ColumnarValue::Array(Arc::new(texts) as ArrayRef))
    }
}

/// The JSON array of the texts that the keys of a list were made of.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct JsonOfKeys(Signature);

impl JsonOfKeys {
    pub(crate) fn new() -> Self {
        Self(Signature::any(1, Volatility::Immutable))
    }
}

impl ScalarUDFImpl for JsonOfKeys {
    fn name(&self) -> &'static str {
        JSON_OF_KEYS
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(json_field(self.name()))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let array = args.args[0].to_array(args.number_rows)?;
        let Some(lists) = array.as_list_opt::<i32>() else {
            return Ok(ColumnarValue::Array(arrow::array::new_null_array(&DataType::Utf8, array.len())));
        };
        let json = |keys: ArrayRef| {
            let texts = keys.as_string_opt::<i32>().map(|keys| keys.iter().map(|key| text_of(key?)));
            let texts: Vec<_> =
                texts.into_iter().flatten().map(|text| text.unwrap_or_else(|| "null".to_owned())).collect();
            format!("[{}]", texts.join(","))
        };
        let texts: StringArray = lists.iter().map(|keys| keys.map(json)).collect();
        Ok(ColumnarValue::Array(Arc::new(texts) as ArrayRef))
    }
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
            if left.kind() != right.kind() || left.is_null() {
                return None;
            }
            left_key.clear();
            right_key.clear();
            left.order_key(&mut left_key);
            right.order_key(&mut right_key);
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
