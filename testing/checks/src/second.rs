//! A second opinion: `serde_json`.

use crate::shown;
use jird::{Kind, Value};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A value as `serde_json` reads it, with repeated keys kept, in order.
#[derive(Debug, PartialEq)]
pub enum SerdeTree {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A non-negative integer that fits.
    U64(u64),
    /// A negative integer that fits.
    I64(i64),
    /// Any other number.
    F64(f64),
    /// A string.
    String(String),
    /// The elements.
    Array(Vec<Self>),
    /// The members.
    Object(Vec<(String, Self)>),
}

/// The document as `serde_json` reads it.
///
/// # Errors
/// The error of `serde_json`.
pub fn serde_tree(text: &[u8]) -> Result<SerdeTree, serde_json::Error> {
    serde_json::from_slice(text)
}

/// `jird` accepts and refuses the same texts as `serde_json`, and reads the same values. The wanted differences are
/// those in `differences.tsv` next to the tests: only `serde_json` refuses numbers too large for a double, and nesting
/// beyond 128.
///
/// # Panics
/// If this does not hold.
pub fn serde_json(text: &[u8]) {
    let document = jird::parse(text);
    match (serde_tree(text), document) {
        (Ok(tree), Ok(document)) => assert_same(document.root(), &tree, text),
        (Ok(_), Err(error)) => panic!("jird alone refuses, {error}: {}", shown(text)),
        (Err(error), Ok(_)) => assert!(is_wanted(&error), "serde_json alone refuses, {error}: {}", shown(text)),
        (Err(_), Err(_)) => {}
    }
}

fn is_wanted(error: &serde_json::Error) -> bool {
    let message = error.to_string();
    message.starts_with("number out of range") || message.starts_with("recursion limit exceeded")
}

fn assert_same(value: Value<'_>, tree: &SerdeTree, text: &[u8]) {
    let same = match (value.kind(), tree) {
        (Kind::Null, SerdeTree::Null) => true,
        (Kind::Bool, SerdeTree::Bool(wanted)) => value.as_bool() == Some(*wanted),
        (Kind::Number, SerdeTree::U64(wanted)) => value.as_u64() == Some(*wanted),
        (Kind::Number, SerdeTree::I64(wanted)) => value.as_i64() == Some(*wanted),
        (Kind::Number, SerdeTree::F64(wanted)) => value.as_f64().map(f64::to_bits) == Some(wanted.to_bits()),
        (Kind::String, SerdeTree::String(wanted)) => value.as_str().as_deref() == Some(wanted),
        (Kind::Array, SerdeTree::Array(wanted)) => {
            value.elements().zip(wanted).for_each(|(element, wanted)| assert_same(element, wanted, text));
            value.elements().count() == wanted.len()
        }
        (Kind::Object, SerdeTree::Object(wanted)) => {
            for ((key, member), (wanted_key, wanted)) in value.entries().zip(wanted) {
                assert_eq!(key.as_str().as_deref(), Some(&**wanted_key), "{}", shown(text));
                assert_same(member, wanted, text);
            }
            value.entries().count() == wanted.len()
        }
        _ => false,
    };
    assert!(same, "{value:?} is not {tree:?}: {}", shown(text));
}

impl<'de> Deserialize<'de> for SerdeTree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = SerdeTree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<SerdeTree, E> {
        Ok(SerdeTree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<SerdeTree, E> {
        Ok(SerdeTree::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<SerdeTree, E> {
        Ok(SerdeTree::U64(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<SerdeTree, E> {
        Ok(SerdeTree::I64(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<SerdeTree, E> {
        Ok(SerdeTree::F64(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<SerdeTree, E> {
        Ok(SerdeTree::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<SerdeTree, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = access.next_element()? {
            elements.push(element);
        }
        Ok(SerdeTree::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<SerdeTree, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = access.next_entry()? {
            members.push(member);
        }
        Ok(SerdeTree::Object(members))
    }
}
