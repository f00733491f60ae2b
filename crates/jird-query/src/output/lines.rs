//! One line per field, for wide records.

use super::cell::{Cells, known_columns};
use super::table::shown;
use super::{WriteError, Writer};
use crate::sql::{Output, OutputKind};
use arrow_array::RecordBatch;
use unicode_width::UnicodeWidthStr;

/// Writes each row as a block of lines: a rule with the number of the row, then the fields. Missing fields are left out.
pub(super) struct Lines {
    columns: Vec<Output>,
    names: Vec<String>,
    width: usize,
    rows: u64,
}

impl Lines {
    pub(super) fn new(columns: Vec<Output>) -> Self {
        let names: Vec<_> = columns.iter().map(|column| shown(&column.name)).collect();
        let width = names.iter().map(|name| name.width()).max().unwrap_or_default();
        Self { columns, names, width, rows: 0 }
    }
}

impl Writer for Lines {
    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let arrays = known_columns(batch)?;
        let cells = Cells::all(&self.columns, batch, &arrays)?;
        let mut text = Vec::new();
        for row in 0..batch.num_rows() {
            self.rows += 1;
            out.extend_from_slice(format!("── {} ──\n", self.rows).as_bytes());
            for ((cells, name), column) in cells.iter().zip(&self.names).zip(&self.columns) {
                if cells.is_null(row) && column.kind == OutputKind::Plain {
                    continue;
                }
                text.clear();
                cells.plain(row, &mut text)?;
                let blanks = " ".repeat(self.width - name.width());
                let line = format!("{name}{blanks}  {}", shown(&String::from_utf8_lossy(&text)));
                out.extend_from_slice(line.trim_end().as_bytes());
                out.push(b'\n');
            }
        }
        Ok(())
    }

    fn finish(&mut self, _: &mut Vec<u8>) -> Result<(), WriteError> {
        Ok(())
    }
}
