//! Columns for people.

use super::cell::{Cells, known};
use super::{Column, WriteError, Writer};
use arrow::array::RecordBatch;

/// Rows that decide how wide the columns are. Later cells that are wider stick out: memory stays bounded.
const ROWS_MEASURED: usize = 1000;

/// The widest a column gets, in characters.
const WIDTH_MAX: usize = 80;

/// Writes a header and aligned rows.
pub(super) struct Table {
    columns: Vec<Column>,
    /// Rows not yet printed.
    waiting: Vec<Vec<String>>,
    widths: Option<Vec<usize>>,
}

impl Table {
    pub(super) fn new(columns: Vec<Column>) -> Self {
        Self { columns, waiting: Vec::new(), widths: None }
    }

    /// Prints the waiting rows, the header before the first of them.
    fn print(&mut self, out: &mut Vec<u8>) {
        if self.widths.is_none() {
            let mut widths: Vec<_> = self.columns.iter().map(|column| width(&column.name)).collect();
            for row in &self.waiting {
                for (widest, cell) in widths.iter_mut().zip(row) {
                    *widest = (*widest).max(width(cell)).min(WIDTH_MAX);
                }
            }
            let names: Vec<_> = self.columns.iter().map(|column| shown(&column.name)).collect();
            line(&names, &widths, out);
            let rules: Vec<_> = widths.iter().map(|width| "─".repeat((*width).max(1))).collect();
            line(&rules, &widths, out);
            self.widths = Some(widths);
        }
        let widths = self.widths.as_deref().unwrap_or_default();
        for row in self.waiting.drain(..) {
            line(&row, widths, out);
        }
    }
}

impl Writer for Table {
    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let arrays = batch.columns().iter().map(known).collect::<Result<Vec<_>, _>>()?;
        let fields = batch.schema();
        let cells = arrays
            .iter()
            .zip(&self.columns)
            .zip(fields.fields())
            .map(|((array, column), field)| Cells::new(column, field, array))
            .collect::<Result<Vec<_>, _>>()?;
        let mut text = Vec::new();
        for row in 0..batch.num_rows() {
            let mut texts = Vec::with_capacity(cells.len());
            for (cells, column) in cells.iter().zip(&self.columns) {
                text.clear();
                cells.plain(row, column.is_text, &mut text)?;
                texts.push(shown(&String::from_utf8_lossy(&text)));
            }
            self.waiting.push(texts);
            if self.waiting.len() >= ROWS_MEASURED || self.widths.is_some() {
                self.print(out);
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        self.print(out);
        Ok(())
    }
}

/// A cell on one line, without anything that a terminal would obey.
fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() { out.extend(char.escape_default()) } else { out.push(char) }
    }
    out
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn line(cells: &[String], widths: &[usize], out: &mut Vec<u8>) {
    for (cell, wanted) in cells.iter().zip(widths) {
        out.extend_from_slice(cell.as_bytes());
        out.resize(out.len() + wanted.saturating_sub(width(cell)) + 2, b' ');
    }
    while out.last() == Some(&b' ') {
        out.pop();
    }
    out.push(b'\n');
}
