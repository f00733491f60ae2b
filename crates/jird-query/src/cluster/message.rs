//! What messages between processes have in common: a head that says which version wrote them, and names for what they
//! hold. They are JSON, by our own engine.

use crate::sql::Rep;
use datafusion::error::{DataFusionError, Result};
use jird::Path;
use jird::record::Step;
use jird_formats::ColumnType;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The head of each message: these bytes, the version, and a line feed.
const MAGIC: &[u8] = b"\x00jird ";

/// All processes of a cluster have this version: messages of another one may mean something else.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Begins a message.
pub(super) fn begin(buffer: &mut Vec<u8>) {
    for part in [MAGIC, VERSION.as_bytes(), b"\n"] {
        buffer.extend_from_slice(part);
    }
}

/// What follows the head, if the message is one of ours.
pub(super) fn body(message: &[u8]) -> Result<Option<&[u8]>> {
    let Some(rest) = message.strip_prefix(MAGIC) else { return Ok(None) };
    let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    let (version, body) = rest.split_at(end);
    if version != VERSION.as_bytes() {
        return Err(wrong(&format!(
            "a message of jird {} came to a process of jird {VERSION}: install one version on all machines of the cluster",
            String::from_utf8_lossy(version)
        )));
    }
    Ok(Some(body.get(1..).unwrap_or_default()))
}

/// An error about a message.
pub(super) fn wrong(words: &str) -> DataFusionError {
    DataFusionError::Execution(words.to_owned())
}

pub(super) fn to_json(value: &impl Serialize) -> Result<String> {
    jird::to_string(value).map_err(|error| wrong(&format!("cannot write a message: {error}")))
}

pub(super) fn of_json<T: DeserializeOwned>(text: &[u8]) -> Result<T> {
    jird::from_slice(text).map_err(|error| wrong(&format!("cannot read a message: {error}")))
}

/// A step of a path.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum StepName {
    Key(String),
    Index(usize),
}

/// A path.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PathName(Vec<StepName>);

impl PathName {
    pub(super) fn of(path: &Path) -> Self {
        let step = |step: &Step| match step {
            Step::Key(key) => StepName::Key(key.to_string()),
            Step::Index(index) => StepName::Index(*index),
        };
        Self(path.steps().iter().map(step).collect())
    }

    pub(super) fn path(&self) -> Path {
        self.0.iter().fold(Path::root(), |path, step| match step {
            StepName::Key(key) => path.key(key.as_str()),
            StepName::Index(index) => path.index(*index),
        })
    }
}

/// The representations of a field, by number.
const REPS: [Rep; 6] = [Rep::Raw, Rep::Json, Rep::Key, Rep::Typed, Rep::Group, Rep::Place];

/// The types of columns, by number.
const KINDS: [ColumnType; 7] = [
    ColumnType::Bool,
    ColumnType::Int64,
    ColumnType::UInt64,
    ColumnType::Decimal,
    ColumnType::Float64,
    ColumnType::Text,
    ColumnType::Json,
];

pub(super) fn number_of_rep(rep: Rep) -> usize {
    REPS.iter().position(|other| *other == rep).expect("all are listed")
}

pub(super) fn rep(number: usize) -> Result<Rep> {
    REPS.get(number).copied().ok_or_else(|| wrong("a message names a representation that does not exist"))
}

pub(super) fn number_of_kind(kind: ColumnType) -> usize {
    KINDS.iter().position(|other| *other == kind).expect("all are listed")
}

pub(super) fn kind(number: usize) -> Result<ColumnType> {
    KINDS.get(number).copied().ok_or_else(|| wrong("a message names a type that does not exist"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_another_version_is_refused_in_words() {
        let mut message = Vec::new();
        begin(&mut message);
        message.extend_from_slice(b"body");
        assert_eq!(body(&message).unwrap(), Some(&b"body"[..]));
        assert_eq!(body(b"what others write").unwrap(), None);
        let other = message.iter().map(|&byte| if byte.is_ascii_digit() { b'9' } else { byte }).collect::<Vec<_>>();
        let words = body(&other).unwrap_err().to_string();
        assert!(words.contains("9.9.9") && words.contains("install one version on all machines"), "{words}");
        assert!(body(MAGIC).is_err());
    }

    #[test]
    fn paths_keep_their_steps() {
        let path = Path::root().key("a/b").index(2).key("2").key("");
        let text = to_json(&PathName::of(&path)).unwrap();
        assert_eq!(of_json::<PathName>(text.as_bytes()).unwrap().path(), path);
    }
}
