//! The kernel for every CPU: plain code, byte by byte or eight bytes to a word. The fallback, and what others must equal.

use super::{BLOCK, Classes, Simd};

/// Needs no proof: every CPU can run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Portable;

/// Where the check stands inside a sequence: how many continuation bytes are due, and the range of the next one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Utf8 {
    due: u8,
    low: u8,
    high: u8,
    ok: bool,
}

const CLASS_SPACE: u8 = 1;
const CLASS_OPERATOR: u8 = 2;
const CLASS_QUOTE: u8 = 4;
const CLASS_BACKSLASH: u8 = 8;
const CLASS_CONTROL: u8 = 16;

static CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut class = match byte as u8 {
            b' ' | b'\t' | b'\n' | b'\r' => CLASS_SPACE,
            b'{' | b'}' | b'[' | b']' | b':' | b',' => CLASS_OPERATOR,
            b'"' => CLASS_QUOTE,
            b'\\' => CLASS_BACKSLASH,
            _ => 0,
        };
        if byte < 0x20 {
            class |= CLASS_CONTROL;
        }
        table[byte] = class;
        byte += 1;
    }
    table
};

impl Simd for Portable {
    type Block = [u8; BLOCK];
    type Utf8 = Utf8;

    #[inline(always)]
    fn load(self, block: &[u8; BLOCK]) -> Self::Block {
        *block
    }

    #[inline(always)]
    fn classify(self, block: Self::Block) -> Classes {
        let mut classes = Classes { backslash: 0, quote: 0, space: 0, operator: 0, control: 0 };
        for (at, &byte) in block.iter().enumerate() {
            let class = u64::from(CLASS[usize::from(byte)]);
            classes.space |= (class & 1) << at;
            classes.operator |= (class >> 1 & 1) << at;
            classes.quote |= (class >> 2 & 1) << at;
            classes.backslash |= (class >> 3 & 1) << at;
            classes.control |= (class >> 4 & 1) << at;
        }
        classes
    }

    #[inline(always)]
    fn eq(self, block: Self::Block, byte: u8) -> u64 {
        block.iter().enumerate().fold(0, |mask, (at, &found)| mask | u64::from(found == byte) << at)
    }

    #[inline(always)]
    fn between(self, block: Self::Block, low: u8, high: u8) -> u64 {
        let bits = block.iter().enumerate();
        bits.fold(0, |mask, (at, byte)| mask | u64::from((low..=high).contains(byte)) << at)
    }

    #[inline(always)]
    fn prefix_xor(self, mut mask: u64) -> u64 {
        for shift in [1, 2, 4, 8, 16, 32] {
            mask ^= mask << shift;
        }
        mask
    }

    #[inline(always)]
    fn utf8_after(self, before: &[u8; BLOCK]) -> Self::Utf8 {
        let mut state = Utf8 { due: 0, low: 0x80, high: 0xBF, ok: true };
        // The last three bytes hold every sequence that can still be open; start at a byte that begins one.
        let tail = &before[BLOCK - 3..];
        let start = tail.iter().position(|&byte| !(0x80..0xC0).contains(&byte)).unwrap_or(3);
        tail[start..].iter().for_each(|&byte| utf8_byte(&mut state, byte));
        state.ok = true;
        state
    }

    #[inline(always)]
    fn utf8_step(self, state: &mut Self::Utf8, block: Self::Block) {
        let ascii = block.as_chunks::<8>().0.iter().fold(0, |all, &word| all | u64::from_ne_bytes(word));
        if ascii & 0x8080_8080_8080_8080 == 0 {
            state.ok &= state.due == 0;
            state.due = 0;
        } else {
            for &byte in &block {
                utf8_byte(state, byte);
            }
        }
    }

    #[inline(always)]
    fn utf8_ok(self, state: &Self::Utf8) -> bool {
        state.ok
    }

    #[inline(always)]
    fn merge(self, one: Self::Block, other: Self::Block) -> Self::Block {
        core::array::from_fn(|at| one[at] | other[at])
    }

    #[inline(always)]
    fn beyond_ascii(self, block: Self::Block) -> u64 {
        self.between(block, 0x80, 0xFF)
    }

    #[inline(always)]
    fn without_high_bits(self, block: Self::Block) -> Self::Block {
        block.map(|byte| byte & 0x7F)
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

/// One byte of the table in RFC 3629 §4.
#[inline]
fn utf8_byte(state: &mut Utf8, byte: u8) {
    if state.due > 0 {
        state.ok &= (state.low..=state.high).contains(&byte);
        *state = Utf8 { due: state.due - 1, low: 0x80, high: 0xBF, ok: state.ok };
        return;
    }
    let (due, low, high) = match byte {
        0x00..=0x7F => (0, 0x80, 0xBF),
        0xC2..=0xDF => (1, 0x80, 0xBF),
        0xE0 => (2, 0xA0, 0xBF),
        0xE1..=0xEC | 0xEE..=0xEF => (2, 0x80, 0xBF),
        0xED => (2, 0x80, 0x9F),
        0xF0 => (3, 0x90, 0xBF),
        0xF1..=0xF3 => (3, 0x80, 0xBF),
        0xF4 => (3, 0x80, 0x8F),
        _ => {
            state.ok = false;
            return;
        }
    };
    *state = Utf8 { due, low, high, ok: state.ok };
}
