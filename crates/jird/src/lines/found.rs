//! The lines of a text that have a needle.

use super::search::search;
use crate::kernel::Kernel;
use crate::record::Needles;
use core::ops::Range;

/// Neighbours are handed out together until they are as long as this.
const RUN_BYTES: usize = 64 << 10;

/// Finds them in order, as they are asked for.
#[derive(Debug)]
pub(super) struct FoundLines<'f> {
    kernel: Kernel,
    needles: &'f Needles,
    text: &'f [u8],
    /// Where the search goes on: a line begins here.
    from: usize,
    ahead: Option<Lines>,
    /// Places that were looked at since a needle might stand there.
    pub(super) tried: u64,
    /// Bytes of lines that were handed out.
    pub(super) bytes: usize,
}

/// Lines that follow each other and have a needle each. The last of a text may be none: behind those that were passed by.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) range: Range<usize>,
    /// Records before them that have no needle: lines that are not blank.
    pub(super) passed: u64,
}

impl<'f> FoundLines<'f> {
    /// In the lines of `text` from `from` on, where one begins.
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
        let start = from + memchr::memrchr(b'\n', &text[from..passed.at]).map_or(0, |feed| feed + 1);
        let end = memchr::memchr(b'\n', &text[passed.at..]).map_or(text.len(), |feed| passed.at + feed + 1);
        self.from = end;
        let is_none = passed.at == text.len();
        let open = u64::from(is_none && !is_blank(&text[start..]));
        let range = if is_none { end..end } else { start..end };
        Some(Lines { range, passed: passed.feeds - passed.blank + open })
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
