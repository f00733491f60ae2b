//! CSV as a source and a sink, beside csv-core and the `csv` crate.
#![cfg(feature = "csv")]

#[path = "../../jird/tests/common/mod.rs"]
mod common;

use common::corpus;
use jird::event::{
    self, Failure, Interest, JsonSink, JsonSource, Key, Numeral, Objects, Place, Row, Scalar, Sink, Source,
};
use jird_formats::{
    Column, CsvError, CsvErrorKind, CsvSink, CsvSource, CsvType, Dialect, Empty, Rows, Schema, Terminator,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::io::{self, Read};
use std::path::Path;

/// All files of a folder with one of these suffixes, by name.
fn files(folder: &Path, suffixes: &[&str]) -> Vec<(String, Vec<u8>)> {
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
struct Fields {
    records: Vec<Vec<String>>,
    places: Vec<Place>,
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
fn bare() -> Dialect {
    Dialect { header: false, ..Dialect::default() }
}

/// What we make of a text, read in pieces.
fn ours(text: &[u8], dialect: Dialect, chunk_bytes: usize) -> Fields {
    let mut fields = Fields::default();
    let mut source = CsvSource::with_dialect(text, dialect).flexible().chunk_bytes(chunk_bytes);
    event::copy(&mut source, &mut fields).unwrap_or_else(|error| panic!("{error}: {}", text.escape_ascii()));
    fields
}

/// What csv-core makes of it.
fn theirs(text: &[u8], dialect: Dialect) -> Vec<Vec<String>> {
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
fn same(text: &[u8], dialect: Dialect, chunk_bytes: usize) {
    let (ours, theirs) = (ours(text, dialect, chunk_bytes).records, theirs(text, dialect));
    assert!(ours == theirs, "{} by {chunk_bytes} bytes: {ours:?} is not {theirs:?}", text.escape_ascii());
}

fn of_source<E: std::fmt::Debug>(failure: Failure<CsvError, E>) -> CsvError {
    match failure {
        Failure::Source(error) => error,
        Failure::Sink(error, place) => panic!("{error:?} at {place}"),
    }
}

/// A generator of small numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }
}

fn dialects() -> Vec<Dialect> {
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

/// Pieces of which texts are made that mean something.
fn pieces(dialect: &Dialect) -> Vec<Vec<u8>> {
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

#[test]
fn random_texts_are_what_csv_core_says() {
    let mut random = Random(7);
    for dialect in dialects() {
        let pieces = pieces(&dialect);
        for round in 0..2_000 {
            let len = 1 + random.below(if round % 50 == 0 { 400 } else { 14 });
            let text: Vec<u8> = (0..len).flat_map(|_| pieces[random.below(pieces.len())].clone()).collect();
            same(&text, dialect, 1 << 10);
            same(&text, dialect, 1 + random.below(9));
        }
    }
}

#[test]
fn all_short_texts_are_what_csv_core_says() {
    let letters = b",\"\n\ra";
    for len in 0..=5_u32 {
        for number in 0..letters.len().pow(len) {
            let text: Vec<u8> = (0..len).map(|at| letters[number / letters.len().pow(at) % letters.len()]).collect();
            same(&text, bare(), 1 << 10);
            same(&text, bare(), 1);
        }
    }
}

#[test]
fn a_byte_order_mark_is_one_at_the_beginning_only() {
    same("\u{feff}a\n\u{feff}b,\"q\"r\n\u{feff}\"x\"y".as_bytes(), bare(), 5);
}

#[test]
fn an_input_that_ends_within_quotes_is_an_error_in_every_dialect() {
    let base = Dialect::default();
    for dialect in [base, Dialect { escape: Some(b'\\'), ..base }, Dialect { double_quote: false, ..base }] {
        for (text, wanted) in [("a\n\"open", 1), ("a\n\"x\"y\n\"open\n", 1), ("a\n\"closed\"", 0), ("a\n\"x\"y", 0)] {
            let (_, errors, _) = survivors(CsvSource::with_dialect(text.as_bytes(), dialect));
            assert_eq!(errors.len(), wanted, "{text:?}");
            assert!(errors.iter().all(|error| error.0 == CsvErrorKind::Unclosed));
        }
    }
}

#[test]
fn comments_are_left_out() {
    let dialect = Dialect { comment: Some(b'#'), ..bare() };
    let text = b"#a,\"\n\r\nx,#y\n# z\r\n#\n\"#\",1\n#open";
    for chunk_bytes in 1..40 {
        same(&text[..text.len() - 5], dialect, chunk_bytes);
        let ours = ours(text, dialect, chunk_bytes);
        assert_eq!(ours.records, [["x", "#y"], ["#", "1"]]);
        let places: Vec<_> = ours.places.iter().map(|place| (place.record, place.offset, place.line)).collect();
        assert_eq!(places, [(0, 7, 3), (1, 19, 6)]);
    }
}

#[test]
fn every_split_gives_the_same_records_and_places() {
    let text = "\u{feff}a,b\r\n\"x\"\"y\",\"1\n2\"\n\nplain,\"q\"r\n,\r\"long, long, long, long, long, long, long, long, \
                long, long \u{e9}\u{20ac}\",z";
    let wanted = ours(text.as_bytes(), bare(), 1 << 17);
    let long = "long, long, long, long, long, long, long, long, long, long \u{e9}\u{20ac}";
    assert_eq!(wanted.records, [["a", "b"], ["x\"y", "1\n2"], ["plain", "qr"], ["", ""], [long, "z"]]);
    let places = |fields: &Fields| {
        fields.places.iter().map(|place| (place.record, place.offset, place.line)).collect::<Vec<_>>()
    };
    assert_eq!(places(&wanted), [(0, 3, 1), (1, 8, 2), (2, 22, 5), (3, 33, 6), (4, 35, 6)]);
    for chunk_bytes in 1..=text.len() {
        let ours = ours(text.as_bytes(), bare(), chunk_bytes);
        assert_eq!(ours.records, wanted.records, "{chunk_bytes}");
        assert_eq!(places(&ours), places(&wanted), "{chunk_bytes}");
    }
}

#[test]
fn corpus_tables_are_what_the_csv_crate_says() {
    let Some(corpus) = corpus() else { return };
    let mut records = 0;
    for (name, text) in files(&corpus.join("tables"), &[".csv", ".txt"]) {
        if name.contains("latin1") {
            let error = event::copy(&mut CsvSource::new(&text[..]), &mut Fields::default()).unwrap_err();
            let error = of_source(error);
            let at = error.place().offset as usize;
            assert_eq!(error.kind(), CsvErrorKind::Utf8, "{name}");
            assert_eq!(std::str::from_utf8(&text).unwrap_err().valid_up_to(), at);
            assert_eq!(text[..at].iter().filter(|&&byte| byte == b'\n').count() as u64 + 1, error.place().line);
            continue;
        }
        let delimiter = if name.contains("colon") { b':' } else { b',' };
        let dialect = Dialect { delimiter, ..bare() };
        let theirs = theirs(&text, dialect);
        records += theirs.len();
        for chunk_bytes in [1 << 17, 61] {
            assert!(ours(&text, dialect, chunk_bytes).records == theirs, "{name}");
        }
    }
    assert!(records > 50_000, "{records} records");
}

#[test]
fn csv_spectrum_is_read_as_its_json_says() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("conformance/csv/csv-spectrum");
    for (name, mut text) in files(&folder.join("csvs"), &[".csv"]) {
        if name.contains("crlf") && !text.contains(&b'\r') {
            // Somebody's checkout took the carriage returns out.
            text = String::from_utf8(text).unwrap().replace('\n', "\r\n").into_bytes();
        }
        let json = std::fs::read(folder.join("json").join(name.replace(".csv", ".json"))).unwrap();
        let wanted: serde_json::Value = serde_json::from_slice(&json).unwrap();
        for chunk_bytes in [1, 7, 1 << 17] {
            let mut array = JsonSink::new(Vec::new()).array();
            event::copy(&mut CsvSource::new(&text[..]).chunk_bytes(chunk_bytes), &mut array).unwrap();
            let mut found: serde_json::Value = serde_json::from_slice(&array.into_inner()).unwrap();
            if name == "location_coordinates.csv" {
                // This file's JSON is not the array of one that it should be, and has another number.
                found = found[0].take();
                assert_eq!(found["Contact Phone Number"], "2095257564");
                found["Contact Phone Number"] = wanted["Contact Phone Number"].clone();
            }
            assert_eq!(found, wanted, "{name}");
        }
    }
}

/// The lines of JSON that a source makes, or its error.
fn lines<R: Read>(mut source: CsvSource<R>) -> Result<String, Failure<CsvError, jird::Error>> {
    let mut sink = JsonSink::new(Vec::new());
    event::copy(&mut source, &mut sink)?;
    Ok(String::from_utf8(sink.into_inner()).unwrap())
}

/// CSV of records in JSON.
fn written(json: &str, sink: CsvSink<Vec<u8>>) -> Result<String, Failure<jird::Error, CsvError>> {
    let mut rows = sink.rows();
    event::copy(&mut JsonSource::from_slice(json.as_bytes()), &mut rows)?;
    Ok(String::from_utf8(rows.into_table().into_inner()).unwrap())
}

#[test]
fn types_are_taken_from_the_text_itself() {
    let text = "n\n1\n-0.0\n1.50\n12345678901234567890123\n1e400\n007\n+1\n1.\n.5\n0x1\nNaN\n-\n 1\ntrue\nTrue\nfalse\nnull\n\"1\"\n\"true\"\n\"\"\n";
    let wanted = [
        "1",
        "-0.0",
        "1.50",
        "12345678901234567890123",
        "1e400",
        "\"007\"",
        "\"+1\"",
        "\"1.\"",
        "\".5\"",
        "\"0x1\"",
        "\"NaN\"",
        "\"-\"",
        "\" 1\"",
        "true",
        "\"True\"",
        "false",
        "\"null\"",
        "\"1\"",
        "\"true\"",
        "\"\"",
    ];
    let lines = lines(CsvSource::new(text.as_bytes()).typed()).unwrap();
    assert_eq!(lines, wanted.map(|value| format!("{{\"n\":{value}}}\n")).concat());
}

#[test]
fn columns_have_types_of_the_callers() {
    let typed = |text: &'static str, column_type| lines(CsvSource::new(text.as_bytes()).column_type("a", column_type));
    assert_eq!(typed("a,b\n\"1\",2\n", CsvType::Number).unwrap(), "{\"a\":1,\"b\":\"2\"}\n");
    assert_eq!(
        typed("a,b\n\"true\",\n,2\n", CsvType::Bool).unwrap(),
        "{\"a\":true,\"b\":\"\"}\n{\"a\":null,\"b\":\"2\"}\n"
    );
    assert_eq!(typed("a\n\"{\"\"x\"\": [1 ]}\"\n", CsvType::Json).unwrap(), "{\"a\":{\"x\":[1]}}\n");
    for (text, column_type) in [("a\n007\n", CsvType::Number), ("a\nyes\n", CsvType::Bool), ("a\n[1\n", CsvType::Json)]
    {
        let Failure::Source(error) = typed(text, column_type).unwrap_err() else { panic!("{text}") };
        assert_eq!((error.kind(), error.place().line, error.place().offset), (CsvErrorKind::Type, 2, 2));
    }
    let missing = lines(CsvSource::new("b\n".as_bytes()).column_type("a", CsvType::Number)).unwrap_err();
    assert_eq!(missing.to_string(), "there is no column `a`, which has a type");
}

#[test]
fn nothing_is_what_the_caller_says() {
    let text = "a,b,c\n,\"\",NA\nNA,\"NA\",x\n";
    let read = |source: CsvSource<&'static [u8]>| lines(source).unwrap();
    let source = || CsvSource::new(text.as_bytes());
    assert_eq!(read(source()), "{\"a\":\"\",\"b\":\"\",\"c\":\"NA\"}\n{\"a\":\"NA\",\"b\":\"NA\",\"c\":\"x\"}\n");
    let nulls = "{\"a\":null,\"b\":\"\",\"c\":null}\n{\"a\":null,\"b\":\"NA\",\"c\":\"x\"}\n";
    assert_eq!(read(source().empty(Empty::Null).nulls(["NA"])), nulls);
    let missing = "{\"b\":\"\",\"c\":\"NA\"}\n{\"a\":\"NA\",\"b\":\"NA\",\"c\":\"x\"}\n";
    assert_eq!(read(source().empty(Empty::Missing)), missing);
    // By csv-core, too.
    let dialect = Dialect { escape: Some(b'\\'), ..Dialect::default() };
    assert_eq!(read(CsvSource::with_dialect(text.as_bytes(), dialect).empty(Empty::Null).nulls(["NA"])), nulls);
}

#[test]
fn records_of_other_lengths_are_errors_or_flexible() {
    let text = "a,column4\n1\n1,2,3\n1,2,3,4\n5\n";
    let wanted = "{\"a\":\"1\"}\n{\"a\":\"1\",\"column4\":\"2\",\"column3\":\"3\"}\n\
                  {\"a\":\"1\",\"column4\":\"2\",\"column3\":\"3\",\"column4_2\":\"4\"}\n{\"a\":\"5\"}\n";
    assert_eq!(lines(CsvSource::new(text.as_bytes()).flexible()).unwrap(), wanted);
    let error = lines(CsvSource::new(text.as_bytes())).unwrap_err().to_string();
    assert_eq!(error, "1 field where there are 2 columns, in record 1 at line 2 (byte 10)");
    let names = lines(CsvSource::new(text.as_bytes()).columns(["x"])).unwrap_err().to_string();
    assert_eq!(names, "3 fields where there is 1 column, in record 2 at line 3 (byte 12)");
}

/// Records; errors by kind, line and offset; the texts of bad records.
type Survivors = (Vec<Vec<String>>, Vec<(CsvErrorKind, u64, u64)>, Vec<Vec<u8>>);

/// Sends all records that are right. Returns the errors of the others, and their texts.
fn survivors<R: Read>(mut source: CsvSource<R>) -> Survivors {
    let (mut fields, mut errors, mut texts) = (Fields::default(), Vec::new(), Vec::new());
    loop {
        match source.send_record(&mut fields) {
            Ok(true) => {}
            Ok(false) => return (fields.records, errors, texts),
            Err(Failure::Source(error)) => {
                errors.push((error.kind(), error.place().line, error.place().offset));
                texts.push(source.bad_record().to_vec());
            }
            Err(Failure::Sink(error, _)) => match error {},
        }
    }
}

#[test]
fn behind_a_bad_record_comes_the_next() {
    let text = b"a,b\n1,2\n\xff,3\n4\n\"x\ny\xc3\",5\n6,7\n\"open,8\n9,10\n";
    let utf8 = CsvErrorKind::Utf8;
    for chunk_bytes in [1, 3, 1 << 17] {
        let (records, errors, texts) = survivors(CsvSource::new(&text[..]).chunk_bytes(chunk_bytes));
        assert_eq!(records, [["1", "2"], ["6", "7"]]);
        assert_eq!(
            errors,
            [(utf8, 3, 8), (CsvErrorKind::Fields, 4, 12), (utf8, 6, 18), (CsvErrorKind::Unclosed, 8, 27)]
        );
        assert_eq!(texts, [&b"\xff,3"[..], b"4", b"\"x\ny\xc3\",5", b"\"open,8\n9,10\n"]);
    }
}

#[test]
fn a_record_that_is_too_long_is_left_out_in_constant_memory() {
    for dialect in [Dialect::default(), Dialect { escape: Some(b'\\'), ..Dialect::default() }] {
        for long in ["\"x\n,\"\"\"", "\"\",x", "plain,", "\"a\"b,\"c\n\",", "x,\"c\n\","] {
            for chunk_bytes in [1, 7, 64, 1 << 17] {
                let middle = long.repeat(if chunk_bytes == 1 { 100 } else { 5000 });
                // As csv-core reads it, so that it is known where it ends.
                let whole = theirs(format!("{middle}end\n").as_bytes(), Dialect { header: false, ..dialect });
                assert_eq!(whole.len(), 1, "{long:?}");
                let text = format!("a,b\n1,2\n{middle}end\n3,4\n");
                let lines = text.matches('\n').count() as u64;
                let source = CsvSource::with_dialect(text.as_bytes(), dialect).chunk_bytes(chunk_bytes);
                let (records, errors, _) = survivors(source.record_bytes_max(100));
                assert_eq!(records, [["1", "2"], ["3", "4"]], "{long:?} by {chunk_bytes}");
                assert_eq!(errors, [(CsvErrorKind::Size, 3, 8)]);
                let mut source = CsvSource::with_dialect(text.as_bytes(), dialect).record_bytes_max(100);
                while source.send_record(&mut Fields::default()).map_or(true, |more| more) {}
                assert_eq!(source.place().line, lines, "{long:?}");
            }
        }
    }
}

/// Gives so many bytes, without having them.
struct Endless(u8, usize);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(self.1);
        buffer[..len].fill(self.0);
        self.1 -= len;
        Ok(len)
    }
}

#[test]
fn a_quote_that_is_never_closed_is_bounded() {
    let input = (&b"a,b\n1,2\n\"open"[..]).chain(Endless(b'x', 300 << 20));
    let (records, errors, texts) = survivors(CsvSource::new(input).record_bytes_max(1 << 20));
    assert_eq!((records.len(), errors), (1, vec![(CsvErrorKind::Size, 3, 8)]));
    assert!(texts[0].len() < 2 << 20);
}

#[test]
fn there_may_be_many_columns_and_not_any_number() {
    let wide = |columns: usize| ",".repeat(columns - 1) + "\n";
    let (records, errors, _) = survivors(CsvSource::new(wide(1_000_000).repeat(2).as_bytes()));
    assert_eq!((records[0].len(), errors.len()), (1_000_000, 0));
    let (_, errors, _) = survivors(CsvSource::with_dialect(wide((1 << 20) + 1).as_bytes(), bare()));
    assert_eq!(errors, [(CsvErrorKind::Columns, 1, 0)]);
    let names = "a,".repeat(500_000) + "a\n";
    assert_eq!(CsvSource::new(names.as_bytes()).names().unwrap().last(), Some("a_500001"));
}

#[test]
fn a_long_field_and_nul_bytes_are_fields() {
    let long = "x\0".repeat(5 << 20);
    let text = format!("a,b\n{long},\"{long}\"\n");
    let (records, errors, _) = survivors(CsvSource::new(text.as_bytes()));
    assert!(records[0] == [&long[..], &long] && errors.is_empty());
}

#[test]
fn invalid_utf8_is_found_wherever_it_is() {
    let text = b"a,b\nplain,\"quoted\"\n\"dou\"\"bled\",x\n\"odd\"y,z\nlast,one";
    for at in 0..text.len() {
        let mut bad = text.to_vec();
        if !bad[at].is_ascii_alphabetic() {
            continue;
        }
        bad[at] = 0xe9;
        let failure = event::copy(&mut CsvSource::new(&bad[..]), &mut Fields::default()).unwrap_err();
        let error = of_source(failure);
        assert_eq!((error.kind(), error.place().offset), (CsvErrorKind::Utf8, at as u64));
    }
    // Two halves of a character are none, though nothing but ASCII is between them.
    let (records, errors, _) = survivors(CsvSource::with_dialect(&b"x,\"\"\xc3,\xa9\n"[..], bare()));
    assert_eq!((records.len(), errors.len()), (0, 1));
}

#[test]
fn a_header_that_cannot_be_read_names_nothing() {
    let mut source = CsvSource::new(&b"a,\xff\n1,2\n"[..]);
    let mut error = || of_source(source.send_record(&mut Fields::default()).unwrap_err()).kind();
    assert_eq!([error(), error()], [CsvErrorKind::Utf8, CsvErrorKind::Header]);
}

#[test]
fn dialects_without_sense_are_errors() {
    let base = Dialect::default();
    let wrong = [
        Dialect { delimiter: b'"', ..base },
        Dialect { delimiter: b'\n', ..base },
        Dialect { comment: Some(b','), ..base },
        Dialect { escape: Some(0xe9), ..base },
        Dialect { terminator: Terminator::Byte(b','), ..base },
    ];
    for dialect in wrong {
        let Failure::Source(error) = lines(CsvSource::with_dialect("a\n1\n".as_bytes(), dialect)).unwrap_err() else {
            panic!("{dialect:?}")
        };
        assert_eq!(error.kind(), CsvErrorKind::Dialect);
        let Failure::Sink(error, _) = written("{\"a\":1}", CsvSink::with_dialect(Vec::new(), dialect)).unwrap_err()
        else {
            panic!("{dialect:?}")
        };
        assert_eq!(error.kind(), CsvErrorKind::Dialect);
    }
}

#[test]
fn empty_inputs_have_no_records() {
    for text in ["", "\u{feff}", "\n\r\n", "a,b", "a,b\r\n\r\n", "\u{feff}a\n"] {
        for chunk_bytes in [1, 100] {
            assert_eq!(lines(CsvSource::new(text.as_bytes()).chunk_bytes(chunk_bytes)).unwrap(), "", "{text:?}");
        }
    }
}

/// Wants two columns, by their numbers.
struct Some2(String);

impl Sink for Some2 {
    type Error = std::convert::Infallible;

    fn key(&mut self, key: Key<'_>) -> Result<Interest, Self::Error> {
        Ok(Interest::take_if(matches!(key.number(), Some(0 | 2))))
    }
    fn string(&mut self, text: &str) -> Result<(), Self::Error> {
        self.0 += text;
        Ok(())
    }
    fn number(&mut self, number: Numeral<'_>) -> Result<(), Self::Error> {
        self.0 += &number.as_i64().unwrap().to_string();
        Ok(())
    }
}

#[test]
fn what_nobody_wants_is_not_converted() {
    let mut sink = Some2(String::new());
    let mut source = CsvSource::new("a,b,c\n1,x,\"\"\"z\"\n".as_bytes());
    source = source.column_type("a", CsvType::Number).column_type("b", CsvType::Number);
    event::copy(&mut source, &mut sink).unwrap();
    assert_eq!(sink.0, "1\"z");
}

#[test]
fn fields_are_in_quotes_when_they_must_be() {
    let sink = || CsvSink::new(Vec::new());
    let json = r#"{"a,b":1.50,"c":"x\"y","d":"l1\nl2","e":"\r","f":" x ","g":"","h":null,"i":true,"j":[1,{"k":"v"}],"l":"plain"}"#;
    let wanted = "\"a,b\",c,d,e,f,g,h,i,j,l\n1.50,\"x\"\"y\",\"l1\nl2\",\"\r\", x ,\"\",,true,\"[1,{\"\"k\"\":\"\"v\"\"}]\",plain\n";
    assert_eq!(written(json, sink()).unwrap(), wanted);
    // Whatever the length.
    for len in 0..80 {
        for at in 0..=len {
            let text = format!("{}\n{}", "x".repeat(at), "y".repeat(len - at));
            let json = format!("{{\"a\":{}}}", serde_json::Value::from(text.clone()));
            assert_eq!(written(&json, sink()).unwrap(), format!("a\n\"{text}\"\n"));
        }
    }
    assert_eq!(written("{\"a\":null} {} {\"a\":\"\"}", sink()).unwrap(), "a\n\"\"\n\"\"\n\"\"\n");
    assert_eq!(written("1 [2] \"x\"", sink()).unwrap(), "value\n1\n[2]\nx\n");
    assert_eq!(written("", sink().columns(["a", "b", "a"])).unwrap(), "a,b\n");
    assert_eq!(written("", sink()).unwrap(), "");
}

#[test]
fn a_late_column_is_an_error() {
    let late = |json, sink: CsvSink<Vec<u8>>| {
        let Failure::Sink(error, place) = written(json, sink).unwrap_err() else { panic!("{json}") };
        assert_eq!(error.kind(), CsvErrorKind::LateColumn);
        (error.to_string(), place.line)
    };
    let sink = || CsvSink::new(Vec::new());
    let (message, line) = late("{\"a\":1}\n{\"a\":2}\n{\"a\":1,\"new\":3}", sink());
    assert_eq!((&message[..], line), ("key `new` of row 3 has no column, and the header is written or was given", 3));
    assert!(late("{\"b\":1}", sink().columns(["a"])).0.starts_with("key `b` of row 1 "));
    assert_eq!(written("{\"b\":1,\"a\":2}", sink().select(["a"])).unwrap(), "a\n2\n");
}

#[test]
fn what_a_dialect_cannot_write_is_an_error() {
    let base = Dialect::default();
    let wrong = [
        (Dialect { quote: None, ..base }, r#"{"a":"x,y","b":1}"#),
        (Dialect { quote: None, ..base }, r#"{"a":null}"#),
        (Dialect { double_quote: false, ..base }, r#"{"a":"\""}"#),
    ];
    for (dialect, json) in wrong {
        let failure = written(json, CsvSink::with_dialect(Vec::new(), dialect)).unwrap_err();
        let Failure::Sink(error, _) = failure else { panic!("{json}") };
        assert_eq!(error.kind(), CsvErrorKind::Quote);
    }
}

/// Fails after so many bytes.
struct Full(usize);

impl io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let json = "{\"a\":\"some text\"}\n".repeat(20_000);
    for room in [0, 100_000] {
        let mut rows = CsvSink::new(Full(room)).rows();
        let failure = event::copy(&mut JsonSource::from_slice(json.as_bytes()), &mut rows).unwrap_err();
        let Failure::Sink(error, _) = failure else { panic!("{room}") };
        assert_eq!(error.kind(), CsvErrorKind::Io);
        assert!(std::error::Error::source(&error).is_some());
    }
}

/// Dialects in which every text can be written.
fn writable() -> Vec<Dialect> {
    let base = Dialect::default();
    vec![
        base,
        Dialect::tsv(),
        Dialect { terminator: Terminator::Crlf, ..base },
        Dialect { terminator: Terminator::Byte(b'|'), ..base },
        Dialect { escape: Some(b'\\'), ..base },
        Dialect { escape: Some(b'\\'), double_quote: false, ..base },
        Dialect { comment: Some(b'#'), ..base },
    ]
}

/// Random records of the same columns.
fn records(random: &mut Random, missing: &str) -> String {
    let values = [
        missing,
        "\"\"",
        "\"a\"",
        "\"a,b\"",
        "\"\\\"\"",
        "\"\\n\"",
        "\"\\r\\n\"",
        "\"\\\\\"",
        "\"\u{e9}|\\u0000\"",
        "\"#x\"",
        "\" \"",
        "\"12\"",
        "\"true\"",
        "\"-1e5\"",
        "\"\u{feff}\"",
        "0",
        "-1",
        "1.50",
        "12345678901234567890",
        "1e-7",
        "true",
        "false",
        "\"truer\"",
        "\"1x\"",
        "\"false\"",
    ];
    let mut text = String::new();
    for _ in 0..=random.below(4) {
        let members = ["x\\ty", "b,\\\"c", "\u{feff}#d"].map(|key| (key, values[random.below(values.len())]));
        let members: Vec<_> = members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        text.extend(["{", &members.join(","), "}\n"]);
    }
    text
}

#[test]
fn json_to_csv_to_json_keeps_values() {
    let mut random = Random(3);
    for dialect in writable() {
        for _ in 0..300 {
            let json = records(&mut random, "null");
            let csv = written(&json, CsvSink::with_dialect(Vec::new(), dialect).keep_types()).unwrap();
            let back = lines(CsvSource::with_dialect(csv.as_bytes(), dialect).typed()).unwrap();
            let (back, json): (Vec<serde_json::Value>, Vec<serde_json::Value>) = (parse(&back), parse(&json));
            assert_eq!(back, json, "{csv}");
        }
    }
}

#[test]
fn csv_to_json_to_csv_keeps_bytes() {
    let mut random = Random(5);
    for dialect in writable() {
        for _ in 0..300 {
            let json = records(&mut random, "null");
            let csv = written(&json, CsvSink::with_dialect(Vec::new(), dialect).keep_types()).unwrap();
            let json = lines(CsvSource::with_dialect(csv.as_bytes(), dialect).typed()).unwrap();
            assert_eq!(written(&json, CsvSink::with_dialect(Vec::new(), dialect).keep_types()).unwrap(), csv);
            // All as strings.
            let csv = written(&json, CsvSink::with_dialect(Vec::new(), dialect)).unwrap();
            let strings = lines(CsvSource::with_dialect(csv.as_bytes(), dialect).empty(Empty::Null)).unwrap();
            assert_eq!(written(&strings, CsvSink::with_dialect(Vec::new(), dialect)).unwrap(), csv);
        }
    }
}

#[test]
fn the_csv_crate_reads_what_is_written() {
    let mut random = Random(9);
    // Numbers and booleans need quotes in the last.
    let odd = Dialect { delimiter: b'1', comment: Some(b'-'), quote: Some(b'e'), ..Dialect::default() };
    for dialect in writable().into_iter().chain([odd]) {
        for _ in 0..200 {
            let csv = written(&records(&mut random, "null"), CsvSink::with_dialect(Vec::new(), dialect)).unwrap();
            let bare = Dialect { header: false, ..dialect };
            assert_eq!(ours(csv.as_bytes(), bare, 5).records, theirs(csv.as_bytes(), bare), "{csv}");
        }
    }
}

fn parse(lines: &str) -> Vec<serde_json::Value> {
    serde_json::Deserializer::from_str(lines).into_iter().map(Result::unwrap).collect()
}

#[test]
fn corpus_tables_go_to_json_and_back() {
    let Some(corpus) = corpus() else { return };
    for (name, text) in files(&corpus.join("tables"), &[".csv", ".txt"]) {
        if name.contains("latin1") || name.contains("colon") || name.contains("no-headers") {
            continue;
        }
        let source = || CsvSource::new(&text[..]).flexible().typed().empty(Empty::Missing);
        let mut schema = Rows::new(Schema::default());
        event::copy(&mut source(), &mut schema).unwrap();
        // A column that has nothing at first is met late.
        let mut first = source();
        let names: Vec<String> = first.names().unwrap().map(str::to_owned).collect();
        let late = schema.table().columns().iter().map(Column::name);
        let names = names.iter().map(String::as_str).chain(late);
        let mut rows = CsvSink::new(Vec::new()).keep_types().columns(names).rows();
        let json = lines(source()).unwrap();
        event::copy(&mut JsonSource::from_slice(json.as_bytes()), &mut rows).unwrap();
        let back = rows.into_table().into_inner();
        assert!(lines(CsvSource::new(&back[..]).typed().empty(Empty::Missing)).unwrap() == json, "{name}");
        // The values are the same, as another reads them: names are distinct now, and short records full.
        let (theirs, ours) = (theirs(&text, bare()), theirs(&back, bare()));
        assert_eq!(theirs.len(), ours.len(), "{name}");
        for (theirs, ours) in theirs.iter().zip(&ours).skip(1) {
            let full = |record: &[String], len| [record, &vec![String::new(); len - record.len()]].concat();
            let len = theirs.len().max(ours.len());
            assert_eq!(full(theirs, len), full(ours, len), "{name}");
        }
    }
}

#[test]
fn rows_need_no_json_between() {
    let mut rows: Rows<CsvSink<Vec<u8>>> = CsvSink::with_dialect(Vec::new(), Dialect::tsv()).rows();
    event::copy(&mut CsvSource::new("a,a\n1,\"x,y\"\n".as_bytes()), &mut rows).unwrap();
    assert_eq!(rows.into_table().into_inner(), b"a\ta_2\n1\tx,y\n");
}

/// Asks each row for all of its values.
#[derive(Default)]
struct Asks(String);

impl Sink for Asks {
    type Error = std::convert::Infallible;

    fn row<R: Row>(&mut self, row: R) -> Result<(), Failure<R::Error, Self::Error>> {
        for column in 0..row.columns() {
            let told = match row.scalar(column) {
                _ if row.is_missing(column) => "missing".into(),
                None => "something".into(),
                Some(Scalar::String(text)) => format!("{text:?}"),
                Some(Scalar::Number(number)) => format!("{:?}", number.machine().unwrap()),
                Some(scalar) => format!("{scalar:?}"),
            };
            write!(self.0, "{}={told} ", row.name(column)).unwrap();
        }
        writeln!(self.0, "line {}", row.place().line).unwrap();
        Ok(())
    }
}

#[test]
fn rows_say_what_their_fields_are() {
    let text = "n,text,auto,flag\n1,\"a \"\"b\"\" c\",\"\"\"\",true\n1.5,,\"\",no\nx,NA,-2,\"false\"\n,\"NA\",true,\n";
    let source = || CsvSource::new(text.as_bytes()).column_type("n", CsvType::Number);
    let source = || source().column_type("auto", CsvType::Auto).column_type("flag", CsvType::Bool).nulls(["NA"]);
    let asked = |mut source: CsvSource<&[u8]>| {
        let mut asks = Asks::default();
        event::copy(&mut source, &mut asks).unwrap();
        asks.0
    };
    let wanted = r#"n=I64(1) text="a \"b\" c" auto="\"" flag=Bool(true) line 2
n=F64(1.5) text="" auto="" flag=something line 3
n=something text=Null auto=I64(-2) flag=Bool(false) line 4
n=Null text="NA" auto=Bool(true) flag=Null line 5
"#;
    assert_eq!(asked(source()), wanted);
    let missing = asked(source().empty(Empty::Missing));
    assert_eq!(missing.lines().nth(1), Some(r#"n=F64(1.5) text=missing auto="" flag=something line 3"#));
    assert_eq!(missing.lines().nth(3), Some(r#"n=missing text="NA" auto=Bool(true) flag=missing line 5"#));
    // Read by csv-core: a quote within a field, and text behind a closing one.
    let odd = asked(CsvSource::new("a,b\n\"x\"\"y\"z,\"p\"\"q\"\n".as_bytes()));
    assert_eq!(odd, "a=\"x\\\"yz\" b=\"p\\\"q\" line 2\n");
}

/// Decodes records from their fields and from their events, and in small pieces: values and errors must be the same.
fn check_objects<'t, T: DeserializeOwned + Debug>(source: impl Fn() -> CsvSource<&'t [u8]>) -> Vec<String> {
    let log = RefCell::new(Vec::new());
    let objects = || {
        Objects::new(|index, value: T| {
            log.borrow_mut().push(format!("{index} {value:?}"));
            Ok::<_, jird::Error>(())
        })
    };
    let note = |failure: Failure<CsvError, jird::Error>| log.borrow_mut().push(format!("{failure:?}"));
    let (mut by_events, mut sink) = (source(), objects());
    // A sink behind a reference knows no rows.
    while by_events.send_record(&mut &mut sink).map_err(note).unwrap_or(true) {}
    let wanted = log.take();
    for chunk_bytes in [1, 7, 64, 1 << 16] {
        let (mut by_rows, mut sink) = (source().chunk_bytes(chunk_bytes), objects());
        while by_rows.send_record(&mut sink).map_err(note).unwrap_or(true) {}
        for (found, wanted) in log.borrow().iter().zip(&wanted) {
            assert_eq!(found, wanted, "{}", std::any::type_name::<T>());
        }
        assert_eq!(log.take().len(), wanted.len());
    }
    wanted
}

#[test]
fn records_are_decoded_from_their_fields_as_from_their_events() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "shown")]
    struct Stop {
        id: u32,
        #[serde(alias = "label")]
        name: String,
        at: Option<f64>,
        #[serde(default)]
        ok: bool,
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "shown")]
    struct Flat {
        id: u64,
        #[serde(flatten)]
        rest: BTreeMap<String, serde_json::Value>,
    }
    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "shown")]
    enum Either {
        Stop(Stop),
        Flat(Flat),
    }
    let fields = ["", "1", "-1", "300.5", "1e999", "x", "\"\"", "\"7\"", "\"a \"\"b\"\",\n\"", "\"p\"q", "true", "NA"];
    let mut rows = String::new();
    let mut random = Random(7);
    for _ in 0..3000 {
        let count = if random.below(50) == 0 { 3 } else { 4 };
        let row: Vec<_> = (0..count).map(|_| fields[random.below(fields.len())]).collect();
        writeln!(rows, "{}", row.join(",")).unwrap();
    }
    for head in ["id,name,at,ok", "other,id,label,at", "name,id,id2,name2", "at,more,id,label"] {
        let text = format!("{head}\n{rows}");
        let names: Vec<_> = head.split(',').collect();
        let plain = || CsvSource::new(text.as_bytes());
        let typed = || plain().typed().nulls(["NA"]);
        let numbers = || plain().column_type(names[0], CsvType::Number).empty(Empty::Missing);
        let mixed = || typed().column_type(names[3], CsvType::Bool).column_type(names[1], CsvType::Text).flexible();
        let json = || typed().column_type(names[2], CsvType::Json);
        for source in [&plain as &dyn Fn() -> _, &typed, &numbers, &mixed, &json] {
            check_objects::<Stop>(source);
            check_objects::<Flat>(source);
            check_objects::<Either>(source);
            check_objects::<BTreeMap<String, String>>(source);
            check_objects::<BTreeMap<String, Option<f32>>>(source);
            check_objects::<serde_json::Value>(source);
        }
    }
}
