//! What a query knows of its input from one attempt to the next.

use crate::base::error::Error;
use crate::input::Input;
use crate::scan::ScanOptions;
use crate::sql::{FieldKnowledge, Rewritten};
use crate::types::FieldTypes;
use crate::types::guess::Guessed;
use crate::types::infer::{self, Types};
use std::collections::HashMap;

/// The end of an attempt.
pub(crate) enum Attempt {
    /// The query is done. These notes are for the user.
    Done(Vec<String>),
    /// More is known of the fields, and another attempt can be made.
    Learned,
}

/// What was learned of the input in earlier attempts.
#[derive(Default)]
pub(crate) struct Learned {
    pub(crate) known: FieldKnowledge,
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

    /// Infers the types that are needed and not known.
    pub(crate) fn infer(
        &mut self,
        rewritten: &Rewritten,
        opened: &[Input],
        schema: &FieldTypes,
        scan: &ScanOptions,
    ) -> Result<(), Error> {
        for (source, input) in rewritten.sources.iter().zip(opened) {
            if !self.types.get(&source.table).is_some_and(|types| types.cover(source, schema)) {
                input.expect(u64::from(infer::reads(source, schema)));
                self.types.insert(source.table.clone(), Types::infer(input, source, schema, scan)?);
            }
        }
        Ok(())
    }

    /// What follows from a guess.
    pub(crate) fn after(&mut self, tried: Guessed, rewritten: &Rewritten) -> Attempt {
        match tried {
            Guessed::Right(notes) => Attempt::Done(notes),
            Guessed::Wrong(types) => {
                self.guesses = false;
                self.types.extend(types.map(|types| (rewritten.sources[0].table.clone(), types)));
                Attempt::Learned
            }
        }
    }

    /// Whether this is news. What was known of other fields stays known: another reading of the query may ask about other
    /// fields, and would ask about the first ones again.
    pub(crate) fn learns(&mut self, known: FieldKnowledge) -> bool {
        let before = self.known.clone();
        for (table, path, kind) in known.types {
            match self.known.types.iter_mut().find(|(of, other, _)| *of == table && *other == path) {
                Some((.., known)) => *known = kind,
                None => self.known.types.push((table, path, kind)),
            }
        }
        for field in known.decimals {
            if !self.known.decimals.contains(&field) {
                self.known.decimals.push(field);
            }
        }
        self.known != before
    }
}
