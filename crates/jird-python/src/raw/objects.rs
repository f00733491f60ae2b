//! Instances of classes, made without a call of the class.

use pyo3::exceptions::PyTypeError;
use pyo3::ffi::{self, PyObject, PyTypeObject};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};

/// A class that is filled at the places of its slots.
pub(crate) struct Slots {
    class: Py<PyType>,
    /// Invariant: at each of these bytes of an instance is a reference to an object, or null.
    offsets: Box<[usize]>,
    /// Whether instances are made by `object.__new__`, or only allocated.
    has_new: bool,
}

impl Slots {
    /// The class with the slots of these names, in this order.
    ///
    /// # Errors
    /// If a name is not that of a slot, or instances need more than memory.
    pub(crate) fn of(class: &Bound<'_, PyType>, names: &[Bound<'_, PyString>]) -> PyResult<Self> {
        let offsets = names.iter().map(|name| offset(class, name)).collect::<PyResult<_>>()?;
        let has_new = is_plain(class);
        // A `Struct` of msgspec has no other `__new__` than this: its metaclass makes it.
        if !has_new && !class.hasattr("__struct_config__")? {
            return Err(PyTypeError::new_err("instances are made by a `__new__` of their own"));
        }
        Ok(Self { class: class.clone().unbind(), offsets, has_new })
    }

    /// An instance without values.
    #[inline]
    pub(crate) fn instance<'p, 'py>(&'p self, py: Python<'py>) -> PyResult<Instance<'p, 'py>> {
        let class = self.class.bind(py);
        let (object, is_tracked) = if self.has_new { (bare(class)?, true) } else { allocated(class)? };
        Ok(Instance { object, slots: self, is_tracked })
    }
}

/// One slot of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotOf {
    /// The address of the class.
    class: usize,
    /// Invariant: at this byte of an instance is a reference to an object, or null.
    offset: usize,
}

impl SlotOf {
    /// The slot of this name in the class of an object. `None` if it is not a slot.
    pub(crate) fn new(object: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> Option<Self> {
        let class = object.get_type();
        let offset = offset(&class, name).ok()?;
        Some(Self { class: class.as_ptr().addr(), offset })
    }

    /// Whether it is a slot of the class of this object.
    pub(super) fn is_of(self, object: &Bound<'_, PyAny>) -> bool {
        object.get_type().as_ptr().addr() == self.class
    }

    /// What the slot has: a reference that is borrowed from the object, or null.
    ///
    /// # Safety
    /// `object` lives, and is of this class.
    #[inline]
    pub(super) unsafe fn get(self, object: *mut PyObject) -> *mut PyObject {
        // SAFETY: there is a reference or null at this place.
        unsafe { object.byte_add(self.offset).cast::<*mut PyObject>().read() }
    }
}

/// An instance whose slots are being filled. No other code sees it before.
pub(crate) struct Instance<'p, 'py> {
    object: Bound<'py, PyAny>,
    slots: &'p Slots,
    /// Whether the collector of cycles knows the instance, or never has to.
    is_tracked: bool,
}

impl<'py> Instance<'_, 'py> {
    /// Sets the slot at this index; what was there is released.
    ///
    /// # Panics
    /// If there is no slot of this index.
    #[inline(always)]
    pub(crate) fn set(&mut self, index: usize, value: Bound<'py, PyAny>) {
        let offset = self.slots.offsets[index];
        // SAFETY: the object is an instance of exactly the class that the offsets were checked for, so there is a
        // reference or null at this place. The new reference is handed over, and the old one taken out before it is
        // released.
        unsafe {
            let place = self.object.as_ptr().byte_add(offset).cast::<*mut PyObject>();
            let old = place.replace(value.into_ptr());
            ffi::Py_XDECREF(old);
        }
    }

    /// The instance. Slots that were not set have no value. The collector of cycles need not know a `Struct` that
    /// `is_flat`, with no value that it looks at: msgspec lets it know when a field is set.
    #[inline(always)]
    pub(crate) fn finish(self, is_flat: bool) -> Bound<'py, PyAny> {
        if !self.is_tracked && !is_flat {
            // SAFETY: it is an object that lives, whose slots are references or null, of a class that is collected; and
            // it is not tracked.
            unsafe { ffi::PyObject_GC_Track(self.object.as_ptr().cast()) };
        }
        self.object
    }
}

/// An instance of a class whose `__new__` is that of `object`, without its `__init__`.
///
/// # Errors
/// If the class has another `__new__`, or is abstract.
#[inline]
pub(crate) fn bare<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let kind = class.as_type_ptr();
    // SAFETY: `class` is a class, which lives. `object.__new__` takes a class, a tuple and null, and makes an instance,
    // or returns null with an exception set.
    unsafe {
        match (*kind).tp_new {
            Some(new) if is_plain(class) => {
                let none = PyTuple::empty(py);
                Bound::from_owned_ptr_or_err(py, new(kind, none.as_ptr(), core::ptr::null_mut()))
            }
            _ => Err(PyTypeError::new_err("instances are made by a `__new__` of their own")),
        }
    }
}

/// A `tuple` of a class that has tuple's layout and makes its instances by `tuple.__new__`, as named tuples do.
///
/// # Errors
/// If the class is not derived from `tuple`.
pub(crate) fn tuple<'py>(class: &Bound<'py, PyType>, values: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let kind = class.as_type_ptr();
    // SAFETY: the class is derived from `tuple`. For such a class `tuple.__new__` calls the class's allocator with the number
    // of elements, which makes an instance with null for each or returns null with an exception set, and puts references
    // there. So does this; each reference is handed over, and there are as many places.
    unsafe {
        if ffi::PyType_IsSubtype(kind, &raw mut ffi::PyTuple_Type) == 0 {
            return Err(PyTypeError::new_err("the class is not derived from tuple"));
        }
        let allocate = (*kind).tp_alloc.unwrap_or(ffi::PyType_GenericAlloc);
        let made = Bound::from_owned_ptr_or_err(py, allocate(kind, values.len() as ffi::Py_ssize_t))?;
        for (index, value) in values.into_iter().enumerate() {
            ffi::PyTuple_SET_ITEM(made.as_ptr(), index as ffi::Py_ssize_t, value.into_ptr());
        }
        Ok(made)
    }
}

/// Sets an attribute as `object.__setattr__` does.
#[inline]
pub(crate) fn set_attribute(
    object: &Bound<'_, PyAny>,
    name: &Bound<'_, PyString>,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    // SAFETY: all three live, and this thread is attached.
    match unsafe { ffi::PyObject_GenericSetAttr(object.as_ptr(), name.as_ptr(), value.as_ptr()) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(object.py())),
    }
}

fn is_plain(class: &Bound<'_, PyType>) -> bool {
    // SAFETY: both are classes, which live.
    unsafe {
        let (own, plain) = ((*class.as_type_ptr()).tp_new, ffi::PyBaseObject_Type.tp_new);
        own.map(|own| own as usize) == plain.map(|plain| plain as usize)
    }
}

/// An instance with null in all of its slots, and whether the collector of cycles knows it or never has to.
#[inline]
fn allocated<'py>(class: &Bound<'py, PyType>) -> PyResult<(Bound<'py, PyAny>, bool)> {
    let kind = class.as_type_ptr();
    // SAFETY: `class` is a class, which lives, and `Slots::of` has seen that it is a `Struct`. msgspec allocates its
    // instances so: as an object that the collector does not know yet, with zero behind its head, which is as long as a
    // `PyObject`; or, if it is not collected, by the class's allocator, which does the same. Both return null with an
    // exception set if there is no memory.
    unsafe {
        let is_collected = ffi::PyType_IS_GC(kind) != 0;
        let object = if is_collected {
            ffi::PyObject_GC_New::<PyObject>(kind)
        } else {
            (*kind).tp_alloc.unwrap_or(ffi::PyType_GenericAlloc)(kind, 0)
        };
        let made = Bound::from_owned_ptr_or_err(class.py(), object)?;
        if is_collected {
            let slots = ((*kind).tp_basicsize as usize).saturating_sub(size_of::<PyObject>());
            object.add(1).cast::<u8>().write_bytes(0, slots);
        }
        Ok((made, !is_collected))
    }
}

/// Where in an instance the slot is.
fn offset(class: &Bound<'_, PyType>, name: &Bound<'_, PyString>) -> PyResult<usize> {
    let found = class.getattr(name)?;
    let kind: *mut PyTypeObject = class.as_type_ptr();
    // SAFETY: the pointer is read as a member descriptor only if that is its type. Its class and its member live as long
    // as it does. A member of the kind `Py_T_OBJECT_EX` in a base of the class is a reference or null at its offset in
    // each instance; that it lies within the instance is checked in any case.
    unsafe {
        if ffi::Py_TYPE(found.as_ptr()) == &raw mut ffi::PyMemberDescr_Type {
            let descriptor = found.as_ptr().cast::<ffi::PyMemberDescrObject>();
            let member = &*(*descriptor).d_member.cast::<ffi::PyMemberDef>();
            let owner = (*descriptor).d_common.d_type;
            let size = (*kind).tp_basicsize as usize;
            let offset = usize::try_from(member.offset).unwrap_or(usize::MAX);
            let is_inside = offset >= size_of::<PyObject>() && offset <= size.saturating_sub(size_of::<usize>());
            let is_reference = member.type_code == ffi::Py_T_OBJECT_EX && member.flags & ffi::Py_READONLY == 0;
            if is_reference && is_inside && ffi::PyType_IsSubtype(kind, owner) != 0 {
                return Ok(offset);
            }
        }
    }
    Err(PyTypeError::new_err(format!("{name} is not a slot")))
}
