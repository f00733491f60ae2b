//! Strings, numbers, lists and dicts.

use core::ptr;
use core::str::Utf8Error;
use pyo3::ffi::{self, Py_hash_t, Py_ssize_t, PyObject};
use pyo3::prelude::*;

unsafe extern "C" {
    /// Of CPython since 2.6: a dict with room for this many items.
    fn _PyDict_NewPresized(minused: Py_ssize_t) -> *mut PyObject;
    /// Of CPython since 3.3.
    fn PyLong_FromUnicodeObject(digits: *mut PyObject, base: core::ffi::c_int) -> *mut PyObject;
    /// Of CPython since 3.3: `PyDict_SetItem` of a key whose hash is known.
    fn _PyDict_SetItem_KnownHash(
        dict: *mut PyObject,
        key: *mut PyObject,
        value: *mut PyObject,
        hash: Py_hash_t,
    ) -> core::ffi::c_int;
}

/// A new reference, or `None` with Python's exception set.
pub(crate) type NewObject<'py> = Option<Bound<'py, PyAny>>;

/// # Safety
/// `object` is a reference of its own, or null with Python's exception set.
#[inline(always)]
unsafe fn made(py: Python<'_>, object: *mut PyObject) -> NewObject<'_> {
    // SAFETY: the caller's promise.
    unsafe { Bound::from_owned_ptr_or_opt(py, object) }
}

/// A dict has room for this many items without being told how many will come.
const DICT_MIN: usize = 5;

/// The longest text that is looked at byte by byte, or in words.
const SHORT: usize = 32;

/// A `str`.
#[inline]
pub(crate) fn string<'py>(py: Python<'py>, text: &str) -> NewObject<'py> {
    if is_ascii(text.as_bytes()) { ascii(py, text.as_bytes()) } else { wide(py, text) }
}

/// A `str` of what may be UTF-8.
#[inline(always)]
pub(crate) fn string_of<'py>(py: Python<'py>, text: &[u8]) -> Result<NewObject<'py>, Utf8Error> {
    if is_ascii(text) { Ok(ascii(py, text)) } else { Ok(wide(py, str::from_utf8(text)?)) }
}

/// Whether all bytes are ASCII.
#[inline(always)]
pub(super) fn is_ascii(bytes: &[u8]) -> bool {
    let high = |word: &[u8; 8]| u64::from_le_bytes(*word);
    if bytes.len() > SHORT {
        return bytes.is_ascii();
    }
    let seen = match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(first), Some(last)) if bytes.len() <= 16 => high(first) | high(last),
        (Some(_), Some(last)) => bytes.as_chunks::<8>().0.iter().fold(high(last), |seen, word| seen | high(word)),
        _ => bytes.iter().fold(0, |seen, &byte| seen | u64::from(byte)),
    };
    seen & 0x8080_8080_8080_8080 == 0
}

/// A `str` of ASCII, which the caller has checked.
#[inline(always)]
pub(super) fn ascii<'py>(py: Python<'py>, text: &[u8]) -> NewObject<'py> {
    debug_assert!(text.is_ascii());
    // SAFETY: this thread is attached. The new string has room for as many bytes as `text` has, from where
    // `PyUnicode_DATA` points on; no other code knows it yet; and all of them are at most 127, as was promised.
    unsafe {
        let object = ffi::PyUnicode_New(text.len() as Py_ssize_t, 127);
        if !object.is_null() && !text.is_empty() {
            ptr::copy_nonoverlapping(text.as_ptr(), ffi::PyUnicode_1BYTE_DATA(object), text.len());
        }
        made(py, object)
    }
}

/// A `str` that is not all ASCII.
fn wide<'py>(py: Python<'py>, text: &str) -> NewObject<'py> {
    // The number of characters is that of bytes which begin one. Whether one byte, two or four for each is a matter of
    // the highest: C4 begins U+0100, and F0 begins U+10000.
    let (mut highest, mut continued) = (0, 0);
    for part in text.as_bytes().chunks(128) {
        let mut more = 0_u8;
        for &byte in part {
            highest = highest.max(byte);
            more += u8::from(byte & 0xC0 == 0x80);
        }
        continued += usize::from(more);
    }
    let len = text.len() - continued;
    let most = match highest {
        0xF0.. => 0x10_FFFF,
        0xC4.. => 0xFFFF,
        _ => 0xFF,
    };
    // SAFETY: this thread is attached. The new string has `len` units of the size that follows from `most`, from where
    // its data begin, and no other code knows it yet. There are `len` characters, none of them is above `most`, and one
    // of them is above the next smaller size, so it has the form that Python expects.
    unsafe {
        let object = ffi::PyUnicode_New(len as Py_ssize_t, most);
        if !object.is_null() {
            match most {
                0xFF => units(ffi::PyUnicode_1BYTE_DATA(object), len, text, |char| char as u8),
                0xFFFF => units(ffi::PyUnicode_2BYTE_DATA(object), len, text, |char| char as u16),
                _ => units(ffi::PyUnicode_4BYTE_DATA(object), len, text, |char| char),
            }
        }
        made(py, object)
    }
}

/// Writes the characters of `text`.
///
/// # Safety
/// At `to` there are `len` units, and `text` has that many characters.
#[inline(always)]
unsafe fn units<T: Copy>(to: *mut T, len: usize, text: &str, unit: impl Fn(u32) -> T) {
    for (at, char) in text.chars().enumerate() {
        debug_assert!(at < len, "as many characters as were counted");
        // SAFETY: the caller's promise.
        unsafe { to.add(at).write(unit(u32::from(char))) };
    }
}

/// `None`
#[inline(always)]
pub(crate) fn none(py: Python<'_>) -> Bound<'_, PyAny> {
    // SAFETY: this thread is attached, and `None` lives as long as the interpreter.
    unsafe { Bound::from_borrowed_ptr(py, ffi::Py_None()) }
}

/// `True` or `False`
#[inline(always)]
pub(crate) fn bool(py: Python<'_>, value: bool) -> Bound<'_, PyAny> {
    // SAFETY: this thread is attached, and both live as long as the interpreter.
    unsafe { Bound::from_borrowed_ptr(py, if value { ffi::Py_True() } else { ffi::Py_False() }) }
}

/// An `int`.
#[inline(always)]
pub(crate) fn int(py: Python<'_>, value: i64) -> NewObject<'_> {
    // SAFETY: this thread is attached.
    unsafe { made(py, ffi::PyLong_FromLongLong(value)) }
}

/// An `int`.
#[inline(always)]
pub(crate) fn uint(py: Python<'_>, value: u64) -> NewObject<'_> {
    // SAFETY: this thread is attached.
    unsafe { made(py, ffi::PyLong_FromUnsignedLongLong(value)) }
}

/// An `int` of at most 640 digits, which Python reads without code of its own and never refuses.
pub(crate) fn large_int<'py>(py: Python<'py>, digits: &str) -> NewObject<'py> {
    let digits = ascii(py, digits.as_bytes())?;
    // SAFETY: it is a `str`, and this thread is attached.
    unsafe { made(py, PyLong_FromUnicodeObject(digits.as_ptr(), 10)) }
}

/// A `float`.
#[inline(always)]
pub(crate) fn float(py: Python<'_>, value: f64) -> NewObject<'_> {
    // SAFETY: this thread is attached.
    unsafe { made(py, ffi::PyFloat_FromDouble(value)) }
}

/// Whether the collector of cycles looks at objects of this type.
#[inline(always)]
pub(crate) fn is_collected(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object lives.
    unsafe { ffi::PyType_IS_GC(ffi::Py_TYPE(object.as_ptr())) != 0 }
}

/// A list that is being filled. No other code sees it before it is full: either no code of Python runs, or the collector
/// does not know it, which shows what it knows by `gc.get_objects`.
pub(crate) struct List<'py> {
    object: Bound<'py, PyAny>,
    filled: usize,
    len: usize,
    is_hidden: bool,
}

impl<'py> List<'py> {
    /// A list of `len` elements, none of which is there yet. No code of Python runs until it is full.
    #[inline(always)]
    pub(crate) fn new(py: Python<'py>, len: usize) -> Option<Self> {
        // SAFETY: this thread is attached.
        let object = unsafe { made(py, ffi::PyList_New(len as Py_ssize_t)) }?;
        Some(Self { object, filled: 0, len, is_hidden: false })
    }

    /// The same, while code of Python may run.
    #[inline]
    pub(crate) fn hidden(py: Python<'py>, len: usize) -> Option<Self> {
        let list = Self::new(py, len)?;
        // SAFETY: it is a list, of a type that is collected.
        unsafe { ffi::PyObject_GC_UnTrack(list.object.as_ptr().cast()) };
        Some(Self { is_hidden: true, ..list })
    }

    /// Adds the next element.
    ///
    /// # Panics
    /// If the list is full.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: Bound<'py, PyAny>) {
        assert!(self.filled < self.len);
        // SAFETY: no other code knows this list, so it has `len` elements, and this one was not set before. The
        // reference is handed over.
        unsafe { ffi::PyList_SET_ITEM(self.object.as_ptr(), self.filled as Py_ssize_t, value.into_ptr()) };
        self.filled += 1;
    }

    /// The list.
    ///
    /// # Panics
    /// If it is not full.
    #[inline(always)]
    pub(crate) fn finish(self) -> Bound<'py, PyAny> {
        assert_eq!(self.filled, self.len);
        if self.is_hidden {
            // SAFETY: it is a list, of a type that is collected, which is not tracked since `hidden`, and full.
            unsafe { ffi::PyObject_GC_Track(self.object.as_ptr().cast()) };
        }
        self.object
    }
}

/// A dict that is being filled.
pub(crate) struct Dict<'py>(Bound<'py, PyAny>);

/// Which value of a key stays in a dict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// The last one, as in Python's own `json`.
    Last,
    /// The first one, as conditions and columns of scans and queries have it.
    First,
}

/// A key and its hash.
pub(crate) struct HashedKey<'py> {
    pub(super) key: Bound<'py, PyAny>,
    pub(super) hash: Py_hash_t,
}

impl<'py> HashedKey<'py> {
    /// The key that `key` is; computes its hash.
    #[inline]
    pub(crate) fn new(key: Bound<'py, PyAny>) -> Option<Self> {
        // SAFETY: it is a live object, and this thread is attached.
        let hash = unsafe { ffi::PyObject_Hash(key.as_ptr()) };
        if hash == -1 { None } else { Some(Self { key, hash }) }
    }
}

impl<'py> HashedKey<'py> {
    /// The key alone.
    pub(crate) fn into_key(self) -> Bound<'py, PyAny> {
        self.key
    }
}

/// A key and its value, on their way into a dict.
pub(crate) struct Member {
    key: Py<PyAny>,
    /// Invariant: the hash of `key`.
    hash: Py_hash_t,
    value: Py<PyAny>,
}

impl Member {
    #[inline(always)]
    pub(crate) fn new(key: HashedKey<'_>, value: Bound<'_, PyAny>) -> Self {
        Self { key: key.key.unbind(), hash: key.hash, value: value.unbind() }
    }
}

/// A dict of these members. Of several with equal keys, the value of the last is at the place of the first.
#[inline(always)]
pub(crate) fn dict(py: Python<'_>, members: impl ExactSizeIterator<Item = Member>) -> NewObject<'_> {
    let mut dict = Dict::new(py, members.len())?;
    for Member { key, hash, value } in members {
        dict.set(&HashedKey { key: key.into_bound(py), hash }, &value.into_bound(py))?;
    }
    Some(dict.finish())
}

/// A list of these elements.
#[inline(always)]
pub(crate) fn list(py: Python<'_>, elements: impl ExactSizeIterator<Item = Py<PyAny>>) -> NewObject<'_> {
    let mut list = List::new(py, elements.len())?;
    for element in elements {
        list.push(element.into_bound(py));
    }
    Some(list.finish())
}

/// A dict without members.
#[inline(always)]
pub(crate) fn empty_dict(py: Python<'_>) -> NewObject<'_> {
    Dict::new(py, 0).map(Dict::finish)
}

/// A list without elements.
#[inline(always)]
pub(crate) fn empty_list(py: Python<'_>) -> NewObject<'_> {
    List::new(py, 0).map(List::finish)
}

impl<'py> Dict<'py> {
    /// An empty dict with room for `len` items.
    #[inline(always)]
    pub(crate) fn new(py: Python<'py>, len: usize) -> Option<Self> {
        // SAFETY: this thread is attached. The length is that of something in memory, so it is not negative.
        unsafe {
            let dict = if len > DICT_MIN { _PyDict_NewPresized(len as Py_ssize_t) } else { ffi::PyDict_New() };
            made(py, dict).map(Self)
        }
    }

    /// Sets an item; what was there with an equal key is replaced.
    #[inline(always)]
    pub(crate) fn set(&mut self, key: &HashedKey<'py>, value: &Bound<'py, PyAny>) -> Option<()> {
        // SAFETY: it is a dict, `hash` is the hash of `key`, as every `HashedKey` says, and all three objects live.
        let set = unsafe { _PyDict_SetItem_KnownHash(self.0.as_ptr(), key.key.as_ptr(), value.as_ptr(), key.hash) };
        (set == 0).then_some(())
    }

    /// Sets an item; of several with equal keys, the first or the last stays.
    #[inline(always)]
    pub(crate) fn put(&mut self, key: &HashedKey<'py>, value: &Bound<'py, PyAny>, keeps: Keeps) -> Option<()> {
        if keeps == Keeps::Last {
            return self.set(key, value);
        }
        // SAFETY: it is a dict, and all three objects live. The result is borrowed from the dict, and only compared.
        let kept = unsafe { ffi::PyDict_SetDefault(self.0.as_ptr(), key.key.as_ptr(), value.as_ptr()) };
        (!kept.is_null()).then_some(())
    }

    /// The dict.
    #[inline(always)]
    pub(crate) fn finish(self) -> Bound<'py, PyAny> {
        self.0
    }
}
