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

/// Appends a text with its quotes.
pub(super) fn text(value: &str, out: &mut Vec<u8>) {
    jird::hooks::write_string(value, out);
}

/// Appends a boolean.
pub(super) fn bool(value: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}
