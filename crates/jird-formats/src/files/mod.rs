//! Files of records on disk: compressed or not, with a byte order mark or without; and what happens to their bad
//! records.

mod bad;
mod braces;
mod compression;
mod format;
mod open;
mod quarantined;
mod spool;
mod spooling;
mod system;
mod text;
mod url;

pub use bad::{BadRecord, BadRecords, OnError, record_limit_hint};
pub use braces::alternatives;
pub use compression::{Compression, Compressor};
pub use format::{FileFormat, MAGIC_BYTES};
pub use open::{Local, open};
pub use quarantined::Quarantined;
pub use spool::{Spool, SpoolOptions};
pub use spooling::Spooling;
pub use system::{FileId, Handle, is_device, stdin_file, widened};
pub use text::{RECORD_SEPARATOR, Separated, Text};
pub use url::{is_url, plain_name, url_scheme};

/// Any reader, usable on any thread.
pub type Reader = Box<dyn std::io::Read + Send>;
