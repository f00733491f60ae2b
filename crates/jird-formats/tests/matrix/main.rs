//! Every source to every sink: what comes back is what `docs/formats.md` says, of generated data and of the corpus.
#![cfg(all(feature = "csv", feature = "sqlite", feature = "parquet"))]

#[path = "../../../jird/tests/common/mod.rs"]
mod common;
mod formats;
mod page;
mod told;

use common::{corpus, files};
use formats::{File, Format, Sendable, write};
use jird::event::{self, JsonSource, Source, Timestamp};
use jird_formats::CsvSource;
use jird_formats::sqlite::rusqlite::Connection;
use jird_formats::sqlite::{SqliteQuery, open_read_only, tables};
use page::{Model, fact};
use told::{Record, Told, Value};

/// What JSON text tells.
fn of_json(text: &str) -> Vec<Record> {
    told(JsonSource::from_slice(text.as_bytes()))
}

fn told<A: Source<Error: std::fmt::Display>>(mut source: A) -> Vec<Record> {
    let mut told = Told::default();
    event::copy(&mut source, &mut told).unwrap_or_else(|error| panic!("{error}"));
    told.records
}

fn column(values: impl IntoIterator<Item = Value>) -> Vec<Record> {
    // A second column, for which a null is an empty cell.
    let record = |value| Record::Object(vec![("a".to_owned(), value), ("b".to_owned(), Value::Text("b".to_owned()))]);
    values.into_iter().map(record).collect()
}

/// Records for each fact of the page; each example is a file of its own.
fn examples(of: &str) -> Vec<Vec<Record>> {
    let numbers = |lists: &[&[&str]]| -> Vec<Vec<Record>> {
        lists.iter().map(|list| column(list.iter().map(|text| Value::Number((*text).to_owned())))).collect()
    };
    let json = |texts: &[&str]| -> Vec<Vec<Record>> { texts.iter().map(|text| of_json(text)).collect() };
    let time = |seconds, nanoseconds, is_utc| Value::Time(Timestamp { seconds, nanoseconds, is_utc });
    let nines = "9".repeat(400);
    match of {
        fact::INTEGER => numbers(&[
            &["1", "-1", "9007199254740993", "-9223372036854775808", "9223372036854775807"],
            &["0", "9223372036854775808", "18446744073709551615"],
            &["-1", "18446744073709551615"],
        ]),
        fact::LONG => numbers(&[
            &["18446744073709551616", "-9223372036854775809", "1"],
            &["99999999999999999999999999999999999999", "-99999999999999999999999999999999999999"],
            &["100000000000000000000000000000000000000", "1"],
            &[&nines, "-1"],
            &["1000000000000000019884624838657", "0.5"],
        ]),
        fact::DECIMAL => {
            let mut all = numbers(&[
                &["26.0067", "0.1", "-123456.789", "5.0"],
                &["0.1000000000000000055", "1.5"],
                &["12345678901234567890.5"],
                &["1e309", "2.5"],
                &["1e-400", "-1e-400"],
                &["9007199254740993", "0.5"],
            ]);
            all.push(column([0.1, 1000.0, 1e22, 1e300, 5e-324, f64::MAX, 9_007_199_254_740_992.0].map(Value::Double)));
            all
        }
        fact::SPELLING => numbers(&[
            &["1.50", "2.0"],
            &["1e3", "1E+3", "100.0e-2"],
            &["-0", "7"],
            &["0e5", "0.000"],
            &["7", "9007199254740992", "1000000000000000019884624838656", "2.5"],
        ]),
        fact::NEGATIVE_ZERO => numbers(&[&["-0.0"], &["-0.0", "0.0", "1.5"]]),
        fact::NULL => json(&[
            r#"{"a":null,"b":1} {"b":2} {"a":"","b":3}"#,
            r#"{"a":null} {"a":"x"}"#,
            r#"{"a":1} {} {"late":[true]}"#,
        ]),
        fact::ORDER => json(&[r#"{"a":1,"b":2} {"b":3,"a":4}"#, r#"{"z":1} {"y":2,"z":3} {"x":4,"z":5,"y":6}"#]),
        fact::REPEATED => json(&[r#"{"a":1,"a":2,"b":3} {"a":4,"b":5}"#, r#"{"a":"x","b":1,"a":{"a":1,"a":2}}"#]),
        fact::NAMES => json(&[
            r#"{"x":1,"":2} {"":3,"x":4}"#,
            r#"{"Id":1,"id":2,"iD":"x"} {"id":3,"Id":4,"iD":"y"}"#,
            "{\"a,b\":1,\"\\\"\\n\":2,\"select\":3,\"a.b\":4,\"😀\":5}",
        ]),
        fact::NESTING => json(&[
            r#"{"a":{"x":[1,{"y":null}],"":{}},"b":1} {"a":[],"b":2}"#,
            r#"{"a":[[[1.50,-0.0,1e400,18446744073709551616]]],"b":"\u0000\u001f😀"} {"a":null,"b":""}"#,
            r#"{"a":[true,false,null,"x\u0000\"\\"],"b":1}"#,
            r#"{"a":1,"b":"true"} {"a":[2],"b":{"x":1.50}} {"a":"[2]","b":"null"} {"a":null,"b":null}"#,
        ]),
        fact::MIXED => json(&[
            r#"{"a":1} {"a":"1"} {"a":0.5} {"a":""}"#,
            r#"{"a":"x","b":18014398509481985} {"a":-5e-7,"b":"0"} {"a":"","b":"18014398509481985"}"#,
        ]),
        fact::BOOL => json(&[
            r#"{"a":true,"b":"true"} {"a":false,"b":"false"} {"a":null,"b":"x"}"#,
            r#"{"a":true,"b":"true"} {"a":1,"b":true} {"a":"x","b":0.5}"#,
        ]),
        fact::TEXT => json(&[
            r#"{"a":"\u0000","b":"a\u0000b"} {"a":"x","b":"\u0001\t\r\n"}"#,
            r#"{"a":"","b":"null"} {"a":" ","b":"1"} {"a":"-1.5e3","b":"true"} {"a":"\"","b":",;"} {"a":"007","b":"=1+1"}"#,
            r#"{"a":"\ufeffx"} {"a":"\ufffd"} {"a":"žluťoučký 😀"} {"a":"2026-11-21T00:00:00Z"}"#,
        ]),
        fact::BYTES => vec![
            column([Value::Bytes(vec![0, 255, 128]), Value::Bytes(Vec::new()), Value::Null]),
            column([Value::Bytes(b"ab".to_vec()), Value::Text("ab".to_owned())]),
            column([Value::Bytes(b"ab".to_vec()), Value::Number("1".to_owned())]),
        ],
        fact::TIME => vec![
            column([time(0, 0, true), time(1_700_000_000, 123_456_789, true), time(-62_135_596_800 / 8, 1, true)]),
            column([time(1_700_000_000, 123_000, false), time(253_402_300_799, 0, false), Value::Null]),
            column([time(253_402_300_799, 1, true), time(0, 0, true)]),
            column([time(0, 0, true), time(0, 0, false)]),
            column([time(0, 0, true), Value::Text("never".to_owned())]),
            column([time(0, 0, true), Value::Bool(true)]),
        ],
        fact::RECORD => json(&[r#"1 "x" null [1,[2]] {"b":3} true"#, r#"{"value":1,"b":2} 5 [] "y""#]),
        other => panic!("no example of {other}"),
    }
}

/// Sends records through two formats, and wants what the page says.
#[track_caller]
fn check(what: &str, records: &[Record], page: &page::Table) {
    for source in Format::ALL {
        let expected = Model::new(source, page).of(records);
        let file = write(source, records).unwrap_or_else(|error| panic!("{what} as {source:?}: {error}"));
        same(&format!("{what} as {source:?}"), &file.told(), &expected);
        for sink in Format::ALL {
            let way = format!("{what} from {source:?} to {sink:?}");
            let expected = Model::new(sink, page).of(&expected);
            let file = write(sink, &file).unwrap_or_else(|error| panic!("{way}: {error}"));
            same(&way, &file.told(), &expected);
        }
    }
}

#[track_caller]
fn same(way: &str, told: &Result<Vec<Record>, String>, expected: &[Record]) {
    let told = told.as_ref().unwrap_or_else(|error| panic!("{way}: {error}"));
    for (index, (told, expected)) in told.iter().zip(expected).enumerate() {
        assert!(told == expected, "{way}, record {index}:\n{told:?} came,\n{expected:?} was to come");
    }
    assert_eq!(told.len(), expected.len(), "{way}");
}

#[test]
fn every_fact_survives_as_the_page_says() {
    let page = page::table("fact");
    let rows: Vec<&str> = page.rows.iter().map(|(fact, _)| &fact[..]).collect();
    assert_eq!(rows, fact::ALL);
    for of in fact::ALL {
        for (index, records) in examples(of).iter().enumerate() {
            check(&format!("example {index} of {of}"), records, &page);
        }
    }
    assert!(
        page::text()
            .contains("Without `--typed` all that is read of CSV is strings, and what was null is the empty one.")
    );
}

/// Of what a source holds, the facts that a sink loses or changes.
fn lost(source: &Model, sink: &Model) -> String {
    let is_lost = |of: &&str| {
        let held = |records: &Vec<Record>| source.of(records) == *records;
        examples(of).iter().filter(|records| held(records)).any(|records| sink.of(records) != *records)
    };
    let lost: Vec<&str> =
        fact::ALL.into_iter().filter(is_lost).map(|of| of.split([':', '(']).next().unwrap().trim()).collect();
    if lost.is_empty() { "nothing".to_owned() } else { lost.join(", ") }
}

#[test]
fn losses_add_up_as_the_page_says() {
    let (facts, pairs) = (page::table("fact"), page::table("from"));
    let formats =
        [Format::Json, Format::CsvTyped, Format::Sqlite, Format::Arrow].map(|format| Model::new(format, &facts));
    let rows = facts.columns.iter().zip(&formats).map(|(name, source)| {
        let cells: Vec<String> = formats.iter().map(|sink| lost(source, sink)).collect();
        (name.clone(), cells)
    });
    let rows: Vec<_> = rows.collect();
    let wanted: Vec<_> = rows.iter().map(|(name, cells)| format!("| {name} | {} |", cells.join(" | "))).collect();
    assert!(pairs.columns == facts.columns && pairs.rows == rows, "the page is to have:\n{}", wanted.join("\n"));
}

#[test]
fn records_without_keys_are_records_in_every_format() {
    assert!(page::text().contains("get a column `value`, which is empty in all rows."));
    let mixed = of_json(r#"{} {} {"a":1,"b":true} {}"#);
    let empty = of_json("{} {} {}");
    for sink in Format::ALL {
        let told = write(sink, &empty[..]).unwrap().told().unwrap();
        assert_eq!(told.len(), 3, "{sink:?}: {told:?}");
        let has_value = !matches!(sink, Format::Json | Format::Ndjson | Format::Arrow);
        let is_right = |record: &Record| match record {
            Record::Object(members) => members.iter().map(|(key, _)| &key[..]).eq(has_value.then_some("value")),
            Record::Other(_) => false,
        };
        assert!(told.iter().all(is_right), "{sink:?}: {told:?}");
        // Where some record has keys, there is no other column.
        let told = write(sink, &mixed[..]).unwrap().told().unwrap();
        assert_eq!(told.len(), 4, "{sink:?}: {told:?}");
        let is_known = |record: &Record| match record {
            Record::Object(members) => members.iter().all(|(key, _)| matches!(&key[..], "a" | "b")),
            Record::Other(_) => false,
        };
        assert!(told.iter().all(is_known), "{sink:?}: {told:?}");
    }
}

#[test]
fn a_table_without_rows_becomes_an_output_without_records() {
    assert!(page::text().contains("of one without rows the columns are lost, and in SQLite no table is made."));
    let empty = File::Bytes(Format::Csv, b"a,b\n".to_vec());
    for sink in Format::ALL {
        match write(sink, &empty).unwrap() {
            File::Database(conn) => assert!(SqliteQuery::table(&conn, "t").is_err()),
            file @ File::Bytes(..) => assert_eq!(file.told(), Ok(Vec::new()), "{sink:?}"),
        }
    }
}

#[test]
fn nan_and_infinities_are_errors_that_name_their_column() {
    use arrow_array::{Float64Array, RecordBatch};
    for odd in [f64::NAN, f64::INFINITY] {
        let values = Float64Array::from(vec![1.5, odd]);
        let batch = RecordBatch::try_from_iter([("x", std::sync::Arc::new(values) as _)]).unwrap();
        let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        let arrow = File::Bytes(Format::Arrow, writer.into_inner().unwrap());
        let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        let parquet = File::Bytes(Format::Parquet, writer.into_inner().unwrap());
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("create table t (x); insert into t values (1.5), (-9e999)").unwrap();
        for source in [arrow, parquet, File::Database(conn)] {
            for sink in Format::ALL {
                let Err(error) = write(sink, &source) else { panic!("{odd} as {sink:?}") };
                assert!(error.contains("column \"x\"") && error.contains("which JSON does not have"), "{error}");
            }
        }
    }
}

/// The first records of a source.
fn first<A: Source<Error: std::fmt::Display>>(mut source: A) -> Vec<Record> {
    const RECORDS: usize = 100;
    let mut told = Told::default();
    while told.records.len() < RECORDS && source.send_record(&mut told).unwrap_or_else(|error| panic!("{error}")) {}
    told.records
}

#[test]
fn the_corpus_survives_as_the_page_says() {
    let Some(root) = corpus() else { return };
    let page = page::table("fact");
    let chinook = open_read_only(root.join("tables/chinook/chinook.db")).unwrap();
    for table in tables(&chinook).unwrap() {
        check(&table, &first(SqliteQuery::table(&chinook, &table).unwrap().source()), &page);
    }
    let csv =
        [("tables/gtfs_sample", ".txt"), ("tables/nycflights13", ".csv"), ("conformance/csv/csv-spectrum", ".csv")];
    for file in csv.into_iter().flat_map(|(folder, suffix)| files(&root, folder, suffix)) {
        check(&file.name, &first(CsvSource::new(&file.text[..])), &page);
        check(&file.name, &first(CsvSource::new(&file.text[..]).typed()), &page);
    }
    for file in files(&root, "ndjson", ".ndjson") {
        check(&file.name, &first(JsonSource::from_slice(&file.text).lines()), &page);
    }
    for file in files(&root, "conformance/arrow", "generated_primitive.stream").iter().chain(&files(
        &root,
        "conformance/arrow",
        "generated_datetime.stream",
    )) {
        check(&file.name, &first(jird_formats::ColumnSource::arrow(&file.text[..]).unwrap()), &page);
    }
}
