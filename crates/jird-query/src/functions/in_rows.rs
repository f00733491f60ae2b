//! Whether a row of values is one of the rows of a subquery: `(a, b) in (select c, d …)` and `a in (select …)` where the
//! answer is a value and may be unknown.
//!
//! The rows are a list of JSON arrays, each of the keys of one row. A null may be any value, so a row with nulls may be
//! equal to every row that has the same values elsewhere. Rows are therefore searched for by the values in the places
//! where neither side has a null. There is one set of rows for each combination of such places that occurs, so the time
//! is linear in both sides.

use super::predicate::as_json;
use crate::sql::IN_ROWS;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, ListArray, StringArray};
use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

/// The function: a list of rows, and the values of one row.
#[derive(Debug)]
pub(crate) struct InRows {
    signature: Signature,
    /// The rows of the subqueries that were asked for. Each subquery has one list for all batches.
    known: Mutex<Vec<(Arc<ListArray>, Arc<KnownRows>)>>,
}

impl InRows {
    pub(crate) fn new() -> Self {
        Self { signature: Signature::variadic_any(Volatility::Immutable), known: Mutex::default() }
    }

    /// The rows of a list that all rows of a batch share.
    fn rows_of(&self, list: &Arc<ListArray>, width: usize) -> Arc<KnownRows> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, rows)) = known.iter().find(|(other, _)| Arc::ptr_eq(other, list)) {
            return Arc::clone(rows);
        }
        let rows = Arc::new(KnownRows::new(list.is_valid(0).then(|| list.value(0)).as_ref(), width));
        known.push((Arc::clone(list), Arc::clone(&rows)));
        rows
    }
}

impl PartialEq for InRows {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for InRows {}

impl Hash for InRows {
    fn hash<H: Hasher>(&self, state: &mut H) {
        IN_ROWS.hash(state);
    }
}

impl ScalarUDFImpl for InRows {
    fn name(&self) -> &'static str {
        IN_ROWS
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let count = args.number_rows;
        let Some((lists, values)) = args.args.split_first() else {
            return Err(DataFusionError::Internal(format!("{IN_ROWS} without a list")));
        };
        let values = values.iter().map(|value| as_json(&value.to_array(count)?)).collect::<Result<Vec<_>>>()?;
        let mut row = Row::default();
        let mut decided = |rows: &KnownRows, at: usize| {
            row.fill(&values, at);
            rows.have(&row)
        };
        let decided: BooleanArray = match lists {
            ColumnarValue::Scalar(ScalarValue::List(list)) => {
                let rows = self.rows_of(list, values.len());
                (0..count).map(|at| decided(&rows, at)).collect()
            }
            // Without any row, the list has no type.
            ColumnarValue::Scalar(_) => {
                let rows = KnownRows::new(None, values.len());
                (0..count).map(|at| decided(&rows, at)).collect()
            }
            // Of a subquery that depends on the row.
            ColumnarValue::Array(lists) => {
                let lists = lists.as_list::<i32>();
                let list = |at: usize| lists.is_valid(at).then(|| lists.value(at));
                (0..count).map(|at| decided(&KnownRows::new(list(at).as_ref(), values.len()), at)).collect()
            }
        };
        Ok(ColumnarValue::Array(Arc::new(decided)))
    }
}

/// A row that is searched for: its values, and the places of its nulls, one bit each.
#[derive(Debug, Default)]
struct Row<'a> {
    values: Vec<Option<&'a str>>,
    nulls: u64,
}

impl<'a> Row<'a> {
    fn fill(&mut self, columns: &'a [StringArray], at: usize) {
        self.values.clear();
        self.values.extend(columns.iter().map(|column| column.is_valid(at).then(|| column.value(at))));
        self.nulls = nulls_of(&self.values);
    }
}

fn nulls_of(values: &[Option<&str>]) -> u64 {
    values.iter().enumerate().fold(0, |nulls, (place, value)| nulls | u64::from(value.is_none()) << place)
}

/// The values in all places but these. No key of a value has a line feed in it.
fn key_without(values: &[Option<&str>], places: u64, key: &mut String) {
    key.clear();
    for (place, value) in values.iter().enumerate() {
        if places >> place & 1 == 0 {
            key.push_str(value.unwrap_or_default());
            key.push('\n');
        }
    }
}

/// The rows of a subquery.
#[derive(Debug)]
struct KnownRows {
    texts: StringArray,
    width: usize,
    /// The rows by the places of their nulls.
    groups: Vec<(u64, Vec<usize>)>,
    /// Their values without some places, by group and places.
    sets: Mutex<HashMap<(usize, u64), RowSet>>,
}

/// Rows, each as one text.
type RowSet = Arc<HashSet<String>>;

impl KnownRows {
    /// The rows of a list of JSON arrays; none if there is no list.
    fn new(list: Option<&ArrayRef>, width: usize) -> Self {
        let texts = list.and_then(|list| list.as_string_opt::<i32>()).cloned();
        let texts = texts.unwrap_or_else(|| StringArray::from(Vec::<&str>::new()));
        let mut groups: Vec<(u64, Vec<usize>)> = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            let mut nulls = 0;
            with_values(text.unwrap_or_default(), width, |values| nulls = nulls_of(values));
            match groups.iter_mut().find(|(other, _)| *other == nulls) {
                Some((_, rows)) => rows.push(at),
                None => groups.push((nulls, vec![at])),
            }
        }
        Self { texts, width, groups, sets: Mutex::default() }
    }

    /// Whether one of the rows is equal to `row`. `None` if that depends on what a null stands for.
    fn have(&self, row: &Row<'_>) -> Option<bool> {
        let (mut key, mut answer) = (String::new(), Some(false));
        for (group, (nulls, _)) in self.groups.iter().enumerate() {
            let unknown = nulls | row.nulls;
            key_without(&row.values, unknown, &mut key);
            if self.set(group, unknown).contains(&key) {
                if unknown == 0 {
                    return Some(true);
                }
                answer = None;
            }
        }
        answer
    }

    fn set(&self, group: usize, places: u64) -> Arc<HashSet<String>> {
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            let mut set = HashSet::new();
            let mut key = String::new();
            for &at in &self.groups[group].1 {
                with_values(self.texts.value(at), self.width, |values| {
                    key_without(values, places, &mut key);
                    if !set.contains(&key) {
                        set.insert(key.clone());
                    }
                });
            }
            Arc::new(set)
        };
        Arc::clone(sets.entry((group, places)).or_insert_with(make))
    }
}

/// The values of a row that is written as a JSON array.
fn with_values(text: &str, width: usize, then: impl FnOnce(&[Option<&str>])) {
    let Ok(document) = jird::parse(text.as_bytes()) else { return then(&vec![None; width]) };
    let raw = |value: jird::Value<'_>| match value.kind() {
        jird::Kind::Null => None,
        _ => Some(String::from_utf8_lossy(value.raw()).into_owned()),
    };
    let values: Vec<_> = document.root().elements().map(raw).collect();
    then(&values.iter().map(Option::as_deref).collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `row in rows`, by trying all pairs.
    fn naive(rows: &[Vec<Option<&str>>], row: &[Option<&str>]) -> Option<bool> {
        let equal = |other: &Vec<Option<&str>>| {
            let pairs = || other.iter().zip(row);
            if pairs().any(|(one, two)| one.is_some() && two.is_some() && one != two) {
                return Some(false);
            }
            pairs().all(|(one, two)| one.is_some() && two.is_some()).then_some(true)
        };
        let answers: Vec<_> = rows.iter().map(equal).collect();
        if answers.contains(&Some(true)) {
            return Some(true);
        }
        if answers.contains(&None) { None } else { Some(false) }
    }

    #[test]
    fn rows_are_found_as_all_pairs_find_them() {
        let values = [None, Some("1"), Some("\"x\""), Some("[1,2]")];
        let width = 3;
        let all: Vec<Vec<_>> = (0..values.len().pow(3))
            .map(|number| (0..width).map(|place| values[number / values.len().pow(place) % values.len()]).collect())
            .collect();
        for step in 1..40 {
            for start in 0..step {
                let rows: Vec<_> = all.iter().skip(start).step_by(step).cloned().collect();
                let text = |row: &Vec<Option<&str>>| {
                    format!("[{}]", row.iter().map(|value| value.unwrap_or("null")).collect::<Vec<_>>().join(","))
                };
                let list: ArrayRef = Arc::new(StringArray::from(rows.iter().map(text).collect::<Vec<_>>()));
                let found = KnownRows::new(Some(&list), width as usize);
                for row in &all {
                    let sought = Row { values: row.clone(), nulls: nulls_of(row) };
                    assert_eq!(found.have(&sought), naive(&rows, row), "{row:?} in {rows:?}");
                }
            }
        }
        let none = KnownRows::new(None, 1);
        assert_eq!(none.have(&Row { values: vec![None], nulls: 1 }), Some(false));
    }
}
