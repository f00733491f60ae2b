//! The table of a span whose index file cannot be read: from its footer, or from its messages, one after the other.

use super::arrow::{self, ARROW_MAGIC, TABLE_KEY};
use super::rows::{Fault, rows_of};
use super::{BLOCK_BYTES_MAX, BlockEntry, Table};
use crate::files::{Input, checksum, has_checksum, read_exact};
use crate::manifest::SpanEntry;

/// The longest footer and the longest metadata of a message.
const FOOTER_BYTES_MAX: u64 = 64 << 20;

/// The table of a span without its index file: from the footer of the Arrow file or, if that is damaged, from its blocks.
pub(super) fn table_of(input: &dyn Input, entry: &SpanEntry) -> Result<Table, Fault> {
    let file_bytes = input.len()?;
    let from_footer = footer(input, file_bytes).and_then(|(_, metadata)| {
        let text = metadata.get(TABLE_KEY).filter(|text| has_checksum(text.as_bytes(), entry.table_sum))?;
        Table::read(text.as_bytes(), file_bytes)
    });
    match from_footer {
        Some(table) => Ok(table),
        // Its events would be there twice, or are those of another store.
        None if summary(input).is_some_and(|other| other.is_another_than(entry)) => {
            Err(Fault::Wrong("it is another span than the one that the manifest names"))
        }
        None => walk(input, file_bytes).ok_or(Fault::Wrong("its footer is damaged, and no block can be found")),
    }
}

/// What a span file says of itself.
pub(crate) struct Summary {
    pub(crate) table: Table,
    pub(crate) table_sum: u64,
    pub(crate) file_bytes: u64,
}

impl Summary {
    fn is_another_than(&self, entry: &SpanEntry) -> bool {
        let keys = self.table.blocks.first().zip(self.table.blocks.last());
        keys.is_some_and(|(first, last)| first.first != entry.first || last.last != entry.last)
    }
}

/// Reads the table in the footer of an unknown span. `None` if it has none: it is not a whole span.
pub(crate) fn summary(input: &dyn Input) -> Option<Summary> {
    let file_bytes = input.len().ok()?;
    let (_, metadata) = footer(input, file_bytes)?;
    let text = metadata.get(TABLE_KEY)?.as_bytes();
    Some(Summary { table: Table::read(text, file_bytes)?, table_sum: checksum(text), file_bytes })
}

/// The footer of an Arrow file.
pub(super) fn footer(input: &dyn Input, file_bytes: u64) -> Option<arrow::Footer> {
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
    let mut at = arrow::MESSAGES_START as u64;
    let mut table: Option<Table> = None;
    let mut head = Vec::new();
    let base = base_of(input)?;
    loop {
        if read_exact(input, at, 8, &mut head).is_err() {
            return table;
        }
        let len = u64::from(u32::from_le_bytes(head[4..8].try_into().ok()?));
        if len == 0 || len > FOOTER_BYTES_MAX || head[..4] != [0xff; 4] {
            return table;
        }
        if read_exact(input, at, 8 + len, &mut head).is_err() {
            return table;
        }
        let Some(layout) = arrow::layout(&head) else {
            // The schema and the words of columns stand before the first block.
            let Some(other) = arrow::other_message_len(&head).filter(|_| table.is_none()) else { return table };
            at = at.checked_add(other as u64)?;
            continue;
        };
        let Some(block) = walked_block(input, at, &layout, base, file_bytes) else { return table };
        let found = table.get_or_insert_with(|| Table {
            arrival_last: base + u64::from(u32::MAX),
            ..Table::without_blocks(base, layout.compression)
        });
        if found.blocks.last().is_some_and(|before| before.last > block.first) {
            return table;
        }
        at = block.end();
        found.blocks.push(block);
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
        parts: None,
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
