//! Plans that end soon after they are interrupted, also where one row becomes many.
//!
//! A scan ends by itself. But a join can make rows for minutes out of two batches, and a recursive query out of none,
//! and all that within one step of the runtime, where a client's disconnect goes unnoticed. So their rows pass a
//! checkpoint, and so do the conditions of joins, which may let no row through.

use crate::base::interrupt::Interrupt;
use crate::plan::node::{Batches, RowNode, RowStep};
use crate::plan::repeated;
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Schema};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{
    HashJoinExec, HashJoinExecBuilder, NestedLoopJoinExec, NestedLoopJoinExecBuilder,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use futures::StreamExt;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// After this many batches, others get their turn.
const BATCHES: usize = 16;

/// The same plan, with checkpoints, and with limits where rows are repeated.
pub(crate) fn watched(
    plan: Arc<dyn ExecutionPlan>,
    interrupt: &Interrupt,
    memory_max: Option<usize>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let check = |input| RowNode::over(Checked(interrupt.clone()), input);
    plan.transform_up(|mut node| {
        if let Some(inputs) = memory_max.and_then(|bytes| repeated::inputs(&node, bytes)) {
            node = replace_children_if_necessary(node, inputs?)?;
        }
        if node.name() == "RecursiveQueryExec" {
            let children = node.children().into_iter().map(|child| check(Arc::clone(child))).collect::<Result<_>>()?;
            return replace_children_if_necessary(node, children).map(Transformed::yes);
        }
        if !node.name().ends_with("JoinExec") && node.name() != "UnnestExec" {
            return Ok(Transformed::yes(node));
        }
        let node: Arc<dyn ExecutionPlan> = if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
            let filter = join.filter().map(|filter| filtered(filter, interrupt));
            Arc::new(NestedLoopJoinExecBuilder::from(join).with_filter(filter).build()?)
        } else if let Some(join) = node.downcast_ref::<HashJoinExec>() {
            let filter = join.filter().map(|filter| filtered(filter, interrupt));
            Arc::new(HashJoinExecBuilder::from(join).with_filter(filter).build()?)
        } else {
            node
        };
        check(node).map(Transformed::yes)
    })
    .data()
}

/// The same condition, with a checkpoint for each batch of rows.
fn filtered(filter: &JoinFilter, interrupt: &Interrupt) -> JoinFilter {
    let condition = Condition { inner: Arc::clone(filter.expression()), interrupt: interrupt.clone() };
    JoinFilter::new(Arc::new(condition), filter.column_indices().to_vec(), Arc::clone(filter.schema()))
}

/// The rows of a node, as long as the query is not interrupted.
#[derive(Clone, Debug)]
struct Checked(Interrupt);

impl RowStep for Checked {
    const NAME: &'static str = "Checked";

    fn rows(&self, node: &RowNode<Self>, partition: usize, context: Arc<TaskContext>) -> Result<Batches> {
        let interrupt = self.0.clone();
        let batches = node.input(partition, context)?.enumerate().then(move |(number, batch)| {
            let batch = interrupt.check().map_err(Into::into).and(batch);
            async move {
                if number % BATCHES == BATCHES - 1 {
                    tokio::task::yield_now().await;
                }
                batch
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(node.columns()), batches)))
    }
}

/// A condition that fails when the query is interrupted.
#[derive(Debug)]
struct Condition {
    inner: Arc<dyn PhysicalExpr>,
    interrupt: Interrupt,
}

impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        self.inner.eq(&other.inner)
    }
}

impl Eq for Condition {}

impl Hash for Condition {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl PhysicalExpr for Condition {
    fn data_type(&self, schema: &Schema) -> Result<DataType> {
        self.inner.data_type(schema)
    }

    fn nullable(&self, schema: &Schema) -> Result<bool> {
        self.inner.nullable(schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        self.interrupt.check()?;
        self.inner.evaluate(batch)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.inner]
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Arc::new(Self { inner: children.swap_remove(0), interrupt: self.interrupt.clone() }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt_sql(f)
    }
}
