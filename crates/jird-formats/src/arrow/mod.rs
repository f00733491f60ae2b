//! Files that hold columns as sources and sinks, and Arrow IPC, which is one of the two formats.
//!
//! ```text
//! check         what arrow-ipc takes on trust
//! column        values of arrays → events
//! source        batches → records
//! stream        IPC files and streams → batches
//! plan          which columns a file to be written has
//! build         rows → batches
//! nested        objects and arrays → structs and lists
//! dictionaries  one dictionary for each column of a file
//! sink          rows → batches → files
//! batches       batches → IPC files and streams
//! ```

mod batches;
mod build;
pub(crate) mod check;
mod column;
mod dictionaries;
mod error;
mod nested;
mod plan;
mod sink;
mod source;
mod stream;

pub use batches::{ArrowBatches, ArrowCompression, ArrowLayout, ArrowOptions, BatchWriter};
pub use column::NotFinite;
#[cfg(feature = "parquet")]
pub(crate) use error::{malformed, unfinished, unsupported};
pub use plan::ColumnPlan;
pub use sink::ColumnSink;
#[cfg(feature = "parquet")]
pub(crate) use sink::Encode;
#[cfg(feature = "parquet")]
pub(crate) use source::Batches;
pub use source::ColumnSource;
