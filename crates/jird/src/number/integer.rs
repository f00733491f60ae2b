//! Checked tokens to machine integers.
//!
//! `None` means that the token is not an integer by its syntax (`1.0` and `1e2` are not), or is out of the type's
//! range. `-0` is 0.

use super::plain::plain;
use super::swar::Word;
use super::token::Token;

/// The integer as `i64`.
#[inline]
pub(crate) fn to_i64(token: &[u8]) -> Option<i64> {
    signed(Token::alone(token))
}

/// [`to_i64`] of `text[start..end]`.
#[inline]
pub(crate) fn to_i64_at(text: &[u8], start: usize, end: usize) -> Option<i64> {
    signed(Token::at(text, start, end))
}

/// The integer as `u64`.
#[inline]
pub(crate) fn to_u64(token: &[u8]) -> Option<u64> {
    unsigned(Token::alone(token))
}

/// [`to_u64`] of `text[start..end]`.
#[inline]
pub(crate) fn to_u64_at(text: &[u8], start: usize, end: usize) -> Option<u64> {
    unsigned(Token::at(text, start, end))
}

/// The value of `text[start..end]`, which begins with a digit and was not checked, if it is an integer of up to 16
/// digits. `None` decides nothing; it is also the result if the text has fewer than 16 bytes from `start` on.
#[cfg(feature = "serde")]
#[inline(always)]
pub(crate) fn to_small_at(text: &[u8], start: usize, end: usize) -> Option<u64> {
    let len = end.wrapping_sub(start);
    let bytes: &[u8; 2 * Word::LEN] = text.get(start..)?.first_chunk()?;
    let head = Word::load(bytes, 0);
    if len.wrapping_sub(1) < Word::LEN {
        let word = head.first(len);
        return (word.nondigits() == 0 && (len == 1 || !head.is_zero(0))).then(|| word.value());
    }
    if len > 2 * Word::LEN {
        return None;
    }
    let tail = Word::load(bytes, Word::LEN).first(len.wrapping_sub(Word::LEN));
    let good = head.nondigits() | tail.nondigits() == 0 && !head.is_zero(0);
    good.then(|| head.value() * super::plain::TENS[len % 32 - Word::LEN] + tail.value())
}

/// The value of `text`, which was not checked, if it is an integer of one to eight digits. `None` decides nothing.
#[inline]
pub(crate) fn to_short(text: &[u8]) -> Option<u64> {
    let len = text.len();
    if len.wrapping_sub(1) >= Word::LEN {
        return None;
    }
    let word = Word::load_head(text);
    let digits = word.first(len);
    (digits.nondigits() == 0 && (len == 1 || !word.is_zero(0))).then(|| digits.value())
}

#[inline(always)]
fn signed(token: Token<'_>) -> Option<i64> {
    let (negative, size) = split(token)?;
    if negative { 0_i64.checked_sub_unsigned(size) } else { i64::try_from(size).ok() }
}

#[inline(always)]
fn unsigned(token: Token<'_>) -> Option<u64> {
    let (negative, size) = split(token)?;
    (!negative || size == 0).then_some(size)
}

/// The integer as `i128`.
pub(crate) fn to_i128(token: &[u8]) -> Option<i128> {
    let (negative, size) = split_wide(token)?;
    if negative { 0_i128.checked_sub_unsigned(size) } else { i128::try_from(size).ok() }
}

/// The integer as `u128`.
pub(crate) fn to_u128(token: &[u8]) -> Option<u128> {
    let (negative, size) = split_wide(token)?;
    (!negative || size == 0).then_some(size)
}

/// Sign and size, if the token has only digits and `u64` holds them.
#[inline(always)]
fn split(token: Token<'_>) -> Option<(bool, u64)> {
    match plain(token) {
        Some(number) => number.integer.then_some((number.negative, number.digits)),
        None => split_any(token.bytes()),
    }
}

/// [`split`] for 20 digits, and for tokens that are not such integers.
#[inline(never)]
fn split_any(token: &[u8]) -> Option<(bool, u64)> {
    let (negative, size) = split_wide(token)?;
    Some((negative, u64::try_from(size).ok()?))
}

/// As [`split`], for `u128`: eight digits at a time from the end.
fn split_wide(token: &[u8]) -> Option<(bool, u128)> {
    let negative = token.first() == Some(&b'-');
    let digits = &token[usize::from(negative)..];
    // A u128 has at most 39 digits, and a checked token has no leading zeros.
    if digits.is_empty() || digits.len() > 39 {
        return None;
    }
    let (head, blocks) = digits.as_rchunks::<8>();
    let mut size = 0_u128;
    if !head.is_empty() {
        let word = Word::load_head(head).first(head.len());
        if word.nondigits() != 0 {
            return None;
        }
        size = u128::from(word.value());
    }
    for block in blocks {
        let word = Word::load(block, 0);
        if word.nondigits() != 0 {
            return None;
        }
        size = size.checked_mul(100_000_000)?.checked_add(u128::from(word.value()))?;
    }
    Some((negative, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with `std`, whose parser accepts a superset (`+1`, `007`) of checked tokens.
    fn agrees(text: &str) {
        let token = text.as_bytes();
        let zero = text == "-0";
        assert_eq!(to_i64(token), text.parse().ok(), "{text}");
        let among = format!("7{text}7890123456");
        assert_eq!(to_i64_at(among.as_bytes(), 1, 1 + text.len()), to_i64(token), "{text}");
        assert_eq!(to_u64_at(among.as_bytes(), 1, 1 + text.len()), to_u64(token), "{text}");
        assert_eq!(to_u64(token), if zero { Some(0) } else { text.parse().ok() }, "{text}");
        assert_eq!(to_i128(token), text.parse().ok(), "{text}");
        assert_eq!(to_u128(token), if zero { Some(0) } else { text.parse().ok() }, "{text}");
    }

    #[test]
    fn integers_of_every_length_have_their_value() {
        let digits = "9182736450918273645091827364509182736450918273645";
        for len in 1..digits.len() {
            agrees(&digits[..len]);
            agrees(&format!("-{}", &digits[..len]));
            agrees(&"9".repeat(len));
            agrees(&format!("-1{}", "0".repeat(len)));
        }
        agrees("0");
        agrees("-0");
    }

    #[test]
    fn integers_at_the_limits_fit_and_those_beyond_do_not() {
        for bits in [63, 64, 127, 128] {
            let power: u128 = if bits == 128 { u128::MAX } else { 1 << bits };
            for text in [power.to_string(), (power - 1).to_string(), (power - 2).to_string()] {
                for last in 0..10 {
                    let text = format!("{}{last}", &text[..text.len() - 1]);
                    agrees(&text);
                    agrees(&format!("-{text}"));
                }
            }
        }
    }

    #[test]
    fn what_is_no_integer_by_syntax_is_none() {
        for text in ["1.0", "-1.5", "1e2", "12345678.0", "123456789.0", "1234567890123456.0", "12345678901234567e1"] {
            agrees(text);
            assert_eq!(to_i64(text.as_bytes()), None);
        }
    }

    #[test]
    fn garbage_is_none_and_no_panic() {
        for len in 0..50 {
            for byte in [0, b'-', b'.', b'e', 0xff] {
                let token = vec![byte; len];
                assert_eq!(to_i64(&token), None);
                assert_eq!(to_u64(&token), None);
                assert_eq!(to_i128(&token), None);
                assert_eq!(to_u128(&token), None);
            }
        }
    }
}
