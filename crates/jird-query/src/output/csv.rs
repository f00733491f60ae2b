//! Comma-separated values, by the sink that `jird convert` uses, so both write the same bytes for the same records.
//!
//! The sink gets single cells. If it got records as events, they would first be copied into a row.

use super::cell::{Cells, Scratch, known_columns};
use super::{WriteError, Writer};
use crate::sql::Output;
use arrow_array::RecordBatch;
use jird_formats::{CsvSink, Table};

/// Writes a header and rows.
pub(super) struct Csv {
    columns: Vec<Output>,
    sink: CsvSink<Vec<u8>>,
    scratch: Scratch,
}

impl Csv {
    pub(super) fn new(columns: Vec<Output>) -> Self {
        let names = columns.iter().map(|column| &column.name[..]);
        let sink = CsvSink::new(Vec::new()).columns(names);
        Self { columns, sink, scratch: Scratch::default() }
    }
}

impl Writer for Csv {
    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let arrays = known_columns(batch)?;
        let cells = Cells::all(&self.columns, batch, &arrays)?;
        for row in 0..batch.num_rows() {
            for cells in &cells {
                self.sink.cell(cells.cell(row, &mut self.scratch)?)?;
            }
            self.sink.end_row()?;
        }
        self.sink.flush()?;
        out.append(self.sink.get_mut());
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        self.sink.finish()?;
        out.append(self.sink.get_mut());
        Ok(())
    }
}
