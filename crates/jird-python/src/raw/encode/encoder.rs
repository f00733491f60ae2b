//! The walk while code of Python may run.

use super::simple::Simple;
use super::walk::Walk;
use super::{Failure, Settings, because};
use crate::raw::members;
use crate::raw::output::OutOfMemory;
use core::ops::{Deref, DerefMut};
use core::panic::AssertUnwindSafe;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use std::panic::{catch_unwind, resume_unwind};

/// The walk while code of Python may run: there is a reference to each container that is open.
pub(crate) struct Encoder<'w, 'py> {
    pub(crate) py: Python<'py>,
    walk: &'w mut Walk<'py>,
}

impl<'py> Deref for Encoder<'_, 'py> {
    type Target = Walk<'py>;

    fn deref(&self) -> &Walk<'py> {
        self.walk
    }
}

impl<'py> DerefMut for Encoder<'_, 'py> {
    fn deref_mut(&mut self) -> &mut Walk<'py> {
        self.walk
    }
}

impl<'w, 'py> Encoder<'w, 'py> {
    /// The text of `object`, followed by a line break if `has_newline`.
    pub(crate) fn text(
        object: &Bound<'py, PyAny>,
        settings: Settings<'py>,
        has_newline: bool,
    ) -> Result<Bound<'py, PyBytes>, Failure> {
        let py = object.py();
        let mut walk = Walk::new(py, settings);
        match catch_unwind(AssertUnwindSafe(|| walk.object(object))) {
            Ok(written) => written?,
            Err(panic) if panic.is::<OutOfMemory>() => return Err(PyErr::fetch(py).into()),
            Err(panic) => resume_unwind(panic),
        }
        walk.out.take_comma();
        if has_newline {
            walk.out.byte(b'\n');
        }
        Ok(walk.out.finish()?)
    }

    /// Of a walk whose open containers are held, as the token shows.
    pub(super) fn new(py: Python<'py>, walk: &'w mut Walk<'py>) -> Self {
        Self { py, walk }
    }

    /// Writes what the walk does not.
    pub(super) fn other(&mut self, object: &Bound<'py, PyAny>) -> Result<(), Failure> {
        self.check_stack()?;
        match object.cast_exact::<PyDict>() {
            Ok(dict) => (self.settings.other_dict)(self, dict),
            Err(_) => (self.settings.other)(self, object),
        }
    }

    /// Whether the thread's stack has room for what follows.
    pub(crate) fn check_stack(&mut self) -> Result<(), Failure> {
        Ok(self.walk.stack().check()?)
    }

    /// Writes a value, and a comma.
    pub(crate) fn object(&mut self, object: &Bound<'py, PyAny>) -> Result<(), Failure> {
        self.walk(|walk| walk.object(object))
    }

    /// Writes a dict whose keys are strings, or a subclass of one. Its members are those that it has as a dict.
    pub(crate) fn members(&mut self, dict: &Bound<'py, PyDict>) -> Result<(), Failure> {
        let has_lines = self.settings.has_lines;
        // SAFETY: it is a dict, and the reference shows that it lives during this call.
        self.walk(|walk| unsafe {
            if has_lines { walk.dict::<true>(dict.as_ptr()) } else { walk.dict::<false>(dict.as_ptr()) }
        })
    }

    /// Writes the elements that a list, or a subclass of one, has as a list.
    pub(crate) fn elements(&mut self, list: &Bound<'py, PyList>) -> Result<(), Failure> {
        let has_lines = self.settings.has_lines;
        // SAFETY: it is a list, and the reference shows that it lives during this call.
        self.walk(|walk| unsafe {
            if has_lines { walk.list::<true>(list.as_ptr()) } else { walk.list::<false>(list.as_ptr()) }
        })
    }

    /// From now on, the walk writes the objects of this object's class so, as long as the class does not change.
    pub(crate) fn note(&mut self, object: &Bound<'py, PyAny>, simple: Simple) {
        self.walk.known.note(object, simple);
    }

    /// Writes the attributes in the `__dict__` of an instance, but for those whose names begin with an underscore: those
    /// that are there now, whatever code of Python does meanwhile.
    pub(crate) fn attributes(&mut self, dict: &Bound<'py, PyDict>) -> Result<(), Failure> {
        let Some(rest) = self.walk.plain_attributes(dict)? else { return Ok(()) };
        for (name, value) in members::copied_from(dict, rest) {
            let name = name.cast::<PyString>().map_err(|_| because("Dict key must be str"))?;
            self.attribute(name, &value)?;
        }
        Ok(())
    }

    /// Writes the attribute of an instance, unless its name begins with an underscore.
    pub(crate) fn attribute(&mut self, name: &Bound<'py, PyString>, value: &Bound<'py, PyAny>) -> Result<(), Failure> {
        if self.walk.public_key(name)? { self.object(value) } else { Ok(()) }
    }

    /// Goes on with the walk. After a failure no container is open that was not open before, so that none is borrowed.
    fn walk(&mut self, go: impl FnOnce(&mut Walk<'py>) -> Result<(), Failure>) -> Result<(), Failure> {
        let depth = self.walk.open.depth();
        let written = go(self.walk);
        if written.is_err() {
            self.walk.open.cut(depth);
        }
        written
    }
}
