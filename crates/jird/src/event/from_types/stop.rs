//! Why serializing ended early.

use crate::error::Error;
use core::fmt;
use serde_core::ser;

/// Why serializing ended: the value reported an error, or the sink stopped.
pub(super) enum Stop<E> {
    Value(Error),
    Sink(E),
}

impl<E> From<Error> for Stop<E> {
    fn from(error: Error) -> Self {
        Self::Value(error)
    }
}

impl<E> fmt::Display for Stop<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(error) => error.fmt(f),
            Self::Sink(_) => f.write_str("the sink stopped"),
        }
    }
}

impl<E> fmt::Debug for Stop<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<E> std::error::Error for Stop<E> {}

impl<E> ser::Error for Stop<E> {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Value(serde_core::ser::Error::custom(message))
    }
}
