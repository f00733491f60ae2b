//! Values with named fields: instances of classes, typed dicts, named tuples.

use super::decoder::{DecodeResult, Decoder};
use super::fault::Fault;
use super::fields::FieldSet;
use super::plan::{Construction, Field, Object};
use crate::raw::make::{self, Keeps};
use crate::raw::objects::{self, Instance, Slots};
use jird::{Kind, Value};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The object that is made of `value`, which is an object or array.
pub(super) fn object<'py>(decoder: &mut Decoder<'_, 'py>, object: &Object, value: Value<'_>) -> DecodeResult<'py> {
    decoder.builder.stack.check()?;
    let py = decoder.py;
    let is_of_kind = match value.kind() {
        Kind::Object => !object.is_array,
        _ => object.is_array || matches!(object.how, Construction::Tuple | Construction::Positions),
    };
    if !is_of_kind {
        return Err(Fault::expected(&not_this(object), value));
    }
    let made = match &object.how {
        Construction::Slots(slots) => in_slots(decoder, object, slots, value)?,
        _ => gathered(decoder, object, value)?,
    };
    if object.has_post {
        made.call_method0(intern!(py, "__post_init__")).map_err(|error| Fault::raised(py, error, value))?;
    }
    Ok(made)
}

fn not_this(object: &Object) -> String {
    let kind = if object.is_array { "an array" } else { "an object" };
    format!("{kind} ({})", object.name)
}

/// Calls `found` with each field that the text has, and its value.
#[inline(always)]
fn fields<'py>(
    decoder: &mut Decoder<'_, 'py>,
    object: &Object,
    value: Value<'_>,
    mut found: impl FnMut(&mut Decoder<'_, 'py>, usize, &Field, Bound<'py, PyAny>),
) -> Result<FieldSet, Fault> {
    let mut seen = FieldSet::default();
    if value.kind() == Kind::Array {
        // An array that stands for an object may have more elements, as an object may have more members.
        let may_have_more = object.is_array && !object.is_closed;
        if value.len() > object.fields.len() && !may_have_more {
            let words =
                format!("expected at most {} elements ({}), found {}", object.fields.len(), object.name, value.len());
            return Err(Fault::wrong(words, "length", value));
        }
        for (index, (field, element)) in object.fields.iter().zip(value.elements()).enumerate() {
            let made = decoder.value(field.step, element)?;
            found(decoder, index, field, made);
            seen.add(index);
        }
        return Ok(seen);
    }
    let mut likely = 0;
    for (key, member) in value.entries() {
        let Some(index) = decoder.builder.text_of(key).and_then(|key| object.find(likely, key.as_bytes())) else {
            if object.is_closed {
                let words = format!("{} has no field {}", object.name, String::from_utf8_lossy(key.raw()));
                return Err(Fault::wrong(words, "unknown", key));
            }
            continue;
        };
        likely = index + 1;
        if decoder.builder.keeps == Keeps::First && seen.has(index) {
            continue;
        }
        let field = &object.fields[index];
        let made = decoder.value(field.step, member)?;
        found(decoder, index, field, made);
        seen.add(index);
    }
    Ok(seen)
}

/// What a field has that the text does not: a value, or nothing.
#[inline(never)]
fn absent<'py>(
    py: Python<'py>,
    object: &Object,
    field: &Field,
    value: Value<'_>,
) -> Result<Option<Bound<'py, PyAny>>, Fault> {
    if let Some(made) = field.absent.made(py) {
        return made.map_err(|error| Fault::raised(py, error, value));
    }
    let key = field.key.as_deref().unwrap_or_default();
    Err(Fault::wrong(format!("{} needs the field {key:?}, which is missing", object.name), "missing", value))
}

fn in_slots<'py>(
    decoder: &mut Decoder<'_, 'py>,
    object: &Object,
    slots: &Slots,
    value: Value<'_>,
) -> DecodeResult<'py> {
    let py = decoder.py;
    let mut filled = Filled::new(py, object, slots)?;
    let seen = fields(decoder, object, value, |_, _, field, made| filled.set(field, made))?;
    filled.finish(&seen, |field| absent(py, object, field, value))
}

/// Gathers the values in the order of the fields, whatever order the text has, and makes the object of them.
fn gathered<'py>(decoder: &mut Decoder<'_, 'py>, object: &Object, value: Value<'_>) -> DecodeResult<'py> {
    let base = decoder.gathered.len();
    decoder.gathered.resize_with(base + object.fields.len(), || None);
    let seen = fields(decoder, object, value, |decoder, index, _, made| decoder.gathered[base + index] = Some(made));
    let made = seen.and_then(|seen| made_of(decoder, object, value, base, &seen));
    decoder.gathered.truncate(base);
    made
}

fn made_of<'py>(
    decoder: &mut Decoder<'_, 'py>,
    object: &Object,
    value: Value<'_>,
    base: usize,
    seen: &FieldSet,
) -> DecodeResult<'py> {
    let py = decoder.py;
    let gathered = &mut decoder.gathered[base..];
    set_absent(object, seen, |field| absent(py, object, field, value), |index, _, made| gathered[index] = Some(made))?;
    // Taken out before code of Python runs, which could come back here only with a decoder of its own.
    construct(py, object, decoder.gathered.drain(base..)).map_err(|error| Fault::raised(py, error, value))
}

/// An instance with slots that is being filled.
pub(super) struct Filled<'p, 'py> {
    object: &'p Object,
    instance: Instance<'p, 'py>,
    /// Whether the collector of cycles need not look at it.
    is_flat: bool,
}

impl<'p, 'py> Filled<'p, 'py> {
    #[inline(always)]
    pub(super) fn new(py: Python<'py>, object: &'p Object, slots: &'p Slots) -> PyResult<Self> {
        Ok(Self { object, instance: slots.instance(py)?, is_flat: object.is_struct })
    }

    #[inline(always)]
    pub(super) fn set(&mut self, field: &Field, made: Bound<'py, PyAny>) {
        if field.attribute.is_some() {
            self.is_flat &= !make::is_collected(&made);
            self.instance.set(field.slot, made);
        }
    }

    /// The instance; the fields that were not seen have what `absent` gives.
    #[inline(always)]
    pub(super) fn finish<E>(
        mut self,
        seen: &FieldSet,
        absent: impl FnMut(&Field) -> Result<Option<Bound<'py, PyAny>>, E>,
    ) -> Result<Bound<'py, PyAny>, E> {
        set_absent(self.object, seen, absent, |_, field, made| self.set(field, made))?;
        Ok(self.instance.finish(self.is_flat))
    }
}

/// Calls `set` with what `absent` gives for each field that was not seen.
#[inline(always)]
pub(super) fn set_absent<'py, E>(
    object: &Object,
    seen: &FieldSet,
    mut absent: impl FnMut(&Field) -> Result<Option<Bound<'py, PyAny>>, E>,
    mut set: impl FnMut(usize, &Field, Bound<'py, PyAny>),
) -> Result<(), E> {
    if seen.is_full(object.fields.len()) {
        return Ok(());
    }
    for (index, field) in object.fields.iter().enumerate() {
        if !seen.has(index)
            && let Some(made) = absent(field)?
        {
            set(index, field, made);
        }
    }
    Ok(())
}

/// The object that is made of values, in the order of the fields.
pub(super) fn construct<'py>(
    py: Python<'py>,
    object: &Object,
    mut values: impl Iterator<Item = Option<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyAny>> {
    let class = object.class.bind(py);
    let mut named = object.fields.iter().filter_map(|field| {
        let made = values.next()?;
        Some((field.attribute.as_ref()?.bind(py), made?))
    });
    match &object.how {
        Construction::Tuple => objects::tuple(class, named.map(|(_, made)| made).collect()),
        Construction::Positions => class.call1(PyTuple::new(py, named.map(|(_, made)| made).collect::<Vec<_>>())?),
        Construction::Dict | Construction::Call => {
            let dict = PyDict::new(py);
            named.try_for_each(|(name, made)| dict.set_item(name, made))?;
            match object.how {
                Construction::Dict => Ok(dict.into_any()),
                _ => class.call((), Some(&dict)),
            }
        }
        Construction::Attributes | Construction::Slots(_) => {
            let instance = objects::bare(class)?;
            named.try_for_each(|(name, made)| objects::set_attribute(&instance, name, &made))?;
            Ok(instance)
        }
        Construction::Set => {
            let instance = objects::bare(class)?;
            named.try_for_each(|(name, made)| instance.setattr(name, made))?;
            Ok(instance)
        }
    }
}
