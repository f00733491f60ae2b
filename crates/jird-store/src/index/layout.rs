//! The bytes of an index. All numbers are little-endian.
//!
//! ```text
//! header, 64 bytes   0 "jirdidx\n"   8 version u32 (2, or 1)   12 blocks u32   16 fields u32
//!                    20 splits of a filter of pairs u32   24 splits of a filter of words u32   28 length of words u32
//!                    32 length of the table u64   40 length of the facts u64   48 zeros   56 check of bytes 0..56 u64
//! table              a byte of flags per block (unknown 1, has paths that are not fields 2, has no pairs 4, has the words
//!                    of searches 8, which indexes of earlier programs do not have); then per field: parent u32,
//!                    length of its facts u32, check of them u32, length of its key u16, key; then a check u32 per run of
//!                    pairs and per run of words; then a check u64 of the table so far
//! facts              per field: 1 and one byte of kinds for all blocks, or 0 and a byte of kinds per block; then for
//!                    each block that has numbers: two bounds, each a length u8 and that many bytes of a number's key
//! pairs, words       the runs of the filters (`bloom`): blocks × 32 bytes each
//! ```
//!
//! A field's parent is the number of an earlier field plus one, or 0 for the root.

use super::bloom::{Filters, SPLIT};
use super::facts::{FIELDS_MAX, FieldFacts, KEY_MAX, NO_FIELD};
use super::grams::GRAM;
use super::hash;
use super::kinds::FieldKinds;
use jird::hooks::lines::ReadAt;
use std::{fmt, io};

const MAGIC: [u8; 8] = *b"jirdidx\n";
/// The version that is written; all up to it are read. In version 1, a hash has the same bits in all blocks.
const VERSION: u32 = 2;
pub(crate) const HEADER: usize = 64;

/// A flag of a block: of it nothing is known.
pub(crate) const UNKNOWN: u8 = 1;
/// A flag of a block: it has paths that are not fields.
pub(crate) const HAS_OTHERS: u8 = 2;
/// A flag of a block: it has more pairs than are counted.
pub(crate) const NO_PAIRS: u8 = 4;

/// A flag of a block: its words are all that a search finds, also in rendered messages and when letters are folded.
pub(crate) const FOR_SEARCH: u8 = 8;

/// Why an index cannot be used. The events are not affected: without an index, all of them are read.
#[derive(Debug)]
pub struct Wrong(WrongReason);

#[derive(Debug)]
enum WrongReason {
    Damaged(&'static str),
    Version(u32),
    Read(io::Error),
}

impl Wrong {
    pub(crate) fn damaged(what: &'static str) -> Self {
        Self(WrongReason::Damaged(what))
    }

    /// Whether the index itself is at fault, and not reading it.
    pub fn is_damage(&self) -> bool {
        !matches!(self.0, WrongReason::Read(_))
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            WrongReason::Damaged(what) => write!(f, "the index is damaged: {what}"),
            WrongReason::Version(version) => {
                write!(f, "the index has version {version}, and this program reads up to version {VERSION}")
            }
            WrongReason::Read(error) => write!(f, "the index cannot be read: {error}"),
        }
    }
}

impl std::error::Error for Wrong {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let WrongReason::Read(error) = &self.0 { Some(error) } else { None }
    }
}

/// The index of a span.
pub(crate) fn write(flags: &[u8], fields: &[FieldFacts], pairs: &Filters, words: &Filters) -> Vec<u8> {
    let (mut table, mut facts) = (flags.to_vec(), Vec::new());
    for field in fields {
        let start = facts.len();
        write_facts(field, flags.len(), &mut facts);
        let written = &facts[start..];
        let parent = if field.parent == NO_FIELD { 0 } else { field.parent + 1 };
        table.extend(parent.to_le_bytes());
        table.extend((written.len() as u32).to_le_bytes());
        table.extend(hash::check32(written).to_le_bytes());
        table.extend((field.key.len() as u16).to_le_bytes());
        table.extend_from_slice(&field.key);
    }
    let mut runs = Vec::new();
    for filters in [pairs, words] {
        for split in 0..filters.splits() {
            let start = runs.len();
            filters.run(split, &mut runs);
            table.extend(hash::check32(&runs[start..]).to_le_bytes());
        }
    }
    table.extend(hash::check(&table).to_le_bytes());

    let mut out = Vec::with_capacity(HEADER + table.len() + facts.len() + runs.len());
    out.extend(MAGIC);
    for number in [VERSION, flags.len() as u32, fields.len() as u32] {
        out.extend(number.to_le_bytes());
    }
    for number in [pairs.splits(), words.splits(), GRAM] {
        out.extend((number as u32).to_le_bytes());
    }
    for number in [table.len(), facts.len(), 0] {
        out.extend((number as u64).to_le_bytes());
    }
    out.extend(hash::check(&out).to_le_bytes());
    out.extend(table);
    out.extend(facts);
    out.extend(runs);
    out
}

fn write_facts(field: &FieldFacts, blocks: usize, out: &mut Vec<u8>) {
    let before = FieldKinds::MISSING.bits();
    match field.kinds.first() {
        Some(first)
            if (field.first_block == 0 || *first == before) && field.kinds.iter().all(|kinds| kinds == first) =>
        {
            out.extend([1, *first]);
        }
        _ => {
            out.push(0);
            out.resize(out.len() + field.first_block, before);
            out.extend_from_slice(&field.kinds);
            debug_assert_eq!(field.first_block + field.kinds.len(), blocks);
        }
    }
    out.extend_from_slice(&field.ranges);
}

/// The numbers of a header, checked against the length of the index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// Whether a hash has other bits in each block.
    pub(crate) is_spread: bool,
    pub(crate) blocks: usize,
    pub(crate) fields: usize,
    pub(crate) pair_splits: usize,
    pub(crate) word_splits: usize,
    pub(crate) table: usize,
    pub(crate) facts: u64,
}

impl Header {
    pub(crate) fn read(bytes: &[u8], len: u64, known: Option<usize>) -> Result<Self, Wrong> {
        let bytes: &[u8; HEADER] = bytes.first_chunk().ok_or(Wrong::damaged("it is too short"))?;
        let word = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().expect("within the header"));
        let long = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("within the header"));
        if bytes[..8] != MAGIC {
            return Err(Wrong::damaged("it does not begin as an index does"));
        }
        if !(1..=VERSION).contains(&word(8)) {
            return Err(Wrong(WrongReason::Version(word(8))));
        }
        if !hash::has_check(&bytes[..56], long(56)) {
            return Err(Wrong::damaged("the check of its header is wrong"));
        }
        let blocks = word(12) as usize;
        if known.is_some_and(|known| known != blocks) {
            return Err(Wrong::damaged("it is of another number of blocks"));
        }
        let [fields, pair_splits, word_splits] = [16, 20, 24].map(|at| word(at) as usize);
        let runs = (u64::from(word(20)) + u64::from(word(24))).checked_mul((blocks * SPLIT) as u64);
        let total = runs.and_then(|runs| runs.checked_add(long(32))?.checked_add(long(40))?.checked_add(HEADER as u64));
        if total != Some(len)
            || fields > FIELDS_MAX
            || word(28) as usize != GRAM
            || pair_splits == 0
            || word_splits == 0
        {
            return Err(Wrong::damaged("its length does not fit its header"));
        }
        let table = usize::try_from(long(32)).map_err(|_| Wrong::damaged("its table is too long"))?;
        Ok(Self { is_spread: word(8) > 1, blocks, fields, pair_splits, word_splits, table, facts: long(40) })
    }
}

/// A field of the table.
#[derive(Clone, Debug)]
pub(crate) struct FieldEntry {
    /// The number of a field plus one; 0 is the root.
    pub(crate) parent: u32,
    pub(crate) key: Box<str>,
    /// Where its facts are, from the beginning of the facts.
    pub(crate) at: u64,
    pub(crate) len: u32,
    pub(crate) check: u32,
}

/// The table, decoded.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) flags: Vec<u8>,
    pub(crate) fields: Vec<FieldEntry>,
    pub(crate) pair_checks: Vec<u32>,
    pub(crate) word_checks: Vec<u32>,
}

impl Table {
    pub(crate) fn read(bytes: &[u8], header: &Header) -> Result<Self, Wrong> {
        let Some((body, check)) = bytes.split_last_chunk() else { return Err(too_short()) };
        if !hash::has_check(body, u64::from_le_bytes(*check)) {
            return Err(Wrong::damaged("the check of its table is wrong"));
        }
        let mut rest = body;
        let flags = take(&mut rest, header.blocks)?.to_vec();
        let mut fields = Vec::with_capacity(header.fields);
        let mut at = 0;
        for number in 0..header.fields as u32 {
            let [parent, len, check] = [take_u32(&mut rest)?, take_u32(&mut rest)?, take_u32(&mut rest)?];
            let key_len = usize::from(u16::from_le_bytes([take(&mut rest, 1)?[0], take(&mut rest, 1)?[0]]));
            let key = std::str::from_utf8(take(&mut rest, key_len)?).ok().filter(|_| key_len <= KEY_MAX);
            let key = key.filter(|_| parent <= number).ok_or(Wrong::damaged("a field is not one"))?;
            fields.push(FieldEntry { parent, key: key.into(), at, len, check });
            at += u64::from(len);
        }
        if at != header.facts {
            return Err(Wrong::damaged("its facts have another length"));
        }
        let mut checks = |count: usize| -> Result<Vec<u32>, Wrong> {
            if rest.len() / 4 < count {
                return Err(too_short());
            }
            (0..count).map(|_| take_u32(&mut rest)).collect()
        };
        let [pair_checks, word_checks] = [checks(header.pair_splits)?, checks(header.word_splits)?];
        if !rest.is_empty() {
            return Err(Wrong::damaged("its table is too long"));
        }
        Ok(Self { flags, fields, pair_checks, word_checks })
    }
}

/// What is known of a field, block by block.
#[derive(Debug)]
pub(crate) struct FieldHistory {
    bytes: Vec<u8>,
    /// The first byte of the kinds, and the step to the next block's.
    kinds: (usize, usize),
    /// Where the two bounds of each block with numbers begin; 0 for the others.
    ranges: Vec<u32>,
}

impl FieldHistory {
    pub(crate) fn read(bytes: Vec<u8>, blocks: usize) -> Result<Self, Wrong> {
        let mut rest = bytes.as_slice();
        let kinds = if take(&mut rest, 1)?[0] == 1 { (1, 0) } else { (1, 1) };
        take(&mut rest, if kinds.1 == 0 { 1 } else { blocks })?;
        let mut ranges = Vec::new();
        for block in 0..blocks {
            if !FieldKinds::of_bits(bytes[1 + block * kinds.1]).has(FieldKinds::NUMBER) {
                continue;
            }
            ranges.resize(blocks, 0);
            ranges[block] = (bytes.len() - rest.len()) as u32;
            for _ in 0..2 {
                let len = usize::from(take(&mut rest, 1)?[0]);
                take(&mut rest, len)?;
            }
        }
        if !rest.is_empty() {
            return Err(Wrong::damaged("a field's facts are too long"));
        }
        Ok(Self { bytes, kinds, ranges })
    }

    pub(crate) fn kinds(&self, block: usize) -> FieldKinds {
        FieldKinds::of_bits(self.bytes[self.kinds.0 + block * self.kinds.1])
    }

    /// The bounds of the numbers of a block that has some. An empty second bound: there is none.
    pub(crate) fn range(&self, block: usize) -> Option<[&[u8]; 2]> {
        let at = *self.ranges.get(block).filter(|at| **at != 0)? as usize;
        let bound = |at: usize| {
            let len = usize::from(*self.bytes.get(at)?);
            self.bytes.get(at + 1..at + 1 + len)
        };
        let least = bound(at)?;
        Some([least, bound(at + 1 + least.len())?])
    }
}

fn too_short() -> Wrong {
    Wrong::damaged("its table is too short")
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Result<&'a [u8], Wrong> {
    rest.split_off(..len).ok_or_else(too_short)
}

fn take_u32(rest: &mut &[u8]) -> Result<u32, Wrong> {
    let bytes = take(rest, 4)?;
    Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// Reads `len` bytes, which the caller has checked against the length of the index.
pub(crate) fn read_exactly(source: &dyn ReadAt, mut offset: u64, len: usize) -> Result<Vec<u8>, Wrong> {
    let mut bytes = vec![0; len];
    let mut rest = bytes.as_mut_slice();
    while !rest.is_empty() {
        match source.read_at(rest, offset) {
            Ok(0) => return Err(Wrong::damaged("it is shorter than it says")),
            Ok(read) => {
                // A source may lie about what it read.
                let read = read.min(rest.len());
                offset += read as u64;
                rest = &mut rest[read..];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Wrong(WrongReason::Read(error))),
        }
    }
    Ok(bytes)
}
