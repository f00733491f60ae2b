//! A table into another database: its definition, its values as SQLite has them, and its indexes.
//!
//! The definition is the `create table` of the source. So keys, constraints, defaults, collations, generated columns
//! and declared types stay, and no value is changed by its column: it was stored in a column of the same type.

use super::database::{TableInfo, query, quote, text};
use super::insert::Insert;
use super::scope::Scope;
use crate::error::{Error, ErrorKind};
use core::num::NonZeroU64;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, Statement};

/// A table that is copied to another database, under its own name.
///
/// A trigger would run for each row, and views may need other tables: [`left_out`](Self::left_out) names the triggers,
/// and views are not copied. Row numbers are copied only where a column holds them.
///
/// ```
/// use jird_formats::sqlite::{TableCopy, rusqlite::Connection};
/// let (from, to) = (Connection::open_in_memory()?, Connection::open_in_memory()?);
/// from.execute_batch("create table t (id integer primary key, n text not null unique); insert into t values (1, 'x')")?;
/// assert_eq!(TableCopy::new(&from, "t")?.run(&to)?, 1);
/// assert!(to.execute("insert into t values (2, 'x')", []).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TableCopy<'c> {
    from: &'c Connection,
    table: String,
    /// The stored columns.
    columns: Vec<String>,
    /// The text that creates the table.
    definition: String,
    /// The names of its indexes, and the texts that create them.
    indexes: Vec<(String, String)>,
    triggers: Vec<String>,
    rows_max: u64,
    commit_every: Option<NonZeroU64>,
}

impl<'c> TableCopy<'c> {
    /// Reads the definition of a table.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if it is a view or a virtual table, or needs a function or a collation that this
    /// program lacks. Otherwise, if there is no such table, or if SQLite fails.
    pub fn new(from: &'c Connection, table: &str) -> Result<Self, Error> {
        let info = TableInfo::of_table(from, table)?;
        let sql = "select type, name, sql from sqlite_schema where tbl_name = ? collate nocase and sql is not null";
        let parts = query(from, sql, &[&info.name], |row| Ok((text(row, 0)?, text(row, 1)?, text(row, 2)?)))?;
        let of = |kind: &'static str| parts.iter().filter(move |part| part.0 == kind);
        let Some((_, _, definition)) = of("table").next().filter(|_| info.is_ordinary()) else {
            let message = format!("{} is a view or a virtual table", quote(&info.name));
            return Err(Error::new(ErrorKind::Unsupported, message));
        };
        let copy = Self {
            from,
            columns: info.columns.iter().filter(|it| !it.is_generated).map(|it| it.name.clone()).collect(),
            definition: definition.clone(),
            indexes: of("index").map(|(_, name, sql)| (name.clone(), sql.clone())).collect(),
            triggers: of("trigger").map(|(_, name, _)| name.clone()).collect(),
            table: info.name,
            rows_max: u64::MAX,
            commit_every: None,
        };
        copy.try_out().map_err(|error| {
            let message = format!("the definition of {} cannot be used here: {error}", quote(&copy.table));
            Error::new(ErrorKind::Unsupported, message)
        })?;
        Ok(copy)
    }

    /// Copies only the first rows.
    #[must_use]
    pub fn limit(mut self, rows: u64) -> Self {
        self.rows_max = rows;
        self
    }

    /// Commits after this many rows. By default all rows are copied in one transaction, or in a savepoint of the
    /// caller's transaction.
    #[must_use]
    pub fn commit_every(mut self, rows: NonZeroU64) -> Self {
        self.commit_every = Some(rows);
        self
    }

    /// The table's triggers, and those of its indexes whose names `to` has already: they are not copied there.
    ///
    /// # Errors
    /// SQLite's errors.
    pub fn left_out(&self, to: &Connection) -> Result<Vec<String>, Error> {
        let sql = "select name from sqlite_schema where type = 'index' and tbl_name <> ? collate nocase";
        let taken = query(to, sql, &[&self.table], |row| text(row, 0))?;
        let is_taken = |name: &&String| taken.iter().any(|other| other.eq_ignore_ascii_case(name));
        let indexes = self.indexes.iter().map(|(name, _)| name).filter(is_taken);
        Ok(indexes.chain(&self.triggers).cloned().collect())
    }

    /// Makes the table in `to`, which must not have it yet, and copies the rows. Returns their number.
    ///
    /// Rows may refer to rows that are copied later. If `to` enforces foreign keys, switch that off before
    /// (`pragma foreign_keys`).
    ///
    /// # Errors
    /// [`ErrorKind::Exists`], [`ErrorKind::Constraint`] if the rows break the rules of their own table, or
    /// if SQLite fails.
    pub fn run(&self, to: &Connection) -> Result<u64, Error> {
        let mut scope = Scope::new(to);
        scope.begin()?;
        if TableInfo::of(to, &self.table)?.is_some() {
            let message = format!("the table {} already exists", quote(&self.table));
            return Err(Error::new(ErrorKind::Exists, message));
        }
        let left_out = self.left_out(to)?;
        self.execute(to, &self.definition)?;
        let rows = self.copy_rows(to, &mut scope)?;
        for (name, sql) in &self.indexes {
            if !left_out.contains(name) {
                self.execute(to, sql)?;
            }
        }
        self.copy_counter(to)?;
        scope.commit()?;
        Ok(rows)
    }

    fn copy_rows(&self, to: &Connection, scope: &mut Scope<'_>) -> Result<u64, Error> {
        let failed = |error| Error::sqlite(format!("copying the table {}", quote(&self.table)), error);
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let select = columns.iter().map(|name| quote(name)).collect::<Vec<_>>().join(", ");
        let select = format!("select {select} from {}", quote(&self.table));
        let mut select = self.from.prepare(&select).map_err(failed)?;
        let mut insert = Insert::new(to, &self.table, &columns, &[]);
        let insert: &mut Statement<'_> = insert.rows(1)?;
        let mut rows = select.query([]).map_err(failed)?;
        let mut copied = 0;
        while copied < self.rows_max
            && let Some(row) = rows.next().map_err(failed)?
        {
            for column in 0..columns.len() {
                let value = row.get_ref(column).map_err(failed)?;
                insert.raw_bind_parameter(column + 1, ToSqlOutput::Borrowed(value)).map_err(failed)?;
            }
            insert.raw_execute().map_err(failed)?;
            copied += 1;
            if self.commit_every.is_some_and(|every| copied % every == 0) {
                scope.commit()?;
                scope.begin()?;
            }
        }
        Ok(copied)
    }

    /// Copies the last number that `AUTOINCREMENT` gave, which may belong to a row that was deleted.
    fn copy_counter(&self, to: &Connection) -> Result<(), Error> {
        let has_counters = "select name from sqlite_schema where name = 'sqlite_sequence'";
        if query(self.from, has_counters, &[], |_| Ok(()))?.is_empty() {
            return Ok(());
        }
        let last = "select cast(seq as text) from sqlite_sequence where name = ?";
        for last in query(self.from, last, &[&self.table], |row| text(row, 0))? {
            let failed = |error| Error::sqlite(format!("numbering the rows of {}", quote(&self.table)), error);
            to.execute("delete from sqlite_sequence where name = ?", [&self.table]).map_err(failed)?;
            let insert = "insert into sqlite_sequence (name, seq) values (?, cast(? as integer))";
            to.execute(insert, [&self.table, &last]).map_err(failed)?;
        }
        Ok(())
    }

    /// Makes the empty table in a database of its own, to find out whether that is possible.
    fn try_out(&self) -> Result<(), Error> {
        let failed = |error| Error::sqlite("trying out the definition", error);
        let scratch = Connection::open_in_memory().map_err(failed)?;
        scratch.pragma_update(None, "foreign_keys", false).map_err(failed)?;
        self.execute(&scratch, &self.definition)?;
        self.indexes.iter().try_for_each(|(_, sql)| self.execute(&scratch, sql))?;
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        Insert::new(&scratch, &self.table, &columns, &[]).rows(1).map(drop)
    }

    /// Runs one statement. What a damaged database has after it is ignored.
    fn execute(&self, conn: &Connection, sql: &str) -> Result<(), Error> {
        let failed = |error| Error::sqlite(format!("making the table {}", quote(&self.table)), error);
        conn.prepare(sql).and_then(|mut statement| statement.raw_execute()).map(drop).map_err(failed)
    }
}
