//! Rust types, read from slices and from readers.

use super::{ByteByByte, Way, beyond_a_chunk, each, used, way};
use crate::case::Case;
use crate::judge::Bar;
use crate::shapes::documents;
use jird::{Deserializer, Json, Number, RawValue};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// One of several types, distinguished by its content: serde keeps the whole value to try each of them.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum Untagged {
    Number(f64),
    Text(String),
    List(Vec<Untagged>),
    Object(HashMap<String, Untagged>),
    Other(Json),
}

/// Known fields, and others.
#[derive(Deserialize)]
struct Flat {
    #[serde(default)]
    #[allow(dead_code, reason = "it is decoded")]
    id: Option<Json>,
    #[serde(flatten)]
    #[allow(dead_code, reason = "it is decoded")]
    rest: HashMap<String, Json>,
}

/// One known field; the others are ignored.
#[derive(Deserialize)]
struct Known {
    #[allow(dead_code, reason = "it is decoded")]
    id: Option<u64>,
}

/// Measured on every shape.
const MAIN: &[Way] = &[
    way("from_slice, ignored", |text| used(jird::from_slice::<IgnoredAny>(text))),
    way("from_slice, a tree", |text| used(jird::from_slice::<Json>(text))),
    way("from_reader, a tree, small chunks", |text| {
        used(Deserializer::from_reader(text).with_chunk_bytes(256).whole::<Json>());
    }),
];

/// Measured on some shapes.
const OTHERS: &[Way] = &[
    way("from_slice, a list of ignored", |text| used(jird::from_slice::<Vec<IgnoredAny>>(text))),
    way("from_slice, a list of f64", |text| used(jird::from_slice::<Vec<f64>>(text))),
    way("from_slice, a struct", |text| used(jird::from_slice::<Known>(text))),
    // serde keeps each value, and tries one type after the other.
    way("from_slice, untagged", |text| used(jird::from_slice::<Untagged>(text))).smaller(2).bar(TRIED),
    way("from_slice, flatten", |text| used(jird::from_slice::<Vec<Flat>>(text))),
    way("from_slice, raw", |text| used(jird::from_slice::<&RawValue>(text))),
    way("from_slice, a list of raw", |text| used(jird::from_slice::<Vec<&RawValue>>(text))),
    way("from_slice, a list of numbers", |text| used(jird::from_slice::<Vec<Number<'_>>>(text))),
    way("from_reader, ignored", |text| used(jird::from_reader::<_, IgnoredAny>(text))),
    way("from_reader, a tree", |text| used(jird::from_reader::<_, Json>(text))),
    way("from_reader, a list of raw", |text| used(jird::from_reader::<_, Vec<Box<RawValue>>>(text))),
    way("from_reader, ignored, small chunks", |text| {
        let deserializer = Deserializer::from_reader(text).with_depth_max(usize::MAX >> 8);
        used(deserializer.with_chunk_bytes(256).whole::<IgnoredAny>());
    }),
    way("from_reader, a tree, byte by byte", |text| {
        used(jird::from_reader::<_, Json>(ByteByByte(text)));
    }),
    way("into_iter, trees", |text| Deserializer::from_slice(text).into_iter::<Json>().for_each(used)),
    way("into_iter, ignored, byte by byte", |text| {
        Deserializer::from_reader(ByteByByte(text)).into_iter::<IgnoredAny>().for_each(used);
    }),
    way("records of an array", |text| {
        let records = Deserializer::from_reader(text).records::<Json>(jird::event::Pattern::each());
        records.for_each(used);
    }),
    way("records of objects, small chunks", |text| {
        let pattern = "/*/*".parse().expect("a pattern");
        let records = Deserializer::from_reader(text).with_chunk_bytes(256).records::<IgnoredAny>(pattern);
        records.for_each(used);
    }),
    way("decode from a document", |text| {
        if let Ok(document) = jird::parse(text) {
            used((document.decode::<Json>(), document.decode::<Untagged>(), document.decode::<IgnoredAny>()));
        }
    })
    .smaller(2)
    .bar(TRIED),
];

const TRIED: Bar = Bar::SORTED.per_byte(8000.0);

pub(super) fn cases() -> Vec<Case> {
    let large = beyond_a_chunk(
        &[MAIN, OTHERS],
        &["from_reader, a tree", "from_reader, a list of raw", "records of an array", "into_iter, trees"],
        documents::ALL,
        &[
            "records in an array",
            "spaces around all values",
            "nothing but line feeds",
            "a long string without end",
            "numbers beside each other",
        ],
    );
    each(MAIN, documents::ALL).chain(each(OTHERS, &documents::core())).chain(large).collect()
}
