//! Arrays and scalars of numpy. What arrays hold is copied out of them as bytes, so that nothing can change it meanwhile;
//! that takes a small part of the time that the digits take.

use super::modules::loaded;
use super::time;
use crate::raw::encode::{Encoder, Failure, Simple, because};
use crate::raw::numpy::{Objects, OwnClass, half};
use crate::raw::types::is_derived;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString, PyType};

/// A class of arrays or scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// One of those that are read where numpy has their values.
    Own(OwnClass),
    /// Other scalars, such as those of a class that is derived from numpy's.
    Scalars,
    /// Arrays, of a numpy that is not what it was when this was written.
    Arrays,
}

impl Class {
    /// What a class is to numpy, if anything.
    pub(super) fn of(class: &Bound<'_, PyType>) -> Result<Option<Self>, Failure> {
        static ARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static SCALAR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let py = class.py();
        let numpy = intern!(py, "numpy");
        let Some(array) = loaded(py, &ARRAY, numpy, intern!(py, "ndarray"))? else { return Ok(None) };
        let Some(scalar) = loaded(py, &SCALAR, numpy, intern!(py, "generic"))? else { return Ok(None) };
        let is_array = class.is(&array);
        if !is_array && !is_derived(class, &scalar) {
            return Ok(None);
        }
        let own = OwnClass::of(class, &py.import(numpy)?)?;
        Ok(Some(own.map_or(if is_array { Self::Arrays } else { Self::Scalars }, Self::Own)))
    }
}

/// Writes an array or scalar of this class; `None` if it is of a type that `default` must be asked for.
pub(super) fn write<'py>(
    encoder: &mut Encoder<'_, 'py>,
    object: &Bound<'py, PyAny>,
    class: Class,
) -> Result<Option<()>, Failure> {
    let Class::Own(own) = class else { return any(encoder, object, class == Class::Arrays) };
    if own.objects == Objects::Arrays {
        if let Some(elements) = own.elements(object)?
            && let (shape @ [_, ..], mut bytes) = elements.parts()
        {
            let kind = match elements.kind {
                b'M' => Element::of(&object.getattr(intern!(encoder.py, "dtype"))?)?,
                letter => Element::of_letter(char::from(letter), elements.item_bytes),
            };
            if let Some(kind) = kind {
                array_of(encoder, &kind, shape, &mut bytes)?;
                return Ok(Some(()));
            }
        }
        return any(encoder, object, true);
    }
    match own_scalar(encoder, object, own)? {
        None => any(encoder, object, false),
        written => Ok(written),
    }
}

/// Writes a scalar, if numpy has its value where its class says.
fn own_scalar<'py>(
    encoder: &mut Encoder<'_, 'py>,
    object: &Bound<'py, PyAny>,
    class: OwnClass,
) -> Result<Option<()>, Failure> {
    if let Some(number) = class.number(object) {
        encoder.note(object, Simple::Scalar(class));
        encoder.scalar(number);
        return Ok(Some(()));
    }
    let time = class.time_value(object);
    match time.and_then(|(value, unit, count)| Some((value, Unit::of_number(unit, count)?))) {
        Some((value, unit)) => element(encoder, &Element::Time(unit), &mut &value.to_ne_bytes()[..]).map(Some),
        None => Ok(None),
    }
}

/// Writes an array or scalar by what its attributes say.
fn any<'py>(encoder: &mut Encoder<'_, 'py>, object: &Bound<'py, PyAny>, is_array: bool) -> Result<Option<()>, Failure> {
    let py = encoder.py;
    let has_default = encoder.settings.default.is_some();
    let refuse = |words: &str| if has_default { Ok(None) } else { Err(because(words)) };
    let dtype = object.getattr(intern!(py, "dtype"))?;
    if !dtype.getattr(intern!(py, "isnative"))?.is_truthy()? {
        return Err(because("numpy array is not native-endianness"));
    }
    let Some(kind) = Element::of(&dtype)? else { return refuse("unsupported datatype in numpy array") };
    let mut shape: Vec<usize> = Vec::new();
    if is_array {
        if !object.getattr(intern!(py, "flags"))?.get_item("C_CONTIGUOUS")?.is_truthy()? {
            return refuse("numpy array is not C contiguous; use ndarray.tolist() in default");
        }
        shape = object.getattr(intern!(py, "shape"))?.extract()?;
        if shape.is_empty() {
            return refuse("numpy array has no dimensions; use ndarray.tolist() in default");
        }
    }
    let bytes = object.call_method0(intern!(py, "tobytes"))?.cast_into::<PyBytes>().map_err(PyErr::from)?;
    let mut rest = bytes.as_bytes();
    array_of(encoder, &kind, &shape, &mut rest)?;
    Ok(Some(()))
}
/// What the elements of an array are.
enum Element {
    Bool,
    Signed(usize),
    Unsigned(usize),
    Float(usize),
    Time(Unit),
}

/// `NaT`: in all units, a time that is missing.
const NOT_A_TIME: i64 = i64::MIN;

/// The unit of a `datetime64`.
enum Unit {
    Years(i64),
    Months(i64),
    Micros(i64),
    Nanos(i64),
    /// None: only the missing time has no unit.
    Missing,
}

impl Element {
    fn of(dtype: &Bound<'_, PyAny>) -> Result<Option<Self>, Failure> {
        let py = dtype.py();
        let kind: char = dtype.getattr(intern!(py, "kind"))?.extract()?;
        let size: usize = dtype.getattr(intern!(py, "itemsize"))?.extract()?;
        match (kind, size) {
            ('M', 8) => Ok(Unit::of(dtype)?.map(Self::Time)),
            _ => Ok(Self::of_letter(kind, size)),
        }
    }

    /// What the letters of numpy's array interface say, but for times, whose unit is elsewhere.
    fn of_letter(letter: char, size: usize) -> Option<Self> {
        match (letter, size) {
            ('b', 1) => Some(Self::Bool),
            ('i', 1 | 2 | 4 | 8) => Some(Self::Signed(size)),
            ('u', 1 | 2 | 4 | 8) => Some(Self::Unsigned(size)),
            ('f', 2 | 4 | 8) => Some(Self::Float(size)),
            _ => None,
        }
    }
}

/// The microseconds of a second.
const SECOND: i64 = 1_000_000;

impl Unit {
    fn of(dtype: &Bound<'_, PyAny>) -> Result<Option<Self>, Failure> {
        // `<M8[25s]`, or without a unit.
        let text = dtype.getattr(intern!(dtype.py(), "str"))?;
        let text = text.cast::<PyString>().map_err(PyErr::from)?.to_str()?;
        let Some((_, unit)) = text.trim_end_matches(']').split_once('[') else { return Ok(Some(Self::Missing)) };
        let (count, unit) = unit.split_at(unit.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(0));
        Ok(Self::named(unit, if count.is_empty() { 1 } else { count.parse().unwrap_or(0) }))
    }

    /// By its name in numpy, or `generic`.
    fn named(unit: &str, count: i64) -> Option<Self> {
        let micros = |each: i64| count.checked_mul(each).map(Self::Micros);
        match unit {
            "Y" => Some(Self::Years(count)),
            "M" => Some(Self::Months(count)),
            "W" => micros(SECOND * 604_800),
            "D" => micros(SECOND * 86_400),
            "h" => micros(SECOND * 3600),
            "m" => micros(SECOND * 60),
            "s" => micros(SECOND),
            "ms" => micros(1000),
            "us" => micros(1),
            "ns" => Some(Self::Nanos(count)),
            "generic" => Some(Self::Missing),
            _ => None,
        }
    }

    /// By its number in numpy's headers, `NPY_DATETIMEUNIT`.
    fn of_number(number: i32, count: i32) -> Option<Self> {
        let unit = match number {
            0 => "Y",
            1 => "M",
            2 => "W",
            4 => "D",
            5 => "h",
            6 => "m",
            7 => "s",
            8 => "ms",
            9 => "us",
            10 => "ns",
            14 => "generic",
            _ => return None,
        };
        Self::named(unit, count.into())
    }

    /// Microseconds since 1970; `None` if they are too many. What is smaller is cut off.
    fn micros(&self, value: i64) -> Option<i64> {
        let months = |months: i64| {
            let (year, month) = (1970 + months.div_euclid(12), months.rem_euclid(12) + 1);
            time::days_before(year, month).checked_mul(86_400_000_000)
        };
        match self {
            Self::Years(count) => months(in_reach(value.checked_mul(*count)?.checked_mul(12)?)?),
            Self::Months(count) => months(in_reach(value.checked_mul(*count)?)?),
            Self::Micros(count) => value.checked_mul(*count),
            Self::Nanos(count) => Some(value.checked_mul(*count)?.div_euclid(1000)),
            Self::Missing => None,
        }
    }
}

/// The months after 1970, if they lead to a year of four digits, more or less.
fn in_reach(months: i64) -> Option<i64> {
    (months.unsigned_abs() < 120_000).then_some(months)
}

/// Writes the array of `shape`, whose elements `rest` begins with, and takes them from there.
fn array_of(encoder: &mut Encoder<'_, '_>, kind: &Element, shape: &[usize], rest: &mut &[u8]) -> Result<(), Failure> {
    let Some((&len, inner)) = shape.split_first() else { return element(encoder, kind, rest) };
    encoder.open(b'[')?;
    if inner.is_empty() {
        row(encoder, kind, len, rest)?;
    } else {
        for _ in 0..len {
            encoder.line();
            array_of(encoder, kind, inner, rest)?;
        }
    }
    encoder.close(b']');
    Ok(())
}

/// Writes `len` elements.
fn row(encoder: &mut Encoder<'_, '_>, kind: &Element, len: usize, rest: &mut &[u8]) -> Result<(), Failure> {
    match kind {
        Element::Signed(4) => integers(encoder, len, rest, |bytes| i32::from_ne_bytes(bytes).into()),
        Element::Signed(8) => integers(encoder, len, rest, i64::from_ne_bytes),
        Element::Unsigned(1) => integers(encoder, len, rest, |[byte]| byte.into()),
        Element::Unsigned(2) => integers(encoder, len, rest, |bytes| u16::from_ne_bytes(bytes).into()),
        Element::Unsigned(4) => integers(encoder, len, rest, |bytes| u32::from_ne_bytes(bytes).into()),
        Element::Float(8) if !encoder.settings.has_lines => {
            for bytes in row_of(len, rest)? {
                encoder.out.f64(f64::from_ne_bytes(*bytes));
            }
            Ok(())
        }
        _ => {
            for _ in 0..len {
                encoder.line();
                element(encoder, kind, rest)?;
            }
            Ok(())
        }
    }
}

/// Writes `len` integers.
fn integers<const LEN: usize>(
    encoder: &mut Encoder<'_, '_>,
    len: usize,
    rest: &mut &[u8],
    value: impl Fn([u8; LEN]) -> i64,
) -> Result<(), Failure> {
    let values = row_of(len, rest)?.iter().map(|bytes| value(*bytes));
    if encoder.settings.has_lines {
        values.for_each(|value| {
            encoder.line();
            encoder.out.i64(value);
        });
    } else {
        encoder.out.integers(values);
    }
    Ok(())
}

/// Takes `len` elements of `LEN` bytes.
fn row_of<'a, const LEN: usize>(len: usize, rest: &mut &'a [u8]) -> Result<&'a [[u8; LEN]], Failure> {
    let (row, left) = len.checked_mul(LEN).and_then(|bytes| rest.split_at_checked(bytes)).ok_or_else(too_few)?;
    *rest = left;
    Ok(row.as_chunks().0)
}

fn element(encoder: &mut Encoder<'_, '_>, kind: &Element, rest: &mut &[u8]) -> Result<(), Failure> {
    match kind {
        Element::Bool => {
            let [value] = take::<1>(rest)?;
            encoder.out.bytes(if value == 0 { b"false," } else { b"true," });
        }
        Element::Signed(size) => encoder.out.i64(match size {
            1 => i8::from_ne_bytes(take(rest)?).into(),
            2 => i16::from_ne_bytes(take(rest)?).into(),
            4 => i32::from_ne_bytes(take(rest)?).into(),
            _ => i64::from_ne_bytes(take(rest)?),
        }),
        Element::Unsigned(size) => encoder.out.u64(match size {
            1 => u8::from_ne_bytes(take(rest)?).into(),
            2 => u16::from_ne_bytes(take(rest)?).into(),
            4 => u32::from_ne_bytes(take(rest)?).into(),
            _ => u64::from_ne_bytes(take(rest)?),
        }),
        Element::Float(2) => encoder.out.f32(half(u16::from_ne_bytes(take(rest)?))),
        Element::Float(4) => encoder.out.f32(f32::from_ne_bytes(take(rest)?)),
        Element::Float(_) => encoder.out.f64(f64::from_ne_bytes(take(rest)?)),
        Element::Time(unit) => {
            let value = i64::from_ne_bytes(take(rest)?);
            if value == NOT_A_TIME {
                encoder.out.bytes(b"null,");
                return Ok(());
            }
            let micros = unit.micros(value).ok_or_else(|| because("unsupported numpy.datetime64: out of range"))?;
            let text = time::since_1970(encoder, micros)?;
            encoder.out.short_string(&text);
        }
    }
    Ok(())
}

/// A subclass of a scalar may have a `tobytes` of its own.
#[cold]
fn too_few() -> Failure {
    because("numpy: `tobytes` gives too few bytes")
}

/// The first `LEN` bytes of `rest`.
fn take<const LEN: usize>(rest: &mut &[u8]) -> Result<[u8; LEN], Failure> {
    let (first, left) = rest.split_first_chunk().ok_or_else(too_few)?;
    *rest = left;
    Ok(*first)
}
