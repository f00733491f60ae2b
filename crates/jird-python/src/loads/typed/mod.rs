//! Texts → values of types that the caller names: classes, enums, dates and so on.
//!
//! ```text
//! plan     what must be done for a type; made once by `jird._types`, and kept
//! direct   one pass over a text by a plan for which no code of Python runs; direct_scalars has its scalars
//! decode   the walk over a tape by a plan: all other texts and plans, and all mistakes
//! objects  values with named fields
//! scalars  strings and numbers that stand for something else
//! digits   digits, eight at a time
//! times    dates, times and durations
//! uuids    UUIDs
//! by_text  what a text stands for, one of several
//! fields   which fields a text has
//! fault    why a value is not as the type wants it
//! ```

mod by_text;
mod decode;
mod decoder;
mod digits;
mod direct;
mod direct_scalars;
mod fault;
mod fields;
mod objects;
mod plan;
mod scalars;
mod times;
mod uuids;

use super::small::SmallResult;
use super::{Builder, Making};
use jird::Value;
pub(crate) use plan::Functions;
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

    /// The same, with functions of the caller; and not `strict`, with strings and numbers taken for other scalars that they
    /// stand for.
    pub(crate) fn with(wanted: &Bound<'_, PyAny>, functions: Functions<'_, '_>, strict: bool) -> PyResult<Self> {
        plan::compiled(wanted, functions, strict).map(Self)
    }

    /// The value of a text, if it is of the common kind that needs no tape; `None` otherwise, or with Python's exception set.
    #[inline]
    pub(super) fn direct<'py>(&self, py: Python<'py>, text: &[u8], making: &mut Making) -> SmallResult<'py> {
        if self.0.is_direct(text.len()) { direct::read(py, &self.0, text, making) } else { None }
    }

    /// The value. While it is made, code of Python may run: the builder's text must be fixed.
    pub(crate) fn decode<'py>(&self, builder: Builder<'_, 'py>, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
        decode::decode(&self.0, builder, value)
    }
}
