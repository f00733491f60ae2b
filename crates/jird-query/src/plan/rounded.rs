//! Casts to integers round to the nearest, as in `PostgreSQL` and `DuckDB`; DataFusion's cut.

use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::functions::math::round;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;

/// Rounds what is cast to an integer.
#[derive(Debug)]
pub(crate) struct RoundCasts;

impl AnalyzerRule for RoundCasts {
    fn name(&self) -> &'static str {
        "round_casts"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|plan| {
            let mut schema = DFSchema::empty();
            plan.inputs().into_iter().for_each(|input| schema.merge(input.schema()));
            let names = NamePreserver::new(&plan);
            plan.map_expressions(|expr| {
                let name = names.save(&expr);
                let rounded = expr.transform_up(|expr| Ok(rounded(expr, &schema)))?;
                Ok(rounded.update_data(|expr| name.restore(expr)))
            })
        })
        .data()
    }
}

fn rounded(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let has_fraction = |of: &Expr| {
        of.get_type(schema).is_ok_and(|kind| match kind {
            DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => scale > 0,
            kind => kind.is_floating(),
        })
    };
    match expr {
        Expr::Cast(mut cast) if cast.field.data_type().is_integer() && has_fraction(&cast.expr) => {
            cast.expr = Box::new(round().call(vec![*cast.expr]));
            Transformed::yes(Expr::Cast(cast))
        }
        Expr::TryCast(mut cast) if cast.field.data_type().is_integer() && has_fraction(&cast.expr) => {
            cast.expr = Box::new(round().call(vec![*cast.expr]));
            Transformed::yes(Expr::TryCast(cast))
        }
        other => Transformed::no(other),
    }
}
