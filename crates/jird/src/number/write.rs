//! Integers → digits.
//!
//! The number of digits of a short number is computed from its highest bit, independently of the digits themselves.

use crate::kernel::{EIGHT, eight_digits, sixteen_digits};

/// An integer of up to sixteen digits as text, the first digit in the lowest byte, and the number of digits.
#[inline(always)]
pub(crate) fn digits(value: u64) -> (u128, usize) {
    if value < EIGHT {
        let (digits, count) = short_digits(value);
        return (digits.into(), count);
    }
    let (digits, nonzero) = sixteen_digits(value);
    let pad = nonzero.trailing_zeros() as usize;
    (digits >> (8 * pad), 16 - pad)
}

/// The same of an integer of up to eight digits.
#[inline(always)]
pub(crate) fn short_digits(value: u64) -> (u64, usize) {
    let count = count(value);
    (eight_digits(value) >> (64 - 8 * count), count)
}

/// The digits of an integer below 10,000, and how many there are. Most integers are so small, and even where their lengths
/// cannot be predicted the branches cost less than a way without them.
#[inline(always)]
pub(crate) fn small_digits(value: u32) -> ([u8; 4], usize) {
    debug_assert!(value < 10_000);
    if value < 10 {
        return ([b'0' + value as u8, 0, 0, 0], 1);
    }
    let [c, d] = two_digits((value % 100) as u8);
    if value < 100 {
        return ([c, d, 0, 0], 2);
    }
    let [a, b] = two_digits((value / 100) as u8);
    let is_short = usize::from(value < 1000);
    // Three digits begin at the second one.
    ((u32::from_le_bytes([a, b, c, d]) >> (8 * is_short)).to_le_bytes(), 4 - is_short)
}

/// The last two digits of a number.
#[inline(always)]
pub fn two_digits(value: u8) -> [u8; 2] {
    /// For each byte, so that no index is checked.
    static PAIRS: [[u8; 2]; 256] = {
        let mut pairs = [[0; 2]; 256];
        let mut value = 0;
        while value < 256 {
            pairs[value] = [b'0' + (value / 10 % 10) as u8, b'0' + (value % 10) as u8];
            value += 1;
        }
        pairs
    };
    PAIRS[usize::from(value)]
}

/// The number of digits of `value`, which is below 10^8; 1 for 0.
#[inline(always)]
fn count(value: u64) -> usize {
    // Between two neighbouring powers of two there is at most one power of ten. From that power on, the addition
    // carries into the upper half.
    ((value + COUNTS[(value | 1).ilog2() as usize & 31]) >> 32) as usize
}

/// For the numbers whose highest bit is `index`: an entry plus the number has the number of digits in its upper half.
static COUNTS: [u64; 32] = {
    let mut counts = [0; 32];
    let mut bit = 0;
    while bit < 32 {
        let digits = (1_u64 << bit).ilog10() as u64 + 1;
        let next = 10_u64.pow(digits as u32);
        // Numbers from `next` on have one digit more.
        counts[bit] = if next < 1 << (bit + 1) { ((digits + 1) << 32) - next } else { digits << 32 };
        bit += 1;
    }
    counts
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::SIXTEEN;

    fn check(value: u64) {
        let (word, count) = digits(value);
        assert_eq!(&word.to_le_bytes()[..count], value.to_string().as_bytes());
        if value < 10_000 {
            let (digits, count) = small_digits(value as u32);
            assert_eq!(&digits[..count], value.to_string().as_bytes());
        }
    }

    #[test]
    fn two_digits_are_the_last_ones() {
        (0..=255_u8).for_each(|value| assert_eq!(two_digits(value)[..], format!("{:02}", value % 100).into_bytes()));
    }

    #[test]
    fn numbers_of_up_to_sixteen_digits_are_written() {
        (0..200_000).for_each(check);
        (0..EIGHT).step_by(997).for_each(check);
        for power in 1..=16 {
            let ten = 10_u64.pow(power);
            (ten - 10..(ten + 10).min(SIXTEEN)).for_each(check);
        }
    }
}
