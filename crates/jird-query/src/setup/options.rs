//! The options of a query, besides its SQL.

use crate::base::defined::{Defined, Definitions};
use crate::input::Remotes;
use crate::output::Format;
use crate::setup::spill::Spill;
use crate::types::FieldTypes;
use jird::event::Pattern;
use jird::lenient::Leniency;
use jird::lines::Check;
use jird::policy::RECORD_BYTES_MAX;
use jird_formats::DialectChoice;
use jird_formats::files::FileFormat;
use jird_formats::files::{OnError, SpoolOptions};
use jird_store::Window;
use std::path::PathBuf;

/// The size of a chunk: large enough that handing out chunks costs nothing, and small enough that a few per thread fit
/// in memory.
pub(crate) const CHUNK_BYTES: u64 = 2 << 20;

/// The number of rows in a batch: enough that the fixed cost of a batch is negligible, and few enough that its columns
/// stay in cache.
pub(crate) const BATCH_ROWS: usize = 8192;

/// A batch is handed out after this many bytes of records, even if it has few rows. This is far below the 2 GiB that
/// offsets can count.
const BATCH_BYTES: usize = 16 << 20;

/// With little memory, the share of a thread has room for at least this many batches of rows of this size.
const SHARE_BATCHES: usize = 16;
const ROW_BYTES: usize = 256;

/// How many rows and how many bytes a batch may have, so that those that sorts and groups have at the same time are a
/// small part of the memory.
pub(crate) fn batch_max(memory_max: Option<usize>, threads: usize) -> (usize, usize) {
    let bytes = memory_max.map_or(BATCH_BYTES, |bytes| bytes / threads.max(1) / SHARE_BATCHES);
    ((bytes / ROW_BYTES).clamp(1, BATCH_ROWS), bytes.clamp(1 << 16, BATCH_BYTES))
}

/// The options of a query.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of threads that scan.
    pub threads: usize,
    /// How many of the records are checked.
    pub check: Check,
    /// The format of the result.
    pub format: Format,
    /// Types of fields that the query computes with. A record with a value of another type is bad. A number in an `f64`
    /// field becomes the nearest `f64`. Fields that are not listed get the type that all records have.
    pub schema: FieldTypes,
    /// The maximum width of a table, in terminal columns. Text that does not fit is cut.
    pub width: Option<usize>,
    /// The format of the inputs, if it is not told by their names and first bytes.
    pub from: Option<FileFormat>,
    /// Names that the query may write in place of paths.
    pub defined: Vec<Defined>,
    /// Views that the query may name. The text of the query may define others.
    pub definitions: Vec<Definitions>,
    /// Whether folders as `day=2024-01-01` give the records of the files in them a field `day`.
    pub folder_keys: bool,
    /// Which values of JSON texts are records, such as `/items/*`. By default they are the lines, the elements of an
    /// array, or the values one after the other.
    pub records: Option<Pattern>,
    /// How CSV and its relatives are written. If any of it is given, a text is CSV unless its name or its first bytes
    /// show another format.
    pub csv: DialectChoice,
    /// What JSON texts may have besides strict JSON. If anything, a text is lines or one document, and nothing but JSON is
    /// read. A text that is one document is in memory, and has at most [`record_limit`](Self::record_limit) bytes.
    pub leniency: Leniency,
    /// Whether a query answers without the files that cannot be read. If not, it fails.
    pub skip_unreadable: bool,
    /// Of event stores: the time of the events that are read.
    pub window: Window,
    /// The file that the result is written to, if it is one: a query refuses to read it.
    pub target: Option<PathBuf>,
    /// What may be done with an input that can be read only once, if it must be read twice.
    pub spool: SpoolOptions,
    /// The maximum length of a record, in bytes. A longer one is bad, and is not kept in memory.
    pub record_limit: usize,
    /// What to do with bad records. Unless they stop the query, every record is checked, whatever
    /// [`check`](Self::check) says, and the query keeps the input's order.
    pub on_error: OnError,
    /// The most rows of the result. One that has more is an error, after the rows that were written.
    pub rows_max: Option<u64>,
    /// Rows after this many are left out.
    pub limit: Option<u64>,
    /// How many bytes groups, sorts and joins may take together. Without it, they take what they need.
    pub memory_max: Option<usize>,
    /// What they put aside on disk when this memory is full. Without it, a query that needs more memory fails.
    pub spill: Option<Spill>,
    /// How inputs are read that are URLs. Without the feature `remote`, none are.
    pub remotes: Remotes,
    /// A thread takes this many bytes of a file at a time. Results do not depend on it.
    #[doc(hidden)]
    pub chunk_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            check: Check::default(),
            format: Format::Ndjson,
            schema: FieldTypes::default(),
            width: None,
            from: None,
            defined: Vec::new(),
            definitions: Vec::new(),
            folder_keys: true,
            records: None,
            csv: DialectChoice::default(),
            leniency: Leniency::STRICT,
            on_error: OnError::default(),
            skip_unreadable: false,
            window: Window::default(),
            target: None,
            spool: SpoolOptions::default(),
            record_limit: RECORD_BYTES_MAX,
            rows_max: None,
            limit: None,
            memory_max: None,
            spill: None,
            remotes: Remotes::default(),
            chunk_bytes: CHUNK_BYTES,
        }
    }
}
