//! The tree of any JSON, its objects and numbers, and conversions of types to it and from it.
//!
//! ```text
//! map         the members of an object             exact       how the text of a number passes through deserializers
//! number      numbers with their digits            mixed       trees of serde_json itself
//! grown       trees from the engine                de, ser     trees from any deserializer and to any serializer
//! ```

mod de;
mod exact;
mod from;
mod grown;
mod index;
pub mod map;
mod mixed;
mod number;
mod partial_eq;
mod ser;

use crate::error::Error;
use core::fmt::{self, Debug, Display};
pub use index::Index;
pub use map::Map;
pub use number::Number;
pub use ser::Serializer;
use serde_core::de::DeserializeOwned;
use serde_core::ser::Serialize;
pub use serde_json::value::{RawValue, to_raw_value};

/// Any JSON value.
///
/// ```
/// use jird_serde_json::{Value, json};
/// let value: Value = jird_serde_json::from_str(r#"{"user": {"id": 7}, "price": 1.50}"#)?;
/// assert_eq!(value["user"]["id"], 7);
/// assert_eq!(value["price"], json!(1.5));
/// assert_eq!(value.to_string(), r#"{"price":1.50,"user":{"id":7}}"#);
/// # Ok::<(), jird_serde_json::Error>(())
/// ```
#[derive(Clone, Default, Eq, PartialEq, Hash)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, with all of its digits.
    Number(Number),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Map<String, Value>),
}

impl Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("Null"),
            Value::Bool(value) => write!(f, "Bool({value})"),
            Value::Number(number) => Debug::fmt(number, f),
            Value::String(text) => write!(f, "String({text:?})"),
            Value::Array(elements) => {
                f.write_str("Array ")?;
                Debug::fmt(elements, f)
            }
            Value::Object(members) => {
                f.write_str("Object ")?;
                Debug::fmt(members, f)
            }
        }
    }
}

/// Compact JSON; with `{:#}`, indented.
impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if f.alternate() { crate::to_string_pretty(self) } else { crate::to_string(self) };
        f.write_str(&text.map_err(|_| fmt::Error)?)
    }
}

/// The index that a step of a JSON Pointer is for an array (RFC 6901 §4).
fn array_index(step: &str) -> Option<usize> {
    if step.starts_with('+') || (step.starts_with('0') && step.len() != 1) {
        return None;
    }
    step.parse().ok()
}

/// The steps of a JSON Pointer, unescaped.
fn steps(pointer: &str) -> impl Iterator<Item = String> + '_ {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"))
}

/// Whether a text can be a JSON Pointer.
fn is_pointer(pointer: &str) -> bool {
    pointer.is_empty() || pointer.starts_with('/')
}

/// Methods that return what a value contains if it is of a kind, and whether it is.
macro_rules! kinds {
    ($($(#[$is_doc:meta])* $is:ident, $(#[$as_doc:meta])* $as:ident -> $type:ty: $pattern:pat => $value:expr;)*) => {
        $(
            $(#[$is_doc])*
            pub fn $is(&self) -> bool {
                self.$as().is_some()
            }

            $(#[$as_doc])*
            pub fn $as(&self) -> Option<$type> {
                match self {
                    $pattern => $value,
                    _ => None,
                }
            }
        )*
    };
}

impl Value {
    /// The element of an array, or the value of a member of an object.
    ///
    /// ```
    /// # use jird_serde_json::json;
    /// let value = json!({"a": [1, 2]});
    /// assert_eq!(value.get("a").and_then(|a| a.get(1)), Some(&json!(2)));
    /// assert_eq!(value.get(0), None);
    /// ```
    pub fn get<I: Index>(&self, index: I) -> Option<&Value> {
        index.index_into(self)
    }

    /// As [`get`](Self::get), to be changed.
    pub fn get_mut<I: Index>(&mut self, index: I) -> Option<&mut Value> {
        index.index_into_mut(self)
    }

    kinds! {
        /// Whether it is an object.
        is_object,
        /// The members of an object.
        as_object -> &Map<String, Value>: Value::Object(members) => Some(members);
        /// Whether it is an array.
        is_array,
        /// The elements of an array.
        as_array -> &Vec<Value>: Value::Array(elements) => Some(elements);
        /// Whether it is a string.
        is_string,
        /// The text of a string.
        as_str -> &str: Value::String(text) => Some(text);
        /// Whether it is a number.
        is_number,
        /// The number.
        as_number -> &Number: Value::Number(number) => Some(number);
        /// Whether it is an integer that fits into an `i64`.
        is_i64,
        /// The integer, if it fits.
        as_i64 -> i64: Value::Number(number) => number.as_i64();
        /// Whether it is an integer that fits into a `u64`.
        is_u64,
        /// The integer, if it fits.
        as_u64 -> u64: Value::Number(number) => number.as_u64();
        /// Whether it is a boolean.
        is_boolean,
        /// The boolean.
        as_bool -> bool: Value::Bool(value) => Some(*value);
        /// Whether it is `null`.
        is_null,
        /// `()` for `null`.
        as_null -> (): Value::Null => Some(());
    }

    /// The members of an object, to be changed.
    pub fn as_object_mut(&mut self) -> Option<&mut Map<String, Value>> {
        if let Value::Object(members) = self { Some(members) } else { None }
    }

    /// The elements of an array, to be changed.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Value>> {
        if let Value::Array(elements) = self { Some(elements) } else { None }
    }

    /// Whether it is a number that is neither an `i64` nor a `u64`.
    pub fn is_f64(&self) -> bool {
        self.as_number().is_some_and(Number::is_f64)
    }

    /// The nearest `f64` of a number.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().and_then(Number::as_f64)
    }

    /// The value that a JSON Pointer (RFC 6901) leads to.
    ///
    /// ```
    /// # use jird_serde_json::json;
    /// let value = json!({"a/b": [1, {"c~": 2}]});
    /// assert_eq!(value.pointer("/a~1b/1/c~0"), Some(&json!(2)));
    /// assert_eq!(value.pointer("/a~1b/01"), None);
    /// ```
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        if !is_pointer(pointer) {
            return None;
        }
        steps(pointer).try_fold(self, |value, step| match value {
            Value::Object(members) => members.get(&step),
            Value::Array(elements) => elements.get(array_index(&step)?),
            _ => None,
        })
    }

    /// As [`pointer`](Self::pointer), to be changed.
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Value> {
        if !is_pointer(pointer) {
            return None;
        }
        steps(pointer).try_fold(self, |value, step| match value {
            Value::Object(members) => members.get_mut(&step),
            Value::Array(elements) => elements.get_mut(array_index(&step)?),
            _ => None,
        })
    }

    /// The value, in whose place `null` is left.
    #[allow(clippy::return_self_not_must_use, reason = "`serde_json` lets a program drop it")]
    pub fn take(&mut self) -> Value {
        core::mem::take(self)
    }

    /// Sorts the members of all objects by their keys. Without the feature `preserve_order` they are sorted anyway.
    pub fn sort_all_objects(&mut self) {
        #[cfg(feature = "preserve_order")]
        match self {
            Value::Object(members) => {
                members.sort_keys();
                members.values_mut().for_each(Value::sort_all_objects);
            }
            Value::Array(elements) => elements.iter_mut().for_each(Value::sort_all_objects),
            _ => {}
        }
    }
}

impl Default for &Value {
    fn default() -> Self {
        &Value::Null
    }
}

/// The tree of any value that can be serialized.
///
/// ```
/// # use jird_serde_json::{json, to_value};
/// assert_eq!(to_value([Some(1), None])?, json!([1, null]));
/// # Ok::<(), jird_serde_json::Error>(())
/// ```
///
/// # Errors
/// If the value's `Serialize` fails, or a map has a key that is neither a string nor a number, boolean or unit variant.
pub fn to_value<T>(value: T) -> Result<Value, Error>
where
    T: Serialize,
{
    value.serialize(Serializer)
}

/// Decodes a tree.
///
/// ```
/// # use jird_serde_json::{from_value, json};
/// assert_eq!(from_value::<Vec<Option<u8>>>(json!([1, null]))?, [Some(1), None]);
/// # Ok::<(), jird_serde_json::Error>(())
/// ```
///
/// # Errors
/// If the value does not fit `T`.
pub fn from_value<T>(value: Value) -> Result<T, Error>
where
    T: DeserializeOwned,
{
    T::deserialize(value)
}
