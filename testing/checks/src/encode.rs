//! Compares writing with `serde_json`.

use crate::{Target, shown, ways};
use jird::Layout;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Whatever the bytes are taken for (a document, texts, numbers), `jird` writes the same as `serde_json`. A document of
/// ours is written as the text that it was read from.
///
/// # Panics
/// If this does not hold.
pub fn encode(text: &[u8]) {
    ways(TAKEN_FOR).for_each(|check| check(text));
}

/// The types that the bytes are taken for.
const TAKEN_FOR: [Target; 10] = [
    |text| same(&String::from_utf8_lossy(text), text),
    |text| same(&texts(text), text),
    |text| same(&texts(text).iter().map(|text| (text, text.len())).collect::<BTreeMap<_, _>>(), text),
    |text| same(&words(text).map(f64::from_bits).collect::<Vec<_>>(), text),
    |text| same(&words(text).map(|word| f32::from_bits(word as u32)).collect::<Vec<_>>(), text),
    |text| {
        let integers = words(text).map(|word| (word, word.cast_signed(), word as u32, word >> (word % 64)));
        same(&integers.collect::<Vec<_>>(), text);
    },
    |text| {
        let wide = text.as_chunks().0.iter().map(|bytes| (u128::from_le_bytes(*bytes), i128::from_le_bytes(*bytes)));
        same(&wide.collect::<Vec<_>>(), text);
    },
    |text| {
        let rest = text.as_chunks::<8>().1;
        same(&(rest, rest.first().map(|byte| char::from(*byte))), text);
    },
    |text| {
        if let Ok(tree) = serde_json::from_slice::<serde_json::Value>(text) {
            same(&tree, text);
        }
    },
    |text| {
        if let Ok(document) = jird::parse(text) {
            read_again(&document, text);
        }
    },
];

/// Short texts, cut at bytes below 0x10.
fn texts(text: &[u8]) -> Vec<Cow<'_, str>> {
    text.split(|byte| *byte < 0x10).map(String::from_utf8_lossy).collect()
}

fn words(text: &[u8]) -> impl Iterator<Item = u64> {
    text.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Both write the same bytes, with and without white space.
fn same<T: ?Sized + Serialize>(value: &T, text: &[u8]) {
    let wanted = serde_json::to_vec(value).expect("it can be written");
    assert!(jird::to_vec(value).is_ok_and(|found| found == wanted), "{}", shown(text));
    let mut found = Vec::new();
    assert!(jird::to_writer(&mut found, value).is_ok() && found == wanted, "to a writer: {}", shown(text));
    let wanted = serde_json::to_vec_pretty(value).expect("it can be written");
    assert!(jird::to_vec_pretty(value).is_ok_and(|found| found == wanted), "pretty: {}", shown(text));
}

/// A written document reads back as the same document, and its canonical form is that of its text.
fn read_again(document: &jird::Document<'_>, text: &[u8]) {
    let written = jird::to_vec(document).expect("it can be written");
    let again = jird::parse(&written).unwrap_or_else(|error| panic!("{error}: {}", shown(text)));
    assert_eq!(document.root().descendants().count(), again.root().descendants().count(), "{}", shown(text));
    for (one, other) in document.root().descendants().zip(again.root().descendants()) {
        assert_eq!((one.kind(), one.as_bool(), one.as_str()), (other.kind(), other.as_bool(), other.as_str()));
        assert_eq!(one.as_number().map(jird::Number::text), other.as_number().map(jird::Number::text));
    }
    assert_eq!(jird::to_vec(&again).expect("it can be written"), written, "{}", shown(text));
    let laid_out = jird::format(text, Layout::Canonical).ok();
    assert_eq!(jird::ser::to_vec_canonical(document).ok(), laid_out, "canonical: {}", shown(text));
}
