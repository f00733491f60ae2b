//! Filters that pass each hit on at once.
//!
//! DataFusion's own filter collects rows until a batch is full, which is right for files. With a pipe that pauses, a
//! hit would wait for thousands of others.

use arrow::array::RecordBatch;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder, batch_filter};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;

/// The same plan, with filters that pass on each hit at once.
pub(crate) fn live(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        Ok(match node.downcast_ref::<FilterExec>() {
            Some(filter) => Transformed::yes(Arc::new(LiveFilter(filter.clone())) as Arc<dyn ExecutionPlan>),
            None => Transformed::no(node),
        })
    })
    .data()
}

/// A filter of DataFusion that runs without collecting rows.
#[derive(Debug)]
struct LiveFilter(FilterExec);

impl DisplayAs for LiveFilter {
    fn fmt_as(&self, how: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_as(how, f)
    }
}

impl ExecutionPlan for LiveFilter {
    fn name(&self) -> &'static str {
        "LiveFilter"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.0.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        self.0.maintains_input_order()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.0.children()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.0.apply_expressions(f)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let mut filter = FilterExecBuilder::from(&self.0);
        for child in children {
            filter = filter.with_input(child);
        }
        Ok(Arc::new(Self(filter.build()?)))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
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
        let batches = self.0.input().execute(partition, context)?;
        let found = batches.map(move |batch| batch.and_then(&mut filter));
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), found)))
    }
}
