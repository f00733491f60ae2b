//! A tape → Python's values.

use crate::error;
use crate::raw::collect::Pause;
use crate::raw::keys::{Keys, Values};
use crate::raw::make::{self, Dict, HashedKey, Keeps, List, Made};
use jird::{Kind, MachineNumber, Parser, Value};
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
    keys: Keys,
    values: Values,
    /// A string without its escapes.
    plain: String,
}

/// A `plain` string beyond this many bytes is not kept.
const PLAIN_MAX: usize = 1 << 20;

impl Default for Making {
    fn default() -> Self {
        Self { keys: Keys::new(), values: Values::new(), plain: String::new() }
    }
}

/// Makes the values of one text.
pub(crate) struct Builder<'m, 'py> {
    pub(crate) py: Python<'py>,
    pub(crate) text: &'m [u8],
    pub(crate) making: &'m mut Making,
    pub(crate) keeps: Keeps,
}

impl<'py> Builder<'_, 'py> {
    /// The value and all that is in it.
    pub(crate) fn root(mut self, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
        let pause = Pause::new(self.py);
        let made = self.value(value);
        drop(pause);
        if self.making.plain.capacity() > PLAIN_MAX {
            self.making.plain = String::new();
        }
        made.ok_or_else(|| PyErr::fetch(self.py))
    }

    /// A value, whose text a caller keeps fixed.
    ///
    /// Recursion is bounded: a text of the default policy has at most 1024 levels.
    #[inline(always)]
    pub(crate) fn value(&mut self, value: Value<'_>) -> Made<'py> {
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
    pub(super) fn frequent(&mut self, string: Value<'_>) -> Made<'py> {
        self.making.values.value(self.py, string.str_in(&mut self.making.plain)?)
    }

    #[inline(never)]
    fn object(&mut self, object: Value<'_>) -> Made<'py> {
        let mut dict = Dict::new(self.py, object.len())?;
        for (key, value) in object.entries() {
            let key = self.key(key)?;
            let value = self.value(value)?;
            dict.put(&key, &value, self.keeps)?;
        }
        Some(dict.finish())
    }

    #[inline(never)]
    fn array(&mut self, array: Value<'_>) -> Made<'py> {
        let mut list = List::new(self.py, array.len())?;
        for element in array.elements() {
            list.push(self.value(element)?);
        }
        Some(list.finish())
    }

    /// An integer beyond 64 bits; or an error, because a double cannot hold the number.
    #[cold]
    #[inline(never)]
    fn large_number(&mut self, value: Value<'_>) -> Made<'py> {
        let raised = match value.as_number() {
            Some(number) if number.is_integer() => {
                match self.py.get_type::<PyInt>().call1((number.text(),)) {
                    Ok(int) => return Some(int),
                    // Python's limit for the conversion of digits, `sys.set_int_max_str_digits`.
                    Err(cause) => {
                        let raised = self.out_of_range(value, &cause.value(self.py).to_string());
                        raised.set_cause(self.py, Some(cause));
                        raised
                    }
                }
            }
            _ => self.out_of_range(value, "the number is too large for a float"),
        };
        raised.restore(self.py);
        None
    }

    #[cold]
    fn out_of_range(&self, value: Value<'_>, words: &str) -> PyErr {
        let offset = value.offset();
        let place = jird::Error::new(jird::ErrorKind::Range, offset as u64).locate(self.text);
        error::decode(self.py, self.text, words, "range", offset, place.pointer())
    }
}
