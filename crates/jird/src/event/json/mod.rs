//! JSON text as a source and as a sink.

mod feed;
mod machine;
mod read;
mod steps;
mod write;

use super::Failure;
use crate::error::Error;
pub use feed::Feed;
#[cfg(feature = "serde")]
pub(crate) use read::Cutter;
pub use read::JsonSource;
pub use write::JsonSink;

/// Why a stream of JSON ended early.
type Failing<E> = Failure<Error, E>;
