//! Plans whose rows come in the same order each time, however threads run and however the input was cut into batches.
//!
//! DataFusion reads the parts of a union all at once, and sorts equal rows into any order. Both are changed here, for
//! queries whose answer depends on it ([`depends_on_arrival`](crate::plan::arrival::depends_on_arrival)).

use crate::plan::node::{Batches, RowNode, RowStep};
use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use arrow::compute::BatchCoalescer;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::JoinType;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec};
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{
    Distribution, ExecutionPlan, Partitioning, PlanProperties, replace_children_if_necessary,
};
use futures::{StreamExt, TryStreamExt, stream};
use std::sync::Arc;

/// The same plan, in which equal rows keep their order, and the parts of a union follow one another.
pub(crate) fn steady(plan: Arc<dyn ExecutionPlan>, batch_rows: usize) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = plan.transform_up(|node| {
        if let Some(sort) = node.downcast_ref::<SortExec>() {
            return stable(sort).map(Transformed::yes);
        }
        if let Some(merge) = node.downcast_ref::<SortPreservingMergeExec>() {
            return Ok(Transformed::yes(Arc::new(merge.clone().with_round_robin_repartition(false)) as _));
        }
        if let Some(parts) = node.downcast_ref::<CoalescePartitionsExec>() {
            let rows = in_turn(parts.input())?;
            return Ok(Transformed::yes(match parts.fetch() {
                Some(fetch) => Arc::new(GlobalLimitExec::new(rows, 0, Some(fetch))),
                None => rows,
            }));
        }
        if let Some(aggregate) = node.downcast_ref::<AggregateExec>() {
            let rows = RowNode::over(Steady::Batches(batch_rows), Arc::clone(aggregate.input()))?;
            return replace_children_if_necessary(node, vec![rows]).map(Transformed::yes);
        }
        if let Some(rows) = joined(&node, batch_rows)? {
            return replace_children_if_necessary(node, rows).map(Transformed::yes);
        }
        Ok(Transformed::no(node))
    });
    let plan = plan.data()?;
    Ok(match plan.properties().partitioning.partition_count() {
        0 | 1 => plan,
        _ => in_turn(&plan)?,
    })
}

/// The inputs of a join, in batches that are the same however the input was cut: rows that match nothing come after
/// those of their batch that match something.
fn joined(node: &Arc<dyn ExecutionPlan>, batch_rows: usize) -> Result<Option<Vec<Arc<dyn ExecutionPlan>>>> {
    let gives_right = |join: &HashJoinExec| matches!(join.join_type(), JoinType::Right | JoinType::Full);
    let cuts = match () {
        () if node.downcast_ref::<HashJoinExec>().is_some_and(gives_right) => 2,
        () if node.downcast_ref::<HashJoinExec>().is_some() => 1,
        () if node.downcast_ref::<NestedLoopJoinExec>().is_some() => 2,
        () if node.downcast_ref::<CrossJoinExec>().is_some() => 2,
        () => return Ok(None),
    };
    let cut = |(at, input): (usize, &Arc<dyn ExecutionPlan>)| -> Result<Arc<dyn ExecutionPlan>> {
        let input = Arc::clone(input);
        if at < cuts { RowNode::over(Steady::Batches(batch_rows), input) } else { Ok(input) }
    };
    node.children().into_iter().enumerate().map(cut).collect::<Result<_>>().map(Some)
}

/// The same sort, in which rows that are equal in all keys keep their order: their numbers are the last key.
fn stable(sort: &SortExec) -> Result<Arc<dyn ExecutionPlan>> {
    let columns = sort.input().schema();
    let numbered = RowNode::over(Steady::Numbered, Arc::clone(sort.input()))?;
    let number = PhysicalSortExpr::new_default(Arc::new(Column::new(NUMBER, columns.fields().len())));
    let mut keys = sort.expr().clone();
    keys.push(number);
    let sorted =
        SortExec::new(keys, numbered).with_fetch(sort.fetch()).with_preserve_partitioning(sort.preserve_partitioning());
    let kept = columns.fields().iter().enumerate().map(|(index, field)| {
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(field.name(), index));
        (column, field.name().clone())
    });
    Ok(Arc::new(ProjectionExec::try_new(kept.collect::<Vec<_>>(), Arc::new(sorted))?))
}

/// The name of the column with the numbers of rows.
const NUMBER: &str = "arrival:";

/// Rows in a steady order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Steady {
    /// Passes on one input after the other, and of each one partition after the other.
    InTurn,
    /// Numbers the rows of each partition, in one more column.
    Numbered,
    /// Cuts the rows of each partition into batches of this many, whatever batches they came in. Some aggregates round
    /// once a batch.
    Batches(usize),
}

impl Steady {
    pub(crate) fn is_of_batches(self) -> bool {
        matches!(self, Self::Batches(_))
    }
}

/// The rows of all partitions of a plan. The parts of a union are inputs of their own, so that the planner that cuts it
/// into tasks sees that all of them are read as a whole.
fn in_turn(plan: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let inputs = match plan.downcast_ref::<UnionExec>() {
        Some(union) if union.inputs().iter().all(|part| part.schema() == union.schema()) => union.inputs().clone(),
        _ => vec![Arc::clone(plan)],
    };
    Ok(Arc::new(RowNode::try_new(Steady::InTurn, inputs)?))
}

/// What is known of the rows of all partitions, one after the other.
fn of_all_partitions(mut known: EquivalenceProperties) -> EquivalenceProperties {
    known.clear_orderings();
    known.clear_per_partition_constants();
    known
}

/// What a message tells of a step.
#[cfg(feature = "cluster")]
impl Steady {
    pub(crate) fn message(self) -> String {
        match self {
            Self::InTurn => "in turn".to_owned(),
            Self::Numbered => "numbered".to_owned(),
            Self::Batches(rows) => rows.to_string(),
        }
    }

    /// A step that another process has described; `None` if there is no such step.
    pub(crate) fn decoded(inputs: Vec<Arc<dyn ExecutionPlan>>, message: &str) -> Option<Arc<RowNode<Self>>> {
        let step = match message {
            "in turn" => Self::InTurn,
            "numbered" => Self::Numbered,
            rows => Self::Batches(rows.parse().ok().filter(|rows| *rows > 0)?),
        };
        let fits = if step == Self::InTurn { !inputs.is_empty() } else { inputs.len() == 1 };
        if fits { RowNode::try_new(step, inputs).ok().map(Arc::new) } else { None }
    }
}

fn numbered(columns: &Schema) -> SchemaRef {
    let number = Arc::new(Field::new(NUMBER, DataType::UInt64, false));
    let fields: Vec<_> = columns.fields().iter().cloned().chain([number]).collect();
    Arc::new(Schema::new(fields).with_metadata(columns.metadata().clone()))
}

impl RowStep for Steady {
    const NAME: &'static str = "Steady";

    fn text(&self) -> String {
        match self {
            Self::InTurn => "InTurn",
            Self::Numbered => "Numbered",
            Self::Batches(_) => "Batches",
        }
        .to_owned()
    }

    fn properties(&self, inputs: &[Arc<dyn ExecutionPlan>]) -> Result<Arc<PlanProperties>> {
        let input = UnionExec::try_new(inputs.to_vec())?;
        let before = input.properties();
        let known = before.eq_properties.clone();
        // The steps above were planned with what is known here, such as columns that are constant.
        let (rows, partitioning) = match self {
            Self::InTurn => (of_all_partitions(known), Partitioning::UnknownPartitioning(1)),
            Self::Numbered => {
                (EquivalenceProperties::new(numbered(&input.schema())).extend(known)?, before.partitioning.clone())
            }
            Self::Batches(_) => (known, before.partitioning.clone()),
        };
        Ok(Arc::new(PlanProperties::new(rows, partitioning, before.emission_type, before.boundedness)))
    }

    fn distribution(&self, input: &Arc<dyn ExecutionPlan>) -> Distribution {
        let is_whole = input.properties().partitioning.partition_count() == 1;
        if *self == Self::InTurn && is_whole {
            Distribution::SinglePartition
        } else {
            Distribution::UnspecifiedDistribution
        }
    }

    fn rows(&self, node: &RowNode<Self>, partition: usize, context: Arc<TaskContext>) -> Result<Batches> {
        let columns = Arc::clone(node.columns());
        let schema = Arc::clone(&columns);
        Ok(match *self {
            Self::InTurn => {
                let parts = node.inputs().iter().flat_map(|input| {
                    let parts = 0..input.properties().partitioning.partition_count();
                    parts.map(|part| (Arc::clone(input), part))
                });
                let parts = stream::iter(parts.collect::<Vec<_>>());
                let rows = parts.map(move |(input, part)| input.execute(part, Arc::clone(&context))).try_flatten();
                Box::pin(RecordBatchStreamAdapter::new(schema, rows))
            }
            Self::Numbered => {
                let mut rows_before = 0;
                let rows = node.input(partition, context)?.map(move |batch| {
                    let batch = batch?;
                    let rows = rows_before..rows_before + batch.num_rows() as u64;
                    rows_before = rows.end;
                    let numbers: ArrayRef = Arc::new(UInt64Array::from_iter_values(rows));
                    let values = batch.columns().iter().cloned().chain([numbers]).collect();
                    Ok(RecordBatch::try_new(Arc::clone(&columns), values)?)
                });
                Box::pin(RecordBatchStreamAdapter::new(schema, rows))
            }
            Self::Batches(rows) => {
                let coalescer = BatchCoalescer::new(columns, rows);
                let batches = in_batches(node.input(partition, context)?, coalescer);
                Box::pin(RecordBatchStreamAdapter::new(schema, batches))
            }
        })
    }
}

/// The same rows in other batches.
fn in_batches(batches: Batches, coalescer: BatchCoalescer) -> impl futures::Stream<Item = Result<RecordBatch>> {
    stream::try_unfold((batches, coalescer, false), |(mut batches, mut coalescer, mut is_over)| async move {
        loop {
            if let Some(batch) = coalescer.next_completed_batch() {
                return Ok(Some((batch, (batches, coalescer, is_over))));
            }
            if is_over {
                return Ok(None);
            }
            if let Some(batch) = batches.try_next().await? {
                coalescer.push_batch(batch)?;
            } else {
                coalescer.finish_buffered_batch()?;
                is_over = true;
            }
        }
    })
}
