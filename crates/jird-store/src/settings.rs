//! The settings of a store, fixed when it is created, and the options of readers and writers.

use crate::error::Sync;
use jird::Path;
use std::time::Duration;

/// The settings of a store. They are fixed when it is made, and lie in its manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where an event has its time: a text in the notation of ISO 8601, or a number that counts from 1970. An event
    /// without one has the time at which it came.
    pub time_field: Path,
    /// The fields that are also stored as columns.
    pub columns: ColumnChoice,
    /// How the buffers of span files are compressed.
    pub compression: Compression,
}

impl Default for Settings {
    /// `@t`, columns as the events suggest, no compression.
    fn default() -> Self {
        Self {
            time_field: Path::root().key("@t"),
            columns: ColumnChoice::default(),
            compression: Compression::default(),
        }
    }
}

/// Which fields are also stored as columns, so that a query that looks at nothing else reads no documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ColumnChoice {
    /// In each span those that its events suggest: numbers, booleans, texts that repeat, and the time field if its texts do
    /// not look alike, as the times themselves are there.
    #[default]
    Auto,
    /// These fields.
    Fields(Vec<Path>),
}

impl ColumnChoice {
    /// No columns.
    pub const NONE: Self = Self::Fields(Vec::new());
}

/// How the buffers of span files are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not at all: the fastest to read from memory.
    #[default]
    None,
    /// LZ4 frames.
    Lz4,
    /// Zstandard: the smallest.
    Zstd,
}

impl Compression {
    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    /// The compression of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::None, Self::Lz4, Self::Zstd].into_iter().find(|compression| compression.name() == name)
    }
}

/// How a writer works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriterOptions {
    /// When an acknowledged batch survives a loss of power.
    pub sync: Sync,
    /// How many bytes of events lie in the log before they are sealed into a span file. Up to three times as many are
    /// in memory.
    pub seal_bytes: usize,
}

impl Default for WriterOptions {
    /// A loss of power costs at most the last second; spans of 32 MB.
    fn default() -> Self {
        Self { sync: Sync::Interval(Duration::from_secs(1)), seal_bytes: 32 << 20 }
    }
}

/// How long an operation waits for another process that is at work on the same store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Patience {
    /// Not at all: that is an error of the kind [`Locked`](crate::ErrorKind::Locked).
    #[default]
    None,
    /// No longer than this; then it is that error.
    For(Duration),
    /// Until the other process has ended its work.
    Endless,
}

impl Patience {
    /// How long it lasts after this time; `None` if it is over.
    pub(crate) fn rest(self, waited: Duration) -> Option<Duration> {
        match self {
            Self::None => None,
            Self::For(time) => time.checked_sub(waited).filter(|rest| !rest.is_zero()),
            Self::Endless => Some(Duration::MAX),
        }
    }
}

/// A stretch of time: nanoseconds since 1970 in UTC, the end excluded. `None` is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Window {
    /// The first time that belongs to it.
    pub since: Option<i64>,
    /// The first time that no longer belongs to it.
    pub until: Option<i64>,
}

impl Window {
    /// All time.
    pub const ALL: Self = Self { since: None, until: None };

    /// Whether a time belongs to it.
    pub(crate) fn has(&self, time: i64) -> bool {
        self.since.is_none_or(|since| since <= time) && self.until.is_none_or(|until| time < until)
    }

    /// Whether some time between these two, both included, belongs to it.
    pub(crate) fn cuts(&self, (first, last): (i64, i64)) -> bool {
        self.since.is_none_or(|since| since <= last) && self.until.is_none_or(|until| first < until)
    }
}
