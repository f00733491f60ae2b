//! Which blocks of a text may have a match.

use super::saved::Saved;
use super::text::{BlockId, Home, Piece, Text, UnitHome};
use crate::event::TextOrder;
use crate::index::{Answer, Condition, Index, Times};

/// The blocks of a section that may have a match, and what was saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selected {
    /// The blocks, in order.
    pub blocks: Vec<BlockId>,
    /// What need not be read.
    pub skipped: Skipped,
    /// What each span's indexes saved, for [`Snapshot::note_saved`](crate::Snapshot::note_saved).
    pub saved: Vec<(u64, Saved)>,
}

/// The blocks that were left out, by what ruled them out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// All that were left out.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Left out by when their events are. Of sections that are outside as a whole, only the bytes count.
    pub by_time: u64,
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
        let Self { blocks, bytes, by_time, by_range, by_pairs, by_words, by_keys } = more;
        self.blocks += blocks;
        self.bytes += bytes;
        self.by_time += by_time;
        self.by_range += by_range;
        self.by_pairs += by_pairs;
        self.by_words += by_words;
        self.by_keys += by_keys;
    }
}

impl Text {
    /// The blocks of a section that may have an event that matches, and what was saved by which index. Without a
    /// condition, all. The section is opened only if some block may match.
    ///
    /// # Panics
    /// If there is no such section.
    pub fn select(&self, section: usize, condition: Option<&Condition>) -> Selected {
        let Some(condition) = condition else {
            return Selected { blocks: self.blocks_of(section).collect(), ..Selected::default() };
        };
        let state = &*self.snapshot.0;
        let order = self.sections[section].units.iter().fold(TextOrder::Empty, |order, unit| match unit.home {
            UnitHome::Span(span) => order.and(state.spans[span].entry().order),
            UnitHome::Recent(_) => order.and(state.recent.order()),
        });
        let is_outside = |bounds| !condition.may_hold_at(&state.settings.time_field, &Times { bounds, order });
        let facts = self.section(section);
        if is_outside(facts.times) {
            return Selected { skipped: Skipped { bytes: facts.bytes, ..Skipped::default() }, ..Selected::default() };
        }
        let mut answers: Vec<(usize, Vec<Answer>)> = Vec::new();
        let mut has_logs = false;
        for unit in &self.sections[section].units {
            match unit.home {
                UnitHome::Span(span) => answers.push((span, state.spans[span].answers(condition))),
                UnitHome::Recent(_) => has_logs = true,
            }
        }
        let asked = answers.iter().filter(|(_, answers)| !answers.is_empty());
        let saved = asked.map(|(span, answers)| (state.spans[*span].number(), Saved::of(answers))).collect();
        let mut selected = Selected { saved, ..Selected::default() };
        let is_ruled_out = |answers: &[Answer]| !answers.is_empty() && !answers.contains(&Answer::May);
        if !has_logs && answers.iter().all(|(_, answers)| is_ruled_out(answers)) {
            let all = answers.iter().flat_map(|(_, answers)| answers);
            all.for_each(|answer| selected.skipped.add(*answer, 0));
            selected.skipped.bytes = self.section(section).bytes;
            return selected;
        }
        for (span, answers) in &mut answers {
            // An index of other blocks says nothing of these.
            if answers.len() != state.spans[*span].table().blocks.len() {
                answers.clear();
            }
        }
        for (id, block) in self.blocks_of(section).zip(self.opened(section)) {
            if is_outside(block.facts.times) {
                selected.skipped.blocks += 1;
                selected.skipped.by_time += 1;
                selected.skipped.bytes += block.facts.bytes;
                continue;
            }
            match ruled_out_by(&block.pieces, &answers) {
                Answer::May => selected.blocks.push(id),
                by @ Answer::No(_) => selected.skipped.add(by, block.facts.bytes),
            }
        }
        selected
    }
}

/// The index that rules out a block, all pieces of it.
fn ruled_out_by(pieces: &[Piece], answers: &[(usize, Vec<Answer>)]) -> Answer {
    let mut by = Answer::May;
    for piece in pieces {
        let Home::Span(span, block) = piece.home else { return Answer::May };
        let of_span = answers.iter().find(|(other, _)| *other == span);
        match of_span.and_then(|(_, answers)| answers.get(block)) {
            Some(answer @ Answer::No(_)) if by == Answer::May => by = *answer,
            Some(Answer::No(_)) => {}
            Some(Answer::May) | None => return Answer::May,
        }
    }
    by
}

impl Skipped {
    fn add(&mut self, by: Answer, bytes: u64) {
        let Answer::No(index) = by else { return };
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
