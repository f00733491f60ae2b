//! Why a text that is almost JSON cannot be read.

use jird::ErrorKind;
use jird::event::Place;
use jird::lenient::LenientError;
use std::{fmt, io};

/// Why a [`LenientSource`](super::LenientSource) cannot send a record: reading failed, or the text is not what the options
/// allow. `Display` says what is wrong and where, in one line.
#[derive(Debug)]
pub struct LenientFault(Box<Fault>);

#[derive(Debug)]
enum Fault {
    Read(io::Error),
    /// No option allows this.
    Refused(LenientError),
    /// A line or a document that begins there is longer than the limit, in bytes.
    Long(Place, usize),
    /// An error in the strict text of the document that begins there.
    Strict(jird::Error, Place),
}

impl LenientFault {
    pub(super) fn refused(error: LenientError) -> Self {
        Self(Box::new(Fault::Refused(error)))
    }

    pub(super) fn long(begin: Place, bytes_max: usize) -> Self {
        Self(Box::new(Fault::Long(begin, bytes_max)))
    }

    pub(super) fn strict(error: jird::Error, begin: Place) -> Self {
        Self(Box::new(Fault::Strict(error, begin)))
    }

    /// The rule of strict JSON that is broken; [`ErrorKind::Io`] if reading failed.
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            Fault::Read(_) => ErrorKind::Io,
            Fault::Refused(error) => error.kind(),
            Fault::Long(..) => ErrorKind::Size,
            Fault::Strict(error, _) => error.kind(),
        }
    }

    /// The error of reading, if this is one.
    pub fn as_io(&self) -> Option<&io::Error> {
        match &*self.0 {
            Fault::Read(error) => Some(error),
            _ => None,
        }
    }

    /// The line, from one, and the offset in bytes, in the text as it was given. Of a text that is too long, those where it
    /// begins.
    pub fn place(&self) -> Place {
        match &*self.0 {
            Fault::Read(_) => Place::default(),
            Fault::Refused(error) => Place { line: error.line(), offset: error.offset(), ..Place::default() },
            Fault::Long(begin, _) | Fault::Strict(_, begin) => *begin,
        }
    }

    /// The message for people: `NAME:LINE:COLUMN: rule (byte N)`, then the line and a mark below the place, if it is known.
    pub fn located(&self, name: &str) -> String {
        match &*self.0 {
            Fault::Refused(error) => format!(
                "{name}:{}:{}: {error:#} (byte {})\n  {}\n  {:caret$}^",
                error.line(),
                error.column(),
                error.offset(),
                error.snippet(),
                "",
                caret = error.caret(),
            ),
            Fault::Long(Place { line, offset, .. }, bytes_max) => {
                format!("{name}:{line}:1: {} of {bytes_max} bytes (byte {offset})", ErrorKind::Size)
            }
            Fault::Read(_) | Fault::Strict(..) => format!("{name}: {self}"),
        }
    }
}

impl From<io::Error> for LenientFault {
    fn from(error: io::Error) -> Self {
        Self(Box::new(Fault::Read(error)))
    }
}

impl fmt::Display for LenientFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Fault::Read(error) => error.fmt(f),
            Fault::Refused(error) => error.fmt(f),
            Fault::Long(Place { line, offset, .. }, _) => {
                write!(f, "{} at line {line} column 1 (byte {offset})", ErrorKind::Size)
            }
            Fault::Strict(error, begin) => write!(f, "in the text from line {} on as strict JSON: {error}", begin.line),
        }
    }
}

impl std::error::Error for LenientFault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.as_io().map(|error| error as _)
    }
}
