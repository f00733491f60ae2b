//! Columns of few texts: a number per row, and the texts once per span.
//!
//! The texts are those of some events of the span. An event with another one has it among the spellings.

use super::texts;
use arrow_array::StringArray;
use jird::record::Field;
use std::collections::{BTreeMap, HashMap};

/// The most texts of such a column.
pub(super) const COUNT_MAX: usize = 64;
/// On average each comes this many times, at least.
const REPEATS: usize = 4;

/// The texts that a field has in a sample.
#[derive(Default)]
pub(super) struct Sampled {
    counts: BTreeMap<Box<str>, usize>,
    texts: usize,
}

impl Sampled {
    pub(super) fn add(&mut self, text: &str) {
        self.texts += 1;
        if let Some(count) = self.counts.get_mut(text) {
            *count += 1;
        } else if self.counts.len() <= COUNT_MAX {
            self.counts.insert(text.into(), 1);
        }
    }

    /// The texts, if they are few and repeat.
    pub(super) fn words(&self) -> Option<StringArray> {
        let count = self.counts.len();
        let are_few = count > 0 && count <= COUNT_MAX && self.texts >= REPEATS * count;
        are_few.then(|| StringArray::from_iter_values(self.counts.keys()))
    }
}

/// The number of each text.
#[derive(Clone, Debug)]
pub(super) struct WordNumbers {
    /// By what jird writes for them.
    of_json: HashMap<Box<[u8]>, u8>,
    last: Option<(Box<[u8]>, u8)>,
}

impl WordNumbers {
    pub(super) fn new(words: &StringArray) -> Self {
        let json = |word: &str| {
            let mut json = Vec::new();
            texts::text(word, &mut json);
            json.into_boxed_slice()
        };
        let of_json = words.iter().flatten().zip(0..).map(|(word, number)| (json(word), number)).collect();
        Self { of_json, last: None }
    }

    /// The number of a field's text, and whether jird writes the text as it stands there. `None` if it has none.
    pub(super) fn of(&mut self, field: Field<'_>, decoded: &mut String, written: &mut Vec<u8>) -> Option<(u8, bool)> {
        let raw = field.raw().as_bytes();
        if let Some((same, number)) = &self.last
            && **same == *raw
        {
            return Some((*number, true));
        }
        if let Some((json, number)) = self.of_json.get_key_value(raw) {
            self.last = Some((json.clone(), *number));
            return Some((*number, true));
        }
        // It may be one of them, spelled in another way.
        if !raw.contains(&b'\\') || raw.len() > 6 * super::TEXT_MAX + 2 {
            return None;
        }
        written.clear();
        texts::text(field.text(decoded)?, written);
        self.of_json.get(&written[..]).map(|number| (*number, false))
    }
}
