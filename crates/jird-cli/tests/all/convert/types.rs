//! `jird convert` between Arrow and Parquet: columns keep their types, as the readers of both formats' own project see
//! them.
#![cfg(feature = "convert")]

use crate::folder::{Folder, words};
use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, Decimal128Array, Decimal256Array, DictionaryArray,
    DurationMillisecondArray, FixedSizeBinaryArray, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array,
    Int64Array, IntervalYearMonthArray, LargeStringArray, ListArray, RecordBatch, StringArray, StringViewArray,
    StructArray, Time32SecondArray, Time64NanosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array, UnionArray,
};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Schema, UnionFields};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::HashMap;
use std::sync::Arc;

/// A column of each type, with a null in each.
fn columns() -> Vec<(&'static str, ArrayRef)> {
    let mut lists = ListBuilder::new(Int32Builder::new());
    lists.append_value([Some(1), None]);
    lists.append_null();
    lists.append_value([]);
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    maps.keys().append_value("k");
    maps.values().append_value(7);
    maps.append(true).unwrap();
    maps.append(false).unwrap();
    maps.append(true).unwrap();
    let parts: Vec<(Arc<Field>, ArrayRef)> = vec![
        (Arc::new(Field::new("x", DataType::Int8, true)), Arc::new(Int8Array::from(vec![Some(1), None, Some(3)]))),
        (
            Arc::new(Field::new("day", DataType::Date32, true)),
            Arc::new(Date32Array::from(vec![None, Some(9), Some(9)])),
        ),
    ];
    let wide = Decimal256Array::from_iter([Some(i128::MAX.into()), None, Some(7.into())]);
    let bytes =
        FixedSizeBinaryArray::try_from_sparse_iter_with_size([Some(b"ab"), None, Some(b"\0\xff")].into_iter(), 2);
    vec![
        ("bool", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("i8", Arc::new(Int8Array::from(vec![Some(-1), None, Some(7)]))),
        ("i16", Arc::new(Int16Array::from(vec![Some(-1), None, Some(7)]))),
        ("u8", Arc::new(UInt8Array::from(vec![Some(255), None, Some(7)]))),
        ("u16", Arc::new(UInt16Array::from(vec![Some(u16::MAX), None, Some(7)]))),
        ("u32", Arc::new(UInt32Array::from(vec![Some(u32::MAX), None, Some(7)]))),
        ("u64", Arc::new(UInt64Array::from(vec![Some(u64::MAX), None, Some(7)]))),
        ("f32", Arc::new(Float32Array::from(vec![Some(0.1), None, Some(f32::MAX)]))),
        ("not finite", Arc::new(Float64Array::from(vec![Some(f64::INFINITY), None, Some(f64::NEG_INFINITY)]))),
        (
            "decimal",
            Arc::new(Decimal128Array::from(vec![Some(150), None, Some(-7)]).with_precision_and_scale(12, 2).unwrap()),
        ),
        ("wide", Arc::new(wide.with_precision_and_scale(76, 5).unwrap())),
        ("date", Arc::new(Date32Array::from(vec![Some(19_000), None, Some(-1)]))),
        ("date64", Arc::new(Date64Array::from(vec![Some(86_400_000), None, Some(0)]))),
        ("beyond the day", Arc::new(Time32SecondArray::from(vec![Some(90_000), None, Some(-1)]))),
        ("time64", Arc::new(Time64NanosecondArray::from(vec![Some(1), None, Some(86_399_999_999_999)]))),
        ("second", Arc::new(TimestampSecondArray::from(vec![Some(1), None, Some(-1)]).with_timezone("UTC"))),
        ("ms", Arc::new(TimestampMillisecondArray::from(vec![Some(1), None, Some(2)]).with_timezone("Europe/Prague"))),
        ("ns", Arc::new(TimestampNanosecondArray::from(vec![Some(1), None, Some(i64::MAX)]))),
        ("duration", Arc::new(DurationMillisecondArray::from(vec![Some(1), None, Some(-1)]))),
        ("months", Arc::new(IntervalYearMonthArray::from(vec![Some(14), None, Some(0)]))),
        ("large", Arc::new(LargeStringArray::from(vec![Some("a"), None, Some("")]))),
        ("view", Arc::new(StringViewArray::from(vec![Some("a text of more than twelve bytes"), None, Some("")]))),
        ("binary", Arc::new(BinaryArray::from(vec![Some(&b"\xff"[..]), None, Some(b"")]))),
        ("fixed", Arc::new(bytes.unwrap())),
        ("dictionary", Arc::new([Some("b"), None, Some("a")].into_iter().collect::<DictionaryArray<Int8Type>>())),
        ("list", Arc::new(lists.finish())),
        ("map", Arc::new(maps.finish())),
        ("struct", Arc::new(StructArray::from(parts))),
    ]
}

/// A batch with metadata of its own, and a column that is never null.
fn table() -> RecordBatch {
    let columns = columns();
    let fields = columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true));
    let mut fields: Vec<Field> = fields.collect();
    fields.insert(0, Field::new("id", DataType::Int64, false));
    let schema = Schema::new_with_metadata(fields, HashMap::from([("made by".to_owned(), "hand".to_owned())]));
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let arrays = [ids].into_iter().chain(columns.into_iter().map(|(_, array)| array)).collect();
    RecordBatch::try_new(Arc::new(schema), arrays).unwrap()
}

fn arrow(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

fn stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

fn parquet(batches: &[RecordBatch]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batches[0].schema(), None).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();
    file
}

/// The batches of a file, by the formats' own readers.
fn read(folder: &Folder, name: &str) -> Vec<RecordBatch> {
    let file = std::fs::File::open(folder.0.join(name)).unwrap();
    if name.ends_with(".parquet") {
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let schema = reader.schema().clone();
        // The batches themselves lack the metadata of the schema.
        let batch = |batch: Result<RecordBatch, _>| batch.unwrap().with_schema(schema.clone()).unwrap();
        reader.build().unwrap().map(batch).collect()
    } else if name.ends_with(".arrows") {
        StreamReader::try_new(file, None).unwrap().map(Result::unwrap).collect()
    } else {
        FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect()
    }
}

#[test]
fn every_type_survives_between_arrow_and_parquet() {
    let table = table();
    let folder = Folder::new("types")
        .with("t.arrow", arrow(std::slice::from_ref(&table)))
        .with("s.arrows", stream(std::slice::from_ref(&table)))
        .with("t.parquet", parquet(std::slice::from_ref(&table)));
    for from in ["t.arrow", "s.arrows", "t.parquet"] {
        for to in ["out.arrow", "out.parquet"] {
            folder.fine(&[from, to]);
            let got = read(&folder, to);
            assert_eq!(got[0].schema(), table.schema(), "{from} to {to}");
            assert_eq!(got, std::slice::from_ref(&table), "{from} to {to}");
        }
    }
}

#[test]
fn selected_columns_and_the_first_rows_keep_their_types() {
    let table = table();
    let folder = Folder::new("types-some").with("t.arrow", arrow(&[table.clone(), table.clone()]));
    folder.fine(&["--select", "date,i8", "--limit", "4", "t.arrow", "out.parquet"]);
    let got = read(&folder, "out.parquet");
    let wanted = table.project(&[table.schema().index_of("date").unwrap(), table.schema().index_of("i8").unwrap()]);
    let (got, wanted) = (&got[0], wanted.unwrap());
    assert_eq!(got.schema(), wanted.schema());
    assert_eq!((got.slice(0, 3), got.slice(3, 1)), (wanted.clone(), wanted.slice(0, 1)));
    // Several inputs, one after the other.
    folder.fine(&["--select", "date,i8", "t.arrow", "out.parquet", "both.arrow"]);
    assert_eq!(read(&folder, "both.arrow").iter().map(RecordBatch::num_rows).sum::<usize>(), 10);
    let none = folder.run(&["--select", "none", "t.arrow", "none.parquet"]);
    assert!(none.status.code() == Some(2) && words(&none).contains("\"none\""), "{}", words(&none));
}

/// A batch whose dictionary is its own, also within a list.
fn coded(texts: &[Option<&str>]) -> RecordBatch {
    let codes: ArrayRef = Arc::new(texts.iter().copied().collect::<DictionaryArray<Int8Type>>());
    let field = Arc::new(Field::new_list_field(codes.data_type().clone(), true));
    let of_one = ListArray::from_iter_primitive::<Int32Type, _, _>(texts.iter().map(|_| Some([Some(0)])));
    let lists = ListArray::new(field, of_one.offsets().clone(), codes.clone(), None);
    RecordBatch::try_from_iter_with_nullable([("code", codes, true), ("codes", Arc::new(lists) as ArrayRef, true)])
        .unwrap()
}

fn texts(batch: &RecordBatch, column: usize) -> Vec<Option<String>> {
    let array = batch.column(column);
    let array = array.as_list_opt::<i32>().map_or(array.clone(), |list| list.values().clone());
    let codes = array.as_dictionary::<Int8Type>().downcast_dict::<StringArray>().unwrap();
    codes.into_iter().map(|text| text.map(str::to_owned)).collect()
}

#[test]
fn batches_with_dictionaries_of_their_own_become_a_file_with_one() {
    let rows = [[Some("a"), Some("b"), None], [Some("c"), Some("a"), Some("d")], [None, None, None]];
    let batches = rows.map(|texts| coded(&texts));
    let folder = Folder::new("types-codes").with("s.arrows", stream(&batches)).with("t.parquet", parquet(&batches));
    for from in ["s.arrows", "t.parquet"] {
        folder.fine(&[from, "out.arrow"]);
        let got = read(&folder, "out.arrow");
        assert_eq!(got[0].schema(), batches[0].schema());
        for column in 0..2 {
            let got: Vec<_> = got.iter().flat_map(|batch| texts(batch, column)).collect();
            let wanted: Vec<_> = rows.concat().into_iter().map(|text| text.map(str::to_owned)).collect();
            assert_eq!(got, wanted, "{from}, column {column}");
        }
        assert_eq!(folder.fine(&["out.arrow", "-"]), folder.fine(&[from, "-"]));
    }
    // Keys of eight bits count 128 values.
    let many = [0..100, 100..200].map(|range: std::ops::Range<u32>| {
        let texts: Vec<String> = range.map(|number| number.to_string()).collect();
        coded(&texts.iter().map(|text| Some(&**text)).collect::<Vec<_>>())
    });
    let folder = folder.with("many.arrows", stream(&many));
    let output = folder.run(&["many.arrows", "many.arrow"]);
    assert!(words(&output).contains("more values than its keys can count"), "{}", words(&output));
    assert!(!folder.names().contains(&"many.arrow".to_owned()));
}

#[test]
fn a_type_that_parquet_lacks_is_told() {
    let fields: UnionFields = [(0, Arc::new(Field::new("n", DataType::Int32, true)))].into_iter().collect();
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![5]));
    let union = UnionArray::try_new(fields, vec![0_i8].into(), None, vec![numbers]).unwrap();
    let days: ArrayRef = Arc::new(Date32Array::from(vec![1]));
    let batch = RecordBatch::try_from_iter([("either", Arc::new(union) as ArrayRef), ("day", days)]).unwrap();
    let folder = Folder::new("types-union").with("t.arrow", arrow(std::slice::from_ref(&batch)));
    let output = folder.run(&["t.arrow", "out.parquet"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(words(&output).starts_with("jird: note: Parquet has no type for the column \"either\""), "{output:?}");
    assert_eq!(folder.fine(&["out.parquet", "-"]), "{\"either\":5,\"day\":\"1970-01-02\"}\n");
    folder.fine(&["t.arrow", "copy.arrow"]);
    assert_eq!(read(&folder, "copy.arrow"), [batch]);
}

#[test]
fn inputs_with_other_columns_are_told() {
    let one = RecordBatch::try_from_iter([("a", Arc::new(Date32Array::from(vec![1])) as ArrayRef)]).unwrap();
    let other = TimestampMillisecondArray::from(vec![1]);
    let other = RecordBatch::try_from_iter([("a", Arc::new(other) as ArrayRef)]).unwrap();
    let folder = Folder::new("types-two").with("1.arrow", arrow(&[one])).with("2.arrow", arrow(&[other]));
    let output = folder.run(&["1.arrow", "2.arrow", "out.parquet"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(words(&output), "jird: note: the inputs have different columns, whose types are found anew\n");
    assert_eq!(folder.fine(&["out.parquet", "-"]).lines().count(), 2);
}

/// Objects and arrays that are alike, and some that are not.
const NESTED: &str = r#"{"id":1,"who":{"name":"A","age":3},"tags":["x",null],"points":[{"x":1.5},{"x":2}],"odd":{"a":1},"empty":[]}
{"id":2,"who":null,"tags":[],"points":null,"odd":[1],"empty":[]}
{"id":3,"who":{"age":18446744073709551615,"deep":[[1],[]],"any":{}},"tags":["y"],"points":[{"x":null,"y":"\u0000"}],"odd":"s","empty":[]}
"#;

#[test]
fn objects_and_arrays_become_structs_and_lists_on_request() {
    let folder = Folder::new("types-nested").with("a.ndjson", NESTED);
    for to in ["out.arrow", "out.parquet"] {
        folder.fine(&["--nested", "types", "a.ndjson", to]);
        let got = read(&folder, to);
        let of = |name: &str| got[0].schema().field_with_name(name).unwrap().data_type().clone();
        let list = |field: Field| DataType::List(Arc::new(field.with_name("item")));
        let field = |name: &str, data_type| Field::new(name, data_type, true);
        let json = |name: &str| jird_formats::ColumnType::Json.field(name);
        assert_eq!(of("tags"), list(field("", DataType::Utf8)));
        let deep = list(field("", list(field("", DataType::Int64))));
        let who = [
            field("name", DataType::Utf8),
            field("age", DataType::UInt64),
            field("deep", deep),
            // Objects without keys have no type.
            json("any"),
        ];
        assert_eq!(of("who"), DataType::Struct(who.into_iter().collect()));
        let point = DataType::Struct([field("x", DataType::Float64), field("y", DataType::Utf8)].into_iter().collect());
        assert_eq!(of("points"), list(field("", point)));
        for name in ["odd", "empty"] {
            assert_eq!(got[0].schema().field_with_name(name).unwrap(), &json(name));
        }
        let whole = NESTED
            .replace("\"age\":3}", "\"age\":3,\"deep\":null,\"any\":null}")
            .replace("{\"age\":1844", "{\"name\":null,\"age\":1844")
            .replace("{\"x\":1.5},{\"x\":2}", "{\"x\":1.5,\"y\":null},{\"x\":2.0,\"y\":null}");
        assert_eq!(folder.fine(&[to, "-"]), whole);
        // Without the option, the same columns are JSON text.
        folder.fine(&["a.ndjson", to]);
        assert_eq!(read(&folder, to)[0].schema().field_with_name("who").unwrap(), &json("who"));
    }
    let refused = folder.run(&["--nested", "types", "a.ndjson", "out.csv"]);
    assert!(refused.status.code() == Some(2) && words(&refused).contains("only Arrow and Parquet"), "{refused:?}");
}

#[test]
fn a_late_field_of_a_struct_gets_its_place_and_keys_without_end_stay_json() {
    let line = |id: u32| match id {
        4999 => "{\"a\":{\"n\":\"late\",\"new\":[1]},\"map\":{\"k4999\":1}}\n".to_owned(),
        id => format!("{{\"a\":{{\"n\":{id}}},\"map\":{{\"k{id}\":1}}}}\n"),
    };
    let text: String = (0..5000).map(line).collect();
    let folder = Folder::new("types-late").with("a.ndjson", &text);
    folder.fine(&["--nested", "types", "a.ndjson", "a.parquet"]);
    let schema = read(&folder, "a.parquet")[0].schema();
    assert!(matches!(schema.field(0).data_type(), DataType::Struct(fields) if fields.len() == 2), "{schema}");
    assert_eq!(schema.field(1), &jird_formats::ColumnType::Json.field("map"));
    let back = folder.fine(&["a.parquet", "-"]);
    assert!(back.starts_with("{\"a\":{\"n\":0,\"new\":null},\"map\":{\"k0\":1}}\n"), "{}", &back[..80]);
    assert!(back.ends_with("{\"a\":{\"n\":\"late\",\"new\":[1]},\"map\":{\"k4999\":1}}\n"));
}
