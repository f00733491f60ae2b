//! Inserts Rust values into a table: values go straight from `Serialize` to the parameters of a statement.

mod plan;
mod serialize;

use super::database::{TableInfo, quote};
use super::insert::{Insert, RowNumbers, rows_per_statement};
use super::scope::Scope;
use super::sink::insert_failed;
use crate::error::{Error, ErrorKind};
use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;
use jird::event::Place;
use plan::Plan;
use rusqlite::{Connection, Statement};
use serde_core::Serialize;
use serialize::{InsertStop, RowSerializer, StopReason};

/// Writes Rust values into an existing table, one row each, in one transaction: all of them or none.
/// [`finish`](Self::finish) commits it; if the inserter is dropped before, it is rolled back.
///
/// A type is a struct, or a map with text keys; its fields are columns of the same names. The column of each field is
/// found once for all values. Values are stored as by [`SqliteSink`](super::SqliteSink): a value that a column would
/// change is refused. A field that a value skips is `NULL`.
///
/// *Cost.** Values are bound as they are serialized, without a row in between; a nested value becomes JSON text first.
/// With [`insert_all`](Self::insert_all) one statement writes many rows.
///
/// ```
/// use jird_formats::sqlite::{Inserter, create_for, rusqlite::Connection};
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Task {
///     id: i64,
///     title: String,
///     done: bool,
/// }
/// let conn = Connection::open_in_memory()?;
/// create_for::<Task>(&conn, "tasks", &["id"])?;
/// let tasks = [("Clean Room", false), ("Check Mail", true)];
/// let tasks = tasks.into_iter().zip(1..).map(|((title, done), id)| Task { id, title: title.into(), done });
/// let mut inserter = Inserter::new(&conn, "tasks")?;
/// inserter.insert_all(tasks)?;
/// assert_eq!(inserter.finish()?, 2);
/// assert_eq!(conn.query_row("select count(id) from tasks", [], |row| row.get::<_, i64>(0))?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Inserter<'c, T: ?Sized> {
    conn: &'c Connection,
    info: TableInfo,
    plan: Plan,
    insert: Option<Insert<'c>>,
    /// The statement without the row numbers.
    insert_counted: Option<Insert<'c>>,
    numbers: Option<(usize, RowNumbers<'c>)>,
    /// The field that is the row number.
    number_field: Option<usize>,
    batch: usize,
    rows_wanted: Option<usize>,
    rows: u64,
    of: PhantomData<fn(&T)>,
    // Dropped last, because the statements must be dropped before the transaction is rolled back.
    scope: Scope<'c>,
}

impl<'c, T: Serialize + ?Sized> Inserter<'c, T> {
    /// An inserter for this table.
    ///
    /// # Errors
    /// If there is no such table, or if it is a view.
    pub fn new(conn: &'c Connection, table: &str) -> Result<Self, Error> {
        let info = TableInfo::of_table(conn, table)?;
        if info.is_view() {
            let message = format!("{} is a view, and cannot be written to", quote(table));
            return Err(Error::new(ErrorKind::Exists, message));
        }
        Ok(Self {
            conn,
            numbers: RowNumbers::of(conn, &info)?,
            info,
            plan: Plan::default(),
            insert: None,
            insert_counted: None,
            number_field: None,
            batch: 1,
            rows_wanted: None,
            rows: 0,
            of: PhantomData,
            scope: Scope::new(conn),
        })
    }

    /// Writes this many rows with one statement, as far as SQLite allows. The default is a number that was measured to
    /// be fast.
    #[must_use]
    pub fn rows_per_statement(mut self, rows: usize) -> Self {
        self.rows_wanted = Some(rows);
        self
    }

    /// Writes one value, with a statement of its own.
    ///
    /// # Errors
    /// If the table refuses the value, if the value has a field that the table lacks, or if SQLite fails. The
    /// transaction is then still open, and has the earlier rows.
    pub fn insert(&mut self, value: &T) -> Result<(), Error> {
        self.scope.begin()?;
        let written = self.learn(value).and_then(|()| {
            while !self.write_rows(&[value])? {}
            Ok(())
        });
        written.map_err(|error| error.at(Place { record: self.rows, ..Place::default() }))?;
        self.rows += 1;
        Ok(())
    }

    /// Writes values, many per statement. They may be borrowed. The values of one statement are held at a time.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_all<I>(&mut self, values: I) -> Result<(), Error>
    where
        I: IntoIterator<Item: Borrow<T>>,
    {
        let mut values = values.into_iter();
        let Some(first) = values.next() else { return Ok(()) };
        self.learn(first.borrow())?;
        let mut waiting = vec![first];
        for value in values {
            if waiting.len() >= self.batch {
                self.write(&waiting)?;
                waiting.clear();
            }
            waiting.push(value);
        }
        self.write(&waiting)
    }

    /// Commits, and returns how many rows were written.
    ///
    /// # Errors
    /// SQLite's errors; then nothing was written.
    pub fn finish(mut self) -> Result<u64, Error> {
        self.scope.commit()?;
        Ok(self.rows)
    }

    fn write<V: Borrow<T>>(&mut self, values: &[V]) -> Result<(), Error> {
        if values.len() == self.batch && self.batch > 1 {
            self.scope.begin()?;
            match self.write_rows(values) {
                Ok(true) => {
                    self.rows += values.len() as u64;
                    return Ok(());
                }
                Ok(false) => {}
                // One row is at fault; writing each row alone finds it.
                Err(error) if error.is_of_a_row() && !self.scope.is_lost() => {}
                Err(error) => return Err(error),
            }
        }
        values.iter().try_for_each(|value| self.insert(value.borrow()))
    }

    /// Writes values with one statement. Returns false if the type has shown something new. Then nothing was written,
    /// and the caller must try again, with as many rows as fit the new number of fields.
    #[inline]
    fn write_rows<V: Borrow<T>>(&mut self, values: &[V]) -> Result<bool, Error> {
        let Self { conn, info, plan, numbers, .. } = self;
        if let (Some(field), Some((_, numbers))) = (self.number_field, numbers)
            && let Some(first) = numbers.next(values.len())?
        {
            let insert = self
                .insert_counted
                .get_or_insert_with(|| Insert::new(conn, &info.name, &plan.names(info, Some(field)), &[]));
            let statement = insert.rows(values.len())?;
            match bind_rows(plan, info, statement, values, Some((field, first))) {
                Ok(()) => {
                    statement.raw_execute().map_err(|error| insert_failed(&info.name, error))?;
                    numbers.counted(values.len())?;
                    return Ok(true);
                }
                Err(InsertStop(why)) if matches!(*why, StopReason::NotNext) => numbers.missed(),
                Err(stop) => return self.halted(stop).map(|()| false),
            }
        }
        let insert = self.insert.get_or_insert_with(|| Insert::new(conn, &info.name, &plan.names(info, None), &[]));
        let statement = insert.rows(values.len())?;
        match bind_rows(plan, info, statement, values, None) {
            Ok(()) => statement.raw_execute().map(|_| true).map_err(|error| insert_failed(&info.name, error)),
            Err(stop) => self.halted(stop).map(|()| false),
        }
    }

    /// Finds the fields of the type.
    fn learn(&mut self, value: &T) -> Result<(), Error> {
        if self.plan.len() > 0 {
            return Ok(());
        }
        let learned = value.serialize(RowSerializer::learn(&mut self.plan, &self.info));
        self.plan_changed();
        learned.map_err(|stop| stop.0.into_error(&self.info.name))
    }

    fn plan_changed(&mut self) {
        (self.insert, self.insert_counted) = (None, None);
        let number = self.numbers.as_ref().and_then(|(column, _)| self.plan.place_of(*column));
        self.number_field = number.filter(|_| self.plan.len() > 1);
        self.batch = rows_per_statement(self.conn, self.plan.len(), self.rows_wanted);
    }

    /// Takes in what is new about the type; a new field means that the statements must be made again. Anything else is
    /// an error.
    fn halted(&mut self, stop: InsertStop) -> Result<(), Error> {
        match *stop.0 {
            StopReason::NewKey(key) => {
                self.plan.add(&key, &self.info)?;
                self.plan_changed();
                Ok(())
            }
            StopReason::Sparse => Ok(()),
            why => Err(why.into_error(&self.info.name)),
        }
    }
}

/// Binds values to the parameters of a statement, one row after the other. The field of `counted` is left out, and its
/// values must count up from the number in `counted`.
fn bind_rows<T: Serialize + ?Sized, V: Borrow<T>>(
    plan: &mut Plan,
    info: &TableInfo,
    statement: &mut Statement<'_>,
    values: &[V],
    counted: Option<(usize, i64)>,
) -> Result<(), InsertStop> {
    let width = plan.len() - usize::from(counted.is_some());
    let mut next = counted;
    for (row, value) in values.iter().enumerate() {
        value.borrow().serialize(RowSerializer::bind(plan, info, statement, row * width, next))?;
        next = next.map(|(field, number)| (field, number + 1));
    }
    Ok(())
}

impl<T: ?Sized> fmt::Debug for Inserter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inserter").field("table", &self.info.name).field("rows", &self.rows).finish_non_exhaustive()
    }
}
