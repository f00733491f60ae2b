//! An open span. Its files are open from the beginning, so that it stays readable whatever happens to the store; its
//! table and its indexes are read when they are asked for, and stay in memory then.

use super::arrow::TABLE_KEY;
use super::walk::{footer, table_of};
use super::{IndexFile, Table};
use crate::column::{ColumnType, Numbers};
use crate::error::{Damage, Damages, Error};
use crate::event::TextOrder;
use crate::files::Input;
use crate::index::{Answer, BlockRange, Condition, FieldKinds, SpanIndex, Times};
use crate::manifest::{Folder, SpanEntry};
use crate::settings::Compression;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// No events take as many times the bytes of their file: Zstandard, which compresses best, makes 512 KB of the same byte
/// 40 bytes, and each block has more overhead than that.
const UNPACKED_MAX: u64 = 20_000;

/// An open span.
pub(crate) struct SpanFile {
    entry: SpanEntry,
    /// Where events have their time.
    time_field: Option<jird::Path>,
    path: PathBuf,
    index_path: PathBuf,
    pub(super) input: Arc<dyn Input>,
    /// `None` if there is no index file.
    index_input: Option<Arc<dyn Input>>,
    /// Where everything is in the index file; `None` if that cannot be read.
    pages: OnceLock<Option<Arc<IndexFile>>>,
    index: OnceLock<Option<SpanIndex>>,
    table: OnceLock<Table>,
    /// Whether no event has something at these paths, of those that were asked for.
    absent: Mutex<HashMap<jird::Path, bool>>,
    damages: Arc<Damages>,
}

impl SpanFile {
    /// Opens the files of a span. What is damaged goes to `damages`, now and later; `Ok(None)` if nothing of the span
    /// can be read.
    ///
    /// # Errors
    /// The file is not there, perhaps because a compaction was quicker; unless `lenient`, the same for its index.
    pub(crate) fn open(
        folder: &Folder,
        entry: &SpanEntry,
        lenient: bool,
        damages: &Arc<Damages>,
    ) -> Result<Option<Self>, Error> {
        let (path, index_path) = (folder.span(entry.number), folder.index(entry.number));
        let input = match folder.files.open(&path) {
            Ok(input) => input,
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                let (events, reason) = (Some(entry.events), error.to_string());
                damages.note(Damage { file: path, block: None, events, reason });
                return Ok(None);
            }
            Err(error) => return Err(Error::io("open", &path, &error)),
        };
        // A forged length of events would have a query look for them for ever.
        if input.len().is_ok_and(|len| entry.text_bytes / UNPACKED_MAX > len) {
            let reason = "it is too short for the events that the manifest says".into();
            damages.note(Damage { file: path, block: None, events: Some(entry.events), reason });
            return Ok(None);
        }
        let index_input = match folder.files.open(&index_path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !lenient => {
                return Err(Error::io("open", &index_path, &error));
            }
            result => result,
        };
        let mut span = Self {
            entry: entry.clone(),
            time_field: None,
            path,
            index_path,
            input,
            index_input: None,
            pages: OnceLock::new(),
            index: OnceLock::new(),
            table: OnceLock::new(),
            absent: Mutex::default(),
            damages: Arc::clone(damages),
        };
        match index_input {
            Ok(input) => span.index_input = Some(input),
            Err(error) => span.note_index(&error.to_string()),
        }
        Ok(Some(span))
    }

    /// The same, of a store with this time field. If its texts are all of one width, the column `time` stands for them.
    pub(crate) fn with_time_field(self, path: &jird::Path) -> Self {
        Self { time_field: Some(path.clone()), ..self }
    }

    /// The width of the texts for which the column `time` stands, if this is the time field.
    pub(super) fn time_width(&self, path: &jird::Path) -> Option<u8> {
        match self.entry.order {
            TextOrder::Width(width) if self.time_field.as_ref() == Some(path) => Some(width),
            _ => None,
        }
    }

    /// What is left of a condition to ask of the events of a block, all of which lie between two times; `None` if nothing is.
    pub(super) fn left<'c>(&self, block: usize, condition: &'c Condition) -> Option<Cow<'c, Condition>> {
        let (Some(time_field), entry) = (&self.time_field, &self.table().blocks[block]) else {
            return Some(Cow::Borrowed(condition));
        };
        let bounds = (entry.first.time, entry.last.time);
        condition.left_at(time_field, &Times { bounds, order: self.entry.order })
    }

    /// The fields that are columns.
    pub(crate) fn column_paths(&self) -> Vec<jird::Path> {
        let columns = self.table().columns.iter().filter(|(_, kind)| *kind != ColumnType::Spellings);
        columns.map(|(path, _)| path.clone()).collect()
    }

    pub(crate) fn number(&self) -> u64 {
        self.entry.number
    }

    pub(crate) fn entry(&self) -> &SpanEntry {
        &self.entry
    }

    /// The table of the blocks. It has none if nothing of the file can be read, which is noted.
    pub(crate) fn table(&self) -> &Table {
        self.table.get_or_init(|| self.read_table())
    }

    fn read_table(&self) -> Table {
        let with_index = self.pages().and_then(|pages| {
            let table = pages.table().map_err(|error| error.to_string());
            let table = table.and_then(|text| {
                Table::read(&text, self.entry.file_bytes).ok_or_else(|| "its table is damaged".to_owned())
            });
            table.map_err(|fault| self.note_index(&fault)).ok()
        });
        let table = with_index.map_or_else(|| table_of(&*self.input, &self.entry), Ok);
        match table {
            Ok(table) => {
                let is_as_said = table.events() == self.entry.events && table.text_bytes() == self.entry.text_bytes;
                if !is_as_said {
                    let events = self.entry.events.saturating_sub(table.events());
                    self.note_span("it does not have the events that the manifest says".into(), events);
                }
                table
            }
            Err(fault) => {
                self.note_span(format!("{fault}; neither can its indexes be read"), self.entry.events);
                Table::without_blocks(0, Compression::None)
            }
        }
    }

    fn pages(&self) -> Option<&Arc<IndexFile>> {
        let open = || {
            let opened = IndexFile::open(self.index_input.clone()?, self.entry.table_sum);
            opened.map(Arc::new).map_err(|fault| self.note_index(&fault)).ok()
        };
        self.pages.get_or_init(open).as_ref()
    }

    /// The indexes; `None` if they cannot be read, which is noted.
    pub(crate) fn index(&self) -> Option<&SpanIndex> {
        let open = || {
            let pages = Arc::clone(self.pages()?);
            let len = pages.len();
            let opened = SpanIndex::open(pages, 0, len, self.table.get().map(|table| table.blocks.len()));
            opened.map_err(|wrong| self.note_index(&wrong.to_string())).ok()
        };
        self.index.get_or_init(open).as_ref()
    }

    /// Bytes of the index file.
    pub(crate) fn index_bytes(&self) -> u64 {
        self.index_input.as_ref().and_then(|input| input.len().ok()).unwrap_or_default()
    }

    /// Which blocks may have a match: an answer for each. None if the index cannot be read, which is noted. Reads no
    /// table.
    pub(crate) fn answers(&self, condition: &Condition) -> Vec<Answer> {
        let answers = self.index().map(|index| index.answers(condition));
        answers
            .and_then(|answers| answers.map_err(|wrong| self.note_index(&wrong.to_string())).ok())
            .unwrap_or_default()
    }

    /// The kinds of values at a path that all events have together. `None` if they are not known.
    pub(crate) fn kinds(&self, path: &jird::Path) -> Option<FieldKinds> {
        self.index()?.kinds(path).ok()?
    }

    /// Whether no event has something at a path, as far as the index knows.
    pub(super) fn is_absent(&self, path: &jird::Path) -> bool {
        let mut absent = self.absent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(is_absent) = absent.get(path) {
            return *is_absent;
        }
        let is_absent = self.kinds(path) == Some(FieldKinds::MISSING);
        absent.insert(path.clone(), is_absent);
        is_absent
    }

    /// What numbers the events have at a path, which is a column of all blocks. `None` if it is not known.
    pub(crate) fn numbers(&self, path: &jird::Path) -> Option<Numbers> {
        let numbers = (0..self.table().blocks.len()).map(|block| self.block_numbers(path, block));
        numbers.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// The same of a block.
    pub(crate) fn block_numbers(&self, path: &jird::Path, block: usize) -> Option<Numbers> {
        let table = self.table();
        let column = table.columns.iter().position(|(other, kind)| other == path && kind.is_numeric())?;
        table.blocks[block].facts.get(column)?.numbers()
    }

    /// Whether a path has a column of words, or one of small integers.
    pub(crate) fn has_few_values(&self, path: &jird::Path) -> bool {
        let has_words = |(other, kind): &(jird::Path, ColumnType)| other == path && *kind == ColumnType::Words;
        self.table().columns.iter().any(has_words) || self.has_small_integers(path)
    }

    fn has_small_integers(&self, path: &jird::Path) -> bool {
        let [mut least, mut greatest] = [Vec::new(), Vec::new()];
        jird::Number::new("0").into_iter().for_each(|zero| zero.order_key(&mut least));
        jird::Number::new("65535").into_iter().for_each(|number| number.order_key(&mut greatest));
        let is_small = |[from, to]: [Vec<u8>; 2]| least <= from && to <= greatest;
        self.numbers(path) == Some(Numbers::Integers)
            && self.block_ranges(path).is_some_and(|ranges| ranges.into_iter().flatten().all(is_small))
    }

    /// The kinds of values at a path, block by block.
    pub(crate) fn block_kinds(&self, path: &jird::Path) -> Option<Vec<Option<FieldKinds>>> {
        self.index()?.block_kinds(path).ok()
    }

    /// The bounds of the numbers at a path, block by block.
    pub(crate) fn block_ranges(&self, path: &jird::Path) -> Option<Vec<BlockRange>> {
        self.index()?.ranges(path).ok()?.filter(|ranges| ranges.len() == self.table().blocks.len())
    }

    /// Reads all of the index file and checks it. `None` if there is none, or it could not be opened.
    pub(crate) fn check_index(&self) -> Option<Result<(), String>> {
        let (index, pages) = self.index().zip(self.pages())?;
        if index.blocks() != self.table().blocks.len() {
            return Some(Err("it is of another number of blocks".into()));
        }
        let checked = pages.table().and_then(|_| pages.check()).map_err(|error| error.to_string());
        Some(checked.and_then(|()| index.verify().map_err(|wrong| wrong.to_string())))
    }

    /// Checks the footer, which other readers of Arrow files need.
    pub(crate) fn check_footer(&self) -> Result<(), String> {
        let len = self.input.len().map_err(|error| error.to_string())?;
        let found = footer(&*self.input, len);
        let is_same = found.is_some_and(|(blocks, metadata)| {
            let table = metadata.get(TABLE_KEY).map(|text| crate::files::checksum(text.as_bytes()));
            let places = self.table().blocks.iter().map(|block| block.offset..block.end());
            table == Some(self.entry.table_sum) && places.eq(blocks)
        });
        if is_same && len == self.entry.file_bytes {
            Ok(())
        } else {
            Err("its footer is damaged: other readers of Arrow files cannot read it; this store can".into())
        }
    }

    /// Notes that a block cannot be read.
    pub(crate) fn note(&self, block: usize, fault: &super::Fault) {
        self.damages.note(Damage {
            file: self.path.clone(),
            block: Some(block),
            events: Some(self.table().blocks[block].events),
            reason: fault.to_string(),
        });
    }

    /// Notes that the columns of a block cannot be read. No event is lost: the documents have all that they have.
    pub(super) fn note_columns(&self, block: usize, fault: &super::Fault) {
        self.damages.note(Damage {
            file: self.path.clone(),
            block: Some(block),
            events: Some(0),
            reason: without_columns(fault),
        });
    }

    fn note_span(&self, reason: String, events: u64) {
        self.damages.note(Damage { file: self.path.clone(), block: None, events: Some(events), reason });
    }

    /// Notes that the index cannot be read.
    pub(crate) fn note_index(&self, fault: &str) {
        let reason = format!("{fault}; all blocks of its span are read until `jird store verify --repair`");
        self.damages.note(Damage { file: self.index_path.clone(), block: None, events: Some(0), reason });
    }
}

/// Why the columns of a block are not read, in words.
pub(crate) fn without_columns(fault: &super::Fault) -> String {
    format!("its columns cannot be read, and its documents are read in their place: {fault}")
}

impl fmt::Debug for SpanFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpanFile").field("entry", &self.entry).finish_non_exhaustive()
    }
}
