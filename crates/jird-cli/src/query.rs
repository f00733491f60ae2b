//! `jird query`.

use crate::outcome::{BadData, Outcome, report as say, words};
use crate::target::Target;
use anyhow::Result;
use clap::ValueEnum;
use jird_query::{Check, ErrorKind, Format, Options, Query, Report};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  jird query \"select Message where Elapsed > 200\" events.ndjson
  jird query \"select Level, count(*) as n group by Level order by n desc\" 'logs/*.ndjson'
  jird query \"select time_bucket('1h', \\\"@t\\\") as hour, avg(Elapsed) group by hour order by hour\" events.ndjson
  jird query \"select a.id, b.name from stream a join 'names.ndjson' b on a.id = b.id\" events.ndjson
  curl -s https://example.org/log | jird query \"select * where match(Message, 'time.?out') limit 10\"

The files are the table `stream`. A field of an object is written a.b or a['b'], an element a[0], a key with a dot \"a.b\".
Exit codes: 0 fine, 1 a record is not JSON, 2 anything else.";

/// Run SQL over JSON records, one a line
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The query. Without `from` it reads all files.
    sql: String,
    /// Files or patterns; `-` or none is standard input
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// How to print the result [default: table on a terminal, ndjson elsewhere]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<FormatArgument>,
    /// Writes the result to a file, which appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Threads that scan [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// How much of the records is checked
    #[arg(long, value_enum, default_value = "all", value_name = "HOW")]
    check: CheckArgument,
    /// Short for `--check trusted`
    #[arg(long, conflicts_with = "check")]
    trusted: bool,
    /// Says on standard error what was done, and how fast
    #[arg(long)]
    stats: bool,
    /// Says nothing that is not an error
    #[arg(short, long)]
    quiet: bool,
    #[arg(long, hide = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    chunk_bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatArgument {
    /// Columns for people
    Table,
    /// One JSON object a line
    Ndjson,
    /// One JSON array
    Json,
    /// Comma-separated values
    Csv,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CheckArgument {
    /// Every record, whole
    All,
    /// Records that are looked into
    Touched,
    /// None
    Trusted,
}

#[expect(clippy::unnecessary_wraps, reason = "every command has this shape")]
pub(crate) fn run(args: Args) -> Result<Outcome> {
    let mut report = Report::default();
    let (stats, quiet) = (args.stats, args.quiet);
    let result = execute(args, &mut report);
    if !quiet {
        report.notes.iter().for_each(|note| say(&format!("note: {note}")));
    }
    if stats {
        let _ = write!(std::io::stderr(), "{report}");
    }
    let outcome = result.map_or_else(|error| failure(&error), |()| Outcome::Fine);
    report.unreadable.iter().for_each(|message| say(message));
    Ok(if report.unreadable.is_empty() { outcome } else { Outcome::Failed })
}

fn execute(args: Args, report: &mut Report) -> Result<()> {
    let to_terminal = args.output.is_none() && std::io::stdout().is_terminal();
    let (query, output) = meant(args, to_terminal);
    let mut out = Target::create(output.as_deref())?;
    query.run(&mut out, report)?;
    Ok(out.commit()?)
}

/// From what was typed to what is meant.
fn meant(args: Args, to_terminal: bool) -> (Query, Option<PathBuf>) {
    let default = Options::default();
    let options = Options {
        threads: args.threads.map_or(default.threads, usize::from),
        check: match args.check {
            _ if args.trusted => Check::Trusted,
            CheckArgument::All => Check::All,
            CheckArgument::Touched => Check::Touched,
            CheckArgument::Trusted => Check::Trusted,
        },
        format: match args.format {
            Some(FormatArgument::Table) => Format::Table,
            Some(FormatArgument::Json) => Format::Json,
            Some(FormatArgument::Csv) => Format::Csv,
            None if to_terminal => Format::Table,
            Some(FormatArgument::Ndjson) | None => Format::Ndjson,
        },
        chunk_bytes: args.chunk_bytes.unwrap_or(default.chunk_bytes),
    };
    (Query::new(args.sql, args.files, options), args.output)
}

/// Reports why a query failed.
fn failure(error: &anyhow::Error) -> Outcome {
    match error.downcast_ref::<jird_query::Error>().map(jird_query::Error::kind) {
        Some(ErrorKind::BrokenPipe) => Outcome::Fine,
        Some(ErrorKind::Record) => Outcome::of_error(&BadData(words(error)).into()),
        _ => Outcome::of_error(error),
    }
}
