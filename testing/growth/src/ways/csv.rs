//! Tables as text, and how a conversion handles bad records.

use super::{Way, each, used, way};
use crate::case::Case;
use crate::shapes::{csv, documents, lines};
use jird::Error;
use jird::event::{self, Failure, JsonSink, JsonSource, Objects, Place, Sink, Source};
use jird_formats::files::{BadRecord, BadRecords, OnError, Quarantined};
use jird_formats::{CsvSink, CsvSource, Dialect, Empty, Rows, Schema};
use std::io::Read;

const FROM_CSV: &[Way] = &[
    way("CSV to JSON", |text| skip_records(CsvSource::new(text), &mut JsonSink::new(std::io::sink()))),
    way("CSV to JSON, typed", |text| {
        skip_records(CsvSource::new(text).typed().empty(Empty::Null), &mut JsonSink::new(std::io::sink()));
    }),
    way("CSV to JSON, flexible", |text| {
        skip_records(CsvSource::new(text).flexible(), &mut JsonSink::new(std::io::sink()));
    }),
    way("CSV to JSON, small chunks", |text| {
        skip_records(CsvSource::new(text).chunk_bytes(64), &mut JsonSink::new(std::io::sink()));
    }),
    way("CSV to JSON, rows of at most 100 bytes", |text| {
        skip_records(CsvSource::new(text).record_bytes_max(100), &mut JsonSink::new(std::io::sink()));
    }),
    way("TSV to JSON", |text| {
        skip_records(CsvSource::with_dialect(text, Dialect::tsv()), &mut JsonSink::new(std::io::sink()));
    }),
    way("CSV to CSV", |text| skip_records(CsvSource::new(text), &mut CsvSink::new(std::io::sink()).rows())),
    way("CSV to trees", |text| {
        skip_records(
            CsvSource::new(text),
            &mut Objects::new(|_, value: jird::Json| {
                used(value);
                Ok::<(), Error>(())
            }),
        );
    }),
    way("columns of CSV", |text| skip_records(CsvSource::new(text).typed(), &mut Rows::new(Schema::default()))),
];

const FROM_LINES: &[Way] = &[
    way("lines to CSV", |text| {
        let mut sink = CsvSink::new(std::io::sink()).select(["id", "name", "in"]).rows();
        let mut source = JsonSource::from_reader(text).lines().check_first();
        convert(&mut source, &mut sink);
    }),
    way("columns of lines", |text| {
        let mut sink = Rows::new(Schema::default());
        let mut source = JsonSource::from_reader(text).lines().check_first();
        convert(&mut source, &mut sink);
    }),
    way("a quarantine file, read", |text| {
        used(Quarantined::new(text).read_to_end(&mut Vec::new()));
    }),
];

const FROM_JSON: &[Way] = &[
    way("a document to CSV", |text| {
        let mut sink = CsvSink::new(std::io::sink()).rows();
        used(event::copy(&mut JsonSource::from_slice(text), &mut sink).is_ok());
    }),
    way("columns of a document", |text| {
        let mut sink = Rows::new(Schema::default());
        let pattern = jird::event::Pattern::each();
        used(event::copy(&mut JsonSource::from_slice(text).records(pattern), &mut sink).is_ok());
    }),
];

pub(super) fn cases() -> Vec<Case> {
    let json = documents::core();
    let rows = each(FROM_CSV, csv::ALL).chain(each(FROM_LINES, lines::ALL)).chain(each(FROM_JSON, &json));
    // A table has rows times columns cells, and these two cases ask for a square table.
    let rows = rows.filter(|case| {
        let is_square =
            ["columns of lines · a new key in each line", "columns of a document · a large object, then small ones"];
        !is_square.contains(&case.name.as_str())
    });
    rows.chain(each(FROM_CSV, &documents::named(&["nothing but commas", "nothing but line feeds", "nothing but 0xFF"])))
        .map(|case| Case { bar: case.bar.per_byte(15_000.0), ..case })
        .collect()
}

/// Sends all rows, and continues after a bad one.
fn skip_records<R: Read, S: Sink>(mut source: CsvSource<R>, sink: &mut S) {
    loop {
        match source.send_record(sink) {
            Ok(true) => {}
            Err(Failure::Source(error)) => {
                used((source.bad_record().len(), error.to_string()));
                if matches!(error.kind().code(), "header" | "dialect" | "io" | "no_column" | "columns") {
                    return;
                }
            }
            Ok(false) | Err(Failure::Sink(..)) => return,
        }
    }
}

/// Sends all lines, and sets bad ones aside, as `jird convert` does.
fn convert<'de, R: jird::de::Read<'de>, S: Sink>(source: &mut JsonSource<R>, sink: &mut S) {
    let mut bad = BadRecords::new(&OnError::Quarantine("/dev/null".into())).expect("/dev/null can be written");
    loop {
        match source.send_record(sink) {
            Ok(true) => {}
            Err(Failure::Source(error)) => {
                let Ok(raw) = source.skip_line(&error) else { return };
                let message = error.to_string();
                let place = Place { record: 0, offset: error.offset(), line: error.line() as u64 };
                let record = BadRecord { file: "a", place, kind: error.code(), message: &message, raw: &raw };
                bad.note(&record).expect("/dev/null can be written");
            }
            Ok(false) | Err(Failure::Sink(..)) => return,
        }
    }
}
