//! Arrow IPC as a source and a sink, and what Parquet shares with it.
//!
//! ```text
//! check         what arrow-ipc takes on trust
//! column        values of arrays → events
//! cursor        batches → records
//! source        IPC files and streams → batches
//! plan          which columns a file to be written has
//! build         rows → batches
//! nested        objects and arrays → structs and lists
//! dictionaries  one dictionary for each column of a file
//! batches       batches → IPC files and streams
//! sink          rows → batches → IPC files and streams
//! ```

mod batches;
mod build;
pub(crate) mod check;
mod column;
mod cursor;
mod dictionaries;
mod error;
mod nested;
mod plan;
mod sink;
mod source;

pub use batches::{ArrowBatches, ArrowCompression, ArrowLayout, ArrowOptions};
#[cfg(feature = "parquet")]
pub(crate) use build::BatchBuilder;
pub use column::NotFinite;
#[cfg(feature = "parquet")]
pub(crate) use cursor::{Batches, Cursor};
#[cfg(feature = "parquet")]
pub(crate) use error::{malformed, unfinished, unplanned, unsupported};
pub use plan::ColumnPlan;
pub use sink::ArrowSink;
pub use source::ArrowSource;
