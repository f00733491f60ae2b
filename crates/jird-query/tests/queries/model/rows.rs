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
    Bool(bool),
    /// Exactly these bytes.
    Raw(String),
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

    fn is(&self, found: &Value) -> bool {
        match (self, &found.json) {
            (Self::Null, Json::Null) => true,
            (Self::Bool(known), Json::Bool(found)) => known == found,
            (Self::Raw(raw), _) => *raw == found.raw,
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
    let mut members = members.iter();
    let present = cells.iter().enumerate().filter(|(_, cell)| !matches!(cell, Cell::Missing));
    let same = present.fold(true, |same, (at, cell)| {
        same && members.next().is_some_and(|(key, found)| *key == format!("c{at}") && cell.is(found))
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
        unseen.entry(line.field(&[Step::Key("c0")]).map(Value::group)).or_default().push(line);
    }
    rows.iter().all(|row| {
        let like_it = match row.first() {
            Some(Cell::Group(value)) => unseen.get_mut(&Some(value.group())),
            Some(Cell::Null) => unseen.get_mut(&Some("null".to_owned())),
            _ => unseen.values_mut().next(),
        };
        let Some(lines) = like_it else { return false };
        let found = lines.iter().position(|line| is_row(row, line));
        found.map(|at| lines.swap_remove(at)).is_some()
    })
}
