//! What tasks have found besides rows: counts, types that were watched, and bad records.

use super::alone::Alone;
use super::message::{of_json, to_json, wrong};
use crate::base::error::Error;
use crate::functions::{JsonArithmetic, LeftOut, Narrow, PredicateUdf, Timestamp};
use crate::scan::bad::{BadExtent, BadGroup, BadPart, Wrong};
use crate::scan::{Extent, NdjsonSource, TableScan, note};
use crate::setup::registered::Registered;
use crate::types::prepared::Source;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_datasource::source::DataSourceExec;
use jird::ErrorKind;
use jird::event::Place;
use jird_formats::Accumulator;
use jird_formats::files::BadRecord;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};

/// What a task has found.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Task {
    scans: Vec<Scanned>,
    mismatches: u64,
    infinite: u64,
    left_out: Vec<u64>,
}

/// What the scans of a table have found.
#[derive(Debug, Serialize, Deserialize)]
struct Scanned {
    table: String,
    records: u64,
    bytes: u64,
    mismatches: u64,
    touched: u64,
    searched_bytes: u64,
    unsearched_bytes: u64,
    is_stopped: bool,
    seen: Vec<bool>,
    read: Vec<String>,
    /// The lines of ranges: file, start, count.
    lines: Vec<(usize, u64, u64)>,
    watched: Option<Watched>,
    bad: Vec<Bad>,
}

/// The types that were watched, and in how much of the input: bytes of files that are cut, and other files.
#[derive(Debug, Serialize, Deserialize)]
struct Watched {
    fields: Vec<Vec<u64>>,
    bytes: u64,
    files: usize,
}

/// Bad records of a file.
#[derive(Debug, Serialize, Deserialize)]
enum Bad {
    /// In a range that begins at `start`.
    Lines { file: usize, start: u64, notes: (bool, bool), records: Vec<BadLine> },
    /// A row of a table: record, offset and line.
    Row { file: usize, kind: String, place: (u64, u64, u64), message: String, raw: String },
}

#[derive(Debug, Serialize, Deserialize)]
struct BadLine {
    lines: u64,
    offset: u64,
    /// The code of the rule and the column, if the record is not JSON.
    rule: Option<(String, u64)>,
    /// What does not fit, if it is JSON.
    unfit: Option<String>,
    raw: String,
}

/// Any bytes as a text, a character each.
fn text_of(raw: &[u8]) -> String {
    raw.iter().map(|byte| char::from(*byte)).collect()
}

fn bytes_of(text: &str) -> Vec<u8> {
    text.chars().map(|char| u8::try_from(u32::from(char)).unwrap_or(b'?')).collect()
}

impl Bad {
    fn of(kept: BadGroup) -> Self {
        let file = kept.file;
        match kept.what {
            BadExtent::Lines { start, found, notes } => {
                let line = |(bad, raw): (&crate::scan::bad::Bad, &[u8])| {
                    let (rule, unfit) = match &bad.what {
                        Wrong::Rule(kind, column) => (Some((kind.code().to_owned(), *column)), None),
                        Wrong::Unfit(words) => (None, Some(words.clone())),
                    };
                    BadLine { lines: bad.lines, offset: bad.offset, rule, unfit, raw: text_of(raw) }
                };
                let before = found.lines_before();
                let records = found.records().map(line).map(|line| BadLine { lines: before + line.lines, ..line });
                Self::Lines { file, start, notes, records: records.collect() }
            }
            BadExtent::Row(row) => Self::Row {
                file,
                kind: row.kind.to_owned(),
                place: (row.place.record, row.place.offset, row.place.line),
                message: row.message,
                raw: text_of(&row.raw),
            },
        }
    }

    /// Where it is noted: by file, then by its place there.
    fn order(&self) -> (usize, u64) {
        match self {
            Self::Lines { file, start, .. } => (*file, *start),
            Self::Row { file, place, .. } => (*file, place.0),
        }
    }
}

impl Scanned {
    fn of(shared: &TableScan) -> Self {
        let tally = &shared.tally;
        let list = |items: &std::sync::Mutex<Vec<String>>| items.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let watched = shared.watch.as_ref().map(|watch| {
            let (fields, extent) = watch.seen();
            let fields = fields.iter().map(Accumulator::to_words).collect();
            Watched { fields, bytes: extent.bytes, files: extent.files }
        });
        let bad = shared.options.bad.as_ref().map(|bad| bad.take_kept().into_iter().map(Bad::of).collect());
        Self {
            table: shared.table.clone(),
            records: tally.records.load(Relaxed),
            bytes: tally.bytes.load(Relaxed),
            mismatches: tally.mismatches.load(Relaxed),
            touched: tally.touched.load(Relaxed),
            searched_bytes: tally.searched_bytes.load(Relaxed),
            unsearched_bytes: tally.unsearched_bytes.load(Relaxed),
            is_stopped: tally.stopped.load(Relaxed),
            seen: tally.seen.iter().map(|seen| seen.load(Relaxed)).collect(),
            read: list(&tally.read),
            lines: tally.lines.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            watched,
            bad: bad.unwrap_or_default(),
        }
    }

    /// Adds this to what the table of the process that asked has seen. Bad records are returned: they are noted when
    /// those of all tasks are known.
    fn merge_into(self, shared: &TableScan) -> Result<Vec<Bad>> {
        let tally = &shared.tally;
        for (sum, more) in [
            (&tally.records, self.records),
            (&tally.bytes, self.bytes),
            (&tally.mismatches, self.mismatches),
            (&tally.touched, self.touched),
            (&tally.searched_bytes, self.searched_bytes),
            (&tally.unsearched_bytes, self.unsearched_bytes),
        ] {
            sum.fetch_add(more, Relaxed);
        }
        tally.stopped.fetch_or(self.is_stopped, Relaxed);
        tally.seen.iter().zip(&self.seen).for_each(|(all, seen)| {
            all.fetch_or(*seen, Relaxed);
        });
        note(&tally.read, self.read);
        note(&tally.lines, self.lines);
        if let (Some(watch), Some(Watched { fields, bytes, files })) = (&shared.watch, self.watched) {
            let fields = fields.iter().map(|words| Accumulator::from_words(words)).collect::<Option<Vec<_>>>();
            let fields = fields.ok_or_else(|| wrong("a task tells of types that do not exist"))?;
            watch.take(&fields, Extent { bytes, files });
        }
        Ok(self.bad)
    }
}

/// What the task that ran this plan has found, as a text for [`merge`]; `None` if nothing in it is ours. Bad records
/// are reported once.
pub fn facts(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<String>> {
    let (mut task, mut known) = (Task::default(), HashSet::new());
    let is_ours = task.add(plan, &mut known)?;
    if is_ours { to_json(&task).map(Some) } else { Ok(None) }
}

impl Task {
    /// Adds what the steps of a plan have found. Returns whether any of them is ours.
    fn add(&mut self, plan: &Arc<dyn ExecutionPlan>, known: &mut HashSet<usize>) -> Result<bool> {
        let mut is_ours = false;
        plan.apply(|node| {
            if let Some(plan) = Alone::plan(node) {
                is_ours |= self.add(plan, known)?;
            }
            let scan = node.downcast_ref::<DataSourceExec>();
            if let Some((_, source)) = scan.and_then(DataSourceExec::downcast_to_file_source::<NdjsonSource>) {
                is_ours = true;
                if known.insert(Arc::as_ptr(&source.shared).addr()) {
                    self.scans.push(Scanned::of(&source.shared));
                }
            }
            node.apply_expressions(&mut |expr| {
                expr.apply(|part| {
                    is_ours |= self.add_function(part, known);
                    Ok(TreeNodeRecursion::Continue)
                })
            })?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(is_ours)
    }

    /// Adds what a function has counted, if it counts. A counter that several calls share is added once.
    fn add_function(&mut self, expr: &Arc<dyn PhysicalExpr>, known: &mut HashSet<usize>) -> bool {
        let Some(call) = expr.downcast_ref::<ScalarFunctionExpr>() else { return false };
        let function = call.fun().inner();
        let mut count = |counter: &Arc<AtomicU64>| {
            if known.insert(Arc::as_ptr(counter).addr()) { counter.load(Relaxed) } else { 0 }
        };
        let left_out: &LeftOut = if let Some(predicate) = function.downcast_ref::<PredicateUdf>() {
            self.mismatches += count(predicate.mismatches());
            return true;
        } else if let Some(arithmetic) = function.downcast_ref::<JsonArithmetic>() {
            self.infinite += count(arithmetic.infinite());
            return true;
        } else if let Some(narrow) = function.downcast_ref::<Narrow>() {
            narrow.left_out()
        } else if let Some(time) = function.downcast_ref::<Timestamp>() {
            time.left_out()
        } else {
            return false;
        };
        if known.insert(Arc::as_ptr(left_out).addr()) {
            self.left_out.resize(self.left_out.len().max(left_out.len()), 0);
            self.left_out.iter_mut().zip(left_out.iter()).for_each(|(sum, more)| *sum += more.load(Relaxed));
        }
        true
    }
}

/// Adds what all tasks have found to what the process that asked knows, as if it had found it itself.
pub(crate) fn merge(all: &[String], sources: &[Source<'_>], registered: &Registered) -> Result<()> {
    let mut bad: Vec<Vec<Bad>> = sources.iter().map(|_| Vec::new()).collect();
    for text in all {
        let task: Task = of_json(text.as_bytes())?;
        registered.mismatches.fetch_add(task.mismatches, Relaxed);
        registered.infinite.fetch_add(task.infinite, Relaxed);
        for (sum, more) in registered.left_out.iter().zip(&task.left_out) {
            sum.fetch_add(*more, Relaxed);
        }
        for scanned in task.scans {
            let source = sources.iter().position(|source| source.used.table == scanned.table);
            let source = source.ok_or_else(|| wrong("a task tells of a table that the query does not have"))?;
            bad[source].extend(scanned.merge_into(&sources[source].shared)?);
        }
    }
    for (source, mut bad) in sources.iter().zip(bad) {
        bad.sort_by_key(Bad::order);
        for bad in bad {
            note_bad(source, bad)?;
        }
    }
    Ok(())
}

fn note_bad(source: &Source<'_>, bad: Bad) -> Result<(), Error> {
    let Some(sink) = &source.shared.options.bad else { return Ok(()) };
    let file = |index: usize| {
        let file = source.input.files.get(index);
        file.ok_or_else(|| Error::sql("a task tells of a file that the query does not have"))
    };
    match bad {
        Bad::Lines { file: index, start, notes, records } => {
            let lines = source.shared.tally.lines.lock().unwrap_or_else(PoisonError::into_inner);
            let before = lines.iter().filter(|(file, other, _)| *file == index && *other < start);
            let before = before.map(|(_, _, lines)| lines).sum();
            drop(lines);
            let mut found = BadPart::default();
            for BadLine { lines, offset, rule, unfit, raw } in records {
                let what = match rule {
                    Some((code, column)) => {
                        let kind = ErrorKind::of_code(&code);
                        let kind = kind.ok_or_else(|| Error::sql("a task tells of a rule that does not exist"))?;
                        Wrong::Rule(kind, column)
                    }
                    None => Wrong::Unfit(unfit.unwrap_or_default()),
                };
                found.push(lines, offset, what, &bytes_of(&raw));
            }
            sink.note(file(index)?, start, found.after_lines(before), notes)
        }
        Bad::Row { file: index, kind, place: (record, offset, line), message, raw } => {
            let raw = bytes_of(&raw);
            let place = Place { record, offset, line };
            sink.note_row(&BadRecord { file: &file(index)?.shown(), place, kind: &kind, message: &message, raw: &raw })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_come_back() {
        let all: Vec<u8> = (0..=255).collect();
        let sent = to_json(&text_of(&all)).unwrap();
        assert_eq!(bytes_of(&of_json::<String>(sent.as_bytes()).unwrap()), all);
    }
}
