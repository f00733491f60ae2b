//! Parquet, the other format of files that hold columns.
//!
//! ```text
//! row_groups  row groups → batches, wanted columns only
//! statistics  a predicate → the row groups that may have matches
//! batches     batches → row groups
//! encoder     batches → row groups, in a separate thread
//! ```

mod batches;
mod encoder;
mod row_groups;
mod statistics;

use crate::arrow::{malformed, unsupported};
use crate::error::Error;
pub use batches::{ParquetBatches, ParquetCompression, ParquetOptions};
use parquet::errors::ParquetError;

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
