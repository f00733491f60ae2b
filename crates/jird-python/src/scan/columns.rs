//! Columns of Arrow: their types, and their batches.

use super::failure::Failure;
use super::files::{Files, Search, Work};
use super::kinds::{Column, Kind};
use super::program::{Output, RESULT, Run};
use super::progress::Progress;
use crate::forked::{self, Owned};
use crate::loads::repeated;
use crate::raw::interpreter::Caller;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, FieldRef, Schema, SchemaRef};
use core::ops::ControlFlow;
use core::time::Duration;
use jird::Path;
use jird::lines::Match;
use jird::record::Record;
use jird::record::{Field, RecordBuffer};
use jird_formats::{Accumulator, Cell, ColumnType, Shape, ShapeReader};
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Chain, Cursor, Read};
use std::path::Path as FilePath;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// The most columns that are made of the keys of records.
const COLUMNS_MAX: usize = 10_000;

/// The column of a record that is not an object, as a projection and `jird convert` have it.
const VALUE: &str = "value";

/// The keys of all records that a scan finds, in the order in which they come.
pub(super) fn keys(files: &Files, wanted: &Search) -> Result<Vec<String>, Failure> {
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
        if !record.text().starts_with(b"{") {
            return self.add(VALUE);
        }
        let mut buffer = core::mem::take(&mut self.buffer);
        let scanned = Record::scan_trusted(record.text(), &mut buffer);
        let added = scanned.entries().try_for_each(|(key, _)| self.add(&key.as_str().unwrap_or_default()));
        self.buffer = buffer;
        added
    }
}

impl Keys {
    fn add(&mut self, key: &str) -> Result<(), String> {
        if !self.known.contains(key) {
            if self.found.len() == COLUMNS_MAX {
                return Err(format!("the records have more than {COLUMNS_MAX} keys; choose columns"));
            }
            self.known.insert(key.to_owned());
            self.found.push(key.to_owned());
        }
        Ok(())
    }
}

/// The types of the columns: those that are given, and for the others the narrowest that holds all values. Objects and
/// arrays are JSON texts, or if `is_nested`, structs and lists where all values have one shape.
pub(super) fn types(
    files: &Files,
    wanted: &Search,
    given: &[Option<Kind>],
    is_nested: bool,
) -> Result<Vec<Kind>, Failure> {
    if let Some(types) = given.iter().cloned().collect::<Option<Vec<_>>>() {
        return Ok(types);
    }
    let (mut all, mut failed) = (vec![ColumnFacts::new(is_nested); given.len()], None);
    let new = || Types { seen: vec![ColumnFacts::new(is_nested); given.len()], given, reader: ShapeReader::default() };
    files.scan(wanted, new, |done| {
        all.iter_mut().zip(&done.made.seen).for_each(|(all, seen)| all.merge(seen));
        failed = done.failure;
        ControlFlow::Continue(())
    });
    failed.map_or_else(|| Ok(given.iter().zip(&all).map(|(given, found)| found.kind(given.as_ref())).collect()), Err)
}

struct Types<'g> {
    seen: Vec<ColumnFacts>,
    given: &'g [Option<Kind>],
    reader: ShapeReader,
}

/// What was seen of a column.
#[derive(Clone)]
struct ColumnFacts {
    values: Accumulator,
    shape: Option<Shape>,
}

impl ColumnFacts {
    fn new(is_nested: bool) -> Self {
        Self { values: Accumulator::default(), shape: is_nested.then(Shape::default) }
    }

    fn observe(&mut self, field: Field<'_>, at: u64, reader: &mut ShapeReader) {
        self.values.observe(field, at);
        if let Some(shape) = &mut self.shape {
            match field.kind() {
                None | Some(jird::Kind::Null) => {}
                Some(jird::Kind::Object | jird::Kind::Array) => shape.observe(Cell::Json(field.raw()), reader),
                // Any other value makes it no struct and no list.
                Some(_) => shape.observe(Cell::Bool(true), reader),
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        self.values.merge(&other.values);
        if let (Some(shape), Some(other)) = (&mut self.shape, &other.shape) {
            shape.merge(other);
        }
    }

    fn kind(&self, given: Option<&Kind>) -> Kind {
        let nested = || self.shape.as_ref()?.value_type().as_ref().map(Kind::from);
        let found = || nested().unwrap_or_else(|| Kind::Of(self.values.column_type().unwrap_or(ColumnType::Json)));
        given.cloned().unwrap_or_else(found)
    }
}

impl Work for Types<'_> {
    fn record(&mut self, record: &Match<'_, '_>, offset: u64) -> Result<(), String> {
        for ((seen, given), field) in self.seen.iter_mut().zip(self.given).zip(record.fields()) {
            if given.is_none() {
                seen.observe(*field, offset, &mut self.reader);
            }
        }
        Ok(())
    }
}

/// The columns of a part that are being built.
struct Building<'c> {
    columns: Vec<Column>,
    rows: usize,
    /// Of each column, whether repeated keys are left out of its texts.
    is_read_beneath: &'c [bool],
    about: &'c [(String, Kind)],
}

/// What is wrong with a value that a column did not take.
fn unfit(field: Field<'_>, name: &str, kind: &Kind) -> String {
    kind.unfit(field, name).unwrap_or_else(|| format!("{name} does not fit its column"))
}

impl Work for Building<'_> {
    fn unfit(&self, record: &Match<'_, '_>) -> Option<String> {
        record.fields().iter().zip(self.about).find_map(|(field, (name, kind))| kind.unfit(*field, name))
    }

    fn record(&mut self, record: &Match<'_, '_>, offset: u64) -> Result<(), String> {
        let columns = self.columns.iter_mut().zip(self.is_read_beneath);
        for (((column, is_read_beneath), field), (name, kind)) in columns.zip(record.fields()).zip(self.about) {
            match column {
                Column::Values(values) if *is_read_beneath => {
                    let text = first_of_repeated(field.raw());
                    values.append(Field::from_raw(&text)).map_err(|_| unfit(*field, name, kind))?;
                }
                Column::Offsets(offsets) => offsets.append_value(offset.cast_signed()),
                column => column.append(*field).map_err(|_| unfit(*field, name, kind))?,
            }
        }
        self.rows += 1;
        Ok(())
    }
}

/// Of each of the first `count` paths, whether another one leads into its value. A text of that value has the members
/// that this one has led to, and no others of their keys.
fn read_beneath(paths: &[Path], count: usize) -> Vec<bool> {
    let leads_into =
        |path: &Path, outer: &Path| path.steps().len() > outer.steps().len() && path.steps().starts_with(outer.steps());
    paths[..count].iter().map(|outer| paths.iter().any(|path| leads_into(path, outer))).collect()
}

/// The text of a field, with only the first of repeated keys.
fn first_of_repeated(raw: &str) -> Cow<'_, str> {
    if !raw.starts_with(['{', '[']) {
        return raw.into();
    }
    // It was checked with its record.
    let Ok(document) = jird::parse(raw.as_bytes()) else { return raw.into() };
    match repeated::without(document.root()) {
        Cow::Borrowed(_) => raw.into(),
        Cow::Owned(text) => String::from_utf8_lossy(&text).into_owned().into(),
    }
}

/// How long a reader waits for a batch before it checks whether Ctrl-C was pressed.
const WAIT: Duration = Duration::from_millis(50);

/// A batch, and the bytes that it and what was left out before it were made of.
type BatchResult = Result<(RecordBatch, u64), ArrowError>;

/// A stream of batches, made on threads of its own.
pub(super) struct Batches {
    schema: SchemaRef,
    receiver: Owned<Receiver<BatchResult>>,
    progress: Option<Progress>,
    /// The thread that has asked for the stream.
    caller: Caller,
    /// The program that writes the batches, if one does.
    run: Option<Arc<Run>>,
}

impl Batches {
    /// Starts to read. `about` are the names and types of the columns, in the order of the projection.
    pub(super) fn start(
        files: Arc<Files>,
        wanted: Search,
        about: Vec<(String, Kind)>,
        (caller, progress): (Caller, Option<Progress>),
        skipped: Arc<AtomicU64>,
    ) -> FFI_ArrowArrayStream {
        let fields = about.iter().map(|(name, kind)| kind.field(name)).collect::<Vec<_>>();
        let schema = Arc::new(Schema::new(fields));
        let is_read_beneath = read_beneath(wanted.projection.paths(), about.len());
        let (sender, receiver) = sync_channel(4);
        let receiver = Owned::new(receiver);
        let batches = Self { schema: Arc::clone(&schema), receiver, progress, caller, run: None };
        thread::spawn(move || {
            let new = || {
                let columns = about.iter().map(|(_, kind)| kind.column()).collect();
                Building { columns, rows: 0, is_read_beneath: &is_read_beneath, about: &about }
            };
            let finished = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let mut bytes = 0;
                files.scan(&wanted, new, |mut done| {
                    bytes += done.bytes;
                    skipped.fetch_add(done.skipped, Relaxed);
                    let sent = match done.failure {
                        Some(failure) => sender.send(Err(failed(&failure))),
                        None if done.made.rows == 0 => Ok(()),
                        None => {
                            let made = batch(&schema, &mut done.made);
                            sender.send(made.map(|batch| (batch, core::mem::take(&mut bytes))))
                        }
                    };
                    if sent.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                });
            }));
            if finished.is_err() {
                let _ = sender.send(Err(failed(&Failure::Lost)));
            }
        });
        FFI_ArrowArrayStream::new(Box::new(batches))
    }

    /// The batches that a run writes as a file of Arrow. Waits for their schema, or the failure before it.
    pub(super) fn of_run(run: &Arc<Run>, caller: Caller) -> Result<FFI_ArrowArrayStream, Failure> {
        let (sender, receiver) = sync_channel(4);
        let (schemas, schema) = sync_channel(1);
        let running = Arc::clone(run);
        thread::spawn(move || {
            let finished = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let mut reader = match open(&running) {
                    Ok(reader) => reader,
                    Err(failure) => return drop(schemas.send(Err(failure))),
                };
                let schema = marked(&reader.schema());
                let _ = schemas.send(Ok(Arc::clone(&schema)));
                for batch in &mut reader {
                    let batch = batch.map_err(|error| failed(&of_arrow(error)));
                    if sender.send(batch.and_then(|batch| Ok((of_schema(&schema, &batch)?, 0)))).is_err() {
                        return;
                    }
                }
                // After the stream comes the rest of the file, and then the end, which may be a failure.
                if let Err(error) = io::copy(reader.get_mut(), &mut io::sink()) {
                    let _ = sender.send(Err(failed(&Failure::io(FilePath::new(RESULT), error))));
                }
            }));
            if finished.is_err() {
                let _ = sender.send(Err(failed(&Failure::Lost)));
            }
        });
        let schema = loop {
            match schema.recv_timeout(WAIT) {
                Ok(schema) => break schema?,
                Err(Disconnected) => return Err(Failure::Lost),
                Err(Timeout) if caller.is_interrupted() => {
                    run.stop();
                    return Err(Failure::Refused("the query was stopped".to_owned()));
                }
                Err(Timeout) => {}
            }
        };
        let receiver = Owned::new(receiver);
        let batches = Self { schema, receiver, progress: None, caller, run: Some(Arc::clone(run)) };
        Ok(FFI_ArrowArrayStream::new(Box::new(batches)))
    }
}

/// What a run writes, from the first message on.
type Stream = Chain<Cursor<[u8; 8]>, Output>;

/// Starts a run, and reads the schema.
fn open(run: &Arc<Run>) -> Result<StreamReader<Stream>, Failure> {
    let failed = |error| Failure::io(FilePath::new(RESULT), error);
    // A file of Arrow begins with its name and zeros. From there on it is a stream.
    let mut output = run.start("arrow").map_err(failed)?;
    let mut word = [0; 8];
    output.read_exact(&mut word).map_err(failed)?;
    while word.starts_with(b"ARROW1") || word == [0; 8] {
        output.read_exact(&mut word).map_err(failed)?;
    }
    StreamReader::try_new(Cursor::new(word).chain(output), None).map_err(of_arrow)
}

/// The same schema, in which columns of JSON texts are marked as those of a scan are.
fn marked(schema: &SchemaRef) -> SchemaRef {
    let marked = |name: &str| Arc::new(Kind::Of(ColumnType::Json).field(name));
    let field = |field: &FieldRef| if ColumnType::is_json(field) { marked(field.name()) } else { Arc::clone(field) };
    let fields = schema.fields().iter().map(field).collect::<Vec<_>>();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn of_schema(schema: &SchemaRef, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), batch.columns().to_vec(), &options)
}

/// A failure of the reader of batches, which may be that of the run.
fn of_arrow(error: ArrowError) -> Failure {
    match error {
        ArrowError::IoError(_, error) => Failure::io(FilePath::new(RESULT), error),
        error => Failure::io(FilePath::new(RESULT), io::Error::other(error)),
    }
}

fn failed(failure: &Failure) -> ArrowError {
    ArrowError::ExternalError(failure.words().into())
}

fn batch(schema: &SchemaRef, made: &mut Building<'_>) -> Result<RecordBatch, ArrowError> {
    let columns: Vec<ArrayRef> = made.columns.iter_mut().map(Column::finish).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(made.rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.receiver.process.is_this() {
            return Some(Err(ArrowError::ExternalError(forked::words("the stream").into())));
        }
        loop {
            match self.receiver.recv_timeout(WAIT) {
                Ok(Ok((batch, bytes))) => {
                    let told = self.progress.as_mut().and_then(|progress| {
                        self.caller.attached(|py| progress.add(py, bytes).map_err(|error| error.to_string()))
                    });
                    return Some(
                        told.unwrap_or(Ok(()))
                            .map_or_else(|words| Err(ArrowError::ExternalError(words.into())), |()| Ok(batch)),
                    );
                }
                Ok(Err(error)) => {
                    self.progress = None;
                    return Some(Err(error));
                }
                Err(Disconnected) => {
                    let progress = self.progress.take()?;
                    let told = self.caller.attached(|py| progress.end(py).map_err(|error| error.to_string()))?;
                    return told.err().map(|words| Err(ArrowError::ExternalError(words.into())));
                }
                Err(Timeout) if self.caller.is_interrupted() => {
                    self.run.iter().for_each(|run| run.stop());
                    return Some(Err(ArrowError::ExternalError("it was interrupted".into())));
                }
                Err(Timeout) => {}
            }
        }
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        // A caller that does not want the rest does not wait for it.
        self.run.iter().for_each(|run| run.stop());
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
