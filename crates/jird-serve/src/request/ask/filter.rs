//! Conditions on columns.

use crate::base::problem::Problem;
use crate::request::catalog::{Kind, Table};
use jird::event::Numeral;
use jird::value::MachineNumber;
use jird_formats::sqlite::Affinity;
use rusqlite::types::Value;
use std::fmt::Write;

/// Conditions that all hold.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    parts: Vec<Part>,
    values: Vec<Value>,
}

/// A condition: texts of SQL, between which are parameters.
type Part = Vec<Piece>;

#[derive(Debug)]
enum Piece {
    Sql(String),
    Parameter,
}

/// The most values in one list.
const LIST_MAX: usize = 1000;

impl Filter {
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// `where …`, or nothing, with parameters numbered from `first`, and their values.
    pub(crate) fn sql(&self, first: usize) -> (String, &[Value]) {
        let mut sql = String::new();
        let mut number = first;
        for (index, part) in self.parts.iter().enumerate() {
            sql.push_str(if index == 0 { " where " } else { " and " });
            for piece in part {
                match piece {
                    Piece::Sql(text) => sql.push_str(text),
                    Piece::Parameter => {
                        write!(sql, "?{number}").expect("a `String` takes everything");
                        number += 1;
                    }
                }
            }
        }
        (sql, &self.values)
    }

    /// The column has this value.
    pub(crate) fn add_equal(&mut self, table: &Table, column: usize, value: &str) -> Result<(), Problem> {
        let value = value_of(table, column, value)?;
        self.push(vec![Piece::Sql(format!("{} = ", table.sql_of(column))), Piece::Parameter], [value]);
        Ok(())
    }

    /// A condition as in `eq.5`, `not.in.(1,2)`.
    pub(crate) fn add(&mut self, table: &Table, column: usize, condition: &str) -> Result<(), Problem> {
        let (is_negated, condition) = match condition.strip_prefix("not.") {
            Some(condition) => (true, condition),
            None => (false, condition),
        };
        let Some((operator, value)) = condition.split_once('.') else { return Err(unknown(table, column)) };
        let name = table.sql_of(column);
        let (before, after) = if is_negated { ("not (", ")") } else { ("", "") };
        let begin = |sql: String| vec![Piece::Sql(format!("{before}{sql}"))];
        let (mut part, values) = match operator {
            "eq" | "neq" | "gt" | "gte" | "lt" | "lte" => {
                let sign = match operator {
                    "eq" => "=",
                    "neq" => "<>",
                    "gt" => ">",
                    "gte" => ">=",
                    "lt" => "<",
                    _ => "<=",
                };
                let mut part = begin(format!("{name} {sign} "));
                part.push(Piece::Parameter);
                (part, vec![value_of(table, column, value)?])
            }
            "in" => {
                let values: Result<Vec<_>, _> =
                    list(value)?.iter().map(|value| value_of(table, column, value)).collect();
                let values = values?;
                let mut part = begin(format!("{name} in ("));
                for index in 0..values.len() {
                    if index > 0 {
                        part.push(Piece::Sql(",".into()));
                    }
                    part.push(Piece::Parameter);
                }
                part.push(Piece::Sql(")".into()));
                (part, values)
            }
            "like" | "ilike" => {
                let (sign, pattern) = match operator {
                    "like" => ("glob", glob(value)),
                    _ => ("like", value.replace('*', "%")),
                };
                let mut part = begin(format!("{name} {sign} "));
                part.push(Piece::Parameter);
                (part, vec![Value::Text(pattern)])
            }
            "is" => {
                let sql = match value {
                    "null" | "unknown" => "is null",
                    "not_null" => "is not null",
                    "true" => "is 1",
                    "false" => "is 0",
                    _ => return Err(Problem::bad("is has the values null, not_null, true, false, unknown")),
                };
                (begin(format!("{name} {sql}")), Vec::new())
            }
            _ => return Err(unknown(table, column)),
        };
        part.push(Piece::Sql(after.into()));
        self.push(part, values);
        Ok(())
    }

    fn push(&mut self, part: Part, values: impl IntoIterator<Item = Value>) {
        self.parts.push(part);
        self.values.extend(values);
    }
}

#[cold]
fn unknown(table: &Table, column: usize) -> Problem {
    let name = &table.all[column].name;
    Problem::bad(format!(
        "a condition has the form {name}=OPERATOR.VALUE, with eq, neq, gt, gte, lt, lte, in, like, ilike, is, and not. \
         before it"
    ))
}

/// The value that a column is compared with.
fn value_of(table: &Table, column: usize, text: &str) -> Result<Value, Problem> {
    let info = &table.info.columns()[column];
    if table.all[column].kind == Kind::Bool {
        match text {
            "true" => return Ok(Value::Integer(1)),
            "false" => return Ok(Value::Integer(0)),
            _ => {}
        }
    }
    match info.affinity() {
        // SQLite converts the text to what the column holds ("Datatypes In SQLite", section 4.2).
        Affinity::Text | Affinity::Numeric => Ok(Value::Text(text.to_owned())),
        // Here it converts nothing.
        Affinity::None => Ok(number(text).unwrap_or_else(|| Value::Text(text.to_owned()))),
        Affinity::Integer | Affinity::Real => number(text).ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            Problem::bad(format!("the column {:?} has numbers, and {shown:?} is none", info.name()))
        }),
    }
}

/// The number that a text is, as SQLite would read it; `None` if it is none.
fn number(text: &str) -> Option<Value> {
    match Numeral::new(text)?.machine()? {
        MachineNumber::I64(value) => Some(Value::Integer(value)),
        MachineNumber::U64(value) => Some(Value::Text(value.to_string())),
        MachineNumber::F64(value) => Some(Value::Real(value)),
    }
}

/// The values of `(1,"a,b")`.
fn list(text: &str) -> Result<Vec<String>, Problem> {
    let wrong = || Problem::bad("in has the form in.(A,B,\"C,D\")");
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).ok_or_else(wrong)?;
    let mut values = vec![String::new()];
    let (mut quoted, mut closed) = (false, false);
    let mut chars = inner.chars();
    while let Some(char) = chars.next() {
        let value = values.last_mut().ok_or_else(wrong)?;
        match char {
            '\\' if quoted => value.push(chars.next().ok_or_else(wrong)?),
            '"' if quoted => (quoted, closed) = (false, true),
            _ if quoted => value.push(char),
            ',' => {
                values.push(String::new());
                closed = false;
            }
            _ if closed => return Err(wrong()),
            '"' if value.is_empty() => quoted = true,
            _ => value.push(char),
        }
    }
    if quoted || values.len() > LIST_MAX {
        return Err(if quoted { wrong() } else { Problem::bad(format!("in has at most {LIST_MAX} values")) });
    }
    Ok(values)
}

/// A pattern of `like`, as one of SQLite's `glob`, which tells upper from lower case: `*` and `%` are any characters,
/// `_` is one.
fn glob(pattern: &str) -> String {
    let mut glob = String::with_capacity(pattern.len());
    for char in pattern.chars() {
        match char {
            '%' | '*' => glob.push('*'),
            '_' => glob.push('?'),
            '?' => glob.push_str("[?]"),
            '[' => glob.push_str("[[]"),
            char => glob.push(char),
        }
    }
    glob
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_quotes_and_escapes() {
        assert_eq!(list("(1,2)").unwrap(), ["1", "2"]);
        assert_eq!(list(r#"("a,b","c\"d\\",)"#).unwrap(), ["a,b", "c\"d\\", ""]);
        for wrong in ["1,2", "(1", r#"("a)"#, r#"("a"b)"#, r#"("a\)"#] {
            assert!(list(wrong).is_err(), "{wrong}");
        }
        assert!(list(&format!("({})", ",".repeat(LIST_MAX))).is_err());
    }

    #[test]
    fn patterns_of_like_become_globs() {
        assert_eq!(glob("a*b%_[x]?"), "a*b*?[[]x][?]");
    }

    #[test]
    fn numbers_are_read_whole_or_not_at_all() {
        assert_eq!(number("5"), Some(Value::Integer(5)));
        assert_eq!(number("-1.5"), Some(Value::Real(-1.5)));
        for wrong in ["", "5;", "0x10", "1 or 1", "--1", "١"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }
}
