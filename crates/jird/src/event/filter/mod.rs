//! Filters between a source and a sink: sinks that forward events to another sink.
//!
//! | filter | forwards |
//! |---|---|
//! | [`Project`] | some paths, and nothing else |
//! | [`Flatten`] | nested objects as members with dotted keys |
//! | [`Validate`] | everything, as long as the source keeps to the protocol |
//!
//! A filter knows only the protocol. So it works between any source and any sink, and filters can be chained. A filter
//! is made around its sink (`Project::new(Flatten::new(sink), …)` projects first, then flattens), and `into_inner`
//! returns that sink.

mod flatten;
mod project;
mod validate;

pub use flatten::Flatten;
pub use project::Project;
pub use validate::{Disorder, Validate};
