//! The rows of a query.

use super::decimal::Decimal;
use super::query::{Aggregate, Item, Order, Path, Query};
use super::rows::Cell;
use super::value::{Json, Value};
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

/// A query is refused: it computes with a column of another type.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused;

/// What all values of a field are, nulls aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Nothing,
    Bool,
    Integer,
    Float,
    Text,
    Mixed,
}

impl Query {
    /// Whether the rows have an order.
    pub(crate) fn is_ordered(&self) -> bool {
        !self.order.is_empty() || !self.distinct && !self.is_grouped()
    }

    fn is_grouped(&self) -> bool {
        !self.group.is_empty() || self.items.iter().any(|item| matches!(item, Item::Aggregate(_)))
    }

    /// The rows. Types are those of all records, also of those that the condition turns away.
    pub(crate) fn of(&self, records: &[Value]) -> Result<Vec<Vec<Cell>>, Refused> {
        self.check_types(records)?;
        let is_kept =
            |record: &&Value| self.condition.as_ref().is_none_or(|condition| condition.of(record) == Some(true));
        let kept = records.iter().filter(is_kept);
        let fields: Vec<Path> = self.items.iter().filter_map(Item::field).collect();
        let mut groups: Vec<Vec<&Value>> = if self.is_grouped() {
            grouped(kept, &self.group)
        } else if self.distinct {
            grouped(kept, &fields)
        } else {
            kept.map(|record| vec![record]).collect()
        };
        groups.sort_by(|left, right| match (left.first(), right.first()) {
            (Some(left), Some(right)) => order(&self.order, left, right),
            _ => Ordering::Equal,
        });
        let as_groups = self.distinct || self.is_grouped();
        let row = |group: Vec<&Value>| self.items.iter().map(|item| item.cell(&group, records, as_groups)).collect();
        Ok(groups.into_iter().map(row).skip(self.offset).take(self.limit.unwrap_or(usize::MAX)).collect())
    }

    fn check_types(&self, records: &[Value]) -> Result<(), Refused> {
        let mut computed = self.items.iter().filter_map(|item| match item {
            Item::Aggregate(Aggregate::Sum(path) | Aggregate::Avg(path)) => Some(*path),
            _ => None,
        });
        let is_other = |path| matches!(type_of(path, records), Type::Text | Type::Bool);
        if computed.any(is_other) { Err(Refused) } else { Ok(()) }
    }
}

/// Records that have the same in all these fields; all of them in one group if there are none.
fn grouped<'r>(records: impl Iterator<Item = &'r Value>, fields: &[Path]) -> Vec<Vec<&'r Value>> {
    let mut groups: Vec<Vec<&Value>> = Vec::new();
    let mut known = HashMap::new();
    if fields.is_empty() {
        known.insert(Vec::new(), 0);
        groups.push(Vec::new());
    }
    for record in records {
        let value = |path: &Path| record.field(path).filter(|value| !value.is_null()).map(Value::group);
        let at = *known.entry(fields.iter().map(value).collect::<Vec<_>>()).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(record);
    }
    groups
}

/// Nulls are last, or first where the order descends, unless it is said where they are.
fn order(keys: &[Order], left: &Value, right: &Value) -> Ordering {
    let one = |key: &Order| {
        let value = |record: &Value| record.field(key.path).filter(|value| !value.is_null()).cloned();
        let nulls_first = key.nulls_first.unwrap_or(key.descending);
        match (value(left), value(right)) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => {
                if nulls_first {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
            (Some(_), None) => {
                if nulls_first {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
            (Some(left), Some(right)) => {
                let order = left.cmp(&right);
                if key.descending { order.reverse() } else { order }
            }
        }
    };
    keys.iter().map(one).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn type_of(path: Path, records: &[Value]) -> Type {
    let values = records.iter().filter_map(|record| record.field(path)).filter(|value| !value.is_null());
    let values: Vec<_> = values.collect();
    let all = |is: &dyn Fn(&Value) -> bool| values.iter().all(|value| is(value));
    if values.is_empty() {
        Type::Nothing
    } else if all(&|value| value.kind() == "boolean") {
        Type::Bool
    } else if all(&|value| value.kind() == "string") {
        Type::Text
    } else if all(&is_integer) {
        if all(&|value| value.raw.trim_start_matches('-').len() <= 38) { Type::Integer } else { Type::Mixed }
    } else if all(&is_double) {
        Type::Float
    } else {
        Type::Mixed
    }
}

fn is_integer(value: &Value) -> bool {
    value.kind() == "number" && !value.raw.contains(['.', 'e', 'E'])
}

/// Whether nothing of a number is lost in an `f64`: an integer is exactly one, another number its shortest decimal.
fn is_double(value: &Value) -> bool {
    let (Json::Number(exact), Some(double)) = (&value.json, value.number()) else { return false };
    let written = if is_integer(value) { format!("{double:.0}") } else { format!("{double:e}") };
    Decimal::of(&written) == *exact
}

impl Item {
    fn field(&self) -> Option<Path> {
        if let Self::Field(path) = self { Some(path) } else { None }
    }

    /// The column's value for a group of records: a single one, where there are no groups.
    fn cell(&self, group: &[&Value], records: &[Value], as_groups: bool) -> Cell {
        let field = |path: Path| group.first().and_then(|record| record.field(path));
        match self {
            Self::Field(path) if as_groups => Cell::group(field(path)),
            Self::Field(path) => field(path).map_or(Cell::Missing, |value| Cell::Raw(value.raw.clone())),
            Self::Number(path) => field(path).and_then(Value::number).map_or(Cell::Null, Cell::Near),
            Self::Text(path) => {
                field(path).and_then(Value::text).map_or(Cell::Null, |text| Cell::Text(text.to_owned()))
            }
            Self::Type(path) => field(path).map_or(Cell::Null, |value| Cell::Text(value.kind().to_owned())),
            Self::Condition(condition) => condition.of(group[0]).map_or(Cell::Null, Cell::Bool),
            Self::Aggregate(aggregate) => aggregate.cell(group, records),
        }
    }
}

impl Aggregate {
    fn cell(&self, group: &[&Value], records: &[Value]) -> Cell {
        let values =
            |path: Path| group.iter().filter_map(move |record| record.field(path)).filter(|value| !value.is_null());
        let numbers = |path: Path| values(path).filter_map(Value::number).collect::<Vec<_>>();
        let exact_numbers = |path: Path| {
            values(path).filter_map(|value| match &value.json {
                Json::Number(number) => Some(number),
                _ => None,
            })
        };
        match self {
            Self::CountAll => count(group.len()),
            Self::Count(path) => count(values(path).count()),
            Self::CountDistinct(path) => count(values(path).map(Value::group).collect::<BTreeSet<_>>().len()),
            Self::Sum(path) if exact_numbers(path).next().is_none() => Cell::Null,
            Self::Sum(path) => {
                let sum = Decimal::sum(exact_numbers(path));
                match type_of(path, records) {
                    Type::Float => near(&sum.text()),
                    _ => Cell::Exact(sum),
                }
            }
            Self::SumNumber(path) => match &numbers(path)[..] {
                [] => Cell::Null,
                numbers => Cell::Near(numbers.iter().sum()),
            },
            Self::Avg(path) => match exact_numbers(path).count() {
                0 => Cell::Null,
                #[expect(clippy::cast_precision_loss, reason = "there are few")]
                count => match near(&Decimal::sum(exact_numbers(path)).text()) {
                    Cell::Near(sum) => Cell::Near(sum / count as f64),
                    other => other,
                },
            },
            Self::Min(path) => Cell::group(values(path).min_by(|left, right| left.cmp(right))),
            Self::Max(path) => Cell::group(values(path).max_by(|left, right| left.cmp(right))),
        }
    }
}

fn count(count: usize) -> Cell {
    exact(&count.to_string())
}

/// The nearest double; null beyond all doubles.
fn near(text: &str) -> Cell {
    let number: f64 = text.parse().expect("a number");
    if number.is_finite() { Cell::Near(number) } else { Cell::Null }
}

fn exact(text: &str) -> Cell {
    Cell::Exact(Decimal::of(text))
}
