//! serde's `Serializer` that sends events to a sink.

use super::Names;
use super::key::MapKey;
use super::stop::Stop;
use crate::data_model::{RAW_TEXT, Raw, RawText};
use crate::error::{Category, Error};
use crate::event::protocol::{Scalar, scalars};
use crate::event::{Failure, Interest, JsonSource, Key, Numeral, Place, Sink, Source};
use crate::number::Number;
use core::fmt::{self, Write};
use serde_core::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// Sends one value to a sink.
pub(super) struct Events<'s, S> {
    pub(super) sink: &'s mut S,
    pub(super) names: &'s mut Names,
    /// Whether fields are sent with numbers. They are not for a single value, since numbers are only useful across
    /// records.
    pub(super) numbers: bool,
}

type Told<S> = Result<(), Stop<<S as Sink>::Error>>;

impl<S: Sink> Events<'_, S> {
    #[inline(always)]
    fn again(&mut self) -> Events<'_, S> {
        Events { sink: self.sink, names: self.names, numbers: self.numbers }
    }

    /// Sends the key of a field, and the value if the sink wants it.
    #[inline(always)]
    fn member<T: ?Sized + Serialize>(&mut self, name: &'static str, value: &T) -> Told<S> {
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
    fn digits(self, text: &str) -> Told<S> {
        match Number::new(text) {
            Some(number) => self.sink.number(Numeral::Text(number)).map_err(Stop::Sink),
            None => Err(Stop::Value(Error::message(Category::Data, &"a number that is none"))),
        }
    }
}

/// Serializes types through a wider one, with one method of the sink.
macro_rules! by_type {
    ($($name:ident($value:ident: $type:ty) => $method:ident($told:expr));+) => {
        $(
            #[inline(always)]
            fn $name(self, $value: $type) -> Told<S> {
                self.sink.$method($told).map_err(Stop::Sink)
            }
        )+
    };
}

impl<'s, S: Sink> Serializer for Events<'s, S> {
    type Ok = ();
    type Error = Stop<S::Error>;
    type SerializeSeq = OpenEvents<'s, S>;
    type SerializeTuple = OpenEvents<'s, S>;
    type SerializeTupleStruct = OpenEvents<'s, S>;
    type SerializeTupleVariant = OpenEvents<'s, S>;
    type SerializeMap = OpenEvents<'s, S>;
    type SerializeStruct = OpenEvents<'s, S>;
    type SerializeStructVariant = OpenEvents<'s, S>;

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

    fn serialize_i128(self, value: i128) -> Told<S> {
        match i64::try_from(value) {
            Ok(value) => self.serialize_i64(value),
            Err(_) => self.digits(&value.to_string()),
        }
    }

    fn serialize_u128(self, value: u128) -> Told<S> {
        match u64::try_from(value) {
            Ok(value) => self.serialize_u64(value),
            Err(_) => self.digits(&value.to_string()),
        }
    }

    fn serialize_f32(self, value: f32) -> Told<S> {
        if value.is_finite() { self.digits(zmij::Buffer::new().format_finite(value)) } else { self.serialize_unit() }
    }

    #[inline(always)]
    fn serialize_f64(self, value: f64) -> Told<S> {
        if value.is_finite() {
            self.sink.number(Numeral::F64(value)).map_err(Stop::Sink)
        } else {
            self.serialize_unit()
        }
    }

    #[inline(always)]
    fn serialize_none(self) -> Told<S> {
        self.serialize_unit()
    }

    #[inline(always)]
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Told<S> {
        value.serialize(self)
    }

    #[inline(always)]
    fn serialize_unit(self) -> Told<S> {
        self.sink.null().map_err(Stop::Sink)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Told<S> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Told<S> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, name: &'static str, value: &T) -> Told<S> {
        if name == RAW_TEXT { value.serialize(Raw::new(self)) } else { value.serialize(self) }
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Told<S> {
        if self.variant(variant)? {
            value.serialize(self.again())?;
        }
        self.sink.end_object().map_err(Stop::Sink)
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<OpenEvents<'s, S>, Self::Error> {
        OpenEvents::array(self, true)
    }

    fn serialize_tuple(self, _len: usize) -> Result<OpenEvents<'s, S>, Self::Error> {
        OpenEvents::array(self, true)
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<OpenEvents<'s, S>, Self::Error> {
        OpenEvents::array(self, true)
    }

    fn serialize_tuple_variant(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<OpenEvents<'s, S>, Self::Error> {
        let wanted = self.variant(variant)?;
        OpenEvents::array(self, wanted)
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<OpenEvents<'s, S>, Self::Error> {
        OpenEvents::object(self, true)
    }

    #[inline]
    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<OpenEvents<'s, S>, Self::Error> {
        OpenEvents::object(self, true)
    }

    fn serialize_struct_variant(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<OpenEvents<'s, S>, Self::Error> {
        let wanted = self.variant(variant)?;
        OpenEvents::object(self, wanted)
    }

    fn collect_str<T: ?Sized + fmt::Display>(self, value: &T) -> Told<S> {
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
}

impl<'s, S: Sink> OpenEvents<'s, S> {
    #[inline(always)]
    fn array(events: Events<'s, S>, wanted: bool) -> Result<Self, Stop<S::Error>> {
        if wanted {
            events.sink.begin_array().map_err(Stop::Sink)?;
        }
        Ok(Self { events, wanted, value_wanted: true })
    }

    #[inline(always)]
    fn object(events: Events<'s, S>, wanted: bool) -> Result<Self, Stop<S::Error>> {
        if wanted {
            events.sink.begin_object().map_err(Stop::Sink)?;
        }
        Ok(Self { events, wanted, value_wanted: true })
    }

    #[inline(always)]
    fn close_array(self) -> Told<S> {
        if self.wanted { self.events.sink.end_array().map_err(Stop::Sink) } else { Ok(()) }
    }

    #[inline(always)]
    fn close_object(self) -> Told<S> {
        if self.wanted { self.events.sink.end_object().map_err(Stop::Sink) } else { Ok(()) }
    }

    /// Closes the variant's array, and the object around it.
    fn close_array_variant(self) -> Told<S> {
        if self.wanted {
            self.events.sink.end_array().map_err(Stop::Sink)?;
        }
        self.events.sink.end_object().map_err(Stop::Sink)
    }

    fn close_object_variant(self) -> Told<S> {
        if self.wanted {
            self.events.sink.end_object().map_err(Stop::Sink)?;
        }
        self.events.sink.end_object().map_err(Stop::Sink)
    }
}

/// Implements the serializer traits that differ only in their names and in how they end.
macro_rules! opens {
    ($($trait:ident: $add:ident($($key:ident: $type:ty)?) $close:ident);+) => {
        $(
            impl<S: Sink> $trait for OpenEvents<'_, S> {
                type Ok = ();
                type Error = Stop<S::Error>;

                #[inline(always)]
                fn $add<T: ?Sized + Serialize>(&mut self, $($key: $type,)? value: &T) -> Told<S> {
                    if !self.wanted {
                        return Ok(());
                    }
                    opens!(self, value $(, $key)?)
                }

                #[inline(always)]
                fn end(self) -> Told<S> {
                    self.$close()
                }
            }
        )+
    };
    ($self:ident, $value:ident) => { $value.serialize($self.events.again()) };
    ($self:ident, $value:ident, $key:ident) => { $self.events.member($key, $value) };
}
opens!(
    SerializeSeq: serialize_element() close_array;
    SerializeTuple: serialize_element() close_array;
    SerializeTupleStruct: serialize_field() close_array;
    SerializeTupleVariant: serialize_field() close_array_variant;
    SerializeStruct: serialize_field(key: &'static str) close_object;
    SerializeStructVariant: serialize_field(key: &'static str) close_object_variant
);

impl<S: Sink> SerializeMap for OpenEvents<'_, S> {
    type Ok = ();
    type Error = Stop<S::Error>;

    #[inline]
    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Told<S> {
        let Events { sink, names, .. } = &mut self.events;
        self.value_wanted = key.serialize(MapKey { sink: *sink, scratch: &mut names.scratch })? == Interest::Take;
        Ok(())
    }

    #[inline]
    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Told<S> {
        if self.value_wanted { value.serialize(self.events.again()) } else { Ok(()) }
    }

    fn end(self) -> Told<S> {
        self.close_object()
    }
}

/// Text that is JSON already: in most cases a number.
impl<S: Sink> RawText for Events<'_, S> {
    type Ok = ();
    type Error = Stop<S::Error>;

    fn text(self, text: &str) -> Told<S> {
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
    fn begin_object(&mut self) -> Result<(), S::Error> {
        self.0.begin_object()
    }
    fn key(&mut self, key: Key<'_>) -> Result<Interest, S::Error> {
        self.0.key(key)
    }
    fn end_object(&mut self) -> Result<(), S::Error> {
        self.0.end_object()
    }
    fn begin_array(&mut self) -> Result<(), S::Error> {
        self.0.begin_array()
    }
    fn end_array(&mut self) -> Result<(), S::Error> {
        self.0.end_array()
    }
    scalars!();
}

impl<S: Sink> Inside<'_, S> {
    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<(), S::Error> {
        scalar.send(self.0)
    }
}
