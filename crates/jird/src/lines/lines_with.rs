//! Finds the lines of a text that have a needle.

use super::search::search;
use crate::kernel::Kernel;
use crate::record::Needles;
use core::ops::Range;

/// Adjacent lines are returned together until they are longer than this.
const RUN_BYTES: usize = 64 << 10;

/// An iterator over these lines, in order. It searches on demand.
#[derive(Debug)]
pub(super) struct FoundLines<'f> {
    kernel: Kernel,
    needles: &'f Needles,
    text: &'f [u8],
    /// The offset at which the search continues; a line begins there.
    from: usize,
    ahead: Option<Lines>,
    /// Number of places that were looked at because a needle might stand there.
    pub(super) tried: u64,
    /// Bytes of the lines that were returned.
    pub(super) bytes: usize,
}

/// Adjacent lines that all have a needle. The last item of a text may be an empty range after lines without a needle.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) range: Range<usize>,
    /// The number of records without a needle before these lines. Blank lines are not records.
    pub(super) passed: u64,
}

impl<'f> FoundLines<'f> {
    /// Searches the lines of `text` from `from` on, where a line begins.
    pub(super) fn new(kernel: Kernel, needles: &'f Needles, text: &'f [u8], from: usize) -> Self {
        Self { kernel, needles, text, from, ahead: None, tried: 0, bytes: 0 }
    }

    fn line(&mut self) -> Option<Lines> {
        let Self { text, from, .. } = *self;
        if from >= text.len() {
            return None;
        }
        let passed = search(self.kernel, text, from, self.needles);
        self.tried += passed.tried;
        let start = from + memchr::memrchr(b'\n', &text[from..passed.at]).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', &text[passed.at..]).map_or(text.len(), |newline| passed.at + newline + 1);
        self.from = end;
        let is_none = passed.at == text.len();
        let open = u64::from(is_none && !is_blank(&text[start..]));
        let range = if is_none { end..end } else { start..end };
        Some(Lines { range, passed: passed.newlines - passed.blank + open })
    }
}

impl Iterator for FoundLines<'_> {
    type Item = Lines;

    fn next(&mut self) -> Option<Lines> {
        let mut lines = self.ahead.take().or_else(|| self.line())?;
        while lines.range.len() <= RUN_BYTES {
            match self.line() {
                Some(next) if next.range.start == lines.range.end => lines.range.end = next.range.end,
                next => {
                    self.ahead = next;
                    break;
                }
            }
        }
        self.bytes += lines.range.len();
        Some(lines)
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}
