//! Comma-separated values (RFC 4180).

use super::cell::{Cells, known};
use super::{Column, WriteError, Writer};
use arrow::array::RecordBatch;

/// Writes a header and rows.
pub(super) struct Csv {
    columns: Vec<Column>,
    has_header: bool,
    cell: Vec<u8>,
}

impl Csv {
    pub(super) fn new(columns: Vec<Column>) -> Self {
        Self { columns, has_header: false, cell: Vec::new() }
    }
}

fn rows(out: &mut Vec<u8>) -> ::csv::Writer<&mut Vec<u8>> {
    ::csv::WriterBuilder::new().terminator(::csv::Terminator::CRLF).from_writer(out)
}

impl Csv {
    fn header(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        if !std::mem::replace(&mut self.has_header, true) && !self.columns.is_empty() {
            let mut rows = rows(out);
            rows.write_record(self.columns.iter().map(|column| &column.name)).map_err(std::io::Error::from)?;
            rows.flush()?;
        }
        Ok(())
    }
}

impl Writer for Csv {
    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), WriteError> {
        self.header(out)?;
        let arrays = batch.columns().iter().map(known).collect::<Result<Vec<_>, _>>()?;
        let fields = batch.schema();
        let cells = arrays
            .iter()
            .zip(&self.columns)
            .zip(fields.fields())
            .map(|((array, column), field)| Cells::new(column, field, array))
            .collect::<Result<Vec<_>, _>>()?;
        let mut rows = rows(out);
        for row in 0..batch.num_rows() {
            for (cells, column) in cells.iter().zip(&self.columns) {
                self.cell.clear();
                cells.plain(row, column.is_text, &mut self.cell)?;
                rows.write_field(&self.cell).map_err(std::io::Error::from)?;
            }
            rows.write_record(None::<&[u8]>).map_err(std::io::Error::from)?;
        }
        rows.flush()?;
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        self.header(out)
    }
}
