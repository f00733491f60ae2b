//! Rust types as sinks and as sources: what comes out is what the way through text gives.

use crate::common;
mod decode;
mod records;
mod rows;
mod told;

use jird::Error;
use jird::event::{self, Failure, JsonSource};
use jird::hooks::event::Recording;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// What the records of a text are, by way of events.
pub(crate) fn by_events<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, Error> {
    let mut records = Vec::new();
    let mut source = JsonSource::from_slice(text.as_bytes());
    let sent = event::for_each(&mut source, |index, record: T| {
        assert_eq!(index, records.len() as u64);
        records.push(record);
        Ok::<(), Error>(())
    });
    sent.map(|()| records).map_err(Failure::either)
}

/// Decodes the text in both ways.
pub(crate) fn check<T: DeserializeOwned + Debug>(text: &str) {
    common::force_kernel();
    let wanted = jird::from_str::<T>(text);
    let found = by_events::<T>(text);
    match (&wanted, &found) {
        (Ok(wanted), Ok(found)) => assert_eq!(format!("[{wanted:?}]"), format!("{found:?}"), "{text}"),
        (Err(wanted), Err(found)) => {
            assert_eq!(wanted.path(), found.path(), "{text}: {wanted}, {found}");
        }
        _ => panic!("{wanted:?} by text, {found:?} by events: {text}"),
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unit;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Newtype(pub(crate) u8);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tuple(pub(crate) u8, pub(crate) String, pub(crate) Option<Box<Tuple>>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum External {
    Unit,
    Newtype(Option<i16>),
    Tuple(u8, char),
    Struct { a: (), b: Vec<External> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub(crate) enum Internal {
    Nothing,
    Number { value: f64 },
    List { values: Vec<u64>, inner: Box<Internal> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
pub(crate) enum Adjacent {
    Unit,
    Newtype(String),
    Struct { x: i8 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Untagged {
    Number(i64),
    Float(f64),
    Text(String),
    List(Vec<Untagged>),
    Map { a: Box<Untagged> },
    Null,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Flat {
    pub(crate) id: u64,
    #[serde(flatten)]
    pub(crate) rest: BTreeMap<String, Untagged>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Strict {
    pub(crate) a: u8,
    #[serde(default, alias = "bee")]
    pub(crate) b: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Lax {
    pub(crate) a: u8,
    #[serde(rename = "a key\n")]
    pub(crate) b: Option<String>,
    pub(crate) c: Vec<Lax>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(crate) struct Newtype2(pub(crate) u16);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Base64 {
    #[serde(with = "jird::base64")]
    pub(crate) bytes: Vec<u8>,
}

/// One record, sent by a closure.
pub(crate) fn recorded(send: impl FnOnce(&mut Recording) -> Result<(), Error>) -> Recording {
    let mut recording = Recording::new();
    send(&mut recording).unwrap();
    recording
}
