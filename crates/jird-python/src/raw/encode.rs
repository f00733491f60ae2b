//! The walk over dicts, lists and scalars that writes them as JSON.
//!
//! Every value is followed by a comma. The bracket that closes a container takes the place of the last one, and the
//! last of all is taken back in the end. So nothing has to know whether it is the first.
//!
//! **References.** The walk borrows containers and what they hold, without counting: to count is to write to each
//! object, which costs more than to read it if it is not in the cache. Nothing can remove an object from its container
//! as long as no code of Python runs; and before any could, in [`Encoder::other`], the walk takes a reference of its
//! own to all containers that are open, and to what only `other` can write.

use super::members::Entries;
use super::output::{FIRST, Output};
use core::mem::MaybeUninit;
use core::ptr;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi::{self, Py_ssize_t, PyObject};
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
    /// The lists, tuples and dicts among the open containers; null for others. The first `depth` are initialised.
    open: [MaybeUninit<*mut PyObject>; DEPTH_MAX],
    /// To so many of the open containers, from the outermost on, there is a reference. Invariant: at most `depth`.
    held: usize,
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
        let open = [MaybeUninit::uninit(); DEPTH_MAX];
        let mut encoder = Self { py, out, settings, depth: 0, open, held: 0, calls: 0 };
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
        unsafe {
            if self.settings.has_lines {
                self.value::<true>(object.as_ptr())
            } else {
                self.value::<false>(object.as_ptr())
            }
        }
    }

    /// Begins a line of the member or element that follows, if those have lines.
    #[inline(always)]
    pub(crate) fn line(&mut self) {
        if self.settings.has_lines {
            self.out.line(self.depth);
        }
    }

    /// Opens a container that is not an object of Python's, or that its caller holds.
    #[inline(always)]
    pub(crate) fn open(&mut self, bracket: u8) -> Result<(), Failure> {
        // SAFETY: there is no object.
        unsafe { self.open_object(bracket, ptr::null_mut()) }
    }

    /// Opens a container.
    ///
    /// # Safety
    /// `object` lives at least until code of Python runs, unless it is null.
    #[inline(always)]
    unsafe fn open_object(&mut self, bracket: u8, object: *mut PyObject) -> Result<(), Failure> {
        if self.depth == DEPTH_MAX {
            return Err(too_deep());
        }
        self.open[self.depth].write(object);
        self.depth += 1;
        self.out.byte(bracket);
        Ok(())
    }

    /// Closes a container, and writes a comma.
    #[inline(always)]
    pub(crate) fn close(&mut self, bracket: u8) {
        self.depth -= 1;
        if self.held > self.depth {
            self.release(self.depth);
        }
        if self.settings.has_lines && self.out.take_comma() {
            self.out.line(self.depth);
        }
        self.out.close(bracket);
    }

    /// Takes references to all open containers.
    #[inline(never)]
    fn hold(&mut self) {
        for object in &self.open[self.held..self.depth] {
            // SAFETY: the first `depth` are initialised. Those to which there is no reference live, because no code of
            // Python has run since they were opened: before any does, this function is called.
            unsafe { ffi::Py_XINCREF(object.assume_init()) };
        }
        self.held = self.depth;
    }

    /// Gives the references back to all containers but the first `kept`.
    #[cold]
    #[inline(never)]
    fn release(&mut self, kept: usize) {
        let held = core::mem::replace(&mut self.held, kept);
        for object in &self.open[kept..held] {
            // SAFETY: the first `held` are initialised, and a reference to each is ours.
            unsafe { ffi::Py_XDECREF(object.assume_init()) };
        }
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

    /// Writes a value. Its members and elements have lines of their own if `LINES`, which is `has_lines` of the
    /// settings.
    ///
    /// # Safety
    /// `object` lives at least until code of Python runs.
    #[inline(always)]
    unsafe fn value<const LINES: bool>(&mut self, object: *mut PyObject) -> Result<(), Failure> {
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
            } else if kind == &raw mut ffi::PyDict_Type {
                if self.settings.has_other_dicts {
                    return self.other(object);
                }
                if len_of(object) != 0 || self.depth == DEPTH_MAX {
                    return self.dict::<LINES>(object);
                }
                self.out.bytes(b"{},");
            } else if kind == &raw mut ffi::PyList_Type {
                if ffi::PyList_GET_SIZE(object) != 0 || self.depth == DEPTH_MAX {
                    return self.list::<LINES>(object);
                }
                self.out.bytes(b"[],");
            } else if object == ffi::Py_None() {
                self.out.bytes(b"null,");
            } else if kind == &raw mut ffi::PyBool_Type {
                self.out.bytes(if object == ffi::Py_True() { b"true," } else { b"false," });
            } else if kind == &raw mut ffi::PyTuple_Type {
                return self.tuple::<LINES>(object);
            } else {
                return self.other(object);
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
            // SAFETY: the caller's promise.
            return unsafe { self.other(object) };
        }
        self.out.i64(value);
        Ok(())
    }

    /// Writes a dict in another way, or what only `other` can.
    ///
    /// # Safety
    /// `object` lives at least until code of Python runs.
    #[inline(never)]
    unsafe fn other(&mut self, object: *mut PyObject) -> Result<(), Failure> {
        self.hold();
        self.calls += 1;
        // SAFETY: the object lives, and from here on until the end of this function by this reference.
        let held = unsafe { Bound::from_borrowed_ptr(self.py, object) };
        if let Ok(dict) = held.cast_exact::<PyDict>() {
            return (self.settings.other_dict)(self, dict);
        }
        (self.settings.other)(self, &held)
    }

    /// Writes a dict whose keys are strings, or a subclass of one. Its members are those that it has as a dict.
    pub(crate) fn members(&mut self, dict: &Bound<'py, PyDict>) -> Result<(), Failure> {
        // SAFETY: it is a dict, and the reference shows that it lives during this call.
        unsafe {
            if self.settings.has_lines { self.dict::<true>(dict.as_ptr()) } else { self.dict::<false>(dict.as_ptr()) }
        }
    }

    /// # Safety
    /// `dict` is a dict that lives at least until code of Python runs.
    #[inline(never)]
    unsafe fn dict<const LINES: bool>(&mut self, dict: *mut PyObject) -> Result<(), Failure> {
        let mut at = 0;
        // SAFETY: it is a dict. What entries give is borrowed from the dict: the key is used before anything else can
        // happen, and the value at once after it. If code of Python may have run, they are not used any more; and the
        // dict lives, because before that a reference to it was taken.
        unsafe {
            let len = len_of(dict);
            self.open_object(b'{', dict)?;
            if let Some(entries) = Entries::of(dict) {
                let calls = self.calls;
                while let Some((key, value)) = entries.next(&mut at) {
                    let text = text_of(self.py, key)?;
                    self.member::<LINES>(text, value)?;
                    if self.calls != calls {
                        break;
                    }
                }
                if self.calls == calls {
                    self.close(b'}');
                    return Ok(());
                }
            }
            self.rest_of_dict::<LINES>(dict, at, len)
        }
    }

    /// Writes the members of a dict from a position on, and its end.
    ///
    /// # Safety
    /// It is the dict that was opened last, which had `len` members then, and `at` is 0 or what [`Entries::next`] has
    /// left.
    #[inline(never)]
    unsafe fn rest_of_dict<const LINES: bool>(
        &mut self,
        dict: *mut PyObject,
        mut at: Py_ssize_t,
        len: Py_ssize_t,
    ) -> Result<(), Failure> {
        let (mut key, mut value) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: it is a dict, and the pointers are to be written. What they point to is borrowed from the dict: the
        // key is used before anything else can happen, and the value at once after it.
        unsafe {
            loop {
                if len_of(dict) != len {
                    return Err(changed(self.py));
                }
                if ffi::PyDict_Next(dict, &raw mut at, &raw mut key, &raw mut value) == 0 {
                    self.close(b'}');
                    return Ok(());
                }
                if ffi::Py_TYPE(key) != &raw mut ffi::PyUnicode_Type && ffi::PyUnicode_Check(key) == 0 {
                    return Err(because("Dict key must be str"));
                }
                let text = text_of(self.py, key)?;
                self.member::<LINES>(text, value)?;
            }
        }
    }

    /// Writes a key and a value.
    ///
    /// # Safety
    /// `value` lives at least until code of Python runs.
    #[inline(always)]
    unsafe fn member<const LINES: bool>(&mut self, key: &str, value: *mut PyObject) -> Result<(), Failure> {
        if LINES {
            self.key(key);
        } else {
            self.out.string(key, b':');
        }
        // SAFETY: the caller's promise.
        unsafe { self.value::<LINES>(value) }
    }

    /// Writes the elements that a list, or a subclass of one, has as a list.
    pub(crate) fn elements(&mut self, list: &Bound<'py, pyo3::types::PyList>) -> Result<(), Failure> {
        // SAFETY: it is a list, and the reference shows that it lives during this call.
        unsafe {
            if self.settings.has_lines { self.list::<true>(list.as_ptr()) } else { self.list::<false>(list.as_ptr()) }
        }
    }

    /// # Safety
    /// `list` is a list that lives at least until code of Python runs.
    #[inline(never)]
    unsafe fn list<const LINES: bool>(&mut self, list: *mut PyObject) -> Result<(), Failure> {
        let mut at = 0;
        // SAFETY: it is a list, and lives: a reference to it is taken before code of Python runs. Its size is looked at
        // again before each element, since such code may have run. The element is borrowed from it, and used at once.
        unsafe {
            self.open_object(b'[', list)?;
            while at < ffi::PyList_GET_SIZE(list) {
                if LINES {
                    self.line();
                }
                if at + AHEAD < ffi::PyList_GET_SIZE(list) {
                    touch(ffi::PyList_GET_ITEM(list, at + AHEAD));
                }
                self.value::<LINES>(ffi::PyList_GET_ITEM(list, at))?;
                at += 1;
            }
        }
        self.close(b']');
        Ok(())
    }

    /// # Safety
    /// `tuple` is a tuple that lives at least until code of Python runs.
    #[inline(never)]
    unsafe fn tuple<const LINES: bool>(&mut self, tuple: *mut PyObject) -> Result<(), Failure> {
        // SAFETY: it is a tuple, and lives: a reference to it is taken before code of Python runs. Its elements never
        // change.
        unsafe {
            self.open_object(b'[', tuple)?;
            for at in 0..ffi::PyTuple_GET_SIZE(tuple) {
                if LINES {
                    self.line();
                }
                self.value::<LINES>(ffi::PyTuple_GET_ITEM(tuple, at))?;
            }
        }
        self.close(b']');
        Ok(())
    }
}

impl Drop for Encoder<'_> {
    fn drop(&mut self) {
        // After a failure containers are still open.
        self.release(0);
    }
}

#[cold]
#[inline(never)]
fn too_deep() -> Failure {
    because(format!(
        "Recursion limit reached: more than {DEPTH_MAX} lists and dicts in each other, or one that is in itself"
    ))
}

/// How many elements of a list before an element is written, the memory is asked for it.
const AHEAD: Py_ssize_t = 2;

/// Reads the first element of a list, so that it is in the cache when it is written. Nothing waits for it: the elements
/// before it are written meanwhile.
///
/// # Safety
/// It is an object, and lives.
#[inline(always)]
unsafe fn touch(object: *mut PyObject) {
    // SAFETY: it lives; if it is a list that is not empty, its first element lives, too.
    unsafe {
        if ffi::Py_TYPE(object) == &raw mut ffi::PyList_Type && ffi::PyList_GET_SIZE(object) != 0 {
            let first = ffi::PyList_GET_ITEM(object, 0);
            let _ = (&raw const (*first).ob_type).read_volatile();
        }
    }
}

/// The number of members of a dict.
///
/// # Safety
/// It is a dict, and lives.
#[inline(always)]
unsafe fn len_of(dict: *mut PyObject) -> Py_ssize_t {
    // SAFETY: it is a dict, of which this is the size.
    unsafe { (*dict.cast::<ffi::PyDictObject>()).ma_used }
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
        #[cfg(not(Py_3_14))]
        if ffi::PyUnicode_IS_COMPACT(object) != 0 {
            // Its UTF-8, if anybody has asked for it.
            let compact = object.cast::<ffi::PyCompactUnicodeObject>();
            let (data, len) = ((*compact).utf8, (*compact).utf8_length);
            if !data.is_null() {
                return Ok(core::str::from_utf8_unchecked(core::slice::from_raw_parts(data.cast(), len as usize)));
            }
        }
        other_text_of(py, object)
    }
}

/// [`text_of`] for what is not compact ASCII.
///
/// # Safety
/// As of [`text_of`].
#[inline(never)]
unsafe fn other_text_of<'a>(py: Python<'_>, object: *mut PyObject) -> Result<&'a str, Failure> {
    let mut len = 0;
    // SAFETY: it is a `str`, of which Python says where its UTF-8 is and how long. Neither changes as long as it lives.
    unsafe {
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
