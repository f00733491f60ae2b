//! How more text comes: pass one over the next chunk, what is forgotten, and what is shown where there is no more for now.

use super::{Pull, TextSource, Token};
use crate::error::Error;
use crate::fault::{ErrorKind, Fault};
use crate::kernel::BLOCK;
use crate::scan::{Carry, Chunk, END, ESCAPED, Pieces, first_fault, scan};
use std::io;

/// A chunk's end is kept away from the end of what was read, unless the text ends: an escape is read to its end.
const MARGIN: usize = BLOCK;

/// How many bytes are scanned after a line that was dropped; doubled with each scan. So a text of bad lines takes time that is
/// linear in its length.
const REACH_AFTER_DROP: usize = 4 * BLOCK;

/// See [`Pull::run_dry`].
#[derive(Clone, Copy)]
pub(super) struct Dry {
    /// The last token, if it may go on.
    hidden: Option<(u8, u32)>,
    /// See [`Pull::seen`].
    seen: usize,
}

impl<'de, S: TextSource<'de>> Pull<S> {
    /// Scans until there are tokens to look at, or the end. There is a next token then, see [`Shown::settle`](super::shown::Shown).
    #[cold]
    #[inline(never)]
    pub(super) fn refill(&mut self) {
        self.scan_until_shown();
        self.tokens.settle();
    }

    fn scan_until_shown(&mut self) {
        while self.tokens.is_used_up() {
            if self.done {
                // Only a caller that steps over the end comes here, or one that goes on after an error.
                self.tokens.show();
                return self.tokens.stay_at_last();
            }
            if self.dry.is_some() {
                return self.tokens.stay_at_limit();
            }
            // The token before is kept, to say where an error is. From here on none is shown: the source may fail, or panic.
            let before = self.tokens.at().saturating_sub(1).min(self.tokens.tokens().len()).min(self.kept);
            self.tokens.drop_before(before);
            if self.kept != usize::MAX {
                self.kept -= before;
            }
            self.forget();
            if !self.scan() {
                self.run_dry();
                return self.pass_seen();
            }
            self.tokens.show();
            self.pass_seen();
        }
    }

    /// Lets go of text that nobody needs any more.
    fn forget(&mut self) {
        let needed = self.tokens.tokens().slices().1.first().map_or(self.scanned, |&pos| pos as usize).min(self.pin);
        // Pass one looks back at the last block.
        let bytes = needed.min(self.scanned.saturating_sub(BLOCK)) / BLOCK * BLOCK;
        if bytes < S::FORGETS_BYTES {
            return;
        }
        self.lines.forget(bytes, self.text.window(), self.base);
        self.text.forget(bytes);
        self.tokens.change().shift(bytes);
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
            let text = self.text.window();
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
            ends = self.fill(self.chunk_bytes, self.chunk_bytes)?;
        }
    }

    /// See [`TextSource::fill`]. An error of reading ahead that was not told yet is told before more is read.
    fn fill(&mut self, len: usize, room: usize) -> io::Result<bool> {
        if self.text.window().len() < len
            && let Some(error) = self.io.take()
        {
            return Err(error);
        }
        self.text.fill(len, room)
    }

    /// Forgets the window up to `at`, and begins there as if nothing had been before it but lines.
    fn anew(&mut self, at: usize) {
        self.lines.forget(at, self.text.window(), self.base);
        self.text.forget(at);
        self.base += at as u64;
        self.tokens.change().clear();
        self.tokens.change().owe_all_numbers();
        self.tokens.go_to(0);
        (self.scanned, self.seen) = (0, 0);
        (self.pin, self.kept) = (usize::MAX, usize::MAX);
        self.carry = Carry::default();
        // The tokens that were found after the line are lost. If the next line is bad as well, few are.
        self.reach = self.chunk_bytes.min(REACH_AFTER_DROP);
        (self.done, self.fault, self.dry) = (false, None, None);
    }

    /// Scans a chunk more. False if there is no text for it yet.
    fn scan(&mut self) -> bool {
        let wanted = self.scanned + self.reach;
        self.reach = self.chunk_bytes.min(2 * self.reach);
        let ends = match self.fill(self.scanned + BLOCK + MARGIN, wanted + MARGIN) {
            Ok(ends) => ends,
            Err(error) => {
                self.scan_rest(error);
                return true;
            }
        };
        let text = self.text.window();
        if wanted + MARGIN > self.window_max && !ends {
            self.break_off(ErrorKind::Size);
            return true;
        }
        let to = if ends { text.len() } else { text.len().saturating_sub(MARGIN) / BLOCK * BLOCK }.min(wanted);
        if to <= self.scanned && !ends {
            return false;
        }
        let chunk = Chunk { text, from: self.scanned, to };
        let found = scan(self.kernel, chunk, self.mode, &mut self.carry, self.tokens.change());
        let last = to == text.len();
        let fault = first_fault(chunk, &found)
            .or_else(|| (last && self.carry.in_string()).then(|| Fault::at_byte(ErrorKind::String, to)));
        self.scanned = to;
        if !S::TRUSTED {
            let end = fault.map_or(to, |fault| to.min(usize::try_from(fault.offset()).unwrap_or(to)));
            // SAFETY: pass one has checked the chunk, after all the text before it. If it found anything wrong, the first such
            // place is at `end` or later. A character that the chunk's end cuts is judged with the next chunk.
            unsafe { self.text.count_as_checked(end) };
        }
        if fault.is_some() || last {
            self.end_at(fault);
        }
        true
    }

    /// Reading has failed. Finds the tokens of what was read before that, and ends there.
    #[cold]
    fn scan_rest(&mut self, error: io::Error) {
        let text = self.text.window();
        let end = text.len();
        let chunk = Chunk { text, from: self.scanned, to: end };
        let found = scan(self.kernel, chunk, self.mode, &mut self.carry, self.tokens.change());
        // What the error merely cuts off is not wrong.
        let fault = first_fault(chunk, &found).filter(|fault| fault.offset() < end as u64);
        self.scanned = end;
        if !S::TRUSTED {
            let checked = fault.map_or(end, |fault| usize::try_from(fault.offset()).unwrap_or(end));
            // SAFETY: this scan has checked the rest of the window. The first thing that it has found wrong, if anything, is at
            // `checked` or later.
            unsafe { self.text.count_as_checked(checked) };
        }
        self.io = Some(error);
        match fault {
            // Told first. If the line is skipped, the error comes then.
            Some(_) => self.end_at(fault),
            None => self.break_off(ErrorKind::Io),
        }
    }

    /// No more text is there for now. Finds the tokens of what is left, which is less than two blocks, and shows those that are
    /// complete whatever comes.
    #[cold]
    fn run_dry(&mut self) {
        let text = self.text.window();
        let chunk = Chunk { text, from: self.scanned, to: text.len() };
        let mut carry = self.carry;
        let found = scan(self.kernel, chunk, self.mode, &mut carry, self.tokens.change());
        let end = text.len();
        // What the text's end merely cuts off may go on rightly; anything else is wrong whatever comes.
        let fault = first_fault(chunk, &found).filter(|fault| fault.offset() < end as u64);
        if !S::TRUSTED {
            let checked = fault.map_or(end, |fault| usize::try_from(fault.offset()).unwrap_or(end));
            // SAFETY: this scan has checked the rest of the window. The first thing that it has found wrong, if anything, is at
            // `checked` or later.
            unsafe { self.text.count_as_checked(checked) };
        }
        if fault.is_some() {
            self.scanned = end;
            self.end_at(fault);
            return self.tokens.show();
        }
        let text = self.text.window();
        let (kinds, offsets) = self.tokens.tokens().slices();
        let at = self.tokens.at();
        // What was shown before is complete, even if something wrong follows it.
        let shown = |index: usize| index < at || (offsets[index] as usize) < self.seen;
        let last = offsets.len().checked_sub(1).filter(|&last| !shown(last));
        let last = last.map(|last| (kinds[last], offsets[last]));
        let hidden = last.filter(|&(kind, _)| match kind & !ESCAPED {
            b'"' => carry.in_string(),
            b'{' | b'}' | b'[' | b']' | b':' | b',' | b'\n' => false,
            _ => !matches!(text.last(), Some(b' ' | b'\t' | b'\n' | b'\r')),
        });
        let end = hidden.map_or(end, |(_, pos)| pos as usize);
        self.tokens.change().end_at(end);
        self.tokens.show_before_sentinels();
        self.dry = Some(Dry { hidden, seen: end.max(self.seen) });
    }

    /// Goes on to the first token that was not seen before.
    fn pass_seen(&mut self) {
        while self.seen > 0 && !self.tokens.is_used_up() {
            if self.tokens.tokens().slices().1[self.tokens.at()] as usize >= self.seen {
                self.seen = 0;
                return;
            }
            self.tokens.step_by(1);
        }
    }

    /// There may be more text.
    fn more(&mut self) {
        let Some(Dry { hidden, seen }) = self.dry.take() else { return };
        // What the last scan of whole blocks found stays.
        let tokens = self.tokens.change();
        tokens.reopen_at(self.scanned);
        let len = tokens.len();
        if let Some((kind, pos)) = hidden
            && (pos as usize) < self.scanned
        {
            tokens.push(kind, pos);
        }
        self.tokens.go_to(self.tokens.at().min(len));
        self.seen = seen;
    }

    /// Whether the token stands for those that are not there yet.
    #[cold]
    pub(crate) fn is_dry(&self, token: Token) -> bool {
        self.dry.is_some() && token.kind == END && self.tokens.is_used_up()
    }

    /// The same, where `wanted` should stand.
    ///
    /// # Errors
    /// If what there is of the next token cannot stand there, whatever comes.
    #[cold]
    pub(crate) fn waits_for(&mut self, token: Token, wanted: ErrorKind) -> Result<bool, Error> {
        if !self.is_dry(token) {
            return Ok(false);
        }
        let end = self.window().len();
        let hidden = self.dry.and_then(|dry| dry.hidden).map(|(_, start)| start as usize);
        let unknown = hidden.filter(|&start| !self.goes_on_in_digits(start));
        if let Some((kind, at)) = unknown.and_then(|start| self.wrong_so_far(start, end, wanted)) {
            return Err(self.syntax(kind, at));
        }
        self.judged = self.offset(end);
        Ok(true)
    }

    /// Whether the last token could go on rightly when it was judged before, and only digits have come since, behind a digit. Three
    /// bytes are no zero that begins a number. So a number that comes in many pieces is not looked at again with each of them.
    fn goes_on_in_digits(&self, start: usize) -> bool {
        let judged = usize::try_from(self.judged.saturating_sub(self.base)).unwrap_or(usize::MAX);
        judged >= start + 3 && self.window().get(judged - 1..).is_some_and(|new| new.iter().all(u8::is_ascii_digit))
    }

    /// What is wrong with a token that cannot stand where `wanted` should. `None` if it stands for those that are not there yet, and
    /// what there is of the next can stand there.
    #[cold]
    #[inline(never)]
    pub(crate) fn unexpected_or_dry(&mut self, token: Token, wanted: ErrorKind) -> Option<Error> {
        match self.waits_for(token, wanted) {
            Ok(true) => None,
            Ok(false) => Some(self.unexpected_token(token, wanted)),
            Err(error) => Some(error),
        }
    }

    /// Keeps the next token and all behind it, until [`Pull::rewind`].
    pub(crate) fn keep(&mut self) {
        self.kept = self.tokens.at();
    }

    /// Goes back to the token that was kept.
    pub(crate) fn rewind(&mut self) {
        let kept = core::mem::replace(&mut self.kept, usize::MAX);
        self.tokens.go_to(kept.min(self.tokens.at()));
    }

    /// Ends the tokens where pass one has come to, though the text goes on. A number or a literal that goes on there is none of
    /// them: its beginning may be another value.
    #[cold]
    fn break_off(&mut self, why: ErrorKind) {
        let (text, (kinds, offsets)) = (self.text.window(), self.tokens.tokens().slices());
        let goes_on = !matches!(
            text.get(self.scanned),
            Some(b' ' | b'\t' | b'\n' | b'\r' | b'{' | b'}' | b'[' | b']' | b':' | b',' | b'"')
        ) && !matches!(text[..self.scanned].last(), None | Some(b' ' | b'\t' | b'\n' | b'\r'));
        let end = match (kinds.last(), offsets.last()) {
            (Some(kind), Some(&pos)) if goes_on && !is_complete(*kind) => pos as usize,
            _ => self.scanned,
        };
        self.end_at(Some(Fault::at_byte(why, end)));
    }

    fn end_at(&mut self, fault: Option<Fault>) {
        let end = fault.map_or(self.scanned, |fault| usize::try_from(fault.offset()).unwrap_or(usize::MAX));
        self.tokens.change().end_at(end);
        if fault.is_some() {
            self.tokens.change().cut(self.text.window(), end);
        }
        self.fault = fault;
        self.done = true;
    }
}

/// Whether a token of this kind says itself where it ends: a string by its quote, and one of a single byte.
fn is_complete(kind: u8) -> bool {
    matches!(kind & !ESCAPED, b'"' | b'{' | b'}' | b'[' | b']' | b':' | b',' | b'\n')
}

impl Pull<Pieces> {
    /// The text goes on with this piece.
    pub(crate) fn add(&mut self, piece: &[u8]) {
        self.text.add(piece);
        self.more();
    }

    /// The text ends with the last piece.
    pub(crate) fn finish(&mut self) {
        self.text.end();
        self.more();
    }
}
