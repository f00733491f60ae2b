//! Conversions into trees.

use super::Value;
use crate::tree::map::Map;
use crate::tree::number::Number;
use std::borrow::Cow;

/// Conversions by an expression.
macro_rules! from {
    ($([$($generics:tt)*] $type:ty: $value:ident => $made:expr;)*) => {
        $(
            impl<$($generics)*> From<$type> for Value {
                fn from($value: $type) -> Self {
                    $made
                }
            }
        )*
    };
}
from! {
    [] i8: value => Value::Number(value.into());
    [] i16: value => Value::Number(value.into());
    [] i32: value => Value::Number(value.into());
    [] i64: value => Value::Number(value.into());
    [] isize: value => Value::Number(value.into());
    [] u8: value => Value::Number(value.into());
    [] u16: value => Value::Number(value.into());
    [] u32: value => Value::Number(value.into());
    [] u64: value => Value::Number(value.into());
    [] usize: value => Value::Number(value.into());
    [] f32: value => Number::from_f32(value).map_or(Value::Null, Value::Number);
    [] f64: value => Number::from_f64(value).map_or(Value::Null, Value::Number);
    [] bool: value => Value::Bool(value);
    [] String: value => Value::String(value);
    [] &str: value => Value::String(value.to_owned());
    ['a] Cow<'a, str>: value => Value::String(value.into_owned());
    [] Number: value => Value::Number(value);
    [] Map<String, Value>: value => Value::Object(value);
    [T: Into<Value>] Vec<T>: value => Value::Array(value.into_iter().map(Into::into).collect());
    [T: Into<Value>, const N: usize] [T; N]: value => Value::Array(value.into_iter().map(Into::into).collect());
    [T: Clone + Into<Value>] &[T]: value => Value::Array(value.iter().cloned().map(Into::into).collect());
    [] (): _value => Value::Null;
    [T: Into<Value>] Option<T>: value => value.map_or(Value::Null, Into::into);
}

#[cfg(feature = "arbitrary_precision")]
from! {
    [] i128: value => Value::Number(value.into());
    [] u128: value => Value::Number(value.into());
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> Self {
        Value::Array(iter.into_iter().map(Into::into).collect())
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Value {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(iter: I) -> Self {
        Value::Object(iter.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}
