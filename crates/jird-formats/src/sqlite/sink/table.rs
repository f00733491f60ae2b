//! The sink's table: what exists, what is created, and which column belongs to which key.

use super::{Mode, SqliteSink, value_kinds};
use crate::error::{Error, ErrorKind};
use crate::rows::VALUE;
use crate::sqlite::affinity::Affinity;
use crate::sqlite::affinity::{is_declared_blob, is_declared_json};
use crate::sqlite::database::{TableInfo, free, quote};
use crate::sqlite::insert::RowNumbers;
use crate::sqlite::{ColumnDefinition, Definition, StorageType};
use rusqlite::limits::Limit;
use std::collections::{HashMap, HashSet};

/// The table that is written to.
#[derive(Debug)]
pub(super) enum Target {
    /// The table existed before.
    Existing(TableInfo),
    /// The table is created when the first rows are written.
    Planned,
    /// The sink created the table.
    Made,
}

/// How values are written to a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As they are.
    Plain,
    /// As JSON, every value.
    Json,
    /// As bytes, if they are strings, which are base64.
    Base64,
}

#[derive(Debug)]
pub(super) struct TableColumn {
    /// The column's name in the table.
    pub(super) name: String,
    pub(super) affinity: Affinity,
    pub(super) form: Form,
    /// The table has the column.
    pub(super) exists: bool,
    /// See [`seen`].
    pub(super) seen: u8,
}

impl<'c> SqliteSink<'c> {
    /// Begins the transaction, and looks for the table.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        if self.target.is_some() {
            return Ok(());
        }
        self.scope.begin()?;
        let info = TableInfo::of(self.conn, &self.table)?;
        if info.as_ref().is_some_and(TableInfo::is_view) {
            let message = format!("{} is a view, and cannot be written to", quote(&self.table));
            return Err(Error::new(ErrorKind::Exists, message));
        }
        let existing = match (info, &self.mode) {
            (Some(_), Mode::Create) => {
                let message = format!("the table {} already exists", quote(&self.table));
                return Err(Error::new(ErrorKind::Exists, message));
            }
            (Some(info), Mode::Append | Mode::Upsert(_)) => Some(info),
            (None, _) | (_, Mode::Replace) => None,
        };
        let lower = |name: &String| name.to_ascii_lowercase();
        self.known = match (&existing, &self.definition) {
            (Some(info), _) => info.columns.iter().map(|column| lower(&column.name)).collect(),
            (None, Some(definition)) => definition.columns().iter().map(|column| lower(&column.name)).collect(),
            (None, None) => self.keys().iter().map(lower).collect(),
        };
        let has_default = existing.as_ref().is_some_and(|info| info.columns.iter().any(|column| column.has_default));
        self.tells_missing = has_default || !self.keys().is_empty();
        self.target = Some(match existing {
            None => Target::Planned,
            Some(info) => {
                self.numbers = self.row_numbers(&info)?;
                Target::Existing(info)
            }
        });
        Ok(())
    }

    fn row_numbers(&self, info: &TableInfo) -> Result<Option<(String, RowNumbers<'c>)>, Error> {
        // A row that updates another one gets no number.
        if !self.keys().is_empty() {
            return Ok(None);
        }
        let numbers = RowNumbers::of(self.conn, info)?;
        Ok(numbers.map(|(column, numbers)| (info.columns[column].name.clone(), numbers)))
    }

    /// Creates the table, or adds the new columns.
    pub(super) fn prepare_table(&mut self) -> Result<(), Error> {
        if let Some(Target::Planned) = self.target {
            return self.make_table();
        }
        let failed = self.failed("adding a column to");
        for column in self.columns.iter_mut().filter(|column| !column.exists) {
            let sql = format!("alter table {} add column {}", quote(&self.table), quote(&column.name));
            self.conn.execute_batch(&sql).map_err(&failed)?;
            column.exists = true;
            match (&self.target, &mut self.definition) {
                (Some(Target::Made), Some(definition)) => definition.columns_mut().push(plain_column(&column.name)),
                _ => self.report.added.push(column.name.clone()),
            }
        }
        Ok(())
    }

    fn make_table(&mut self) -> Result<(), Error> {
        if let Mode::Replace = self.mode {
            let sql = format!("drop table if exists {}", quote(&self.table));
            self.conn.execute_batch(&sql).map_err(self.failed("dropping"))?;
        }
        let given = self.definition.take();
        let mut columns = given.as_ref().map_or_else(Vec::new, |given| given.columns().to_vec());
        let mut has: HashSet<String> = columns.iter().map(|column| column.name.to_ascii_lowercase()).collect();
        for name in self.columns.iter().map(|column| &column.name).chain(self.keys()) {
            if has.insert(name.to_ascii_lowercase()) {
                columns.push(plain_column(name));
            }
        }
        if columns.is_empty() {
            // The rows have no values, but a table needs a column.
            columns.push(plain_column(VALUE));
        }
        let mut definition = Definition::of_columns(&self.table, columns);
        match (given, self.keys()) {
            (_, keys @ [_, ..]) => definition.set_key(keys),
            (Some(given), []) => definition.set_key(given.key_columns()),
            (None, []) => {}
        }
        self.conn.execute_batch(&definition.to_string()).map_err(self.failed("making"))?;
        self.columns.iter_mut().for_each(|column| column.exists = true);
        self.numbers = self.row_numbers(&TableInfo::of_table(self.conn, &self.table)?)?;
        self.definition = Some(definition);
        self.target = Some(Target::Made);
        Ok(())
    }

    /// Makes the table for an input without rows.
    pub(super) fn make_empty(&mut self) -> Result<(), Error> {
        if self.definition.is_some() || !self.columns.is_empty() {
            return self.make_table();
        }
        // Without rows and keys there are no columns to make a table of. An existing table that is to be replaced is
        // emptied.
        if TableInfo::of(self.conn, &self.table)?.is_none() {
            return Ok(());
        }
        let sql = format!("delete from {}", quote(&self.table));
        self.conn.execute_batch(&sql).map_err(self.failed("emptying"))
    }

    /// Gives the columns without a type the type of what they hold. Their values are already stored as they would be
    /// with that type, so only the table's text has to change ("ALTER TABLE", section 7: `writable_schema`).
    pub(super) fn declare(&mut self) -> Result<(), Error> {
        let (Some(Target::Made), Some(definition)) = (&self.target, &mut self.definition) else { return Ok(()) };
        let before = definition.to_string();
        let seen: HashMap<&str, u8> = self.columns.iter().map(|column| (column.name.as_str(), column.seen)).collect();
        let key = definition.key_columns().to_vec();
        for column in definition.columns_mut().iter_mut().filter(|column| column.storage == StorageType::Any) {
            column.storage = match seen.get(column.name.as_str()).copied().unwrap_or(0) {
                // A single key of type `INTEGER` would become the row number, which it is not in this table.
                value_kinds::INTEGER if key == [column.name.as_str()] => StorageType::Any,
                value_kinds::INTEGER => StorageType::Integer,
                value_kinds::REAL => StorageType::Real,
                seen if seen == value_kinds::INTEGER | value_kinds::REAL => StorageType::Number,
                value_kinds::JSON => StorageType::Json,
                seen if seen != 0 && seen & !(value_kinds::TEXT | value_kinds::JSON) == 0 => StorageType::Text,
                value_kinds::BLOB => StorageType::Blob,
                _ => StorageType::Any,
            };
        }
        let after = definition.to_string();
        if after == before {
            return Ok(());
        }
        let failed = |error| Error::sqlite(format!("declaring the columns of {}", quote(&self.table)), error);
        let integer = |sql: &str| self.conn.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(failed);
        let version = integer("pragma schema_version")?;
        let was_writable = integer("pragma writable_schema")?;
        self.conn.execute_batch("pragma writable_schema = on").map_err(failed)?;
        let sql = "update sqlite_schema set sql = ?2 where type = 'table' and name = ?1";
        let updated = self.conn.execute(sql, [self.table.as_str(), after.as_str()]);
        self.conn.execute_batch(&format!("pragma writable_schema = {was_writable}")).map_err(failed)?;
        match updated {
            // A new version makes every connection read the schema again.
            Ok(_) => {
                let sql = format!("pragma schema_version = {}", (version as i32).wrapping_add(1));
                self.conn.execute_batch(&sql).map_err(failed)
            }
            // The connection protects its schema: the columns stay without a type, and hold the same values.
            Err(_) => Ok(()),
        }
    }

    /// The table's column for a key.
    pub(super) fn column_for(&mut self, key: &str) -> Result<TableColumn, Error> {
        if let Some(column) = self.known_column(key)? {
            return Ok(column);
        }
        if self.options.refuses_columns {
            let message = format!("the table {} has no column {}", quote(&self.table), quote(key));
            return Err(Error::new(ErrorKind::Missing, message));
        }
        self.new_columns += 1;
        let max = [Limit::SQLITE_LIMIT_COLUMN, Limit::SQLITE_LIMIT_VARIABLE_NUMBER]
            .map(|limit| self.conn.limit(limit).ok().and_then(|max| usize::try_from(max).ok()).unwrap_or(0))
            .into_iter()
            .fold(usize::MAX, usize::min);
        if self.known.len() + self.new_columns > max {
            let message = format!("the table {} would have more than {max} columns", quote(&self.table));
            return Err(Error::new(ErrorKind::Columns, message));
        }
        // SQL cannot express NUL.
        let plain = key.replace('\0', "\u{fffd}");
        let name = free(&plain, |name| {
            let name = name.to_ascii_lowercase();
            self.claimed.contains(&name) || self.known.contains(&name)
        });
        if name != key {
            self.report.renamed.push((key.to_owned(), name.clone()));
        }
        Ok(TableColumn { name, affinity: Affinity::None, form: Form::Plain, exists: false, seen: 0 })
    }

    /// The column that the table, its definition or its key already has for a record's key.
    fn known_column(&self, key: &str) -> Result<Option<TableColumn>, Error> {
        let plain = |name: &str| TableColumn {
            name: name.to_owned(),
            affinity: Affinity::None,
            form: Form::Plain,
            exists: false,
            seen: 0,
        };
        let found = match (&self.target, &self.definition) {
            (Some(Target::Existing(info)), _) => info.column(key).map(|found| {
                let found = &info.columns[found];
                let form = if self.options.json_declared && is_declared_json(&found.declared) {
                    Form::Json
                } else if self.options.base64_blobs && is_declared_blob(&found.declared) {
                    Form::Base64
                } else {
                    Form::Plain
                };
                (TableColumn { affinity: found.affinity, form, exists: true, ..plain(&found.name) }, found.is_generated)
            }),
            (target, Some(definition)) => find(definition.columns(), key, |column| &column.name).map(|found| {
                let form = if found.storage == StorageType::Json { Form::Json } else { Form::Plain };
                let exists = matches!(target, Some(Target::Made));
                (TableColumn { affinity: found.storage.affinity(), form, exists, ..plain(&found.name) }, false)
            }),
            (_, None) => find(self.keys(), key, String::as_str).map(|found| (plain(found), false)),
        };
        let found = found.filter(|(column, _)| !self.claimed.contains(&column.name.to_ascii_lowercase()));
        if let Some((column, true)) = &found {
            let message = format!("the column {} of {} is generated", quote(&column.name), quote(&self.table));
            return Err(Error::new(ErrorKind::Unfit, message));
        }
        Ok(found.map(|(column, _)| column))
    }
}

/// The item of this name, or else one whose name differs in case only.
fn find<'a, T>(all: &'a [T], name: &str, name_of: impl Fn(&T) -> &str) -> Option<&'a T> {
    let same = all.iter().find(|one| name_of(one) == name);
    same.or_else(|| all.iter().find(|one| name_of(one).eq_ignore_ascii_case(name)))
}

fn plain_column(name: &str) -> ColumnDefinition {
    ColumnDefinition { name: name.to_owned(), storage: StorageType::Any, is_nullable: true }
}
