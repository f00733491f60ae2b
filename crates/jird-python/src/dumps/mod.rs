//! Python's values → text: `dumps` with the options of orjson.
//!
//! ```text
//! other     what the walk in `raw/encode` does not know: large integers, subclasses, enums, data classes, UUIDs, `default`
//! kinds     what objects of a class are written as, found out once for each class
//! modules   classes of modules that may not be imported
//! keys      dicts that are sorted, or whose keys are not strings
//! time      dates and times by RFC 3339
//! numpy     arrays and scalars
//! encoder   the class `Encoder`
//! fragment  text that is JSON already
//! ```

mod encoder;
mod fragment;
mod keys;
mod kinds;
mod modules;
mod numpy;
mod other;
mod time;

pub(crate) use encoder::{Encode, Encoder as PyEncoder};
pub(crate) use fragment::Fragment;

use crate::error;
use crate::raw::encode::{Encoder, Failure, Refusal, Settings, TimeForm, small_int};
use crate::raw::entry::{Arguments, Entry, Wrapped};
use crate::raw::make::NewObject;
use pyo3::Borrowed;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt};

/// The options, by their names and bits in orjson.
pub(crate) const OPTIONS: [(&str, u32); 15] = [
    ("OPT_INDENT_2", INDENT_2),
    ("OPT_NAIVE_UTC", NAIVE_UTC),
    ("OPT_NON_STR_KEYS", NON_STR_KEYS),
    ("OPT_OMIT_MICROSECONDS", OMIT_MICROSECONDS),
    ("OPT_SERIALIZE_NUMPY", SERIALIZE_NUMPY),
    ("OPT_SORT_KEYS", SORT_KEYS),
    ("OPT_STRICT_INTEGER", STRICT_INTEGER),
    ("OPT_UTC_Z", UTC_Z),
    ("OPT_PASSTHROUGH_SUBCLASS", PASSTHROUGH_SUBCLASS),
    ("OPT_PASSTHROUGH_DATETIME", PASSTHROUGH_DATETIME),
    ("OPT_APPEND_NEWLINE", APPEND_NEWLINE),
    ("OPT_PASSTHROUGH_DATACLASS", PASSTHROUGH_DATACLASS),
    ("OPT_SERIALIZE_TYPES", SERIALIZE_TYPES),
    // On in any case, in orjson too.
    ("OPT_SERIALIZE_DATACLASS", 0),
    ("OPT_SERIALIZE_UUID", 0),
];

const INDENT_2: u32 = 1;
const NAIVE_UTC: u32 = 1 << 1;
const NON_STR_KEYS: u32 = 1 << 2;
const OMIT_MICROSECONDS: u32 = 1 << 3;
const SERIALIZE_NUMPY: u32 = 1 << 4;
const SORT_KEYS: u32 = 1 << 5;
const STRICT_INTEGER: u32 = 1 << 6;
const UTC_Z: u32 = 1 << 7;
const PASSTHROUGH_SUBCLASS: u32 = 1 << 8;
const PASSTHROUGH_DATETIME: u32 = 1 << 9;
const APPEND_NEWLINE: u32 = 1 << 10;
const PASSTHROUGH_DATACLASS: u32 = 1 << 11;
/// Not of orjson, whose later options will have the bits between.
const SERIALIZE_TYPES: u32 = 1 << 24;
const ALL: u32 = ((1 << 12) - 1) | SERIALIZE_TYPES;

/// Serializes a value to JSON, as bytes of UTF-8.
///
/// str, int of any size, float, bool, None, list, tuple, dict, dataclasses, enums, datetime, date, time, UUID and
/// Fragment are written; with OPT_SERIALIZE_NUMPY also arrays and scalars of numpy; with OPT_SERIALIZE_TYPES also
/// Decimal, timedelta, bytes (as base64), sets, deques, named tuples, paths, IP addresses, Structs of msgspec, classes of
/// attrs, models of pydantic and Document. For other types `default` is called, and what it returns is written. `option`
/// is one or several of the OPT_ constants, joined by `|`. Raises JSONEncodeError, a subclass of TypeError.
#[pyfunction]
#[pyo3(signature = (obj, /, default=None, option=None))]
pub(crate) fn dumps<'py>(
    obj: &Bound<'py, PyAny>,
    default: Option<Bound<'py, PyAny>>,
    option: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = obj.py();
    let options = given_options(py, option)?;
    write(obj, default, options).ok_or_else(|| PyErr::fetch(py))
}

/// [`dumps`] without names of arguments.
pub(crate) struct Dumps;

static WRAPPED: Wrapped = Wrapped::new();

impl Entry for Dumps {
    const WRAPPED: &'static Wrapped = &WRAPPED;

    fn call<'py>(_: &Bound<'py, PyAny>, arguments: Arguments<'_, 'py>) -> NewObject<'py> {
        let object = arguments.get(0).filter(|_| arguments.len() <= 3)?;
        let options = match arguments.some(2) {
            Some(bits) => options(&bits)?,
            None => 0,
        };
        let default = arguments.some(1).map(Borrowed::to_owned);
        write(&object, default, options).map(Bound::into_any)
    }
}

/// The bits of options that were given.
fn given_options(py: Python<'_>, option: Option<&Bound<'_, PyAny>>) -> PyResult<u32> {
    match option {
        None => Ok(0),
        Some(bits) => options(bits).ok_or_else(|| error::encode(py, "Invalid opts", None)),
    }
}

/// The text of a value. `None` with Python's exception set.
fn write<'py>(
    obj: &Bound<'py, PyAny>,
    default: Option<Bound<'py, PyAny>>,
    options: u32,
) -> Option<Bound<'py, PyBytes>> {
    let has = |option| options & option != 0;
    let times = TimeForm { has_micros: !has(OMIT_MICROSECONDS), is_utc: has(NAIVE_UTC), has_z: has(UTC_Z) };
    let settings = Settings {
        other: other::write,
        other_dict: keys::write,
        options,
        has_lines: has(INDENT_2),
        is_strict: has(STRICT_INTEGER),
        has_other_dicts: has(SORT_KEYS | NON_STR_KEYS),
        times,
        has_times: !has(PASSTHROUGH_DATETIME),
        has_subclasses: !has(PASSTHROUGH_SUBCLASS),
        has_numpy: has(SERIALIZE_NUMPY),
        default,
        answers: 0,
    };
    Encoder::text(obj, settings, has(APPEND_NEWLINE))
        .map_err(|failure| raised(obj.py(), failure).restore(obj.py()))
        .ok()
}

/// The text that `dumps` writes without options.
pub(crate) fn json_text<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    dumps(object, None, None)
}

/// The bits, if they are those of options.
fn options(bits: &Bound<'_, PyAny>) -> Option<u32> {
    // Not `True`, which is an int by name.
    let bits = bits.cast_exact::<PyInt>().ok()?;
    let bits = small_int(bits).map_or_else(|| bits.extract().ok(), |bits| u32::try_from(bits).ok());
    bits.filter(|bits| bits & !ALL == 0)
}

#[cold]
fn raised(py: Python<'_>, failure: Failure) -> PyErr {
    match failure.into_refusal() {
        Refusal::Because(words) => error::encode(py, &words, None),
        Refusal::Raised(error) => error,
    }
}

/// Whether an option is on.
fn is_on(encoder: &Encoder<'_, '_>, option: u32) -> bool {
    encoder.settings.options & option != 0
}
