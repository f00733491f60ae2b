//! How more text comes: pass one over the next chunk, what is forgotten, and what is shown where there is no more for now.

use super::{Pull, Source, Token};
use crate::fault::{ErrorKind, Fault};
use crate::kernel::BLOCK;
use crate::scan::{Carry, Chunk, Cursor, END, ESCAPED, SENTINELS, first_fault};
use std::io;

/// How many tokens stand behind one that is looked at: what comes after it.
const AHEAD: usize = 3;

/// A chunk's end is kept away from the end of what was read, unless the text ends: an escape is read to its end.
const MARGIN: usize = BLOCK;

/// See [`Pull::run_dry`].
#[derive(Clone, Copy)]
pub(super) struct Dry {
    /// The last token, if it may go on.
    hidden: Option<(u8, u32)>,
    /// See [`Pull::seen`].
    seen: usize,
}

impl<'de, S: Source<'de>> Pull<S> {
    /// Scans until there are tokens to look at, or the end.
    #[cold]
    #[inline(never)]
    pub(super) fn refill(&mut self) {
        while self.at >= self.limit {
            if self.done {
                // Only a caller that steps over the end comes here.
                self.at = self.limit.saturating_sub(1);
                return;
            }
            if self.dry.is_some() {
                return;
            }
            // The token before is kept, to say where an error is.
            let before = self.at.saturating_sub(1).min(self.tokens.len()).min(self.kept);
            self.tokens.consume(Cursor { token: before, end: usize::MAX });
            self.at -= before;
            if self.kept != usize::MAX {
                self.kept -= before;
            }
            self.forget();
            if !self.scan() {
                self.run_dry();
                return self.pass_seen();
            }
            self.limit = self.tokens.len().saturating_sub(AHEAD);
            self.pass_seen();
        }
    }

    /// Lets go of text that nobody needs any more.
    fn forget(&mut self) {
        let needed = self.tokens.slices().1.first().map_or(self.scanned, |&pos| pos as usize).min(self.pin);
        // Pass one looks back at the last block.
        let bytes = needed.min(self.scanned.saturating_sub(BLOCK)) / BLOCK * BLOCK;
        if bytes < S::FORGETS_BYTES {
            return;
        }
        self.lines.forget(bytes, self.source.window(), self.base);
        self.source.forget(bytes);
        self.tokens.shift(bytes);
        self.scanned -= bytes;
        self.carry.forget(bytes);
        self.base += bytes as u64;
        self.seen = self.seen.saturating_sub(bytes);
        if self.pin != usize::MAX {
            self.pin -= bytes;
        }
    }

    /// Lines only: drops the line that `offset` of the whole text stands in, and begins anew behind it. Returns its text from
    /// `start` on, as far as that is still there, and no more than the window may hold.
    pub(crate) fn drop_line(&mut self, start: u64, offset: u64) -> io::Result<Vec<u8>> {
        let within = |base: u64, offset: u64| usize::try_from(offset.saturating_sub(base)).unwrap_or(usize::MAX);
        let (mut from, mut at) = (within(self.base, start.min(offset)), within(self.base, offset));
        let mut line = Vec::new();
        let mut ends = false;
        loop {
            let text = self.source.window();
            let feed = text.get(at..).and_then(|rest| memchr::memchr(b'\n', rest));
            let end = feed.map_or(text.len(), |feed| at + feed);
            if line.len() < self.window_max {
                line.extend_from_slice(text.get(from..end).unwrap_or_default());
            }
            if feed.is_some() || ends || self.done && self.fault.is_none() {
                self.anew(end + usize::from(feed.is_some()));
                return Ok(line);
            }
            self.anew(end);
            (from, at) = (0, 0);
            ends = self.source.fill(self.chunk_bytes, self.chunk_bytes)?;
        }
    }

    /// Forgets the window up to `at`, and begins there as if nothing had been before it but lines.
    fn anew(&mut self, at: usize) {
        self.lines.forget(at, self.source.window(), self.base);
        self.source.forget(at);
        self.base += at as u64;
        self.tokens.clear();
        self.tokens.owe_all_numbers();
        (self.at, self.limit, self.scanned, self.seen) = (0, 0, 0, 0);
        (self.pin, self.kept) = (usize::MAX, usize::MAX);
        self.carry = Carry::default();
        (self.done, self.fault, self.dry) = (false, None, None);
    }

    /// Scans a chunk more. False if there is no text for it yet.
    fn scan(&mut self) -> bool {
        let wanted = self.scanned + self.chunk_bytes;
        let ends = match self.source.fill(self.scanned + BLOCK + MARGIN, wanted + MARGIN) {
            Ok(ends) => ends,
            Err(error) => {
                self.io = Some(error);
                self.end_at(Some(Fault::at_byte(ErrorKind::Io, self.scanned)));
                return true;
            }
        };
        let text = self.source.window();
        if wanted + MARGIN > self.window_max && !ends {
            self.end_at(Some(Fault::at_byte(ErrorKind::Size, self.scanned)));
            return true;
        }
        let to = if ends { text.len() } else { text.len().saturating_sub(MARGIN) / BLOCK * BLOCK }.min(wanted);
        if to <= self.scanned && !ends {
            return false;
        }
        let chunk = Chunk { text, from: self.scanned, to };
        let found = self.kernel.scan(chunk, self.mode, &mut self.carry, &mut self.tokens);
        let last = to == text.len();
        let fault = first_fault(chunk, &found)
            .or_else(|| (last && self.carry.in_string()).then(|| Fault::at_byte(ErrorKind::String, to)));
        self.scanned = to;
        if fault.is_some() || last {
            self.end_at(fault);
        }
        true
    }

    /// No more text is there for now. Finds the tokens of what is left, which is less than two blocks, and shows those that are
    /// complete whatever comes.
    #[cold]
    fn run_dry(&mut self) {
        let text = self.source.window();
        let chunk = Chunk { text, from: self.scanned, to: text.len() };
        let mut carry = self.carry;
        let found = self.kernel.scan(chunk, self.mode, &mut carry, &mut self.tokens);
        // What is wrong there is said when there is more, or no more.
        let end = first_fault(chunk, &found).map_or(text.len(), |fault| fault.offset() as usize);
        let (kinds, offsets) = self.tokens.slices();
        // What was shown before is complete, even if something wrong follows it.
        let shown = |index: usize| index < self.at || (offsets[index] as usize) < self.seen;
        let last = offsets.iter().rposition(|&pos| (pos as usize) < end).filter(|&last| !shown(last));
        let last = last.map(|last| (kinds[last], offsets[last]));
        let hidden = last.filter(|&(kind, _)| match kind & !ESCAPED {
            b'"' => carry.in_string() || end < text.len(),
            b'{' | b'}' | b'[' | b']' | b':' | b',' | b'\n' => false,
            _ => end < text.len() || !matches!(text.last(), Some(b' ' | b'\t' | b'\n' | b'\r')),
        });
        let end = hidden.map_or(end, |(_, pos)| pos as usize);
        self.tokens.end_at(end);
        self.limit = self.tokens.len() - SENTINELS;
        self.dry = Some(Dry { hidden, seen: end.max(self.seen) });
    }

    /// Goes on to the first token that was not seen before.
    fn pass_seen(&mut self) {
        while self.seen > 0 && self.at < self.limit {
            if self.tokens.slices().1[self.at] as usize >= self.seen {
                self.seen = 0;
                return;
            }
            self.at += 1;
        }
    }

    /// There may be more text.
    pub(crate) fn more(&mut self) {
        let Some(Dry { hidden, seen }) = self.dry.take() else { return };
        // What the last scan of whole blocks found stays.
        self.tokens.reopen_at(self.scanned);
        self.at = self.at.min(self.tokens.len());
        if let Some((kind, pos)) = hidden
            && (pos as usize) < self.scanned
        {
            self.tokens.push(kind, pos);
        }
        self.limit = 0;
        self.seen = seen;
    }

    /// Whether the token stands for those that are not there yet.
    #[cold]
    pub(crate) fn is_dry(&self, token: Token) -> bool {
        self.dry.is_some() && token.kind == END && self.at >= self.limit
    }

    /// Keeps the next token and all behind it, until [`Pull::rewind`].
    pub(crate) fn keep(&mut self) {
        self.kept = self.at;
    }

    /// Goes back to the token that was kept.
    pub(crate) fn rewind(&mut self) {
        self.at = core::mem::replace(&mut self.kept, usize::MAX).min(self.at);
    }

    fn end_at(&mut self, fault: Option<Fault>) {
        let end = fault.map_or(self.scanned, |fault| usize::try_from(fault.offset()).unwrap_or(usize::MAX));
        self.tokens.end_at(end);
        if fault.is_some() {
            self.tokens.cut(self.source.window(), end);
        }
        self.fault = fault;
        self.done = true;
    }
}
