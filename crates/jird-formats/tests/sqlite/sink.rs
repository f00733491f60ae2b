//! Tables as sinks: what is in them afterwards.

use crate::{Task, check_integrity, fill, lines, made, memory, schema, stored, try_lines};
use jird::Number;
use jird::event::{self, Interest, JsonSource, Key, Numeral, Place, Sink, Timestamp};
use jird_formats::ErrorKind;
use jird_formats::sqlite::rusqlite::limits::Limit;
use jird_formats::sqlite::rusqlite::types::Value as Stored;
use jird_formats::sqlite::{Definition, Inserter, SqliteQuery, SqliteReport, SqliteSink, tables};
use jird_formats::{Rows, Schema};

/// Values that come back as the text that they were.
const EXACT: [&str; 26] = [
    "9223372036854775807",
    "-9223372036854775808",
    "9007199254740993",
    "0",
    "-1",
    "0.1",
    "1e+22",
    "1e-7",
    "26.0067",
    "-0.0",
    "1.7976931348623157e+308",
    "5e-324",
    "\"\"",
    "\"\\u0000\"",
    "\"a\\u0000b\"",
    "\"\u{1f600}\"",
    "\"12\"",
    "\"1e5\"",
    "\"null\"",
    "null",
    "[]",
    "{}",
    "[1,{\"a\":[null,true,1.50,18446744073709551616]}]",
    "{\"a\":{\"b\":\"\\u0000\"}}",
    "\"[1]\"",
    "\" \"",
];

#[test]
fn values_come_back_as_they_were() {
    for value in EXACT {
        let record = format!("{{\"a\":{value}}}\n");
        let conn = memory();
        let report = fill(&record, SqliteSink::create(&conn, "t")).unwrap();
        assert_eq!(report, SqliteReport { rows: 1, ..SqliteReport::default() }, "{value}");
        let mut query = SqliteQuery::table(&conn, "t").unwrap().as_declared();
        assert_eq!(try_lines(&mut query).unwrap(), record, "{}", schema(&conn, "t"));
        check_integrity(&conn);
    }
    // And all in one column, whose type they change again and again, but for what is nested.
    let flat = EXACT.iter().filter(|value| !value.starts_with(['[', '{']));
    let records = flat.map(|value| format!("{{\"a\":{value}}}\n")).collect::<Vec<String>>().concat();
    for rows in [1, 2, 7, 100] {
        let conn = memory();
        fill(&records, SqliteSink::create(&conn, "t").rows_per_statement(rows)).unwrap();
        assert_eq!(lines(&conn, "select * from t"), records);
        assert_eq!(schema(&conn, "t"), "CREATE TABLE \"t\" (\"a\")");
    }
}

#[test]
fn numbers_that_a_table_does_not_have_are_texts_of_the_same_digits() {
    let exact = [
        "9223372036854775808",
        "18446744073709551616",
        "0.1000000000000000055",
        "1e400",
        "1e-400",
        "-9223372036854775809",
    ];
    let records = exact.iter().map(|value| format!("{{\"a\":{value}}}\n")).collect::<Vec<String>>().concat();
    let conn = memory();
    let report = fill(&records, SqliteSink::create(&conn, "t")).unwrap();
    assert_eq!((report.rows, report.exact_as_text, report.converted), (6, 6, 0));
    let texts: Vec<_> = exact.iter().map(|text| Stored::Text((*text).into())).collect();
    assert_eq!(stored(&conn, "select a from t"), texts);
    // The same value, written otherwise.
    let conn = memory();
    let report = fill("{\"a\":1.10} {\"a\":1E2} {\"a\":true} {\"a\":-0}", SqliteSink::create(&conn, "t")).unwrap();
    assert_eq!(report.exact_as_text, 0);
    let values = [Stored::Real(1.1), Stored::Real(100.0), Stored::Integer(1), Stored::Integer(0)];
    assert_eq!(stored(&conn, "select a from t"), values);
}

#[test]
fn rows_buffered_for_one_statement_keep_their_values() {
    // Large and small texts by turns, and a key that comes late and is missing in every other record.
    let (mut records, mut wanted) = (Vec::new(), Vec::new());
    for index in 0..400 {
        let text = "x".repeat(if index % 37 == 5 { 90_000 } else { index * 31 % 3000 });
        let row = format!("{{\"id\":{index},\"text\":\"{index} {text}\",\"half\":{index}.5");
        let late = if index > 150 && index % 2 == 0 { format!("[{index}]") } else { "null".to_owned() };
        let full = format!("{row},\"late\":{late}}}\n");
        records.push(if late == "null" { format!("{row}}}\n") } else { full.clone() });
        wanted.push(full);
    }
    let (records, wanted) = (records.concat(), wanted.concat());
    for rows in [1, 7, 100] {
        let conn = memory();
        fill(&records, SqliteSink::create(&conn, "t").rows_per_statement(rows)).unwrap();
        let mut query = SqliteQuery::table(&conn, "t").unwrap().as_declared();
        assert!(try_lines(&mut query).unwrap() == wanted, "{rows}");
        // Missing is distinguished, so that rows wait for those with the same keys.
        fill(&records, SqliteSink::upsert(&conn, "u", ["id"]).rows_per_statement(rows)).unwrap();
        let mut query = SqliteQuery::table(&conn, "u").unwrap().json_columns(["late"]).unwrap();
        assert!(try_lines(&mut query).unwrap() == wanted, "{rows}");
    }
}

#[test]
fn columns_declared_json_get_every_value_as_it_was_written() {
    let conn = made("create table t (a json text, value json text)");
    let records = r#"{"a":1.50} {"a":-0} {"a":"1.50"} {"a":null} {"a":true} {"a":[1.0]} 2.50"#;
    let report = fill(records, SqliteSink::append(&conn, "t").json_declared()).unwrap();
    assert_eq!((report.converted, report.exact_as_text), (0, 0));
    let text = |text: &str| Stored::Text(text.to_owned());
    let wanted = [text("1.50"), text("-0"), text("\"1.50\""), Stored::Null, text("true"), text("[1.0]"), Stored::Null];
    assert_eq!(stored(&conn, "select a from t"), wanted);
    assert_eq!(stored(&conn, "select value from t where value is not null"), [text("2.50")]);
}

#[test]
fn values_beyond_json_are_stored_and_abandoned_rows_are_not() {
    let conn = made("create table t (a, b json)");
    let mut rows = SqliteSink::append(&conn, "t").json_declared().into_rows();
    let mut record = |is_complete: bool, send: &dyn Fn(&mut Rows<SqliteSink<'_>>)| {
        rows.begin_record(Place::default()).unwrap();
        rows.begin_object().unwrap();
        for key in ["a", "b"] {
            assert_eq!(rows.key(Key::new(key)).unwrap(), Interest::Take);
            send(&mut rows);
        }
        if is_complete {
            rows.end_object().unwrap();
            rows.end_record().unwrap();
        }
    };
    let time = Timestamp { seconds: 0, nanoseconds: 0, is_utc: true };
    record(true, &|rows| rows.timestamp(time).unwrap());
    record(true, &|rows| rows.bytes(b"Hello").unwrap());
    record(false, &|rows| rows.number(Numeral::Text(Number::new("1e400").unwrap())).unwrap());
    record(true, &|rows| rows.number(Numeral::U64(u64::MAX)).unwrap());
    record(true, &|rows| rows.number(Numeral::U64(7)).unwrap());
    rows.finish().unwrap();
    assert_eq!(rows.table().report().exact_as_text, 1);
    let text = |text: &str| Stored::Text(text.to_owned());
    let wanted = [
        [text("1970-01-01T00:00:00Z"), text("\"1970-01-01T00:00:00Z\"")],
        [Stored::Blob(b"Hello".to_vec()), text("\"SGVsbG8=\"")],
        // The column's type makes a double of the digits, which is not told of columns of JSON.
        [text("18446744073709551615"), Stored::Real(18_446_744_073_709_551_615.0)],
        [Stored::Integer(7), Stored::Integer(7)],
    ];
    assert_eq!(stored(&conn, "select a, b from t"), wanted.concat());
}

#[test]
fn a_schema_keeps_what_is_mixed_and_nested() {
    let records = "{\"a\":1,\"b\":-0.0,\"c\":true}\n{\"a\":\"1\",\"b\":1.10,\"c\":1}\n{\"a\":[1],\"b\":2.5,\"c\":null}\n{\"a\":1e400,\"b\":3.5,\"c\":\"\"}\n";
    let mut seen = Rows::new(Schema::default());
    event::copy(&mut JsonSource::from_slice(records.as_bytes()), &mut seen).unwrap();
    let conn = memory();
    let definition = Definition::of_schema("t", seen.table());
    fill(records, SqliteSink::create(&conn, "t").define(definition)).unwrap();
    assert_eq!(schema(&conn, "t"), "CREATE TABLE \"t\" (\"a\" JSON TEXT, \"b\", \"c\" JSON TEXT)");
    let back = try_lines(&mut SqliteQuery::table(&conn, "t").unwrap().as_declared()).unwrap();
    assert_eq!(back, records.replace("1.10", "1.1"));
}

#[test]
fn types_are_declared_by_all_values() {
    let check = |records: &str, declared: &str| {
        let conn = memory();
        fill(records, SqliteSink::create(&conn, "t")).unwrap();
        assert_eq!(schema(&conn, "t"), format!("CREATE TABLE \"t\" ({declared})"), "{records}");
        check_integrity(&conn);
        // What is declared is what SQLite goes by from now on.
        fill(records, SqliteSink::append(&conn, "t")).unwrap();
    };
    check("{\"a\":1} {\"a\":true} {\"a\":null}", "\"a\" INTEGER");
    check("{\"a\":1.5} {\"a\":2.0}", "\"a\" REAL");
    check("{\"a\":1.5} {\"a\":2}", "\"a\" NUMERIC");
    check("{\"a\":1.5} {\"a\":-0.0}", "\"a\"");
    check("{\"a\":1} {\"a\":-0.0}", "\"a\"");
    check("{\"a\":\"x\"} {\"a\":9223372036854775808}", "\"a\" TEXT");
    check("{\"a\":1} {\"a\":\"12\"}", "\"a\"");
    check("{\"a\":\"12\"} {\"a\":1}", "\"a\"");
    check("{\"a\":[1]} {\"b\":{}}", "\"a\" JSON TEXT, \"b\" JSON TEXT");
    check("{\"a\":[1]} {\"a\":\"x\"}", "\"a\" TEXT");
    check("{\"a\":null} {}", "\"a\"");
    check("{} {} 7", "\"value\" INTEGER");
    check("{}", "\"value\"");
}

#[test]
fn a_table_without_rows_is_not_made_unless_it_is_defined() {
    let conn = memory();
    fill("", SqliteSink::create(&conn, "t")).unwrap();
    assert!(tables(&conn).unwrap().is_empty());
    let definition = Definition::of::<Task>("other name").unwrap();
    fill("", SqliteSink::create(&conn, "t").define(definition)).unwrap();
    assert_eq!(tables(&conn).unwrap(), ["t"]);
    assert_eq!(fill("", SqliteSink::create(&conn, "t")).unwrap_err().kind(), ErrorKind::Exists);
    fill("{\"id\":1,\"title\":\"x\",\"done\":true}", SqliteSink::append(&conn, "t")).unwrap();
    fill("", SqliteSink::replace(&conn, "t")).unwrap();
    assert_eq!(lines(&conn, "select count(*) as n from t"), "{\"n\":0}\n");
}

#[test]
fn late_keys_get_columns() {
    let late = (0..250)
        .map(|index| format!("{{\"k{}\":{index},\"id\":{index}}}\n", index / 10))
        .collect::<Vec<String>>()
        .concat();
    for rows in [1, 3, 100] {
        let conn = memory();
        fill(&late, SqliteSink::create(&conn, "t").rows_per_statement(rows)).unwrap();
        let found =
            lines(&conn, "select id, coalesce(k0, k1, k12, k24, -1) as k from t where id in (9, 19, 30, 129, 249)");
        let wanted = "{\"id\":9,\"k\":9}\n{\"id\":19,\"k\":19}\n{\"id\":30,\"k\":-1}\n{\"id\":129,\"k\":129}\n{\"id\":249,\"k\":249}\n";
        assert_eq!(found, wanted);
        let counted =
            lines(&conn, "select count(*) as n, count(k0) as a, count(k1) as b, sum(k9) as c, sum(k24) as d from t");
        assert_eq!(counted, "{\"n\":250,\"a\":10,\"b\":10,\"c\":945,\"d\":2445}\n");
        assert!(schema(&conn, "t").ends_with("\"k23\" INTEGER, \"k24\" INTEGER)"), "{}", schema(&conn, "t"));
        check_integrity(&conn);
    }
}

#[test]
fn keys_that_differ_in_case_are_told_apart() {
    let conn = memory();
    let record = "{\"Id\":1,\"id\":2,\"ID\":3,\"id_2\":4,\"a\\u0000\":5,\"_\":6}";
    let report = fill(record, SqliteSink::create(&conn, "t")).unwrap();
    let renamed = [("id", "id_2"), ("ID", "ID_3"), ("id_2", "id_2_2"), ("a\0", "a\u{fffd}")];
    assert_eq!(report.renamed, renamed.map(|(key, name)| (key.to_owned(), name.to_owned())));
    assert_eq!(
        lines(&conn, "select * from t"),
        "{\"Id\":1,\"id_2\":2,\"ID_3\":3,\"id_2_2\":4,\"a\u{fffd}\":5,\"_\":6}\n"
    );
    // A table's own column is found in any case, if no other key has it.
    let conn = made("create table t (Id)");
    let report = fill("{\"id\":1} {\"ID\":2}", SqliteSink::append(&conn, "t")).unwrap();
    assert_eq!((report.added.as_slice(), report.renamed.len()), (["ID_2".to_owned()].as_slice(), 1));
}

#[test]
fn the_first_value_of_a_repeated_key_counts() {
    let conn = memory();
    fill("{\"a\":1,\"a\":2}", SqliteSink::create(&conn, "t")).unwrap();
    assert_eq!(lines(&conn, "select * from t"), "{\"a\":1}\n");
}

#[test]
fn more_columns_than_sqlite_allows_are_an_error() {
    let record = |count| {
        let members: Vec<_> = (0..count).map(|index| format!("\"k{index}\":{index}")).collect();
        format!("{{{}}}", members.join(","))
    };
    let conn = memory();
    fill(&record(2000), SqliteSink::create(&conn, "t")).unwrap();
    let error = fill(&record(2001), SqliteSink::create(&conn, "u")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Columns);
    assert_eq!(error.to_string(), "the table \"u\" would have more than 2000 columns");
    let error = fill("{\"late\":1}", SqliteSink::append(&conn, "t")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Columns);
    assert_eq!(tables(&conn).unwrap(), ["t"]);
    conn.set_limit(Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 10).unwrap();
    assert_eq!(fill(&record(11), SqliteSink::create(&conn, "u")).unwrap_err().kind(), ErrorKind::Columns);
    fill(&record(10).repeat(25), SqliteSink::create(&conn, "u").rows_per_statement(1000)).unwrap();
    assert_eq!(lines(&conn, "select count(*) as n from u"), "{\"n\":25}\n");
}

#[test]
fn an_existing_table_is_refused_appended_to_or_replaced() {
    let conn = memory();
    let filled = |sink| fill("{\"id\":1,\"a\":\"x\"} {\"id\":2}", sink);
    filled(SqliteSink::create(&conn, "T")).unwrap();
    let error = filled(SqliteSink::create(&conn, "t")).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Exists, "the table \"t\" already exists"));
    assert!(conn.is_autocommit());
    filled(SqliteSink::append(&conn, "T")).unwrap();
    assert_eq!(lines(&conn, "select count(*) as n, count(a) as a from T"), "{\"n\":4,\"a\":2}\n");
    fill("{\"b\":1}", SqliteSink::replace(&conn, "T")).unwrap();
    assert_eq!(lines(&conn, "select * from T"), "{\"b\":1}\n");
    filled(SqliteSink::append(&conn, "new")).unwrap();
    assert_eq!(lines(&conn, "select * from new"), "{\"id\":1,\"a\":\"x\"}\n{\"id\":2,\"a\":null}\n");
    conn.execute_batch("create view v as select 1 as a").unwrap();
    for sink in [SqliteSink::create(&conn, "v"), SqliteSink::append(&conn, "v"), SqliteSink::replace(&conn, "v")] {
        assert_eq!(filled(sink).unwrap_err().to_string(), "\"v\" is a view, and cannot be written to");
    }
    assert!(Inserter::<Task>::new(&conn, "v").is_err());
}

#[test]
fn rows_are_updated_by_key() {
    for rows in [1, 2, 100] {
        let conn = memory();
        let upsert = |text: &str| fill(text, SqliteSink::upsert(&conn, "t", ["id"]).rows_per_statement(rows));
        upsert("{\"a\":\"x\",\"id\":1,\"b\":1} {\"id\":2,\"a\":\"y\"} {\"id\":1,\"a\":\"z\"} {\"id\":\"1\",\"b\":0}")
            .unwrap();
        // A key that is missing keeps its column; null does not.
        let wanted =
            "{\"a\":\"z\",\"id\":1,\"b\":1}\n{\"a\":\"y\",\"id\":2,\"b\":null}\n{\"a\":null,\"id\":\"1\",\"b\":0}\n";
        assert_eq!(lines(&conn, "select * from t"), wanted);
        upsert("{\"id\":1,\"a\":null,\"c\":[]} {\"id\":2} {\"id\":3}").unwrap();
        let wanted = "{\"a\":null,\"id\":1,\"b\":1,\"c\":\"[]\"}\n{\"a\":\"y\",\"id\":2,\"b\":null,\"c\":null}\n";
        assert_eq!(lines(&conn, "select * from t where typeof(id) = 'integer' and id < 3"), wanted);
        for text in ["{\"a\":1}", "{\"id\":null}", "7"] {
            assert_eq!(upsert(text).unwrap_err().to_string(), "a record has no value for the key \"id\"", "{text}");
        }
        check_integrity(&conn);
    }
    // A key of integers is not the row number, though it could be.
    let conn = memory();
    fill("{\"id\":7,\"a\":1} {\"id\":3,\"a\":2} {\"id\":7,\"a\":3}", SqliteSink::upsert(&conn, "t", ["id"])).unwrap();
    assert_eq!(lines(&conn, "select * from t where id = 7"), "{\"id\":7,\"a\":3}\n");
    assert_eq!(schema(&conn, "t"), "CREATE TABLE \"t\" (\"id\" PRIMARY KEY, \"a\" INTEGER)");
    check_integrity(&conn);
    // Two columns, and the key alone.
    let conn = memory();
    fill("{\"a\":1,\"b\":2} {\"b\":2,\"a\":1} {\"a\":1,\"b\":3}", SqliteSink::upsert(&conn, "t", ["a", "b"])).unwrap();
    assert_eq!(lines(&conn, "select * from t"), "{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":3}\n");
    // A table without such an index.
    let conn = made("create table t (id, a)");
    let error = fill("{\"id\":1}", SqliteSink::upsert(&conn, "t", ["id"])).unwrap_err();
    assert!(error.to_string().contains("ON CONFLICT clause does not match"), "{error}");
}

#[test]
fn rows_are_inserted_into_an_existing_table() {
    let conn = made(
        "create table t (id integer primary key, name text not null default 'none', n integer default 7,
                         twice as (n * 2), check (n < 100));
         create table w (k text primary key, v) without rowid;
         create table s (a integer, b any, c text) strict",
    );
    // What is missing gets its default, what is null does not.
    let append = |table, text: &str| fill(text, SqliteSink::append(&conn, table));
    append("t", "{\"id\":5} {\"name\":\"x\"} {\"n\":null} {\"id\":9,\"n\":1,\"name\":\"y\"}").unwrap();
    let wanted = "{\"id\":5,\"name\":\"none\",\"n\":7,\"twice\":14}\n{\"id\":6,\"name\":\"x\",\"n\":7,\"twice\":14}\n\
                  {\"id\":7,\"name\":\"none\",\"n\":null,\"twice\":null}\n{\"id\":9,\"name\":\"y\",\"n\":1,\"twice\":2}\n";
    assert_eq!(lines(&conn, "select * from t"), wanted);
    let error = append("t", "{\"name\":\"a\"} {\"name\":\"b\"} {\"name\":null} {\"name\":\"c\"}").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Constraint);
    assert!(error.to_string().contains("NOT NULL constraint failed: t.name, in record 3 at line 1 (byte "), "{error}");
    let error = append("t", "{\"n\":100}").unwrap_err();
    assert!(error.to_string().contains("CHECK constraint failed"), "{error}");
    let error = append("t", "{\"twice\":1}").unwrap_err();
    assert_eq!(error.to_string(), "the column \"twice\" of \"t\" is generated");
    assert_eq!(lines(&conn, "select * from t"), wanted);

    append("w", "{\"k\":\"a\",\"v\":1} {\"v\":[1],\"k\":\"b\"}").unwrap();
    assert_eq!(append("w", "{\"k\":\"a\"}").unwrap_err().kind(), ErrorKind::Constraint);
    append("s", "{\"a\":1,\"b\":\"12\",\"c\":\"x\"} {\"b\":1.5}").unwrap();
    assert_eq!(lines(&conn, "select b from s"), "{\"b\":\"12\"}\n{\"b\":1.5}\n");
    assert_eq!(append("s", "{\"a\":\"x\"}").unwrap_err().kind(), ErrorKind::Constraint);

    let report = append("w", "{\"k\":\"c\",\"late\":1}").unwrap();
    assert_eq!(report.added, ["late"]);
    let error = fill("{\"k\":\"d\",\"later\":1}", SqliteSink::append(&conn, "w").refuse_new_columns()).unwrap_err();
    assert_eq!(error.to_string(), "the table \"w\" has no column \"later\"");
    assert_eq!(lines(&conn, "select count(*) as n, sum(late) as late from w"), "{\"n\":3,\"late\":1}\n");
}

#[test]
fn values_that_a_column_would_change_are_refused_or_counted() {
    let conn = made("create table t (i integer, r real, s text, n decimal(10, 2))");
    for (text, what) in [
        ("{\"i\":\"12\"}", "the text \"12\" would change in the column \"i\" of \"t\""),
        ("{\"r\":\" 1e5 \"}", "the text \" 1e5 \" would change in the column \"r\" of \"t\""),
        ("{\"s\":12}", "the integer 12 would change in the column \"s\" of \"t\""),
        ("{\"r\":9007199254740993}", "the integer 9007199254740993 would change in the column \"r\" of \"t\""),
        ("{\"n\":18446744073709551616}", "the text \"18446744073709551616\" would change in the column \"n\" of \"t\""),
    ] {
        let error = fill(text, SqliteSink::append(&conn, "t")).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.kind()), (what, ErrorKind::Unfit));
        let report = fill(text, SqliteSink::append(&conn, "t").convert()).unwrap();
        assert_eq!(report.converted, 1, "{text}");
    }
    conn.execute_batch("delete from t").unwrap();
    let report =
        fill("{\"i\":1.5,\"r\":3,\"s\":\"12\",\"n\":2.0} {\"r\":-0.0}", SqliteSink::append(&conn, "t")).unwrap();
    assert_eq!(report.converted, 1);
    assert_eq!(
        stored(&conn, "select * from t limit 1"),
        [Stored::Real(1.5), Stored::Real(3.0), Stored::Text("12".into()), Stored::Integer(2)]
    );
}
