//! An event store that keeps JSON documents as they are, and indexes that only leave out work.
#![forbid(unsafe_code)]

pub mod column;
pub mod index;
