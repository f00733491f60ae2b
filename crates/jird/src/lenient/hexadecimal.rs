//! Hexadecimal digits to decimal digits, exactly.

/// The most digits of a hexadecimal integer, without leading zeros. The cost grows with their square, so there must be a
/// limit; at this one, a digit costs as much as some 30 bytes of other text.
pub const HEX_DIGITS_MAX: usize = 1024;

/// A limb is less than this.
const BASE: u64 = 1_000_000_000;

/// Appends the integer with these hexadecimal digits, in decimal. `false`, and nothing is appended, if it has more than
/// [`HEX_DIGITS_MAX`] digits.
pub(super) fn to_decimal(digits: &[u8], out: &mut Vec<u8>) -> bool {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    let digits = &digits[zeros..];
    if digits.len() > HEX_DIGITS_MAX {
        return false;
    }
    if digits.len() <= 16 {
        let value: u64 = digits.iter().fold(0, |value, &digit| value << 4 | u64::from(value_of(digit)));
        out.extend_from_slice(value.to_string().as_bytes());
        return true;
    }
    // The lowest limb first.
    let mut limbs: Vec<u64> = vec![0];
    for chunk in digits.chunks(8) {
        let mut carry = chunk.iter().fold(0, |value, &digit| value << 4 | u64::from(value_of(digit)));
        for limb in &mut limbs {
            // Less than 10^9 · 2^32 + 2^33.
            let value = (*limb << (4 * chunk.len())) + carry;
            (*limb, carry) = (value % BASE, value / BASE);
        }
        while carry > 0 {
            limbs.push(carry % BASE);
            carry /= BASE;
        }
    }
    let mut limbs = limbs.iter().rev();
    out.extend_from_slice(limbs.next().map(u64::to_string).unwrap_or_default().as_bytes());
    for limb in limbs {
        out.extend_from_slice(format!("{limb:09}").as_bytes());
    }
    true
}

/// The value of a hexadecimal digit; 0 for any other byte.
pub(super) fn value_of(digit: u8) -> u8 {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(digits: &str) -> Option<String> {
        let mut out = Vec::new();
        to_decimal(digits.as_bytes(), &mut out).then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn integers_up_to_128_bits_are_those_of_the_library() {
        let mut value: u128 = 1;
        for step in 0..20_000_u32 {
            // A linear congruential generator, cut to each length.
            value = value.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(12_345);
            let cut = value >> (step % 128);
            assert_eq!(decimal(&format!("{cut:x}")), Some(cut.to_string()));
            assert_eq!(decimal(&format!("000{cut:X}")), Some(cut.to_string()));
        }
    }

    #[test]
    fn longer_ones_are_exact_up_to_the_limit() {
        // 16^n = 2^4n, by doubling.
        let mut double = vec![1_u8];
        for _ in 0..4 * (HEX_DIGITS_MAX - 1) {
            let mut carry = 0;
            for digit in &mut double {
                let value = *digit * 2 + carry;
                (*digit, carry) = (value % 10, value / 10);
            }
            if carry > 0 {
                double.push(carry);
            }
        }
        let wanted: String = double.iter().rev().map(|digit| char::from(b'0' + digit)).collect();
        let longest = format!("1{}", "0".repeat(HEX_DIGITS_MAX - 1));
        assert_eq!(decimal(&longest), Some(wanted));
        assert_eq!(decimal(&format!("00{longest}")).map(|text| text.len()), Some(double.len()));
        assert_eq!(decimal(&format!("{longest}0")), None);
        assert_eq!(decimal(&"0".repeat(100_000)), Some("0".into()));
    }
}
