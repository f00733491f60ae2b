//! A record's cells, by column.

use crate::cell::Cell;
use jird::event::{Numeral, Timestamp};
use jird::record::Field;

/// A record's cells, one for each column that is known so far. Its memory is used again for the next.
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
    Number { start: usize, end: usize },
    Text { start: usize, end: usize },
    Json { start: usize, end: usize },
    Bytes { start: usize, end: usize },
    Timestamp(Timestamp),
}

impl Row {
    /// How many columns there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The cell of a column.
    ///
    /// # Panics
    /// If there is no such column.
    #[inline]
    pub fn cell(&self, column: usize) -> Cell<'_> {
        match self.cells[column] {
            Stored::Missing => Cell::Missing,
            Stored::Null => Cell::Null,
            Stored::Bool(value) => Cell::Bool(value),
            Stored::I64(value) => Cell::Number(Numeral::I64(value)),
            Stored::U64(value) => Cell::Number(Numeral::U64(value)),
            Stored::F64(value) => Cell::Number(Numeral::F64(value)),
            // A number's text is what it was when it came.
            Stored::Number { start, end } => Field::from_raw(self.text(start, end))
                .as_number()
                .map_or(Cell::Null, |number| Cell::Number(Numeral::Text(number))),
            Stored::Text { start, end } => Cell::Text(self.text(start, end)),
            Stored::Json { start, end } => Cell::Json(self.text(start, end)),
            Stored::Bytes { start, end } => Cell::Bytes(&self.bytes[start..end]),
            Stored::Timestamp(time) => Cell::Timestamp(time),
        }
    }

    /// All cells, by column.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = Cell<'_>> {
        (0..self.len()).map(|column| self.cell(column))
    }

    fn text(&self, start: usize, end: usize) -> &str {
        &self.text[start..end]
    }

    /// Forgets all values, and has this many columns.
    pub(super) fn clear(&mut self, columns: usize) {
        self.cells.clear();
        self.cells.resize(columns, Stored::Missing);
        self.text.clear();
        self.bytes.clear();
    }

    /// Adds columns up to this many.
    pub(super) fn widen(&mut self, columns: usize) {
        self.cells.resize(columns, Stored::Missing);
    }

    pub(super) fn is_missing(&self, column: usize) -> bool {
        matches!(self.cells[column], Stored::Missing)
    }

    /// Puts a value into a column.
    #[inline]
    pub(super) fn put(&mut self, column: usize, cell: Cell<'_>) {
        let start = self.text.len();
        let mut kept = |text: &str| {
            self.text.push_str(text);
            (start, start + text.len())
        };
        let stored = match cell {
            Cell::Missing => Stored::Missing,
            Cell::Null => Stored::Null,
            Cell::Bool(value) => Stored::Bool(value),
            Cell::Number(Numeral::I64(value)) => Stored::I64(value),
            Cell::Number(Numeral::U64(value)) => Stored::U64(value),
            Cell::Number(Numeral::F64(value)) => Stored::F64(value),
            Cell::Number(Numeral::Text(number)) => {
                let (start, end) = kept(number.text());
                Stored::Number { start, end }
            }
            Cell::Text(text) => {
                let (start, end) = kept(text);
                Stored::Text { start, end }
            }
            Cell::Json(json) => {
                let (start, end) = kept(json);
                Stored::Json { start, end }
            }
            Cell::Bytes(bytes) => {
                let start = self.bytes.len();
                self.bytes.extend_from_slice(bytes);
                Stored::Bytes { start, end: self.bytes.len() }
            }
            Cell::Timestamp(time) => Stored::Timestamp(time),
        };
        self.cells[column] = stored;
    }
}
