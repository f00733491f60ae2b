//! Finds keys that occur twice in an object.

use super::value::{Kind, Value};
use crate::fault::{ErrorKind, Fault};
use std::borrow::Cow;
use std::collections::HashSet;

/// In objects with up to this many members, each key is compared with the keys before it.
const FEW: usize = 8;

/// Refuses the first key in the document that repeats an earlier key of the same object. Linear in the
/// document.
pub(super) fn refuse_duplicates(root: Value<'_>) -> Result<(), Fault> {
    let mut few = Vec::with_capacity(FEW);
    let mut open = vec![root];
    let mut first: Option<usize> = None;
    while let Some(value) = open.pop() {
        let repeated = match value.len() {
            _ if value.kind() == Kind::Array => None,
            0..=FEW => repeated_of_few(value, &mut few),
            _ => repeated_of_many(value),
        };
        first = [first, repeated].into_iter().flatten().min();
        let children = value.entries().map(|(_, child)| child).chain(value.elements());
        open.extend(children.filter(|child| child.kind().is_container()));
    }
    first.map_or(Ok(()), |offset| Err(Fault::at_byte(ErrorKind::Duplicate, offset)))
}

/// The offset of the first key that repeats an earlier key of the object.
fn repeated_of_few<'a>(object: Value<'a>, before: &mut Vec<Cow<'a, str>>) -> Option<usize> {
    before.clear();
    object.entries().find_map(|(key, _)| {
        let name = key.as_str().unwrap_or_default();
        let is_repeated = before.contains(&name);
        before.push(name);
        is_repeated.then(|| key.offset())
    })
}

/// The same with a set. Each object gets a set of its own: clearing a set costs as much as its capacity, and
/// many small objects after a large one would each pay that cost again.
fn repeated_of_many(object: Value<'_>) -> Option<usize> {
    let mut before = HashSet::with_capacity(object.len());
    object.entries().find_map(|(key, _)| {
        let is_new = before.insert(key.as_str().unwrap_or_default());
        (!is_new).then(|| key.offset())
    })
}
