//! Tables as inputs: records with values that JSON has no way to tell, and files that cannot be read.
#![cfg(feature = "convert")]

use crate::folder::{Folder, words};
use arrow_array::{
    ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, Time32SecondArray, Time64NanosecondArray,
};
use jird_formats::sqlite::rusqlite::Connection;
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression};
use parquet::file::properties::WriterProperties;
use std::sync::Arc;

/// What follows the message for a bad record that ends the work.
const ADVICE: &str = "`--on-error skip` leaves bad records out, `--on-error quarantine=FILE` sets them aside";

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn arrow(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    // Two batches of the same rows.
    writer.write(batch).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn parquet(batch: &RecordBatch, compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.flush().unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    file
}

/// Times of day: two that are told, two that are not, and more.
fn times() -> RecordBatch {
    let ids = Int64Array::from_iter_values(1..=6);
    let times = Time32SecondArray::from(vec![Some(0), Some(86_400), Some(86_401), Some(-1), Some(45_000), None]);
    let names = StringArray::from(vec![Some("a"), Some("b"), Some("c"), None, Some("e"), Some("f")]);
    batch(vec![("id", Arc::new(ids)), ("at", Arc::new(times)), ("name", Arc::new(names))])
}

const TOLD: &str = r#"{"id":1,"at":"00:00:00","name":"a"}
{"id":2,"at":"24:00:00","name":"b"}
{"id":5,"at":"12:30:00","name":"e"}
{"id":6,"at":null,"name":"f"}
"#;

fn with_times(name: &str) -> Folder {
    let batch = times();
    Folder::new(name).with("t.arrow", arrow(&batch)).with("t.parquet", parquet(&batch, Compression::SNAPPY))
}

/// What `convert` printed, what it said, its exit code.
fn converts(folder: &Folder, args: &[&str]) -> (String, String, Option<i32>) {
    let output = folder.run(args);
    (String::from_utf8_lossy(&output.stdout).into_owned(), words(&output), output.status.code())
}

#[test]
fn the_end_of_the_day_is_a_time_of_day() {
    let day = 86_400_000_000_000;
    let times = batch(vec![("t", Arc::new(Time64NanosecondArray::from(vec![day - 1, day])))]);
    let told = "{\"t\":\"23:59:59.999999999\"}\n{\"t\":\"24:00:00\"}\n".repeat(2);
    let folder = Folder::new("end-of-day").with("t.arrow", arrow(&times));
    assert_eq!(folder.fine(&["t.arrow", "-"]), told);
}

#[test]
fn a_value_that_json_has_not_stops_the_work_as_a_bad_record_and_names_column_and_record() {
    let folder = with_times("table-stop");
    for file in ["t.arrow", "t.parquet"] {
        let wanted = format!(
            "jird: {file}: the column \"at\" holds the time of day 24:00:01, which is beyond the day, in record 3\n{ADVICE}\n"
        );
        for target in ["-", "out.csv", "out.db"] {
            let (_, said, code) = converts(&folder, &[file, target]);
            assert_eq!((said.as_str(), code), (wanted.as_str(), Some(1)), "{target}");
        }
        let described = folder.jird("describe", &[file], b"");
        assert_eq!((words(&described), described.status.code()), (wanted, Some(1)));
    }
    assert_eq!(folder.names(), ["t.arrow", "t.parquet"]);
}

#[test]
fn bad_records_of_tables_are_left_out_and_counted() {
    let folder = with_times("table-skip");
    for file in ["t.arrow", "t.parquet"] {
        let (out, said, code) = converts(&folder, &["--on-error", "skip", file, "-"]);
        let wanted = format!(
            "jird: 4 bad records left out, the first: {file}: the column \"at\" holds the time of day 24:00:01, \
             which is beyond the day, in record 3\n"
        );
        assert_eq!((out, said, code), (TOLD.repeat(2), wanted, Some(1)));
        // Other targets: what is planned is read twice, and what is bad counts once. Nothing of a bad record is left in them.
        for target in ["out.csv", "out.db", "out.json"] {
            let (_, said, code) = converts(&folder, &["--on-error", "skip", file, target]);
            assert!(code == Some(1) && said.contains("4 bad records left out"), "{target}: {said}");
            assert_eq!(folder.fine(&["--select", "id", target, "-"]).lines().count(), 8, "{target}");
            std::fs::remove_file(folder.0.join(target)).unwrap();
        }
        let described = folder.jird("describe", &["--on-error", "skip", "--format", "json", file], b"");
        let fields = String::from_utf8(described.stdout).unwrap();
        assert!(described.status.code() == Some(1) && !fields.contains("24:00:01"), "{fields}");
        // The values of bad records do not count: one of them has no `name`.
        let table = folder.jird("describe", &["--on-error", "skip", file], b"");
        let table = String::from_utf8(table.stdout).unwrap();
        assert!(
            table.contains("8 records")
                && table.contains("8 integer")
                && table.contains("6 text")
                && table.contains("8 text"),
            "{table}"
        );
    }
}

#[test]
fn bad_records_of_tables_are_set_aside_and_read_again_when_they_were_corrected() {
    let folder = with_times("table-quarantine");
    for file in ["t.arrow", "t.parquet"] {
        let _none_yet = std::fs::remove_file(folder.0.join("bad.ndjson"));
        converts(&folder, &["--on-error", "quarantine=bad.ndjson", file, "out.csv"]);
        let line = |record: u64, time: &str, raw: &str| {
            format!(
                "{{\"file\":\"{file}\",\"record\":{record},\"kind\":\"time\",\"message\":\"the column \\\"at\\\" holds \
                 the time of day {time}, which is beyond the day, in record {record}\",\"raw\":\"{raw}\"}}\n"
            )
        };
        let third = r#"{\"id\":3,\"at\":24:00:01,\"name\":\"c\"}"#;
        let fourth = r#"{\"id\":4,\"at\":-00:00:01,\"name\":null}"#;
        let wanted = [
            line(3, "24:00:01", third),
            line(4, "-00:00:01", fourth),
            line(9, "24:00:01", third),
            line(10, "-00:00:01", fourth),
        ];
        assert_eq!(folder.text("bad.ndjson"), wanted.concat());
        // As they stand they are bad still.
        let (out, said, code) = converts(&folder, &["--from", "quarantine", "--on-error", "skip", "bad.ndjson", "-"]);
        assert!(out.is_empty() && code == Some(1) && said.contains("4 bad records"), "{out}{said}");
        let corrected = folder
            .text("bad.ndjson")
            .replace(":24:00:01,\\", ":\\\"24:00:00\\\",\\")
            .replace("-00:00:01,\\", "null,\\");
        let folder = Folder::new("table-corrected").with("good.ndjson", corrected);
        let again = "{\"id\":3,\"at\":\"24:00:00\",\"name\":\"c\"}\n{\"id\":4,\"at\":null,\"name\":null}\n".repeat(2);
        assert_eq!(folder.fine(&["--from", "quarantine", "good.ndjson", "-"]), again);
    }
}

#[test]
fn a_column_that_nobody_asked_for_makes_no_record_bad() {
    let folder = with_times("table-columns");
    for file in ["t.arrow", "t.parquet"] {
        for on_error in ["stop", "skip"] {
            let ids = "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n{\"id\":4}\n{\"id\":5}\n{\"id\":6}\n".repeat(2);
            assert_eq!(folder.fine(&["--on-error", on_error, "--select", "id", file, "-"]), ids);
        }
    }
}

#[cfg(feature = "query")]
#[test]
fn a_condition_is_asked_of_good_records() {
    let folder = with_times("table-where");
    for file in ["t.arrow", "t.parquet"] {
        let (out, said, code) = converts(&folder, &["--where", "id < 3", "--on-error", "skip", file, "-"]);
        let wanted = TOLD.split_inclusive('\n').take(2).collect::<String>();
        assert_eq!((out, code), (wanted.repeat(2), Some(1)), "{said}");
        assert!(said.contains("4 bad records left out"), "{said}");
    }
}

#[test]
fn numbers_that_are_none_are_bad_records_too() {
    let numbers = Float64Array::from(vec![1.5, f64::NAN, f64::NEG_INFINITY]);
    let folder = Folder::new("table-nan").with("n.arrow", arrow(&batch(vec![("x", Arc::new(numbers))])));
    let (out, _, code) = converts(&folder, &["--on-error", "quarantine=bad", "n.arrow", "-"]);
    assert_eq!((out.as_str(), code), ("{\"x\":1.5}\n{\"x\":1.5}\n", Some(1)));
    let bad = folder.text("bad");
    let first = r#"{"file":"n.arrow","record":2,"kind":"not_finite","message":"the column \"x\" holds NaN, which JSON does not have, in record 2","raw":"{\"x\":NaN}"}"#;
    assert_eq!(bad.lines().next(), Some(first));
    assert!(bad.lines().nth(1).unwrap().ends_with(r#""raw":"{\"x\":-Infinity}"}"#), "{bad}");
}

/// A table of three thousand rows, so that threads read it in pieces; every thousandth has what JSON has not.
fn database(folder: &Folder) {
    let connection = Connection::open(folder.0.join("t.db")).unwrap();
    connection
        .execute_batch(
            "create table t (id integer primary key, real real, text text, doc json);
             with recursive n (n) as (select 1 union all select n + 1 from n where n < 3000)
             insert into t select n, n / 2.0, 'text ' || n, '{\"n\":' || n || '}' from n;
             update t set real = 9e999 where id = 1000;
             update t set text = cast(x'61ff62' as text) where id = 2000;
             update t set doc = '1,\"b\":2' where id = 3000;",
        )
        .unwrap();
}

#[test]
fn rows_of_a_database_that_json_cannot_tell_are_bad_records() {
    let folder = Folder::new("table-sqlite");
    database(&folder);
    let (_, said, code) = converts(&folder, &["t.db", "out.ndjson"]);
    let wanted = format!(
        "jird: t.db: the column \"real\" holds an infinite number, which JSON does not have, in record 1000\n{ADVICE}\n"
    );
    assert_eq!((said, code), (wanted, Some(1)));
    assert_eq!(folder.names(), ["t.db"]);
    for target in ["-", "out.ndjson", "out.csv", "out.arrow"] {
        let _none_yet = std::fs::remove_file(folder.0.join("bad"));
        let (_, said, code) = converts(&folder, &["--on-error", "quarantine=bad", "t.db", target]);
        assert!(code == Some(1) && said.contains("3 bad records left out"), "{target}: {said}");
        let bad = folder.text("bad");
        let lines: Vec<jird::Json> = bad.lines().map(|line| jird::from_str(line).unwrap()).collect();
        let told: Vec<_> = lines.iter().map(|line| (line["record"].as_u64(), line["kind"].as_str())).collect();
        let wanted = [(1000, "not_finite"), (2000, "utf8"), (3000, "json")];
        assert_eq!(told, wanted.map(|(record, kind)| (Some(record), Some(kind))), "{bad}");
        assert_eq!(
            lines[0]["raw"].as_str().unwrap(),
            r#"{"id":1000,"real":Infinity,"text":"text 1000","doc":{"n":1000}}"#
        );
        // `{"id":2000,"real":1000.0,"text":"a\xffb","doc":{"n":2000}}`, which is not text.
        assert_eq!(lines[1]["base64"].as_str().unwrap().get(..12), Some("eyJpZCI6MjAw"));
        assert_eq!(
            lines[2]["raw"].as_str().unwrap(),
            r#"{"id":3000,"real":1500.0,"text":"text 3000","doc":not JSON: "1,\"b\":2"}"#
        );
    }
    let (out, ..) = converts(&folder, &["--on-error", "skip", "t.db", "-"]);
    assert_eq!(out.lines().count(), 2997);
    assert_eq!(folder.fine(&["--select", "id", "t.db", "-"]).lines().count(), 3000);
    let described = folder.jird("describe", &["t.db", "--on-error", "skip"], b"");
    let table = String::from_utf8(described.stdout).unwrap();
    assert!(described.status.code() == Some(1) && table.contains("2997 records"), "{table}");
}

#[test]
fn what_is_wrong_with_a_file_ends_the_work_whatever_becomes_of_bad_records() {
    let batch = times();
    let (arrow, parquet) = (arrow(&batch), parquet(&batch, Compression::SNAPPY));
    let folder = Folder::new("table-file")
        .with("cut.arrow", &arrow[..arrow.len() - 100])
        .with("cut.parquet", &parquet[..parquet.len() - 100]);
    for file in ["cut.arrow", "cut.parquet"] {
        for on_error in ["stop", "skip", "quarantine=bad"] {
            let (_, said, code) = converts(&folder, &["--on-error", on_error, "--select", "id", file, "out.ndjson"]);
            assert!(
                code == Some(2) && said.starts_with(&format!("jird: {file}: malformed file: ")),
                "{on_error}: {said}"
            );
            assert!(!folder.names().contains(&"out.ndjson".to_owned()));
        }
    }
}

/// The file with another number of a compression in its footer: behind a column's path, in the encoding of Thrift.
fn with_codec(file: &[u8], column: &str, codec: u8) -> Vec<u8> {
    let before = [&[0x18, column.len() as u8], column.as_bytes(), &[0x15]].concat();
    let mut file = file.to_vec();
    let mut changed = 0;
    for at in 0..file.len() - before.len() {
        if file[at..].starts_with(&before) && file[at + before.len() + 1] == 0x16 {
            file[at + before.len()] = 2 * codec;
            changed += 1;
        }
    }
    assert!(changed > 0);
    file
}

#[test]
fn every_compression_of_parquet_is_read_or_named() {
    let good = batch(vec![
        ("id", Arc::new(Int64Array::from_iter_values(1..=2))),
        ("n", Arc::new(Int64Array::from(vec![7, 8]))),
    ]);
    let rows = "{\"id\":1,\"n\":7}\n{\"id\":2,\"n\":8}\n".repeat(2);
    let snappy = parquet(&good, Compression::SNAPPY);
    let mut encrypted = snappy.clone();
    let end = encrypted.len() - 4;
    encrypted[end..].copy_from_slice(b"PARE");
    let folder = Folder::new("codecs")
        .with("brotli.parquet", parquet(&good, Compression::BROTLI(BrotliLevel::default())))
        .with("lz4.parquet", with_codec(&with_codec(&parquet(&good, Compression::LZ4_RAW), "id", 5), "n", 5))
        .with("lzo.parquet", with_codec(&snappy, "n", 3))
        .with("encrypted.parquet", encrypted);
    for file in ["brotli.parquet", "lz4.parquet"] {
        assert_eq!(folder.fine(&[file, "-"]), rows, "{file}");
    }
    let (_, said, code) = converts(&folder, &["lzo.parquet", "-"]);
    let wanted = "jird: lzo.parquet: not supported: the column \"n\" is compressed with LZO; jird reads Snappy, gzip, \
                  Brotli, LZ4 and Zstandard\n";
    assert_eq!((said.as_str(), code), (wanted, Some(2)));
    // Columns that are compressed otherwise can be had.
    assert_eq!(folder.fine(&["--select", "id", "lzo.parquet", "-"]), "{\"id\":1}\n{\"id\":2}\n".repeat(2));
    let (_, said, code) = converts(&folder, &["encrypted.parquet", "-"]);
    assert_eq!((said.as_str(), code), ("jird: encrypted.parquet: not supported: the file is encrypted\n", Some(2)));
}

/// Files on which the Parquet reader panics: a good one, with a byte changed. The reader is run here to find them.
fn panicking(file: &[u8]) -> Vec<Vec<u8>> {
    use jird::event::{JsonSink, Source};
    use std::cell::Cell;
    thread_local!(static PANICS: Cell<u32> = const { Cell::new(0) });
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if jird_formats::is_panic_caught() {
            PANICS.set(PANICS.get() + 1);
        } else {
            hook(panic);
        }
    }));
    let mut found = Vec::new();
    for (at, value) in (4..file.len()).flat_map(|at| [0, 0x7f, 0xc8, 0xff].map(|value| (at, value))) {
        let mut damaged = file.to_vec();
        damaged[at] = value;
        PANICS.set(0);
        if let Ok(mut source) = jird_formats::ColumnSource::parquet_bytes(damaged.clone()) {
            let _ = source.send(&mut JsonSink::new(Vec::new()));
        }
        if PANICS.get() > 0 {
            found.push(damaged);
        }
    }
    found
}

#[test]
fn a_panic_of_the_parquet_reader_is_one_line_of_ours() {
    let found = panicking(&parquet(&times(), Compression::UNCOMPRESSED));
    assert!(!found.is_empty(), "no damage makes the reader panic any more: then the guard has nothing to do");
    for damaged in found.iter().take(10) {
        let folder = Folder::new("panics").with("p.parquet", damaged);
        for (command, args) in
            [("convert", &["p.parquet", "-", "--on-error", "skip"][..]), ("describe", &["p.parquet"])]
        {
            let output = folder.jird(command, args, b"");
            let said = words(&output);
            let lines: Vec<_> = said.lines().filter(|line| !line.contains("bad record")).collect();
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert_eq!(lines, ["jird: p.parquet: malformed file: a page cannot be decoded"], "{said}");
        }
    }
}

/// What a command printed, what it said, its exit code.
fn ran(folder: &Folder, command: &[&str]) -> (String, String, Option<i32>) {
    let output = folder.jird(command[0], &command[1..], b"");
    (String::from_utf8_lossy(&output.stdout).into_owned(), words(&output), output.status.code())
}

#[test]
fn a_csv_header_that_is_not_utf8_is_called_the_header() {
    let folder = Folder::new("csv-header")
        .with("bad.csv", b"id,caf\xe9\n1,2\n")
        .with("second.csv", b"id,x\n1,caf\xe9\n2,y\n")
        .with("open.csv", "id,\"x\n1,2\n");
    let header = "jird: bad.csv: bytes that are not UTF-8, in the header at line 1 (byte 6)\n";
    for on_error in ["stop", "skip", "quarantine=bad"] {
        for command in [&["convert", "bad.csv", "-"][..], &["describe", "bad.csv"]] {
            let (out, said, code) = ran(&folder, &[command, &["--on-error", on_error]].concat());
            assert_eq!((out.as_str(), said.as_str(), code), ("", header, Some(1)), "{command:?} {on_error}");
        }
    }
    let (_, said, _) = ran(&folder, &["convert", "open.csv", "-"]);
    assert_eq!(said, "jird: open.csv: the input ends within quotes, in the header at line 1 (byte 0)\n");
    let (_, said, _) = ran(&folder, &["convert", "second.csv", "-"]);
    let wanted = format!("jird: second.csv: bytes that are not UTF-8, in record 1 at line 2 (byte 10)\n{ADVICE}\n");
    assert_eq!(said, wanted);
    let (out, said, _) = ran(&folder, &["convert", "second.csv", "-", "--on-error", "skip"]);
    assert_eq!(out, "{\"id\":\"2\",\"x\":\"y\"}\n");
    assert!(said.contains("1 bad record left out"), "{said}");
}
