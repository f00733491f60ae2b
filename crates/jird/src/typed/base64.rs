//! Bytes and numbers as base64 within a string, for `#[serde(with = "jird::base64")]`.
//!
//! The alphabet is the standard one, and padding is required (RFC 4648 §4). Text that is not in this form is refused,
//! even if it could be decoded: other characters, including line breaks; missing padding; bits left over in the last
//! character. The error has the path of the value.
//!
//! Fields may be `Vec<u8>`, `Box<[u8]>`, `Cow<[u8]>`, `[u8; N]`, and any other type that is `AsRef<[u8]>` and can be
//! made from a `Vec<u8>`. For `f64` and `i64` in place of `u8` there are [`f64s`] and [`i64s`].
//!
//! ```
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Photo {
//!     #[serde(with = "jird::base64")]
//!     thumbnail: Vec<u8>,
//!     #[serde(with = "jird::base64")]
//!     digest: [u8; 4],
//! }
//!
//! let photo: Photo = jird::from_str(r#"{"thumbnail": "SGVsbG8=", "digest": "AQIDBA=="}"#)?;
//! assert_eq!((&*photo.thumbnail, photo.digest), (&b"Hello"[..], [1, 2, 3, 4]));
//! assert_eq!(jird::to_string(&photo)?, r#"{"thumbnail":"SGVsbG8=","digest":"AQIDBA=="}"#);
//!
//! let Err(error) = jird::from_str::<Photo>(r#"{"thumbnail": "SGV-bG8="}"#) else { unreachable!() };
//! assert_eq!(error.to_string(), "base64: unexpected '-' at 3 at line 1 column 15 (at /thumbnail)");
//! # Ok::<(), jird::Error>(())
//! ```

use base64_simd::{Out, STANDARD};
use core::fmt::{self, Display};
use serde_core::de::{Deserializer, Error, Visitor};
use serde_core::ser::Serializer;

/// Writes bytes. Allocates nothing itself.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer, T: ?Sized + AsRef<[u8]>>(bytes: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&Base64Text(bytes.as_ref()))
}

/// Reads bytes.
///
/// # Errors
/// If the value is not a string, if it is not base64, or if the number of bytes is not the length of the array.
pub fn deserialize<'de, D: Deserializer<'de>, T: TryFrom<Vec<u8>>>(deserializer: D) -> Result<T, D::Error> {
    made(deserializer.deserialize_str(Bytes)?)
}

/// Makes a module for one type of numbers.
macro_rules! numbers {
    ($(#[$doc:meta])* $module:ident: $type:ty) => {
        $(#[$doc])*
        pub mod $module {
            use serde_core::de::{Deserializer, Error};
            use serde_core::ser::Serializer;

            /// Writes numbers as eight bytes each, in little-endian order. Allocates nothing itself.
            ///
            /// # Errors
            /// Those of the serializer.
            pub fn serialize<S: Serializer, T: ?Sized + AsRef<[$type]>>(
                numbers: &T,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&super::Base64Text(numbers.as_ref()))
            }

            /// Reads numbers.
            ///
            /// # Errors
            /// If the value is not a string, if it is not base64, if the number of bytes is not a multiple of eight, or
            /// if the number of numbers is not the length of the array.
            pub fn deserialize<'de, D: Deserializer<'de>, T: TryFrom<Vec<$type>>>(deserializer: D) -> Result<T, D::Error> {
                let bytes = deserializer.deserialize_str(super::Bytes)?;
                let (numbers, rest) = bytes.as_chunks();
                if !rest.is_empty() {
                    return Err(D::Error::custom(format_args!("base64: {} bytes are not a multiple of 8", bytes.len())));
                }
                super::made(numbers.iter().map(|bytes| <$type>::from_le_bytes(*bytes)).collect::<Vec<_>>())
            }
        }

        impl Element for $type {
            #[inline]
            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        }
    };
}
numbers!(
    /// Doubles with every bit kept, including infinities and NaN, which JSON's numbers do not have.
    ///
    /// ```
    /// #[derive(serde::Serialize, serde::Deserialize)]
    /// struct Embedding(#[serde(with = "jird::base64::f64s")] Vec<f64>);
    ///
    /// let text = jird::to_string(&Embedding(vec![1.0, f64::INFINITY]))?;
    /// assert_eq!(text, r#""AAAAAAAA8D8AAAAAAADwfw==""#);
    /// assert_eq!(jird::from_str::<Embedding>(&text)?.0, [1.0, f64::INFINITY]);
    /// # Ok::<(), jird::Error>(())
    /// ```
    f64s: f64
);
numbers!(
    /// Integers.
    ///
    /// ```
    /// #[derive(serde::Serialize, serde::Deserialize)]
    /// struct Ids(#[serde(with = "jird::base64::i64s")] [i64; 2]);
    ///
    /// let text = jird::to_string(&Ids([1, -1]))?;
    /// assert_eq!(text, r#""AQAAAAAAAAD//////////w==""#);
    /// assert_eq!(jird::from_str::<Ids>(&text)?.0, [1, -1]);
    /// # Ok::<(), jird::Error>(())
    /// ```
    i64s: i64
);

/// An element of a list that is written as bytes.
trait Element: Copy {
    /// Stores the element's bytes. `bytes.len()` is the size of the type.
    fn put(self, bytes: &mut [u8]);
}

impl Element for u8 {
    #[inline]
    fn put(self, bytes: &mut [u8]) {
        bytes[0] = self;
    }
}

/// Displays elements as base64.
struct Base64Text<'a, T>(&'a [T]);

/// The number of bytes encoded at once: a multiple of each element's size and of three.
const PIECE: usize = 768;

impl<T: Element> Display for Base64Text<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut bytes, mut text) = ([0; PIECE], [0; PIECE / 3 * 4]);
        for piece in self.0.chunks(PIECE / size_of::<T>()) {
            piece.iter().zip(bytes.chunks_exact_mut(size_of::<T>())).for_each(|(element, to)| element.put(to));
            f.write_str(STANDARD.encode_as_str(&bytes[..size_of_val(piece)], Out::from_slice(&mut text)))?;
        }
        Ok(())
    }
}

/// Decodes base64 from a visited string.
struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string of base64")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
        STANDARD.decode_to_vec(text).map_err(|_| wrong(text))
    }
}

/// The error for a `text` that is not base64, with the reason.
#[cold]
fn wrong<E: Error>(text: &str) -> E {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    let stranger = digits.char_indices().find(|(_, c)| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/')));
    match stranger {
        Some((at, stranger)) => E::custom(format_args!("base64: unexpected {stranger:?} at {at}")),
        None if !text.len().is_multiple_of(4) || padding > 2 => {
            E::custom(format_args!("base64: {} characters and {padding} of padding are not groups of 4", digits.len()))
        }
        None => E::custom("base64: the last character has bits that are not used"),
    }
}

/// Converts the list into the field's type.
fn made<T: TryFrom<Vec<N>>, N, E: Error>(list: Vec<N>) -> Result<T, E> {
    let len = list.len();
    T::try_from(list).map_err(|_| E::custom(format_args!("base64: {len} elements do not fit the type")))
}
