//! Scalars as leaves of trees: those of a recording, those of a row, and keys.

use crate::data_model::{Digits, KeyText, Leaf, Node, NodeDeserializer, Number, TreeKey};
use crate::error::Error;
use crate::event::{JsonSink, Numeral, Scalar, base64};
use crate::fault::ErrorKind;
use crate::tape::Kind;
use core::iter::{Empty, empty};
use serde_core::de::Visitor;
use std::borrow::Cow;

impl<'a> Leaf<'a> for Scalar<'a> {
    fn is_true(&self) -> bool {
        matches!(self, Self::Bool(true))
    }

    #[inline(always)]
    fn digits(&self) -> Result<Digits<'a>, Error> {
        Ok(match *self {
            Self::Number(Numeral::Text(text)) => Digits::Text(text),
            Self::Number(Numeral::U64(value)) => Digits::Machine(Number::U64(value)),
            Self::Number(Numeral::F64(value)) => Digits::Machine(Number::F64(value)),
            Self::Number(Numeral::I64(value)) => {
                Digits::Machine(u64::try_from(value).map_or(Number::I64(value), Number::U64))
            }
            _ => return Err(ErrorKind::Number.into()),
        })
    }

    /// Bytes are base64, and points in time have the form of RFC 3339.
    fn text(&self) -> Result<Cow<'a, str>, Error> {
        match *self {
            Self::String(text) => Ok(text.into()),
            Self::Bytes(bytes) => Ok(base64(bytes).into()),
            Self::Timestamp(time) => Ok(time.to_string().into()),
            Self::Null | Self::Bool(_) | Self::Number(_) => Err(ErrorKind::Value.into()),
        }
    }

    #[inline(always)]
    fn visit_string<V: Visitor<'a>>(&self, visitor: V) -> Result<V::Value, Error> {
        match *self {
            Self::String(text) => visitor.visit_borrowed_str(text),
            Self::Bytes(bytes) => visitor.visit_string(base64(bytes)),
            Self::Timestamp(time) => visitor.visit_string(time.to_string()),
            Self::Null | Self::Bool(_) | Self::Number(_) => Err(ErrorKind::Value.into()),
        }
    }

    #[inline(always)]
    fn bytes(&self) -> Option<&'a [u8]> {
        if let Self::Bytes(bytes) = *self { Some(bytes) } else { None }
    }
}

impl<'a> Node<'a> for Scalar<'a> {
    type Leaf = Self;
    type Elements = Empty<Self>;
    type Members = Empty<Self>;

    #[inline(always)]
    fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Bool,
            Self::Number(_) => Kind::Number,
            Self::String(_) | Self::Bytes(_) | Self::Timestamp(_) => Kind::String,
        }
    }

    #[inline(always)]
    fn leaf(&self) -> Self {
        *self
    }

    fn elements(&self) -> Empty<Self> {
        empty()
    }

    fn members(&self) -> Empty<Self> {
        empty()
    }

    fn visit_raw<V: Visitor<'a>>(&self, visitor: V) -> Result<V::Value, Error> {
        if let Self::Number(Numeral::Text(number)) = *self {
            return visitor.visit_borrowed_str(number.text());
        }
        let mut json = JsonSink::in_memory();
        self.send(&mut json)?;
        json.take_text(|text| visitor.visit_str(text))
    }
}

/// A key that was decoded before.
impl<'a> KeyText<'a> for &'a str {
    type Value<'k>
        = NodeDeserializer<Scalar<'a>>
    where
        Self: 'k;

    #[inline(always)]
    fn visit<V: Visitor<'a>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self)
    }

    fn quoted<T>(&mut self, then: impl FnOnce(&str) -> Result<T, Error>) -> Result<T, Error> {
        then(self)
    }

    fn value(&mut self) -> NodeDeserializer<Scalar<'a>> {
        NodeDeserializer::new(Scalar::String(self))
    }
}

impl<'a> TreeKey<'a> for &'a str {
    fn name(&self) -> Cow<'a, str> {
        Cow::Borrowed(self)
    }
}
