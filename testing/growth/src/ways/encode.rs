//! Writing: parsed documents, and trees of serde.

use super::{Way, each, used, way};
use crate::case::Case;
use crate::judge::Bar;
use crate::shapes::documents;
use jird::Json;
use jird::event::{self, JsonSink, JsonText};
use jird::hooks::event::send;
use jird::hooks::{base64, write_string};

/// Measured on every shape.
const MAIN: &[Way] = &[way("to_string of a tree", |text| {
    if let Ok(tree) = jird::from_slice::<Json>(text) {
        used((jird::to_string(&tree), jird::to_string_pretty(&tree)));
        used(jird::to_writer(std::io::sink(), &tree));
    }
})
// A tree sorts its keys, and deep values are indented far.
.bar(Bar::SORTED)];

/// Measured on some shapes.
const OTHERS: &[Way] = &[
    way("to_string of a document", |text| {
        if let Ok(document) = jird::parse(text) {
            used((jird::to_string(&document), jird::to_string_pretty(&document)));
        }
    }),
    // Keys are sorted.
    way("to_string_canonical of a document", |text| {
        if let Ok(document) = jird::parse(text) {
            used(jird::ser::to_string_canonical(&document));
        }
    })
    .bar(Bar::SORTED),
    way("send_value of a tree", |text| {
        if let Ok(tree) = jird::from_slice::<Json>(text) {
            used(event::send_value(&tree, &mut JsonSink::new(std::io::sink())).is_ok());
        }
    })
    .bar(Bar::SORTED),
    way("send of a document", |text| {
        if let Ok(document) = jird::parse(text) {
            used(send(document.root(), &mut JsonSink::new(std::io::sink())).is_ok());
        }
    }),
    way("JSON text within events", |text| {
        if let Ok(text) = JsonText::check(text, &mut Vec::new()) {
            used(text.send(&mut JsonSink::new(std::io::sink())).is_ok());
        }
    }),
    way("a string, escaped", |text| {
        let mut out = Vec::new();
        write_string(&String::from_utf8_lossy(text), &mut out);
        used(jird::RawValue::from_string(String::from_utf8_lossy(&out).into_owned()));
    }),
    way("bytes, as base64 and back", |text| {
        let text = format!("\"{}\"", base64(text));
        let mut deserializer = jird::Deserializer::from_str(&text);
        used(jird::base64::deserialize::<_, Vec<u8>>(&mut deserializer));
    }),
];

pub(super) fn cases() -> Vec<Case> {
    each(MAIN, documents::ALL).chain(each(OTHERS, &documents::core())).collect()
}
