//! Measures how the cost of jird grows with its input. The cost of every public entry point must be linear, whatever
//! the text contains.
//!
//! A [`Case`] is one entry point on one shape of input. The program `growth` runs each case on inputs of n, 2n and 4n
//! bytes under callgrind, which counts instructions exactly: no clock is involved, and a busy machine changes nothing.
//! [`judge`] compares the growth of the cost from n to 2n with its growth from 2n to 4n.
//!
//! `tests/memory.rs` asserts the memory bounds of DESIGN.md, with an allocator that counts.
#![forbid(unsafe_code)]

pub mod callgrind;
mod case;
mod judge;
pub mod shapes;
mod ways;

pub use case::{Case, Prepared, measured};
pub use judge::{Bar, Measured, judge};
pub use ways::cases;
