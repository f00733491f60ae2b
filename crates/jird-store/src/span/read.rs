//! Reading a span file. Nothing in it is believed.

use super::arrow::{self, ARROW_MAGIC, TABLE_KEY};
use super::columns::Buffers;
use super::{BLOCK_BYTES_MAX, BlockEntry, IndexFile, Table};
use crate::column::Columns;
use crate::error::{Damage, Error};
use crate::event::Key;
use crate::files::{Input, checksum, read_exact};
use crate::index::{Answer, Condition, FieldKinds, SpanIndex};
use crate::manifest::{Folder, SpanEntry};
use crate::settings::Compression;
use arrow_buffer::BooleanBuffer;
use std::fmt;
use std::io;
use std::sync::Arc;

/// The longest footer and the longest metadata of a message.
const FOOTER_BYTES_MAX: u64 = 64 << 20;

/// An open span file, with its table and its indexes.
pub(crate) struct SpanFile {
    entry: SpanEntry,
    input: Arc<dyn Input>,
    table: Table,
    index: Option<SpanIndex>,
    pages: Option<Arc<IndexFile>>,
}

/// Why a block cannot be read.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The operating system refused.
    Io(io::Error),
    /// What is there is not what was written.
    Wrong(&'static str),
}

/// The keys of a block's events, and where each begins in the documents; one offset more than keys.
#[derive(Debug, Default)]
pub(crate) struct BlockRows {
    pub(crate) keys: Vec<Key>,
    pub(crate) offsets: Vec<u32>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Wrong(what) => f.write_str(what),
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl SpanFile {
    /// Opens a span. What is damaged goes to `damage`; `Ok(None)` if nothing of the span can be read.
    ///
    /// # Errors
    /// The file is not there, perhaps because a compaction was quicker.
    pub(crate) fn open(folder: &Folder, entry: &SpanEntry, damage: &mut Vec<Damage>) -> Result<Option<Self>, Error> {
        let (path, index_path) = (folder.span(entry.number), folder.index(entry.number));
        let input = match folder.files.open(&path) {
            Ok(input) => input,
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                let (events, reason) = (Some(entry.events), error.to_string());
                damage.push(Damage { file: path, block: None, events, reason });
                return Ok(None);
            }
            Err(error) => return Err(Error::io("open", &path, &error)),
        };
        let opened = folder.files.open(&index_path).map_err(|error| error.to_string()).and_then(IndexFile::open);
        let mut index_fault = None;
        let with_index = opened.and_then(|(index, text)| {
            let is_ours = checksum(&text) == entry.table_sum;
            let table = is_ours.then(|| Table::read(&text, entry.file_bytes)).flatten();
            Ok((index, table.ok_or("it belongs to another file")?))
        });
        let (index, table) = match with_index {
            Ok((index, table)) => (Some(index), Ok(table)),
            Err(fault) => {
                index_fault = Some(fault);
                (None, table_of(&*input, entry))
            }
        };
        let table = match table {
            Ok(table) => table,
            Err(fault) => {
                let reason = format!("{fault}; neither can its indexes be read");
                damage.push(Damage { file: path, block: None, events: Some(entry.events), reason });
                return Ok(None);
            }
        };
        let pages = index.map(Arc::new);
        let blocks = table.blocks.len();
        let index = pages.clone().and_then(|pages| {
            let len = pages.len();
            let opened = SpanIndex::open(pages, 0, len, blocks);
            opened.map_err(|wrong| index_fault = Some(wrong.to_string())).ok()
        });
        if let Some(fault) = index_fault {
            let reason = format!("{fault}; all blocks of its span are read until `jird store verify --repair`");
            damage.push(Damage { file: index_path, block: None, events: Some(0), reason });
        }
        Ok(Some(Self { entry: entry.clone(), input, table, index, pages }))
    }

    pub(crate) fn number(&self) -> u64 {
        self.entry.number
    }

    pub(crate) fn entry(&self) -> &SpanEntry {
        &self.entry
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    pub(crate) fn index(&self) -> Option<&SpanIndex> {
        self.index.as_ref()
    }

    /// Bytes of the indexes.
    pub(crate) fn index_bytes(&self) -> u64 {
        self.pages.as_ref().map_or(0, |pages| pages.len())
    }

    /// Reads all of the index and checks it. `None` if there is none, or it could not be opened.
    pub(crate) fn check_index(&self) -> Option<Result<(), String>> {
        let (index, pages) = self.index.as_ref().zip(self.pages.as_ref())?;
        let checked = pages.check().map_err(|error| error.to_string());
        Some(checked.and_then(|()| index.verify().map_err(|wrong| wrong.to_string())))
    }

    /// Checks the footer, which other readers of Arrow files need.
    pub(crate) fn check_footer(&self) -> Result<(), String> {
        let len = self.input.len().map_err(|error| error.to_string())?;
        let found = footer(&*self.input, len);
        let is_same = found.is_some_and(|(blocks, metadata)| {
            let table = metadata.get(TABLE_KEY).map(|text| checksum(text.as_bytes()));
            let places = self.table.blocks.iter().map(|block| block.offset..block.end());
            table == Some(self.entry.table_sum) && places.eq(blocks)
        });
        if is_same && len == self.entry.file_bytes {
            Ok(())
        } else {
            Err("its footer is damaged: other readers of Arrow files cannot read it; this store can".into())
        }
    }

    /// Which blocks may have a match: an answer for each. `None` if there is no index.
    pub(crate) fn answers(&self, condition: &Condition) -> Option<Result<Vec<Answer>, String>> {
        Some(self.index.as_ref()?.answers(condition).map_err(|wrong| wrong.to_string()))
    }

    /// The kinds of values at a path, block by block. `None` if they are not known.
    pub(crate) fn block_kinds(&self, path: &jird::Path) -> Option<Vec<Option<FieldKinds>>> {
        self.index.as_ref()?.block_kinds(path).ok()
    }

    /// Replaces `buffer` by the documents of a block: whole lines. One read of the file; no copy unless they are
    /// compressed.
    pub(crate) fn read_documents(&self, block: usize, buffer: &mut Vec<u8>) -> Result<(), Fault> {
        let entry = &self.table.blocks[block];
        let len = usize::try_from(entry.text_bytes).map_err(|_| Fault::Wrong("its documents are too long"))?;
        let sum = entry.sums.map(|[_, sum, _]| sum);
        if self.table.compression == Compression::None {
            self.read_part(entry.document_offset(), entry.document_bytes, sum, buffer)?;
        } else {
            let mut packed = Vec::new();
            self.read_part(entry.document_offset(), entry.document_bytes, sum, &mut packed)?;
            arrow::unpack(&packed, self.table.compression, len, buffer)
                .ok_or(Fault::Wrong("its documents cannot be decompressed"))?;
        }
        if buffer.len() == len && buffer.last() == Some(&b'\n') {
            Ok(())
        } else {
            Err(Fault::Wrong("its documents are not whole lines"))
        }
    }

    /// Which events of a block may match, and where each begins in the documents, if the columns beside the documents
    /// say so. `None` if they do not, or cannot be read: then all may.
    pub(crate) fn decide(&self, block: usize, condition: &Condition) -> Option<(BooleanBuffer, BlockRows)> {
        let serves = |slot: &usize| {
            let path = condition.paths().get(*slot);
            path.is_some_and(|path| self.table.columns.iter().any(|(column, _)| column == path))
        };
        if self.table.columns.is_empty() || !condition.slots().iter().any(serves) {
            return None;
        }
        let entry = &self.table.blocks[block];
        let [head_sum, _, tail_sum] = entry.sums?;
        let (mut bytes, mut tail) = (Vec::new(), Vec::new());
        self.read_part(entry.offset, entry.head_bytes, Some(head_sum), &mut bytes).ok()?;
        let tail_offset = entry.document_offset() + entry.document_bytes;
        self.read_part(tail_offset, entry.tail_bytes, Some(tail_sum), &mut tail).ok()?;
        let layout = arrow::layout(&bytes)?;
        let rows = rows_of(&bytes, entry.text_bytes, self.table.base)?;
        (rows.keys.len() as u64 == entry.events).then_some(())?;
        let skipped = usize::try_from(entry.head_bytes + entry.document_bytes).ok()?;
        let within = |range: &std::ops::Range<usize>| {
            // An empty buffer may stand anywhere.
            if range.is_empty() {
                Some(0..0)
            } else {
                Some(range.start.checked_sub(skipped)?..range.end.checked_sub(skipped)?)
            }
        };
        let ranges: Vec<_> = layout.others.iter().map(within).collect::<Option<_>>()?;
        let (paths, types): (Vec<_>, Vec<_>) = self.table.columns.iter().cloned().unzip();
        let buffers = Buffers { bytes: &tail, ranges: &ranges, compression: layout.compression, rows: rows.keys.len() };
        let columns = buffers.read(&types, &entry.facts)?;
        let mask = Columns::new(rows.keys.len(), paths.into_iter().zip(columns)).decide(condition)?;
        Some((mask, rows))
    }

    /// Reads the keys of a block's events and the offsets of their documents.
    pub(crate) fn read_rows(&self, block: usize) -> Result<BlockRows, Fault> {
        let entry = &self.table.blocks[block];
        let mut head = Vec::new();
        self.read_part(entry.offset, entry.head_bytes, entry.sums.map(|[sum, ..]| sum), &mut head)?;
        let rows = rows_of(&head, entry.text_bytes, self.table.base).ok_or(Fault::Wrong("its columns are damaged"))?;
        let is_same = rows.keys.len() as u64 == entry.events
            && rows.keys.first() == Some(&entry.first)
            && rows.keys.last() == Some(&entry.last);
        if is_same { Ok(rows) } else { Err(Fault::Wrong("its columns are not what its table says")) }
    }

    /// Reads all of a block, and checks it, and that its events are whole lines.
    pub(crate) fn check_block(&self, block: usize, text: &mut Vec<u8>) -> Result<(), Fault> {
        let entry = &self.table.blocks[block];
        let rows = self.read_rows(block)?;
        let mut tail = Vec::new();
        let tail_offset = entry.document_offset() + entry.document_bytes;
        self.read_part(tail_offset, entry.tail_bytes, entry.sums.map(|[.., sum]| sum), &mut tail)?;
        self.read_documents(block, text)?;
        let ends = memchr::memchr_iter(b'\n', text).map(|end| end as u32 + 1);
        if ends.eq(rows.offsets[1..].iter().copied()) {
            Ok(())
        } else {
            Err(Fault::Wrong("its offsets are not those of its lines"))
        }
    }

    fn read_part(&self, offset: u64, len: u64, sum: Option<u64>, buffer: &mut Vec<u8>) -> Result<(), Fault> {
        read_exact(&*self.input, offset, len, buffer)?;
        match sum {
            Some(sum) if sum != checksum(buffer) => Err(Fault::Wrong("it does not have its checksum")),
            _ => Ok(()),
        }
    }
}

/// The table of a span without its index file: from the footer of the Arrow file or, if that is damaged, from its blocks.
fn table_of(input: &dyn Input, entry: &SpanEntry) -> Result<Table, Fault> {
    let file_bytes = input.len()?;
    let from_footer = footer(input, file_bytes).and_then(|(_, metadata)| {
        let text = metadata.get(TABLE_KEY).filter(|text| checksum(text.as_bytes()) == entry.table_sum)?;
        Table::read(text.as_bytes(), file_bytes)
    });
    match from_footer {
        Some(table) => Ok(table),
        None => walk(input, file_bytes).ok_or(Fault::Wrong("its footer is damaged, and no block can be found")),
    }
}

fn footer(input: &dyn Input, file_bytes: u64) -> Option<arrow::Footer> {
    let mut end = Vec::new();
    read_exact(input, file_bytes.checked_sub(10)?, 10, &mut end).ok()?;
    let len = u64::from(u32::from_le_bytes(end[..4].try_into().ok()?));
    if &end[4..] != ARROW_MAGIC || len > FOOTER_BYTES_MAX {
        return None;
    }
    let mut bytes = Vec::new();
    read_exact(input, file_bytes.checked_sub(10)?.checked_sub(len)?, len, &mut bytes).ok()?;
    arrow::footer(&bytes)
}

/// Makes a table from the messages of a file, one after the other, up to the first that is none. The blocks have no
/// checksums then, but their columns must make sense.
fn walk(input: &dyn Input, file_bytes: u64) -> Option<Table> {
    // Magic and padding, then the schema.
    let mut at = 64;
    let mut table: Option<Table> = None;
    let mut head = Vec::new();
    let base = base_of(input)?;
    loop {
        read_exact(input, at, 8, &mut head).ok()?;
        let len = u64::from(u32::from_le_bytes(head[4..8].try_into().ok()?));
        if len == 0 || len > FOOTER_BYTES_MAX || head[..4] != [0xff; 4] {
            return table;
        }
        if read_exact(input, at, 8 + len, &mut head).is_err() {
            return table;
        }
        let Some(layout) = arrow::layout(&head) else {
            if table.is_some() || at != 64 {
                return table;
            }
            // The schema has no body.
            at += 8 + len;
            continue;
        };
        let Some(block) = walked_block(input, at, &layout, base, file_bytes) else { return table };
        let table = table.get_or_insert_with(|| Table {
            base,
            arrival_last: base + u64::from(u32::MAX),
            compression: layout.compression,
            columns: Vec::new(),
            blocks: Vec::new(),
        });
        if table.blocks.last().is_some_and(|before| before.last > block.first) {
            return Some(std::mem::replace(
                table,
                Table {
                    base,
                    arrival_last: base,
                    compression: Compression::None,
                    columns: Vec::new(),
                    blocks: Vec::new(),
                },
            ));
        }
        at = block.end();
        table.blocks.push(block);
    }
}

/// The arrival number to which a file's column adds, from its schema.
fn base_of(input: &dyn Input) -> Option<u64> {
    let mut head = Vec::new();
    read_exact(input, 64, 8, &mut head).ok()?;
    let len = u64::from(u32::from_le_bytes(head[4..8].try_into().ok()?));
    (len <= FOOTER_BYTES_MAX).then_some(())?;
    read_exact(input, 72, len, &mut head).ok()?;
    let message = arrow_ipc::root_as_message(&head).ok()?;
    let metadata = message.header_as_schema()?.custom_metadata()?;
    let value = metadata.iter().find(|pair| pair.key() == Some("jird.arrival"))?.value()?;
    value.parse().ok().filter(|base: &u64| base.checked_add(u64::from(u32::MAX)).is_some())
}

fn walked_block(
    input: &dyn Input,
    offset: u64,
    layout: &arrow::BatchLayout,
    base: u64,
    file_bytes: u64,
) -> Option<BlockEntry> {
    let (head_bytes, document_bytes) = (layout.documents.start as u64, layout.documents.len() as u64);
    let tail_bytes = (layout.end as u64).checked_sub(layout.documents.end as u64)?;
    let end = offset.checked_add(layout.end as u64)?;
    (end <= file_bytes).then_some(())?;
    let mut head = Vec::new();
    read_exact(input, offset, head_bytes, &mut head).ok()?;
    let text_bytes = last_offset(&head, layout)?;
    let rows = rows_of(&head, text_bytes, base)?;
    Some(BlockEntry {
        offset,
        head_bytes,
        document_bytes,
        tail_bytes,
        text_bytes,
        events: rows.keys.len() as u64,
        first: *rows.keys.first()?,
        last: *rows.keys.last()?,
        sums: None,
        facts: Vec::new(),
    })
}

/// How long the documents of a block are, by their offsets.
fn last_offset(head: &[u8], layout: &arrow::BatchLayout) -> Option<u64> {
    let count = usize::try_from(layout.rows).ok()?.checked_add(1)?;
    (layout.rows <= BLOCK_BYTES_MAX).then_some(())?;
    let mut offsets = Vec::new();
    arrow::unpack(head.get(layout.offsets.clone())?, layout.compression, count.checked_mul(4)?, &mut offsets)?;
    let last = i32::from_le_bytes(*offsets.last_chunk::<4>()?);
    u64::try_from(last).ok()
}

/// The keys and offsets of the events whose columns are in `head`. `None` if they cannot be: keys ascend, and offsets
/// ascend from 0 to `text_bytes`.
fn rows_of(head: &[u8], text_bytes: u64, base: u64) -> Option<BlockRows> {
    let layout = arrow::layout(head)?;
    (text_bytes <= BLOCK_BYTES_MAX && (1..=text_bytes).contains(&layout.rows)).then_some(())?;
    let count = usize::try_from(layout.rows).ok()?;
    let unpack = |range: std::ops::Range<usize>, len: usize| {
        let mut out = Vec::new();
        arrow::unpack(head.get(range)?, layout.compression, len, &mut out)?;
        Some(out)
    };
    let times = unpack(layout.times.clone(), count.checked_mul(8)?)?;
    let arrivals = unpack(layout.arrivals.clone(), count.checked_mul(4)?)?;
    let offsets = unpack(layout.offsets.clone(), count.checked_add(1)?.checked_mul(4)?)?;
    let times = times.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes));
    let arrivals = arrivals.as_chunks::<4>().0.iter().map(|bytes| u64::from(u32::from_le_bytes(*bytes)));
    let key = |(time, relative)| Some(Key { time, arrival: base.checked_add(relative)? });
    let keys: Vec<Key> = times.zip(arrivals).map(key).collect::<Option<_>>()?;
    let offsets: Vec<u32> = offsets.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    let ascends = keys.is_sorted() && offsets.is_sorted_by(|one, two| one < two);
    let is_whole = offsets.first() == Some(&0) && offsets.last().map(|last| u64::from(*last)) == Some(text_bytes);
    (ascends && is_whole).then_some(BlockRows { keys, offsets })
}

impl fmt::Debug for SpanFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpanFile").field("entry", &self.entry).finish_non_exhaustive()
    }
}
