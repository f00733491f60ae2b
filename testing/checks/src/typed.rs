//! Compares decoding into types with `serde_json`.

use crate::second::SerdeTree;
use crate::{CHUNK_BYTES, Target, shown, ways};
use jird::{Category, Deserializer, Error};
use serde::de::{DeserializeOwned, IgnoredAny};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io::{self, Read};

/// Any bytes are decoded into each type, or refused, as `serde_json` does it. Every chunking gives the same value or
/// the same error, from a slice, a reader and a document.
///
/// # Panics
/// If this does not hold.
pub fn typed(text: &[u8]) {
    ways(TYPES).for_each(|check| check(text));
}

const TYPES: [Target; 7] = [
    check::<SerdeTree>,
    check::<Vec<String>>,
    check::<Vec<Option<f64>>>,
    check::<BTreeMap<String, Option<Vec<u16>>>>,
    check::<BTreeMap<i8, (bool, char)>>,
    check::<Result<u64, String>>,
    ignore,
];

/// Ignored values are checked too.
fn ignore(text: &[u8]) {
    let ignored = decode::<IgnoredAny>(text);
    let valid = jird::validate(text);
    if let Err(error) = &ignored {
        assert!(valid.is_err(), "{error}: {}", shown(text));
    } else {
        assert!(valid.is_ok() || valid.is_err_and(|error| error.code() == "depth"), "{}", shown(text));
    }
    let mut stream = Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    let values = stream.by_ref().count();
    assert!(values <= text.len() && stream.byte_offset() <= text.len());
}

fn check<T: DeserializeOwned + Debug>(text: &[u8]) {
    let found = decode::<T>(text);
    let wanted = serde_json::from_slice::<T>(text);
    match (&wanted, &found) {
        (Ok(wanted), Ok(found)) => assert_eq!(format!("{wanted:?}"), format!("{found:?}"), "{}", shown(text)),
        // serde_json checks less in the values that it ignores, and in keys that it reads as numbers.
        (Err(_), Err(error)) => assert!(error.offset() <= text.len() as u64 && error.line() > 0, "{}", shown(text)),
        _ => panic!("{wanted:?} of serde_json, {found:?} of jird: {}", shown(text)),
    }
}

/// Decodes in every way.
fn decode<T: DeserializeOwned + Debug>(text: &[u8]) -> Result<T, Error> {
    let seen = |decoded: &Result<T, Error>| match decoded {
        Ok(value) => (format!("{value:?}"), Category::Data, 0),
        Err(error) => (error.to_string(), error.classify(), error.offset()),
    };
    let whole = jird::from_slice::<T>(text);
    let wanted = seen(&whole);
    for chunk_bytes in ways(CHUNK_BYTES) {
        let chunks = Deserializer::from_slice(text).with_chunk_bytes(chunk_bytes).whole();
        assert_eq!(seen(&chunks), wanted, "chunks of {chunk_bytes}: {}", shown(text));
        let reader = Deserializer::from_reader(Drops(text, chunk_bytes / 3)).with_chunk_bytes(chunk_bytes);
        assert_eq!(seen(&reader.whole()), wanted, "reader, chunks of {chunk_bytes}: {}", shown(text));
    }
    if let Ok(document) = jird::parse(text) {
        let tree = document.decode::<T>();
        assert_eq!(tree.is_ok(), whole.is_ok(), "{tree:?} and {whole:?}: {}", shown(text));
    }
    whole
}

/// A reader that gives a fixed number of bytes at a time.
struct Drops<'a>(&'a [u8], usize);

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.0.len().min(buffer.len()).min(self.1);
        let (now, later) = self.0.split_at(len);
        buffer[..len].copy_from_slice(now);
        self.0 = later;
        Ok(len)
    }
}
