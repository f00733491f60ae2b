//! Runs the tasks of an executor: Ballista's own engine, which also tells what jird's scans have found.

use ballista_core::JobId;
use ballista_core::error::BallistaError;
use ballista_core::serde::protobuf::{RuntimeStatsReport, ShuffleWritePartition, TaskColumnStats, WindowStateReport};
use ballista_executor::execution_engine::{DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::{Count, Metric, MetricValue, MetricsSet};
use datafusion::prelude::SessionConfig;
use jird_query::cluster::{Stop, facts, failed};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The name of a metric begins with this, and goes on with what a task has found. Ballista keeps metrics of tasks that
/// have succeeded, replaces them if a task is done again, and returns them as the metrics of a job.
pub(crate) const FACTS: &str = "jird:";

/// A task may tell this much, in bytes. Beyond this, bad records are not worth reading.
const FACTS_BYTES_MAX: usize = 64 << 20;

/// The engine.
#[derive(Default)]
pub(crate) struct Engine(DefaultExecutionEngine);

impl ExecutionEngine for Engine {
    fn create_query_stage_exec(
        &self,
        job: JobId,
        stage: usize,
        task: usize,
        partitions: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        folder: &str,
        config: &SessionConfig,
    ) -> Result<Arc<dyn QueryStageExecutor>> {
        let (plan, stop) = Stop::of(plan)?;
        let executor =
            self.0.create_query_stage_exec(job, stage, task, partitions, Arc::clone(&plan), folder, config)?;
        Ok(Arc::new(Stage { executor, plan, stop, found: Mutex::new(None) }))
    }
}

/// A task of a stage.
#[derive(Debug)]
struct Stage {
    executor: Arc<dyn QueryStageExecutor>,
    plan: Arc<dyn ExecutionPlan>,
    stop: Stop,
    /// What the task has found.
    found: Mutex<Option<String>>,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.executor.fmt(f)
    }
}

/// Stops a task that ends before it is done.
struct Running<'s>(Option<&'s Stop>);

impl Running<'_> {
    fn is_done(mut self) {
        self.0 = None;
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(stop) = self.0 {
            stop.stop();
        }
    }
}

/// Whether Ballista knows what to do about an error: it fetches or reads again.
fn is_theirs(error: &DataFusionError) -> bool {
    match error.find_root() {
        DataFusionError::IoError(_) => true,
        DataFusionError::External(inner) => inner.downcast_ref::<BallistaError>().is_some(),
        _ => false,
    }
}

#[async_trait::async_trait]
impl QueryStageExecutor for Stage {
    async fn execute_query_stage(&self, task: usize, context: Arc<TaskContext>) -> Result<Vec<ShuffleWritePartition>> {
        // Ballista ends a task by dropping this. What the task has begun on other threads goes on, unless it is stopped.
        let running = Running(Some(&self.stop));
        let done = self.executor.execute_query_stage(task, context).await;
        running.is_done();
        let done = done.map_err(|error| if is_theirs(&error) { error } else { failed(&error) })?;
        let found = facts(&self.plan)?;
        if let Some(bytes) = found.as_ref().map(String::len).filter(|bytes| *bytes > FACTS_BYTES_MAX) {
            let words = format!(
                "there are so many bad records that telling of them takes {bytes} bytes in one task, and {FACTS_BYTES_MAX} \
                 are the limit: use more tasks (--tasks), or one machine"
            );
            return Err(failed(&DataFusionError::Execution(words)));
        }
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found;
        Ok(done)
    }

    fn collect_plan_metrics(&self) -> Vec<MetricsSet> {
        let mut all = self.executor.collect_plan_metrics();
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(found), Some(first)) = (found, all.first_mut()) {
            let value = MetricValue::Count { name: (FACTS.to_owned() + &found).into(), count: Count::new() };
            first.push(Arc::new(Metric::new(value, Some(0))));
        }
        all
    }

    fn collect_runtime_stats_reports(&self) -> Vec<RuntimeStatsReport> {
        self.executor.collect_runtime_stats_reports()
    }

    fn collect_window_state_reports(&self) -> Result<Vec<WindowStateReport>> {
        self.executor.collect_window_state_reports()
    }

    fn collect_column_stats(&self) -> Vec<TaskColumnStats> {
        self.executor.collect_column_stats()
    }
}
