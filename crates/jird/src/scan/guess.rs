//! What pass one would carry into the middle of a text, without having read what stands before.
//!
//! Nearly all of it shows in a few kilobytes before the border. Whether they begin inside a string does not, but quotes that
//! open and quotes that close have different neighbours. Whoever guesses compares with the truth when it is known.

use super::{Carry, Chunk, Mode, NumberCarry, Tokens, scan};
use crate::kernel::{BLOCK, Kernel};

/// Bytes before a border that are looked at.
const WINDOW_BYTES: usize = 64 * BLOCK;

impl Carry {
    /// What the text before `from`, a multiple of [`BLOCK`], seems to leave. Forgets the tokens that it is lent. Takes time
    /// for a few kilobytes at most.
    pub(crate) fn guess(kernel: Kernel, text: &[u8], from: usize, tokens: &mut Tokens) -> Self {
        let start = from.saturating_sub(WINDOW_BYTES);
        let in_string = start > 0 && begins_inside(&text[start..from]);
        let mut carry = Self { in_string: u64::from(in_string).wrapping_neg(), ..Self::default() };
        tokens.clear();
        scan(kernel, Chunk { text, from: start, to: from }, Mode::Document, &mut carry, tokens);
        carry.at_border(from)
    }

    /// The same without what makes no difference to the text from `from` on, if a number that the border cuts is judged by
    /// somebody else.
    pub(crate) fn at_border(self, from: usize) -> Self {
        // A pair that ends at or before the first place where the next escape can begin is as good as none.
        Self { number: NumberCarry::default(), pair_end: self.pair_end.max(from.saturating_sub(2)), ..self }
    }
}

/// Whether the window seems to begin inside a string. In JSON something that a value or key may follow stands before a quote
/// that opens, and something that may follow a string behind one that closes: the first quote that looks like one of them
/// and not like both decides.
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
