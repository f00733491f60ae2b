//! Reading the blocks of a span file. Nothing in it is believed.

use super::SpanFile;
use super::arrow;
use super::columns::Buffers;
use super::rows::{BlockRows, Fault, rows_of};
use crate::column::{self, Cells, Column, ColumnFacts, ColumnType, Columns, Fields};
use crate::files::{has_checksum, read_exact};
use crate::index::Condition;
use crate::settings::Compression;
use crate::time::TimeTexts;
use arrow_array::builder::StringBuilder;
use jird::Path;
use std::ops::Range;
use std::sync::Arc;

impl SpanFile {
    /// Replaces `buffer` by the documents of a block: whole lines. One read of the file; no copy unless they are
    /// compressed.
    pub(crate) fn read_documents(&self, block: usize, buffer: &mut Vec<u8>) -> Result<(), Fault> {
        let entry = &self.table().blocks[block];
        let len = usize::try_from(entry.text_bytes).map_err(|_| Fault::Wrong("its documents are too long"))?;
        let sum = entry.sums.map(|[_, sum, _]| sum);
        if self.table().compression == Compression::None {
            self.read_part(entry.document_offset(), entry.document_bytes, sum, buffer)?;
        } else {
            let mut packed = Vec::new();
            self.read_part(entry.document_offset(), entry.document_bytes, sum, &mut packed)?;
            arrow::unpack(&packed, self.table().compression, len, buffer)
                .ok_or(Fault::Wrong("its documents cannot be decompressed"))?;
        }
        if buffer.len() == len && buffer.last() == Some(&b'\n') {
            Ok(())
        } else {
            Err(Fault::Wrong("its documents are not whole lines"))
        }
    }

    /// The columns next to the documents of a block. `None` if they serve neither a condition nor a reader of these fields,
    /// or cannot be read, which is noted: then the documents must be.
    pub(crate) fn columns(
        &self,
        block: usize,
        fields: Option<&Fields>,
        condition: Option<&Condition>,
    ) -> Option<BlockColumns> {
        let is_column = |path: &Path| self.column(block, path).is_some();
        let decides = |condition: &Condition| {
            condition.slots().iter().any(|slot| condition.paths().get(*slot).is_some_and(is_column))
        };
        let answers = |fields: &Fields| fields.paths().iter().all(is_column);
        if !(condition.is_some_and(decides) || fields.is_some_and(answers)) {
            return None;
        }
        self.read_columns(block, condition, fields.map_or(&[], Fields::paths))
    }

    /// The cells at some paths, in those of the `rows` of a block that match. `None` if columns do not know them, or not
    /// exactly which rows match, or if they cannot be read, which is noted.
    pub(crate) fn cells(
        &self,
        block: usize,
        rows: Range<usize>,
        paths: &[Path],
        condition: Option<&Condition>,
    ) -> Option<Cells> {
        let is_known = |path: &Path| self.column(block, path).is_some_and(|(_, facts)| facts.text_of_null().is_some());
        let is_decided = condition.is_none_or(|condition| column::is_exact(condition, |path| self.column(block, path)));
        (is_decided && paths.iter().all(is_known)).then_some(())?;
        let columns = self.read_columns(block, condition, paths)?.columns;
        let kept = condition.and_then(|condition| columns.decide(condition));
        Cells::new(columns, paths, rows, kept)
    }

    /// The type of a path's column in a block, and what it shows. The column `time` may stand for the time field.
    fn column(&self, block: usize, path: &Path) -> Option<(ColumnType, ColumnFacts)> {
        if self.time_width(path).is_some() {
            return Some((ColumnType::Text, ColumnFacts::WHOLE));
        }
        let table = self.table();
        let mut columns = table.columns.iter().zip(&table.blocks[block].facts);
        let column = columns.find(|((other, kind), _)| other == path && *kind != ColumnType::Spellings);
        column.map(|((_, kind), facts)| (*kind, *facts))
    }

    /// Reads the columns of a condition and of some paths. `None` if they cannot be read, which is noted.
    fn read_columns(&self, block: usize, condition: Option<&Condition>, paths: &[Path]) -> Option<BlockColumns> {
        let entry = &self.table().blocks[block];
        let [head_sum, _, tail_sum] = entry.sums?;
        let slots = condition.into_iter().flat_map(Condition::paths);
        let mut looked_at: Vec<&Path> = Vec::new();
        for path in slots.chain(paths) {
            if !looked_at.contains(&path) {
                looked_at.push(path);
            }
        }
        let read = || {
            let (mut head, mut tail) = (Vec::new(), Vec::new());
            self.read_part(entry.offset, entry.head_bytes, Some(head_sum), &mut head)?;
            let tail_offset = entry.document_offset() + entry.document_bytes;
            if looked_at.iter().any(|path| self.time_width(path).is_none()) {
                self.read_part(tail_offset, entry.tail_bytes, Some(tail_sum), &mut tail)?;
            }
            let columns = self.columns_of(block, &head, &tail, &looked_at);
            let columns = columns.ok_or(Fault::Wrong("they are not what its table says"))?;
            Ok(BlockColumns { columns, head, text_bytes: entry.text_bytes, base: self.table().base })
        };
        read().map_err(|fault| self.note_columns(block, &fault)).ok()
    }

    /// The columns of these paths, and the spellings if they have some. `tail` is empty if none of them is in it.
    fn columns_of(&self, block: usize, head: &[u8], tail: &[u8], looked_at: &[&Path]) -> Option<Columns> {
        let entry = &self.table().blocks[block];
        let layout = arrow::layout(head)?;
        (layout.rows == entry.events && entry.events <= entry.text_bytes).then_some(())?;
        let rows = usize::try_from(layout.rows).ok()?;
        let skipped = usize::try_from(entry.head_bytes + entry.document_bytes).ok()?;
        let within = |range: &Range<usize>| {
            // An empty buffer may stand anywhere.
            if range.is_empty() {
                Some(0..0)
            } else {
                Some(range.start.checked_sub(skipped)?..range.end.checked_sub(skipped)?)
            }
        };
        let ranges: Vec<_> = layout.others.iter().map(within).collect::<Option<_>>()?;
        let (paths, types): (Vec<_>, Vec<_>) = self.table().columns.iter().cloned().unzip();
        // A column of the time field may be there as well.
        let is_looked_at = |path: &Path| looked_at.contains(&path) && self.time_width(path).is_none();
        let is_looked_at: Vec<bool> = paths.iter().map(is_looked_at).collect();
        let mut of_facts = is_looked_at.iter().zip(&entry.facts);
        let is_spelled = of_facts.any(|(is_looked_at, facts)| *is_looked_at && facts.is_spelled());
        let is_wanted = |number: usize| match types[number] {
            ColumnType::Spellings => is_spelled,
            _ => is_looked_at[number],
        };
        let words = &self.table().words;
        let buffers = Buffers { bytes: tail, ranges: &ranges, compression: layout.compression, rows, words };
        let columns = buffers.read(&types, &entry.facts, is_wanted)?;
        let mut columns: Vec<_> = columns.into_iter().map(|(number, column)| (paths[number].clone(), column)).collect();
        for path in looked_at {
            if let Some(width) = self.time_width(path) {
                let mut times = Vec::new();
                let bytes = head.get(layout.times.clone())?;
                arrow::unpack(bytes, layout.compression, rows.checked_mul(8)?, &mut times)?;
                columns.push(((*path).clone(), time_column(&times, width)));
            }
        }
        Some(Columns::new(rows, columns))
    }

    /// Reads the keys of a block's events and the offsets of their documents.
    pub(crate) fn read_rows(&self, block: usize) -> Result<BlockRows, Fault> {
        let entry = &self.table().blocks[block];
        let mut head = Vec::new();
        self.read_part(entry.offset, entry.head_bytes, entry.sums.map(|[sum, ..]| sum), &mut head)?;
        let rows =
            rows_of(&head, entry.text_bytes, self.table().base).ok_or(Fault::Wrong("its columns are damaged"))?;
        let is_same = rows.keys.len() as u64 == entry.events
            && rows.keys.first() == Some(&entry.first)
            && rows.keys.last() == Some(&entry.last);
        if is_same { Ok(rows) } else { Err(Fault::Wrong("its columns are not what its table says")) }
    }

    /// Reads all of a block, and checks it, and that its events are whole lines.
    pub(crate) fn check_block(&self, block: usize, text: &mut Vec<u8>) -> Result<(), Fault> {
        let entry = &self.table().blocks[block];
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
            Some(sum) if !has_checksum(buffer, sum) => Err(Fault::Wrong("it does not have its checksum")),
            _ => Ok(()),
        }
    }
}

/// Columns of a block, and the head of its message.
pub(crate) struct BlockColumns {
    pub(crate) columns: Columns,
    head: Vec<u8>,
    text_bytes: u64,
    base: u64,
}

impl BlockColumns {
    /// Where each event begins in the documents; `None` if that is damaged.
    pub(crate) fn rows(&self) -> Option<BlockRows> {
        rows_of(&self.head, self.text_bytes, self.base).filter(|rows| rows.keys.len() == self.columns.rows())
    }
}

/// The texts of times, which lie in these bytes.
fn time_column(times: &[u8], width: u8) -> Column {
    let times = times.as_chunks::<8>().0;
    let mut texts = StringBuilder::with_capacity(times.len(), times.len() * usize::from(width));
    let mut written = TimeTexts::new(width);
    times.iter().for_each(|time| texts.append_value(written.of(i64::from_le_bytes(*time))));
    Column { array: Arc::new(texts.finish()), facts: ColumnFacts::WHOLE }
}

/// Where the times and the offsets are in the head of a block.
#[cfg(test)]
pub(crate) fn places(head: &[u8]) -> Option<[std::ops::Range<usize>; 2]> {
    arrow::layout(head).map(|layout| [layout.times, layout.offsets])
}
