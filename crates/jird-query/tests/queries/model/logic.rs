//! Conditions in the logic of three values: true, false, and unknown.

use super::decimal::Decimal;
use super::query::{Condition, Literal, Operand, Path, Query};
use super::tables::Scope;
use super::value::{Json, Value};
use std::cmp::Ordering;

impl Condition {
    /// What is known of a record.
    pub(crate) fn of(&self, record: &Value, scope: &Scope<'_>) -> Option<bool> {
        let operand = |of: &Operand| operand(of, record, scope);
        match self {
            Self::Compare(left, op, right) => compare(&operand(left)?, op, &operand(right)?),
            // As SQL defines it: `x = a or x = b`.
            Self::In(path, literals) => {
                any(literals.iter().map(|literal| compare(&operand(&Operand::Field(path))?, "=", &constant(literal)?)))
            }
            // As SQL defines it: `x >= low and x <= high`.
            Self::Between(path, low, high) => {
                let subject = operand(&Operand::Field(path));
                let side = |op, literal| compare(subject.as_ref()?, op, &constant(literal)?);
                all([side(">=", low), side("<=", high)])
            }
            Self::Like(path, pattern) => {
                let Json::Text(content) = &record.field(path)?.json else { return None };
                Some(like(&content.chars().collect::<Vec<_>>(), pattern))
            }
            Self::Match(path, pattern) => {
                let Json::Text(content) = &record.field(path)?.json else { return None };
                Some(regex::Regex::new(pattern).expect("a regular expression").is_match(content))
            }
            Self::IsNull(path) => Some(record.field(path).is_none_or(Value::is_null)),
            Self::Truth(path) => match record.field(path)?.json {
                Json::Bool(known) => Some(known),
                _ => None,
            },
            Self::TypeIs(path, kind) => Some(record.field(path)?.kind() == *kind),
            Self::NumberIs(path, op, number) => {
                let (left, right) = (record.field(path)?.number()?, number.parse::<f64>().expect("a number"));
                Some(holds(left.partial_cmp(&right)?, op))
            }
            Self::TextIs(path, text) => Some(record.field(path)?.text()? == text),
            Self::Same(left, right) => same(record.field(left), record.field(right)),
            Self::InQuery(path, query) => {
                let rows = query.of(&scope.inside(record)).expect("it computes with nothing");
                any(rows.iter().map(|row| same(record.field(path), row[0].value().as_ref())))
            }
            Self::Exists(query) => Some(!query.of(&scope.inside(record)).expect("it computes with nothing").is_empty()),
            Self::And(parts) => all(parts.iter().map(|part| part.of(record, scope))),
            Self::Or(parts) => any(parts.iter().map(|part| part.of(record, scope))),
            Self::Not(inner) => inner.of(record, scope).map(|known| !known),
        }
    }

    /// The fields that are compared with a query's value.
    pub(super) fn compared<'c>(&'c self, compared: &mut Vec<(Path, &'c Query)>) {
        match self {
            Self::Compare(Operand::Field(path), _, Operand::Query(query)) => compared.push((path, query)),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.compared(compared)),
            Self::Not(inner) => inner.compared(compared),
            _ => {}
        }
    }

    pub(super) fn has_query(&self) -> bool {
        match self {
            Self::InQuery(..) | Self::Exists(_) => true,
            Self::Compare(left, _, right) => [left, right].iter().any(|side| matches!(side, Operand::Query(_))),
            Self::And(parts) | Self::Or(parts) => parts.iter().any(Self::has_query),
            Self::Not(inner) => inner.has_query(),
            _ => false,
        }
    }
}

/// Whether values are equal as those of one group are; unknown of nulls.
fn same(left: Option<&Value>, right: Option<&Value>) -> Option<bool> {
    let known = |value: Option<&Value>| value.filter(|value| !value.is_null()).map(Value::group);
    Some(known(left)? == known(right)?)
}

fn all(parts: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    any(parts.into_iter().map(|part| part.map(|known| !known))).map(|known| !known)
}

/// True if one is, else unknown if one is, else false.
fn any(parts: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let parts: Vec<_> = parts.into_iter().collect();
    if parts.contains(&Some(true)) {
        Some(true)
    } else if parts.contains(&None) {
        None
    } else {
        Some(false)
    }
}

fn operand(operand: &Operand, record: &Value, scope: &Scope<'_>) -> Option<Json> {
    match operand {
        Operand::Field(path) => record.field(path).map(|value| value.json.clone()),
        Operand::Literal(literal) => constant(literal),
        Operand::Query(query) => query.only_cell(&scope.inside(record)).value().map(|value| value.json),
    }
}

fn constant(literal: &Literal) -> Option<Json> {
    Some(match literal {
        Literal::Null => return None,
        Literal::Bool(known) => Json::Bool(*known),
        Literal::Number(text) => Json::Number(Decimal::of(text)),
        Literal::Text(text) => Json::Text(text.clone()),
    })
}

/// Values of one kind compare; all others are unknown.
fn compare(left: &Json, op: &str, right: &Json) -> Option<bool> {
    let can_compare = left.rank() == right.rank() && !matches!(left, Json::Null);
    can_compare.then(|| holds(left.cmp(right), op))
}

fn holds(order: Ordering, op: &str) -> bool {
    match op {
        "=" => order == Ordering::Equal,
        "<>" => order != Ordering::Equal,
        "<" => order == Ordering::Less,
        "<=" => order != Ordering::Greater,
        ">" => order == Ordering::Greater,
        ">=" => order != Ordering::Less,
        _ => unreachable!("{op}"),
    }
}

/// `%` is any run of characters, `_` any one, and `\` takes the next one as it is.
fn like(text: &[char], pattern: &str) -> bool {
    // `after[at]`: the pattern so far matches the first `at` characters.
    let mut after = vec![false; text.len() + 1];
    after[0] = true;
    let mut pattern = pattern.chars();
    while let Some(char) = pattern.next() {
        if char == '%' {
            for at in 0..text.len() {
                after[at + 1] |= after[at];
            }
            continue;
        }
        let literal = if char == '\\' { pattern.next().unwrap_or(char) } else { char };
        let any = char == '_';
        let next = |at: usize| after[at] && (any || text[at] == literal);
        after = std::iter::once(false).chain((0..text.len()).map(next)).collect();
    }
    after[text.len()]
}
