//! JSON Pointers (RFC 6901) as the paths of edits.

use super::error::{EditError, EditErrorKind, shown};
use crate::tape::{pointer_index, pointer_key};
use std::borrow::Cow;

/// A pointer whose grammar was checked. Its steps are decoded when they are asked for.
#[derive(Clone, Debug)]
pub(crate) struct Pointer<'p>(Cow<'p, str>);

impl<'p> Pointer<'p> {
    pub(crate) fn new(text: Cow<'p, str>) -> Result<Self, EditError> {
        let malformed = |words: String| EditError::new(EditErrorKind::Pointer, words);
        if !text.is_empty() && !text.starts_with('/') {
            let shown = shown(&text);
            return Err(malformed(format!(
                "{shown:?} is not a JSON Pointer: it must be empty or begin with `/`, as in \"/{shown}\""
            )));
        }
        if text.contains('~') && text.split('/').any(|step| pointer_key(step).is_none()) {
            let shown = shown(&text);
            return Err(malformed(format!(
                "{shown:?} is not a JSON Pointer: `~` is written `~0`, and `/` in a key `~1`"
            )));
        }
        Ok(Self(text))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// All steps but the last, and the last; `None` for the root. Each step comes with the pointer up to it.
    pub(crate) fn split_last(&self) -> Option<(impl Iterator<Item = PointerStep<'_>>, PointerStep<'_>)> {
        let last = self.0.rfind('/')?;
        let before = &self.0[..last];
        let steps = before.match_indices('/').map(move |(at, _)| {
            let end = before[at + 1..].find('/').map_or(before.len(), |len| at + 1 + len);
            PointerStep { text: &before[at + 1..end], pointer: &before[..end] }
        });
        Some((steps, PointerStep { text: &self.0[last + 1..], pointer: &self.0 }))
    }

    /// The number of steps.
    pub(crate) fn depth(&self) -> usize {
        self.0.bytes().filter(|byte| *byte == b'/').count()
    }

    /// Whether `other` leads into what this pointer leads to.
    pub(crate) fn is_above(&self, other: &Pointer<'_>) -> bool {
        // Every pointer has one spelling, so texts are compared.
        other.0.strip_prefix(&*self.0).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// One step of a pointer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointerStep<'p> {
    /// As the pointer writes it.
    text: &'p str,
    /// The pointer, up to and including this step.
    pub(crate) pointer: &'p str,
}

impl<'p> PointerStep<'p> {
    /// The step as a key.
    pub(crate) fn key(self) -> Cow<'p, str> {
        pointer_key(self.text).unwrap_or(Cow::Borrowed(self.text))
    }

    /// The step as the index of one of an array's `len` elements.
    pub(crate) fn index(self, len: usize) -> Result<usize, EditError> {
        self.index_below(len, len)
    }

    /// The step as the index of a new element of an array with `len` elements; `-` is its end (RFC 6902 §4.1).
    pub(crate) fn new_index(self, len: usize) -> Result<usize, EditError> {
        if self.is_end() { Ok(len) } else { self.index_below(len + 1, len) }
    }

    /// Whether it is `-`, the end of an array (RFC 6902 §4.1).
    pub(super) fn is_end(self) -> bool {
        self.text == "-"
    }

    fn index_below(self, bound: usize, len: usize) -> Result<usize, EditError> {
        match pointer_index(self.text) {
            Some(index) if index < bound => Ok(index),
            index => Err(self.no_index(index, len)),
        }
    }

    /// Says why the step is not the index of an element, or which one there is not.
    #[cold]
    fn no_index(self, index: Option<usize>, len: usize) -> EditError {
        let place = shown(self.pointer);
        let is_digits = !self.text.is_empty() && self.text.bytes().all(|byte| byte.is_ascii_digit());
        let words = match index {
            Some(_) if len == 1 => format!("{place} is beyond the end of an array with 1 element"),
            Some(_) => format!("{place} is beyond the end of an array with {len} elements"),
            None if self.is_end() => {
                format!("{place} is after the last element; only `add`, `insert` and `set` can lead there")
            }
            None if is_digits => format!("{place}: an index has no leading zeros, and at most 64 bits"),
            None => format!("{place} leads into an array, and {:?} is not an index", shown(self.text)),
        };
        EditError::new(EditErrorKind::Index, words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(text: &str) -> Pointer<'_> {
        Pointer::new(text.into()).unwrap()
    }

    #[test]
    fn steps_are_decoded_and_know_the_way_to_them() {
        let pointer = pointer("/a~1b//m~0n");
        let (before, last) = pointer.split_last().unwrap();
        let before: Vec<_> = before.map(|step| (step.key().into_owned(), step.pointer)).collect();
        assert_eq!(before, [("a/b".to_owned(), "/a~1b"), (String::new(), "/a~1b/")]);
        assert_eq!((last.key().as_ref(), last.pointer, pointer.depth()), ("m~n", "/a~1b//m~0n", 3));
    }

    #[test]
    fn what_is_not_a_pointer_is_refused() {
        for text in ["a", "#/a", "/~", "/a~2", "/~01~"] {
            assert_eq!(Pointer::new(text.into()).unwrap_err().kind(), EditErrorKind::Pointer, "{text}");
        }
    }

    #[test]
    fn only_a_whole_step_leads_into_a_value() {
        assert!(pointer("/a").is_above(&pointer("/a/b")) && pointer("").is_above(&pointer("/")));
        assert!(!pointer("/a").is_above(&pointer("/ab")) && !pointer("/a").is_above(&pointer("/a")));
    }

    #[test]
    fn an_index_is_within_its_array() {
        let index = |text: &str| pointer(text).split_last().unwrap().1.index(9).ok();
        let new = |text: &str| pointer(text).split_last().unwrap().1.new_index(9).ok();
        assert_eq!((index("/0"), index("/8"), index("/9"), index("/-")), (Some(0), Some(8), None, None));
        assert_eq!((new("/0"), new("/9"), new("/10"), new("/-")), (Some(0), Some(9), None, Some(9)));
        for wrong in ["/01", "/1e0", "/+1", "/", "/-1", "/99999999999999999999"] {
            assert_eq!((index(wrong), new(wrong)), (None, None), "{wrong}");
        }
    }
}
