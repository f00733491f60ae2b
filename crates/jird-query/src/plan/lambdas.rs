//! The numbers of the parameters of lambdas.
//!
//! In goes a plan, out comes the same plan. `DataFusion` 55 numbers the parameters after the columns of the input, and when
//! it makes one projection of two, numbers the columns again and the parameters not: they would be columns.

use crate::scan::has_lambda;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{LambdaExpr, LambdaVariable};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use std::sync::Arc;

/// Numbers the parameters of the lambdas in projections.
pub(crate) fn numbered(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let numbered = plan.transform_up(|node| {
        let Some(projection) = node.downcast_ref::<ProjectionExec>() else { return Ok(Transformed::no(node)) };
        if !projection.expr().iter().any(|projected| has_lambda(&projected.expr)) {
            return Ok(Transformed::no(node));
        }
        let columns = projection.input().schema().fields().len();
        let exprs = projection.expr().iter().map(|projected| {
            let expr = number(&projected.expr, &mut Vec::new(), columns)?;
            Ok(ProjectionExpr { expr, alias: projected.alias.clone() })
        });
        let exprs = exprs.collect::<Result<Vec<_>>>()?;
        Ok(Transformed::yes(Arc::new(ProjectionExec::try_new(exprs, Arc::clone(projection.input()))?)))
    })?;
    Ok(numbered.data)
}

/// Numbers the parameters in an expression. `around` are those of the lambdas around it; the innermost are the last.
fn number(expr: &Arc<dyn PhysicalExpr>, around: &mut Vec<String>, columns: usize) -> Result<Arc<dyn PhysicalExpr>> {
    if let Some(variable) = expr.downcast_ref::<LambdaVariable>() {
        let place = around
            .iter()
            .rposition(|parameter| parameter == variable.name())
            .map_or(variable.index(), |at| columns + at);
        return Ok(Arc::new(LambdaVariable::new(place, Arc::clone(variable.field()))));
    }
    let outer = around.len();
    if let Some(lambda) = expr.downcast_ref::<LambdaExpr>() {
        around.extend_from_slice(lambda.params());
    }
    let children = expr.children().into_iter().map(|child| number(child, around, columns)).collect::<Result<Vec<_>>>();
    around.truncate(outer);
    let children = children?;
    if children.is_empty() { Ok(Arc::clone(expr)) } else { Arc::clone(expr).with_new_children(children) }
}
