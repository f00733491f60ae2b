//! Numbers as the type asks for them, exact.

use super::{Deserializer, Read};
use crate::error::Error;
use crate::fault::ErrorKind;
use crate::number::{self, MachineNumber};
use crate::scan::Token;
use serde_core::de::{Unexpected, Visitor};

/// A number as a visitor gets it: what `serde_json` says it is.
#[derive(Clone, Copy)]
pub(crate) enum Number {
    U64(u64),
    I64(i64),
    F64(f64),
}

impl Number {
    /// The number that a checked token is; none if it is infinite.
    #[inline]
    pub(crate) fn of(text: &[u8], start: usize, end: usize) -> Option<Self> {
        if let Some(value) = number::to_u64_at(text, start, end) {
            // `-0` is none.
            return Some(if text[start] == b'-' { Self::F64(-0.0) } else { Self::U64(value) });
        }
        match number::to_i64_at(text, start, end) {
            Some(value) => Some(Self::I64(value)),
            None => number::to_f64_at(text, start, end).map(Self::F64),
        }
    }

    /// As [`of`](Self::of), and what is no integer of 64 bits is the nearest `f32`.
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

impl<'de, R: Read<'de>> Deserializer<R> {
    /// The number that is the next token; steps over it.
    #[inline(never)]
    pub(super) fn number(&mut self) -> Result<Number, Error> {
        let token = self.pull.token();
        let end = self.pull.checked_number(token)?;
        match Number::of(self.pull.window(), token.start, end) {
            Some(number) => {
                self.pull.step();
                Ok(number)
            }
            None => Err(self.out_of_range(token)),
        }
    }

    #[cold]
    #[inline(never)]
    fn out_of_range(&mut self, token: Token) -> Error {
        self.pull.syntax(ErrorKind::Range, token.start)
    }

    #[inline(always)]
    pub(super) fn visit_number<V: Visitor<'de>>(&mut self, token: Token, visitor: V) -> Result<V::Value, Error> {
        let end = self.pull.scalar_end(token);
        let visited = if let Some(value) = number::to_small_at(self.pull.window(), token.start, end) {
            self.pull.step();
            visitor.visit_u64(value)
        } else {
            self.number()?.visit(visitor)
        };
        self.placed(visited, token.start)
    }

    #[inline(always)]
    pub(super) fn visit_f64<V: Visitor<'de>>(&mut self, token: Token, visitor: V) -> Result<V::Value, Error> {
        let end = self.pull.checked_number(token)?;
        let visited = match number::to_machine_at(self.pull.window(), token.start, end) {
            Some(MachineNumber::F64(value)) => {
                self.pull.step();
                visitor.visit_f64(value)
            }
            _ => self.number()?.visit(visitor),
        };
        self.placed(visited, token.start)
    }

    /// Rounded once.
    pub(super) fn visit_f32<V: Visitor<'de>>(&mut self, token: Token, visitor: V) -> Result<V::Value, Error> {
        let end = self.pull.checked_number(token)?;
        let Some(number) = Number::of_f32(&self.pull.window()[token.start..end]) else {
            return Err(self.out_of_range(token));
        };
        self.pull.step();
        let visited = number.visit(visitor);
        self.placed(visited, token.start)
    }

    pub(super) fn visit_i128<V: Visitor<'de>>(&mut self, token: Token, visitor: V) -> Result<V::Value, Error> {
        let end = self.pull.checked_number(token)?;
        self.visit_wide(token, end, number::to_i128, visitor, V::visit_i128)
    }

    pub(super) fn visit_u128<V: Visitor<'de>>(&mut self, token: Token, visitor: V) -> Result<V::Value, Error> {
        let end = self.pull.checked_number(token)?;
        let unsigned = |token: &[u8]| if token[0] == b'-' { None } else { number::to_u128(token) };
        self.visit_wide(token, end, unsigned, visitor, V::visit_u128)
    }

    fn visit_wide<T, V: Visitor<'de>>(
        &mut self,
        token: Token,
        end: usize,
        read: fn(&[u8]) -> Option<T>,
        visitor: V,
        visit: fn(V, T) -> Result<V::Value, Error>,
    ) -> Result<V::Value, Error> {
        let text = self.pull.window();
        let Some(value) = read(&text[token.start..end]) else {
            if number::is_integer_at(text, token.start, end) {
                return Err(self.out_of_range(token));
            }
            return Err(self.wrong_type(&visitor));
        };
        self.pull.step();
        let visited = visit(visitor, value);
        self.placed(visited, token.start)
    }
}
