//! serde's `Deserializer` over trees that were read before: documents and recordings, and the cells of rows.
//!
//! A tree says what its nodes are; this module says how nodes become types. serde's visitors check the types. When a
//! visitor refuses a value, its node adds the position to the error, and this module the steps of the path.

use super::key::{KeyDeserializer, TreeKey};
use super::{ALL_NUMBERS, EXACT_NUMBERS, Filler, Number, NumberTextVisitor, RAW_TEXT, RawTextVisitor, is_buffer, tree};
use crate::error::{Category, Error};
use crate::fault::ErrorKind;
use crate::number;
use crate::path::Step;
use crate::policy::TYPED_DEPTH_MAX;
use crate::tape::Kind;
use core::iter::Empty;
use serde_core::de::value::{CowStrDeserializer, SeqDeserializer};
use serde_core::de::{self, Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, Unexpected, Visitor};
use std::borrow::Cow;

/// A value of a tree. What is rarely called takes it by reference: a copy would be built on the hot path too.
pub(crate) trait Node<'de>: Copy {
    type Leaf: Leaf<'de>;
    type Elements: Children<'de>;
    type Members: Children<'de>;

    fn kind(&self) -> Kind;

    #[inline(always)]
    fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    /// Only for what is neither an array nor an object.
    fn leaf(&self) -> Self::Leaf;

    /// Only for arrays.
    fn elements(&self) -> Self::Elements;

    /// Only for objects.
    fn members(&self) -> Self::Members;

    /// Passes the value's JSON text to a visitor.
    fn visit_raw<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Error>;

    /// The number of elements or members, if it is known.
    fn len(&self) -> Option<usize> {
        None
    }

    /// Gives an error without a position the position of this value, if it has one.
    fn placed(&self, error: Error) -> Error {
        error
    }

    /// The value is an object and becomes a struct with these fields.
    fn becomes_struct(&self, fields: &'static [&'static str]) {
        let _ = fields;
    }

    /// The value is ignored.
    fn ignored(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// A value with no other values inside.
pub(crate) trait Leaf<'de> {
    fn is_true(&self) -> bool;

    /// Only for numbers.
    fn digits(&self) -> Result<Digits<'de>, Error>;

    /// A string's content. Only for strings.
    fn text(&self) -> Result<Cow<'de, str>, Error>;

    /// The bytes that the string stands for, if the tree knows them.
    fn bytes(&self) -> Option<&'de [u8]> {
        None
    }

    /// Passes a string to a visitor. Only for strings.
    fn visit_string<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Error>;

    /// Passes a number to a visitor. Only for numbers.
    #[inline(always)]
    fn visit_number<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Error> {
        self.digits()?.number()?.visit(visitor)
    }

    /// As [`visit_number`](Self::visit_number), for a visitor that wants a double.
    #[inline(always)]
    fn visit_f64<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Error> {
        self.visit_number(visitor)
    }
}

/// The elements of an array, or the keys and values of an object. Calls out of turn are safe.
pub(crate) trait Children<'de> {
    type Key: TreeKey<'de>;
    type Value: Node<'de>;

    /// The next key of an object.
    fn next_key(&mut self) -> Option<Self::Key> {
        None
    }

    /// The next element of an array; or the value of the key before.
    fn next_value(&mut self) -> Option<Self::Value>;

    /// Whether a key was returned and its value was not.
    fn is_behind_key(&self) -> bool {
        false
    }

    /// What is wrong if the visitor takes no more children.
    fn left(&mut self) -> Option<Error>;
}

/// The children of a value that has none.
impl<'de, N: Node<'de>> Children<'de> for Empty<N> {
    type Key = &'de str;
    type Value = N;

    fn next_value(&mut self) -> Option<N> {
        None
    }

    fn left(&mut self) -> Option<Error> {
        None
    }
}

/// A number in the form in which a tree has it.
pub(crate) enum Digits<'a> {
    Text(number::Number<'a>),
    Machine(Number),
}

impl<'a> Digits<'a> {
    /// The number in the form that a visitor receives.
    #[inline(always)]
    pub(crate) fn number(self) -> Result<Number, Error> {
        match self {
            Self::Text(text) => {
                let (text, start, end) = text.place();
                Number::of(text, start, end).ok_or_else(|| ErrorKind::Range.into())
            }
            Self::Machine(number) => Ok(number),
        }
    }

    fn number_f32(self) -> Result<Number, Error> {
        match self {
            Self::Text(text) => Number::of_f32(text.text().as_bytes()).ok_or_else(|| ErrorKind::Range.into()),
            Self::Machine(number) => Ok(number),
        }
    }

    /// An integer of 128 bits; `None` if it is not an integer.
    fn wide<T: TryFrom<u64> + TryFrom<i64>>(
        self,
        read: fn(number::Number<'a>) -> Option<T>,
    ) -> Option<Result<T, Error>> {
        let value = match self {
            Self::Text(text) if text.is_integer() => read(text),
            Self::Machine(Number::U64(value)) => value.try_into().ok(),
            Self::Machine(Number::I64(value)) => value.try_into().ok(),
            Self::Text(_) | Self::Machine(Number::F64(_)) => return None,
        };
        Some(value.ok_or_else(|| ErrorKind::Range.into()))
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind, 0)
    }
}

/// serde's `Deserializer` for a value of a tree.
#[derive(Clone, Copy, Debug)]
pub struct NodeDeserializer<N> {
    node: N,
    depth_left: usize,
}

impl<N> NodeDeserializer<N> {
    #[inline(always)]
    pub(crate) fn new(node: N) -> Self {
        Self { node, depth_left: TYPED_DEPTH_MAX }
    }
}

#[expect(private_bounds, reason = "its methods are as private as the trait")]
impl<'de, N: Node<'de>> NodeDeserializer<N> {
    /// The remaining depth inside this container, or an error if it is too deep.
    #[inline(always)]
    fn enter(&self) -> Result<usize, Error> {
        self.depth_left.checked_sub(1).ok_or_else(|| self.node.placed(ErrorKind::Depth.into()))
    }

    /// The visitor's result; an error without a position gets that of this value.
    #[inline(always)]
    fn placed<T>(&self, visited: Result<T, Error>) -> Result<T, Error> {
        match visited {
            Ok(value) => Ok(value),
            Err(error) => Err(self.node.placed(error)),
        }
    }

    #[inline(always)]
    fn visit_null<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Error> {
        self.placed(visitor.visit_unit())
    }

    #[inline(always)]
    fn visit_bool<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Error> {
        self.placed(visitor.visit_bool(self.node.leaf().is_true()))
    }

    #[inline(always)]
    fn visit_number<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Error> {
        self.placed(self.node.leaf().visit_number(visitor))
    }

    /// Visits the value with a visitor that fills a buffer of serde's, if that has not begun.
    #[inline(never)]
    fn visit_buffer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let depth = TYPED_DEPTH_MAX - self.depth_left;
        tree(|filler| filler.begin_value(depth));
        let visited = self.deserialize_any(visitor);
        tree(Filler::end);
        visited
    }

    /// Visits a number that goes into a buffer of serde's. If it becomes an `f64`, its text is put aside.
    fn visit_buffered_number<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Error> {
        let digits = self.placed(self.node.leaf().digits())?;
        let text = if let Digits::Text(text) = &digits { Some(*text) } else { None };
        let number = self.placed(digits.number())?;
        if let Number::F64(value) = number {
            let mut shortest = zmij::Buffer::new();
            let text = text.map_or_else(|| shortest.format(value), |text| text.text());
            tree(|filler| filler.keep(text.as_bytes()));
        }
        self.placed(number.visit(visitor))
    }

    #[inline(always)]
    fn visit_f64<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Error> {
        self.placed(self.node.leaf().visit_f64(visitor))
    }

    fn visit_f32<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Error> {
        let number = self.node.leaf().digits().and_then(Digits::number_f32);
        self.placed(number.and_then(|number| number.visit(visitor)))
    }

    /// An integer of 128 bits.
    fn wide<T: TryFrom<u64> + TryFrom<i64>>(
        &self,
        read: fn(number::Number<'de>) -> Option<T>,
        wanted: &dyn de::Expected,
    ) -> Result<T, Error> {
        if self.node.kind() != Kind::Number {
            return Err(wrong(&self.node, wanted));
        }
        let digits = self.placed(self.node.leaf().digits())?;
        digits.wide(read).map_or_else(|| Err(wrong(&self.node, wanted)), |value| self.placed(value))
    }

    #[inline(always)]
    pub(crate) fn visit_string<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Error> {
        self.placed(self.node.leaf().visit_string(visitor))
    }

    #[inline(always)]
    fn visit_array<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Error> {
        let (children, depth_left) = (self.node.elements(), self.enter()?);
        let mut seq = NodeElements { children, len: self.node.len(), index: 0, depth_left };
        let value = self.placed(visitor.visit_seq(&mut seq))?;
        seq.children.left().map_or(Ok(value), Err)
    }

    #[inline(always)]
    fn visit_object<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Error> {
        let (children, depth_left) = (self.node.members(), self.enter()?);
        let mut map = NodeMembers { children, key: None, len: self.node.len(), index: 0, depth_left, has_texts: false };
        let visited = visitor.visit_map(&mut map);
        if map.has_texts {
            tree(|filler| filler.leave(map.depth()));
        }
        let value = self.placed(visited)?;
        map.children.left().map_or(Ok(value), Err)
    }

    /// Visits an enum written as an object with one member: the variant's name and its content.
    fn visit_variant<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Error> {
        let (mut children, depth_left) = (self.node.members(), self.enter()?);
        let name = children.next_key().ok_or(ErrorKind::Key)?;
        let content = children.next_value().ok_or(ErrorKind::Value)?;
        let value =
            visitor.visit_enum(NodeVariant { name, content: NodeDeserializer { node: content, depth_left } })?;
        children.left().map_or(Ok(value), Err)
    }
}

/// Checks that the value is of the requested kind, then visits it.
macro_rules! gated {
    ($([$kind:ident $visit:ident: $($method:ident($($argument:ty),*))*])*) => {
        $($(
            #[inline(always)]
            fn $method<V: Visitor<'de>>(self, $(_: $argument,)* visitor: V) -> Result<V::Value, Error> {
                match self.node.kind() {
                    Kind::$kind => self.$visit(visitor),
                    _ => Err(wrong(&self.node, &visitor)),
                }
            }
        )*)*
    };
}

impl<'de, N: Node<'de>> Deserializer<'de> for NodeDeserializer<N> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if is_buffer::<V::Value>() && !tree(|filler| filler.is_filling()) {
            return self.visit_buffer(visitor);
        }
        match self.node.kind() {
            Kind::Number if is_buffer::<V::Value>() => self.visit_buffered_number(visitor),
            Kind::Null => self.visit_null(visitor),
            Kind::Bool => self.visit_bool(visitor),
            Kind::Number => self.visit_number(visitor),
            Kind::String => self.visit_string(visitor),
            Kind::Array => self.visit_array(visitor),
            Kind::Object => self.visit_object(visitor),
        }
    }

    gated! {
        [Bool visit_bool: deserialize_bool()]
        [Number visit_number: deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64()]
        [Number visit_number: deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64()]
        [Number visit_f32: deserialize_f32()]
        [Number visit_f64: deserialize_f64()]
        [String visit_string: deserialize_char() deserialize_str() deserialize_string() deserialize_identifier()]
        [Null visit_null: deserialize_unit() deserialize_unit_struct(&'static str)]
        [Object visit_object: deserialize_map()]
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = self.wide(number::Number::as_i128, &visitor)?;
        visitor.visit_i128(value)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let unsigned = |number: number::Number<'de>| number.as_u128().filter(|_| !number.text().starts_with('-'));
        let value = self.wide(unsigned, &visitor)?;
        visitor.visit_u128(value)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.node.kind() {
            Kind::String => match self.node.leaf().bytes() {
                Some(bytes) => visitor.visit_borrowed_bytes(bytes),
                None => match self.placed(self.node.leaf().text())? {
                    Cow::Borrowed(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
                    Cow::Owned(text) => visitor.visit_byte_buf(text.into_bytes()),
                },
            },
            Kind::Array => self.visit_array(visitor),
            _ => Err(wrong(&self.node, &visitor)),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    #[inline(always)]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.node.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        match name {
            RAW_TEXT => self.node.visit_raw(RawTextVisitor(visitor)),
            EXACT_NUMBERS | ALL_NUMBERS if self.node.kind() == Kind::Number => {
                self.node.visit_raw(NumberTextVisitor(visitor))
            }
            EXACT_NUMBERS | ALL_NUMBERS => self.deserialize_any(visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.node.kind() {
            Kind::Array => self.visit_array(visitor),
            Kind::String if let Some(bytes) = self.node.leaf().bytes() => visit_bytes(bytes, visitor),
            _ => Err(wrong(&self.node, &visitor)),
        }
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.node.kind() {
            Kind::Object => {
                self.node.becomes_struct(fields);
                self.visit_object(visitor)
            }
            Kind::Array => self.visit_array(visitor),
            _ => Err(wrong(&self.node, &visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.placed(match self.node.kind() {
            Kind::String => self.node.leaf().text().and_then(|name| {
                let name: CowStrDeserializer<'_, Error> = name.into_deserializer();
                visitor.visit_enum(name)
            }),
            Kind::Object => self.visit_variant(visitor),
            _ => Err(Error::message(Category::Syntax, &"expected a variant: a string or an object")),
        })
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.node.ignored()?;
        visitor.visit_unit()
    }
}

/// The error for a value that is not of the wanted type.
#[cold]
#[inline(never)]
fn wrong<'de, N: Node<'de>>(node: &N, wanted: &dyn de::Expected) -> Error {
    node.placed(invalid_type(node, wanted).unwrap_or_else(|error| error))
}

fn invalid_type<'de, N: Node<'de>>(node: &N, wanted: &dyn de::Expected) -> Result<Error, Error> {
    let text;
    let found = match node.kind() {
        Kind::Null => Unexpected::Unit,
        Kind::Bool => Unexpected::Bool(node.leaf().is_true()),
        Kind::Number => node.leaf().digits()?.number()?.unexpected(),
        Kind::String if let Some(bytes) = node.leaf().bytes() => Unexpected::Bytes(bytes),
        Kind::String => {
            text = node.leaf().text()?;
            Unexpected::Str(&text)
        }
        Kind::Array => Unexpected::Seq,
        Kind::Object => Unexpected::Map,
    };
    Ok(de::Error::invalid_type(found, wanted))
}

/// Visits bytes as a sequence.
fn visit_bytes<'de, V: Visitor<'de>>(bytes: &[u8], visitor: V) -> Result<V::Value, Error> {
    let mut bytes = SeqDeserializer::<_, Error>::new(bytes.iter().copied());
    let value = visitor.visit_seq(&mut bytes)?;
    bytes.end()?;
    Ok(value)
}

struct NodeElements<C> {
    children: C,
    len: Option<usize>,
    index: usize,
    depth_left: usize,
}

impl<'de, C: Children<'de>> de::SeqAccess<'de> for NodeElements<C> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(node) = self.children.next_value() else { return Ok(None) };
        self.index += 1;
        match seed.deserialize(NodeDeserializer { node, depth_left: self.depth_left }) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(node.placed(error).inside(Step::Index(self.index - 1))),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.len?.saturating_sub(self.index))
    }
}

struct NodeMembers<'de, C: Children<'de>> {
    children: C,
    /// The last key that was read, for the path of an error.
    key: Option<C::Key>,
    len: Option<usize>,
    /// The number of keys that were requested.
    index: usize,
    depth_left: usize,
    /// Whether members have gone into a buffer of serde's, with texts of numbers.
    has_texts: bool,
}

impl<'de, C: Children<'de>> NodeMembers<'de, C> {
    /// How many containers are open.
    fn depth(&self) -> usize {
        TYPED_DEPTH_MAX - self.depth_left
    }

    /// Decodes a member's value into a buffer of serde's.
    fn buffered<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
        value: NodeDeserializer<C::Value>,
    ) -> Result<V::Value, Error> {
        tree(|filler| filler.begin_member(self.depth(), !self.has_texts));
        let value = seed.deserialize(value);
        self.has_texts = tree(Filler::end);
        value
    }

    #[cold]
    #[inline(never)]
    fn refused(&self, error: Error, value: &C::Value) -> Error {
        let key = self.key.as_ref().map(C::Key::name).unwrap_or_default();
        value.placed(error).inside(Step::key(&key))
    }
}

impl<'de, C: Children<'de>> de::MapAccess<'de> for NodeMembers<'de, C> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        if self.children.is_behind_key() {
            return Err(de::Error::custom("`next_key` was called twice without `next_value`"));
        }
        let Some(key) = self.children.next_key() else {
            if self.has_texts {
                tree(|filler| filler.ask(self.depth()));
            }
            return Ok(None);
        };
        let key = self.key.insert(key);
        self.index += 1;
        match seed.deserialize(KeyDeserializer(key)) {
            Ok(key) => Ok(Some(key)),
            Err(error) => Err(key.placed(error)),
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let Some(node) = self.children.next_value() else {
            return Err(de::Error::custom("`next_value` was called without `next_key`"));
        };
        let value = NodeDeserializer { node, depth_left: self.depth_left };
        let value = if is_buffer::<V::Value>() && !tree(|filler| filler.is_filling()) {
            self.buffered(seed, value)
        } else {
            seed.deserialize(value)
        };
        match value {
            Ok(value) => Ok(value),
            Err(error) => Err(self.refused(error, &node)),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.len?.saturating_sub(self.index))
    }
}

struct NodeVariant<K, N> {
    name: K,
    content: NodeDeserializer<N>,
}

impl<'de, K: TreeKey<'de>, N: Node<'de>> de::EnumAccess<'de> for NodeVariant<K, N> {
    type Error = Error;
    type Variant = VariantContent<K, N>;

    fn variant_seed<V: DeserializeSeed<'de>>(mut self, seed: V) -> Result<(V::Value, Self::Variant), Error> {
        let name = seed.deserialize(KeyDeserializer(&mut self.name)).map_err(|error| self.name.placed(error))?;
        Ok((name, VariantContent { name: self.name, content: self.content }))
    }
}

/// What a variant contains, and its name for the path of an error.
struct VariantContent<K, N> {
    name: K,
    content: NodeDeserializer<N>,
}

impl<'de, K: TreeKey<'de>, N: Node<'de>> VariantContent<K, N> {
    fn decode<T>(self, decode: impl FnOnce(NodeDeserializer<N>) -> Result<T, Error>) -> Result<T, Error> {
        let name = self.name;
        decode(self.content).map_err(|error| error.inside(Step::key(&name.name())))
    }
}

impl<'de, K: TreeKey<'de>, N: Node<'de>> de::VariantAccess<'de> for VariantContent<K, N> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        self.decode(Deserialize::deserialize)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        self.decode(|content| seed.deserialize(content))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.decode(|content| content.deserialize_seq(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.decode(|content| content.deserialize_struct("", fields, visitor))
    }
}
