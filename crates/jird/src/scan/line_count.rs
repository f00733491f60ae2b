//! Finds the line of an offset, in a text that passes through a window.

/// Counts the lines of the whole text. Each byte is looked at once, as long as the offsets grow.
#[derive(Clone, Copy, Default)]
pub(super) struct LineCount {
    /// The number of newlines before `known`.
    count: u64,
    /// An offset of the window.
    known: usize,
    /// There is no newline from `known` up to here. Here there is one, or the window ended here.
    next: usize,
    /// The offset, in the whole text, at which the line of `known` begins.
    start: u64,
}

impl LineCount {
    /// For a window that begins at `offset` of the whole text, in line `line` (from 1).
    pub(super) fn from(offset: u64, line: u64) -> Self {
        Self { count: line.saturating_sub(1), start: offset, ..Self::default() }
    }

    /// The number of lines of the whole text that end before offset `at` of the window, which begins at `base`.
    #[inline]
    pub(super) fn ended_before(&mut self, at: usize, window: &[u8], base: u64) -> u64 {
        let at = at.min(window.len());
        while at > self.next {
            let ends = window[self.next] == b'\n';
            let known = self.next + usize::from(ends);
            if ends {
                self.count += 1;
                self.start = base + known as u64;
            }
            self.next = memchr::memchr(b'\n', &window[known..]).map_or(window.len(), |newline| known + newline);
            self.known = known;
        }
        if at >= self.known {
            return self.count;
        }
        self.count - memchr::memchr_iter(b'\n', &window[at..self.known]).count() as u64
    }

    /// The offset in the whole text at which the line of window offset `at` begins; the start of the window, if the
    /// line's start has left it.
    pub(super) fn start_at(&mut self, at: usize, window: &[u8], base: u64) -> u64 {
        self.ended_before(at, window, base);
        if at >= self.known {
            return self.start;
        }
        let newline = memchr::memrchr(b'\n', &window[..at]);
        base + newline.map_or(0, |newline| newline + 1) as u64
    }

    /// Adjusts the offsets before the bytes before `at` leave the window.
    pub(super) fn forget(&mut self, at: usize, window: &[u8], base: u64) {
        self.ended_before(at, window, base);
        self.known = self.known.saturating_sub(at);
        self.next -= at;
    }
}
