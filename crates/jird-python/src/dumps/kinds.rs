//! What objects of a class are written as, found out once for each class.

use super::modules::loaded;
use super::{Fragment, numpy};
use crate::raw::encode::Failure;
use crate::raw::members;
use crate::raw::spare::Spare;
use crate::raw::types::{Base, TypeState, in_class, is_slot};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDate, PyDateTime, PyDict, PyString, PyTime, PyType};
use std::sync::Arc;

/// What the objects of a class are. Where several hold, the options decide.
#[derive(Clone, Default)]
pub(super) struct Kind {
    pub(super) exact: Option<Exact>,
    /// Of a member of an `enum.Enum`: the attribute that has its value.
    pub(super) value: Option<ValueAttribute>,
    pub(super) base: Option<Base>,
    pub(super) data: Option<DataClass>,
    pub(super) numpy: Option<numpy::Class>,
}

/// Classes whose objects are written in one way. Their subclasses are others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exact {
    Fragment,
    DateTime,
    Date,
    Time,
    Uuid,
}

/// Where a member of an enum has its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueAttribute {
    /// At `_value_`, which the property `value` of `enum.Enum` reads.
    Own,
    /// The class has a `value` of its own.
    Overridden,
}

/// How the instances of a data class are written.
#[derive(Clone)]
pub(super) enum DataClass {
    /// The attributes in their `__dict__`; if they have none, their fields.
    Attributes,
    /// The fields of these names, because some of them are slots.
    Fields(Arc<[Py<PyString>]>),
    /// The fields of these names, with these keys.
    Keyed(Arc<[(Py<PyString>, String)]>),
}

/// Names of fields, with their keys.
type FieldKeys = Vec<(Py<PyString>, String)>;

/// The kinds of classes that were met, by the states of these; a new one takes the place of one that has the same slot.
struct Kinds([Option<(TypeState, Kind)>; SLOTS]);

/// A power of two.
const SLOTS: usize = 64;

static KINDS: Spare<Kinds> = Spare::new();

/// The kind of an object.
#[inline]
pub(super) fn of(object: &Bound<'_, PyAny>) -> Result<Kind, Failure> {
    let py = object.py();
    if let Some(state) = TypeState::of(object)
        && let Some(kinds) = KINDS.take(py)
    {
        let known = match &kinds.0[state.mixed() % SLOTS] {
            Some((of, kind)) if *of == state => Some(kind.clone()),
            _ => None,
        };
        KINDS.put(py, kinds);
        if let Some(kind) = known {
            return Ok(kind);
        }
    }
    found(object)
}

/// The kind of an object whose class is not known.
#[cold]
#[inline(never)]
fn found(object: &Bound<'_, PyAny>) -> Result<Kind, Failure> {
    let py = object.py();
    let class = object.get_type();
    // This look gives the class its version.
    in_class(&class, intern!(py, "__class__"));
    let before = TypeState::of(object);
    let kind = Kind {
        exact: exact(object)?,
        value: value_attribute(&class)?,
        base: Base::of_object(object),
        data: data_class(&class)?,
        numpy: numpy::Class::of(&class)?,
    };
    // Code that was called may have changed the class, or given the object another one.
    if let Some(state) = TypeState::of(object).filter(|state| before == Some(*state)) {
        let mut kinds = KINDS.take(py).unwrap_or_else(|| Box::new(Kinds([const { None }; SLOTS])));
        let other = kinds.0[state.mixed() % SLOTS].replace((state, kind.clone()));
        KINDS.put(py, kinds);
        drop(other);
    }
    Ok(kind)
}

fn exact(object: &Bound<'_, PyAny>) -> Result<Option<Exact>, Failure> {
    let exact = if object.cast::<Fragment>().is_ok() {
        Some(Exact::Fragment)
    } else if object.cast_exact::<PyDateTime>().is_ok() {
        Some(Exact::DateTime)
    } else if object.cast_exact::<PyDate>().is_ok() {
        Some(Exact::Date)
    } else if object.cast_exact::<PyTime>().is_ok() {
        Some(Exact::Time)
    } else if is_uuid(object)? {
        Some(Exact::Uuid)
    } else {
        None
    };
    Ok(exact)
}

/// Where the objects of a class have their value, if it is an enum.
fn value_attribute(class: &Bound<'_, PyType>) -> Result<Option<ValueAttribute>, Failure> {
    static META: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static ENUM: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = class.py();
    let module = intern!(py, "enum");
    let Some(meta) = loaded(py, &META, module, intern!(py, "EnumMeta"))? else { return Ok(None) };
    if !class.is_instance(&meta)? {
        return Ok(None);
    }
    let Some(base) = loaded(py, &ENUM, module, intern!(py, "Enum"))? else { return Ok(None) };
    let name = intern!(py, "value");
    let is_own = match (in_class(class, name), in_class(&base, name)) {
        (Some(found), Some(own)) => found.is(&own),
        _ => false,
    };
    Ok(Some(if is_own { ValueAttribute::Own } else { ValueAttribute::Overridden }))
}

/// How the instances of a class are written, if it is a data class.
fn data_class(class: &Bound<'_, PyType>) -> Result<Option<DataClass>, Failure> {
    // Of the type, because a class that is itself the value has the attribute too.
    let fields = in_class(class, intern!(class.py(), "__dataclass_fields__"));
    if !fields.is_some_and(|fields| fields.is_instance_of::<PyDict>()) {
        return Ok(None);
    }
    if let Some(keys) = keys_of(class)? {
        return Ok(Some(DataClass::Keyed(keys.into())));
    }
    let fields = fields_of(class)?;
    for name in &fields {
        if in_class(class, name.bind(class.py())).is_some_and(|found| is_slot(&found)) {
            return Ok(Some(DataClass::Fields(fields.into())));
        }
    }
    Ok(Some(DataClass::Attributes))
}

/// The names of the fields of a data class.
pub(super) fn fields_of(class: &Bound<'_, PyType>) -> Result<Vec<Py<PyString>>, Failure> {
    let fields = in_class(class, intern!(class.py(), "__dataclass_fields__"));
    let Some(fields) = fields.and_then(|fields| fields.cast_into::<PyDict>().ok()) else { return Ok(Vec::new()) };
    let mut names = Vec::with_capacity(fields.len());
    for (name, field) in members::copied(&fields) {
        if let Ok(name) = name.cast_into::<PyString>()
            && is_field(&field)?
        {
            names.push(name.unbind());
        }
    }
    Ok(names)
}

/// The names and the keys of the fields of a data class, if `jird.rename` or `jird.Key` gave it keys.
fn keys_of(class: &Bound<'_, PyType>) -> Result<Option<FieldKeys>, Failure> {
    static KEYS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = class.py();
    let is_renamed = in_class(class, intern!(py, "__jird_keys__")).is_some();
    if !is_renamed && has_plain_annotations(class)? {
        return Ok(None);
    }
    let keys = KEYS.get_or_try_init(py, || PyResult::Ok(py.import("jird._types")?.getattr("keys")?.unbind()))?;
    Ok(keys.bind(py).call1((class,))?.extract()?)
}

/// Whether the annotation of each field is a class, so that no `jird.Key` is in it, nor in what it is an alias of.
fn has_plain_annotations(class: &Bound<'_, PyType>) -> Result<bool, Failure> {
    let py = class.py();
    let fields = in_class(class, intern!(py, "__dataclass_fields__"));
    let Some(fields) = fields.and_then(|fields| fields.cast_into::<PyDict>().ok()) else { return Ok(true) };
    for (_, field) in members::copied(&fields) {
        if field.getattr_opt(intern!(py, "type"))?.is_some_and(|wanted| !wanted.is_instance_of::<PyType>()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether it is a `uuid.UUID`, and of no subclass.
fn is_uuid(object: &Bound<'_, PyAny>) -> Result<bool, Failure> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = object.py();
    let class = loaded(py, &CLASS, intern!(py, "uuid"), intern!(py, "UUID"))?;
    Ok(class.is_some_and(|class| object.get_type().is(&class)))
}

/// Whether it is a field and not a `ClassVar` or an `InitVar`.
fn is_field(field: &Bound<'_, PyAny>) -> Result<bool, Failure> {
    static FIELD: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = field.py();
    let kind = FIELD.get_or_try_init(py, || PyResult::Ok(py.import("dataclasses")?.getattr("_FIELD")?.unbind()))?;
    Ok(field.getattr(intern!(py, "_field_type"))?.is(kind.bind(py)))
}
