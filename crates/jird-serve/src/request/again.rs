//! What a body says of a row that the row has already.
//!
//! JSON has fewer types than SQLite: a blob, an infinite number, a text and a date are all strings. So a value that is
//! sent as it was read is not written at all, and the row keeps the value that it has, of the type that it has.

use crate::base::problem::Problem;
use crate::request::ask::Ask;
use crate::request::catalog::{Kind, Pick, Table};
use crate::request::rows::write_value;
use jird::event::JsonSink;
use jird_formats::{Cell, Row};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// The rows for which a body is meant.
#[derive(Debug)]
pub(crate) enum Meant {
    None,
    /// One row, and the places in the body of the values that it does not have.
    One(Vec<usize>),
    Several,
}

/// Compares a body, the values of some columns, with the rows that are asked for.
pub(crate) fn meant(
    conn: &Connection,
    table: &Table,
    ask: &Ask<'_>,
    columns: &[usize],
    body: &Row,
) -> Result<Meant, Problem> {
    let problem = |error: rusqlite::Error| Problem::of_reading(&error);
    let (condition, values) = ask.condition(1);
    let mut names: Vec<_> = columns.iter().map(|column| table.sql_of(*column)).collect();
    names.push("1");
    let sql = format!("select {} from {}{condition} limit 2", names.join(", "), table.quoted);
    let mut statement = conn.prepare_cached(&sql).map_err(problem)?;
    let mut found = statement.query(rusqlite::params_from_iter(values)).map_err(problem)?;
    let Some(row) = found.next().map_err(problem)? else { return Ok(Meant::None) };
    let mut new = Vec::new();
    for (place, column) in columns.iter().enumerate() {
        if !is_shown_as(row.get_ref(place).map_err(problem)?, &table.all[*column], body.cell(place)) {
            new.push(place);
        }
    }
    Ok(if found.next().map_err(problem)?.is_some() { Meant::Several } else { Meant::One(new) })
}

/// Whether a value is shown as this cell.
fn is_shown_as(value: ValueRef<'_>, pick: &Pick, cell: Cell<'_>) -> bool {
    let (mut shown, mut scratch) = (Vec::new(), Vec::new());
    if write_value(value, pick, &mut shown, &mut scratch).is_err() {
        return false;
    }
    let is_json = pick.kind == Kind::Json && matches!(value, ValueRef::Text(_));
    let shown = match core::str::from_utf8(&shown) {
        Ok(text) if is_json => written(Cell::Json(text)),
        _ => shown,
    };
    let sent = written(cell);
    sent == shown || is_same_number(&sent, &shown)
}

fn written(cell: Cell<'_>) -> Vec<u8> {
    let mut sink = JsonSink::new(Vec::new());
    match cell.send(&mut sink) {
        Ok(()) => sink.so_far().to_vec(),
        Err(_) => Vec::new(),
    }
}

/// Whether two texts are the same number in different spellings, as clients have them that keep doubles: `3` and `3.0`.
#[expect(clippy::float_cmp, reason = "the same double is meant")]
fn is_same_number(one: &[u8], other: &[u8]) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = |text: &[u8]| core::str::from_utf8(text).ok()?.parse::<f64>().ok();
    let is_whole = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-');
    match (number(one), number(other)) {
        // Whole numbers beyond this could be the same double and yet differ.
        (Some(a), Some(b)) => a == b && (a.abs() < EXACT || !is_whole(one) && !is_whole(other)),
        _ => false,
    }
}
