//! Strings and floats as Python's `json` writes them.

use core::fmt::Write;

/// Appends a string with its quotes. `text` is UTF-8, or has surrogates as if they were characters.
pub(super) fn string(out: &mut Vec<u8>, text: &[u8], is_ascii: bool) {
    const PART: usize = 16;
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut at = 0;
    while at < text.len() {
        let part = &text[at..text.len().min(at + PART)];
        // Without a branch for each byte.
        let is_plain = part.iter().fold(true, |plain, &byte| plain & is_plain(byte, is_ascii));
        if is_plain {
            out.extend_from_slice(part);
            at += part.len();
            continue;
        }
        let end = at + part.len();
        while at < end {
            at += character(out, &text[at..], is_ascii);
        }
    }
    out.push(b'"');
}

#[inline(always)]
#[expect(clippy::needless_bitwise_bool, reason = "without branches, many bytes at a time")]
fn is_plain(byte: u8, is_ascii: bool) -> bool {
    let is_special = (byte < 0x20) | (byte == b'"') | (byte == b'\\');
    !is_special & !(is_ascii & (byte >= 0x7F))
}

/// Appends the first character, and returns how many bytes it takes.
fn character(out: &mut Vec<u8>, text: &[u8], is_ascii: bool) -> usize {
    let first = text[0];
    if is_plain(first, is_ascii) {
        out.push(first);
        return 1;
    }
    let short = match first {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0C => b'f',
        _ => 0,
    };
    if short != 0 {
        out.extend([b'\\', short]);
        return 1;
    }
    let len = match first {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    };
    let low = |at: usize| u32::from(text.get(at).copied().unwrap_or(0) & 0x3F);
    let code = match len {
        1 => u32::from(first),
        2 => u32::from(first & 0x1F) << 6 | low(1),
        3 => u32::from(first & 0x0F) << 12 | low(1) << 6 | low(2),
        _ => u32::from(first & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3),
    };
    if code < 0x1_0000 {
        unit(out, code);
    } else {
        unit(out, 0xD800 + ((code - 0x1_0000) >> 10));
        unit(out, 0xDC00 + (code & 0x3FF));
    }
    len.min(text.len())
}

/// `\u00e9`
fn unit(out: &mut Vec<u8>, unit: u32) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |shift: u32| DIGITS[(unit >> shift & 0xF) as usize];
    out.extend([b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
}

/// A float as `float.__repr__` has it; infinite ones and NaN as `json` does.
pub(super) fn float(out: &mut String, value: f64) {
    if value.is_nan() {
        out.push_str("NaN");
    } else if value.is_infinite() {
        out.push_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    } else {
        finite(out, value);
    }
}

/// The shortest digits that give the value back; of two that are equally near the even one, as the engine and Python
/// choose. Python writes an exponent below 1e-4 and from 1e16 on, of at least two digits.
fn finite(out: &mut String, value: f64) {
    let text = jird::to_string(&value).unwrap_or_default();
    let (number, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let magnitude = value.abs();
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |number| ("-", number));
    if exponent == "0" && (magnitude == 0.0 || (1e-4..1e16).contains(&magnitude)) {
        out.push_str(&text);
        if !number.contains('.') {
            out.push_str(".0");
        }
        return;
    }
    // All digits, and the power of ten of the first.
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    let zeros = digits.len() - digits.trim_start_matches('0').len();
    let digits = digits.trim_matches('0');
    let exponent = exponent.parse::<i32>().unwrap_or(0) + whole.len() as i32 - 1 - zeros as i32;
    let (first, rest) = digits.split_at(usize::from(!digits.is_empty()));
    out.push_str(sign);
    if (-4..16).contains(&exponent) {
        plain(out, digits, exponent);
        return;
    }
    let point = if rest.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    let _ = write!(out, "{first}{point}{rest}e{sign}{:02}", exponent.abs());
}

/// `digits` with a point, the first of them at this power of ten.
fn plain(out: &mut String, digits: &str, exponent: i32) {
    if exponent < 0 {
        out.push_str("0.");
        out.extend((1..-exponent).map(|_| '0'));
        out.push_str(digits);
        return;
    }
    let whole = exponent.unsigned_abs() as usize + 1;
    let (before, after) = digits.split_at(whole.min(digits.len()));
    out.push_str(before);
    out.extend((before.len()..whole).map(|_| '0'));
    out.push('.');
    out.push_str(if after.is_empty() { "0" } else { after });
}
