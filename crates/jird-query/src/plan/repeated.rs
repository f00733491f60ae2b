//! Rows for steps that repeat them, within the memory of an untrusted query.
//!
//! A join, an `unnest` and a window make many rows of one: of a text of a megabyte, a batch of 8 GB. DataFusion cuts
//! their results by numbers of rows, not by bytes, and do not ask whether there is that much memory. So their inputs
//! come in batches that are small enough, and a row that is too wide is an error.

use crate::base::bytes::{batch_bytes, bytes, pieces};
use crate::base::error::Error;
use crate::plan::node::{Batches, RowNode, RowStep};
use arrow::array::{Array, RecordBatch};
use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::windows::WindowAggExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use futures::StreamExt;
use std::sync::Arc;

/// How many rows a batch has in a plan with such a step: so rows may be 16 times as wide as with the usual number.
pub(crate) const BATCH_ROWS: usize = 512;

/// Whether a step of the plan, or of a subquery in it, repeats rows.
pub(crate) fn repeats(plan: &LogicalPlan) -> bool {
    let mut found = false;
    let walked = plan.apply_with_subqueries(|node| {
        found |= matches!(node, LogicalPlan::Join(_) | LogicalPlan::Unnest(_) | LogicalPlan::Window(_));
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    debug_assert!(walked.is_ok(), "the visitor never fails");
    found
}

/// What a step does with its rows.
#[derive(Clone, Debug)]
enum Step {
    /// How many times a batch of the result may have one row.
    Join,
    /// It makes a row for each element of the lists in these columns.
    Unnest(Vec<usize>),
    /// It keeps all rows, and each of the result may have the same value if values have no fixed width.
    Window { is_wide: bool },
}

/// The inputs of a step that repeats rows, within this memory; `None` for other steps.
pub(crate) fn inputs(node: &Arc<dyn ExecutionPlan>, bytes_max: usize) -> Option<Result<Vec<Arc<dyn ExecutionPlan>>>> {
    let step = if node.name().ends_with("JoinExec") {
        Step::Join
    } else if let Some(unnest) = node.downcast_ref::<UnnestExec>() {
        Step::Unnest(unnest.list_column_indices().iter().map(|column| column.index_in_input_schema).collect())
    } else if let Some(window) = node.downcast_ref::<WindowAggExec>() {
        let has_width = |kind: &DataType| kind.is_primitive() || *kind == DataType::Boolean;
        let results = window.window_expr().iter().filter_map(|result| result.field().ok());
        Step::Window { is_wide: results.into_iter().any(|result| !has_width(result.data_type())) }
    } else {
        return None;
    };
    Some(cut(node, &step, bytes_max))
}

/// The same plan, in which what windows keep counts as memory of the query: DataFusion does not count it.
pub(crate) fn counted_windows(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let counted = |node: Arc<dyn ExecutionPlan>| {
        if node.downcast_ref::<WindowAggExec>().is_none() {
            return Ok(Transformed::no(node));
        }
        let inputs = cut(&node, &Step::Window { is_wide: false }, usize::MAX)?;
        replace_children_if_necessary(node, inputs).map(Transformed::yes)
    };
    plan.transform_up(counted).data()
}

/// The inputs of a node, in batches that it can repeat.
fn cut(node: &Arc<dyn ExecutionPlan>, step: &Step, bytes_max: usize) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
    let cut = |input| RowNode::over(InPieces { step: step.clone(), bytes_max }, Arc::clone(input));
    node.children().into_iter().map(cut).collect()
}

/// The rows of a node, in batches that a step can repeat.
#[derive(Clone, Debug)]
struct InPieces {
    step: Step,
    bytes_max: usize,
}

impl RowStep for InPieces {
    const NAME: &'static str = "Cut";

    fn rows(&self, node: &RowNode<Self>, partition: usize, context: Arc<TaskContext>) -> Result<Batches> {
        let kept = MemoryConsumer::new("rows of a window").register(context.memory_pool());
        let mut cutter = Cutter { step: self.step.clone(), bytes_max: self.bytes_max, kept, rows: 0, widest: 0 };
        let batches = node.input(partition, context)?.flat_map(move |batch| {
            futures::stream::iter(match batch.and_then(|batch| cutter.cut(&batch)) {
                Ok(parts) => parts.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            })
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(node.columns()), batches)))
    }
}

/// Cuts batches.
struct Cutter {
    step: Step,
    bytes_max: usize,
    /// What a window keeps, which DataFusion does not count.
    kept: MemoryReservation,
    rows: usize,
    widest: usize,
}

impl Cutter {
    fn cut(&mut self, batch: &RecordBatch) -> Result<Vec<RecordBatch>> {
        match &self.step {
            Step::Join => {
                if widest(batch, self.bytes_max / BATCH_ROWS) > self.bytes_max / BATCH_ROWS {
                    return Err(self.too_wide("a join"));
                }
                let starts = (0..batch.num_rows()).step_by(BATCH_ROWS);
                Ok(starts.map(|at| batch.slice(at, BATCH_ROWS.min(batch.num_rows() - at))).collect())
            }
            Step::Unnest(columns) => {
                let mut parts = Vec::new();
                for part in pieces(batch, self.bytes_max / 4) {
                    unnested(&part, columns, self.bytes_max / 4, &mut parts).map_err(|()| self.too_wide("`unnest`"))?;
                }
                Ok(parts)
            }
            Step::Window { is_wide } => {
                self.kept.try_grow(batch_bytes(batch))?;
                self.rows += batch.num_rows();
                if *is_wide {
                    self.widest = self.widest.max(widest(batch, 0));
                    if self.widest.saturating_mul(self.rows) > self.bytes_max {
                        return Err(self.too_wide("a window"));
                    }
                }
                Ok(vec![batch.clone()])
            }
        }
    }

    #[cold]
    fn too_wide(&self, step: &str) -> datafusion::error::DataFusionError {
        Error::too_large(&format!("what {step} makes of rows as wide as these"), self.bytes_max).into()
    }
}

/// How wide the widest row is, if it is wider than this.
fn widest(batch: &RecordBatch, bytes: usize) -> usize {
    if batch_bytes(batch) <= bytes {
        return bytes;
    }
    (0..batch.num_rows()).map(|row| batch_bytes(&batch.slice(row, 1))).max().unwrap_or_default()
}

/// Cuts a batch so that each part is unnested to at most this many bytes.
fn unnested(
    batch: &RecordBatch,
    lists: &[usize],
    bytes_max: usize,
    parts: &mut Vec<RecordBatch>,
) -> std::result::Result<(), ()> {
    let repeated: usize = (0..batch.num_columns())
        .filter(|column| !lists.contains(column))
        .map(|column| bytes(batch.column(column)).saturating_add(8))
        .fold(0, usize::saturating_add);
    let elements = lists.iter().map(|column| leaves(batch.column(*column))).max().unwrap_or_default();
    // Any row may have all elements, and each element takes a place in each column of lists.
    let made = elements.saturating_mul(repeated.saturating_add(lists.len().saturating_mul(16)));
    if made <= bytes_max {
        parts.push(batch.clone());
        return Ok(());
    }
    if batch.num_rows() <= 1 {
        return Err(());
    }
    let half = batch.num_rows() / 2;
    unnested(&batch.slice(0, half), lists, bytes_max, parts)?;
    unnested(&batch.slice(half, batch.num_rows() - half), lists, bytes_max, parts)
}

/// How many elements there are in lists, and in lists in them.
fn leaves(array: &dyn Array) -> usize {
    // Each element counts at least 8 bytes.
    bytes(array) / 8 + array.len()
}
