//! Opening a database, and what it says about its tables.

use super::affinity::{Affinity, Fit, is_declared_blob, is_declared_boolean, is_declared_json};
use super::value::{self, Value, told};
use crate::cell::Cell;
use crate::error::{Error, ErrorKind};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, Statement};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// Opens a database for reading. The file is never changed or created.
///
/// # Errors
/// If the file is missing, is not a database, is damaged, or is locked by another connection.
pub fn open_read_only(path: impl AsRef<Path>) -> Result<Connection, Error> {
    open_with(path.as_ref(), OpenFlags::SQLITE_OPEN_READ_ONLY, PATIENCE)
}

/// As [`open_read_only`]; the connection waits this long for a lock that another connection has, now and later.
///
/// # Errors
/// Those of [`open_read_only`].
pub fn open_read_only_within(path: impl AsRef<Path>, patience: Duration) -> Result<Connection, Error> {
    open_with(path.as_ref(), OpenFlags::SQLITE_OPEN_READ_ONLY, patience)
}

/// Opens a database for writing. The file is created if it is missing.
///
/// # Errors
/// Those of [`open_read_only`], except that the file may be missing.
pub fn open(path: impl AsRef<Path>) -> Result<Connection, Error> {
    open_within(path, PATIENCE)
}

/// As [`open`]; the connection waits this long for a lock that another connection has.
///
/// # Errors
/// Those of [`open`].
pub fn open_within(path: impl AsRef<Path>, patience: Duration) -> Result<Connection, Error> {
    open_with(path.as_ref(), OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE, patience)
}

/// How long a connection waits for a lock that another one has, as `rusqlite` and others have it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether a file is a database, or an empty file. SQLite itself reads the first page, and takes no lock, so that it
/// does not matter which processes have the database open.
///
/// ```
/// let path = std::env::temp_dir().join(format!("jird-is-{}.txt", std::process::id()));
/// std::fs::write(&path, "not a database")?;
/// assert!(!jird_formats::sqlite::is_database(&path));
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn is_database(path: impl AsRef<Path>) -> bool {
    let Some(address) = std::path::absolute(path).ok().and_then(|path| unlocked_address(&path)) else { return false };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let version = Connection::open_with_flags(address, flags)
        .and_then(|conn| conn.query_row("pragma schema_version", [], |_| Ok(())));
    let code = version.err().and_then(|error| error.sqlite_error_code());
    !matches!(code, Some(ErrorCode::NotADatabase | ErrorCode::CannotOpen | ErrorCode::PermissionDenied))
}

/// The address by which SQLite opens a file as one that never changes: without locks, and without a look at its log.
fn unlocked_address(path: &Path) -> Option<String> {
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        // Letters and digits of ASCII mean themselves; all else could have a meaning.
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => address.push(char::from(*byte)),
            _ => write!(address, "%{byte:02x}").ok()?,
        }
    }
    Some(address + "?immutable=1")
}

/// After this many steps of SQLite's virtual machine, a statement checks whether to stop: some tens of microseconds.
const STEPS: i32 = 1000;

/// Lets the statements of a connection end early, with an error, as soon as `is_over` says so, which is asked all the
/// time from now on.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("jird-stop-{}.db", std::process::id()));
/// let mut conn = jird_formats::sqlite::open(&path)?;
/// jird_formats::sqlite::stop_when(&mut conn, || true)?;
/// let endless = "with recursive a(i) as (values (1) union all select i + 1 from a) select max(i) from a";
/// assert!(conn.query_row(endless, [], |row| row.get::<_, i64>(0)).is_err());
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn stop_when(conn: &mut Connection, is_over: impl FnMut() -> bool + Send + 'static) -> Result<(), Error> {
    conn.progress_handler(STEPS, Some(is_over)).map_err(|error| Error::sqlite("watching a connection", error))
}

fn open_with(path: &Path, flags: OpenFlags, patience: Duration) -> Result<Connection, Error> {
    let failed = |error| Error::sqlite(path.display(), error);
    let conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(failed)?;
    conn.busy_timeout(patience).map_err(failed)?;
    // Opening reads nothing yet; this query does.
    conn.query_row("select count(*) from sqlite_schema", [], |_| Ok(())).map_err(failed)?;
    let page: u32 = conn.query_row("pragma page_size", [], |row| row.get(0)).map_err(failed)?;
    // SQLite notices missing pages, but takes the missing rest of a page for zeros.
    match std::fs::metadata(path) {
        Ok(data) if data.len() % u64::from(page.max(1)) > 0 => {
            let message = format!("{}: the file ends within a page", path.display());
            Err(Error::new(ErrorKind::Malformed, message))
        }
        _ => Ok(conn),
    }
}

/// The tables, in the order of their creation. SQLite's own tables (`sqlite_…`, and those in which virtual tables keep
/// their content) are left out.
///
/// # Errors
/// If SQLite fails, or if a name is not UTF-8.
pub fn tables(conn: &Connection) -> Result<Vec<String>, Error> {
    names(conn, "'table', 'virtual'")
}

/// A foreign key of a table: "SQLite Foreign Key Support".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// The table that it leads to.
    pub table: String,
    /// The columns of the key, each with the column of the other table that has its value; `None`: the primary key.
    pub columns: Vec<(String, Option<String>)>,
}

/// The foreign keys of a table, in the order of its definition.
///
/// ```
/// use jird_formats::sqlite::{foreign_keys, rusqlite::Connection};
/// let conn = Connection::open_in_memory()?;
/// conn.execute_batch("create table author (id integer primary key); create table book (by references author)")?;
/// let keys = foreign_keys(&conn, "book")?;
/// assert_eq!((&*keys[0].table, &*keys[0].columns[0].0), ("author", "by"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// SQLite's errors.
pub fn foreign_keys(conn: &Connection, table: &str) -> Result<Vec<ForeignKey>, Error> {
    let failed = |error| Error::sqlite("reading the foreign keys", error);
    let sql = "select id, \"table\", \"from\", \"to\" from pragma_foreign_key_list(?1) order by id desc, seq";
    let mut statement = conn.prepare(sql).map_err(failed)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let rows = statement.query_map([table], read).map_err(failed)?;
    let (mut keys, mut last): (Vec<ForeignKey>, _) = (Vec::new(), None);
    for row in rows {
        let (id, table, from, to): (i64, String, String, Option<String>) = row.map_err(failed)?;
        if last.replace(id) != Some(id) {
            keys.push(ForeignKey { table, columns: Vec::new() });
        }
        keys.iter_mut().next_back().into_iter().for_each(|key| key.columns.push((from.clone(), to.clone())));
    }
    Ok(keys)
}

/// The tables and views, with the same order and exceptions as [`tables`].
///
/// # Errors
/// As [`tables`].
pub fn tables_and_views(conn: &Connection) -> Result<Vec<String>, Error> {
    names(conn, "'table', 'virtual', 'view'")
}

fn names(conn: &Connection, types: &str) -> Result<Vec<String>, Error> {
    check_schema(conn)?;
    let sql = format!(
        "select list.name from sqlite_schema join pragma_table_list as list using (name)
         where list.schema = 'main' and list.type in ({types}) and list.name not like 'sqlite\\_%' escape '\\'
         order by sqlite_schema.rowid"
    );
    query(conn, &sql, &[], |row| text(row, 0))
}

/// A name as SQL: in double quotes, with the quotes within it doubled.
///
/// ```
/// assert_eq!(jird_formats::sqlite::quote("select \"x\""), "\"select \"\"x\"\"\"");
/// ```
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Refuses a schema that is not UTF-8, because the binding panics when it is asked for such a name.
pub(super) fn check_schema(conn: &Connection) -> Result<(), Error> {
    let databases = query(conn, "select name from pragma_database_list", &[], |row| text(row, 0))?;
    for database in databases {
        let sql = format!("select name, tbl_name, sql from {}.sqlite_schema", quote(&database));
        query(conn, &sql, &[], |row| (0..3).try_for_each(|column| text(row, column).map(drop)))?;
    }
    Ok(())
}

/// All rows of a query about the schema.
pub(super) fn query<T>(
    conn: &Connection,
    sql: &str,
    parameters: &[&str],
    mut made: impl FnMut(&Row<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let failed = |error| Error::sqlite("reading the schema", error);
    let mut statement = conn.prepare(sql).map_err(failed)?;
    let mut rows = statement.query(rusqlite::params_from_iter(parameters)).map_err(failed)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        all.push(made(row)?);
    }
    Ok(all)
}

/// A text of the schema, which is never empty.
pub(super) fn text(row: &Row<'_>, column: usize) -> Result<String, Error> {
    match row.get_ref(column) {
        Ok(ValueRef::Text(bytes)) => core::str::from_utf8(bytes)
            .map(str::to_owned)
            .map_err(|_| Error::new(ErrorKind::Malformed, "a name in the schema is not UTF-8")),
        Ok(_) => Ok(String::new()),
        Err(error) => Err(Error::sqlite("reading the schema", error)),
    }
}

fn integer(row: &Row<'_>, column: usize) -> i64 {
    row.get_ref(column).ok().and_then(|value| value.as_i64().ok()).unwrap_or(0)
}

/// What a database says about a table or view: its columns and its keys.
///
/// ```
/// use jird_formats::sqlite::{TableInfo, rusqlite::Connection};
/// let conn = Connection::open_in_memory()?;
/// conn.execute_batch("create table tasks (id integer primary key, title text not null, tags json)")?;
/// let tasks = TableInfo::of(&conn, "tasks")?.expect("it was just made");
/// assert_eq!(tasks.key(), ["id"]);
/// assert!(tasks.columns()[1].is_not_null() && tasks.columns()[2].is_json());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TableInfo {
    pub(super) name: String,
    /// `table`, `view` or `virtual`.
    kind: String,
    pub(super) columns: Vec<ColumnInfo>,
    /// The column that is an alias of the row number.
    pub(super) rowid: Option<usize>,
    /// Its columns hold values of their types only.
    is_strict: bool,
    /// Whether the rows have numbers: an ordinary table that is not `without rowid`.
    pub(super) has_rowid: bool,
    /// A row inserted without a number gets the highest so far plus one: no trigger and no `AUTOINCREMENT` interferes.
    pub(super) counts_up: bool,
}

/// A column of a [`TableInfo`].
#[derive(Debug)]
pub struct ColumnInfo {
    pub(super) name: String,
    /// The type in the table's definition.
    pub(super) declared: String,
    pub(super) affinity: Affinity,
    pub(super) is_not_null: bool,
    pub(super) has_default: bool,
    pub(super) is_generated: bool,
    /// Its place in the primary key, from 1.
    pub(super) key: Option<u32>,
}

impl TableInfo {
    /// What the main database says about a table or view; `None` if there is none of this name. Names that differ in
    /// case only are the same.
    ///
    /// # Errors
    /// If SQLite fails, or if a name in the schema is not UTF-8.
    pub fn of(conn: &Connection, table: &str) -> Result<Option<Self>, Error> {
        check_schema(conn)?;
        let sql = "select name, type, strict, type = 'table' and wr = 0 from pragma_table_list
                   where schema = 'main' and name = ? collate nocase";
        let found = query(conn, sql, &[table], |row| {
            Ok((text(row, 0)?, text(row, 1)?, integer(row, 2) != 0, integer(row, 3) != 0))
        })?;
        let Some((name, kind, is_strict, has_rowid)) = found.into_iter().next() else { return Ok(None) };
        let sql = "select name, type, \"notnull\", dflt_value is not null, pk, hidden
                   from pragma_table_xinfo(?, 'main') where hidden <> 1";
        let columns = query(conn, sql, &[&name], |row| {
            let declared = text(row, 1)?;
            Ok(ColumnInfo {
                name: text(row, 0)?,
                affinity: Affinity::of(&declared, is_strict),
                declared,
                is_not_null: integer(row, 2) != 0,
                has_default: integer(row, 3) != 0,
                key: u32::try_from(integer(row, 4)).ok().filter(|place| *place > 0),
                is_generated: integer(row, 5) != 0,
            })
        })?;
        let count = |sql, parameters: &[&str]| query(conn, sql, parameters, |row| Ok(integer(row, 0)));
        // SQLite makes an index for every primary key, except one that is the row number.
        let key_indexes = count("select count(*) from pragma_index_list(?, 'main') where origin = 'pk'", &[&name])?;
        let mut keys = (0..columns.len()).filter(|column| columns[*column].key.is_some());
        let rowid = match (keys.next(), keys.next()) {
            (Some(key), None) if key_indexes == [0] && columns[key].declared.eq_ignore_ascii_case("integer") => {
                Some(key)
            }
            _ => None,
        };
        let meddlers = count(
            "select count(*) from (select * from sqlite_schema union all select * from sqlite_temp_schema)
             where tbl_name = ?1 collate nocase and (type = 'trigger' or sql like '%autoincrement%')",
            &[&name],
        )?;
        let counts_up = kind == "table" && meddlers == [0];
        Ok(Some(Self { name, kind, columns, rowid, is_strict, has_rowid, counts_up }))
    }

    /// Its name, as the database spells it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its columns, in their order, without the hidden ones of virtual tables.
    pub fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    /// The columns of its primary key, in the order of the key.
    pub fn key(&self) -> Vec<&str> {
        let mut key: Vec<_> = self.columns.iter().filter(|column| column.key.is_some()).collect();
        key.sort_by_key(|column| column.key);
        key.into_iter().map(|column| column.name.as_str()).collect()
    }

    /// Whether it is a view.
    pub fn is_view(&self) -> bool {
        self.kind == "view"
    }

    /// Whether its columns hold values of their types only: it was made with `strict`.
    pub fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// Whether it is neither a view nor a virtual table.
    pub fn is_ordinary(&self) -> bool {
        self.kind == "table"
    }

    /// A name for the number of a row; `None` if the rows have no numbers, or if columns have all the names for it.
    pub fn row_number(&self) -> Option<String> {
        let free = ["rowid", "_rowid_", "oid"].into_iter().find(|name| self.column(name).is_none());
        let name = self.rowid.map(|column| quote(&self.columns[column].name)).or(free.map(str::to_owned));
        name.filter(|_| self.has_rowid)
    }

    /// Like [`of`](Self::of), but the table must exist.
    pub(super) fn of_table(conn: &Connection, table: &str) -> Result<Self, Error> {
        Self::of(conn, table)?
            .ok_or_else(|| Error::new(ErrorKind::Missing, format!("there is no table {}", quote(table))))
    }

    /// The column of this name, or else one that differs from it in case only, because SQLite treats such names as the
    /// same.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        let place = |is: &dyn Fn(&str) -> bool| self.columns.iter().position(|column| is(&column.name));
        place(&|other| other == name).or_else(|| place(&|other| other.eq_ignore_ascii_case(name)))
    }
}

impl ColumnInfo {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type in the table's definition, as it stands there; empty if there is none.
    pub fn declared(&self) -> &str {
        &self.declared
    }

    /// What it converts values into.
    pub fn affinity(&self) -> Affinity {
        self.affinity
    }

    /// Whether its type begins with `JSON`: its texts denote JSON values.
    pub fn is_json(&self) -> bool {
        is_declared_json(&self.declared)
    }

    /// Whether its type begins with `BOOL`: 0 and 1 denote false and true.
    pub fn is_boolean(&self) -> bool {
        is_declared_boolean(&self.declared)
    }

    /// Whether its type is one of blobs.
    pub fn is_blob(&self) -> bool {
        is_declared_blob(&self.declared)
    }

    /// Whether it may not be null.
    pub fn is_not_null(&self) -> bool {
        self.is_not_null
    }

    /// Whether a new row without a value gets one.
    pub fn has_default(&self) -> bool {
        self.has_default
    }

    /// Whether SQLite computes its values, so that nothing can be written there.
    pub fn is_generated(&self) -> bool {
        self.is_generated
    }

    /// Binds a value of this column to a statement's parameter, numbered from 1, in the form in which
    /// [`SqliteSink`](super::SqliteSink) stores it. Missing is null. In a column of [JSON](Self::is_json), every value
    /// but null becomes JSON text; in one of [blobs](Self::is_blob), a string is base64. Copies texts and bytes once.
    ///
    /// # Errors
    /// `Value` if the column's type would change the value, but for -0.0, or if a string is not base64; SQLite's errors.
    pub fn bind(&self, cell: Cell<'_>, statement: &mut Statement<'_>, parameter: usize) -> Result<(), Error> {
        let (mut json, mut scratch) = (Vec::new(), String::new());
        let blob;
        let cell = match cell {
            Cell::Text(text) if self.is_blob() && !self.is_json() => {
                blob = value::blob_of(text).ok_or_else(|| not_base64(&self.name, text))?;
                Cell::Bytes(&blob)
            }
            Cell::Number(number) => Cell::Number(value::converted(number)),
            cell => cell,
        };
        let value = if self.is_json() && !cell.is_null() {
            cell.write_json(&mut json);
            let broken = |_| Error::new(ErrorKind::Unfit, "a value is not UTF-8");
            Value::Text(core::str::from_utf8(&json).map_err(broken)?)
        } else {
            value::of_cell(cell, &mut scratch)
        };
        if self.affinity.fit(value) == Fit::Changes && !self.is_json() {
            let message = format!("{} would change in the column {}", told(value), quote(&self.name));
            return Err(Error::new(ErrorKind::Unfit, message));
        }
        value.bind(statement, parameter).map_err(|error| Error::sqlite("binding a value", error))
    }
}

/// The error for a string that does not stand for bytes.
#[cold]
pub(super) fn not_base64(column: &str, text: &str) -> Error {
    let (text, column) = (told(Value::Text(text)), quote(column));
    let message = format!("{text} is not valid base64, which the blobs of column {column} are written as");
    Error::new(ErrorKind::Unfit, message)
}

/// A name that is not taken: the name itself, or with a number after it.
pub(super) fn free(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(name) {
        return name.to_owned();
    }
    let mut number = 2;
    loop {
        let name = format!("{name}_{number}");
        if !is_taken(&name) {
            return name;
        }
        number += 1;
    }
}
