use std::cmp::Ordering;

use super::*;

fn number(text: &str) -> Number<'_> {
    Number::new(text).unwrap_or_else(|| panic!("{text:.60} is a number"))
}

fn normal(text: &str) -> String {
    let mut out = String::new();
    number(text).normalize(&mut out);
    out
}

/// Compares in both directions, with both signs, and through the normal form.
fn orders(left: &str, right: &str, expected: Ordering) {
    let found = number(left).compare(number(right));
    assert_eq!(found, expected, "{left:.80} and {right:.80}");
    assert_eq!(number(right).compare(number(left)), expected.reverse(), "{right:.80} and {left:.80}");
    assert_eq!(normal(left) == normal(right), expected.is_eq(), "{left:.80} and {right:.80} normalised");
    for text in [left, right] {
        assert!(number(&normal(text)).compare(number(text)).is_eq(), "{text:.80} normalised");
        assert_eq!(normal(&normal(text)), normal(text));
    }
}

fn orders_signed(left: &str, right: &str, expected: Ordering) {
    orders(left, right, expected);
    if !left.starts_with('-') && !right.starts_with('-') {
        orders(&format!("-{left}"), &format!("-{right}"), expected.reverse());
    }
}

#[test]
fn numbers_are_ordered_by_value_whatever_their_text() {
    use Ordering::{Equal, Greater, Less};
    let rows = [
        ("0", "0", Equal),
        ("-0", "0", Equal),
        ("0.0e77", "-0", Equal),
        ("0e99999999999999999999999999999999999999999", "0", Equal),
        ("1.0", "1", Equal),
        ("10e-1", "1", Equal),
        ("1e400", "9", Greater),
        ("1e400", "10e399", Equal),
        ("1e-400", "0", Greater),
        ("1e-400", "1e-401", Greater),
        ("-1", "1", Less),
        ("-1e400", "-2", Less),
        ("9007199254740993", "9007199254740992.0", Greater),
        ("0.1", "0.10000000000000001", Less),
        ("0.1", "0.1000000000000000055511151231257827", Less),
        ("100000000000000000000", "99999999999999999999", Greater),
        ("123456789012345678901", "123456789012345678902", Less),
        ("12345678901234567890.1", "12345678901234567890.10", Equal),
        ("1234567890123456789012.5", "1234567890.1234567890125e12", Equal),
        ("1.5", "15e-1", Equal),
        ("0.00015", "1.5e-4", Equal),
        ("1200", "12e2", Equal),
        ("12e2", "1201", Less),
        ("1e10", "9999999999", Greater),
        ("1e100000000000000000000000000000000000001", "10e100000000000000000000000000000000000000", Equal),
        ("1e100000000000000000000000000000000000001", "1e100000000000000000000000000000000000000", Greater),
        ("1e-100000000000000000000000000000000000001", "1e-100000000000000000000000000000000000000", Less),
        ("1e-100000000000000000000000000000000000000", "0.1e-99999999999999999999999999999999999999", Equal),
        ("1e1000000000000000000000000000000000000000", "1000e999999999999999999999999999999999999997", Equal),
        ("1e99999999999999999999999999999999999999999", "1e-99999999999999999999999999999999999999999", Greater),
        ("1e00000000000000000000000000000000000000000000002", "100", Equal),
    ];
    for (left, right, expected) in rows {
        orders_signed(left, right, expected);
    }
}

#[test]
fn exponents_of_thousands_of_digits_are_compared_exactly() {
    let nines = "9".repeat(5000);
    let thousand = format!("1{}", "0".repeat(5000));
    orders_signed(&format!("10e{nines}"), &format!("1e{thousand}"), Ordering::Equal);
    orders_signed(&format!("9e{nines}"), &format!("1e{thousand}"), Ordering::Less);
    orders_signed(&format!("0.1e-{nines}"), &format!("1e-{thousand}"), Ordering::Equal);
    orders_signed(&format!("0.1e-{nines}"), &format!("1.1e-{thousand}"), Ordering::Less);
    let zeros = "0".repeat(100_000);
    orders_signed(&format!("1{zeros}"), "1e100000", Ordering::Equal);
    orders_signed(&format!("1{zeros}"), "1.1e100000", Ordering::Less);
    orders_signed(&format!("0.{zeros}1"), "1e-100001", Ordering::Equal);
}

#[test]
fn the_normal_form_is_short_and_plain_where_it_can_be() {
    let rows = [
        ("0", "0"),
        ("-0.0e5", "0"),
        ("1.0", "1"),
        ("-10e-1", "-1"),
        ("2e2", "200"),
        ("1.50", "1.5"),
        ("0.00001", "0.00001"),
        ("0.0000010", "0.000001"),
        ("0.00000010", "1e-7"),
        ("123.456e2", "12345.6"),
        ("123.456e1", "1234.56"),
        ("1e20", "100000000000000000000"),
        ("1e21", "1e21"),
        ("123e30", "1.23e32"),
        ("-12345678901234567890123", "-1.2345678901234567890123e22"),
        ("1e400", "1e400"),
        ("1000e1000000000000000000000000000000000000000", "1e1000000000000000000000000000000000000003"),
        ("0.01e1000000000000000000000000000000000000000", "1e999999999999999999999999999999999999998"),
        ("1000e-1000000000000000000000000000000000000000", "1e-999999999999999999999999999999999999997"),
        ("0.001e-9999999999999999999999999999999999999998", "1e-10000000000000000000000000000000000000001"),
    ];
    for (text, expected) in rows {
        assert_eq!(normal(text), expected, "{text}");
    }
}

/// A decimal as sign, digits without trailing zeros, and the power of ten of the last digit, computed without any of
/// the code under test. The digits are in a `Vec`, which is padded in full for comparisons.
fn naive(text: &str) -> (bool, Vec<u8>, i64) {
    let (negative, size) = text.strip_prefix('-').map_or((false, text), |size| (true, size));
    let size = size.to_lowercase();
    let (mantissa, exponent) = size.split_once('e').unwrap_or((&size, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut power = exponent.parse::<i64>().unwrap() - i64::try_from(fraction.len()).unwrap();
    let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).map(|digit| digit - b'0').collect();
    while digits.last() == Some(&0) {
        digits.pop();
        power += 1;
    }
    let first = digits.iter().position(|&digit| digit > 0).unwrap_or(digits.len());
    digits.drain(..first);
    (negative && !digits.is_empty(), digits, power)
}

fn naive_order(left: &str, right: &str) -> Ordering {
    let (left_negative, mut left, left_power) = naive(left);
    let (right_negative, mut right, right_power) = naive(right);
    let power = left_power.min(right_power);
    for (digits, own) in [(&mut left, left_power), (&mut right, right_power)] {
        if !digits.is_empty() {
            digits.resize(digits.len() + usize::try_from(own - power).unwrap(), 0);
        }
    }
    let sizes = left.len().cmp(&right.len()).then_with(|| left.cmp(&right));
    match (left_negative, right_negative) {
        (false, false) => sizes,
        (true, true) => sizes.reverse(),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

/// xorshift64: the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn digits(&mut self, len: u64, out: &mut String) {
        // Only a few different digits, so that equal values and long common prefixes are frequent.
        const DIGITS: &[u8] = b"000199500";
        for _ in 0..len {
            out.push(DIGITS[usize::try_from(self.below(DIGITS.len() as u64)).unwrap()] as char);
        }
    }

    fn number(&mut self) -> String {
        let mut text = String::new();
        if self.below(3) == 0 {
            text.push('-');
        }
        if self.below(3) == 0 {
            text.push('0');
        } else {
            text.push(['1', '9'][usize::from(self.below(3) == 0)]);
            let len_max = [3, 10, 25][usize::try_from(self.below(3)).unwrap()];
            let len = self.below(len_max);
            self.digits(len, &mut text);
        }
        if self.below(2) == 0 {
            text.push('.');
            let len_max = [3, 10, 25][usize::try_from(self.below(3)).unwrap()];
            let len = 1 + self.below(len_max);
            self.digits(len, &mut text);
        }
        match self.below(4) {
            0 => text += &format!("e{}", self.below(12)),
            1 => text += &format!("E-{:03}", self.below(12)),
            _ => {}
        }
        text
    }
}

#[test]
fn generated_numbers_are_ordered_as_written_out_in_full() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut equal = 0;
    for _ in 0..200_000 {
        let (left, right) = (random.number(), random.number());
        let expected = naive_order(&left, &right);
        equal += usize::from(expected.is_eq());
        orders(&left, &right, expected);
    }
    assert!(equal > 1000, "the generator makes equal values: {equal}");
}

/// Whether a double holds the value exactly: the value times some power of two must be an integer of at most 53 bits.
/// Computed digit by digit, as on paper.
fn naive_exact(text: &str) -> bool {
    let (_, digits, power) = naive(text);
    if digits.is_empty() {
        return true;
    }
    let mut digits = digits;
    let divide = |digits: &[u8], by: u32| -> Option<Vec<u8>> {
        let mut rest = 0;
        let quotient: Vec<u8> = digits
            .iter()
            .map(|&digit| {
                let value = rest * 10 + u32::from(digit);
                rest = value % by;
                u8::try_from(value / by).unwrap()
            })
            .collect();
        (rest == 0).then(|| quotient.into_iter().skip_while(|&digit| digit == 0).collect())
    };
    let multiply_by_five = |digits: &[u8]| {
        let mut carry = 0;
        let mut product: Vec<u8> = digits
            .iter()
            .rev()
            .map(|&digit| {
                let value = digit * 5 + carry;
                carry = value / 10;
                value % 10
            })
            .collect();
        if carry > 0 {
            product.push(carry);
        }
        product.reverse();
        product
    };
    for _ in 0..power.unsigned_abs() {
        if power > 0 {
            digits = multiply_by_five(&digits);
        } else if let Some(quotient) = divide(&digits, 5) {
            digits = quotient;
        } else {
            return false;
        }
    }
    while let Some(half) = divide(&digits, 2) {
        digits = half;
    }
    digits.len() <= 16 && digits.iter().fold(0, |value, &digit| value * 10 + u64::from(digit)) < 1 << 53
}

#[test]
fn exact_doubles_are_told_from_all_others() {
    let rows = [
        ("0", true),
        ("-0.0", true),
        ("0.5", true),
        ("0.1", false),
        ("0.75", true),
        ("9007199254740992", true),
        ("9007199254740993", false),
        ("9007199254740994", true),
        ("18014398509481985", false),
        ("18446744073709551616", true),
        ("18446744073709551615", false),
        ("1e22", true),
        ("1e23", false),
        ("1.0000000000000000000000000000", true),
        ("0.1000000000000000055511151231257827021181583404541015625", true),
        ("0.1000000000000000055511151231257827021181583404541015626", false),
        ("5e-324", false),
        ("1e309", false),
        ("1.7976931348623157e308", false),
    ];
    for (text, expected) in rows {
        assert_eq!(number(text).is_exact_f64(), expected, "{text}");
    }
    for value in [5e-324, f64::MIN_POSITIVE, f64::MAX, 0.1, 1.0 / 3.0] {
        let mut text = format!("{value:.800e}");
        assert!(number(&text).is_exact_f64(), "{text}");
        let exponent = text.find('e').unwrap();
        text.insert(exponent, '1');
        assert!(!number(&text).is_exact_f64(), "{text}");
    }
}

#[test]
fn generated_numbers_are_exact_as_division_on_paper_says() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut exact = 0;
    for _ in 0..100_000 {
        let mut text = random.number();
        if random.below(2) == 0 {
            text = format!("{:e}", random.below(1 << 12) as f64 / f64::from(1 << random.below(20)));
        }
        let expected = naive_exact(&text);
        exact += usize::from(expected);
        assert_eq!(number(&text).is_exact_f64(), expected, "{text}");
    }
    assert!(exact > 10_000, "the generator makes exact values: {exact}");
}

#[test]
fn integers_up_to_38_digits_are_decimals() {
    let nines = "9".repeat(38);
    assert_eq!(number(&nines).to_decimal38(), Some(10_i128.pow(38) - 1));
    assert_eq!(number(&format!("-{nines}")).to_decimal38(), Some(1 - 10_i128.pow(38)));
    assert_eq!(number(&format!("1{}", "0".repeat(38))).to_decimal38(), None);
    assert_eq!(number("1.0").to_decimal38(), None);
}

#[test]
fn a_number_is_an_integer_by_its_syntax() {
    for (text, expected) in [("1", true), ("-0", true), ("1.0", false), ("1e2", false), ("1E2", false)] {
        assert_eq!(number(text).is_integer(), expected);
    }
    assert_eq!(number("12").parse::<f32>(), Ok(12.0));
    assert_eq!(number("1e5").to_string(), "1e5");
}
