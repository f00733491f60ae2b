//! The scalars of a batch: where they end, and whether they are right.

use crate::fault::Fault;
use crate::kernel::{Kinds, Simd};
use crate::policy::Numbers;
use crate::scan::BATCH;
use crate::text::trim_end;
use crate::walk::{Literal, literal, number};

/// Sets the ends of those scalars that white space follows: `ends` has the offsets of the next tokens. Looks at the block
/// before each next token; if it is all white space, or if masks are not cheap, goes back byte by byte. Most
/// `keys`, which are strings, have at most one space before their colon, so that byte is looked at first. Only white space can
/// stand there, because any other byte would be a token: if the byte is greater than a space, it is the quote of the key.
#[inline(always)]
pub(super) fn trim_ends<S: Simd>(
    simd: S,
    text: &[u8],
    mut loose: u64,
    mut keys: u64,
    pos: &[u32; BATCH + 1],
    ends: &mut [u32; BATCH],
) {
    while keys != 0 {
        let index = keys.trailing_zeros() as usize;
        let bit = keys & keys.wrapping_neg();
        keys ^= bit;
        let next = pos[index + 1];
        let before = text.get((next as usize).wrapping_sub(2));
        ends[index] = next.wrapping_sub(1);
        if before.is_some_and(|&before| before > b' ') {
            loose ^= bit;
        }
    }
    while loose != 0 {
        let index = loose.trailing_zeros() as usize;
        loose &= loose - 1;
        let next = pos[index + 1] as usize;
        let seen = if S::MASKS_ARE_CHEAP { text.get(..next).and_then(<[u8]>::last_chunk) } else { None };
        // Not by a closure, which would not always be inlined.
        let others = if let Some(block) = seen { !simd.spaces(simd.load(block)) } else { 0 };
        ends[index] = match others {
            0 => trim_end(text, pos[index] as usize, next) as u32,
            others => next as u32 - others.leading_zeros(),
        };
    }
}

/// Checks literals, and numbers unless pass one has checked them. Returns the first that is invalid, and its
/// error.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "one step of one loop, with what lives in its registers")]
pub(crate) fn check_scalars<S: Simd>(
    simd: S,
    text: &[u8],
    kinds: &[u8; BATCH],
    pos: &[u32; BATCH + 1],
    ends: &[u32; BATCH],
    is: &Kinds,
    odd: u64,
    owe_numbers: bool,
    numbers: Numbers,
) -> Option<(usize, Fault)> {
    let end = |index: usize| ends[index] as usize;
    let mut fault = None;
    if owe_numbers || numbers != Numbers::Any {
        let careful = if numbers == Numbers::Any { odd } else { is.number };
        let mut left = is.number;
        while left != 0 {
            let index = left.trailing_zeros() as usize;
            left &= left - 1;
            let start = pos[index] as usize;
            if careful >> index & 1 == 0 && is_plain_number(simd, text, start, end(index)) {
                continue;
            }
            if let Err(error) = careful_number(text, start, pos[index + 1] as usize, numbers) {
                fault = Some((index, error));
                break;
            }
        }
    }
    let mut left = is.literal;
    while left != 0 {
        let index = left.trailing_zeros() as usize;
        left &= left - 1;
        let start = pos[index] as usize;
        let wrong = odd >> index & 1 != 0 || !is_literal(text, start, end(index), kinds[index]);
        if wrong && let Err(error) = careful_literal(text, start, pos[index + 1] as usize, kinds[index]) {
            if fault.is_none_or(|(first, _)| index < first) {
                fault = Some((index, error));
            }
            break;
        }
    }
    fault
}

/// [`Simd::is_plain_number`], or the grammar check where that is faster.
#[inline(always)]
fn is_plain_number<S: Simd>(simd: S, text: &[u8], start: usize, end: usize) -> bool {
    match simd.is_plain_number(text, start, end) {
        Some(is_plain) => is_plain,
        None => start <= end && end <= text.len() && crate::number::check_at(text, start, end).is_ok(),
    }
}

/// Checks the number at `start`, before the token at `next`, by the grammar. It is not inlined, so that the
/// calling loop stays small.
#[inline(never)]
fn careful_number(text: &[u8], start: usize, next: usize, numbers: Numbers) -> Result<(), Fault> {
    number(text, start, trim_end(text, start, next), numbers).map(drop)
}

/// Checks the literal at `start` in the same way.
#[cold]
#[inline(never)]
fn careful_literal(text: &[u8], start: usize, next: usize, first: u8) -> Result<(), Fault> {
    let name = match first {
        b't' => Literal::True,
        b'f' => Literal::False,
        _ => Literal::Null,
    };
    literal(text, start, next, name).map(drop)
}

/// Whether `text[start..end]` is the literal that begins with `first`, which is one of `t`, `f` and `n`; also false if fewer
/// than 8 bytes of text are left.
#[inline(always)]
fn is_literal(text: &[u8], start: usize, end: usize, first: u8) -> bool {
    // Two bits tell the three letters apart. What `false` has before the last four bytes is its first letter.
    const LAST_FOUR: [[u8; 4]; 4] = [*b"alse", *b"null", *b"true", [0; 4]];
    let which = usize::from(first >> 3 & 3);
    let more = usize::from(which == 0);
    let bytes = text.get(start..).and_then(<[u8]>::first_chunk::<8>);
    let Some(bytes) = bytes else { return false };
    let last_four = u64::from_le_bytes(*bytes) >> (8 * more);
    end.wrapping_sub(start) == 4 + more && last_four as u32 == u32::from_le_bytes(LAST_FOUR[which])
}
