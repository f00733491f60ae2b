//! The walk over a text by a plan.

use super::decoder::{DecodeResult, Decoder, wanted};
use super::fault::Fault;
use super::plan::{Plan, Step, Union};
use super::{objects, scalars, times};
use crate::loads::repeated;
use crate::loads::{Builder, HookedReader};
use crate::raw::collect::Pause;
use crate::raw::make::{self, Dict, HashedKey, Keeps, List};
use jird::value::MachineNumber;
use jird::{Kind, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFrozenSet, PySet, PyTuple};

/// The value that the plan makes of `value`.
pub(super) fn decode<'py>(plan: &Plan, mut builder: Builder<'_, 'py>, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    let (py, text) = (builder.py, builder.text);
    builder.begin();
    let pause = plan.is_quiet.then(|| Pause::new(py));
    let mut decoder = Decoder { py, plan, builder, gathered: Vec::new(), pause };
    let made = decoder.value(0, value);
    drop(decoder);
    made.map_err(|fault| fault.into_error(py, text))
}

impl<'py> Decoder<'_, 'py> {
    #[inline]
    pub(super) fn value(&mut self, step: usize, value: Value<'_>) -> DecodeResult<'py> {
        let plan = self.plan;
        let py = self.py;
        let made = match (&plan.steps[step], value.kind()) {
            (Step::Int, Kind::Number) => match value.machine_number() {
                Some(MachineNumber::I64(number)) => make::int(py, number),
                _ => return self.other_int(value),
            },
            (Step::Str, Kind::String) => self.builder.frequent(value),
            (Step::Float, Kind::Number) => match value.as_f64() {
                Some(number) => make::float(py, number),
                // The builder has the words.
                None => return Err(Fault::wrong("the number is too large for a float".into(), "range", value)),
            },
            (Step::Bool, Kind::Bool) | (Step::None, Kind::Null) => self.builder.value(value),
            (Step::Any, _) => return self.any(value),
            (Step::Object(object), Kind::Object | Kind::Array) => return objects::object(self, object, value),
            (Step::Union(union), kind) => return self.union(union, kind, value),
            (Step::List(of) | Step::Deque(of, _), Kind::Array) => return self.list(&plan.steps[step], *of, value),
            (other, kind) => return self.other(other, kind, value),
        };
        made.ok_or_else(|| Fault::fetch(py))
    }

    /// What `loads` makes of it without a type.
    #[inline(never)]
    pub(super) fn any(&mut self, value: Value<'_>) -> DecodeResult<'py> {
        // The builder has a pause of its own, which is over when code of Python runs.
        let was_paused = self.pause.take().is_some();
        let made = self.builder.whole(value);
        self.pause = was_paused.then(|| Pause::new(self.py));
        Ok(made?)
    }

    #[inline(never)]
    fn list(&mut self, step: &Step, of: usize, array: Value<'_>) -> DecodeResult<'py> {
        self.builder.stack.check()?;
        let mut list = List::hidden(self.py, array.len()).ok_or_else(|| Fault::fetch(self.py))?;
        for element in array.elements() {
            list.push(self.value(of, element)?);
        }
        let list = list.finish();
        match step {
            Step::Deque(_, class) => Ok(class.bind(self.py).call1((list,))?),
            _ => Ok(list),
        }
    }

    /// What is less frequent.
    #[inline(never)]
    fn other(&mut self, step: &Step, kind: Kind, value: Value<'_>) -> DecodeResult<'py> {
        self.builder.stack.check()?;
        let py = self.py;
        match (step, kind) {
            (Step::Choice(choice), _) => scalars::choice(self, choice, value),
            (Step::Dict(key, of), Kind::Object) => self.dict(*key, *of, value),
            (Step::Set(of), Kind::Array) => {
                let set = PySet::empty(py)?;
                for element in value.elements() {
                    set.add(self.value(*of, element)?).map_err(|error| Fault::raised(py, error, element))?;
                }
                Ok(set.into_any())
            }
            (Step::FrozenSet(of), Kind::Array) => {
                let elements = self.elements(*of, value)?;
                let set = PyFrozenSet::new(py, elements).map_err(|error| Fault::raised(py, error, value))?;
                Ok(set.into_any())
            }
            (Step::Tuple(of), Kind::Array) => Ok(PyTuple::new(py, self.elements(*of, value)?)?.into_any()),
            (Step::Tuples(steps), Kind::Array) => {
                if value.len() != steps.len() {
                    let words = format!("expected an array of {}, found one of {}", steps.len(), value.len());
                    return Err(Fault::wrong(words, "length", value));
                }
                let pairs = steps.iter().zip(value.elements());
                let elements =
                    pairs.map(|(&step, element)| self.value(step, element)).collect::<Result<Vec<_>, Fault>>()?;
                Ok(PyTuple::new(py, elements)?.into_any())
            }
            (Step::Hooked(hooks), _) => {
                let mut reader = HookedReader { builder: &mut self.builder, hooks };
                reader.value(value).map_err(|error| Fault::raised(py, error, value))
            }
            (Step::Model(_, validate), _) => {
                let raw = match self.builder.keeps {
                    Keeps::First => repeated::without(value),
                    Keeps::Last => value.raw().into(),
                };
                let raw = PyBytes::new(py, &raw);
                validate.bind(py).call1((raw,)).map_err(|error| scalars::refused_by_model(py, error, value))
            }
            (Step::Converted(of, convert, _), _) => {
                let made = self.value(*of, value)?;
                convert.bind(py).call1((made,)).map_err(|error| Fault::raised(py, error, value))
            }
            (Step::Limited { of, limits, is_lenient }, _) => {
                let made = self.value(*of, value)?;
                scalars::check_limits(limits, *is_lenient, &made, value)?;
                Ok(made)
            }
            (Step::Decimal(class), Kind::Number | Kind::String) => scalars::decimal(self, class, value),
            (Step::Uuid(of), Kind::String) => scalars::uuid(self, step, of, value),
            (Step::DateTime | Step::Date | Step::Time | Step::TimeDelta, Kind::String) => times::time(py, step, value),
            _ => Err(Fault::expected(&wanted(step), value)),
        }
    }

    fn elements(&mut self, of: usize, array: Value<'_>) -> Result<Vec<Bound<'py, PyAny>>, Fault> {
        array.elements().map(|element| self.value(of, element)).collect()
    }

    fn dict(&mut self, key_step: usize, of: usize, object: Value<'_>) -> DecodeResult<'py> {
        let py = self.py;
        let mut dict = Dict::new(py, object.len()).ok_or_else(|| Fault::fetch(py))?;
        let plan = self.plan;
        for (key, value) in object.entries() {
            let key = match &plan.steps[key_step] {
                Step::Any | Step::Hooked(_) | Step::Str => self.builder.key(key),
                step => HashedKey::new(scalars::key(self, step, key)?),
            };
            let key = key.ok_or_else(|| Fault::fetch(py))?;
            let value = self.value(of, value)?;
            dict.put(&key, &value, self.builder.keeps).ok_or_else(|| Fault::fetch(py))?;
        }
        Ok(dict.finish())
    }

    fn union(&mut self, union: &Union, kind: Kind, value: Value<'_>) -> DecodeResult<'py> {
        let number = match kind {
            Kind::Null => 0,
            Kind::Bool => 1,
            Kind::Number if value.is_integer() => 2,
            Kind::Number => 3,
            Kind::String => 4,
            Kind::Object => 5,
            Kind::Array => 6,
        };
        match *union.by_kind[number] {
            [] => Err(Fault::expected(&union.name, value)),
            [only] => self.value(only, value),
            _ if kind == Kind::Object => {
                let chosen = scalars::tagged(union, value, self.builder.keeps)?;
                self.value(chosen, value)
            }
            _ if kind == Kind::Array => {
                let chosen = scalars::tagged_array(union, value)?;
                self.value(chosen, value)
            }
            // Only scalars come here: what is made of an array or object is made once.
            ref several => {
                for &step in several {
                    match self.value(step, value) {
                        Err(fault) if fault.is_of_text() => {}
                        got => return got,
                    }
                }
                Err(Fault::expected(&union.name, value))
            }
        }
    }

    #[cold]
    fn other_int(&mut self, value: Value<'_>) -> DecodeResult<'py> {
        if value.is_integer() {
            return self.any(value);
        }
        Err(Fault::expected(&wanted(&Step::Int), value))
    }
}
