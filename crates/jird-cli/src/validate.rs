//! `jird validate`: checks documents, and says where they are wrong.

use crate::input::{self, Input};
use crate::outcome::{Outcome, report};
use crate::output;
use anyhow::Context;
use jird::lines::{self, ReadAt, Scanner};
use jird::{Duplicates, Numbers, Parser, Policy, record::Projection};
use jird_formats::encoding::{Encoding, MARK, blank_mark, blank_mark_at, read_start, stray_mark};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Check documents strictly by RFC 8259; print a line for each bad one
///
/// Each line is `FILE:LINE:COLUMN: message (byte N, at /path)`. LINE and COLUMN count from 1, N from 0; COLUMN counts
/// bytes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  jird validate *.json\n  jird validate --lines events.ndjson\n  jird validate --numbers machine < data.json"
)]
pub(crate) struct ValidateArgs {
    /// Each line is a document of its own (NDJSON)
    #[arg(long)]
    lines: bool,
    /// Which numbers are accepted
    #[arg(long, value_enum, default_value_t = NumbersArg::Any)]
    numbers: NumbersArg,
    /// Refuse objects that have a key twice
    #[arg(long)]
    unique_keys: bool,
    /// The maximum nesting depth of objects and arrays
    #[arg(long, value_name = "N", default_value_t = jird::policy::DEPTH_MAX)]
    depth_max: usize,
    /// The documents; standard input if missing or `-`
    files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum NumbersArg {
    /// Every number of RFC 8259
    Any,
    /// Numbers that are finite as a 64-bit float
    Finite,
    /// Finite numbers; integers must fit in 64 bits
    Machine,
}

impl ValidateArgs {
    fn policy(&self) -> Policy {
        Policy {
            numbers: match self.numbers {
                NumbersArg::Any => Numbers::Any,
                NumbersArg::Finite => Numbers::Finite,
                NumbersArg::Machine => Numbers::Machine,
            },
            duplicates: if self.unique_keys { Duplicates::Refuse } else { Duplicates::Keep },
            depth_max: self.depth_max,
        }
    }
}

pub(crate) fn run(args: &ValidateArgs) -> Outcome {
    let policy = args.policy();
    let mut worst = Outcome::Fine;
    for input in Input::all(&args.files) {
        let outcome = if args.lines { check_lines(&input, policy) } else { check_document(&input, policy) };
        worst = worst.max(match outcome {
            Ok(outcome) => outcome,
            // The other files are still checked.
            Err(error) => Outcome::of_error(&error),
        });
    }
    worst
}

fn check_document(input: &Input, policy: Policy) -> anyhow::Result<Outcome> {
    let mut text = input.read()?;
    if !is_utf8(&input.name(), &text)? {
        return Ok(Outcome::BadData);
    }
    blank_mark(&mut text);
    let Err(error) = Parser::with_policy(policy).validate(&text) else { return Ok(Outcome::Fine) };
    let stray = usize::try_from(error.offset()).ok().and_then(|at| stray_mark(text.get(at..)?));
    output::write(line(&input.name(), &error.locate(&text), stray).as_bytes())?;
    Ok(Outcome::BadData)
}

/// Whether a text that begins with `start` can be UTF-8. If it cannot, this function prints a line that names the
/// encoding. It notes a byte order mark on standard error: such a text is read here, but RFC 8259 forbids sending it to
/// others.
fn is_utf8(name: &str, start: &[u8]) -> anyhow::Result<bool> {
    if let Some(encoding) = Encoding::of(start) {
        output::write(format!("{name}:1:1: {encoding} (byte 0)\n").as_bytes())?;
        return Ok(false);
    }
    if start.starts_with(MARK) {
        report(&format!(
            "{name}: note: it begins with a byte order mark, which JSON that is sent to others must not have (RFC 8259 section 8.1)"
        ));
    }
    Ok(true)
}

/// One line of the output: `FILE:LINE:COLUMN: message (byte N, at /path)`.
fn line(name: &str, found: &jird::Located, stray_mark: Option<&str>) -> String {
    let mut line = format!("{name}:{}:{}: {}", found.line(), found.column(), found.error().kind());
    if let Some(mark) = stray_mark {
        let _ = write!(line, "; {mark}");
    }
    let _ = writeln!(line, " {}", found.place());
    line
}

/// A thread checks this many bytes of a file at a time.
const CHUNK_BYTES: u64 = 4 << 20;

fn check_lines(input: &Input, policy: Policy) -> anyhow::Result<Outcome> {
    let options = lines::Options { policy, ..lines::Options::default() };
    let report = Report { name: input.name(), lines: 0, outcome: Outcome::Fine };
    match input {
        Input::Stdin => check_stream(io::stdin().lock(), options, report),
        Input::File(path) => {
            let file = input::open(path)?;
            let metadata = file.metadata().with_context(|| input.name())?;
            // The length of a pipe is unknown.
            if metadata.is_file() {
                check_file(file, metadata.len(), options, report)
            } else {
                check_stream(file, options, report)
            }
        }
    }
}

/// Checks lines from a stream, one after the other.
fn check_stream(mut reader: impl Read, options: lines::Options, mut report: Report) -> anyhow::Result<Outcome> {
    let mut start = read_start(&mut reader).with_context(|| report.name.clone())?;
    if !is_utf8(&report.name, &start)? {
        return Ok(Outcome::BadData);
    }
    blank_mark(&mut start);
    let mut scanner = Scanner::new(options);
    let text = Cursor::new(start).chain(reader);
    let flow = lines::read_stream(text, &mut Vec::new(), options.record_bytes_max, |base, text| {
        report.add(Part::new(&mut scanner, base, text)).map(|()| ControlFlow::Continue(()))
    });
    report.end(flow.map(drop))
}

/// Checks the lines of a file on all cores.
fn check_file(file: File, len: u64, options: lines::Options, mut report: Report) -> anyhow::Result<Outcome> {
    let start = read_start(&mut &file).with_context(|| report.name.clone())?;
    if !is_utf8(&report.name, &start)? {
        return Ok(Outcome::BadData);
    }
    let file = Positioned { file, is_marked: start.starts_with(MARK) };
    let jobs = usize::try_from(len.div_ceil(CHUNK_BYTES))?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let state = || (Scanner::new(options), Vec::new());
    let check = |(scanner, buffer): &mut (Scanner, Vec<u8>), job: usize| {
        let start = job as u64 * CHUNK_BYTES;
        let mut parts = Vec::new();
        let range = start..len.min(start + CHUNK_BYTES);
        let flow = lines::read_range(&file, range, buffer, options.record_bytes_max, |base, text| {
            parts.push(Part::new(scanner, base, text));
            anyhow::Ok(ControlFlow::Continue(()))
        });
        (parts, flow.map(drop))
    };
    let mut result = Ok(());
    lines::in_order(0..jobs, threads, state, check, |(parts, flow)| {
        result = parts.into_iter().try_for_each(|part| report.add(part)).and(flow);
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    report.end(result)
}

/// A file that threads read at different offsets. A byte order mark is replaced by blanks.
struct Positioned {
    file: File,
    is_marked: bool,
}

impl ReadAt for Positioned {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = self.file.read_at(buffer, offset)?;
        if self.is_marked {
            blank_mark_at(&mut buffer[..read], offset);
        }
        Ok(read)
    }
}

/// The result of one piece of text: its bad records, with lines counted from the start of the piece, and its number of
/// lines.
struct Part {
    bad: Vec<(jird::Located, Option<&'static str>)>,
    base: u64,
    lines: u64,
}

impl Part {
    fn new(scanner: &mut Scanner, base: u64, text: &[u8]) -> Self {
        let mut part = Self { bad: Vec::new(), base, lines: 0 };
        let mut counted = 0;
        let nothing = Projection::new(&[]);
        let good = |_: lines::Match<'_, '_>| ControlFlow::Continue(());
        scanner.scan_all(text, &nothing, None, good, |bad| {
            part.lines += newlines(&text[counted..bad.offset]);
            counted = bad.offset;
            let stray = usize::try_from(bad.error.offset()).ok().and_then(|at| stray_mark(text.get(at..)?));
            part.bad.push((bad.locate().after_lines(part.lines, bad.offset as u64), stray));
            ControlFlow::Continue(())
        });
        part.lines += newlines(&text[counted..]);
        part
    }
}

fn newlines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// Prints the results of the parts, in order.
struct Report {
    name: String,
    lines: u64,
    outcome: Outcome,
}

impl Report {
    fn add(&mut self, part: Part) -> anyhow::Result<()> {
        let located =
            |(found, stray): (jird::Located, _)| line(&self.name, &found.after_lines(self.lines, part.base), stray);
        let words: String = part.bad.into_iter().map(located).collect();
        if !words.is_empty() {
            self.outcome = Outcome::BadData;
            output::write(words.as_bytes())?;
        }
        self.lines += part.lines;
        Ok(())
    }

    /// Ends the report. A record above the size limit ends the check, because the start of the next record is unknown.
    fn end(self, result: anyhow::Result<()>) -> anyhow::Result<Outcome> {
        match result {
            Ok(()) => Ok(self.outcome),
            Err(error) => match error.downcast_ref::<jird::Error>() {
                Some(bad) => {
                    output::write(format!("{}:{}:1: {bad}\n", self.name, self.lines + 1).as_bytes())?;
                    report(&format!("{}: the rest was not checked", self.name));
                    Ok(Outcome::Failed)
                }
                None => Err(error.context(self.name)),
            },
        }
    }
}
