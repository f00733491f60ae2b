//! Parquet as a source and a sink.
//!
//! ```text
//! source      row groups → batches, wanted columns only
//! statistics  a predicate → the row groups that may have matches
//! batches     batches → row groups
//! sink        rows → batches → row groups, in a separate thread
//! ```

mod batches;
mod sink;
mod source;
mod statistics;

use crate::arrow::ArrowError;
pub use batches::{ParquetBatches, ParquetCompression, ParquetOptions};
use parquet::errors::ParquetError;
pub use sink::ParquetSink;
pub use source::ParquetSource;

impl From<ParquetError> for ArrowError {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(error) => match error.downcast::<std::io::Error>() {
                Ok(error) => Self::Io(*error),
                Err(error) => Self::Malformed(error.to_string()),
            },
            ParquetError::NYI(what) => Self::Unsupported(what),
            other => Self::Malformed(other.to_string()),
        }
    }
}
