//! Decodes numbers into the requested type, exactly.

use super::{Deserializer, Read};
use crate::data_model::Number;
use crate::error::Error;
use crate::fault::ErrorKind;
use crate::number::{self, Exact, MachineNumber};
use crate::scan::Token;
use serde_core::de::Visitor;

/// A number without an exponent that is no longer than this is finite as an `f64`.
const PLAIN_LEN_MAX: usize = 300;

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

    /// Visits a number that goes into a buffer of serde's. If it becomes an `f64`, its text is put aside.
    pub(super) fn visit_buffered_number<V: Visitor<'de>>(
        &mut self,
        token: Token,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let end = self.pull.checked_number(token)?;
        let text = self.pull.window();
        let number = match number::to_machine_at(text, token.start, end) {
            Some(MachineNumber::F64(value)) => Number::F64(value),
            Some(MachineNumber::U64(value)) => Number::U64(value),
            Some(MachineNumber::I64(value)) if value < 0 => Number::I64(value),
            Some(MachineNumber::I64(value)) if value > 0 => Number::U64(value.unsigned_abs()),
            // Zero may be negative.
            _ => match Number::of(text, token.start, end) {
                Some(number) => number,
                None => return Err(self.out_of_range(token)),
            },
        };
        if let Number::F64(_) = number {
            self.buffers.0.keep(&text[token.start..end]);
        }
        self.pull.step();
        let visited = number.visit(visitor);
        self.placed(visited, token.start)
    }

    /// Visits a number with all of its digits, as [`EXACT_NUMBERS`](crate::data_model::EXACT_NUMBERS) says, or also one
    /// that is infinite as an `f64`.
    #[inline(always)]
    pub(super) fn visit_exact_number<V: Visitor<'de>>(
        &mut self,
        token: Token,
        visitor: V,
        infinite: bool,
    ) -> Result<V::Value, Error> {
        let end = self.pull.checked_number(token)?;
        let visited = match number::exact_at(self.pull.window(), token.start, end) {
            Some(Exact::U64(value)) => {
                self.pull.step();
                visitor.visit_u64(value)
            }
            Some(Exact::Decimal(value)) => {
                self.pull.step();
                visitor.visit_u128(value.packed())
            }
            Some(Exact::I64(value)) => {
                self.pull.step();
                visitor.visit_i64(value)
            }
            None => self.visit_number_text(token, end, visitor, infinite),
        };
        self.placed(visited, token.start)
    }

    /// Visits a number as its text. It is finite, unless `infinite`.
    #[inline(never)]
    fn visit_number_text<V: Visitor<'de>>(
        &mut self,
        token: Token,
        end: usize,
        visitor: V,
        infinite: bool,
    ) -> Result<V::Value, Error> {
        let text = &self.pull.window()[token.start..end];
        let may_be_infinite = !infinite && (text.len() > PLAIN_LEN_MAX || memchr::memchr2(b'e', b'E', text).is_some());
        if may_be_infinite && Number::of(self.pull.window(), token.start, end).is_none() {
            return Err(self.out_of_range(token));
        }
        self.pull.step();
        visitor.visit_bytes(&self.pull.window()[token.start..end])
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

    /// Converts from the text to `f32` directly, so that the value is rounded only once.
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
