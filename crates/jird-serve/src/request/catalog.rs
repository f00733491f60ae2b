//! The tables that are served, as the database describes them.

use jird::hooks::quoted;
use jird_formats::sqlite::{ColumnInfo, TableInfo, foreign_keys, quote, tables_and_views};
use jird_formats::{Error, ErrorKind};
use rusqlite::Connection;
use std::sync::{Arc, OnceLock, Weak};

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
        link(conn, &tables)?;
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

/// Tells tables which others their foreign keys lead to, and these which lead to them.
fn link(conn: &Connection, tables: &[Arc<Table>]) -> Result<(), Error> {
    let mut links: Vec<Vec<Link>> = tables.iter().map(|_| Vec::new()).collect();
    for (index, table) in tables.iter().enumerate() {
        for key in foreign_keys(conn, table.info.name())? {
            let is_other = |other: &Arc<Table>| other.info.name().eq_ignore_ascii_case(&key.table);
            let Some(place) = tables.iter().position(is_other) else { continue };
            let other = &tables[place];
            let known = other.info.key();
            let columns = key.columns.into_iter().enumerate().filter_map(|(index, (own, others))| {
                Some((own, others.or_else(|| known.get(index).map(|&name| name.to_owned()))?))
            });
            let columns: Vec<(String, String)> = columns.collect();
            let back = columns.iter().map(|(own, others)| (others.clone(), own.clone())).collect();
            links[index].push(Link::new(other, columns, false));
            links[place].push(Link::new(table, back, true));
        }
    }
    for (table, links) in tables.iter().zip(links) {
        let _ = table.links.set(links);
    }
    Ok(())
}

/// A foreign key between a table and another one, or the same.
#[derive(Debug)]
pub(crate) struct Link {
    /// The name of the other table.
    pub(crate) table: String,
    pub(crate) other: Weak<Table>,
    /// Columns of the table, each with the one of the other table that has the same value.
    pub(crate) columns: Vec<(String, String)>,
    /// The key is in the other table, where several rows may have it.
    pub(crate) is_many: bool,
}

impl Link {
    fn new(other: &Arc<Table>, columns: Vec<(String, String)>, is_many: bool) -> Self {
        Self { table: other.info.name().to_owned(), other: Arc::downgrade(other), columns, is_many }
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
    links: OnceLock<Vec<Link>>,
}

/// A column that is sent.
#[derive(Clone, Debug)]
pub(crate) struct Pick {
    /// The table's column, if it is one or is made of one.
    pub(crate) column: usize,
    /// Its name in answers.
    pub(crate) name: String,
    /// The name as JSON, with the colon.
    pub(crate) head: Vec<u8>,
    pub(crate) kind: Kind,
    /// It as SQL.
    pub(crate) sql: String,
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
                Pick::new(column, found.name(), kind_of(found), sql)
            })
            .collect();
        let key = info.key();
        let id = match key[..] {
            [key] => info.columns().iter().position(|column| column.name() == key),
            _ => None,
        };
        Self { info, quoted, all, id, links: OnceLock::new() }
    }

    /// The foreign keys that lead from it and to it.
    pub(crate) fn links(&self) -> &[Link] {
        self.links.get().map_or(&[], Vec::as_slice)
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
    pub(crate) fn new(column: usize, name: &str, kind: Kind, sql: String) -> Self {
        let head = format!("{}:", quoted(name)).into_bytes();
        Self { column, name: name.to_owned(), head, kind, sql }
    }
}

fn kind_of(column: &ColumnInfo) -> Kind {
    if column.is_json() {
        Kind::Json
    } else if column.is_boolean() {
        Kind::Bool
    } else {
        Kind::Plain
    }
}
