//! The kernel for every CPU: plain code, byte by byte or eight bytes to a word. It is the fallback, and all other
//! kernels must give the same results.

use super::{BLOCK, Classes, Kinds, Outline, Simd};

/// Needs no proof: every CPU can run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Portable;

/// Classes of bytes: byte `k` of an entry is 1 if the byte is of class `k`.
const SPACE: u64 = 1;
const OPERATOR: u64 = 1 << 8;
const QUOTE: u64 = 1 << 16;
const CONTROL: u64 = 1 << 24;
const ESCAPE_LETTER: u64 = 1 << 32;

static CLASSES: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | b'\r' => SPACE,
            b'{' | b'}' | b'[' | b']' | b':' | b',' => OPERATOR,
            b'"' => QUOTE | ESCAPE_LETTER,
            b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => ESCAPE_LETTER,
            _ => 0,
        };
        if byte < 0x20 {
            table[byte] |= CONTROL;
        }
        byte += 1;
    }
    table
};

/// Classes of the bytes of an [`Outline`], laid out in the same way.
static OUTLINES: [u64; 256] = {
    let mut table = [0; 256];
    table[b'\\' as usize] = 1;
    table[b'"' as usize] = 1 << 8;
    table[b':' as usize] = 1 << 16;
    (table[b'{' as usize], table[b'[' as usize]) = (1 << 24, 1 << 24);
    (table[b'}' as usize], table[b']' as usize]) = (1 << 32, 1 << 32);
    table
};

/// Classes of tokens by their kind, laid out in the same way.
const STRING: u64 = 1;
const NUMBER: u64 = 1 << 8;
const LITERAL: u64 = 1 << 16;
const COMMA: u64 = 1 << 24;
const COLON: u64 = 1 << 32;
const OBJECT: u64 = 1 << 40;
const ARRAY: u64 = 1 << 48;
const CLOSE: u64 = 1 << 56;

static KINDS: [u64; 256] = {
    let mut table = [0; 256];
    let mut kind = 0;
    while kind < 256 {
        // Operators and strings may be marked by their high bit.
        table[kind] = match kind as u8 & 0x7F {
            b'"' => STRING,
            b',' => COMMA,
            b':' => COLON,
            b'{' => OBJECT,
            b'[' => ARRAY,
            b'}' => OBJECT | CLOSE,
            b']' => ARRAY | CLOSE,
            b'-' | b'0'..=b'9' if kind < 0x80 => NUMBER,
            b't' | b'f' | b'n' if kind < 0x80 => LITERAL,
            _ => 0,
        };
        kind += 1;
    }
    table
};

/// One mask for each of the eight classes of `table`; masks that the caller does not use cost nothing.
#[inline(always)]
fn masks(table: &[u64; 256], block: &[u8; BLOCK]) -> [u64; 8] {
    let mut masks = [0; 8];
    for (at, eight) in block.as_chunks::<8>().0.iter().enumerate() {
        // The eight classes of a byte move up by one bit for each byte before it, so they never leave their own byte
        // of the word.
        let lanes = eight.iter().rev().fold(0, |lanes, &byte| lanes << 1 | table[usize::from(byte)]);
        for (mask, lane) in masks.iter_mut().zip(lanes.to_le_bytes()) {
            *mask |= u64::from(lane) << (8 * at);
        }
    }
    masks
}

/// The mask of a block whose bytes are each all ones or zero.
#[inline(always)]
fn mask(block: [u8; BLOCK]) -> u64 {
    let mut mask = 0;
    for (at, &eight) in block.as_chunks::<8>().0.iter().enumerate() {
        // Each byte keeps the bit of its position, and the sum of all bytes has all bits.
        let places = u64::from_le_bytes(eight) & 0x8040_2010_0804_0201;
        mask |= (places.wrapping_mul(0x0101_0101_0101_0101) >> 56) << (8 * at);
    }
    mask
}

/// The UTF-8 check, byte by byte. Each byte has a word; a state is the position in that word at which the next state
/// stands, six bits wide (Vognsen's shift-based automaton). The states follow RFC 3629 §4.
type Automaton = u64;

const DONE: u64 = 0;
const WRONG: u64 = 6;
/// One, two or three more bytes from 80 to BF must follow.
const ONE: u64 = 12;
const TWO: u64 = 18;
const THREE: u64 = 24;
/// After E0, ED, F0 and F4 the next byte has a range of its own.
const AFTER_E0: u64 = 30;
const AFTER_ED: u64 = 36;
const AFTER_F0: u64 = 42;
const AFTER_F4: u64 = 48;

static STEPS: [u64; 256] = {
    let mut steps = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        let begins = match byte {
            0x00..=0x7F => DONE,
            0xC2..=0xDF => ONE,
            0xE0 => AFTER_E0,
            0xED => AFTER_ED,
            0xE1..=0xEF => TWO,
            0xF0 => AFTER_F0,
            0xF1..=0xF3 => THREE,
            0xF4 => AFTER_F4,
            _ => WRONG,
        };
        let mut word = begins << DONE | WRONG << WRONG;
        let ranges = [
            (ONE, 0x80, 0xBF, DONE),
            (TWO, 0x80, 0xBF, ONE),
            (THREE, 0x80, 0xBF, TWO),
            (AFTER_E0, 0xA0, 0xBF, ONE),
            (AFTER_ED, 0x80, 0x9F, ONE),
            (AFTER_F0, 0x90, 0xBF, TWO),
            (AFTER_F4, 0x80, 0x8F, TWO),
        ];
        let mut range = 0;
        while range < ranges.len() {
            let (state, low, high, next) = ranges[range];
            word |= if low <= byte && byte <= high { next } else { WRONG } << state;
            range += 1;
        }
        steps[at] = word;
        at += 1;
    }
    steps
};

#[inline(always)]
fn utf8_byte(state: Automaton, byte: u8) -> Automaton {
    STEPS[usize::from(byte)] >> (state & 63)
}

impl Simd for Portable {
    type Block = [u8; BLOCK];
    type Utf8 = bool;
    type Offset = u32;

    const MASKS_ARE_CHEAP: bool = false;

    #[inline(always)]
    fn load(self, block: &[u8; BLOCK]) -> Self::Block {
        *block
    }

    #[inline(always)]
    fn classify(self, block: Self::Block) -> Classes {
        let [space, operator, quote, control, ..] = masks(&CLASSES, &block);
        Classes { quote, space, operator, control }
    }

    #[inline(always)]
    fn unusual(self, first: Self::Block, second: Self::Block) -> u64 {
        // The compiler turns this loop into vector comparisons.
        let unusual = |byte: u8| u8::from((byte == b'\\') | !byte.is_ascii());
        u64::from(first.iter().zip(second).fold(0, |found, (&one, other)| found | unusual(one) | unusual(other)))
    }

    #[inline(always)]
    fn outline(self, block: Self::Block) -> Outline {
        let [backslash, quote, colon, open, close, ..] = masks(&OUTLINES, &block);
        Outline { backslash, quote, colon, open, close }
    }

    #[inline(always)]
    fn eq(self, block: Self::Block, byte: u8) -> u64 {
        mask(block.map(|found| if found == byte { 0xFF } else { 0 }))
    }

    #[inline(always)]
    fn between(self, block: Self::Block, low: u8, high: u8) -> u64 {
        mask(block.map(|found| if found.wrapping_sub(low) <= high - low { 0xFF } else { 0 }))
    }

    #[inline(always)]
    fn prefix_xor(self, mut mask: u64) -> u64 {
        for shift in [1, 2, 4, 8, 16, 32] {
            mask ^= mask << shift;
        }
        mask
    }

    #[inline(always)]
    fn utf8_start(self) -> bool {
        true
    }

    #[inline(always)]
    fn utf8_check(self, ok: &mut bool, before: &[u8; BLOCK], block: Self::Block) {
        // The last three bytes hold every sequence that may still be incomplete; start at a byte that begins one.
        let tail = &before[BLOCK - 3..];
        let start = tail.iter().position(|&byte| !(0x80..0xC0).contains(&byte)).unwrap_or(3);
        let mut state = tail[start..].iter().fold(DONE, |state, &byte| utf8_byte(state, byte));
        if state & 63 == WRONG {
            // That was found with the block before.
            state = DONE;
        }
        for eight in block.as_chunks::<8>().0 {
            if u64::from_ne_bytes(*eight) & 0x8080_8080_8080_8080 == 0 {
                state = if state & 63 == DONE { DONE } else { WRONG };
            } else {
                state = eight.iter().fold(state, |state, &byte| utf8_byte(state, byte));
            }
        }
        *ok &= state & 63 != WRONG;
    }

    #[inline(always)]
    fn utf8_ok(self, ok: &bool) -> bool {
        *ok
    }

    #[inline(always)]
    fn merge(self, one: Self::Block, other: Self::Block) -> Self::Block {
        core::array::from_fn(|at| one[at] | other[at])
    }

    #[inline(always)]
    fn escape_letters(self, block: Self::Block) -> u64 {
        masks(&CLASSES, &block)[ESCAPE_LETTER.trailing_zeros() as usize / 8]
    }

    #[inline(always)]
    fn kinds(self, kinds: Self::Block, valid: u64) -> Kinds {
        let [string, number, literal, comma, colon, object, array, close] =
            masks(&KINDS, &kinds).map(|mask| mask & valid);
        Kinds {
            string,
            number,
            literal,
            comma,
            colon,
            open_object: object & !close,
            open_array: array & !close,
            close_object: object & close,
            close_array: array & close,
        }
    }

    #[inline(always)]
    fn beyond_ascii(self, block: Self::Block) -> u64 {
        let high = block.as_chunks::<8>().0.iter().fold(0, |all, &word| all | u64::from_ne_bytes(word));
        if high & 0x8080_8080_8080_8080 == 0 { 0 } else { self.between(block, 0x80, 0xFF) }
    }

    #[inline(always)]
    fn without_high_bits(self, block: Self::Block) -> Self::Block {
        block.map(|byte| byte & 0x7F)
    }

    #[inline(always)]
    fn offset(self, base: u32, _is_dense: bool) -> u32 {
        base
    }

    #[inline(always)]
    fn next_offset(self, offset: u32) -> u32 {
        offset.wrapping_add(BLOCK as u32)
    }

    #[inline(always)]
    fn emit(
        self,
        _block: Self::Block,
        bytes: &[u8; BLOCK],
        mut mask: u64,
        marked: u64,
        base: u32,
        pos: &mut [u32; BLOCK],
        kind: &mut [u8; BLOCK],
    ) {
        for (pos, kind) in pos.iter_mut().zip(kind) {
            if mask == 0 {
                break;
            }
            let at = mask.trailing_zeros();
            *pos = base + at;
            *kind = bytes[at as usize] | ((marked >> at) as u8) << 7;
            mask &= mask - 1;
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
pub(super) mod tests {
    use super::*;

    pub(in crate::kernel) fn equals_what_is_done_one_by_one(simd: impl Simd) {
        keys_are_told_by_their_lengths(simd);
        the_end_of_a_text_is_filled_up_with_spaces(simd);
        a_plain_number_is_a_number(simd);
    }

    fn keys_are_told_by_their_lengths(simd: impl Simd) {
        let mut random = 1_u64;
        let mut next = || {
            random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            random ^ random >> 32
        };
        for _ in 0..if cfg!(miri) { 20 } else { 2000 } {
            let mut pos = [0; BLOCK + 1];
            for at in 1..pos.len() {
                pos[at] = pos[at - 1] + 2 + (next() % 300) as u32;
            }
            let (keys, lengths) = (next() | next(), next() & next());
            assert_eq!(simd.keys_as_long(&pos, keys, lengths), Portable.keys_as_long(&pos, keys, lengths));
        }
    }

    fn the_end_of_a_text_is_filled_up_with_spaces(simd: impl Simd) {
        let text: Vec<u8> = (0..200_u8).map(|byte| byte.wrapping_mul(37) | 1).collect();
        let check = |text: &[u8]| {
            for from in text.len().saturating_sub(BLOCK - 1)..=text.len() {
                assert_eq!(simd.load_end(text, from), Portable.load_rest(&text[from..]), "{from} of {}", text.len());
            }
        };
        // Memory ends, or begins, where the text does. Miri has no such pages, and needs none.
        let mut pages = (!cfg!(miri)).then(|| guard_page::Guarded::new(text.len()));
        for len in (0..text.len()).step_by(if cfg!(miri) { 13 } else { 1 }) {
            match &mut pages {
                Some(page) => {
                    check(page.at_end(&text[..len]));
                    check(page.at_start(&text[..len]));
                }
                None => check(&Box::<[u8]>::from(&text[..len])),
            }
        }
    }

    /// Every text of up to five of these bytes that begins as a number, at the end of a text and before more of it.
    fn a_plain_number_is_a_number(simd: impl Simd) {
        const BYTES: [u8; 7] = *b"01-.e9,";
        let mut plain = 0;
        for number in (0..BYTES.len().pow(5)).step_by(if cfg!(miri) { 97 } else { 1 }) {
            let token: Vec<u8> = (0..5).map(|at| BYTES[number / BYTES.len().pow(at) % BYTES.len()]).collect();
            let len = token.iter().position(|byte| *byte == b',').unwrap_or(token.len());
            let token = &token[..len];
            if !matches!(token.first(), Some(b'0'..=b'9' | b'-')) {
                continue;
            }
            let wanted = is_number_without_exponent(token);
            for behind in [&b",1.e-"[..], b" 0", b"]"] {
                let text = [token, behind, &[b'7'; BLOCK]].concat();
                assert_eq!(simd.is_plain_number(&text, 0, len), Some(wanted), "{text:?}");
            }
            // Here it may be unknown.
            let text = [&[b'7'; BLOCK][..], token].concat();
            assert!(simd.is_plain_number(&text, BLOCK, BLOCK + len).is_none());
            plain += usize::from(wanted);
        }
        assert!(cfg!(miri) || plain > 500, "{plain}");
        let long = [&[b'1'; BLOCK][..], b","].concat();
        for len in 1..BLOCK {
            let start = BLOCK - len;
            let wanted = (len >= BLOCK / 2 - 1).then_some(len < BLOCK / 2);
            assert_eq!(simd.is_plain_number(&long, start, BLOCK), wanted, "{len}");
        }
    }

    fn is_number_without_exponent(token: &[u8]) -> bool {
        let are_digits = |bytes: &[u8]| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
        let size = token.strip_prefix(b"-").unwrap_or(token);
        let point = size.iter().position(|byte| *byte == b'.');
        let (integer, rest) = size.split_at(point.unwrap_or(size.len()));
        are_digits(integer) && (integer.len() == 1 || integer[0] != b'0') && (rest.is_empty() || are_digits(&rest[1..]))
    }
}
