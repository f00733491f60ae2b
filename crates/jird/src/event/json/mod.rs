//! JSON text as a source and as a sink.

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
