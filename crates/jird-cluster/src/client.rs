//! The side of the cluster that asks: sends a plan to the scheduler, waits, and fetches the rows from the executors.

use crate::address::Address;
use crate::codec::{MESSAGE_BYTES_MAX, codec};
use crate::engine::FACTS;
use anyhow::{Context, Result, bail};
use ballista_core::BALLISTA_VERSION;
use ballista_core::client::BallistaClient;
use ballista_core::extension::SessionConfigExt;
use ballista_core::serde::protobuf::execute_query_params::Query;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{
    CancelJobParams, ExecuteQueryParams, GetJobMetricsParams, GetJobStatusParams, KeyValuePair, PartitionLocation,
    execute_query_result, job_status, operator_metric,
};
use ballista_core::version;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::SessionConfig;
use datafusion_proto::physical_plan::AsExecutionPlan;
use datafusion_proto::protobuf::PhysicalPlanNode;
use futures::{StreamExt, TryStreamExt, stream};
use http_body_util::{BodyExt, Empty, Limited};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::rt::TokioExecutor;
use jird_cli::cluster::Reached;
use jird_query::cluster::{Cluster, ClusterResult, Running, failure_in};
use serde::Deserialize;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Handle, Runtime};
use tonic::transport::{Channel, Endpoint};

/// The pause between two questions about a job's state: at first, and at last. It doubles each time.
const ASK_FIRST: Duration = Duration::from_millis(2);
const ASK_LAST: Duration = Duration::from_millis(20);

/// A scheduler that does not answer for so long is taken for gone.
const PATIENCE: Duration = Duration::from_secs(20);

/// The next partitions are fetched before the rows of one are used up: their number.
const AHEAD: usize = 2;

/// Tasks for each core: the last ones leave less of the cluster waiting.
const TASKS_PER_CORE: usize = 2;

type Scheduler = SchedulerGrpcClient<Channel>;

/// A cluster.
struct Client {
    scheduler: Scheduler,
    at: Address,
    tasks: usize,
    jobs: Arc<Jobs>,
    /// Connections live here. A query has threads of its own.
    runtime: Arc<Runtime>,
}

/// The jobs that are not done.
#[derive(Debug, Default)]
struct Jobs(Mutex<HashSet<String>>);

impl Jobs {
    fn change(&self, change: impl FnOnce(&mut HashSet<String>)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the cluster at {}", self.at)
    }
}

/// An executor, as the scheduler tells of it.
#[derive(Debug, Deserialize)]
struct Executor {
    specification: Specification,
}

#[derive(Debug, Deserialize)]
struct Specification {
    vcores: u32,
}

/// Connects to a scheduler. `tasks` is the number of tasks into which the input of a query is cut, if the number of the
/// executors' cores does not decide it.
///
/// # Errors
/// If no scheduler answers, or if it has no executor.
pub fn reach(at: &Address, tasks: Option<usize>) -> Result<Reached> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let runtime = Arc::new(runtime);
    let (scheduler, cores) = runtime.block_on(async {
        let endpoint = Endpoint::from_shared(at.url()).with_context(|| at.to_string())?;
        let endpoint = endpoint.connect_timeout(PATIENCE).tcp_nodelay(true);
        let channel = endpoint.connect().await;
        let channel =
            channel.with_context(|| format!("no scheduler answers at {at}; `jird-cluster scheduler` is one"))?;
        let scheduler = Scheduler::new(channel)
            .max_decoding_message_size(MESSAGE_BYTES_MAX as usize)
            .max_encoding_message_size(MESSAGE_BYTES_MAX as usize);
        anyhow::Ok((scheduler, cores(at).await?))
    })?;
    if cores == 0 {
        bail!("the scheduler at {at} has no executor; `jird-cluster executor --at df://{at}` is one");
    }
    let tasks = tasks.unwrap_or(cores * TASKS_PER_CORE);
    let jobs: Arc<Jobs> = Arc::default();
    let cancel = {
        let (scheduler, jobs, runtime) = (scheduler.clone(), Arc::clone(&jobs), Arc::clone(&runtime));
        move || runtime.block_on(cancel_all(scheduler, &jobs))
    };
    let cluster = Client { scheduler, at: at.clone(), tasks, jobs, runtime };
    Ok(Reached { cluster: Arc::new(cluster), cancel: Box::new(cancel) })
}

/// How many tasks the executors run at the same time.
async fn cores(at: &Address) -> Result<usize> {
    let client = HttpClient::builder(TokioExecutor::new()).build_http::<Empty<&[u8]>>();
    let answer = async {
        let answer = client.get(format!("{}/api/executors", at.url()).parse()?).await?;
        let body = Limited::new(answer.into_body(), MESSAGE_BYTES_MAX as usize).collect().await;
        let body = body.map_err(|error| anyhow::anyhow!("{error}"))?.to_bytes();
        let executors: Vec<Executor> = jird::from_slice(&body)?;
        anyhow::Ok(executors.iter().map(|executor| executor.specification.vcores as usize).sum())
    };
    let answer = tokio::time::timeout(PATIENCE, answer).await.context("no answer").and_then(|answer| answer);
    answer.with_context(|| format!("the scheduler at {at} does not tell its executors"))
}

async fn cancel_all(mut scheduler: Scheduler, jobs: &Jobs) {
    let mut left = HashSet::new();
    jobs.change(|jobs| left = std::mem::take(jobs));
    for job_id in left {
        let cancelled = scheduler.cancel_job(CancelJobParams { job_id: job_id.clone() });
        if !matches!(tokio::time::timeout(Duration::from_secs(2), cancelled).await, Ok(Ok(_))) {
            log::warn!("the job {job_id} may still run: the scheduler does not answer");
        }
    }
}

/// Ends a job unless it is done.
struct Guard {
    scheduler: Scheduler,
    jobs: Arc<Jobs>,
    job: String,
}

impl Drop for Guard {
    /// Sends the message, and does not wait: this may be a thread that has to send it.
    fn drop(&mut self) {
        let mut is_active = false;
        self.jobs.change(|jobs| is_active = jobs.contains(&self.job));
        if let (true, Ok(runtime)) = (is_active, Handle::try_current()) {
            let (mut scheduler, jobs, job_id) = (self.scheduler.clone(), Arc::clone(&self.jobs), self.job.clone());
            runtime.spawn(async move {
                if scheduler.cancel_job(CancelJobParams { job_id: job_id.clone() }).await.is_ok() {
                    jobs.change(|jobs| {
                        jobs.remove(&job_id);
                    });
                }
            });
        }
    }
}

impl Drop for Client {
    /// Waits until the scheduler has been told to drop the jobs that are left.
    fn drop(&mut self) {
        if Handle::try_current().is_err() {
            self.runtime.block_on(cancel_all(self.scheduler.clone(), &self.jobs));
        }
    }
}

impl Cluster for Client {
    fn tasks(&self) -> usize {
        self.tasks
    }

    fn run(&self, plan: Arc<dyn ExecutionPlan>) -> Running<'_> {
        Box::pin(async move {
            let message = encoded(Arc::clone(&plan))?;
            let job = Job { scheduler: self.scheduler.clone(), at: self.at.clone(), tasks: self.tasks };
            let work = job.run(message, Arc::clone(&self.jobs));
            let work = self.runtime.spawn(work);
            let abort = AbortOnDrop(work.abort_handle());
            let done = work.await;
            drop(abort);
            let (parts, facts) = done.map_err(|error| other(&error.to_string()))??;
            let expected = plan.properties().partitioning.partition_count();
            let ids = parts.iter().filter_map(|part| part.partition_id.as_ref()).map(|part| part.partition_id as usize);
            if ids.max().is_some_and(|last| last >= expected) {
                // Better none than the same rows several times.
                return Err(other(
                    "the cluster gives this query more parts than it has, which would be wrong rows; run it on one machine",
                ));
            }
            let rows = fetched(parts, &self.runtime);
            Ok(ClusterResult { rows: Box::pin(RecordBatchStreamAdapter::new(plan.schema(), rows)), facts })
        })
    }
}

/// Ends a task of the runtime whose result is no longer wanted.
struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn encoded(plan: Arc<dyn ExecutionPlan>) -> Result<Vec<u8>, DataFusionError> {
    let mut message = Vec::new();
    PhysicalPlanNode::try_from_physical_plan(plan, codec(1).as_ref())?.try_encode(&mut message)?;
    Ok(message)
}

fn other(words: &str) -> DataFusionError {
    DataFusionError::Execution(words.to_owned())
}

/// A plan at the scheduler.
struct Job {
    scheduler: Scheduler,
    at: Address,
    tasks: usize,
}

impl Job {
    /// Runs a plan. Returns where the rows are, in order, and what the tasks have found.
    async fn run(
        mut self,
        plan: Vec<u8>,
        jobs: Arc<Jobs>,
    ) -> Result<(Vec<PartitionLocation>, Vec<String>), DataFusionError> {
        let id = self.submit(plan).await?;
        jobs.change(|jobs| {
            jobs.insert(id.clone());
        });
        let guard = Guard { scheduler: self.scheduler.clone(), jobs: Arc::clone(&jobs), job: id.clone() };
        let mut parts = self.wait(&id).await?;
        jobs.change(|jobs| {
            jobs.remove(&id);
        });
        drop(guard);
        parts.sort_by_key(|part| {
            (part.partition_id.as_ref().map(|part| part.partition_id), part.map_partition_id, part.file_id)
        });
        let facts = self.facts(&id).await?;
        Ok((parts, facts))
    }

    async fn submit(&mut self, plan: Vec<u8>) -> Result<String, DataFusionError> {
        // The scheduler may cut what it reads into as many parts as the plan was cut into.
        let config = SessionConfig::new_with_ballista().with_target_partitions(self.tasks);
        let settings = config.options().entries().into_iter();
        let settings = settings.map(|entry| KeyValuePair { key: entry.key, value: entry.value }).collect();
        let query = ExecuteQueryParams {
            query: Some(Query::PhysicalPlan(plan)),
            settings,
            session_id: ballista_core::ids::new_instance_id(),
            operation_id: ballista_core::ids::new_instance_id(),
        };
        let mut request = tonic::Request::new(query);
        version::insert_version_header(request.metadata_mut());
        let answer = self.scheduler.execute_query(request).await.map_err(|status| self.gone(&status))?;
        let theirs = version::version_from_metadata(answer.metadata()).map(str::to_owned);
        version::check_compatibility(Some(BALLISTA_VERSION), theirs.as_deref()).map_err(|words| other(&words))?;
        match answer.into_inner().result {
            Some(execute_query_result::Result::Success(accepted)) => Ok(accepted.job_id),
            Some(execute_query_result::Result::Failure(failure)) => Err(refused(&format!("{failure:?}"))),
            None => Err(other("the scheduler answers without an answer")),
        }
    }

    /// Waits until the job is done. Returns where its rows are.
    async fn wait(&mut self, id: &str) -> Result<Vec<PartitionLocation>, DataFusionError> {
        let mut pause = ASK_FIRST;
        loop {
            let params = GetJobStatusParams { job_id: id.to_owned() };
            let asked = tokio::time::timeout(PATIENCE, self.scheduler.get_job_status(params)).await;
            let answer = asked.map_err(|_| other(&format!("the scheduler at {} does not answer any more", self.at)))?;
            let status = answer.map_err(|status| self.gone(&status))?.into_inner().status;
            match status.and_then(|status| status.status) {
                Some(job_status::Status::Successful(done)) => return Ok(done.partition_location),
                Some(job_status::Status::Failed(failed)) => return Err(refused(&failed.error)),
                None | Some(job_status::Status::Queued(_) | job_status::Status::Running(_)) => {}
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(ASK_LAST);
        }
    }

    /// What the tasks of a job have found.
    async fn facts(&mut self, id: &str) -> Result<Vec<String>, DataFusionError> {
        let params = GetJobMetricsParams { job_id: id.to_owned() };
        let answer = self.scheduler.get_job_metrics(params).await.map_err(|status| self.gone(&status))?;
        let operators = answer.into_inner().stages.into_iter().flat_map(|stage| stage.operators);
        let metrics = operators.flat_map(|operator| operator.metrics);
        let facts = metrics.filter_map(|metric| match metric.metric {
            Some(operator_metric::Metric::Count(count)) => count.name.strip_prefix(FACTS).map(str::to_owned),
            _ => None,
        });
        Ok(facts.collect())
    }

    fn gone(&self, status: &tonic::Status) -> DataFusionError {
        other(&format!("the scheduler at {}: {}", self.at, status.message()))
    }
}

/// The error of a job: what one of our tasks has said, or else what Ballista says.
fn refused(text: &str) -> DataFusionError {
    match failure_in(text) {
        Some(error) => DataFusionError::External(error.into()),
        None => other(&format!("the cluster failed: {text}")),
    }
}

/// The rows of the parts, one part after the other.
fn fetched(
    parts: Vec<PartitionLocation>,
    runtime: &Arc<Runtime>,
) -> impl futures::Stream<Item = Result<datafusion::arrow::array::RecordBatch, DataFusionError>> + Send + use<> {
    let (sender, receiver) = tokio::sync::mpsc::channel(AHEAD);
    let reading = runtime.spawn(async move {
        let mut parts = stream::iter(parts).map(fetch).buffered(AHEAD);
        while let Some(part) = parts.next().await {
            let mut rows = match part {
                Ok(rows) => rows,
                Err(error) => {
                    let _ = sender.send(Err(error)).await;
                    return;
                }
            };
            while let Some(batch) = rows.next().await {
                let failed = batch.is_err();
                let batch = batch.map_err(|error| lost(&error.to_string()));
                if sender.send(batch).await.is_err() || failed {
                    return;
                }
            }
        }
    });
    let abort = AbortOnDrop(reading.abort_handle());
    let runtime = Arc::clone(runtime);
    // The runtime lives as long as the rows.
    stream::unfold((receiver, abort, runtime), |(mut receiver, abort, runtime)| async move {
        receiver.recv().await.map(|batch| (batch, (receiver, abort, runtime)))
    })
}

fn lost(words: &str) -> DataFusionError {
    other(&format!("lost an executor and part of the result; run the query again: {words}"))
}

async fn fetch(part: PartitionLocation) -> Result<SendableRecordBatchStream, DataFusionError> {
    let layout = part.layout();
    let (Some(executor), Some(partition)) = (part.executor_meta, part.partition_id) else {
        return Err(other("the scheduler does not tell where the rows are"));
    };
    let port = u16::try_from(executor.port).map_err(|_| other("an executor has no port"))?;
    let client = BallistaClient::try_new(&executor.host, port, MESSAGE_BYTES_MAX as usize, false, None, 3, 100, 0, 0);
    let mut client = client.await.map_err(|error| lost(&error.to_string()))?;
    let rows = client.fetch_partition(&executor.id, &partition.into(), part.file_id, layout, true).await;
    let rows = rows.map_err(|error| lost(&error.to_string()))?;
    let schema = rows.schema();
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows.map_err(|error| lost(&error.to_string())))))
}
