//! Errors on their way back from a task.
//!
//! Between processes an error is a text, with words of others around it. Ours is found in it again by marks.

use super::message::{of_json, to_json};
use crate::base::error::{Error, ErrorKind};
use datafusion::error::DataFusionError;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

const BEGIN: &str = "\u{2045}jird ";
const END: &str = "\u{2046}";

#[derive(Serialize, Deserialize)]
struct Failure {
    kind: u8,
    message: String,
}

/// The causes that a task can have.
const KINDS: [ErrorKind; 6] =
    [ErrorKind::Sql, ErrorKind::Input, ErrorKind::Record, ErrorKind::Frame, ErrorKind::Data, ErrorKind::Memory];

/// An error of a task, marked, so that [`failure_in`] finds it in the text that it becomes.
pub fn failed(error: &DataFusionError) -> DataFusionError {
    let ours = Error::of(error);
    let kind = KINDS.iter().position(|kind| *kind == ours.kind()).unwrap_or_default();
    let failure = Failure { kind: u8::try_from(kind).unwrap_or_default(), message: ours.to_string() };
    let Ok(text) = to_json(&failure) else { return DataFusionError::Execution(ours.to_string()) };
    // The text may be written as a Rust string on its way, so it has neither quotes nor backslashes.
    let mut hex = String::with_capacity(2 * text.len());
    for byte in text.bytes() {
        let _ = write!(hex, "{byte:02x}");
    }
    DataFusionError::Execution(format!("{BEGIN}{hex}{END}"))
}

/// The error that a task has marked, if a text has one.
pub fn failure_in(text: &str) -> Option<Error> {
    let (_, rest) = text.split_once(BEGIN).or_else(|| text.split_once("\\u{2045}jird "))?;
    let hex = rest.split(|char: char| !char.is_ascii_hexdigit()).next()?;
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    let json = (0..hex.len()).step_by(2).map(byte).collect::<Option<Vec<_>>>()?;
    let failure: Failure = of_json(&json).ok()?;
    Some(Error::of_kind(*KINDS.get(usize::from(failure.kind))?, failure.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_found_in_the_words_of_others() {
        let error = Error::record("a.ndjson:3:7: \"expected\" a \\ value\n  {\n  ^");
        let marked = failed(&error.clone().into());
        for text in [format!("Job x failed: {marked}"), format!("Job x failed: {marked:?} and so on")] {
            let found = failure_in(&text).expect("it is there");
            assert_eq!((found.kind(), found.to_string()), (ErrorKind::Record, error.to_string()));
        }
        assert!(failure_in("Job x failed: out of luck").is_none());
        assert!(failure_in("\u{2045}jird 7b\u{2046}").is_none());
    }
}
