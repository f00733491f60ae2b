//! SQL of others. Each query runs in a process of its own, which the system limits and the server can kill: what a query
//! does to its process, it does to nothing else.
//!
//! ```text
//! message   what a server and its processes tell each other
//! confine   what the system takes from a process: memory, time, files, the network
//! child     the process: it takes queries and runs them
//! temporary the folder of their temporary files
//! pool      the processes of a server
//! answer    a query and its process, from the order to the last byte of the answer
//! ```

mod answer;
mod child;
mod confine;
mod message;
mod pool;
mod temporary;

pub(crate) use answer::answer;
pub use child::run_queries;
pub(crate) use message::{Order, Table};
pub(crate) use pool::Queries;

use jird_query::Format;

/// The media types of answers. The first ones are what an answer says that it is.
pub(crate) const FORMS: [(Format, &[&str]); 6] = [
    (Format::Json, &["application/json", "application/*", "*/*"]),
    (Format::Ndjson, &["application/x-ndjson", "application/ndjson", "application/jsonl"]),
    (Format::Csv, &["text/csv", "text/*"]),
    (Format::Arrow, &["application/vnd.apache.arrow.file"]),
    (Format::ArrowStream, &["application/vnd.apache.arrow.stream"]),
    (Format::Parquet, &["application/vnd.apache.parquet"]),
];

/// The message for a query that exceeds its memory limit, whether jird or the system notices.
const MEMORY: &str = "the query needs more memory than this server allows";
