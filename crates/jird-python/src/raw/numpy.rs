//! Scalars and arrays of numpy, at the places that its C headers say: `arrayscalars.h`, and the array interface.

use super::spare::Spare;
use core::ffi::{c_char, c_int, c_void};
use core::{ptr, slice};
use pyo3::exceptions::PyMemoryError;
use pyo3::ffi::{self, Py_ssize_t, PyObject};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyModule, PyType};

/// A class of numpy's own, whose objects are as its headers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnClass {
    address: usize,
    pub(crate) objects: Objects,
}

/// What the objects of such a class are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Objects {
    Arrays,
    Bools,
    /// The number is the width in bytes, here and below.
    Signed(u8),
    Unsigned(u8),
    Floats(u8),
    Times,
}

/// Numpy's classes. Some have several of these names.
const CLASSES: [(&str, Objects); 17] = [
    ("ndarray", Objects::Arrays),
    ("bool_", Objects::Bools),
    ("int8", Objects::Signed(1)),
    ("int16", Objects::Signed(2)),
    ("int32", Objects::Signed(4)),
    ("int64", Objects::Signed(8)),
    ("longlong", Objects::Signed(8)),
    ("uint8", Objects::Unsigned(1)),
    ("uint16", Objects::Unsigned(2)),
    ("uint32", Objects::Unsigned(4)),
    ("uint64", Objects::Unsigned(8)),
    ("ulonglong", Objects::Unsigned(8)),
    ("float16", Objects::Floats(2)),
    ("float32", Objects::Floats(4)),
    ("float64", Objects::Floats(8)),
    ("double", Objects::Floats(8)),
    ("datetime64", Objects::Times),
];

impl OwnClass {
    /// The class, if it is one of numpy's. A class that code of Python has made is none, whatever its name.
    pub(crate) fn of(class: &Bound<'_, PyType>, numpy: &Bound<'_, PyModule>) -> PyResult<Option<Self>> {
        // SAFETY: it is a class, which lives.
        if unsafe { ffi::PyType_GetFlags(class.as_type_ptr()) } & ffi::Py_TPFLAGS_HEAPTYPE != 0 {
            return Ok(None);
        }
        for (name, objects) in CLASSES {
            if numpy.getattr_opt(name)?.is_some_and(|found| found.is(class)) {
                return Ok(Some(Self { address: class.as_ptr().addr(), objects }));
            }
        }
        Ok(None)
    }

    /// The number that a scalar of this class is. `None` if it is another object, or no number.
    #[inline]
    pub(crate) fn number(self, scalar: &Bound<'_, PyAny>) -> Option<ScalarNumber> {
        // SAFETY: the reference shows that the object lives.
        unsafe { self.number_at(scalar.as_ptr()) }
    }

    /// The same.
    ///
    /// # Safety
    /// `scalar` lives.
    #[inline]
    pub(super) unsafe fn number_at(self, scalar: *mut PyObject) -> Option<ScalarNumber> {
        // SAFETY: the caller's promise.
        unsafe {
            Some(match self.objects {
                Objects::Bools => ScalarNumber::Bool(self.value::<1>(scalar)? != [0]),
                Objects::Signed(1) => ScalarNumber::I64(i8::from_ne_bytes(self.value(scalar)?).into()),
                Objects::Signed(2) => ScalarNumber::I64(i16::from_ne_bytes(self.value(scalar)?).into()),
                Objects::Signed(4) => ScalarNumber::I64(i32::from_ne_bytes(self.value(scalar)?).into()),
                Objects::Signed(_) => ScalarNumber::I64(i64::from_ne_bytes(self.value(scalar)?)),
                Objects::Unsigned(1) => ScalarNumber::U64(u8::from_ne_bytes(self.value(scalar)?).into()),
                Objects::Unsigned(2) => ScalarNumber::U64(u16::from_ne_bytes(self.value(scalar)?).into()),
                Objects::Unsigned(4) => ScalarNumber::U64(u32::from_ne_bytes(self.value(scalar)?).into()),
                Objects::Unsigned(_) => ScalarNumber::U64(u64::from_ne_bytes(self.value(scalar)?)),
                Objects::Floats(2) => ScalarNumber::F32(half(u16::from_ne_bytes(self.value(scalar)?))),
                Objects::Floats(4) => ScalarNumber::F32(f32::from_ne_bytes(self.value(scalar)?)),
                Objects::Floats(_) => ScalarNumber::F64(f64::from_ne_bytes(self.value(scalar)?)),
                Objects::Times | Objects::Arrays => return None,
            })
        }
    }

    /// A time: its value, the number of its unit, and how many of these. `None` if it is another object.
    pub(crate) fn time_value(self, scalar: &Bound<'_, PyAny>) -> Option<(i64, i32, i32)> {
        if self.objects != Objects::Times {
            return None;
        }
        // SAFETY: the reference shows that the object lives.
        let value = unsafe { self.value::<16>(scalar.as_ptr()) }?;
        let (time, rest) = value.split_first_chunk()?;
        let (unit, count) = (rest.first_chunk()?, rest.last_chunk()?);
        Some((i64::from_ne_bytes(*time), i32::from_ne_bytes(*unit), i32::from_ne_bytes(*count)))
    }

    /// The first bytes of the value of a scalar of this class, which come after the head of the object. `None` if it is
    /// another object, or has no room for them.
    ///
    /// # Safety
    /// `scalar` lives.
    #[inline]
    unsafe fn value<const LEN: usize>(self, scalar: *mut PyObject) -> Option<[u8; LEN]> {
        // SAFETY: the object lives, and has as many bytes as its class says. Its value never changes.
        unsafe {
            let class = ffi::Py_TYPE(scalar);
            let has_room = (*class).tp_basicsize >= (size_of::<PyObject>() + LEN) as Py_ssize_t;
            (class.addr() == self.address && has_room).then(|| scalar.add(1).cast::<[u8; LEN]>().read())
        }
    }

    /// The elements of an array. `None` if it is another object, or they are not native, or do not lie one after the other.
    pub(crate) fn elements<'py>(self, array: &Bound<'py, PyAny>) -> PyResult<Option<Elements<'py>>> {
        if array.get_type().as_ptr().addr() != self.address || self.objects != Objects::Arrays {
            return Ok(None);
        }
        let py = array.py();
        let capsule = array.getattr(intern!(py, "__array_struct__"))?.cast_into::<PyCapsule>()?;
        // SAFETY: what numpy's own class makes is a capsule without a name, with an interface that lives as long as the
        // capsule. Its shape has as many lengths as it has dimensions, and its data are as many bytes as these say, if they
        // are contiguous; there is room for them in the copy. C code copies them: others may write to them meanwhile, and no
        // reference of Rust's is made to them.
        unsafe {
            let found = ffi::PyCapsule_GetPointer(capsule.as_ptr(), ptr::null()).cast::<Interface>();
            if found.is_null() {
                return Err(PyErr::fetch(py));
            }
            let found = &*found;
            let wanted = C_CONTIGUOUS | NATIVE;
            let dimensions = usize::try_from(found.dimensions).unwrap_or(usize::MAX);
            if found.two != 2 || found.flags & wanted != wanted || dimensions > DIMENSIONS_MAX {
                return Ok(None);
            }
            let shape = if dimensions == 0 { &[] } else { slice::from_raw_parts(found.shape, dimensions) };
            let bytes = shape.iter().try_fold(found.item_bytes as Py_ssize_t, |bytes, len| bytes.checked_mul(*len));
            let Some(bytes) = bytes.and_then(|bytes| usize::try_from(bytes).ok()) else { return Ok(None) };
            let mut copy = SPARE.take(py).unwrap_or_default();
            copy.shape.clear();
            copy.shape.extend(shape.iter().map(|len| *len as usize));
            copy.bytes.clear();
            copy.bytes.try_reserve(bytes).map_err(|_| PyMemoryError::new_err(()))?;
            libc::memcpy(copy.bytes.as_mut_ptr().cast(), found.data, bytes);
            copy.bytes.set_len(bytes);
            let item_bytes = usize::try_from(found.item_bytes).unwrap_or_default();
            Ok(Some(Elements { kind: found.kind as u8, item_bytes, copy: Some(copy), py }))
        }
    }
}

/// What `__array_struct__` leads to: `PyArrayInterface` of numpy's array interface, version 3.
#[repr(C)]
struct Interface {
    two: c_int,
    dimensions: c_int,
    kind: c_char,
    item_bytes: c_int,
    flags: c_int,
    shape: *const Py_ssize_t,
    strides: *const Py_ssize_t,
    data: *const c_void,
    description: *mut PyObject,
}

const C_CONTIGUOUS: c_int = 1;
const NATIVE: c_int = 0x200;
/// The most dimensions that an array of numpy has.
const DIMENSIONS_MAX: usize = 64;

/// The elements of an array, one after the other in the order of C.
pub(crate) struct Elements<'py> {
    /// A letter for what they are, and how long each is.
    pub(crate) kind: u8,
    pub(crate) item_bytes: usize,
    /// There is one until the elements are dropped.
    copy: Option<Box<ArrayCopy>>,
    py: Python<'py>,
}

/// What an array was. It is kept from one array to the next: to allocate takes longer than to write a few numbers, and to
/// fill new pages of memory longer than to copy.
#[derive(Default)]
struct ArrayCopy {
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

static SPARE: Spare<ArrayCopy> = Spare::new();

/// A larger copy is not kept.
const KEPT_MAX: usize = 1 << 20;

impl Elements<'_> {
    /// The lengths of the dimensions, and the elements as bytes.
    pub(crate) fn parts(&self) -> (&[usize], &[u8]) {
        self.copy.as_ref().map_or((&[], &[]), |copy| (&copy.shape, &copy.bytes))
    }
}

impl Drop for Elements<'_> {
    fn drop(&mut self) {
        if let Some(copy) = self.copy.take().filter(|copy| copy.bytes.capacity() <= KEPT_MAX) {
            SPARE.put(self.py, copy);
        }
    }
}

/// The number that a scalar is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ScalarNumber {
    Bool(bool),
    I64(i64),
    U64(u64),
    F32(f32),
    F64(f64),
}

/// A half (IEEE 754 binary16) as a single.
pub(crate) fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, (bits >> 10) & 0x1F, bits & 0x3FF);
    let size = match exponent {
        0 => f32::from(fraction) * 2_f32.powi(-24),
        0x1F if fraction == 0 => f32::INFINITY,
        0x1F => f32::NAN,
        _ => f32::from(fraction | 0x400) * 2_f32.powi(i32::from(exponent) - 25),
    };
    if sign == 0 { size } else { -size }
}
