//! Answers as DataFusion's runner prints them, and whether they are those that a test wants.

use super::records::Sorted;
use crate::reference::{Node, Tree, read_lines};
use std::fmt::Write;

const DEPTH_MAX: usize = 1000;

/// The rows of an answer, each with the text of its cells.
pub(super) type Rows = Vec<Vec<String>>;

/// The names of the columns, as far as the rows tell them: a field that is missing is in no row.
pub(super) fn names(out: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for row in read_lines(out.as_bytes(), DEPTH_MAX).0 {
        let Tree::Object(members) = row.tree else { continue };
        let mut at = 0;
        for (key, _) in members {
            let Tree::String(key) = key.tree else { continue };
            if let Some(found) = names.iter().position(|name| *name == key) {
                at = found + 1;
            } else {
                names.insert(at, key);
                at += 1;
            }
        }
    }
    names
}

/// The rows of an answer in NDJSON whose columns have these names.
pub(super) fn rows(out: &str, names: &[String]) -> Rows {
    let (rows, fault) = read_lines(out.as_bytes(), DEPTH_MAX);
    assert!(fault.is_none(), "no NDJSON: {out}");
    let cell = |row: &Node, name: &String| row.get(name).map_or_else(|| "NULL".to_owned(), |cell| text(cell, out));
    rows.iter().map(|row| names.iter().map(|name| cell(row, name)).collect()).collect()
}

/// A value as DataFusion's runner prints a cell.
fn text(value: &Node, out: &str) -> String {
    match &value.tree {
        Tree::String(text) if text.is_empty() => "(empty)".to_owned(),
        Tree::String(text) => text.trim_end_matches('\n').replace('\0', "\\0"),
        _ => {
            let mut text = String::new();
            nested(value, out, &mut text);
            text
        }
    }
}

fn nested(value: &Node, out: &str, text: &mut String) {
    match &value.tree {
        Tree::Null => text.push_str("NULL"),
        Tree::Bool(_) | Tree::Number => text.push_str(&out[value.start..value.end]),
        Tree::String(string) => text.push_str(string),
        Tree::Array(elements) => {
            text.push('[');
            for (at, element) in elements.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                nested(element, out, text);
            }
            text.push(']');
        }
        Tree::Object(members) => {
            text.push('{');
            for (at, (key, value)) in members.iter().enumerate() {
                let Tree::String(key) = &key.tree else { continue };
                let _ = write!(text, "{}{key}: ", if at == 0 { "" } else { ", " });
                nested(value, out, text);
            }
            text.push('}');
        }
    }
}

/// How an answer stands to the one wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    Same,
    /// The same rows in another order.
    Reordered,
    Different,
}

pub(super) fn compare(rows: &Rows, wanted: &[String], sorted: Sorted) -> Likeness {
    let lines: Vec<String> = match sorted {
        Sorted::Values => rows.iter().flatten().cloned().collect(),
        _ => rows.iter().flat_map(|row| row.join(" ").lines().map(str::to_owned).collect::<Vec<_>>()).collect(),
    };
    let are_same = |one: &[String], other: &[String]| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
    };
    if sorted == Sorted::Not && are_same(&lines, wanted) {
        return Likeness::Same;
    }
    let in_order = |lines: &[String]| {
        let mut lines = lines.to_vec();
        lines.sort_by_cached_key(|line| atoms(line).into_iter().map(plain).collect::<String>());
        lines
    };
    match (are_same(&in_order(&lines), &in_order(wanted)), sorted) {
        (true, Sorted::Not) => Likeness::Reordered,
        (true, _) => Likeness::Same,
        (false, _) => Likeness::Different,
    }
}

/// Whether two lines are the same but for how their numbers and times are written.
fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (atoms(one), atoms(other));
    one.len() == other.len()
        && one.iter().zip(&other).all(|(one, other)| plain(one) == plain(other) || near(one, other))
}

/// The parts of a line, with what separates them.
fn atoms(line: &str) -> Vec<&str> {
    line.trim_end()
        .split_inclusive([' ', ',', '[', ']', '{', '}'])
        .flat_map(|part| {
            let end = part.len() - usize::from(part.ends_with([' ', ',', '[', ']', '{', '}']));
            [&part[..end], &part[end..]]
        })
        .filter(|part| !part.is_empty())
        .collect()
}

/// Integers as they are, other numbers with ten digits, times without their zone if it is UTC. JSON has no NaN and no
/// infinity: they are null.
fn plain(atom: &str) -> String {
    if ["NaN", "Infinity", "-Infinity", "inf", "-inf"].contains(&atom) {
        return "NULL".to_owned();
    }
    let digits = atom.strip_prefix('-').unwrap_or(atom);
    if digits.starts_with(|first: char| first.is_ascii_digit()) {
        if let Ok(number) = atom.parse::<f64>()
            && !digits.bytes().all(|byte| byte.is_ascii_digit())
        {
            let is_whole = number.fract() == 0.0 && number.abs() < 1e15;
            return if is_whole { format!("{}", number as i64) } else { format!("{number:.9e}") };
        }
        if let Some((date, time)) = atom.split_once('T')
            && date.len() >= 10
            && time.contains(':')
        {
            let time = time.strip_suffix('Z').unwrap_or(time);
            let time = if time.contains('.') { time.trim_end_matches('0').trim_end_matches('.') } else { time };
            return format!("{date}T{time}");
        }
    }
    atom.to_owned()
}

/// Whether both are numbers and one of them is rounded: DataFusion's runner prints twelve places.
fn near(one: &str, other: &str) -> bool {
    let is_integer = |atom: &str| atom.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    let (Ok(first), Ok(second)) = (one.parse::<f64>(), other.parse::<f64>()) else { return false };
    !(is_integer(one) && is_integer(other)) && (first - second).abs() <= 1e-11 * first.abs().max(1.0)
}
