//! Finds a type's fields and their kinds, by asking the type to read a record and listening to what it asks for.
//!
//! Each field is offered alone, in a run of its own, and its value is answered with the smallest value of the kind
//! asked for. Whether the run succeeds does not matter. So types that refuse such a value, and types that contain
//! themselves, are traced as well.

use super::{ColumnDefinition, StorageType};
use core::cell::{Cell, RefCell};
use core::fmt;
use core::marker::PhantomData;
use serde_core::de::{
    self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor, value::BorrowedStrDeserializer,
};

/// The columns of a type, or else why it has none.
pub(super) fn columns<'de, T: Deserialize<'de>>() -> Result<Vec<ColumnDefinition>, String> {
    let mut columns: Vec<ColumnDefinition> = Vec::new();
    let names = run::<T>(&[]).fields.ok_or("it is not a struct with named fields, or it has flattened fields")?;
    for (index, name) in names.iter().copied().enumerate() {
        // Aliases of a field come next to it, and are refused as duplicates of it.
        let before = names[..index].iter().rev().take(NAMES_MAX);
        let double = before.copied().find_map(|before| run::<T>(&[before, name]).double);
        if let Some(field) = double {
            rename_to(&mut columns, &names[..=index], field);
            continue;
        }
        let asked = run::<T>(&[name]).asked.unwrap_or_default();
        let storage = asked.storage.unwrap_or(StorageType::Any);
        columns.push(ColumnDefinition { name: name.to_owned(), storage, is_nullable: asked.is_nullable });
    }
    if columns.is_empty() { Err("it has no fields".into()) } else { Ok(columns) }
}

/// The number of preceding names that are tried, to tell an alias from a field of its own.
const NAMES_MAX: usize = 8;

/// Gives a column the name of its field, if the column was found under an alias.
fn rename_to(columns: &mut [ColumnDefinition], names: &[&str], field: &str) {
    if let Some(last) = columns.last_mut()
        && names.contains(&field)
    {
        field.clone_into(&mut last.name);
    }
}

fn run<'de, T: Deserialize<'de>>(offered: &[&'static str]) -> Trace {
    let heard = Listener::default();
    let error = T::deserialize(Root { offered, heard: &heard }).err();
    Trace { fields: heard.fields.into_inner(), asked: heard.asked.get(), double: error.and_then(|error| error.double) }
}

struct Trace {
    fields: Option<Vec<&'static str>>,
    asked: Option<TypeRequest>,
    /// The field that was offered twice.
    double: Option<&'static str>,
}

#[derive(Default)]
struct Listener {
    fields: RefCell<Option<Vec<&'static str>>>,
    asked: Cell<Option<TypeRequest>>,
}

/// What the type asked for first.
#[derive(Clone, Copy, Default)]
struct TypeRequest {
    storage: Option<StorageType>,
    is_nullable: bool,
}

impl Listener {
    fn hear(&self, storage: StorageType) {
        let asked = self.asked.get().unwrap_or_default();
        self.asked.set(Some(TypeRequest { storage: asked.storage.or(Some(storage)), ..asked }));
    }

    fn hear_nullable(&self) {
        let asked = self.asked.get().unwrap_or_default();
        self.asked.set(Some(TypeRequest { is_nullable: asked.is_nullable || asked.storage.is_none(), ..asked }));
    }
}

/// Why a run ended.
#[derive(Debug)]
struct TraceStop {
    double: Option<&'static str>,
}

impl fmt::Display for TraceStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the type does not take the least value")
    }
}

impl std::error::Error for TraceStop {}

impl de::Error for TraceStop {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self { double: None }
    }
    fn duplicate_field(field: &'static str) -> Self {
        Self { double: Some(field) }
    }
}

/// Implements several methods of one kind alike.
macro_rules! methods {
    ($($method:ident($($name:ident: $type:ty),*) $self:ident $visitor:ident $body:block)*) => {
        $(
            fn $method<V: Visitor<'de>>($self, $($name: $type,)* $visitor: V) -> Result<V::Value, TraceStop> $body
        )*
    };
}

/// The record.
struct Root<'a> {
    offered: &'a [&'static str],
    heard: &'a Listener,
}

impl<'de> Deserializer<'de> for Root<'_> {
    type Error = TraceStop;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TraceStop> {
        self.heard.fields.replace(Some(fields.to_vec()));
        visitor.visit_map(Fields { left: self.offered, heard: self.heard, of: PhantomData })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, TraceStop> {
        visitor.visit_newtype_struct(self)
    }

    methods! {
        deserialize_any() self _visitor { Err(TraceStop { double: None }) }
    }

    serde_core::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map enum identifier ignored_any
    }
}

struct Fields<'a, 'de> {
    left: &'a [&'static str],
    heard: &'a Listener,
    of: PhantomData<&'de ()>,
}

impl<'de> MapAccess<'de> for Fields<'_, 'de> {
    type Error = TraceStop;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, TraceStop> {
        match self.left.split_first() {
            None => Ok(None),
            Some((name, left)) => {
                self.left = left;
                seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some)
            }
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, TraceStop> {
        seed.deserialize(Least(self.heard))
    }
}

/// A sequence or map without elements.
struct Empty;

impl<'de> SeqAccess<'de> for Empty {
    type Error = TraceStop;
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, _: T) -> Result<Option<T::Value>, TraceStop> {
        Ok(None)
    }
}

impl<'de> MapAccess<'de> for Empty {
    type Error = TraceStop;
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, _: K) -> Result<Option<K::Value>, TraceStop> {
        Ok(None)
    }
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, _: S) -> Result<S::Value, TraceStop> {
        Err(TraceStop { double: None })
    }
}

/// A field's value: the smallest value of the kind asked for.
struct Least<'a>(&'a Listener);

macro_rules! least {
    ($($method:ident => $storage:ident, $visit:ident($($value:expr)?);)*) => {
        methods! {
            $($method() self visitor {
                self.0.hear(StorageType::$storage);
                visitor.$visit($($value)?)
            })*
        }
    };
}

impl<'de> Deserializer<'de> for Least<'_> {
    type Error = TraceStop;

    least! {
        deserialize_any => Any, visit_unit();
        deserialize_ignored_any => Any, visit_unit();
        deserialize_unit => Any, visit_unit();
        deserialize_bool => Integer, visit_bool(false);
        deserialize_i8 => Integer, visit_i8(0);
        deserialize_i16 => Integer, visit_i16(0);
        deserialize_i32 => Integer, visit_i32(0);
        deserialize_i64 => Integer, visit_i64(0);
        deserialize_u8 => Integer, visit_u8(0);
        deserialize_u16 => Integer, visit_u16(0);
        deserialize_u32 => Integer, visit_u32(0);
        // Values beyond `i64` are stored as texts, and the others are not.
        deserialize_u64 => Any, visit_u64(0);
        deserialize_i128 => Any, visit_i128(0);
        deserialize_u128 => Any, visit_u128(0);
        deserialize_f32 => Real, visit_f32(0.0);
        deserialize_f64 => Real, visit_f64(0.0);
        deserialize_char => Text, visit_char('a');
        deserialize_str => Text, visit_borrowed_str("");
        deserialize_string => Text, visit_borrowed_str("");
        deserialize_identifier => Text, visit_borrowed_str("");
        deserialize_bytes => Blob, visit_borrowed_bytes(b"");
        deserialize_byte_buf => Blob, visit_borrowed_bytes(b"");
        deserialize_seq => Json, visit_seq(Empty);
        deserialize_map => Json, visit_map(Empty);
    }

    methods! {
        deserialize_option() self visitor {
            self.0.hear_nullable();
            visitor.visit_some(self)
        }
        deserialize_unit_struct(_name: &'static str) self visitor {
            self.0.hear(StorageType::Any);
            visitor.visit_unit()
        }
        deserialize_newtype_struct(_name: &'static str) self visitor { visitor.visit_newtype_struct(self) }
        deserialize_tuple(_len: usize) self visitor {
            self.0.hear(StorageType::Json);
            visitor.visit_seq(Empty)
        }
        deserialize_tuple_struct(_name: &'static str, _len: usize) self visitor {
            self.0.hear(StorageType::Json);
            visitor.visit_seq(Empty)
        }
        deserialize_struct(_name: &'static str, _fields: &'static [&'static str]) self visitor {
            self.0.hear(StorageType::Json);
            visitor.visit_map(Empty)
        }
        // Variants without content are strings, and the others are objects; a text column keeps both.
        deserialize_enum(_name: &'static str, variants: &'static [&'static str]) self visitor {
            self.0.hear(StorageType::Text);
            let first = BorrowedStrDeserializer::new(variants.first().copied().unwrap_or_default());
            visitor.visit_enum(first)
        }
    }
}
