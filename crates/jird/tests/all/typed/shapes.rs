//! Types of every shape that serde's data model has.

use crate::typed::judge::{nearly_same, same};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize, Debug, PartialEq)]
pub(crate) struct Plain {
    a: u64,
    b: String,
    #[serde(default)]
    c: Option<f64>,
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Strict {
    a: i8,
    #[serde(default)]
    b: Vec<Strict>,
}

#[derive(Deserialize, Debug, PartialEq)]
pub(crate) struct Flat {
    a: u64,
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    rest: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize, Debug, PartialEq)]
pub(crate) struct Inner {
    b: Option<String>,
}

#[derive(Deserialize, Debug, PartialEq)]
pub(crate) struct Unit;
#[derive(Deserialize, Debug, PartialEq)]
pub(crate) struct Newtype(Option<u16>);
#[derive(Deserialize, Debug, PartialEq)]
pub(crate) struct Pair(u8, String);

#[derive(Deserialize, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Name {
    A,
    B,
    #[serde(other)]
    Other,
}

#[derive(Deserialize, Debug, PartialEq)]
pub(crate) enum External {
    A,
    B(u8),
    C(u8, String),
    D { a: bool },
    E(Vec<External>),
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(tag = "t")]
pub(crate) enum Internal {
    A,
    B(Inner),
    D { a: bool },
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(tag = "t", content = "c")]
pub(crate) enum Adjacent {
    A,
    B(u8),
    C(u8, String),
    D { a: bool },
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(untagged)]
pub(crate) enum Untagged {
    U(u8),
    I(i64),
    F(f64),
    B(bool),
    S(String),
    L(Vec<Untagged>),
    D { a: bool },
    M(BTreeMap<String, Untagged>),
    N(()),
}

/// Every shape of serde's data model.
pub(crate) fn all_types(text: &[u8]) {
    macro_rules! each {
        ($($type:ty),* $(,)?) => { $(same::<$type>(text);)* };
    }
    each!(
        serde_json::Value,
        (),
        bool,
        u8,
        i8,
        u16,
        i16,
        u32,
        i32,
        u64,
        i64,
        f32,
        f64,
        char,
        String,
        Option<String>,
        Option<Option<u8>>,
        Box<str>,
        Vec<u8>,
        Vec<String>,
        Vec<serde_json::Value>,
        Vec<Vec<f64>>,
        (u8, String),
        (f64,),
        [i32; 2],
        BTreeMap<String, serde_json::Value>,
        BTreeMap<u8, ()>,
        BTreeMap<i64, f64>,
        BTreeMap<char, String>,
        BTreeMap<Option<i32>, u8>,
        BTreeMap<Name, Vec<u8>>,
        BTreeMap<String, Option<Plain>>,
        Plain,
        Vec<Plain>,
        Strict,
        Flat,
        Inner,
        Unit,
        Newtype,
        Pair,
        Name,
        External,
        Vec<External>,
        Internal,
        Adjacent,
        Untagged,
        serde::de::IgnoredAny,
        std::time::Duration,
        std::net::IpAddr,
        Result<u8, String>,
        std::ops::Range<u8>,
    );
}

pub(crate) fn wide(text: &[u8]) {
    nearly_same::<i128>(text);
    nearly_same::<u128>(text);
    nearly_same::<Vec<i128>>(text);
    nearly_same::<BTreeMap<i128, u128>>(text);
    nearly_same::<BTreeMap<bool, u8>>(text);
    nearly_same::<serde_bytes::ByteBuf>(text);
    nearly_same::<Vec<serde_bytes::ByteBuf>>(text);
}
