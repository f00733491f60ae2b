//! A tape → Python's values.

use super::small::Parts;
use crate::error;
use crate::raw::collect::Pause;
use crate::raw::keys::{Keys, Values};
use crate::raw::make::{self, Dict, HashedKey, Keeps, List, NewObject};
use crate::raw::stack::{Stack, exhausted};
use jird::value::MachineNumber;
use jird::{Kind, Parser, Value};
use pyo3::prelude::*;
use pyo3::types::PyInt;

/// What is kept from one text to the next.
#[derive(Default)]
pub(crate) struct Reader {
    pub(crate) parser: Parser,
    pub(crate) making: Making,
}

/// What is kept for making values.
pub(crate) struct Making {
    pub(super) keys: Keys,
    pub(super) values: Values,
    /// Of short texts.
    pub(super) parts: Parts,
    /// A string without its escapes.
    plain: String,
}

/// A `plain` string beyond this many bytes is not kept.
const PLAIN_MAX: usize = 1 << 20;

impl Default for Making {
    fn default() -> Self {
        Self { keys: Keys::new(), values: Values::new(), parts: Parts::default(), plain: String::new() }
    }
}

/// Makes the values of one text.
///
/// **No code of Python runs** while it does: [`value`](Self::value) calls only those functions of Python's C API that
/// `raw/calls.md` says run none, and the collector is paused. No other code sees a list that is not full, so it is made in
/// its size. What Python's code may run for is done when nothing is half made: integers of many digits before, and
/// exceptions after.
pub(crate) struct Builder<'m, 'py> {
    pub(crate) py: Python<'py>,
    pub(crate) text: &'m [u8],
    pub(crate) stack: Stack,
    pub(crate) keeps: Keeps,
    making: &'m mut Making,
    /// The integers of many digits that are still to come, the next one last.
    long: Vec<Bound<'py, PyAny>>,
    /// Why there was no value, unless Python's exception is set.
    refused: Option<BuildError>,
}

/// Why there is no value.
enum BuildError {
    /// An integer of many digits, which must be made before.
    Long,
    /// A number at this offset that no `float` can hold.
    Large(usize),
    /// The stack is used up.
    Stack,
}

/// An integer of more digits is one that Python may refuse to read, or read with code of its own: none of its limits for
/// `sys.set_int_max_str_digits` is lower.
const LONG_MIN: usize = 640;

impl<'m, 'py> Builder<'m, 'py> {
    #[inline]
    pub(crate) fn new(py: Python<'py>, text: &'m [u8], making: &'m mut Making, keeps: Keeps) -> Self {
        Self { py, text, stack: Stack::here(), keeps, making, long: Vec::new(), refused: None }
    }

    /// The value and all that is in it.
    #[inline]
    pub(crate) fn root(mut self, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
        let made = self.whole(value);
        if self.making.plain.capacity() > PLAIN_MAX {
            self.making.plain = String::new();
        }
        made
    }

    /// A value and all that is in it; code of Python may run before.
    #[inline]
    pub(super) fn whole(&mut self, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
        let paused = Pause::new(self.py);
        let made = self.value(value);
        drop(paused);
        match made {
            Some(made) => Ok(made),
            None => self.again(value),
        }
    }

    /// The value after the first attempt, which has failed.
    #[cold]
    fn again(&mut self, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
        match self.refused.take() {
            Some(BuildError::Long) => {}
            Some(BuildError::Large(offset)) => {
                return Err(self.out_of_range(offset, "the number is too large for a float"));
            }
            Some(BuildError::Stack) => return Err(exhausted()),
            None => return Err(PyErr::fetch(self.py)),
        }
        let is_long = |value: &Value<'_>| value.kind() == Kind::Number && is_long(*value);
        let mut long = value.descendants().filter(is_long);
        let mut made = long.try_fold(Vec::new(), |mut made, value| -> PyResult<_> {
            made.push(self.long_integer(value)?);
            Ok(made)
        })?;
        made.reverse();
        self.long = made;
        let made = self.whole(value);
        self.long.clear();
        made
    }

    /// An integer of many digits, by Python's code.
    fn long_integer(&self, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
        let digits = value.as_number().map_or("", |number| number.text());
        self.py.get_type::<PyInt>().call1((digits,)).map_err(|cause| {
            // Python's limit for the conversion of digits, `sys.set_int_max_str_digits`.
            let raised = self.out_of_range(value.offset(), &cause.value(self.py).to_string());
            raised.set_cause(self.py, Some(cause));
            raised
        })
    }

    #[cold]
    fn out_of_range(&self, offset: usize, words: &str) -> PyErr {
        let place = jird::Error::new(jird::ErrorKind::Range, offset as u64).locate(self.text);
        error::decode(self.py, self.text, words, "range", offset, place.pointer())
    }

    #[cold]
    fn refuse(&mut self, why: BuildError) -> NewObject<'py> {
        self.refused = Some(why);
        None
    }

    /// A value that is neither a container nor a number, or which is within another.
    ///
    /// Recursion is bounded: a text of the default policy has at most 1024 levels, and the stack is looked at.
    #[inline(always)]
    pub(crate) fn value(&mut self, value: Value<'_>) -> NewObject<'py> {
        match value.kind() {
            Kind::String => make::string(self.py, value.str_in(&mut self.making.plain)?),
            Kind::Number => match value.machine_number() {
                Some(MachineNumber::I64(number)) => make::int(self.py, number),
                Some(MachineNumber::F64(number)) => make::float(self.py, number),
                Some(MachineNumber::U64(number)) => make::uint(self.py, number),
                None => self.large_number(value),
            },
            Kind::Object => self.object(value),
            Kind::Array => self.array(value),
            Kind::Bool => Some(make::bool(self.py, value.as_bool()?)),
            Kind::Null => Some(make::none(self.py)),
        }
    }

    /// What a string says.
    #[inline(always)]
    pub(super) fn text_of<'s>(&'s mut self, string: Value<'s>) -> Option<&'s str> {
        string.str_in(&mut self.making.plain)
    }

    /// A text begins.
    pub(super) fn begin(&mut self) {
        self.making.values.renew();
    }

    /// A key, from the cache if it is there.
    #[inline(always)]
    pub(crate) fn key(&mut self, key: Value<'_>) -> Option<HashedKey<'py>> {
        self.making.keys.key(self.py, key.str_in(&mut self.making.plain)?)
    }

    /// The value of a string, which a field of its type may have often.
    #[inline(always)]
    pub(super) fn frequent(&mut self, string: Value<'_>) -> NewObject<'py> {
        self.making.values.value(self.py, string.str_in(&mut self.making.plain)?)
    }

    #[inline(never)]
    fn object(&mut self, object: Value<'_>) -> NewObject<'py> {
        if !self.stack.has_room() {
            return self.refuse(BuildError::Stack);
        }
        let mut dict = Dict::new(self.py, object.len())?;
        for (key, value) in object.entries() {
            let key = self.key(key)?;
            let value = self.value(value)?;
            dict.put(&key, &value, self.keeps)?;
        }
        Some(dict.finish())
    }

    #[inline(never)]
    fn array(&mut self, array: Value<'_>) -> NewObject<'py> {
        if !self.stack.has_room() {
            return self.refuse(BuildError::Stack);
        }
        let mut list = List::new(self.py, array.len())?;
        for element in array.elements() {
            list.push(self.value(element)?);
        }
        Some(list.finish())
    }

    /// An integer beyond 64 bits; or none, because a double cannot hold the number.
    #[cold]
    #[inline(never)]
    fn large_number(&mut self, value: Value<'_>) -> NewObject<'py> {
        match value.as_number() {
            Some(number) if number.is_integer() && is_long(value) => match self.long.pop() {
                Some(made) => Some(made),
                None => self.refuse(BuildError::Long),
            },
            Some(number) if number.is_integer() => make::large_int(self.py, number.text()),
            _ => self.refuse(BuildError::Large(value.offset())),
        }
    }
}

/// Whether a number is an integer that Python's code may run for.
fn is_long(number: Value<'_>) -> bool {
    number.raw().len() > LONG_MIN && number.is_integer()
}
