//! `jird query`: runs SQL over files.

use crate::dialect::DialectArgs;
use crate::from::FromArgs;
use crate::input::Input;
use crate::limits::{CompressibleSpoolArgs, MemoryArgs, RecordArgs};
use crate::outcome::{BadData, Outcome, PASS_BY, left_out, report as say, words};
use crate::progress::{Amount, Progress};
use crate::remote::{self, RemoteArgs};
use crate::system;
use crate::target::{PartsTarget, Target, are_one, is_device};
use crate::window::{WindowArgs, now};
use anyhow::{Context, Error, Result, anyhow, bail};
use clap::ValueEnum;
use jird::event::Pattern;
use jird_formats::files::{Compression, FileFormat, is_url};
use jird_query::{Check, CopyTo, Defined, Definitions, ErrorKind, FieldTypes, Format, OnError, Options, Query, Report};
use jird_store::is_store;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(feature = "sql")]
const EXAMPLES: &str = "\
Examples:
  jird query \"select Message where Elapsed > 200\" events.ndjson
  jird query \"select Level, count(*) as n group by Level order by n desc\" 'logs/*.ndjson'
  jird query \"select time_bucket('1h', \\\"@t\\\") as h, count(*) group by h order by h\" events.ndjson
  jird query \"select a.id, b.name from stream a join 'names.ndjson' b on a.id = b.id\" events.ndjson
  jird query \"select user, count(*) as n group by user\" logs/ 2024-0*.ndjson.gz old.json
  jird query \"select count(*) as n from errors\" --define errors='logs/*.ndjson'
  jird query \"create view s as from stream where Elapsed > 9; select count(*) from s\" events.ndjson
  jird query \"select count(*) as n from errors\" --definitions names.sql
  jird query \"copy (select * where Elapsed > 200) to 'slow' (partition_by (Level))\" logs/
  jird query \"select o.id, p.name from 'orders.csv' o join 'shop.db'.people p on o.customer = p.id\"
  jird query \"select Message\" log.ndjson --on-error quarantine=bad.ndjson
  jird query \"select Message\" bad.ndjson --from quarantine      after correcting them there
  jird query \"select theme\" --from jsonc '*.jsonc'      also json5, and --allow for more
  jird query \"select Message where Elapsed > 200\" --store shop-log --since 30d
  jird query \"select count(*) where Level = 'Error'\" 's3://bucket/logs/*.gz'
  tail -f events.ndjson | jird query \"select Message where Level = 'Error'\"
  jird query \"select * where user.id = 7\" events.ndjson -o seven.parquet
  jird query \"select Message where \\\"@t\\\" >= timestamp '2024-03-05T07:00:00+01:00'\" events.ndjson
  jird query \"explain select Message where Elapsed > 200\" events.ndjson
  curl -s https://example.org/log | jird query \"select * where match(Message, 'time.?out') limit 10\"
  jird query \"select * where search('timeout payment')\" events.ndjson

The files are the table `stream`. A field of an object is written a.b or a['b'], an element a[0],
a key with a dot \"a.b\".
Exit codes: 0 success, 1 a record is not JSON or a file is not UTF-8, 2 any other error.";

#[cfg(not(feature = "sql"))]
const EXAMPLES: &str = "\
Examples:
  jird query \"select Message where Elapsed > 200\" events.ndjson
  jird query \"select count(*) as n where Level in ('Error', 'Fatal')\" 'logs/*.ndjson'
  jird query \"select * where match(Message, 'time.?out') limit 10\" logs/ old.ndjson.gz
  jird query \"select * where search('timeout payment')\" events.ndjson
  jird query \"select a.b as b, l[0] as first where a.b is not null\" data.json --format table
  tail -f events.ndjson | jird query \"select Message where Level = 'Error'\"
  jird query \"explain select Message where Elapsed > 200\" events.ndjson

This build has no SQL engine: a query selects fields, `*` or `count(*)`, may have conditions that compare fields with
constants or with each other, and a limit. A build with the feature `sql` has joins, groups, sorting and functions.

The files are the table `stream`. A field of an object is written a.b or a['b'], an element a[0],
a key with a dot \"a.b\".
Exit codes: 0 success, 1 a record is not JSON or a file is not UTF-8, 2 any other error.";

/// Run SQL over JSON records, one per line
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[cfg_attr(not(feature = "cluster"), expect(unreachable_pub, reason = "another program has these arguments too"))]
pub struct QueryArgs {
    /// The query. Without `from`, it reads all files
    sql: String,
    /// Files, patterns, folders, stores, or URLs of them; standard input if missing or `-`
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// A name that the query can write in place of a path, as in `from errors`: errors=logs/*-errors.ndjson; several
    /// times for several names or files
    #[arg(long, value_name = "NAME=FILES", value_parser = definition)]
    define: Vec<(String, String)>,
    /// A file of views, as `create view errors as select … from 'logs/*.ndjson' where …;`, which the query can name;
    /// may be given several times. No file is read for this by itself
    #[arg(long, value_name = "FILE")]
    definitions: Vec<PathBuf>,
    /// Whether records of files below day=2024-01-01/ have a field day
    #[arg(long, value_enum, value_name = "HOW", default_value = "read")]
    folder_keys: FolderKeysArgument,
    /// An event store that `jird ingest` has filled, or its URL; may be given several times
    #[arg(long, value_name = "DIR", conflicts_with = "files")]
    store: Vec<String>,
    #[command(flatten)]
    window: WindowArgs,
    #[command(flatten)]
    from: FromArgs,
    /// Which values of JSON documents are records, such as /items/* [default: the lines, or the elements of an array]
    #[arg(long, value_name = "PATTERN")]
    records: Option<Pattern>,
    #[command(flatten)]
    dialect: DialectArgs,
    /// What to do with a bad record: stop, skip, quarantine=FILE (a new file), or quarantine+=FILE (add
    /// to it); all but stop check every record whole
    #[arg(long, value_name = "HOW", default_value = "stop")]
    on_error: OnError,
    /// The format of the result [default: by the name of the output; table on a terminal, ndjson elsewhere]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<FormatArgument>,
    /// Write the result to a file, which appears when it is complete; `-` is standard output. A name that ends in .gz
    /// or .zst compresses it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The maximum width of a table; text that does not fit is cut [default: as wide as the terminal]
    #[arg(long, value_name = "COLUMNS")]
    width: Option<usize>,
    /// A JSON object of fields and their types: {"id": "u64", "user": {"name": "text"}}; a record that does not fit is
    /// bad
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// The number of threads that scan [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// How many of the records are checked [default: all]
    #[arg(long, value_enum, value_name = "HOW")]
    check: Option<CheckArgument>,
    /// Short for `--check trusted`
    #[arg(long, conflicts_with = "check")]
    trusted: bool,
    #[command(flatten)]
    record: RecordArgs,
    #[command(flatten)]
    spool: CompressibleSpoolArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    remote: RemoteArgs,
    /// What to do if a file cannot be read
    #[arg(long, value_enum, value_name = "HOW", default_value = "stop")]
    unreadable: UnreadableArgument,
    /// Print to standard error what was done, and how fast
    #[arg(long)]
    stats: bool,
    /// Print nothing except errors
    #[arg(short, long)]
    quiet: bool,
    #[arg(long, hide = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    chunk_bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatArgument {
    /// A table with aligned columns
    Table,
    /// One line per field, for wide records
    Lines,
    /// One JSON object per line
    Ndjson,
    /// One JSON array
    Json,
    /// Comma-separated values
    Csv,
    /// Apache Parquet
    #[cfg(feature = "tables")]
    Parquet,
    /// Apache Arrow IPC
    #[value(alias = "ipc")]
    Arrow,
}

/// The format that an output's name stands for. A name without a suffix, and a device, take NDJSON.
fn format_of_output(path: &Path) -> Result<Format> {
    let name =
        if Compression::of_name(path) == Compression::None { Some(path) } else { path.file_stem().map(Path::new) };
    let has_suffix = name.and_then(Path::extension).is_some() && !is_device(path);
    match format_of_name(path) {
        Some(format) => Ok(format),
        None if !has_suffix => Ok(Format::Ndjson),
        None if FileFormat::of_name(path) == Some(FileFormat::Parquet) => {
            bail!(
                "{}: this build of jird does not write Parquet; a build with the feature `tables` does",
                path.display()
            )
        }
        None => bail!(
            "{}: cannot tell the output format from the file name; use .ndjson, .jsonl, .json, .csv, .parquet or .arrow, the \
             text formats also with .gz or .zst, or --format",
            path.display()
        ),
    }
}

fn format_of_name(path: &Path) -> Option<Format> {
    match FileFormat::of_name(path)? {
        FileFormat::Ndjson => Some(Format::Ndjson),
        FileFormat::Json => Some(Format::Json),
        FileFormat::Csv => Some(Format::Csv),
        #[cfg(feature = "tables")]
        FileFormat::Parquet => Some(Format::Parquet),
        #[cfg(not(feature = "tables"))]
        FileFormat::Parquet => None,
        FileFormat::Arrow => Some(Format::Arrow),
        // A query cannot write these formats.
        FileFormat::Tsv | FileFormat::Sqlite | FileFormat::Quarantine => None,
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum UnreadableArgument {
    /// There is no answer
    Stop,
    /// The answer is without it
    Skip,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FolderKeysArgument {
    /// They have, and files are left out whose folders rule them out
    Read,
    /// They have what is in them
    Ignore,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CheckArgument {
    /// Every record, whole
    All,
    /// Only the records that the query looks into
    Touched,
    /// No record
    Trusted,
}

impl QueryArgs {
    fn leaves_unchecked(&self) -> bool {
        self.trusted || matches!(self.check, Some(CheckArgument::Touched | CheckArgument::Trusted))
    }
}

/// Where a query runs.
pub(crate) enum Place {
    Here,
    #[cfg(feature = "cluster")]
    On(std::sync::Arc<dyn jird_query::cluster::Cluster>),
}

impl Place {
    fn place(self, query: Query) -> Query {
        match self {
            Self::Here => query,
            #[cfg(feature = "cluster")]
            Self::On(cluster) => query.on(cluster),
        }
    }
}

/// The stack for a query: SQL is planned recursively, and a chain of the most operators is that deep.
const STACK_BYTES: usize = 256 << 20;

pub(crate) fn run(args: QueryArgs, place: Place) -> Result<Outcome> {
    let thread = std::thread::Builder::new().name("query".into()).stack_size(STACK_BYTES);
    let running = thread.spawn(|| run_here(args, place)).context("cannot start a thread for the query")?;
    // A query catches its own panics.
    running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[expect(clippy::unnecessary_wraps, reason = "a thread for the query may not start")]
fn run_here(args: QueryArgs, place: Place) -> Result<Outcome> {
    let mut report = Report::default();
    let (stats, quiet) = (args.stats, args.quiet);
    let advice = if args.on_error == OnError::Stop && !args.leaves_unchecked() { PASS_BY } else { "" };
    let result = execute(args, place, &mut report);
    if !quiet {
        report.notes.iter().for_each(|note| say(&format!("note: {note}")));
    }
    if stats {
        let _ = write!(std::io::stderr(), "{report}");
    }
    let outcome = result.map_or_else(|error| failure(&error, advice), |()| Outcome::Fine);
    let outcome = outcome.max(left_out(report.bad, report.first_bad.as_deref(), quiet));
    report.refused.iter().chain(&report.unreadable).for_each(|message| say(message));
    let refused = if report.refused.is_empty() { Outcome::Fine } else { Outcome::BadData };
    let unreadable = if report.unreadable.is_empty() { Outcome::Fine } else { Outcome::Failed };
    Ok(outcome.max(refused).max(unreadable))
}

fn execute(mut args: QueryArgs, place: Place, report: &mut Report) -> Result<()> {
    if args.output.as_deref() == Some(Path::new("-")) {
        args.output = None;
    }
    let copy = CopyTo::of(&args.sql);
    if let Some(to) = &copy {
        aim(&mut args, to)?;
    }
    let to_terminal = copy.is_none() && args.output.is_none() && std::io::stdout().is_terminal();
    if let Some(bad) = args.on_error.quarantine()
        && args.output.as_deref().is_some_and(|output| are_one(bad, output))
    {
        bail!("{}: good and bad records cannot go to one file", bad.display());
    }
    if args.leaves_unchecked() && args.on_error != OnError::Stop {
        bail!("--on-error checks every record; remove --check and --trusted, or remove --on-error");
    }
    // What other machines have read is known when they are done.
    let quiet = args.quiet || !matches!(place, Place::Here);
    let (query, output) = meant(args, to_terminal)?;
    let query = place.place(if copy.is_some() { query.copying() } else { query });
    if to_terminal && query.options().format.is_binary() {
        bail!("this format is binary and is not printed to a terminal; name a file with --output");
    }
    let read = query.progress();
    let _progress =
        Progress::start(move || Amount::Bytes(read.read(), Some(read.total()).filter(|all| *all > 0)), quiet);
    if let Some(to) = copy.filter(|to| !to.partition_by.is_empty()) {
        return in_parts(query, &to, report);
    }
    let compression = output.as_deref().map_or(Ok(Compression::None), Compression::of_target).map_err(Error::msg)?;
    if let Some(output) = &output
        && compression != Compression::None
        && query.options().format.is_binary()
    {
        bail!("{}: Parquet and Arrow files are compressed within; remove the last suffix", output.display());
    }
    let mut out = compression.compress(Target::create(output.as_deref())?)?;
    query.run(&mut out, report)?;
    Ok(out.finish().and_then(Target::commit)?)
}

/// A name and what it stands for.
fn definition(typed: &str) -> Result<(String, String), String> {
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && name.chars().all(|char| char.is_alphanumeric() || char == '_')
    };
    match typed.split_once('=') {
        Some(("stream", _)) => Err("`stream` is all files of the command line".to_owned()),
        Some((name, files)) if is_name(name) && !files.is_empty() => Ok((name.to_owned(), files.to_owned())),
        _ => Err("it is NAME=FILES, such as errors=logs/*-errors.ndjson; a name has letters, digits and _".to_owned()),
    }
}

fn defined(typed: Vec<(String, String)>) -> Vec<Defined> {
    let mut all: Vec<Defined> = Vec::new();
    for (name, files) in typed {
        match all.iter_mut().find(|defined| defined.name == name) {
            Some(defined) => defined.files.push(files),
            None => all.push(Defined { name, files: vec![files] }),
        }
    }
    all
}

/// Gives the arguments the target that `copy` names.
fn aim(args: &mut QueryArgs, to: &CopyTo) -> Result<()> {
    if args.output.is_some() || args.format.is_some() {
        bail!("`copy` says where the rows go, and in which format: remove --output and --format");
    }
    let format = |name: &String| {
        FormatArgument::from_str(name, true).map_err(|_| {
            let known = FormatArgument::value_variants().iter().filter_map(ValueEnum::to_possible_value);
            let known: Vec<_> = known.map(|format| format.get_name().to_owned()).collect();
            anyhow!("`copy` knows no format {name}: there are {}", known.join(", "))
        })
    };
    args.format = to.format.as_ref().map(format).transpose()?;
    if !to.partition_by.is_empty() {
        args.format.get_or_insert(FormatArgument::Ndjson);
        return Ok(());
    }
    let path = PathBuf::from(&to.path);
    if to.compression.is_some() {
        bail!("{}: the name of a file says how it is compressed: .gz or .zst", path.display());
    }
    if !to.overwrite && path.symlink_metadata().is_ok() && !is_device(&path) {
        bail!("{}: it is there already; (overwrite) behind the name replaces it", path.display());
    }
    args.output = Some(path);
    Ok(())
}

/// Runs a query whose rows go to folders below a new one.
fn in_parts(query: Query, to: &CopyTo, report: &mut Report) -> Result<()> {
    let format = query.options().format;
    let compression = match to.compression.as_deref().map(str::to_ascii_lowercase).as_deref() {
        None | Some("none" | "uncompressed") => Compression::None,
        Some(_) if format.is_binary() => bail!("Parquet and Arrow files are compressed within; remove the compression"),
        Some("gzip") => Compression::Gzip,
        Some("zstd") => Compression::Zstd,
        Some(other) => bail!("`copy` knows no compression {other}: there are gzip and zstd"),
    };
    if to.overwrite {
        bail!("{}: folders are not replaced; remove it first, and overwrite from `copy`", to.path);
    }
    let name = format!("part-{{}}.{}", suffix(format, compression));
    let parts = Arc::new(Mutex::new(PartsTarget::create(Path::new(&to.path), name, compression)?));
    query.in_parts(to.partition_by.clone(), Arc::clone(&parts) as _).run(&mut io::sink(), report)?;
    let mut parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(parts.commit()?)
}

/// The suffix of files of a format.
fn suffix(format: Format, compression: Compression) -> String {
    let format = match format {
        Format::Ndjson => "ndjson",
        Format::Json => "json",
        Format::Csv => "csv",
        #[cfg(feature = "tables")]
        Format::Parquet => "parquet",
        Format::Arrow | Format::ArrowStream => "arrow",
        _ => "txt",
    };
    match compression {
        Compression::Gzip => format!("{format}.gz"),
        Compression::Zstd => format!("{format}.zst"),
        _ => format.to_owned(),
    }
}

/// A file of views.
fn definitions(path: &Path) -> Result<Definitions> {
    let name = path.display().to_string();
    let sql = Input::new(path).document()?;
    let sql = String::from_utf8(sql).with_context(|| name.clone())?;
    Ok(Definitions { name, sql })
}

/// Turns the arguments that were typed into the query that they mean.
fn meant(mut args: QueryArgs, to_terminal: bool) -> Result<(Query, Option<PathBuf>)> {
    let default = Options::default();
    let threads = args.threads.map_or_else(|| MemoryArgs::threads(default.threads), usize::from);
    let options = Options {
        threads,
        memory_max: Some(args.memory.limit(threads)),
        spill: Some(args.memory.spill()),
        check: match args.check {
            _ if args.trusted => Check::Trusted,
            None | Some(CheckArgument::All) => Check::All,
            Some(CheckArgument::Touched) => Check::Touched,
            Some(CheckArgument::Trusted) => Check::Trusted,
        },
        from: args.from.format(),
        leniency: args.from.leniency()?,
        defined: defined(args.define),
        definitions: args.definitions.iter().map(|path| definitions(path)).collect::<Result<_>>()?,
        folder_keys: matches!(args.folder_keys, FolderKeysArgument::Read),
        records: args.records,
        csv: args.dialect.choice(),
        on_error: args.on_error,
        skip_unreadable: matches!(args.unreadable, UnreadableArgument::Skip),
        window: args.window.window(now())?,
        // A redirection may be to a file that is read.
        target: args.output.clone().or_else(|| Some("/dev/stdout".into())),
        spool: args.spool.options(),
        remotes: args.remote.begin(),
        record_limit: args.record.limit(),
        format: match args.format {
            Some(FormatArgument::Table) => Format::Table,
            Some(FormatArgument::Lines) => Format::Lines,
            Some(FormatArgument::Json) => Format::Json,
            Some(FormatArgument::Csv) => Format::Csv,
            #[cfg(feature = "tables")]
            Some(FormatArgument::Parquet) => Format::Parquet,
            Some(FormatArgument::Arrow) => Format::Arrow,
            Some(FormatArgument::Ndjson) => Format::Ndjson,
            None if to_terminal => Format::Table,
            None => args.output.as_deref().map_or(Ok(Format::Ndjson), format_of_output)?,
        },
        width: args.width.or_else(|| if to_terminal { system::columns(io::stdout()) } else { None }),
        schema: match &args.schema {
            Some(path) => {
                let text = Input::new(path).document()?;
                FieldTypes::parse(&text).with_context(|| path.display().to_string())?
            }
            None => FieldTypes::default(),
        },
        chunk_bytes: args.chunk_bytes.unwrap_or(default.chunk_bytes),
        ..default
    };
    let is_window_of = |name: &String| is_store(Path::new(name)) || is_url(Path::new(name));
    if args.window.is_given() && !args.store.iter().chain(&args.files).any(is_window_of) {
        bail!("--since and --until choose events of a store: name one with --store");
    }
    for store in &mut args.store {
        let path = Path::new(store);
        if is_url(path) {
            if !remote::has_store(path)? {
                bail!("{store}: no event store is there");
            }
            // A folder, whatever an object of this name may be.
            store.truncate(store.trim_end_matches('/').len());
            store.push('/');
        } else if !is_store(path) {
            bail!("{store}: no event store is there; `jird ingest {store} FILE` makes one");
        }
    }
    let inputs = if args.store.is_empty() { args.files } else { args.store };
    Ok((Query::new(args.sql, inputs, options), args.output))
}

/// Reports why a query failed. If the cause is a bad record, `advice` follows the message.
pub(crate) fn failure(error: &anyhow::Error, advice: &str) -> Outcome {
    match error.downcast_ref::<jird_query::Error>().map(jird_query::Error::kind) {
        Some(ErrorKind::BrokenPipe) => Outcome::Fine,
        Some(ErrorKind::Record) => Outcome::of_error(&BadData(words(error) + advice).into()),
        Some(ErrorKind::Frame) => Outcome::of_error(&BadData(words(error)).into()),
        _ => Outcome::of_error(error),
    }
}
