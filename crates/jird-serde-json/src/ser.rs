//! Writing JSON.
//!
//! The functions write with the engine. [`Serializer`] is `serde_json`'s, so that any [`Formatter`] works.

use crate::error::{Error, Result};
use serde_core::ser::{self, Serialize, SerializeMap};
pub use serde_json::ser::{CharEscape, CompactFormatter, Compound, Formatter, PrettyFormatter, Serializer, State};
use std::io;

/// Serializes a value as compact JSON.
///
/// ```
/// assert_eq!(jird_serde_json::to_string(&(1.0, "a"))?, r#"[1.0,"a"]"#);
/// # Ok::<(), jird_serde_json::Error>(())
/// ```
///
/// # Errors
/// If the value's `Serialize` fails, or a map has a key that is neither a string nor a number, boolean or unit variant.
#[inline]
pub fn to_string<T>(value: &T) -> Result<String>
where
    T: ?Sized + Serialize,
{
    jird::to_string(value).map_err(of_engine)
}

/// Serializes a value as indented JSON.
///
/// # Errors
/// As [`to_string`].
#[inline]
pub fn to_string_pretty<T>(value: &T) -> Result<String>
where
    T: ?Sized + Serialize,
{
    jird::to_string_pretty(value).map_err(of_engine)
}

/// [`to_string`] as bytes.
///
/// # Errors
/// As [`to_string`].
#[inline]
pub fn to_vec<T>(value: &T) -> Result<Vec<u8>>
where
    T: ?Sized + Serialize,
{
    jird::to_vec(value).map_err(of_engine)
}

/// [`to_string_pretty`] as bytes.
///
/// # Errors
/// As [`to_string`].
#[inline]
pub fn to_vec_pretty<T>(value: &T) -> Result<Vec<u8>>
where
    T: ?Sized + Serialize,
{
    jird::to_vec_pretty(value).map_err(of_engine)
}

/// Writes the output of [`to_string`], some kilobytes at a time; each piece ends with a whole character. The writer is
/// not flushed. If the value fails, all that comes before the failure is written.
///
/// ```
/// let mut text = Vec::new();
/// jird_serde_json::to_writer(&mut text, &[1, 2])?;
/// assert_eq!(text, b"[1,2]");
/// # Ok::<(), jird_serde_json::Error>(())
/// ```
///
/// # Errors
/// As [`to_string`], and the errors of the writer.
#[inline]
pub fn to_writer<W, T>(writer: W, value: &T) -> Result<()>
where
    W: io::Write,
    T: ?Sized + Serialize,
{
    jird::to_writer(writer, value).map_err(of_engine)
}

/// [`to_writer`] with the output of [`to_string_pretty`].
///
/// # Errors
/// As [`to_writer`].
#[inline]
pub fn to_writer_pretty<W, T>(writer: W, value: &T) -> Result<()>
where
    W: io::Write,
    T: ?Sized + Serialize,
{
    jird::to_writer_pretty(writer, value).map_err(of_engine)
}

/// The error of the engine in the type, the words and the category of `serde_json`.
#[cold]
fn of_engine(error: jird::Error) -> Error {
    if error.is_io() {
        return Error::io(error.into());
    }
    let words = error.to_string();
    // Only `serde_json` can make its errors of syntax: it is given a map with such a key.
    if error.is_syntax()
        && let Some(refused) = [WrongKey::Unit, WrongKey::Nan]
            .iter()
            .filter_map(WrongKey::refused)
            .find(|refused| refused.to_string() == words)
    {
        return refused;
    }
    ser::Error::custom(words)
}

/// A map whose key JSON cannot have.
enum WrongKey {
    /// Not a string.
    Unit,
    /// A float that is not finite.
    Nan,
}

impl WrongKey {
    fn refused(&self) -> Option<Error> {
        serde_json::to_writer(io::sink(), self).err()
    }
}

impl Serialize for WrongKey {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> core::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::Unit => map.serialize_key(&())?,
            Self::Nan => map.serialize_key(&f64::NAN)?,
        }
        map.serialize_value(&())?;
        map.end()
    }
}
