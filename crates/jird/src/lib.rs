//! Reads, queries and writes JSON at the speed of the memory it lies in.
#![deny(unsafe_code)]

mod error;
mod kernel;
mod layout;
pub mod lines;
mod locate;
#[cfg(any(test, jird_checked))]
mod model;
mod number;
mod path;
mod policy;
mod record;
mod scan;
mod tape;
mod text;
mod walk;

pub use error::{Error, ErrorKind, Located};
pub use kernel::{Kernel, UnknownKernel};
pub use layout::{Layout, format, minify};
pub use number::Number;
pub use path::{Path, Step};
pub use policy::{DEPTH_MAX, Duplicates, Numbers, Policy};
pub use record::{Comparison, Field, Like, Literal, Matcher, Mismatches, Predicate, Projection, Record, RecordBuffer};
pub use tape::{Document, Elements, Entries, Kind, Parser, Value, parse, validate};
#[doc(hidden)]
pub fn scan_only(kernel: Kernel, text: &[u8]) -> usize {
    thread_local!(static T: std::cell::RefCell<scan::Tokens> = Default::default());
    T.with(|t| walk::count_tokens(kernel, text, &mut t.borrow_mut()))
}
