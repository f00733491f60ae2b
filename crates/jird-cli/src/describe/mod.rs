//! `jird describe`: summarizes the fields of records.

mod print;

use crate::convert::{Feed, Opened};
use crate::from::FromArgs;
use crate::input::{Counter, Input};
use crate::limits::SpoolArgs;
use crate::outcome::{Outcome, left_out};
use crate::output;
use crate::progress::Progress;
use crate::remote::RemoteArgs;
use crate::system::columns;
use anyhow::{Result, bail};
use clap::ValueEnum;
use jird::Layout;
use jird::event::Pattern;
use jird_formats::Fields;
use jird_formats::files::OnError;
use std::io::stdout;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  jird describe events.ndjson
  jird describe *.csv --typed
  jird describe logs.ndjson.gz --format json | jird query \"select field, type where missing > 0\"
  jird describe --schema events.ndjson > events.schema.json
  jird describe --table Artist chinook.db

If a key occurs twice in an object, its first value counts. The elements of an array are the
field []. `jird convert --help` says what a bad record is. An error in a whole file ends the
command, whatever --on-error says.
Exit codes: 0 success, 1 some records were bad, 2 the command could not do its work.";

/// Describe what records hold: fields, types, nulls, missing values, and where each type first occurred
///
/// All records are read, so the description holds for all of them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DescribeArgs {
    /// The inputs, in any format of `jird convert`; standard input if missing or `-`
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    format: FormatArgument,
    /// Print a JSON Schema (draft 2020-12) that every record satisfies, for `jird validate --schema` and other tools
    #[arg(long, conflicts_with = "format")]
    schema: bool,
    #[command(flatten)]
    from: FromArgs,
    /// Which values of a JSON document are records, such as /items/* [default: the elements of an array, or the
    /// document]
    #[arg(long, value_name = "PATTERN")]
    records: Option<Pattern>,
    /// The table of a database
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// In CSV, read unquoted text that looks like a number, a boolean or null as one
    #[arg(long)]
    typed: bool,
    /// What to do with a bad record: stop, skip, quarantine=FILE (a new file), or quarantine+=FILE (add to it)
    #[arg(long, value_name = "HOW", default_value = "stop")]
    on_error: OnError,
    #[command(flatten)]
    spool: SpoolArgs,
    #[command(flatten)]
    remote: RemoteArgs,
    /// Print nothing except errors, and draw no progress bar
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatArgument {
    /// A table with aligned columns
    Table,
    /// An array with one object for each field
    Json,
}

pub(crate) fn run(args: &DescribeArgs) -> Result<Outcome> {
    let counter = Counter::default();
    let spooling = args.spool.options();
    args.remote.begin();
    let inputs = Input::all(&args.files);
    let mut opened = inputs.iter().map(|input| Opened::new(input, &counter, &spooling)).collect::<Result<Vec<_>>>()?;
    if let Some(bad) = args.on_error.quarantine()
        && let Some(file) = args.files.iter().find(|file| crate::target::are_one(file, bad))
    {
        bail!("{}: this file is read; write the bad records to another file", file.display());
    }
    let progress = Progress::start(move || counter.done(), args.quiet);
    let mut feed =
        Feed::plain(args.from.format(), args.records.clone(), args.table.clone(), args.typed, &args.on_error)?
            .lenient(args.from.leniency()?);
    let mut fields = Fields::default();
    for input in &mut opened {
        fields.next_file(&input.name);
        feed.send(input, &mut fields, 1)?;
    }
    drop(progress);
    let tally = feed.finish()?;
    let text = match args.format {
        _ if args.schema => schema(&fields)?,
        FormatArgument::Table => print::table(&fields, columns(stdout())),
        FormatArgument::Json => print::json(&fields),
    };
    output::write(text.as_bytes())?;
    Ok(left_out(tally.bad, tally.first_bad.as_deref(), args.quiet))
}

fn schema(fields: &Fields) -> Result<String> {
    let mut text = jird::format(fields.to_schema().as_bytes(), Layout::Indent(2))?;
    text.push(b'\n');
    Ok(String::from_utf8(text)?)
}
