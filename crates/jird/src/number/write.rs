//! Integers → digits.
//!
//! The number of digits of a short number is computed from its highest bit, independently of the digits themselves.

use crate::kernel::{EIGHT, eight_digits, sixteen_digits};

/// An integer of up to sixteen digits as text, the first digit in the lowest byte, and the number of digits.
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
