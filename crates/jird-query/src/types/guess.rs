//! Reads the input once instead of twice, if the result comes only after the last record.
//!
//! Types come from all records, so a query that computes with fields would read everything twice: once for the types
//! and once for the answer. But an aggregate or a sort returns nothing before it has read all records. So the types of
//! the first records serve as a guess, and the scan observes the types of all records while it runs. Before the first
//! row goes out, the gate knows whether the guess was right. If it was not, no output has been written, and the query
//! runs again with the types that were found.

use crate::base::error::Error;
use crate::input::Input;
use crate::scan::{ScanOptions, Watch};
use crate::sql::{Rewritten, SourceUse};
use crate::types::FieldTypes;
use crate::types::infer::{self, Types};
use crate::types::prepared::Source;
use jird::lines::Check;
use std::cell::Cell;

/// Decides, before the first row goes out, whether it may.
#[derive(Default)]
pub(crate) struct Gate<'s> {
    /// The table whose types were guessed.
    guessed: Option<&'s Source<'s>>,
    opened: Cell<bool>,
}

impl<'s> Gate<'s> {
    pub(crate) fn of(guessed: &'s Source<'s>) -> Self {
        Self { guessed: Some(guessed), opened: Cell::default() }
    }

    /// Whether types were guessed.
    pub(crate) fn guesses(&self) -> bool {
        self.guessed.is_some()
    }

    /// Lets rows pass if the types are right.
    pub(crate) fn open(&self) -> Result<(), Error> {
        if self.guessed.is_some_and(|source| !self.opened.get() && !source.guessed_right()) {
            return Err(stop());
        }
        self.opened.set(true);
        Ok(())
    }

    /// Whether a row may have gone out.
    pub(crate) fn is_open(&self) -> bool {
        self.opened.get()
    }
}

/// A table whose types are guessed.
pub(crate) struct Guess<'r> {
    pub(crate) used: &'r SourceUse,
    pub(crate) input: Input,
    pub(crate) types: Types,
    pub(crate) watch: Watch,
}

/// The error that ends a run before a row goes out. The user never sees it: it means a wrong guess, not a failed query.
pub(crate) fn stop() -> Error {
    Error::data("the types of the first records were taken for those of all")
}

/// The result of a guess.
pub(crate) enum Guessed {
    /// The query is done. These notes are for the user.
    Right(Vec<String>),
    /// No output was written, though records may have been read. These are the types of all records, if every record was
    /// seen.
    Wrong(Option<Types>),
}

/// Whether guessing may help: there must be one table, whose types matter and whose records the scan sees all.
pub(crate) fn may_help(rewritten: &Rewritten, schema: &FieldTypes, options: &ScanOptions) -> bool {
    let [used] = &rewritten.sources[..] else { return false };
    // If not all records are checked, the scan does not evaluate a condition on every record.
    let asks_all = options.lines.check == Check::All || rewritten.leaves.is_empty();
    rewritten.gathers && asks_all && options.bad.is_none() && infer::reads(used, schema)
}

/// The table whose types to guess, if guessing may help. It must be readable again.
pub(crate) fn source<'r>(
    rewritten: &'r Rewritten,
    inputs: &[Input],
    schema: &FieldTypes,
    options: &ScanOptions,
) -> Option<Guess<'r>> {
    let ([used], [input]) = (&rewritten.sources[..], inputs) else { return None };
    if !may_help(rewritten, schema, options) {
        return None;
    }
    // Errors in the first records are reported when all records are read.
    let types = Types::of_first(input, used, schema, options).ok()?;
    let paths: Vec<_> = types.fields.iter().map(|(path, _)| path.clone()).collect();
    let are_read = paths.iter().all(|path| used.columns.iter().any(|(column, _)| column == path));
    are_read.then(|| Guess { used, input: input.clone(), types, watch: Watch::new(paths, input) })
}
