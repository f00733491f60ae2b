//! Numbers: digits stay as they are, except those of hexadecimal integers.

use super::error::Reason;
use super::front::{Flow, Front, Last};
use super::hexadecimal::to_decimal;
use super::options::Allow;
use core::ops::ControlFlow;

/// The parts of a decimal number without its sign.
struct Decimal<'t> {
    whole: &'t [u8],
    /// The digits after the point, if there is one.
    fraction: Option<&'t [u8]>,
    exponent: &'t [u8],
}

impl Front<'_> {
    pub(super) fn number(&mut self) -> Flow {
        let (start, text) = (self.at, self.text);
        let sign = usize::from(matches!(text[start], b'-' | b'+'));
        let rest = &text[start + sign..];
        if rest.first().is_some_and(u8::is_ascii_alphabetic) {
            return self.signed_word(start);
        }
        let hexadecimal = hexadecimal(rest);
        let decimal = Decimal::read(rest);
        let len = match (hexadecimal, &decimal) {
            (Some(digits), _) => 2 + digits.len(),
            (None, Some(decimal)) => decimal.len(),
            (None, None) => return self.give_up(start),
        };
        // What is written must not become another number together with what follows.
        if rest.get(len).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-')) {
            return self.give_up(start);
        }
        let is_bare = decimal.as_ref().is_some_and(Decimal::is_bare);
        let needs = [
            (text[start] == b'+', Allow::PlusSign),
            (hexadecimal.is_some(), Allow::Hexadecimal),
            (is_bare, Allow::BarePoint),
        ];
        if let Some((_, allow)) = needs.into_iter().find(|(is_met, allow)| *is_met && !self.allows(*allow)) {
            return self.refuse(start, allow);
        }
        let before = self.out.len();
        if text[start] == b'-' {
            self.out.push(b'-');
        }
        self.mark(start + sign);
        match (hexadecimal, decimal) {
            (Some(digits), _) => {
                if !to_decimal(digits, &mut self.out) {
                    self.out.truncate(before);
                    return self.stop_for(start, Reason::Digits);
                }
            }
            (None, decimal) => decimal.into_iter().for_each(|decimal| decimal.write(&mut self.out)),
        }
        self.at = start + sign + len;
        self.last = Last::Value;
        ControlFlow::Continue(())
    }

    /// `-Infinity` and its kin.
    fn signed_word(&mut self, start: usize) -> Flow {
        let rest = &self.text[start + 1..];
        let len = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        match &rest[..len] {
            word @ (b"NaN" | b"Infinity") => self.nonfinite(start, word, 1 + len),
            _ => self.give_up(start),
        }
    }

    /// Writes what stands for a number that is not finite, which begins at `start` with its sign and has `len` bytes.
    pub(super) fn nonfinite(&mut self, start: usize, word: &[u8], len: usize) -> Flow {
        if self.text[start] == b'+' && !self.allows(Allow::PlusSign) {
            return self.refuse(start, Allow::PlusSign);
        }
        if self.allows(Allow::NonfiniteAsText) {
            let is_negative = self.text[start] == b'-' && word != b"NaN";
            self.out.extend_from_slice(if is_negative { b"\"-" } else { b"\"" });
            self.out.extend_from_slice(word);
            self.out.push(b'"');
        } else if self.allows(Allow::NonfiniteAsNull) {
            self.out.extend_from_slice(b"null");
        } else {
            return self.refuse(start, Allow::NonfiniteAsNull);
        }
        self.at = start + len;
        self.last = Last::Value;
        ControlFlow::Continue(())
    }
}

/// The digits after `0x`.
fn hexadecimal(rest: &[u8]) -> Option<&[u8]> {
    let [b'0', b'x' | b'X', digits @ ..] = rest else { return None };
    let len = digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    (len > 0).then(|| &digits[..len])
}

impl<'t> Decimal<'t> {
    /// Reads digits, with a point somewhere, and an exponent.
    fn read(rest: &'t [u8]) -> Option<Self> {
        let (whole, rest) = digits(rest);
        let (fraction, rest) = match rest {
            [b'.', rest @ ..] => {
                let (fraction, rest) = digits(rest);
                (Some(fraction), rest)
            }
            _ => (None, rest),
        };
        if whole.is_empty() && fraction.is_none_or(<[u8]>::is_empty) {
            return None;
        }
        let sign = match rest {
            [b'e' | b'E', b'+' | b'-', ..] => 2,
            [b'e' | b'E', ..] => 1,
            _ => return Some(Self { whole, fraction, exponent: &[] }),
        };
        let power = digits(&rest[sign..]).0;
        (!power.is_empty()).then(|| Self { whole, fraction, exponent: &rest[..sign + power.len()] })
    }

    fn len(&self) -> usize {
        self.whole.len() + self.fraction.map_or(0, |fraction| 1 + fraction.len()) + self.exponent.len()
    }

    /// Whether digits are missing before or after the point.
    fn is_bare(&self) -> bool {
        self.whole.is_empty() || self.fraction.is_some_and(<[u8]>::is_empty)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.whole.is_empty() { b"0" } else { self.whole });
        if let Some(fraction) = self.fraction {
            out.push(b'.');
            out.extend_from_slice(if fraction.is_empty() { b"0" } else { fraction });
        }
        out.extend_from_slice(self.exponent);
    }
}

/// The decimal digits at the beginning of a text, and the rest.
fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}
