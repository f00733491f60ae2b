//! Text that is JSON already.
//!
//! A newtype struct named [`RAW_TEXT`](super::RAW_TEXT) holds a string that is written as it is, without a check or a
//! new layout. The constructor of the type makes sure that the string is one JSON value.
//!
//! A newtype struct that holds [`Exact`] can also be serialized into formats that do not know this name. To tell the
//! two cases apart, it asks the serializer twice whether it is human-readable: this crate's serializer gives two
//! different answers, while any other gives the same answer twice.

use super::refusals;
use core::cell::Cell;
use core::fmt::{self, Write};
use serde_core::ser::{self, Impossible, Serialize, Serializer};

/// Receives raw text.
pub(crate) trait RawText {
    type Ok;
    type Error: ser::Error;

    /// Takes the text of one value.
    fn text(self, text: &str) -> Result<Self::Ok, Self::Error>;
}

/// serde's `Serializer` for raw text.
pub(crate) struct Raw<T> {
    to: T,
    asked: Cell<bool>,
}

impl<T: RawText> Raw<T> {
    pub(crate) fn new(to: T) -> Self {
        Self { to, asked: Cell::new(false) }
    }
}

#[cold]
fn no_text<T, E: ser::Error>() -> Result<T, E> {
    Err(E::custom("raw JSON must be a string"))
}

/// Refuses scalars other than strings.
macro_rules! scalars {
    ($($name:ident: $type:ty),+) => {
        $(
            fn $name(self, _value: $type) -> Result<Self::Ok, Self::Error> {
                no_text()
            }
        )+
    };
}

impl<W: RawText> Serializer for Raw<W> {
    type Ok = W::Ok;
    type Error = W::Error;

    fn is_human_readable(&self) -> bool {
        !self.asked.replace(!self.asked.get())
    }

    fn serialize_str(self, text: &str) -> Result<Self::Ok, Self::Error> {
        self.to.text(text)
    }

    scalars!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128, serialize_f32: f32, serialize_f64: f64, serialize_char: char
    );

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
    ) -> Result<Self::Ok, Self::Error> {
        no_text()
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<Self::Ok, Self::Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<Self::Ok, Self::Error> {
        value.serialize(self)
    }

    refusals!(no_text());

    fn collect_str<T: ?Sized + fmt::Display>(self, value: &T) -> Result<Self::Ok, Self::Error> {
        let mut text = String::new();
        match write!(text, "{value}") {
            Ok(()) => self.to.text(&text),
            Err(_) => Err(ser::Error::custom("raw JSON could not be displayed")),
        }
    }
}

/// A number: this crate's serializers receive its text, others receive its value.
pub(crate) struct Exact<'a>(pub(crate) crate::number::Number<'a>);

/// A decimal number with this many significant digits tells one `f64` from any other.
const F64_DIGITS: usize = 17;

impl Serialize for Exact<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_text = serializer.is_human_readable();
        let is_ours = is_text != serializer.is_human_readable();
        let number = self.0;
        if is_ours {
            return serializer.serialize_str(number.text());
        }
        if let Some(value) = number.as_i64() {
            // An integer has no negative zero.
            let is_negative_zero = value == 0 && number.text().starts_with('-');
            return if is_negative_zero { serializer.serialize_f64(-0.0) } else { serializer.serialize_i64(value) };
        }
        if let Some(value) = number.as_u64() {
            return serializer.serialize_u64(value);
        }
        if is_text && number.is_integer() {
            // A format of text writes all the digits, or says that it cannot.
            if let Some(value) = number.as_i128() {
                return serializer.serialize_i128(value);
            }
            if let Some(value) = number.as_u128() {
                return serializer.serialize_u128(value);
            }
        }
        match number.to_f64() {
            Some(value) if !is_text || is_same(number, value) => serializer.serialize_f64(value),
            Some(_) => Err(ser::Error::custom(format_args!("the number {number} has too many digits for this format"))),
            None => Err(ser::Error::custom(format_args!("the number {number} is too large for this format"))),
        }
    }
}

/// Whether a format that writes the digits of `value` writes the number.
fn is_same(number: crate::number::Number<'_>, value: f64) -> bool {
    let digits = number.text().bytes().take_while(|byte| !matches!(byte, b'e' | b'E'));
    digits.filter(u8::is_ascii_digit).count() <= F64_DIGITS
        || crate::number::Number::new(zmij::Buffer::new().format(value))
            .is_some_and(|shortest| shortest.compare(number).is_eq())
}
