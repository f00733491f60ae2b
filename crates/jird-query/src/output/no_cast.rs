//! In place of `cast`, in a build whose only computed column is a count: Arrow's casts take more time to compile than the
//! engine.

use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType};
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;

/// Fails: no column needs it.
pub(super) fn cast(array: &ArrayRef, _: &DataType) -> Result<ArrayRef, ArrowError> {
    Err(missing(array))
}

/// How values would be formatted.
pub(super) struct FormatOptions;

impl FormatOptions {
    pub(super) const fn new() -> Self {
        Self
    }
}

/// The formatter of a column. There is none.
pub(super) struct ArrayFormatter<'a> {
    never: Infallible,
    array: PhantomData<&'a dyn Array>,
}

impl<'a> ArrayFormatter<'a> {
    pub(super) fn try_new(array: &'a dyn Array, _: &FormatOptions) -> Result<Self, ArrowError> {
        Err(missing(array))
    }

    pub(super) fn value(&self, _: usize) -> Text {
        Text(self.never)
    }
}

/// The text of a value.
pub(super) struct Text(Infallible);

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn missing(array: &dyn Array) -> ArrowError {
    ArrowError::NotYetImplemented(format!("this build prints no {}", array.data_type()))
}
