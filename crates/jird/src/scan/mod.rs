//! Pass one: bytes to tokens (Langdale & Lemire, "Parsing Gigabytes of JSON per Second", §3.1), in chunks.
//!
//! On entry: a chunk of the text, and the [`Carry`] that the previous chunk left. On exit: the chunk's tokens are
//! appended to [`Tokens`], the carry is ready for the next chunk, and the first violation of each rule that pass one
//! checks is returned: UTF-8, control characters in strings, escapes. Pass two, [`crate::tape`] or [`crate::walk`],
//! checks what the tokens *mean*.
//!
//! A token is a structural byte, or the first byte of a scalar that follows white space, a structural byte or a
//! closing quote (the paper's structural and pseudo-structural characters). A scalar reaches to the next token, less
//! white space; in documents a bit in the operator after it says whether there is any.
#![allow(unsafe_code, reason = "text that was found to be UTF-8 becomes `str` without a second check")]

mod blocks;
mod brackets;
mod compact;
mod escapes;
mod fault;
#[cfg(feature = "parallel")]
mod guess;
mod line_count;
mod numbers;
#[cfg(test)]
mod oracle;
mod pass;
mod pieces;
mod pull;
mod scanned;
mod source;
#[cfg(test)]
mod tests;
mod tokens;
mod whole;

pub(crate) use crate::word::ESCAPED;
pub(crate) use brackets::BracketSearch;
pub(crate) use compact::compact;
use escapes::Digits;
pub(crate) use escapes::escaped_bytes;
pub(crate) use fault::first_fault;
use numbers::NumberCarry;
pub(crate) use numbers::UNSAMPLED_MAX;
use pass::PassOne;
pub(crate) use pieces::Pieces;
pub(crate) use pull::{Content, OpenBrackets, Pull, Token};
pub(crate) use scanned::TextSoFar;
#[cfg(feature = "serde")]
pub(crate) use source::KEY_BYTES;
pub use source::{IoRead, Read, SliceRead, Trusted};
pub(crate) use source::{Slice, TextSource};
#[cfg(feature = "parallel")]
pub(crate) use tokens::CutScalar;
pub(crate) use tokens::{BATCH, END, NumberCheck, SENTINELS, SPACED, Tokens};
pub(crate) use whole::Whole;

use crate::kernel::Kernel;

/// What pass one treats as a token, and what it checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One document, checked.
    Document,
    /// The same; white space outside strings is recorded too.
    DocumentBlanks,
    /// A newline outside strings is a token, which ends a record. Checked.
    Lines,
    /// One document, unchecked: neither UTF-8 nor escapes nor control characters are checked.
    DocumentTrusted,
    /// As `Lines`, but unchecked.
    LinesTrusted,
}

/// A part of a text that pass one scans: `text[from..to]`. `from` is a multiple of [`BLOCK`]; so is `to`, unless it is
/// the text's end.
#[derive(Clone, Copy)]
pub(crate) struct Chunk<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// The state that one block leaves for the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    /// 1 if the next byte is escaped.
    escape: u64,
    /// All ones inside a string.
    in_string: u64,
    /// 1 if the last byte belongs to a scalar that is not a string.
    scalar: u64,
    /// 1 if the last byte is white space outside strings, or another byte below it. Documents only.
    space: u64,
}

impl State {
    /// The state at the border of a chunk. In a string, what is not known after a long one makes no difference.
    #[inline(always)]
    fn at_border(self) -> Self {
        Self { scalar: self.scalar & !self.in_string, space: self.space & !self.in_string, ..self }
    }
}

/// The state that one chunk leaves for the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Carry {
    state: State,
    /// The state of the number check.
    number: NumberCarry,
    digits: Digits,
    /// The end of the last surrogate pair that was checked, or the offset where it is wrong. The pair's second half is
    /// not checked again.
    pair_end: usize,
}

impl Carry {
    /// Adjusts the offsets after the window has dropped its first `bytes`.
    fn forget(&mut self, bytes: usize) {
        self.pair_end = self.pair_end.saturating_sub(bytes);
    }

    /// Whether the text so far ends inside a string.
    pub(crate) fn in_string(&self) -> bool {
        self.state.in_string != 0
    }
}

/// The first violation in a chunk of each rule that pass one checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Violations {
    /// Offset of a control character inside a string.
    pub(crate) control: Option<usize>,
    /// Offset of the first byte that makes an escape invalid.
    pub(crate) escape: Option<usize>,
    /// Some number in the chunk, or before it and not reported yet, is invalid. Pass two reports which one and where.
    pub(crate) number: bool,
    /// Somewhere in the chunk, or in the last three bytes before it, the text is not UTF-8.
    pub(crate) not_utf8: bool,
}

/// Runs pass one over a chunk. Appends the tokens to `tokens`.
#[inline(always)]
pub(crate) fn scan(
    kernel: Kernel,
    chunk: &Chunk<'_>,
    mode: Mode,
    carry: &mut Carry,
    tokens: &mut Tokens,
) -> Violations {
    let keeps = numbers::keeps(kernel, chunk, mode, tokens.tuning.numbers);
    let scalar = carry.state.scalar;
    let mut found = index(kernel, chunk, mode, keeps, carry, tokens);
    let is_document = matches!(mode, Mode::Document | Mode::DocumentBlanks);
    if is_document || mode == Mode::Lines {
        found.escape = escapes::check(kernel, chunk, tokens.escapes(), carry);
    }
    if is_document {
        found.number = numbers::check(kernel, chunk, keeps, tokens, scalar, &mut carry.number);
        tokens.numbers_judged(keeps != Keeps::Nothing, found.number);
    }
    found
}

/// What pass one keeps of each block besides its tokens, for the check of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Keeps {
    Nothing,
    /// The mask of its white space and the mask of its runs: bytes outside strings that are neither operators nor white space
    /// nor quotes.
    Masks,
    /// The bytes of its runs, and the byte after each run.
    Scalars,
}

/// Finds the tokens (the structural index), and checks UTF-8 and control characters if `mode` says so. Checks neither
/// escapes nor numbers; it only keeps what their check needs.
pub(crate) fn index(
    kernel: Kernel,
    chunk: &Chunk<'_>,
    mode: Mode,
    keeps: Keeps,
    carry: &mut Carry,
    tokens: &mut Tokens,
) -> Violations {
    const NOTHING: u8 = Keeps::Nothing as u8;
    const MASKS: u8 = Keeps::Masks as u8;
    const SCALARS: u8 = Keeps::Scalars as u8;
    // The chunk goes on by reference: a copy of it would wait for the narrow stores that have just made it, a tenth of the time
    // of a text of a few bytes.
    match (mode, keeps) {
        (Mode::Document, Keeps::Nothing) => kernel.enter(PassOne::<false, true, NOTHING> { chunk, carry, tokens }),
        (Mode::Document, Keeps::Scalars) => kernel.enter(PassOne::<false, true, SCALARS> { chunk, carry, tokens }),
        (Mode::Document | Mode::DocumentBlanks, _) => {
            kernel.enter(PassOne::<false, true, MASKS> { chunk, carry, tokens })
        }
        (Mode::Lines, _) => kernel.enter(PassOne::<true, true, NOTHING> { chunk, carry, tokens }),
        (Mode::DocumentTrusted, _) => kernel.enter(PassOne::<false, false, NOTHING> { chunk, carry, tokens }),
        (Mode::LinesTrusted, _) => kernel.enter(PassOne::<true, false, NOTHING> { chunk, carry, tokens }),
    }
}
