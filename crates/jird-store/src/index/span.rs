//! The index of a span, read as far as a condition asks.

use super::bloom::{self, SPLIT};
use super::condition::{Condition, Leaf, Node, On, Words, keys};
use super::facts::KEY_MAX;
use super::hash;
use super::kinds::FieldKinds;
use super::layout::{self, FOR_SEARCH, FieldHistory, HAS_OTHERS, HEADER, Header, NO_PAIRS, Table, UNKNOWN, Wrong};
use jird::Path;
use jird::hooks::lines::ReadAt;
use jird::record::Comparison;
use std::sync::Arc;

/// Which index knows that a block has no match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// No record of the block has a value of the kind at the path.
    Keys,
    /// No number of the block is in the range.
    Range,
    /// The value is not in the block.
    Pairs,
    /// The text is not in the block.
    Words,
}

/// Whether a block may have a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It may; it has to be read.
    May,
    /// It has none, as this index knows.
    No(Index),
}

/// The index of a span. It keeps the names of paths in memory and reads everything else when a condition asks for it.
///
/// Its bytes are not believed: what is damaged is an error. An error never means that a block has no match.
pub struct SpanIndex {
    source: Arc<dyn ReadAt>,
    /// Where the index begins in the source.
    offset: u64,
    header: Header,
    table: Table,
}

/// Two keys between which all numbers of a block are, if it has some.
pub(crate) type BlockRange = Option<[Vec<u8>; 2]>;

/// A field that a condition asks for.
enum KnownField {
    /// Nothing is known of the path.
    Unknown,
    /// The span has no such path, but for blocks that have others.
    Absent,
    Known(FieldHistory),
}

impl SpanIndex {
    /// Opens the index that takes `len` bytes of a source from `offset` on, of a span with `blocks` blocks, if that is
    /// known. Reads its header and its table: about a kilobyte, and four bytes per run.
    pub fn open(source: Arc<dyn ReadAt>, offset: u64, len: u64, blocks: Option<usize>) -> Result<Self, Wrong> {
        if len < HEADER as u64 || offset.checked_add(len).is_none() {
            return Err(Wrong::damaged("it is too short"));
        }
        let header = layout::read_exactly(&*source, offset, HEADER)?;
        let header = Header::read(&header, len, blocks)?;
        let table = layout::read_exactly(&*source, offset + HEADER as u64, header.table)?;
        let table = Table::read(&table, &header)?;
        Ok(Self { source, offset, header, table })
    }

    /// The same for an index in memory, which it copies.
    pub fn of_bytes(bytes: &[u8], blocks: usize) -> Result<Self, Wrong> {
        Self::open(Arc::new(Owned(bytes.into())), 0, bytes.len() as u64, Some(blocks))
    }

    /// The number of blocks of its span.
    pub fn blocks(&self) -> usize {
        self.header.blocks
    }

    /// Whether a block may have a match. [`answers`](Self::answers) gives the same for all blocks, and reads no more
    /// than this does for one.
    ///
    /// # Panics
    /// If the span has no such block.
    pub fn may_match(&self, condition: &Condition, block: usize) -> Result<Answer, Wrong> {
        Ok(self.answers(condition)?[block])
    }

    /// For each block, whether it may have a match. Reads what is known of the paths, and a run per value and per word.
    pub fn answers(&self, condition: &Condition) -> Result<Vec<Answer>, Wrong> {
        let mut answers = self.node(condition, condition.root())?;
        for (answer, flags) in answers.iter_mut().zip(&self.table.flags) {
            if flags & UNKNOWN != 0 {
                *answer = Answer::May;
            }
        }
        Ok(answers)
    }

    /// The kinds of values that the events of the span have at a path, if they are known.
    pub fn kinds(&self, path: &Path) -> Result<Option<FieldKinds>, Wrong> {
        let kinds = self.block_kinds(path)?;
        Ok(kinds.into_iter().try_fold(FieldKinds::NONE, |all, kinds| Some(all.with(kinds?))))
    }

    /// The same for each block.
    pub fn block_kinds(&self, path: &Path) -> Result<Vec<Option<FieldKinds>>, Wrong> {
        let asked = self.ask(path)?;
        Ok((0..self.header.blocks).map(|block| self.kinds_in(&asked, block)).collect())
    }

    /// For each block, two keys of [`Number::order_key`](jird::Number::order_key), between which all numbers at a path are;
    /// `None` of a block that has no number there. `None` for all if some block's are not known.
    pub(crate) fn ranges(&self, path: &Path) -> Result<Option<Vec<BlockRange>>, Wrong> {
        let asked = self.ask(path)?;
        let range = |block: usize| {
            let has_numbers = self.kinds_in(&asked, block)?.has(FieldKinds::NUMBER);
            let KnownField::Known(history) = &asked else { return Some(None) };
            if !has_numbers {
                return Some(None);
            }
            let range = history.range(block).filter(|[_, greatest]| !greatest.is_empty())?;
            Some(Some(range.map(<[u8]>::to_vec)))
        };
        Ok((0..self.header.blocks).map(range).collect())
    }

    /// The paths that are indexed, in the order in which they were first seen.
    pub fn paths(&self) -> Vec<Path> {
        let mut paths: Vec<Path> = Vec::with_capacity(self.table.fields.len());
        for field in &self.table.fields {
            let parent = field.parent.checked_sub(1).map(|parent| paths[parent as usize].clone());
            paths.push(parent.unwrap_or_default().key(field.key.clone()));
        }
        paths
    }

    /// The number of blocks that the index knows nothing about, and of those that have paths which are not indexed.
    pub fn unknown(&self) -> (usize, usize) {
        let count = |flag| self.table.flags.iter().filter(|flags| *flags & flag != 0).count();
        (count(UNKNOWN), count(HAS_OTHERS))
    }

    /// The bytes of the filter of pairs and of the filter of words.
    pub fn filter_bytes(&self) -> [u64; 2] {
        [self.header.pair_splits, self.header.word_splits].map(|splits| (splits * self.header.blocks * SPLIT) as u64)
    }

    /// Reads all of the index and checks it.
    pub fn verify(&self) -> Result<(), Wrong> {
        for field in 0..self.table.fields.len() {
            self.history(field)?;
        }
        (0..self.header.pair_splits).try_for_each(|split| self.run(Filter::Pairs, split).map(drop))?;
        (0..self.header.word_splits).try_for_each(|split| self.run(Filter::Words, split).map(drop))
    }

    fn node(&self, condition: &Condition, node: &Node) -> Result<Vec<Answer>, Wrong> {
        match node {
            Node::Leaf(leaf) => self.leaf(condition, leaf),
            Node::All(parts) => {
                let mut all = vec![Answer::May; self.header.blocks];
                for part in parts {
                    if all.iter().all(|answer| *answer != Answer::May) {
                        break;
                    }
                    for (answer, new) in all.iter_mut().zip(self.node(condition, part)?) {
                        if *answer == Answer::May {
                            *answer = new;
                        }
                    }
                }
                Ok(all)
            }
            Node::Any(parts) => {
                let mut any = vec![Answer::No(Index::Keys); self.header.blocks];
                for part in parts {
                    for (answer, new) in any.iter_mut().zip(self.node(condition, part)?) {
                        if *answer != Answer::May {
                            *answer = new;
                        }
                    }
                }
                Ok(any)
            }
        }
    }

    fn leaf(&self, condition: &Condition, leaf: &Leaf) -> Result<Vec<Answer>, Wrong> {
        let mut answers = vec![Answer::May; self.header.blocks];
        let ask = |slot: usize| condition.paths().get(slot).map_or(Ok(KnownField::Unknown), |path| self.ask(path));
        let other = leaf.other.map(ask).transpose()?;
        let asked = ask(leaf.on.slot)?;
        for (block, answer) in answers.iter_mut().enumerate() {
            *answer = self.by_facts(&leaf.on, &asked, other.as_ref(), block);
        }
        if let Some(pairs) = &leaf.on.pairs {
            let may_have = self.lookup(Filter::Pairs, pairs, &answers)?;
            no(&mut answers, Index::Pairs, |block| self.table.flags[block] & NO_PAIRS != 0 || may_have[block]);
        }
        if let Some(words) = &leaf.words {
            let may_have = self.texts(words, &answers)?;
            no(&mut answers, Index::Words, |block| {
                let has_numbers = || self.kinds_in(&asked, block).is_none_or(|kinds| kinds.has(FieldKinds::NUMBER));
                let hides_some = words.of_search && self.table.flags[block] & FOR_SEARCH == 0;
                may_have[block] || hides_some || words.unless_numbers && has_numbers()
            });
        }
        Ok(answers)
    }

    fn by_facts(&self, on: &On, asked: &KnownField, other: Option<&KnownField>, block: usize) -> Answer {
        let Some(kinds) = self.kinds_in(asked, block) else { return Answer::May };
        let mut kinds = kinds.and(on.kinds);
        if let Some(other) = other
            && let Some(others) = self.kinds_in(other, block)
        {
            // `false` and `true` are of one kind.
            let whole =
                |kinds: FieldKinds| if kinds.has(FieldKinds::BOOLS) { kinds.with(FieldKinds::BOOLS) } else { kinds };
            kinds = whole(kinds).and(whole(others));
        }
        if kinds.is_empty() {
            return Answer::No(Index::Keys);
        }
        if let Some((op, key)) = &on.range
            && let KnownField::Known(history) = asked
            && let Some(range) = history.range(block)
            && !range_may_hold(range, *op, key)
        {
            return Answer::No(Index::Range);
        }
        Answer::May
    }

    /// The kinds of a path in a block, if they are known.
    fn kinds_in(&self, asked: &KnownField, block: usize) -> Option<FieldKinds> {
        let flags = self.table.flags[block];
        match asked {
            _ if flags & UNKNOWN != 0 => None,
            KnownField::Unknown => None,
            KnownField::Absent => (flags & HAS_OTHERS == 0).then_some(FieldKinds::MISSING),
            KnownField::Known(history) => Some(history.kinds(block)),
        }
    }

    fn ask(&self, path: &Path) -> Result<KnownField, Wrong> {
        let Some(keys) = keys(path) else { return Ok(KnownField::Unknown) };
        let mut parent = 0;
        for key in keys {
            if key.len() > KEY_MAX {
                return Ok(KnownField::Unknown);
            }
            // Of a thousand fields at most.
            let found = self.table.fields.iter().position(|field| field.parent == parent && *field.key == *key);
            let Some(found) = found else { return Ok(KnownField::Absent) };
            parent = found as u32 + 1;
        }
        self.history(parent as usize - 1).map(KnownField::Known)
    }

    fn history(&self, field: usize) -> Result<FieldHistory, Wrong> {
        let entry = &self.table.fields[field];
        let at = HEADER as u64 + self.header.table as u64 + entry.at;
        let bytes = layout::read_exactly(&*self.source, self.offset + at, entry.len as usize)?;
        if !hash::has_check32(&bytes, entry.check) {
            return Err(Wrong::damaged("the check of a field's facts is wrong"));
        }
        FieldHistory::read(bytes, self.header.blocks)
    }

    /// For each block, whether it may have one of the texts. Blocks without a match are not looked at.
    fn texts(&self, words: &Words, answers: &[Answer]) -> Result<Vec<bool>, Wrong> {
        let mut any = vec![false; answers.len()];
        for text in &words.texts {
            let mut all: Vec<bool> = answers.iter().map(|answer| *answer == Answer::May).collect();
            for word in text {
                if !all.contains(&true) {
                    break;
                }
                let run = self.run(Filter::Words, bloom::split_of(*word, self.header.word_splits))?;
                for (block, (all, split)) in all.iter_mut().zip(run.as_chunks::<SPLIT>().0).enumerate() {
                    *all = *all && bloom::may_have(split, self.in_block(*word, block));
                }
            }
            any.iter_mut().zip(all).for_each(|(any, all)| *any |= all);
        }
        Ok(any)
    }

    /// For each block, whether it may have one of the hashes.
    fn lookup(&self, filter: Filter, hashes: &[u64], answers: &[Answer]) -> Result<Vec<bool>, Wrong> {
        let mut any = vec![false; answers.len()];
        if !answers.contains(&Answer::May) {
            return Ok(any);
        }
        for hash in hashes {
            let run = self.run(filter, bloom::split_of(*hash, self.splits(filter)))?;
            for (block, (any, split)) in any.iter_mut().zip(run.as_chunks::<SPLIT>().0).enumerate() {
                *any = *any || bloom::may_have(split, self.in_block(*hash, block));
            }
        }
        Ok(any)
    }

    /// What chooses the bits of a hash in a block.
    fn in_block(&self, hash: u64, block: usize) -> u32 {
        if self.header.is_spread { hash::in_block(hash, block) } else { hash as u32 }
    }

    fn splits(&self, filter: Filter) -> usize {
        match filter {
            Filter::Pairs => self.header.pair_splits,
            Filter::Words => self.header.word_splits,
        }
    }

    /// A split of all blocks.
    fn run(&self, filter: Filter, split: usize) -> Result<Vec<u8>, Wrong> {
        let (before, checks) = match filter {
            Filter::Pairs => (0, &self.table.pair_checks),
            Filter::Words => (self.header.pair_splits, &self.table.word_checks),
        };
        let len = self.header.blocks * SPLIT;
        let at = HEADER as u64 + self.header.table as u64 + self.header.facts + ((before + split) * len) as u64;
        let run = layout::read_exactly(&*self.source, self.offset + at, len)?;
        if !checks.get(split).is_some_and(|check| hash::has_check32(&run, *check)) {
            return Err(Wrong::damaged("the check of a run is wrong"));
        }
        Ok(run)
    }
}

#[derive(Clone, Copy)]
enum Filter {
    Pairs,
    Words,
}

/// Blocks that may have a match so far, and have none as another index knows.
fn no(answers: &mut [Answer], index: Index, may: impl Fn(usize) -> bool) {
    for (block, answer) in answers.iter_mut().enumerate() {
        if *answer == Answer::May && !may(block) {
            *answer = Answer::No(index);
        }
    }
}

/// Whether some number between the bounds may compare so with the number of this key.
fn range_may_hold([least, greatest]: [&[u8]; 2], op: Comparison, key: &[u8]) -> bool {
    let unbounded = greatest.is_empty();
    match op {
        Comparison::Eq => least <= key && (unbounded || key <= greatest),
        Comparison::Ne => !(least == key && greatest == key),
        Comparison::Lt => least < key,
        Comparison::Le => least <= key,
        Comparison::Gt => unbounded || greatest > key,
        Comparison::Ge => unbounded || greatest >= key,
    }
}

/// Bytes that are their own source.
struct Owned(Box<[u8]>);

impl ReadAt for Owned {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        (&*self.0).read_at(buffer, offset)
    }
}
