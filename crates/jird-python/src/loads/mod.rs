//! Texts → Python's values.
//!
//! A text is first checked whole and put on a tape, without the interpreter's lock if it is long. Then the values are
//! made in one go: the tape says how many there are in each list and dict.
//!
//! ```text
//! small     values of short texts, made without a tape
//! build     values of JSON
//! decoder   the class `Decoder`
//! hooked    values that functions of the caller make
//! repeated  texts without repeated keys
//! typed     values of types that the caller names
//! ```

mod build;
mod decoder;
mod hooked;
pub(crate) mod repeated;
mod small;
mod typed;

pub(crate) use crate::raw::make::Keeps;
pub(crate) use build::{Builder, Making, Reader};
pub(crate) use decoder::{Decode, Decoder};
pub(crate) use hooked::{HookedReader, Hooks};
pub(crate) use typed::Typed;

use crate::error;
use crate::raw::entry::{Arguments, Entry, Wrapped};
use crate::raw::make::NewObject;
use crate::raw::spare::Spare;
use crate::raw::text::{Text, bytes_of};
use core::num::NonZero;
use jird::{Parser, Value};
use pyo3::prelude::*;
use small::SMALL_MAX;
use std::thread;

/// A text of this many bytes is parsed without the interpreter's lock: releasing it and taking it back costs as much as
/// parsing some hundred bytes.
pub(crate) const DETACHED_MIN: usize = 32 << 10;

/// A text of this many bytes has a parser of its own, whose tape is not kept, and which uses all cores from 8 MB on.
const LARGE_MIN: usize = 4 << 20;

/// An unused reader, with its tape and its keys.
static SPARE: Spare<Reader> = Spare::new();

/// Calls `read` with a reader.
pub(crate) fn with_reader<T>(py: Python<'_>, read: impl FnOnce(&mut Reader) -> T) -> T {
    let mut reader = SPARE.take(py).unwrap_or_default();
    let result = read(&mut reader);
    SPARE.put(py, reader);
    result
}

/// Deserializes a JSON text, given as bytes, bytearray, memoryview or str, to dict, list, str, int, float, bool and
/// None; with `type` to a value of that type.
///
/// The text must be one JSON document by RFC 8259, in UTF-8. Integers of any size are exact. Where a key is repeated,
/// the last value stays. Raises JSONDecodeError, a subclass of json.JSONDecodeError and ValueError, with msg, doc, pos,
/// lineno, colno, path (a JSON Pointer), code and offset (in bytes).
///
/// `type` is a class (a dataclass, TypedDict, NamedTuple, class with slots or with an `__init__`, enum, Struct of msgspec
/// or model of pydantic), or built from bool, int, float, str, None, Any, list, tuple, set, frozenset, dict, Decimal,
/// datetime, date, time, timedelta, UUID, Literal, Annotated and unions. Raises TypeError for other types, and
/// JSONDecodeError where the text is not as the type wants it.
#[pyfunction]
#[pyo3(signature = (data, /, *, r#type=None))]
pub(crate) fn loads<'py>(data: &Bound<'py, PyAny>, r#type: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let typed = r#type.map(Typed::of).transpose()?;
    read(data, typed.as_ref())
}

/// [`loads`] with a text alone.
pub(crate) struct Loads;

static WRAPPED: Wrapped = Wrapped::new();

impl Entry for Loads {
    const WRAPPED: &'static Wrapped = &WRAPPED;

    fn call<'py>(_: &Bound<'py, PyAny>, arguments: Arguments<'_, 'py>) -> NewObject<'py> {
        let data = arguments.only()?;
        read_text(data.py(), bytes_of(&data)?, None)
    }
}

/// The value of a text, of a type if one is wanted.
fn read<'py>(data: &Bound<'py, PyAny>, typed: Option<&Typed>) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let text = Text::of(data).map_err(|cause| error::no_text(py, &cause))?;
    read_text(py, text.bytes(), typed).ok_or_else(|| PyErr::fetch(py))
}

/// The same of bytes that do not change. `None` with Python's exception set.
#[inline(always)]
fn read_text<'py>(py: Python<'py>, bytes: &[u8], typed: Option<&Typed>) -> NewObject<'py> {
    // Not by `with_reader`, so that the compiler puts all of it into the entries.
    let mut reader = SPARE.take(py).unwrap_or_default();
    let made = match typed {
        Some(typed) => typed.direct(py, bytes, &mut reader.making),
        None if bytes.len() <= SMALL_MAX => small::read(py, bytes, &mut reader.making),
        None => None,
    };
    SPARE.put(py, reader);
    match made {
        Some(made) => Some(made),
        None if !PyErr::occurred(py) => read_by_tape(py, bytes, typed),
        None => None,
    }
}

/// The same for texts that are not read in one pass.
#[inline(never)]
fn read_by_tape<'py>(py: Python<'py>, bytes: &[u8], typed: Option<&Typed>) -> NewObject<'py> {
    let made = with_parser(py, bytes.len(), |parser, making| {
        let root = parse(py, parser, bytes)?;
        let builder = Builder::new(py, bytes, making, Keeps::Last);
        match typed {
            Some(typed) => typed.decode(builder, root),
            None => builder.root(root),
        }
    });
    made.map_err(|error| error.restore(py)).ok()
}

/// Calls `read` with a parser for a text of `len` bytes.
fn with_parser<T>(py: Python<'_>, len: usize, read: impl FnOnce(&mut Parser, &mut Making) -> T) -> T {
    with_reader(
        py,
        |Reader { parser, making }| {
            if len >= LARGE_MIN { read(&mut parallel(), making) } else { read(parser, making) }
        },
    )
}

/// Calls `read` with the root of a text, and a builder for its values.
pub(crate) fn with_root<'py, T>(
    data: &Bound<'py, PyAny>,
    read: impl FnOnce(Value<'_>, Builder<'_, 'py>) -> PyResult<T>,
) -> PyResult<T> {
    let py = data.py();
    let text = Text::of(data).map_err(|cause| error::no_text(py, &cause))?;
    let bytes = text.bytes();
    with_parser(py, bytes.len(), |parser, making| {
        let root = parse(py, parser, bytes)?;
        read(root, Builder::new(py, bytes, making, Keeps::Last))
    })
}

/// A parser that uses all cores.
fn parallel() -> Parser {
    Parser::new().with_threads(thread::available_parallelism().map_or(1, NonZero::get))
}

fn parse<'t>(py: Python<'_>, parser: &'t mut Parser, bytes: &'t [u8]) -> PyResult<Value<'t>> {
    let parsed = if bytes.len() >= DETACHED_MIN { py.detach(|| parser.parse(bytes)) } else { parser.parse(bytes) };
    parsed.map_err(|error| error::not_json(py, bytes, &error))
}
