//! The walk where only borrowed pointers are used, and no code of Python runs.

use super::encoder::Encoder;
use super::open::Open;
use super::scalar::{clock_of, date_of, is_plain, small_int, text_of, uuid_number};
use super::simple::{Simple, SimpleClasses};
use super::{DEPTH_MAX, Failure, Settings, because};
use crate::raw::members::Entries;
use crate::raw::numpy::ScalarNumber;
use crate::raw::output::Output;
use crate::raw::short_text::{ShortText, put_date, put_date_time, put_time, put_uuid, put_zone};
use crate::raw::stack::{Stack, exhausted};
use crate::raw::types::Base;
use core::ptr;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi::{self, Py_ssize_t, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Integers beyond this are refused if they must be exact as a double, in either direction.
const EXACT_MAX: i64 = (1 << 53) - 1;

/// The stack is checked after this many levels, which take a small part of what is kept free there, and after as many again.
const LEVELS: usize = 16;

const _: () = assert!(DEPTH_MAX.is_multiple_of(LEVELS), "the deepest level is looked at");

/// The state of the walk.
pub(crate) struct Walk<'py> {
    pub(crate) out: Output<'py>,
    pub(crate) settings: Settings<'py>,
    pub(super) open: Open<'py>,
    pub(super) known: SimpleClasses<'py>,
    /// Of this thread, once it is needed: short texts do without.
    stack: Option<Stack>,
    /// How often code of Python may have run.
    calls: usize,
}

impl<'py> Walk<'py> {
    #[inline]
    pub(super) fn new(py: Python<'py>, settings: Settings<'py>) -> Self {
        let (out, open, known) = (Output::new(py), Open::new(py), SimpleClasses::new(py));
        Self { out, settings, open, known, stack: None, calls: 0 }
    }

    /// Writes a value, and a comma.
    pub(super) fn object(&mut self, object: &Bound<'py, PyAny>) -> Result<(), Failure> {
        // SAFETY: the reference shows that the object lives during this call.
        unsafe {
            if self.settings.has_lines {
                self.value::<true>(object.as_ptr())?;
            } else {
                self.value::<false>(object.as_ptr())?;
            }
        }
        Ok(())
    }

    /// Begins a line of the member or element that follows, if those have lines.
    #[inline(always)]
    pub(crate) fn line(&mut self) {
        if self.settings.has_lines {
            self.out.line(self.open.depth());
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
        let depth = self.open.depth();
        if depth.is_multiple_of(LEVELS) && depth > 0 && (depth == DEPTH_MAX || !self.stack().has_room()) {
            return Err(self.too_deep());
        }
        // SAFETY: the caller's promise.
        unsafe { self.open.push(object) };
        self.out.byte(bracket);
        Ok(())
    }

    /// The stack of this thread.
    #[inline]
    pub(super) fn stack(&mut self) -> Stack {
        *self.stack.get_or_insert_with(Stack::here)
    }

    #[cold]
    #[inline(never)]
    fn too_deep(&self) -> Failure {
        if self.open.depth() < DEPTH_MAX {
            return exhausted().into();
        }
        because(format!(
            "Recursion limit reached: more than {DEPTH_MAX} lists and dicts in each other, or one that is in itself"
        ))
    }

    /// Closes a container, and writes a comma.
    #[inline(always)]
    pub(crate) fn close(&mut self, bracket: u8) {
        self.open.pop();
        if self.settings.has_lines && self.out.take_comma() {
            self.out.line(self.open.depth());
        }
        self.out.close(bracket);
    }

    /// The same of a container in which something was written.
    #[inline(always)]
    fn close_full<const LINES: bool>(&mut self, bracket: u8) {
        if LINES {
            return self.close(bracket);
        }
        self.open.pop();
        self.out.close_full(bracket);
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

    /// Writes an integer as a key, and a colon.
    pub(crate) fn int_key(&mut self, key: i64) {
        self.line();
        self.out.byte(b'"');
        self.out.i64(key);
        self.out.take_comma();
        self.out.bytes(b"\":");
        if self.settings.has_lines {
            self.out.byte(b' ');
        }
    }

    /// Writes a short text as a key, and a colon.
    pub(crate) fn short_key(&mut self, key: &ShortText) {
        self.line();
        self.out.short_string(key);
        self.end_key();
    }

    /// Writes a UUID as a key, and a colon. `false` if it is none, or the walk was not told of the class.
    pub(crate) fn uuid_key(&mut self, key: &Bound<'py, PyAny>) -> bool {
        let key = key.as_ptr();
        // SAFETY: the key lives by the reference, and its class is that for which the slot was noted.
        let number = unsafe {
            match self.known.of(key) {
                Some(Simple::Uuid(slot)) => uuid_number(slot.get(key)),
                _ => None,
            }
        };
        let Some(number) = number else { return false };
        self.line();
        self.out.put_short_string(|room| put_uuid(room, number));
        self.end_key();
        true
    }

    /// Puts a colon in the place of the comma after a key.
    #[inline(always)]
    fn end_key(&mut self) {
        self.out.take_comma();
        self.out.byte(b':');
        if self.settings.has_lines {
            self.out.byte(b' ');
        }
    }

    /// Writes a value. Its members and elements have lines of their own if `LINES`, which is `has_lines` of the
    /// settings. Returns false if no code of Python can have run, which the compiler knows of most types, and true if
    /// [`calls`](Self::calls) says whether it has.
    ///
    /// # Safety
    /// `object` lives at least until code of Python runs.
    #[inline(always)]
    unsafe fn value<const LINES: bool>(&mut self, object: *mut PyObject) -> Result<bool, Failure> {
        // SAFETY: the object lives. Each function is called with an object of the type that it wants.
        unsafe {
            let kind = ffi::Py_TYPE(object);
            if kind == &raw mut ffi::PyUnicode_Type {
                let text = text_of(object).ok_or_else(not_utf8)?;
                self.out.string(text, b',');
            } else if kind == &raw mut ffi::PyLong_Type {
                return self.int(object);
            } else if kind == &raw mut ffi::PyFloat_Type {
                self.out.f64(ffi::PyFloat_AS_DOUBLE(object));
            } else if kind == &raw mut ffi::PyDict_Type {
                if self.settings.has_other_dicts {
                    self.other(object)?;
                    return Ok(true);
                }
                if len_of(object) != 0 || self.open.depth() == DEPTH_MAX {
                    self.dict::<LINES>(object)?;
                    return Ok(true);
                }
                self.out.bytes(b"{},");
            } else if kind == &raw mut ffi::PyList_Type {
                if ffi::PyList_GET_SIZE(object) != 0 || self.open.depth() == DEPTH_MAX {
                    self.list::<LINES>(object)?;
                    return Ok(true);
                }
                self.out.bytes(b"[],");
            } else if object == ffi::Py_None() {
                self.out.bytes(b"null,");
            } else if kind == &raw mut ffi::PyBool_Type {
                self.out.bytes(if object == ffi::Py_True() { b"true," } else { b"false," });
            } else if kind == &raw mut ffi::PyTuple_Type {
                self.tuple::<LINES>(object)?;
                return Ok(true);
            } else if self.settings.has_subclasses
                && let Some(base) = Base::of(kind)
            {
                return self.subclass::<LINES>(object, base);
            } else if let Some(simple) = self.known.of(object) {
                return self.simple::<LINES>(object, simple);
            } else {
                self.other(object)?;
                return Ok(true);
            }
            Ok(false)
        }
    }

    /// Writes an object of a class that is derived from a builtin one. Returns what [`value`](Self::value) does.
    ///
    /// # Safety
    /// `object` lives at least until code of Python runs, and `base` is that of its class.
    #[inline(never)]
    unsafe fn subclass<const LINES: bool>(&mut self, object: *mut PyObject, base: Base) -> Result<bool, Failure> {
        // SAFETY: the object lives, and is of the kind that each function wants.
        unsafe {
            match base {
                Base::Int => return self.int(object),
                Base::Str => {
                    let text = text_of(object).ok_or_else(not_utf8)?;
                    self.out.string(text, b',');
                    return Ok(false);
                }
                Base::List => self.list::<LINES>(object)?,
                Base::Dict if self.settings.has_other_dicts => self.other(object)?,
                Base::Dict => self.dict::<LINES>(object)?,
            }
        }
        Ok(true)
    }

    /// Writes an object of a class that the walk was told of. Returns what [`value`](Self::value) does.
    ///
    /// # Safety
    /// `object` lives at least until code of Python runs, and its class is that for which `simple` was noted.
    #[inline(never)]
    unsafe fn simple<const LINES: bool>(&mut self, object: *mut PyObject, simple: Simple) -> Result<bool, Failure> {
        let Settings { times: form, has_times, has_numpy, .. } = self.settings;
        // SAFETY: the object lives, and is of the class that was noted, which is of the kind that each function wants.
        unsafe {
            match simple {
                Simple::Scalar(class) if has_numpy => match class.number_at(object) {
                    Some(number) => {
                        self.scalar(number);
                        return Ok(false);
                    }
                    None => self.other(object)?,
                },
                Simple::Uuid(slot) => {
                    if let Some(number) = uuid_number(slot.get(object)) {
                        self.out.put_short_string(|room| put_uuid(room, number));
                        return Ok(false);
                    }
                    self.other(object)?;
                }
                Simple::Date if has_times => {
                    self.out.put_short_string(|room| put_date(room, date_of(object)));
                    return Ok(false);
                }
                Simple::Time if has_times && ffi::PyDateTime_TIME_GET_TZINFO(object) == ffi::Py_None() => {
                    let micro = if form.has_micros { ffi::PyDateTime_TIME_GET_MICROSECOND(object) } else { 0 };
                    let clock = [
                        ffi::PyDateTime_TIME_GET_HOUR(object),
                        ffi::PyDateTime_TIME_GET_MINUTE(object),
                        ffi::PyDateTime_TIME_GET_SECOND(object),
                        micro,
                    ];
                    self.out.put_short_string(|room| put_time(room, clock.map(i32::unsigned_abs)));
                    return Ok(false);
                }
                Simple::DateTime(utc) if has_times => {
                    let zone = ffi::PyDateTime_DATE_GET_TZINFO(object);
                    let is_naive = zone == ffi::Py_None();
                    if is_naive || zone.addr() == utc {
                        self.out.put_short_string(|room| {
                            let len = put_date_time(room, date_of(object), clock_of(object, form));
                            if form.is_utc || !is_naive { put_zone(room, len, 0, form.has_z) } else { len }
                        });
                        return Ok(false);
                    }
                    self.other(object)?;
                }
                _ => self.other(object)?,
            }
        }
        Ok(true)
    }

    /// Writes a scalar of numpy.
    #[inline]
    pub(crate) fn scalar(&mut self, number: ScalarNumber) {
        match number {
            ScalarNumber::Bool(value) => self.out.bytes(if value { b"true," } else { b"false," }),
            ScalarNumber::I64(value) => self.out.i64(value),
            ScalarNumber::U64(value) => self.out.u64(value),
            ScalarNumber::F32(value) => self.out.f32(value),
            ScalarNumber::F64(value) => self.out.f64(value),
        }
    }

    /// Writes attributes up to the first whose value is something else than a string, a number of few bits, a truth value or
    /// `None`: for them no code of Python runs. Returns the position of that one, if there is one.
    pub(super) fn plain_attributes(&mut self, dict: &Bound<'py, PyDict>) -> Result<Option<Py_ssize_t>, Failure> {
        let mut at = 0;
        let (mut key, mut value) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: it is a dict, and lives by the reference. The pointers are to be written; what they point to is borrowed
        // from the dict, which does not change as long as no code of Python runs.
        unsafe {
            loop {
                let before = at;
                if ffi::PyDict_Next(dict.as_ptr(), &raw mut at, &raw mut key, &raw mut value) == 0 {
                    return Ok(None);
                }
                if ffi::Py_TYPE(key) != &raw mut ffi::PyUnicode_Type || !is_plain(value) {
                    return Ok(Some(before));
                }
                let text = text_of(key).ok_or_else(not_utf8)?;
                if !text.starts_with('_') {
                    self.key(text);
                    self.value::<false>(value)?;
                }
            }
        }
    }

    /// Writes a key and a colon, unless the key begins with an underscore. Returns whether it was written.
    #[inline]
    pub(super) fn public_key(&mut self, name: &Bound<'py, PyString>) -> Result<bool, Failure> {
        // SAFETY: it is a `str`, which lives as long as the reference.
        let text = unsafe { text_of(name.as_ptr()) }.ok_or_else(not_utf8)?;
        let is_public = !text.starts_with('_');
        if is_public {
            self.key(text);
        }
        Ok(is_public)
    }

    /// Returns what [`value`](Self::value) does.
    ///
    /// # Safety
    /// `object` is an `int`, and lives at least until code of Python runs.
    #[inline(always)]
    unsafe fn int(&mut self, object: *mut PyObject) -> Result<bool, Failure> {
        // SAFETY: it is an `int`. A limit of 53 bits is looked at in `other_int`.
        if let Some(value) = unsafe { small_int(object) }.filter(|_| !self.settings.is_strict) {
            self.out.i64(value);
            return Ok(false);
        }
        // SAFETY: the caller's promise.
        unsafe { self.other_int(object)? };
        Ok(true)
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

    /// Writes what code of Python may run for, with a reference to each container that is open.
    ///
    /// # Safety
    /// `object` lives at least until code of Python runs.
    #[inline(never)]
    unsafe fn other(&mut self, object: *mut PyObject) -> Result<(), Failure> {
        self.calls += 1;
        let py = self.open.hold();
        // SAFETY: the object lives, and from here on until the end of this function by this reference.
        let held = unsafe { Bound::from_borrowed_ptr(py, object) };
        Encoder::new(py, self).other(&held)
    }

    /// # Safety
    /// `dict` is a dict that lives at least until code of Python runs.
    #[inline(never)]
    pub(super) unsafe fn dict<const LINES: bool>(&mut self, dict: *mut PyObject) -> Result<(), Failure> {
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
                    let text = text_of(key).ok_or_else(not_utf8)?;
                    self.member::<LINES>(text, value)?;
                    if self.calls != calls {
                        break;
                    }
                }
                if self.calls == calls && len > 0 {
                    self.close_full::<LINES>(b'}');
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
                    return Err(changed());
                }
                if ffi::PyDict_Next(dict, &raw mut at, &raw mut key, &raw mut value) == 0 {
                    self.close(b'}');
                    return Ok(());
                }
                if ffi::Py_TYPE(key) != &raw mut ffi::PyUnicode_Type && ffi::PyUnicode_Check(key) == 0 {
                    return Err(because("Dict key must be str"));
                }
                let text = text_of(key).ok_or_else(not_utf8)?;
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
        unsafe { self.value::<LINES>(value)? };
        Ok(())
    }

    /// # Safety
    /// `list` is a list that lives at least until code of Python runs.
    #[inline(never)]
    pub(super) unsafe fn list<const LINES: bool>(&mut self, list: *mut PyObject) -> Result<(), Failure> {
        let mut at = 0;
        // SAFETY: it is a list, and lives: a reference to it is taken before code of Python runs. Its size is looked at
        // again after such code may have run. The element is borrowed from it, and used at once.
        unsafe {
            self.open_object(b'[', list)?;
            let (mut len, mut calls) = (ffi::PyList_GET_SIZE(list), self.calls);
            while at < len {
                if LINES {
                    self.line();
                }
                if at + AHEAD < len {
                    touch(ffi::PyList_GET_ITEM(list, at + AHEAD));
                }
                let may_have_run = self.value::<LINES>(ffi::PyList_GET_ITEM(list, at))?;
                at += 1;
                if may_have_run && self.calls != calls {
                    // It may be shorter now. What was appended is not written: it might have no end.
                    len = len.min(ffi::PyList_GET_SIZE(list));
                    calls = self.calls;
                }
            }
        }
        if at > 0 {
            self.close_full::<LINES>(b']');
        } else {
            self.close(b']');
        }
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
    // SAFETY: it is a dict, and this is its size.
    unsafe { (*dict.cast::<ffi::PyDictObject>()).ma_used }
}

/// The failure of a `str` with surrogates.
#[cold]
#[inline(never)]
fn not_utf8() -> Failure {
    because("str is not valid UTF-8: surrogates not allowed")
}

#[cold]
#[inline(never)]
fn changed() -> Failure {
    PyRuntimeError::new_err("a dict changed its size while it was written").into()
}
