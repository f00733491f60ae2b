//! The file beside a span: its table of blocks, and its indexes in pages with a checksum each.
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

use crate::files::{Input, checksum, read_exact};
use jird::lines::ReadAt;
use std::io;
use std::sync::Arc;

const INDEX_MAGIC: &[u8; 8] = b"jirdidx1";
const FIXED_BYTES: usize = 40;
const PAGE_BYTES: usize = 4096;
/// No table and no list of checksums is longer.
const PART_BYTES_MAX: u64 = 64 << 20;

/// The indexes of a span: bytes that are checked when they are read.
#[derive(Clone, Debug)]
pub(crate) struct IndexFile {
    input: Arc<dyn Input>,
    start: u64,
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
    out.extend(index.chunks(PAGE_BYTES).flat_map(|page| (checksum(page) as u32).to_le_bytes()));
    let sum = checksum(&out);
    out.splice(fixed..fixed, sum.to_le_bytes());
    out.extend_from_slice(table.as_bytes());
    out.extend_from_slice(index);
    out
}

impl IndexFile {
    /// Opens an index file. Gives the text of its table, too.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub(super) fn open(input: Arc<dyn Input>) -> Result<(Self, Vec<u8>), String> {
        let told = |error: io::Error| error.to_string();
        let len = input.len().map_err(told)?;
        let mut head = Vec::new();
        read_exact(&*input, 0, FIXED_BYTES as u64, &mut head).map_err(told)?;
        let number = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap_or_default());
        let (table_bytes, index_bytes, table_sum, sum) = (number(8), number(16), number(24), number(32));
        let sums_bytes = index_bytes.div_ceil(PAGE_BYTES as u64).saturating_mul(4);
        let parts = [FIXED_BYTES as u64, table_bytes, sums_bytes, index_bytes];
        let is_whole = parts.iter().try_fold(0_u64, |end, part| end.checked_add(*part)) == Some(len);
        if !head.starts_with(INDEX_MAGIC) || !is_whole || table_bytes.max(sums_bytes) > PART_BYTES_MAX {
            return Err("it is no index, or cut off".into());
        }
        let mut sums = Vec::new();
        read_exact(&*input, FIXED_BYTES as u64, sums_bytes, &mut sums).map_err(told)?;
        let mut table = Vec::new();
        read_exact(&*input, FIXED_BYTES as u64 + sums_bytes, table_bytes, &mut table).map_err(told)?;
        let whole = [&head[..FIXED_BYTES - 8], &sums].concat();
        if checksum(&whole) != sum || checksum(&table) != table_sum {
            return Err("it does not have its checksum".into());
        }
        let sums = sums.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        Ok((Self { input, start: FIXED_BYTES as u64 + sums_bytes + table_bytes, len: index_bytes, sums }, table))
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Reads and checks every page.
    pub(crate) fn check(&self) -> io::Result<()> {
        let mut page = vec![0; PAGE_BYTES];
        (0..self.sums.len()).try_for_each(|number| self.read_page(number, &mut page).map(drop))
    }

    /// Reads a page into `page`, which has room for one; its length.
    fn read_page(&self, number: usize, page: &mut Vec<u8>) -> io::Result<usize> {
        let start = number as u64 * PAGE_BYTES as u64;
        let len = (self.len - start).min(PAGE_BYTES as u64);
        read_exact(&*self.input, self.start + start, len, page)?;
        if checksum(page) as u32 != self.sums[number] {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a page of the index does not have its checksum"));
        }
        Ok(page.len())
    }
}

impl ReadAt for IndexFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let (mut filled, mut page) = (0, Vec::new());
        while filled < buffer.len() && offset + (filled as u64) < self.len {
            let at = offset + filled as u64;
            let number = (at / PAGE_BYTES as u64) as usize;
            self.read_page(number, &mut page)?;
            let rest = &page[(at % PAGE_BYTES as u64) as usize..];
            let len = rest.len().min(buffer.len() - filled);
            buffer[filled..filled + len].copy_from_slice(&rest[..len]);
            filled += len;
        }
        Ok(filled)
    }
}
