//! The scan below DataFusion: files in, Arrow batches out.
//!
//! ```text
//! opener, read   files in, batches out
//! shared         what all scans of a table share
//! bad            bad records
//! ```

pub(crate) mod bad;
mod format;
mod handle;
mod opener;
mod pushdown;
mod read;
mod shared;
mod source;
mod table;
mod watch;

#[cfg(feature = "cluster")]
pub(crate) use handle::FileHandle;
pub(crate) use read::{Chunks, Reader};
#[cfg(feature = "cluster")]
pub(crate) use shared::note;
pub(crate) use shared::{ColumnSpec, Shared, Tally, Told};
#[cfg(feature = "cluster")]
pub(crate) use source::NdjsonSource;
pub(crate) use source::note_scans;
pub(crate) use table::Table;
#[cfg(feature = "cluster")]
pub(crate) use watch::Extent;
pub(crate) use watch::Watch;

use crate::base::interrupt::Interrupt;
use crate::base::threads::Held;
use crate::scan::bad::BadSink;
use jird::lines;
use jird_formats::Crew;

/// How files are scanned.
#[derive(Clone, Debug)]
pub(crate) struct ScanOptions {
    pub(crate) lines: lines::Options,
    pub(crate) threads: usize,
    pub(crate) chunk_bytes: u64,
    /// A batch is handed out after this many bytes of records, even if it has few rows.
    pub(crate) batch_bytes: usize,
    /// Where bad records are noted, if they do not stop the query.
    pub(crate) bad: Option<BadSink>,
    /// What ends the query early.
    pub(crate) interrupt: Interrupt,
    /// The threads that read ahead and scan.
    pub(crate) crew: Crew,
    /// What threads keep until they have ended. Nothing reads it.
    #[expect(dead_code, reason = "that it is there is what it is for")]
    pub(crate) kept: Option<Held>,
}
