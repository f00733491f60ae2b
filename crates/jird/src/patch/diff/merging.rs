//! The difference of two documents as a merge patch (RFC 7396).

use super::digest::{Digests, Secret, is_same, repeats_a_key};
use super::one_line;
use crate::edit::{EditError, EditErrorKind, shown, utf8};
use crate::patch::equal::name;
use crate::tape::{Document, Kind, Value};
use std::borrow::Cow;
use std::collections::HashMap;

/// A merge patch (RFC 7396) that makes `old` equal to `new`. Arrays that differ are in it as a whole.
///
/// ```
/// let old = jird::parse(br#"{"name": "jird", "legs": 4, "size": {"x": 1.0, "y": 2}}"#)?;
/// let new = jird::parse(br#"{"name": "jird", "size": {"x": 1, "y": 3}}"#)?;
/// let patch = jird::patch::merge_diff(&old, &new)?;
/// assert_eq!(patch, r#"{"legs": null, "size": {"y": 3}}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`EditErrorKind::NoMergePatch`] if there is none: a member of `new` that differs is `null`, which means removal in a
/// merge patch, or an object that differs repeats a key.
pub fn merge_diff<'d>(old: &'d Document<'d>, new: &'d Document<'d>) -> Result<String, EditError> {
    let secret = Secret::new();
    let [digests, new_digests] = [old, new].map(|document| Digests::of(document, secret));
    let mut merging = Merging { old: digests, new: new_digests, out: Vec::new() };
    merging.write(old.root(), new.root())?;
    Ok(utf8(merging.out))
}

struct Merging<'d> {
    old: Digests<'d>,
    new: Digests<'d>,
    out: Vec<u8>,
}

/// A member of a merge patch that is to be written.
enum Member<'d> {
    Removed(Value<'d>),
    Set(Value<'d>, Value<'d>),
    /// A pair of objects.
    Merged(Value<'d>, Value<'d>, Value<'d>),
}

impl<'d> Merging<'d> {
    fn write(&mut self, old: Value<'d>, new: Value<'d>) -> Result<(), EditError> {
        if old.kind() != Kind::Object || new.kind() != Kind::Object {
            check(new)?;
            self.out.extend_from_slice(&one_line(new));
            return Ok(());
        }
        self.out.push(b'{');
        let mut open = vec![self.members(old, new)?];
        while let Some(members) = open.last_mut() {
            let Some(member) = members.next() else {
                self.out.push(b'}');
                open.pop();
                continue;
            };
            if self.out.last() != Some(&b'{') {
                self.out.extend_from_slice(b", ");
            }
            let (Member::Removed(key) | Member::Set(key, _) | Member::Merged(key, ..)) = member;
            self.out.extend_from_slice(key.raw());
            self.out.extend_from_slice(b": ");
            match member {
                Member::Removed(_) => self.out.extend_from_slice(b"null"),
                Member::Set(key, value) => {
                    if value.is_null() {
                        return Err(null_member(key));
                    }
                    check(value)?;
                    self.out.extend_from_slice(&one_line(value));
                }
                Member::Merged(_, old, new) => {
                    self.out.push(b'{');
                    open.push(self.members(old, new)?);
                }
            }
        }
        Ok(())
    }

    fn is_same(&self, old: Value<'d>, new: Value<'d>) -> bool {
        is_same((&self.old, old), (&self.new, new))
    }

    /// The members of the patch for a pair of objects.
    fn members(&self, old: Value<'d>, new: Value<'d>) -> Result<std::vec::IntoIter<Member<'d>>, EditError> {
        if self.is_same(old, new) {
            return Ok(Vec::new().into_iter());
        }
        if repeats_a_key(old) || repeats_a_key(new) {
            return Err(none("an object that differs has a key twice"));
        }
        let mut others: HashMap<Cow<'d, str>, (Value<'d>, Value<'d>)> =
            new.entries().map(|(key, value)| (name(key), (key, value))).collect();
        let mut members = Vec::new();
        for (key, value) in old.entries() {
            match others.remove(&name(key)) {
                None => members.push(Member::Removed(key)),
                Some((_, other)) if self.is_same(value, other) => {}
                Some((key, other)) if [value, other].iter().all(|value| value.kind() == Kind::Object) => {
                    members.push(Member::Merged(key, value, other));
                }
                Some((key, other)) => members.push(Member::Set(key, other)),
            }
        }
        let added = new.entries().filter(|(key, _)| others.contains_key(&name(*key)));
        members.extend(added.map(|(key, value)| Member::Set(key, value)));
        Ok(members.into_iter())
    }
}

/// Refuses a value that a merge patch cannot set: one with a member that is `null`, at any depth outside arrays, or with a
/// repeated key.
fn check(value: Value<'_>) -> Result<(), EditError> {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if value.kind() == Kind::Object && repeats_a_key(value) {
            return Err(none("an object that differs has a key twice"));
        }
        for (key, member) in value.entries() {
            if member.is_null() {
                return Err(null_member(key));
            }
            open.push(member);
        }
        // Null is set as it is in arrays, but keys are repeated nowhere in a merge patch.
        let repeats = |value: &Value<'_>| value.kind() == Kind::Object && repeats_a_key(*value);
        if value.kind() == Kind::Array && value.descendants().any(|value| repeats(&value)) {
            return Err(none("an object in an array has a key twice"));
        }
    }
    Ok(())
}

#[cold]
fn null_member(key: Value<'_>) -> EditError {
    none(&format!("the member {:?} is null, and null removes it", shown(&name(key))))
}

#[cold]
fn none(reason: &str) -> EditError {
    EditError::new(EditErrorKind::NoMergePatch, format!("no merge patch leads there: {reason}; a JSON Patch does"))
}
