//! The tables of a query, and the rows that it selects from.

use super::eval::Refused;
use super::query::{Item, Join, Query, Source, Step, Table, Union};
use super::rows::Cell;
use super::value::{Json, Value};
use std::borrow::Cow;

/// What a query can read.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'s> {
    /// The records of each of the stream's files.
    files: &'s [Vec<Value>],
    /// The tables of `with`.
    with: &'s [Rows<'s>],
    /// The row of the query around this one.
    outer: Option<&'s Value>,
}

/// A table's rows. A row that has an alias is an object: its members are the tables by their aliases.
#[derive(Clone)]
pub(crate) struct Rows<'r> {
    pub(super) rows: Cow<'r, [Value]>,
    /// Values of the columns, whatever conditions turn away: the types of columns are those of all of them.
    pub(super) all: Cow<'r, [Value]>,
}

impl<'s> Scope<'s> {
    pub(crate) fn new(files: &'s [Vec<Value>]) -> Self {
        Self { files, with: &[], outer: None }
    }

    /// The scope of a query inside of another one's row.
    pub(super) fn inside(&self, row: &'s Value) -> Self {
        Self { outer: Some(row), ..*self }
    }

    pub(super) fn with(&self, with: &'s [Rows<'s>]) -> Self {
        if with.is_empty() { *self } else { Self { with, ..*self } }
    }

    fn stream(&self) -> Rows<'s> {
        Rows::of_records(match self.files {
            [file] => Cow::Borrowed(file),
            files => files.concat().into(),
        })
    }
}

impl<'r> Rows<'r> {
    fn of_records(records: Cow<'r, [Value]>) -> Self {
        Self { all: records.clone(), rows: records }
    }
}

impl Query {
    /// The rows that the query selects from, before its condition.
    pub(super) fn selected<'s>(&self, scope: &Scope<'s>) -> Result<Rows<'s>, Refused> {
        let Some(from) = &self.from else { return Ok(scope.stream()) };
        self.joins.iter().try_fold(from.rows(scope)?, |rows, join| join.rows(&rows, scope))
    }

    /// Whether all columns of all tables are fields of records as they stand there.
    pub(super) fn is_of_records(&self) -> bool {
        let sources = self.from.iter().chain(self.joins.iter().map(|join| &join.source));
        sources.into_iter().all(|source| matches!(source.table, Table::Stream | Table::File(_)))
    }

    /// The query as a table.
    pub(super) fn table<'s>(&self, scope: &Scope<'_>) -> Result<Rows<'s>, Refused> {
        // A union does not tell null from what is missing.
        let is_kept = |value: &Value| self.union.is_none() || !value.is_null();
        let value = |cell: &Cell| cell.value().filter(is_kept);
        let rows = self.of(scope)?.into_iter().map(|cells| object(cells.iter().map(value)));
        let mut all: Vec<_> =
            self.selected(scope)?.all.iter().map(|row| object(self.items.iter().map(|item| item.like(row)))).collect();
        if let Some(Union { other, .. }) = &self.union {
            all.extend(other.table(scope)?.all.into_owned());
            // The columns are of any type.
            let columns = || 0..self.items.len();
            all.push(object(columns().map(|_| Some(Value::text_of("")))));
            all.push(object(columns().map(|_| Some(Value::bool(true)))));
        }
        Ok(Rows { rows: rows.collect::<Vec<_>>().into(), all: all.into() })
    }
}

/// A row with the columns `c0`, `c1` and so on.
fn object(cells: impl Iterator<Item = Option<Value>>) -> Value {
    let member = |(at, value): (usize, Option<Value>)| Some((format!("c{at}"), value?));
    Value::object(cells.enumerate().filter_map(member).collect())
}

impl Item {
    /// A value of the type that the column has for a row.
    fn like(&self, row: &Value) -> Option<Value> {
        match self {
            Self::Field(path) => row.field(path).cloned(),
            Self::Aggregate(aggregate) => aggregate.like(row),
            Self::Type(_) | Self::Text(_) => Some(Value::text_of("")),
            Self::Condition(_) => Some(Value::bool(true)),
            _ => unreachable!("no column of a table: {self}"),
        }
    }
}

impl Source {
    fn rows<'s>(&self, scope: &Scope<'s>) -> Result<Rows<'s>, Refused> {
        let Rows { rows, all } = match &self.table {
            Table::Stream => scope.stream(),
            Table::File(at) => Rows::of_records(Cow::Borrowed(&scope.files[*at])),
            Table::With(at) => scope.with[*at].clone(),
            Table::Query(query) => query.table(scope)?,
        };
        let Some(alias) = self.alias else { return Ok(Rows { rows, all }) };
        let called = |rows: &[Value]| rows.iter().map(|row| called(alias, row, scope.outer)).collect::<Vec<_>>().into();
        Ok(Rows { rows: called(&rows), all: called(&all) })
    }
}

/// A row by its table's alias, next to the tables of the outer query.
fn called(alias: &str, row: &Value, outer: Option<&Value>) -> Value {
    let row = match &row.json {
        Json::Object(_) => row.clone(),
        _ => Value::object(vec![("value".to_owned(), row.clone())]),
    };
    beside(&Value::object(vec![(alias.to_owned(), row)]), outer)
}

/// The tables of both rows.
fn beside(row: &Value, other: Option<&Value>) -> Value {
    let members = |row: &Value| match &row.json {
        Json::Object(members) => members.clone(),
        _ => Vec::new(),
    };
    Value::object([members(row), other.map(members).unwrap_or_default()].concat())
}

impl Join {
    fn rows<'s>(&self, left: &Rows<'_>, scope: &Scope<'s>) -> Result<Rows<'s>, Refused> {
        let right = self.source.rows(scope)?;
        let mut rows = Vec::new();
        for row in left.rows.iter() {
            let pairs = right.rows.iter().map(|other| beside(row, Some(other)));
            let before = rows.len();
            rows.extend(pairs.filter(|pair| self.on.of(pair, scope) == Some(true)));
            if self.left && rows.len() == before {
                rows.push(row.clone());
            }
        }
        Ok(Rows { rows: rows.into(), all: [&left.all[..], &right.all[..]].concat().into() })
    }
}

/// The first steps of paths into a table by its alias.
pub(crate) fn aliased(alias: &'static str, path: &[Step]) -> &'static [Step] {
    // There are few, and they live as long as the tests.
    [&[Step::Key(alias)], path].concat().leak()
}
