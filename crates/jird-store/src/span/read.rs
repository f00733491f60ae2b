//! Reading the blocks of a span file. Nothing in it is believed.

use super::arrow::{self, BatchLayout};
use super::columns::{self, Buffers, Stretch};
use super::rows::{BlockRows, Fault, rows_of};
use super::{PartSums, SpanFile};
use crate::column::{Cells, Column, ColumnFacts, ColumnType, Columns, Fields, is_exact};
use crate::files::{has_checksum, has_checksum_low, read_exact};
use crate::index::Condition;
use crate::settings::Compression;
use crate::time::TimeTexts;
use arrow_array::BooleanArray;
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
    ) -> Option<Columns> {
        let condition = condition.and_then(|condition| self.left(block, condition));
        let condition = condition.as_deref();
        let is_column = |path: &Path| self.column(block, path).is_some();
        let decides = |condition: &Condition| {
            condition.slots().iter().any(|slot| condition.paths().get(*slot).is_some_and(is_column))
        };
        let answers = |fields: &Fields| fields.paths().iter().all(is_column);
        if !(condition.is_some_and(decides) || fields.is_some_and(answers)) {
            return None;
        }
        self.read_columns(block, condition, fields.into_iter().flat_map(Fields::paths))
    }

    /// The cells at some paths, the first `shown` of which can be looked at, in those of the `rows` of a block that match.
    /// `None` if columns do not know them, or not exactly which rows match, or if they cannot be read, which is noted.
    pub(crate) fn cells(
        &self,
        block: usize,
        rows: Range<usize>,
        (paths, shown): (&[Path], usize),
        condition: Option<&Condition>,
    ) -> Option<Cells> {
        let condition = condition.and_then(|condition| self.left(block, condition));
        let condition = condition.as_deref();
        let is_known = |path: &Path| self.column(block, path).is_some_and(|(_, facts)| facts.text_of_null().is_some());
        let is_decided = condition.is_none_or(|condition| is_exact(condition, |path| self.column(block, path)));
        (is_decided && paths.iter().all(is_known)).then_some(())?;
        // All events have a time, whether it is read or not.
        let is_read = |(number, path): &(usize, &Path)| *number < shown || self.time_width(path).is_none();
        let read = paths.iter().enumerate().filter(is_read).map(|(_, path)| path);
        let columns = self.read_columns(block, condition, read)?;
        let kept = condition.and_then(|condition| columns.decide(condition));
        Cells::new(columns, (paths, shown), rows, kept)
    }

    /// The type of a path's column in a block, and what it shows. The column `time` may stand for the time field.
    fn column(&self, block: usize, path: &Path) -> Option<(ColumnType, ColumnFacts)> {
        if self.time_width(path).is_some() {
            return Some((ColumnType::Text, ColumnFacts::WHOLE));
        }
        let table = self.table();
        let mut columns = table.columns.iter().zip(&table.blocks[block].facts);
        let column = columns.find(|((other, kind), _)| other == path && *kind != ColumnType::Spellings);
        match column {
            Some(((_, kind), facts)) => Some((*kind, *facts)),
            // Any type would do.
            None => self.is_absent(path).then_some((ColumnType::Bool, ColumnFacts::ABSENT)),
        }
    }

    /// Reads the columns of a condition and of some paths. `None` if they cannot be read, which is noted.
    fn read_columns<'p>(
        &self,
        block: usize,
        condition: Option<&'p Condition>,
        paths: impl Iterator<Item = &'p Path>,
    ) -> Option<Columns> {
        self.table().blocks[block].sums?;
        let slots = condition.map(Condition::slots).unwrap_or_default();
        let slots =
            condition.into_iter().flat_map(|condition| slots.iter().filter_map(|slot| condition.paths().get(*slot)));
        let mut looked_at: Vec<&Path> = Vec::new();
        for path in slots.chain(paths) {
            if !looked_at.contains(&path) {
                looked_at.push(path);
            }
        }
        if looked_at.is_empty() {
            let rows = usize::try_from(self.table().blocks[block].events).ok()?;
            return Some(Columns::new(rows, []));
        }
        self.columns_of(block, &looked_at).map_err(|fault| self.note_columns(block, &fault)).ok()
    }

    /// The columns of these paths, and the spellings if they have some.
    fn columns_of(&self, block: usize, looked_at: &[&Path]) -> Result<Columns, Fault> {
        let entry = &self.table().blocks[block];
        let width = looked_at.iter().find_map(|path| Some(((*path).clone(), self.time_width(path)?)));
        let mut head = Vec::new();
        match &entry.parts {
            // The metadata are enough to find the columns.
            Some(parts) if width.is_none() => {
                read_exact(&*self.input, entry.offset, parts.metadata_bytes, &mut head)?;
                is_right(has_checksum_low(&head, parts.metadata))?;
            }
            _ => self.read_part(entry.offset, entry.head_bytes, entry.sums.map(|[sum, ..]| sum), &mut head)?,
        }
        let wrong = || Fault::Wrong("they are not what its table says");
        let layout = arrow::layout(&head).ok_or_else(wrong)?;
        let rows = usize::try_from(layout.rows).map_err(|_| wrong())?;
        if layout.rows != entry.events || entry.events > entry.text_bytes {
            return Err(wrong());
        }
        let mut columns = self.tail_columns(block, &layout, rows, looked_at)?;
        for path in looked_at {
            if self.column(block, path) == Some((ColumnType::Bool, ColumnFacts::ABSENT))
                && columns.iter().all(|(other, _)| other != *path)
            {
                let array = Arc::new(BooleanArray::new_null(rows));
                columns.push(((*path).clone(), Column { array, facts: ColumnFacts::ABSENT }));
            }
        }
        if let Some((path, width)) = width {
            let mut times = Vec::new();
            let bytes = head.get(layout.times.clone()).ok_or_else(wrong)?;
            rows.checked_mul(8)
                .and_then(|len| arrow::unpack(bytes, layout.compression, len, &mut times))
                .ok_or_else(wrong)?;
            columns.push((path, time_column(&times, width)));
        }
        Ok(Columns::new(rows, columns))
    }

    /// The columns of these paths that are in the tail of a block: of older files all of it is read.
    fn tail_columns(
        &self,
        block: usize,
        layout: &BatchLayout,
        rows: usize,
        looked_at: &[&Path],
    ) -> Result<Vec<(Path, Column)>, Fault> {
        let (table, wrong) = (self.table(), || Fault::Wrong("they are not what its table says"));
        let entry = &table.blocks[block];
        // A column of the time field may be there as well.
        let is_looked_at = |path: &Path| looked_at.contains(&path) && self.time_width(path).is_none();
        let mut with_facts = table.columns.iter().zip(&entry.facts);
        let is_spelled = with_facts.any(|((path, _), facts)| is_looked_at(path) && facts.is_spelled());
        let is_wanted = |(path, kind): &(Path, ColumnType)| match kind {
            ColumnType::Spellings => is_spelled,
            _ => is_looked_at(path),
        };
        let types: Vec<_> = table.columns.iter().map(|(_, kind)| *kind).collect();
        let stretches = columns::stretches(&types, &layout.others).ok_or_else(wrong)?;
        let tail_start = entry.head_bytes + entry.document_bytes;
        let tail_end = tail_start + entry.tail_bytes;
        let (mut bytes, mut start) = (Vec::new(), None);
        let mut found = Vec::new();
        for (number, Stretch { ranges, whole }) in stretches.into_iter().enumerate() {
            let (path, kind) = &table.columns[number];
            if !is_wanted(&table.columns[number]) {
                continue;
            }
            match &entry.parts {
                Some(parts) => {
                    let (from, to) = (whole.start as u64, whole.end as u64);
                    if !whole.is_empty() && (from < tail_start || tail_end < to) {
                        return Err(wrong());
                    }
                    read_exact(&*self.input, entry.offset.saturating_add(from), to - from, &mut bytes)?;
                    is_right(has_checksum_low(&bytes, parts.columns[number]))?;
                    start = Some(whole.start);
                }
                None if start.is_none() => {
                    let sum = entry.sums.map(|[.., sum]| sum);
                    self.read_part(entry.offset + tail_start, entry.tail_bytes, sum, &mut bytes)?;
                    start = usize::try_from(tail_start).ok();
                }
                None => {}
            }
            let (start, words, facts) = (start.unwrap_or_default(), &table.words[number], entry.facts[number]);
            let buffers = Buffers { bytes: &bytes, start, ranges, compression: layout.compression, rows, words };
            found.push((path.clone(), Column { array: buffers.read(*kind).ok_or_else(wrong)?, facts }));
        }
        Ok(found)
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

    /// Reads a block but for its columns, and checks it, and that its events are whole lines.
    pub(crate) fn check_block(&self, block: usize, text: &mut Vec<u8>) -> Result<(), Fault> {
        let rows = self.read_rows(block)?;
        self.read_documents(block, text)?;
        let ends = memchr::memchr_iter(b'\n', text).map(|end| end as u32 + 1);
        if ends.eq(rows.offsets[1..].iter().copied()) {
            Ok(())
        } else {
            Err(Fault::Wrong("its offsets are not those of its lines"))
        }
    }

    /// Reads the columns of a block, and checks them.
    pub(crate) fn check_columns(&self, block: usize) -> Result<(), Fault> {
        let entry = &self.table().blocks[block];
        let mut tail = Vec::new();
        let tail_offset = entry.document_offset() + entry.document_bytes;
        self.read_part(tail_offset, entry.tail_bytes, entry.sums.map(|[.., sum]| sum), &mut tail)?;
        entry.parts.as_ref().map_or(Ok(()), |parts| self.check_parts(block, parts, &tail))
    }

    /// Checks that readers of some columns get what is there. The head and the tail have their checksums.
    fn check_parts(&self, block: usize, parts: &PartSums, tail: &[u8]) -> Result<(), Fault> {
        let (table, wrong) = (self.table(), || Fault::Wrong("the parts of its columns are not what its table says"));
        let entry = &table.blocks[block];
        let mut metadata = Vec::new();
        read_exact(&*self.input, entry.offset, parts.metadata_bytes, &mut metadata)?;
        is_right(has_checksum_low(&metadata, parts.metadata))?;
        let layout = arrow::layout(&metadata).ok_or_else(wrong)?;
        let types: Vec<_> = table.columns.iter().map(|(_, kind)| *kind).collect();
        let start = usize::try_from(entry.head_bytes + entry.document_bytes).map_err(|_| wrong())?;
        let stretches = columns::stretches(&types, &layout.others).ok_or_else(wrong)?;
        stretches.into_iter().zip(&parts.columns).try_for_each(|(Stretch { whole, .. }, sum)| {
            let of_tail = |whole: Range<usize>| Some(whole.start.checked_sub(start)?..whole.end - start);
            let range = if whole.is_empty() { Some(0..0) } else { of_tail(whole) };
            let bytes = range.and_then(|range| tail.get(range)).ok_or_else(wrong)?;
            is_right(has_checksum_low(bytes, *sum))
        })
    }

    fn read_part(&self, offset: u64, len: u64, sum: Option<u64>, buffer: &mut Vec<u8>) -> Result<(), Fault> {
        read_exact(&*self.input, offset, len, buffer)?;
        is_right(sum.is_none_or(|sum| has_checksum(buffer, sum)))
    }
}

/// Whether a part has its checksum.
fn is_right(has_checksum: bool) -> Result<(), Fault> {
    if has_checksum { Ok(()) } else { Err(Fault::Wrong("it does not have its checksum")) }
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
