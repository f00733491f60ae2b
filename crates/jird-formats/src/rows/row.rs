//! A record's cells, by column.

use crate::cell::Cell;
use jird::event::{Numeral, Timestamp};
use jird::record::Field;

/// A record's cells, one for each column known so far. Its memory is reused for the next record.
#[derive(Debug, Default)]
pub struct Row {
    cells: Vec<Stored>,
    /// The text of strings, JSON and numbers.
    text: String,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum Stored {
    Missing,
    Null,
    Bool(bool),
    I64(i64),
    U64(u64),
    F64(f64),
    Number(Part),
    Text(Part),
    Json(Part),
    Bytes(Part),
    Timestamp(Timestamp),
}

/// Where a value is in the row's texts or bytes.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: usize,
    end: usize,
}

impl Row {
    /// The number of columns.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The cell of a column.
    ///
    /// # Panics
    /// If there is no such column.
    #[inline(always)]
    pub fn cell(&self, column: usize) -> Cell<'_> {
        match self.cells[column] {
            Stored::Missing => Cell::Missing,
            Stored::Null => Cell::Null,
            Stored::Bool(value) => Cell::Bool(value),
            Stored::I64(value) => Cell::Number(Numeral::I64(value)),
            Stored::U64(value) => Cell::Number(Numeral::U64(value)),
            Stored::F64(value) => Cell::Number(Numeral::F64(value)),
            // `put` stored the text of a valid number.
            Stored::Number(part) => Field::from_raw(self.text(part))
                .as_number()
                .map_or(Cell::Null, |number| Cell::Number(Numeral::Text(number))),
            Stored::Text(part) => Cell::Text(self.text(part)),
            Stored::Json(part) => Cell::Json(self.text(part)),
            Stored::Bytes(part) => Cell::Bytes(&self.bytes[part.start..part.end]),
            Stored::Timestamp(time) => Cell::Timestamp(time),
        }
    }

    /// The cell of a column; missing if the column is newer than the row.
    #[cfg(feature = "sqlite")]
    #[inline(always)]
    pub(crate) fn get(&self, column: usize) -> Cell<'_> {
        if column < self.len() { self.cell(column) } else { Cell::Missing }
    }

    /// All cells, by column.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = Cell<'_>> {
        (0..self.len()).map(|column| self.cell(column))
    }

    #[inline(always)]
    fn text(&self, part: Part) -> &str {
        &self.text[part.start..part.end]
    }

    /// Forgets all values, and makes room for this many columns.
    pub(super) fn clear(&mut self, columns: usize) {
        self.cells.clear();
        self.cells.resize(columns, Stored::Missing);
        self.text.clear();
        self.bytes.clear();
    }

    /// The number of bytes in the row's texts and bytes.
    #[cfg(feature = "sqlite")]
    pub(crate) fn size(&self) -> usize {
        self.text.len() + self.bytes.len()
    }

    /// The number of bytes that the row has memory for.
    #[cfg(feature = "sqlite")]
    pub(crate) fn capacity(&self) -> usize {
        self.text.capacity() + self.bytes.capacity()
    }

    /// Becomes a copy of another row.
    #[cfg(feature = "sqlite")]
    pub(crate) fn copy_from(&mut self, row: &Self) {
        self.cells.clone_from(&row.cells);
        self.text.clone_from(&row.text);
        self.bytes.clone_from(&row.bytes);
    }

    /// Adds columns until there are this many.
    pub(super) fn widen(&mut self, columns: usize) {
        self.cells.resize(columns, Stored::Missing);
    }

    pub(super) fn is_missing(&self, column: usize) -> bool {
        matches!(self.cells[column], Stored::Missing)
    }

    /// Puts a value into a column.
    ///
    /// # Panics
    /// If there is no such column.
    #[inline(always)]
    pub fn put(&mut self, column: usize, cell: Cell<'_>) {
        self.cells[column] = match cell {
            Cell::Missing => Stored::Missing,
            Cell::Null => Stored::Null,
            Cell::Bool(value) => Stored::Bool(value),
            Cell::Number(Numeral::I64(value)) => Stored::I64(value),
            Cell::Number(Numeral::U64(value)) => Stored::U64(value),
            Cell::Number(Numeral::F64(value)) => Stored::F64(value),
            Cell::Number(Numeral::Text(number)) => Stored::Number(self.copy(number.text())),
            Cell::Text(text) => Stored::Text(self.copy(text)),
            Cell::Json(json) => Stored::Json(self.copy(json)),
            Cell::Bytes(bytes) => {
                let start = self.bytes.len();
                self.bytes.extend_from_slice(bytes);
                Stored::Bytes(Part { start, end: self.bytes.len() })
            }
            Cell::Timestamp(time) => Stored::Timestamp(time),
        };
    }

    #[inline(always)]
    fn copy(&mut self, text: &str) -> Part {
        let start = self.text.len();
        self.text.push_str(text);
        Part { start, end: self.text.len() }
    }
}
