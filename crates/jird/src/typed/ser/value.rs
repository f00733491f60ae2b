//! serde's `Serializer` for a writer.

use super::compound::Compound;
use super::format::Format;
use super::{Job, key};
use crate::data_model::{RAW_TEXT, Raw, RawText, containers};
use crate::error::{Category, Error};
use crate::text::{Mark, Overflow, Writer};
use core::fmt::{self, Write};
use serde_core::ser::{Serialize, Serializer};

/// Methods that write an integer type through a wider one.
macro_rules! integers {
    ($($name:ident: $type:ty => $method:ident),+) => {
        $(
            #[inline(always)]
            fn $name(mut self, value: $type) -> Result<Self::Ok, Error> {
                self.$method(value.into())?;
                Ok(self.mark())
            }
        )+
    };
}

impl<'o, S: Overflow, F: Format> RawText for Writer<'o, Job<S, F>> {
    type Ok = Mark<'o>;
    type Error = Error;

    fn text(mut self, text: &str) -> Result<Mark<'o>, Error> {
        self.raw(text)?;
        Ok(self.mark())
    }
}

impl<'o, S: Overflow, F: Format> Serializer for Writer<'o, Job<S, F>> {
    type Ok = Mark<'o>;
    type Error = Error;
    containers!(Compound<'o, S, F>);

    integers!(
        serialize_i8: i8 => signed, serialize_i16: i16 => signed, serialize_i32: i32 => signed,
        serialize_i64: i64 => signed, serialize_u8: u8 => unsigned, serialize_u16: u16 => unsigned,
        serialize_u32: u32 => unsigned, serialize_u64: u64 => unsigned, serialize_u128: u128 => huge
    );

    #[inline(always)]
    fn serialize_bool(mut self, value: bool) -> Result<Mark<'o>, Error> {
        self.bytes(if value { *b"true\0" } else { *b"false" }, if value { 4 } else { 5 })?;
        Ok(self.mark())
    }

    fn serialize_i128(mut self, value: i128) -> Result<Mark<'o>, Error> {
        self.bytes([b'-'], usize::from(value < 0))?;
        self.huge(value.unsigned_abs())?;
        Ok(self.mark())
    }

    #[inline(always)]
    fn serialize_f32(mut self, value: f32) -> Result<Mark<'o>, Error> {
        if !value.is_finite() {
            return non_finite(self);
        }
        self.float(value)?;
        Ok(self.mark())
    }

    #[inline(always)]
    fn serialize_f64(mut self, value: f64) -> Result<Mark<'o>, Error> {
        if !value.is_finite() {
            return non_finite(self);
        }
        self.double(value)?;
        Ok(self.mark())
    }

    fn serialize_char(self, value: char) -> Result<Mark<'o>, Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline(always)]
    fn serialize_str(mut self, value: &str) -> Result<Mark<'o>, Error> {
        self.string(value)?;
        Ok(self.mark())
    }

    /// Writes bytes as an array of numbers.
    fn serialize_bytes(mut self, value: &[u8]) -> Result<Mark<'o>, Error> {
        F::open(&mut self, b'[')?;
        for (index, &byte) in value.iter().enumerate() {
            F::separate(&mut self, index == 0)?;
            self.unsigned(byte.into())?;
        }
        F::close(&mut self, b']', value.is_empty())?;
        Ok(self.mark())
    }

    #[inline(always)]
    fn serialize_none(self) -> Result<Mark<'o>, Error> {
        self.serialize_unit()
    }

    #[inline(always)]
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<Mark<'o>, Error> {
        value.serialize(self)
    }

    #[inline(always)]
    fn serialize_unit(mut self) -> Result<Mark<'o>, Error> {
        self.bytes(*b"null", 4)?;
        Ok(self.mark())
    }

    #[inline(always)]
    fn serialize_unit_struct(self, _name: &'static str) -> Result<Mark<'o>, Error> {
        self.serialize_unit()
    }

    #[inline(always)]
    fn serialize_unit_variant(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Mark<'o>, Error> {
        self.string(variant)?;
        Ok(self.mark())
    }

    #[inline(always)]
    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, name: &'static str, value: &T) -> Result<Mark<'o>, Error> {
        if name == RAW_TEXT { value.serialize(Raw::new(self)) } else { value.serialize(self) }
    }

    #[inline(always)]
    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Mark<'o>, Error> {
        F::open(&mut self, b'{')?;
        F::member(&mut self, true, variant)?;
        self.with(|writer| value.serialize(writer))?;
        F::close(&mut self, b'}', false)?;
        Ok(self.mark())
    }

    /// Writes the value's `Display` output as a string, without allocating it first.
    fn collect_str<T: ?Sized + fmt::Display>(self, value: &T) -> Result<Mark<'o>, Error> {
        key::quoted(self, |writer| {
            let mut display = Display { writer, error: None };
            match (write!(display, "{value}"), display.error) {
                (Ok(()), None) => Ok(display.writer.mark()),
                (_, Some(error)) => Err(error),
                (Err(_), None) => Err(Error::message(Category::Data, &"a value could not be displayed")),
            }
        })
    }
}

/// Writes a float that JSON has no number for, or refuses it.
#[cold]
fn non_finite<S: Overflow, F: Format>(mut writer: Writer<'_, Job<S, F>>) -> Result<Mark<'_>, Error> {
    if writer.overflow().refuses_non_finite {
        return Err(Error::message(Category::Syntax, &"float must be finite (got NaN or +/-inf)"));
    }
    writer.serialize_unit()
}

/// Writes `Display` output into an open string.
struct Display<'o, S, F> {
    writer: Writer<'o, Job<S, F>>,
    error: Option<Error>,
}

impl<S: Overflow, F: Format> Write for Display<'_, S, F> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.writer.content(text).map_err(|error| {
            self.error = Some(error);
            fmt::Error
        })
    }
}
