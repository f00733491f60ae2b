//! SQL over JSON records in files. DataFusion plans and runs the SQL; the scan below it is jird's.
//!
//! Start at [`Query`]. [`condition`] reads a `where` condition by itself, for other commands. A query goes through four
//! stages. First the SQL is rewritten so that every name is a scanned column and every comparison is the engine's
//! (`sql`). Next, the types of fields that the query computes with are inferred from all records (`types`), or guessed
//! and confirmed during the scan. Then the query runs: if one scan answers it, without a plan (`run::direct`); otherwise
//! DataFusion plans it over our file source (`scan`). Finally, batches become text (`output`).
//!
//! Without the feature `sql` there is no DataFusion, and a query is what one scan answers: fields, `*` or `count(*)` of
//! the records that meet a condition, up to a limit.
//!
//! # The source, from the ground up
//!
//! Each floor uses only those above it. After the dash: where to start reading.
//!
//! ```text
//! base       errors; names of files and queries; what ends a query early; threads - Error, Interrupt, Named
//! input      the files of a query: lines, arrays, pipes, tables, stores, URLs, folders with keys - Progress, Remotes
//! sql        rewrites the SQL: every name is a scanned column, every comparison the engine's - parse, rewrite
//! functions  our functions that DataFusion calls; exact sums and means; the order of all values - scalar_functions
//! guard      calls of functions within the memory and the time of their query - GuardCalls
//! scan       the scan below DataFusion: files in, Arrow batches out; filters that are pushed down - Table
//! output     results as text or files, also in parts; what a query did (--stats) - Format, Report
//! types      types that are fixed, inferred from all records, or guessed and then confirmed - Types, Gate
//! plan       changes to DataFusion's plans - depends_on_arrival, steady, decide_ties
//! setup      what a query is given: options, inputs, room on disk, its session - Options, Inputs, session
//! cluster    queries that other processes run: how a plan is cut and travels - Cluster, Codec, facts
//! run        from a query's text to its result, and again when more is known of its fields - Query, Execution
//! ```
//!
//! `sql` has five rooms, and each uses only those before it:
//!
//! ```text
//! base     small parts of syntax, constants, and JSON text as an expression
//! text     what the user wrote, as one plain query. It knows no table: operators (dialect), other databases' forms
//!          (spelling), views, copy, queries of clients (served)
//! resolve  what names mean, what is known of their values, which conditions the engine decides
//! values   rewrites expressions, a file for each kind, and asks the Walk for what stands within them
//! rows     rewrites queries, a file for each clause
//! ```
//!
//! `plan` has, by file: whether an answer depends on the order in which rows arrive (`arrival`), and plans that
//! keep the order of the input (`steady`); rows that are equal in an `order by` (`ties`); aggregates that sort for
//! themselves (`sorted`); checkpoints, and rows that joins, windows and `unnest` repeat (`watched`, `repeated`);
//! corrections of rules of DataFusion (`filters`, `ordering`, `lambdas`). It also leaves out sorts that a store has done
//! already, groups by a field only once, and corrects casts to integers.
#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "sql"), allow(dead_code, reason = "what serves the engine of SQL is not taken apart"))]

mod base;
#[cfg(feature = "cluster")]
pub mod cluster;
#[cfg(feature = "sql")]
mod functions;
#[cfg(feature = "sql")]
mod guard;
mod input;
mod output;
#[cfg(feature = "sql")]
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
