//! Columns that keep their marks between processes.
//!
//! A column of JSON text is marked in its field's metadata. DataFusion's messages drop what is marked in the results of
//! functions. So where a plan computes such a column, this step marks it again.

use crate::plan::node::{Batches, RowNode, RowStep};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, PlanProperties};
use futures::StreamExt;
use std::sync::Arc;

/// The same plan, in which computed columns are marked again.
pub(crate) fn mark(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        let computes = node.is::<ProjectionExec>() || node.is::<AggregateExec>();
        let schema = node.schema();
        if !computes || schema.fields().iter().all(|field| field.metadata().is_empty()) {
            return Ok(Transformed::no(node));
        }
        RowNode::over(Marked(schema), node).map(Transformed::yes)
    })
    .data()
}

/// The rows of its input, with the marks of this schema.
#[derive(Clone, Debug)]
pub(super) struct Marked(pub(super) SchemaRef);

impl RowStep for Marked {
    const NAME: &'static str = "Marked";

    fn properties(&self, inputs: &[Arc<dyn ExecutionPlan>]) -> Result<Arc<PlanProperties>> {
        let before = inputs[0].properties();
        let orders = before.eq_properties.oeq_class().iter().cloned();
        let rows = EquivalenceProperties::new_with_orderings(Arc::clone(&self.0), orders);
        let (emission, bounds) = (before.emission_type, before.boundedness);
        Ok(Arc::new(PlanProperties::new(rows, before.partitioning.clone(), emission, bounds)))
    }

    fn rows(&self, node: &RowNode<Self>, partition: usize, context: Arc<TaskContext>) -> Result<Batches> {
        Ok(marked(node.input(partition, context)?, Arc::clone(&self.0)))
    }
}

/// The same rows, marked.
pub(super) fn marked(rows: Batches, schema: SchemaRef) -> Batches {
    let marks = Arc::clone(&schema);
    let rows = rows.map(move |batch| {
        let batch: RecordBatch = batch?;
        Ok(stamped(&batch, &marks)?)
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}

/// The same columns under marked fields.
fn stamped(batch: &RecordBatch, marks: &SchemaRef) -> std::result::Result<RecordBatch, arrow::error::ArrowError> {
    let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(marks), batch.columns().to_vec(), &options)
}
