//! CSV as a sink, and there and back.

use crate::common::corpus;
use crate::{Random, bare, files, lines, ours, theirs, written};
use jird::event::{self, Failure, JsonSource};
use jird_formats::{Column, CsvSink, CsvSource, Dialect, Empty, ErrorKind, Rows, Schema, Terminator};
use std::io;

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
        assert_eq!(error.kind(), ErrorKind::LateColumn);
        (error.to_string(), place.line)
    };
    let sink = || CsvSink::new(Vec::new());
    let (message, line) = late("{\"a\":1}\n{\"a\":2}\n{\"a\":1,\"new\":3}", sink());
    assert_eq!((&message[..], line), ("the key `new` of row 3 has no column, and the header can no longer change", 3));
    assert!(late("{\"b\":1}", sink().columns(["a"])).0.starts_with("the key `b` of row 1 "));
    assert_eq!(written("{\"b\":1,\"a\":2}", sink().select(["a"])).unwrap(), "a\n2\n");
}

#[test]
fn fields_that_the_dialect_cannot_write_are_errors() {
    let base = Dialect::default();
    let wrong = [
        (Dialect { quote: None, ..base }, r#"{"a":"x,y","b":1}"#),
        (Dialect { quote: None, ..base }, r#"{"a":null}"#),
        (Dialect { double_quote: false, ..base }, r#"{"a":"\""}"#),
    ];
    for (dialect, json) in wrong {
        let failure = written(json, CsvSink::with_dialect(Vec::new(), dialect)).unwrap_err();
        let Failure::Sink(error, _) = failure else { panic!("{json}") };
        assert_eq!(error.kind(), ErrorKind::Dialect);
    }
}

/// Fails after this many bytes.
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
        assert_eq!(error.kind(), ErrorKind::Io);
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
