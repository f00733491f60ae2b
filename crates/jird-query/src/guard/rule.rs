//! Puts guarded calls into plans.

use super::Guard;
use super::call::Guarded;
use super::growth::{self, Growth};
use super::operators::OfSign;
use crate::base::bytes::is_wider_than;
use crate::base::error::Error;
use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, DFSchemaRef};
use datafusion::error::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, ScalarUDF};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;

/// The widest type: values of types with a fixed width take it also where they are null.
const WIDTH_BYTES: usize = 1 << 16;

/// Aggregates whose result is as large as all that they read.
const COLLECTORS: [&str; 4] = ["array_agg", "json_histogram", "json_mode", "string_agg"];

/// Makes each call in a plan a guarded one, if its result can be larger than its arguments or if it can take long.
#[derive(Debug)]
pub(crate) struct GuardCalls(pub(crate) Guard);

impl AnalyzerRule for GuardCalls {
    fn name(&self) -> &'static str {
        "guard_calls"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|plan| self.plan(plan)).data()
    }
}

impl GuardCalls {
    fn plan(&self, plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        let schema = seen(&plan);
        let names = NamePreserver::new(&plan);
        let changed = plan.map_expressions(|expr| {
            let name = names.save(&expr);
            let guarded = expr.transform_up(|expr| self.expr(expr, &schema))?;
            Ok(guarded.update_data(|expr| name.restore(expr)))
        })?;
        if changed.transformed { changed.map_data(LogicalPlan::recompute_schema) } else { Ok(changed) }
    }

    fn expr(&self, expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
        if let Expr::Cast(_) | Expr::TryCast(_) | Expr::ScalarFunction(_) = &expr
            && let Ok(data_type) = expr.get_type(schema)
            && is_wider_than(&data_type, WIDTH_BYTES)
        {
            return Err(Error::sql(format!("a type has values of more than {WIDTH_BYTES} bytes each")).into());
        }
        if let Expr::WindowFunction(window) = &expr
            && self.0.memory.is_limited()
            && COLLECTORS.contains(&window.fun.name())
        {
            let message = format!(
                "`{}` over a window is not for queries of others: each row may have all rows",
                window.fun.name()
            );
            return Err(Error::sql(message).into());
        }
        if let Expr::ScalarFunction(call) = &expr {
            return Ok(match self.growth(call) {
                Growth::Fixed => Transformed::no(expr),
                // Such as conditions, which the scan looks for.
                Growth::Unknown if has_width(&expr, schema) => Transformed::no(expr),
                growth => self.call(Arc::clone(&call.func), growth, call.args.clone()),
            });
        }
        if matches!(expr, Expr::ScalarSubquery(_)) && !self.0.memory.is_limited() {
            return Ok(Transformed::no(expr));
        }
        Ok(match OfSign::of(&expr, schema)? {
            Some((sign, operands)) => {
                let growth = if sign.is_slow() { Growth::Slow } else { Growth::Times(1) };
                self.call(Arc::new(ScalarUDF::from(sign)), growth, operands)
            }
            None => Transformed::no(expr),
        })
    }

    fn call(&self, function: Arc<ScalarUDF>, growth: Growth, args: Vec<Expr>) -> Transformed<Expr> {
        let guarded = ScalarUDF::from(Guarded::new(function, growth, self.0.clone()));
        Transformed::yes(Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(guarded), args)))
    }

    /// How large the result can be. Patterns that are constants are compiled once, and DataFusion may make something
    /// simpler of them: only in an untrusted query can they be made to take long.
    fn growth(&self, call: &ScalarFunction) -> Growth {
        if call.func.inner().downcast_ref::<Guarded>().is_some() {
            return Growth::Fixed;
        }
        let growth = growth::of(call.func.name());
        let has_constant = matches!(call.args.get(1), Some(Expr::Literal(..)));
        let is_pattern = call.func.name().starts_with("regexp_");
        if growth == Growth::Slow && is_pattern && has_constant && !self.0.memory.is_limited() {
            return Growth::Fixed;
        }
        growth
    }
}

/// Whether the values of an expression have a fixed width.
fn has_width(expr: &Expr, schema: &DFSchema) -> bool {
    expr.get_type(schema).is_ok_and(|data_type| data_type.is_primitive() || data_type == DataType::Boolean)
}

/// The columns that the expressions of a plan may name.
fn seen(plan: &LogicalPlan) -> DFSchemaRef {
    let mut schema = DFSchema::empty();
    for input in plan.inputs() {
        schema.merge(input.schema());
    }
    if let LogicalPlan::TableScan(scan) = plan {
        schema.merge(&scan.projected_schema);
    }
    Arc::new(schema)
}
