//! Powers of five to 128 bits, for every power of ten that a double may need.
//!
//! Entry `q` is the leading 128 bits of 5^q. It is truncated for `q >= 0` and for `q < -27`, and one more than that
//! for `-27 <= q < 0`: there the reciprocal is never exact, and adding one keeps the products above the exact value
//! (Lemire, "Number Parsing at a Gigabyte per Second", Software: Practice and Experience 51(8), 2021).

/// The smallest power of ten with which a 64-bit integer can give a nonzero double.
pub(super) const SMALLEST: i64 = -342;
/// The largest power of ten with which a 64-bit integer can give a finite double.
pub(super) const LARGEST: i64 = 308;

const LEN: usize = (LARGEST - SMALLEST + 1) as usize;

/// The high and low half of 5^q at `q - SMALLEST`. 10 KiB, computed by the compiler.
static POWERS: [(u64, u64); LEN] = powers();

/// The high and low half of 5^`power`, for a power within the limits.
#[inline(always)]
pub(super) const fn of_five(power: i64) -> (u64, u64) {
    POWERS[(power - SMALLEST) as usize]
}

/// The number of 64-bit limbs that hold 5^308 (716 bits), and 2^(64·15-1), which is still 165 bits long after division
/// by 5^342.
const LIMBS: usize = 15;

const fn powers() -> [(u64, u64); LEN] {
    let zero = (-SMALLEST) as usize;
    let mut table = [(0, 0); LEN];
    let mut number = [0_u64; LIMBS];
    number[0] = 1;
    let mut at = zero;
    while at < LEN {
        let top = leading_bits(&number);
        table[at] = ((top >> 64) as u64, top as u64);
        multiply_by_five(&mut number);
        at += 1;
    }
    number = [0; LIMBS];
    number[LIMBS - 1] = 1 << 63;
    at = zero;
    while at > 0 {
        at -= 1;
        divide_by_five(&mut number);
        let top = leading_bits(&number) + (zero - at <= 27) as u128;
        table[at] = ((top >> 64) as u64, top as u64);
    }
    table
}

const fn multiply_by_five(number: &mut [u64; LIMBS]) {
    let mut carry = 0_u128;
    let mut limb = 0;
    while limb < LIMBS {
        let product = number[limb] as u128 * 5 + carry;
        number[limb] = product as u64;
        carry = product >> 64;
        limb += 1;
    }
}

/// Rounds down. The sequence of divisions rounds down as a whole, because rounding down twice is the same as rounding
/// down once.
const fn divide_by_five(number: &mut [u64; LIMBS]) {
    let mut rest = 0_u128;
    let mut limb = LIMBS;
    while limb > 0 {
        limb -= 1;
        let dividend = rest << 64 | number[limb] as u128;
        number[limb] = (dividend / 5) as u64;
        rest = dividend % 5;
    }
}

/// The 128 bits from the highest set bit on, filled up with zeros.
const fn leading_bits(number: &[u64; LIMBS]) -> u128 {
    let mut top = LIMBS - 1;
    while number[top] == 0 {
        top -= 1;
    }
    let high = number[top];
    let middle = if top >= 1 { number[top - 1] } else { 0 };
    let low = if top >= 2 { number[top - 2] } else { 0 };
    let shift = high.leading_zeros();
    let bits = (high as u128) << 64 | middle as u128;
    if shift == 0 { bits } else { bits << shift | (low >> (64 - shift)) as u128 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_at_the_ends_and_around_the_rounding_are_as_published() {
        assert_eq!(of_five(-342), (0xeef4_53d6_923b_d65a, 0x113f_aa29_06a1_3b3f));
        assert_eq!(of_five(-28), (0xfd87_b5f2_8300_ca0d, 0x8bca_9d6e_1888_53fc));
        assert_eq!(of_five(-27), (0x9e74_d1b7_91e0_7e48, 0x775e_a264_cf55_347e));
        assert_eq!(of_five(-1), (0xcccc_cccc_cccc_cccc, 0xcccc_cccc_cccc_cccd));
        assert_eq!(of_five(0), (0x8000_0000_0000_0000, 0));
        assert_eq!(of_five(1), (0xa000_0000_0000_0000, 0));
        assert_eq!(of_five(308), (0x8e67_9c2f_5e44_ff8f, 0x570f_09ea_a7ea_7648));
    }
}
