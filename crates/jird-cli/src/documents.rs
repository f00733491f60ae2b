//! The documents of an input: the whole text, or each of its lines.

use crate::input::Input;
use crate::lenient;
use crate::outcome::BadData;
use anyhow::{Context, Result, bail};
use jird::edit::EditError;
use jird::lenient::LenientError;
use jird::policy::RECORD_BYTES_MAX;
use jird_formats::files::{FileFormat, Text, plain_name};
use std::io::{BufRead, BufReader, Read};

/// Bytes read at a time.
const BUFFER_BYTES: usize = 1 << 18;

/// Whether each line of an input is a document of its own: the user says so, or the name does.
pub(crate) fn are_lines(input: &Input, asked: bool) -> bool {
    let is_named = |path| FileFormat::of_name(plain_name(path)) == Some(FileFormat::Ndjson);
    asked || input.path().is_some_and(is_named)
}

/// Passes each document of a text to `each`, with its line number if it is a line. Its error, if it is one of JSON,
/// becomes a message that names the input and the place.
///
/// # Errors
/// [`BadData`] for the first document that is bad; also errors of reading, and those of `each`.
pub(crate) fn each(
    input: &Input,
    text: Text,
    lines: bool,
    mut each: impl FnMut(&[u8], Option<u64>) -> Result<()>,
) -> Result<()> {
    if let Some(encoding) = text.encoding() {
        return Err(BadData(format!("{}: {encoding}", input.name())).into());
    }
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, text.blank_mark().into_reader());
    let mut text = Vec::new();
    if !lines {
        reader.read_to_end(&mut text).with_context(|| input.name())?;
        return each(&text, None).map_err(|error| match error.downcast_ref::<jird::Error>() {
            Some(wrong) => {
                let BadData(words) = input.wrong(wrong, &text);
                BadData(words + hint(wrong, wrong.locate(&text).line() as usize)).into()
            }
            None => refused(&input.name(), error, (0, 0)),
        });
    }
    let (mut line, mut offset) = (0, 0);
    loop {
        text.clear();
        let limit = RECORD_BYTES_MAX as u64 + 1;
        let read = (&mut reader).take(limit).read_until(b'\n', &mut text).with_context(|| input.name())?;
        if read == 0 {
            return Ok(());
        }
        if read as u64 == limit {
            bail!("{}: line {} is longer than {RECORD_BYTES_MAX} bytes", input.name(), line + 1);
        }
        if !text.trim_ascii().is_empty() {
            each(&text, Some(line + 1)).map_err(|error| match error.downcast_ref::<jird::Error>() {
                Some(wrong) => {
                    let located = wrong.locate(&text).after_lines(line, offset);
                    BadData(format!("{}: {located}", input.name())).into()
                }
                None if error.is::<LenientError>() => refused(&input.name(), error, (line, offset)),
                None => refused(&format!("{}:{}", input.name(), line + 1), error, (line, offset)),
            })?;
        }
        line += 1;
        offset += read as u64;
    }
}

/// Names the document, if the error is that it, or an edit of it, was refused. So many lines and bytes stand before it.
fn refused(name: &str, error: anyhow::Error, (lines, bytes): (u64, u64)) -> anyhow::Error {
    if let Some(refused) = error.downcast_ref::<LenientError>() {
        let placed = refused.clone().after_lines(lines, bytes);
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
    BadData(format!("{}: {wrong}{}", input.name(), hint(wrong, wrong.line())))
}

/// What to do if a document is followed by another one.
fn hint(wrong: &jird::Error, line: usize) -> &'static str {
    let is_next_line = wrong.code() == "trailing" && line > 1;
    if is_next_line { "\nif each line is a document of its own, add --lines" } else { "" }
}
