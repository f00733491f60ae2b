//! Rust types → JSON.
//!
//! ```text
//! mod          the public functions
//! top          the public serializer: consecutive values to a writer
//! value        serde's serializer for any value
//! compound     its serializers for sequences, maps, structs and variants
//! key          its serializer for keys of maps
//! format       what is written between tokens
//! tree         serializes this crate's documents, values and numbers
//! edited       the same for edited documents, and their new values from Rust types
//! ```
//!
//! A writer is passed by value from one value to the next, and is returned as what serde calls `Ok`, so that the write
//! position stays in a register.

mod compound;
mod edited;
mod format;
mod key;
mod top;
mod tree;
mod value;

use crate::error::Error;
use crate::layout::{self, Layout};
use crate::text::{Out, Overflow};
use format::Format;
pub use format::{Compact, Pretty};
use serde_core::Serialize;
use std::io;
pub use top::Serializer;

/// The overflow of a writer: it knows where full buffers go, what is written between tokens, and how NaN is written.
struct Job<S, F> {
    overflow: S,
    format: F,
    /// Whether infinities and NaN, which JSON does not have, are errors rather than `null`.
    refuses_non_finite: bool,
}

impl<S, F> Job<S, F> {
    fn new(overflow: S, format: F) -> Self {
        Self { overflow, format, refuses_non_finite: false }
    }
}

impl<S: Overflow, F> Overflow for Job<S, F> {
    const KEEPS: bool = S::KEEPS;

    #[inline(always)]
    fn take(&mut self, text: &[u8]) -> Result<bool, Error> {
        self.overflow.take(text)
    }
}

/// About how many bytes are handed to a writer at once.
const BUFFER: usize = 16 << 10;

/// The initial capacity of a vector.
const FIRST: usize = 512;

/// Serializes a value as JSON text without white space, in the same form as `serde_json`.
///
/// ```
/// assert_eq!(jird::to_string(&[(1, "a\n"), (2, "ü")])?, r#"[[1,"a\n"],[2,"ü"]]"#);
/// # Ok::<(), jird::Error>(())
/// ```
///
/// # Errors
/// If the value's [`Serialize`] fails, or a map has a key that is neither a string nor a number, boolean or unit
/// variant. Floats that are infinite or NaN become `null`; [`Serializer::refuse_non_finite`] makes them errors.
///
/// Each level of nesting is a nested call: a very deeply nested value overflows the stack, as with `serde_json`.
pub fn to_string<T: ?Sized + Serialize>(value: &T) -> Result<String, Error> {
    text_of(value, Compact)
}

/// As [`to_string`], with each member and element on a line of its own, indented by two spaces for each level.
///
/// ```
/// assert_eq!(jird::to_string_pretty(&[1, 2])?, "[\n  1,\n  2\n]");
/// # Ok::<(), jird::Error>(())
/// ```
///
/// # Errors
/// As [`to_string`].
pub fn to_string_pretty<T: ?Sized + Serialize>(value: &T) -> Result<String, Error> {
    text_of(value, Pretty::default())
}

/// As [`to_string`], in the canonical form of RFC 8785; see [`Layout::Canonical`]. The text is written first and then
/// laid out again, so that this takes about three times as long as `to_string`.
///
/// ```
/// use std::collections::HashMap;
/// let map = HashMap::from([("b", 1e21), ("a", 1.0)]);
/// assert_eq!(jird::ser::to_string_canonical(&map)?, r#"{"a":1,"b":1e+21}"#);
/// # Ok::<(), jird::Error>(())
/// ```
///
/// # Errors
/// As [`to_string`]; also for infinities and NaN, numbers that are infinite as a double, repeated keys, and nesting
/// beyond [`Policy::DEPTH_MAX`](crate::policy::Policy::DEPTH_MAX).
pub fn to_string_canonical<T: ?Sized + Serialize>(value: &T) -> Result<String, Error> {
    canonical(value).map(text_of_canonical)
}

/// [`to_string`] as bytes.
///
/// # Errors
/// As [`to_string`].
pub fn to_vec<T: ?Sized + Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    let mut text = Vec::with_capacity(FIRST);
    to_vec_in(value, &mut text)?;
    Ok(text)
}

/// Appends the output of [`to_string`] to `text`. Allocates nothing once `text` has grown. After an error, `text` is as
/// it was before.
///
/// ```
/// let mut lines = Vec::new();
/// for event in [("start", 1), ("stop", 2)] {
///     jird::ser::to_vec_in(&event, &mut lines)?;
///     lines.push(b'\n');
/// }
/// assert_eq!(lines, b"[\"start\",1]\n[\"stop\",2]\n");
/// # Ok::<(), jird::Error>(())
/// ```
///
/// # Errors
/// As [`to_string`].
pub fn to_vec_in<T: ?Sized + Serialize>(value: &T, text: &mut Vec<u8>) -> Result<(), Error> {
    append(value, text, Job::new((), Compact))
}

/// [`to_string_pretty`] as bytes.
///
/// # Errors
/// As [`to_string`].
pub fn to_vec_pretty<T: ?Sized + Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    let mut text = Vec::with_capacity(FIRST);
    append(value, &mut text, Job::new((), Pretty::default()))?;
    Ok(text)
}

/// [`to_string_canonical`] as bytes.
///
/// # Errors
/// As [`to_string_canonical`].
pub fn to_vec_canonical<T: ?Sized + Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    canonical(value)
}

/// Writes the output of [`to_string`] to `writer`, through a buffer of some kilobytes, so that `writer` needs no buffer
/// of its own. The writer is not flushed. A single write may end within a character.
///
/// ```
/// jird::to_writer(std::io::stdout(), "to a pipe, say")?;
/// # Ok::<(), jird::Error>(())
/// ```
///
/// # Errors
/// As [`to_string`], and the errors of `writer` ([`Error::is_io`]). If the value fails, all that comes before the failure
/// is written, and the value's error is returned, whatever `writer` says to that. If `writer` fails, part of the text may
/// have been written.
pub fn to_writer<W: io::Write, T: ?Sized + Serialize>(mut writer: W, value: &T) -> Result<(), Error> {
    // Uses `dyn` so that there is one instance for all types of writers.
    write_to(value, Serializer::<&mut dyn io::Write>::new(&mut writer))
}

/// [`to_writer`] with the output of [`to_string_pretty`].
///
/// # Errors
/// As [`to_writer`].
pub fn to_writer_pretty<W: io::Write, T: ?Sized + Serialize>(mut writer: W, value: &T) -> Result<(), Error> {
    write_to(value, Serializer::<&mut dyn io::Write, Pretty<'_>>::pretty(&mut writer))
}

/// Writes a value, or as much of it as there is before it fails.
fn write_to<T: ?Sized + Serialize, F: Format>(
    value: &T,
    mut serializer: Serializer<&mut dyn io::Write, F>,
) -> Result<(), Error> {
    let written = value.serialize(&mut serializer);
    if written.is_err() {
        serializer.hand_on();
    }
    written
}

/// Appends to `text`, unless there is an error.
fn append<T: ?Sized + Serialize, F: Format>(value: &T, text: &mut Vec<u8>, job: Job<(), F>) -> Result<(), Error> {
    let len = text.len();
    let mut out = Out::new(core::mem::take(text), job);
    let written = write(value, &mut out);
    *text = out.into_buffer();
    if written.is_err() {
        text.truncate(len);
    }
    written
}

fn text_of<T: ?Sized + Serialize, F: Format>(value: &T, format: F) -> Result<String, Error> {
    let mut out = Out::new(Vec::with_capacity(FIRST), Job::new((), format));
    write(value, &mut out)?;
    Ok(out.into_string())
}

fn write<T: ?Sized + Serialize, S: Overflow, F: Format>(value: &T, out: &mut Out<Job<S, F>>) -> Result<(), Error> {
    let mut writer = out.writer();
    writer.with(|writer| value.serialize(writer))?;
    writer.commit();
    Ok(())
}

fn canonical<T: ?Sized + Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    let mut text = Vec::with_capacity(FIRST);
    append(value, &mut text, Job { refuses_non_finite: true, ..Job::new((), Compact) })?;
    layout::format(&text, Layout::Canonical)
}

fn text_of_canonical(text: Vec<u8>) -> String {
    String::from_utf8(text).expect("made of strings and ASCII")
}
