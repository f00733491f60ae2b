//! Queries that a cluster runs.
//!
//! The process that asks plans the query as if it ran here, with one difference: files are cut into as many parts as the
//! cluster takes at a time (`distribute`). The physical plan then travels ([`Codec`]), and whatever runs it, such as
//! Apache DataFusion Ballista, cuts it into stages and tasks. Our scans, functions and steps travel by the codec;
//! everything else is DataFusion's and travels as DataFusion sends it. Each task tells what its scans have found
//! ([`facts()`]): counts, types that were watched, and bad records. These come back before the first row does, so a query
//! knows of its input all that it would know on one machine.

mod alone;
mod codec;
mod distribute;
mod facts;
mod failure;
mod marked;
mod message;
mod recipe;
mod run;
mod stop;

pub use codec::{Codec, functions};
pub use facts::facts;
pub use failure::{failed, failure_in};
pub(crate) use recipe::Recipe;
pub(crate) use run::{run, session};
pub use stop::Stop;

use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// The result of a plan that a cluster has run.
pub struct ClusterResult {
    /// The rows: those of the first partition, then those of the second, and so on. Their schema may lack metadata.
    pub rows: SendableRecordBatchStream,
    /// What the tasks have found, each as [`facts()`] gives it. It is complete before there are rows.
    pub facts: Vec<String>,
}

/// The result of [`Cluster::run`].
pub type Running<'r> = Pin<Box<dyn Future<Output = Result<ClusterResult, DataFusionError>> + Send + 'r>>;

/// A cluster that runs plans.
pub trait Cluster: Debug + Send + Sync {
    /// How many tasks run at the same time, at least one.
    fn tasks(&self) -> usize;

    /// Runs a plan, which [`Codec`] turns into a message. The work ends if the future, or the rows, are dropped.
    fn run(&self, plan: Arc<dyn ExecutionPlan>) -> Running<'_>;
}
