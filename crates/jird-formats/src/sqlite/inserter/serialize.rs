//! The serializers of a row, and of a value in a row.

use super::plan::Plan;
use crate::error::{Error, ErrorKind};
use crate::sqlite::affinity::{Affinity, Fit};
use crate::sqlite::database::TableInfo;
use crate::sqlite::sink::{insert_failed, unfit};
use crate::sqlite::value::{self, Value};
use core::fmt::{self, Display};
use jird::event::Numeral;
use jird::hooks::RAW_TEXT;
use jird::{Kind, record::Field};
use rusqlite::Statement;
use serde_core::ser::{self, Impossible, Serialize, SerializeMap, SerializeStruct, Serializer};

/// Why a value was not bound. Its size is one word, so that results stay in registers.
#[derive(Debug)]
pub(super) struct InsertStop(pub(super) Box<StopReason>);

#[derive(Debug)]
pub(super) enum StopReason {
    /// The value is nested, and has to become JSON.
    Nested,
    /// The value is not the next row number.
    NotNext,
    /// The plan lacks this field.
    NewKey(String),
    /// A value lacks a field, which no value did before. The row has to be bound again.
    Sparse,
    /// SQLite failed to bind the value.
    Bind(rusqlite::Error),
    /// The table refuses the value.
    Table(Error),
    /// The type failed to serialize.
    Type(String),
}

impl StopReason {
    #[cold]
    pub(super) fn into_error(self, table: &str) -> Error {
        let message = match self {
            Self::Bind(error) => return insert_failed(table, error),
            Self::Table(error) => return error,
            Self::Type(message) => message,
            Self::NewKey(key) => key,
            Self::Nested | Self::NotNext | Self::Sparse => {
                "the row has a value that belongs to none of its fields".into()
            }
        };
        Error::new(ErrorKind::Unfit, message)
    }
}

impl From<StopReason> for InsertStop {
    #[cold]
    fn from(why: StopReason) -> Self {
        Self(Box::new(why))
    }
}

impl From<rusqlite::Error> for InsertStop {
    #[cold]
    fn from(error: rusqlite::Error) -> Self {
        StopReason::Bind(error).into()
    }
}

impl Display for InsertStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            StopReason::Type(message) => f.write_str(message),
            _ => f.write_str("the value was not bound"),
        }
    }
}

impl std::error::Error for InsertStop {}

impl ser::Error for InsertStop {
    #[cold]
    fn custom<T: Display>(message: T) -> Self {
        StopReason::Type(message.to_string()).into()
    }
}

/// A row: a struct or a map.
pub(super) struct RowSerializer<'a, 'c> {
    plan: &'a mut Plan,
    info: &'a TableInfo,
    /// The statement that the fields are bound to. Without one, the plan learns the fields.
    statement: Option<&'a mut Statement<'c>>,
    /// The number of parameters of the rows before.
    before: usize,
    /// The field that is not bound, and the number that it must have.
    counted: Option<(usize, i64)>,
    /// The field that is expected next; in a map, after its key, the key's field.
    next: usize,
    /// The number of fields so far.
    count: usize,
}

impl<'a, 'c> RowSerializer<'a, 'c> {
    /// Adds the fields to the plan.
    pub(super) fn learn(plan: &'a mut Plan, info: &'a TableInfo) -> Self {
        Self { plan, info, statement: None, before: 0, counted: None, next: 0, count: 0 }
    }

    /// Binds the fields to the parameters after the first `before` ones.
    #[inline]
    pub(super) fn bind(
        plan: &'a mut Plan,
        info: &'a TableInfo,
        statement: &'a mut Statement<'c>,
        before: usize,
        counted: Option<(usize, i64)>,
    ) -> Self {
        Self { plan, info, statement: Some(statement), before, counted, next: 0, count: 0 }
    }

    /// The place of a key. A new key is learned, or else stops the row.
    #[inline]
    fn place(&mut self, key: &str) -> Result<usize, InsertStop> {
        self.plan.find(key, self.next).map_or_else(|| self.new_field(key), Ok)
    }

    #[cold]
    fn new_field(&mut self, key: &str) -> Result<usize, InsertStop> {
        if self.statement.is_some() {
            return Err(StopReason::NewKey(key.to_owned()).into());
        }
        self.plan.add(key, self.info).map_err(StopReason::Table)?;
        Ok(self.plan.len() - 1)
    }

    #[inline(always)]
    fn value<T: ?Sized + Serialize>(&mut self, place: usize, value: &T) -> Result<(), InsertStop> {
        (self.next, self.count) = (place + 1, self.count + 1);
        let Some(statement) = &mut self.statement else { return Ok(()) };
        let left_out = self.counted.is_some_and(|(field, _)| field < place);
        let target = match self.counted {
            Some((field, number)) if field == place => Target::Next(number),
            _ => Target::Parameter(statement, self.before + place + 1 - usize::from(left_out)),
        };
        let field = self.plan.field(place);
        let mut cell = CellSerializer { target, affinity: field.affinity, info: self.info, column: field.column };
        match value.serialize(&mut cell) {
            Err(InsertStop(why)) if matches!(*why, StopReason::Nested) => cell.nested(value, &mut self.plan.json),
            done => done,
        }
    }

    /// Sets all fields to `NULL`, so that a field that is lacking does not keep the value of the row before.
    fn clear(&mut self) -> Result<(), InsertStop> {
        let width = self.plan.len() - usize::from(self.counted.is_some());
        let Some(statement) = &mut self.statement else { return Ok(()) };
        (1..=width).try_for_each(|place| Ok(Value::Null.bind(statement, self.before + place)?))
    }

    fn complete(self) -> Result<(), InsertStop> {
        if self.count >= self.plan.len() || self.plan.is_sparse || self.statement.is_none() {
            return Ok(());
        }
        self.plan.is_sparse = true;
        Err(StopReason::Sparse.into())
    }
}

/// Methods for types that cannot be here.
macro_rules! refuse {
    ($ok:ty: $($method:ident $(($($type:ty),+))?)*) => {
        $(
            #[cold]
            fn $method(self $($(, _: $type)+)?) -> Result<$ok, InsertStop> {
                Err(StopReason::Type("a row must be a struct, or a map with texts as keys".into()).into())
            }
        )*
    };
}

/// Associated types for a serializer that accepts no compound types.
macro_rules! no_compounds {
    ($ok:ty: $($type:ident)*) => {
        type Ok = $ok;
        type Error = InsertStop;
        $(type $type = Impossible<$ok, InsertStop>;)*
    };
}

impl Serializer for RowSerializer<'_, '_> {
    no_compounds!((): SerializeSeq SerializeTuple SerializeTupleStruct SerializeTupleVariant SerializeStructVariant);
    type SerializeMap = Self;
    type SerializeStruct = Self;

    fn serialize_struct(mut self, _: &'static str, _: usize) -> Result<Self, InsertStop> {
        if self.plan.is_sparse {
            self.clear()?;
        }
        Ok(self)
    }

    fn serialize_map(mut self, _: Option<usize>) -> Result<Self, InsertStop> {
        self.plan.is_sparse = true;
        self.clear()?;
        Ok(self)
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), InsertStop> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, value: &T) -> Result<(), InsertStop> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), InsertStop> {
        self.serialize_unit()
    }

    refuse! { ():
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_u8(u8)
        serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_f32(f32) serialize_f64(f64) serialize_char(char)
        serialize_str(&str) serialize_bytes(&[u8]) serialize_none serialize_unit serialize_unit_struct(&'static str)
        serialize_unit_variant(&'static str, u32, &'static str)
    }
    refuse! { Impossible<(), InsertStop>:
        serialize_seq(Option<usize>) serialize_tuple(usize) serialize_tuple_struct(&'static str, usize)
        serialize_tuple_variant(&'static str, u32, &'static str, usize)
        serialize_struct_variant(&'static str, u32, &'static str, usize)
    }
}

impl SerializeStruct for RowSerializer<'_, '_> {
    type Ok = ();
    type Error = InsertStop;

    #[inline(always)]
    fn serialize_field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<(), InsertStop> {
        match self.plan.find_static(key, self.next) {
            Some(place) => self.value(place, value),
            None => self.new_field(key).map(drop),
        }
    }

    #[inline]
    fn end(self) -> Result<(), InsertStop> {
        self.complete()
    }
}

impl SerializeMap for RowSerializer<'_, '_> {
    type Ok = ();
    type Error = InsertStop;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), InsertStop> {
        self.next = key.serialize(KeySerializer(self))?;
        Ok(())
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), InsertStop> {
        self.value(self.next, value)
    }

    fn end(self) -> Result<(), InsertStop> {
        Ok(())
    }
}

/// Serializes a map's key, and returns its place.
struct KeySerializer<'s, 'a, 'c>(&'s mut RowSerializer<'a, 'c>);

impl Serializer for KeySerializer<'_, '_, '_> {
    no_compounds!(usize: SerializeSeq SerializeTuple SerializeTupleStruct SerializeTupleVariant SerializeMap SerializeStruct
        SerializeStructVariant);

    fn serialize_str(self, key: &str) -> Result<usize, InsertStop> {
        self.0.place(key)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<usize, InsertStop> {
        self.0.place(variant)
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<usize, InsertStop> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, value: &T) -> Result<usize, InsertStop> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<usize, InsertStop> {
        self.serialize_unit()
    }

    refuse! { usize:
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_u8(u8)
        serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_f32(f32) serialize_f64(f64) serialize_char(char)
        serialize_bytes(&[u8]) serialize_none serialize_unit serialize_unit_struct(&'static str)
    }
    refuse! { Impossible<usize, InsertStop>:
        serialize_seq(Option<usize>) serialize_tuple(usize) serialize_tuple_struct(&'static str, usize)
        serialize_tuple_variant(&'static str, u32, &'static str, usize) serialize_map(Option<usize>)
        serialize_struct(&'static str, usize) serialize_struct_variant(&'static str, u32, &'static str, usize)
    }
}

/// Serializes a value in a row.
struct CellSerializer<'s, 'c> {
    target: Target<'s, 'c>,
    affinity: Affinity,
    info: &'s TableInfo,
    column: usize,
}

/// Where a value goes.
enum Target<'s, 'c> {
    /// A parameter of a statement.
    Parameter(&'s mut Statement<'c>, usize),
    /// No parameter: the value must be this number, which SQLite gives the row anyway.
    Next(i64),
}

impl CellSerializer<'_, '_> {
    #[inline(always)]
    fn put(&mut self, value: Value<'_>) -> Result<(), InsertStop> {
        match &mut self.target {
            Target::Next(number) if value == Value::Integer(*number) => Ok(()),
            Target::Next(_) => Err(StopReason::NotNext.into()),
            Target::Parameter(statement, parameter) => {
                if self.affinity.fit(value) == Fit::Changes {
                    return Err(self.unfit(value));
                }
                Ok(value.bind(statement, *parameter)?)
            }
        }
    }

    #[cold]
    fn unfit(&self, value: Value<'_>) -> InsertStop {
        StopReason::Table(unfit(&self.info.name, &self.info.columns[self.column].name, value)).into()
    }

    #[inline]
    fn real(&mut self, value: f64) -> Result<(), InsertStop> {
        // SQLite would turn NaN into NULL.
        if value.is_finite() { self.put(Value::Real(value)) } else { Err(self.unfit(Value::Real(value))) }
    }

    fn number(&mut self, number: Numeral<'_>) -> Result<(), InsertStop> {
        self.put(value::of_number(value::converted(number), &mut String::new()))
    }

    /// Binds a compound value as JSON text. A value that is already JSON text (`jird::RawValue`, `jird::NumberBuf`) is
    /// bound as the value that its text denotes.
    fn nested<T: ?Sized + Serialize>(&mut self, value: &T, json: &mut Vec<u8>) -> Result<(), InsertStop> {
        json.clear();
        jird::ser::to_vec_in(value, json).map_err(|error| StopReason::Type(error.to_string()))?;
        let text = core::str::from_utf8(json).map_err(|error| StopReason::Type(error.to_string()))?;
        let field = Field::from_raw(text);
        match (field.kind(), field.as_number(), field.as_bool(), field.as_str()) {
            (_, Some(number), ..) => self.number(Numeral::Text(number)),
            (_, _, Some(value), _) => self.put(Value::Integer(value.into())),
            (_, _, _, Some(content)) => self.put(Value::Text(&content)),
            (Some(Kind::Null), ..) => self.put(Value::Null),
            _ => self.put(Value::Text(text)),
        }
    }
}

/// Methods that bind a value, and those for compound values.
macro_rules! cells {
    (put: $($method:ident($type:ty) $value:ident => $made:expr;)*) => {
        $(
            #[inline]
            fn $method(self, $value: $type) -> Result<(), InsertStop> {
                self.put($made)
            }
        )*
    };
    (nested: $($method:ident($($type:ty),*) -> $ok:ty;)*) => {
        $(
            fn $method(self, $(_: $type),*) -> Result<$ok, InsertStop> {
                Err(StopReason::Nested.into())
            }
        )*
    };
}

impl Serializer for &mut CellSerializer<'_, '_> {
    no_compounds!((): SerializeSeq SerializeTuple SerializeTupleStruct SerializeTupleVariant SerializeMap SerializeStruct
        SerializeStructVariant);

    cells! { put:
        serialize_bool(bool) value => Value::Integer(value.into());
        serialize_i8(i8) value => Value::Integer(value.into());
        serialize_i16(i16) value => Value::Integer(value.into());
        serialize_i32(i32) value => Value::Integer(value.into());
        serialize_i64(i64) value => Value::Integer(value);
        serialize_u8(u8) value => Value::Integer(value.into());
        serialize_u16(u16) value => Value::Integer(value.into());
        serialize_u32(u32) value => Value::Integer(value.into());
        serialize_str(&str) value => Value::Text(value);
        serialize_bytes(&[u8]) value => Value::Blob(value);
        serialize_char(char) value => Value::Text(value.encode_utf8(&mut [0; 4]));
        serialize_unit_struct(&'static str) _name => Value::Null;
    }

    cells! { nested:
        serialize_seq(Option<usize>) -> Impossible<(), InsertStop>;
        serialize_tuple(usize) -> Impossible<(), InsertStop>;
        serialize_tuple_struct(&'static str, usize) -> Impossible<(), InsertStop>;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Impossible<(), InsertStop>;
        serialize_map(Option<usize>) -> Impossible<(), InsertStop>;
        serialize_struct(&'static str, usize) -> Impossible<(), InsertStop>;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Impossible<(), InsertStop>;
    }

    fn serialize_u64(self, value: u64) -> Result<(), InsertStop> {
        self.number(Numeral::U64(value))
    }

    fn serialize_i128(self, value: i128) -> Result<(), InsertStop> {
        match i64::try_from(value) {
            Ok(value) => self.put(Value::Integer(value)),
            Err(_) => self.put(Value::Text(&value.to_string())),
        }
    }

    fn serialize_u128(self, value: u128) -> Result<(), InsertStop> {
        match i64::try_from(value) {
            Ok(value) => self.put(Value::Integer(value)),
            Err(_) => self.put(Value::Text(&value.to_string())),
        }
    }

    fn serialize_f32(self, value: f32) -> Result<(), InsertStop> {
        self.real(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), InsertStop> {
        self.real(value)
    }

    fn serialize_none(self) -> Result<(), InsertStop> {
        self.put(Value::Null)
    }

    fn serialize_unit(self) -> Result<(), InsertStop> {
        self.put(Value::Null)
    }

    #[inline]
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), InsertStop> {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), InsertStop> {
        self.put(Value::Text(variant))
    }

    #[inline]
    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, name: &'static str, value: &T) -> Result<(), InsertStop> {
        // Raw text, which only the engine can read.
        if name == RAW_TEXT { Err(StopReason::Nested.into()) } else { value.serialize(self) }
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), InsertStop> {
        Err(StopReason::Nested.into())
    }
}
