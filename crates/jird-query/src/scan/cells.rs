//! Cells of a store's columns as Arrow arrays, without lines of JSON in between.
//!
//! In goes a [`Cell`], out comes the value that a builder makes of the cell's JSON. What must hold: a column of cells is the
//! column of their documents.

use super::codes::CodeBuilder;
use super::shared::ColumnSpec;
use crate::sql::Rep;
use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray};
use arrow_select::filter::filter;
use arrow_select::take::take;
use jird::record::Field;
use jird_formats::{ColumnBuilder, ColumnType, holds};
use jird_store::{Cell, Cells};
use std::sync::Arc;

/// Appends cells to builders.
#[derive(Debug, Default)]
pub(super) struct CellAppender {
    json: Vec<u8>,
}

impl CellAppender {
    /// Whether the type of a column holds all cells of a column of a block, and they are not damaged.
    pub(super) fn fit(&mut self, column: &ColumnSpec, cells: &Cells, number: usize) -> bool {
        let is_typed = matches!(column.rep, Rep::Typed | Rep::Group) && column.kind != ColumnType::Json;
        let is_whole = match column.kind {
            ColumnType::Float64 => cells.numbers(number).is_some(),
            ColumnType::Int64 => cells.are_integers(number),
            ColumnType::Text => cells.texts(number).is_some(),
            _ => false,
        };
        if is_typed && is_whole {
            return true;
        }
        if !cells.can_show(number) || !is_typed {
            return cells.can_show(number);
        }
        let mut fit = true;
        cells.each(number, |cell| {
            fit &= match (cell, column.kind) {
                (Cell::Number(value), ColumnType::Float64) => value.is_finite(),
                (Cell::Number(value), ColumnType::Int64) if value.fract() == 0.0 && value.abs() < 1e15 => true,
                (Cell::Text(_), ColumnType::Text) | (Cell::Bool(_), ColumnType::Bool) | (Cell::Missing, _) => true,
                _ => holds(column.kind, self.field(cell)),
            };
        });
        fit
    }

    /// Appends the cells of a column of a block, which [fit](Self::fit), to the builder or as codes.
    pub(super) fn append(
        &mut self,
        builder: &mut ColumnBuilder,
        codes: Option<&mut CodeBuilder>,
        cells: &Cells,
        number: usize,
    ) {
        if let Some(codes) = codes
            && let Some((values, kept)) = cells.texts(number)
            && let Some(words) = values.as_dictionary_opt()
        {
            return codes.append_words(builder, words, &kept);
        }
        if let Some((values, kept)) = cells.numbers(number) {
            let values = matching(Arc::new(values), &kept);
            let are_integers = cells.are_integers(number);
            if builder.append_numbers(values.as_primitive(), are_integers) {
                return;
            }
        }
        if let Some((values, kept)) = cells.texts(number).filter(|_| builder.takes_texts()) {
            builder.append_texts(texts(&matching(values, &kept)).as_string());
            return;
        }
        cells.each(number, |cell| {
            let is_taken = match cell {
                Cell::Number(value) => builder.append_number(value),
                Cell::Text(text) => builder.append_text(text),
                _ => false,
            };
            let appended = if is_taken { Ok(()) } else { builder.append(self.field(cell)) };
            debug_assert!(appended.is_ok(), "it fits");
        });
    }

    /// The field of a document that has this cell.
    fn field(&mut self, cell: Cell<'_>) -> Field<'_> {
        self.json.clear();
        cell.write(&mut self.json);
        std::str::from_utf8(&self.json).map_or(Field::MISSING, Field::from_raw)
    }
}

/// The values in the rows that match.
fn matching(values: ArrayRef, kept: &BooleanArray) -> ArrayRef {
    if kept.true_count() == kept.len() {
        return values;
    }
    filter(&values, kept).expect("there is one answer per row")
}

/// Texts, each once per row.
fn texts(values: &ArrayRef) -> ArrayRef {
    match values.as_any_dictionary_opt() {
        Some(words) => take(words.values(), words.keys(), None).expect("the keys were checked when they were read"),
        None => Arc::clone(values),
    }
}
