//! The check of UTF-8, written once for all instruction sets that have vectors.
//!
//! Keiser & Lemire, "Validating UTF-8 In Less Than One Instruction Per Byte" (2021), §6. Three tables say which errors a pair of
//! bytes can be part of: by the first byte's high nibble, by its low nibble, and by the second byte's high nibble. An error is
//! real where all three agree.

use super::simd::BLOCK;

/// The operations on a register that the check needs.
pub(super) trait Vectors: Copy {
    type Register: Copy;

    /// The same byte everywhere.
    fn splat(self, byte: u8) -> Self::Register;
    /// A table of 16 bytes, in each 16 bytes of the register.
    fn table(self, bytes: &[u8; 16]) -> Self::Register;
    /// The last bytes of a block.
    fn end_of(self, block: &[u8; BLOCK]) -> Self::Register;
    fn and(self, one: Self::Register, other: Self::Register) -> Self::Register;
    fn or(self, one: Self::Register, other: Self::Register) -> Self::Register;
    fn xor(self, one: Self::Register, other: Self::Register) -> Self::Register;
    /// `from - less` of each byte, and not below zero.
    fn minus(self, from: Self::Register, less: Self::Register) -> Self::Register;
    fn high_nibbles(self, bytes: Self::Register) -> Self::Register;
    /// Looks up each byte, which is below 16, in a [`table`](Self::table).
    fn look_up(self, table: Self::Register, nibbles: Self::Register) -> Self::Register;
    /// The bytes one, two and three places before each byte; `before` is the register before.
    fn preceding(self, bytes: Self::Register, before: Self::Register) -> [Self::Register; 3];
    fn is_zero(self, bytes: Self::Register) -> bool;
}

/// Checks the registers of a block that follows the block `before`, and adds to `error` what is not zero where a byte is
/// wrong. A sequence that the block leaves incomplete is judged with the next block.
#[inline(always)]
pub(super) fn check<V: Vectors, const N: usize>(
    simd: V,
    error: &mut V::Register,
    before: &[u8; BLOCK],
    block: [V::Register; N],
) {
    let mut before = simd.end_of(before);
    for register in block {
        *error = simd.or(*error, misplaced(simd, register, before));
        before = register;
    }
}

/// Non-zero where a byte cannot follow those before it. The tables find all that a pair of bytes shows, and mark every pair of
/// continuations; where a third or fourth byte of a sequence is due, exactly that mark must be there.
#[inline(always)]
fn misplaced<V: Vectors>(simd: V, bytes: V::Register, before: V::Register) -> V::Register {
    let [high_of_before, low_of_before, high_of_this] = &UTF8_TABLES;
    let [one, two, three] = simd.preceding(bytes, before);
    let pairs = simd.and(
        simd.and(
            simd.look_up(simd.table(high_of_before), simd.high_nibbles(one)),
            simd.look_up(simd.table(low_of_before), simd.and(one, simd.splat(0x0F))),
        ),
        simd.look_up(simd.table(high_of_this), simd.high_nibbles(bytes)),
    );
    let third = simd.minus(two, simd.splat(0xE0 - 0x80));
    let fourth = simd.minus(three, simd.splat(0xF0 - 0x80));
    let due = simd.and(simd.or(third, fourth), simd.splat(0x80));
    simd.xor(due, pairs)
}

const TOO_SHORT: u8 = 1 << 0;
const TOO_LONG: u8 = 1 << 1;
const OVERLONG_3: u8 = 1 << 2;
const SURROGATE: u8 = 1 << 4;
const OVERLONG_2: u8 = 1 << 5;
const TWO_CONTINUATIONS: u8 = 1 << 7;
const TOO_LARGE: u8 = 1 << 3;
const TOO_LARGE_1000: u8 = 1 << 6;
const OVERLONG_4: u8 = 1 << 6;
const CARRY: u8 = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS;

/// By the first byte's high nibble, its low nibble, the second byte's high nibble.
const UTF8_TABLES: [[u8; 16]; 3] = [
    [
        TOO_LONG,
        TOO_LONG,
        TOO_LONG,
        TOO_LONG,
        TOO_LONG,
        TOO_LONG,
        TOO_LONG,
        TOO_LONG,
        TWO_CONTINUATIONS,
        TWO_CONTINUATIONS,
        TWO_CONTINUATIONS,
        TWO_CONTINUATIONS,
        TOO_SHORT | OVERLONG_2,
        TOO_SHORT,
        TOO_SHORT | OVERLONG_3 | SURROGATE,
        TOO_SHORT | TOO_LARGE | TOO_LARGE_1000 | OVERLONG_4,
    ],
    [
        CARRY | OVERLONG_3 | OVERLONG_2 | OVERLONG_4,
        CARRY | OVERLONG_2,
        CARRY,
        CARRY,
        CARRY | TOO_LARGE,
        CARRY | TOO_LARGE | TOO_LARGE_1000,
        CARRY | TOO_LARGE | TOO_LARGE_1000,
        CARRY | TOO_LARGE | TOO_LARGE_1000,
        CARRY | TOO_LARGE | TOO_LARGE_1000,
        CARRY | TOO_LARGE | TOO_LARGE_1000,
        CARRY | TOO_LARGE | TOO_LARGE_1000,
        CARRY | TOO_LARGE | TOO_LARGE_1000,
        CARRY | TOO_LARGE | TOO_LARGE_1000,
        CARRY | TOO_LARGE | TOO_LARGE_1000 | SURROGATE,
        CARRY | TOO_LARGE | TOO_LARGE_1000,
        CARRY | TOO_LARGE | TOO_LARGE_1000,
    ],
    [
        TOO_SHORT,
        TOO_SHORT,
        TOO_SHORT,
        TOO_SHORT,
        TOO_SHORT,
        TOO_SHORT,
        TOO_SHORT,
        TOO_SHORT,
        TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | OVERLONG_3 | TOO_LARGE_1000 | OVERLONG_4,
        TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | OVERLONG_3 | TOO_LARGE,
        TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | SURROGATE | TOO_LARGE,
        TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | SURROGATE | TOO_LARGE,
        TOO_SHORT,
        TOO_SHORT,
        TOO_SHORT,
        TOO_SHORT,
    ],
];
