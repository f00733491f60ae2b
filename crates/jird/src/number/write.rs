//! Integers → digits.
//!
//! How many digits a short number has is known from its highest bit, and does not wait for them.

use crate::kernel::{EIGHT, eight_digits, sixteen_digits};

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

/// How many digits `value`, below 10^8, has; 1 for 0.
#[inline(always)]
fn count(value: u64) -> usize {
    // Between two powers of two is at most one power of ten: what is added carries into the upper half from there on.
    ((value + COUNTS[(value | 1).ilog2() as usize & 31]) >> 32) as usize
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
