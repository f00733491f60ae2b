//! SQL over JSON records in files. DataFusion plans and runs the SQL; the scan below it is jird's.
//!
//! Start at [`Query`]. [`condition`] reads a `where` condition by itself, for other commands. A query goes through four
//! stages. First the SQL is rewritten so that every name is a scanned column and every comparison is the engine's
//! (`sql`). Next, the types of fields that the query computes with are inferred from all records (`infer`), or guessed
//! and confirmed during the scan (`guess`). Then DataFusion plans the query over our file source (`scan`) and runs it.
//! Finally, batches become text (`output`).
#![forbid(unsafe_code)]

mod arrival;
mod bad;
#[cfg(feature = "cluster")]
pub mod cluster;
mod defined;
mod error;
mod execute;
mod facts;
mod filters;
mod functions;
mod groups;
mod guard;
mod guess;
mod infer;
mod input;
mod inputs;
mod interrupt;
mod kinds;
mod learned;
mod live;
mod named;
mod nearest;
mod notes;
mod options;
mod ordered;
mod ordering;
mod output;
mod prepared;
mod registered;
mod repeated;
mod report;
mod rounded;
mod run;
mod scan;
mod session;
mod sparing;
mod spill;
mod sql;
mod steady;
mod threads;
mod ties;
mod types;
mod watched;

pub use defined::{Defined, Definitions};
pub use error::{Error, ErrorKind};
pub use input::{From, Progress, Remotes};
pub use interrupt::Interrupt;
pub use jird::lines::Check;
pub use jird_formats::DialectChoice;
pub use jird_formats::files::{OnError, SpoolOptions};
pub use jird_store::Window;
pub use named::Named;
pub use options::Options;
pub use output::{Format, Parts};
pub use report::Report;
pub use run::Query;
pub use spill::Spill;
pub use sql::{CopyTo, condition};
pub use types::FieldTypes;

/// The Rust examples of README.md, which run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
