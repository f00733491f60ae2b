//! Makes the index of a span while its events are written.

use super::bloom::{Filters, SPLIT};
use super::hash;
use super::layout::{self, FOR_SEARCH, HAS_OTHERS, NO_PAIRS, UNKNOWN};
use super::walk::BlockFindings;

/// The size of the filters is chosen after this many blocks.
const SAMPLE_BLOCKS: usize = 16;

/// Bits per pair: about one in a thousand lookups of what is not there finds something. A day of 5 GB has 19,000 blocks;
/// with 10 bits, 150 of them were read for nothing.
const PAIR_BITS: usize = 16;

/// Bits per word.
const WORD_BITS: usize = 8;

/// A filter takes at most one byte per this many bytes of documents.
const FILTER_SHARE: usize = 30;

/// Makes the index of one span: call [`begin_block`](Self::begin_block), [`add`](Self::add) for each event, and
/// [`end_block`](Self::end_block), for each block of the span, and then [`finish`](Self::finish).
///
/// Memory: about 4 MB, and what the index itself takes. Adding an event allocates nothing after the first few.
///
/// ```
/// use jird_store::index::{Answer, Condition, IndexBuilder, SpanIndex};
/// use jird::{Path, record::{Comparison, Literal, Predicate}};
/// let mut builder = IndexBuilder::new();
/// builder.begin_block();
/// builder.add(br#"{"Level":"Error","Elapsed":12.5}"#);
/// builder.end_block();
/// let blob = builder.finish();
///
/// let index = SpanIndex::of_bytes(&blob, 1)?;
/// let level = |wanted: &str| Predicate::Compare { slot: 0, op: Comparison::Eq, literal: Literal::Text(wanted.into()) };
/// let paths = [Path::root().key("Level")];
/// assert_eq!(index.may_match(&Condition::new(&level("Error"), &paths), 0)?, Answer::May);
/// assert_ne!(index.may_match(&Condition::new(&level("Debug"), &paths), 0)?, Answer::May);
/// # Ok::<(), jird_store::index::Wrong>(())
/// ```
pub struct IndexBuilder {
    found: BlockFindings,
    /// The bytes of the events of this block.
    bytes: usize,
    unknown: bool,
    flags: Vec<u8>,
    pairs: Growing,
    words: Growing,
    grams: Vec<u32>,
}

impl Default for IndexBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl IndexBuilder {
    /// A builder for a span without blocks.
    pub fn new() -> Self {
        Self {
            found: BlockFindings::new(),
            bytes: 0,
            unknown: false,
            flags: Vec::new(),
            pairs: Growing::new(PAIR_BITS),
            words: Growing::new(WORD_BITS),
            grams: Vec::new(),
        }
    }

    /// Begins a block.
    pub fn begin_block(&mut self) {
        (self.bytes, self.unknown) = (0, false);
    }

    /// Adds an event to the block: one JSON value without white space between its tokens and without a line feed. After
    /// any other event, nothing is known about the block.
    pub fn add(&mut self, event: &[u8]) {
        self.bytes += event.len() + 1;
        self.unknown |= self.found.event(event).is_none();
    }

    /// Ends the block.
    pub fn end_block(&mut self) {
        let no_pairs = self.found.seen.is_full();
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let for_search = self.found.messages.end_block() && !self.unknown;
        self.flags.push(
            flag(self.unknown, UNKNOWN)
                | flag(self.found.facts.has_others, HAS_OTHERS)
                | flag(no_pairs, NO_PAIRS)
                | flag(for_search, FOR_SEARCH),
        );
        self.found.facts.end_block();
        self.found.grams.take(&mut self.grams);
        let known = !self.unknown;
        let pairs = (known && !no_pairs).then_some(self.found.pairs.drain(..));
        self.pairs.push(pairs, self.bytes);
        self.found.pairs.clear();
        let words = known.then_some(self.grams.iter().map(|gram| hash::word(u64::from(*gram))));
        self.words.push(words, self.bytes);
        self.found.seen.clear();
    }

    /// The number of blocks that have ended.
    pub fn blocks(&self) -> usize {
        self.flags.len()
    }

    /// The index, as [`SpanIndex`](super::SpanIndex) reads it.
    pub fn finish(self) -> Vec<u8> {
        layout::write(&self.flags, &self.found.facts.fields, &self.pairs.finish(), &self.words.finish())
    }
}

/// Filters whose size is chosen when the first blocks are known.
struct Growing {
    bits: usize,
    first: Vec<Option<Vec<u64>>>,
    /// The most bytes of documents in a block so far.
    bytes: usize,
    filters: Option<Filters>,
}

impl Growing {
    fn new(bits: usize) -> Self {
        Self { bits, first: Vec::new(), bytes: 0, filters: None }
    }

    fn push(&mut self, hashes: Option<impl Iterator<Item = u64>>, bytes: usize) {
        if let Some(filters) = &mut self.filters {
            return filters.push(hashes);
        }
        self.bytes = self.bytes.max(bytes);
        self.first.push(hashes.map(Iterator::collect));
        if self.first.len() == SAMPLE_BLOCKS {
            self.filters = Some(self.choose());
        }
    }

    fn choose(&mut self) -> Filters {
        let most = self.first.iter().flatten().map(Vec::len).max().unwrap_or(0);
        let wanted = (most * self.bits).div_ceil(8 * SPLIT);
        let most = self.bytes / FILTER_SHARE / SPLIT;
        // With two bits per value a filter would find almost everything.
        let splits = if wanted > 4 * most { 1 } else { wanted.min(most).max(1) };
        let mut filters = Filters::new(splits);
        for hashes in self.first.drain(..) {
            filters.push(hashes.map(Vec::into_iter));
        }
        filters
    }

    fn finish(mut self) -> Filters {
        self.filters.take().unwrap_or_else(|| self.choose())
    }
}
