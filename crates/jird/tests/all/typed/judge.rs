//! Decodes a text in every way there is, and compares that with `serde_json`.

use jird::{Category, Deserializer};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::io::{self, Read};

/// A reader that gives as much at a time as the pattern says.
pub(crate) struct Drops<'a>(pub(crate) &'a [u8], pub(crate) usize);

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.0.len().min(buffer.len()).min(self.1);
        let (now, later) = self.0.split_at(len);
        buffer[..len].copy_from_slice(now);
        self.0 = later;
        Ok(len)
    }
}

pub(crate) type Outcome<T> = Result<T, Category>;

pub(crate) fn theirs<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Outcome<T> {
    serde_json::from_slice(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Io => Category::Io,
        serde_json::error::Category::Syntax => Category::Syntax,
        serde_json::error::Category::Data => Category::Data,
        serde_json::error::Category::Eof => Category::Eof,
    })
}

/// Decodes in every way there is; all give the same.
pub(crate) fn ours<T: DeserializeOwned + Debug + PartialEq>(text: &[u8]) -> Result<T, jird::Error> {
    let wanted = jird::from_slice::<T>(text);
    let shown = || String::from_utf8_lossy(&text[..text.len().min(400)]).into_owned();
    let agrees = |name: &str, found: Result<T, jird::Error>| match (&wanted, &found) {
        (Ok(wanted), Ok(found)) => assert_eq!(format!("{wanted:?}"), format!("{found:?}"), "{name}: {}", shown()),
        (Err(wanted), Err(found)) => {
            let seen = |error: &jird::Error| (error.to_string(), error.offset(), error.classify());
            assert_eq!(seen(wanted), seen(found), "{name}: {}", shown());
        }
        _ => panic!("{name}: {wanted:?} and {found:?} of {}", shown()),
    };
    for chunk_bytes in [64, 128, 320] {
        agrees("chunks", Deserializer::from_slice(text).with_chunk_bytes(chunk_bytes).whole());
        let reader = Drops(text, chunk_bytes / 9);
        agrees("reader", Deserializer::from_reader(reader).with_chunk_bytes(chunk_bytes).whole());
    }
    agrees("from_reader", jird::from_reader(text));
    // What was parsed before is decoded to the same, or refused in the same place.
    if let Ok(document) = jird::parse(text) {
        match (&wanted, document.decode::<T>()) {
            (Ok(wanted), Ok(found)) => assert_eq!(format!("{wanted:?}"), format!("{found:?}"), "tree: {}", shown()),
            (Err(wanted), Err(found)) => {
                assert_eq!(wanted.path(), found.path(), "tree: {wanted}, {found}: {}", shown());
            }
            (_, found) => panic!("tree: {wanted:?} and {found:?} of {}", shown()),
        }
    }
    wanted
}

/// The same outcome as `serde_json`'s.
pub(crate) fn same<T: DeserializeOwned + Debug + PartialEq>(text: &[u8]) {
    let (wanted, found) = (theirs::<T>(text), ours::<T>(text));
    let shown = String::from_utf8_lossy(&text[..text.len().min(400)]);
    match (wanted, found) {
        // NaN is nowhere to be had.
        (Ok(wanted), Ok(found)) => assert_eq!(format!("{wanted:?}"), format!("{found:?}"), "{shown}"),
        (Err(wanted), Err(found)) => {
            // Anything glued to a number or a literal makes it invalid, before its type is asked for.
            let in_key = found.to_string().starts_with("not a valid number");
            let glued = (in_key || matches!(found.code(), "number" | "literal")) && wanted == Category::Data;
            // And of a number that ends too early it does not always say that the text ended.
            let cut = found.code() == "number" && found.is_eof() && wanted == Category::Syntax;
            // Where fewer than four bytes are left it does not look for hexadecimal digits.
            let hex = found.code() == "escape" && wanted == Category::Eof;
            assert!(glued || cut || hex || found.classify() == wanted, "{wanted:?} of serde_json, {found}: {shown}");
            assert!(found.offset() <= text.len() as u64 && found.line() > 0);
            place(text, &found);
        }
        (wanted, found) => panic!("{wanted:?} of serde_json, {found:?} of jird: {shown}"),
    }
}

/// Line and column are those of the offset.
pub(crate) fn place(text: &[u8], error: &jird::Error) {
    let before = &text[..usize::try_from(error.offset()).unwrap()];
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1);
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    assert_eq!((error.line(), error.column()), (line, before.len() - start + 1));
}

/// Where `serde_json` calls syntax what is another type: an integer of 128 bits is wanted and something else is there, and a
/// key that is to be a boolean.
pub(crate) fn nearly_same<T: DeserializeOwned + Debug + PartialEq>(text: &[u8]) {
    let (wanted, found) = (theirs::<T>(text), ours::<T>(text));
    match (wanted, found) {
        (Ok(wanted), Ok(found)) => assert_eq!(wanted, found),
        (Err(_), Err(_)) => {}
        // Bytes are those of text, and text is what JSON says.
        (Ok(_), Err(error)) if matches!(error.code(), "control" | "utf8" | "escape") => {}
        (wanted, found) => panic!("{wanted:?} of serde_json, {found:?} of jird"),
    }
}
