//! `jird-cluster`: jird's queries on several machines, by Apache DataFusion Ballista.
//!
//! One process is the scheduler, each machine runs an executor, and `jird-cluster query` asks. It takes the same
//! arguments as `jird query` and gives the same rows: jird plans the query where it is asked, Ballista cuts the plan into
//! stages and tasks, and jird's scan runs in the tasks.
//!
//! `jird-query` plans in the process that asks. The scheduler and the executors are Ballista's, with our codec; the
//! executors also have our engine. What tasks find besides rows travels as the name of a metric, which Ballista
//! replaces when a task is done again. From the ground up:
//!
//! ```text
//! told, address        the messages of servers; addresses
//! codec                how plans travel, and the functions that all processes know - codec
//! engine               runs a task, reports what it found, and stops what it began when it is ended - Engine
//! scheduler, executor  the two kinds of servers - run
//! client               sends a plan, waits, fetches rows in order, cancels - reach
//! ```
#![forbid(unsafe_code)]

mod address;
mod client;
mod codec;
mod engine;
mod executor;
mod scheduler;
mod told;

pub use address::Address;
pub use client::reach;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  jird-cluster scheduler --listen 10.0.0.1:50050
  jird-cluster executor --at df://10.0.0.1:50050 --listen 10.0.0.2:50051
  jird-cluster query --at df://10.0.0.1:50050 \"select Level, count(*) as n group by Level\" '/shared/logs/*.ndjson'

All machines see the files at the same paths. There is no encryption and no password: the ports belong in a private
network.";

/// Run jird's queries on several machines
#[derive(Debug, Parser)]
#[command(name = "jird-cluster", version, after_help = EXAMPLES)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Hand out the tasks of queries
    Scheduler(scheduler::Args),
    /// Run tasks on this machine
    Executor(executor::Args),
    /// Run SQL on the cluster; the arguments are those of `jird query`
    Query(Box<ClusterQueryArgs>),
}

#[derive(Debug, clap::Args)]
struct ClusterQueryArgs {
    /// The scheduler
    #[arg(long, value_name = "df://HOST:PORT")]
    at: Address,
    /// Into how many tasks the input is cut [default: two for each core of the executors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    tasks: Option<u16>,
    #[command(flatten)]
    query: jird_cli::cluster::QueryArgs,
}

/// Runs the program, and returns its exit code.
///
/// No other thread of the process may run yet: threads inherit which signals are blocked.
pub fn main() -> ExitCode {
    let done = match Args::parse().command {
        Command::Query(args) => {
            let ClusterQueryArgs { at, tasks, query } = *args;
            return jird_cli::cluster::run(query, move || client::reach(&at, tasks.map(usize::from))).into();
        }
        Command::Scheduler(args) => scheduler::run(&args),
        Command::Executor(args) => executor::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("jird-cluster: {error:#}");
            ExitCode::from(2)
        }
    }
}
