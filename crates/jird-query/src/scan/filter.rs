//! What a scan makes of its filter: a part that the engine decides while it reads records, a part that depends on where they
//! are from, and a part that rules out whole files.

use super::shared::{TableScan, VirtualColumn};
use crate::sql::each_slot;
use jird::record::Predicate;

/// A filter in parts that all have to hold, by what they need.
#[derive(Default)]
pub(super) struct FilterParts {
    /// What a record decides.
    pub(super) records: Option<Predicate>,
    /// What depends on where the record is from.
    pub(super) origins: Option<Predicate>,
    /// Of those, the ones that the folders of a file decide.
    pub(super) folders: Vec<Predicate>,
}

impl FilterParts {
    /// The parts of a filter. The slots are columns of the table.
    pub(super) fn of(filter: Option<&Predicate>, shared: &TableScan) -> Self {
        let mut parts = Self::default();
        let (mut records, mut origins) = (Vec::new(), Vec::new());
        for part in filter.into_iter().flat_map(conjuncts) {
            let told = |column: &usize| shared.columns[*column].told;
            let columns = columns(part);
            if columns.iter().all(|column| told(column).is_none()) {
                records.push(part.clone());
                continue;
            }
            if columns.iter().all(|column| told(column) == Some(VirtualColumn::Folder)) {
                parts.folders.push(part.clone());
            }
            origins.push(part.clone());
        }
        (parts.records, parts.origins) = (all(records), all(origins));
        parts
    }
}

/// The conditions that all have to hold for this one.
fn conjuncts(predicate: &Predicate) -> Vec<&Predicate> {
    match predicate {
        Predicate::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        one => vec![one],
    }
}

/// The condition that all of these hold, if there are any.
fn all(mut parts: Vec<Predicate>) -> Option<Predicate> {
    if parts.len() > 1 { Some(Predicate::And(parts)) } else { parts.pop() }
}

/// The slots of a condition, each once.
pub(super) fn columns(predicate: &Predicate) -> Vec<usize> {
    let mut columns = Vec::new();
    each_slot(predicate, &mut |column| {
        if !columns.contains(&column) {
            columns.push(column);
        }
    });
    columns
}
