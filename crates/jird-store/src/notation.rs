//! The JSON in which the manifest and the tables of blocks are written, and how it is read: nothing in it is believed.

use crate::settings::Compression;
use jird::record::Step;
use jird::{Path, Value};
use std::fmt::Write;

/// Writes a path as an array of keys and indices.
pub(crate) fn write_path(path: &Path, out: &mut String) {
    out.push('[');
    for (number, step) in path.steps().iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        match step {
            Step::Key(key) => out.push_str(&jird::to_string(&**key).unwrap_or_default()),
            Step::Index(index) => push(out, index),
        }
    }
    out.push(']');
}

/// Writes paths as an array.
pub(crate) fn write_paths(paths: &[Path], out: &mut String) {
    out.push('[');
    for (number, path) in paths.iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        write_path(path, out);
    }
    out.push(']');
}

/// Appends the text of a value.
pub(crate) fn push(out: &mut String, value: impl std::fmt::Display) {
    // Writing to a string never fails.
    let _ = write!(out, "{value}");
}

/// Reads what [`write_path`] wrote.
pub(crate) fn path(value: Value<'_>) -> Option<Path> {
    let mut path = Path::root();
    for step in value.elements() {
        path = match step.as_str() {
            Some(key) => path.key(&*key),
            None => path.index(usize::try_from(step.as_u64()?).ok()?),
        };
    }
    (value.kind() == jird::Kind::Array).then_some(path)
}

/// Reads what [`write_paths`] wrote.
pub(crate) fn paths(value: Value<'_>) -> Option<Vec<Path>> {
    value.elements().map(path).collect()
}

/// Reads a compression's name.
pub(crate) fn compression(value: Value<'_>) -> Option<Compression> {
    Compression::of_name(&value.as_str()?)
}

/// Reads a checksum: 16 hexadecimal digits.
pub(crate) fn sum(value: Value<'_>) -> Option<u64> {
    let text = value.as_str()?;
    (text.len() == 16).then(|| u64::from_str_radix(&text, 16).ok()).flatten()
}
