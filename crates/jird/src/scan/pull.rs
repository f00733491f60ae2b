//! Tokens for whoever pulls them one by one: pass one runs chunk by chunk as they are used up.
//!
//! On entry: a [`Source`] of text. On exit of [`Pull::token`]: the next token and where the one behind it begins. After the
//! last, and from the first byte on that pass one refuses, every token is [`END`], and a string that this byte stands in is
//! none: so what is wrong comes in text order.
//! What a token's text is, is judged when it is asked for: strings are known to be UTF-8 with good escapes, numbers and
//! literals are checked here; the order of tokens is the caller's business, but for values that are stepped over.
//!
//! Offsets count from the start of the source's window, which moves: they hold until the next token is asked for.

use super::line_count::LineCount;
use super::tokens::CUT;
use super::{BATCH, Carry, Chunk, Cursor, END, ESCAPED, Mode, SENTINELS, Tokens, first_fault};
use crate::error::{Category, Error};
use crate::fault::{ErrorKind, Fault};
use crate::kernel::{BLOCK, Kernel};
use crate::number;
use crate::text::trusted_str;
use crate::walk::{SIZE_MAX, trim_end};
use core::cell::Cell;
use std::io;

/// Where text comes from.
pub trait Source<'de> {
    /// What is kept of a key, to say where an error is.
    type Key: Copy + Default + AsRef<[u8]>;
    /// The window forgets what is not needed when that is so much.
    const FORGETS_BYTES: usize;
    /// Neither UTF-8 nor escapes nor what is in strings is checked by pass one, and values that are skipped are not checked at all.
    const TRUSTED: bool = false;

    /// The part of the text at hand. What [`slice`](Self::slice) gives are its bytes, and they stay as they are.
    fn window(&self) -> &[u8];
    /// Drops the first `bytes` of the window.
    fn forget(&mut self, bytes: usize);
    /// Makes the window at least `len` bytes long, if the text is, and has room for `room`. True if the text ends with the
    /// window.
    fn fill(&mut self, len: usize, room: usize) -> io::Result<bool>;
    /// A part of the window.
    fn slice(&self, start: usize, end: usize) -> Slice<'de, '_>;
    /// The part of the window from a key's quote on up to the next token, or the beginning of that.
    fn key(&self, start: usize, next: usize) -> Self::Key;
}

/// A part of the text: the text's own, or for as long as the window stands still.
#[derive(Clone, Copy)]
pub enum Slice<'de, 's> {
    Borrowed(&'de [u8]),
    Passing(&'s [u8]),
}

/// A string's content, not unescaped.
#[derive(Clone, Copy)]
pub(crate) enum Content<'de, 's> {
    Borrowed(&'de str),
    Passing(&'s str),
}

/// A token: its kind as [`Tokens`] has it, where it begins, and where the next one does.
#[derive(Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: u8,
    pub(crate) start: usize,
    pub(crate) next: usize,
}

impl Token {
    /// One of the first three of four.
    #[inline(always)]
    pub(crate) fn at(kinds: [u8; 4], starts: [usize; 4], index: usize) -> Self {
        Self { kind: kinds[index], start: starts[index], next: starts[index + 1] }
    }

    /// The kind without the marks that operators and strings may have. A byte beyond ASCII may pass for a square bracket:
    /// see [`Pull::bracket`].
    #[inline(always)]
    pub(crate) fn plain(self) -> u8 {
        self.kind & !ESCAPED
    }
}

/// See the module.
pub(crate) struct Pull<S> {
    pub(crate) source: S,
    tokens: Tokens,
    /// The next token.
    at: usize,
    /// Invariant: `limit + 1 < tokens.len()`, or it is zero.
    limit: usize,
    kernel: Kernel,
    chunk_bytes: usize,
    /// The window grows to no more than about this.
    window_max: usize,
    carry: Carry,
    /// What pass one has seen of the window. A multiple of a block, until the end.
    scanned: usize,
    /// How much text was before the window.
    base: u64,
    /// Sentinels stand behind the last token.
    done: bool,
    /// Why they stand there, if it is not the text's end.
    fault: Option<Fault>,
    io: Option<io::Error>,
    /// The window must be kept from here on.
    pin: usize,
    /// Tokens must be kept from this one on.
    kept: usize,
    mode: Mode,
    /// There is no more text for now; what the scan of the text's end has added, to be taken back.
    dry: Option<Dry>,
    /// Tokens before this offset have been seen, though they are found again.
    seen: usize,
    lines: LineCount,
}

/// See [`Pull::run_dry`].
#[derive(Clone, Copy)]
struct Dry {
    /// The last token, if it may go on.
    hidden: Option<(u8, u32)>,
    /// See [`Pull::seen`].
    seen: usize,
}

/// Bytes scanned at a time, as for documents.
const CHUNK_BYTES: usize = 64 << 10;

/// How many tokens stand behind one that is looked at: what comes after it.
const AHEAD: usize = 3;

/// A chunk's end is kept away from the end of what was read, unless the text ends: an escape is read to its end.
const MARGIN: usize = BLOCK;

thread_local! {
    /// Token buffers that nobody uses, for the next text.
    static SPARE: Cell<Tokens> = const { Cell::new(Tokens::new()) };
}

impl<S> Drop for Pull<S> {
    fn drop(&mut self) {
        let tokens = core::mem::take(&mut self.tokens);
        // A thread that ends has no use for them.
        let _ = SPARE.try_with(|spare| spare.set(tokens));
    }
}

#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "types pull more than events do"))]
impl<'de, S: Source<'de>> Pull<S> {
    pub(crate) fn new(source: S, kernel: Kernel) -> Self {
        let mut tokens = SPARE.try_with(Cell::take).unwrap_or_default();
        tokens.clear();
        if S::TRUSTED {
            tokens.owe_all_numbers();
        }
        Self {
            source,
            tokens,
            at: 0,
            limit: 0,
            kernel,
            chunk_bytes: CHUNK_BYTES,
            window_max: SIZE_MAX,
            carry: Carry::default(),
            scanned: 0,
            base: 0,
            done: false,
            fault: None,
            io: None,
            pin: usize::MAX,
            kept: usize::MAX,
            mode: if S::TRUSTED { Mode::DocumentTrusted } else { Mode::Document },
            dry: None,
            seen: 0,
            lines: LineCount::default(),
        }
    }

    /// Line feeds are tokens. Before the first token is asked for.
    pub(crate) fn in_lines(mut self) -> Self {
        self.mode = if S::TRUSTED { Mode::LinesTrusted } else { Mode::Lines };
        self.tokens.owe_all_numbers();
        self
    }

    /// Scans chunks of this many bytes, rounded up to whole blocks. Before the first token is asked for.
    pub(crate) fn set_chunk_bytes(&mut self, bytes: usize) {
        self.chunk_bytes = bytes.next_multiple_of(BLOCK).max(BLOCK);
    }

    /// What must be kept of the text at once is `bytes` at most, about; more is an error. Not for text in memory.
    pub(crate) fn set_window_max(&mut self, bytes: usize) {
        self.window_max = bytes.saturating_add(2 * self.chunk_bytes).min(SIZE_MAX);
    }

    /// The text is a part of a longer one, which begins there with this line (from 1). Before the first token is asked for.
    pub(crate) fn begins_at(&mut self, offset: u64, line: u64) {
        self.base = offset;
        self.lines = LineCount::from(offset, line);
    }

    /// The next token, which stays the next.
    #[inline(always)]
    pub(crate) fn token(&mut self) -> Token {
        if self.at >= self.limit {
            self.refill();
        }
        // SAFETY: `at < limit`, and two tokens stand behind that: `refill` says so.
        let (kind, start, next) = unsafe { self.tokens.token_unchecked(self.at) };
        Token { kind, start: start as usize, next: next as usize }
    }

    /// The next token and the three behind it, their kinds and where they begin. Behind the end's first token they are anything.
    #[inline(always)]
    pub(crate) fn four(&mut self) -> ([u8; 4], [usize; 4]) {
        if self.at >= self.limit {
            self.refill();
        }
        // SAFETY: as in `token`.
        let (kinds, starts) = unsafe { self.tokens.four_unchecked(self.at) };
        (kinds, starts.map(|start| start as usize))
    }

    /// Some of the next `count` tokens are not to be had yet, or behind the end.
    #[inline(always)]
    pub(crate) fn is_near_end(&self, count: usize) -> bool {
        self.at + count > self.limit
    }

    /// Goes on by so many tokens, of which the last is not behind the end.
    #[inline(always)]
    pub(crate) fn step_by(&mut self, count: usize) {
        self.at += count;
    }

    /// Goes on to the next token. Nobody does behind the end.
    #[inline(always)]
    pub(crate) fn step(&mut self) {
        self.at += 1;
    }

    /// The token before, which has been stepped over.
    pub(crate) fn before(&self) -> Option<usize> {
        let before = self.at.checked_sub(1)?;
        self.tokens.slices().1.get(before).map(|&pos| pos as usize)
    }

    #[inline(always)]
    pub(crate) fn window(&self) -> &[u8] {
        self.source.window()
    }

    /// How much text comes before an offset of the window.
    pub(crate) fn offset(&self, at: usize) -> u64 {
        self.base + at as u64
    }

    /// The token's kind without marks, for who takes brackets for what they seem.
    #[inline(always)]
    pub(crate) fn bracket(&self, token: Token) -> u8 {
        if token.kind < ESCAPED || self.window().get(token.start).is_some_and(u8::is_ascii) {
            token.plain()
        } else {
            END
        }
    }

    /// Scans until there are tokens to look at, or the end.
    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
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

    /// How many tokens are left before this bracket closes what is open, if nothing opens before and pass one has come so
    /// far. A guess in a text that will be refused, but never more than the text has bytes.
    #[cfg(feature = "serde")]
    #[inline(always)]
    pub(crate) fn before_closing(&self, closing: u8) -> Option<usize> {
        self.tokens.before_closing(self.at, closing)
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

    /// The content of the string that is the next token; steps over it.
    #[inline(always)]
    pub(crate) fn string(&mut self) -> Result<Content<'de, '_>, Error> {
        let token = self.token();
        // No token is asked for, and so the text stays where it is.
        self.step();
        self.content(token)
    }

    /// The content of the string that a token is.
    #[inline(always)]
    pub(crate) fn content(&mut self, token: Token) -> Result<Content<'de, '_>, Error> {
        let (start, last) = (token.start + 1, token.next.wrapping_sub(1));
        let end = match self.window().get(last) {
            Some(b'"') if last >= start => last,
            _ => self.string_end_far(start, token.next)?,
        };
        if S::TRUSTED
            && let Err(wrong) = core::str::from_utf8(&self.window()[start..end])
        {
            return Err(self.syntax(ErrorKind::Utf8, start + wrong.valid_up_to()));
        }
        // SAFETY: this has just been checked; or pass one found the text to be UTF-8 from its start to the last of its tokens at
        // least, and this part begins behind a quote and ends before one.
        Ok(unsafe { content(self.source.slice(start, end)) })
    }

    #[inline(never)]
    fn string_end_far(&mut self, start: usize, next: usize) -> Result<usize, Error> {
        match trim_end(self.window(), start, next).checked_sub(1) {
            Some(last) if last >= start && self.window()[last] == b'"' => Ok(last),
            _ => Err(self.syntax(ErrorKind::String, next)),
        }
    }

    /// Counts lines up to an offset of the window; the one-based line that it is in.
    pub(crate) fn line(&mut self, at: usize) -> u64 {
        self.lines.ended_before(at, self.source.window(), self.base) + 1
    }

    /// The text is not cut off at this token, by what pass one refuses.
    #[inline]
    pub(crate) fn check_cut(&mut self, token: Token) -> Result<(), Error> {
        match self.fault {
            Some(fault) if fault.offset() <= token.start as u64 => Err(self.syntax(fault.kind(), token.start)),
            _ => Ok(()),
        }
    }

    /// Where the scalar ends.
    #[inline(always)]
    pub(crate) fn scalar_end(&self, token: Token) -> usize {
        match self.window().get(token.next.wrapping_sub(1)) {
            Some(b' ' | b'\t' | b'\n' | b'\r') => trim_end(self.window(), token.start, token.next),
            _ => token.next,
        }
    }

    /// Where the number ends that is the next token, and whether it is one.
    #[inline(always)]
    pub(crate) fn checked_number(&mut self, token: Token) -> Result<usize, Error> {
        let end = self.scalar_end(token);
        if self.tokens.owe_numbers(self.at)
            && let Err(wrong) = number::check_at(self.window(), token.start, end)
        {
            return Err(self.syntax(ErrorKind::Number, token.start + wrong));
        }
        Ok(end)
    }

    /// Checks a token that is a string, a number or a literal, which nobody wants.
    #[inline(always)]
    pub(crate) fn check_scalar(&mut self, token: Token) -> Result<(), Error> {
        if S::TRUSTED {
            return Ok(());
        }
        match token.kind {
            b'"' | QUOTE => self.content(token).map(drop),
            b't' => self.check_literal(token, b"true"),
            b'f' => self.check_literal(token, b"false"),
            b'n' => self.check_literal(token, b"null"),
            _ => self.checked_number(token).map(drop),
        }
    }

    /// Checks that the next token is this literal, and steps over it.
    #[inline(always)]
    pub(crate) fn literal(&mut self, token: Token, wanted: &'static [u8]) -> Result<(), Error> {
        self.check_literal(token, wanted)?;
        self.step();
        Ok(())
    }

    /// Checks that a token is this literal.
    #[inline(always)]
    pub(crate) fn check_literal(&mut self, token: Token, wanted: &'static [u8]) -> Result<(), Error> {
        let end = self.scalar_end(token);
        if self.window().get(token.start..end) == Some(wanted) {
            return Ok(());
        }
        Err(self.wrong_literal(token.start, end, wanted))
    }

    #[cold]
    fn wrong_literal(&mut self, start: usize, end: usize, wanted: &[u8]) -> Error {
        let same = self.window()[start..end].iter().zip(wanted).take_while(|(found, wanted)| found == wanted).count();
        self.syntax(ErrorKind::Literal, start + same)
    }

    /// Steps over one value of a text that is trusted: to where as many brackets are closed as were opened.
    pub(crate) fn skip_trusted(&mut self) -> Result<(), Error> {
        let token = self.token();
        match token.plain() {
            b'{' | b'[' => {}
            b'}' | b']' | b',' | b':' | b'\n' | END | CUT => return Err(self.unexpected(ErrorKind::Value)),
            _ => {
                self.step();
                return Ok(());
            }
        }
        let mut depth = 0_usize;
        loop {
            self.token();
            let kinds = &self.tokens.slices().0[self.at..self.limit];
            let stop = kinds.iter().position(|kind| match kind & !ESCAPED {
                b'{' | b'[' => {
                    depth += 1;
                    false
                }
                b'}' | b']' => {
                    depth -= 1;
                    depth == 0
                }
                b'\n' | END | CUT => true,
                _ => false,
            });
            self.at += stop.unwrap_or(kinds.len());
            if stop.is_some() {
                if depth == 0 {
                    self.step();
                    return Ok(());
                }

                return Err(self.unexpected(ErrorKind::Comma));
            }
        }
    }

    /// Steps over one value, and checks all of it but how deep it is. Keeps a bit for each bracket that is open.
    pub(crate) fn skip(&mut self) -> Result<(), Error> {
        let mut open = Open::default();
        loop {
            let token = self.token();
            match token.kind {
                b'"' | QUOTE => self.step(),
                b'-' | b'0'..=b'9' => {
                    self.checked_number(token)?;
                    self.step();
                }
                b't' => self.literal(token, b"true")?,
                b'f' => self.literal(token, b"false")?,
                b'n' => self.literal(token, b"null")?,
                _ => match self.bracket(token) {
                    b'{' => {
                        self.step();
                        open.push(true);
                        let token = self.token();
                        if self.bracket(token) == b'}' {
                            self.step();
                            open.pop();
                        } else {
                            self.skip_key(token)?;
                            continue;
                        }
                    }
                    b'[' => {
                        self.step();
                        open.push(false);
                        let token = self.token();
                        if self.bracket(token) != b']' {
                            continue;
                        }
                        self.step();
                        open.pop();
                    }
                    _ => return Err(self.unexpected(ErrorKind::Value)),
                },
            }
            // Behind a value.
            loop {
                if open.depth == 0 {
                    return Ok(());
                }
                let token = self.token();
                let in_object = open.is_object();
                match self.bracket(token) {
                    b',' => {
                        self.step();
                        if in_object {
                            let token = self.token();
                            self.skip_key(token)?;
                        }
                        break;
                    }
                    b'}' if in_object => {}
                    b']' if !in_object => {}
                    _ => return Err(self.unexpected(ErrorKind::Comma)),
                }
                self.step();
                open.pop();
            }
        }
    }

    #[inline(always)]
    fn skip_key(&mut self, token: Token) -> Result<(), Error> {
        if token.plain() != b'"' {
            return Err(self.unexpected(ErrorKind::Key));
        }
        self.step();
        let token = self.token();
        if token.plain() != b':' {
            return Err(self.unexpected(ErrorKind::Colon));
        }
        self.step();
        Ok(())
    }

    /// Steps over one value as [`skip`](Self::skip) does, and returns its text.
    pub(crate) fn raw(&mut self) -> Result<Content<'de, '_>, Error> {
        let token = self.token();
        // Of several that are pinned the outermost counts; raw values hold none.
        self.pin = token.start;
        let skipped = self.skip();
        let start = core::mem::replace(&mut self.pin, usize::MAX);
        skipped?;
        let end = self.value_end();
        // SAFETY: as in `string`; this part begins and ends with a value's bytes, which are ASCII.
        Ok(unsafe { content(self.source.slice(start, end)) })
    }

    /// Where the value ends that has just been stepped over.
    pub(crate) fn value_end(&mut self) -> usize {
        let next = self.token().start;
        trim_end(self.window(), self.before().unwrap_or(0), next)
    }

    /// The end of the text must come next.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        let token = self.token();
        if self.is_end(token) { Ok(()) } else { Err(self.unexpected(ErrorKind::Trailing)) }
    }

    /// Whether the text ends here, and rightly.
    pub(crate) fn is_end(&self, token: Token) -> bool {
        self.done && self.fault.is_none() && token.start == self.scanned
    }

    /// The next token is none that may stand here, where `wanted` should.
    #[cold]
    #[inline(never)]
    pub(crate) fn unexpected(&mut self, wanted: ErrorKind) -> Error {
        let token = self.token();
        self.unexpected_token(token, wanted)
    }

    /// The same of a token behind it.
    #[cold]
    #[inline(never)]
    pub(crate) fn unexpected_token(&mut self, token: Token, wanted: ErrorKind) -> Error {
        let string_may_stand = matches!(wanted, ErrorKind::Empty | ErrorKind::Value | ErrorKind::Key);
        if string_may_stand && token.kind == CUT && self.window().get(token.start) == Some(&b'"') {
            return self.syntax(ErrorKind::String, token.next);
        }
        let kind = match wanted {
            ErrorKind::Empty | ErrorKind::Trailing => wanted,
            // A line feed is a token where it ends a record.
            _ if self.is_end(token) || token.kind == b'\n' => ErrorKind::Unclosed,
            _ => wanted,
        };
        self.syntax(kind, token.start)
    }

    /// The text is wrong at this offset, if pass one has not found it to be before.
    #[cold]
    #[inline(never)]
    pub(crate) fn syntax(&mut self, kind: ErrorKind, at: usize) -> Error {
        let (mut kind, mut at) = (kind, at);
        let known = self.fault.filter(|fault| fault.offset() <= at as u64);
        if let Some(fault) = known {
            (kind, at) = (fault.kind(), fault.offset() as usize);
            if let Some(error) = self.io.take() {
                return Error::from(error);
            }
        }
        let text = self.window();
        let sequence = &text[at.min(text.len())..text.len().min(at + 4)];
        let mut ends = self.done && at == text.len();
        if let Err(error) = core::str::from_utf8(sequence)
            && error.valid_up_to() == 0
        {
            // A sequence that a chunk's end leaves open is judged with the next chunk.
            kind = known.map_or(ErrorKind::Utf8, |fault| fault.kind());
            ends = error.error_len().is_none();
        }
        let error = Error::new(kind, at as u64);
        self.place(if ends { error.at_end() } else { error }, at)
    }

    /// Something about the value at this offset, or before it, is not as was wanted: adds where that is.
    #[cold]
    #[inline(never)]
    pub(crate) fn place(&mut self, error: Error, at: usize) -> Error {
        if error.is_placed() || error.classify() == Category::Io {
            return error;
        }
        let at = at.min(self.window().len());
        let (offset, line) = (self.offset(at), self.line(at));
        let start = self.lines.start_at(at, self.source.window(), self.base);
        error.placed(offset, line, offset - start + 1)
    }

    /// As [`place`](Self::place), at an offset of the whole text. What the window has forgotten is taken for its beginning.
    #[cold]
    #[inline(never)]
    pub(crate) fn place_at(&mut self, error: Error, offset: u64) -> Error {
        let at = usize::try_from(offset.saturating_sub(self.base)).unwrap_or(usize::MAX);
        self.place(error, at)
    }
}

/// The kind of a string that holds an escape.
const QUOTE: u8 = b'"' | ESCAPED;

/// A part of the text as `str`.
///
/// # Safety
/// It is UTF-8.
#[inline(always)]
unsafe fn content<'de, 's>(slice: Slice<'de, 's>) -> Content<'de, 's> {
    // SAFETY: the caller's promise.
    unsafe {
        match slice {
            Slice::Borrowed(bytes) => Content::Borrowed(trusted_str(bytes)),
            Slice::Passing(bytes) => Content::Passing(trusted_str(bytes)),
        }
    }
}

/// The brackets that are open: a bit for each, set for objects, the innermost lowest.
#[derive(Debug, Default)]
pub(crate) struct Open {
    depth: usize,
    inner: u64,
    /// 64 each, when there are more.
    outer: Vec<u64>,
}

impl Open {
    /// How many there are.
    #[inline(always)]
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(BATCH) {
            self.outer.push(self.inner);
        }
        self.depth += 1;
        self.inner = self.inner << 1 | u64::from(object);
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) {
        self.depth -= 1;
        self.inner >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(BATCH) {
            self.inner = self.outer.pop().unwrap_or_default();
        }
    }

    /// Whether the innermost is an object.
    #[inline(always)]
    pub(crate) fn is_object(&self) -> bool {
        self.inner & 1 != 0
    }
}
