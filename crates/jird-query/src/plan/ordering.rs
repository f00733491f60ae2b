//! Checks that a plan has the orders that its nodes rely on.

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::sanity_checker::SanityCheckPlan;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use std::sync::Arc;

/// DataFusion's check, and a second look where it fails: DataFusion 55 takes the same `case` for two expressions if it was
/// made in two ways, so that a sort by it would not be in its order.
#[derive(Debug)]
pub(crate) struct CheckOrders(SanityCheckPlan);

impl CheckOrders {
    /// The name of DataFusion's rule, in whose place this one stands.
    pub(crate) fn replaced() -> &'static str {
        "SanityCheckPlan"
    }

    pub(crate) fn new() -> Self {
        Self(SanityCheckPlan::new())
    }
}

impl PhysicalOptimizerRule for CheckOrders {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        self.0.optimize(Arc::clone(&plan), config).or_else(|error| {
            let is_of_order = error.to_string().contains("does not satisfy order requirements");
            if is_of_order && has_orders(&plan)? { Ok(plan) } else { Err(error) }
        })
    }

    fn name(&self) -> &'static str {
        "check_orders"
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

/// Whether each node has its input in an order that it asks for, by what the orders say.
fn has_orders(plan: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    let mut has_all = true;
    plan.apply(|node| {
        for (child, wanted) in node.children().into_iter().zip(node.required_input_ordering()) {
            let Some(wanted) = wanted else { continue };
            let order: Vec<_> = child
                .output_ordering()
                .map(|order| order.iter().map(|key| (key.expr.to_string(), key.options)).collect())
                .unwrap_or_default();
            let (alternatives, _) = wanted.into_alternatives();
            has_all &= alternatives.iter().any(|wanted| {
                let wanted: Vec<_> = wanted.iter().collect();
                wanted.len() <= order.len()
                    && wanted.iter().zip(&order).all(|(wanted, (key, options))| {
                        wanted.expr.to_string() == *key && wanted.options.is_none_or(|wanted| wanted == *options)
                    })
            });
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(has_all)
}
