//! Cells of a store's columns as Arrow arrays, without lines of JSON in between.
//!
//! In goes a [`Cell`], out comes the value that a builder makes of the cell's JSON. What must hold: a column of cells is the
//! column of their documents.

use super::shared::ColumnSpec;
use crate::sql::Rep;
use jird::record::Field;
use jird_formats::{ColumnBuilder, ColumnType, Unfit, holds};
use jird_store::{Cell, Cells};

/// Appends cells to builders.
#[derive(Debug, Default)]
pub(super) struct CellAppender {
    json: Vec<u8>,
}

impl CellAppender {
    /// Whether the type of a column holds all cells of a column of a block.
    pub(super) fn fit(&mut self, column: &ColumnSpec, cells: &Cells, number: usize) -> bool {
        if !matches!(column.rep, Rep::Typed | Rep::Group) || column.kind == ColumnType::Json {
            return true;
        }
        let mut fit = true;
        cells.each(number, |cell| {
            fit &= match (cell, column.kind) {
                (Cell::Number(value), ColumnType::Float64) => value.is_finite(),
                (Cell::Text(_), ColumnType::Text) | (Cell::Bool(_), ColumnType::Bool) | (Cell::Missing, _) => true,
                _ => holds(column.kind, self.field(cell)),
            };
        });
        fit
    }

    /// Appends a cell.
    ///
    /// # Errors
    /// [`Unfit`] if the type of the column cannot hold it.
    pub(super) fn append(&mut self, builder: &mut ColumnBuilder, cell: Cell<'_>) -> Result<(), Unfit> {
        let is_taken = match cell {
            Cell::Number(value) => builder.append_number(value),
            Cell::Text(text) => builder.append_text(text),
            _ => false,
        };
        if is_taken { Ok(()) } else { builder.append(self.field(cell)) }
    }

    /// The field of a document that has this cell.
    fn field(&mut self, cell: Cell<'_>) -> Field<'_> {
        self.json.clear();
        cell.write(&mut self.json);
        std::str::from_utf8(&self.json).map_or(Field::MISSING, Field::from_raw)
    }
}
