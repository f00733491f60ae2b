//! Tokens for whoever pulls them one by one: pass one runs chunk by chunk as they are used up.
//!
//! On entry: a [`TextSource`] of text. On exit of [`Pull::token`]: the next token and where the one behind it begins. After the
//! last, and from the first byte on that pass one refuses, every token is [`END`], and a string, a number or a literal that this
//! byte cuts off is none: so what is wrong comes in text order, and every value that is complete before it comes first.
//! What a token's text is, is judged when it is asked for: strings are known to be UTF-8 with good escapes, numbers and
//! literals are checked here; the order of tokens is the caller's business, but for values that are stepped over.
//!
//! Offsets count from the start of the source's window, which moves: they hold until the next token is asked for.

mod fault;
mod scalar;
mod shown;
mod skip;
mod text;
mod window;

pub(crate) use scalar::Content;
pub(crate) use skip::OpenBrackets;

use super::line_count::LineCount;
use super::{Carry, END, ESCAPED, Mode, TextSource, Tokens};
use crate::fault::Fault;
use crate::kernel::{BLOCK, Kernel};
use crate::limits::SIZE_MAX;
use core::cell::Cell;
use shown::Shown;
use std::io;
use text::CheckedText;
use window::Dry;

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
    text: CheckedText<S>,
    tokens: Shown,
    kernel: Kernel,
    chunk_bytes: usize,
    /// How many bytes are scanned next. Fewer than [`chunk_bytes`](Self::chunk_bytes) after a line that was dropped.
    reach: usize,
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
    /// How much of the whole text had come when the token that it ends in was last found to go on rightly.
    judged: u64,
    lines: LineCount,
}

/// Bytes scanned at a time, as for documents.
const CHUNK_BYTES: usize = 64 << 10;

thread_local! {
    /// Token buffers that nobody uses, for the next text.
    static SPARE: Cell<Tokens> = const { Cell::new(Tokens::new()) };
}

impl<S> Drop for Pull<S> {
    fn drop(&mut self) {
        let tokens = self.tokens.take();
        // A thread that ends has no use for them.
        let _ = SPARE.try_with(|spare| spare.set(tokens));
    }
}

#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "types pull more than events do"))]
impl<'de, S: TextSource<'de>> Pull<S> {
    pub(crate) fn new(source: S, kernel: Kernel) -> Self {
        let mut tokens = SPARE.try_with(Cell::take).unwrap_or_default();
        tokens.clear();
        if S::TRUSTED {
            tokens.owe_all_numbers();
        }
        Self {
            text: CheckedText::new(source),
            tokens: Shown::new(tokens),
            kernel,
            chunk_bytes: CHUNK_BYTES,
            reach: CHUNK_BYTES,
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
            judged: 0,
            lines: LineCount::default(),
        }
    }

    /// Line feeds are tokens. Before the first token is asked for.
    pub(crate) fn in_lines(mut self) -> Self {
        self.mode = if S::TRUSTED { Mode::LinesTrusted } else { Mode::Lines };
        self.tokens.change().owe_all_numbers();
        self
    }

    /// Scans chunks of this many bytes, rounded up to whole blocks. Before the first token is asked for.
    pub(crate) fn set_chunk_bytes(&mut self, bytes: usize) {
        self.chunk_bytes = bytes.next_multiple_of(BLOCK).max(BLOCK);
        self.reach = self.chunk_bytes;
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
        if self.tokens.is_used_up() {
            self.refill();
        }
        // SAFETY: one was left, or `refill` has called `settle` at its end.
        unsafe { self.tokens.token() }
    }

    /// The next token and the three after it: their kinds and offsets. After the end's first token they are arbitrary.
    #[inline(always)]
    pub(crate) fn four(&mut self) -> ([u8; 4], [usize; 4]) {
        if self.tokens.is_used_up() {
            self.refill();
        }
        // SAFETY: as in `token`.
        unsafe { self.tokens.four() }
    }

    /// Some of the next `count` tokens are not to be had yet, or behind the end.
    #[inline(always)]
    pub(crate) fn is_near_end(&self, count: usize) -> bool {
        self.tokens.is_near_end(count)
    }

    /// Goes on by so many tokens, of which the last is not behind the end.
    #[inline(always)]
    pub(crate) fn step_by(&mut self, count: usize) {
        self.tokens.step_by(count);
    }

    /// Goes on to the next token. Nobody does behind the end.
    #[inline(always)]
    pub(crate) fn step(&mut self) {
        self.tokens.step_by(1);
    }

    /// The token before, which has been stepped over.
    pub(crate) fn before(&self) -> Option<usize> {
        let before = self.tokens.at().checked_sub(1)?;
        self.tokens.tokens().slices().1.get(before).map(|&pos| pos as usize)
    }

    #[inline(always)]
    pub(crate) fn window(&self) -> &[u8] {
        self.text.window()
    }

    /// Where the text comes from.
    #[inline(always)]
    pub(crate) fn source(&self) -> &S {
        self.text.source()
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

    /// How many tokens are left before this bracket closes what is open, if nothing opens before and pass one has come so
    /// far. A guess in a text that will be refused, but never more than the text has bytes.
    #[cfg(feature = "serde")]
    #[inline(always)]
    pub(crate) fn before_closing(&self, closing: u8) -> Option<usize> {
        self.tokens.tokens().before_closing(self.tokens.at(), closing)
    }
}
