//! The type that a field needs, inferred from all of its values.
//!
//! Every value sets one or two of twelve flags, and a column's type is a function of its flags alone. So pieces of an
//! input can be read in any order and merged, and the answer does not depend on how the input was cut.

use super::kind::ColumnType;
use crate::cell::Cell;
use jird::event::Numeral;
use jird::{Kind, Number, record::Field};

/// The kinds of value that a column's type depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flag {
    Bool,
    /// A non-negative integer that fits `i64`.
    Small,
    /// A negative integer that fits `i64`.
    Negative,
    /// An integer that fits `u64` but not `i64`.
    Unsigned,
    /// An integer of at most 38 digits that fits neither.
    Wide,
    /// A longer integer.
    Huge,
    /// An integer that `f64` cannot represent exactly; set together with one of the flags above.
    Inexact,
    /// A number with a point or an exponent that survives as `f64`.
    Float,
    /// A number with a point or an exponent that does not.
    FloatInexact,
    Text,
    Object,
    Array,
}

const FLAGS: [Flag; 12] = [
    Flag::Bool,
    Flag::Small,
    Flag::Negative,
    Flag::Unsigned,
    Flag::Wide,
    Flag::Huge,
    Flag::Inexact,
    Flag::Float,
    Flag::FloatInexact,
    Flag::Text,
    Flag::Object,
    Flag::Array,
];

/// All integers up to this magnitude are exact as `f64`.
const EXACT_MAX: u64 = 1 << 53;

/// Decimals of up to this many significant digits survive a round trip through `f64` (IEEE 754's `DBL_DIG`).
const DIGITS_SAFE: usize = 15;

/// Sees the values of a field, in any number of pieces, and finds the narrowest type that keeps them all.
///
/// The lattice is `i64` → `u64` (no negatives) → `Decimal128(38,0)`. Integers together with floats become `f64` only if
/// every value survives. Every other mixture is JSON text. A number survives as `f64`
/// if printing the nearest `f64` in the shortest way gives the same value; an integer must also be exactly that `f64`.
/// So `0.1` survives, although no `f64` is exactly a tenth; `0.1000000000000000055` and `1e309` do not.
///
/// ```
/// use jird::record::Field;
/// use jird_formats::{Accumulator, ColumnType};
/// let mut seen = Accumulator::default();
/// seen.observe(Field::from_raw("1"), 0);
/// seen.observe(Field::from_raw("18446744073709551615"), 10);
/// assert_eq!(seen.column_type(), Some(ColumnType::UInt64));
/// seen.observe(Field::from_raw("-1"), 40);
/// assert_eq!(seen.column_type(), Some(ColumnType::Decimal));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Accumulator {
    flags: u16,
    present: bool,
    /// Where each flag was set first; meaningless if the flag is not set.
    first: [u64; FLAGS.len()],
}

/// A place where a column's type had to widen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widening {
    /// The type that sufficed up to that place.
    pub from: ColumnType,
    /// The type that is needed from there on.
    pub to: ColumnType,
    /// Where the record that needs it is, as given to [`Accumulator::observe`].
    pub at: u64,
}

impl Accumulator {
    /// Takes in a value. `at` is the offset of its record. Offsets are compared, so that messages can name the first
    /// record.
    #[inline]
    pub fn observe(&mut self, field: Field<'_>, at: u64) {
        let Some(kind) = field.kind() else { return };
        self.present = true;
        match kind {
            Kind::Null => {}
            Kind::Bool => self.set(Flag::Bool, at),
            Kind::String => self.set(Flag::Text, at),
            Kind::Object => self.set(Flag::Object, at),
            Kind::Array => self.set(Flag::Array, at),
            Kind::Number => {
                if let Some(number) = field.as_number() {
                    self.observe_number(number, at);
                }
            }
        }
    }

    /// [`observe`](Self::observe) for a cell of a row. Bytes and points in time count as texts.
    pub fn observe_cell(&mut self, cell: Cell<'_>, at: u64) {
        self.present |= !matches!(cell, Cell::Missing);
        match cell {
            Cell::Missing | Cell::Null => {}
            Cell::Bool(_) => self.set(Flag::Bool, at),
            Cell::Text(_) | Cell::Bytes(_) | Cell::Timestamp(_) => self.set(Flag::Text, at),
            Cell::Json(json) if json.starts_with('{') => self.set(Flag::Object, at),
            Cell::Json(_) => self.set(Flag::Array, at),
            Cell::Number(Numeral::Text(number)) => self.observe_number(number, at),
            Cell::Number(Numeral::F64(_)) => self.set(Flag::Float, at),
            Cell::Number(Numeral::I64(value)) => {
                self.observe_integer(if value < 0 { Flag::Negative } else { Flag::Small }, value.unsigned_abs(), at);
            }
            Cell::Number(Numeral::U64(value)) => {
                self.observe_integer(
                    if i64::try_from(value).is_ok() { Flag::Small } else { Flag::Unsigned },
                    value,
                    at,
                );
            }
        }
    }

    fn observe_integer(&mut self, flag: Flag, magnitude: u64, at: u64) {
        self.set(flag, at);
        let significant = magnitude.checked_shr(magnitude.trailing_zeros()).unwrap_or(0);
        if significant > EXACT_MAX {
            self.set(Flag::Inexact, at);
        }
    }

    /// Takes in what another accumulator saw of the same input.
    pub fn merge(&mut self, other: &Self) {
        self.present |= other.present;
        for flag in FLAGS {
            if other.has(flag) {
                self.set(flag, other.first[flag as usize]);
            }
        }
    }

    /// This as numbers, for other processes of the same version.
    #[doc(hidden)]
    pub fn to_words(&self) -> Vec<u64> {
        let flags = u64::from(self.flags) | u64::from(self.present) << 16;
        [flags].into_iter().chain(self.first).collect()
    }

    /// What [`to_words`](Self::to_words) gave; `None` for other numbers.
    #[doc(hidden)]
    pub fn from_words(words: &[u64]) -> Option<Self> {
        let (flags, first) = words.split_first()?;
        let known = (1 << FLAGS.len()) - 1;
        let is_known = flags & !(known | 1 << 16) == 0;
        let flags_set = u16::try_from(flags & known).ok().filter(|_| is_known)?;
        Some(Self { flags: flags_set, present: flags >> 16 == 1, first: first.try_into().ok()? })
    }

    /// Whether any record had the field, null or not.
    pub fn is_present(&self) -> bool {
        self.present
    }

    /// The narrowest type; `None` if there was no value, or only nulls.
    pub fn column_type(&self) -> Option<ColumnType> {
        type_of(self.flags)
    }

    /// Whether all values are objects, or all are arrays.
    #[cfg(feature = "arrow")]
    pub(super) fn container(&self) -> Option<Kind> {
        match self.flags {
            flags if flags == 1 << Flag::Object as u16 => Some(Kind::Object),
            flags if flags == 1 << Flag::Array as u16 => Some(Kind::Array),
            _ => None,
        }
    }

    /// The kinds of value that were met, in order, each with its first record. Messages use them.
    pub fn met(&self) -> Vec<(&'static str, u64)> {
        let mut met: Vec<(&'static str, u64)> = Vec::new();
        for (flag, at) in self.in_order() {
            let name = match flag {
                Flag::Bool => "booleans",
                Flag::Small | Flag::Negative | Flag::Unsigned | Flag::Wide => "integers",
                Flag::Huge => "integers of more than 38 digits",
                Flag::Inexact => continue,
                Flag::Float => "floats",
                Flag::FloatInexact => "decimals that no f64 holds",
                Flag::Text => "texts",
                Flag::Object => "objects",
                Flag::Array => "arrays",
            };
            if met.iter().all(|(other, _)| *other != name) {
                met.push((name, at));
            }
        }
        met
    }

    /// Where the type had to widen, first to last.
    pub fn widenings(&self) -> Vec<Widening> {
        let mut widenings = Vec::new();
        let mut flags = 0;
        let mut from = None;
        let mut in_order = self.in_order().into_iter().peekable();
        while let Some((flag, at)) = in_order.next() {
            flags |= 1 << flag as u16;
            // One record may set two flags.
            if in_order.peek().is_some_and(|(_, next)| *next == at) {
                continue;
            }
            let to = type_of(flags);
            if let (Some(from), Some(to)) = (from, to)
                && from != to
            {
                widenings.push(Widening { from, to, at });
            }
            from = to;
        }
        widenings
    }

    fn observe_number(&mut self, number: Number<'_>, at: u64) {
        if !number.is_integer() {
            return self.set(if survives(number) { Flag::Float } else { Flag::FloatInexact }, at);
        }
        let magnitude = if let Some(value) = number.as_i64() {
            self.set(if value < 0 { Flag::Negative } else { Flag::Small }, at);
            value.unsigned_abs()
        } else {
            let flag = match (number.as_u64(), number.to_decimal38()) {
                (Some(_), _) => Flag::Unsigned,
                (None, Some(_)) => Flag::Wide,
                (None, None) => Flag::Huge,
            };
            self.set(flag, at);
            u64::MAX
        };
        if magnitude > EXACT_MAX && !number.to_f64().is_some_and(|value| integer_survives_as(number, value)) {
            self.set(Flag::Inexact, at);
        }
    }

    #[inline]
    fn set(&mut self, flag: Flag, at: u64) {
        let first = &mut self.first[flag as usize];
        if self.flags & 1 << flag as u16 == 0 || at < *first {
            *first = at;
        }
        self.flags |= 1 << flag as u16;
    }

    fn has(&self, flag: Flag) -> bool {
        self.flags & 1 << flag as u16 != 0
    }

    fn in_order(&self) -> Vec<(Flag, u64)> {
        let mut seen: Vec<_> =
            FLAGS.into_iter().filter(|flag| self.has(*flag)).map(|flag| (flag, self.first[flag as usize])).collect();
        seen.sort_by_key(|(_, at)| *at);
        seen
    }
}

/// The double of a number, if the number survives as one.
#[cfg(feature = "arrow")]
pub(crate) fn surviving(number: Number<'_>) -> Option<f64> {
    let value = number.to_f64()?;
    (if number.is_integer() { integer_survives_as(number, value) } else { survives_as(number, value) }).then_some(value)
}

/// Whether a number with a point or an exponent is the ordinary decimal of an `f64`.
pub(crate) fn survives(number: Number<'_>) -> bool {
    let text = number.text();
    let is_short = text.len() <= DIGITS_SAFE && text.bytes().all(|byte| byte | 0x20 != b'e');
    is_short || number.to_f64().is_some_and(|value| survives_as(number, value))
}

fn survives_as(number: Number<'_>, value: f64) -> bool {
    let mantissa = number.text().split(['e', 'E']).next().unwrap_or_default();
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    if digits <= DIGITS_SAFE
        && (value == 0.0 || value.is_normal())
        && (value != 0.0 || !mantissa.contains(|c| ('1'..='9').contains(&c)))
    {
        return true;
    }
    is_printed_as(number, value)
}

/// Whether an integer is exactly an `f64`, and is what JSON output prints of it: 2⁶⁴ is printed as 18446744073709552000.
fn integer_survives_as(number: Number<'_>, value: f64) -> bool {
    number.is_exact_f64() && is_printed_as(number, value)
}

/// Whether JSON output prints a double as this number, in some spelling.
fn is_printed_as(number: Number<'_>, value: f64) -> bool {
    // The decimal that JSON output uses. Other printers may choose another one of two that are equally short and
    // equally near.
    let mut shortest = Vec::new();
    Numeral::F64(value).write(&mut shortest);
    let shortest = core::str::from_utf8(&shortest).ok().and_then(Number::new);
    shortest.is_some_and(|shortest| shortest.compare(number).is_eq())
}

fn type_of(flags: u16) -> Option<ColumnType> {
    let any = |wanted: &[Flag]| wanted.iter().any(|flag| flags & 1 << *flag as u16 != 0);
    let integers = any(&[Flag::Small, Flag::Negative, Flag::Unsigned, Flag::Wide, Flag::Huge]);
    let floats = any(&[Flag::Float, Flag::FloatInexact]);
    let classes = [any(&[Flag::Bool]), integers || floats, any(&[Flag::Text]), any(&[Flag::Object, Flag::Array])];
    match classes {
        [false, false, false, false] => None,
        [true, false, false, false] => Some(ColumnType::Bool),
        [false, false, true, false] => Some(ColumnType::Text),
        [false, true, false, false] => Some(match floats {
            true if any(&[Flag::Inexact, Flag::FloatInexact]) => ColumnType::Json,
            true => ColumnType::Float64,
            false if any(&[Flag::Huge]) => ColumnType::Json,
            false if any(&[Flag::Wide]) || any(&[Flag::Unsigned]) && any(&[Flag::Negative]) => ColumnType::Decimal,
            false if any(&[Flag::Unsigned]) => ColumnType::UInt64,
            false => ColumnType::Int64,
        }),
        _ => Some(ColumnType::Json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[&str], expected: Option<ColumnType>) {
        let mut all = Accumulator::default();
        let mut merged = Accumulator::default();
        for (at, value) in values.iter().enumerate() {
            all.observe(Field::from_raw(value), at as u64);
            let mut one = Accumulator::default();
            one.observe(Field::from_raw(value), at as u64);
            one.merge(&merged);
            merged = one;
        }
        assert_eq!(all.column_type(), expected, "{values:?}");
        assert_eq!(merged.column_type(), expected, "{values:?} merged");
        assert_eq!(merged.widenings(), all.widenings(), "{values:?} merged");
    }

    #[test]
    fn a_column_has_the_narrowest_type_that_keeps_every_value() {
        use ColumnType::{Bool, Decimal, Float64, Int64, Json, Text, UInt64};
        check(&[], None);
        check(&["", "null"], None);
        check(&["true", "null", "false"], Some(Bool));
        check(&["1", "", "-1", "9223372036854775807"], Some(Int64));
        check(&["1", "9223372036854775808"], Some(UInt64));
        check(&["-1", "9223372036854775808"], Some(Decimal));
        check(&["-9223372036854775809"], Some(Decimal));
        check(&["99999999999999999999999999999999999999"], Some(Decimal));
        check(&["100000000000000000000000000000000000000"], Some(Json));
        check(&["1", "1.5"], Some(Float64));
        check(&["9007199254740993", "1.5"], Some(Json));
        check(&["9007199254740992", "1.5"], Some(Float64));
        check(&["9007199254740994", "1.5"], Some(Float64));
        // Exactly 2⁶⁴, but printed as 18446744073709552000.
        check(&["18446744073709551616", "1.5"], Some(Json));
        check(&["1000000000000000019884624838656", "1.5"], Some(Json));
        check(&["0.1", "1e22", "5e-324", "1.7976931348623157e308"], Some(Float64));
        // Halfway between two decimals of 16 digits; the even one is written.
        check(&["543.7100219726562"], Some(Float64));
        check(&["543.7100219726563"], Some(Json));
        check(&["0.1000000000000000055"], Some(Json));
        check(&["1e309"], Some(Json));
        check(&["1e-400"], Some(Json));
        check(&["0.0", "-0.0", "0e-400"], Some(Float64));
        check(&["\"a\"", "null"], Some(Text));
        check(&["1", "\"a\""], Some(Json));
        check(&["true", "1"], Some(Json));
        check(&["{}"], Some(Json));
        check(&["[1]", "1"], Some(Json));
    }

    #[test]
    fn widenings_name_their_record() {
        let mut seen = Accumulator::default();
        for (value, at) in [("1", 10), ("2", 20), ("1.5", 30), ("\"a\"", 40)] {
            seen.observe(Field::from_raw(value), at);
        }
        let widening = |from, to, at| Widening { from, to, at };
        assert_eq!(
            seen.widenings(),
            [widening(ColumnType::Int64, ColumnType::Float64, 30), widening(ColumnType::Float64, ColumnType::Json, 40)]
        );
        assert_eq!(seen.met(), [("integers", 10), ("floats", 30), ("texts", 40)]);
    }
}
