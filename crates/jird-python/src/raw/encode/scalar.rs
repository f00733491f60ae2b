//! What scalars are: read from the fields of their objects, or by calls that run no code of Python.

use super::TimeForm;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::PyInt;

/// Whether this is a scalar that the walk writes without running code of Python.
///
/// # Safety
/// `object` lives.
#[inline(always)]
pub(super) unsafe fn is_plain(object: *mut PyObject) -> bool {
    // SAFETY: the object lives, and is an `int` where it is looked at as one.
    unsafe {
        let kind = ffi::Py_TYPE(object);
        kind == &raw mut ffi::PyUnicode_Type
            || kind == &raw mut ffi::PyLong_Type
                && small_int(object).is_some_and(|value| value.unsigned_abs() < 1 << 53)
            || kind == &raw mut ffi::PyFloat_Type
            || kind == &raw mut ffi::PyBool_Type
            || object == ffi::Py_None()
    }
}

/// The number of a UUID; `None` if there is none, or no `int` of 128 bits.
///
/// # Safety
/// `number` is null, or lives.
pub(super) unsafe fn uuid_number(number: *mut PyObject) -> Option<u128> {
    // SAFETY: it lives, and is an `int` where it is read as one.
    unsafe {
        let is_int = !number.is_null() && ffi::Py_TYPE(number) == &raw mut ffi::PyLong_Type;
        if is_int { wide_uint(number) } else { None }
    }
}

/// The value of an `int` of at most 128 bits that is not negative.
///
/// # Safety
/// `object` is an `int`, and lives.
unsafe fn wide_uint(object: *mut PyObject) -> Option<u128> {
    /// The bits of a digit, and how many of them 128 bits have.
    const BITS: usize = 30;
    const DIGITS_MAX: usize = 5;
    // SAFETY: the layout is that which `small_int` tells of, and there are as many digits as it says.
    unsafe {
        #[cfg(not(Py_3_12))]
        let (digits, len) = {
            let size = (*object.cast::<ffi::PyVarObject>()).ob_size;
            (object.cast::<ffi::PyVarObject>().add(1).cast::<u32>(), usize::try_from(size).ok()?)
        };
        #[cfg(all(Py_3_12, not(Py_3_15)))]
        let (digits, len) = {
            let tag = object.add(1).cast::<usize>();
            let (digits, tag) = (tag.add(1).cast::<u32>(), tag.read());
            if tag & 3 == 2 {
                return None;
            }
            (digits, tag >> 3)
        };
        #[cfg(Py_3_15)]
        let (digits, len) = {
            let _ = object;
            return None;
        };
        if len > DIGITS_MAX {
            return None;
        }
        let mut value = 0_u128;
        for at in 0..len {
            let digit = u128::from(digits.add(at).read());
            if at == DIGITS_MAX - 1 && digit >> (128 - BITS * at) != 0 {
                return None;
            }
            value |= digit << (BITS * at);
        }
        Some(value)
    }
}

/// Year, month and day.
///
/// # Safety
/// `object` is a `datetime.date` or `datetime.datetime`, and lives.
#[inline(always)]
pub(super) unsafe fn date_of(object: *mut PyObject) -> [u32; 3] {
    // SAFETY: the caller's promise; these are fields of the object.
    let date = unsafe {
        [ffi::PyDateTime_GET_YEAR(object), ffi::PyDateTime_GET_MONTH(object), ffi::PyDateTime_GET_DAY(object)]
    };
    date.map(i32::unsigned_abs)
}

/// Hour, minute, second and microseconds, if these are wanted.
///
/// # Safety
/// `object` is a `datetime.datetime`, and lives.
#[inline(always)]
pub(super) unsafe fn clock_of(object: *mut PyObject, form: TimeForm) -> [u32; 4] {
    // SAFETY: the caller's promise; these are fields of the object.
    let clock = unsafe {
        [
            ffi::PyDateTime_DATE_GET_HOUR(object),
            ffi::PyDateTime_DATE_GET_MINUTE(object),
            ffi::PyDateTime_DATE_GET_SECOND(object),
            if form.has_micros { ffi::PyDateTime_DATE_GET_MICROSECOND(object) } else { 0 },
        ]
    };
    clock.map(i32::unsigned_abs)
}

/// The value of an `int` of at most 30 bits; `None` of others, and if this Python's `int` is not known.
#[inline]
pub(crate) fn small_value(int: &Bound<'_, PyInt>) -> Option<i64> {
    // SAFETY: it is an `int`, and the reference shows that it lives.
    unsafe { small_int(int.as_ptr()) }
}

/// The value of an `int` that has one digit of Python's, which are of 30 bits; `None` if it has more.
///
/// # Safety
/// `object` is an `int`, and lives.
#[inline(always)]
pub(super) unsafe fn small_int(object: *mut PyObject) -> Option<i64> {
    // SAFETY: until Python 3.11, an `int` is a `PyVarObject` whose size is the number of digits, negative if the value
    // is, and then the digits, `u32` each. There is one digit in memory even if there is none in use, and it is zero.
    #[cfg(not(Py_3_12))]
    unsafe {
        let size = (*object.cast::<ffi::PyVarObject>()).ob_size;
        if !(-1..=1).contains(&size) {
            return None;
        }
        let digit = object.cast::<ffi::PyVarObject>().add(1).cast::<u32>().read();
        Some(i64::from(digit) * size as i64)
    }
    // SAFETY: from Python 3.12 on, an `int` is a `PyObject`, a tag and the digits. The two lowest bits of the tag are
    // the sign, 0 for positive, 1 for zero, 2 for negative; the number of digits is above the third. There is a digit
    // in memory even if there is none in use.
    #[cfg(all(Py_3_12, not(Py_3_15)))]
    unsafe {
        let tag = object.add(1).cast::<usize>();
        let (digit, tag) = (tag.add(1).cast::<u32>().read(), tag.read());
        if tag >> 3 > 1 {
            return None;
        }
        Some((1 - (tag & 3) as i64) * i64::from(digit))
    }
    // A newer Python may have another layout.
    #[cfg(Py_3_15)]
    {
        let _ = object;
        None
    }
}

/// The text of a `str`; `None` if it has surrogates.
///
/// # Safety
/// `object` is a `str`, which lives as long as the result is used.
#[inline(always)]
pub(in crate::raw) unsafe fn text_of<'a>(object: *mut PyObject) -> Option<&'a str> {
    // SAFETY: it is a `str`. If it is compact and ASCII, its data are as many bytes as it has characters, and otherwise
    // Python says where its UTF-8 is and how long. Neither changes as long as the object lives.
    unsafe {
        #[cfg(not(Py_3_14))]
        if ffi::PyUnicode_IS_COMPACT_ASCII(object) != 0 {
            let (data, len) = (ffi::PyUnicode_1BYTE_DATA(object), ffi::PyUnicode_GET_LENGTH(object));
            return Some(core::str::from_utf8_unchecked(core::slice::from_raw_parts(data, len as usize)));
        }
        #[cfg(not(Py_3_14))]
        {
            // Its UTF-8, if it has been asked for, as that of ASCII in a subclass always has.
            let compact = object.cast::<ffi::PyCompactUnicodeObject>();
            let (data, len) = ((*compact).utf8, (*compact).utf8_length);
            if !data.is_null() {
                return Some(core::str::from_utf8_unchecked(core::slice::from_raw_parts(data.cast(), len as usize)));
            }
        }
        other_text_of(object)
    }
}

/// [`text_of`] for what is not compact ASCII.
///
/// Python is asked for UTF-8 only if there are no surrogates: for them it makes an exception, and calls whatever was
/// registered in place of the error handler `strict`.
///
/// # Safety
/// As of [`text_of`].
#[inline(never)]
unsafe fn other_text_of<'a>(object: *mut PyObject) -> Option<&'a str> {
    let mut len = 0;
    // SAFETY: it is a `str`; Python says where its UTF-8 is and how long. Neither changes as long as it lives.
    unsafe {
        if has_surrogates(object) {
            return None;
        }
        let data = ffi::PyUnicode_AsUTF8AndSize(object, &raw mut len);
        if data.is_null() {
            // Memory has run out.
            ffi::PyErr_Clear();
            return None;
        }
        Some(core::str::from_utf8_unchecked(core::slice::from_raw_parts(data.cast(), len as usize)))
    }
}

/// Whether a `str` has surrogates, which UTF-8 has not.
///
/// # Safety
/// As of [`text_of`].
#[expect(clippy::needless_bitwise_bool, reason = "without branches, many units at a time")]
unsafe fn has_surrogates(object: *mut PyObject) -> bool {
    // SAFETY: it is a `str` that is ready. Its data are as many units as it has characters, of the size that its kind says.
    unsafe {
        if ffi::PyUnicode_READY(object) != 0 {
            ffi::PyErr_Clear();
            return true;
        }
        let (data, len) = (ffi::PyUnicode_DATA(object), ffi::PyUnicode_GET_LENGTH(object) as usize);
        match ffi::PyUnicode_KIND(object) {
            ffi::PyUnicode_1BYTE_KIND => false,
            ffi::PyUnicode_2BYTE_KIND => {
                let units = core::slice::from_raw_parts(data.cast::<u16>(), len);
                units.iter().fold(false, |found, unit| found | (unit & 0xF800 == 0xD800))
            }
            _ => {
                let units = core::slice::from_raw_parts(data.cast::<u32>(), len);
                units.iter().fold(false, |found, unit| found | (unit & 0xFFFF_F800 == 0xD800))
            }
        }
    }
}
