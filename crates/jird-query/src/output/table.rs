//! Tables with aligned columns, for people.

use super::cell::{Cells, known_columns};
use super::{WriteError, Writer};
use crate::sql::Output;
use arrow_array::RecordBatch;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The column widths are computed from this many rows, so that memory stays bounded. Wider cells in later rows stick
/// out.
const ROWS_MEASURED: usize = 1000;

/// The maximum width of a column if the page width is unknown, in terminal columns. A wider cell sticks out, because
/// otherwise it would pad every row.
const WIDTH_MAX: usize = 1000;

/// Columns are not cut to less than this width.
const WIDTH_MIN: usize = 4;

/// Blanks between columns.
const GAP: usize = 2;

/// Writes a header and aligned rows.
pub(super) struct Table {
    columns: Vec<Output>,
    /// The width of the page.
    page: Option<usize>,
    /// Rows that are not printed yet.
    waiting: Vec<Vec<String>>,
    /// For each column: whether it had a number, and whether it had another value.
    numbers: Vec<(bool, bool)>,
    shape: Option<Vec<Shape>>,
}

/// The width and alignment of a column.
#[derive(Clone, Copy)]
struct Shape {
    width: usize,
    is_right: bool,
}

impl Table {
    pub(super) fn new(columns: Vec<Output>, page: Option<usize>) -> Self {
        let numbers = vec![(false, false); columns.len()];
        Self { columns, page, waiting: Vec::new(), numbers, shape: None }
    }

    /// Prints the waiting rows. The header comes before the first of them.
    fn print(&mut self, out: &mut Vec<u8>) {
        if self.shape.is_none() {
            let mut widths: Vec<_> = self.columns.iter().map(|column| column.name.width()).collect();
            let widest = if self.page.is_some() { usize::MAX } else { WIDTH_MAX };
            for row in &self.waiting {
                for (width, cell) in widths.iter_mut().zip(row) {
                    *width = (*width).max(cell.width().min(widest));
                }
            }
            if let Some(page) = self.page {
                fit(&mut widths, page);
            }
            let shape = widths
                .iter()
                .zip(&self.numbers)
                .map(|(&width, &numbers)| Shape { width: width.max(1), is_right: numbers == (true, false) });
            let shape: Vec<_> = shape.collect();
            let names: Vec<_> = self.columns.iter().map(|column| shown(&column.name)).collect();
            self.line(&names, &shape, out);
            let rules: Vec<_> = shape.iter().map(|shape| "─".repeat(shape.width)).collect();
            self.line(&rules, &shape, out);
            self.shape = Some(shape);
        }
        let shape = self.shape.clone().unwrap_or_default();
        for row in std::mem::take(&mut self.waiting) {
            self.line(&row, &shape, out);
        }
    }

    fn line(&self, cells: &[String], shape: &[Shape], out: &mut Vec<u8>) {
        for (index, (cell, Shape { width, is_right })) in cells.iter().zip(shape).enumerate() {
            let cell = if self.page.is_some() { cut(cell, *width) } else { cell.into() };
            let blanks = width.saturating_sub(cell.width());
            let (before, after) = if *is_right { (blanks, 0) } else { (0, blanks) };
            let gap = if index > 0 { GAP } else { 0 };
            out.resize(out.len() + gap + before, b' ');
            out.extend_from_slice(cell.as_bytes());
            out.resize(out.len() + after, b' ');
        }
        while out.last() == Some(&b' ') {
            out.pop();
        }
        out.push(b'\n');
    }
}

/// Narrows the widest columns until all columns fit on the page.
fn fit(widths: &mut [usize], page: usize) {
    let gaps = GAP * widths.len().saturating_sub(1);
    let room = page.saturating_sub(gaps);
    let taken = |widest: usize| widths.iter().map(|&width| width.min(widest)).sum::<usize>();
    // The maximum width of any column. There are few columns, so few steps suffice.
    let mut widest = widths.iter().copied().max().unwrap_or_default().min(room.max(WIDTH_MIN));
    while widest > WIDTH_MIN && taken(widest) > room {
        widest -= 1;
    }
    for width in widths {
        *width = (*width).min(widest);
    }
}

/// Cuts a text to `width` terminal columns.
fn cut(text: &str, width: usize) -> std::borrow::Cow<'_, str> {
    if text.width() <= width {
        return text.into();
    }
    let mut left = width.saturating_sub(1);
    let mut cut = String::new();
    for char in text.chars() {
        let Some(rest) = left.checked_sub(char.width().unwrap_or(0)) else { break };
        left = rest;
        cut.push(char);
    }
    cut.push('…');
    cut.into()
}

impl Writer for Table {
    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let arrays = known_columns(batch)?;
        let cells = Cells::all(&self.columns, batch, &arrays)?;
        let mut text = Vec::new();
        for row in 0..batch.num_rows() {
            let mut texts = Vec::with_capacity(cells.len());
            for (cells, (any, other)) in cells.iter().zip(&mut self.numbers) {
                if !cells.is_null(row) {
                    let is_number = cells.is_number(row);
                    *any |= is_number;
                    *other |= !is_number;
                }
                text.clear();
                cells.plain(row, &mut text)?;
                texts.push(shown(&String::from_utf8_lossy(&text)));
            }
            self.waiting.push(texts);
            if self.waiting.len() >= ROWS_MEASURED || self.shape.is_some() {
                self.print(out);
            }
        }
        Ok(())
    }

    fn holds_back(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn pause(&mut self, out: &mut Vec<u8>) {
        self.print(out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        self.print(out);
        Ok(())
    }
}

/// A cell on one line, without control characters that a terminal would obey.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() { out.extend(char.escape_default()) } else { out.push(char) }
    }
    out
}
