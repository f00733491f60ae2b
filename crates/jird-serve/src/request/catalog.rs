//! The tables that are served, as the database describes them.

use jird::hooks::quoted;
use jird_formats::sqlite::{TableInfo, quote, tables_and_views};
use jird_formats::{Error, ErrorKind};
use rusqlite::Connection;
use std::sync::Arc;

/// The tables and views of a database, at one version of its schema.
#[derive(Debug)]
pub(crate) struct Catalog {
    tables: Vec<Arc<Table>>,
    version: i64,
}

impl Catalog {
    /// What the database says now.
    pub(crate) fn read(conn: &Connection) -> Result<Self, Error> {
        // Asked first: if the schema changes meanwhile, the version is too old, and the catalog is read again.
        let version = version(conn).unwrap_or(-1);
        let mut tables = Vec::new();
        for name in tables_and_views(conn)? {
            match TableInfo::of(conn, &name) {
                Ok(Some(info)) => tables.push(Arc::new(Table::new(info))),
                Ok(None) => {}
                // A view of a table that is gone, or a module that is not here: the others are served.
                Err(error) if error.kind() == ErrorKind::Other => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { tables, version })
    }

    /// Whether the schema is still the one that was read.
    pub(crate) fn is_current(&self, conn: &Connection) -> bool {
        version(conn) == Some(self.version)
    }

    /// The table or view of exactly this name.
    pub(crate) fn table(&self, name: &str) -> Option<&Arc<Table>> {
        self.tables.iter().find(|table| table.info.name() == name)
    }

    /// The version of the schema.
    pub(crate) fn version(&self) -> i64 {
        self.version
    }

    pub(crate) fn tables(&self) -> &[Arc<Table>] {
        &self.tables
    }
}

fn version(conn: &Connection) -> Option<i64> {
    conn.query_row("pragma schema_version", [], |row| row.get(0)).ok()
}

/// A table or view.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) info: TableInfo,
    /// Its name as SQL.
    pub(crate) quoted: String,
    /// What is sent of it if the request names no columns, in the order of its columns.
    pub(crate) all: Vec<Pick>,
    /// The column that is the whole primary key.
    pub(crate) id: Option<usize>,
}

/// A column that is sent.
#[derive(Clone, Debug)]
pub(crate) struct Pick {
    /// The table's column.
    pub(crate) column: usize,
    /// Its name in answers.
    pub(crate) name: String,
    /// The name as JSON, with the colon.
    pub(crate) head: Vec<u8>,
    pub(crate) kind: Kind,
    /// The table's column as SQL.
    sql: String,
}

/// How a column's values are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// As SQLite has them.
    Plain,
    /// 0 and 1 are booleans.
    Bool,
    /// Texts are JSON.
    Json,
}

impl Table {
    fn new(info: TableInfo) -> Self {
        let quoted = quote(info.name());
        let columns = info.columns().iter().enumerate();
        let all = columns
            .map(|(column, found)| {
                let sql = format!("{quoted}.{}", quote(found.name()));
                Pick::new(column, found.name(), kind_of(found.declared()), sql)
            })
            .collect();
        let key = info.key();
        let id = match key[..] {
            [key] => info.columns().iter().position(|column| column.name() == key),
            _ => None,
        };
        Self { info, quoted, all, id }
    }

    /// The column of exactly this name.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.info.columns().iter().position(|column| column.name() == name)
    }

    /// A column as SQL, with its table: SQLite takes a bare name in quotes that it does not know for a text.
    pub(crate) fn sql_of(&self, column: usize) -> &str {
        &self.all[column].sql
    }
}

impl Pick {
    fn new(column: usize, name: &str, kind: Kind, sql: String) -> Self {
        let head = format!("{}:", quoted(name)).into_bytes();
        Self { column, name: name.to_owned(), head, kind, sql }
    }

    /// The same column under another name.
    pub(crate) fn named(&self, name: &str) -> Self {
        Self::new(self.column, name, self.kind, self.sql.clone())
    }
}

fn kind_of(declared: &str) -> Kind {
    let begins = |word: &str| declared.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    if begins("json") {
        Kind::Json
    } else if begins("bool") {
        Kind::Bool
    } else {
        Kind::Plain
    }
}
