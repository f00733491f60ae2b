//! The documents of an input: the whole text, each of its lines, or those that follow one another.

mod cut;

use crate::input::Input;
use crate::lenient::{self, LenientArgs};
use crate::outcome::BadData;
use anyhow::{Context, Result, anyhow, bail};
use cut::is_too_long;
pub(crate) use cut::{Begin, Cutter, Shape};
use jird::edit::EditError;
use jird::lenient::LenientError;
use jird::policy::RECORD_BYTES_MAX;
use jird_formats::files::{FileFormat, RECORD_SEPARATOR, Text, plain_name};
use std::io::{self, BufReader, Read};

/// Bytes read at a time.
const BUFFER_BYTES: usize = 1 << 18;

/// How the documents of an input stand in its text.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ShapeArgs {
    /// Each line is a document of its own (NDJSON) [default: by the name]
    #[arg(long)]
    lines: bool,
    /// Documents follow one another, with white space between them or nothing. After record separators (RFC 7464), they
    /// are recognised without this
    #[arg(long, conflicts_with = "lines")]
    concatenated: bool,
}

impl ShapeArgs {
    /// How several documents stand in a text that begins with `start`; `None` if it is one document.
    ///
    /// # Errors
    /// If documents that follow one another are not strict JSON: where they end is known of strict JSON only.
    pub(crate) fn shape(self, input: &Input, start: &[u8], lenient: &LenientArgs) -> Result<Option<Shape>> {
        if self.concatenated && !lenient.is_strict() {
            bail!("--concatenated is for strict JSON, without --from and --allow");
        }
        Ok(match start.trim_ascii_start().first() {
            _ if self.concatenated => Some(Shape::Concatenated),
            _ if are_lines(input, self.lines) => Some(Shape::Lines),
            Some(&RECORD_SEPARATOR) => Some(Shape::Sequence),
            _ => None,
        })
    }
}

/// Whether each line of an input is a document of its own: the user says so, or the name does.
pub(crate) fn are_lines(input: &Input, asked: bool) -> bool {
    let is_named = |path| FileFormat::of_name(plain_name(path)) == Some(FileFormat::Ndjson);
    asked || input.path().is_some_and(is_named)
}

/// Passes each document of a text to `each`, with its line number if there may be several. Its error, if it is one of JSON,
/// becomes a message that names the input and the place.
///
/// # Errors
/// [`BadData`] for the first document that is bad; also errors of reading, and those of `each`.
pub(crate) fn each(
    input: &Input,
    text: Text,
    shape: Option<Shape>,
    mut each: impl FnMut(&[u8], Option<u64>) -> Result<()>,
) -> Result<()> {
    if let Some(encoding) = text.encoding() {
        return Err(BadData(format!("{}: {encoding}", input.name())).into());
    }
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, text.blank_mark().into_reader());
    let mut text = Vec::new();
    let Some(shape) = shape else {
        reader.read_to_end(&mut text).with_context(|| input.name())?;
        return each(&text, None).map_err(|error| match error.downcast_ref::<jird::Error>() {
            Some(wrong) => {
                let BadData(words) = input.wrong(wrong, &text);
                BadData(words + hint(wrong, wrong.locate(&text).line() as usize)).into()
            }
            None => refused(&input.name(), error, Begin::default()),
        });
    };
    let mut cutter = Cutter::new(reader, shape, RECORD_BYTES_MAX);
    loop {
        let begin = match cutter.next(&mut text) {
            Ok(Some(begin)) => begin,
            Ok(None) => return Ok(()),
            Err(error) => return Err(unread(input, error, (shape, cutter.line()), RECORD_BYTES_MAX)),
        };
        let line = begin.lines + 1;
        each(&text, Some(line)).map_err(|error| match error.downcast_ref::<jird::Error>() {
            Some(wrong) => BadData(format!("{}: {}", input.name(), begin.locate(wrong, &text))).into(),
            None if error.is::<LenientError>() => refused(&input.name(), error, begin),
            None => refused(&format!("{}:{line}", input.name()), error, begin),
        })?;
    }
}

/// An input cannot be read, or a document that begins in this line is longer than the limit, in bytes.
pub(crate) fn unread(input: &Input, error: io::Error, (shape, line): (Shape, u64), limit: usize) -> anyhow::Error {
    if !is_too_long(&error) {
        return anyhow::Error::new(error).context(input.name());
    }
    let what = if shape == Shape::Lines { "line" } else { "the document in line" };
    anyhow!("{}: {what} {line} is longer than {limit} bytes", input.name())
}

/// Names the document, which begins there, if the error is that it, or an edit of it, was refused.
fn refused(name: &str, error: anyhow::Error, begin: Begin) -> anyhow::Error {
    if let Some(refused) = error.downcast_ref::<LenientError>() {
        let placed = refused.clone().after_columns(begin.column).after_lines(begin.lines, begin.offset);
        return BadData(format!("{name}: {}", lenient::shown(&placed))).into();
    }
    match (error.downcast_ref::<EditError>(), error.downcast_ref::<BadData>()) {
        (Some(refused), _) => BadData(format!("{name}: {refused}")).into(),
        (None, Some(refused)) => BadData(format!("{name}: {refused}")).into(),
        (None, None) => error,
    }
}

/// The message that an input that is one document is wrong. Its text is not in memory, and the error has its place.
pub(crate) fn of_one(input: &Input, wrong: &jird::Error) -> BadData {
    let (kind, line, column) = (wrong.kind(), wrong.line(), wrong.column());
    let (words, place) = (wrong.to_string(), format!("{kind} at line {line} column {column}"));
    // What follows is the path, in brackets.
    let path = words.strip_prefix(&place).and_then(|path| path.strip_prefix(" (")?.strip_suffix(')'));
    let path = path.map_or_else(String::new, |path| format!(", {path}"));
    let place = if line == 0 { words } else { format!("{place} (byte {}{path})", wrong.offset()) };
    BadData(format!("{}: {place}{}", input.name(), hint(wrong, line)))
}

/// What to do if a document is followed by another one.
fn hint(wrong: &jird::Error, line: usize) -> &'static str {
    match (wrong.code(), line) {
        ("trailing", 0 | 1) => {
            "\nif documents follow one another, `jird fmt --concatenated --minify` makes lines of them"
        }
        ("trailing", _) => "\nif each line is a document of its own, add --lines",
        _ => "",
    }
}
