//! serde's `Serializer` that sends events to a sink.

use super::Names;
use super::key::SentKey;
use super::stop::Stop;
use crate::data_model::{Container, KeySerializer, RAW_TEXT, Raw, RawField, RawText, containers};
use crate::error::{Category, Error};
use crate::event::protocol::{Scalar, forwards, scalars};
use crate::event::{Failure, Interest, JsonSource, Key, Numeral, Place, Sink, Source};
use crate::number::Number;
use core::fmt::{self, Write};
use serde_core::ser::{Serialize, Serializer};

/// Sends one value to a sink.
pub(super) struct Events<'s, S> {
    pub(super) sink: &'s mut S,
    pub(super) names: &'s mut Names,
    /// Whether fields are sent with numbers. They are not for a single value, since numbers are only useful across
    /// records.
    pub(super) numbers: bool,
}

type SendResult<S> = Result<(), Stop<<S as Sink>::Error>>;

impl<S: Sink> Events<'_, S> {
    #[inline(always)]
    fn again(&mut self) -> Events<'_, S> {
        Events { sink: self.sink, names: self.names, numbers: self.numbers }
    }

    /// Sends the key of a field, and the value if the sink wants it.
    #[inline(always)]
    fn member<T: ?Sized + Serialize>(&mut self, name: &'static str, value: &T) -> SendResult<S> {
        let key = if self.numbers { Key::numbered(name, self.names.number(name)) } else { Key::new(name) };
        match self.sink.key(key).map_err(Stop::Sink)? {
            Interest::Take => value.serialize(self.again()),
            Interest::Skip => Ok(()),
        }
    }

    /// Begins the object of a variant. Returns whether the sink wants its content.
    fn variant(&mut self, variant: &'static str) -> Result<bool, Stop<S::Error>> {
        self.sink.begin_object().map_err(Stop::Sink)?;
        Ok(self.sink.key(Key::new(variant)).map_err(Stop::Sink)? == Interest::Take)
    }

    /// Sends a number given as text.
    fn digits(self, text: &str) -> SendResult<S> {
        match Number::new(text) {
            Some(number) => self.sink.number(Numeral::Text(number)).map_err(Stop::Sink),
            None => Err(Stop::Value(Error::message(Category::Data, &"the text of a number is not a number"))),
        }
    }
}

/// Serializes types through a wider one, with one method of the sink.
macro_rules! by_type {
    ($($name:ident($value:ident: $type:ty) => $method:ident($told:expr));+) => {
        $(
            #[inline(always)]
            fn $name(self, $value: $type) -> SendResult<S> {
                self.sink.$method($told).map_err(Stop::Sink)
            }
        )+
    };
}

impl<'s, S: Sink> Serializer for Events<'s, S> {
    type Ok = ();
    type Error = Stop<S::Error>;
    containers!(OpenEvents<'s, S>);

    by_type!(
        serialize_bool(value: bool) => bool(value);
        serialize_i8(value: i8) => number(Numeral::I64(value.into()));
        serialize_i16(value: i16) => number(Numeral::I64(value.into()));
        serialize_i32(value: i32) => number(Numeral::I64(value.into()));
        serialize_i64(value: i64) => number(Numeral::I64(value));
        serialize_u8(value: u8) => number(Numeral::U64(value.into()));
        serialize_u16(value: u16) => number(Numeral::U64(value.into()));
        serialize_u32(value: u32) => number(Numeral::U64(value.into()));
        serialize_u64(value: u64) => number(Numeral::U64(value));
        serialize_char(value: char) => string(value.encode_utf8(&mut [0; 4]));
        serialize_str(value: &str) => string(value);
        serialize_bytes(value: &[u8]) => bytes(value)
    );

    fn serialize_i128(self, value: i128) -> SendResult<S> {
        match i64::try_from(value) {
            Ok(value) => self.serialize_i64(value),
            Err(_) => self.digits(&value.to_string()),
        }
    }

    fn serialize_u128(self, value: u128) -> SendResult<S> {
        match u64::try_from(value) {
            Ok(value) => self.serialize_u64(value),
            Err(_) => self.digits(&value.to_string()),
        }
    }

    fn serialize_f32(self, value: f32) -> SendResult<S> {
        if value.is_finite() { self.digits(zmij::Buffer::new().format_finite(value)) } else { self.serialize_unit() }
    }

    #[inline(always)]
    fn serialize_f64(self, value: f64) -> SendResult<S> {
        if value.is_finite() {
            self.sink.number(Numeral::F64(value)).map_err(Stop::Sink)
        } else {
            self.serialize_unit()
        }
    }

    #[inline(always)]
    fn serialize_none(self) -> SendResult<S> {
        self.serialize_unit()
    }

    #[inline(always)]
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> SendResult<S> {
        value.serialize(self)
    }

    #[inline(always)]
    fn serialize_unit(self) -> SendResult<S> {
        self.sink.null().map_err(Stop::Sink)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> SendResult<S> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> SendResult<S> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, name: &'static str, value: &T) -> SendResult<S> {
        if name == RAW_TEXT { value.serialize(Raw::new(self)) } else { value.serialize(self) }
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> SendResult<S> {
        if self.variant(variant)? {
            value.serialize(self.again())?;
        }
        self.sink.end_object().map_err(Stop::Sink)
    }

    fn collect_str<T: ?Sized + fmt::Display>(self, value: &T) -> SendResult<S> {
        let mut scratch = core::mem::take(&mut self.names.scratch);
        scratch.clear();
        let told = match write!(scratch, "{value}") {
            Ok(()) => self.sink.string(&scratch).map_err(Stop::Sink),
            Err(_) => Err(Stop::Value(Error::message(Category::Data, &"a value could not be displayed"))),
        };
        self.names.scratch = scratch;
        told
    }
}

/// An open array or object, or one that the sink skips.
pub(super) struct OpenEvents<'s, S> {
    events: Events<'s, S>,
    wanted: bool,
    /// Whether the sink wants the value of the current key.
    value_wanted: bool,
    raw: RawField,
}

impl<'s, S: Sink> OpenEvents<'s, S> {
    #[inline(always)]
    fn open(events: Events<'s, S>, bracket: u8) -> Result<Self, Stop<S::Error>> {
        let told = if bracket == b'[' { events.sink.begin_array() } else { events.sink.begin_object() };
        told.map_err(Stop::Sink)?;
        Ok(Self { events, wanted: true, value_wanted: true, raw: RawField::None })
    }

    /// Opens the struct whose one field is raw text: nothing is sent but its value.
    #[expect(clippy::unnecessary_wraps, reason = "as the other containers are opened")]
    fn open_raw(events: Events<'s, S>) -> Result<Self, Stop<S::Error>> {
        Ok(Self { events, wanted: true, value_wanted: true, raw: RawField::Missing })
    }

    /// Opens the container inside a variant's object, if the sink wants it.
    fn open_variant(mut events: Events<'s, S>, variant: &'static str, bracket: u8) -> Result<Self, Stop<S::Error>> {
        if events.variant(variant)? {
            Self::open(events, bracket)
        } else {
            Ok(Self { events, wanted: false, value_wanted: false, raw: RawField::None })
        }
    }
}

impl<S: Sink> Container for OpenEvents<'_, S> {
    type Ok = ();
    type Error = Stop<S::Error>;

    #[inline(always)]
    fn element<T: ?Sized + Serialize>(&mut self, value: &T) -> SendResult<S> {
        if self.wanted { value.serialize(self.events.again()) } else { Ok(()) }
    }

    #[inline(always)]
    fn member<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> SendResult<S> {
        match self.raw {
            RawField::None => {}
            RawField::Missing if key == RAW_TEXT => {
                self.raw = RawField::Written;
                return value.serialize(Raw::new(self.events.again()));
            }
            RawField::Missing | RawField::Written => return no_raw_text(),
        }
        if self.wanted { self.events.member(key, value) } else { Ok(()) }
    }

    #[inline]
    fn key<T: ?Sized + Serialize>(&mut self, key: &T) -> SendResult<S> {
        let Events { sink, names, .. } = &mut self.events;
        let sent = SentKey { sink: *sink, scratch: &mut names.scratch };
        self.value_wanted = key.serialize(KeySerializer(sent))? == Interest::Take;
        Ok(())
    }

    #[inline]
    fn value<T: ?Sized + Serialize>(&mut self, value: &T) -> SendResult<S> {
        if self.value_wanted { value.serialize(self.events.again()) } else { Ok(()) }
    }

    #[inline(always)]
    fn close(self, bracket: u8) -> SendResult<S> {
        match self.raw {
            RawField::None if self.wanted => {}
            RawField::None | RawField::Written => return Ok(()),
            RawField::Missing => return no_raw_text(),
        }
        let told = if bracket == b']' { self.events.sink.end_array() } else { self.events.sink.end_object() };
        told.map_err(Stop::Sink)
    }

    fn close_variant(mut self, bracket: u8) -> SendResult<S> {
        OpenEvents { events: self.events.again(), ..self }.close(bracket)?;
        self.events.sink.end_object().map_err(Stop::Sink)
    }
}

#[cold]
fn no_raw_text<E>() -> Result<(), Stop<E>> {
    Err(Stop::Value(Error::message(Category::Data, &"raw JSON must be one string")))
}

/// Text that is JSON already: in most cases a number.
impl<S: Sink> RawText for Events<'_, S> {
    type Ok = ();
    type Error = Stop<S::Error>;

    fn text(self, text: &str) -> SendResult<S> {
        if let Some(number) = Number::new(text) {
            return self.sink.number(Numeral::Text(number)).map_err(Stop::Sink);
        }
        let sent = JsonSource::from_slice(text.as_bytes()).send_record(&mut Inside(self.sink));
        sent.map(drop).map_err(|failure| match failure {
            Failure::Source(error) => Stop::Value(error),
            Failure::Sink(error, _) => Stop::Sink(error),
        })
    }
}

/// Forwards every event except the beginning and end of records.
struct Inside<'s, S>(&'s mut S);

impl<S: Sink> Sink for Inside<'_, S> {
    type Error = S::Error;

    fn begin_record(&mut self, _place: Place) -> Result<(), S::Error> {
        Ok(())
    }
    fn key(&mut self, key: Key<'_>) -> Result<Interest, S::Error> {
        self.0.key(key)
    }
    scalars!();
    forwards!(self => self.0, Into::into; begin_object end_object begin_array end_array);
}

impl<S: Sink> Inside<'_, S> {
    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<(), S::Error> {
        scalar.send(self.0)
    }
}
