//! Texts → values of types that the caller names: classes, enums, dates and so on.
//!
//! ```text
//! plan     what must be done for a type; made once by `jird._types`, and kept
//! decode   the walk over a text by a plan
//! objects  values with named fields
//! scalars  strings and numbers that stand for something else
//! times    dates, times and durations
//! fault    why a value is not as the type wants it
//! ```

mod decode;
mod decoder;
mod fault;
mod objects;
mod plan;
mod scalars;
mod times;

use super::Builder;
use jird::Value;
use plan::Plan;
use pyo3::prelude::*;
use std::sync::Arc;

/// What a type wants, ready to decode texts.
#[derive(Clone)]
pub(crate) struct Typed(Arc<Plan>);

impl Typed {
    /// The plan of a type. A TypeError says what cannot be made from JSON.
    pub(crate) fn of(wanted: &Bound<'_, PyAny>) -> PyResult<Self> {
        plan::plan(wanted).map(Self)
    }

    /// The same, with a function for types that jird does not know, which gets the type and a value of JSON; and not
    /// `strict`, with strings and numbers taken for other scalars that they stand for.
    pub(crate) fn with(wanted: &Bound<'_, PyAny>, hook: Option<&Bound<'_, PyAny>>, strict: bool) -> PyResult<Self> {
        plan::compiled(wanted, hook, strict).map(Self)
    }

    /// The value. While it is made, code of Python may run: the builder's text must be fixed.
    pub(crate) fn decode<'py>(&self, builder: Builder<'_, 'py>, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
        decode::decode(&self.0, builder, value)
    }
}
