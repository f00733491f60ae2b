//! SQL over JSON records in files. DataFusion plans and runs the SQL; the scan below it is jird's.
//!
//! Start at [`Query`]. [`condition`] reads a `where` condition by itself, for other commands. A query goes through four
//! stages. First the SQL is rewritten so that every name is a scanned column and every comparison is the engine's
//! (`sql`). Next, the types of fields that the query computes with are inferred from all records (`types`), or guessed
//! and confirmed during the scan. Then DataFusion plans the query over our file source (`scan`) and runs it.
//! Finally, batches become text (`output`).
#![forbid(unsafe_code)]

mod base;
#[cfg(feature = "cluster")]
pub mod cluster;
mod functions;
mod guard;
mod input;
mod output;
mod plan;
mod run;
mod scan;
mod setup;
mod sql;
mod types;

pub use base::defined::{Defined, Definitions};
pub use base::error::{Error, ErrorKind};
pub use base::interrupt::Interrupt;
pub use base::named::Named;
pub use input::{Progress, Remotes};
pub use jird::lines::Check;
pub use jird_formats::DialectChoice;
pub use jird_formats::files::FileFormat;
pub use jird_formats::files::{OnError, SpoolOptions};
pub use jird_store::Window;
pub use output::report::Report;
pub use output::{Format, Parts};
pub use run::Query;
pub use setup::options::Options;
pub use setup::spill::Spill;
pub use sql::{CopyTo, condition};
pub use types::FieldTypes;

/// The Rust examples of README.md, which run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
