//! Numbers, with their text.
//!
//! An integer of 64 bits is one, and a number made from an `f64` is that. Any other number of a text keeps its digits:
//! up to 19 of them in place, as `65613616999999977 / 10^15`; more of them, and numbers with an exponent, as text.

use crate::error::Error;
use crate::plain;
use crate::tree::exact::{self, Route};
use core::fmt::{self, Debug, Display};
use core::hash::{Hash, Hasher};
use core::str::FromStr;
use jird::hooks::{ALL_NUMBERS, BufferedFloat, EXACT_NUMBERS, RAW_TEXT, buffered_float};
use serde_core::de::{self, Deserialize, Deserializer, MapAccess, Unexpected, Visitor};
use serde_core::ser::{Serialize, SerializeStruct, Serializer};

/// A JSON number: an integer, or any other number with all of its digits.
///
/// ```
/// use jird_serde_json::{Number, Value};
/// let prices: Vec<Number> = jird_serde_json::from_str("[1.50, 123456789012345678901234567890]")?;
/// assert_eq!(prices[0].as_f64(), Some(1.5));
/// assert_eq!(jird_serde_json::to_string(&prices)?, "[1.50,123456789012345678901234567890]");
/// # Ok::<(), jird_serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct Number {
    n: N,
    #[cfg(feature = "arbitrary_precision")]
    text: Box<str>,
}

#[derive(Clone)]
enum N {
    PosInt(u64),
    /// Less than zero.
    NegInt(i64),
    /// Finite.
    Float(f64),
    Decimal(Decimal),
    /// Finite as an `f64`, unless it may have [any size](ANY_SIZE).
    Text(Box<str>),
}

/// `digits / 10^scale`, with a fraction of `scale` digits, at least one. At most [`DIGITS_MAX`] digits.
#[derive(Clone, Copy)]
struct Decimal {
    digits: u64,
    scale: u8,
    negative: bool,
}

impl From<jird::hooks::Decimal> for Decimal {
    #[inline]
    fn from(decimal: jird::hooks::Decimal) -> Self {
        Self { digits: decimal.digits, scale: decimal.places, negative: decimal.negative }
    }
}

/// With `arbitrary_precision`, a number is its text, as in `serde_json`: of any size, as short as an `f32` is written, equal
/// to the same text, and with a sign before a positive exponent.
pub(super) const ANY_SIZE: bool = cfg!(feature = "arbitrary_precision");

/// How the engine is asked for numbers.
pub(super) const NUMBERS: &str = if ANY_SIZE { ALL_NUMBERS } else { EXACT_NUMBERS };

/// Any number of this many digits fits into a `u64`.
const DIGITS_MAX: usize = 19;

/// Room for the text of a number that is not kept as text.
type TextBuffer = [u8; 32];

impl Decimal {
    /// Writes the text at the end of `buffer`.
    fn text(self, buffer: &mut TextBuffer) -> &str {
        let mut at = buffer.len();
        let mut left = self.digits;
        let mut written = 0;
        while left > 0 || written <= self.scale {
            if written == self.scale {
                at -= 1;
                buffer[at] = b'.';
            }
            at -= 1;
            buffer[at] = b'0' + (left % 10) as u8;
            left /= 10;
            written += 1;
        }
        if self.negative {
            at -= 1;
            buffer[at] = b'-';
        }
        core::str::from_utf8(&buffer[at..]).unwrap_or("0")
    }

    fn to_f64(self) -> f64 {
        const EXACT: [f64; 20] = [
            1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
            1e19,
        ];
        if self.digits <= 1 << 53 {
            // Both are exact, so that the quotient is rounded once.
            let value = self.digits as f64 / EXACT[usize::from(self.scale).min(EXACT.len() - 1)];
            return if self.negative { -value } else { value };
        }
        self.text(&mut [0; 32]).parse().unwrap_or(f64::NAN)
    }
}

impl N {
    /// The number of a text without an exponent and with few digits.
    #[inline]
    fn plain(text: &[u8]) -> Option<Self> {
        let negative = text.first() == Some(&b'-');
        let unsigned = &text[usize::from(negative)..];
        if unsigned.len() > DIGITS_MAX + 1 {
            return None;
        }
        let mut digits = 0_u64;
        let mut point = None;
        for (at, &byte) in unsigned.iter().enumerate() {
            match byte {
                b'0'..=b'9' => digits = digits.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')),
                b'.' => point = Some(at),
                _ => return None,
            }
        }
        match point {
            Some(point) => {
                let scale = (unsigned.len() - point - 1) as u8;
                Some(Self::Decimal(Decimal { digits, scale, negative }))
            }
            None if unsigned.len() > DIGITS_MAX => None,
            None if !negative => Some(Self::PosInt(digits)),
            None => 0_i64.checked_sub_unsigned(digits).filter(|&value| value < 0).map(Self::NegInt),
        }
    }
}

impl Number {
    #[inline]
    fn of(n: N) -> Self {
        Self {
            #[cfg(feature = "arbitrary_precision")]
            text: n.with_text(|text| text.into()),
            n,
        }
    }

    /// The number of a text that is known to be one, and to be finite as an `f64`, unless it may have [any size](ANY_SIZE).
    #[inline]
    pub(crate) fn of_text(text: &str) -> Self {
        Self::of(
            N::plain(text.as_bytes())
                .unwrap_or_else(|| if ANY_SIZE { N::of_long(&with_signed_exponent(text)) } else { N::of_long(text) }),
        )
    }

    /// The number that the engine has [packed](jird::hooks::Decimal::packed).
    #[inline]
    pub(crate) fn of_packed(decimal: u128) -> Self {
        Self::of(N::Decimal(jird::hooks::Decimal::of_packed(decimal).into()))
    }

    /// The number of a text, if it is one, and is finite as an `f64` or may have [any size](ANY_SIZE).
    pub(crate) fn of_any_text(text: &str) -> Option<Self> {
        let number = jird::Number::new(text)?;
        (ANY_SIZE || number.to_f64().is_some()).then(|| Self::of_text(text))
    }

    /// Whether the number is an `i64`.
    ///
    /// ```
    /// # use jird_serde_json::json;
    /// assert!(json!(-64).as_number().unwrap().is_i64());
    /// assert!(!json!(256.0).as_number().unwrap().is_i64());
    /// ```
    pub fn is_i64(&self) -> bool {
        match self.n {
            N::PosInt(value) => i64::try_from(value).is_ok(),
            N::NegInt(_) => true,
            _ => false,
        }
    }

    /// Whether the number is a `u64`.
    pub fn is_u64(&self) -> bool {
        matches!(self.n, N::PosInt(_))
    }

    /// Whether the number is neither an `i64` nor a `u64`. It then has an `f64`.
    pub fn is_f64(&self) -> bool {
        !matches!(self.n, N::PosInt(_) | N::NegInt(_))
    }

    /// The number, if it is an `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        match self.n {
            N::PosInt(value) => i64::try_from(value).ok(),
            N::NegInt(value) => Some(value),
            _ => None,
        }
    }

    /// The number, if it is a `u64`.
    pub fn as_u64(&self) -> Option<u64> {
        if let N::PosInt(value) = self.n { Some(value) } else { None }
    }

    /// The nearest `f64`. With `arbitrary_precision` it may be infinite, and is then `None`.
    pub fn as_f64(&self) -> Option<f64> {
        Some(self.to_f64()).filter(|value| !ANY_SIZE || value.is_finite())
    }

    fn to_f64(&self) -> f64 {
        match &self.n {
            N::PosInt(value) => *value as f64,
            N::NegInt(value) => *value as f64,
            N::Float(value) => *value,
            N::Decimal(decimal) => decimal.to_f64(),
            N::Text(text) => text.parse().unwrap_or(f64::NAN),
        }
    }

    /// The nearest `f32`, if it is finite.
    pub(crate) fn as_f32(&self) -> Option<f32> {
        self.with_text(|text| text.parse::<f32>().ok()).filter(|value| value.is_finite())
    }

    /// The number of an `f64`; `None` if it is infinite or NaN.
    ///
    /// ```
    /// # use jird_serde_json::Number;
    /// assert!(Number::from_f64(256.0).is_some() && Number::from_f64(f64::NAN).is_none());
    /// ```
    pub fn from_f64(f: f64) -> Option<Number> {
        f.is_finite().then(|| Self::of(N::Float(f)))
    }

    /// The number of an `f32`, as the `f64` of the same value; with `arbitrary_precision`, as it is written.
    pub(crate) fn from_f32(f: f32) -> Option<Number> {
        if ANY_SIZE {
            return f.is_finite().then(|| Self::of_text(zmij::Buffer::new().format(f)));
        }
        Self::from_f64(f.into())
    }

    /// The number, if it is an integer that fits.
    pub fn as_i128(&self) -> Option<i128> {
        match &self.n {
            N::PosInt(value) => Some((*value).into()),
            N::NegInt(value) => Some((*value).into()),
            N::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The number, if it is an integer that fits.
    pub fn as_u128(&self) -> Option<u128> {
        match &self.n {
            N::PosInt(value) => Some((*value).into()),
            N::Text(text) if !text.starts_with('-') => text.parse().ok(),
            _ => None,
        }
    }

    /// The number of any `i128`. It is always `Some`.
    pub fn from_i128(i: i128) -> Option<Number> {
        Some(match (u64::try_from(i), i64::try_from(i)) {
            (Ok(value), _) => value.into(),
            (_, Ok(value)) => value.into(),
            _ => Self::of(N::Text(i.to_string().into())),
        })
    }

    /// The number of any `u128`. It is always `Some`.
    pub fn from_u128(i: u128) -> Option<Number> {
        Some(u64::try_from(i).map_or_else(|_| Self::of(N::Text(i.to_string().into())), Number::from))
    }

    /// The text of the number.
    #[cfg(feature = "arbitrary_precision")]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The number of a text that the caller has checked.
    #[cfg(feature = "arbitrary_precision")]
    #[doc(hidden)]
    pub fn from_string_unchecked(n: String) -> Self {
        Self::of_text(&n)
    }

    /// Passes the text to `then`.
    pub(crate) fn with_text<T>(&self, then: impl FnOnce(&str) -> T) -> T {
        self.n.with_text(then)
    }

    /// Whether an integer or an `f64`, written as such, gives the text of the number.
    pub(crate) fn is_canonical(&self) -> bool {
        match &self.n {
            N::PosInt(_) | N::NegInt(_) | N::Float(_) => true,
            _ => self.with_text(|text| zmij::Buffer::new().format(self.to_f64()) == text),
        }
    }

    /// Visits the number as an integer or an `f64`.
    pub(crate) fn visit<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Error> {
        match &self.n {
            N::PosInt(value) => visitor.visit_u64(*value),
            N::NegInt(value) => visitor.visit_i64(*value),
            _ => match self.as_f64() {
                Some(value) => visitor.visit_f64(value),
                None => Err(de::Error::custom("number out of range")),
            },
        }
    }

    pub(crate) fn unexpected(&self) -> Unexpected<'static> {
        match &self.n {
            N::PosInt(value) => Unexpected::Unsigned(*value),
            N::NegInt(value) => Unexpected::Signed(*value),
            _ => Unexpected::Float(self.to_f64()),
        }
    }

    /// The number of an `f64` that another format, or a buffer of serde's, gives.
    #[cold]
    pub(crate) fn of_visited<E: de::Error>(value: f64) -> Result<Option<Self>, E> {
        match buffered_float::<E>(value) {
            BufferedFloat::Text(text) => Ok(Self::of_any_text(&text)),
            BufferedFloat::Unknown | BufferedFloat::SameValue => Ok(Self::from_f64(value)),
            BufferedFloat::Ambiguous => Err(E::custom(format_args!(
                "several numbers of the text are {value} as an f64, and their digits were lost in a buffer of serde's"
            ))),
        }
    }
}

impl N {
    #[cold]
    fn of_long(text: &str) -> Self {
        match (text.parse(), text.parse()) {
            (Ok(value), _) => Self::PosInt(value),
            (_, Ok(value)) if value < 0 => Self::NegInt(value),
            _ => Self::Text(text.into()),
        }
    }

    fn with_text<T>(&self, then: impl FnOnce(&str) -> T) -> T {
        match self {
            Self::PosInt(value) => then(&value.to_string()),
            Self::NegInt(value) => then(&value.to_string()),
            Self::Float(value) => then(zmij::Buffer::new().format(*value)),
            Self::Decimal(decimal) => then(decimal.text(&mut [0; 32])),
            Self::Text(text) => then(text),
        }
    }
}

/// As in `serde_json`: integers are equal to the same integers, and all other numbers to those with the same `f64`, or with
/// `arbitrary_precision` to those with the same text.
impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (&self.n, &other.n) {
            (N::PosInt(one), N::PosInt(two)) => one == two,
            (N::NegInt(one), N::NegInt(two)) => one == two,
            (N::PosInt(_) | N::NegInt(_), _) | (_, N::PosInt(_) | N::NegInt(_)) => false,
            _ if ANY_SIZE => self.with_text(|one| other.with_text(|other| one == other)),
            _ => self.to_f64() == other.to_f64(),
        }
    }
}

impl Eq for Number {}

/// A number's text with its exponent as `serde_json` writes it with `arbitrary_precision`: `1E5` is `1e+5`.
fn with_signed_exponent(text: &str) -> String {
    let mut text = text.to_ascii_lowercase();
    if let Some(e) = text.find('e')
        && text.as_bytes().get(e + 1).is_some_and(u8::is_ascii_digit)
    {
        text.insert(e + 1, '+');
    }
    text
}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.n {
            N::PosInt(value) => value.hash(state),
            N::NegInt(value) => value.hash(state),
            _ if ANY_SIZE => self.with_text(|text| text.hash(state)),
            // Both zeros are equal.
            _ => (self.to_f64() + 0.0).to_bits().hash(state),
        }
    }
}

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| f.write_str(text))
    }
}

impl Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Number({self})")
    }
}

impl FromStr for Number {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match Self::of_any_text(text) {
            Some(number) => Ok(number),
            None => text.parse::<serde_json::Number>().map(|number| Self::of_text(&number.to_string())),
        }
    }
}

/// The text of a number, for the engine's serializers.
struct NumberText<'a>(&'a str);

impl Serialize for NumberText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl Serialize for Number {
    /// In JSON the number keeps its text. Another format receives its value, or an error if it is a format of text and
    /// the value has more digits than an `f64`.
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.n {
            N::PosInt(value) => serializer.serialize_u64(*value),
            N::NegInt(value) => serializer.serialize_i64(*value),
            N::Float(value) => serializer.serialize_f64(*value),
            N::Decimal(_) | N::Text(_) => self.serialize_text(serializer),
        }
    }
}

impl Number {
    fn serialize_text<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match exact::route::<S::Error>() {
            Route::Engine => self.with_text(|text| serializer.serialize_newtype_struct(RAW_TEXT, &NumberText(text))),
            Route::SerdeJson if self.is_canonical() || !exact::takes_text::<S>() && self.as_f64().is_some() => {
                serializer.serialize_f64(self.to_f64())
            }
            Route::SerdeJson => self.with_text(|text| {
                let mut raw = serializer.serialize_struct(RAW_TEXT, 1)?;
                raw.serialize_field(RAW_TEXT, text)?;
                raw.end()
            }),
            Route::Other => self.with_text(|text| match jird::Number::new(text) {
                Some(number) => number.serialize(serializer),
                None => serializer.serialize_f64(self.to_f64()),
            }),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match exact::route::<D::Error>() {
            Route::Engine => deserializer.deserialize_newtype_struct(NUMBERS, NumberVisitor(true)),
            Route::SerdeJson if !plain::is_plain() => {
                deserializer.deserialize_newtype_struct(RAW_TEXT, NumberVisitor(false))
            }
            Route::SerdeJson | Route::Other => deserializer.deserialize_any(NumberVisitor(false)),
        }
    }
}

/// Whether the numbers come from the engine, so that a `u128` is a packed decimal.
struct NumberVisitor(bool);

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON number")
    }

    fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
        Ok(value.into())
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Number, E> {
        Number::from_i128(value).ok_or_else(|| E::custom("JSON number out of range"))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
        Ok(value.into())
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Number, E> {
        if self.0 {
            return Ok(Number::of_packed(value));
        }
        Number::from_u128(value).ok_or_else(|| E::custom("JSON number out of range"))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Number, E> {
        Number::of_visited(value)?.ok_or_else(|| E::custom("not a JSON number"))
    }

    /// The text of a number, from the engine.
    fn visit_bytes<E: de::Error>(self, text: &[u8]) -> Result<Number, E> {
        exact::number_of_bytes(text).ok_or_else(|| E::invalid_type(Unexpected::Bytes(text), &self))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Number, D::Error> {
        deserializer.deserialize_any(NumberVisitor(false))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Number, A::Error> {
        if plain::is_plain() {
            return Err(de::Error::invalid_type(Unexpected::Map, &self));
        }
        let key: Option<String> = members.next_key()?;
        if key.is_none_or(|key| !exact::is_text_key(&key)) {
            return Err(de::Error::invalid_type(Unexpected::Map, &self));
        }
        let text: String = members.next_value()?;
        Number::of_any_text(&text).ok_or_else(|| exact::other_value(&text, &self))
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                self.visit(visitor)
            }
        )*
    };
}

macro_rules! deserializers {
    ($($type:ty),*) => {
        $(
            impl<'de> Deserializer<'de> for $type {
                type Error = Error;

                numbers! {
                    deserialize_any deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
                    deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64
                }

                fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    match self.as_i128() {
                        Some(value) => visitor.visit_i128(value),
                        None => self.visit(visitor),
                    }
                }

                fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    match self.as_u128() {
                        Some(value) => visitor.visit_u128(value),
                        None => self.visit(visitor),
                    }
                }

                fn deserialize_newtype_struct<V: Visitor<'de>>(
                    self,
                    name: &'static str,
                    visitor: V,
                ) -> Result<V::Value, Error> {
                    if name == RAW_TEXT {
                        return self.with_text(|text| exact::visit_raw_text(text, visitor));
                    }
                    visitor.visit_newtype_struct(self)
                }

                serde_core::forward_to_deserialize_any! {
                    bool char str string bytes byte_buf option unit unit_struct seq tuple tuple_struct map struct enum
                    identifier ignored_any
                }
            }
        )*
    };
}
deserializers!(Number, &Number);

macro_rules! from {
    ($via:ty, $make:expr; $($type:ident)*) => {
        $(
            impl From<$type> for Number {
                #[inline]
                fn from(value: $type) -> Self {
                    #[allow(clippy::cast_lossless, reason = "for `usize` there is no `From`")]
                    let value = value as $via;
                    let make: fn($via) -> N = $make;
                    Self::of(make(value))
                }
            }
        )*
    };
}
from!(u64, N::PosInt; u8 u16 u32 u64 usize);
from!(i64, |value| if value < 0 { N::NegInt(value) } else { N::PosInt(value as u64) }; i8 i16 i32 i64 isize);

#[cfg(feature = "arbitrary_precision")]
impl From<i128> for Number {
    fn from(value: i128) -> Self {
        Self::from_i128(value).unwrap_or_else(|| Self::of(N::PosInt(0)))
    }
}

#[cfg(feature = "arbitrary_precision")]
impl From<u128> for Number {
    fn from(value: u128) -> Self {
        Self::from_u128(value).unwrap_or_else(|| Self::of(N::PosInt(0)))
    }
}

/// Every number of `serde_json` has a text, also with its feature `arbitrary_precision`.
impl From<serde_json::Number> for Number {
    fn from(number: serde_json::Number) -> Self {
        match (number.as_u64(), number.as_i64()) {
            (Some(value), _) => value.into(),
            (_, Some(value)) => value.into(),
            _ => Self::of_text(&number.to_string()),
        }
    }
}

/// # Errors
/// If the number has digits that a number of `serde_json` would lose.
impl TryFrom<Number> for serde_json::Number {
    type Error = Error;

    fn try_from(number: Number) -> Result<Self, Error> {
        let made = match number.n {
            N::PosInt(value) => Some(value.into()),
            N::NegInt(value) => Some(value.into()),
            _ => Self::from_f64(number.to_f64()).filter(|made| {
                let made = made.to_string();
                number.with_text(|text| {
                    jird::Number::new(text)
                        .zip(jird::Number::new(&made))
                        .is_some_and(|(text, made)| text.compare(made).is_eq())
                })
            }),
        };
        made.ok_or_else(|| {
            de::Error::custom(format_args!("the number {number} has digits that serde_json::Number loses"))
        })
    }
}
