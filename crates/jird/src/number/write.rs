//! Integers → digits.
//!
//! Eight digits are taken apart at once, in the lanes of a word: into four, two and one by multiplications with rounded
//! reciprocals. How many there are is known from the highest bit, and does not wait for them.

use crate::kernel::{SIXTEEN, sixteen_digits};

/// "0" in every byte.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// What eight digits hold.
const EIGHT: u64 = 100_000_000;

/// The digits of `value`, below 10^8, as text: the first lowest, with leading zeros.
#[inline(always)]
pub(crate) fn eight_digits(value: u64) -> u64 {
    lanes(value) | ZEROS
}

/// An integer of up to sixteen digits as text, the first lowest, and how many there are.
#[inline(always)]
pub(crate) fn digits(value: u64) -> (u128, usize) {
    if value < EIGHT {
        let count = count(value);
        return ((eight_digits(value) >> (64 - 8 * count)).into(), count);
    }
    let (digits, nonzero) = sixteen_digits(value);
    let pad = nonzero.trailing_zeros() as usize;
    (digits >> (8 * pad), 16 - pad)
}

/// A digit in each byte, the first lowest.
#[inline(always)]
fn lanes(value: u64) -> u64 {
    debug_assert!(value < EIGHT);
    // 2^40 / 10^4, 2^19 / 100 and 2^10 / 10 rounded up: exact for as many digits as are divided.
    let high = value * 109_951_163 >> 40;
    let fours = high | (value - high * 10_000) << 32;
    let high = (fours * 5_243 >> 19) & 0x7f_0000_007f;
    let twos = high | (fours - high * 100) << 16;
    let high = (twos * 103 >> 10) & 0x000f_000f_000f_000f;
    high | (twos - high * 10) << 8
}

/// How many digits `value`, below 10^8, has; 1 for 0.
#[inline(always)]
fn count(value: u64) -> usize {
    // Between two powers of two is at most one power of ten: what is added carries into the upper half from there on.
    (value + COUNTS[(value | 1).ilog2() as usize & 31] >> 32) as usize
}

/// For the numbers whose highest bit is `index`: in the upper half their digits at most, less what the lower half makes good.
static COUNTS: [u64; 32] = {
    let mut counts = [0; 32];
    let mut bit = 0;
    while bit < 32 {
        let digits = (1_u64 << bit).ilog10() as u64 + 1;
        let next = 10_u64.pow(digits as u32);
        // From `next` on there is one digit more.
        counts[bit] = if next < 1 << (bit + 1) { ((digits + 1) << 32) - next } else { digits << 32 };
        bit += 1;
    }
    counts
};

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: u64) {
        let (word, count) = digits(value);
        assert_eq!(&word.to_le_bytes()[..count], value.to_string().as_bytes());
        if value >= EIGHT {
            return;
        }
        assert_eq!(eight_digits(value).to_le_bytes(), *format!("{value:08}").as_bytes());
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
