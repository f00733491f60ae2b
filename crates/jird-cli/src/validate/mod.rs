//! `jird validate`: checks documents, and says where they are wrong.

#[cfg(feature = "schema")]
mod cost;
#[cfg(feature = "schema")]
mod schema;
/// What stands for a schema in a build without the feature.
#[cfg(not(feature = "schema"))]
mod schema {
    use super::wrong::Breach;

    pub(super) const TOLD_MAX: usize = 0;

    pub(super) enum Schema {}

    impl Schema {
        pub(super) fn check(&self, _: jird::Value<'_>) -> anyhow::Result<Vec<Breach>> {
            match *self {}
        }
    }
}
#[cfg(feature = "schema")]
mod tree;
mod wrong;

use crate::documents::{Begin, Cutter, Shape, ShapeArgs, unread};
use crate::input::{self, Counted, Counter, Input};
use crate::lenient::{self, LenientArgs};
use crate::limits::RecordArgs;
use crate::outcome::{Outcome, report};
use crate::output;
use crate::progress::Progress;
use crate::remote::{Open, RemoteArgs};
use anyhow::{Context, bail};
use jird::hooks::lines::{Counting, LinePiece, LineReader, Part, ReadAt};
use jird::hooks::lines::{drive, ranges};
use jird::lines::{self, Bad};
use jird::policy::{Duplicates, Numbers, Policy};
use jird::{Parser, record::Projection};
use jird_formats::encoding::{Encoding, MARK, Unmarked, blank_mark, read_start, stray_mark};
use jird_formats::files::{Compression, Text, plain_name};
use schema::Schema;
use std::cell::{Cell, RefCell};
use std::io::{BufReader, Cursor, Read};
use std::ops::ControlFlow;
use std::path::PathBuf;
use wrong::Wrong;

const EXAMPLES: &str = "\
Examples:
  jird validate *.json
  jird validate events.ndjson.gz
  jird validate --numbers machine < data.json
  jird validate --schema events.schema.json events.ndjson

Exit codes: 0 all is well, 1 a document is bad or does not satisfy the schema, 2 the command could not do its work.";

/// Check documents strictly by RFC 8259; print a line for each bad one
///
/// Each line is `FILE:LINE:COLUMN: message (byte N, at /path)`. LINE and COLUMN count from 1, N from 0; COLUMN counts
/// bytes. gzip, zstd, bzip2, xz and LZ4 are recognised; places are those in the decompressed text.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    shape: ShapeArgs,
    /// Which numbers are accepted
    #[arg(long, value_enum, default_value_t = NumbersArg::Any)]
    numbers: NumbersArg,
    /// Refuse objects that have a key twice
    #[arg(long)]
    unique_keys: bool,
    /// The maximum nesting depth of objects and arrays
    #[arg(long, value_name = "N", default_value_t = jird::policy::Policy::DEPTH_MAX)]
    depth_max: usize,
    /// Also check each document, or each line, by this JSON Schema (drafts 4 to 2020-12). A `$ref` must lead to a
    /// place in the schema itself: nothing is fetched
    #[cfg(feature = "schema")]
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<PathBuf>,
    #[arg(long, hide = true, value_name = "N")]
    threads: Option<usize>,
    #[arg(long, hide = true, value_name = "N", default_value_t = CHUNK_BYTES, value_parser = clap::value_parser!(u64).range(1..))]
    chunk_bytes: u64,
    /// The documents; standard input if missing or `-`
    files: Vec<PathBuf>,
    #[command(flatten)]
    lenient: LenientArgs,
    #[command(flatten)]
    record: RecordArgs,
    #[command(flatten)]
    remote: RemoteArgs,
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

pub(crate) fn run(args: &ValidateArgs) -> anyhow::Result<Outcome> {
    args.remote.begin();
    let inputs = Input::all(&args.files);
    let rules = Rules::new(args, &inputs)?;
    let read = Counter::of(&inputs);
    let shown = read.clone();
    let _progress = Progress::start(move || shown.done(), false);
    if rules.has_schema() && !args.lenient.is_strict() {
        anyhow::bail!(
            "a schema is for strict JSON: `jird fmt --from json5 --minify FILE | jird validate --schema SCHEMA`"
        );
    }
    Ok(Outcome::worst(inputs, |input| match args.shape.shape(input, &[], &args.lenient)? {
        Some(Shape::Lines) if args.lenient.is_strict() => check_lines(input, args, &rules, &read),
        Some(Shape::Lines) => {
            bail!("{}: lines are checked as strict JSON, without --from and --allow", input.name())
        }
        _ => check_documents(input, args, &rules, &read),
    }))
}

/// What is checked.
struct Rules {
    policy: Policy,
    schema: Option<Schema>,
}

impl Rules {
    #[cfg(feature = "schema")]
    fn new(args: &ValidateArgs, inputs: &[Input]) -> anyhow::Result<Self> {
        if let Some(file) = &args.schema
            && Input::new(file) == Input::Stdin
            && inputs.contains(&Input::Stdin)
        {
            anyhow::bail!("standard input cannot be the schema and a document; name a file");
        }
        let schema = args.schema.as_deref().map(Schema::read).transpose()?;
        Ok(Self { policy: args.policy(), schema })
    }

    #[cfg(not(feature = "schema"))]
    #[expect(clippy::unnecessary_wraps, reason = "a schema may be wrong")]
    fn new(args: &ValidateArgs, _: &[Input]) -> anyhow::Result<Self> {
        Ok(Self { policy: args.policy(), schema: None })
    }

    /// Whether a record that is right by itself must satisfy a schema.
    fn has_schema(&self) -> bool {
        self.schema.is_some()
    }

    /// Where a record does not satisfy the schema. `text` is right by itself, and all of its lines are counted.
    fn breaches(&self, parser: &mut Parser, text: &[u8]) -> anyhow::Result<Vec<Wrong>> {
        let Some(schema) = &self.schema else { return Ok(Vec::new()) };
        let record = parser.parse(text)?;
        let mut found: Vec<_> =
            schema.check(record)?.into_iter().map(|found| Wrong::breach(found, record.offset(), text)).collect();
        if found.len() > schema::TOLD_MAX {
            found.truncate(schema::TOLD_MAX);
            found.extend(found.last().map(Wrong::and_more));
        }
        Ok(found)
    }
}

/// Checks a document, or documents that follow one another.
fn check_documents(input: &Input, args: &ValidateArgs, rules: &Rules, read: &Counter) -> anyhow::Result<Outcome> {
    let text = input.open(read)?;
    if !is_utf8(&input.name(), &text.start)? {
        return Ok(Outcome::BadData);
    }
    let shape = args.shape.shape(input, &text.start, &args.lenient)?;
    let mut report = Report { name: input.name(), outcome: Outcome::Fine, record_limit: None };
    let (mut reader, mut text) = (text.blank_mark().into_reader(), Vec::new());
    let Some(shape) = shape else {
        reader.read_to_end(&mut text).with_context(|| input.name())?;
        report.document(&text, Begin::default(), args, rules)?;
        return Ok(report.outcome);
    };
    let limit = args.record.limit();
    let mut cutter = Cutter::new(BufReader::with_capacity(BUFFER_BYTES, reader), shape, limit);
    loop {
        match cutter.next(&mut text) {
            Ok(Some(begin)) => report.document(&text, begin, args, rules)?,
            Ok(None) => return Ok(report.outcome),
            Err(error) => return Err(unread(input, error, (shape, cutter.line()), limit)),
        }
        // Where the next document begins is known only after a separator.
        if report.outcome != Outcome::Fine && shape == Shape::Concatenated {
            return Ok(report.outcome);
        }
    }
}

/// What is wrong with a document of another notation: whether it can be turned into strict JSON, which the policy allows.
fn lenient_line(name: &str, text: &[u8], begin: Begin, args: &ValidateArgs) -> Option<String> {
    match args.lenient.strict(text) {
        Err(error) => {
            let error = error.after_columns(begin.column).after_lines(begin.lines, begin.offset);
            Some(format!("{name}:{}:{}: {}\n", error.line(), error.column(), lenient::brief(&error)))
        }
        Ok(strict) => {
            let error = Parser::with_policy(args.policy()).validate(&strict).err()?;
            let found = error.locate(&strict);
            let line = begin.lines + found.line();
            // Lines keep their numbers, and columns do not.
            Some(format!("{name}:{line}: {}, in the text as strict JSON {}\n", error.kind(), found.place()))
        }
    }
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

/// Bytes that are read at a time.
const BUFFER_BYTES: usize = 1 << 18;

/// A thread checks this many bytes of a file at a time.
const CHUNK_BYTES: u64 = 4 << 20;

fn check_lines(input: &Input, args: &ValidateArgs, rules: &Rules, read: &Counter) -> anyhow::Result<Outcome> {
    let record_limit = args.record.limit();
    let options = lines::Options { policy: rules.policy, record_bytes_max: record_limit, ..lines::Options::default() };
    let report = Report { name: input.name(), outcome: Outcome::Fine, record_limit: Some(record_limit) };
    if let Input::Url { url, failure } = input
        && let Open::File(file) = Input::remote(url, failure.as_ref())?
    {
        read.expect(Some(file.len()));
        let text = Text::open(Box::new(file.reader()), Some(plain_name(url))).with_context(|| input.name())?;
        if text.compression != Compression::None {
            let text = Text::open(Box::new(read.count(file.reader())), Some(plain_name(url)));
            return check_stream(text.with_context(|| input.name())?.into_reader(), rules, options, report);
        }
        let start = read_start(&mut file.reader()).with_context(|| input.name())?;
        let len = file.len();
        return check_file((read.count(file), len, start), args, (rules, options), report);
    }
    let text = input.open(read)?;
    match input {
        // Only a file that is not compressed can be read at any offset.
        Input::File(path) if !input.is_live() && text.compression == Compression::None => {
            let file = input::open(path)?;
            let len = file.metadata().with_context(|| input.name())?.len();
            let start = read_start(&mut &file).with_context(|| input.name())?;
            check_file((read.count(file), len, start), args, (rules, options), report)
        }
        _ => check_stream(text.into_reader(), rules, options, report),
    }
}

/// Checks lines from a stream, one after the other.
fn check_stream(
    mut reader: impl Read,
    rules: &Rules,
    options: lines::Options,
    mut report: Report,
) -> anyhow::Result<Outcome> {
    let mut start = read_start(&mut reader).with_context(|| report.name.clone())?;
    if !is_utf8(&report.name, &start)? {
        return Ok(Outcome::BadData);
    }
    blank_mark(&mut start);
    let mut text = Cursor::new(start).chain(reader);
    let mut reader = (LineReader::new(options), Parser::with_policy(rules.policy));
    let read = check_part(&mut reader, rules, Part::Stream(&mut text), |bad| report.add(bad, 0));
    report.end(read)
}

/// Checks the lines of a file on all cores.
fn check_file<F: ReadAt>(
    (file, len, start): (Counted<F>, u64, Vec<u8>),
    args: &ValidateArgs,
    (rules, options): (&Rules, lines::Options),
    mut report: Report,
) -> anyhow::Result<Outcome> {
    if !is_utf8(&report.name, &start)? {
        return Ok(Outcome::BadData);
    }
    let file = Unmarked { text: file, is_marked: start.starts_with(MARK) };
    let threads = args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let parts = ranges(0..len, args.chunk_bytes).map(|range| (0, range));
    let check = |readers: &mut (LineReader, Parser), range| {
        let mut all = Vec::new();
        let read = check_part(readers, rules, Part::Range(&file, range), |bad| {
            all.extend(bad);
            Ok(())
        });
        ((all, read), readers.0.lines())
    };
    let (mut result, mut lines_before) = (Ok(()), 0);
    drive(
        parts,
        threads,
        || (LineReader::new(options), Parser::with_policy(rules.policy)),
        check,
        |(bad, read), lines| {
            result = report.add(bad, lines.start).and(read);
            lines_before = lines.end;
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    );
    report.end(result)
}

/// Checks a part of a text, and passes on what is wrong in each piece, in order.
fn check_part(
    (reader, parser): &mut (LineReader, Parser),
    rules: &Rules,
    part: Part<'_>,
    mut each: impl FnMut(Vec<Wrong>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let found = RefCell::new(Vec::new());
    let failed = Cell::new(None);
    let bad = |bad: &Bad<'_>, piece: &LinePiece<'_>| {
        let stray = usize::try_from(bad.error.offset()).ok().and_then(|at| stray_mark(piece.text().get(at..)?));
        found.borrow_mut().push(Wrong::text(piece.locate(bad), stray));
        ControlFlow::Continue(())
    };
    let good = |good: &lines::Match<'_, '_>, piece: &LinePiece<'_>| {
        if !rules.has_schema() {
            return ControlFlow::Continue(());
        }
        match rules.breaches(parser, good.text()) {
            Ok(wrong) => {
                let before = |wrong: Wrong| {
                    let start = newline_before(piece.text(), good.offset());
                    wrong.after(piece.lines_before(good.offset()), piece.offset(), good.offset(), start)
                };
                found.borrow_mut().extend(wrong.into_iter().map(before));
                ControlFlow::Continue(())
            }
            Err(error) => {
                failed.set(Some(error));
                ControlFlow::Break(())
            }
        }
    };
    let end = |_: &LinePiece<'_>, _| each(found.take()).map(ControlFlow::Continue);
    let read = reader.read(part, Counting::default(), (&Projection::new(&[]), None), good, bad, end).map(drop);
    failed.into_inner().map_or(read, Err)
}

/// The offset of the first byte of the line that has byte `at`.
fn newline_before(text: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1)
}

/// Prints what is wrong in a text, in order.
struct Report {
    name: String,
    outcome: Outcome,
    /// The limit of a line, if the text is one of lines.
    record_limit: Option<usize>,
}

impl Report {
    /// Prints what is wrong with a document that begins there.
    fn document(&mut self, text: &[u8], begin: Begin, args: &ValidateArgs, rules: &Rules) -> anyhow::Result<()> {
        if !args.lenient.is_strict() {
            if let Some(line) = lenient_line(&self.name, text, begin, args) {
                self.outcome = Outcome::BadData;
                output::write(line.as_bytes())?;
            }
            return Ok(());
        }
        let mut parser = Parser::with_policy(rules.policy);
        let wrong = match parser.validate(text) {
            Ok(()) if rules.has_schema() => rules.breaches(&mut parser, text).with_context(|| self.name.clone())?,
            Ok(()) => Vec::new(),
            Err(error) => {
                let stray = usize::try_from(error.offset()).ok().and_then(|at| stray_mark(text.get(at..)?));
                vec![Wrong::text(begin.locate(&error, text), stray)]
            }
        };
        self.add(wrong.into_iter().map(|wrong| wrong.in_text(begin)).collect(), 0)
    }

    /// Prints what is wrong in a part that has `lines_before` lines before it.
    fn add(&mut self, wrong: Vec<Wrong>, lines_before: u64) -> anyhow::Result<()> {
        let words: String =
            wrong.into_iter().map(|wrong| wrong.line(&self.name, lines_before, self.record_limit)).collect();
        if !words.is_empty() {
            self.outcome = Outcome::BadData;
            output::write(words.as_bytes())?;
        }
        Ok(())
    }

    fn end(self, result: anyhow::Result<()>) -> anyhow::Result<Outcome> {
        result.map(|()| self.outcome).context(self.name)
    }
}
