//! Converts checked tokens to integers and decimals that keep every digit.

use super::plain::{Plain, plain};
use super::token::Token;

/// A number in a form that keeps its digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exact {
    U64(u64),
    /// Less than zero.
    I64(i64),
    Decimal(Decimal),
}

/// A number with a point, as `digits / 10^places`, which is written with `places` digits after the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// All digits in order as one integer, below 10^19.
    pub digits: u64,
    /// How many of the digits stand after the point: 1 to 18.
    pub places: u8,
    /// Whether there is a minus.
    pub negative: bool,
}

impl Decimal {
    /// The number in one word, for serde's `visit_u128`.
    #[inline(always)]
    pub fn packed(self) -> u128 {
        u128::from(self.digits) | u128::from(self.places) << 64 | u128::from(self.negative) << 72
    }

    /// What [`packed`](Self::packed) has packed.
    #[inline(always)]
    pub fn of_packed(word: u128) -> Self {
        Self { digits: word as u64, places: (word >> 64) as u8, negative: word >> 72 & 1 == 1 }
    }
}

/// `text[start..end]` (checked) with all of its digits. `None` for `-0`, for numbers with an exponent, and for some that
/// are long.
#[inline(always)]
pub(crate) fn exact_at(text: &[u8], start: usize, end: usize) -> Option<Exact> {
    let Plain { negative, integer, digits, places, .. } = plain(Token::at(text, start, end))?;
    if !integer {
        return Some(Exact::Decimal(Decimal { digits, places: places as u8, negative }));
    }
    if !negative {
        return Some(Exact::U64(digits));
    }
    0_i64.checked_sub_unsigned(digits).filter(|&value| value < 0).map(Exact::I64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_and_integers_keep_their_digits() {
        let exact = |text: &str| exact_at(text.as_bytes(), 0, text.len());
        let decimal = |digits, places, negative| Some(Exact::Decimal(Decimal { digits, places, negative }));
        for (text, wanted) in [
            ("0", Some(Exact::U64(0))),
            ("-0", None),
            ("-7", Some(Exact::I64(-7))),
            ("9999999999999999999", Some(Exact::U64(9_999_999_999_999_999_999))),
            ("-9223372036854775808", Some(Exact::I64(i64::MIN))),
            ("-9223372036854775809", None),
            ("1.50", decimal(150, 2, false)),
            ("-0.0", decimal(0, 1, true)),
            ("0.000000000000000001", decimal(1, 18, false)),
            ("-65.613616999999977", decimal(65_613_616_999_999_977, 15, true)),
            ("1e2", None),
            ("1.5E-3", None),
            ("12345678901234567890", None),
            ("0.12345678901234567890", None),
        ] {
            assert_eq!(exact(text), wanted, "{text}");
            if let Some(Exact::Decimal(decimal)) = wanted {
                assert_eq!(Decimal::of_packed(decimal.packed()), decimal);
            }
        }
    }
}
