//! Reading more text: scanning the next chunk, dropping text that is not needed, and showing tokens when there is no
//! more text for now.

use super::{Pull, TextSource, Token};
use crate::error::Error;
use crate::fault::{ErrorKind, Fault};
use crate::kernel::BLOCK;
use crate::scan::{Carry, Chunk, END, ESCAPED, Pieces, first_fault, scan};
use std::io;

/// The distance of a chunk's end from the end of the text that was read, unless the text ends there: the scan reads an
/// escape to its end.
const MARGIN: usize = BLOCK;

/// The number of bytes that are scanned after a line was dropped; it doubles with each scan. So a text of bad lines
/// takes time linear in its length.
const REACH_AFTER_DROP: usize = 4 * BLOCK;

/// See [`Pull::run_dry`].
#[derive(Clone, Copy)]
pub(super) struct Dry {
    /// The last token, if it may continue.
    hidden: Option<(u8, u32)>,
    /// See [`Pull::seen`].
    seen: usize,
}

impl<'de, S: TextSource<'de>> Pull<S> {
    /// Scans until tokens are shown, or the text ends. Afterwards there is a next token, see
    /// [`Shown::settle`](super::shown::Shown).
    #[cold]
    #[inline(never)]
    pub(super) fn refill(&mut self) {
        self.scan_until_shown();
        self.tokens.settle();
    }

    fn scan_until_shown(&mut self) {
        while self.tokens.is_used_up() {
            if self.done {
                // This happens only if the caller steps over the end or continues after an error.
                self.tokens.show();
                return self.tokens.stay_at_last();
            }
            if self.dry.is_some() {
                return self.tokens.stay_at_limit();
            }
            // The previous token is kept, because errors report its place. From here on no token is shown: the source
            // may fail, or panic.
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

    /// Drops text that is not needed any more.
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

    /// Lines only: drops the line that contains `offset` of the whole text, and starts again after it. Returns the
    /// line's text from `start` on, as far as the window still has it, and stops appending when it is longer than the
    /// window may be.
    pub(crate) fn drop_line(&mut self, start: u64, offset: u64) -> io::Result<Vec<u8>> {
        let within = |base: u64, offset: u64| usize::try_from(offset.saturating_sub(base)).unwrap_or(usize::MAX);
        let (mut from, mut at) = (within(self.base, start.min(offset)), within(self.base, offset));
        let mut line = Vec::new();
        let mut ends = false;
        loop {
            let text = self.text.window();
            let newline = text.get(at..).and_then(|rest| memchr::memchr(b'\n', rest));
            let end = newline.map_or(text.len(), |newline| at + newline);
            if line.len() < self.window_max {
                line.extend_from_slice(text.get(from..end).unwrap_or_default());
            }
            if newline.is_some() || ends || self.done && self.fault.is_none() {
                self.anew(end + usize::from(newline.is_some()));
                return Ok(line);
            }
            self.anew(end);
            (from, at) = (0, 0);
            ends = self.fill(self.chunk_bytes, self.chunk_bytes)?;
        }
    }

    /// See [`TextSource::fill`]. If an error from reading ahead was not reported yet, it is reported before more is
    /// read.
    fn fill(&mut self, len: usize, room: usize) -> io::Result<bool> {
        if self.text.window().len() < len
            && let Some(error) = self.io.take()
        {
            return Err(error);
        }
        self.text.fill(len, room)
    }

    /// Drops the window up to `at`, and starts there as if only complete lines had come before.
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
        // The tokens found after the line are lost. A short reach keeps them few in case the next line is bad too.
        self.reach = self.chunk_bytes.min(REACH_AFTER_DROP);
        (self.done, self.fault, self.dry) = (false, None, None);
    }

    /// Scans one chunk more. False if there is no text for it yet.
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
        let found = scan(self.kernel, &chunk, self.mode, &mut self.carry, self.tokens.change());
        let last = to == text.len();
        let fault = first_fault(chunk, &found)
            .or_else(|| (last && self.carry.in_string()).then(|| Fault::at_byte(ErrorKind::String, to)));
        self.scanned = to;
        if !S::TRUSTED {
            let end = fault.map_or(to, |fault| to.min(usize::try_from(fault.offset()).unwrap_or(to)));
            // SAFETY: pass one has checked the chunk, after all the text before it. If it found an error, the first
            // one is at `end` or later. A character that the chunk's end cuts is checked with the next chunk.
            unsafe { self.text.count_as_checked(end) };
        }
        if fault.is_some() || last {
            self.end_at(fault);
        }
        true
    }

    /// Called when reading has failed. Finds the tokens of the text that was read before, and ends there.
    #[cold]
    fn scan_rest(&mut self, error: io::Error) {
        let text = self.text.window();
        let end = text.len();
        let chunk = Chunk { text, from: self.scanned, to: end };
        let found = scan(self.kernel, &chunk, self.mode, &mut self.carry, self.tokens.change());
        // If the error merely cuts a token off, the token is not an error.
        let fault = first_fault(chunk, &found).filter(|fault| fault.offset() < end as u64);
        self.scanned = end;
        if !S::TRUSTED {
            let checked = fault.map_or(end, |fault| usize::try_from(fault.offset()).unwrap_or(end));
            // SAFETY: this scan has checked the rest of the window. The first error that it found, if any, is at
            // `checked` or later.
            unsafe { self.text.count_as_checked(checked) };
        }
        self.io = Some(error);
        match fault {
            // This fault is reported first. If the caller skips the line, the read error follows.
            Some(_) => self.end_at(fault),
            None => self.break_off(ErrorKind::Io),
        }
    }

    /// Called when there is no more text for now. Finds the tokens of the remaining text, which is shorter than two
    /// blocks, and shows the tokens that later text cannot change.
    #[cold]
    fn run_dry(&mut self) {
        let text = self.text.window();
        let chunk = Chunk { text, from: self.scanned, to: text.len() };
        let mut carry = self.carry;
        let found = scan(self.kernel, &chunk, self.mode, &mut carry, self.tokens.change());
        let end = text.len();
        // A token that the text's end cuts off may become valid; any other error stays one, whatever text follows.
        let fault = first_fault(chunk, &found).filter(|fault| fault.offset() < end as u64);
        if !S::TRUSTED {
            let checked = fault.map_or(end, |fault| usize::try_from(fault.offset()).unwrap_or(end));
            // SAFETY: this scan has checked the rest of the window. The first error that it found, if any, is at
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
        // Tokens that were shown before are complete, even if an error follows them.
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

    /// Skips the tokens that were seen before.
    fn pass_seen(&mut self) {
        while self.seen > 0 && !self.tokens.is_used_up() {
            if self.tokens.tokens().slices().1[self.tokens.at()] as usize >= self.seen {
                self.seen = 0;
                return;
            }
            self.tokens.step_by(1);
        }
    }

    /// Prepares for more text.
    fn more(&mut self) {
        let Some(Dry { hidden, seen }) = self.dry.take() else { return };
        // Tokens that the last scan of whole blocks found stay.
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

    /// Whether the token is a placeholder for tokens that are not there yet.
    #[cold]
    pub(crate) fn is_dry(&self, token: Token) -> bool {
        self.dry.is_some() && token.kind == END && self.tokens.is_used_up()
    }

    /// As [`is_dry`](Self::is_dry), where `wanted` should stand.
    ///
    /// # Errors
    /// If the available part of the next token cannot stand there, whatever text follows.
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

    /// Whether the last token was valid so far when it was checked before, and only digits have come since, after a
    /// digit. At least three bytes were checked before, so the last of them is not a leading zero. This way, a number
    /// that comes in many pieces is not checked again with each of them.
    fn goes_on_in_digits(&self, start: usize) -> bool {
        let judged = usize::try_from(self.judged.saturating_sub(self.base)).unwrap_or(usize::MAX);
        judged >= start + 3 && self.window().get(judged - 1..).is_some_and(|new| new.iter().all(u8::is_ascii_digit))
    }

    /// The error for a token that cannot stand where `wanted` should. `None` if the token is a placeholder for tokens
    /// that are not there yet, and the available part of the next one can stand there.
    #[cold]
    #[inline(never)]
    pub(crate) fn unexpected_or_dry(&mut self, token: Token, wanted: ErrorKind) -> Option<Error> {
        match self.waits_for(token, wanted) {
            Ok(true) => None,
            Ok(false) => Some(self.unexpected_token(token, wanted)),
            Err(error) => Some(error),
        }
    }

    /// Keeps the next token and all tokens after it, until [`Pull::rewind`].
    pub(crate) fn keep(&mut self) {
        self.kept = self.tokens.at();
    }

    /// Returns to the token that was kept.
    pub(crate) fn rewind(&mut self) {
        let kept = core::mem::replace(&mut self.kept, usize::MAX);
        self.tokens.go_to(kept.min(self.tokens.at()));
    }

    /// Ends the tokens where pass one has stopped, though the text continues. A number or literal that continues there
    /// is dropped, because its beginning may be a different value.
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

/// Whether the end of a token of this kind is known without the next token: a string ends with its quote, the others
/// are one byte long.
fn is_complete(kind: u8) -> bool {
    matches!(kind & !ESCAPED, b'"' | b'{' | b'}' | b'[' | b']' | b':' | b',' | b'\n')
}

impl Pull<Pieces> {
    /// Adds the next piece of the text.
    pub(crate) fn add(&mut self, piece: &[u8]) {
        self.text.add(piece);
        self.more();
    }

    /// Declares that the text ends with the last piece.
    pub(crate) fn finish(&mut self) {
        self.text.end();
        self.more();
    }
}
