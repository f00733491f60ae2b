//! Columns of Arrow: their types, and their batches.

use super::failure::Failure;
use super::files::{Files, Wanted, Work};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use core::ops::ControlFlow;
use jird::lines::Match;
use jird::record::Record;
use jird::record::RecordBuffer;
use jird_formats::{Accumulator, ColumnBuilder, ColumnType};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// The most columns that are made of the keys of records.
const COLUMNS_MAX: usize = 10_000;

/// The keys of all records that a scan finds, in the order in which they come.
pub(super) fn keys(files: &Files, wanted: &Wanted) -> Result<Vec<String>, Failure> {
    let (mut all, mut known, mut failed) = (Vec::new(), HashSet::new(), None);
    files.scan(wanted, Keys::default, |done| {
        for key in done.made.found {
            if known.insert(key.clone()) {
                all.push(key);
            }
        }
        failed = done.failure;
        ControlFlow::Continue(())
    });
    failed.map_or(Ok(all), Err)
}

#[derive(Default)]
struct Keys {
    found: Vec<String>,
    known: HashSet<String>,
    buffer: RecordBuffer,
}

impl Work for Keys {
    fn record(&mut self, record: &Match<'_, '_>, _: u64) -> Result<(), String> {
        let record = Record::scan_trusted(record.text(), &mut self.buffer);
        for (key, _) in record.entries() {
            let key = key.as_str().unwrap_or_default();
            if !self.known.contains(&*key) {
                if self.found.len() == COLUMNS_MAX {
                    return Err(format!("the records have more than {COLUMNS_MAX} keys; choose columns"));
                }
                self.known.insert(key.clone().into_owned());
                self.found.push(key.into_owned());
            }
        }
        Ok(())
    }
}

/// The types of the columns: those that are given, and for the others the narrowest that holds all values.
pub(super) fn types(files: &Files, wanted: &Wanted, given: &[Option<ColumnType>]) -> Result<Vec<ColumnType>, Failure> {
    if let Some(types) = given.iter().copied().collect::<Option<Vec<_>>>() {
        return Ok(types);
    }
    let (mut all, mut failed) = (vec![Accumulator::default(); given.len()], None);
    let new = || Types { seen: vec![Accumulator::default(); given.len()], given };
    files.scan(wanted, new, |done| {
        all.iter_mut().zip(&done.made.seen).for_each(|(all, seen)| all.merge(seen));
        failed = done.failure;
        ControlFlow::Continue(())
    });
    let found = all.iter().map(|seen| seen.column_type().unwrap_or(ColumnType::Json));
    failed.map_or_else(|| Ok(given.iter().zip(found).map(|(given, found)| given.unwrap_or(found)).collect()), Err)
}

struct Types<'g> {
    seen: Vec<Accumulator>,
    given: &'g [Option<ColumnType>],
}

impl Work for Types<'_> {
    fn record(&mut self, record: &Match<'_, '_>, offset: u64) -> Result<(), String> {
        for ((seen, given), field) in self.seen.iter_mut().zip(self.given).zip(record.fields()) {
            if given.is_none() {
                seen.observe(*field, offset);
            }
        }
        Ok(())
    }
}

/// The columns of a part that are being built.
struct Building<'c> {
    columns: Vec<ColumnBuilder>,
    rows: usize,
    about: &'c [(String, ColumnType)],
}

impl Work for Building<'_> {
    fn record(&mut self, record: &Match<'_, '_>, _: u64) -> Result<(), String> {
        for ((column, field), (name, kind)) in self.columns.iter_mut().zip(record.fields()).zip(self.about) {
            column.append(*field).map_err(|_| {
                let raw = field.raw();
                let shown = raw.chars().take(40).collect::<String>();
                let more = if shown.len() < raw.len() { "…" } else { "" };
                format!("{name} is {shown}{more}, which is no {kind}")
            })?;
        }
        self.rows += 1;
        Ok(())
    }
}

/// A stream of batches, made on threads of its own.
pub(super) struct Batches {
    schema: SchemaRef,
    receiver: Receiver<Result<RecordBatch, ArrowError>>,
}

impl Batches {
    /// Starts to read. `about` are the names and types of the columns, in the order of the projection.
    pub(super) fn start(files: Arc<Files>, wanted: Wanted, about: Vec<(String, ColumnType)>) -> FFI_ArrowArrayStream {
        let fields = about.iter().map(|(name, kind)| kind.field(name)).collect::<Vec<_>>();
        let schema = Arc::new(Schema::new(fields));
        let (sender, receiver) = sync_channel(4);
        let batches = Self { schema: Arc::clone(&schema), receiver };
        thread::spawn(move || {
            let new = || {
                let columns = about.iter().map(|(_, kind)| ColumnBuilder::new(*kind)).collect();
                Building { columns, rows: 0, about: &about }
            };
            let finished = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                files.scan(&wanted, new, |mut done| {
                    let sent = match done.failure {
                        Some(failure) => sender.send(Err(ArrowError::ExternalError(failure.words().into()))),
                        None if done.made.rows == 0 => Ok(()),
                        None => sender.send(batch(&schema, &mut done.made)),
                    };
                    if sent.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                });
            }));
            if finished.is_err() {
                let _ = sender.send(Err(ArrowError::ExternalError(Failure::Lost.words().into())));
            }
        });
        FFI_ArrowArrayStream::new(Box::new(batches))
    }
}

fn batch(schema: &SchemaRef, made: &mut Building<'_>) -> Result<RecordBatch, ArrowError> {
    let columns: Vec<ArrayRef> = made.columns.iter_mut().map(ColumnBuilder::finish).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(made.rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.receiver.recv().ok()
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
