//! The values of cells as JSON.

use jird::event::Numeral;

/// The numbers below which all integers are doubles.
const INTEGER_MAX: f64 = 9_007_199_254_740_992.0;

/// Appends a number: an integer without a point, others with the fewest digits. What is not finite is null, which only
/// a damaged file has here.
pub(super) fn number(value: f64, out: &mut Vec<u8>) {
    if value.fract().abs() <= 0.0 && value.abs() < INTEGER_MAX {
        Numeral::I64(value as i64).write(out);
    } else if value.is_finite() {
        Numeral::F64(value).write(out);
    } else {
        out.extend_from_slice(b"null");
    }
}

/// Whether [`number`] surely writes a number like this, whose text is `raw`: up to 15 digits are those of the shortest text
/// of their double, if none of them can be left out.
pub(super) fn is_shortest(raw: &str) -> bool {
    let digits = raw.strip_prefix('-').unwrap_or(raw).as_bytes();
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    match digits.split_first() {
        _ if digits.len() > 16 => false,
        Some((b'1'..=b'9', rest)) => match rest.iter().position(|byte| !is_digit(byte)) {
            None => digits.len() <= 15,
            Some(point) => {
                let decimals = &rest[point + 1..];
                let is_decimal = rest[point] == b'.' && decimals.iter().all(is_digit);
                is_decimal && decimals.last().is_some_and(|last| *last != b'0')
            }
        },
        _ => false,
    }
}

/// Appends a text with its quotes.
pub(super) fn text(value: &str, out: &mut Vec<u8>) {
    jird::hooks::write_string(value, out);
}

/// Appends a boolean.
pub(super) fn bool(value: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_surely_the_shortest_is_what_is_written() {
        let mut count = 0;
        let mut check = |raw: &str| {
            let mut written = Vec::new();
            number(raw.parse().unwrap(), &mut written);
            let written = String::from_utf8(written).unwrap();
            assert!(!is_shortest(raw) || written == raw, "{raw} {written}");
            count += usize::from(is_shortest(raw));
        };
        let mut random = 1_u64;
        for _ in 0..200_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let digits = (random >> 20) % 10_u64.pow((random % 18) as u32 + 1);
            let point = (random >> 9) % 18;
            let text = digits.to_string();
            let at = (point as usize).min(text.len());
            let sign = if random & 256 == 0 { "-" } else { "" };
            check(&format!("{sign}{text}"));
            if at > 0 && at < text.len() {
                check(&format!("{sign}{}.{}", &text[..at], &text[at..]));
            }
        }
        for raw in ["0", "-0", "0.5", "1e5", "1.0", "100", "1.10", "999999999999999", "9999999999999999", "1E2"] {
            check(raw);
        }
        assert!(count > 100_000, "{count}");
    }
}
