//! `jird ingest`: puts events into a store.

use crate::input::{Counter, Input};
use crate::limits::RecordArgs;
use crate::outcome::{BadData, Outcome, PASS_BY, left_out, report as say};
use crate::progress::Progress;
use crate::store_args::{SyncArgument, path_of};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use jird::Path;
use jird::event::Place;
use jird::lines::{self, StreamPiece, StreamPieces, newlines};
use jird_formats::files::{BadRecord, BadRecords, OnError, is_url, record_limit_hint};
use jird_store::{Batch, Compression, Settings, Store, Totals, Writer, WriterOptions, is_store};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  jird ingest shop-log events.ndjson
  jird ingest shop-log 2024-0*.ndjson.gz --on-error quarantine=bad.ndjson
  tail -f events.ndjson | jird ingest shop-log
  jird ingest metrics samples.ndjson --time-field ts --column host,value --compression zstd

Each line is an event: any JSON value, kept byte for byte except for white space between its
tokens. Its time is the value of @t, or of the field that --time-field names: a text by ISO 8601, or
a number of seconds since 1970 (of milliseconds, microseconds or nanoseconds, if it is that large).
An event without one gets the time of its arrival. Events may come in any order.
`jird query --store` asks a store, `jird store` looks after it.
Exit codes: 0 success, 1 some lines were no events, 2 the command could not do its work.";

/// Put events into a store, which queries read with `--store`
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct IngestArgs {
    /// The folder of the store; it is made if it does not exist
    store: PathBuf,
    /// Files of events, one per line; standard input if missing or `-`
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Of a new store: the field that holds the time of an event [default: @t]
    #[arg(long, value_name = "FIELD")]
    time_field: Option<String>,
    /// Of a new store: fields that also lie as columns beside the events, for conditions that many queries have
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    column: Vec<String>,
    /// Of a new store: how spans are compressed [default: none]
    #[arg(long, value_enum, value_name = "HOW")]
    compression: Option<CompressionArgument>,
    /// When events are on disk: before each batch is acknowledged, within 200 ms, or when the system likes
    #[arg(long, value_enum, value_name = "WHEN", default_value = "interval")]
    sync: SyncArgument,
    /// What to do with a line that is no event: stop, skip, quarantine=FILE (a new file), or quarantine+=FILE (add to
    /// it)
    #[arg(long, value_name = "HOW", default_value = "stop")]
    on_error: OnError,
    #[command(flatten)]
    record: RecordArgs,
    /// The number of threads that check events [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print to standard error what was done, and how fast
    #[arg(long)]
    stats: bool,
    /// Print nothing except errors
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CompressionArgument {
    /// As they are: queries read fastest
    None,
    /// Half of the size or less, and nearly as fast
    Lz4,
    /// The smallest
    Zstd,
}

impl IngestArgs {
    fn settings(&self) -> Result<Settings> {
        let mut settings = Settings::default();
        if let Some(field) = &self.time_field {
            settings.time_field = path_of(field)?;
        }
        settings.columns = self.column.iter().map(|field| path_of(field)).collect::<Result<_>>()?;
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
        let list = |paths: &[Path]| paths.iter().map(Path::to_string).collect::<Vec<_>>().join(",");
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

    fn writer_options(&self) -> WriterOptions {
        WriterOptions { sync: self.sync.into(), ..WriterOptions::default() }
    }
}

pub(crate) fn run(args: &IngestArgs) -> Result<Outcome> {
    let started = Instant::now();
    let settings = args.settings()?;
    if is_url(&args.store) {
        bail!(
            "{}: is a URL; a store is filled on this machine, and can then be copied there and read",
            args.store.display()
        );
    }
    // A store that is there keeps the settings that it was made with.
    let store =
        if is_store(&args.store) { Store::open(&args.store)? } else { Store::open_or_create(&args.store, &settings)? };
    if let Some(difference) = args.difference(store.settings())? {
        bail!("{}: {difference}; what a store is made with holds for all of its events", args.store.display());
    }
    let writer = store.writer(&args.writer_options())?;
    // The events that come now are taken all the same.
    writer.damage().iter().for_each(|damage| say(&format!("damaged: {damage}")));
    let inputs = Input::all(&args.files);
    let read = Counter::of(&inputs);
    let shown = read.clone();
    let _progress = Progress::start(move || shown.done(), args.quiet);
    let mut ingest = Ingest {
        writer: &writer,
        settings: store.settings(),
        waits: matches!(args.sync, SyncArgument::Batch),
        bad: BadRecords::new(&args.on_error)?,
        stops: args.on_error == OnError::Stop,
        threads: args.threads.map_or_else(threads, usize::from),
        record_limit: args.record.limit(),
        bytes: 0,
    };
    let outcome = Outcome::worst(inputs, |input| ingest.add(input, &read));
    let Ingest { mut bad, bytes, .. } = ingest;
    bad.finish().context("writing the quarantine")?;
    let totals = writer.finish_sealed()?;
    if args.stats {
        say(&stats(&totals, bytes, started.elapsed()));
    }
    if totals.undated > 0 && !args.quiet {
        let (count, field) = (totals.undated, &store.settings().time_field);
        let events = if count == 1 { "1 event has" } else { &format!("{count} events have") };
        say(&format!("note: {events} no time in `{field}`, and got the time of arrival"));
    }
    Ok(outcome.max(left_out(bad.count(), bad.first(), args.quiet)))
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

/// Puts inputs into a store, one after the other.
struct Ingest<'w> {
    writer: &'w Writer,
    settings: &'w Settings,
    /// Whether each batch is on disk before the next one is appended.
    waits: bool,
    bad: BadRecords,
    /// Whether a bad line ends the work.
    stops: bool,
    threads: usize,
    record_limit: usize,
    bytes: u64,
}

/// What a thread makes of a piece of lines.
struct Prepared {
    batch: Batch,
    wrong: Vec<Wrong>,
    bytes: u64,
    /// Whether the first line is the beginning of an array that goes on in the next one.
    is_array: bool,
}

/// A line that is no event: its offset in its piece, its line there, counted from zero, and what is wrong.
struct Wrong {
    offset: usize,
    line: u64,
    raw: Vec<u8>,
    error: jird::Error,
}

impl Prepared {
    /// The line of the first wrong line, counted from one.
    fn first_line(&self) -> u64 {
        self.wrong.first().map_or(1, |wrong| wrong.line + 1)
    }
}

impl Wrong {
    /// Whether the line is an array as far as it goes.
    fn opens_array(&self) -> bool {
        let text = self.raw.trim_ascii_end();
        text.trim_ascii_start().starts_with(b"[") && self.error.offset() as usize >= text.len()
    }
}

impl Ingest<'_> {
    fn add(&mut self, input: &Input, read: &Counter) -> Result<Outcome> {
        let text = input.open(read)?;
        if let Some(encoding) = text.encoding() {
            return Err(BadData(format!("{}: {encoding}", input.name())).into());
        }
        let reader = text.blank_mark().into_reader();
        let pieces = StreamPieces::new(reader, self.record_limit);
        let mut pieces = if input.is_live() { pieces.live() } else { pieces };
        let mut lines_before = 0;
        loop {
            lines_before = self.pieces(&input.name(), &mut pieces, lines_before)?;
            let Some(offset) = pieces.skip_long_line().with_context(|| input.name())? else { return Ok(Outcome::Fine) };
            let error = jird::Error::new(jird::ErrorKind::Size, 0);
            let wrong = Wrong { offset: 0, line: 0, raw: Vec::new(), error };
            self.note(&input.name(), lines_before, offset, &wrong)?;
            lines_before += 1;
        }
    }

    /// Appends the events of all pieces in order. Returns the number of lines up to their end.
    fn pieces(
        &mut self,
        name: &str,
        pieces: &mut (impl Iterator<Item = std::io::Result<StreamPiece>> + Send),
        lines_before: u64,
    ) -> Result<u64> {
        let (settings, stops, threads, limit) = (self.settings, self.stops, self.threads, self.record_limit);
        let work = |(): &mut (), piece: std::io::Result<StreamPiece>| match piece {
            Ok(piece) => (Ok((prepare(&piece, settings, limit, stops), piece.offset())), newlines(&piece)),
            Err(error) => (Err(error), 0),
        };
        let (mut result, mut lines_end) = (Ok(()), lines_before);
        lines::drive(
            pieces.map(|piece| (0, piece)),
            threads,
            || (),
            work,
            |prepared, lines| {
                let lines = lines_before + lines.start..lines_before + lines.end;
                lines_end = lines.end;
                result = match prepared {
                    Ok((prepared, offset)) => self.append(name, prepared, lines.start, offset),
                    Err(error) => Err(error).with_context(|| name.to_owned()),
                };
                if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        );
        result.map(|()| lines_end)
    }

    fn append(&mut self, name: &str, prepared: Prepared, lines_before: u64, offset: u64) -> Result<()> {
        if prepared.is_array && offset == 0 {
            let hint = "jird convert FILE - --to ndjson | jird ingest STORE";
            let message = "an array begins here and does not end on its line, but each line must be an event; if the text is one array, try";
            return Err(BadData(format!("{name}:{}: {message}: {hint}", prepared.first_line())).into());
        }
        self.bytes += prepared.bytes;
        let ticket = self.writer.append(prepared.batch)?;
        if self.waits {
            self.writer.commit(ticket)?;
        }
        prepared.wrong.iter().try_for_each(|wrong| self.note(name, lines_before, offset, wrong))
    }

    /// Sets a bad line aside, or fails with it.
    fn note(&mut self, name: &str, lines_before: u64, offset: u64, wrong: &Wrong) -> Result<()> {
        let kind = wrong.error.kind();
        let hint = if kind == jird::ErrorKind::Size { record_limit_hint(self.record_limit) } else { String::new() };
        let located =
            wrong.error.locate(&wrong.raw).after_lines(lines_before + wrong.line, offset + wrong.offset as u64);
        let words = format!("{name}:{}:{}: {kind}{hint} {}", located.line(), located.column(), located.place());
        if self.stops {
            return Err(BadData(words + PASS_BY).into());
        }
        let place = Place { line: located.line(), offset: offset + wrong.offset as u64, record: 0 };
        let message = format!("{kind}{hint} {}", located.place());
        let bad = BadRecord { file: name, place, kind: wrong.error.code(), message: &message, raw: &wrong.raw };
        self.bad.note(&bad).context("writing the quarantine")
    }
}

/// Checks a piece. If bad lines end the work, the events before the first one are kept.
fn prepare(piece: &[u8], settings: &Settings, record_limit: usize, stops: bool) -> Prepared {
    let mut wrong: Vec<Wrong> = Vec::new();
    let blanked = without_long_lines(piece, record_limit, &mut wrong);
    let batch = Batch::prepare(blanked.as_deref().unwrap_or(piece), settings, &mut |offset, raw, error| {
        // The error counts from the start of the piece.
        let error = jird::Error::new(error.kind(), error.offset().saturating_sub(offset as u64));
        wrong.push(Wrong { offset, line: 0, raw: raw.to_vec(), error });
    });
    wrong.sort_by_key(|wrong| wrong.offset);
    if stops {
        wrong.truncate(1);
    }
    let (mut line, mut counted) = (0, 0);
    for wrong in &mut wrong {
        line += newlines(&piece[counted..wrong.offset]);
        (counted, wrong.line) = (wrong.offset, line);
    }
    let end = match wrong.first() {
        Some(first) if stops => first.offset,
        _ => piece.len(),
    };
    let is_array =
        wrong.first().is_some_and(|wrong| piece[..wrong.offset].trim_ascii().is_empty() && wrong.opens_array());
    let batch = if end < piece.len() { Batch::prepare(&piece[..end], settings, &mut |_, _, _| {}) } else { batch };
    Prepared { batch, wrong, bytes: end as u64, is_array }
}

/// The same lines, with blanks in place of those that are longer than the limit, which are `wrong`; `None` if there are
/// none.
fn without_long_lines(piece: &[u8], record_limit: usize, wrong: &mut Vec<Wrong>) -> Option<Vec<u8>> {
    let mut blanked: Option<Vec<u8>> = None;
    let mut start = 0;
    // A piece is longer than its longest line, and nearly always far below the limit.
    while piece.len() - start > record_limit {
        let end = memchr::memchr(b'\n', &piece[start..]).map_or(piece.len(), |len| start + len);
        if end - start > record_limit {
            let error = jird::Error::new(jird::ErrorKind::Size, 0);
            wrong.push(Wrong { offset: start, line: 0, raw: piece[start..end].to_vec(), error });
            blanked.get_or_insert_with(|| piece.to_vec())[start..end].fill(b' ');
        }
        start = (end + 1).min(piece.len());
    }
    blanked
}
