//! What a row of a result must be, and whether a line is it.

use super::decimal::Decimal;
use super::query::Step;
use super::value::{Json, Value};
use std::collections::HashMap;

/// A column of a row.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    /// No such member.
    Missing,
    Null,
    /// Null, or no such member.
    Nothing,
    Bool(bool),
    /// Exactly these bytes.
    Raw(Value),
    /// This number, however it is written.
    Exact(Decimal),
    /// About this number: sums of doubles depend on their order.
    Near(f64),
    Text(String),
    /// A value equal to this one, as groups are.
    Group(Value),
}

impl Cell {
    pub(crate) fn group(value: Option<&Value>) -> Self {
        match value {
            Some(value) if !value.is_null() => Self::Group(value.clone()),
            _ => Self::Null,
        }
    }

    /// The value, if the cell is one that tables have.
    pub(crate) fn value(&self) -> Option<Value> {
        match self {
            Self::Missing | Self::Nothing | Self::Null => None,
            Self::Bool(known) => Some(Value::bool(*known)),
            Self::Raw(value) | Self::Group(value) => Some(value.clone()),
            Self::Exact(number) => Some(Value::number_of(number.clone())),
            Self::Text(text) => Some(Value::text_of(text)),
            Self::Near(_) => unreachable!("a number that is not exact is no column of a table"),
        }
    }

    fn is(&self, found: &Value) -> bool {
        match (self, &found.json) {
            (Self::Null | Self::Nothing, Json::Null) => true,
            (Self::Bool(known), Json::Bool(found)) => known == found,
            (Self::Raw(value), _) => value.raw == found.raw,
            (Self::Exact(number), Json::Number(found)) => number == found,
            (Self::Near(number), Json::Number(_)) => {
                let found: f64 = found.raw.parse().expect("a number");
                (number - found).abs() <= 1e-9 * number.abs().max(1e-3)
            }
            (Self::Text(text), Json::Text(found)) => text == found,
            (Self::Group(value), _) => value.group() == found.group(),
            _ => false,
        }
    }
}

/// Whether a line is the object that these cells are.
fn is_row(cells: &[Cell], line: &Value) -> bool {
    let Json::Object(members) = &line.json else { return false };
    let mut members = members.iter().peekable();
    let same =
        cells.iter().enumerate().all(|(at, cell)| match (cell, members.next_if(|(key, _)| *key == format!("c{at}"))) {
            (Cell::Missing | Cell::Nothing, None) => true,
            (cell, found) => found.is_some_and(|(_, found)| cell.is(found)),
        });
    same && members.next().is_none()
}

/// Whether the lines are these rows, in this order or in any.
pub(crate) fn are_rows(rows: &[Vec<Cell>], lines: Vec<Value>, ordered: bool) -> bool {
    if rows.len() != lines.len() {
        return false;
    }
    if ordered {
        return rows.iter().zip(&lines).all(|(row, line)| is_row(row, line));
    }
    // By their first columns, since there may be many.
    let mut unseen: HashMap<Option<String>, Vec<Value>> = HashMap::new();
    for line in lines {
        let first = line.field(&[Step::Key("c0")]).filter(|value| !value.is_null()).map(Value::group);
        unseen.entry(first).or_default().push(line);
    }
    let take = |row: &Vec<Cell>| match row.first() {
        // It is in no group that is known beforehand.
        Some(Cell::Near(_)) | None => unseen.values_mut().any(|lines| take_from(lines, row)),
        Some(cell) => {
            let first = cell.value().filter(|value| !value.is_null()).map(|value| value.group());
            unseen.get_mut(&first).is_some_and(|lines| take_from(lines, row))
        }
    };
    rows.iter().all(take)
}

/// Takes a line that is this row from the others.
fn take_from(lines: &mut Vec<Value>, row: &[Cell]) -> bool {
    let found = lines.iter().position(|line| is_row(row, line));
    found.map(|at| lines.swap_remove(at)).is_some()
}
