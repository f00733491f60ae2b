//! RFC 8785, the JSON Canonicalization Scheme.

use crate::error::Error;
use crate::fault::{ErrorKind, Fault};
use crate::policy::{Duplicates, Numbers, Policy};
use crate::tape::{Elements, Kind, Parser, Value};
use crate::text;

/// Writes documents in the canonical form; reuses its buffers.
pub(crate) struct Canonical(Parser);

impl Canonical {
    pub(crate) fn new() -> Self {
        let policy = Policy { numbers: Numbers::Finite, duplicates: Duplicates::Refuse, ..Policy::default() };
        Self(Parser::with_policy(policy))
    }

    /// The canonical form of a document.
    pub(crate) fn of(&mut self, text: &[u8]) -> Result<Vec<u8>, Error> {
        write_document(self.0.parse(text)?, text.len())
    }
}

fn write_document(root: Value<'_>, len: usize) -> Result<Vec<u8>, Error> {
    let mut out = Vec::with_capacity(len);
    let mut open = Vec::new();
    write_value(root, &mut open, &mut out)?;
    while let Some(top) = open.last_mut() {
        let (next, close) = match top {
            OpenCanonical::Array(elements, first) => {
                let next = elements.next();
                if next.is_some() && !core::mem::take(first) {
                    out.push(b',');
                }
                (next, b']')
            }
            OpenCanonical::Object(members) => {
                let next = members.next();
                if let Some((index, (key, _))) = &next {
                    if *index > 0 {
                        out.push(b',');
                    }
                    text::write_string(key, &mut out);
                    out.push(b':');
                }
                (next.map(|(_, (_, value))| value), b'}')
            }
        };
        if let Some(value) = next {
            write_value(value, &mut open, &mut out)?;
        } else {
            out.push(close);
            open.pop();
        }
    }
    Ok(out)
}

/// A container that is being written.
enum OpenCanonical<'a> {
    /// The remaining elements, and whether the next is the first.
    Array(Elements<'a>, bool),
    /// The remaining members, in canonical order.
    Object(core::iter::Enumerate<std::vec::IntoIter<(String, Value<'a>)>>),
}

/// Writes a scalar, or opens a container.
fn write_value<'a>(value: Value<'a>, open: &mut Vec<OpenCanonical<'a>>, out: &mut Vec<u8>) -> Result<(), Error> {
    match value.kind() {
        Kind::Null | Kind::Bool => out.extend_from_slice(value.raw()),
        Kind::Number => {
            let number = value.as_f64().ok_or_else(|| Error::from(Fault::at_byte(ErrorKind::Range, value.offset())))?;
            write_number(number, out);
        }
        Kind::String => text::write_string(&value.as_str().unwrap_or_default(), out),
        Kind::Array => {
            out.push(b'[');
            open.push(OpenCanonical::Array(value.elements(), true));
        }
        Kind::Object => {
            out.push(b'{');
            let mut members: Vec<_> =
                value.entries().map(|(key, value)| (key.as_str().unwrap_or_default().into_owned(), value)).collect();
            // §3.2.3: sorts by UTF-16 code units, which differs from the order of UTF-8 beyond the basic plane.
            members.sort_by(|(left, _), (right, _)| left.encode_utf16().cmp(right.encode_utf16()));
            open.push(OpenCanonical::Object(members.into_iter().enumerate()));
        }
    }
    Ok(())
}

/// Writes a number as ECMAScript's `Number::toString` does (§3.2.2.3), from its shortest digits.
fn write_number(number: f64, out: &mut Vec<u8>) {
    if number == 0.0 {
        out.push(b'0');
        return;
    }
    if number < 0.0 {
        out.push(b'-');
    }
    let (digits, point) = shortest(number.abs());
    let len = digits.len();
    let zeros = |out: &mut Vec<u8>, count: usize| out.resize(out.len() + count, b'0');
    match usize::try_from(point) {
        Ok(point) if (len..=21).contains(&point) => {
            out.extend_from_slice(&digits);
            zeros(out, point - len);
        }
        Ok(point) if (1..=21).contains(&point) => {
            out.extend_from_slice(&digits[..point]);
            out.push(b'.');
            out.extend_from_slice(&digits[point..]);
        }
        _ if (-5..=0).contains(&point) => {
            out.extend_from_slice(b"0.");
            zeros(out, point.unsigned_abs() as usize);
            out.extend_from_slice(&digits);
        }
        _ => {
            out.push(digits[0]);
            if len > 1 {
                out.push(b'.');
                out.extend_from_slice(&digits[1..]);
            }
            out.extend_from_slice(format!("e{:+}", point - 1).as_bytes());
        }
    }
}

/// The shortest digits that read back as `number`, which is positive and finite, and the position of the point: the
/// value is `0.DIGITS × 10^point`.
fn shortest(number: f64) -> (Vec<u8>, i32) {
    // The standard library also finds the shortest digits, but rounds a tie between two of them up and not to even.
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(number);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let digits = all.trim_start_matches('0');
    let point = exponent.parse::<i32>().unwrap_or_default() + whole.len() as i32 - (all.len() - digits.len()) as i32;
    (digits.trim_end_matches('0').as_bytes().to_vec(), point)
}
