//! JSON text as a source and as a sink.
//!
//! The reader is a state machine: `machine` runs it, and `steps` has one method for each state. Records within
//! documents are found by the same machine: `cutter` runs it from record to record, and `guide` is the sink of the text
//! around them, which follows the pattern with `event/tracker.rs`.

mod cutter;
mod feed;
mod guide;
mod machine;
mod read;
mod steps;
mod write;

use super::Failure;
use crate::error::Error;
#[cfg(feature = "serde")]
pub(crate) use cutter::Cutter;
pub use feed::Feed;
pub use read::JsonSource;
pub use write::JsonSink;

/// Why a stream of JSON ended early.
type Failing<E> = Failure<Error, E>;
