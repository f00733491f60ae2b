//! What statements of requests need and SQLite lacks: functions of its connections. They are for these statements alone;
//! views and triggers cannot call them.

use crate::request::catalog::{Kind, Pick};
use crate::request::rows::write_value;
use jird::Json;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error};

/// A row as a JSON object: its [`spec`], and its values.
pub(crate) const OBJECT: &str = "jird_object";
/// Whether a JSON value contains another, as `@>` of `PostgreSQL`.
pub(crate) const CONTAINS: &str = "jird_contains";
/// Whether two JSON arrays have an element in common.
pub(crate) const OVERLAPS: &str = "jird_overlaps";

/// Makes them known to a connection.
pub(crate) fn register(conn: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    conn.create_scalar_function(OBJECT, -1, flags, object)?;
    conn.create_scalar_function(CONTAINS, 2, flags, |context| Ok(both(context, contains)))?;
    conn.create_scalar_function(OVERLAPS, 2, flags, |context| {
        Ok(both(context, |left, right| match (left.as_array(), right.as_array()) {
            (Some(left), Some(right)) => left.iter().any(|one| right.iter().any(|other| is_same(one, other))),
            _ => is_same(left, right),
        }))
    })
}

/// Names of columns and how their values are sent: a line for each.
pub(crate) fn spec(picks: &[Pick]) -> String {
    let lines = picks.iter().map(|pick| {
        let letter = match pick.kind {
            Kind::Plain => 'p',
            Kind::Bool => 'b',
            Kind::Json => 'j',
        };
        // A name in JSON has no line break.
        format!("{letter}{}", String::from_utf8_lossy(&pick.head))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn picks(spec: &str) -> Vec<Pick> {
    let picks = spec.lines().filter_map(|line| {
        let (letter, head) = line.split_at_checked(1)?;
        let kind = match letter {
            "b" => Kind::Bool,
            "j" => Kind::Json,
            _ => Kind::Plain,
        };
        Some(Pick { column: usize::MAX, name: head.to_owned(), head: head.into(), kind, sql: String::new() })
    });
    picks.collect()
}

fn object(context: &Context<'_>) -> rusqlite::Result<String> {
    let picks = context.get_or_create_aux(0, |spec| Ok::<_, rusqlite::types::FromSqlError>(picks(spec.as_str()?)))?;
    let (mut text, mut scratch, mut before) = (Vec::new(), Vec::new(), b'{');
    for (number, pick) in (1..context.len()).zip(picks.iter()) {
        text.push(before);
        text.extend_from_slice(&pick.head);
        before = b',';
        let written = write_value(context.get_raw(number), pick, &mut text, &mut scratch);
        written.map_err(|problem| Error::UserFunctionError(problem.to_string().into()))?;
    }
    text.extend_from_slice(if before == b'{' { b"{}" } else { b"}" });
    String::from_utf8(text).map_err(|error| Error::UserFunctionError(error.into()))
}

/// Asks something of two JSON values; null if one of them is null or no JSON.
fn both(context: &Context<'_>, ask: impl Fn(&Json, &Json) -> bool) -> Option<bool> {
    let json = |number| match context.get_raw(number) {
        ValueRef::Text(text) => jird::from_slice::<Json>(text).ok(),
        ValueRef::Integer(value) => Some(Json::from(value)),
        _ => None,
    };
    json(0).zip(json(1)).map(|(left, right)| ask(&left, &right))
}

/// Whether a value contains another. An array contains a scalar that is one of its elements, too.
fn contains(all: &Json, part: &Json) -> bool {
    match (all, part) {
        (Json::Array(all), part) if !matches!(part, Json::Object(_) | Json::Array(_)) => {
            all.iter().any(|all| is_same(all, part))
        }
        _ => has(all, part),
    }
}

/// Objects have those with some of their members, arrays those with some of their elements in any order.
fn has(all: &Json, part: &Json) -> bool {
    match (all, part) {
        (Json::Object(all), Json::Object(part)) => {
            part.iter().all(|(key, part)| all.get(key).is_some_and(|all| has(all, part)))
        }
        (Json::Array(all), Json::Array(part)) => part.iter().all(|part| all.iter().any(|all| has(all, part))),
        (all, part) => is_same(all, part),
    }
}

/// Whether two values are the same, however their numbers are written.
fn is_same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Json::Number(_), Json::Number(_)) if one.as_i64().is_none() || other.as_i64().is_none() => {
            one.as_f64().is_some() && one.as_f64() == other.as_f64()
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containment_is_that_of_postgresql() {
        for (all, part, wanted) in [
            (r#"{"a":1,"b":[1,2,{"c":3}]}"#, r#"{"b":[2]}"#, true),
            (r#"{"a":1,"b":[1,2,{"c":3,"d":4}]}"#, r#"{"b":[{"d":4},1]}"#, true),
            (r#"{"a":1}"#, r#"{"a":1.0}"#, true),
            (r#"{"a":1}"#, r#"{"a":"1"}"#, false),
            (r#"{"a":{"b":1}}"#, r#"{"b":1}"#, false),
            ("[1,2,3]", "[3,1,1]", true),
            ("[1,2,3]", "[4]", false),
            ("[[1,2]]", "[1]", false),
            ("[1,2]", "2", true),
            ("2", "[2]", false),
            ("[{}]", "{}", false),
            ("null", "null", true),
        ] {
            let parse = |text: &str| jird::from_slice::<Json>(text.as_bytes()).unwrap();
            assert_eq!(contains(&parse(all), &parse(part)), wanted, "{all} {part}");
        }
    }
}
