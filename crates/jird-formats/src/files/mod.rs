//! Files of records as they lie on disk: compressed or not, marked or not; and what becomes of their bad records.

mod bad;
mod compression;
mod format;
mod quarantined;
mod text;

pub use bad::{BadRecord, BadRecords, OnError};
pub use compression::Compression;
pub use format::{FileFormat, MAGIC_BYTES};
pub use quarantined::Quarantined;
pub use text::Text;

/// Whatever is read, on whatever thread.
pub type Reader = Box<dyn std::io::Read + Send>;
