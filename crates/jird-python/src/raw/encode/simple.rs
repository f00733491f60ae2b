//! Classes whose objects the walk writes without code of Python, although they are not builtin. It is told of them by
//! `dumps`, which finds out what a class is.

use crate::raw::numpy::OwnClass;
use crate::raw::objects::SlotOf;
use crate::raw::spare::Spare;
use crate::raw::types::TypeState;
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use pyo3::types::{PyDate, PyDateTime, PyTime};

/// How the objects of such a class are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Simple {
    /// A `datetime.datetime`; the address of `datetime.timezone.utc`. Those of other zones need code of Python.
    DateTime(usize),
    Date,
    Time,
    /// A `uuid.UUID`, whose number is in the slot at these bytes.
    Uuid(SlotOf),
    /// A scalar of numpy, but for times.
    Scalar(OwnClass),
}

impl Simple {
    /// Whether the walk can write an object so.
    fn suits(self, object: &Bound<'_, PyAny>) -> bool {
        match self {
            Self::DateTime(_) => object.is_exact_instance_of::<PyDateTime>(),
            Self::Date => object.is_exact_instance_of::<PyDate>(),
            Self::Time => object.is_exact_instance_of::<PyTime>(),
            Self::Uuid(slot) => slot.is_of(object),
            Self::Scalar(class) => class.number(object).is_some(),
        }
    }
}

/// A power of two.
const SLOTS: usize = 64;

struct Table([Option<(TypeState, Simple)>; SLOTS]);

static SPARE: Spare<Table> = Spare::new();

/// The classes that the walk was told of, in this call or an earlier one.
pub(super) struct SimpleClasses<'py> {
    classes: Option<Box<Table>>,
    py: Python<'py>,
}

impl<'py> SimpleClasses<'py> {
    #[inline]
    pub(super) fn new(py: Python<'py>) -> Self {
        Self { classes: SPARE.take(py), py }
    }

    /// How an object is written, if the walk was told.
    ///
    /// # Safety
    /// `object` lives.
    #[inline]
    pub(super) unsafe fn of(&self, object: *mut PyObject) -> Option<Simple> {
        // SAFETY: the caller's promise.
        let state = unsafe { TypeState::of_pointer(object) }?;
        match self.classes.as_ref()?.0[state.mixed() % SLOTS] {
            Some((of, simple)) if of == state => Some(simple),
            _ => None,
        }
    }

    /// Notes how the objects of this object's class are written.
    ///
    /// # Panics
    /// If they cannot be written so.
    pub(super) fn note(&mut self, object: &Bound<'py, PyAny>, simple: Simple) {
        assert!(simple.suits(object), "it is of another class");
        if let Some(state) = TypeState::of(object) {
            let classes = self.classes.get_or_insert_with(|| Box::new(Table([None; SLOTS])));
            classes.0[state.mixed() % SLOTS] = Some((state, simple));
        }
    }
}

impl Drop for SimpleClasses<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(classes) = self.classes.take() {
            SPARE.put(self.py, classes);
        }
    }
}
