//! Window functions.

use super::eval::{count, group_key, order};
use super::query::{Frame, Function, Path, Window};
use super::rows::Cell;
use super::value::Value;
use std::collections::BTreeMap;
use std::ops::Range;

impl Window {
    /// A cell for each row, in the order of the rows.
    pub(super) fn cells(&self, rows: &[&Value], all: &[Value]) -> Vec<Cell> {
        let mut partitions: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (at, row) in rows.iter().enumerate() {
            partitions.entry(group_key(row, &self.partition)).or_default().push(at);
        }
        let mut cells = vec![Cell::Null; rows.len()];
        for mut places in partitions.into_values() {
            places.sort_by(|left, right| order(&self.order, rows[*left], rows[*right]));
            let partition: Vec<_> = places.iter().map(|at| rows[*at]).collect();
            for (at, place) in places.into_iter().enumerate() {
                cells[place] = self.cell(&partition, at, all);
            }
        }
        cells
    }

    /// The cell of a row of a sorted partition.
    fn cell(&self, partition: &[&Value], at: usize, all: &[Value]) -> Cell {
        let value = |row: Option<&&Value>, path: Path| Cell::group(row.and_then(|row| row.field(path)));
        let is_peer = |other: usize| order(&self.order, partition[other], partition[at]).is_eq();
        let first_peer = (0..=at).find(|other| is_peer(*other)).expect("the row itself");
        let end_of_peers = (at..partition.len()).find(|other| !is_peer(*other)).unwrap_or(partition.len());
        let frame = &partition[match self.frame {
            Some(frame) => frame.range(at, partition.len()),
            None if self.order.is_empty() => 0..partition.len(),
            None => 0..end_of_peers,
        }];
        match &self.function {
            Function::RowNumber => count(at + 1),
            Function::Rank => count(first_peer + 1),
            Function::DenseRank => {
                let is_new = |at: &usize| *at == 0 || order(&self.order, partition[at - 1], partition[*at]).is_ne();
                count((0..=at).filter(is_new).count())
            }
            Function::Lag(path, rows) => value(at.checked_sub(*rows).map(|at| &partition[at]), path),
            Function::Lead(path, rows) => value(partition.get(at + rows), path),
            Function::First(path) => value(frame.first(), path),
            Function::Last(path) => value(frame.last(), path),
            Function::Aggregate(aggregate) => aggregate.cell(frame, all),
        }
    }
}

impl Frame {
    fn range(self, at: usize, len: usize) -> Range<usize> {
        let start = self.before.map_or(0, |rows| at.saturating_sub(rows));
        start..self.after.map_or(len, |rows| len.min(at + rows + 1))
    }
}
