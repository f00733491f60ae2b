//! `jird-cluster scheduler`.

use crate::address::Address;
use crate::codec::{MESSAGE_BYTES_MAX, codec};
use crate::told::tell;
use anyhow::{Context, Result};
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::utils::default_session_builder;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::{SchedulerConfig, TaskDistributionPolicy};
use ballista_scheduler::scheduler_process::start_server;
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::prelude::SessionConfig;
use jird_query::cluster::functions;
use std::sync::Arc;

/// Hand out the tasks of queries
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where executors and queries reach it
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    listen: Address,
    /// After how many seconds without a sign of life an executor is taken for dead, and its tasks are done again
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = clap::value_parser!(u64).range(5..))]
    timeout: u64,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    tell();
    let runtime = tokio::runtime::Runtime::new().context("cannot start threads")?;
    runtime.block_on(serve(args))
}

/// A session of the scheduler, which knows our functions by their names.
fn session(config: SessionConfig) -> datafusion::error::Result<SessionState> {
    let mut state = default_session_builder(config)?;
    for function in functions() {
        state.register_udf(Arc::new(function.clone()))?;
    }
    Ok(state)
}

async fn serve(args: &Args) -> Result<()> {
    let listen = args.listen.resolve()?;
    let config = SchedulerConfig {
        external_host: args.listen.bare_host().to_owned(),
        bind_host: listen.ip().to_string(),
        bind_port: listen.port(),
        // The scheduler reaches executors: it starts tasks at once, and ends them when a query ends.
        scheduling_policy: TaskSchedulingPolicy::PushStaged,
        task_distribution: TaskDistributionPolicy::RoundRobin,
        executor_timeout_seconds: args.timeout,
        expire_dead_executor_interval_seconds: 1,
        no_executors_grace_period_seconds: args.timeout,
        finished_job_data_clean_up_interval_seconds: 60,
        finished_job_state_clean_up_interval_seconds: 120,
        grpc_server_max_decoding_message_size: MESSAGE_BYTES_MAX,
        grpc_server_max_encoding_message_size: MESSAGE_BYTES_MAX,
        grpc_client_max_message_size: MESSAGE_BYTES_MAX,
        override_session_builder: Some(Arc::new(session)),
        override_physical_codec: Some(codec(1)),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await.context("cannot start the scheduler")?;
    eprintln!("jird-cluster: the scheduler is at df://{}", args.listen);
    let ended = async { tokio::signal::ctrl_c().await.context("waiting for signals") };
    tokio::select! {
        served = start_server(cluster, listen, Arc::new(config)) => {
            served.with_context(|| format!("the scheduler at {}", args.listen))
        }
        ended = ended => ended,
    }
}
