//! Checks whether a slice is a number, by RFC 8259 §6:
//!
//! ```text
//! number = [ "-" ] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ ( "e" / "E" ) [ "-" / "+" ] 1*digit ]
//! ```
//!
//! This check runs for every number of a document. So the most frequent shapes (integers of up to 16 digits, decimals
//! without an exponent) are decided on whole words. Every other shape, valid or not, goes to one plain walk over the
//! grammar, which also finds the invalid byte.

#![allow(unsafe_code, reason = "loads whole words that it has shown to be in the text; what is a number is text")]

use super::machine::is_integer_token;
use super::swar::{Word, digits_end};

/// The facts that the syntax of a number gives: its sign, and whether it is an integer.
// It is a whole word, so that a `Result` with an offset is two words in registers; with a byte it is returned through
// memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class(usize);

impl Class {
    #[cfg(test)]
    const NEGATIVE: usize = 1;
    const POINTED: usize = 2;

    #[inline(always)]
    fn new(negative: bool, integer: bool) -> Self {
        Self(usize::from(negative) | usize::from(!integer) << 1)
    }

    /// The class of a token that was checked before; some class for anything else.
    pub(crate) fn of(token: &[u8]) -> Self {
        Self::new(token.first() == Some(&b'-'), is_integer_token(token))
    }

    /// Whether it has neither a point nor an exponent.
    #[inline]
    pub(crate) fn is_integer(self) -> bool {
        self.0 & Self::POINTED == 0
    }

    /// Whether it begins with a minus, even if it is `-0`.
    #[inline]
    #[cfg(test)]
    pub(crate) fn is_negative(self) -> bool {
        self.0 & Self::NEGATIVE != 0
    }
}

/// Whether the whole of `token` is one number.
///
/// # Errors
///
/// The offset in `token` of the first byte at which it can no longer become a number, whatever follows: its length, if
/// it ends too early.
#[inline]
pub(crate) fn check(token: &[u8]) -> Result<Class, usize> {
    if token.len() > Word::LEN {
        return check_long(token);
    }
    let negative = token.first() == Some(&b'-');
    let digits = &token[usize::from(negative)..];
    if digits.is_empty() {
        return Err(token.len());
    }
    match short(Word::load_head(digits), digits.len()) {
        Some(integer) => Ok(Class::new(negative, integer)),
        None => walk(token),
    }
}

/// [`check`] for `text[start..end]`; the error is an offset from `start`. Faster for short tokens, which are loaded
/// together with the bytes after them.
///
/// # Panics
///
/// If `start..end` is not a range in `text`.
#[inline]
pub(crate) fn check_at(text: &[u8], start: usize, end: usize) -> Result<Class, usize> {
    // There must be room for a sign and a word. Too little room, and invalid ranges, go the slow way.
    if start >= end || end > text.len() || text.len() - start < 1 + Word::LEN {
        return check_in_little_room(text, start, end);
    }
    let negative = text[start] == b'-';
    let first = start + usize::from(negative);
    let len = end - first;
    // SAFETY: `first <= start + 1`, and `start + 1 + 8 <= text.len()` was tested.
    let word = unsafe { Word::load_unchecked(text, first) };
    if len.wrapping_sub(1) < Word::LEN {
        return match short(word, len) {
            Some(integer) => Ok(Class::new(negative, integer)),
            None => walk(&text[start..end]),
        };
    }
    // A separate call keeps the short case small enough to be inlined, and frees its registers.
    check_long(&text[start..end])
}

/// `text[start..end]`, if it is a number.
///
/// # Panics
///
/// If `start..end` is not a range in `text`.
#[inline]
pub(crate) fn checked_str(text: &[u8], start: usize, end: usize) -> Option<&str> {
    check_at(text, start, end).ok()?;
    // SAFETY: a number consists of digits, signs, a point and an `e`, all of them ASCII.
    Some(unsafe { crate::kernel::trusted_str(&text[start..end]) })
}

/// [`check`] for more than eight bytes after the sign; also correct for fewer.
#[inline(never)]
fn check_long(token: &[u8]) -> Result<Class, usize> {
    let negative = token.first() == Some(&b'-');
    let digits = &token[usize::from(negative)..];
    match long(digits) {
        Some(integer) => Ok(Class::new(negative, integer)),
        None => walk(token),
    }
}

#[cold]
#[inline(never)]
fn check_in_little_room(text: &[u8], start: usize, end: usize) -> Result<Class, usize> {
    walk(&text[start..end])
}

/// Checks one to eight bytes: `Some(true)` for an integer, `Some(false)` for a decimal, `None` for anything else.
#[inline(always)]
fn short(word: Word, len: usize) -> Option<bool> {
    let digits = word.first(len);
    let nondigits = digits.nondigits();
    if nondigits == 0 {
        return (len == 1 || !word.is_zero(0)).then_some(true);
    }
    let point = nondigits.trailing_zeros() / 8;
    let before = (point as usize + len).wrapping_sub(8);
    // One branch instead of five. The bytes are digits and one point, all ASCII, so the mask is exact.
    let good = nondigits.is_power_of_two()
        & digits.is_point(point)
        & (before > 0)
        & (point < 7)
        & (!word.is_zero(0) | (before == 1));
    good.then_some(false)
}

/// Checks nine to 24 bytes, as [`short`] does.
#[inline(always)]
fn long(digits: &[u8]) -> Option<bool> {
    let end = digits.len();
    // Longer tokens are rare, and `walk` takes digits eight at a time as well.
    if !(Word::LEN + 1..=3 * Word::LEN).contains(&end) {
        return None;
    }
    // SAFETY: there are more than eight bytes; these are the first and the last eight.
    let (head, last) = unsafe { (Word::load_unchecked(digits, 0), Word::load_unchecked(digits, end - Word::LEN)) };
    // After the first eight bytes there must be digits only. Bytes that both words hold are checked with the first
    // word.
    let mut wrong = last.nondigits() >> (8 * (2 * Word::LEN).saturating_sub(end));
    if end > 2 * Word::LEN {
        // SAFETY: there are more than sixteen bytes; these are the second eight.
        wrong |= unsafe { Word::load_unchecked(digits, Word::LEN) }.nondigits();
    }
    if wrong != 0 {
        return None;
    }
    // The first eight bytes must be digits, with at most one point.
    let nondigits = head.nondigits();
    if nondigits == 0 {
        return (!head.is_zero(0)).then_some(true);
    }
    let point = nondigits.trailing_zeros() / 8;
    let good = nondigits.is_power_of_two() && head.is_point(point) && point > 0 && (point == 1 || !head.is_zero(0));
    good.then_some(false)
}

/// Checks the grammar step by step.
#[inline(never)]
fn walk(token: &[u8]) -> Result<Class, usize> {
    let negative = token.first() == Some(&b'-');
    let mut at = usize::from(negative);
    let mut integer = true;
    at = match token.get(at) {
        Some(b'0') => at + 1,
        _ => digits(token, at)?,
    };
    if token.get(at) == Some(&b'.') {
        integer = false;
        at = digits(token, at + 1)?;
    }
    if let Some(b'e' | b'E') = token.get(at) {
        integer = false;
        at += 1;
        if let Some(b'-' | b'+') = token.get(at) {
            at += 1;
        }
        at = digits(token, at)?;
    }
    if at == token.len() { Ok(Class::new(negative, integer)) } else { Err(at) }
}

/// The end of one or more digits.
fn digits(token: &[u8], at: usize) -> Result<usize, usize> {
    let end = digits_end(token, at);
    if end > at { Ok(end) } else { Err(at) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest prefix of any number that `token` begins with, found by trying every state of the grammar.
    fn naive(token: &[u8]) -> Result<(bool, bool), usize> {
        #[derive(Clone, Copy)]
        enum State {
            Start,
            Minus,
            Zero,
            Whole,
            Point,
            Fraction,
            Letter,
            Sign,
            Exponent,
        }
        let mut state = State::Start;
        let mut integer = true;
        for (at, &byte) in token.iter().enumerate() {
            state = match (state, byte) {
                (State::Start, b'-') => State::Minus,
                (State::Start | State::Minus, b'0') => State::Zero,
                (State::Start | State::Minus, b'1'..=b'9') | (State::Whole, b'0'..=b'9') => State::Whole,
                (State::Zero | State::Whole, b'.') => State::Point,
                (State::Point | State::Fraction, b'0'..=b'9') => State::Fraction,
                (State::Zero | State::Whole | State::Fraction, b'e' | b'E') => State::Letter,
                (State::Letter, b'+' | b'-') => State::Sign,
                (State::Letter | State::Sign | State::Exponent, b'0'..=b'9') => State::Exponent,
                _ => return Err(at),
            };
            integer &= matches!(state, State::Start | State::Minus | State::Zero | State::Whole);
        }
        match state {
            State::Zero | State::Whole | State::Fraction | State::Exponent => Ok((token[0] == b'-', integer)),
            _ => Err(token.len()),
        }
    }

    /// Checks the token alone, and among bytes that would change the answer if they were read as part of it.
    fn agrees(token: &[u8]) {
        let expected = naive(token);
        let seen = |class: Class| (class.is_negative(), class.is_integer());
        assert_eq!(check(token).map(seen), expected, "{}", String::from_utf8_lossy(token));
        for around in [b'7', b'.', b' ', b'"', 0xff, b'0', 0] {
            for room in [0, 1, 7, 8, 16] {
                let mut text = vec![around; room];
                text.extend(token);
                text.extend(vec![around; room]);
                let found = check_at(&text, room, room + token.len());
                assert_eq!(found.map(seen), expected, "{}", String::from_utf8_lossy(&text));
            }
        }
    }

    #[test]
    fn every_short_text_is_judged_as_the_grammar_says() {
        const ALPHABET: &[u8] = b"-+.eE019a";
        let len_max = if cfg!(debug_assertions) { 6 } else { 7 };
        for len in 0..=len_max {
            let mut token = vec![0; len];
            for mut code in 0..ALPHABET.len().pow(u32::try_from(len).unwrap()) {
                for byte in &mut token {
                    *byte = ALPHABET[code % ALPHABET.len()];
                    code /= ALPHABET.len();
                }
                let expected = naive(&token);
                let seen = |class: Class| (class.is_negative(), class.is_integer());
                assert_eq!(check(&token).map(seen), expected, "{}", String::from_utf8_lossy(&token));
                // The same after many digits, where other code decides.
                if len <= 4 {
                    for digits in 1..=18 {
                        let mut long = vec![b'4'; digits];
                        long.extend(&token);
                        assert_eq!(check(&long).map(seen), naive(&long), "{}", String::from_utf8_lossy(&long));
                        long.splice(0..0, *b"-0.");
                        assert_eq!(check(&long).map(seen), naive(&long), "{}", String::from_utf8_lossy(&long));
                    }
                }
            }
        }
    }

    #[test]
    fn one_wrong_byte_is_found_at_every_place_of_every_shape() {
        let shapes = ["0", "-0", "12345678", "123456789", "1234567890123456", "12345678901234567890123"];
        let decimals = ["-65.613616999999977", "0.1", "1.5", "1234567.8", "12345678.9", "0.12345678901234567890123"];
        let others = ["-1e5", "1.5E-10", "2e+308", "0e0", "123456789.123456789e-123456789"];
        for shape in [&shapes[..], &decimals, &others].concat() {
            agrees(shape.as_bytes());
            for at in 0..shape.len() {
                agrees(&shape.as_bytes()[..at]);
                agrees(&shape.as_bytes()[at..]);
                for byte in
                    [b'-', b'+', b'.', b'e', b'E', b'0', b'9', b'/', b':', b' ', b'"', 0, 0x7f, 0x80, 0xb0, 0xff]
                {
                    let mut bytes = shape.as_bytes().to_vec();
                    bytes[at] = byte;
                    agrees(&bytes);
                    bytes.insert(at, shape.as_bytes()[at]);
                    agrees(&bytes);
                }
            }
        }
    }

    #[test]
    fn the_error_is_where_no_number_could_go_on() {
        let rows: [(&str, usize); 17] = [
            ("", 0),
            ("-", 1),
            ("+1", 0),
            ("01", 1),
            ("-01", 2),
            ("1.", 2),
            (".5", 0),
            ("1.e5", 2),
            ("1e", 2),
            ("1e+", 3),
            ("1e+-", 3),
            ("1.2.3", 3),
            ("--1", 1),
            ("1a", 1),
            ("123456789a", 9),
            ("1.23456789x1", 10),
            ("012345678901234567", 1),
        ];
        for (token, at) in rows {
            assert_eq!(check(token.as_bytes()), Err(at), "{token}");
        }
    }
}
