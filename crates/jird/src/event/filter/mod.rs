//! Filters between a source and a sink: sinks that forward events to another sink.
//!
//! | filter | forwards |
//! |---|---|
//! | [`Project`] | some paths, and nothing else |
//! | [`Rename`] | everything, with some keys renamed |
//! | [`Flatten`] | nested objects as members with dotted keys |
//! | [`Unflatten`] | members with dotted keys as nested objects |
//! | [`Limit`] | the first records; then it stops the source |
//! | [`Tee`] | everything, to two sinks |
//! | [`Validate`] | everything, as long as the source keeps to the protocol |
//!
//! A filter knows only the protocol. So it works between any source and any sink, and filters can be chained. A filter
//! is made around its sink (`Rename::new(Limit::new(sink, 10), …)` renames first, then limits), and `into_inner`
//! returns that sink.

mod flatten;
mod limit;
mod project;
mod rename;
mod tee;
mod unflatten;
mod validate;

pub use flatten::{Arrays, Flatten};
pub use limit::Limit;
pub use project::Project;
pub use rename::Rename;
pub use tee::{Tee, TeeError};
pub use unflatten::Unflatten;
pub use validate::{Disorder, Validate};
