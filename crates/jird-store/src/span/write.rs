//! Writing a span file and its indexes.

use super::arrow::{self, TABLE_KEY};
use super::flush::Flushed;
use super::{BlockEntry, PartSums, SpanFile, Table, ZSTD_BLOCK_FACTOR, columns, index_file, often_asked};
use crate::column::{self, Column, ColumnPlan};
use crate::error::{Error, ErrorKind};
use crate::event::{Key, TextOrder};
use crate::files::{Unfinished, checksum, checksum_low};
use crate::index::IndexBuilder;
use crate::manifest::{Folder, Fresh, SpanEntry};
use crate::settings::{ColumnChoice, Compression, Settings};
use arrow_array::{ArrayRef, BinaryArray, RecordBatch, TimestampNanosecondArray, UInt32Array};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// How much work compression may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Little: events are waiting.
    Seal,
    /// More: the file is compacted once, and read for long.
    Compact,
}

impl Effort {
    /// The level of Zstandard.
    fn level(self) -> i32 {
        match self {
            Self::Seal => 3,
            Self::Compact => 9,
        }
    }
}

/// Writes a span file, event by event in their order. What it writes belongs to no store until a manifest names it.
/// Memory: a few blocks, and the indexes.
pub(crate) struct SpanWriter {
    folder: Folder,
    /// Removes what was written if the span is not finished.
    fresh: Fresh,
    path: PathBuf,
    file: Flushed,
    /// The Arrow writer, when the first block is there, which tells the types of the columns. What it wrote and is
    /// not in the file yet.
    arrow: Option<Arrow>,
    settings: Settings,
    effort: Effort,
    block_bytes: usize,
    block: OpenBlock,
    /// The block before, whose columns are being made.
    waiting: Option<ClosedBlock>,
    /// Makes the columns, if there are some.
    columns: Option<ColumnWorker>,
    table: Table,
    /// Some of the events, by which columns are chosen; without them, those of the first block.
    sample: Vec<u8>,
    indexes: Indexes,
    /// Bytes of all events.
    text_bytes: u64,
}

struct Arrow {
    writer: FileWriter<Vec<u8>>,
    /// The schema of the batches: that of the file, but for the type of the documents.
    schema: SchemaRef,
    plan: Option<ColumnPlan>,
}

#[derive(Debug, Default)]
struct OpenBlock {
    text: Vec<u8>,
    offsets: Vec<i32>,
    times: Vec<i64>,
    arrivals: Vec<u32>,
}

/// A block with all of its events.
#[derive(Debug)]
struct ClosedBlock {
    text: Buffer,
    /// One more than events.
    offsets: Vec<i32>,
    times: Vec<i64>,
    arrivals: Vec<u32>,
}

impl SpanWriter {
    /// Begins a file. No event has a lower arrival number than `base`.
    pub(crate) fn new(
        folder: &Folder,
        fresh: Fresh,
        settings: &Settings,
        base: u64,
        effort: Effort,
    ) -> Result<Self, Error> {
        let path = folder.span(fresh.number());
        let file = folder.files.create(&path).map_err(|error| Error::io("make", &path, &error))?;
        Ok(Self {
            folder: folder.clone(),
            fresh,
            path,
            file: Flushed::new(file),
            arrow: None,
            effort,
            block_bytes: folder.block_bytes
                * if settings.compression == Compression::Zstd { ZSTD_BLOCK_FACTOR } else { 1 },
            settings: settings.clone(),
            block: OpenBlock::default(),
            waiting: None,
            columns: None,
            table: Table {
                has_auto_columns: settings.columns == ColumnChoice::Auto,
                ..Table::without_blocks(base, settings.compression)
            },
            sample: Vec::new(),
            indexes: Indexes::start()?,
            text_bytes: 0,
        })
    }

    /// The same, whose columns suit these events, each with its line feed.
    pub(crate) fn with_sample(self, sample: Vec<u8>) -> Self {
        Self { sample, ..self }
    }

    /// Adds an event with its line feed. Its key is higher than that of the event before it.
    pub(crate) fn push(&mut self, key: Key, event: &[u8]) -> Result<(), Error> {
        // No block of several events is longer than this: LZ4's frames then have blocks of 256 KB and not of 4 MB, for which
        // a reader would clear as much memory each time.
        if !self.block.text.is_empty() && self.block.text.len() + event.len() > self.block_bytes {
            self.flush()?;
        }
        let far = || Error::new(ErrorKind::Damaged, "events that came four billion events apart are in one span");
        let relative = key.arrival.checked_sub(self.table.base).and_then(|relative| u32::try_from(relative).ok());
        self.block.arrivals.push(relative.ok_or_else(far)?);
        self.block.times.push(key.time);
        self.block.offsets.push(self.block.text.len() as i32);
        self.block.text.extend_from_slice(event);
        self.text_bytes += event.len() as u64;
        self.table.arrival_last = self.table.arrival_last.max(key.arrival);
        Ok(())
    }

    /// How many bytes of events were added.
    pub(crate) fn text_bytes(&self) -> u64 {
        self.text_bytes
    }

    /// Closes the block, and writes the one before it, whose columns were made meanwhile.
    fn flush(&mut self) -> Result<(), Error> {
        let OpenBlock { text, mut offsets, times, arrivals } = std::mem::take(&mut self.block);
        if times.is_empty() {
            return Ok(());
        }
        offsets.push(text.len() as i32);
        let block = ClosedBlock { text: Buffer::from_vec(text), offsets, times, arrivals };
        if self.arrow.is_none() {
            let sample = if self.sample.is_empty() { &block.text[..] } else { &self.sample };
            let begun = Arrow::begin(&self.folder, &self.settings, self.effort, self.table.base, sample);
            let begun = begun.map_err(|error| refused(&self.path, &error))?;
            if let Some(plan) = begun.plan.clone() {
                (self.table.columns, self.table.words) = (plan.columns(), plan.words());
                self.columns = Some(ColumnWorker::start(plan)?);
            }
            self.arrow = Some(begun);
        }
        self.indexes.add(block.text.clone());
        self.columns.iter().for_each(|columns| columns.begin(block.text.clone()));
        // The next block is about like this one.
        let rows = block.times.len() + block.times.len() / 8;
        self.block.text.reserve(self.block_bytes);
        self.block.offsets.reserve(rows);
        self.block.times.reserve(rows);
        self.block.arrivals.reserve(rows);
        self.waiting.replace(block).map_or(Ok(()), |before| self.write(before))
    }

    /// Writes a block.
    fn write(&mut self, block: ClosedBlock) -> Result<(), Error> {
        let ClosedBlock { text, offsets, times, arrivals } = block;
        let (Some(arrow), Some(&first), Some(&last)) = (&mut self.arrow, times.first(), times.last()) else {
            unreachable!("a block that was closed has events")
        };
        let arrival = |relative: Option<&u32>| self.table.base + u64::from(relative.copied().unwrap_or_default());
        let first = Key { time: first, arrival: arrival(arrivals.first()) };
        let last = Key { time: last, arrival: arrival(arrivals.last()) };
        let (text_bytes, events) = (text.len() as u64, times.len() as u64);
        let columns = self.columns.as_mut().map(ColumnWorker::finished).transpose();
        let columns = columns.map_err(|error| refused(&self.path, &error))?.unwrap_or_default();
        let facts = columns.iter().map(|column| column.facts).collect();
        let kinds = self.table.columns.iter().map(|(_, kind)| *kind);
        let columns = kinds.zip(columns).map(|(kind, column)| columns::stored(kind, column.array)).collect();
        let batch = batch(&arrow.schema, text, offsets, times, arrivals, columns);
        let written = batch.and_then(|batch| arrow.writer.write(&batch));
        written.map_err(|error| refused(&self.path, &error))?;
        let bytes = arrow.writer.get_mut();
        // The first block stands after the schema and the words.
        let first_start = if self.file.written() == 0 { arrow::batch_start(bytes) } else { Some(0) };
        let Some(start) = first_start else { unreachable!("it was just written") };
        let message = &bytes[start..];
        let Some(layout) = arrow::layout(message) else { unreachable!("it was just written") };
        let (head, rest) = message.split_at(layout.documents.start);
        let (documents, tail) = rest.split_at(layout.documents.len());
        let types: Vec<_> = self.table.columns.iter().map(|(_, kind)| *kind).collect();
        let Some(stretches) = columns::stretches(&types, &layout.others) else { unreachable!("it was just written") };
        let parts = PartSums {
            metadata_bytes: layout.body as u64,
            metadata: checksum_low(&head[..layout.body]),
            columns: stretches.into_iter().map(|stretch| checksum_low(&message[stretch.whole])).collect(),
        };
        self.table.blocks.push(BlockEntry {
            offset: self.file.written() + start as u64,
            head_bytes: head.len() as u64,
            document_bytes: documents.len() as u64,
            tail_bytes: tail.len() as u64,
            text_bytes,
            events,
            first,
            last,
            sums: Some([checksum(head), checksum(documents), checksum(tail)]),
            facts,
            parts: Some(parts),
        });
        self.append()
    }

    /// Moves what the Arrow writer wrote into the file.
    fn append(&mut self) -> Result<(), Error> {
        let Some(arrow) = &mut self.arrow else { return Ok(()) };
        let bytes = arrow.writer.get_mut();
        self.file.append(bytes).map_err(|error| Error::io("write", &self.path, &error))?;
        bytes.clear();
        Ok(())
    }

    /// Ends the file, writes its indexes, and makes both survive a loss of power; their names do when the folder is
    /// synced. At least one event was added. The files go when the second value is dropped, unless a manifest names them.
    pub(crate) fn finish(mut self, order: TextOrder) -> Result<(SpanEntry, Fresh), Error> {
        self.flush()?;
        self.waiting.take().map_or(Ok(()), |last| self.write(last))?;
        let table = self.table.write();
        if let Some(arrow) = &mut self.arrow {
            arrow.writer.write_metadata(TABLE_KEY, &*table);
            arrow.writer.finish().map_err(|error| refused(&self.path, &error))?;
        }
        self.append()?;
        let file_bytes = self.file.written();
        self.file.sync(&self.path)?;
        let index = self.indexes.finish();
        write_index(&self.folder, self.fresh.number(), &table, &index)?;
        let blocks = &self.table.blocks;
        let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else {
            unreachable!("a span has events");
        };
        let entry = SpanEntry {
            number: self.fresh.number(),
            events: self.table.events(),
            text_bytes: self.table.text_bytes(),
            file_bytes,
            first: first.first,
            last: last.last,
            order,
            table_sum: checksum(table.as_bytes()),
            keep_from: None,
        };
        Ok((entry, self.fresh))
    }
}

impl Arrow {
    /// Begins a file whose columns suit these events.
    fn begin(
        folder: &Folder,
        settings: &Settings,
        effort: Effort,
        base: u64,
        lines: &[u8],
    ) -> Result<Self, ArrowError> {
        let failed = |error: jird::Error| ArrowError::JsonError(error.to_string());
        let paths = match &settings.columns {
            ColumnChoice::Auto => column::suggest(lines, &settings.time_field, &often_asked(folder)).map_err(failed)?,
            ColumnChoice::Fields(paths) => paths.clone(),
        };
        let plan = (!paths.is_empty()).then(|| ColumnPlan::choose(&paths, lines)).transpose().map_err(failed)?;
        let more = plan.as_ref().map(ColumnPlan::fields).unwrap_or_default();
        let schema = arrow::schema(DataType::Utf8, base, more.clone());
        let compression = arrow::compression_type(settings.compression);
        let level = (settings.compression == Compression::Zstd).then(|| effort.level());
        let options =
            IpcWriteOptions::default().try_with_compression(compression)?.try_with_compression_level(level)?;
        let writer = FileWriter::try_new_with_options(Vec::new(), &schema, options)?;
        // The buffers of texts and of bytes are the same. Texts would be checked for UTF-8 here, which they were when they
        // came in.
        let schema = Arc::new(arrow::schema(DataType::Binary, base, more));
        Ok(Self { writer, schema, plan })
    }
}

/// Rebuilds the index file of a span from what can be read of the span. A block that cannot be read gets no index entry
/// that could rule it out.
pub(crate) fn rebuild_index(folder: &Folder, span: &SpanFile) -> Result<(), Error> {
    let indexes = Indexes::start()?;
    for block in 0..span.table().blocks.len() {
        let mut text = Vec::new();
        if let Err(fault) = span.read_documents(block, &mut text) {
            let file = folder.span(span.number());
            let message = format!("{}, block {block}: {fault}; its index cannot be rebuilt", file.display());
            return Err(Error::new(ErrorKind::Damaged, message));
        }
        indexes.add(Buffer::from_vec(text));
    }
    write_index(folder, span.number(), &span.table().write(), &indexes.finish())?;
    folder.sync()
}

/// Writes an index file next to its place and then moves it there: a reader may have the old one open.
fn write_index(folder: &Folder, number: u64, table: &str, index: &[u8]) -> Result<(), Error> {
    let (path, new) = (folder.index(number), folder.file(&format!("span-{number}.index.new")));
    let write = || {
        let (file, unfinished) = Unfinished::create(&folder.files, &new)?;
        file.append(&index_file::write(table, index))?;
        file.sync()?;
        unfinished.rename(&path)
    };
    write().map_err(|error| Error::io("write", &path, &error))
}

fn batch(
    schema: &SchemaRef,
    text: Buffer,
    offsets: Vec<i32>,
    times: Vec<i64>,
    arrivals: Vec<u32>,
    more: Vec<ArrayRef>,
) -> Result<RecordBatch, ArrowError> {
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(TimestampNanosecondArray::from(times).with_timezone("UTC")),
        Arc::new(UInt32Array::from(arrivals)),
        Arc::new(BinaryArray::try_new(offsets, text, None)?),
    ];
    columns.extend(more);
    RecordBatch::try_new(schema.clone(), columns)
}

fn refused(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Damaged, format!("cannot write {}: {error}", path.display()))
}

/// The columns of a span, made on a thread of their own.
#[derive(Debug)]
struct ColumnWorker {
    blocks: SyncSender<Buffer>,
    made: Receiver<Result<Vec<Column>, jird::Error>>,
    /// Until it has ended too early.
    thread: Option<JoinHandle<()>>,
}

impl ColumnWorker {
    fn start(plan: ColumnPlan) -> Result<Self, Error> {
        let (blocks, received) = sync_channel::<Buffer>(1);
        let (sender, made) = sync_channel(1);
        let make = move || {
            for block in received {
                if sender.send(plan.build(&block)).is_err() {
                    return;
                }
            }
        };
        Ok(Self { blocks, made, thread: Some(started("columns", make)?) })
    }

    /// Begins with the columns of a block.
    fn begin(&self, block: Buffer) {
        // The thread ends early only by a panic, which `finished` passes on.
        let _ = self.blocks.send(block);
    }

    /// The columns of the block that was begun first and is not finished.
    fn finished(&mut self) -> Result<Vec<Column>, jird::Error> {
        self.made.recv().unwrap_or_else(|_| match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            _ => unreachable!("it ends when this is dropped"),
        })
    }
}

fn started<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> Result<JoinHandle<T>, Error> {
    let thread = std::thread::Builder::new().name(name.into()).spawn(work);
    thread.map_err(|error| Error::new(ErrorKind::Io(error.kind()), format!("cannot start a thread: {error}")))
}

/// The indexes of a span, made on a thread of their own.
#[derive(Debug)]
struct Indexes {
    blocks: SyncSender<Buffer>,
    thread: JoinHandle<Vec<u8>>,
}

impl Indexes {
    fn start() -> Result<Self, Error> {
        let (blocks, received) = sync_channel::<Buffer>(4);
        let make = move || {
            let mut builder = IndexBuilder::new();
            for block in received {
                builder.begin_block();
                let mut start = 0;
                for end in memchr::memchr_iter(b'\n', &block) {
                    builder.add(&block[start..end]);
                    start = end + 1;
                }
                builder.end_block();
            }
            builder.finish()
        };
        Ok(Self { blocks, thread: started("index", make)? })
    }

    fn add(&self, block: Buffer) {
        // The thread ends early only by a panic, which `finish` passes on.
        let _ = self.blocks.send(block);
    }

    fn finish(self) -> Vec<u8> {
        drop(self.blocks);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}
