//! Conditions on columns.

use super::field::{Field, Scope};
use super::items::items;
use crate::base::problem::Problem;
use crate::request::catalog::{Kind, Table};
use crate::request::functions::{CONTAINS, OVERLAPS};
use jird::Json;
use jird::event::Numeral;
use jird::hooks::write_array;
use jird::value::MachineNumber;
use jird_formats::sqlite::Affinity;
use rusqlite::types::Value;
use std::fmt::Write;

/// Conditions that all hold.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    parts: Vec<Part>,
    values: Vec<Value>,
    /// There are patterns, or functions of JSON.
    has_long_steps: bool,
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
/// How deep groups may be in each other.
const GROUPS_MAX: usize = 8;

impl Filter {
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether there are comparisons alone.
    pub(crate) fn has_short_steps(&self) -> bool {
        !self.has_long_steps
    }

    /// The conditions with `head` before them, or nothing, with parameters numbered from `first`, and their values.
    pub(crate) fn sql(&self, head: &str, first: usize) -> (String, &[Value]) {
        let mut sql = String::new();
        let mut number = first;
        for (index, part) in self.parts.iter().enumerate() {
            sql.push_str(if index == 0 { head } else { " and " });
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
    pub(crate) fn add_equal(&mut self, scope: &Scope<'_>, column: usize, value: &str) -> Result<(), Problem> {
        let field = Field::of_column(scope, column);
        self.parts.push(vec![Piece::Sql(format!("{} = ", field.sql)), Piece::Parameter]);
        self.values.push(value_of(scope.table, &field, value)?);
        Ok(())
    }

    /// A condition as in `id=eq.5`, `meta->>owner=not.in.(a,b)`.
    pub(crate) fn add(&mut self, scope: &Scope<'_>, field: &str, condition: &str) -> Result<(), Problem> {
        let part = self.condition(scope, field, condition)?;
        self.parts.push(part);
        Ok(())
    }

    /// Conditions in brackets, as in `or=(id.eq.5,and(id.gt.7,not.or(done.is.true,title.like.a*)))`.
    pub(crate) fn add_group(&mut self, scope: &Scope<'_>, operator: &str, group: &str) -> Result<(), Problem> {
        let part = self.group(scope, operator, group, 0)?;
        self.parts.push(part);
        Ok(())
    }

    /// What of `and`, `or` and their negations a name is.
    pub(crate) fn operator(name: &str) -> Option<(bool, &'static str)> {
        let (is_negated, name) = name.strip_prefix("not.").map_or((false, name), |name| (true, name));
        match name {
            "and" => Some((is_negated, " and ")),
            "or" => Some((is_negated, " or ")),
            _ => None,
        }
    }

    fn group(&mut self, scope: &Scope<'_>, operator: &str, group: &str, depth: usize) -> Result<Part, Problem> {
        let wrong = || Problem::bad("a group of conditions has the form or=(id.eq.5,done.is.true), and so has and");
        let (is_negated, between) = Self::operator(operator).ok_or_else(wrong)?;
        let inner = group.strip_prefix('(').and_then(|group| group.strip_suffix(')')).ok_or_else(wrong)?;
        if depth == GROUPS_MAX {
            return Err(Problem::bad(format!("groups of conditions are at most {GROUPS_MAX} deep in each other")));
        }
        let mut part = vec![Piece::Sql(if is_negated { "not (" } else { "(" }.to_owned())];
        for (index, item) in items(inner)?.into_iter().enumerate() {
            if index > 0 {
                part.push(Piece::Sql(between.to_owned()));
            }
            part.append(&mut self.member(scope, item, depth)?);
            if self.values.len() > LIST_MAX * GROUPS_MAX {
                return Err(Problem::bad("the conditions have too many values"));
            }
        }
        part.push(Piece::Sql(")".to_owned()));
        Ok(part)
    }

    /// A condition or a group within a group.
    fn member(&mut self, scope: &Scope<'_>, item: &str, depth: usize) -> Result<Part, Problem> {
        let named = item.find('(').map(|at| item.split_at(at)).filter(|(name, _)| Self::operator(name).is_some());
        if let Some((operator, group)) = named {
            return self.group(scope, operator, group, depth + 1);
        }
        // A name may have dots itself.
        let mut parts = item.match_indices('.').map(|(at, _)| (&item[..at], &item[at + 1..]));
        let known = parts.clone().filter(|(name, _)| scope.table.column(name).is_some()).last();
        let wrong = || Problem::bad("a condition in a group has the form NAME.OPERATOR.VALUE, as in id.eq.5");
        let (name, condition) = known.or_else(|| parts.next()).ok_or_else(wrong)?;
        self.condition(scope, name, condition)
    }

    fn condition(&mut self, scope: &Scope<'_>, name: &str, condition: &str) -> Result<Part, Problem> {
        let field = Field::new(scope, name)?;
        let (is_negated, condition) = match condition.strip_prefix("not.") {
            Some(condition) => (true, condition),
            None => (false, condition),
        };
        let Some((operator, value)) = condition.split_once('.') else { return Err(unknown(&field)) };
        let (operator, of_several) = match operator.strip_suffix(')').and_then(|operator| operator.split_once('(')) {
            Some((operator, "any")) => (operator, Some(" or ")),
            Some((operator, "all")) => (operator, Some(" and ")),
            _ => (operator, None),
        };
        let mut part = vec![Piece::Sql(if is_negated { "not (" } else { "(" }.to_owned())];
        match of_several {
            None => part.append(&mut self.comparison(scope, &field, operator, value)?),
            Some(between) => {
                for (index, value) in list(value, '{', '}')?.iter().enumerate() {
                    if index > 0 {
                        part.push(Piece::Sql(between.to_owned()));
                    }
                    part.append(&mut self.comparison(scope, &field, operator, value)?);
                }
            }
        }
        part.push(Piece::Sql(")".to_owned()));
        Ok(part)
    }

    /// A condition without what may stand around it. Its values are added.
    fn comparison(&mut self, scope: &Scope<'_>, field: &Field, operator: &str, value: &str) -> Result<Part, Problem> {
        let name = &field.sql;
        self.has_long_steps |= !field.is_column || ["like", "ilike", "cs", "cd", "ov"].contains(&operator);
        let signs = [
            ("eq", "="),
            ("neq", "<>"),
            ("gt", ">"),
            ("gte", ">="),
            ("lt", "<"),
            ("lte", "<="),
            ("isdistinct", "is not"),
        ];
        if let Some((_, sign)) = signs.iter().find(|(known, _)| *known == operator) {
            self.values.push(value_of(scope.table, field, value)?);
            return Ok(vec![Piece::Sql(format!("{name} {sign} ")), Piece::Parameter]);
        }
        match operator {
            "in" => {
                let values = list(value, '(', ')')?;
                let mut part = vec![Piece::Sql(format!("{name} in ("))];
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        part.push(Piece::Sql(",".into()));
                    }
                    part.push(Piece::Parameter);
                    self.values.push(value_of(scope.table, field, value)?);
                }
                part.push(Piece::Sql(")".into()));
                Ok(part)
            }
            "like" => {
                self.values.push(Value::Text(glob(value)));
                Ok(vec![Piece::Sql(format!("{name} glob ")), Piece::Parameter])
            }
            "ilike" => {
                self.values.push(Value::Text(value.replace('*', "%")));
                Ok(vec![Piece::Sql(format!("{name} like ")), Piece::Parameter])
            }
            "is" => {
                let sql = match value {
                    "null" | "unknown" => "is null",
                    "not_null" => "is not null",
                    "true" => "is 1",
                    "false" => "is 0",
                    _ => return Err(Problem::bad("is has the values null, not_null, true, false, unknown")),
                };
                Ok(vec![Piece::Sql(format!("{name} {sql}"))])
            }
            "cs" | "cd" | "ov" => {
                self.values.push(Value::Text(json_of(value)?));
                let (function, is_first) = match operator {
                    "cs" => (CONTAINS, true),
                    "cd" => (CONTAINS, false),
                    _ => (OVERLAPS, true),
                };
                let pieces = if is_first {
                    [Piece::Sql(format!("{function}({name}, ")), Piece::Parameter, Piece::Sql(")".into())]
                } else {
                    [Piece::Sql(format!("{function}(")), Piece::Parameter, Piece::Sql(format!(", {name})"))]
                };
                Ok(pieces.into())
            }
            _ => Err(unknown(field)),
        }
    }
}

#[cold]
fn unknown(field: &Field) -> Problem {
    let name = &field.name;
    Problem::bad(format!(
        "a condition has the form {name}=OPERATOR.VALUE, with eq, neq, gt, gte, lt, lte, isdistinct, in, like, ilike, is, \
         cs, cd, ov, and not. before it"
    ))
}

/// The value that a column is compared with.
fn value_of(table: &Table, field: &Field, text: &str) -> Result<Value, Problem> {
    if field.kind == Kind::Bool {
        match text {
            "true" => return Ok(Value::Integer(1)),
            "false" => return Ok(Value::Integer(0)),
            _ => {}
        }
    }
    if !field.is_column {
        // It has no type that SQLite would convert the text to: a number is one of JSON, or of a cast.
        return Ok(if field.is_text { Value::Text(text.to_owned()) } else { of_either_kind(text) });
    }
    let info = &table.info.columns()[field.column];
    match info.affinity() {
        // SQLite converts the text to what the column holds ("Datatypes In SQLite", section 4.2).
        Affinity::Text | Affinity::Numeric => Ok(Value::Text(text.to_owned())),
        // Here it converts nothing.
        Affinity::None => Ok(of_either_kind(text)),
        Affinity::Integer | Affinity::Real => number(text).ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            Problem::bad(format!("the column {:?} has numbers, and {shown:?} is none", info.name()))
        }),
    }
}

fn of_either_kind(text: &str) -> Value {
    number(text).unwrap_or_else(|| Value::Text(text.to_owned()))
}

/// The JSON that a value stands for: JSON itself, or an array in `PostgreSQL`'s form, `{a,"b c",3}`.
fn json_of(value: &str) -> Result<String, Problem> {
    if jird::from_slice::<Json>(value.as_bytes()).is_ok() {
        return Ok(value.to_owned());
    }
    let mut text = Vec::new();
    write_array(&mut text, |array| {
        for element in list(value, '{', '}').unwrap_or_default() {
            match jird::from_slice::<Json>(element.as_bytes()) {
                Ok(Json::Number(_) | Json::Bool(_) | Json::Null) => array.raw(element.as_bytes()),
                _ => array.element(&element),
            }
        }
    });
    list(value, '{', '}').map(|_| String::from_utf8_lossy(&text).into_owned())
}

/// The number that a text is, as SQLite would read it; `None` if it is none.
fn number(text: &str) -> Option<Value> {
    match Numeral::new(text)?.machine()? {
        MachineNumber::I64(value) => Some(Value::Integer(value)),
        MachineNumber::U64(value) => Some(Value::Text(value.to_string())),
        MachineNumber::F64(value) => Some(Value::Real(value)),
    }
}

/// The values of `(1,"a,b")`, or between other brackets.
fn list(text: &str, open: char, close: char) -> Result<Vec<String>, Problem> {
    let operator = if open == '(' { "in." } else { "" };
    let wrong = || Problem::bad(format!("a list has the form {operator}{open}A,B,\"C,D\"{close}"));
    let inner = text.strip_prefix(open).and_then(|text| text.strip_suffix(close)).ok_or_else(wrong)?;
    if inner.is_empty() {
        return Ok(Vec::new());
    }
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
        return Err(if quoted { wrong() } else { Problem::bad(format!("a list has at most {LIST_MAX} values")) });
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
        let list = |text: &str| list(text, '(', ')');
        assert_eq!(list("(1,2)").unwrap(), ["1", "2"]);
        assert_eq!(list(r#"("a,b","c\"d\\",)"#).unwrap(), ["a,b", "c\"d\\", ""]);
        assert_eq!(list("()").unwrap(), [""; 0]);
        for wrong in ["1,2", "(1", "{1}", r#"("a)"#, r#"("a"b)"#, r#"("a\)"#] {
            assert!(list(wrong).is_err(), "{wrong}");
        }
        assert!(list(&format!("({})", ",".repeat(LIST_MAX))).is_err());
    }

    #[test]
    fn arrays_of_postgresql_become_json() {
        assert_eq!(json_of(r#"{a,"b, c",3,true}"#).unwrap(), r#"["a","b, c",3,true]"#);
        assert_eq!(json_of("{}").unwrap(), "{}");
        assert_eq!(json_of(r#"{"a":1}"#).unwrap(), r#"{"a":1}"#);
        assert_eq!(json_of("[1]").unwrap(), "[1]");
        assert!(json_of("a").is_err() && json_of("{a").is_err());
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
