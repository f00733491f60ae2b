//! The walk over dicts, lists and scalars that writes them as JSON.
//!
//! Every value is followed by a comma. The bracket that closes a container takes the place of the last one, and the
//! last of all is taken back in the end. So nothing has to know whether it is the first.
//!
//! **References.** The walk borrows what a container holds, without counting. Nothing can remove it from there as long
//! as no code of Python runs; and before any could, in [`Encoder::value`], the walk takes a reference of its own: to a
//! container before its elements are written, and to what only `other` can write.

use super::output::{FIRST, Output};
use core::mem::MaybeUninit;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi::{self, PyObject, PyTypeObject};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Why a value is not written.
pub(crate) enum Refusal {
    /// In words.
    Because(String),
    /// An exception was raised.
    Raised(PyErr),
}

/// Why a value is not written, in one word.
pub(crate) struct Failure(Box<Refusal>);

impl Failure {
    pub(crate) fn into_refusal(self) -> Refusal {
        *self.0
    }
}

impl From<PyErr> for Failure {
    #[cold]
    fn from(error: PyErr) -> Self {
        Self(Box::new(Refusal::Raised(error)))
    }
}

/// A failure in words.
#[cold]
pub(crate) fn because(words: impl Into<String>) -> Failure {
    Failure(Box::new(Refusal::Because(words.into())))
}

/// Writes a value that is neither `None` nor exactly a `str`, `int` of 64 bits, `bool`, `float`, `list`, `tuple` or
/// `dict`.
pub(crate) type Other<'py> = fn(&mut Encoder<'py>, &Bound<'py, PyAny>) -> Result<(), Failure>;

/// Writes the members of a dict in another way than the walk: with keys that are no strings, or sorted.
pub(crate) type OtherDict<'py> = fn(&mut Encoder<'py>, &Bound<'py, PyDict>) -> Result<(), Failure>;

/// The most containers that may be open at once.
pub(crate) const DEPTH_MAX: usize = 1024;

/// Integers beyond this are refused if they must be exact as a double, in either direction.
const EXACT_MAX: i64 = (1 << 53) - 1;

/// The state of the walk.
pub(crate) struct Encoder<'py> {
    pub(crate) py: Python<'py>,
    pub(crate) out: Output<'py>,
    pub(crate) settings: Settings<'py>,
    /// The number of open containers.
    depth: usize,
    /// How often code of Python may have run.
    calls: usize,
}

/// What the walk is told.
pub(crate) struct Settings<'py> {
    pub(crate) other: Other<'py>,
    pub(crate) other_dict: OtherDict<'py>,
    /// The bits of the options.
    pub(crate) options: u32,
    /// Whether each member and element has a line of its own.
    pub(crate) has_lines: bool,
    /// Whether integers must have at most 53 bits.
    pub(crate) is_strict: bool,
    /// Whether dicts are written by `other_dict`.
    pub(crate) has_other_dicts: bool,
    /// What the caller wants to be asked for values that are not known.
    pub(crate) default: Option<Bound<'py, PyAny>>,
    /// The number of answers of `default` that the current value is inside of.
    pub(crate) answers: usize,
}

impl<'py> Encoder<'py> {
    /// The text of `object`, followed by a line break if `has_newline`.
    pub(crate) fn text(
        object: &Bound<'py, PyAny>,
        settings: Settings<'py>,
        has_newline: bool,
    ) -> Result<Bound<'py, PyBytes>, Failure> {
        let py = object.py();
        let mut first = [MaybeUninit::uninit(); FIRST];
        // SAFETY: nothing else uses `first`, which lives longer than the encoder.
        let out = unsafe { Output::new(py, &mut first) };
        let mut encoder = Self { py, out, settings, depth: 0, calls: 0 };
        encoder.object(object)?;
        encoder.out.take_comma();
        if has_newline {
            encoder.out.byte(b'\n');
        }
        Ok(encoder.out.finish()?)
    }

    /// Writes a value, and a comma.
    pub(crate) fn object(&mut self, object: &Bound<'py, PyAny>) -> Result<(), Failure> {
        // SAFETY: the reference shows that the object lives during this call.
        unsafe { self.value(object.as_ptr()) }
    }

    /// Begins a line of the member or element that follows, if those have lines.
    #[inline(always)]
    pub(crate) fn line(&mut self) {
        if self.settings.has_lines {
            self.out.line(self.depth);
        }
    }

    /// Opens a container.
    #[inline(always)]
    pub(crate) fn open(&mut self, bracket: u8) -> Result<(), Failure> {
        if self.depth == DEPTH_MAX {
            return Err(because(format!(
                "Recursion limit reached: more than {DEPTH_MAX} lists and dicts in each other, or one that is in itself"
            )));
        }
        self.depth += 1;
        self.out.byte(bracket);
        Ok(())
    }

    /// Closes a container, and writes a comma.
    #[inline(always)]
    pub(crate) fn close(&mut self, bracket: u8) {
        self.depth -= 1;
        if self.settings.has_lines && self.out.take_comma() {
            self.out.line(self.depth);
        }
        self.out.close(bracket);
    }

    /// Writes a key and a colon.
    #[inline(always)]
    pub(crate) fn key(&mut self, key: &str) {
        self.line();
        self.out.string(key, b':');
        if self.settings.has_lines {
            self.out.byte(b' ');
        }
    }

    /// # Safety
    /// `object` lives at least until code of Python runs.
    #[inline(always)]
    unsafe fn value(&mut self, object: *mut PyObject) -> Result<(), Failure> {
        // SAFETY: the object lives. Each function is called with an object of the type that it wants.
        unsafe {
            let kind = ffi::Py_TYPE(object);
            if kind == &raw mut ffi::PyUnicode_Type {
                let text = text_of(self.py, object)?;
                self.out.string(text, b',');
            } else if kind == &raw mut ffi::PyLong_Type {
                return self.int(object);
            } else if kind == &raw mut ffi::PyFloat_Type {
                self.out.f64(ffi::PyFloat_AS_DOUBLE(object));
                self.out.byte(b',');
            } else if kind == &raw mut ffi::PyBool_Type {
                self.out.bytes(if object == ffi::Py_True() { b"true," } else { b"false," });
            } else if object == ffi::Py_None() {
                self.out.bytes(b"null,");
            } else {
                return self.container(object, kind);
            }
            Ok(())
        }
    }

    /// # Safety
    /// `object` is an `int`, and lives at least until code of Python runs.
    #[inline(always)]
    unsafe fn int(&mut self, object: *mut PyObject) -> Result<(), Failure> {
        // SAFETY: it is an `int`. A limit of 53 bits is looked at in `other_int`.
        if let Some(value) = unsafe { small_int(object) }.filter(|_| !self.settings.is_strict) {
            self.out.i64(value);
            self.out.byte(b',');
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { self.other_int(object) }
    }

    /// # Safety
    /// As of [`int`](Self::int).
    #[inline(never)]
    unsafe fn other_int(&mut self, object: *mut PyObject) -> Result<(), Failure> {
        let mut overflow = 0;
        // SAFETY: it is an `int`, so that this cannot fail.
        let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(object, &raw mut overflow) };
        let is_refused = self.settings.is_strict && !(-EXACT_MAX..=EXACT_MAX).contains(&value);
        if overflow != 0 || is_refused {
            // SAFETY: the object lives.
            let held = unsafe { Bound::from_borrowed_ptr(self.py, object) };
            return (self.settings.other)(self, &held);
        }
        self.out.i64(value);
        self.out.byte(b',');
        Ok(())
    }

    /// # Safety
    /// `object` lives at least until code of Python runs, and `kind` is its type.
    #[inline(never)]
    unsafe fn container(&mut self, object: *mut PyObject, kind: *mut PyTypeObject) -> Result<(), Failure> {
        // SAFETY: the object lives, and from here on until the end of this function by this reference. Each function is
        // called with an object of the type that it wants.
        unsafe {
            let held = Bound::from_borrowed_ptr(self.py, object);
            if kind == &raw mut ffi::PyDict_Type {
                if self.settings.has_other_dicts {
                    return (self.settings.other_dict)(self, held.cast_unchecked());
                }
                self.dict(object)
            } else if kind == &raw mut ffi::PyList_Type {
                self.list(object)
            } else if kind == &raw mut ffi::PyTuple_Type {
                self.tuple(object)
            } else {
                self.calls += 1;
                (self.settings.other)(self, &held)
            }
        }
    }

    /// Writes a dict whose keys are strings, or a subclass of one. Its members are those that it has as a dict.
    pub(crate) fn members(&mut self, dict: &Bound<'py, PyDict>) -> Result<(), Failure> {
        // SAFETY: it is a dict, and the reference shows that it lives during this call.
        unsafe { self.dict(dict.as_ptr()) }
    }

    /// # Safety
    /// `dict` is a dict that lives during this call.
    unsafe fn dict(&mut self, dict: *mut PyObject) -> Result<(), Failure> {
        self.open(b'{')?;
        // SAFETY: it is a dict, and the pointers are to be written. What they point to is borrowed from the dict: the
        // key is used before anything else can happen, and the value at once after it.
        unsafe {
            let (len, mut calls) = (ffi::PyDict_Size(dict), self.calls);
            let (mut at, mut key, mut value) = (0, core::ptr::null_mut(), core::ptr::null_mut());
            while ffi::PyDict_Next(dict, &raw mut at, &raw mut key, &raw mut value) != 0 {
                if ffi::Py_TYPE(key) != &raw mut ffi::PyUnicode_Type && ffi::PyUnicode_Check(key) == 0 {
                    return Err(because("Dict key must be str"));
                }
                let text = text_of(self.py, key)?;
                if self.settings.has_lines {
                    self.key(text);
                } else {
                    self.out.string(text, b':');
                }
                self.value(value)?;
                if self.calls != calls {
                    calls = self.calls;
                    if ffi::PyDict_Size(dict) != len {
                        return Err(changed(self.py));
                    }
                }
            }
        }
        self.close(b'}');
        self.out.byte(b',');
        Ok(())
    }

    /// Writes the elements that a list, or a subclass of one, has as a list.
    pub(crate) fn elements(&mut self, list: &Bound<'py, pyo3::types::PyList>) -> Result<(), Failure> {
        // SAFETY: it is a list, and the reference shows that it lives during this call.
        unsafe { self.list(list.as_ptr()) }
    }

    /// # Safety
    /// `list` is a list that lives during this call.
    unsafe fn list(&mut self, list: *mut PyObject) -> Result<(), Failure> {
        self.open(b'[')?;
        let mut at = 0;
        // SAFETY: it is a list, whose size is looked at again before each element, since code of Python may have run.
        // The element is borrowed from it, and used at once.
        unsafe {
            while at < ffi::PyList_GET_SIZE(list) {
                self.line();
                self.value(ffi::PyList_GET_ITEM(list, at))?;
                at += 1;
            }
        }
        self.close(b']');
        self.out.byte(b',');
        Ok(())
    }

    /// # Safety
    /// `tuple` is a tuple that lives during this call.
    unsafe fn tuple(&mut self, tuple: *mut PyObject) -> Result<(), Failure> {
        self.open(b'[')?;
        // SAFETY: it is a tuple, whose elements never change.
        unsafe {
            for at in 0..ffi::PyTuple_GET_SIZE(tuple) {
                self.line();
                self.value(ffi::PyTuple_GET_ITEM(tuple, at))?;
            }
        }
        self.close(b']');
        self.out.byte(b',');
        Ok(())
    }
}

/// The value of an `int` that has one digit of Python's, which are of 30 bits; `None` if it has more.
///
/// # Safety
/// `object` is an `int`, and lives.
#[inline(always)]
unsafe fn small_int(object: *mut PyObject) -> Option<i64> {
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

/// The text of a `str`.
///
/// # Safety
/// `object` is a `str`, which lives as long as the result is used.
#[inline(always)]
unsafe fn text_of<'a>(py: Python<'_>, object: *mut PyObject) -> Result<&'a str, Failure> {
    // SAFETY: it is a `str`. If it is compact and ASCII, its data are as many bytes as it has characters, and otherwise
    // Python says where its UTF-8 is and how long. Neither changes as long as the object lives.
    unsafe {
        #[cfg(not(Py_3_14))]
        if ffi::PyUnicode_IS_COMPACT_ASCII(object) != 0 {
            let (data, len) = (ffi::PyUnicode_1BYTE_DATA(object), ffi::PyUnicode_GET_LENGTH(object));
            return Ok(core::str::from_utf8_unchecked(core::slice::from_raw_parts(data, len as usize)));
        }
        let mut len = 0;
        let data = ffi::PyUnicode_AsUTF8AndSize(object, &raw mut len);
        if data.is_null() {
            return Err(not_utf8(py));
        }
        Ok(core::str::from_utf8_unchecked(core::slice::from_raw_parts(data.cast(), len as usize)))
    }
}

/// The failure of a `str` with surrogates. Takes the exception back.
#[cold]
#[inline(never)]
fn not_utf8(py: Python<'_>) -> Failure {
    drop(PyErr::take(py));
    because("str is not valid UTF-8: surrogates not allowed")
}

#[cold]
#[inline(never)]
fn changed(_: Python<'_>) -> Failure {
    PyRuntimeError::new_err("a dict changed its size while it was written").into()
}
