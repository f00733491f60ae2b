//! Compared with csv-core, the `csv` crate and the corpus.

use crate::common::corpus;
use crate::{Fields, Random, bare, dialects, files, of_source, ours, pieces, same, survivors, theirs};
use jird::event::{self, JsonSink};
use jird_formats::{CsvSource, Dialect, ErrorKind};

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
fn a_byte_order_mark_is_skipped_only_at_the_start() {
    same("\u{feff}a\n\u{feff}b,\"q\"r\n\u{feff}\"x\"y".as_bytes(), bare(), 5);
}

#[test]
fn an_input_that_ends_within_quotes_is_an_error_in_every_dialect() {
    let base = Dialect::default();
    for dialect in [base, Dialect { escape: Some(b'\\'), ..base }, Dialect { double_quote: false, ..base }] {
        for (text, wanted) in [("a\n\"open", 1), ("a\n\"x\"y\n\"open\n", 1), ("a\n\"closed\"", 0), ("a\n\"x\"y", 0)] {
            let (_, errors, _) = survivors(CsvSource::with_dialect(text.as_bytes(), dialect));
            assert_eq!(errors.len(), wanted, "{text:?}");
            assert!(errors.iter().all(|error| error.0 == ErrorKind::Unclosed));
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
            let at = error.place().unwrap().offset as usize;
            assert_eq!(error.kind(), ErrorKind::Utf8, "{name}");
            assert_eq!(std::str::from_utf8(&text).unwrap_err().valid_up_to(), at);
            assert_eq!(
                text[..at].iter().filter(|&&byte| byte == b'\n').count() as u64 + 1,
                error.place().unwrap().line
            );
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
            // A checkout may have removed the carriage returns.
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
