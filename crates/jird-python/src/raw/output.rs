//! A `bytes` object that grows: what is written needs no copy in the end.

use super::short_text::{self, ShortText};
use super::spare::Spare;
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};
use core::slice;
use jird::hooks::Kernel;
use jird::hooks::{NUMBER_ROOM, put_content, put_f32, put_f64, put_i64, put_string, put_u64, string_room};
use pyo3::ffi::{self, Py_ssize_t, PyObject};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::panic::resume_unwind;

unsafe extern "C" {
    fn _PyBytes_Resize(bytes: *mut *mut PyObject, size: Py_ssize_t) -> core::ffi::c_int;
}

/// What is written first: a text that ends within it is copied into a `bytes` of its size, which costs less than to cut
/// one. It is kept from one text to the next, and not on the stack, because `default` may write other texts.
type First = [MaybeUninit<u8>; FIRST];

const FIRST: usize = 2048;

static SPARE: Spare<First> = Spare::new();

/// What unwinds if there is no memory for the output: each value would have to be asked otherwise. Python's exception is
/// set.
pub(super) struct OutOfMemory;

/// The least size of a `bytes` that is written into. It is cut in the end, where it is.
const OBJECT_MIN: usize = 32 << 10;

/// A longer text is written in parts of about this many bytes.
const PART: usize = 64 << 10;

/// Text that is being written. Invariant: there are `capacity` bytes at `data`, which no other code knows, and the
/// first `len` of them are written. They are those of `object`, a `bytes` that no other code knows, or of `first` if
/// that is null.
pub(crate) struct Output<'py> {
    object: *mut PyObject,
    /// A box that was taken apart.
    first: NonNull<First>,
    data: NonNull<u8>,
    len: usize,
    capacity: usize,
    kernel: Kernel,
    py: Python<'py>,
}

impl<'py> Output<'py> {
    #[inline]
    pub(super) fn new(py: Python<'py>) -> Self {
        // SAFETY: it is made of bytes that need not be initialised.
        let first = SPARE.take(py).unwrap_or_else(|| unsafe { Box::new_uninit().assume_init() });
        let first = NonNull::from_mut(Box::leak(first));
        Self { object: ptr::null_mut(), first, data: first.cast(), len: 0, capacity: FIRST, kernel: Kernel::best(), py }
    }

    /// At least `len` bytes after those that are written.
    #[inline(always)]
    fn room(&mut self, len: usize) -> &mut [MaybeUninit<u8>] {
        if self.capacity - self.len < len {
            self.grow(len);
        }
        // SAFETY: the object has `capacity` bytes from `data` on, and no other code knows them.
        unsafe { slice::from_raw_parts_mut(self.data.as_ptr().add(self.len).cast(), self.capacity - self.len) }
    }

    /// If memory runs out, it unwinds with [`OutOfMemory`].
    #[cold]
    #[inline(never)]
    fn grow(&mut self, len: usize) {
        let wanted = (self.len + len).max(4 * self.capacity).max(OBJECT_MIN);
        if self.object.is_null() {
            // SAFETY: this thread is attached; without a pointer to copy from the bytes are left as they are.
            let object = unsafe { ffi::PyBytes_FromStringAndSize(ptr::null(), wanted as Py_ssize_t) };
            if object.is_null() {
                resume_unwind(Box::new(OutOfMemory));
            }
            // SAFETY: `len` bytes are written here, and there is room for more in the new object.
            unsafe { ptr::copy_nonoverlapping(self.data.as_ptr(), data(object).as_ptr(), self.len) };
            self.object = object;
        } else {
            // SAFETY: the object is a `bytes` with one reference, ours. After a failure it is gone, and null.
            if unsafe { _PyBytes_Resize(&raw mut self.object, wanted as Py_ssize_t) } != 0 {
                (self.data, self.len, self.capacity) = (self.first.cast(), 0, FIRST);
                resume_unwind(Box::new(OutOfMemory));
            }
        }
        self.data = data(self.object);
        self.capacity = wanted;
    }

    /// Appends a number that `put` writes into the room, and a comma.
    #[inline(always)]
    fn number(&mut self, put: impl FnOnce(&mut [MaybeUninit<u8>; NUMBER_ROOM]) -> usize) {
        let room = self.room(NUMBER_ROOM + 1);
        let written = put(room.first_chunk_mut().expect("room was made"));
        debug_assert!(written <= NUMBER_ROOM, "a number is no longer than its room");
        // SAFETY: a number is no longer than its room, and there is a byte more.
        unsafe { room.as_mut_ptr().add(written).write(MaybeUninit::new(b',')) };
        self.len += written + 1;
    }

    /// Appends `bytes` as they are.
    #[inline(always)]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let room = self.room(bytes.len());
        room[..bytes.len()].write_copy_of_slice(bytes);
        self.len += bytes.len();
    }

    /// Appends one byte.
    #[inline(always)]
    pub(crate) fn byte(&mut self, byte: u8) {
        self.room(1)[0].write(byte);
        self.len += 1;
    }

    /// Replaces the last byte, if it is a comma, by a bracket, or appends one; and then a comma.
    #[inline(always)]
    pub(crate) fn close(&mut self, bracket: u8) {
        self.room(2);
        // SAFETY: something was written, so the last byte is within the object, and there is room for two more.
        unsafe {
            let last = self.data.as_ptr().add(self.len - 1);
            let has_comma = usize::from(*last == b',');
            last.add(1 - has_comma).cast::<[u8; 2]>().write([bracket, b',']);
            self.len += 2 - has_comma;
        }
    }

    /// The same, if the last byte is a comma.
    #[inline(always)]
    pub(crate) fn close_full(&mut self, bracket: u8) {
        self.room(1);
        // SAFETY: something was written, so the last byte is within the object, and there is room for one more.
        unsafe { self.data.as_ptr().add(self.len - 1).cast::<[u8; 2]>().write([bracket, b',']) };
        self.len += 1;
    }

    /// Takes back the last byte, if it is a comma.
    pub(crate) fn take_comma(&mut self) -> bool {
        // SAFETY: the first `len` bytes are written.
        let taken = self.len > 0 && unsafe { *self.data.as_ptr().add(self.len - 1) } == b',';
        self.len -= usize::from(taken);
        taken
    }

    /// Appends a string with its quotes, escaped, and then `after`.
    #[inline(always)]
    pub(crate) fn string(&mut self, text: &str, after: u8) {
        if text.len() > PART {
            return self.long_string(text, after);
        }
        let kernel = self.kernel;
        let room = self.room(string_room(text.len()) + 1);
        let written = put_string(kernel, text, room);
        debug_assert!(written < room.len(), "a string is no longer than its room");
        // SAFETY: a string is no longer than its room, and there is a byte more.
        unsafe { room.as_mut_ptr().add(written).write(MaybeUninit::new(after)) };
        self.len += written + 1;
    }

    /// Appends a short text with quotes, and a comma.
    #[inline]
    pub(crate) fn short_string(&mut self, text: &ShortText) {
        self.put_short_string(|room| {
            *room = text.bytes;
            text.len
        });
    }

    /// The same, of a text that `put` writes to the beginning of the room, whose length it returns.
    #[inline(always)]
    pub(super) fn put_short_string(&mut self, put: impl FnOnce(&mut short_text::Room) -> usize) {
        const ROOM: usize = short_text::ROOM + 3;
        let room = &mut self.room(ROOM)[..ROOM];
        room[0].write(b'"');
        let inner = room[1..=short_text::ROOM].write_copy_of_slice(&[b' '; short_text::ROOM]);
        let len = put(inner.first_chunk_mut().expect("it has this length"));
        room[len + 1].write(b'"');
        room[len + 2].write(b',');
        self.len += len + 3;
    }

    /// Appends integers, each with a comma.
    pub(crate) fn integers(&mut self, values: impl ExactSizeIterator<Item = i64>) {
        /// For so many there is room at once.
        const MANY: usize = 256;
        let mut values = values;
        while values.len() > 0 {
            let count = values.len().min(MANY);
            let room = self.room((count + 1) * NUMBER_ROOM);
            let mut written = 0;
            for value in values.by_ref().take(count) {
                written += put_i64(value, room[written..].first_chunk_mut().expect("room was made"));
                room[written].write(b',');
                written += 1;
            }
            self.len += written;
        }
    }

    /// Appends a string in parts, because room is made for a text of escapes only.
    #[cold]
    #[inline(never)]
    fn long_string(&mut self, text: &str, after: u8) {
        self.byte(b'"');
        let mut rest = text;
        while !rest.is_empty() {
            let (part, behind) = rest.split_at(rest.floor_char_boundary(PART));
            let kernel = self.kernel;
            self.len += put_content(kernel, part, self.room(string_room(part.len())));
            rest = behind;
        }
        self.bytes(&[b'"', after]);
    }

    /// Appends an integer, and a comma.
    #[inline(always)]
    pub(crate) fn i64(&mut self, value: i64) {
        self.number(|room| put_i64(value, room));
    }

    /// Appends an integer, and a comma.
    #[inline(always)]
    pub(crate) fn u64(&mut self, value: u64) {
        self.number(|room| put_u64(value, room));
    }

    /// Appends a double, or `null` if it is not finite, and a comma.
    #[inline(always)]
    pub(crate) fn f64(&mut self, value: f64) {
        if value.is_finite() {
            self.number(|room| put_f64(value, room));
        } else {
            self.bytes(b"null,");
        }
    }

    /// Appends a single, or `null` if it is not finite, and a comma.
    pub(crate) fn f32(&mut self, value: f32) {
        if value.is_finite() {
            self.number(|room| put_f32(value, room));
        } else {
            self.bytes(b"null,");
        }
    }

    /// Appends a line break and `depth` indents of two spaces.
    pub(crate) fn line(&mut self, depth: usize) {
        let room = &mut self.room(1 + 2 * depth)[..=2 * depth];
        room.fill(MaybeUninit::new(b' '));
        room[0].write(b'\n');
        self.len += 1 + 2 * depth;
    }

    /// The object, with what was written. Called once.
    pub(crate) fn finish(&mut self) -> PyResult<Bound<'py, PyBytes>> {
        let mut object = core::mem::replace(&mut self.object, ptr::null_mut());
        if object.is_null() {
            // SAFETY: the first `len` bytes are written.
            let written = unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len) };
            return Ok(PyBytes::new(self.py, written));
        }
        // SAFETY: the object is a `bytes` with one reference, ours, which is handed over. After a failure it is gone,
        // and null.
        unsafe {
            if _PyBytes_Resize(&raw mut object, self.len as Py_ssize_t) != 0 {
                return Err(PyErr::fetch(self.py));
            }
            Ok(Bound::from_owned_ptr(self.py, object).cast_into_unchecked())
        }
    }
}

/// Where the bytes of a `bytes` object begin.
fn data(object: *mut PyObject) -> NonNull<u8> {
    // SAFETY: the callers pass a `bytes`, whose bytes are in it.
    let data = unsafe { ffi::PyBytes_AS_STRING(object) };
    NonNull::new(data.cast_mut().cast()).expect("it is within an object")
}

impl Drop for Output<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the object is null, or a reference that is ours. `first` was a box, and nothing uses it after this.
        let first = unsafe {
            ffi::Py_XDECREF(self.object);
            Box::from_raw(self.first.as_ptr())
        };
        SPARE.put(self.py, first);
    }
}
