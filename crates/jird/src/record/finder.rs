//! Finds the wanted values of a record that was checked before: without tokens, or with a walk over them.

use super::select::{Mark, Select, container_len};
use crate::kernel::Kernel;
use crate::policy::Policy;
use crate::scan::{Mode, Tokens};
use crate::text::{closing_quote, is_space};
use crate::walk::{Chunks, TrustedFrame, Walk, WalkPass, walk_trusted};

/// The tokens of a longer record are walked chunk by chunk, since all of them would take nine times its length.
pub(super) const SHORT_BYTES: usize = 64 << 10;

/// The buffers of the search.
#[derive(Debug)]
pub(crate) struct Finder {
    pub(super) chunks: Chunks,
    open: Vec<TrustedFrame<Mark>>,
    walk: Walk<Mark>,
}

impl Finder {
    pub(crate) fn new(kernel: Kernel) -> Self {
        Self { chunks: Chunks::new(kernel), open: Vec::new(), walk: Walk::new(&Policy::default()) }
    }

    /// Finds the wanted values of the record `text`, which has no white space before it and is at most `SIZE_MAX` bytes
    /// long. Checks nothing; in a text that is not JSON it finds some values.
    #[inline]
    pub(crate) fn find(&mut self, text: &[u8], select: &mut Select<'_>) {
        let is_object = text.first() == Some(&b'{');
        if !is_object || select.sweep::<false>(self.chunks.kernel, text).is_none() {
            self.walk(text, is_object, select);
        }
    }

    /// The same for the value that `text` begins with; more text follows it. Returns its length: that of the text if it
    /// does not end.
    #[inline]
    pub(crate) fn find_in_element(&mut self, text: &[u8], select: &mut Select<'_>) -> usize {
        let kernel = self.chunks.kernel;
        let is_object = text.first() == Some(&b'{');
        if is_object && let Some(last) = select.sweep_element(kernel, text) {
            return text.len().min(last + 1);
        }
        let len = value_len(kernel, text);
        self.walk(&text[..len], is_object, select);
        len
    }

    /// The same for the record that begins with `text` and ends with its first line. Returns the line's length, and
    /// how much of it was looked at for the values: `None` if tokens were needed.
    #[inline]
    pub(crate) fn find_in_line(&mut self, text: &[u8], select: &mut Select<'_>) -> (usize, Option<usize>) {
        let end_after = |at: usize| memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |newline| at + newline);
        let is_object = text.first() == Some(&b'{');
        let swept = if is_object { select.sweep::<true>(self.chunks.kernel, text) } else { None };
        if let Some(at) = swept {
            return (end_after(at), swept);
        }
        let end = end_after(0);
        self.walk(&text[..end], is_object, select);
        (end, None)
    }

    /// Finds the wanted values of the record whose first token is at `at`, without checks. No colon may have white space
    /// before it if the kernel skims and `is_tight` is set. Leaves `at` in the record, after all wanted values, or at
    /// its line's end.
    #[inline(always)]
    pub(crate) fn find_among(
        &mut self,
        text: &[u8],
        tokens: &Tokens,
        at: &mut usize,
        is_tight: bool,
        select: &mut Select<'_>,
    ) {
        let is_object = tokens.slices().0[*at] == b'{';
        select.begin(is_object);
        let at_a_glance = is_object && is_tight;
        let skimmed = if at_a_glance { select.skim(self.chunks.kernel, text, tokens, *at + 1) } else { None };
        if let Some(behind) = skimmed {
            *at = behind;
        } else {
            select.begin(is_object);
            walk_trusted(text, tokens, at, &mut self.open, &mut &mut *select, |select| select.is_complete());
        }
    }

    #[cold]
    fn walk(&mut self, text: &[u8], is_object: bool, select: &mut Select<'_>) {
        if text.len() > SHORT_BYTES {
            select.begin(is_object);
            self.walk.restart();
            let pass = &mut WalkPass { walk: &mut self.walk, build: &mut *select };
            // It refuses some texts: those that are not JSON, and deep ones.
            if self.chunks.read(text, Mode::DocumentTrusted, pass).is_ok() {
                return;
            }
        }
        select.begin(is_object);
        self.chunks.scan_trusted(text);
        let tokens = &self.chunks.tokens;
        walk_trusted(text, tokens, &mut 0, &mut self.open, &mut &mut *select, |select| select.is_complete());
    }
}

/// The length of the value that `text` begins with. Checks nothing.
pub(crate) fn value_len(kernel: Kernel, text: &[u8]) -> usize {
    match text.first() {
        Some(b'{' | b'[') => container_len(kernel, text),
        Some(b'"') => closing_quote(&text[1..]).map_or(text.len(), |quote| quote + 2),
        _ => text
            .iter()
            .position(|&byte| matches!(byte, b',' | b']' | b'}' | b':') || is_space(byte))
            .unwrap_or(text.len()),
    }
}
