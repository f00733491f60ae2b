//! JSON objects, one per line or in one array.

use super::cell::{Cells, known_columns};
use super::{WriteError, Writer};
use crate::sql::{Output, OutputKind};
use arrow_array::RecordBatch;
use jird::hooks::quoted;

/// Writes objects.
pub(super) struct Json {
    columns: Vec<Output>,
    /// `"name":` of each column.
    keys: Vec<String>,
    array: bool,
    any: bool,
}

impl Json {
    /// One object per line.
    pub(super) fn lines(columns: Vec<Output>) -> Self {
        let keys = columns.iter().map(|column| format!("{}:", quoted(&column.name))).collect();
        Self { columns, keys, array: false, any: false }
    }

    /// All objects in one array.
    pub(super) fn array(columns: Vec<Output>) -> Self {
        Self { array: true, ..Self::lines(columns) }
    }

    fn separate(&mut self, out: &mut Vec<u8>) {
        if self.array {
            out.extend_from_slice(if self.any { b",\n" } else { b"[\n" });
        }
        self.any = true;
    }

    fn row(&self, cells: &[Cells<'_>], row: usize, out: &mut Vec<u8>) -> Result<(), WriteError> {
        out.push(b'{');
        let empty = out.len();
        for ((cells, column), key) in cells.iter().zip(&self.columns).zip(&self.keys) {
            let is_null = cells.is_null(row);
            if is_null && column.kind == OutputKind::Plain {
                continue;
            }
            if out.len() > empty {
                out.push(b',');
            }
            out.extend_from_slice(key.as_bytes());
            if is_null {
                out.extend_from_slice(b"null");
            } else {
                cells.json(row, out)?;
            }
        }
        out.push(b'}');
        Ok(())
    }
}

impl Writer for Json {
    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let arrays = known_columns(batch)?;
        let cells = Cells::all(&self.columns, batch, &arrays)?;
        let record = matches!(self.columns.as_slice(), [Output { kind: OutputKind::Record, .. }]);
        for row in 0..batch.num_rows() {
            self.separate(out);
            match &cells[..] {
                [Cells::Json(records)] if record => {
                    let text = records.value(row);
                    if text.starts_with('{') {
                        out.extend_from_slice(text.as_bytes());
                    } else {
                        out.extend_from_slice(b"{\"value\":");
                        out.extend_from_slice(text.as_bytes());
                        out.push(b'}');
                    }
                }
                cells => self.row(cells, row, out)?,
            }
            if !self.array {
                out.push(b'\n');
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        if self.array {
            out.extend_from_slice(if self.any { b"\n]\n" } else { b"[]\n" });
        }
        Ok(())
    }
}
