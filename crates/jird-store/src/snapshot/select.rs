//! Which blocks of a text may have a match.

use super::saved::{self, Saved};
use super::text::{Home, Text};
use crate::index::{Answer, Condition, Index};
use std::collections::HashMap;

/// The blocks of a text that may have a match, and what was saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selected {
    /// The numbers of the blocks, ascending.
    pub blocks: Vec<usize>,
    /// What need not be read.
    pub skipped: Skipped,
}

/// The blocks that indexes left out, by index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// All that were left out.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Left out by the least and greatest numbers of fields.
    pub by_range: u64,
    /// Left out by the filter of fields with their values.
    pub by_pairs: u64,
    /// Left out by the filter of words.
    pub by_words: u64,
    /// Left out by the keys and kinds of values.
    pub by_keys: u64,
}

impl Skipped {
    /// Adds what another selection saved.
    pub fn merge(&mut self, more: &Self) {
        let Self { blocks, bytes, by_range, by_pairs, by_words, by_keys } = more;
        self.blocks += blocks;
        self.bytes += bytes;
        self.by_range += by_range;
        self.by_pairs += by_pairs;
        self.by_words += by_words;
        self.by_keys += by_keys;
    }
}

impl Text {
    /// The blocks that may have an event that matches, and what was saved by which index. Without a condition, all.
    ///
    /// What was saved is noted in the store, for [`Store::info`](crate::Store::info).
    pub fn select(&self, condition: Option<&Condition>) -> Selected {
        let Some(condition) = condition else {
            return Selected { blocks: (0..self.blocks()).collect(), ..Selected::default() };
        };
        let mut selected = Selected::default();
        let mut answers = HashMap::new();
        for number in 0..self.blocks() {
            match self.ruled_out_by(number, condition, &mut answers) {
                None => selected.blocks.push(number),
                Some(index) => selected.skipped.add(index, self.block(number).bytes),
            }
        }
        let state = &*self.snapshot.0;
        let asked = answers.iter().filter(|(_, answers)| !answers.is_empty());
        saved::note(&state.folder, asked.map(|(span, answers)| (state.spans[*span].number(), Saved::of(answers))));
        selected
    }

    /// The index that rules out a block, all pieces of it. Each span is asked once, for all its blocks.
    fn ruled_out_by(
        &self,
        number: usize,
        condition: &Condition,
        answers: &mut HashMap<usize, Vec<Answer>>,
    ) -> Option<Index> {
        let mut by = None;
        for piece in &self.blocks[number].pieces {
            let Home::Span(span, block) = piece.home else { return None };
            let known = answers.entry(span).or_insert_with(|| self.ask(span, condition));
            match known.get(block) {
                Some(Answer::No(index)) => by = by.or(Some(*index)),
                Some(Answer::May) | None => return None,
            }
        }
        by
    }

    /// The answers of a span; none if it has no index that can be read, which is noted.
    fn ask(&self, span: usize, condition: &Condition) -> Vec<Answer> {
        let state = &*self.snapshot.0;
        let span = &state.spans[span];
        match span.answers(condition) {
            None => Vec::new(),
            Some(Ok(answers)) => answers,
            Some(Err(reason)) => {
                state.note_index(span, format!("{reason}; all blocks of its span are read"));
                Vec::new()
            }
        }
    }
}

impl Skipped {
    fn add(&mut self, index: Index, bytes: u64) {
        self.blocks += 1;
        self.bytes += bytes;
        match index {
            Index::Range => self.by_range += 1,
            Index::Pairs => self.by_pairs += 1,
            Index::Words => self.by_words += 1,
            Index::Keys => self.by_keys += 1,
        }
    }
}
