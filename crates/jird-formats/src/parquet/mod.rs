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

use crate::arrow::{malformed, unsupported};
use crate::error::Error;
pub use batches::{ParquetBatches, ParquetCompression, ParquetOptions};
use parquet::errors::ParquetError;
pub use sink::ParquetSink;
pub use source::ParquetSource;

impl From<ParquetError> for Error {
    #[cold]
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(error) => match error.downcast::<std::io::Error>() {
                Ok(error) => (*error).into(),
                Err(error) => malformed(error),
            },
            ParquetError::NYI(what) => unsupported(what),
            other => malformed(other),
        }
    }
}
