//! The `jird` command as a library, for programs that have it built in, such as the Python package: it reads, checks,
//! reshapes and queries JSON. Data goes to standard output, messages to standard error.
//!
//! It is a whole command: it watches for signals, and a wrong argument ends the process. So it is run once in a
//! process, and is all that the process does.
//!
//! # The source, from the ground up
//!
//! Each file or folder uses only those above it.
//!
//! ```text
//! system     what operating systems do in different ways
//! progress, outcome, remote, input, lenient, documents   the progress line, exit codes, URLs, inputs, notations that are
//!                                               almost JSON, their documents
//! output, color, target, rewrite, signals       standard output, colours, files that appear whole or are rewritten, signals
//! memory, limits, dialect, format, from, durations, window, wait, store_args, condition   how much memory there is; options of several commands
//! man                                           the manual pages
//! validate, fmt, get, edit, diff, ingest, store, convert, describe, query, bench, serve   a command each
//! args                                          the arguments and the help
//! cluster                                       `jird query` on a cluster, for the program that reaches one
//! ```
#![forbid(unsafe_code)]

mod args;
#[cfg(feature = "query")]
mod bench;
#[cfg(feature = "cluster")]
pub mod cluster;
mod color;
#[cfg(feature = "convert")]
mod condition;
#[cfg(feature = "convert")]
mod convert;
#[cfg(feature = "convert")]
mod describe;
#[cfg(any(feature = "convert", feature = "query"))]
mod dialect;
mod diff;
mod documents;
#[cfg(any(feature = "convert", feature = "serve"))]
mod durations;
mod edit;
mod fmt;
#[cfg(any(feature = "convert", feature = "query"))]
mod format;
#[cfg(any(feature = "convert", feature = "query"))]
mod from;
mod get;
#[cfg(feature = "convert")]
mod ingest;
mod input;
mod lenient;
mod limits;
mod man;
#[cfg(feature = "query")]
mod memory;
mod outcome;
mod output;
mod progress;
#[cfg(feature = "query")]
mod query;

mod remote;
mod rewrite;
#[cfg(feature = "serve")]
mod serve;
mod signals;
#[cfg(feature = "convert")]
mod store;
#[cfg(any(feature = "convert", feature = "serve"))]
mod store_args;
mod system;
mod target;
mod validate;
#[cfg(feature = "convert")]
mod wait;
#[cfg(any(feature = "convert", feature = "query"))]
mod window;

use args::{Args, Command};
use clap::Parser;
use outcome::Outcome;
use std::ffi::OsString;

/// Runs the command with these arguments, starting with its name, and returns its exit code.
///
/// No other thread of the process may run yet: threads inherit which signals are blocked.
///
/// ```no_run
/// let code = jird_cli::run(std::env::args_os());
/// assert_eq!(code, 0);
/// ```
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // Before any thread is there, which would keep the rights of the server.
    #[cfg(all(feature = "serve", feature = "sql"))]
    if arguments.get(1).is_some_and(|argument| argument == serve::QUERY_PROCESS) {
        return serve::run_queries().code();
    }
    #[cfg(feature = "convert")]
    say_nothing_of_caught_panics();
    #[cfg(feature = "convert")]
    system::raise_open_files();
    let watched = signals::watch().and_then(|()| args::kernel());
    let outcome = watched.and_then(|()| command(Args::parse_from(arguments)));
    outcome.unwrap_or_else(|error| Outcome::of_error(&error)).code()
}

/// Forces the instruction set that the environment variable `JIRD_KERNEL` names, if it is set and not empty, as [`run`] does.
///
/// # Errors
/// If the name is unknown, this CPU cannot run it, or another one was forced before.
pub fn force_kernel() -> anyhow::Result<()> {
    args::kernel()
}

/// Silences panics that the Parquet reader raises on damaged files. They are caught, and the user gets an error
/// instead.
#[cfg(feature = "convert")]
fn say_nothing_of_caught_panics() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !jird_formats::is_panic_caught() {
            hook(panic);
        }
    }));
}

fn command(args: Args) -> anyhow::Result<Outcome> {
    match args.command {
        Command::Validate(args) => validate::run(&args),
        Command::Fmt(args) => Ok(fmt::run(&args)),
        Command::Get(args) => get::run(&args),
        Command::Set(args) => edit::set(&args),
        Command::Unset(args) => edit::unset(&args),
        Command::Patch(args) => edit::patch(&args),
        Command::Merge(args) => edit::merge(&args),
        Command::Diff(args) => diff::run(&args),
        #[cfg(feature = "query")]
        Command::Query(args) => query::run(*args, query::Place::Here),
        #[cfg(feature = "query")]
        Command::Bench(args) => Ok(bench::run(&args)),
        #[cfg(not(feature = "query"))]
        Command::Query(args) | Command::Bench(args) => args.run("SQL", "query"),
        #[cfg(feature = "convert")]
        Command::Ingest(args) => ingest::run(&args),
        #[cfg(feature = "convert")]
        Command::Store(args) => store::run(&args),
        #[cfg(feature = "convert")]
        Command::Convert(args) => convert::run(&args),
        #[cfg(feature = "convert")]
        Command::Describe(args) => describe::run(&args),
        #[cfg(not(feature = "convert"))]
        Command::Ingest(args) | Command::Store(args) => args.run("the event store", "convert"),
        #[cfg(not(feature = "convert"))]
        Command::Convert(args) | Command::Describe(args) => args.run("conversion", "convert"),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(*args),
        #[cfg(not(feature = "serve"))]
        Command::Serve(args) => args.run("the server", "serve"),
        Command::Completions { shell } => args::completions(shell),
        Command::Man { folder } => args::man(&folder),
    }
}
