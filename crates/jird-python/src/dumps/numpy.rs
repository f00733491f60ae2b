//! Arrays and scalars of numpy. What they hold is copied out of them as bytes, so that nothing can change it meanwhile;
//! that takes a small part of the time that the digits take.

use super::{other, time};
use crate::raw::encode::{Encoder, Failure, because};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyType};

/// Writes an array or scalar; `None` if it is another object, or of a type that `default` must be asked for.
pub(super) fn write<'py>(encoder: &mut Encoder<'_, 'py>, object: &Bound<'py, PyAny>) -> Result<Option<()>, Failure> {
    static ARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static SCALAR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = encoder.py;
    let numpy = intern!(py, "numpy");
    let Some(array) = other::loaded(py, &ARRAY, numpy, intern!(py, "ndarray"))? else { return Ok(None) };
    let Some(scalar) = other::loaded(py, &SCALAR, numpy, intern!(py, "generic"))? else { return Ok(None) };
    let is_array = object.get_type().is(&array);
    if !is_array && !object.is_instance(&scalar)? {
        return Ok(None);
    }
    let has_default = encoder.settings.default.is_some();
    let refuse = |words: &str| if has_default { Ok(None) } else { Err(because(words)) };
    let dtype = object.getattr(intern!(py, "dtype"))?;
    if !dtype.getattr(intern!(py, "isnative"))?.is_truthy()? {
        return Err(because("numpy array is not native-endianness"));
    }
    let Some(kind) = Kind::of(&dtype)? else { return refuse("unsupported datatype in numpy array") };
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

/// What the elements are.
enum Kind {
    Bool,
    Signed(usize),
    Unsigned(usize),
    Float(usize),
    /// A time in units of a number of microseconds, or of a fraction of one.
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

impl Kind {
    fn of(dtype: &Bound<'_, PyAny>) -> Result<Option<Self>, Failure> {
        let py = dtype.py();
        let kind: char = dtype.getattr(intern!(py, "kind"))?.extract()?;
        let size: usize = dtype.getattr(intern!(py, "itemsize"))?.extract()?;
        Ok(match (kind, size) {
            ('b', 1) => Some(Self::Bool),
            ('i', 1 | 2 | 4 | 8) => Some(Self::Signed(size)),
            ('u', 1 | 2 | 4 | 8) => Some(Self::Unsigned(size)),
            ('f', 2 | 4 | 8) => Some(Self::Float(size)),
            ('M', 8) => Unit::of(dtype)?.map(Self::Time),
            _ => None,
        })
    }
}

impl Unit {
    fn of(dtype: &Bound<'_, PyAny>) -> Result<Option<Self>, Failure> {
        const SECOND: i64 = 1_000_000;
        let data = dtype.py().import("numpy")?.call_method1("datetime_data", (dtype,))?;
        let (unit, count): (String, i64) = data.extract()?;
        let micros = |each: i64| count.checked_mul(each).map(Self::Micros);
        Ok(match unit.as_str() {
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
        })
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
fn array_of(encoder: &mut Encoder<'_, '_>, kind: &Kind, shape: &[usize], rest: &mut &[u8]) -> Result<(), Failure> {
    let Some((&len, inner)) = shape.split_first() else { return element(encoder, kind, rest) };
    encoder.open(b'[')?;
    for _ in 0..len {
        encoder.line();
        array_of(encoder, kind, inner, rest)?;
    }
    encoder.close(b']');
    Ok(())
}

fn element(encoder: &mut Encoder<'_, '_>, kind: &Kind, rest: &mut &[u8]) -> Result<(), Failure> {
    match kind {
        Kind::Bool => {
            let [value] = take::<1>(rest)?;
            encoder.out.bytes(if value == 0 { b"false," } else { b"true," });
        }
        Kind::Signed(size) => encoder.out.i64(match size {
            1 => i8::from_ne_bytes(take(rest)?).into(),
            2 => i16::from_ne_bytes(take(rest)?).into(),
            4 => i32::from_ne_bytes(take(rest)?).into(),
            _ => i64::from_ne_bytes(take(rest)?),
        }),
        Kind::Unsigned(size) => encoder.out.u64(match size {
            1 => u8::from_ne_bytes(take(rest)?).into(),
            2 => u16::from_ne_bytes(take(rest)?).into(),
            4 => u32::from_ne_bytes(take(rest)?).into(),
            _ => u64::from_ne_bytes(take(rest)?),
        }),
        Kind::Float(2) => encoder.out.f32(half(u16::from_ne_bytes(take(rest)?))),
        Kind::Float(4) => encoder.out.f32(f32::from_ne_bytes(take(rest)?)),
        Kind::Float(_) => encoder.out.f64(f64::from_ne_bytes(take(rest)?)),
        Kind::Time(unit) => {
            let value = i64::from_ne_bytes(take(rest)?);
            if value == NOT_A_TIME {
                encoder.out.bytes(b"null,");
                return Ok(());
            }
            let micros = unit.micros(value).ok_or_else(|| because("unsupported numpy.datetime64: out of range"))?;
            let text = time::since_1970(encoder, micros)?;
            encoder.out.string(&text, b',');
        }
    }
    Ok(())
}

/// The first `LEN` bytes of `rest`.
fn take<const LEN: usize>(rest: &mut &[u8]) -> Result<[u8; LEN], Failure> {
    // A subclass of a scalar may have a `tobytes` of its own.
    let (first, left) = rest.split_first_chunk().ok_or_else(|| because("numpy: `tobytes` gives too few bytes"))?;
    *rest = left;
    Ok(*first)
}

/// A half (IEEE 754 binary16) as a single.
fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, (bits >> 10) & 0x1F, bits & 0x3FF);
    let size = match exponent {
        0 => f32::from(fraction) * 2_f32.powi(-24),
        0x1F if fraction == 0 => f32::INFINITY,
        0x1F => f32::NAN,
        _ => f32::from(fraction | 0x400) * 2_f32.powi(i32::from(exponent) - 25),
    };
    if sign == 0 { size } else { -size }
}
