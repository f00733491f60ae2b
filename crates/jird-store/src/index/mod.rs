//! Indexes that only leave out work.

mod kinds;

use jird::Path;
use jird::lines::ReadAt;
use jird::record::Predicate;
use std::fmt;
use std::sync::Arc;

pub use kinds::FieldKinds;

/// A predicate, made ready for indexes.
#[derive(Clone, Debug)]
pub struct Condition;

impl Condition {
    /// A condition; the predicate's slots index `paths`.
    pub fn new(_predicate: &Predicate, _paths: &[Path]) -> Self {
        Self
    }
}

/// Which index ruled a block out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// The least and the greatest numbers.
    Range,
    /// The filter of fields with their values.
    Pairs,
    /// The filter of words.
    Words,
    /// The keys and kinds.
    Keys,
}

/// Whether a block may have a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It may.
    May,
    /// It surely has none.
    #[allow(dead_code, reason = "the real index says it")]
    No(Index),
}

#[derive(Debug)]
pub(crate) struct IndexBuilder;

impl IndexBuilder {
    pub(crate) fn new() -> Self {
        Self
    }
    pub(crate) fn begin_block(&mut self) {}
    pub(crate) fn add(&mut self, _event: &[u8]) {}
    pub(crate) fn end_block(&mut self) {}
    pub(crate) fn finish(self) -> Vec<u8> {
        Vec::new()
    }
}

#[derive(Debug)]
pub(crate) struct Wrong;

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("wrong")
    }
}

#[derive(Debug)]
pub(crate) struct SpanIndex;

impl SpanIndex {
    pub(crate) fn open(_bytes: Arc<dyn ReadAt>, _blocks: usize) -> Result<Self, Wrong> {
        Ok(Self)
    }
    pub(crate) fn may_match(&self, _condition: &Condition, _block: usize) -> Answer {
        Answer::May
    }
    pub(crate) fn kinds(&self, _path: &Path) -> Option<FieldKinds> {
        None
    }
}
