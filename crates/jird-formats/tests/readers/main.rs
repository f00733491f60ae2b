//! What we write is read by others, and what they write by us: Python, SQLite's shell, `DuckDB` and Arrow's C++, on the corpus.
#![cfg(all(feature = "csv", feature = "sqlite", feature = "parquet"))]

#[path = "../../../jird/tests/common/mod.rs"]
mod common;
#[path = "../same/mod.rs"]
mod same;

use common::{corpus, files};
use jird::event::{self, JsonSink, JsonSource, Sink, Source};
use jird_formats::sqlite::{SqliteQuery, SqliteSink, open, open_read_only, tables};
use jird_formats::{
    ArrowLayout, ArrowOptions, Column, ColumnSink, ColumnSource, ColumnType, CsvSink, CsvSource, ParquetOptions, Rows,
    Schema,
};
use same::plan_of;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program of the others. `None`, and said so, where they are not installed.
#[allow(clippy::print_stdout, reason = "it is for readers of the log")]
fn others(arguments: &[&Path]) -> Option<()> {
    let python = std::env::var("JIRD_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let run = |command: &mut Command| command.output();
    if !run(Command::new(&python).args(["-c", "import duckdb, pyarrow"])).is_ok_and(|output| output.status.success()) {
        println!("skipped: duckdb, pyarrow");
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers/readers.py");
    let output = run(Command::new(&python).arg(script).args(arguments)).unwrap();
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

/// The first records of a source, as lines of JSON.
fn lines<A: Source<Error: std::fmt::Debug>>(mut source: A) -> String {
    const RECORDS: usize = 2000;
    let mut sink = JsonSink::new(Vec::new());
    let mut sent = 0;
    while sent < RECORDS && source.send_record(&mut sink).unwrap_or_else(|error| panic!("{error:?}")) {
        sent += 1;
    }
    sink.finish().unwrap();
    String::from_utf8(sink.into_inner()).unwrap()
}

/// Tables of the corpus, as lines of JSON with types.
fn corpus_tables() -> Option<Vec<(String, String)>> {
    let root = corpus()?;
    let chinook = open_read_only(root.join("tables/chinook/chinook.db")).unwrap();
    let mut all: Vec<(String, String)> = Vec::new();
    for table in tables(&chinook).unwrap() {
        all.push((table.clone(), lines(SqliteQuery::table(&chinook, &table).unwrap().source())));
    }
    let csv =
        [("tables/gtfs_sample", ".txt"), ("tables/nycflights13", ".csv"), ("conformance/csv/csv-spectrum", ".csv")];
    for file in csv.into_iter().flat_map(|(folder, suffix)| files(&root, folder, suffix)) {
        let name = file.file_name().replace('.', "_");
        let typed = lines(CsvSource::new(&file.text[..]).typed());
        // Others have one type for a column.
        let schema = copy(&typed, Rows::new(Schema::default())).into_table();
        let is_mixed = schema.columns().iter().any(|column| column.column_type() == Some(ColumnType::Json));
        all.push((name, if is_mixed { lines(CsvSource::new(&file.text[..])) } else { typed }));
    }
    // An empty table is none in SQLite.
    all.retain(|(_, text)| !text.is_empty());
    Some(all)
}

fn folder(name: &str, tables: &[(String, String)]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("readers").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in tables {
        fs::write(folder.join(format!("{name}.ndjson")), text).unwrap();
    }
    folder
}

fn copy<S: Sink<Error: std::fmt::Debug>>(text: &str, mut sink: S) -> S {
    event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut sink).unwrap();
    sink
}

#[test]
fn other_programs_read_what_is_written() {
    let Some(tables) = corpus_tables() else { return };
    let folder = folder("ours", &tables);
    for (name, text) in &tables {
        let write = |suffix: &str, bytes: Vec<u8>| fs::write(folder.join(format!("{name}.{suffix}")), bytes).unwrap();
        let plan = plan_of(text);
        let schema = copy(text, Rows::new(Schema::default())).into_table();
        let csv = CsvSink::new(Vec::new()).columns(schema.columns().iter().map(Column::name));
        write("csv", copy(text, csv.rows()).into_table().into_inner());
        let parquet = ColumnSink::parquet(Vec::new(), &plan, ParquetOptions::default()).unwrap();
        write("parquet", copy(text, parquet).into_table().into_inner().unwrap());
        for (suffix, layout) in [("arrow", ArrowLayout::File), ("arrows", ArrowLayout::Stream)] {
            let sink =
                ColumnSink::arrow(Vec::new(), &plan, ArrowOptions { layout, ..ArrowOptions::default() }).unwrap();
            write(suffix, copy(text, sink).into_table().into_inner().unwrap());
        }
        copy(text, SqliteSink::create(&open(folder.join(format!("{name}.db"))).unwrap(), "t").into_rows());
    }
    others(&[Path::new("read"), &folder]);
}

#[test]
fn files_written_by_other_programs_are_read() {
    let Some(tables) = corpus_tables() else { return };
    let folder = folder("theirs", &tables);
    let Some(()) = others(&[Path::new("write"), &folder]) else { return };
    let mut read = 0;
    for file in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let open = || fs::read(&file).unwrap();
        let suffix = name.rsplit('.').next().unwrap();
        let got = match suffix {
            "parquet" => lines(ColumnSource::parquet_bytes(open()).unwrap()),
            "arrow" => lines(ColumnSource::arrow(&open()[..]).unwrap()),
            "csv" => lines(CsvSource::new(&open()[..])),
            "json" => lines(JsonSource::from_slice(&open()).lines()),
            "db" => lines(SqliteQuery::table(&open_read_only(&file).unwrap(), "t").unwrap().source()),
            _ => continue,
        };
        let table = name.split('.').next().unwrap();
        let wanted = &tables.iter().find(|(other, _)| other == table).unwrap().1;
        // Text has no types, and no null.
        let is_text = suffix == "csv" || name.ends_with("shell.db");
        assert_eq!(got.lines().count(), wanted.lines().count(), "{name}");
        for (index, (got, wanted)) in got.lines().zip(wanted.lines()).enumerate() {
            let [got, wanted] = [got, wanted].map(|line| jird::from_str::<Value>(line).unwrap());
            let (got, wanted) = (got.as_object().unwrap(), wanted.as_object().unwrap());
            let is_same = |(name, value): (&String, &Value)| same_value(got.get(name).unwrap(), value, is_text);
            assert!(got.len() == wanted.len() && wanted.iter().all(is_same), "{name}, row {index}: {got:?} {wanted:?}");
        }
        read += 1;
    }
    assert!(read > 300, "{read} files are too few");
}

fn same_value(got: &Value, wanted: &Value, is_text: bool) -> bool {
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match (got, wanted) {
        (Value::Number(got), Value::Number(wanted)) => got.as_f64() == wanted.as_f64(),
        (Value::String(got), Value::Number(wanted)) if is_text => got.parse().ok() == wanted.as_f64(),
        _ if is_text => text(got) == text(wanted),
        _ => got == wanted,
    }
}

#[test]
fn golden_files_that_were_copied_are_the_same_to_others() {
    let Some(root) = corpus() else { return };
    let folder = folder("golden", &[]);
    let mut pairs = Vec::new();
    for name in ["primitive", "binary", "large_binary", "binary_view", "dictionary", "custom_metadata"] {
        for suffix in ["arrow_file", "stream"] {
            let path = root.join(format!("conformance/arrow/cpp-21.0.0/generated_{name}.{suffix}"));
            let bytes = fs::read(&path).unwrap();
            let source = || ColumnSource::arrow(&bytes[..]).unwrap();
            let mut schema = Rows::new(Schema::default());
            event::copy(&mut source(), &mut schema).unwrap();
            let plan = jird_formats::ColumnPlan::of(schema.table());
            let mut arrow = ColumnSink::arrow(Vec::new(), &plan, ArrowOptions::default()).unwrap();
            event::copy(&mut source(), &mut arrow).unwrap();
            let mut parquet = ColumnSink::parquet(Vec::new(), &plan, ParquetOptions::default()).unwrap();
            event::copy(&mut source(), &mut parquet).unwrap();
            let copies = [("arrow", arrow.into_table().into_inner()), ("parquet", parquet.into_table().into_inner())];
            for (format, copy) in copies {
                let copied = folder.join(format!("{name}.{suffix}.{format}"));
                fs::write(&copied, copy.unwrap()).unwrap();
                pairs.extend([copied, path.clone()]);
            }
        }
    }
    let arguments: Vec<&Path> = core::iter::once(Path::new("same")).chain(pairs.iter().map(PathBuf::as_path)).collect();
    others(&arguments);
}
