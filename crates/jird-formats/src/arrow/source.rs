//! Files that hold columns as a source of records.

use super::column::{ArrowColumn, ArrowStop, NotFinite, Sending, WrittenDown};
use super::error::{malformed, missing};
use super::stream::Stream;
use crate::bad_value::RawRecord;
use crate::error::Error;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use jird::Path;
use jird::event::{Failure, Interest, Key, Place, Sink, Source};
use jird::record::Predicate;
use std::io::Read;
use std::sync::Arc;

/// A file that holds columns, read one batch of rows at a time.
pub(crate) trait Batches {
    /// The names and types of all columns.
    fn schema(&self) -> SchemaRef;

    /// Moves to the next batch, and returns its number of rows; `None` at the end.
    fn advance(&mut self) -> Result<Option<usize>, Error>;

    /// Reads these columns of the batch. The indices ascend.
    fn load(&mut self, columns: &[usize]) -> Result<Vec<ArrayRef>, Error>;

    /// Leaves out batches whose statistics rule out that the predicate is true. Slot `i` of it is `paths[i]`.
    fn leave_out(&mut self, _predicate: &Predicate, _paths: &[Path]) -> Result<(), Error> {
        Ok(())
    }

    /// The number of rows that were left out before this batch, since the one before it.
    fn left_out(&mut self) -> u64 {
        0
    }

    /// The number of rows of the file, if it says so.
    fn rows(&self) -> Option<u64> {
        None
    }
}

/// A file that holds columns as a source: Arrow IPC or Parquet. Each row is a record, in the order of the file.
///
/// A column is read when a sink first takes one of its values, and those that were taken in one batch are read together
/// in the next. So columns that no sink takes are not decoded. Memory is bounded by the largest batch.
///
/// ```
/// use jird::event::{self, JsonSink, JsonSource};
/// use jird_formats::{ArrowOptions, ColumnPlan, ColumnSink, ColumnSource, Rows, Schema};
/// let text = br#"{"id":18446744073709551615,"tags":["a"]} {"id":7}"#;
/// let mut schema = Rows::new(Schema::default());
/// event::copy(&mut JsonSource::from_slice(text), &mut schema)?;
/// let mut sink = ColumnSink::arrow(Vec::new(), &ColumnPlan::of(schema.table()), ArrowOptions::default())?;
/// event::copy(&mut JsonSource::from_slice(text), &mut sink)?;
/// let file = sink.into_table().into_inner()?;
///
/// let mut lines = JsonSink::new(Vec::new());
/// event::copy(&mut ColumnSource::arrow(&file[..])?, &mut lines)?;
/// assert_eq!(lines.into_inner(), br#"{"id":18446744073709551615,"tags":["a"]}
/// {"id":7,"tags":null}
/// "#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ColumnSource<'r> {
    batches: Box<dyn Batches + Send + 'r>,
    schema: SchemaRef,
    not_finite: NotFinite,
    /// The columns that are sent.
    sent: Vec<usize>,
    /// The columns of this batch that were read.
    columns: Vec<Option<ArrowColumn>>,
    /// Whether each column was ever taken.
    wanted: Vec<bool>,
    /// The number of columns to read at once when one turns out to be missing. It doubles each time, so that a wide
    /// batch does not take quadratic time.
    stride: usize,
    row: usize,
    rows: usize,
    record: u64,
}

impl<'r> ColumnSource<'r> {
    /// Arrow IPC. It reads both files (also called Feather) and streams, and tells them apart by their first bytes. If
    /// the reader is a file, it should have a buffer.
    ///
    /// A file is read from beginning to end, without seeking. Its footer must exist and list as many batches as were
    /// read. This function reads up to the end of the schema.
    pub fn arrow(reader: impl Read + Send + 'r) -> Result<Self, Error> {
        Ok(Self::new(Stream::open(reader)?))
    }

    pub(crate) fn new(batches: impl Batches + Send + 'r) -> Self {
        let schema = batches.schema();
        let width = schema.fields().len();
        Self {
            batches: Box::new(batches),
            schema,
            not_finite: NotFinite::default(),
            sent: (0..width).collect(),
            columns: (0..width).map(|_| None).collect(),
            wanted: vec![false; width],
            stride: 1,
            row: 0,
            rows: 0,
            record: 0,
        }
    }

    /// Reads and sends only these columns, in this order.
    ///
    /// # Errors
    /// If there is no column of one of these names.
    pub fn columns<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Result<Self, Error> {
        let index = |name: &str| self.schema.index_of(name).map_err(|_| missing(name));
        self.sent = names.into_iter().map(index).collect::<Result<_, _>>()?;
        self.wanted.fill(false);
        self.sent.iter().for_each(|column| self.wanted[*column] = true);
        Ok(self)
    }

    /// Sets what happens to NaN and infinities. By default they are an error of their record.
    #[must_use]
    pub fn not_finite(mut self, not_finite: NotFinite) -> Self {
        self.not_finite = not_finite;
        self
    }

    /// Leaves out groups of rows whose statistics rule out that the predicate is true. Slot `i` of the predicate is
    /// `paths[i]`. Rows of the other groups are all sent, whether they match or not. Costs nothing per row.
    ///
    /// Only Parquet has statistics. They decide ordered comparisons and `in`, for columns of integers, doubles and
    /// texts.
    ///
    /// # Errors
    /// If the statistics are damaged.
    pub fn skip_groups(mut self, predicate: &Predicate, paths: &[Path]) -> Result<Self, Error> {
        self.batches.leave_out(predicate, paths)?;
        Ok(self)
    }

    /// The number of rows, if the file says it at once: Parquet does.
    pub fn rows(&self) -> Option<u64> {
        self.batches.rows()
    }

    /// The names and types of the columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The names and types of the columns that are sent: those of the batches.
    pub fn batch_schema(&self) -> SchemaRef {
        let fields = self.sent.iter().map(|column| self.schema.fields()[*column].clone());
        Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), self.schema.metadata().clone()))
    }

    /// The next rows as a batch of columns, which have the types and the values of the file; `None` at the end. Rows
    /// that were sent as records are not in it. Values that JSON cannot represent are not errors here.
    ///
    /// # Errors
    /// If the file is damaged or cannot be read.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        self.sent.iter().for_each(|column| self.wanted[*column] = true);
        while self.row == self.rows {
            if !self.advance()? {
                return Ok(None);
            }
        }
        let mut columns = self.sent.clone();
        columns.sort_unstable();
        columns.dedup();
        let arrays = self.arrays(&columns)?;
        let of =
            |column: &usize| columns.binary_search(column).map_or_else(|_| unreachable!(), |at| arrays[at].clone());
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        let arrays = self.sent.iter().map(of).collect();
        let batch = RecordBatch::try_new_with_options(self.batch_schema(), arrays, &options)?;
        let batch = batch.slice(self.row, self.rows - self.row);
        self.record += batch.num_rows() as u64;
        self.row = self.rows;
        Ok(Some(batch))
    }

    /// The record that was sent last, or that the last [error of a record](Error::is_of_record) is about, as JSON. The
    /// values that JSON cannot represent are written as `NaN`, `25:00:00` or `not JSON: "…"`.
    ///
    /// # Errors
    /// Errors from reading the record's columns that were not read before.
    pub fn bad_record(&mut self) -> Result<Vec<u8>, Error> {
        let mut record = RawRecord::default();
        let Some(row) = self.row.checked_sub(1) else { return Ok(Vec::new()) };
        // All columns that are sent are read from now on: after one bad record, others are likely.
        self.sent.iter().for_each(|column| self.wanted[*column] = true);
        let is_missing = |column: &usize| self.wanted[*column] && self.columns[*column].is_none();
        let missing = (0..self.columns.len()).filter(is_missing).collect::<Vec<_>>();
        self.load(&missing)?;
        let Ok(()) = record.begin_record(Place::default());
        let Ok(()) = record.begin_object();
        for index in &self.sent {
            let Ok(_) = record.key(Key::new(self.schema.field(*index).name()));
            if let Some(column) = &self.columns[*index] {
                match column.send(row, WrittenDown, &mut record) {
                    Ok(()) => {}
                    Err(ArrowStop::Source(error)) => return Err(error),
                    Err(ArrowStop::Sink(never)) => match never {},
                }
            }
        }
        let Ok(()) = record.end_object();
        Ok(record.into_text())
    }

    fn send_row<S: Sink>(&mut self, place: Place, sink: &mut S) -> Result<(), ArrowStop<S::Error>> {
        sink.begin_record(place)?;
        sink.begin_object()?;
        for number in 0..self.sent.len() {
            let index = self.sent[number];
            if sink.key(Key::numbered(self.schema.field(index).name(), number as u32))? == Interest::Skip {
                continue;
            }
            if self.columns[index].is_none() {
                self.load_late(index).map_err(ArrowStop::Source)?;
            }
            if let Some(column) = &self.columns[index] {
                let sending = Sending { column: self.schema.field(index).name(), not_finite: self.not_finite };
                column.send(self.row, sending, sink)?;
            }
        }
        sink.end_object()?;
        Ok(sink.end_record()?)
    }

    /// Moves to the next batch, without reading any of it.
    fn advance(&mut self) -> Result<bool, Error> {
        self.columns.fill_with(|| None);
        let rows = self.batches.advance()?;
        self.record += self.batches.left_out();
        (self.row, self.rows, self.stride) = (0, rows.unwrap_or(0), 1);
        Ok(rows.is_some())
    }

    /// Moves to the next batch, and reads the columns that were taken before.
    fn begin_batch(&mut self) -> Result<bool, Error> {
        if !self.advance()? {
            return Ok(false);
        }
        let wanted = (0..self.wanted.len()).filter(|column| self.wanted[*column]).collect::<Vec<_>>();
        self.load(&wanted)?;
        Ok(true)
    }

    /// Reads a column that was not wanted before, and some after it, which may be wanted too.
    #[cold]
    fn load_late(&mut self, index: usize) -> Result<(), Error> {
        self.wanted[index] = true;
        let end = self.columns.len().min(index + self.stride);
        self.stride *= 2;
        let missing = (index..end).filter(|column| self.columns[*column].is_none()).collect::<Vec<_>>();
        self.load(&missing)
    }

    fn load(&mut self, columns: &[usize]) -> Result<(), Error> {
        for (index, array) in columns.iter().zip(&self.arrays(columns)?) {
            self.columns[*index] = Some(ArrowColumn::new(self.schema.field(*index), array)?);
        }
        Ok(())
    }

    /// One array for each of these columns of the batch, with all of its rows.
    fn arrays(&mut self, columns: &[usize]) -> Result<Vec<ArrayRef>, Error> {
        if columns.is_empty() || self.rows == 0 {
            return Ok(Vec::new());
        }
        let arrays = self.batches.load(columns)?;
        if let Some(array) = arrays.iter().find(|array| array.len() != self.rows) {
            return Err(malformed(format_args!("a column has {} rows, and its batch has {}", array.len(), self.rows)));
        }
        if arrays.len() == columns.len() { Ok(arrays) } else { Err(malformed("a column is missing")) }
    }
}

impl Source for ColumnSource<'_> {
    type Error = Error;

    fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Error, S::Error>> {
        while self.row == self.rows {
            if !self.begin_batch().map_err(Failure::Source)? {
                return Ok(false);
            }
        }
        let place = Place { record: self.record, ..Place::default() };
        let sent = self.send_row(place, sink);
        self.row += 1;
        self.record += 1;
        match sent {
            Ok(()) => Ok(true),
            Err(ArrowStop::Sink(error)) => Err(Failure::Sink(error, place)),
            Err(ArrowStop::Source(error)) if error.is_of_record() => Err(Failure::Source(error.at(place))),
            Err(ArrowStop::Source(error)) => Err(Failure::Source(error)),
        }
    }
}
