//! Decides which conditions the scan evaluates: calls of our predicates over columns of JSON text, and combinations of
//! them with `and`, `or` and `not`.

use crate::functions::PredicateUdf;
use crate::scan::shared::TableScan;
use crate::sql::map_slots;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, NotExpr};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use jird::record::Predicate;
use std::sync::Arc;

/// The predicate that a condition on fields of records, and on where they are from, stands for, with columns of the table as
/// slots. `None` for other conditions.
pub(super) fn predicate(expr: &Arc<dyn PhysicalExpr>, shared: &TableScan) -> Option<Predicate> {
    if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
        let make = match binary.op() {
            Operator::And => Predicate::And,
            Operator::Or => Predicate::Or,
            _ => return None,
        };
        return Some(make(vec![predicate(binary.left(), shared)?, predicate(binary.right(), shared)?]));
    }
    if let Some(not) = expr.downcast_ref::<NotExpr>() {
        return Some(Predicate::Not(predicate(not.arg(), shared)?.into()));
    }
    let call = expr.downcast_ref::<ScalarFunctionExpr>()?;
    let udf = call.fun().inner().downcast_ref::<PredicateUdf>()?;
    let columns = call.args().iter().map(|argument| {
        let column = argument.downcast_ref::<Column>()?.index();
        let spec = shared.columns.get(column)?;
        spec.is_decided().then_some(column)
    });
    let columns = columns.collect::<Option<Vec<_>>>()?;
    Some(map_slots(udf.predicate(), &|slot| columns[slot]))
}

/// The predicates in a condition, as they were written.
pub(super) fn texts(expr: &Arc<dyn PhysicalExpr>) -> Vec<String> {
    let call = expr.downcast_ref::<ScalarFunctionExpr>();
    match call.and_then(|call| call.fun().inner().downcast_ref::<PredicateUdf>()) {
        Some(udf) => vec![udf.text().to_owned()],
        None => expr.children().into_iter().flat_map(texts).collect(),
    }
}
