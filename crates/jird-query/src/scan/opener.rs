//! The file opener: a file, or a range of one, as a stream of Arrow batches.
//!
//! Scanning happens on threads of its own, which hand batches over a short channel: DataFusion's threads never wait for a
//! disk, and dropping the stream closes the channel and so stops the scan.

use super::pushdown;
use super::read::{Reader, Seen, cut};
use super::source::{ColumnSpec, Shared};
use crate::error::Error;
use crate::input::InputFile;
use crate::sql::Rep;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use datafusion_datasource::PartitionedFile;
use datafusion_datasource::file_stream::{FileOpenFuture, FileOpener};
use futures::StreamExt;
use jird::lines::{Row, in_order};
use jird::{Path, Predicate, Projection};
use jird_formats::ColumnBuilder;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tokio::sync::mpsc::{Sender, channel};

/// Batches that may wait for DataFusion.
const WAITING: usize = 4;

/// Bytes of records after which a batch is handed out, however few they are. Far below the 2 GiB that offsets can count.
const BATCH_BYTES: usize = 16 << 20;

/// Our [`FileOpener`].
#[derive(Debug)]
pub(crate) struct NdjsonOpener {
    plan: Arc<Plan>,
}

impl NdjsonOpener {
    pub(crate) fn new(plan: Plan) -> Self {
        Self { plan: Arc::new(plan) }
    }
}

impl FileOpener for NdjsonOpener {
    fn open(&self, partitioned: PartitionedFile) -> Result<FileOpenFuture> {
        let plan = Arc::clone(&self.plan);
        let Some(file) = partitioned.extension::<Arc<InputFile>>().map(Arc::clone) else {
            return Err(Error::sql("a file that jird did not open").into());
        };
        let range = file.size.map(|_| {
            let (start, end) = partitioned.range();
            start..end
        });
        Ok(Box::pin(async move {
            let (sender, mut receiver) = channel(WAITING);
            std::thread::Builder::new()
                .name("jird-scan".to_owned())
                .spawn(move || plan.run(&file, range, &sender))
                .map_err(|error| Error::sql(format!("cannot start a thread: {error}")))?;
            let stream = futures::stream::poll_fn(move |context| receiver.poll_recv(context));
            Ok(stream.map(|batch| batch.map_err(Into::into)).boxed())
        }))
    }
}

/// What a scan does.
#[derive(Debug)]
pub(crate) struct Plan {
    shared: Arc<Shared>,
    projection: Projection,
    /// The columns to build: slot, column of the table.
    columns: Vec<(usize, usize)>,
    /// Every slot with a column of the table that has its path.
    slots: Vec<usize>,
    filter: Option<Predicate>,
    schema: SchemaRef,
    batch_rows: usize,
}

type Batch = std::result::Result<RecordBatch, Error>;

impl Plan {
    /// A scan of `columns` of the table for the records that pass `filter`, whose slots are columns of the table.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        columns: &[usize],
        filter: Option<&Predicate>,
        schema: SchemaRef,
        batch_rows: usize,
    ) -> Self {
        let mut paths: Vec<Path> = Vec::new();
        let mut slots = Vec::new();
        let mut slot_of = |column: usize| {
            let path = &shared.columns[column].path;
            paths.iter().position(|other| other == path).unwrap_or_else(|| {
                paths.push(path.clone());
                slots.push(column);
                paths.len() - 1
            })
        };
        let columns = columns.iter().map(|column| (slot_of(*column), *column)).collect();
        if let Some(filter) = filter {
            pushdown::slots(filter, &mut |column| {
                slot_of(column);
            });
        }
        let slot = |column: usize| {
            let path = &shared.columns[column].path;
            paths.iter().position(|other| other == path).expect("every path of the filter has a slot by now")
        };
        let filter = filter.map(|filter| pushdown::map_slots(filter, &slot));
        let mut read = shared.tally.read.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for path in &paths {
            let pointer = path.to_string();
            if !read.contains(&pointer) {
                read.push(pointer);
            }
        }
        drop(read);
        let projection = Projection::new(&paths);
        Self { shared: Arc::clone(shared), projection, columns, slots, filter, schema, batch_rows }
    }

    /// Scans, and sends what it finds until it is through, or nobody listens any more.
    fn run(&self, file: &InputFile, range: Option<Range<u64>>, sender: &Sender<Batch>) {
        let send = |batch: Batch| {
            if let Ok(()) = sender.blocking_send(batch) {
                ControlFlow::Continue(())
            } else {
                self.shared.tally.stopped.store(true, Relaxed);
                ControlFlow::Break(())
            }
        };
        let options = &self.shared.options;
        let chunks = match &range {
            Some(range) if self.shared.ordered.load(Relaxed) && options.threads > 1 => {
                cut(range.clone(), options.chunk_bytes).collect::<Vec<_>>()
            }
            _ => Vec::new(),
        };
        if chunks.len() < 2 {
            let mut worker = Worker::new(self);
            if let Err(error) = worker.scan(file, range, &mut |batch| send(Ok(batch)), || sender.is_closed()) {
                let _ = send(Err(error));
            }
            return;
        }
        let work = |worker: &mut Worker<'_>, job: usize| {
            let mut batches = Vec::new();
            let mut keep = |batch| {
                batches.push(Ok(batch));
                ControlFlow::Continue(())
            };
            if let Err(error) = worker.scan(file, Some(chunks[job].clone()), &mut keep, || sender.is_closed()) {
                batches.push(Err(error));
            }
            batches
        };
        in_order(
            0..chunks.len(),
            options.threads,
            || Worker::new(self),
            work,
            |batches: Vec<Batch>| {
                for batch in batches {
                    let failed = batch.is_err();
                    send(batch)?;
                    if failed {
                        return ControlFlow::Break(());
                    }
                }
                ControlFlow::Continue(())
            },
        );
    }
}

/// One thread's buffers.
struct Worker<'p> {
    plan: &'p Plan,
    reader: Reader,
    rows: Rows<'p>,
}

/// The batch that is being built.
struct Rows<'p> {
    plan: &'p Plan,
    builders: Vec<ColumnBuilder>,
    count: usize,
    bytes: usize,
    /// Slots that no record has had yet.
    unseen: Vec<usize>,
    unfit: bool,
}

type Emit<'e> = &'e mut dyn FnMut(RecordBatch) -> ControlFlow<()>;

impl<'p> Worker<'p> {
    fn new(plan: &'p Plan) -> Self {
        let builders = plan.columns.iter().map(|(_, column)| builder(&plan.shared.columns[*column])).collect();
        let unseen = (0..plan.slots.len()).collect();
        let rows = Rows { plan, builders, count: 0, bytes: 0, unseen, unfit: false };
        Self { plan, reader: Reader::new(plan.shared.options.lines), rows }
    }

    /// Scans a range; hands out batches as they fill up, and the rest at the end. What was found before an error is handed
    /// out too.
    fn scan(
        &mut self,
        file: &InputFile,
        range: Option<Range<u64>>,
        emit: Emit<'_>,
        is_closed: impl Fn() -> bool,
    ) -> std::result::Result<(), Error> {
        let Self { plan, reader, rows } = self;
        let tally = &plan.shared.tally;
        let is_stream = file.size.is_none();
        let cell = std::cell::RefCell::new((rows, emit));
        let result = reader.read(
            file,
            range,
            &plan.projection,
            plan.filter.as_ref(),
            |row, _| {
                let (rows, emit) = &mut *cell.borrow_mut();
                rows.take(&row, emit)
            },
            |Seen { bytes, scanned }| {
                tally.records.fetch_add(scanned.records, Relaxed);
                tally.bytes.fetch_add(bytes, Relaxed);
                tally.mismatches.fetch_add(scanned.mismatches.kinds, Relaxed);
                if is_closed() {
                    tally.stopped.store(true, Relaxed);
                    return ControlFlow::Break(());
                }
                let (rows, emit) = &mut *cell.borrow_mut();
                // Whoever feeds a pipe line by line wants to see them line by line.
                if is_stream { rows.flush(emit) } else { ControlFlow::Continue(()) }
            },
        );
        let (rows, mut emit) = cell.into_inner();
        if rows.unfit {
            return Err(Error::data(format!("{} changed while it was read", file.path.display())));
        }
        let _ = rows.flush(&mut emit);
        result.map(|_| ())
    }
}

impl Rows<'_> {
    #[inline]
    fn take(&mut self, row: &Row<'_, '_>, emit: &mut Emit<'_>) -> ControlFlow<()> {
        for (builder, (slot, _)) in self.builders.iter_mut().zip(&self.plan.columns) {
            if builder.append(row.field(*slot)).is_err() {
                self.unfit = true;
                return ControlFlow::Break(());
            }
        }
        if !self.unseen.is_empty() {
            self.see(row);
        }
        self.count += 1;
        self.bytes += row.text().len();
        if self.count >= self.plan.batch_rows || self.bytes >= BATCH_BYTES {
            return self.flush(emit);
        }
        ControlFlow::Continue(())
    }

    #[cold]
    fn see(&mut self, row: &Row<'_, '_>) {
        let Self { plan, unseen, .. } = self;
        unseen.retain(|slot| {
            let is_missing = row.field(*slot).kind().is_none();
            if !is_missing {
                plan.shared.tally.seen[plan.slots[*slot]].store(true, Relaxed);
            }
            is_missing
        });
    }

    fn flush(&mut self, emit: &mut Emit<'_>) -> ControlFlow<()> {
        if self.count == 0 {
            return ControlFlow::Continue(());
        }
        let columns = self.builders.iter_mut().map(ColumnBuilder::finish).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        (self.count, self.bytes) = (0, 0);
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.plan.schema), columns, &options)
            .expect("every builder has one value per row, of the type that the schema was made of");
        emit(batch)
    }
}

fn builder(column: &ColumnSpec) -> ColumnBuilder {
    use jird_formats::ColumnType;
    match column.rep {
        Rep::Raw => ColumnBuilder::plain(),
        Rep::Json => ColumnBuilder::new(ColumnType::Json),
        Rep::Key => ColumnBuilder::key(),
        Rep::Group if column.kind == ColumnType::Json => ColumnBuilder::key(),
        Rep::Typed | Rep::Group => ColumnBuilder::new(column.kind),
    }
}
