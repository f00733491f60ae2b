//! Filters that pass each hit on at once.
//!
//! DataFusion's own filter collects rows until a batch is full, which is right for files. With a pipe that pauses, a
//! hit would wait for thousands of others.

use crate::plan::node::{Batches, RowNode, RowStep};
use arrow::array::RecordBatch;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder, batch_filter};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, PlanProperties};
use futures::StreamExt;
use std::sync::Arc;

/// The same plan, with filters that pass on each hit at once.
pub(crate) fn live(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        Ok(match node.downcast_ref::<FilterExec>() {
            Some(filter) => Transformed::yes(RowNode::over(LiveFilter(filter.clone()), Arc::clone(filter.input()))?),
            None => Transformed::no(node),
        })
    })
    .data()
}

/// A filter of DataFusion that runs without collecting rows.
#[derive(Clone, Debug)]
struct LiveFilter(FilterExec);

impl RowStep for LiveFilter {
    const NAME: &'static str = "LiveFilter";

    fn properties(&self, inputs: &[Arc<dyn ExecutionPlan>]) -> Result<Arc<PlanProperties>> {
        let filter = FilterExecBuilder::from(&self.0).with_input(Arc::clone(&inputs[0])).build()?;
        Ok(Arc::clone(filter.properties()))
    }

    fn expressions(&self) -> Vec<Arc<dyn PhysicalExpr>> {
        vec![Arc::clone(self.0.predicate())]
    }

    fn rows(&self, node: &RowNode<Self>, partition: usize, context: Arc<TaskContext>) -> Result<Batches> {
        let predicate = Arc::clone(self.0.predicate());
        let projection = self.0.projection().clone();
        let mut left = self.0.fetch().unwrap_or(usize::MAX);
        let mut filter = move |batch: RecordBatch| {
            let batch = batch_filter(&batch, &predicate)?;
            let batch = batch.slice(0, batch.num_rows().min(left));
            left -= batch.num_rows();
            match &projection {
                Some(projection) => Ok(batch.project(projection)?),
                None => Ok(batch),
            }
        };
        let found = node.input(partition, context)?.map(move |batch| batch.and_then(&mut filter));
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(node.columns()), found)))
    }
}
