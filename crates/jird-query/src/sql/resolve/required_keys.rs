//! Finds the conditions that all records of a table must meet, at one place of a query. The keys of folders may decide
//! them, and then files are not read.

use super::resolver::Resolver;
use super::scope::Columns;
use crate::input::FolderCondition;
use crate::sql::base::syntax::{function_name, quoted};
use jird::record::{Field, Mismatches, Predicate};
use sqlparser::ast::{BinaryOperator, Expr};

impl Resolver<'_> {
    /// Notes what a rewritten `where` asks of the records of each table.
    pub(crate) fn require(&mut self, condition: &Expr) {
        let relations = self.scopes.last().map_or(&[][..], |scope| &scope.relations);
        let tables = relations.iter().filter_map(|relation| match relation.columns {
            Columns::Any(source) => Some((source, format!("{}.", quoted(&relation.alias)))),
            Columns::These(_) => None,
        });
        for (source, alias) in tables.collect::<Vec<_>>() {
            let mut required = Vec::new();
            let mut parts = vec![condition];
            while let Some(part) = parts.pop() {
                match part {
                    Expr::BinaryOp { left, op: BinaryOperator::And, right } => parts.extend([&**left, &**right]),
                    Expr::Nested(inner) => parts.push(inner),
                    Expr::Function(call) => required.extend(self.conditions_on(source, &alias, &function_name(call))),
                    _ => {}
                }
            }
            self.sources[source].required.push(required);
        }
    }

    /// The conditions that a call of this name decides, as far as they are on this table alone.
    fn conditions_on(&self, source: usize, alias: &str, name: &str) -> Vec<FolderCondition> {
        let Some(leaf) = self.leaves.iter().find(|leaf| leaf.name == name) else { return Vec::new() };
        // The table may be there twice, also in an outer query.
        let is_of = leaf.columns.iter().all(|name| name.starts_with(alias));
        let Some((_, paths)) = leaf.fields.as_ref().filter(|(of, _)| *of == source && is_of) else { return Vec::new() };
        let parts = match &leaf.predicate {
            Predicate::And(parts) => &parts[..],
            one => std::slice::from_ref(one),
        };
        // A row of an outer join may have nothing of the table. It must not meet the condition.
        let nothing = vec![Field::MISSING; paths.len()];
        let is_met = |part: &&Predicate| part.eval(&nothing, &mut Mismatches::default()) == Some(true);
        let condition = |part: &Predicate| {
            let mut used = Vec::new();
            each_slot(part, &mut |slot| used.push(slot));
            FolderCondition { predicate: part.clone(), slots: used, paths: paths.clone() }
        };
        parts.iter().filter(|part| !is_met(part)).map(condition).collect()
    }
}

/// Calls `visit` with every slot that a predicate uses.
pub(crate) fn each_slot(predicate: &Predicate, visit: &mut impl FnMut(usize)) {
    match predicate {
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().for_each(|part| each_slot(part, visit)),
        Predicate::Not(inner) => each_slot(inner, visit),
        Predicate::CompareSlots { left, right, .. } => {
            visit(*left);
            visit(*right);
        }
        Predicate::Compare { slot, .. }
        | Predicate::In { slot, .. }
        | Predicate::IsNull { slot }
        | Predicate::Like { slot, .. }
        | Predicate::Matches { slot, .. }
        | Predicate::Json { slot, .. }
        | Predicate::Truth { slot } => visit(*slot),
    }
}

/// The same predicate over other slots.
pub(crate) fn map_slots(predicate: &Predicate, map: &impl Fn(usize) -> usize) -> Predicate {
    let all = |parts: &[Predicate]| parts.iter().map(|part| map_slots(part, map)).collect();
    match predicate {
        Predicate::And(parts) => Predicate::And(all(parts)),
        Predicate::Or(parts) => Predicate::Or(all(parts)),
        Predicate::Not(inner) => Predicate::Not(map_slots(inner, map).into()),
        Predicate::Compare { slot, op, literal } => {
            Predicate::Compare { slot: map(*slot), op: *op, literal: literal.clone() }
        }
        Predicate::CompareSlots { left, op, right } => {
            Predicate::CompareSlots { left: map(*left), op: *op, right: map(*right) }
        }
        Predicate::In { slot, list } => Predicate::In { slot: map(*slot), list: list.clone() },
        Predicate::IsNull { slot } => Predicate::IsNull { slot: map(*slot) },
        Predicate::Like { slot, pattern } => Predicate::Like { slot: map(*slot), pattern: pattern.clone() },
        Predicate::Matches { slot, matcher } => Predicate::Matches { slot: map(*slot), matcher: matcher.clone() },
        Predicate::Json { slot, test } => Predicate::Json { slot: map(*slot), test: test.clone() },
        Predicate::Truth { slot } => Predicate::Truth { slot: map(*slot) },
    }
}
