//! The sink's rows that wait until a statement is full, and how they are written.

use super::table::Form;
use super::{SqliteSink, insert_failed, unfit, value_kinds};
use crate::cell::Cell;
use crate::error::{Error, ErrorKind};
use crate::rows::Row;
use crate::sqlite::affinity::Fit;
use crate::sqlite::database::not_base64;
use crate::sqlite::database::quote;
use crate::sqlite::insert::{Insert, rows_per_statement};
use crate::sqlite::value::{self, Value};
use core::ops::Range;
use jird::event::Place;

/// Rows that wait until a statement is full. They are the very rows that the events filled.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// The first `len` rows wait. The others were written, and are swapped for the next ones.
    rows: Vec<(Row, Place)>,
    len: usize,
    /// Bytes in the texts of the waiting rows.
    size: usize,
    /// Bytes that all of the rows have memory for.
    capacity: usize,
    /// The columns that all waiting rows have, if missing columns are left out of the insert.
    present: Vec<usize>,
    /// Scratch space for texts that a row does not hold itself.
    scratch: String,
}

/// Bytes at which pending rows are written.
const PENDING_BYTES: usize = 1 << 20;
/// Bytes of memory kept for the texts of the next rows.
const SPARE_BYTES: usize = 4 * PENDING_BYTES;
/// A row is copied, not swapped, if it has this many more bytes of memory than twice its size.
const ROOMY_BYTES: usize = 4 << 10;
/// The most statements that are kept, for rows with different columns.
const INSERTS_MAX: usize = 64;

impl Pending {
    /// Takes a row, and leaves another one for the next record.
    pub(super) fn push(&mut self, row: &mut Row, place: Place) {
        if self.len == self.rows.len() {
            self.rows.push((Row::default(), place));
        }
        self.size += row.size();
        let (spare, of) = &mut self.rows[self.len];
        self.capacity -= spare.capacity();
        if row.capacity() > 2 * row.size() + ROOMY_BYTES {
            // The memory that a large text needed stays with the row for the next record, which may need it too.
            spare.copy_from(row);
        } else {
            core::mem::swap(spare, row);
        }
        self.capacity += spare.capacity();
        *of = place;
        self.len += 1;
    }

    /// Whether the rows should be written, if a statement takes `rows` of them.
    pub(super) fn is_full(&self, rows: usize) -> bool {
        self.len >= rows || self.size > PENDING_BYTES
    }

    fn clear(&mut self) {
        (self.len, self.size) = (0, 0);
        // Each row may have been large at another time.
        if self.capacity > SPARE_BYTES {
            self.rows.clear();
            self.capacity = 0;
        }
    }
}

impl SqliteSink<'_> {
    /// Refuses or counts the values that the table's columns would change.
    #[inline]
    pub(super) fn check_values(&mut self, row: &Row) -> Result<(), Error> {
        for (index, column) in self.columns.iter_mut().enumerate() {
            if column.form == Form::Json {
                continue;
            }
            let cell = row.get(index);
            if let (Form::Base64, Cell::Text(text)) = (column.form, cell) {
                return Err(not_base64(&column.name, text));
            }
            let value = value::of_cell(cell, &mut self.pending.scratch);
            column.seen |= value_kinds::of(cell, value);
            self.report.exact_as_text += u64::from(matches!((cell, value), (Cell::Number(_), Value::Text(_))));
            match column.affinity.fit(value) {
                Fit::Same => {}
                Fit::Changes if !self.options.converts => return Err(unfit(&self.table, &column.name, value)),
                Fit::Changes | Fit::LosesSign => self.report.converted += 1,
            }
            // SQLite would turn NaN into NULL.
            if matches!(value, Value::Real(real) if !real.is_finite()) {
                return Err(unfit(&self.table, &column.name, value));
            }
        }
        Ok(())
    }

    pub(super) fn check_keys(&self, row: &Row) -> Result<(), Error> {
        let has = self.key_columns.iter().filter(|column| !row.cell(**column).is_null()).count();
        if has == self.keys().len() || self.options.keyless {
            return Ok(());
        }
        let keys = self.keys().iter().map(|key| quote(key)).collect::<Vec<_>>().join(", ");
        Err(Error::new(ErrorKind::Unfit, format!("a record has no value for the key {keys}")))
    }

    /// Waiting rows have the same columns, if missing columns are left out of the insert. A row with others starts a
    /// new group.
    pub(super) fn gather(&mut self, row: &Row) -> Result<(), Error> {
        let present = || (0..row.len()).filter(|column| !matches!(row.cell(*column), Cell::Missing));
        if self.pending.len > 0 && self.pending.present.iter().copied().eq(present()) {
            return Ok(());
        }
        self.flush()?;
        self.pending.present.clear();
        self.pending.present.extend(present());
        self.batch = rows_per_statement(self.conn, self.pending.present.len(), self.rows_wanted);
        Ok(())
    }

    /// Writes the rows that wait.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        if self.pending.len == 0 {
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
        let rows = self.pending.len as u64;
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

    fn write(&mut self, present: &[usize]) -> Result<(), Error> {
        let rows = self.pending.len;
        if rows > 1 && rows == self.batch {
            let counted = self.counted_column(present)?;
            let left: Vec<usize> = present.iter().copied().filter(|column| Some(*column) != counted).collect();
            match (self.write_rows(&left, 0..rows), &mut self.numbers, counted) {
                (Ok(()), Some((_, numbers)), Some(_)) => return numbers.counted(rows),
                (Ok(()), ..) => return Ok(()),
                // One row is at fault; writing each row alone finds it.
                (Err(error), ..) if error.is_of_a_row() && !self.scope.is_lost() => {}
                (Err(error), ..) => return Err(error),
            }
        }
        (0..rows).try_for_each(|row| {
            self.write_rows(present, row..row + 1).map_err(|error| error.at(self.pending.rows[row].1))
        })
    }

    /// The column that need not be written, because the rows have the very numbers that SQLite would give them.
    fn counted_column(&mut self, present: &[usize]) -> Result<Option<usize>, Error> {
        let Some((name, numbers)) = &mut self.numbers else { return Ok(None) };
        let column = present.iter().copied().find(|column| self.columns[*column].name == *name);
        let Some(column) = column.filter(|_| present.len() > 1) else { return Ok(None) };
        let Some(first) = numbers.next(self.pending.len)? else { return Ok(None) };
        let Pending { rows, len, scratch, .. } = &mut self.pending;
        let mut values = rows[..*len].iter().zip(first..);
        let counts_up = values.all(|((row, _), next)| value::of_cell(row.get(column), scratch) == Value::Integer(next));
        if !counts_up {
            numbers.missed();
        }
        Ok(counts_up.then_some(column))
    }

    /// Writes rows with one statement.
    fn write_rows(&mut self, present: &[usize], rows: Range<usize>) -> Result<(), Error> {
        if !self.inserts.contains_key(present) {
            if self.inserts.len() >= INSERTS_MAX {
                self.inserts.clear();
            }
            let names: Vec<&str> = present.iter().map(|column| self.columns[*column].name.as_str()).collect();
            let insert = Insert::new(self.conn, &self.table, &names, self.keys());
            let insert = if self.options.keeps_existing { insert.keep_existing() } else { insert };
            self.inserts.insert(present.to_vec(), insert);
        }
        let Self { inserts, pending, table, .. } = self;
        let insert = inserts.get_mut(present).expect("it was there, or was just put in");
        let statement = insert.rows(rows.len())?;
        let mut parameter = 0;
        let bound = pending.rows[rows].iter().try_for_each(|(row, _)| {
            present.iter().try_for_each(|column| {
                parameter += 1;
                value::of_cell(row.get(*column), &mut pending.scratch).bind(statement, parameter)
            })
        });
        bound.and_then(|()| statement.raw_execute()).map(drop).map_err(|error| insert_failed(table, error))
    }
}
