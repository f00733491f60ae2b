//! serde's errors in this crate's words.

use crate::error::{Category, Error};
use crate::fault::ErrorKind;
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
        Self::message(Category::Data, &format_args!("invalid type: {}, expected {wanted}", FoundValue(found)))
    }

    #[cold]
    fn invalid_value(found: Unexpected<'_>, wanted: &dyn de::Expected) -> Self {
        Self::message(Category::Data, &format_args!("invalid value: {}, expected {wanted}", FoundValue(found)))
    }
}

impl ser::Error for Error {
    #[cold]
    fn custom<T: Display>(message: T) -> Self {
        let error = Self::message(Category::Data, &message);
        too_deep_at(&error.to_string()).map_or(error, |offset| Self::new(ErrorKind::Depth, offset))
    }
}

/// The offset in the message of a value of this crate that is nested too deeply. Such a value can report the error to a
/// serializer only as a message, in the form in which [`Error`] displays it.
fn too_deep_at(message: &str) -> Option<u64> {
    let place = message.strip_prefix(ErrorKind::Depth.to_string().as_str())?;
    place.strip_prefix(" (byte ")?.strip_suffix(')')?.parse().ok()
}

/// The value that was found, in JSON's terms where serde uses Rust's.
struct FoundValue<'a>(Unexpected<'a>);

impl Display for FoundValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Unexpected::Unit => f.write_str("null"),
            Unexpected::Float(value) => write!(f, "floating point `{}`", zmij::Buffer::new().format(value)),
            other => Display::fmt(&other, f),
        }
    }
}
