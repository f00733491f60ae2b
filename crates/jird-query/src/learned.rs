//! What a query knows of its input from one attempt to the next.

use crate::infer::{self, Types};
use crate::input::Input;
use crate::sql::{Known, Rewritten};
use crate::types::FieldTypes;
use std::collections::HashMap;

/// What was learned of the input in earlier attempts.
#[derive(Default)]
pub(crate) struct Learned {
    pub(crate) known: Known,
    /// The types of all records, by table.
    pub(crate) types: HashMap<String, Types>,
    /// Whether types may be guessed: no guess was wrong yet.
    pub(crate) guesses: bool,
    /// Whether plans take as little memory as they can: others took too much.
    pub(crate) spares: bool,
}

impl Learned {
    /// Learns what the indexes of stores tell, which look at what the query is about to read.
    pub(crate) fn look_at_stores(&mut self, rewritten: &Rewritten, opened: &[Input], schema: &FieldTypes) {
        for (source, input) in rewritten.sources.iter().zip(opened) {
            input.stores().for_each(|(_, store)| store.look_at(&infer::looked_at(source, schema)));
            if let Some(types) = Types::of_index(input, source, schema) {
                self.types.entry(source.table.clone()).or_insert(types);
            }
        }
    }

    /// Whether this is news.
    pub(crate) fn learns(&mut self, known: Known) -> bool {
        let is_news = self.known != known;
        self.known = known;
        is_news
    }
}
