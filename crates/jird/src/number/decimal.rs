//! Numbers as exact decimals of any length: their order, and one text for each value.
//!
//! The size of a number is `0.DIGITS × 10^(point + exponent)`, with zeros trimmed at both ends of the digits. So two
//! sizes are equal exactly if digits and scale are. The exponent stays text: it may be longer than any machine
//! integer, and two such exponents may still differ by one. Time is linear in the length of the texts; no allocation
//! is proportional to the value of an exponent.

use std::cmp::Ordering;

use super::parts::{Parts, Significant, without_leading_zeros};
use super::plain::{TENS, plain};
use super::swar::Word;
use super::token::Token;

/// The order of two checked tokens by value; `-0` equals `0`.
#[inline(always)]
pub(super) fn compare(left: &[u8], right: &[u8]) -> Ordering {
    match (Integer::of(left), Integer::of(right)) {
        (Some(left), Some(right)) if left != right => left.cmp(&right),
        _ => compare_plain(left, right),
    }
}

/// The digits before the point, up to seven. Two numbers whose keys differ are ordered as their keys; equal keys leave
/// the order to the digits after the point. The highest byte holds the number of digits, because without leading zeros
/// the longer one is greater; the digits follow.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Integer(u64);

impl Integer {
    /// The key of a checked token of at most 16 bytes, without sign and exponent.
    #[inline(always)]
    fn of(token: &[u8]) -> Option<Self> {
        let head = Word::load_head(token);
        let rest = match token.len() {
            0..=8 => head,
            9..=16 => Word::load(token, token.len() - Word::LEN),
            _ => return None,
        };
        let len = head.others().trailing_zeros() as usize / 8;
        let is_plain = matches!(len, 1..=7) && !head.or(rest).has_exponent();
        is_plain.then(|| Self((len as u64) << 56 | head.in_order(len) >> 8))
    }
}

#[inline(never)]
fn compare_plain(left: &[u8], right: &[u8]) -> Ordering {
    if let (Some(left), Some(right)) = (plain(Token::alone(left)), plain(Token::alone(right))) {
        // Each is multiplied by the other's power of ten: below 10^19 · 10^18, so it is in range.
        let scaled = |digits: u64, negative: bool, places: u32| {
            let size = i128::from(digits) * i128::from(TENS[places as usize]);
            if negative { -size } else { size }
        };
        if left.places == right.places {
            return scaled(left.digits, left.negative, 0).cmp(&scaled(right.digits, right.negative, 0));
        }
        let scaled_left = scaled(left.digits, left.negative, right.places);
        return scaled_left.cmp(&scaled(right.digits, right.negative, left.places));
    }
    compare_any(left, right)
}

#[inline(never)]
fn compare_any(left: &[u8], right: &[u8]) -> Ordering {
    let (left, right) = (Parts::of(left), Parts::of(right));
    let (left_digits, right_digits) = (Significant::of(&left), Significant::of(&right));
    let sign = |parts: &Parts<'_>, digits: &Significant<'_>| match (digits.len(), parts.negative) {
        (0, _) => 0,
        (_, true) => -1,
        (_, false) => 1,
    };
    let (left_sign, right_sign) = (sign(&left, &left_digits), sign(&right, &right_digits));
    if left_sign != right_sign || left_sign == 0 {
        return left_sign.cmp(&right_sign);
    }
    let points = i128::from(left_digits.point) - i128::from(right_digits.point);
    let scales = (exponents(&left, &right) + points).cmp(&0);
    let sizes = scales.then_with(|| digits(&left_digits, &right_digits));
    if left_sign < 0 { sizes.reverse() } else { sizes }
}

/// The left exponent less the right one: exact up to 10^30. Beyond that it has at least the right sign, and is larger
/// than any distance of two points.
fn exponents(left: &Parts<'_>, right: &Parts<'_>) -> i128 {
    const DECIDED: i128 = 10_i128.pow(30);
    let len = left.exponent.len().max(right.exponent.len());
    let digit = |parts: &Parts<'_>, at: usize| {
        let size = (at + parts.exponent.len()).checked_sub(len).map_or(0, |at| i128::from(parts.exponent[at] - b'0'));
        if parts.exponent_negative { -size } else { size }
    };
    let mut difference = 0_i128;
    for at in 0..len {
        difference = difference * 10 + digit(left, at) - digit(right, at);
        // The digits that follow can change the difference by less than 2 at this place.
        if difference.abs() > DECIDED {
            break;
        }
    }
    difference
}

/// The order of two fractions `0.[head][tail]`.
fn digits(left: &Significant<'_>, right: &Significant<'_>) -> Ordering {
    // The heads are compared over their common length; then the rest of the longer head is compared with the other's
    // tail.
    let shared = left.head.len().min(right.head.len());
    let (left_head, left_rest) = left.head.split_at(shared);
    let (right_head, right_rest) = right.head.split_at(shared);
    left_head.cmp(right_head).then_with(|| {
        if right_rest.is_empty() {
            joined(left_rest, left.tail, right.tail)
        } else {
            joined(right_rest, right.tail, left.tail).reverse()
        }
    })
}

/// The order of `first` followed by `second`, and `other`.
fn joined(first: &[u8], second: &[u8], other: &[u8]) -> Ordering {
    let (other_first, other_second) = other.split_at(first.len().min(other.len()));
    first.cmp(other_first).then_with(|| second.cmp(other_second))
}

/// Appends the one text that all tokens of this value share, which is itself a JSON number, without needless zeros and
/// without `-0`. The number is written in full if the first digit is at most 21 places before or 6 places after the
/// point (as ECMAScript prints its numbers), otherwise as `d.ddde±x`.
pub(super) fn normalize(token: &[u8], out: &mut String) {
    const PLACES_BEFORE: i128 = 21;
    const PLACES_BEHIND: i128 = 6;
    let parts = Parts::of(token);
    let digits = Significant::of(&parts);
    let mut push = |bytes: &[u8]| out.extend(bytes.iter().map(|&byte| char::from(byte)));
    if digits.len() == 0 {
        return push(b"0");
    }
    if parts.negative {
        push(b"-");
    }
    let (head, tail) = (digits.head, digits.tail);
    // An exponent of more than 30 digits is far outside that range; with up to 30 digits an i128 does not overflow.
    let scale = (parts.exponent.len() <= 30).then(|| {
        let size = parts.exponent.iter().fold(0, |size, digit| size * 10 + i128::from(digit - b'0'));
        i128::from(digits.point) + if parts.exponent_negative { -size } else { size }
    });
    match scale {
        Some(scale @ 1..=PLACES_BEFORE) => {
            let point = scale as usize;
            if digits.len() <= point {
                push(head);
                push(tail);
                push(&b"000000000000000000000"[..point - digits.len()]);
            } else if point <= head.len() {
                push(&head[..point]);
                push(b".");
                push(&head[point..]);
                push(tail);
            } else {
                push(head);
                push(&tail[..point - head.len()]);
                push(b".");
                push(&tail[point - head.len()..]);
            }
        }
        Some(scale) if scale <= 0 && scale > -PLACES_BEHIND => {
            push(b"0.");
            push(&b"000000"[..(-scale) as usize]);
            push(head);
            push(tail);
        }
        _ => {
            push(&head[..1]);
            if digits.len() > 1 {
                push(b".");
                push(&head[1..]);
                push(tail);
            }
            push(b"e");
            match scale {
                Some(scale) => push((scale - 1).to_string().as_bytes()),
                None => push_sum(&parts, digits.point - 1, push),
            }
        }
    }
}

/// Appends an exponent of more than 30 digits with `small` added to it, which does not change its sign.
fn push_sum(parts: &Parts<'_>, small: i64, mut push: impl FnMut(&[u8])) {
    let mut sum = parts.exponent.to_vec();
    // Adds if the signs are equal, otherwise subtracts; the carry works for both.
    let mut carry = i128::from(if parts.exponent_negative { -small } else { small });
    for digit in sum.iter_mut().rev() {
        if carry == 0 {
            break;
        }
        let value = i128::from(*digit - b'0') + carry;
        *digit = b'0' + value.rem_euclid(10) as u8;
        carry = value.div_euclid(10);
    }
    if parts.exponent_negative {
        push(b"-");
    }
    if carry > 0 {
        push(carry.to_string().as_bytes());
        push(&sum);
    } else {
        push(without_leading_zeros(&sum));
    }
}
