//! Hands conditions to the scans that they stand on.

use crate::plan::ordering::CheckOrders;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::filter_pushdown::FilterPushdown;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion_datasource::source::DataSourceExec;
use std::sync::Arc;

/// Hands each filter that stands on a scan to this scan.
///
/// DataFusion's own rule pushes filters on their way through joins and projections too, and knows columns by name there:
/// it put a condition on one table of a right join to the column of the same name of the other. Nothing is lost:
/// the optimizer of logical plans has brought every filter as far down as it may be before, by tables and names.
#[derive(Debug)]
pub(crate) struct FiltersIntoScans(FilterPushdown);

impl FiltersIntoScans {
    /// DataFusion's rules, with this one in place of its own, and its last check with a second look. Filters that it makes while a plan runs are for no scan of
    /// ours.
    pub(crate) fn rules() -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
        let own = FilterPushdown::new();
        let late = FilterPushdown::new_post_optimization();
        let rules = PhysicalOptimizer::new().rules.into_iter().filter(|rule| rule.name() != late.name());
        let replaced =
            |rule: Arc<dyn PhysicalOptimizerRule + Send + Sync>| -> Arc<dyn PhysicalOptimizerRule + Send + Sync> {
                match rule.name() {
                    name if name == own.name() => Arc::new(Self(FilterPushdown::new())),
                    name if name == CheckOrders::replaced() => Arc::new(CheckOrders::new()),
                    _ => rule,
                }
            };
        rules.map(replaced).collect()
    }
}

impl PhysicalOptimizerRule for FiltersIntoScans {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let stands_on_scan = |node: &Arc<dyn ExecutionPlan>| {
            let filter = node.downcast_ref::<FilterExec>();
            filter.is_some_and(|filter| filter.input().downcast_ref::<DataSourceExec>().is_some())
        };
        plan.transform_down(|node| {
            if !stands_on_scan(&node) {
                return Ok(Transformed::no(node));
            }
            Ok(Transformed::new(self.0.optimize(node, config)?, true, TreeNodeRecursion::Jump))
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "filters_into_scans"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
