//! `jird fmt`: rewrites documents with another layout.

use crate::color::ColorArgs;
use crate::documents::{Shape, ShapeArgs, each};
use crate::input::{Counter, Input};
use crate::lenient::LenientArgs;
use crate::outcome::{Outcome, report};
use crate::progress::Progress;
use crate::remote::RemoteArgs;
use crate::rewrite::rewrite;
use crate::target::Target;
use anyhow::{Result, bail};
use jird::Layout;
use jird::partial::repair;
use jird_formats::files::RECORD_SEPARATOR;
use std::borrow::Cow;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  jird fmt data.json
  jird fmt --minify < data.json
  jird fmt -i *.json                          rewrites the files
  jird fmt --canonical data.json | sha256sum
  jird fmt --repair data.json                 closes what a broken connection left open
  jird fmt --from json5 settings.json5        strict JSON, without the comments
  jird fmt events.ndjson.gz                   one result for each line
  tail -f log | jird fmt --lines";

/// Rewrite the layout of documents; numbers and strings keep their text
///
/// With --canonical, everything is rewritten as RFC 8785 prescribes, and no line feed follows a document that is not a
/// line. gzip, zstd, bzip2, xz and LZ4 are recognised.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that somebody types")]
pub(crate) struct FmtArgs {
    /// Spaces per level
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=16))]
    indent: u8,
    /// No white space at all
    #[arg(long, conflicts_with_all = ["indent", "canonical"])]
    minify: bool,
    /// The canonical form of RFC 8785
    #[arg(long, conflicts_with = "indent")]
    canonical: bool,
    #[command(flatten)]
    shape: ShapeArgs,
    /// Make documents valid that were cut short: remove what is incomplete at the end, and close what is open
    ///
    /// What was removed and added is reported on standard error, and the exit code is then 1. A number at the cut is
    /// removed, because digits may be missing. Any other error stays an error.
    #[arg(long)]
    repair: bool,
    /// Rewrite the files, each as a whole or not at all; lines stay lines, and compressed files compressed
    #[arg(short, long, requires = "files", conflicts_with = "color")]
    in_place: bool,
    #[command(flatten)]
    lenient: LenientArgs,
    #[command(flatten)]
    color: ColorArgs,
    #[command(flatten)]
    remote: RemoteArgs,
    /// The documents; standard input if missing or `-`
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: &FmtArgs) -> Outcome {
    args.remote.begin();
    let inputs = Input::all(&args.files);
    let read = Counter::of(&inputs);
    let shown = read.clone();
    let _progress = Progress::start(move || shown.done(), false);
    Outcome::worst(
        inputs,
        |input| if args.in_place { rewritten(input, args, &read) } else { print(input, args, &read) },
    )
}

fn print(input: &Input, args: &FmtArgs, read: &Counter) -> Result<Outcome> {
    let mut out = BufWriter::new(Target::create(None)?);
    let text = input.open(read)?;
    let shape = args.shape.shape(input, &text.start, &args.lenient)?;
    let mut outcome = Outcome::Fine;
    let done = each(input, text, shape, |text, line| {
        let text = whole(input, text, line, args, &mut outcome)?;
        let text = args.lenient.read(&text, |text| formatted(text, layout(args), shape.is_some()))?;
        out.write_all(&args.color.paint(&text))?;
        // A reader may wait for what a writer has just sent.
        if input.is_live() {
            out.flush()?;
        }
        Ok(())
    });
    // What came before an error is printed.
    out.flush()?;
    done.map(|()| outcome)
}

fn rewritten(input: &Input, args: &FmtArgs, read: &Counter) -> Result<Outcome> {
    // The start of the text tells record separators.
    let start = match input {
        Input::File(path) if path.is_file() => input.open(&Counter::default())?.start,
        _ => Vec::new(),
    };
    let shape = args.shape.shape(input, &start, &args.lenient)?;
    let layout = match layout(args) {
        // An indented document takes several lines.
        Layout::Indent(_) if shape == Some(Shape::Lines) => {
            bail!("{}: lines are rewritten with --minify or --canonical", input.name())
        }
        layout => layout,
    };
    let mut outcome = Outcome::Fine;
    rewrite(input, shape, read, |text, line| {
        let text = whole(input, text, line, args, &mut outcome)?;
        let mut formatted = args.lenient.read(&text, |text| formatted(text, layout, shape.is_some()))?;
        // A sequence stays one.
        if shape == Some(Shape::Sequence) {
            formatted.insert(0, RECORD_SEPARATOR);
        }
        Ok(formatted)
    })?;
    Ok(outcome)
}

/// The document, made valid if it was cut short and that is asked for. Reports what was changed.
fn whole<'t>(
    input: &Input,
    text: &'t [u8],
    line: Option<u64>,
    args: &FmtArgs,
    outcome: &mut Outcome,
) -> Result<Cow<'t, [u8]>> {
    // The line feed after a line says nothing about what is before it: a number may be cut there too.
    let document = if line.is_some() { text.strip_suffix(b"\n").unwrap_or(text) } else { text };
    // A text that is valid, or has another error, takes the fast way.
    if !args.repair || !jird::validate(document).is_err_and(|error| error.is_eof()) {
        return Ok(Cow::Borrowed(text));
    }
    let repair = repair(document)?;
    let line = line.map_or(String::new(), |line| format!("line {line}: "));
    report(&format!("{}: {line}{repair}", input.name()));
    *outcome = Outcome::BadData;
    Ok(Cow::Owned(repair.into_text().into_bytes()))
}

fn layout(args: &FmtArgs) -> Layout {
    match args {
        FmtArgs { minify: true, .. } => Layout::Minify,
        FmtArgs { canonical: true, .. } => Layout::Canonical,
        FmtArgs { indent, .. } => Layout::Indent(usize::from(*indent)),
    }
}

fn formatted(text: &[u8], layout: Layout, are_several: bool) -> Result<Vec<u8>> {
    let mut out = jird::format(text, layout)?;
    if are_several || layout != Layout::Canonical {
        out.push(b'\n');
    }
    Ok(out)
}
