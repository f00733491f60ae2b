//! Numbers as decimal digits.

use num_bigint::BigInt;
use std::cmp::Ordering;

/// 0.d₁d₂d₃… × 10^`exponent`, with d₁ and the last digit other than 0; no digits for zero, which has no sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    exponent: i64,
    digits: Vec<u8>,
}

impl Decimal {
    /// The value of a JSON number whose exponent has few digits.
    pub(crate) fn of(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let magnitude = mantissa.trim_start_matches('-');
        let (whole, fraction) = magnitude.split_once('.').unwrap_or((magnitude, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0');
        let zeros = all.len() - digits.len();
        let exponent = exponent.parse::<i64>().expect("a small exponent") + whole.len() as i64 - zeros as i64;
        let digits = digits.trim_end_matches('0').as_bytes().to_vec();
        let is_zero = digits.is_empty();
        Self { negative: mantissa.starts_with('-') && !is_zero, exponent: if is_zero { 0 } else { exponent }, digits }
    }

    /// Numbers of one sign by their size: a zero, then by the place of the first digit, then by the digits.
    fn size(&self) -> (bool, i64, &[u8]) {
        (!self.digits.is_empty(), self.exponent, &self.digits)
    }
}

impl Decimal {
    /// The exact sum.
    pub(crate) fn sum<'d>(all: impl IntoIterator<Item = &'d Self>) -> Self {
        let all: Vec<_> = all.into_iter().collect();
        let place = |decimal: &Self| decimal.exponent - decimal.digits.len() as i64;
        let least = all.iter().map(|decimal| place(decimal)).min().unwrap_or_default();
        let mut sum = BigInt::from(0);
        for decimal in all {
            let digits = std::str::from_utf8(&decimal.digits).expect("digits are ASCII");
            let zeros = usize::try_from(place(decimal) - least).expect("no less than the least");
            let size: BigInt = format!("0{digits}{}", "0".repeat(zeros)).parse().expect("digits");
            sum += if decimal.negative { -size } else { size };
        }
        Self::of(&format!("{sum}e{least}"))
    }

    /// As JSON writes numbers: integers of a common size without a fraction.
    pub(crate) fn text(&self) -> String {
        let digits = std::str::from_utf8(&self.digits).expect("digits are ASCII");
        let sign = if self.negative { "-" } else { "" };
        if let Ok(zeros @ 0..=38) = usize::try_from(self.exponent - self.digits.len() as i64)
            && !digits.is_empty()
        {
            return format!("{sign}{digits}{}", "0".repeat(zeros));
        }
        if digits.is_empty() { "0".to_owned() } else { format!("{sign}0.{digits}e{}", self.exponent) }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.size().cmp(&other.size()),
            (true, true) => other.size().cmp(&self.size()),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
