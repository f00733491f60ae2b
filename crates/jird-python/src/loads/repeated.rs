//! Texts without repeated keys, for code that reads a text itself and would take another member than we do.

use jird::Value;
use std::borrow::Cow;
use std::collections::HashSet;

/// The text of a value, in whose objects only the first member of each key is left. Linear in the text.
pub(crate) fn without(value: Value<'_>) -> Cow<'_, [u8]> {
    let text = value.raw();
    let mut cuts = Vec::new();
    let mut open = vec![value];
    while let Some(container) = open.pop() {
        let (mut keys, mut end) = (HashSet::new(), container.offset());
        for (key, member) in container.entries() {
            let is_new = container.len() == 1 || keys.insert(key.as_str());
            let before = core::mem::replace(&mut end, member.offset() + member.raw().len());
            if is_new {
                open.push(member);
            } else {
                // With the comma before it: the first member is never cut.
                cuts.push(before..end);
            }
        }
        open.extend(container.elements());
    }
    if cuts.is_empty() {
        return Cow::Borrowed(text);
    }
    cuts.sort_unstable_by_key(|cut| cut.start);
    let (mut left, mut at) = (Vec::with_capacity(text.len()), value.offset());
    for cut in cuts {
        left.extend_from_slice(&text[at - value.offset()..cut.start - value.offset()]);
        at = cut.end;
    }
    left.extend_from_slice(&text[at - value.offset()..]);
    Cow::Owned(left)
}
