//! Tokens that a caller pulls one by one: pass one scans the next chunk when they are used up.
//!
//! On entry: a [`TextSource`]. On exit of [`Pull::token`]: the next token, and where the token after it begins. After
//! the last token, and from the first byte that pass one refuses, every token is [`END`]. A string, number or literal
//! that this byte cuts off is not returned as a value. So errors come in text order, after every value that is
//! complete before them. The text of a token is checked when the caller asks for it: strings are known to be UTF-8
//! with valid escapes; numbers and literals are checked here. The caller checks the order of tokens, except inside
//! values that are skipped.
//!
//! Offsets count from the start of the source's window, which moves: they are valid until the caller asks for the next
//! token.

mod fault;
mod scalar;
mod shown;
mod skip;
mod text;
mod window;

pub(crate) use scalar::Content;
pub(crate) use skip::OpenBrackets;

use super::line_count::LineCount;
use super::{Carry, END, ESCAPED, Mode, TextSource};
use crate::fault::Fault;
use crate::kernel::{BLOCK, Kernel};
use crate::limits::SIZE_MAX;
use shown::Shown;
use std::io;
use text::CheckedText;
use window::Dry;

/// A token: its kind as in [`Tokens`], where it begins, and where the next token begins.
#[derive(Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: u8,
    pub(crate) start: usize,
    pub(crate) next: usize,
}

impl Token {
    /// The token at `index`, which must be below 3, of the four that [`Pull::four`] returns.
    #[inline(always)]
    pub(crate) fn at(kinds: [u8; 4], starts: [usize; 4], index: usize) -> Self {
        Self { kind: kinds[index], start: starts[index], next: starts[index + 1] }
    }

    /// The kind without the marks of operators and strings. A byte beyond ASCII may then look like a square bracket:
    /// see [`Pull::bracket`].
    #[inline(always)]
    pub(crate) fn plain(self) -> u8 {
        self.kind & !ESCAPED
    }
}

/// The puller of tokens; the module documentation describes it.
pub(crate) struct Pull<S> {
    text: CheckedText<S>,
    tokens: Shown,
    kernel: Kernel,
    chunk_bytes: usize,
    /// The number of bytes that the next scan takes. It is less than [`chunk_bytes`](Self::chunk_bytes) after a line
    /// was dropped.
    reach: usize,
    /// The approximate maximum length of the window.
    window_max: usize,
    carry: Carry,
    /// How much of the window pass one has scanned. A multiple of a block, until the text's end.
    scanned: usize,
    /// The number of bytes before the window.
    base: u64,
    /// Whether sentinels stand after the last token.
    done: bool,
    /// The error at the sentinels, if they are not at the text's end.
    fault: Option<Fault>,
    io: Option<io::Error>,
    /// The window must be kept from this offset on.
    pin: usize,
    /// Tokens must be kept from this index on.
    kept: usize,
    mode: Mode,
    /// Set if there is no more text for now: what the scan of the text's present end added, to be undone later.
    dry: Option<Dry>,
    /// The caller has already seen the tokens before this offset; scanning finds them again.
    seen: usize,
    /// How much of the whole text there was when its incomplete last token was last found valid so far.
    judged: u64,
    lines: LineCount,
}

/// The number of bytes scanned at a time, as for documents.
const CHUNK_BYTES: usize = 64 << 10;

#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "types pull more than events do"))]
impl<'de, S: TextSource<'de>> Pull<S> {
    pub(crate) fn new(source: S, kernel: Kernel) -> Self {
        let mut tokens = shown::spare_tokens();
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

    /// Makes newlines tokens. Must be called before the first token is asked for.
    pub(crate) fn in_lines(mut self) -> Self {
        self.mode = if S::TRUSTED { Mode::LinesTrusted } else { Mode::Lines };
        self.tokens.change().owe_all_numbers();
        self
    }

    /// Scans chunks of this many bytes, rounded up to whole blocks. Must be called before the first token is asked
    /// for.
    pub(crate) fn set_chunk_bytes(&mut self, bytes: usize) {
        self.chunk_bytes = bytes.next_multiple_of(BLOCK).max(BLOCK);
        self.reach = self.chunk_bytes;
    }

    /// Limits the text that must be kept at once to about `bytes`; more is an error. Not for text in memory.
    pub(crate) fn set_window_max(&mut self, bytes: usize) {
        self.window_max = bytes.saturating_add(2 * self.chunk_bytes).min(SIZE_MAX);
    }

    /// The text is a part of a longer one, and begins at `offset` of that in line `line` (from 1). Must be called
    /// before the first token is asked for.
    pub(crate) fn begins_at(&mut self, offset: u64, line: u64) {
        self.base = offset;
        self.lines = LineCount::from(offset, line);
    }

    /// The next token. Does not step over it.
    #[inline(always)]
    pub(crate) fn token(&mut self) -> Token {
        if self.tokens.is_used_up() {
            self.refill();
        }
        // SAFETY: either a shown token was left, or `refill` called `settle` last.
        unsafe { self.tokens.token() }
    }

    /// The kinds and offsets of the next token and the three after it. After the first token of the end they are
    /// arbitrary.
    #[inline(always)]
    pub(crate) fn four(&mut self) -> ([u8; 4], [usize; 4]) {
        if self.tokens.is_used_up() {
            self.refill();
        }
        // SAFETY: as in `token`.
        unsafe { self.tokens.four() }
    }

    /// Whether some of the next `count` tokens are not available yet, or are past the end.
    #[inline(always)]
    pub(crate) fn is_near_end(&self, count: usize) -> bool {
        self.tokens.is_near_end(count)
    }

    /// Steps over `count` tokens; the last of them must not be past the end.
    #[inline(always)]
    pub(crate) fn step_by(&mut self, count: usize) {
        self.tokens.step_by(count);
    }

    /// Steps over the next token. Callers do not step past the end.
    #[inline(always)]
    pub(crate) fn step(&mut self) {
        self.tokens.step_by(1);
    }

    /// The offset of the previous token, over which the caller has stepped.
    pub(crate) fn before(&self) -> Option<usize> {
        let before = self.tokens.at().checked_sub(1)?;
        self.tokens.tokens().slices().1.get(before).map(|&pos| pos as usize)
    }

    #[inline(always)]
    pub(crate) fn window(&self) -> &[u8] {
        self.text.window()
    }

    /// The source of the text.
    #[inline(always)]
    pub(crate) fn source(&self) -> &S {
        self.text.source()
    }

    /// The offset in the whole text of an offset of the window.
    pub(crate) fn offset(&self, at: usize) -> u64 {
        self.base + at as u64
    }

    /// The token's kind without marks, for callers that compare it with brackets. A byte beyond ASCII is not taken for
    /// a bracket.
    #[inline(always)]
    pub(crate) fn bracket(&self, token: Token) -> u8 {
        if token.kind < ESCAPED || self.window().get(token.start).is_some_and(u8::is_ascii) {
            token.plain()
        } else {
            END
        }
    }

    /// The number of tokens before the next bracket, if that bracket is `closing` and pass one has already found it.
    /// In a text that will be refused it is a guess, but never more than the number of the text's bytes.
    #[cfg(feature = "serde")]
    #[inline(always)]
    pub(crate) fn before_closing(&self, closing: u8) -> Option<usize> {
        self.tokens.tokens().before_closing(self.tokens.at(), closing)
    }
}
