//! CSV as a source and a sink, compared with csv-core and the `csv` crate.
#![cfg(feature = "csv")]

#[path = "../../../jird/tests/common/mod.rs"]
mod common;
mod peers;
mod sink;
mod source;
mod types;

use jird::event::{self, Failure, JsonSink, JsonSource, Place, Sink, Source};
use jird_formats::{CsvSink, CsvSource, Dialect, Error, ErrorKind, Terminator};
use std::io::Read;
use std::path::Path;

/// All files of a folder with one of these suffixes, by name.
pub(crate) fn files(folder: &Path, suffixes: &[&str]) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if suffixes.iter().any(|suffix| path.to_string_lossy().ends_with(suffix)) {
                found.push((path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "nothing in {}", folder.display());
    found
}

/// Keeps the fields of each record, and where it stands.
#[derive(Default)]
pub(crate) struct Fields {
    pub(crate) records: Vec<Vec<String>>,
    pub(crate) places: Vec<Place>,
}

impl Sink for Fields {
    type Error = std::convert::Infallible;

    fn begin_record(&mut self, place: Place) -> Result<(), Self::Error> {
        self.records.push(Vec::new());
        self.places.push(place);
        Ok(())
    }
    fn string(&mut self, text: &str) -> Result<(), Self::Error> {
        self.records.last_mut().unwrap().push(text.to_owned());
        Ok(())
    }
}

/// No header, and whatever number of fields.
pub(crate) fn bare() -> Dialect {
    Dialect { header: false, ..Dialect::default() }
}

/// What we make of a text, read in pieces.
pub(crate) fn ours(text: &[u8], dialect: Dialect, chunk_bytes: usize) -> Fields {
    let mut fields = Fields::default();
    let mut source = CsvSource::with_dialect(text, dialect).flexible().chunk_bytes(chunk_bytes);
    event::copy(&mut source, &mut fields).unwrap_or_else(|error| panic!("{error}: {}", text.escape_ascii()));
    fields
}

/// What csv-core makes of it.
pub(crate) fn theirs(text: &[u8], dialect: Dialect) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new();
    reader.has_headers(false).flexible(true).delimiter(dialect.delimiter).comment(dialect.comment);
    reader.escape(dialect.escape).double_quote(dialect.double_quote);
    match dialect.quote {
        Some(quote) => reader.quote(quote),
        None => reader.quoting(false),
    };
    if let Terminator::Byte(byte) = dialect.terminator {
        reader.terminator(csv::Terminator::Any(byte));
    }
    let records = reader.from_reader(text).into_byte_records();
    let text = |field: &[u8]| String::from_utf8(field.to_vec()).unwrap();
    records.map(|record| record.unwrap().iter().map(text).collect()).collect()
}

#[track_caller]
pub(crate) fn same(text: &[u8], dialect: Dialect, chunk_bytes: usize) {
    let (ours, theirs) = (ours(text, dialect, chunk_bytes).records, theirs(text, dialect));
    assert!(ours == theirs, "{} by {chunk_bytes} bytes: {ours:?} is not {theirs:?}", text.escape_ascii());
}

pub(crate) fn of_source<E: std::fmt::Debug>(failure: Failure<Error, E>) -> Error {
    match failure {
        Failure::Source(error) => error,
        Failure::Sink(error, place) => panic!("{error:?} at {place}"),
    }
}

/// A generator of small numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }
}

pub(crate) fn dialects() -> Vec<Dialect> {
    let base = bare();
    vec![
        base,
        Dialect { header: false, ..Dialect::tsv() },
        Dialect { escape: Some(b'\\'), ..base },
        Dialect { escape: Some(b'\\'), double_quote: false, ..base },
        Dialect { double_quote: false, ..base },
        Dialect { quote: None, ..base },
        Dialect { quote: Some(b'\''), delimiter: b';', ..base },
        Dialect { terminator: Terminator::Byte(b'|'), ..base },
        Dialect { delimiter: 0, ..base },
    ]
}

/// Pieces to make meaningful texts of.
pub(crate) fn pieces(dialect: &Dialect) -> Vec<Vec<u8>> {
    let mut pieces: Vec<Vec<u8>> =
        ["a", "b7", "\n", "\r", "\r\n", " ", "\u{e9}", "\0", "\\", "'", "\"", ",", "\"\"", "x,\"y\",\n"]
            .iter()
            .map(|piece| piece.as_bytes().to_vec())
            .collect();
    pieces.push(vec![dialect.delimiter]);
    pieces.push(vec![dialect.quote.unwrap_or(b'"')]);
    pieces.push(vec![dialect.delimiter, dialect.quote.unwrap_or(b'"')]);
    if let Terminator::Byte(byte) = dialect.terminator {
        pieces.push(vec![byte]);
    }
    pieces
}

/// The lines of JSON that a source makes, or its error.
pub(crate) fn lines<R: Read>(mut source: CsvSource<R>) -> Result<String, Failure<Error, jird::Error>> {
    let mut sink = JsonSink::new(Vec::new());
    event::copy(&mut source, &mut sink)?;
    Ok(String::from_utf8(sink.into_inner()).unwrap())
}

/// CSV of records in JSON.
pub(crate) fn written(json: &str, sink: CsvSink<Vec<u8>>) -> Result<String, Failure<jird::Error, Error>> {
    let mut rows = sink.rows();
    event::copy(&mut JsonSource::from_slice(json.as_bytes()), &mut rows)?;
    Ok(String::from_utf8(rows.into_table().into_inner()).unwrap())
}

/// Records; errors by kind, line and offset; the texts of bad records.
pub(crate) type Survivors = (Vec<Vec<String>>, Vec<(ErrorKind, u64, u64)>, Vec<Vec<u8>>);

/// Sends all records that are right. Returns the errors of the others, and their texts.
pub(crate) fn survivors<R: Read>(mut source: CsvSource<R>) -> Survivors {
    let (mut fields, mut errors, mut texts) = (Fields::default(), Vec::new(), Vec::new());
    loop {
        match source.send_record(&mut fields) {
            Ok(true) => {}
            Ok(false) => return (fields.records, errors, texts),
            Err(Failure::Source(error)) => {
                let place = error.place().unwrap();
                errors.push((error.kind(), place.line, place.offset));
                texts.push(source.bad_record().to_vec());
            }
            Err(Failure::Sink(error, _)) => match error {},
        }
    }
}
