//! Finds the bracket that closes a container, in text that was checked before.

use super::tokens::{BRACKET, CUT, END, SPACED};

/// A search for the end of a container that goes on from one part of the tokens to the next. `PULLED` tokens are those
/// of [`Pull`](super::Pull): their operators may be marked [`SPACED`], and the last may be [`CUT`].
#[derive(Default)]
pub(crate) struct BracketSearch<const PULLED: bool> {
    /// The containers that were opened inside and not closed yet.
    depth: i64,
}

impl<const PULLED: bool> BracketSearch<PULLED> {
    const STEPS: &[i8; 256] = &steps(PULLED);

    /// The number of tokens before the bracket that closes the container, or before the end of the line or the text;
    /// `None` if neither is among these tokens. It looks at eight tokens at a time for one that is a bracket or an end.
    pub(crate) fn pass(&mut self, kinds: &[u8]) -> Option<usize> {
        const ONES: u64 = u64::from_le_bytes([1; 8]);
        // Marks bytes that are zero, and perhaps others after the first of them.
        let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
        let mut ends = |kind: u8| {
            let step = Self::STEPS[usize::from(kind)];
            self.depth += i64::from(step);
            self.depth < 0 || step == LINE_END
        };
        let (words, rest) = kinds.as_chunks();
        for (index, bytes) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*bytes);
            let mut marks = zeros(word & (ONES * ABOVE_LINE_ENDS)) | zeros(!word & (ONES * u64::from(BRACKET)));
            while marks != 0 {
                let at = marks.trailing_zeros() as usize / 8;
                if ends(bytes[at]) {
                    return Some(index * 8 + at);
                }
                marks &= marks - 1;
            }
        }
        rest.iter().position(|&kind| ends(kind)).map(|at| words.len() * 8 + at)
    }
}

/// The kinds of all tokens except ends have at least one of these bits.
const ABOVE_LINE_ENDS: u64 = 0x70;

/// What a token adds to the depth, or [`LINE_END`].
const fn steps(pulled: bool) -> [i8; 256] {
    let mut steps = [0; 256];
    (steps[b'{' as usize], steps[b'[' as usize]) = (1, 1);
    (steps[b'}' as usize], steps[b']' as usize]) = (-1, -1);
    (steps[b'\n' as usize], steps[END as usize]) = (LINE_END, LINE_END);
    if pulled {
        (steps[(b'{' | SPACED) as usize], steps[(b'[' | SPACED) as usize]) = (1, 1);
        (steps[(b'}' | SPACED) as usize], steps[(b']' | SPACED) as usize]) = (-1, -1);
        steps[CUT as usize] = LINE_END;
    }
    steps
}

const LINE_END: i8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inside_is_counted_as_one_by_one() {
        let one_by_one = |kind: &[u8]| {
            let mut depth = 0;
            kind.iter().position(|&byte| {
                depth += i32::from(matches!(byte, b'{' | b'[')) - i32::from(matches!(byte, b'}' | b']'));
                depth < 0 || matches!(byte, b'\n' | END)
            })
        };
        let kinds = *b"{}[]\n\0,:\"1-tfnYy_\x01\x7f\xa2\xdb\xff\"\":,11,,::\"";
        let mut random = 7_u64;
        for _ in 0..50_000 {
            let mut next = |below: usize| {
                random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
                (random >> 33) as usize % below
            };
            let from = [0, 0, 6][next(3)];
            let kind: Vec<u8> = (0..next(40)).map(|_| kinds[from + next(kinds.len() - from)]).collect();
            // In two parts, as when a window moves.
            let (first, second) = kind.split_at(next(kind.len() + 1));
            let mut inside = BracketSearch::<false>::default();
            let passed = inside.pass(first).or_else(|| Some(first.len() + inside.pass(second)?));
            assert_eq!(passed, one_by_one(&kind), "{kind:?}");
        }
    }
}
