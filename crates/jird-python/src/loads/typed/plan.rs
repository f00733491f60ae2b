//! Plans: what must be done for a type, as `jird._types` works it out. They are read once for each type and kept.

use super::by_text::ByText;
use super::uuids::UuidOf;
use crate::loads::hooked::Hooks;
use crate::loads::small::SMALL_MAX;
use crate::raw::keys::is_same;
use crate::raw::objects::Slots;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use std::collections::HashMap;
use std::sync::Arc;

/// The steps of a type. Step 0 is that of the type; steps name others by their index.
pub(super) struct Plan {
    pub(super) steps: Box<[Step]>,
    /// Whether no code of Python runs while values are made.
    pub(super) is_quiet: bool,
    /// Whether a step makes values of any kind.
    has_any: bool,
}

impl Plan {
    /// Whether a text of this many bytes is read without a tape. Where the plan takes
    /// values of any kind, the first escape ends such a reading, and only a short text is soon read again.
    #[inline]
    pub(super) fn is_direct(&self, len: usize) -> bool {
        self.is_quiet && len < DIRECT_MAX && (!self.has_any || len <= SMALL_MAX)
    }
}

/// From this many bytes on, a tape is faster: it is made on all cores.
const DIRECT_MAX: usize = 8 << 20;

/// What must be done for one value.
pub(super) enum Step {
    Any,
    /// The same, by functions of the caller.
    Hooked(Box<Hooks>),
    None,
    Bool,
    Int,
    Float,
    Str,
    /// `decimal.Decimal`
    Decimal(Py<PyAny>),
    DateTime,
    Date,
    Time,
    TimeDelta,
    Uuid(UuidOf),
    Choice(Box<Choice>),
    List(usize),
    Set(usize),
    FrozenSet(usize),
    /// `collections.deque`, which is made from a list.
    Deque(usize, Py<PyAny>),
    /// A tuple of any length.
    Tuple(usize),
    /// A tuple with a step for each element.
    Tuples(Box<[usize]>),
    /// The steps of keys and values.
    Dict(usize, usize),
    Object(Box<Object>),
    /// A model of pydantic: what it is called, and its `validate_json`.
    Model(String, Py<PyAny>),
    Union(Box<Union>),
    /// What a function makes of a value of another step, and what it is called.
    Converted(usize, Py<PyAny>, String),
    /// A value of another step, within limits. With `is_lenient`, for a step that makes several kinds of values, a limit
    /// holds only for the kinds that have what it limits: of `str | int`, a length is one of the `str`.
    Limited {
        of: usize,
        limits: Box<[Limit]>,
        is_lenient: bool,
    },
}

/// What must hold of a value, as `Annotated` says it.
pub(super) struct Limit {
    pub(super) kind: LimitKind,
    pub(super) value: Py<PyAny>,
    /// The value, for messages.
    pub(super) shown: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitKind {
    Above,
    AtLeast,
    Below,
    AtMost,
    MultipleOf,
    MinLength,
    MaxLength,
    /// The `search` of a regular expression.
    Pattern,
    /// A function that says whether it holds.
    Predicate,
    /// Whether a time has a time zone.
    Zone,
}

/// A value that must be one of several: `Literal`, or an enum.
#[derive(Default)]
pub(super) struct Choice {
    pub(super) strings: ByText<Py<PyAny>>,
    pub(super) ints: HashMap<i64, Py<PyAny>>,
    pub(super) bools: [Option<Py<PyAny>>; 2],
    pub(super) null: Option<Py<PyAny>>,
    /// Values that are none of these, and what they stand for.
    pub(super) others: Vec<(Py<PyAny>, Py<PyAny>)>,
    /// An enum that wants to be asked for other values.
    pub(super) fallback: Option<Py<PyAny>>,
    /// The values, for messages.
    pub(super) shown: String,
}

/// How an instance is made.
pub(super) enum Construction {
    /// A dict of the fields that are there.
    Dict,
    /// `tuple.__new__`
    Tuple,
    /// A call with values by position.
    Positions,
    /// A call with values by name.
    Call,
    /// Values put into the slots of an instance.
    Slots(Slots),
    /// `object.__setattr__`
    Attributes,
    /// `setattr`, because the class has its own.
    Set,
}

/// A value with named fields.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of the class")]
pub(super) struct Object {
    pub(super) how: Construction,
    pub(super) class: Py<PyType>,
    pub(super) fields: Box<[Field]>,
    /// Indexes of fields by their keys, if there are many.
    pub(super) by_key: HashMap<Box<[u8]>, usize>,
    /// Whether `__post_init__` is called.
    pub(super) has_post: bool,
    /// Whether other keys are refused.
    pub(super) is_closed: bool,
    /// Whether the fields are elements of an array.
    pub(super) is_array: bool,
    /// Whether no code of Python runs while an instance is made, or goes.
    is_quiet: bool,
    /// Whether it is a `Struct` of msgspec.
    pub(super) is_struct: bool,
    pub(super) name: String,
}

pub(super) struct Field {
    /// `None`: the text cannot set it.
    pub(super) key: Option<String>,
    /// What most texts have from the key's first character to its colon; `None` if the key needs escapes.
    pub(super) begin: Option<Box<[u8]>>,
    /// `None`: it is checked and not kept.
    pub(super) attribute: Option<Py<PyString>>,
    /// The number of kept fields before it, which is the index of its slot.
    pub(super) slot: usize,
    pub(super) step: usize,
    pub(super) absent: Absent,
}

/// What a field has if the text has no value for it.
pub(super) enum Absent {
    Required,
    Value(Py<PyAny>),
    /// What this returns.
    Factory(Py<PyAny>),
    /// Nothing.
    Omitted,
}

impl Absent {
    /// What the field has: a value, or nothing. `None` if the text must have the field.
    pub(super) fn made<'py>(&self, py: Python<'py>) -> Option<PyResult<Option<Bound<'py, PyAny>>>> {
        match self {
            Self::Required => None,
            Self::Value(default) => Some(Ok(Some(default.bind(py).clone()))),
            Self::Factory(factory) => Some(factory.bind(py).call0().map(Some)),
            Self::Omitted => Some(Ok(None)),
        }
    }
}

/// One of several types.
pub(super) struct Union {
    /// The steps that take a kind of value, the narrowest first; by the numbers of `JsonKind`.
    pub(super) by_kind: [Box<[usize]>; 7],
    /// Whether it makes no difference if a number is an integer: a step that wants one refuses the others.
    pub(super) takes_numbers_alike: bool,
    /// The key whose value chooses among several objects.
    pub(super) tag: Option<Tag>,
    pub(super) name: String,
    /// Chooses among several arrays by their first element. It has no key.
    pub(super) array_tag: Option<Tag>,
}

pub(super) struct Tag {
    pub(super) key: String,
    /// As in a [`Field`].
    pub(super) begin: Option<Box<[u8]>>,
    pub(super) strings: ByText<usize>,
    pub(super) ints: HashMap<i64, usize>,
    pub(super) shown: String,
}

/// From how many fields on they are found by a table.
const TABLE_MIN: usize = 9;

/// How many plans are kept. When there are more, all are rebuilt.
const PLANS_MAX: usize = 512;

/// The plan of a type.
pub(super) fn plan(wanted: &Bound<'_, PyAny>) -> PyResult<Arc<Plan>> {
    static PLANS: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let py = wanted.py();
    let plans = PLANS.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    // A type without a hash is known by its address, as long as it is kept with its plan.
    let key = if wanted.hash().is_ok() { wanted.clone() } else { address(wanted)?.into_any() };
    if let Some(found) = plans.get_item(&key)?
        && let Ok(kept) = found.cast_into::<PlanObject>()
        && kept.get().is_of(wanted, &key)
    {
        return Ok(Arc::clone(&kept.get().plan));
    }
    let plan = compiled(wanted, Functions::default(), true)?;
    if plans.len() >= PLANS_MAX {
        plans.clear();
    }
    plans.set_item(key, PlanObject { plan: Arc::clone(&plan), wanted: wanted.clone().unbind() })?;
    Ok(plan)
}

/// What the caller makes of values.
#[derive(Clone, Copy, Default)]
pub(crate) struct Functions<'a, 'py> {
    /// Is asked, with a type and a value of JSON, for types that jird does not know.
    pub(crate) hook: Option<&'a Bound<'py, PyAny>>,
    /// Is asked, with a number's text, for numbers with a point or an exponent that no type describes.
    pub(crate) float_hook: Option<&'a Bound<'py, PyAny>>,
}

/// The plan of a type that is not kept. Not `strict`: strings and numbers that stand for other scalars are taken for them.
pub(super) fn compiled(
    wanted: &Bound<'_, PyAny>,
    Functions { hook, float_hook }: Functions<'_, '_>,
    strict: bool,
) -> PyResult<Arc<Plan>> {
    static COMPILE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = wanted.py();
    let compile = COMPILE.get_or_try_init(py, || PyResult::Ok(py.import("jird._types")?.getattr("plan")?.unbind()))?;
    let steps =
        compile.bind(py).call1((wanted, hook, strict, float_hook))?.cast_into::<PyList>().map_err(PyErr::from)?;
    let steps = steps.iter().map(|step| Step::of(&step)).collect::<PyResult<Box<[_]>>>()?;
    let is_quiet = steps.iter().all(|step| step.is_quiet(&steps));
    let has_any = steps.iter().any(|step| matches!(step, Step::Any));
    Ok(Arc::new(Plan { steps, is_quiet, has_any }))
}

/// What a type without a hash is kept by.
fn address<'py>(wanted: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(wanted.py(), [wanted.as_ptr().addr()])
}

/// A plan in a dict of Python, whose keys are types as they compare themselves, or addresses of types.
#[pyclass(frozen, module = "jird._jird", name = "_Plan")]
struct PlanObject {
    plan: Arc<Plan>,
    /// The type, which lives as long as the plan.
    wanted: Py<PyAny>,
}

impl PlanObject {
    /// Whether it is the plan of a type that is kept under this key.
    fn is_of(&self, wanted: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>) -> bool {
        key.is(wanted) || self.wanted.bind(wanted.py()).is(wanted)
    }
}

/// An item of a step.
fn item<'py>(step: &Bound<'py, PyTuple>, index: usize) -> PyResult<Bound<'py, PyAny>> {
    step.get_item(index)
}

impl Step {
    fn of(step: &Bound<'_, PyAny>) -> PyResult<Self> {
        let step = step.cast::<PyTuple>().map_err(PyErr::from)?;
        let index = |at| item(step, at)?.extract::<usize>();
        let kind: String = item(step, 0)?.extract()?;
        Ok(match kind.as_str() {
            "any" => Self::Any,
            "hooked" => Self::Hooked(Box::new(Hooks { float: Some(item(step, 1)?.unbind()), ..Hooks::default() })),
            "none" => Self::None,
            "bool" => Self::Bool,
            "int" => Self::Int,
            "float" => Self::Float,
            "str" => Self::Str,
            "decimal" => Self::Decimal(item(step, 1)?.unbind()),
            "datetime" => Self::DateTime,
            "date" => Self::Date,
            "time" => Self::Time,
            "timedelta" => Self::TimeDelta,
            "uuid" => Self::Uuid(UuidOf::new(&item(step, 1)?)),
            "choice" => Self::Choice(Box::new(Choice::of(step)?)),
            "list" => Self::List(index(1)?),
            "set" => Self::Set(index(1)?),
            "frozenset" => Self::FrozenSet(index(1)?),
            "deque" => Self::Deque(index(1)?, step.py().import("collections")?.getattr("deque")?.unbind()),
            "tuple" => Self::Tuple(index(1)?),
            "tuples" => Self::Tuples(item(step, 1)?.extract::<Vec<usize>>()?.into()),
            "dict" => Self::Dict(index(1)?, index(2)?),
            "object" => Self::Object(Box::new(Object::of(step)?)),
            "model" => Self::Model(item(step, 3)?.extract()?, item(step, 2)?.unbind()),
            "union" => Self::Union(Box::new(Union::of(step)?)),
            "converted" => Self::Converted(index(1)?, item(step, 2)?.unbind(), item(step, 3)?.extract()?),
            "limited" => {
                let (limits, is_lenient) = (Limit::all(&item(step, 2)?)?, item(step, 3)?.extract()?);
                Self::Limited { of: index(1)?, limits, is_lenient }
            }
            other => return Err(PyTypeError::new_err(format!("no step is called {other}"))),
        })
    }
}

impl Limit {
    /// `[(name, value), …]`
    fn all(limits: &Bound<'_, PyAny>) -> PyResult<Box<[Self]>> {
        let limits: Vec<(String, Bound<'_, PyAny>)> = limits.extract()?;
        let limits = limits.into_iter().map(|(name, value)| {
            let kind = match name.as_str() {
                "gt" => LimitKind::Above,
                "ge" => LimitKind::AtLeast,
                "lt" => LimitKind::Below,
                "le" => LimitKind::AtMost,
                "multiple_of" => LimitKind::MultipleOf,
                "min_length" => LimitKind::MinLength,
                "max_length" => LimitKind::MaxLength,
                "pattern" => LimitKind::Pattern,
                "predicate" => LimitKind::Predicate,
                "zone" => LimitKind::Zone,
                other => return Err(PyTypeError::new_err(format!("no limit is called {other}"))),
            };
            let shown = match kind {
                LimitKind::Pattern => value.getattr("__self__")?.getattr("pattern")?.repr()?.to_string(),
                LimitKind::Predicate => {
                    value.getattr_opt("__name__")?.map_or_else(|| value.repr(), |name| name.str())?.to_string()
                }
                _ => value.str()?.to_string(),
            };
            Ok(Self { kind, value: value.unbind(), shown })
        });
        limits.collect()
    }
}

impl Step {
    /// Whether no code of Python runs for the step itself.
    fn is_quiet(&self, steps: &[Self]) -> bool {
        // Their hashes are computed in C.
        let is_plain = |step: usize| matches!(steps[step], Self::Any | Self::Str | Self::Int);
        // A key that is an integer of many digits may be read by Python's own code.
        let is_key = |step: usize| matches!(steps[step], Self::Any | Self::Str);
        match self {
            // That of C runs no code of Python.
            Self::Decimal(class) => is_of_c(class),
            Self::Uuid(of) => of.is_quiet(),
            Self::Model(..) | Self::Converted(..) | Self::Hooked(_) | Self::Limited { .. } => false,
            Self::Choice(choice) => choice.fallback.is_none() && choice.others.is_empty(),
            Self::Set(of) | Self::FrozenSet(of) => is_plain(*of),
            Self::Dict(of, _) => is_key(*of),
            Self::Object(object) => object.is_quiet,
            _ => true,
        }
    }
}

/// Whether a class is not made by a `class` of Python.
fn is_of_c(class: &Py<PyAny>) -> bool {
    Python::attach(|py| {
        class
            .bind(py)
            .getattr("__dict__")
            .is_ok_and(|own| own.get_item("__new__").is_ok_and(|new| new.is_instance_of::<pyo3::types::PyCFunction>()))
    })
}

/// At most ten values for a message.
fn shown<'py>(values: impl ExactSizeIterator<Item = Bound<'py, PyAny>>) -> PyResult<String> {
    const MOST: usize = 10;
    let rest = values.len().saturating_sub(MOST);
    let mut shown = values.take(MOST).map(|value| Ok(value.repr()?.to_string())).collect::<PyResult<Vec<_>>>()?;
    if rest > 0 {
        shown.push(format!("{rest} others"));
    }
    Ok(shown.join(", "))
}

impl Choice {
    fn of(step: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let pairs: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)> = item(step, 1)?.extract()?;
        let mut choice = Self { shown: shown(pairs.iter().map(|(value, _)| value.clone()))?, ..Self::default() };
        for (value, object) in pairs {
            let object = object.unbind();
            if value.is_none() {
                choice.null = Some(object);
            } else if let Ok(truth) = value.cast::<PyBool>() {
                choice.bools[usize::from(truth.is_true())] = Some(object);
            } else if let Ok(text) = value.cast_exact::<PyString>() {
                choice.strings.insert(text.to_str()?, object);
            } else if value.is_instance_of::<PyInt>()
                && let Ok(number) = value.extract::<i64>()
            {
                choice.ints.insert(number, object);
            } else if value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>() {
                choice.others.push((value.unbind(), object));
            } else {
                choice.strings.insert(&value.extract::<String>()?, object);
            }
        }
        choice.fallback = Some(item(step, 2)?).filter(|fallback| !fallback.is_none()).map(Bound::unbind);
        Ok(choice)
    }
}

impl Object {
    /// `("object", how, class, fields, has_post, is_closed, is_array, name, is_quiet)`
    fn of(step: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let py = step.py();
        let class = item(step, 2)?.cast_into::<PyType>().map_err(PyErr::from)?;
        let fields = item(step, 3)?.cast_into::<PyList>().map_err(PyErr::from)?;
        let mut fields = fields.iter().map(|field| Field::of(&field)).collect::<PyResult<Box<[_]>>>()?;
        let mut slots = 0;
        for field in &mut fields {
            field.slot = slots;
            slots += usize::from(field.attribute.is_some());
        }
        let how: String = item(step, 1)?.extract()?;
        let how = match how.as_str() {
            "dict" => Construction::Dict,
            "tuple" => Construction::Tuple,
            "positions" => Construction::Positions,
            "call" => Construction::Call,
            "attributes" => Construction::Attributes,
            "set" => Construction::Set,
            "slots" => {
                let names = fields.iter().filter_map(|field| Some(field.attribute.as_ref()?.bind(py).clone()));
                Slots::of(&class, &names.collect::<Vec<_>>()).map_or(Construction::Attributes, Construction::Slots)
            }
            other => return Err(PyTypeError::new_err(format!("no instance is made by {other}"))),
        };
        let mut by_key = HashMap::new();
        if fields.len() >= TABLE_MIN {
            by_key.extend(
                fields
                    .iter()
                    .enumerate()
                    .filter_map(|(index, field)| Some((field.key.as_deref()?.as_bytes().into(), index))),
            );
        }
        Ok(Self {
            how,
            is_struct: class.hasattr(intern!(py, "__struct_config__"))?,
            class: class.unbind(),
            fields,
            by_key,
            has_post: item(step, 4)?.extract()?,
            is_closed: item(step, 5)?.extract()?,
            is_array: item(step, 6)?.extract()?,
            name: item(step, 7)?.extract()?,
            is_quiet: item(step, 8)?.extract()?,
        })
    }

    /// The index of the field with this key; most often it is `likely`.
    #[inline(always)]
    pub(super) fn find(&self, likely: usize, key: &[u8]) -> Option<usize> {
        let is = |field: &Field| field.key.as_deref().is_some_and(|own| is_same(own.as_bytes(), key));
        if self.fields.get(likely).is_some_and(is) {
            return Some(likely);
        }
        if self.by_key.is_empty() {
            return self.fields.iter().position(is);
        }
        self.by_key.get(key).copied()
    }
}

impl Field {
    /// `(key, attribute, step, absent, default)`
    fn of(field: &Bound<'_, PyAny>) -> PyResult<Self> {
        let field = field.cast::<PyTuple>().map_err(PyErr::from)?;
        let attribute = item(field, 1)?;
        let default = item(field, 4)?.unbind();
        let key: Option<String> = item(field, 0)?.extract()?;
        Ok(Self {
            begin: key.as_deref().and_then(begin),
            key,
            attribute: if attribute.is_none() {
                None
            } else {
                Some(interned(attribute.cast::<PyString>().map_err(PyErr::from)?)?)
            },
            slot: 0,
            step: item(field, 2)?.extract()?,
            absent: match item(field, 3)?.extract::<u8>()? {
                0 => Absent::Required,
                1 => Absent::Value(default),
                2 => Absent::Factory(default),
                _ => Absent::Omitted,
            },
        })
    }
}

/// What most texts have from a key's first character to its colon; `None` if the key needs escapes.
fn begin(key: &str) -> Option<Box<[u8]>> {
    let is_plain = key.bytes().all(|byte| byte >= b' ' && !matches!(byte, b'"' | b'\\'));
    is_plain.then(|| format!("{key}\":").into_bytes().into())
}

/// The name as Python's code has it, so that it is found without comparing.
fn interned(name: &Bound<'_, PyString>) -> PyResult<Py<PyString>> {
    Ok(PyString::intern(name.py(), name.to_str()?).unbind())
}

impl Union {
    /// `("union", by_kind, members, tag, name, array_tag)`
    fn of(step: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let by_kind: Vec<Vec<usize>> = item(step, 1)?.extract()?;
        let by_kind =
            <[Vec<usize>; 7]>::try_from(by_kind).map_err(|_| PyTypeError::new_err("there are seven kinds"))?;
        let tag = |at| {
            let tag = item(step, at)?;
            if tag.is_none() { Ok(None) } else { Tag::of(tag.cast::<PyTuple>().map_err(PyErr::from)?).map(Some) }
        };
        let by_kind: [Box<[usize]>; 7] = by_kind.map(Into::into);
        let takes_numbers_alike = by_kind[3].is_empty() || by_kind[2] == by_kind[3];
        Ok(Self { takes_numbers_alike, by_kind, tag: tag(3)?, name: item(step, 4)?.extract()?, array_tag: tag(5)? })
    }
}

impl Tag {
    /// `(key, [(value, step), …])`
    fn of(tag: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let key: String = item(tag, 0)?.extract()?;
        let pairs: Vec<(Bound<'_, PyAny>, usize)> = item(tag, 1)?.extract()?;
        let shown = shown(pairs.iter().map(|(value, _)| value.clone()))?;
        let (mut strings, mut ints) = (ByText::default(), HashMap::new());
        for (value, step) in pairs {
            match value.cast::<PyString>() {
                Ok(text) => strings.insert(text.to_str()?, step),
                Err(_) => drop(ints.insert(value.extract()?, step)),
            }
        }
        Ok(Self { begin: begin(&key), key, strings, ints, shown })
    }
}
