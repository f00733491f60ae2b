//! The names of `serde_json` over the engine.

use super::{ByteByByte, Way, each, used, way};
use crate::case::Case;
use crate::judge::Bar;
use crate::shapes::documents;
use jird_serde_json::{Deserializer, Value};
use serde::Deserialize;
use std::collections::HashMap;

/// A tree within a type: `serde_json` gives its text to the engine.
#[derive(Deserialize)]
#[serde(untagged)]
enum Mixed {
    #[allow(dead_code, reason = "it is decoded")]
    List(Vec<Value>),
    #[allow(dead_code, reason = "it is decoded")]
    Object(HashMap<String, Value>),
    #[allow(dead_code, reason = "it is decoded")]
    Other(Value),
}

/// What the engine refuses, `serde_json` reads again.
const TWICE: Bar = Bar::SORTED.per_byte(8000.0);

const MAIN: &[Way] =
    &[way("serde_json's names: a tree", |text| used(jird_serde_json::from_slice::<Value>(text))).bar(TWICE)];

const OTHERS: &[Way] = &[
    way("serde_json's names: a tree of a reader", |text| used(jird_serde_json::from_reader::<_, Value>(text)))
        .bar(TWICE),
    way("serde_json's names: a tree, byte by byte", |text| {
        used(Value::deserialize(&mut Deserializer::from_reader(ByteByByte(text))));
    })
    .bar(TWICE),
    way("serde_json's names: a list of trees", |text| used(jird_serde_json::from_slice::<Vec<Value>>(text))).bar(TWICE),
    way("serde_json's names: untagged", |text| used(jird_serde_json::from_slice::<Mixed>(text))).smaller(2).bar(TWICE),
    way("serde_json's names: written", |text| {
        if let Ok(value) = jird_serde_json::from_slice::<Value>(text) {
            used((jird_serde_json::to_string(&value), value.to_string(), jird_serde_json::to_value(&value)));
            used(jird_serde_json::from_value::<Mixed>(value));
        }
    })
    .smaller(2)
    .bar(TWICE),
];

pub(super) fn cases() -> Vec<Case> {
    each(MAIN, documents::ALL).chain(each(OTHERS, &documents::core())).collect()
}
