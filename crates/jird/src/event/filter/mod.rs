//! What stands between a source and a sink: sinks that hand on to another.
//!
//! | filter | hands on |
//! |---|---|
//! | [`Project`] | some paths, and nothing else |
//! | [`Rename`] | everything, some keys by another name |
//! | [`Flatten`] | nested objects as members with dotted keys |
//! | [`Unflatten`] | members with dotted keys as nested objects |
//! | [`Limit`] | the first records, and stops the source behind them |
//! | [`Tee`] | everything to two sinks |
//! | [`Validate`] | everything, if the source keeps to the protocol |
//!
//! Each knows the protocol alone, so that it fits any pair, and filters may follow each other. A filter is made around the sink
//! (`Rename::new(Limit::new(sink, 10), …)` renames first, then limits), and gives it back by its `into_inner`.

mod flatten;
mod limit;
mod project;
mod rename;
mod tee;
mod tracker;
mod unflatten;
mod validate;

pub use flatten::{Arrays, Flatten};
pub use limit::Limit;
pub use project::Project;
pub use rename::Rename;
pub use tee::{Tee, TeeError};
pub use unflatten::Unflatten;
pub use validate::{Disorder, Validate};
