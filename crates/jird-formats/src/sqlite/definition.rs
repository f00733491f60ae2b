//! What a table looks like: read from a Rust type, a schema or the database, and written as SQL.

use super::affinity::Affinity;
use super::database::{TableInfo, quote};
use super::trace;
use crate::columns::ColumnType;
use crate::error::{Error, ErrorKind};
use crate::rows::Schema;
use core::fmt;
use rusqlite::Connection;
use serde_core::Deserialize;

/// A table to be created. `Display` writes the statement that creates it.
///
/// ```
/// use jird_formats::sqlite::{Definition, StorageType, rusqlite::Connection};
/// #[derive(serde::Deserialize)]
/// struct Task {
///     id: i64,
///     title: String,
///     done: Option<bool>,
/// }
/// let tasks = Definition::of::<Task>("tasks")?.key(["id"])?;
/// assert_eq!(tasks.columns()[1].storage, StorageType::Text);
/// assert_eq!(
///     tasks.to_string(),
///     "CREATE TABLE \"tasks\" (\"id\" INTEGER PRIMARY KEY NOT NULL, \"title\" TEXT NOT NULL, \"done\" INTEGER)"
/// );
/// tasks.create(&Connection::open_in_memory()?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    table: String,
    columns: Vec<ColumnDefinition>,
    key: Vec<String>,
}

/// A column of a [`Definition`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub storage: StorageType,
    /// Whether the column may be null.
    pub is_nullable: bool,
}

/// What a column holds, and how that is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorageType {
    /// `INTEGER`: integers of 64 bits, and booleans as 0 and 1.
    Integer,
    /// `REAL`: doubles. -0.0 loses its sign there.
    Real,
    /// `NUMERIC`: integers and doubles. -0.0 loses its sign there, and if SQLite itself writes a new `2.0` there, it
    /// becomes 2.
    Number,
    /// `TEXT`
    Text,
    /// `BLOB`
    Blob,
    /// `JSON TEXT`: every value as JSON text, strings with their quotes. Nothing is lost.
    Json,
    /// No type: every value, unchanged.
    Any,
}

impl StorageType {
    pub(super) fn declared(self) -> &'static str {
        match self {
            Self::Integer => "INTEGER",
            Self::Real => "REAL",
            Self::Number => "NUMERIC",
            Self::Text => "TEXT",
            Self::Blob => "BLOB",
            Self::Json => "JSON TEXT",
            Self::Any => "",
        }
    }

    pub(super) fn affinity(self) -> Affinity {
        Affinity::of(self.declared(), false)
    }
}

/// Creates the table for a type, as [`Definition::of`] describes it, and returns its definition.
///
/// # Errors
/// Those of [`Definition::of`], [`Definition::key`] and [`Definition::create`].
pub fn create_for<'de, T: Deserialize<'de>>(conn: &Connection, table: &str, key: &[&str]) -> Result<Definition, Error> {
    let definition = Definition::of::<T>(table)?.key(key.iter().copied())?;
    definition.create(conn)?;
    Ok(definition)
}

impl Definition {
    /// A table with a column for each field of a struct. The fields are found through the struct's `Deserialize`; no
    /// value is needed. An `Option` is a column that may be null. Bytes are `BLOB`. Lists, maps and structs are JSON. A
    /// field that takes any value gets a column without a type. If a type reads something other than what it writes,
    /// the column is for what it reads.
    ///
    /// # Errors
    /// If the type is not a struct with named fields, or if some of its fields are flattened.
    pub fn of<'de, T: Deserialize<'de>>(table: &str) -> Result<Self, Error> {
        let columns = trace::columns::<T>().map_err(|message| {
            Error::new(ErrorKind::Other, format!("no table can be made for this type: {message}"))
        })?;
        Ok(Self { table: table.to_owned(), columns, key: Vec::new() })
    }

    /// A table for an input that was read once before. Columns of mixed values, objects or arrays hold JSON, so that
    /// each value comes back as it was. A [sink](super::SqliteSink) declares the other columns by what they get.
    pub fn of_schema(table: &str, schema: &Schema) -> Self {
        let column = |column: &crate::Column| ColumnDefinition {
            name: column.name().to_owned(),
            storage: match column.column_type() {
                Some(ColumnType::Json) => StorageType::Json,
                _ => StorageType::Any,
            },
            is_nullable: true,
        };
        Self { table: table.to_owned(), columns: schema.columns().iter().map(column).collect(), key: Vec::new() }
    }

    /// A table with these columns.
    pub fn of_columns(table: &str, columns: Vec<ColumnDefinition>) -> Self {
        Self { table: table.to_owned(), columns, key: Vec::new() }
    }

    /// Makes these columns the primary key. A single integer column becomes the row number.
    ///
    /// # Errors
    /// If there is no such column.
    pub fn key<'k>(mut self, columns: impl IntoIterator<Item = &'k str>) -> Result<Self, Error> {
        self.key = columns.into_iter().map(str::to_owned).collect();
        match self.key.iter().find(|key| self.columns.iter().all(|column| column.name != **key)) {
            None => Ok(self),
            Some(key) => Err(Error::new(ErrorKind::Missing, format!("there is no column {}", quote(key)))),
        }
    }

    /// The table's name.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// The columns, in their order.
    pub fn columns(&self) -> &[ColumnDefinition] {
        &self.columns
    }

    /// The primary key.
    pub fn key_columns(&self) -> &[String] {
        &self.key
    }

    /// Creates the table.
    ///
    /// # Errors
    /// SQLite's errors, for example if the table already exists.
    pub fn create(&self, conn: &Connection) -> Result<(), Error> {
        if TableInfo::of(conn, &self.table)?.is_some() {
            let message = format!("the table {} already exists", quote(&self.table));
            return Err(Error::new(ErrorKind::Exists, message));
        }
        conn.execute_batch(&self.to_string())
            .map_err(|error| Error::sqlite(format!("making the table {}", quote(&self.table)), error))
    }

    pub(super) fn columns_mut(&mut self) -> &mut Vec<ColumnDefinition> {
        &mut self.columns
    }

    pub(super) fn set_key(&mut self, key: &[String]) {
        self.key = key.to_vec();
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE TABLE {} (", quote(&self.table))?;
        for (index, column) in self.columns.iter().enumerate() {
            let words = [
                column.storage.declared(),
                if self.key == [column.name.as_str()] { "PRIMARY KEY" } else { "" },
                if column.is_nullable { "" } else { "NOT NULL" },
            ];
            f.write_str(if index == 0 { "" } else { ", " })?;
            f.write_str(&quote(&column.name))?;
            words.into_iter().filter(|word| !word.is_empty()).try_for_each(|word| write!(f, " {word}"))?;
        }
        if self.key.len() > 1 {
            let key = self.key.iter().map(|name| quote(name)).collect::<Vec<_>>().join(", ");
            write!(f, ", PRIMARY KEY ({key})")?;
        }
        f.write_str(")")
    }
}
