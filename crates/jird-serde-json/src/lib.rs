//! `serde_json` by one line in `Cargo.toml`:
//!
//! ```toml
//! serde_json = { package = "jird-serde-json", version = "0.1" }
//! ```
//!
//! All names and paths of `serde_json` are here. Texts are read and written by the engine of the crate `jird`, and every
//! number keeps its digits. The page `docs/coming-from-serde_json.md` of the repository lists what differs.
//!
//! ```text
//! error      the errors of serde_json
//! plain      how trees are read from serde_json's deserializers
//! de, ser    read and write: functions over the engine; deserializers, serializers and formatters of serde_json
//! blocks     values from a reader that is read in blocks and used on
//! tree       the tree, its objects and numbers; conversions of types to it and from it
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::cast_precision_loss, reason = "an integer as an `f64` is what is asked for")]

pub mod blocks;
pub mod de;
pub mod error;
mod plain;
pub mod ser;
mod tree;

pub use tree::map;

/// The tree of any JSON, and conversions of types to it and from it.
pub mod value {
    pub use crate::tree::{Index, Map, Number, RawValue, Serializer, Value, from_value, to_raw_value, to_value};
}

#[doc(inline)]
pub use crate::de::{Deserializer, StreamDeserializer, from_reader, from_slice, from_str};
#[doc(inline)]
pub use crate::error::{Error, Result};
#[doc(inline)]
pub use crate::ser::{Serializer, to_string, to_string_pretty, to_vec, to_vec_pretty, to_writer, to_writer_pretty};
#[doc(inline)]
pub use crate::tree::{Map, Number, Value, from_value, to_value};

/// What the macros use.
#[doc(hidden)]
pub mod __private {
    pub use std::vec;
}

/// Makes a [`Value`](crate::Value) of JSON, in which any expression can stand for a value or, in brackets or as a literal,
/// for a key.
///
/// ```
/// use jird_serde_json::json;
/// let name = "Ada";
/// let value = json!({
///     "name": name,
///     "tags": [1, 2.5, null, true, name.len()],
///     format!("{name}!"): { "empty": {} },
/// });
/// assert_eq!(value.to_string(), r#"{"Ada!":{"empty":{}},"name":"Ada","tags":[1,2.5,null,true,3]}"#);
/// ```
#[macro_export]
macro_rules! json {
    ($($json:tt)+) => {
        $crate::json_internal!($($json)+)
    };
}

/// What [`json!`] calls, under the name by which other crates' macros know it.
#[macro_export]
#[doc(hidden)]
macro_rules! json_internal {
    // The elements of an array, pushed one by one.
    (@elements $array:ident) => {};
    (@elements $array:ident null $(, $($rest:tt)*)?) => {
        $array.push($crate::Value::Null);
        $crate::json_internal!(@elements $array $($($rest)*)?);
    };
    (@elements $array:ident [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $array.push($crate::json_internal!([$($inner)*]));
        $crate::json_internal!(@elements $array $($($rest)*)?);
    };
    (@elements $array:ident {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $array.push($crate::json_internal!({$($inner)*}));
        $crate::json_internal!(@elements $array $($($rest)*)?);
    };
    (@elements $array:ident $element:expr $(, $($rest:tt)*)?) => {
        $array.push($crate::json_internal!($element));
        $crate::json_internal!(@elements $array $($($rest)*)?);
    };

    // The members of an object: tokens go into the key up to the colon.
    (@members $object:ident ()) => {};
    (@members $object:ident ($($key:tt)+) : null $(, $($rest:tt)*)?) => {
        let _ = $object.insert(($($key)+).into(), $crate::Value::Null);
        $crate::json_internal!(@members $object () $($($rest)*)?);
    };
    (@members $object:ident ($($key:tt)+) : [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        let _ = $object.insert(($($key)+).into(), $crate::json_internal!([$($inner)*]));
        $crate::json_internal!(@members $object () $($($rest)*)?);
    };
    (@members $object:ident ($($key:tt)+) : {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        let _ = $object.insert(($($key)+).into(), $crate::json_internal!({$($inner)*}));
        $crate::json_internal!(@members $object () $($($rest)*)?);
    };
    (@members $object:ident ($($key:tt)+) : $value:expr $(, $($rest:tt)*)?) => {
        let _ = $object.insert(($($key)+).into(), $crate::json_internal!($value));
        $crate::json_internal!(@members $object () $($($rest)*)?);
    };
    // A key in brackets of its own.
    (@members $object:ident () ($key:expr) : $($rest:tt)*) => {
        $crate::json_internal!(@members $object ($key) : $($rest)*);
    };
    (@members $object:ident ($($key:tt)*) $next:tt $($rest:tt)*) => {
        $crate::json_internal!(@members $object ($($key)* $next) $($rest)*);
    };

    (null) => {
        $crate::Value::Null
    };
    (true) => {
        $crate::Value::Bool(true)
    };
    (false) => {
        $crate::Value::Bool(false)
    };
    ([]) => {
        $crate::Value::Array($crate::__private::vec![])
    };
    ([$($elements:tt)+]) => {
        $crate::Value::Array({
            let mut array = $crate::__private::vec![];
            $crate::json_internal!(@elements array $($elements)+);
            array
        })
    };
    ({}) => {
        $crate::Value::Object($crate::Map::new())
    };
    ({$($members:tt)+}) => {
        $crate::Value::Object({
            let mut object = $crate::Map::new();
            $crate::json_internal!(@members object () $($members)+);
            object
        })
    };
    ($other:expr) => {
        $crate::to_value(&$other).unwrap()
    };
}

/// A name that old macros of other crates call.
#[macro_export]
#[doc(hidden)]
macro_rules! json_internal_vec {
    ($($content:tt)*) => {
        vec![$($content)*]
    };
}

/// A name that macros of other crates may know.
#[macro_export]
#[doc(hidden)]
macro_rules! json_unexpected {
    () => {};
}

/// A name that macros of other crates may know.
#[macro_export]
#[doc(hidden)]
macro_rules! json_expect_expr_comma {
    ($e:expr , $($tt:tt)*) => {};
}
