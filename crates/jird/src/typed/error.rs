//! serde's words for what is wrong.

use crate::error::{Category, Error};
use core::fmt::{self, Display};
use serde_core::de::Unexpected;
use serde_core::{de, ser};

impl de::Error for Error {
    #[cold]
    fn custom<T: Display>(message: T) -> Self {
        Self::message(Category::Data, &message)
    }

    #[cold]
    fn invalid_type(found: Unexpected<'_>, wanted: &dyn de::Expected) -> Self {
        Self::message(Category::Data, &format_args!("invalid type: {}, expected {wanted}", Found(found)))
    }

    #[cold]
    fn invalid_value(found: Unexpected<'_>, wanted: &dyn de::Expected) -> Self {
        Self::message(Category::Data, &format_args!("invalid value: {}, expected {wanted}", Found(found)))
    }
}

impl ser::Error for Error {
    #[cold]
    fn custom<T: Display>(message: T) -> Self {
        Self::message(Category::Data, &message)
    }
}

/// What was found, in JSON's words where serde's are Rust's.
struct Found<'a>(Unexpected<'a>);

impl Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Unexpected::Unit => f.write_str("null"),
            Unexpected::Float(value) => write!(f, "floating point `{}`", zmij::Buffer::new().format(value)),
            other => Display::fmt(&other, f),
        }
    }
}
