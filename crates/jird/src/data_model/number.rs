//! Numbers in the form that serde's visitors receive.

use crate::error::Error;
use crate::number;
use serde_core::de::{Unexpected, Visitor};

/// A number in the form that a visitor receives; the choice of type is that of `serde_json`.
#[derive(Clone, Copy)]
pub(crate) enum Number {
    U64(u64),
    I64(i64),
    F64(f64),
}

impl Number {
    /// The number of a checked token; `None` if it is infinite.
    #[inline]
    pub(crate) fn of(text: &[u8], start: usize, end: usize) -> Option<Self> {
        if let Some(value) = number::to_u64_at(text, start, end) {
            // `-0` is not an integer.
            return Some(if text[start] == b'-' { Self::F64(-0.0) } else { Self::U64(value) });
        }
        match number::to_i64_at(text, start, end) {
            Some(value) => Some(Self::I64(value)),
            None => number::to_f64_at(text, start, end).map(Self::F64),
        }
    }

    /// As [`of`](Self::of), but a number that is not an integer of 64 bits becomes the nearest `f32`.
    pub(crate) fn of_f32(token: &[u8]) -> Option<Self> {
        match Self::of(token, 0, token.len())? {
            Self::F64(_) => number::to_f32(token).map(|value| Self::F64(value.into())),
            integer => Some(integer),
        }
    }

    pub(crate) fn unexpected(self) -> Unexpected<'static> {
        match self {
            Self::U64(value) => Unexpected::Unsigned(value),
            Self::I64(value) => Unexpected::Signed(value),
            Self::F64(value) => Unexpected::Float(value),
        }
    }

    #[inline(always)]
    pub(crate) fn visit<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::U64(value) => visitor.visit_u64(value),
            Self::I64(value) => visitor.visit_i64(value),
            Self::F64(value) => visitor.visit_f64(value),
        }
    }
}
