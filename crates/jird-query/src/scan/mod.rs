//! The scan: files in, Arrow batches out.
//!
//! ```text
//! read, batches   records of a file, and batches of them
//! filter          a filter by what decides it: records, where they are from, folders
//! codes           texts as numbers
//! cells, origin   values that do not come from lines: those of a store's columns, and where a record is from
//! shared, watch   what all scans of a table share, and the types that they meet
//! bad             bad records
//! table           a scan as a table of DataFusion's
//! ```

pub(crate) mod bad;
mod batches;
mod cells;
mod codes;
mod filter;
mod origin;
mod read;
mod shared;
#[cfg(feature = "sql")]
mod table;
mod watch;

pub(crate) use batches::{Outlet, Part, PartResult, Plan};
#[cfg(feature = "sql")]
pub(crate) use codes::Codes;
pub(crate) use read::{Chunks, Reader};
pub(crate) use shared::{ColumnSpec, TableScan, Tally, VirtualColumn, note};
#[cfg(feature = "cluster")]
pub(crate) use table::FileHandle;
#[cfg(feature = "sql")]
pub(crate) use table::{NdjsonSource, Table, has_lambda, note_scans};
#[cfg(feature = "cluster")]
pub(crate) use watch::Extent;
pub(crate) use watch::Watch;

use crate::base::interrupt::Interrupt;
use crate::base::threads::KeepAlive;
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
    pub(crate) kept: Option<KeepAlive>,
}
