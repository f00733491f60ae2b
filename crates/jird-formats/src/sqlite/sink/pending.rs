//! The rows of a sink that wait until a statement is full, and how they are written.

use super::{SqliteSink, insert_failed, seen, unfit};
use crate::cell::Cell;
use crate::rows::Row;
use crate::sqlite::affinity::Fit;
use crate::sqlite::database::quote;
use crate::sqlite::insert::{Insert, rows_per_statement};
use crate::sqlite::value::{self, Stored, Value};
use crate::sqlite::{SqliteError, SqliteErrorKind};
use core::ops::Range;
use jird::event::Place;
use rusqlite::Statement;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// Rows that wait until a statement is full.
#[derive(Debug, Default)]
pub(super) struct Pending {
    kept: Vec<Kept>,
    arena: Vec<u8>,
    rows: Vec<(usize, Place)>,
    /// The columns that all of the rows have, where that matters.
    present: Vec<usize>,
}

#[derive(Clone, Debug)]
enum Kept {
    Null,
    Integer(i64),
    Real(f64),
    Text(Range<usize>),
    Blob(Range<usize>),
}

/// Pending rows are written when they have so many bytes.
const PENDING_BYTES: usize = 1 << 20;
/// So many statements are kept, for rows that have different columns.
const INSERTS_MAX: usize = 64;

impl Pending {
    /// The cells that were kept since the last row are one.
    pub(super) fn end_row(&mut self, place: Place) {
        self.rows.push((self.kept.len(), place));
    }

    /// A statement takes `rows` of them.
    pub(super) fn is_full(&self, rows: usize) -> bool {
        self.rows.len() >= rows || self.arena.len() > PENDING_BYTES
    }

    fn cell(&self, row: usize, column: usize) -> &Kept {
        let start = row.checked_sub(1).map_or(0, |before| self.rows[before].0);
        // A column may be newer than the row.
        if column < self.rows[row].0 - start { &self.kept[start + column] } else { &Kept::Null }
    }

    #[inline]
    fn bind(
        &self,
        row: usize,
        column: usize,
        statement: &mut Statement<'_>,
        parameter: usize,
    ) -> Result<(), rusqlite::Error> {
        let value = match self.cell(row, column) {
            Kept::Null => ValueRef::Null,
            Kept::Integer(value) => ValueRef::Integer(*value),
            Kept::Real(value) => ValueRef::Real(*value),
            Kept::Text(range) => ValueRef::Text(&self.arena[range.clone()]),
            Kept::Blob(range) => ValueRef::Blob(&self.arena[range.clone()]),
        };
        statement.raw_bind_parameter(parameter, ToSqlOutput::Borrowed(value))
    }

    fn clear(&mut self) {
        self.kept.clear();
        self.arena.clear();
        self.rows.clear();
    }
}

impl<'c> SqliteSink<'c> {
    /// Keeps a cell until its row is written.
    #[inline]
    pub(super) fn keep(&mut self, index: usize, cell: Cell<'_>) -> Result<(), SqliteError> {
        let column = &mut self.columns[index];
        let pending = &mut self.pending;
        let start = pending.arena.len();
        if column.is_json {
            let written = value::write_json(cell, &mut pending.arena);
            pending.kept.push(written.map_or(Kept::Null, |()| Kept::Text(start..pending.arena.len())));
            return Ok(());
        }
        let stored = value::store(cell);
        let (value, seen) = match &stored {
            Stored::Plain(value) => (*value, seen::of(*value)),
            Stored::Exact(text) => {
                self.report.exact_as_text += 1;
                (Value::Text(text), seen::TEXT)
            }
            Stored::Json(text) => (Value::Text(text), seen::JSON),
            Stored::Time(text) => (Value::Text(text), seen::TEXT),
        };
        column.seen |= seen;
        match column.affinity.fit(value) {
            Fit::Same => {}
            Fit::Changes if !self.options.converts => return Err(unfit(&self.table, &column.name, value)),
            Fit::Changes | Fit::LosesSign => self.report.converted += 1,
        }
        let mut kept = |bytes: &[u8]| {
            pending.arena.extend_from_slice(bytes);
            start..start + bytes.len()
        };
        let kept = match value {
            Value::Null => Kept::Null,
            Value::Integer(value) => Kept::Integer(value),
            Value::Real(value) if value.is_finite() => Kept::Real(value),
            // SQLite would make NULL of NaN.
            Value::Real(_) => return Err(unfit(&self.table, &column.name, value)),
            Value::Text(text) => Kept::Text(kept(text.as_bytes())),
            Value::Blob(bytes) => Kept::Blob(kept(bytes)),
        };
        pending.kept.push(kept);
        Ok(())
    }

    pub(super) fn check_keys(&self, row: &Row) -> Result<(), SqliteError> {
        let has = self.key_columns.iter().filter(|column| !row.cell(**column).is_null()).count();
        if has == self.keys().len() {
            return Ok(());
        }
        let keys = self.keys().iter().map(|key| quote(key)).collect::<Vec<_>>().join(", ");
        Err(SqliteError::new(SqliteErrorKind::Value, format!("a record has no value for the key {keys}")))
    }

    /// Waiting rows have the same columns, where that matters: what has others begins anew.
    pub(super) fn gather(&mut self, row: &Row) -> Result<(), SqliteError> {
        let present = || (0..row.len()).filter(|column| !matches!(row.cell(*column), Cell::Missing));
        if !self.pending.rows.is_empty() && self.pending.present.iter().copied().eq(present()) {
            return Ok(());
        }
        self.flush()?;
        self.pending.present.clear();
        self.pending.present.extend(present());
        self.batch = rows_per_statement(self.conn, self.pending.present.len(), self.rows_wanted);
        Ok(())
    }

    /// Writes the rows that wait.
    pub(super) fn flush(&mut self) -> Result<(), SqliteError> {
        if self.pending.rows.is_empty() {
            return Ok(());
        }
        self.scope.begin()?;
        self.prepare_table()?;
        if !self.tells_missing && self.pending.present.len() != self.columns.len() {
            self.pending.present = (0..self.columns.len()).collect();
        }
        let present = core::mem::take(&mut self.pending.present);
        let written = self.write(&present);
        self.pending.present = present;
        written?;
        let rows = self.pending.rows.len() as u64;
        self.report.rows += rows;
        self.rows_since_commit += rows;
        self.pending.clear();
        if self.commit_every.is_some_and(|every| self.rows_since_commit >= every.get()) {
            self.rows_since_commit = 0;
            self.scope.commit()?;
            self.scope.begin()?;
        }
        Ok(())
    }

    fn write(&mut self, present: &[usize]) -> Result<(), SqliteError> {
        let rows = self.pending.rows.len();
        if rows > 1 && rows == self.batch {
            let counted = self.counted_column(present)?;
            let left: Vec<usize> = present.iter().copied().filter(|column| Some(*column) != counted).collect();
            match (self.write_together(&left), &mut self.numbers, counted) {
                (Ok(()), Some((_, numbers)), Some(_)) => return numbers.counted(rows),
                (Ok(()), ..) => return Ok(()),
                // One row is to blame, and is found by writing each alone.
                (Err(error), ..) if error.is_of_a_row() && !self.scope.is_lost() => {}
                (Err(error), ..) => return Err(error),
            }
        }
        (0..rows).try_for_each(|row| {
            self.write_alone(present, row).map_err(|error| error.of_record(self.pending.rows[row].1))
        })
    }

    /// The column that needs not be written, since the rows have the numbers which SQLite gives anyway.
    fn counted_column(&mut self, present: &[usize]) -> Result<Option<usize>, SqliteError> {
        let Some((name, numbers)) = &mut self.numbers else { return Ok(None) };
        let column = present.iter().copied().find(|column| self.columns[*column].name == *name);
        let Some(column) = column.filter(|_| present.len() > 1) else { return Ok(None) };
        let Some(first) = numbers.next(self.pending.rows.len())? else { return Ok(None) };
        let counts_up = (0..self.pending.rows.len())
            .zip(first..)
            .all(|(row, next)| matches!(self.pending.cell(row, column), Kept::Integer(number) if *number == next));
        if !counts_up {
            numbers.missed();
        }
        Ok(counts_up.then_some(column))
    }

    fn insert(&mut self, present: &[usize]) -> &mut Insert<'c> {
        if !self.inserts.contains_key(present) {
            if self.inserts.len() >= INSERTS_MAX {
                self.inserts.clear();
            }
            let names: Vec<&str> = present.iter().map(|column| self.columns[*column].name.as_str()).collect();
            let insert = Insert::new(self.conn, &self.table, &names, self.keys());
            self.inserts.insert(present.to_vec(), insert);
        }
        self.inserts.get_mut(present).expect("it is there, or was just put in")
    }

    fn write_together(&mut self, present: &[usize]) -> Result<(), SqliteError> {
        self.insert(present);
        let Self { inserts, pending, table, .. } = self;
        let insert = inserts.get_mut(present).expect("it was just asked for");
        let statement = insert.rows(pending.rows.len())?;
        let mut parameter = 0;
        let bound = (0..pending.rows.len()).try_for_each(|row| {
            present.iter().try_for_each(|column| {
                parameter += 1;
                pending.bind(row, *column, statement, parameter)
            })
        });
        bound.and_then(|()| statement.raw_execute()).map(drop).map_err(|error| insert_failed(table, error))
    }

    fn write_alone(&mut self, present: &[usize], row: usize) -> Result<(), SqliteError> {
        self.insert(present);
        let Self { inserts, pending, table, .. } = self;
        let statement = inserts.get_mut(present).expect("it was just asked for").rows(1)?;
        let bound = present
            .iter()
            .zip(1..)
            .try_for_each(|(column, parameter)| pending.bind(row, *column, statement, parameter));
        bound.and_then(|()| statement.raw_execute()).map(drop).map_err(|error| insert_failed(table, error))
    }
}
