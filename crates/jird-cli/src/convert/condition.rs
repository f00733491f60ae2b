//! `--where`: keeps only records for which a condition holds.

use super::ConvertArgs;
use super::source::AnySource;
use crate::condition;
use anyhow::{Error, Result};
use jird::event::filter::Project;
use jird::event::{Failure, Pattern, Sink, Source};
use jird::hooks::event::{Condition, Recording};
use jird::{Path, record::Step};

/// Holds each record until the condition has been evaluated.
#[derive(Clone)]
pub(super) struct WhereFilter {
    condition: Condition,
    /// The record, reduced to the fields that the condition and the target use.
    record: Project<Recording>,
    columns: Option<Vec<String>>,
}

impl WhereFilter {
    /// Builds the condition; `None` without `--where`.
    pub(super) fn new(args: &ConvertArgs) -> Result<Option<Self>> {
        let Some(condition) = args.condition.as_deref().map(condition::read).transpose()? else { return Ok(None) };
        let columns = selected(args).and_then(|selected| {
            let looked_at = condition.paths().iter().map(|path| match path.steps().first() {
                Some(Step::Key(key)) => Some(key.to_string()),
                _ => None,
            });
            let mut columns: Vec<String> = looked_at.chain(selected.into_iter().map(Some)).collect::<Option<_>>()?;
            columns.sort_unstable();
            columns.dedup();
            Some(columns)
        });
        let pattern = |key: &String| Path::root().key(key.as_str()).to_string().parse();
        let patterns: Vec<Pattern> = match &columns {
            Some(columns) => columns.iter().map(pattern).collect::<Result<_, _>>()?,
            None => vec![Pattern::default()],
        };
        Ok(Some(Self { condition, record: Project::new(Recording::new(), patterns), columns }))
    }

    /// The top-level keys that are used; `None` if all are.
    pub(super) fn columns(&self) -> Option<Vec<String>> {
        self.columns.clone()
    }

    /// The paths that the condition looks at.
    pub(super) fn paths(&self) -> &[Path] {
        self.condition.paths()
    }

    /// Which of these paths records so far had.
    pub(super) fn met(&self) -> &[bool] {
        self.condition.met()
    }

    /// The number of values so far that could not be compared.
    pub(super) fn mismatches(&self) -> u64 {
        self.condition.mismatches().kinds
    }

    /// Reads a record, and sends it if the condition holds. Returns whether the record was sent; `None` after the last
    /// record.
    pub(super) fn send_record<S: Sink>(
        &mut self,
        source: &mut AnySource<'_>,
        sink: &mut S,
    ) -> Result<Option<bool>, Failure<Error, S::Error>> {
        let read = source.send_record(&mut self.record).map_err(|failure| match failure {
            Failure::Source(error) => Failure::Source(error),
            Failure::Sink(error, place) => Failure::Source(Error::new(error).context(place.to_string())),
        })?;
        let record = self.record.get_ref();
        if !read || !self.condition.holds(record) {
            return Ok(read.then_some(false));
        }
        record.source().send_record(sink).map(Some).map_err(|failure| match failure {
            Failure::Source(never) => match never {},
            Failure::Sink(error, place) => Failure::Sink(error, place),
        })
    }
}

/// The top-level keys that `--select` names; `None` if that is all keys.
pub(super) fn selected(args: &ConvertArgs) -> Option<Vec<String>> {
    let top = |path: &String| path.split('.').next().filter(|key| *key != "*").map(str::to_owned);
    if args.select.is_empty() { None } else { args.select.iter().map(top).collect() }
}
