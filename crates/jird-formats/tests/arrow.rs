//! Arrow IPC: the golden files of the format's own integration tests, round trips, and files that lie.

#[path = "../../jird/tests/common/mod.rs"]
mod common;
mod golden;
mod same;

use common::{Document, corpus, files};
use flate2::read::GzDecoder;
use golden::Golden;
use jird::event::{self, Failure, JsonSink, Sink, Source};
use jird::hooks::event::Recording;
use jird_formats::{
    ArrowBatches, ArrowCompression, ArrowLayout, ArrowOptions, BatchWriter, ColumnPlan, ColumnSink, ColumnSource,
    ColumnType, Error, ErrorKind, NotFinite,
};
use same::{assert_survives, plan_of};
use std::io::Read;

fn lines_of(file: &[u8]) -> Result<String, String> {
    let mut lines = JsonSink::new(Vec::new());
    let mut source = ColumnSource::arrow(file).map_err(|error| error.to_string())?;
    event::copy(&mut source, &mut lines).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(lines.into_inner()).unwrap())
}

fn golden_files() -> Option<Vec<Document>> {
    Some(files(&corpus()?, "conformance/arrow", ".json.gz"))
}

fn beside(document: &Document, suffix: &str) -> Vec<u8> {
    let name = document.name.replace(".json.gz", suffix);
    std::fs::read(corpus().unwrap().join(name)).unwrap()
}

#[test]
fn files_and_streams_say_what_the_integration_json_says() {
    let Some(documents) = golden_files() else { return };
    let mut rows = 0;
    for document in documents {
        let mut text = String::new();
        GzDecoder::new(&document.text[..]).read_to_string(&mut text).unwrap();
        let mut expected = JsonSink::new(Vec::new());
        event::copy(&mut Golden::new(&text), &mut expected).unwrap();
        let expected = String::from_utf8(expected.into_inner()).unwrap();
        for suffix in [".arrow_file", ".stream"] {
            let lines =
                lines_of(&beside(&document, suffix)).unwrap_or_else(|error| panic!("{}: {error}", document.name));
            for (index, (line, expected)) in lines.lines().zip(expected.lines()).enumerate() {
                assert_eq!(line, expected, "{}{suffix}, row {index}", document.name);
            }
            assert_eq!(lines.lines().count(), expected.lines().count(), "{}", document.name);
        }
        rows += expected.lines().count();
    }
    assert!(rows > 300, "{rows} rows are too few");
}

fn to_arrow(text: &str, options: ArrowOptions) -> Vec<u8> {
    let mut sink = ColumnSink::arrow(Vec::new(), &plan_of(text), options).unwrap();
    event::copy(&mut event::JsonSource::from_slice(text.as_bytes()), &mut sink).unwrap();
    sink.into_table().into_inner().unwrap()
}

fn options() -> impl Iterator<Item = ArrowOptions> {
    let compressions = [None, Some(ArrowCompression::Lz4), Some(ArrowCompression::Zstd)];
    let layouts = [ArrowLayout::File, ArrowLayout::Stream];
    let both = layouts.into_iter().flat_map(move |layout| compressions.map(|compression| (layout, compression)));
    both.flat_map(|(layout, compression)| {
        [1, 7, 16 << 10].map(|batch_rows| ArrowOptions { layout, compression, batch_rows })
    })
}

#[test]
fn json_survives_arrow() {
    let text = same::records();
    for options in options() {
        assert_survives(&text, &lines_of(&to_arrow(&text, options)).unwrap());
    }
}

#[test]
fn corpus_lines_survive_arrow() {
    let Some(root) = corpus() else { return };
    for document in files(&root, "ndjson", ".ndjson") {
        let text = String::from_utf8(document.text).unwrap();
        assert_survives(&text, &lines_of(&to_arrow(&text, ArrowOptions::default())).unwrap());
    }
}

#[test]
fn arrow_survives_arrow() {
    // Bytes and timestamps, which JSON has not: from the golden files, by events, into a file, and back.
    let Some(documents) = golden_files() else { return };
    for name in ["primitive", "datetime", "decimal", "binary", "nested", "map", "duration"] {
        let document = documents.iter().find(|one| one.file_name() == format!("generated_{name}.json.gz")).unwrap();
        let file = beside(document, ".stream");
        let mut schema = jird_formats::Rows::new(jird_formats::Schema::default());
        event::copy(&mut ColumnSource::arrow(&file[..]).unwrap(), &mut schema).unwrap();
        let mut sink = ColumnSink::arrow(Vec::new(), &ColumnPlan::of(schema.table()), ArrowOptions::default()).unwrap();
        event::copy(&mut ColumnSource::arrow(&file[..]).unwrap(), &mut sink).unwrap();
        let copy = sink.into_table().into_inner().unwrap();
        assert_survives(&lines_of(&file).unwrap(), &lines_of(&copy).unwrap());
    }
}

/// A copy of a file, batch by batch.
fn copied(file: &[u8], options: ArrowOptions) -> Result<Vec<u8>, Error> {
    let mut source = ColumnSource::arrow(file)?;
    let mut batches = ArrowBatches::new(Vec::new(), &source.batch_schema(), options)?;
    while let Some(batch) = source.next_batch()? {
        batches.write(&batch)?;
    }
    Box::new(batches).finish()
}

/// The same as Parquet; `None` if Parquet does not hold all types.
#[cfg(feature = "parquet")]
fn copied_to_parquet(file: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    use jird_formats::{ParquetBatches, ParquetOptions};
    let mut source = ColumnSource::arrow(file)?;
    let schema = source.batch_schema();
    if ParquetBatches::<Vec<u8>>::unheld(&schema).is_some() {
        return Ok(None);
    }
    let mut batches = ParquetBatches::new(Vec::new(), schema, ParquetOptions::default())?;
    while let Some(batch) = source.next_batch()? {
        batches.write(&batch)?;
    }
    Box::new(batches).finish().map(Some)
}

#[test]
fn golden_files_are_copied_with_all_their_types_and_values() {
    let Some(documents) = golden_files() else { return };
    let mut to_parquet = 0;
    for document in documents {
        let file = beside(&document, ".stream");
        let wanted = lines_of(&file).unwrap();
        let fields = |file: &[u8]| ColumnSource::arrow(file).unwrap().schema().fields().clone();
        for layout in [ArrowLayout::File, ArrowLayout::Stream] {
            let copy = copied(&file, ArrowOptions { layout, ..ArrowOptions::default() })
                .unwrap_or_else(|error| panic!("{}: {error}", document.name));
            assert_eq!((fields(&copy), lines_of(&copy)), (fields(&file), Ok(wanted.clone())), "{}", document.name);
        }
        #[cfg(feature = "parquet")]
        if let Some(copy) = copied_to_parquet(&file).unwrap_or_else(|error| panic!("{}: {error}", document.name)) {
            let mut lines = JsonSink::new(Vec::new());
            let mut source = jird_formats::ColumnSource::parquet_bytes(copy).unwrap();
            assert_eq!(source.schema().fields(), &fields(&file), "{}", document.name);
            event::copy(&mut source, &mut lines).unwrap();
            assert_eq!(String::from_utf8(lines.into_inner()).unwrap(), wanted, "{}", document.name);
            to_parquet += 1;
        }
    }
    assert!(to_parquet > 10 || cfg!(not(feature = "parquet")), "{to_parquet} files are too few");
}

#[test]
fn rows_that_were_sent_as_records_are_not_in_the_next_batch() {
    let options = ArrowOptions { batch_rows: 3, ..ArrowOptions::default() };
    let file = to_arrow(r#"{"a":1} {"a":2} {"a":3} {"a":4} {"a":5}"#, options);
    let mut source = ColumnSource::arrow(&file[..]).unwrap();
    let mut lines = JsonSink::new(Vec::new());
    let mut rows = Vec::new();
    assert!(source.send_record(&mut lines).unwrap());
    rows.push(source.next_batch().unwrap().unwrap().num_rows());
    assert!(source.send_record(&mut lines).unwrap());
    rows.push(source.next_batch().unwrap().unwrap().num_rows());
    assert!(source.next_batch().unwrap().is_none());
    lines.finish().unwrap();
    assert_eq!((rows, &lines.into_inner()[..]), (vec![2, 1], &b"{\"a\":1}\n{\"a\":4}\n"[..]));
}

#[test]
fn keys_and_values_outside_the_plan_are_errors() {
    let plan = ColumnPlan::new().with("id", ColumnType::Int64).with("x", ColumnType::Float64);
    let failure = |text: &str| {
        let mut sink = ColumnSink::arrow(Vec::new(), &plan, ArrowOptions::default()).unwrap();
        let failed = event::copy(&mut event::JsonSource::from_slice(text.as_bytes()), &mut sink).unwrap_err();
        assert!(sink.into_table().into_inner().is_err_and(|error| error.kind() == ErrorKind::Other));
        assert!(matches!(failed, Failure::Sink(_, place) if place.record == 1));
        failed.to_string()
    };
    let unfit = |column, holds| {
        format!("the value does not fit column {column:?}, which holds {holds}, at record 2 at line 1 (byte 9)")
    };
    assert_eq!(failure(r#"{"id":1} {"id":"1"}"#), unfit("id", "i64"));
    assert_eq!(failure(r#"{"id":1} {"id":9223372036854775808}"#), unfit("id", "i64"));
    assert_eq!(failure(r#"{"id":1} {"x":9007199254740993}"#), unfit("x", "f64"));
    assert_eq!(failure(r#"{"id":1} {"x":0.1000000000000000055}"#), unfit("x", "f64"));
    assert_eq!(
        failure(r#"{"id":1} {"late":null}"#),
        "the key \"late\" has no column in the plan, at record 2 at line 1 (byte 9)"
    );
}

#[test]
fn columns_are_chosen_by_name_or_by_the_sink() {
    let file = to_arrow(r#"{"a":1,"b":"x","c":[2]} {"a":3,"c":null}"#, ArrowOptions::default());
    let mut lines = JsonSink::new(Vec::new());
    event::copy(&mut ColumnSource::arrow(&file[..]).unwrap().columns(["c", "a"]).unwrap(), &mut lines).unwrap();
    assert_eq!(lines.into_inner(), b"{\"c\":[2],\"a\":1}\n{\"c\":null,\"a\":3}\n");
    let missing = ColumnSource::arrow(&file[..]).unwrap().columns(["d"]);
    assert!(missing.is_err_and(|error| error.kind() == ErrorKind::Missing));
}

#[test]
fn nan_is_an_error_unless_null_is_asked_for() {
    use arrow_array::{Float64Array, RecordBatch};
    let values = Float64Array::from(vec![1.5, f64::NAN]);
    let batch = RecordBatch::try_from_iter([("x", std::sync::Arc::new(values) as _)]).unwrap();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    let file = writer.into_inner().unwrap();
    let told = "the column \"x\" holds NaN, which JSON does not have, in record 2";
    assert_eq!(lines_of(&file), Err(told.to_owned()));
    let mut lines = JsonSink::new(Vec::new());
    event::copy(&mut ColumnSource::arrow(&file[..]).unwrap().not_finite(NotFinite::Null), &mut lines).unwrap();
    assert_eq!(lines.into_inner(), b"{\"x\":1.5}\n{\"x\":null}\n");
}

#[test]
fn a_truncated_file_is_an_error() {
    let Some(documents) = golden_files() else { return };
    let ours = options().map(|options| to_arrow(&same::records(), options));
    for file in documents.iter().map(|document| beside(document, ".arrow_file")).chain(ours) {
        let is_file = file.starts_with(b"ARROW1");
        // Ours are of some hundred kilobytes.
        for end in (0..file.len()).step_by(100.max(file.len() / 200)).chain([file.len() - 1]) {
            // A stream may end behind any message.
            assert!(lines_of(&file[..end]).is_err() || !is_file, "{end} of {}", file.len());
        }
    }
}

#[test]
fn damaged_files_neither_panic_nor_take_much_memory() {
    let Some(documents) = golden_files() else { return };
    let ours = options().map(|options| ("ours".to_owned(), to_arrow(&same::records(), options)));
    let golden = documents.iter().map(|document| (document.file_name().to_owned(), beside(document, ".stream")));
    let files: Vec<(String, Vec<u8>)> = golden.chain(ours).collect();
    let read_and_copy = |file: &[u8]| {
        drop(lines_of(file));
        drop(copied(file, ArrowOptions::default()));
        #[cfg(feature = "parquet")]
        drop(copied_to_parquet(file));
    };
    // The longest of all tests of the formats: two threads share the files.
    let half = |first: usize| {
        let damaged = files.iter().skip(first).step_by(2);
        let found = damaged
            .flat_map(|(name, file)| same::damage(file, 400, read_and_copy).map(move |what| format!("{name}: {what}")));
        found.collect::<Vec<_>>()
    };
    let panics = std::thread::scope(|scope| {
        let halves = [scope.spawn(|| half(0)), scope.spawn(|| half(1))];
        halves.map(|half| half.join().unwrap()).concat()
    });
    assert!(panics.is_empty(), "{} panics:\n{}", panics.len(), panics.join("\n"));
    assert!(same::peak_megabytes() < 500, "{} MB", same::peak_megabytes());
}

/// Columns with everything that JSON has no way to tell, as a stream; the last row is right.
fn untold() -> Vec<u8> {
    use arrow_array::builder::{Int32Builder, MapBuilder, StringBuilder};
    use arrow_array::{
        ArrayRef, Float32Array, ListArray, RecordBatch, StringArray, Time64MicrosecondArray, types::Int32Type,
    };
    use arrow_schema::{Field, Schema};
    use std::sync::Arc;
    let day = 86_400_000_000;
    let floats = Float32Array::from(vec![f32::NAN, 1.0, 1.0, 1.0]);
    let times = Time64MicrosecondArray::from(vec![0, day + 500_000, -day, day]);
    let json = StringArray::from(vec!["[1]", "{}", "1,\"x\":2", "{\"a\": null}"]);
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>((0..4).map(|row| Some(vec![Some(row), None])));
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for row in 0..4 {
        maps.keys().append_value("k");
        maps.values().append_value(row);
        maps.append(true).unwrap();
    }
    let arrays: [(&str, ArrayRef); 5] = [
        ("x", Arc::new(floats)),
        ("t", Arc::new(times)),
        ("j", Arc::new(json)),
        ("l", Arc::new(lists)),
        ("m", Arc::new(maps.finish())),
    ];
    let field = |(name, array): &(&str, ArrayRef)| {
        let field = Field::new(*name, array.data_type().clone(), true);
        if *name == "j" {
            let extension = [("ARROW:extension:name".to_owned(), jird_formats::JSON_EXTENSION.to_owned())];
            return field.with_metadata(extension.into());
        }
        field
    };
    let schema = Arc::new(Schema::new(arrays.iter().map(field).collect::<Vec<_>>()));
    let batch = RecordBatch::try_new(schema.clone(), arrays.map(|(_, array)| array).to_vec()).unwrap();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &schema).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn a_value_beyond_json_is_an_error_of_its_record_only() {
    use jird_formats::ErrorKind::{Json, NotFinite, Time};
    let file = untold();
    for by_name in [false, true] {
        let mut source = ColumnSource::arrow(&file[..]).unwrap();
        if by_name {
            source = source.columns(["x", "t", "j", "l", "m"]).unwrap();
        }
        let mut bad = Vec::new();
        let (mut lines, mut record) = (JsonSink::new(Vec::new()), Recording::new());
        loop {
            match source.send_record(&mut record) {
                Ok(false) => break,
                Ok(true) => drop(record.source().send_record(&mut lines).unwrap()),
                Err(Failure::Sink(error, _)) => panic!("{error}"),
                Err(Failure::Source(error)) => {
                    let (kind, column, place) = (error.kind(), error.column().unwrap().to_owned(), error.place());
                    bad.push((
                        kind,
                        column,
                        place.unwrap().record,
                        String::from_utf8(source.bad_record().unwrap()).unwrap(),
                    ));
                }
            }
        }
        let raw = [
            r#"{"x":NaN,"t":"00:00:00","j":[1],"l":[0,null],"m":{"k":0}}"#,
            r#"{"x":1.0,"t":24:00:00.5,"j":{},"l":[1,null],"m":{"k":1}}"#,
            r#"{"x":1.0,"t":-24:00:00,"j":not JSON: "1,\"x\":2","l":[2,null],"m":{"k":2}}"#,
        ];
        let wanted = [(NotFinite, "x", 0, raw[0]), (Time, "t", 1, raw[1]), (Time, "t", 2, raw[2])];
        assert_eq!(bad, wanted.map(|(kind, column, record, raw)| (kind, column.to_owned(), record, raw.to_owned())));
        Sink::finish(&mut lines).unwrap();
        let good = "{\"x\":1.0,\"t\":\"24:00:00\",\"j\":{\"a\":null},\"l\":[3,null],\"m\":{\"k\":3}}\n";
        assert_eq!(String::from_utf8(lines.into_inner()).unwrap(), good);
    }
    // Of one column alone, another is wrong.
    let mut source = ColumnSource::arrow(&file[..]).unwrap().columns(["j"]).unwrap();
    let failed = event::copy(&mut source, &mut JsonSink::new(Vec::new())).unwrap_err();
    assert!(matches!(&failed, Failure::Source(error) if error.kind() == Json), "{failed}");
    assert_eq!(source.bad_record().unwrap(), br#"{"j":not JSON: "1,\"x\":2"}"#);
}
