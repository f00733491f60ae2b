//! Python's objects at the level of its C API, where a call for each value would cost as much as the value.
//!
//! What is here is safe to use from outside: functions take and return PyO3's references, or hold what they point to.
//! **On entry** a [`Python`](pyo3::Python) token or a reference proves that this thread is attached to the interpreter.
//! Each function that makes an object returns `None` after an error, with Python's exception set.
//!
//! ```text
//! entry    functions whose arguments PyO3 does not take apart
//! arrow    streams of Arrow batches that others make
//! make     strings, numbers, lists and dicts
//! keys     caches of strings
//! collect  a pause of the garbage collector
//! text     the bytes of what was passed as a text, which nothing can change
//! held     a parsed document and the object that its text is in
//! members  the members of a dict
//! types    what a class is, and whether it has changed
//! numpy    the values of numpy's scalars and arrays
//! objects  instances of classes, made without a call
//! short_text  dates, times and UUIDs as texts
//! output   a `bytes` object that grows
//! interpreter  which interpreter this is, and whether it was interrupted
//! stack    how much of a thread's stack is left
//! spare    what is kept from one call to the next
//! encode   the walk over dicts, lists and scalars that writes them
//! ```

#![allow(unsafe_code, reason = "Python's C API; each block says which of its rules holds, and why")]

pub(crate) mod arrow;
pub(crate) mod collect;
pub(crate) mod document_text;
pub(crate) mod encode;
pub(crate) mod entry;
pub(crate) mod interpreter;
pub(crate) mod keys;
pub(crate) mod make;
pub(crate) mod members;
pub(crate) mod numpy;
pub(crate) mod objects;
pub(crate) mod output;
pub(crate) mod short_text;
pub(crate) mod spare;
pub(crate) mod stack;
pub(crate) mod text;
pub(crate) mod types;
