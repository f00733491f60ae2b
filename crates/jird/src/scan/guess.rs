//! Guesses the state that pass one would carry into the middle of a text, without having read all text before.
//!
//! A few kilobytes before the border show nearly all of it. They do not show whether they begin inside a string, but
//! opening quotes and closing quotes have different neighbours. The caller compares the guess with the true state when
//! that is known.

use super::{Carry, Chunk, Mode, NumberCarry, State, Tokens, scan};
use crate::kernel::{BLOCK, Kernel};

/// The number of bytes before a border that are looked at.
const WINDOW_BYTES: usize = 64 * BLOCK;

impl Carry {
    /// Guesses the carry that the text before `from`, a multiple of [`BLOCK`], leaves. Clears `tokens` and uses it as
    /// scratch space. Takes the time to scan a few kilobytes at most.
    pub(crate) fn guess(kernel: Kernel, text: &[u8], from: usize, tokens: &mut Tokens) -> Self {
        let start = from.saturating_sub(WINDOW_BYTES);
        let in_string = start > 0 && begins_inside(&text[start..from]);
        let state = State { in_string: u64::from(in_string).wrapping_neg(), ..State::default() };
        let mut carry = Self { state, ..Self::default() };
        tokens.clear();
        scan(kernel, &Chunk { text, from: start, to: from }, Mode::Document, &mut carry, tokens);
        carry.at_border(from)
    }

    /// The same carry without the parts that make no difference to the text from `from` on. A number that the border
    /// cuts must be checked by pass two.
    pub(crate) fn at_border(self, from: usize) -> Self {
        // A pair that ends at or before the first place where the next escape can begin has no effect.
        Self { number: NumberCarry::default(), pair_end: self.pair_end.max(from.saturating_sub(2)), ..self }
    }
}

/// Whether the window seems to begin inside a string. In JSON, an opening quote comes after a byte that a value or key
/// may follow, and a closing quote comes before a byte that may follow a string. The first quote that looks like
/// exactly one of the two decides.
fn begins_inside(window: &[u8]) -> bool {
    let mut inside = false;
    for at in memchr::memchr_iter(b'"', window) {
        let (before, behind) = (&window[..at], &window[at + 1..]);
        if before.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1 {
            continue;
        }
        inside = !inside;
        let seen = |byte: &&u8| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        let opens = matches!(before.iter().rev().find(seen), Some(b'{' | b'[' | b',' | b':'));
        let closes = matches!(behind.iter().find(seen), Some(b'}' | b']' | b',' | b':'));
        if opens != closes {
            return opens != inside;
        }
    }
    false
}
