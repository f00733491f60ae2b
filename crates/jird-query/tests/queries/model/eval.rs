//! The rows of a query.

use super::decimal::Decimal;
use super::query::{Aggregate, Condition, Function, Item, Order, Path, Query, Step, Union, Window};
use super::rows::Cell;
use super::tables::Scope;
use super::value::{Json, Value};
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};

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
    /// Whether the rows have an order: one that the query asks for, or that of the records.
    pub(crate) fn is_ordered(&self) -> bool {
        let is_of_one_table = self.from.is_none() && !self.has_subquery();
        let is_window = |item: &Item| matches!(item, Item::Window(_) | Item::Query(_));
        let keeps_order = is_of_one_table && !self.items.iter().any(is_window) && !self.distinct && !self.is_grouped();
        self.union.is_none() && (!self.order.is_empty() || keeps_order)
    }

    fn has_subquery(&self) -> bool {
        let of_item = |item: &Item| matches!(item, Item::Condition(condition) if condition.has_query());
        self.condition.as_ref().is_some_and(Condition::has_query) || self.items.iter().any(of_item)
    }

    fn is_grouped(&self) -> bool {
        !self.group.is_empty() || self.items.iter().any(|item| matches!(item, Item::Aggregate(_)))
    }

    /// The rows. Types are those of all records, also of those that the condition turns away.
    pub(crate) fn of(&self, scope: &Scope<'_>) -> Result<Vec<Vec<Cell>>, Refused> {
        let with = self.with.iter().map(|query| query.table(scope)).collect::<Result<Vec<_>, _>>()?;
        let scope = &scope.with(&with);
        let selected = self.selected(scope)?;
        self.check_types(&selected.all, scope)?;
        let is_kept =
            |row: &&Value| self.condition.as_ref().is_none_or(|condition| condition.of(row, scope) == Some(true));
        let kept: Vec<&Value> = selected.rows.iter().filter(is_kept).collect();
        let fields: Vec<Path> = self.items.iter().filter_map(Item::field).collect();
        let groups: Vec<Vec<&Value>> = if self.is_grouped() {
            grouped(&kept, &self.group)
        } else if self.distinct {
            grouped(&kept, &fields)
        } else {
            kept.iter().map(|row| vec![*row]).collect()
        };
        let columns = Columns {
            all: &selected.all,
            scope,
            fields: if self.distinct || self.is_grouped() {
                Fields::Groups
            } else if self.is_of_records() {
                Fields::Records
            } else {
                Fields::Computed
            },
        };
        let mut rows: Vec<(Option<&Value>, Vec<Cell>)> =
            groups.iter().map(|group| (group.first().copied(), Vec::new())).collect();
        for item in &self.items {
            let cells = match item {
                Item::Window(window) => window.cells(&kept, &selected.all),
                item => groups.iter().map(|group| columns.cell(item, group)).collect(),
            };
            rows.iter_mut().zip(cells).for_each(|((_, row), cell)| row.push(cell));
        }
        // Equal rows keep the order of the input, or have the opposite one.
        if self.order.first().is_some_and(|key| key.descending) {
            rows.reverse();
        }
        rows.sort_by(|(left, _), (right, _)| match (left, right) {
            (Some(left), Some(right)) => order(&self.order, left, right),
            _ => Ordering::Equal,
        });
        let rows = rows.into_iter().map(|(_, row)| row).skip(self.offset).take(self.limit.unwrap_or(usize::MAX));
        match &self.union {
            None => Ok(rows.collect()),
            Some(Union { all: true, other }) => Ok(rows.chain(other.of(scope)?).collect()),
            Some(Union { all: false, other }) => Ok(distinct(rows.chain(other.of(scope)?))),
        }
    }

    fn check_types(&self, all: &[Value], scope: &Scope<'_>) -> Result<(), Refused> {
        let mut computed = self.items.iter().filter_map(|item| match item {
            Item::Aggregate(aggregate) | Item::Window(Window { function: Function::Aggregate(aggregate), .. }) => {
                aggregate.computes_with()
            }
            _ => None,
        });
        if computed.any(|path| matches!(type_of(path, all), Type::Text | Type::Bool)) {
            return Err(Refused);
        }
        let mut compared = Vec::new();
        self.condition.iter().for_each(|condition| condition.compared(&mut compared));
        for (path, query) in compared {
            let kinds = (type_of(path, all).kind(), query.only_type(scope)?.kind());
            if let (Some(left), Some(right)) = kinds
                && left != right
            {
                return Err(Refused);
            }
        }
        Ok(())
    }

    /// The type of the only column.
    fn only_type(&self, scope: &Scope<'_>) -> Result<Type, Refused> {
        Ok(type_of(&[Step::Key("c0")], &self.table(scope)?.all))
    }
}

/// The distinct rows.
fn distinct(rows: impl Iterator<Item = Vec<Cell>>) -> Vec<Vec<Cell>> {
    let mut known = HashSet::new();
    let grouped = rows.map(|row| row.iter().map(|cell| Cell::group(cell.value().as_ref())).collect::<Vec<_>>());
    grouped
        .filter(|row| known.insert(row.iter().map(|cell| cell.value().map(|v| v.group())).collect::<Vec<_>>()))
        .collect()
}

/// Records that have the same in all these fields; all of them in one group if there are none.
fn grouped<'r>(records: &[&'r Value], fields: &[Path]) -> Vec<Vec<&'r Value>> {
    let mut groups: Vec<Vec<&Value>> = Vec::new();
    let mut known = HashMap::new();
    if fields.is_empty() {
        known.insert(Vec::new(), 0);
        groups.push(Vec::new());
    }
    for record in records {
        let at = *known.entry(group_key(record, fields)).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(record);
    }
    groups
}

/// What records of one group share.
pub(super) fn group_key(record: &Value, fields: &[Path]) -> Vec<Option<String>> {
    let value = |path: &Path| record.field(path).filter(|value| !value.is_null()).map(Value::group);
    fields.iter().map(value).collect()
}

/// Nulls are last, or first where the order descends, unless the query says where they are.
pub(super) fn order(keys: &[Order], left: &Value, right: &Value) -> Ordering {
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

impl Type {
    /// The kind of all values, if it is one.
    fn kind(self) -> Option<&'static str> {
        match self {
            Self::Mixed => None,
            Self::Bool => Some("boolean"),
            Self::Nothing | Self::Integer | Self::Float => Some("number"),
            Self::Text => Some("string"),
        }
    }
}

impl Item {
    fn field(&self) -> Option<Path> {
        if let Self::Field(path) = self { Some(path) } else { None }
    }
}

/// How fields become columns.
#[derive(Clone, Copy)]
enum Fields {
    /// As they stand in the records.
    Records,
    /// As values of a table that is itself a query: some value that is equal.
    Computed,
    /// As the values that the records of a group share.
    Groups,
}

/// What the columns of a query are made of.
struct Columns<'c> {
    all: &'c [Value],
    scope: &'c Scope<'c>,
    fields: Fields,
}

impl Columns<'_> {
    /// A column's value for a group of rows: a single one, where there are no groups.
    fn cell(&self, item: &Item, group: &[&Value]) -> Cell {
        let field = |path: Path| group.first().and_then(|record| record.field(path));
        match item {
            Item::Field(path) => match (self.fields, field(path)) {
                (Fields::Groups, value) => Cell::group(value),
                (Fields::Records, Some(value)) => Cell::Raw(value.clone()),
                (Fields::Records, None) => Cell::Missing,
                (Fields::Computed, Some(value)) if !value.is_null() => Cell::group(Some(value)),
                (Fields::Computed, _) => Cell::Nothing,
            },
            Item::Number(path) => field(path).and_then(Value::number).map_or(Cell::Null, Cell::Near),
            Item::Text(path) => {
                field(path).and_then(Value::text).map_or(Cell::Null, |text| Cell::Text(text.to_owned()))
            }
            Item::Type(path) => field(path).map_or(Cell::Null, |value| Cell::Text(value.kind().to_owned())),
            Item::Coalesce(paths) => {
                Cell::group(paths.iter().filter_map(|path| field(path)).find(|value| !value.is_null()))
            }
            Item::Case(condition, path, other) => {
                Cell::group(field(if condition.of(group[0], self.scope) == Some(true) { path } else { other }))
            }
            Item::Condition(condition) => condition.of(group[0], self.scope).map_or(Cell::Null, Cell::Bool),
            Item::Aggregate(aggregate) => aggregate.cell(group, self.all),
            Item::Query(query) => query.only_cell(&self.scope.inside(group[0])),
            Item::Window(_) => unreachable!("a window needs all rows"),
        }
    }
}

impl Query {
    /// The value of a query with one row and one column, with which nothing is computed that could be refused.
    pub(super) fn only_cell(&self, scope: &Scope<'_>) -> Cell {
        let mut rows = self.of(scope).expect("it computes with numbers only");
        rows.pop().and_then(|mut row| row.pop()).unwrap_or(Cell::Null)
    }
}

impl Aggregate {
    /// The field that must be of numbers.
    fn computes_with(&self) -> Option<Path> {
        if let Self::Sum(path) | Self::Avg(path) = self { Some(path) } else { None }
    }

    /// A value of the type that the column has for a row.
    pub(super) fn like(&self, row: &Value) -> Option<Value> {
        match self {
            Self::CountAll | Self::Count(_) | Self::CountDistinct(_) => Some(Value::number_of(Decimal::of("1"))),
            Self::Min(path) | Self::Max(path) => row.field(path).cloned(),
            Self::Sum(_) | Self::SumNumber(_) | Self::Avg(_) => unreachable!("no column of a table: {self}"),
        }
    }

    pub(super) fn cell(&self, group: &[&Value], records: &[Value]) -> Cell {
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

pub(super) fn count(count: usize) -> Cell {
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
