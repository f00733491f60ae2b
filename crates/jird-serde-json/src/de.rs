//! Reading JSON.
//!
//! The functions read with the engine. If it refuses a text, or a type refuses a value, `serde_json` reads it again, so
//! that the error has its words and its place. [`Deserializer`] and [`StreamDeserializer`] are `serde_json`'s: from a
//! reader they take exactly the bytes of a value, one by one, and none after it.

use crate::error::{Error, Result};
use crate::plain;
use serde_core::de::{self, Deserialize, DeserializeOwned, IgnoredAny};
pub use serde_json::de::{Deserializer, IoRead, Read, SliceRead, StrRead, StreamDeserializer};
use std::io::{self, Read as _};

/// Decodes bytes that are one JSON value.
///
/// ```
/// let numbers: Vec<u8> = jird_serde_json::from_slice(b"[1, 2]")?;
/// assert_eq!(numbers, [1, 2]);
/// # Ok::<(), jird_serde_json::Error>(())
/// ```
///
/// # Errors
/// If the text is not JSON, or does not fit `T`. The text is then decoded again, to tell the place.
#[inline]
pub fn from_slice<'a, T>(v: &'a [u8]) -> Result<T>
where
    T: Deserialize<'a>,
{
    match jird::from_slice(v) {
        Ok(value) => Ok(value),
        Err(refused) => slice_again(refused, v),
    }
}

/// Decodes a text that is one JSON value.
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct User<'a> {
///     name: &'a str,
/// }
/// let user: User = jird_serde_json::from_str(r#"{"name": "Ada"}"#)?;
/// assert_eq!(user.name, "Ada");
/// # Ok::<(), jird_serde_json::Error>(())
/// ```
///
/// # Errors
/// As [`from_slice`].
#[inline]
pub fn from_str<'a, T>(s: &'a str) -> Result<T>
where
    T: Deserialize<'a>,
{
    match jird::from_str(s) {
        Ok(value) => Ok(value),
        Err(refused) => again(refused, || serde_json::from_str(s)),
    }
}

#[cold]
fn slice_again<'a, T: Deserialize<'a>>(refused: jird::Error, v: &'a [u8]) -> Result<T> {
    again(refused, || serde_json::from_slice(v))
}

/// Decodes with `serde_json` what the engine has refused.
#[cold]
fn again<T>(refused: jird::Error, read: impl Fn() -> Result<T>) -> Result<T> {
    // A few texts are JSON for it and not for the engine: half a surrogate pair in a value that is not read.
    match read() {
        // The engine refuses numbers in a buffer of serde's whose digits would be lost, and `serde_json` rounds them.
        Ok(_) if refused.is_data() => Err(of_engine(refused)),
        Ok(value) => Ok(value),
        // A tree is read as raw text, whose errors have other words: read it value by value.
        Err(error) => Err(plain::plainly(read).err().unwrap_or(error)),
    }
}

/// A text of a reader that is longer than this is decoded as it arrives, and not kept in memory.
const KEPT_MAX: usize = 16 << 20;

/// Decodes one JSON value from a reader, up to the reader's end, in large reads.
///
/// Up to 16 MB of text are kept in memory; a longer text is decoded as it arrives. The reader must end: to read a value
/// from a connection that stays open, and nothing after it, use [`Deserializer::from_reader`].
///
/// ```
/// let numbers: Vec<u8> = jird_serde_json::from_reader(&b"[1, 2]"[..])?;
/// assert_eq!(numbers, [1, 2]);
/// # Ok::<(), jird_serde_json::Error>(())
/// ```
///
/// # Errors
/// As [`from_slice`], and the errors of the reader. For a text of more than 16 MB that is not JSON, place and category
/// are reported, but not which rule was broken.
pub fn from_reader<R, T>(rdr: R) -> Result<T>
where
    R: io::Read,
    T: DeserializeOwned,
{
    let mut reader = Honest(rdr);
    let mut text = Vec::new();
    match (&mut reader).take(KEPT_MAX as u64).read_to_end(&mut text) {
        Ok(_) if text.len() < KEPT_MAX => from_slice(&text),
        Ok(_) => jird::from_reader(io::Cursor::new(text).chain(reader)).map_err(of_engine),
        Err(error) => serde_json::from_reader(io::Cursor::new(text).chain(Failing(Some(error)))),
    }
}

/// A reader whose lies are errors: the standard library panics where a reader claims to have read more than there was room
/// for.
struct Honest<R>(R);

impl<R: io::Read> io::Read for Honest<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        honest(&mut self.0, to)
    }
}

/// Reads once. An error if the reader says that it has read more than there is room for.
pub(crate) fn honest(reader: &mut impl io::Read, to: &mut [u8]) -> io::Result<usize> {
    match reader.read(to)? {
        read if read <= to.len() => Ok(read),
        read => {
            let room = to.len();
            Err(io::Error::other(format!("the reader said that it read {read} bytes into a buffer of {room}")))
        }
    }
}

/// A reader that fails.
struct Failing(Option<io::Error>);

impl io::Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// The error of the engine in the type of `serde_json`: with the same place and category.
#[cold]
fn of_engine(error: jird::Error) -> Error {
    if error.is_io() {
        return Error::io(error.into());
    }
    if error.is_data() {
        // It takes line and column from the end of a message.
        let message = error.to_string();
        let end = if error.path().is_empty() { None } else { message.rfind(" (at /") };
        return de::Error::custom(&message[..end.unwrap_or(message.len())]);
    }
    // Only `serde_json` can make its errors of syntax: it is given blank lines up to the place.
    let lines = io::repeat(b'\n').take(error.line().saturating_sub(1) as u64);
    let columns = io::repeat(b' ').take(error.column().saturating_sub(1) as u64);
    let wrong = if error.is_eof() { &b""[..] } else { b"?" };
    let refused = serde_json::from_reader::<_, IgnoredAny>(lines.chain(columns).chain(wrong));
    refused.err().unwrap_or_else(|| de::Error::custom(error))
}
