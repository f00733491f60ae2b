//! Plans that take more time and less memory.

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::sorts::sort::SortExec;
use std::sync::Arc;

/// The same plan, in which a sort whose first rows are wanted sorts all of them: DataFusion keeps the first rows in memory
/// then, and puts none of them aside.
pub(crate) fn sparing(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let whole = |node: Arc<dyn ExecutionPlan>| {
        let Some((sort, fetch)) = node.downcast_ref::<SortExec>().and_then(|sort| Some((sort, sort.fetch()?))) else {
            return Ok(Transformed::no(node));
        };
        let all = SortExec::new(sort.expr().clone(), Arc::clone(sort.input()));
        let all = Arc::new(all.with_preserve_partitioning(sort.preserve_partitioning()));
        Ok(Transformed::yes(if sort.preserve_partitioning() {
            Arc::new(LocalLimitExec::new(all, fetch)) as Arc<dyn ExecutionPlan>
        } else {
            Arc::new(GlobalLimitExec::new(all, 0, Some(fetch)))
        }))
    };
    plan.transform_up(whole).data()
}
