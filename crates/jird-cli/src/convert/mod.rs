//! `jird convert`: any source to any sink.
//!
//! ```text
//! any_sink   a sink behind a pointer
//! batches    copies columns between formats that have the same types
//! database   databases as targets: tables copied with their definitions, or made of records
//! open       inputs: decompressed, counted, and readable more than once
//! overlap    refuses to write a file while it is read
//! source     one source of events for every format
//! columns    names of columns that a table does not have
//! condition  keeps the records for which a condition holds
//! feed       sends inputs through filters to a sink, and handles bad records
//! met        which of the names that were typed occur
//! fields     plain columns of lines, without events for the rest
//! parquet    Parquet, or the error of a program without it
//! share      converts inputs that fall into pieces, on all threads
//! whole      passes records on only when they are complete
//! write      targets: each format with its sink, and columns planned where they must be known first
//! ```

mod any_sink;
mod batches;
mod columns;
mod condition;
mod database;
mod feed;
mod fields;
mod jobs;
mod met;
mod open;
mod overlap;
mod parquet;
mod share;
mod source;
mod whole;
mod write;

use crate::dialect::DialectArgs;
use crate::from::FromArgs;
use crate::input::{Counter, Input};
use crate::limits::{RecordArgs, SpoolArgs};
use crate::outcome::{Outcome, left_out, report as say};
use crate::progress::Progress;
use crate::remote::RemoteArgs;
use anyhow::{Context, Result, bail};
pub(crate) use feed::Feed;
use feed::Tally;
use jird::event::Pattern;
use jird_formats::files::{FileFormat, OnError};
pub(crate) use open::Opened;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Instant;

const EXAMPLES: &str = "\
Examples:
  jird convert events.ndjson events.parquet
  jird convert --select @t,Level,Message events.ndjson.gz levels.csv
  jird convert --where \"Level = 'Error'\" events.ndjson errors.db
  jird convert --records '/items/*' answer.json items.ndjson
  jird convert --nested types events.ndjson events.parquet    lists and structs, not JSON text
  jird convert *.csv data.db                          one table for each file
  jird convert chinook.db tables/ --to csv            one file for each table
  jird convert --table Artist chinook.db - | head
  jird convert --key id new.ndjson people.db --table users
  jird convert --on-error quarantine=bad.ndjson log.ndjson log.parquet
  jird convert --from jsonc settings.jsonc settings.csv   also json5, and --allow for more
  jird convert --from quarantine bad.ndjson more.parquet  after correcting them there

The name of a file says its format. If it does not, use --from and --to. gzip, zstd,
bzip2, xz and LZ4 are recognised.
A bad record is a line that is not JSON, or a wrong row of CSV. In Arrow, Parquet and SQLite, it is
a row with a value that JSON does not have: NaN, a time of day beyond 24:00:00, a text that is not
UTF-8. An error in a whole file, or in a JSON document that is not lines, ends the command, whatever
--on-error says.
A new file appears when it is complete. An existing database gets all rows in one transaction, or
none.
Exit codes: 0 success, 1 some records were bad, 2 the command could not do its work.";

/// Convert between JSON, CSV, SQLite, Parquet and Arrow
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[cfg_attr(not(feature = "parquet"), command(about = "Convert between JSON, CSV, SQLite and Arrow"))]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that somebody types")]
pub(crate) struct ConvertArgs {
    /// The inputs, then the output; `-` is standard input or output
    #[arg(value_name = "FROM… TO", num_args = 1.., required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    from: FromArgs,
    /// The format of the output [default: by its name; ndjson on standard output]
    #[arg(long, value_parser = crate::format::parser(), value_name = "FORMAT")]
    to: Option<FileFormat>,
    /// Only these keys, separated by commas; a.b is the key b of the object a
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    select: Vec<String>,
    /// Only records for which this holds, in SQL: Elapsed > 200 and user.name like 'A%'
    #[arg(long = "where", value_name = "CONDITION", hide = cfg!(not(feature = "query")))]
    condition: Option<String>,
    /// Which values of a JSON document are records, such as /items/* [default: the elements of an array, or the
    /// document]
    #[arg(long, value_name = "PATTERN")]
    records: Option<Pattern>,
    #[command(flatten)]
    dialect: DialectArgs,
    /// Turn fields of nested objects into keys with dots: a.b
    #[arg(long)]
    flatten: bool,
    /// How Arrow and Parquet hold objects and arrays
    #[arg(long, value_enum, value_name = "HOW", default_value = "json")]
    nested: Nested,
    /// At most this many records
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// The table that is read or written [default: the only one; the name of the file]
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Update rows of the table that have the same values in these columns
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    key: Vec<String>,
    /// Add to an existing table
    #[arg(long, conflicts_with_all = ["replace", "key"])]
    append: bool,
    /// Replace an existing table
    #[arg(long, conflicts_with = "key")]
    replace: bool,
    /// Commit a database after every N rows: if something fails later, committed rows stay
    #[arg(long, value_name = "N")]
    commit_every: Option<NonZeroU64>,
    /// What to do with a bad record: stop, skip, quarantine=FILE (a new file), or quarantine+=FILE (add to it)
    #[arg(long, value_name = "HOW", default_value = "stop")]
    on_error: OnError,
    #[command(flatten)]
    record: RecordArgs,
    #[command(flatten)]
    spool: SpoolArgs,
    #[command(flatten)]
    remote: RemoteArgs,
    /// In CSV, read unquoted text that looks like a number, a boolean or null as one; quote strings that look like one
    #[arg(long)]
    typed: bool,
    #[arg(long, hide = true, value_name = "N")]
    threads: Option<usize>,
    /// Print to standard error how much was done, and how fast
    #[arg(long)]
    stats: bool,
    /// Print nothing except errors, and draw no progress bar
    #[arg(short, long)]
    quiet: bool,
}

/// How objects and arrays are held in columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Nested {
    /// JSON text: every value stays as it is
    Json,
    /// Lists and structs, where all values of a column allow it: other programs see their types
    Types,
}

pub(crate) fn run(args: &ConvertArgs) -> Result<Outcome> {
    let (target, sources) = args
        .files
        .split_last()
        .filter(|(_, sources)| !sources.is_empty())
        .context("name the inputs, and then the output; `-` is standard input or output")?;
    args.remote.begin();
    let inputs = Input::all(sources);
    if inputs.iter().filter(|input| **input == Input::Stdin).count() > 1 {
        bail!("standard input can be read only once");
    }
    overlap::check(args, &inputs, target)?;
    let started = Instant::now();
    let counter = Counter::default();
    let spooling = args.spool.options();
    let mut opened = Vec::new();
    for input in &inputs {
        opened.push(Opened::new(input, &counter, &spooling)?);
    }
    let progress = Progress::start(move || counter.done(), args.quiet);
    let mut feed = Feed::new(args)?;
    let written = write::write(args, &mut opened, target, &mut feed);
    drop(progress);
    let unmet = if written.is_ok() { feed.unmet(&mut opened) } else { Vec::new() };
    let mut tally = feed.finish()?;
    written?;
    tally.warnings.extend(unmet);
    if args.stats {
        report(&tally, opened.iter().map(Opened::bytes).sum(), started);
    }
    Ok(told(&tally, args.quiet))
}

/// Reports what was left out.
fn told(tally: &Tally, quiet: bool) -> Outcome {
    for warning in tally.warnings.iter().filter(|_| !quiet) {
        say(&format!("note: {warning}"));
    }
    if tally.mismatches > 0 && !quiet {
        say(&format!(
            "note: {} values have another type than what they are compared with (without --typed, all values of CSV are text)",
            tally.mismatches
        ));
    }
    left_out(tally.bad, tally.first_bad.as_deref(), quiet)
}

/// Says how much was done. `bytes` is `None` if they were not counted.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn report(tally: &Tally, bytes: Option<u64>, started: Instant) {
    let seconds = started.elapsed().as_secs_f64();
    for note in &tally.notes {
        say(note);
    }
    let (records, per_second) = (tally.records, tally.records as f64 / seconds);
    say(&match bytes.map(|bytes| bytes as f64 / 1e6) {
        Some(megabytes) => format!(
            "{records} records, {megabytes:.1} MB read in {seconds:.2} s: {per_second:.0} records/s, {:.0} MB/s",
            megabytes / seconds
        ),
        None => format!("{records} records in {seconds:.2} s: {per_second:.0} records/s"),
    });
}

/// The table name that is used for a file.
fn table_name(path: &Path) -> String {
    let name = path.file_name().map_or_else(|| "data".to_owned(), |name| name.to_string_lossy().into_owned());
    let stem = name.split('.').next().unwrap_or_default();
    if stem.is_empty() { "data".to_owned() } else { stem.to_owned() }
}
