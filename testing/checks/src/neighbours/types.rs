//! Types to decode, and the texts in their values.

use crate::second::SerdeTree;
use jird::RawValue;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// A value all of whose texts can be inspected.
pub(super) trait Texts: Debug {
    fn texts(&self, each: &mut dyn FnMut(&str));
}

/// A struct with fields that may be missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Profile {
    a: Option<String>,
    b: Cow<'static, str>,
    value: Vec<Box<RawValue>>,
    #[serde(with = "jird::base64")]
    c: Vec<u8>,
    k: Option<Box<Profile>>,
}

/// Variants of all kinds.
#[derive(Debug, Deserialize)]
pub(super) enum Choice {
    #[serde(rename = "a")]
    Unit,
    #[serde(rename = "b")]
    Newtype(String),
    #[serde(rename = "value")]
    Tuple(String, f64),
    #[serde(rename = "c")]
    Struct { a: String, b: Option<Box<Choice>> },
}

impl Texts for String {
    fn texts(&self, each: &mut dyn FnMut(&str)) {
        each(self);
    }
}

impl Texts for u8 {
    fn texts(&self, _: &mut dyn FnMut(&str)) {}
}

impl Texts for IgnoredAny {
    fn texts(&self, _: &mut dyn FnMut(&str)) {}
}

impl Texts for Box<RawValue> {
    fn texts(&self, each: &mut dyn FnMut(&str)) {
        each(self.get());
        // A value that is stepped over may be deeper than a document.
        let valid = jird::validate(self.get().as_bytes());
        assert!(
            valid.is_ok() || valid.is_err_and(|error| error.code() == "depth"),
            "raw text that is no JSON: {self:?}"
        );
    }
}

impl<T: Texts> Texts for Option<T> {
    fn texts(&self, each: &mut dyn FnMut(&str)) {
        self.iter().for_each(|value| value.texts(each));
    }
}

impl<T: Texts> Texts for Vec<T> {
    fn texts(&self, each: &mut dyn FnMut(&str)) {
        self.iter().for_each(|value| value.texts(each));
    }
}

impl<T: Texts> Texts for BTreeMap<String, T> {
    fn texts(&self, each: &mut dyn FnMut(&str)) {
        for (key, value) in self {
            each(key);
            value.texts(each);
        }
    }
}

impl<A: Texts, B: Texts> Texts for (A, B) {
    fn texts(&self, each: &mut dyn FnMut(&str)) {
        self.0.texts(each);
        self.1.texts(each);
    }
}

impl Texts for SerdeTree {
    fn texts(&self, each: &mut dyn FnMut(&str)) {
        match self {
            Self::Null | Self::Bool(_) | Self::U64(_) | Self::I64(_) => {}
            Self::F64(value) => assert!(value.is_finite(), "{value} as a number"),
            Self::String(text) => each(text),
            Self::Array(elements) => elements.iter().for_each(|element| element.texts(each)),
            Self::Object(members) => members.iter().for_each(|(key, value)| {
                each(key);
                value.texts(each);
            }),
        }
    }
}

impl Texts for Profile {
    fn texts(&self, each: &mut dyn FnMut(&str)) {
        self.a.texts(each);
        each(&self.b);
        self.value.texts(each);
        self.k.iter().for_each(|inner| inner.texts(each));
        assert!(self.c.capacity() >= self.c.len());
    }
}

impl Texts for Choice {
    fn texts(&self, each: &mut dyn FnMut(&str)) {
        match self {
            Self::Unit => {}
            Self::Newtype(text) => each(text),
            Self::Tuple(text, number) => {
                each(text);
                assert!(number.is_finite());
            }
            Self::Struct { a, b } => {
                each(a);
                b.iter().for_each(|inner| inner.texts(each));
            }
        }
    }
}
