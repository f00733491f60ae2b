//! Pass one, byte by byte: every kernel must give the same results. It is as simple as possible: no masks, no blocks,
//! no use of [`Simd`](crate::kernel::Simd).

use super::tokens::SPACED;
use super::{Carry, Chunk, ESCAPED, Mode, Violations};
use crate::kernel::BLOCK;
use crate::text;

/// The results of pass one for a chunk.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scanned {
    pub(super) tokens: Vec<(u8, u32)>,
    pub(super) found: Violations,
    pub(super) carry: Carry,
}

/// Scans `chunk`; `before` is the result of the chunks before it.
pub(super) fn scan(chunk: Chunk<'_>, mode: Mode, before: Scanned) -> Scanned {
    let Scanned { tokens, carry, .. } = before;
    let Chunk { text, from, to } = chunk;
    let lines = matches!(mode, Mode::Lines | Mode::LinesTrusted);
    let check = matches!(mode, Mode::Document | Mode::DocumentBlanks | Mode::Lines);
    let mut state = OracleState {
        text,
        escaped: carry.state.escape == 1,
        in_string: carry.in_string(),
        in_word: carry.state.scalar == 1,
        in_space: carry.state.space == 1,
        digits_due: carry.digits.due.count_ones(),
        pair_end: carry.pair_end,
        tokens,
        found: Violations::default(),
    };
    (from..to).for_each(|at| state.byte(text[at], at, lines, check));
    if to == text.len() {
        // After the text comes a block of spaces, or the rest of one.
        let padding = BLOCK - text.len() % BLOCK;
        (0..padding).for_each(|past| state.byte(b' ', to + past, lines, check));
    }
    if check {
        state.found.not_utf8 = match core::str::from_utf8(&text[..to]) {
            Ok(_) => false,
            // A sequence that the chunk leaves incomplete is checked with the next chunk, if there is one.
            Err(error) => error.error_len().is_some() || to == text.len(),
        };
    }
    let carry = Carry {
        state: super::State {
            escape: u64::from(state.escaped),
            in_string: if state.in_string { u64::MAX } else { 0 },
            scalar: u64::from(state.in_word && !state.in_string),
            space: u64::from(state.in_space && !state.in_string && !lines),
        },
        // Has its own tests.
        number: super::NumberCarry::default(),
        digits: super::Digits { due: (1 << state.digits_due) - 1, first: u64::from(state.digits_due == 4) },
        pair_end: state.pair_end,
    };
    Scanned { tokens: state.tokens, found: state.found, carry }
}

#[expect(clippy::struct_excessive_bools, reason = "as plain as it can be written")]
struct OracleState<'t> {
    text: &'t [u8],
    /// The byte before is a backslash that is not itself escaped.
    escaped: bool,
    /// An opening quote came, and no closing one since.
    in_string: bool,
    /// The byte before belongs to a number or literal, or to invalid bytes in the place of one.
    in_word: bool,
    /// The byte before is white space, or a control character in its place.
    in_space: bool,
    /// How many of the next bytes must be hexadecimal digits.
    digits_due: u32,
    /// Where the last surrogate pair ends.
    pair_end: usize,
    tokens: Vec<(u8, u32)>,
    found: Violations,
}

impl OracleState<'_> {
    fn byte(&mut self, byte: u8, at: usize, lines: bool, check: bool) {
        let escaped = self.escaped;
        self.escaped = byte == b'\\' && !escaped;
        let quote = byte == b'"' && !escaped;
        let operator = matches!(byte, b'{' | b'}' | b'[' | b']' | b':' | b',') || lines && byte == b'\n';
        let word = !operator && !quote && !matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        if check {
            self.escape(byte, at, escaped && self.in_string);
        }
        if self.in_string {
            self.inside(byte, at, check);
        } else if operator || (word || quote) && !self.in_word {
            let kind = match byte {
                _ if lines => byte,
                _ if operator && self.in_space => byte | SPACED,
                _ => byte,
            };
            self.tokens.push((kind, u32::try_from(at).expect("tests are small")));
        }
        if quote {
            self.in_string = !self.in_string;
        }
        self.in_word = word;
        self.in_space = byte <= b' ';
    }

    /// Processes a byte inside a string, after its opening quote.
    fn inside(&mut self, byte: u8, at: usize, check: bool) {
        // A quote directly after a word opens a string that has no token of its own.
        if byte == b'\\'
            && let Some((kind @ b'"', _)) = self.tokens.last_mut()
        {
            *kind |= ESCAPED;
        }
        if check && byte < 0x20 {
            self.found.control.get_or_insert(at);
        }
    }

    /// Processes a byte that may be part of an escape.
    fn escape(&mut self, byte: u8, at: usize, escaped: bool) {
        if self.digits_due > 0 {
            if self.digits_due == 4 && matches!(byte, b'd' | b'D') && at - 2 >= self.pair_end {
                match text::check_escape(self.text, at - 2) {
                    Ok(len) => self.pair_end = at - 2 + len,
                    Err(offset) => {
                        self.pair_end = offset;
                        self.fault(offset);
                    }
                }
            }
            self.digits_due -= 1;
            if !byte.is_ascii_hexdigit() {
                self.fault(at);
            }
        }
        match byte {
            b'u' if escaped => self.digits_due = 4,
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
            _ if escaped => self.fault(at),
            _ => {}
        }
    }

    fn fault(&mut self, offset: usize) {
        let offset = offset.min(self.text.len());
        self.found.escape = Some(self.found.escape.map_or(offset, |first| first.min(offset)));
    }
}
