//! What each path answers.
//!
//! ```text
//! read, change    tables                              paths, openapi  the description
//! endpoints       ingestion endpoints: lines, the forms of Seq, Elasticsearch, OpenTelemetry, Loki and syslog, into a batch
//! page            the page at /: HTML, a style sheet and a script
//! state           what requests share                 events, facets, alerts  the event store
//! ```

pub(crate) mod alerts;
pub(crate) mod change;
pub(crate) mod endpoints;
pub(crate) mod events;
pub(crate) mod facets;
pub(crate) mod openapi;
pub(crate) mod page;
pub(crate) mod paths;
#[cfg(feature = "query")]
pub(crate) mod query;
pub(crate) mod read;
pub(crate) mod served;
pub(crate) mod state;
