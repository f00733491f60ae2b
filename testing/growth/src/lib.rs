//! How the cost of jird grows with its input. The cost of every public way in must be linear, whatever stands in the text.
//!
//! A [`Case`] is one way in on one shape of input. The program `growth` runs each case on inputs of n, 2n and 4n bytes
//! under callgrind, which counts instructions exactly: no clock is involved, and a busy machine changes nothing.
//! [`judge`] compares how much the cost grows from n to 2n with how much it grows from 2n to 4n.
//!
//! The memory bounds of DESIGN.md are asserted by `tests/memory.rs`, with an allocator that counts.
#![forbid(unsafe_code)]

pub mod callgrind;
mod case;
mod judge;
pub mod shapes;
mod ways;

pub use case::{Case, Prepared, measured};
pub use judge::{Bar, Measured, judge};
pub use ways::cases;
