//! Runs a planned query on a cluster.

use super::Cluster;
use super::alone::Alone;
use super::codec::has_state;
use super::distribute::{Distributed, InParts, cut};
use super::facts::merge;
use super::marked::{mark, marked};
use crate::plan::arrival::depends_on_arrival;
use crate::plan::steady::steady;
use crate::scan::note_scans;
use crate::setup::options::BATCH_ROWS;
use crate::setup::registered::Registered;
use crate::types::prepared::Source;
use datafusion::common::tree_node::TreeNode;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, SessionState};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, Partitioning};
use datafusion::prelude::SessionContext;
use futures::{StreamExt, future};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The same session, whose plans can be cut into tasks of several processes: no step of a plan waits for what another one
/// learns while it runs.
pub(crate) fn session(context: &SessionContext) -> SessionContext {
    let mut state = context.state();
    let optimizer = &mut state.config_mut().options_mut().optimizer;
    optimizer.enable_physical_uncorrelated_scalar_subquery = false;
    optimizer.enable_dynamic_filter_pushdown = false;
    optimizer.enable_join_dynamic_filter_pushdown = false;
    optimizer.enable_topk_dynamic_filter_pushdown = false;
    optimizer.enable_aggregate_dynamic_filter_pushdown = false;
    // Joins are cut on both sides.
    optimizer.hash_join_single_partition_threshold = 0;
    optimizer.hash_join_single_partition_threshold_rows = 0;
    // Parts go to tasks as they were cut.
    optimizer.enable_round_robin_repartition = false;
    SessionContext::new_with_state(state)
}

/// Runs an optimised plan, and adds what its tasks have found to what is known of the sources. The rows stand in the order
/// in which this process alone would return them.
pub(crate) async fn run(
    cluster: &dyn Cluster,
    mut state: SessionState,
    plan: &LogicalPlan,
    sources: &[Source<'_>],
    registered: &Registered,
) -> Result<SendableRecordBatchStream> {
    let tasks = cluster.tasks().max(1);
    let depends = depends_on_arrival(plan);
    let notes_bad = sources.iter().any(|source| source.shared.options.bad.is_some());
    let tells_lines = sources.iter().any(|source| source.shared.tells_lines());
    let distributed = Distributed::of(plan, depends, notes_bad, tells_lines);
    let is_whole = matches!(distributed, Distributed::Whole);
    sources.iter().for_each(|source| source.shared.ordered.store(is_whole, Relaxed));
    let options = state.config_mut().options_mut();
    options.execution.target_partitions = if matches!(distributed, Distributed::Freely) { tasks } else { 1 };
    let planner = Arc::clone(state.query_planner());
    let physical = async |plan, state: &SessionState| planner.create_physical_plan(plan, state).await;
    let (physical, is_alone, skip, fetch) = match &distributed {
        Distributed::Freely => {
            let parts = physical(plan, &state).await?;
            if is_cut_rightly(&parts)? {
                (parts, false, 0, None)
            } else {
                state.config_mut().options_mut().execution.target_partitions = 1;
                sources.iter().for_each(|source| source.shared.ordered.store(true, Relaxed));
                (physical(plan, &state).await?, true, 0, None)
            }
        }
        Distributed::Whole if depends => (steady(physical(plan, &state).await?, BATCH_ROWS)?, true, 0, None),
        Distributed::Whole => (physical(plan, &state).await?, true, 0, None),
        Distributed::InParts(parts) => {
            let InParts { plan, skip, fetch } = &**parts;
            let most = fetch.map(|fetch| fetch.saturating_add(*skip));
            (cut(physical(plan, &state).await?, tasks, most)?, false, *skip, *fetch)
        }
    };
    note_scans(&physical)?;
    let marked_plan = mark(physical)?;
    let physical = if is_alone { alone(marked_plan)? } else { marked_plan };
    let schema = physical.schema();
    let ran = cluster.run(physical).await?;
    merge(&ran.facts, sources, registered)?;
    Ok(limited(marked(ran.rows, schema), skip, fetch))
}

/// Whether a plan that is cut at its exchanges gives the same rows. Where rows are exchanged, functions are known by their
/// names alone, without their state. And a join that collects one side is one process's: for `not in`, a null on one side
/// decides about all rows of the other, and a side whose size is not known would be cut again.
fn is_cut_rightly(plan: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    let is_wrong = plan.exists(|node| {
        let parts = node.downcast_ref::<RepartitionExec>().map(RepartitionExec::partitioning);
        let by_state = matches!(parts, Some(Partitioning::Hash(keys, _)) if keys.iter().any(has_state));
        let join = node.downcast_ref::<HashJoinExec>();
        let collects = |join: &HashJoinExec| join.null_aware || *join.partition_mode() == PartitionMode::CollectLeft;
        Ok(by_state || join.is_some_and(collects))
    })?;
    Ok(!is_wrong)
}

/// A plan of one partition, which one process runs.
fn alone(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = match plan.properties().partitioning.partition_count() {
        1 => plan,
        _ => Arc::new(CoalescePartitionsExec::new(plan)),
    };
    Alone::node(plan)
}

/// Some of the rows.
fn limited(rows: SendableRecordBatchStream, mut skip: usize, fetch: Option<usize>) -> SendableRecordBatchStream {
    if skip == 0 && fetch.is_none() {
        return rows;
    }
    let schema = rows.schema();
    let mut left = fetch.unwrap_or(usize::MAX);
    let rows = rows.map(move |batch| {
        let batch = batch?;
        let skipped = skip.min(batch.num_rows());
        skip -= skipped;
        let taken = left.min(batch.num_rows() - skipped);
        left -= taken;
        Ok((batch.slice(skipped, taken), left == 0))
    });
    // The batch that fills the limit is the last one.
    let rows = rows.scan(false, |is_over, batch: Result<_>| {
        let was_over = *is_over;
        let batch = batch.map(|(batch, fills)| {
            *is_over = fills;
            batch
        });
        future::ready((!was_over).then_some(batch))
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}
