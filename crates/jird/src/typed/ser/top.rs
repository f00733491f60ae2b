//! The public serializer.

#![allow(private_bounds, reason = "the formats are `Compact` and `Pretty`; others cannot be made")]

use super::compound::Compound;
use super::format::{Compact, Format, Pretty};
use super::{BUFFER, Job};
use crate::data_model::{Container, containers};
use crate::error::Error;
use crate::text::{Drain, Mark, Out, Writer};
use core::fmt;
use serde_core::ser::{Serialize, Serializer as Serde};
use std::io;

/// Writes consecutive values as JSON to a writer.
///
/// It has a buffer of its own, which it empties after each value. It does not flush the writer. Of a value that fails, what
/// is in the buffer is not written.
///
/// ```
/// use serde::Serialize;
/// let mut text = Vec::new();
/// let mut serializer = jird::Serializer::with_indent(&mut text, "\t").refuse_non_finite();
/// [0.5, 1.0].serialize(&mut serializer)?;
/// assert!(f64::NAN.serialize(&mut serializer).is_err());
/// assert_eq!(text, b"[\n\t0.5,\n\t1.0\n]");
/// # Ok::<(), jird::Error>(())
/// ```
pub struct Serializer<W, F = Compact> {
    out: Out<Job<Drain<W>, F>>,
}

impl<W: io::Write> Serializer<W> {
    /// Writes no white space.
    pub fn new(writer: W) -> Self {
        Self::with_format(writer, Compact)
    }
}

impl<W: io::Write> Serializer<W, Pretty<'_>> {
    /// Writes each member and element on a line of its own, indented by two spaces for each level.
    pub fn pretty(writer: W) -> Self {
        Self::with_format(writer, Pretty::default())
    }
}

impl<'i, W: io::Write> Serializer<W, Pretty<'i>> {
    /// Writes each member and element on a line of its own, indented by `indent` for each level. The output is JSON
    /// only if `indent` is white space.
    pub fn with_indent(writer: W, indent: &'i str) -> Self {
        Self::with_format(writer, Pretty::new(indent))
    }
}

impl<W: io::Write, F: Format> Serializer<W, F> {
    fn with_format(writer: W, format: F) -> Self {
        Self { out: Out::new(Vec::with_capacity(BUFFER), Job::new(Drain::new(writer), format)) }
    }

    /// Makes infinities and NaN errors, instead of writing them as `null`.
    #[must_use]
    pub fn refuse_non_finite(mut self) -> Self {
        self.out.overflow().refuses_non_finite = true;
        self
    }

    /// The writer.
    pub fn into_inner(self) -> W {
        self.out.into_overflow().overflow.writer
    }

    /// Hands on what was written of a value before it failed. The value's error is the one to report, so this has none.
    pub(super) fn hand_on(&mut self) {
        self.out.keep();
        let _ = self.out.flush_whole();
    }

    /// A writer for a top-level value.
    #[inline(always)]
    fn writer(&mut self) -> Writer<'_, Job<Drain<W>, F>> {
        self.out.overflow().format.restart();
        self.out.writer()
    }

    /// Writes a value, and hands the text to the writer.
    fn write(
        &mut self,
        write: impl for<'p> FnOnce(Writer<'p, Job<Drain<W>, F>>) -> Result<Mark<'p>, Error>,
    ) -> Result<(), Error> {
        let mut writer = self.writer();
        writer.with(write)?;
        writer.commit().flush()
    }
}

/// An open container of a [`Serializer`].
pub struct OpenCompound<'s, W, F>(Compound<'s, Drain<W>, F>);

/// Forwards each method to the writer.
macro_rules! values {
    ($($name:ident($($argument:ident: $type:ty),*)),+) => {
        $(
            #[inline]
            fn $name(self, $($argument: $type),*) -> Result<(), Error> {
                self.write(|writer| writer.$name($($argument),*))
            }
        )+
    };
}

impl<'s, W: io::Write, F: Format> Serde for &'s mut Serializer<W, F> {
    type Ok = ();
    type Error = Error;
    containers!(OpenCompound<'s, W, F>);

    values!(
        serialize_bool(value: bool), serialize_i8(value: i8), serialize_i16(value: i16), serialize_i32(value: i32),
        serialize_i64(value: i64), serialize_i128(value: i128), serialize_u8(value: u8), serialize_u16(value: u16),
        serialize_u32(value: u32), serialize_u64(value: u64), serialize_u128(value: u128), serialize_f32(value: f32),
        serialize_f64(value: f64), serialize_char(value: char), serialize_str(value: &str), serialize_bytes(value: &[u8]),
        serialize_none(), serialize_unit(), serialize_unit_struct(name: &'static str),
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str)
    );

    #[inline]
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Error> {
        self.write(|writer| value.serialize(writer))
    }

    #[inline]
    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, name: &'static str, value: &T) -> Result<(), Error> {
        self.write(|writer| writer.serialize_newtype_struct(name, value))
    }

    #[inline]
    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.write(|writer| writer.serialize_newtype_variant(name, index, variant, value))
    }

    fn collect_str<T: ?Sized + fmt::Display>(self, value: &T) -> Result<(), Error> {
        self.write(|writer| writer.collect_str(value))
    }
}

impl<'s, W: io::Write, F: Format> OpenCompound<'s, W, F> {
    fn open(to: &'s mut Serializer<W, F>, bracket: u8) -> Result<Self, Error> {
        Compound::open(to.writer(), bracket).map(Self)
    }

    fn open_raw(to: &'s mut Serializer<W, F>) -> Result<Self, Error> {
        Compound::open_raw(to.writer()).map(Self)
    }

    fn open_variant(to: &'s mut Serializer<W, F>, variant: &str, bracket: u8) -> Result<Self, Error> {
        Compound::open_variant(to.writer(), variant, bracket).map(Self)
    }
}

impl<W: io::Write, F: Format> Container for OpenCompound<'_, W, F> {
    type Ok = ();
    type Error = Error;

    fn element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        self.0.element(value)
    }

    fn member<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        self.0.member(key, value)
    }

    fn key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Error> {
        self.0.key(key)
    }

    fn value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        self.0.value(value)
    }

    fn close(self, bracket: u8) -> Result<(), Error> {
        self.0.closed(bracket)?.commit().flush()
    }

    fn close_variant(self, bracket: u8) -> Result<(), Error> {
        self.0.closed_variant(bracket)?.commit().flush()
    }
}
