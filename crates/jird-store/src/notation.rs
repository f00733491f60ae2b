//! The JSON in which the manifest and the tables of blocks are written, and how it is read: nothing in it is believed.

use crate::settings::Compression;
use jird::hooks::ArrayWriter;
use jird::record::Step;
use jird::{Path, Value};

/// Writes a path as keys and indices.
pub(crate) fn write_path(path: &Path, out: &mut ArrayWriter<'_>) {
    for step in path.steps() {
        match step {
            Step::Key(key) => out.element(key),
            Step::Index(index) => out.element(*index),
        }
    }
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

/// Reads paths, each as [`write_path`] wrote it.
pub(crate) fn paths(value: Value<'_>) -> Option<Vec<Path>> {
    value.elements().map(path).collect()
}

/// Reads a compression's name.
pub(crate) fn compression(value: Value<'_>) -> Option<Compression> {
    Compression::of_name(&value.as_str()?)
}

/// A checksum as it is written.
pub(crate) fn digits(sum: u64) -> String {
    format!("{sum:016x}")
}

/// Reads a checksum: 16 hexadecimal digits.
pub(crate) fn sum(value: Value<'_>) -> Option<u64> {
    let text = value.as_str()?;
    (text.len() == 16).then(|| u64::from_str_radix(&text, 16).ok()).flatten()
}
