//! Pass one's masks of eight blocks at once: a word for each block.
//!
//! Where a register holds eight words, one operation serves eight blocks, and no mask goes through a general register.

use super::simd::{BLOCK, Simd};

/// Blocks in a group.
pub(crate) const GROUP: usize = 8;

/// A mask for each block of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Words(pub(crate) [u64; GROUP]);

/// The bytes of a group by their classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupClasses {
    /// `{ } [ ] : ,` and white space.
    pub(crate) between_values: Words,
    /// Bytes of at most 0x20.
    pub(crate) up_to_space: Words,
    /// `"` and space.
    pub(crate) quote_or_space: Words,
    /// Newlines. Lines only.
    pub(crate) newline: Words,
    /// `\\`, but only if the group is [unusual](Simd::unusual). Not classified here.
    pub(crate) backslash: Words,
}

/// What one group leaves for the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupBorder {
    /// All ones inside a string.
    pub(crate) in_string: u64,
    /// 1 if the last byte belongs to a scalar that is not a string.
    pub(crate) scalar: u64,
    /// 1 if the last byte is at most 0x20.
    pub(crate) space: u64,
    /// Bytes below 0x20 inside strings, of all groups so far.
    pub(crate) controls: Words,
    /// White space outside strings that is no token, of all groups so far.
    pub(crate) blank: Words,
}

/// What was found in a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupMasks {
    pub(crate) tokens: Words,
    /// Operators and newlines behind a byte of at most 0x20.
    pub(crate) spaced: Words,
    /// The quotes at the ends of strings.
    pub(crate) quotes: Words,
    /// Bytes inside strings, with their opening quotes.
    pub(crate) inside: Words,
    /// White space outside strings.
    pub(crate) blank: Words,
    /// Bytes outside strings that are neither operators nor white space nor quotes.
    pub(crate) run: Words,
}

/// [`Simd::classify_group`], block by block.
#[inline(always)]
pub(super) fn classify<S: Simd>(simd: S, blocks: &[[u8; BLOCK]; GROUP], newlines: bool) -> GroupClasses {
    let mut group = GroupClasses::default();
    for (at, block) in blocks.iter().enumerate() {
        let block = simd.load(block);
        let classes = simd.classify(block);
        let space = simd.eq(block, b' ');
        group.between_values.0[at] = classes.operator | classes.space;
        group.up_to_space.0[at] = classes.control | space;
        group.quote_or_space.0[at] = classes.quote | space;
        group.newline.0[at] = if newlines { simd.eq(block, b'\n') } else { 0 };
    }
    group
}

/// [`Simd::group_masks`], word by word.
#[inline(always)]
pub(super) fn masks<S: Simd>(simd: S, classes: &GroupClasses, escaped: &Words, border: &mut GroupBorder) -> GroupMasks {
    let mut group = GroupMasks::default();
    for at in 0..GROUP {
        let (between, up_to_space) = (classes.between_values.0[at], classes.up_to_space.0[at]);
        let quotes = classes.quote_or_space.0[at] & !up_to_space & !escaped.0[at];
        let inside = simd.prefix_xor(quotes) ^ border.in_string;
        let operator = between & !up_to_space | classes.newline.0[at];
        let run = !(between | quotes);
        let starts = !between & !(run << 1 | border.scalar);
        group.tokens.0[at] = (operator | starts) & !(inside ^ quotes);
        group.spaced.0[at] = (up_to_space << 1 | border.space) & operator;
        group.quotes.0[at] = quotes;
        group.inside.0[at] = inside;
        group.blank.0[at] = between & up_to_space & !inside;
        group.run.0[at] = run & !inside;
        border.controls.0[at] |= up_to_space & !classes.quote_or_space.0[at] & inside;
        border.blank.0[at] |= group.blank.0[at] & !group.tokens.0[at];
        border.in_string = (inside.cast_signed() >> 63).cast_unsigned();
        (border.scalar, border.space) = (run >> 63, up_to_space >> 63);
    }
    group
}

/// [`Simd::escape_group`], word by word.
#[inline(always)]
pub(super) fn escape(backslash: &Words, carry: &mut u64, escaped: &mut Words) -> u64 {
    let mut before = 0;
    for (at, (escaped, &backslash)) in escaped.0.iter_mut().zip(&backslash.0).enumerate() {
        before |= *carry << at;
        (*escaped, *carry) = escaped_bytes(backslash, *carry);
    }
    before
}

/// [`Simd::mark_group`], word by word.
#[inline(always)]
pub(super) fn mark<S: Simd>(simd: S, masks: &mut GroupMasks, backslash: &Words, mut open: u64) -> u64 {
    let mut late = 0;
    // The last opening quote so far.
    let mut last = None;
    for at in 0..GROUP {
        let (quotes, inside) = (masks.quotes.0[at], masks.inside.0[at]);
        let (marked, before) = marks(simd, quotes, backslash.0[at], inside, open);
        masks.spaced.0[at] |= marked;
        match last {
            Some((at, place)) => masks.spaced.0[at] |= before << place,
            None => late |= before,
        }
        last = (quotes & inside).checked_ilog2().map(|place| (at, place)).or(last);
        open = inside >> 63;
    }
    late
}

/// Finds the bytes that a backslash escapes: the byte after each run of backslashes of odd length, and every second
/// byte inside a run. Also returns whether the next block's first byte is escaped. One subtraction finds them all
/// (simdjson's `json_escape_scanner`).
#[inline(always)]
pub(crate) fn escaped_bytes(backslash: u64, carry: u64) -> (u64, u64) {
    let potential = backslash & !carry;
    let follows = (potential << 1 | ODD).wrapping_sub(potential) ^ ODD;
    (follows ^ (backslash | carry), (follows & backslash) >> 63)
}

/// The bits of odd places.
pub(super) const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;

/// Marks the strings of a block that have a backslash in it: the bits of their opening quotes. `quotes` and `backslash`
/// are those of the block, `inside` has the bytes inside strings with their opening quotes, and `open` is 1 if the block
/// begins inside a string. Also returns 1 if it is this string that has a backslash.
#[inline(always)]
pub(crate) fn marks<S: Simd>(simd: S, quotes: u64, backslash: u64, inside: u64, open: u64) -> (u64, u64) {
    let opening = quotes & inside;
    let backslash = backslash & inside;
    // A bit added where a string begins carries to its first backslash or to its closing quote: one bit for each string.
    let text = inside & !backslash;
    let stops = text.wrapping_add(opening).wrapping_add(open) & !text;
    let has_escape = simd.gather_bits(backslash, stops);
    (simd.scatter_bits(has_escape >> open, opening), has_escape & open)
}
