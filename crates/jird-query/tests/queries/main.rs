//! Queries compared with a model of what they mean: `model` reads records and evaluates queries as plainly as it can be
//! written, and what jird answers must be the same, on any number of threads, in pieces of any size, however much is
//! checked.

#[path = "../../../jird/tests/common/mod.rs"]
mod common;
mod computed;
mod corpus;
mod direct;
mod escapes;
mod model;
mod pinned;
mod random;
mod search;
#[cfg(feature = "remote")]
#[path = "../server/mod.rs"]
mod server;
mod suite;
mod within;

/// Random numbers, and JSON strings in random spellings. Not by way of the crate `checks`: that one wants features of serde_json
/// with which DataFusion would be compiled once more.
#[path = "../../../../testing/checks/src/random.rs"]
#[allow(dead_code, unreachable_pub, reason = "the crate that it is from uses the rest")]
mod dice;

/// The plain reader of JSON; from there too.
#[path = "../../../../testing/checks/src/reference.rs"]
#[allow(dead_code, unreachable_pub, reason = "the crate that it is from uses the rest")]
mod reference;

/// A query as it is asked here. A cluster asks others for it.
fn asked(query: jird_query::Query) -> jird_query::Query {
    query
}
