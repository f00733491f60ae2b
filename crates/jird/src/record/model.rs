//! A naive search for the fields of a record. In checked builds the real one must give the same results.

use super::Projection;
use crate::path::{Path, Step};
use crate::tape::{Kind, Value};

/// The fields of the record `root` for a projection, one raw text per slot, found by following each path.
pub(crate) fn fields<'t>(root: Value<'t>, projection: &Projection) -> Vec<&'t [u8]> {
    let follow = |path: &Path| {
        let mut steps = path.steps().iter();
        if root.kind() != Kind::Object && !path.steps().is_empty() && steps.next() != Some(&Step::Key("value".into())) {
            return None;
        }
        steps.try_fold(root, |value, step| match step {
            Step::Key(key) => value.get(key),
            Step::Index(index) => value.at(*index),
        })
    };
    projection.paths().iter().map(|path| follow(path).map_or(&b""[..], Value::raw)).collect()
}
