//! Writing JSON.
//!
//! The functions write with the engine. [`Serializer`] is `serde_json`'s, so that any [`Formatter`] works.

use crate::error::{Error, Result};
use serde_core::ser::Serialize;
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
    jird::to_string(value).or_else(|_| serde_json::to_string(value))
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
    jird::to_string_pretty(value).or_else(|_| serde_json::to_string_pretty(value))
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
    jird::to_vec(value).or_else(|_| serde_json::to_vec(value))
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
    jird::to_vec_pretty(value).or_else(|_| serde_json::to_vec_pretty(value))
}

/// Writes the output of [`to_string`], some kilobytes at a time; each piece ends with a whole character. The writer is
/// not flushed. If the value fails, what it had written before is written.
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
    written(writer, |writer| jird::to_writer(writer, value), |rest| serde_json::to_writer(rest, value))
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
    written(writer, |writer| jird::to_writer_pretty(writer, value), |rest| serde_json::to_writer_pretty(rest, value))
}

/// Writes with the engine. If the value fails, `serde_json` writes the rest, and tells the error in its words.
#[inline]
fn written<W: io::Write>(
    writer: W,
    engine: impl FnOnce(&mut Counted<W>) -> core::result::Result<(), jird::Error>,
    again: impl FnOnce(Rest<W>) -> Result<()>,
) -> Result<()> {
    let mut writer = Counted { writer, written: 0 };
    match engine(&mut writer) {
        Ok(()) => Ok(()),
        Err(error) if error.is_io() => Err(Error::io(error.into())),
        Err(_) => again(writer.rest()),
    }
}

/// Counts what a writer takes.
struct Counted<W> {
    writer: W,
    written: usize,
}

impl<W> Counted<W> {
    /// A writer that takes the same text from its start, and writes what was not written.
    fn rest(self) -> Rest<W> {
        Rest { writer: self.writer, skip: self.written }
    }
}

impl<W: io::Write> io::Write for Counted<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let taken = self.writer.write(text)?;
        self.written += taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Skips the beginning of what it is given.
struct Rest<W> {
    writer: W,
    skip: usize,
}

impl<W: io::Write> io::Write for Rest<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if self.skip >= text.len() {
            self.skip -= text.len();
            return Ok(text.len());
        }
        let skipped = core::mem::take(&mut self.skip);
        Ok(skipped + self.writer.write(&text[skipped..])?)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
