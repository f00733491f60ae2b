//! Reading the blocks of a span file. Nothing in it is believed.

use super::SpanFile;
use super::arrow;
use super::columns::Buffers;
use super::rows::{BlockRows, Fault, rows_of};
use crate::column::{self, Cells, ColumnType, Columns, Fields};
use crate::files::{has_checksum, read_exact};
use crate::index::Condition;
use crate::settings::Compression;
use jird::Path;
use std::ops::Range;

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

    /// The columns next to the documents of a block, and where each event begins in the documents. `None` if they serve
    /// neither a condition nor a reader of these fields, or cannot be read, which is noted: then the documents must be.
    pub(crate) fn columns(
        &self,
        block: usize,
        fields: Option<&Fields>,
        condition: Option<&Condition>,
    ) -> Option<(Columns, BlockRows)> {
        let is_column = |path: &Path| self.table().columns.iter().any(|(column, _)| column == path);
        let decides = |condition: &Condition| {
            condition.slots().iter().any(|slot| condition.paths().get(*slot).is_some_and(is_column))
        };
        let answers = |fields: &Fields| fields.paths().iter().all(is_column);
        if self.table().columns.is_empty() || !(condition.is_some_and(decides) || fields.is_some_and(answers)) {
            return None;
        }
        let sums = self.table().blocks[block].sums?;
        let is_looked_at = |path: &Path| {
            let slots = condition.iter().flat_map(|condition| condition.paths());
            slots.chain(fields.iter().flat_map(|fields| fields.paths())).any(|other| other == path)
        };
        self.read_columns(block, sums, is_looked_at).map_err(|fault| self.note_columns(block, &fault)).ok()
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
        let entry = &self.table().blocks[block];
        let sums = entry.sums?;
        let column = |path: &Path| {
            let columns = self.table().columns.iter().zip(&entry.facts);
            columns.into_iter().find(|((other, _), _)| other == path).map(|((_, kind), facts)| (*kind, *facts))
        };
        let is_known = |path: &Path| column(path).is_some_and(|(_, facts)| facts.text_of_null().is_some());
        let is_decided = condition.is_none_or(|condition| column::is_exact(condition, column));
        (is_decided && paths.iter().all(is_known)).then_some(())?;
        let is_looked_at = |path: &Path| {
            let slots = condition.iter().flat_map(|condition| condition.paths());
            slots.chain(paths).any(|other| other == path)
        };
        let read = self.read_columns(block, sums, is_looked_at);
        let (columns, _) = read.map_err(|fault| self.note_columns(block, &fault)).ok()?;
        let kept = condition.and_then(|condition| columns.decide(condition));
        Cells::new(columns, paths, rows, kept)
    }

    fn read_columns(
        &self,
        block: usize,
        [head_sum, _, tail_sum]: [u64; 3],
        is_looked_at: impl Fn(&Path) -> bool,
    ) -> Result<(Columns, BlockRows), Fault> {
        let entry = &self.table().blocks[block];
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        self.read_part(entry.offset, entry.head_bytes, Some(head_sum), &mut head)?;
        let tail_offset = entry.document_offset() + entry.document_bytes;
        self.read_part(tail_offset, entry.tail_bytes, Some(tail_sum), &mut tail)?;
        self.columns_of(block, &head, &tail, is_looked_at).ok_or(Fault::Wrong("they are not what its table says"))
    }

    /// The columns at which somebody looks, and the spellings if these have some.
    fn columns_of(
        &self,
        block: usize,
        head: &[u8],
        tail: &[u8],
        is_looked_at: impl Fn(&Path) -> bool,
    ) -> Option<(Columns, BlockRows)> {
        let entry = &self.table().blocks[block];
        let layout = arrow::layout(head)?;
        let rows = rows_of(head, entry.text_bytes, self.table().base)?;
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
        let (paths, types): (Vec<_>, Vec<_>) = self.table().columns.iter().cloned().unzip();
        let buffers = Buffers { bytes: tail, ranges: &ranges, compression: layout.compression, rows: rows.keys.len() };
        let looked_at: Vec<bool> = paths.iter().map(is_looked_at).collect();
        let is_spelled = looked_at.iter().zip(&entry.facts).any(|(looked_at, facts)| *looked_at && facts.is_spelled());
        let is_wanted = |number: usize| match types[number] {
            ColumnType::Spellings => is_spelled,
            _ => looked_at[number],
        };
        let columns = buffers.read(&types, &entry.facts, is_wanted)?;
        let columns = columns.into_iter().map(|(number, column)| (paths[number].clone(), column));
        Some((Columns::new(rows.keys.len(), columns), rows))
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

/// Where the times and the offsets are in the head of a block.
#[cfg(test)]
pub(crate) fn places(head: &[u8]) -> Option<[std::ops::Range<usize>; 2]> {
    arrow::layout(head).map(|layout| [layout.times, layout.offsets])
}
