//! The grammar of numbers (RFC 8259 §6), byte by byte:
//!
//! ```text
//! number = [ "-" ] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ ( "e" / "E" ) [ "-" / "+" ] 1*digit ]
//! ```

/// What of a number has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberSoFar {
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    /// `e` or `E`
    Letter,
    Sign,
    Exponent,
}

impl NumberSoFar {
    /// After the first byte of a number: a minus or a digit.
    pub(super) fn begun(first: u8) -> Self {
        match first {
            b'-' => Self::Minus,
            b'0' => Self::Zero,
            _ => Self::Integer,
        }
    }

    /// After one byte more. `None` if the number cannot go on with it.
    #[inline(always)]
    pub(super) fn then(self, byte: u8) -> Option<Self> {
        match (self, byte) {
            (Self::Integer, b'0'..=b'9') | (Self::Minus, b'1'..=b'9') => Some(Self::Integer),
            (Self::Point | Self::Fraction, b'0'..=b'9') => Some(Self::Fraction),
            (Self::Letter | Self::Sign | Self::Exponent, b'0'..=b'9') => Some(Self::Exponent),
            (Self::Minus, b'0') => Some(Self::Zero),
            (Self::Zero | Self::Integer, b'.') => Some(Self::Point),
            (Self::Zero | Self::Integer | Self::Fraction, b'e' | b'E') => Some(Self::Letter),
            (Self::Letter, b'+' | b'-') => Some(Self::Sign),
            _ => None,
        }
    }

    /// Whether it is a number already.
    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Zero | Self::Integer | Self::Fraction | Self::Exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::NumberSoFar;
    use crate::number::check;

    #[test]
    fn every_short_text_is_judged_as_the_strict_check_judges_it() {
        let bytes = *b"-+.eE019x";
        for index in 0..bytes.len().pow(6) {
            let mut text = Vec::new();
            let mut rest = index;
            while rest > 0 {
                text.push(bytes[rest % bytes.len()]);
                rest /= bytes.len();
            }
            let Some((&first, more)) = text.split_first().filter(|(first, _)| matches!(first, b'-' | b'0'..=b'9'))
            else {
                continue;
            };
            let mut so_far = NumberSoFar::begun(first);
            let wrong = more.iter().position(|&byte| so_far.then(byte).map(|next| so_far = next).is_none());
            let found = match wrong {
                Some(at) => Err(1 + at),
                None if so_far.is_number() => Ok(()),
                None => Err(text.len()),
            };
            assert_eq!(found, check(&text).map(drop), "{}", text.escape_ascii());
        }
    }
}
