//! The index file of a span: its table of blocks, and its indexes in pages with a checksum each.
//!
//! ```text
//! "jirdidx1"                  8 bytes
//! bytes of the table          u64        all numbers are little-endian
//! bytes of the index          u64
//! checksum of the table       u64
//! checksum of all above, and of the checksums of the pages   u64
//! checksums of the pages      u32 for each 4096 bytes of the index: the low half
//! table                       JSON
//! index                       bytes
//! ```
//!
//! Only what a query touches of the index is read, so each page is checked when it is read: a flipped bit in a filter
//! would hide events.

use crate::files::{Input, checksum, checksum_low, has_checksum, has_checksum_low, read_exact};
use jird::hooks::lines::ReadAt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

const INDEX_MAGIC: &[u8; 8] = b"jirdidx1";
const FIXED_BYTES: usize = 40;
const PAGE_BYTES: usize = 4096;
/// This much is read at once when a file is opened.
const HEAD_BYTES: u64 = 2048;
/// No table and no list of checksums is longer.
const PART_BYTES_MAX: u64 = 64 << 20;

/// The indexes of a span: bytes that are checked when they are read.
#[derive(Clone, Debug)]
pub(crate) struct IndexFile {
    input: Arc<dyn Input>,
    table_start: u64,
    table_bytes: u64,
    table_sum: u64,
    /// Bytes of the index, which comes after the table.
    len: u64,
    sums: Arc<[u32]>,
}

/// The bytes of an index file.
pub(super) fn write(table: &str, index: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(FIXED_BYTES + table.len() + index.len() + index.len() / 1000);
    out.extend_from_slice(INDEX_MAGIC);
    out.extend_from_slice(&(table.len() as u64).to_le_bytes());
    out.extend_from_slice(&(index.len() as u64).to_le_bytes());
    out.extend_from_slice(&checksum(table.as_bytes()).to_le_bytes());
    let fixed = out.len();
    out.extend(index.chunks(PAGE_BYTES).flat_map(|page| checksum_low(page).to_le_bytes()));
    let sum = checksum(&out);
    out.splice(fixed..fixed, sum.to_le_bytes());
    out.extend_from_slice(table.as_bytes());
    out.extend_from_slice(index);
    out
}

impl IndexFile {
    /// Opens the index file of the span whose table has this checksum. Reads where everything is, and no more.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub(super) fn open(input: Arc<dyn Input>, table_sum: u64) -> Result<Self, String> {
        let told = |error: io::Error| error.to_string();
        let len = input.len().map_err(told)?;
        let mut head = Vec::new();
        // The checksums of the pages of most indexes come with it.
        read_exact(&*input, 0, len.min(HEAD_BYTES), &mut head).map_err(told)?;
        if head.len() < FIXED_BYTES {
            return Err("the file is too short".into());
        }
        let number = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap_or_default());
        let (table_bytes, index_bytes, its_table_sum, sum) = (number(8), number(16), number(24), number(32));
        let sums_bytes = index_bytes.div_ceil(PAGE_BYTES as u64).saturating_mul(4);
        let parts = [FIXED_BYTES as u64, table_bytes, sums_bytes, index_bytes];
        let is_whole = parts.iter().try_fold(0_u64, |end, part| end.checked_add(*part)) == Some(len);
        if !head.starts_with(INDEX_MAGIC) || !is_whole || table_bytes.max(sums_bytes) > PART_BYTES_MAX {
            return Err("it is no index, or cut off".into());
        }
        let table_start = FIXED_BYTES as u64 + sums_bytes;
        if table_start > head.len() as u64 {
            read_exact(&*input, 0, table_start, &mut head).map_err(told)?;
        }
        head.truncate(table_start as usize);
        let sums = head.split_off(FIXED_BYTES);
        if !has_checksum(&[&head[..FIXED_BYTES - 8], &sums].concat(), sum) {
            return Err("it does not have its checksum".into());
        }
        if its_table_sum != table_sum && !cfg!(fuzzing) {
            return Err("it belongs to another file".into());
        }
        let sums = sums.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        Ok(Self { input, table_start, table_bytes, table_sum, len: index_bytes, sums })
    }

    /// Bytes of the index.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Reads the text of the table of blocks.
    pub(super) fn table(&self) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        read_exact(&*self.input, self.table_start, self.table_bytes, &mut text)?;
        if has_checksum(&text, self.table_sum) {
            Ok(text)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, "its table does not have its checksum"))
        }
    }

    /// Reads and checks every page.
    pub(crate) fn check(&self) -> io::Result<()> {
        let mut page = Vec::new();
        (0..self.sums.len()).try_for_each(|number| self.read_pages(number..number + 1, &mut page))
    }

    /// Replaces `bytes` by some pages, one after the other.
    fn read_pages(&self, pages: Range<usize>, bytes: &mut Vec<u8>) -> io::Result<()> {
        let (start, end) = (pages.start as u64 * PAGE_BYTES as u64, pages.end as u64 * PAGE_BYTES as u64);
        read_exact(&*self.input, self.table_start + self.table_bytes + start, end.min(self.len) - start, bytes)?;
        if !bytes.chunks(PAGE_BYTES).zip(&self.sums[pages]).all(|(page, sum)| has_checksum_low(page, *sum)) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a page of the index does not have its checksum"));
        }
        Ok(())
    }
}

impl ReadAt for IndexFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let end = self.len.min(offset.saturating_add(buffer.len() as u64));
        if offset >= end {
            return Ok(0);
        }
        let page_bytes = PAGE_BYTES as u64;
        let pages = (offset / page_bytes) as usize..end.div_ceil(page_bytes) as usize;
        let mut bytes = Vec::new();
        self.read_pages(pages, &mut bytes)?;
        let (skipped, len) = ((offset % page_bytes) as usize, (end - offset) as usize);
        buffer[..len].copy_from_slice(&bytes[skipped..skipped + len]);
        Ok(len)
    }
}
