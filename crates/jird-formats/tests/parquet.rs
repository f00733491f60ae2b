//! Parquet: round trips, row groups and batches of all sizes, and files that lie.

#[path = "../../jird/tests/common/mod.rs"]
mod common;
mod same;

use common::{corpus, files};
use jird::event::{self, Interest, JsonSink, JsonSource, Key, Numeral, Sink};
use jird_formats::{
    BatchWriter, ColumnPlan, ColumnSink, ColumnSource, ColumnType, Error, ErrorKind, ParquetBatches,
    ParquetCompression, ParquetOptions,
};
use same::{assert_survives, plan_of};
use std::fmt::Write as _;

fn to_parquet(text: &str, options: ParquetOptions) -> Vec<u8> {
    let mut sink = ColumnSink::parquet(Vec::new(), &plan_of(text), options).unwrap();
    event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut sink).unwrap();
    sink.into_table().into_inner().unwrap()
}

fn lines_of(file: &[u8]) -> Result<String, String> {
    let mut lines = JsonSink::new(Vec::new());
    let mut source = ColumnSource::parquet_bytes(file.to_vec()).map_err(|error| error.to_string())?;
    event::copy(&mut source, &mut lines).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(lines.into_inner()).unwrap())
}

const COMPRESSIONS: [ParquetCompression; 5] = [
    ParquetCompression::None,
    ParquetCompression::Snappy,
    ParquetCompression::Lz4,
    ParquetCompression::Gzip,
    ParquetCompression::Zstd,
];

fn options() -> impl Iterator<Item = ParquetOptions> {
    let sizes = [(1, 1 << 20), (7, 1 << 20), (1 << 20, 1), (1 << 20, 1 << 20)];
    COMPRESSIONS.into_iter().flat_map(move |compression| {
        sizes.map(|(row_group_rows, row_group_bytes)| ParquetOptions { compression, row_group_rows, row_group_bytes })
    })
}

#[test]
fn json_survives_parquet() {
    let text = same::records();
    for options in options() {
        assert_survives(&text, &lines_of(&to_parquet(&text, options)).unwrap());
    }
}

#[test]
fn corpus_lines_survive_parquet() {
    let Some(root) = corpus() else { return };
    for document in files(&root, "ndjson", ".ndjson") {
        let text = String::from_utf8(document.text).unwrap();
        assert_survives(&text, &lines_of(&to_parquet(&text, ParquetOptions::default())).unwrap());
    }
}

fn lines(rows: usize, line: impl Fn(usize) -> String) -> String {
    (0..rows).fold(String::new(), |mut text, row| {
        writeln!(text, "{}", line(row)).unwrap();
        text
    })
}

#[test]
fn many_rows_come_back_in_order_whatever_their_batches() {
    let text = lines(20_000, |row| format!(r#"{{"row":{row},"third":{}}}"#, row % 3));
    for row_group_rows in [1000, 4096, 5000, 1 << 20] {
        let file = to_parquet(&text, ParquetOptions { row_group_rows, ..ParquetOptions::default() });
        assert_eq!(lines_of(&file).unwrap(), text);
        assert_eq!(ColumnSource::parquet_bytes(file).unwrap().rows(), Some(20_000));
    }
}

/// Takes a column only in some records.
struct Fickle {
    record: u64,
    sum: i64,
}

impl Sink for Fickle {
    type Error = core::convert::Infallible;

    fn begin_record(&mut self, place: event::Place) -> Result<(), Self::Error> {
        self.record = place.record;
        Ok(())
    }
    fn key(&mut self, key: Key<'_>) -> Result<Interest, Self::Error> {
        // In the middle of a batch, of a row group, and of the file.
        Ok(Interest::take_if(self.record >= 7777 && (key.text() == "row" || self.record >= 11_111)))
    }
    fn number(&mut self, number: Numeral<'_>) -> Result<(), Self::Error> {
        self.sum += number.as_i64().unwrap();
        Ok(())
    }
}

#[test]
fn a_sink_may_skip_a_key_in_some_records_and_take_it_in_others() {
    let text = lines(20_000, |row| format!(r#"{{"row":{row},"one":1}}"#));
    let file = to_parquet(&text, ParquetOptions { row_group_rows: 6000, ..ParquetOptions::default() });
    let mut sink = Fickle { record: 0, sum: 0 };
    event::copy(&mut ColumnSource::parquet_bytes(file).unwrap(), &mut sink).unwrap();
    assert_eq!(sink.sum, (7777..20_000).sum::<i64>() + (20_000 - 11_111));
}

#[test]
fn bytes_and_timestamps_survive() {
    let Some(root) = corpus() else { return };
    for name in ["datetime", "binary", "primitive", "decimal", "nested", "map"] {
        let file = std::fs::read(root.join(format!("conformance/arrow/cpp-21.0.0/generated_{name}.stream"))).unwrap();
        let source = || ColumnSource::arrow(&file[..]).unwrap();
        let mut schema = jird_formats::Rows::new(jird_formats::Schema::default());
        event::copy(&mut source(), &mut schema).unwrap();
        let mut sink =
            ColumnSink::parquet(Vec::new(), &ColumnPlan::of(schema.table()), ParquetOptions::default()).unwrap();
        event::copy(&mut source(), &mut sink).unwrap();
        let copy = sink.into_table().into_inner().unwrap();
        let mut lines = JsonSink::new(Vec::new());
        event::copy(&mut source(), &mut lines).unwrap();
        assert_survives(&String::from_utf8(lines.into_inner()).unwrap(), &lines_of(&copy).unwrap());
    }
}

#[test]
fn a_plan_for_the_first_records_fails_or_is_the_plan_for_all() {
    let text = same::records();
    let (mut failed, mut same) = (0, 0);
    for first in 1..100 {
        let plan = plan_of(&text.lines().take(first).collect::<String>());
        let mut sink = ColumnSink::parquet(Vec::new(), &plan, ParquetOptions::default()).unwrap();
        match event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut sink) {
            Ok(()) => {
                assert_eq!(plan, plan_of(&text), "{first} records");
                same += 1;
            }
            Err(_) => failed += 1,
        }
    }
    assert!(failed > 10 && same > 10, "{failed} failed, {same} did not");
}

#[test]
fn keys_and_values_outside_the_plan_are_errors_and_leave_no_file() {
    let plan = ColumnPlan::new().with("id", ColumnType::Int64);
    for text in [r#"{"id":1} {"id":1.5}"#, r#"{"id":1} {"other":2}"#, r#"{"id":1} 5"#] {
        let mut sink = ColumnSink::parquet(Vec::new(), &plan, ParquetOptions::default()).unwrap();
        let failed = event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut sink).unwrap_err();
        assert!(failed.to_string().contains("at record 2 at line 1"), "{failed}");
        assert!(sink.into_table().into_inner().is_err_and(|error| error.kind() == ErrorKind::Other));
    }
}

/// A disk that is full.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_reported() {
    let text = lines(100_000, |row| format!(r#"{{"row":{row},"text":"row {row}"}}"#));
    for space in [0, 100, 200_000] {
        let options = ParquetOptions { row_group_rows: 10_000, ..ParquetOptions::default() };
        let failed = match ColumnSink::parquet(Full(space), &plan_of(&text), options) {
            Ok(mut sink) => {
                event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut sink).unwrap_err().to_string()
            }
            Err(error) => error.to_string(),
        };
        assert!(failed.contains("no storage space"), "{failed}");
    }
}

#[test]
fn a_truncated_file_is_an_error() {
    let file = to_parquet(&same::records(), ParquetOptions::default());
    for end in (0..file.len()).step_by(100).chain([file.len() - 1]) {
        assert!(lines_of(&file[..end]).is_err(), "{end} of {}", file.len());
    }
}

/// A copy of a file, batch by batch.
fn copied(file: &[u8]) -> Result<Vec<u8>, Error> {
    let mut source = ColumnSource::parquet_bytes(file.to_vec())?;
    let mut batches = ParquetBatches::new(Vec::new(), source.batch_schema(), ParquetOptions::default())?;
    while let Some(batch) = source.next_batch()? {
        batches.write(&batch)?;
    }
    Box::new(batches).finish()
}

#[test]
fn a_copy_has_the_rows_of_its_file() {
    let file = to_parquet(&same::records(), ParquetOptions { row_group_rows: 7, ..ParquetOptions::default() });
    assert_eq!(lines_of(&copied(&file).unwrap()), lines_of(&file));
}

#[test]
fn damaged_files_neither_panic_nor_take_much_memory() {
    let mut panics = Vec::new();
    for options in options().filter(|options| options.row_group_rows > 1) {
        let file = to_parquet(&same::records(), options);
        let read_and_copy = |file: &[u8]| {
            drop(lines_of(file));
            drop(copied(file));
        };
        panics.extend(same::damage(&file, 300, read_and_copy));
    }
    panics.sort();
    panics.dedup();
    assert!(panics.is_empty(), "{} panics:\n{}", panics.len(), panics.join("\n"));
    assert!(same::peak_megabytes() < 500, "{} MB", same::peak_megabytes());
}

/// What `pyarrow` makes of a file: each row as JSON, with what is JSON text as it stands.
const READ: &str = r#"
import decimal, json, sys, pyarrow.parquet
table = pyarrow.parquet.read_table(sys.argv[1])
kinds = [(field.metadata or {}).get(b"ARROW:extension:name") for field in table.schema]
def text(value, kind):
    if value is not None and kind == b"jird.json":
        return value
    return json.dumps(int(value) if isinstance(value, decimal.Decimal) else value)
for row in zip(*[column.to_pylist() for column in table.columns]):
    cells = zip(table.column_names, row, kinds)
    print("{" + ",".join(json.dumps(name) + ":" + text(cell, kind) for name, cell, kind in cells) + "}")
"#;

#[test]
#[allow(clippy::print_stdout, reason = "it is for readers of the log")]
fn pyarrow_reads_the_same() {
    let python = std::env::var("JIRD_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let run = |arguments: &[&str]| std::process::Command::new(&python).args(arguments).output();
    if !run(&["-c", "import pyarrow.parquet"]).is_ok_and(|output| output.status.success()) {
        println!("skipped: pyarrow");
        return;
    }
    let text = same::records();
    for options in options() {
        let path = std::env::temp_dir().join(format!("jird-pyarrow-{}.parquet", std::process::id()));
        std::fs::write(&path, to_parquet(&text, options)).unwrap();
        let output = run(&["-c", READ, path.to_str().unwrap()]).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_survives(&text, &String::from_utf8(output.stdout).unwrap());
    }
}
