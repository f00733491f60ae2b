//! The state of the walk over a text by a plan.

use super::fault::Fault;
use super::plan::{Plan, Step};
use crate::loads::Builder;
use crate::raw::collect::Pause;
use pyo3::prelude::*;

/// A value, or why there is none.
pub(super) type DecodeResult<'py> = Result<Bound<'py, PyAny>, Fault>;

/// The state of the walk. Its recursion is bounded: a text of the default policy has at most 1024 levels, and the stack
/// is looked at.
///
/// Code of Python may run at any step: everything that is made so far has references of its own, and a list that is not
/// full is hidden.
pub(super) struct Decoder<'m, 'py> {
    pub(super) py: Python<'py>,
    pub(super) plan: &'m Plan,
    pub(super) builder: Builder<'m, 'py>,
    /// Values of the objects that are open, field by field; the innermost last.
    pub(super) gathered: Vec<Option<Bound<'py, PyAny>>>,
    /// If no class of the plan has code of its own, the collector would look at the new values in vain.
    pub(super) pause: Option<Pause<'py>>,
}

/// What a step takes, in words.
pub(super) fn wanted(step: &Step) -> String {
    let words = match step {
        Step::Any | Step::Hooked(_) => "a value",
        Step::None => "null",
        Step::Bool => "true or false",
        Step::Int => "an integer",
        Step::Float => "a number",
        Step::Str => "a string",
        Step::Decimal(_) => "a number, or a string with one",
        Step::DateTime => "a date and time, as 2024-05-01T12:30:00Z",
        Step::Date => "a date, as 2024-05-01",
        Step::Time => "a time, as 12:30:00",
        Step::TimeDelta => "a duration, as P1DT12H30M",
        Step::Uuid(_) => "a UUID of 32 hexadecimal digits, with or without its four hyphens",
        Step::Choice(choice) => return format!("one of {}", choice.shown),
        Step::List(_) | Step::Set(_) | Step::FrozenSet(_) | Step::Deque(..) | Step::Tuple(_) | Step::Tuples(_) => {
            "an array"
        }
        Step::Dict(..) => "an object",
        Step::Object(object) if object.is_array => return format!("an array ({})", object.name),
        Step::Object(object) => return format!("an object ({})", object.name),
        Step::Model(name, _) => return format!("an object ({name})"),
        Step::Union(union) => return union.name.clone(),
        Step::Converted(_, _, name) => return name.clone(),
        Step::Limited { .. } => "a value within limits",
    };
    words.to_owned()
}
