//! What all scans of a table share: its columns, how it is read, and what was seen so far.

use super::filter::FilterParts;
use super::{ScanOptions, Watch};
use crate::input::{Input, InputFile, StorePart};
use crate::sql::Rep;
use jird::lines::Scanned;
use jird::{
    Path,
    record::{Field, Predicate, Projection},
};
use jird_formats::ColumnType;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// A column of a table: a field in one representation.
#[derive(Clone, Debug)]
pub(crate) struct ColumnSpec {
    pub(crate) path: Path,
    pub(crate) rep: Rep,
    /// The column's type, if the representation is inferred.
    pub(crate) kind: ColumnType,
    /// What the column tells besides what is in the records.
    pub(crate) told: Option<VirtualColumn>,
}

/// A message shows this many characters of a value.
const SHOWN: usize = 60;

/// What a column tells that is not in the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VirtualColumn {
    /// `_file`: the name of its file, of a record without such a field.
    File,
    /// `_line`: the number of its line, of a record without such a field.
    Line,
    /// A field that all records of some files have because of their folders.
    Folder,
    /// The whole record, with all such fields.
    Record,
}

impl VirtualColumn {
    /// What a field of an input tells.
    pub(crate) fn of(path: &Path, input: &Input) -> Option<Self> {
        if input.is_of_folders(path) {
            return Some(Self::Folder);
        }
        if path.steps().is_empty() && !input.folder_keys().is_empty() {
            return Some(Self::Record);
        }
        Self::of_any(path)
    }

    /// What a field of any input tells.
    pub(crate) fn of_any(path: &Path) -> Option<Self> {
        match path.to_string().as_str() {
            "/_file" => Some(Self::File),
            "/_line" => Some(Self::Line),
            _ => None,
        }
    }

    /// The type of the column if no record has the field.
    pub(crate) fn kind(self) -> ColumnType {
        match self {
            Self::File => ColumnType::Text,
            Self::Line => ColumnType::Int64,
            Self::Folder | Self::Record => ColumnType::Json,
        }
    }
}

impl ColumnSpec {
    /// Whether the scan decides conditions on the column: those on JSON text.
    pub(crate) fn is_decided(&self) -> bool {
        self.rep == Rep::Raw
    }

    /// The message for a record whose value does not fit the column.
    #[cold]
    pub(crate) fn unfit(&self, field: Field<'_>) -> String {
        let mut value: String = field.raw().chars().take(SHOWN).collect();
        if value.len() < field.raw().len() {
            value.push('…');
        }
        format!("{:#} is {value}, not {}", self.path, self.kind)
    }
}

/// The state that all scans of a table share.
#[derive(Debug)]
pub(crate) struct TableScan {
    /// The name of the table.
    #[cfg(feature = "cluster")]
    pub(crate) table: String,
    pub(crate) columns: Vec<ColumnSpec>,
    /// The columns whose types are fixed by a schema: every record is checked for them.
    pub(crate) checked: Vec<usize>,
    pub(crate) options: ScanOptions,
    /// Whether the scan keeps the input's order and runs its own threads. Otherwise DataFusion cuts files into ranges.
    pub(crate) ordered: AtomicBool,
    /// Whether the input can be read only once.
    pub(crate) is_once: bool,
    /// What is read of stores.
    pub(crate) part: StorePart,
    /// Whether the files can be cut into ranges.
    pub(crate) is_anywhere: bool,
    /// Whether a scan already notes the bad records. The first scan does.
    pub(crate) noted: Arc<AtomicBool>,
    /// The same for records that do not fit a schema.
    pub(crate) misfits_noted: AtomicBool,
    pub(crate) tally: Tally,
    /// The watch on types, if they were guessed.
    pub(crate) watch: Option<Watch>,
}

/// The condition by which a scan chooses blocks of a store, and its paths. Without one, it reads all.
pub(crate) type BlockChoice = Option<(Predicate, Vec<Path>)>;

/// What the scans of a table have seen so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) records: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) mismatches: AtomicU64,
    /// The number of records that were tokenised.
    pub(crate) touched: AtomicU64,
    /// The number of bytes that were searched for literals, and the number for which the search was switched off.
    pub(crate) searched_bytes: AtomicU64,
    pub(crate) unsearched_bytes: AtomicU64,
    /// Whether a scan was stopped before its end.
    pub(crate) stopped: AtomicBool,
    /// For each column: whether a record that was handed out had its field.
    pub(crate) seen: Vec<AtomicBool>,
    /// The predicates that the scan evaluates, as they were written.
    pub(crate) pushed: Mutex<Vec<String>>,
    /// The paths that were read.
    pub(crate) read: Mutex<Vec<String>>,
    /// The columns that the scans of the plan read.
    pub(crate) columns: Mutex<Vec<usize>>,
    /// Of files whose folders have keys: whether any scan has read them, or all have left them out.
    pub(crate) keyed: Mutex<HashMap<usize, bool>>,
    /// How the scans of the plan choose blocks of stores.
    pub(crate) choices: Mutex<Vec<BlockChoice>>,
    /// The literals that are searched for before records are read.
    pub(crate) literals: Mutex<Vec<String>>,
    /// How many lines the ranges of files have, each by its file and its start, if lines are counted.
    #[cfg(feature = "cluster")]
    pub(crate) lines: Mutex<Vec<(usize, u64, u64)>>,
}

impl TableScan {
    /// A record that meets `filter`, whose slots are columns, has at least one of these literals. If types are watched or
    /// checked, every record is tokenised and nothing is searched for.
    pub(crate) fn literals(&self, filter: Option<&Predicate>) -> Vec<String> {
        if self.watch.is_some() || !self.checked.is_empty() {
            return Vec::new();
        }
        let paths: Vec<_> = self.columns.iter().map(|column| column.path.clone()).collect();
        let filter = FilterParts::of(filter, self).records;
        filter.map_or_else(Vec::new, |filter| filter.literals(&Projection::new(&paths)))
    }

    /// Whether a scan that begins now notes records that are not JSON, and those that do not fit a schema. The first one
    /// does.
    pub(crate) fn notes(&self) -> (bool, bool) {
        (!self.noted.swap(true, Relaxed), !self.misfits_noted.swap(true, Relaxed))
    }

    /// Whether the numbers of lines are wanted. The lines of a file are then counted from its start, by one thread.
    pub(crate) fn tells_lines(&self) -> bool {
        self.columns.iter().any(|column| column.told == Some(VirtualColumn::Line))
    }
}

impl Tally {
    /// Notes that a scan reads a file whose folders have keys, or leaves it out.
    pub(crate) fn note_file(&self, file: &InputFile, is_read: bool) {
        if file.has_keys() {
            let mut keyed = self.keyed.lock().unwrap_or_else(PoisonError::into_inner);
            *keyed.entry(file.index).or_default() |= is_read;
        }
    }

    /// How many files all scans have left out.
    pub(crate) fn left_out(&self) -> usize {
        let keyed = self.keyed.lock().unwrap_or_else(PoisonError::into_inner);
        keyed.values().filter(|is_read| !**is_read).count()
    }

    /// Adds the counts of a scan.
    pub(crate) fn add(&self, bytes: u64, scanned: &Scanned) {
        for (sum, more) in [
            (&self.records, scanned.records),
            (&self.bytes, bytes),
            (&self.mismatches, scanned.mismatches.kinds),
            (&self.touched, scanned.touched),
            (&self.searched_bytes, scanned.searched_bytes),
            (&self.unsearched_bytes, scanned.unsearched_bytes),
        ] {
            sum.fetch_add(more, Relaxed);
        }
    }
}

/// Adds the items that the list does not have yet.
pub(crate) fn note<T: PartialEq>(list: &Mutex<Vec<T>>, more: Vec<T>) {
    let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
    for item in more {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}
