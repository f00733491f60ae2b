//! Detects the layout of a text by its name and its first bytes.

use super::elements::Layout;
use super::{Reading, Refusal};
use jird::event::{Failure, JsonSink, JsonSource, Source};
use jird::lenient::Leniency;
use jird_formats::LenientLayout;
use jird_formats::files::{FileFormat, RECORD_SEPARATOR, Text, plain_name};
use std::io;
use std::path::Path;

/// The layout of a text: what the user says, or else what it looks like.
pub(super) fn layout(path: &Path, reading: &Reading, text: &Text) -> Result<Layout, Refusal> {
    if let Some(options) = reading.lenient {
        return lenient(path, reading, text, options.leniency);
    }
    let is_array = text.start.trim_ascii_start().starts_with(b"[");
    let layout = match reading.from {
        None if reading.csv.is_given() => or_csv(detected(path, &text.start), path, &text.start),
        None => detected(path, &text.start),
        Some(FileFormat::Ndjson) => Layout::Lines,
        Some(FileFormat::Json) if is_array => Layout::Array,
        Some(FileFormat::Quarantine) => Layout::Quarantine,
        Some(format) => Layout::Table(format),
    };
    let layout = match layout {
        Layout::Lines | Layout::Array if reading.records.is_some() => Layout::Table(FileFormat::Json),
        layout => layout,
    };
    let is_binary = matches!(layout, Layout::Table(format) if format.is_binary());
    match text.encoding().filter(|_| !is_binary) {
        Some(encoding) => Err(Refusal::Encoding(encoding)),
        None => Ok(layout),
    }
}

/// What is said of an event store that was to be read in another notation.
pub(super) const NO_LENIENT_STORE: &str =
    "an event store holds strict JSON: remove --from and --allow, which are for texts in other notations of JSON";

/// The layout of a JSON text that need not be strict: lines, or one document. The name says it if it is one of lines, or else
/// the text.
fn lenient(path: &Path, reading: &Reading, text: &Text, leniency: Leniency) -> Result<Layout, Refusal> {
    let named = reading.from.or(FileFormat::of_own_name(plain_name(path)));
    let format = match LenientLayout::of_file(named, &text.start, leniency)? {
        LenientLayout::Lines => FileFormat::Ndjson,
        LenientLayout::Document => FileFormat::Json,
    };
    text.encoding().map_or(Ok(Layout::Table(format)), |encoding| Err(Refusal::Encoding(encoding)))
}

/// The layout of a text that begins with `start`.
fn detected(path: &Path, start: &[u8]) -> Layout {
    let named = FileFormat::of_own_name(plain_name(path));
    let text = start.trim_ascii_start();
    if let Some(format) = FileFormat::of_bytes(start).filter(|format| format.is_binary()) {
        return Layout::Table(format);
    }
    match named {
        Some(table @ (FileFormat::Csv | FileFormat::Tsv)) if !text.starts_with(b"{") => return Layout::Table(table),
        Some(FileFormat::Ndjson) => return Layout::Lines,
        // The text says more than the name. A new format has its place here.
        Some(
            FileFormat::Json
            | FileFormat::Csv
            | FileFormat::Tsv
            | FileFormat::Sqlite
            | FileFormat::Parquet
            | FileFormat::Arrow
            | FileFormat::Quarantine,
        )
        | None => {}
    }
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
    let rest = text.get(line.len()..).unwrap_or_default().trim_ascii_start();
    let is_whole_line = text.contains(&b'\n');
    match text.first() {
        // Several arrays, one per line, are records.
        Some(b'[') if is_whole_line && balance(line) == 0 && !rest.is_empty() => Layout::Lines,
        Some(b'[') => Layout::Array,
        // A line of a log may be broken, so a first line with open brackets does not prove that values span lines. It
        // does if the line is a single bracket, or if the name says that the text is JSON.
        Some(b'{') if line == b"{" || is_whole_line && named == Some(FileFormat::Json) && balance(line) != 0 => VALUES,
        Some(&RECORD_SEPARATOR) => VALUES,
        _ if holds_several(line, is_whole_line) => VALUES,
        _ => Layout::Lines,
    }
}

/// JSON values one after the other: one may have several lines, and several one line.
const VALUES: Layout = Layout::Table(FileFormat::Json);

/// Whether a first line is several values; of one that may go on, whether it begins with several.
fn holds_several(line: &[u8], is_whole: bool) -> bool {
    let (mut values, mut sink) = (JsonSource::from_slice(line), JsonSink::new(io::sink()));
    loop {
        match values.send_record(&mut sink) {
            Ok(true) => {}
            Ok(false) => return values.records_begun() > 1,
            Err(Failure::Sink(..)) => return false,
            Err(Failure::Source(error)) => {
                let is_cut = !is_whole && usize::try_from(error.offset()).is_ok_and(|at| at >= line.len());
                return is_cut && values.records_begun() > 1;
            }
        }
    }
}

/// CSV, if a text is only taken for lines because nothing says what it is.
fn or_csv(detected: Layout, path: &Path, start: &[u8]) -> Layout {
    let is_named = FileFormat::of_own_name(plain_name(path)).is_some();
    let is_json = start.trim_ascii_start().starts_with(b"{");
    if detected == Layout::Lines && !is_named && !is_json { Layout::Table(FileFormat::Csv) } else { detected }
}

/// The number of brackets that are open at the end of a line.
fn balance(line: &[u8]) -> i64 {
    let (mut open, mut in_string, mut escaped) = (0, false, false);
    for byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => open += 1,
            b'}' | b']' if !in_string => open -= 1,
            _ => {}
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_first_line_tell_the_layout() {
        for (name, start, expected) in [
            ("a.ndjson", "[1]", Layout::Lines),
            ("a.jsonl.gz", "{\n", Layout::Lines),
            ("a.json", " \n[{\"a\":1},", Layout::Array),
            ("a.json", "[1]\n", Layout::Array),
            ("a.json", "[1]\n[2]\n", Layout::Lines),
            ("<stdin>", "[\n1]", Layout::Array),
            ("<stdin>", "{\"a\":1}\n", Layout::Lines),
            ("<stdin>", "{\"a\":\n", Layout::Lines),
            ("<stdin>", "{\r\n \"a\":1}", VALUES),
            ("a.json", "{\"a\":[\n1]}", VALUES),
            ("a.json", "{\"a\":1}\n{\"a\":2}\n", Layout::Lines),
            ("a.json", "{\"a\":\"}\n", VALUES),
            ("a.json", "{\"a\":1}{\"a\":2}\n", VALUES),
            ("<stdin>", "{\"a\":1} {\"a\":2", VALUES),
            ("<stdin>", "1 2 3\n4", VALUES),
            ("<stdin>", "\"a\"\"b\"\n", VALUES),
            ("<stdin>", "\u{1e}{\"a\":1}\n\u{1e}{", VALUES),
            ("a.ndjson", "{\"a\":1}{\"a\":2}\n", Layout::Lines),
            ("<stdin>", "{\"a\":1}{\"a\":\n", Layout::Lines),
            ("<stdin>", "{\"a\":1} and more\n", Layout::Lines),
            ("<stdin>", "1\n2\n", Layout::Lines),
            ("", "", Layout::Lines),
        ] {
            assert_eq!(detected(Path::new(name), start.as_bytes()), expected, "{name} {start:?}");
        }
        for (name, start, format) in [
            ("a", "PAR1", FileFormat::Parquet),
            ("a.json", "SQLite format 3\0", FileFormat::Sqlite),
            ("a.csv.gz", "a,b\n", FileFormat::Csv),
        ] {
            assert_eq!(detected(Path::new(name), start.as_bytes()), Layout::Table(format), "{name}");
        }
    }
}
