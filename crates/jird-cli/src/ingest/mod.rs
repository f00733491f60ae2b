//! `jird ingest`: puts events into a store.

mod checkpoints;
mod course;
mod future;
mod lines;
mod once;
mod take;
mod tally;
mod watch;

use crate::durations::age;
use crate::input::{Counter, Input};
use crate::limits::RecordArgs;
use crate::outcome::{Outcome, left_out, report as say, words};
use crate::progress::Progress;
use crate::store_args::{SyncArgument, future_limit, path_of};
use crate::wait::WaitArgs;
use crate::window::{nanoseconds, now};
use anyhow::{Context, Result, anyhow, bail};
use bytesize::ByteSize;
use checkpoints::Id;
use clap::ValueEnum;
use future::FutureTally;
use jird::Path;
use jird_formats::files::{BadRecords, OnError, is_url};
use jird_store::{
    ColumnChoice, Compression, FutureLimit, Settings, Store, Totals, Upkeep, UpkeepLimits, Window, WriterOptions,
    is_store,
};
use lines::Check;
use once::Once;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use take::Take;
use tally::Tally;
use watch::Watch;

const EXAMPLES: &str = "\
Examples:
  jird ingest shop-log events.ndjson
  jird ingest shop-log 2024-0*.ndjson.gz --on-error quarantine=bad.ndjson
  jird ingest shop-log events.ndjson --resume
  jird ingest shop-log events.ndjson --watch
  tail -f events.ndjson | jird ingest shop-log --once Properties.RequestId
  jird ingest metrics samples.ndjson --time-field ts --column host,value --compression zstd

Each line is an event: any JSON value, kept byte for byte except for white space between its
tokens. Its time is the value of @t, or of the field that --time-field names: an ISO 8601 text, or
a number of seconds since 1970 (of milliseconds, microseconds or nanoseconds, if it is that large).
An event without a time gets the time of its arrival. Events may come in any order.

Standard error reports how many events of each file were taken, and up to which line. The store
keeps this position with the events: if a run ends early because of a bad line, a full disk or a
crash, the same command with --resume continues after the last event that was taken. --resume
recognises files by their content, even if they were renamed, compressed or have grown; an
incomplete last line is left for the next run.
--once FIELD skips events whose value in this field is in the store already. It first reads the
field of all stored events and keeps the values in memory.
`jird query --store` queries a store, `jird store` maintains it.
Exit codes: 0 all events were taken, 1 some lines were invalid, 2 not all events were taken.";

/// Load events into a store, which queries read with `--store`
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "options of the command line")]
pub(crate) struct IngestArgs {
    /// The folder of the store; created if it does not exist
    store: PathBuf,
    /// Files with one event per line; standard input if missing or `-`
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// For a new store: the field that holds the time of an event [default: @t]
    #[arg(long, value_name = "FIELD")]
    time_field: Option<String>,
    /// For a new store: fields that are also stored as columns: auto (numbers, booleans, texts that repeat, and what
    /// queries often look for), none, or a list of fields [default: auto]
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    column: Vec<String>,
    /// For a new store: how to compress the events [default: none]
    #[arg(long, value_enum, value_name = "HOW")]
    compression: Option<CompressionArgument>,
    /// When to flush events to disk: every batch, every 200 ms, or when the operating system does
    #[arg(long, value_enum, value_name = "WHEN", default_value = "interval")]
    sync: SyncArgument,
    /// What to do with an invalid line: stop, skip, quarantine=FILE (a new file), or quarantine+=FILE (append to it)
    #[arg(long, value_name = "HOW", default_value = "stop")]
    on_error: OnError,
    /// Events whose times are further in the future are invalid: 10m, 1h, 1d. A wrong clock makes such events, which stay
    /// the newest ones, and which no retention by age removes [default: any time is valid]
    #[arg(long, value_name = "DURATION", value_parser = future_limit)]
    future_limit: Option<FutureLimit>,
    /// Continue in each file where an earlier run ended, so that no event is taken twice
    #[arg(long)]
    resume: bool,
    /// Keep running and load what programs append to the files, until a signal ends the command. A file that is renamed
    /// and replaced, as log rotation does, is followed; files that do not exist yet are waited for. Implies --resume
    #[arg(long)]
    watch: bool,
    /// With --watch: remove events older than this, such as 12h or 30d; they are hidden within an hour, and deleted within a
    /// day
    #[arg(long, value_name = "AGE", requires = "watch", value_parser = age)]
    keep: Option<Duration>,
    /// With --watch: remove the spans that end first whenever the files of the store take more than this, such as 50GB
    #[arg(long, value_name = "SIZE", requires = "watch")]
    keep_size: Option<ByteSize>,
    /// Skip an event if one in the store has the same value in this field
    #[arg(long, value_name = "FIELD")]
    once: Option<String>,
    /// With --once: compare only with events since this time, such as 2024-03-05, or an age such as 2d
    #[arg(long, value_name = "TIME", requires = "once")]
    once_since: Option<String>,
    #[command(flatten)]
    record: RecordArgs,
    #[command(flatten)]
    wait: WaitArgs,
    /// The number of threads that check events [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print a summary and the throughput to standard error
    #[arg(long)]
    stats: bool,
    /// Print nothing unless something goes wrong
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CompressionArgument {
    /// No compression: fastest to read
    None,
    /// Half the size or less, and nearly as fast
    Lz4,
    /// The smallest size
    Zstd,
}

impl IngestArgs {
    fn settings(&self) -> Result<Settings> {
        let mut settings = Settings::default();
        if let Some(field) = &self.time_field {
            settings.time_field = path_of(field)?;
        }
        settings.columns = match &self.column[..] {
            [] => ColumnChoice::Auto,
            [word] if word == "auto" => ColumnChoice::Auto,
            [word] if word == "none" => ColumnChoice::NONE,
            fields if fields.iter().any(|field| field == "auto" || field == "none") => {
                let list = fields.join(",");
                bail!("--column {list}: auto and none stand alone; a field of such a name is written /auto or /none")
            }
            fields => ColumnChoice::Fields(fields.iter().map(|field| path_of(field)).collect::<Result<_>>()?),
        };
        settings.compression = match self.compression {
            None | Some(CompressionArgument::None) => Compression::None,
            Some(CompressionArgument::Lz4) => Compression::Lz4,
            Some(CompressionArgument::Zstd) => Compression::Zstd,
        };
        Ok(settings)
    }

    /// What is asked for that the store was not made with.
    fn difference(&self, made: &Settings) -> Result<Option<String>> {
        let asked = self.settings()?;
        let list = |columns: &ColumnChoice| match columns {
            ColumnChoice::Auto => "auto".to_owned(),
            ColumnChoice::Fields(paths) if paths.is_empty() => "none".to_owned(),
            ColumnChoice::Fields(paths) => paths.iter().map(Path::to_string).collect::<Vec<_>>().join(","),
        };
        Ok(if self.time_field.is_some() && asked.time_field != made.time_field {
            Some(format!("its time field is {}, and not {}", made.time_field, asked.time_field))
        } else if !self.column.is_empty() && asked.columns != made.columns {
            Some(format!("its columns are {}, and not {}", list(&made.columns), list(&asked.columns)))
        } else if self.compression.is_some() && asked.compression != made.compression {
            Some(format!("its compression is {}, and not {}", made.compression.name(), asked.compression.name()))
        } else {
            None
        })
    }

    /// The store, which keeps the settings that it was made with, or is made.
    fn store(&self) -> Result<Store> {
        let (path, settings) = (&self.store, self.settings()?);
        if is_url(path) {
            bail!(
                "{}: is a URL; stores are created locally: create the store here, then copy it there",
                path.display()
            );
        }
        let store = if is_store(path) { Store::open(path)? } else { Store::open_or_create(path, &settings)? };
        match self.difference(store.settings())? {
            Some(difference) => {
                bail!("{}: {difference}; these settings are fixed when a store is created", path.display())
            }
            None => Ok(store),
        }
    }

    /// The keys by which events are taken once.
    fn keys(&self, store: &Store) -> Result<Option<Once>> {
        let Some(name) = &self.once else { return Ok(None) };
        let since = self.once_since.as_deref().map(|time| nanoseconds("--once-since", time, now())).transpose()?;
        Once::of(store, name, path_of(name)?, Window { since, until: None }).map(Some)
    }

    fn writer_options(&self) -> WriterOptions {
        WriterOptions { sync: self.sync.into(), ..WriterOptions::default() }
    }
}

pub(crate) fn run(args: &IngestArgs) -> Result<Outcome> {
    let started = Instant::now();
    let inputs = Input::all(&args.files);
    let patience = args.wait.patience()?;
    let watchable = |input: &Input| if args.watch { watch::check(input) } else { Ok(()) };
    inputs.iter().try_for_each(watchable)?;
    let resumed = (args.resume || args.watch).then(|| all_files(&inputs, args.watch)).transpose()?;
    let store = args.store()?.with_patience(patience);
    let writer = store.writer(&args.writer_options());
    let writer = writer.map_err(|error| anyhow!("{}; no event was taken", args.wait.told(error)))?;
    // The events that come now are taken all the same.
    writer.damage().iter().for_each(|damage| say(&format!("damaged: {damage}")));
    let read = Counter::of(&inputs);
    let shown = read.clone();
    let progress = Progress::start(move || shown.done(), args.quiet);
    let mut take = Take {
        writer: &writer,
        waits: matches!(args.sync, SyncArgument::Batch),
        once: args.keys(&store)?,
        bad: BadRecords::new(&args.on_error)?,
        check: Check {
            settings: store.settings(),
            record_limit: args.record.limit(),
            future_limit: args.future_limit,
            stops: args.on_error == OnError::Stop,
            grows: resumed.is_some(),
        },
        resumed,
        threads: args.threads.map_or_else(threads, usize::from),
        is_quiet: args.quiet,
        tally: Tally::default(),
        future: FutureTally::default(),
        is_broken: false,
        bytes: 0,
    };
    take.tally.tell_at_signals();
    let outcome = if args.watch {
        let limits = UpkeepLimits { age: args.keep, bytes: args.keep_size.map(|size| size.as_u64()) };
        let watch = Watch::new(&inputs, &args.store, Upkeep::new(store.clone(), limits), &read);
        watch.run(&mut take, || drop(progress)).unwrap_or_else(|error| Outcome::of_error(&error))
    } else {
        let outcome = Outcome::worst(inputs, |input| take.file(input, &read));
        drop(progress);
        outcome
    };
    let Take { mut bad, bytes, tally, future, is_broken, once, .. } = take;
    tally.tell(args.quiet);
    once.iter().for_each(|once| once.tell(args.quiet));
    bad.finish().context("writing the quarantine")?;
    let totals = match writer.finish_sealed() {
        Ok(totals) => totals,
        // The reason was reported.
        Err(_) if is_broken => return Ok(Outcome::Failed),
        Err(error) => return Err(error.into()),
    };
    if let Some(error) = &totals.unsealed {
        say(&format!("warning: {}\n{UNSEALED}", words(&error.clone().into())));
    }
    if args.stats {
        say(&stats(&totals, bytes, started.elapsed()));
    }
    if totals.undated > 0 && !args.quiet {
        let (count, field) = (totals.undated, &store.settings().time_field);
        let events = if count == 1 { "1 event has" } else { &format!("{count} events have") };
        say(&format!("note: {events} no time in `{field}` (from 1677 to 2262), and got the time of arrival"));
    }
    if args.future_limit.is_none() && !args.quiet {
        future.tell();
    }
    Ok(outcome.max(left_out(bad.count(), bad.first(), args.quiet)))
}

/// What it means that events could not be sealed.
const UNSEALED: &str = "all that was taken is in the log, and queries find it there; the next `jird ingest` or `jird store compact` makes a span of it";

/// What identifies the inputs; each can be read from any offset. Some may not be there yet.
fn all_files(inputs: &[Input], may_come: bool) -> Result<Vec<Id>> {
    let id = |input: &Input| {
        Id::of(input).with_context(|| {
            format!(
                "{}: --resume needs files, not pipes; for pipes, --once FIELD skips events that are in the store",
                input.name()
            )
        })
    };
    let is_missing = |input: &&Input| may_come && input.path().is_some_and(|path| !path.exists());
    inputs.iter().filter(|input| !is_missing(input)).map(id).collect()
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[expect(clippy::cast_precision_loss, reason = "rates for people")]
fn stats(totals: &Totals, bytes: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    format!(
        "{} events, {bytes} bytes, {seconds:.3} s, {:.0} MB/s; {} without a time, {} spans sealed",
        totals.events,
        bytes as f64 / 1e6 / seconds.max(1e-9),
        totals.undated,
        totals.spans,
    )
}
