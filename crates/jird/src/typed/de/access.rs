//! serde's access to arrays, objects and variants.

use super::{Deserializer, Read};
use crate::data_model::{KeyDeserializer, is_buffer};
use crate::error::Error;
use crate::fault::ErrorKind;
use crate::path::Step;
use crate::scan::{KEY_BYTES, TextSource};
use crate::text;
use serde_core::de::{self, DeserializeSeed, Visitor};

/// The elements of an array; its opening bracket was already consumed.
pub(super) struct ArrayAccess<'a, R> {
    de: &'a mut Deserializer<R>,
    /// The number of elements that were requested.
    index: usize,
}

impl<'a, R> ArrayAccess<'a, R> {
    #[inline(always)]
    pub(super) fn new(de: &'a mut Deserializer<R>) -> Self {
        Self { de, index: 0 }
    }
}

impl<'de, R: Read<'de>> de::SeqAccess<'de> for ArrayAccess<'_, R> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let token = self.de.pull.token();
        if self.de.pull.bracket(token) == b']' {
            return Ok(None);
        }
        let mut start = token.start;
        if self.index > 0 {
            if token.plain() != b',' {
                return Err(self.de.pull.unexpected(ErrorKind::Comma));
            }
            start = token.next;
            self.de.pull.step();
        }
        let at = self.de.pull.offset(start);
        self.index += 1;
        match seed.deserialize(&mut *self.de) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(self.de.pull.place_at(error, at).inside(Step::Index(self.index - 1))),
        }
    }

    /// Exact for arrays of scalars whose end pass one has seen.
    #[inline]
    fn size_hint(&self) -> Option<usize> {
        // Each element and each comma is a token; there is no comma after the last element or before the first.
        self.de.pull.before_closing(b']').map(|tokens| tokens.div_ceil(2))
    }
}

/// The members of an object; its opening bracket was already consumed.
pub(super) struct ObjectAccess<'a, 'de, R: Read<'de>> {
    de: &'a mut Deserializer<R>,
    is_first: bool,
    /// Whether members have gone into a buffer of serde's, with texts of numbers.
    has_texts: bool,
    key: <R as TextSource<'de>>::Key,
}

impl<'a, 'de, R: Read<'de>> ObjectAccess<'a, 'de, R> {
    #[inline(always)]
    pub(super) fn new(de: &'a mut Deserializer<R>) -> Self {
        Self { de, is_first: true, has_texts: false, key: Default::default() }
    }

    /// Decodes a member's value into a buffer of serde's.
    fn buffered<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let depth = self.de.depth();
        self.de.buffers.0.begin_member(depth, !self.has_texts);
        let value = seed.deserialize(&mut *self.de);
        self.has_texts = self.de.buffers.0.end();
        value
    }
}

impl<'de, R: Read<'de>> de::MapAccess<'de> for ObjectAccess<'_, 'de, R> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let mut token = self.de.pull.token();
        if self.de.pull.bracket(token) == b'}' {
            if self.has_texts {
                let depth = self.de.depth();
                self.de.buffers.0.ask(depth);
            }
            return Ok(None);
        }
        if !self.is_first {
            if token.plain() != b',' {
                return Err(self.de.pull.unexpected(ErrorKind::Comma));
            }
            self.de.pull.step();
            token = self.de.pull.token();
        }
        self.is_first = false;
        if token.plain() != b'"' {
            return Err(self.de.pull.unexpected(ErrorKind::Key));
        }
        self.key = self.de.pull.source().key(token.start, token.next);
        match seed.deserialize(KeyDeserializer(&mut *self.de)) {
            Ok(key) => Ok(Some(key)),
            Err(error) => Err(self.de.pull.place(error, token.start)),
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let token = self.de.pull.token();
        if token.plain() != b':' {
            return Err(self.de.pull.unexpected(ErrorKind::Colon));
        }
        let at = self.de.pull.offset(token.next);
        self.de.pull.step();
        let value = if is_buffer::<V::Value>() && !self.de.buffers.0.is_filling() {
            self.buffered(seed)
        } else {
            seed.deserialize(&mut *self.de)
        };
        match value {
            Ok(value) => Ok(value),
            Err(error) => Err(self.de.pull.place_at(error, at).inside(key_step(self.key.as_ref()))),
        }
    }

    /// Exact for objects of scalars whose end pass one has seen.
    #[inline]
    fn size_hint(&self) -> Option<usize> {
        // Key, colon, value and comma.
        self.de.pull.before_closing(b'}').map(|tokens| tokens.div_ceil(4))
    }
}

/// The path step for a key. `quoted` begins with the quote and may be cut off.
#[cold]
#[inline(never)]
fn key_step(quoted: &[u8]) -> Step {
    // A reader keeps only this much of a key; with the same limit here, the error shows the same key for every source.
    let content = quoted.get(1..quoted.len().min(KEY_BYTES)).unwrap_or_default();
    let closing = text::closing_quote(content);
    let end = closing.unwrap_or_else(|| text::whole_len(content));
    let mut key = String::new();
    text::unescape(&String::from_utf8_lossy(&content[..end]), &mut key);
    if closing.is_some() { Step::key(&key) } else { Step::key_begins(&key) }
}

/// An enum written as an object with one member: the variant's name and its content.
pub(super) struct VariantObject<'a, R> {
    de: &'a mut Deserializer<R>,
}

impl<'a, R> VariantObject<'a, R> {
    pub(super) fn new(de: &'a mut Deserializer<R>) -> Self {
        Self { de }
    }
}

impl<'a, 'de, R: Read<'de>> de::EnumAccess<'de> for VariantObject<'a, R> {
    type Error = Error;
    type Variant = VariantContent<'a, 'de, R>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self::Variant), Error> {
        let token = self.de.pull.token();
        if token.plain() != b'"' {
            return Err(self.de.pull.unexpected(ErrorKind::Key));
        }
        let key = self.de.pull.source().key(token.start, token.next);
        let variant = match seed.deserialize(KeyDeserializer(&mut *self.de)) {
            Ok(variant) => variant,
            Err(error) => return Err(self.de.pull.place(error, token.start)),
        };
        let token = self.de.pull.token();
        if token.plain() != b':' {
            return Err(self.de.pull.unexpected(ErrorKind::Colon));
        }
        let at = self.de.pull.offset(token.next);
        self.de.pull.step();
        Ok((variant, VariantContent { de: self.de, key, at }))
    }
}

/// The content of a variant.
pub(super) struct VariantContent<'a, 'de, R: Read<'de>> {
    de: &'a mut Deserializer<R>,
    key: <R as TextSource<'de>>::Key,
    /// The offset of the content.
    at: u64,
}

impl<'de, R: Read<'de>> VariantContent<'_, 'de, R> {
    /// Decodes the content. An error is inside the variant.
    #[inline]
    fn content<T>(self, decode: impl FnOnce(&mut Deserializer<R>) -> Result<T, Error>) -> Result<T, Error> {
        match decode(&mut *self.de) {
            Ok(value) => Ok(value),
            Err(error) => Err(self.de.pull.place_at(error, self.at).inside(key_step(self.key.as_ref()))),
        }
    }
}

impl<'de, R: Read<'de>> de::VariantAccess<'de> for VariantContent<'_, 'de, R> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        self.content(|de| de::Deserialize::deserialize(de))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        self.content(|de| seed.deserialize(de))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.content(|de| de::Deserializer::deserialize_seq(de, visitor))
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.content(|de| de::Deserializer::deserialize_struct(de, "", fields, visitor))
    }
}
