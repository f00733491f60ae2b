//! A predicate as a condition in SQL that leaves out only rows which certainly do not make the predicate true.
//!
//! SQLite compares by other rules than [`Predicate`]: a text may become a number because of its column's affinity, a
//! collation may take two texts for equal, a double is compared by its binary value, and values of different storage
//! classes have an order. So a condition here is looser than its predicate, and the predicate still decides on each row:
//!
//! - A number is replaced by a double below or above it where SQLite would not compare it as the predicate does.
//! - Ordered comparisons of texts are of their bytes, whatever the column's collation. Equality may use the collation,
//!   because equal texts are equal in each of SQLite's own.
//! - Rows with a value of another kind are kept. A blob becomes a text, and a comparison of different kinds is unknown
//!   and counted. SQLite orders null, numbers, texts, blobs. SQLite is told that such rows are unlikely, so that it
//!   uses an index all the same ("The Next-Generation Query Planner", section 4; `likelihood` of "Built-In Scalar SQL
//!   Functions").
//!
//! The condition leaves out what cannot be written so: comparisons with a text that the column's affinity would turn
//! into a number, columns of JSON, patterns, `not`.

use super::affinity::{Affinity, reads_as_number};
use super::database::{TableInfo, quote};
use jird::Path;
use jird::record::{Comparison, Literal, Predicate, Step};
use rusqlite::types::Value;

/// A condition in SQL.
#[derive(Debug)]
pub(super) struct Condition {
    /// Conditions that all hold; at least one. Comparisons of the same column are one part.
    pub(super) parts: Vec<String>,
    /// The values of the parameters `?1`, `?2`, …
    pub(super) values: Vec<Value>,
}

impl Condition {
    /// The condition for a predicate whose slot `i` is `paths[i]`; `None` if nothing of it can be written in SQL. Texts
    /// are compared only if the database stores them as UTF-8: the bytes of other encodings have another order.
    pub(super) fn of(info: &TableInfo, is_utf8: bool, predicate: &Predicate, paths: &[Path]) -> Option<Self> {
        let mut writer = Writer { info, is_utf8, paths, values: Vec::new() };
        let parts = match predicate {
            Predicate::And(parts) => writer.all(parts),
            other => writer.part(other).into_iter().collect(),
        };
        (!parts.is_empty()).then_some(Self { parts, values: writer.values })
    }

    /// All parts as SQL. If one is given, SQLite can search an index only for that one, because a `+` before a term keeps
    /// SQLite from using an index for it ("The SQLite Query Optimizer Overview", "Disqualifying WHERE Clause Terms").
    pub(super) fn searched_by(&self, searched: Option<usize>) -> String {
        let part = |(index, part): (usize, &String)| match searched {
            Some(searched) if searched != index => format!("+({part})"),
            _ => part.clone(),
        };
        self.parts.iter().enumerate().map(part).collect::<Vec<_>>().join(" and ")
    }
}

/// The likelihood of values that do not belong in their column.
const UNLIKELY: &str = "0.0000001";

/// All integers up to this one are doubles.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

struct Writer<'a> {
    info: &'a TableInfo,
    is_utf8: bool,
    paths: &'a [Path],
    values: Vec<Value>,
}

impl Writer<'_> {
    fn part(&mut self, predicate: &Predicate) -> Option<String> {
        match predicate {
            Predicate::And(parts) => joined(&self.all(parts), " and "),
            Predicate::Or(parts) => {
                let parts: Option<Vec<_>> = parts.iter().map(|part| self.part(part)).collect();
                joined(&parts?, " or ")
            }
            Predicate::Compare { slot, op: Comparison::Eq, literal: Literal::Bool(value) } => {
                self.boolean(*slot, *value)
            }
            Predicate::Compare { slot, op, literal } => self.range(*slot, &[(*op, literal)]),
            Predicate::In { slot, list } => self.one_of(*slot, list),
            Predicate::IsNull { slot } => Some(format!("{} is null", self.column(*slot)?.0)),
            Predicate::Not(inner) => match **inner {
                Predicate::IsNull { slot } => Some(format!("{} is not null", self.column(slot)?.0)),
                _ => None,
            },
            _ => None,
        }
    }

    /// All parts that can be written. The comparisons of a column become one part, because SQLite searches an index for
    /// a range only then.
    fn all(&mut self, parts: &[Predicate]) -> Vec<String> {
        let mut ranges: Vec<(usize, Vec<(Comparison, &Literal)>)> = Vec::new();
        let mut all = Vec::new();
        for part in flat(parts) {
            match part {
                Predicate::Compare { slot, op: Comparison::Eq, literal: Literal::Bool(value) } => {
                    all.extend(self.boolean(*slot, *value));
                }
                Predicate::Compare { slot, op, literal } => match ranges.iter_mut().find(|(other, _)| other == slot) {
                    Some((_, range)) => range.push((*op, literal)),
                    None => ranges.push((*slot, vec![(*op, literal)])),
                },
                other => all.extend(self.part(other)),
            }
        }
        for (slot, range) in ranges {
            all.extend(self.range(slot, &range));
        }
        all
    }

    /// A column of booleans that has this value, or something else than a boolean.
    fn boolean(&mut self, slot: usize, value: bool) -> Option<String> {
        let (name, column) = self.column(slot)?;
        let is_boolean = self.info.columns[column].is_boolean();
        is_boolean.then(|| self.or_other_kinds(column, &format!("{name} = {}", u8::from(value)), &["not in (0, 1)"]))
    }

    /// Comparisons of a column that all hold.
    fn range(&mut self, slot: usize, range: &[(Comparison, &Literal)]) -> Option<String> {
        let (name, column) = self.column(slot)?;
        let (mut numbers, mut texts) = (Vec::new(), Vec::new());
        let mut keeps_blobs = false;
        for (op, literal) in range {
            match (op, literal) {
                (Comparison::Ne, _) => {}
                (Comparison::Eq, Literal::Number(number)) => numbers.extend(self.equal(&name, number)),
                (Comparison::Ge | Comparison::Gt, Literal::Number(number)) => {
                    numbers.push(format!("{name} >= {}", self.bind(least(number))));
                }
                (Comparison::Le | Comparison::Lt, Literal::Number(number)) => {
                    numbers.push(format!("{name} <= {}", self.bind(greatest(number))));
                }
                (op, Literal::Text(text)) if self.compares_texts(column, text) => {
                    let text = self.bind(Value::Text(text.to_string()));
                    keeps_blobs |= !matches!(op, Comparison::Ge | Comparison::Gt);
                    texts.push(match op {
                        Comparison::Eq => format!("{name} = {text}"),
                        Comparison::Ge | Comparison::Gt => format!("{name} collate binary >= {text}"),
                        _ => format!("{name} collate binary <= {text}"),
                    });
                }
                _ => {}
            }
        }
        let numbers = joined(&numbers, " and ").filter(|_| self.compares_numbers(column));
        let numbers = numbers.map(|numbers| self.or_other_kinds(column, &numbers, self.no_numbers(column)));
        let others: &[&str] = if keeps_blobs { &["< ''", ">= x''"] } else { &["< ''"] };
        let texts = joined(&texts, " and ").map(|texts| self.or_other_kinds(column, &texts, others));
        joined(&numbers.into_iter().chain(texts).collect::<Vec<_>>(), " and ")
    }

    /// A column that is one of the constants.
    fn one_of(&mut self, slot: usize, list: &[Literal]) -> Option<String> {
        let (name, column) = self.column(slot)?;
        // A comparison with null is unknown, so null does not match.
        let list: Vec<_> = list.iter().filter(|literal| **literal != Literal::Null).collect();
        let is_of_numbers = list.iter().all(|literal| matches!(literal, Literal::Number(_)));
        let (mut values, mut parts) = (Vec::new(), Vec::new());
        for literal in list {
            match literal {
                Literal::Number(number) if is_of_numbers && self.compares_numbers(column) => match equals(number) {
                    Equals::Any(any) => values.extend(any),
                    Equals::Between(least, greatest) => parts.push(self.between(&name, least, greatest)),
                },
                Literal::Text(text) if self.compares_texts(column, text) => values.push(Value::Text(text.to_string())),
                _ => return None,
            }
        }
        parts.extend(self.any(&name, values));
        let others: &[&str] = if is_of_numbers { self.no_numbers(column) } else { &["< ''", ">= x''"] };
        Some(self.or_other_kinds(column, &joined(&parts, " or ")?, others))
    }

    /// What values of a column are that are sent as something else than numbers.
    fn no_numbers(&self, column: usize) -> &'static [&'static str] {
        if self.info.columns[column].is_boolean() { &[">= ''", "in (0, 1)"] } else { &[">= ''"] }
    }

    /// The condition, or that a value is of another kind. Row numbers are always numbers.
    fn or_other_kinds(&self, column: usize, condition: &str, others: &[&str]) -> String {
        if self.info.rowid == Some(column) {
            return format!("({condition})");
        }
        let name = quote(&self.info.columns[column].name);
        let mut all = format!("(({condition})");
        for other in others {
            all.extend([" or likelihood(", &name, " ", other, ", ", UNLIKELY, ")"]);
        }
        all + ")"
    }

    /// Whether a column equals a number.
    fn equal(&mut self, name: &str, number: &str) -> Option<String> {
        match equals(number) {
            Equals::Any(values) => self.any(name, values),
            Equals::Between(least, greatest) => Some(self.between(name, least, greatest)),
        }
    }

    /// Whether a column equals one of the values; `None` if there are none. SQLite takes a list as one term: thousands of
    /// terms with `or` between them would take longer than the whole table.
    fn any(&mut self, name: &str, values: Vec<Value>) -> Option<String> {
        let values: Vec<_> = values.into_iter().map(|value| self.bind(value)).collect();
        match &values[..] {
            [] => None,
            [value] => Some(format!("{name} = {value}")),
            _ => Some(format!("{name} in ({})", values.join(", "))),
        }
    }

    fn between(&mut self, name: &str, least: Value, greatest: Value) -> String {
        format!("{name} between {} and {}", self.bind(least), self.bind(greatest))
    }

    /// The column of a slot, if its values are sent as they are.
    fn column(&mut self, slot: usize) -> Option<(String, usize)> {
        let [Step::Key(name)] = self.paths.get(slot)?.steps() else { return None };
        let column = self.info.columns.iter().position(|column| *column.name == **name)?;
        if self.info.columns[column].is_json() {
            return None;
        }
        Some((quote(name), column))
    }

    /// Whether SQLite compares the numbers of a column with a number as numbers.
    fn compares_numbers(&self, column: usize) -> bool {
        self.info.columns[column].affinity != Affinity::Text
    }

    /// Whether SQLite compares the texts of a column with this text as texts.
    fn compares_texts(&self, column: usize, text: &str) -> bool {
        // A row number is not a text.
        if self.info.rowid == Some(column) {
            return false;
        }
        let becomes_a_number = match self.info.columns[column].affinity {
            Affinity::None | Affinity::Text => false,
            Affinity::Numeric | Affinity::Integer | Affinity::Real => reads_as_number(text),
        };
        self.is_utf8 && !becomes_a_number
    }

    fn bind(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("?{}", self.values.len())
    }
}

/// The parts of a conjunction, those of conjunctions within it too.
fn flat(parts: &[Predicate]) -> Vec<&Predicate> {
    let each = parts.iter().flat_map(|part| match part {
        Predicate::And(parts) => flat(parts),
        other => vec![other],
    });
    each.collect()
}

fn joined(parts: &[String], with: &str) -> Option<String> {
    match parts {
        [] => None,
        [part] => Some(part.clone()),
        _ => Some(format!("({})", parts.join(with))),
    }
}

/// The stored values that may equal a number.
enum Equals {
    Any(Vec<Value>),
    Between(Value, Value),
}

fn equals(number: &str) -> Equals {
    if let Ok(integer) = number.parse() {
        // An integer, or the double that is written like it.
        let (integer, double) = (Value::Integer(integer), of_double(double(number)));
        return Equals::Any(if integer == double { vec![integer] } else { vec![integer, double] });
    }
    let (least, greatest) = (least(number), greatest(number));
    if least == greatest { Equals::Any(vec![least]) } else { Equals::Between(least, greatest) }
}

/// A number that no stored value which equals or exceeds `number` is below.
///
/// A double is sent as the shortest decimal that denotes it, which is what the predicate compares. Rounding keeps the
/// order, so the double of a decimal that is at least `number` is at least the double of `number`. Integers beyond 2^53 are
/// not all doubles; one may be less than the double of `number`, but not less than the double before that.
fn least(number: &str) -> Value {
    bound(number, f64::next_down)
}

/// A number that no stored value which `number` equals or exceeds is above.
fn greatest(number: &str) -> Value {
    bound(number, f64::next_up)
}

fn bound(number: &str, beyond: fn(f64) -> f64) -> Value {
    let double = double(number);
    if double.abs() < EXACT_MAX { of_double(double) } else { Value::Real(beyond(double)) }
}

/// A double; as an integer if it is a small one, because SQLite compares these faster.
#[expect(clippy::cast_possible_truncation, reason = "it has no fraction and is small")]
fn of_double(double: f64) -> Value {
    if double.abs() < EXACT_MAX && double.fract() == 0.0 { Value::Integer(double as i64) } else { Value::Real(double) }
}

fn double(number: &str) -> f64 {
    number.parse().expect("a number of JSON is one of Rust")
}
