//! The part of the text that is in memory, and how much of it pass one has found to be UTF-8.
//!
//! A `str` is made only of checked bytes: before it is made, [`CheckedText`] tests whether both ends of the part lie
//! between whole characters of the checked text. If an offset is outdated, for whatever reason, the result is an
//! error, and never a `str` that is not UTF-8.

use super::scalar::Content;
use crate::scan::{Pieces, Slice, TextSource};
use crate::text::cut_len;
use crate::text::trusted_str;
use std::io;

/// A source, and how much of its window was checked.
pub(super) struct CheckedText<S> {
    source: S,
    /// The window is UTF-8 up to here, in whole characters, except for a character that the window's start may cut.
    checked: usize,
}

impl<'de, S: TextSource<'de>> CheckedText<S> {
    pub(super) fn new(source: S) -> Self {
        Self { source, checked: 0 }
    }

    #[inline(always)]
    pub(super) fn window(&self) -> &[u8] {
        self.source.window()
    }

    #[inline(always)]
    pub(super) fn source(&self) -> &S {
        &self.source
    }

    /// See [`TextSource::fill`].
    pub(super) fn fill(&mut self, len: usize, room: usize) -> io::Result<bool> {
        self.source.fill(len, room)
    }

    /// See [`TextSource::forget`].
    pub(super) fn forget(&mut self, bytes: usize) {
        self.checked = self.checked.saturating_sub(bytes);
        self.source.forget(bytes);
    }

    /// Counts the window up to `end` as checked, without a character that `end` cuts.
    ///
    /// # Safety
    /// The text before `end` must have been checked to be UTF-8, from the text's beginning on. A character may be cut
    /// at `end`.
    pub(super) unsafe fn count_as_checked(&mut self, end: usize) {
        self.checked = end - cut_len(&self.source.window()[..end]);
    }

    /// The window. The compiler now knows that `checked` is within it, so accesses to the checked part need no bounds
    /// check.
    #[inline(always)]
    fn checked_window(&self) -> &[u8] {
        let window = self.source.window();
        if cfg!(any(debug_assertions, jird_checked)) {
            assert!(self.checked <= window.len(), "what was checked is there");
        }
        // SAFETY: `count_as_checked` sets `checked` to at most the window's length, and `forget` takes the same number
        // from both. Nothing else makes the window shorter: see `TextSource`.
        unsafe { core::hint::assert_unchecked(self.checked <= window.len()) };
        window
    }

    /// Whether `start..end` is a part of the checked text, cuts no character, and has a quote at `end`; the content of
    /// most strings is such a part. If so, [`string_unchecked`](Self::string_unchecked) returns it.
    #[inline(always)]
    pub(super) fn is_content(&self, start: usize, end: usize) -> bool {
        let window = self.checked_window();
        // `end` lies before a quote, and so between two characters.
        end < self.checked && window[end] == b'"' && start <= end && !is_later_byte(window[start])
    }

    /// Whether `start..end` is a part of the checked text that cuts no character.
    pub(super) fn is_checked(&self, start: usize, end: usize) -> bool {
        // The bytes after the checked text were not looked at, so the byte at its end may look like the middle of a
        // character.
        let is_between =
            |at: usize| at == self.checked || self.window().get(at).is_none_or(|&byte| !is_later_byte(byte));
        start <= end && end <= self.checked && is_between(start) && is_between(end)
    }

    /// A part of the window as `str`, without a check.
    ///
    /// # Safety
    /// The part must be UTF-8. It is if [`is_content`](Self::is_content) or [`is_checked`](Self::is_checked) returned
    /// true: the checked text is UTF-8, and neither end of the part is inside a character. A character that the
    /// window's start cuts ends before `start`, because `start` is not inside a character.
    #[inline(always)]
    pub(super) unsafe fn string_unchecked(&self, start: usize, end: usize) -> Content<'de, '_> {
        let _ = self.checked_window();
        // SAFETY: the caller guarantees UTF-8; and a source gives the bytes of its window, which it does not change
        // (see `TextSource`).
        unsafe {
            match self.source.slice(start, end) {
                Slice::Borrowed(bytes) => Content::Borrowed(trusted_str(bytes)),
                Slice::Passing(bytes) => Content::Passing(trusted_str(bytes)),
            }
        }
    }
}

impl CheckedText<Pieces> {
    /// Adds the next piece of the text.
    pub(super) fn add(&mut self, piece: &[u8]) {
        self.source.add(piece);
    }

    /// Declares that the text ends with the last piece.
    pub(super) fn end(&mut self) {
        self.source.end();
    }
}

/// Whether a character continues with this byte, in text that is UTF-8 (RFC 3629 §3: `10xxxxxx`).
#[inline(always)]
fn is_later_byte(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::SliceRead;

    fn checked(text: &str, end: usize) -> CheckedText<SliceRead<'_>> {
        let mut checked = CheckedText::new(SliceRead::new(text.as_bytes()));
        // SAFETY: all of it is UTF-8.
        unsafe { checked.count_as_checked(end) };
        checked
    }

    #[test]
    fn only_whole_characters_of_checked_text_become_strings() {
        let text = "\"aé\"語\"😀\"z";
        for end in 0..=text.len() {
            let known = (0..=end).rev().find(|&at| text.is_char_boundary(at)).unwrap();
            let checked = checked(text, end);
            for (from, to) in (0..=text.len() + 2).flat_map(|from| (0..=text.len() + 2).map(move |to| (from, to))) {
                let wanted = text.get(from..to).is_some() && to <= known;
                assert_eq!(checked.is_checked(from, to), wanted, "{from}..{to} of {end}");
                let is_content = wanted && to < known && text.as_bytes()[to] == b'"';
                assert_eq!(checked.is_content(from, to), is_content, "{from}..{to} of {end}");
            }
        }
    }

    #[test]
    fn a_stray_byte_after_the_checked_text_is_no_part_of_a_character_in_it() {
        let mut text = CheckedText::new(SliceRead::new(b"ab\xA2"));
        // SAFETY: the first two bytes are ASCII.
        unsafe { text.count_as_checked(2) };
        assert!(text.is_checked(0, 2) && !text.is_checked(0, 3));
    }

    #[test]
    fn what_is_forgotten_is_checked_no_more() {
        let mut text = checked("éabc", 5);
        text.forget(1);
        assert!(!text.is_checked(0, 4) && text.is_checked(1, 4) && !text.is_checked(1, 5));
    }
}
