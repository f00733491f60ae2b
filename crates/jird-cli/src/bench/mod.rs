//! `jird bench`: measures how long queries take.
//!
//! ```text
//! cases    the queries to run, one per line
//! timing   percentiles and spread
//! print    output for people and for programs
//! ```

mod cases;
mod print;
mod timing;

use crate::outcome::Outcome;
use crate::output;
use crate::progress::{Amount, Progress};
use crate::query::failure;
use anyhow::{Context, Result, bail};
use cases::Case;
use clap::ValueEnum;
use jird_query::{Check, Format, Options, Query, Report};
use serde::Serialize;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use timing::Timing;

const EXAMPLES: &str = "\
A case file has one query per line; blank lines and lines that begin with -- or # are skipped:
  -- what slow requests say
  select Message where Elapsed > 200
  select Level, count(*) as n group by Level

Examples:
  jird bench --cases cases.sql events.ndjson
  jird bench --cases cases.sql --percentile 99 --runs 50 --threads 1 logs/ --json > today.json

All cases run once before anything is timed. Then they take turns, so that other load on the
machine slows all of them alike. Each result is computed in full and discarded; it must be the same
each time.";

/// Measure how long queries take
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BenchArgs {
    /// The queries, one per line
    #[arg(long, value_name = "FILE")]
    cases: PathBuf,
    /// The percentile to report: P percent of the runs take no longer
    #[arg(long, value_name = "P", default_value_t = 90, value_parser = clap::value_parser!(u8).range(1..=100))]
    percentile: u8,
    /// How often each case is run
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// The field that holds the time of a record
    #[arg(long, value_name = "KEY", default_value = "@t")]
    time: String,
    /// The number of threads that scan [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// How many of the records are checked
    #[arg(long, value_enum, value_name = "HOW", default_value = "all")]
    check: Checks,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// The inputs: files, patterns or folders
    #[arg(value_name = "SOURCE", required = true)]
    files: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Checks {
    /// Every record, whole
    All,
    /// Only the records that the query looks into
    Touched,
    /// No record
    Trusted,
}

/// The inputs, and how to read them.
struct Source {
    files: Vec<String>,
    options: Options,
    /// How many runs there were.
    runs: Arc<AtomicU64>,
}

/// What one run returned, and what it read for that: how much depends on threads if a part of the input is enough.
#[derive(Clone, Copy, Debug, Default)]
struct Answer {
    rows: u64,
    /// The hash of the result's text.
    hash: u64,
    records: u64,
    bytes: u64,
}

/// A case, and its measurements.
struct Measured {
    case: Case,
    answer: Answer,
    timing: Timing,
}

/// The description of a measurement.
#[derive(Serialize)]
struct Header {
    source: Vec<String>,
    records: u64,
    bytes: u64,
    /// The first and the last time, as the records write them.
    time_range: Option<(String, String)>,
    threads: usize,
    check: &'static str,
    kernel: &'static str,
    runs: u32,
    percentile: u8,
}

pub(crate) fn run(args: &BenchArgs) -> Outcome {
    measure(args).map_or_else(|error| failure(&error, ""), |()| Outcome::Fine)
}

fn measure(args: &BenchArgs) -> Result<()> {
    if args.files.iter().any(|file| file == "-") {
        bail!("standard input can be read only once; name files");
    }
    let cases = cases::read(&args.cases)?;
    let default = Options::default();
    let options = Options {
        threads: args.threads.map_or(default.threads, usize::from),
        check: match args.check {
            Checks::All => Check::All,
            Checks::Touched => Check::Touched,
            Checks::Trusted => Check::Trusted,
        },
        format: Format::Ndjson,
        ..default
    };
    let source = Source { files: args.files.clone(), options, runs: Arc::default() };
    // The header takes one run, and each case one before it is timed.
    let all = 1 + cases.len() as u64 * (1 + u64::from(args.runs));
    let runs = Arc::clone(&source.runs);
    let progress = Progress::start(move || Amount::Runs(runs.load(Ordering::Relaxed), all), false);
    let header = source.header(args)?;
    let mut measured = Vec::new();
    for case in cases {
        let (answer, _) = source.ask(&case.sql, &mut Hashed::default()).with_context(|| case.place.clone())?;
        measured.push(Measured { case, answer, timing: Timing::default() });
    }
    for _ in 0..args.runs {
        for Measured { case, answer, timing } in &mut measured {
            let (again, seconds) = source.ask(&case.sql, &mut Hashed::default()).with_context(|| case.place.clone())?;
            if (again.rows, again.hash) != (answer.rows, answer.hash) {
                bail!(
                    "{}: the result differs from that of the run before; is another program writing to the files?",
                    case.place
                );
            }
            timing.add(seconds);
        }
    }
    drop(progress);
    let mut text = Vec::new();
    if args.json {
        print::json(&mut text, &header, &measured)?;
    } else {
        print::text(&mut text, &header, &measured)?;
    }
    output::write(&text)
}

impl Source {
    /// Runs a query. Returns its answer, and how many seconds it took.
    fn ask(&self, sql: &str, out: &mut Hashed) -> Result<(Answer, f64)> {
        let mut report = Report::default();
        let started = Instant::now();
        Query::new(sql, self.files.clone(), self.options.clone()).run(out, &mut report)?;
        let seconds = started.elapsed().as_secs_f64();
        self.runs.fetch_add(1, Ordering::Relaxed);
        if let Some(file) = report.unreadable.iter().chain(&report.refused).next() {
            bail!("{file}");
        }
        let Report { rows, records, bytes, .. } = report;
        Ok((Answer { rows, hash: out.lines, records, bytes }, seconds))
    }

    fn header(&self, args: &BenchArgs) -> Result<Header> {
        let time = args.time.replace('"', "\"\"");
        let mut times = Hashed { keeps: true, ..Hashed::default() };
        // With the count, all records of a store are read, and not only the first and the last.
        let all = format!("select count(*) as n, min(\"{time}\") as a, max(\"{time}\") as b");
        let (answer, _) = self.ask(&all, &mut times)?;
        // Without such a field there is no time range. A value that is not text is not a time.
        let times = jird::parse(&times.text).ok().and_then(|times| {
            let text = |key| Some(times.root().get(key)?.as_str()?.into_owned());
            text("a").zip(text("b"))
        });
        Ok(Header {
            source: args.files.clone(),
            records: answer.records,
            bytes: answer.bytes,
            time_range: times,
            threads: self.options.threads,
            check: match args.check {
                Checks::All => "all",
                Checks::Touched => "touched",
                Checks::Trusted => "trusted",
            },
            kernel: jird::hooks::Kernel::best().name(),
            runs: args.runs,
            percentile: args.percentile,
        })
    }
}

/// Hashes a result to compare it with others; with `keeps`, also stores it.
#[derive(Default)]
struct Hashed {
    /// Hashes the line that has begun.
    hasher: DefaultHasher,
    /// The sum of the hashes of the lines: without `order by`, their order may be another one each time.
    lines: u64,
    keeps: bool,
    text: Vec<u8>,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.hasher.write(line);
            if line.ends_with(b"\n") {
                self.lines = self.lines.wrapping_add(std::mem::take(&mut self.hasher).finish());
            }
        }
        if self.keeps {
            self.text.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
