//! The rows of a table in the table's order, without those that a condition rules out.

use super::condition::Condition;
use super::database::{TableInfo, query, quote, text};
use super::source::{SqliteQuery, bind_all};
use crate::error::{Error, ErrorKind};
use jird::Path;
use jird::record::Predicate;
use rusqlite::Connection;

/// An index is used for up to this number of rows. Finding rows by an index and sorting them afterwards takes up to ten
/// times as long per row as reading all of a table in its own order.
const INDEXED_ROWS_MAX: u32 = 10_000;

impl<'c> SqliteQuery<'c> {
    /// All rows of a table or view, in the order of the table.
    ///
    /// # Errors
    /// If there is no table or view of this name, or if SQLite fails.
    pub fn table(conn: &'c Connection, table: &str) -> Result<Self, Error> {
        let info = TableInfo::of_table(conn, table)?;
        if !info.is_ordinary() {
            return Self::select(conn, &format!("select * from {}", quote(&info.name)));
        }
        Self::table_where(conn, &info.name, info.columns.iter().map(|column| column.name.as_str()), None)
    }

    /// Some columns of a table or view. The rows are in the order of the table, whichever columns are read and whichever
    /// of its indexes have them too.
    ///
    /// Rows that do not make the condition true may be left out, by means of the table's indexes if these help. Slot `i`
    /// of the predicate is the second part's path `i`. SQLite decides comparisons of columns with numbers and texts, `in`
    /// and `is null`; a row whose value is of another kind than the constant is sent. [`as_declared`] changes no
    /// decision, because SQLite does not look at columns declared as JSON. All rows of a view are sent.
    ///
    /// Places count the rows that are sent.
    ///
    /// [`as_declared`]: Self::as_declared
    ///
    /// # Errors
    /// If there is no table or view of this name or a column is missing, or if SQLite fails.
    ///
    /// ```
    /// use jird::{Path, event::{self, JsonSink}, record::{Comparison, Literal, Predicate}};
    /// use jird_formats::sqlite::{SqliteQuery, rusqlite::Connection};
    /// let conn = Connection::open_in_memory()?;
    /// conn.execute_batch("create table t (id integer primary key, a); insert into t values (1, 'x'), (2, 'y')")?;
    /// let is_two = Predicate::Compare { slot: 0, op: Comparison::Eq, literal: Literal::Number("2".into()) };
    /// let mut query = SqliteQuery::table_where(&conn, "t", ["a"], Some((&is_two, &[Path::root().key("id")])))?;
    /// let mut json = JsonSink::new(Vec::new());
    /// event::copy(&mut query.source(), &mut json)?;
    /// assert_eq!(json.into_inner(), b"{\"a\":\"y\"}\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn table_where<'n>(
        conn: &'c Connection,
        table: &str,
        columns: impl IntoIterator<Item = &'n str>,
        condition: Option<(&Predicate, &[Path])>,
    ) -> Result<Self, Error> {
        let info = TableInfo::of_table(conn, table)?;
        // SQLite takes a quoted name that it does not know for a text.
        let column = |name: &str| {
            if info.columns.iter().any(|column| column.name == name) {
                return Ok(quote(name));
            }
            Err(Error::new(ErrorKind::Missing, format!("there is no column {}", quote(name))))
        };
        let columns = columns.into_iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let (columns, table) = (columns.join(", "), quote(&info.name));
        if !info.is_ordinary() {
            return Self::select(conn, &format!("select {columns} from {table}"));
        }
        let order = order(conn, &info)?;
        let by = order.as_ref().map(|order| format!(" order by {order}")).unwrap_or_default();
        // SQLite may scan an index in place of the table if the index has all columns, and an index has another order.
        let whole = if info.has_rowid { format!("{table} not indexed") } else { table.clone() };
        let searched = condition.filter(|_| order.is_some()).and_then(|(predicate, paths)| {
            let condition = Condition::of(&info, is_utf8(conn).ok()?, predicate, paths)?;
            let part = selective(conn, &table, &condition).ok()?;
            let from = if part.is_some() { &table } else { &whole };
            let sql = format!("select {columns} from {from} where {}{by}", condition.searched_by(part));
            // A condition may ask for too much: more parameters than SQLite takes, or an unknown collation.
            Self::prepare_with(conn, &sql, &condition.values).ok()
        });
        if let Some(searched) = searched {
            return Ok(searched);
        }
        Self::select(conn, &format!("select {columns} from {whole}{by}"))
    }
}

/// What a table's rows are sorted by in the table itself; `None` if no name is left for the row number.
fn order(conn: &Connection, info: &TableInfo) -> Result<Option<String>, Error> {
    if info.has_rowid {
        return Ok(info.row_number());
    }
    let key = "select x.name, x.coll, iif(x.desc, ' desc', '')
               from pragma_index_list(?, 'main') as l join pragma_index_xinfo(l.name, 'main') as x
               where l.origin = 'pk' and x.key = 1 order by x.seqno";
    let key = query(conn, key, &[&info.name], |row| {
        Ok(format!("{} collate {}{}", quote(&text(row, 0)?), quote(&text(row, 1)?), text(row, 2)?))
    })?;
    Ok(Some(key.join(", ")).filter(|key| !key.is_empty()))
}

fn is_utf8(conn: &Connection) -> rusqlite::Result<bool> {
    conn.query_row("pragma encoding", [], |row| Ok(row.get::<_, String>(0)? == "UTF-8"))
}

/// The part of a condition by which an index finds the fewest rows, if these are so few that the index saves time.
fn selective(conn: &Connection, table: &str, condition: &Condition) -> rusqlite::Result<Option<usize>> {
    let (mut fewest, mut best) = (INDEXED_ROWS_MAX + 1, None);
    for (index, part) in condition.parts.iter().enumerate() {
        // The index finds all rows that meet this part, also those that do not meet the other parts.
        let rows = format!("select 1 from {table} where {part}");
        if !is_searched(conn, &rows)? {
            continue;
        }
        let mut statement = conn.prepare(&format!("select count(*) from ({rows} limit {fewest})"))?;
        bind_all(&mut statement, &condition.values)?;
        let count = statement.raw_query().next()?.map_or(Ok(0), |row| row.get(0))?;
        if count < fewest {
            (fewest, best) = (count, Some(index));
        }
    }
    Ok(best)
}

/// Whether SQLite searches an index for the rows, in place of reading all of a table or of an index ("EXPLAIN QUERY
/// PLAN", "Table and Index Scans").
fn is_searched(conn: &Connection, rows: &str) -> rusqlite::Result<bool> {
    let mut statement = conn.prepare(&format!("explain query plan {rows}"))?;
    let mut steps = statement.raw_query();
    while let Some(step) = steps.next()? {
        if step.get_ref(3)?.as_str().is_ok_and(|step| step.starts_with("SCAN")) {
            return Ok(false);
        }
    }
    Ok(true)
}
