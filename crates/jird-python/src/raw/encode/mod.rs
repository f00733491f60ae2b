//! The walk over dicts, lists and scalars that writes them as JSON.
//!
//! Every value is followed by a comma. The bracket that closes a container takes the place of the last one, and the
//! last of all is taken back in the end. So nothing has to know whether it is the first.
//!
//! **References.** The walk borrows containers and what they hold, without counting: to count is to write to each
//! object, which costs more than to read it if it is not in the cache. Nothing can remove an object from its container
//! as long as no code of Python runs, by whatever way: the collector, a signal handler, another thread. So:
//!
//! - [`Walk`] has no token of Python. It calls only those functions of Python's C API that `raw/calls.md` says run no code
//!   of Python's in any case.
//! - The token is in [`Open`], which gives it out only when it has taken a reference to every container that is open.
//! - [`Encoder`] is the walk with the token. All that can run code of Python's is written by functions that take an
//!   `Encoder`, so that they cannot be reached while something is borrowed.
//!
//! ```text
//! open     the containers that are open
//! scalar   strings, numbers and times as they lie in their objects
//! simple   classes whose objects the walk writes, once it is told of them
//! walk     values whose writing runs no code of Python
//! encoder  everything else
//! ```

mod encoder;
mod open;
mod scalar;
mod simple;
mod walk;

pub(crate) use encoder::Encoder;
pub(crate) use scalar::small_value as small_int;
pub(super) use scalar::text_of;
pub(crate) use simple::Simple;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The most containers that may be open at once.
pub(crate) const DEPTH_MAX: usize = 1024;

/// Writes a value that is neither `None` nor exactly a `str`, `int` of 64 bits, `bool`, `float`, `list`, `tuple` or
/// `dict`.
pub(crate) type Other = for<'py> fn(&mut Encoder<'_, 'py>, &Bound<'py, PyAny>) -> Result<(), Failure>;

/// Writes the members of a dict in another way than the walk: with keys that are not strings, or sorted.
pub(crate) type OtherDict = for<'py> fn(&mut Encoder<'_, 'py>, &Bound<'py, PyDict>) -> Result<(), Failure>;

/// How dates and times are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeForm {
    pub(crate) has_micros: bool,
    /// Whether those without a time zone are taken for UTC.
    pub(crate) is_utc: bool,
    /// Whether UTC is `Z`.
    pub(crate) has_z: bool,
}

/// The settings of the walk.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the caller")]
pub(crate) struct Settings<'py> {
    pub(crate) other: Other,
    pub(crate) other_dict: OtherDict,
    /// The bits of the options.
    pub(crate) options: u32,
    /// Whether each member and element has a line of its own.
    pub(crate) has_lines: bool,
    /// Whether integers must have at most 53 bits.
    pub(crate) is_strict: bool,
    /// Whether dicts are written by `other_dict`.
    pub(crate) has_other_dicts: bool,
    /// How dates and times are written.
    pub(crate) times: TimeForm,
    /// Whether they are written, and not left to `other`.
    pub(crate) has_times: bool,
    /// Whether objects of subclasses of builtin classes are written as those.
    pub(crate) has_subclasses: bool,
    /// Whether scalars of numpy are written.
    pub(crate) has_numpy: bool,
    /// What the caller wants to be asked for values that are not known.
    pub(crate) default: Option<Bound<'py, PyAny>>,
    /// The number of answers of `default` that the current value is inside of.
    pub(crate) answers: usize,
}

/// Why a value is not written.
pub(crate) enum Refusal {
    /// In words.
    Because(String),
    /// An exception was raised.
    Raised(PyErr),
}

/// Why a value is not written, in one word.
pub(crate) struct Failure(Box<Refusal>);

impl Failure {
    pub(crate) fn into_refusal(self) -> Refusal {
        *self.0
    }
}

impl From<PyErr> for Failure {
    #[cold]
    fn from(error: PyErr) -> Self {
        Self(Box::new(Refusal::Raised(error)))
    }
}

/// A failure in words.
#[cold]
pub(crate) fn because(words: impl Into<String>) -> Failure {
    Failure(Box::new(Refusal::Because(words.into())))
}
