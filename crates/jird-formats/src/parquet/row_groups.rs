//! Reads Parquet.

use super::statistics::groups_that_may_hold;
use crate::arrow::{Batches, ColumnSource, check, malformed, unsupported};
use crate::error::Error;
use crate::panics::caught;
use arrow_array::ArrayRef;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use jird::Path;
use jird::record::Predicate;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ProjectionMask};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};
use std::sync::Arc;

/// Parquet. Up to 4,096 rows are read at a time.
impl ColumnSource<'static> {
    /// Reads the footer of a file, or of anything else that can be read at any offset.
    pub fn parquet(file: impl ChunkReader + 'static) -> Result<Self, Error> {
        Ok(Self::new(RowGroups::open(file)?))
    }

    /// Reads the footer of a file in memory.
    ///
    /// ```
    /// use jird::event::{self, JsonSink, JsonSource};
    /// use jird_formats::{ColumnPlan, ColumnSink, ColumnSource, ParquetOptions, Rows, Schema};
    /// let text = br#"{"id":18446744073709551615,"at":[1,{"x":null}]} {"id":7}"#;
    /// let mut schema = Rows::new(Schema::default());
    /// event::copy(&mut JsonSource::from_slice(text), &mut schema)?;
    /// let mut sink = ColumnSink::parquet(Vec::new(), &ColumnPlan::of(schema.table()), ParquetOptions::default())?;
    /// event::copy(&mut JsonSource::from_slice(text), &mut sink)?;
    /// let file = sink.into_table().into_inner()?;
    ///
    /// let mut lines = JsonSink::new(Vec::new());
    /// event::copy(&mut ColumnSource::parquet_bytes(file)?.columns(["at"])?, &mut lines)?;
    /// assert_eq!(lines.into_inner(), b"{\"at\":[1,{\"x\":null}]}\n{\"at\":null}\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parquet_bytes(bytes: impl Into<Bytes>) -> Result<Self, Error> {
        Self::parquet(bytes.into())
    }
}

/// An encrypted file ends with different magic bytes.
fn check_plain<R: ChunkReader>(file: &SharedFile<R>) -> Result<(), Error> {
    const ENCRYPTED: &[u8; 4] = b"PARE";
    let Some(start) = file.len().checked_sub(ENCRYPTED.len() as u64) else { return Ok(()) };
    if file.get_bytes(start, ENCRYPTED.len())?.as_ref() == ENCRYPTED {
        return Err(unsupported("the file is encrypted"));
    }
    Ok(())
}

/// Checks the Arrow schema that a footer may contain, before the reader sees it.
fn check_schema(metadata: &ParquetMetaData) -> Result<(), Error> {
    let pairs = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    for pair in pairs.filter(|pair| pair.key == ARROW_SCHEMA_META_KEY) {
        let text = pair.value.as_deref().unwrap_or_default();
        let bytes =
            base64_simd::STANDARD.decode_to_vec(text).map_err(|_| malformed("the Arrow schema is not base64"))?;
        // A message, which may come after a mark and its length.
        let message = if bytes.starts_with(&[0xFF; 4]) { bytes.get(8..).unwrap_or_default() } else { &bytes };
        let message = arrow_ipc::root_as_message(message).map_err(malformed)?;
        check::schema(message.header_as_schema().ok_or_else(|| malformed("a message has no Arrow schema"))?)?;
    }
    Ok(())
}

/// The most rows to read at once.
const BATCH_ROWS: usize = 4096;
/// Approximate number of bytes to read at once.
const BATCH_BYTES: usize = 8 << 20;

/// The compressions that are read, in words.
const READ: &str = if cfg!(feature = "brotli") {
    "Snappy, gzip, Brotli, LZ4 and Zstandard"
} else {
    "Snappy, gzip, LZ4 and Zstandard"
};

struct RowGroups<R> {
    file: SharedFile<R>,
    metadata: ArrowReaderMetadata,
    /// Whether the rows of each group are read; empty if all are.
    kept: Vec<bool>,
    /// The number of rows that were left out since the last batch.
    left_out: u64,
    /// Where the current batch begins, and its number of rows.
    group: usize,
    start: usize,
    rows: usize,
    /// The open reader. It reads the columns that were wanted when the previous batch began.
    open: Option<Open>,
}

struct Open {
    columns: Vec<usize>,
    group: usize,
    /// The row that it reads next.
    row: usize,
    reader: ParquetRecordBatchReader,
}

impl<R: ChunkReader + 'static> RowGroups<R> {
    fn open(reader: R) -> Result<Self, Error> {
        let file = SharedFile(Arc::new(reader));
        check_plain(&file)?;
        let metadata = guard(|| {
            let metadata = ParquetMetaDataReader::new().parse_and_finish(&file)?;
            check_schema(&metadata)?;
            Ok(ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new())?)
        })?;
        let is_right = |rows: i64| usize::try_from(rows).is_ok_and(|rows| rows < 1 << 48);
        if !metadata.metadata().row_groups().iter().all(|group| is_right(group.num_rows())) {
            return Err(malformed("a row group has a number of rows that is not valid"));
        }
        Ok(Self { file, metadata, kept: Vec::new(), left_out: 0, group: 0, start: 0, rows: 0, open: None })
    }

    fn group_rows(&self) -> Option<usize> {
        Some(self.metadata.metadata().row_groups().get(self.group)?.num_rows() as usize)
    }

    fn batch_rows(&self) -> usize {
        let group = self.metadata.metadata().row_group(self.group);
        let bytes = usize::try_from(group.total_byte_size()).unwrap_or(usize::MAX);
        let row_bytes = bytes / (group.num_rows() as usize).max(1);
        (BATCH_BYTES / row_bytes.max(1)).clamp(1, BATCH_ROWS)
    }

    /// Refuses a compression that is not supported, and names it and its column. The column indices ascend.
    fn check_compression(&self, columns: &[usize]) -> Result<(), Error> {
        let schema = self.metadata.parquet_schema();
        for (leaf, chunk) in self.metadata.metadata().row_group(self.group).columns().iter().enumerate() {
            let unread = match chunk.compression() {
                Compression::LZO => "LZO",
                Compression::BROTLI(_) if !cfg!(feature = "brotli") => "Brotli",
                _ => continue,
            };
            if columns.binary_search(&schema.get_column_root_idx(leaf)).is_ok() {
                let column = chunk.column_path().string();
                return Err(unsupported(format_args!(
                    "the column {column:?} is compressed with {unread}; jird reads {READ}"
                )));
            }
        }
        Ok(())
    }

    /// A reader of these columns, starting at this batch.
    fn reader(&self, columns: &[usize]) -> Result<Open, Error> {
        self.check_compression(columns)?;
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), columns.iter().copied());
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.clone(), self.metadata.clone())
            .with_row_groups(vec![self.group])
            .with_projection(mask)
            .with_batch_size(self.batch_rows())
            .with_offset(self.start)
            .build()?;
        Ok(Open { columns: columns.to_vec(), group: self.group, row: self.start, reader })
    }
}

impl<R: ChunkReader + 'static> Batches for RowGroups<R> {
    fn schema(&self) -> SchemaRef {
        self.metadata.schema().clone()
    }

    fn advance(&mut self) -> Result<Option<usize>, Error> {
        self.start += self.rows;
        self.rows = 0;
        while let Some(rows) = self.group_rows() {
            if self.kept.get(self.group) == Some(&false) {
                self.left_out += rows as u64;
            } else if self.start < rows {
                self.rows = self.batch_rows().min(rows - self.start);
                return Ok(Some(self.rows));
            }
            (self.group, self.start) = (self.group + 1, 0);
        }
        Ok(None)
    }

    fn leave_out(&mut self, predicate: &Predicate, paths: &[Path]) -> Result<(), Error> {
        self.kept = guard(|| groups_that_may_hold(&self.metadata, predicate, paths))?;
        Ok(())
    }

    fn left_out(&mut self) -> u64 {
        std::mem::take(&mut self.left_out)
    }

    fn rows(&self) -> Option<u64> {
        Some(self.metadata.metadata().row_groups().iter().map(|group| group.num_rows() as u64).sum())
    }

    fn load(&mut self, columns: &[usize]) -> Result<Vec<ArrayRef>, Error> {
        let is_there = |open: &Open| open.columns == columns && open.group == self.group && open.row == self.start;
        let open = self.open.take().filter(is_there);
        let (mut open, batch) = guard(|| {
            let mut open = open.map_or_else(|| self.reader(columns), Ok)?;
            let batch = open.reader.next();
            Ok((open, batch.ok_or_else(|| malformed("a row group has fewer rows than it says"))??))
        })?;
        open.row += batch.num_rows();
        self.open = Some(open);
        Ok(batch.columns().to_vec())
    }
}

/// Decodes pages. The decoders panic over some that are damaged, and are not used again after that.
fn guard<T>(read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    caught(read).unwrap_or_else(|_| Err(malformed("a page cannot be decoded")))
}

/// A file with several readers. It refuses reads beyond its end, because lengths come from the file, and memory is
/// allocated for them.
struct SharedFile<R>(Arc<R>);

impl<R> Clone for SharedFile<R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<R: ChunkReader> Length for SharedFile<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for SharedFile<R> {
    type T = R::T;

    fn get_read(&self, start: u64) -> Result<R::T, ParquetError> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        match start.checked_add(length as u64) {
            Some(end) if end <= self.0.len() => self.0.get_bytes(start, length),
            _ => Err(ParquetError::EOF(format!("{length} bytes at {start} lie beyond the end of the file"))),
        }
    }
}
