//! Reads, queries and writes JSON at the speed of the memory it lies in.
#![deny(unsafe_code)]

mod error;
mod fault;
mod kernel;
mod layout;
pub mod lines;
mod locate;
mod number;
mod path;
mod policy;
mod record;
mod scan;
mod tape;
mod text;
#[cfg(feature = "serde")]
mod typed;
mod walk;

pub use error::{Category, Error, Located};
pub use fault::ErrorKind;
pub use kernel::{Kernel, UnknownKernel};
pub use layout::{Layout, format, minify};
pub use number::{MachineNumber, Number};
pub use path::{Path, Step};
pub use policy::{DEPTH_MAX, Duplicates, Numbers, Policy};
pub use record::{Comparison, Field, Like, Literal, Matcher, Mismatches, Predicate, Projection, Record, RecordBuffer};
#[doc(hidden)]
pub use tape::Technique;
pub use tape::{Descendants, Document, Elements, Entries, Kind, Parser, Value, parse, validate};
#[doc(hidden)]
pub use walk::scan_only;
