//! `jird query`, run by a cluster: for the program that knows how to reach one.

use crate::outcome::Outcome;
use crate::query::{self, Place};
use crate::{args, limits, signals};
use jird_query::cluster::Cluster;
use std::sync::Arc;

pub use crate::query::QueryArgs;

/// A cluster that was reached.
pub struct Reached {
    /// What runs the query.
    pub cluster: Arc<dyn Cluster>,
    /// Ends the work of all its machines, before a signal ends this process.
    pub cancel: Box<dyn FnOnce() + Send>,
}

/// Runs a query on the cluster that `reach` finds, and returns the exit code. Data goes to standard output, messages to
/// standard error.
///
/// No other thread of the process may run yet: threads inherit which signals are blocked. `reach` may start some.
pub fn run(args: QueryArgs, reach: impl FnOnce() -> anyhow::Result<Reached>) -> u8 {
    limits::raise_open_files();
    let done = signals::watch().and_then(|()| args::kernel()).and_then(|()| reach()).and_then(|reached| {
        signals::first(reached.cancel);
        query::run(args, Place::On(reached.cluster))
    });
    done.unwrap_or_else(|error| Outcome::of_error(&error)).code()
}
