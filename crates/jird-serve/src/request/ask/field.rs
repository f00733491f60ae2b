//! What a request names of a row: a column, a value within its JSON, and the type that it is to have, as in
//! `meta->owner->>name::text`.

use crate::base::problem::Problem;
use crate::request::catalog::{Kind, Pick, Table};
use jird_formats::sqlite::quote;
use std::borrow::Cow;

/// A table under the name that it has in a statement.
#[derive(Clone)]
pub(super) struct Scope<'t> {
    pub(super) table: &'t Table,
    /// As SQL.
    pub(super) name: Cow<'t, str>,
}

impl<'t> Scope<'t> {
    /// A table under its own name.
    pub(super) fn of(table: &'t Table) -> Self {
        Self { table, name: Cow::Borrowed(&table.quoted) }
    }

    /// A column, with the table: SQLite takes a bare name in quotes that it does not know for a text.
    pub(super) fn sql_of(&self, column: usize) -> String {
        format!("{}.{}", self.name, quote(&self.table.all[column].name))
    }
}

/// A value of each row, as SQL.
pub(super) struct Field {
    /// The column that it is, or is within.
    pub(super) column: usize,
    pub(super) sql: String,
    pub(super) kind: Kind,
    /// Its name in answers, unless the request gives it another one.
    pub(super) name: String,
    /// The column itself, and nothing made of it.
    pub(super) is_column: bool,
    /// It is cast to a text.
    pub(super) is_text: bool,
}

impl Field {
    /// # Errors
    /// 400 if there is no such column, or no such type.
    pub(super) fn new(scope: &Scope<'_>, text: &str) -> Result<Self, Problem> {
        if let Some(column) = scope.table.column(text) {
            return Ok(Self::of_column(scope, column));
        }
        if let Some((inner, kind)) = text.rsplit_once("::") {
            return Self::new(scope, inner)?.cast(kind);
        }
        let mut steps = text.split("->");
        let name = steps.next().unwrap_or_default();
        let mut field = Self::of_column(scope, super::column(scope.table, name)?);
        for step in steps {
            field = field.within(step)?;
        }
        Ok(field)
    }

    pub(super) fn of_column(scope: &Scope<'_>, column: usize) -> Self {
        let Pick { name, kind, .. } = &scope.table.all[column];
        Self { column, sql: scope.sql_of(column), kind: *kind, name: name.clone(), is_column: true, is_text: false }
    }

    /// A member or an element of it: as JSON, or as a value of SQL after another `>`.
    fn within(self, step: &str) -> Result<Self, Problem> {
        let (is_value, key) = step.strip_prefix('>').map_or((false, step), |key| (true, key));
        if key.is_empty() || key.contains(['"', '\0']) {
            return Err(Problem::bad("a value in JSON is named by its key or its index: meta->owner, tags->>0"));
        }
        let place = match key.parse::<i64>() {
            Ok(index) => index.to_string(),
            Err(_) => literal(&format!("$.\"{key}\"")),
        };
        let (sign, kind) = if is_value { ("->>", Kind::Plain) } else { ("->", Kind::Json) };
        let sql = format!("({} {sign} {place})", self.sql);
        Ok(Self { sql, kind, name: key.to_owned(), is_column: false, is_text: false, ..self })
    }

    /// It, as another type: those of `PostgreSQL` that SQLite has.
    fn cast(self, kind: &str) -> Result<Self, Problem> {
        let (storage, kind) = match kind {
            "text" | "varchar" => ("text", Kind::Plain),
            "int" | "int2" | "int4" | "int8" | "integer" | "bigint" | "smallint" => ("integer", Kind::Plain),
            "float" | "float4" | "float8" | "real" | "numeric" | "decimal" => ("real", Kind::Plain),
            "bool" | "boolean" => ("integer", Kind::Bool),
            "json" | "jsonb" => return Ok(Self { kind: Kind::Json, is_column: false, is_text: false, ..self }),
            _ => return Err(Problem::bad("a cast is to text, integer, real, boolean or json")),
        };
        let sql = match (self.kind, storage) {
            (Kind::Bool, "text") => format!("iif({0} in (0, 1), iif({0}, 'true', 'false'), {0})", self.sql),
            _ => self.sql,
        };
        let is_text = storage == "text";
        Ok(Self { sql: format!("cast({sql} as {storage})"), kind, is_column: false, is_text, ..self })
    }
}

/// A text as SQL.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
