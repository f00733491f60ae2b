//! `jird-cluster executor`.

use crate::address::Address;
use crate::codec::{MESSAGE_BYTES_MAX, codec, registry};
use crate::engine::Engine;
use crate::told::tell;
use anyhow::{Context, Result};
use ballista_core::config::TaskSchedulingPolicy;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use std::path::PathBuf;
use std::sync::Arc;

/// Run tasks on this machine
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The scheduler
    #[arg(long, value_name = "df://HOST:PORT", default_value = "127.0.0.1:50050")]
    at: Address,
    /// Where the other executors, the scheduler and queries reach it; the port after this one is used too
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50051")]
    listen: Address,
    /// How many tasks run at the same time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    cores: Option<u16>,
    /// The folder for what stages pass on, and for sorts that do not fit in memory [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// How many bytes groups, sorts and joins may take together before they use the disk [default: 70 % of the memory]
    #[arg(long, value_name = "BYTES")]
    memory: Option<u64>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    tell();
    let runtime = tokio::runtime::Runtime::new().context("cannot start threads")?;
    let listen = args.listen.resolve()?;
    let grpc_port = listen.port().checked_add(1).context("the port after this one is used too, and there is none")?;
    let cores = args.cores.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let own = std::env::temp_dir().join(format!("jird-cluster-{}-{}", listen.port(), std::process::id()));
    let folder = args.folder.as_ref().unwrap_or(&own);
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let config = ExecutorProcessConfig {
        bind_host: listen.ip().to_string(),
        external_host: Some(args.listen.bare_host().to_owned()),
        port: listen.port(),
        grpc_port,
        scheduler_host: args.at.host.clone(),
        scheduler_port: args.at.port,
        scheduler_connect_timeout_seconds: 30,
        vcores: cores,
        task_scheduling_policy: TaskSchedulingPolicy::PushStaged,
        work_dir: Some(folder.to_string_lossy().into_owned()),
        executor_heartbeat_interval_seconds: 1,
        job_data_ttl_seconds: 3600,
        job_data_clean_up_interval_seconds: 600,
        memory_pool_size: args.memory,
        grpc_max_decoding_message_size: MESSAGE_BYTES_MAX,
        grpc_max_encoding_message_size: MESSAGE_BYTES_MAX,
        override_execution_engine: Some(Arc::new(Engine::default())),
        override_function_registry: Some(Arc::new(registry())),
        override_physical_codec: Some(codec(cores)),
        ..ExecutorProcessConfig::default()
    };
    eprintln!("jird-cluster: the executor at {} runs {cores} tasks at a time for df://{}", args.listen, args.at);
    let ended = runtime.block_on(start_executor_process(Arc::new(config)));
    // Nothing else uses the temporary folder.
    if args.folder.is_none() {
        let _ = std::fs::remove_dir_all(&own);
    }
    ended.with_context(|| format!("the executor at {}", args.listen))
}
