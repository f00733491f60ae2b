//! SQL over JSON records as they lie in files: DataFusion plans and runs it, the scan beneath it is jird's.
//!
//! [`Query`] is the way in; [`condition`] reads a `where` by itself, for other commands. A query goes through four stages: the
//! SQL is rewritten so that every name is a scanned column and every comparison is the engine's (`sql`); the types of those
//! fields that are computed with are inferred from all records (`infer`), or guessed, and confirmed in passing (`guess`);
//! DataFusion plans it over our file source (`scan`) and runs it; batches become text (`output`).
#![forbid(unsafe_code)]

mod bad;
mod error;
mod functions;
mod groups;
mod guess;
mod infer;
mod input;
mod kinds;
mod live;
mod output;
mod prepared;
mod report;
mod run;
mod scan;
mod session;
mod sql;
mod time;
mod types;

pub use error::{Error, ErrorKind};
pub use input::{From, Progress};
pub use jird::lines::Check;
pub use jird_formats::files::OnError;
pub use output::Format;
pub use report::Report;
pub use run::{Options, Query};
pub use sql::condition;
pub use types::FieldTypes;
