//! Columns that keep their marks between processes.
//!
//! A column of JSON text is marked in its field's metadata. DataFusion's messages drop what is marked in the results of
//! functions. So where a plan computes such a column, this step marks it again.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;

/// The same plan, in which computed columns are marked again.
pub(crate) fn mark(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        let computes = node.is::<ProjectionExec>() || node.is::<AggregateExec>();
        let schema = node.schema();
        if !computes || schema.fields().iter().all(|field| field.metadata().is_empty()) {
            return Ok(Transformed::no(node));
        }
        Ok(Transformed::yes(Arc::new(Marked::new(node, schema)) as Arc<dyn ExecutionPlan>))
    })
    .data()
}

/// The rows of its input, with the marks of this schema.
#[derive(Debug)]
pub(super) struct Marked {
    input: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl Marked {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>, schema: SchemaRef) -> Self {
        let before = input.properties();
        let orders = before.eq_properties.oeq_class().iter().cloned();
        let rows = EquivalenceProperties::new_with_orderings(Arc::clone(&schema), orders);
        let (emission, bounds) = (before.emission_type, before.boundedness);
        let properties = PlanProperties::new(rows, before.partitioning.clone(), emission, bounds);
        Self { input, schema, properties: Arc::new(properties) }
    }

    pub(super) fn marks(&self) -> &SchemaRef {
        &self.schema
    }
}

impl DisplayAs for Marked {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Marked")
    }
}

impl ExecutionPlan for Marked {
    fn name(&self) -> &'static str {
        "Marked"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::new(children.swap_remove(0), Arc::clone(&self.schema))))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let rows = self.input.execute(partition, context)?;
        Ok(marked(rows, Arc::clone(&self.schema)))
    }
}

/// The same rows, marked.
pub(super) fn marked(rows: SendableRecordBatchStream, schema: SchemaRef) -> SendableRecordBatchStream {
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
