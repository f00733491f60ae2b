//! A scheduler and two executors, each a process of its own, and queries of them. A query must give what it gives on one
//! machine: rows, their order, counts, notes and bad records.

mod cases;
mod faults;
mod processes;
mod random;

/// The plain model of what queries mean, and random queries, which jird-query tests on one machine.
#[path = "../../../jird-query/tests/queries/model/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the crate that it is from uses the rest")]
mod model;

#[path = "../../../../testing/checks/src/random.rs"]
#[allow(dead_code, unreachable_pub, clippy::pedantic, reason = "the crate that it is from uses the rest")]
mod dice;

#[path = "../../../../testing/checks/src/reference.rs"]
#[allow(dead_code, unreachable_pub, clippy::pedantic, reason = "the crate that it is from uses the rest")]
mod reference;

use jird_query::Query;
use jird_query::cluster::Cluster;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// The cluster that the queries of this thread are asked of.
    static CLUSTER: RefCell<Option<Arc<dyn Cluster>>> = const { RefCell::new(None) };
}

/// A query as the model asks it.
fn asked(query: Query) -> Query {
    CLUSTER.with_borrow(|cluster| match cluster {
        Some(cluster) => query.on(Arc::clone(cluster)),
        None => query,
    })
}
