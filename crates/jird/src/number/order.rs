//! Keys of numbers: bytes that are ordered as the numbers are.
//!
//! A key is one byte for the sign, then the scale of the number (its size is `0.DIGITS × 10^scale`), then its digits,
//! one byte each, and an end. All bytes after the first are inverted if the number is negative. No key is the
//! beginning of another one.

use super::parts::{Parts, Significant};

/// The sign of a number, as the first byte of its key.
const NEGATIVE: u8 = 1;
const ZERO: u8 = 2;
const POSITIVE: u8 = 3;

/// Ends the digits; less than each of them.
const END: u8 = 0;

/// Scales of up to this many decimal digits are computed in an `i128`. Longer ones stay text.
const EXPONENT_MAX: usize = 30;

/// The first byte of a scale that is not negative is this plus the number of its bytes. A negative scale has the same
/// bytes, inverted.
const SCALE: u8 = 0x80;

/// In the place of the number of bytes: the scale has more than [`EXPONENT_MAX`] decimal digits.
const LONG: u8 = 0x7f;

/// Appends the key of a checked token. Takes time and room linear in the length of the token.
pub(super) fn order_key(token: &[u8], out: &mut Vec<u8>) {
    let parts = Parts::of(token);
    let digits = Significant::of(&parts);
    if digits.len() == 0 {
        return out.push(ZERO);
    }
    out.push(if parts.negative { NEGATIVE } else { POSITIVE });
    let start = out.len();
    if parts.exponent.len() <= EXPONENT_MAX {
        let size = parts.exponent.iter().fold(0, |size, digit| size * 10 + i128::from(digit - b'0'));
        short_scale(i128::from(digits.point) + if parts.exponent_negative { -size } else { size }, out);
    } else {
        long_scale(&parts, digits.point, out);
    }
    out.extend(digits.first(usize::MAX));
    out.push(END);
    if parts.negative {
        invert(&mut out[start..]);
    }
}

fn short_scale(scale: i128, out: &mut Vec<u8>) {
    const LONGEST: i128 = 10_i128.pow(EXPONENT_MAX as u32);
    if scale.abs() >= LONGEST {
        return scale_of_digits(scale.abs().to_string().as_bytes(), scale < 0, out);
    }
    let start = out.len();
    let bytes = scale.unsigned_abs().to_be_bytes();
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    out.push(SCALE + (bytes.len() - zeros) as u8);
    out.extend_from_slice(&bytes[zeros..]);
    if scale < 0 {
        invert(&mut out[start..]);
    }
}

/// The scale of a number whose exponent has more than 30 digits. The place of the point is below 10^19, so it changes
/// neither the sign of the exponent nor, by more than one, its length.
fn long_scale(parts: &Parts<'_>, point: i64, out: &mut Vec<u8>) {
    let mut digits = parts.exponent.to_vec();
    // What is to be added to the size of the exponent, and then carried, from the last digit to the first.
    let mut carry = i128::from(if parts.exponent_negative { -point } else { point });
    for digit in digits.iter_mut().rev() {
        let sum = i128::from(*digit - b'0') + carry;
        *digit = b'0' + sum.rem_euclid(10) as u8;
        carry = sum.div_euclid(10);
    }
    if carry > 0 {
        digits.insert(0, b'0' + carry as u8);
    }
    scale_of_digits(super::parts::without_leading_zeros(&digits), parts.exponent_negative, out);
}

fn scale_of_digits(digits: &[u8], negative: bool, out: &mut Vec<u8>) {
    let start = out.len();
    // Thirty digits are the most that a short scale has.
    if digits.len() <= EXPONENT_MAX {
        let size = digits.iter().fold(0, |size, digit| size * 10 + i128::from(digit - b'0'));
        return short_scale(if negative { -size } else { size }, out);
    }
    out.push(SCALE + LONG);
    out.extend_from_slice(&(digits.len() as u64).to_be_bytes());
    out.extend_from_slice(digits);
    if negative {
        invert(&mut out[start..]);
    }
}

fn invert(bytes: &mut [u8]) {
    bytes.iter_mut().for_each(|byte| *byte = !*byte);
}

#[cfg(test)]
mod tests {
    use crate::Number;

    fn key(text: &str) -> Vec<u8> {
        let mut key = Vec::new();
        Number::new(text).unwrap().order_key(&mut key);
        key
    }

    #[test]
    fn keys_are_ordered_as_numbers_are() {
        let nines = "9".repeat(30);
        let long = format!("1{}", "0".repeat(31));
        let mut texts: Vec<String> = [
            "0",
            "-0",
            "0.0",
            "0e99",
            "1",
            "1.0",
            "10e-1",
            "-1",
            "-1.5",
            "1.5",
            "15e-1",
            "2",
            "10",
            "9.99",
            "100",
            "99",
            "1e400",
            "10e399",
            "1e-400",
            "0.1e-399",
            "-1e400",
            "-1e-400",
            "123456789012345678901234567890",
            "123456789012345678901234567891",
            "0.1",
            "0.10000000000000000001",
            "9007199254740993",
            "9007199254740992",
            "9007199254740992.5",
            "1e18",
            "1e19",
            "256e0",
            "255e0",
            "1e255",
            "1e256",
            "1e-255",
            "1e-256",
            "-1e-256",
            "1e65535",
            "1e65536",
            "1e-1",
            "1e-2",
            "12",
            "120",
            "0.012",
        ]
        .map(str::to_owned)
        .to_vec();
        for exponent in [&nines, &long] {
            for mantissa in ["1", "10", "0.1", "100", "-1", "-10", "9.5", "0.001"] {
                texts.extend([format!("{mantissa}e{exponent}"), format!("{mantissa}e-{exponent}")]);
            }
        }
        // Neighbours of the border between short and long scales.
        for mantissa in ["1", "10", "0.1", "0.01", "1000"] {
            texts.extend([format!("{mantissa}e1{}", "0".repeat(30)), format!("{mantissa}e-1{}", "0".repeat(30))]);
        }
        for left in &texts {
            for right in &texts {
                let order = Number::new(left).unwrap().compare(Number::new(right).unwrap());
                assert_eq!(key(left).cmp(&key(right)), order, "{left} {right}");
                assert_eq!(key(left).starts_with(&key(right)), order.is_eq(), "{left} {right}");
            }
        }
    }
}
