//! Tables as sources and sinks.
#![cfg(feature = "sqlite")]

#[path = "../../jird/tests/common/mod.rs"]
mod common;

use jird::event::{self, Failure, Interest, JsonSink, JsonSource, Key, Numeral, Objects, Sink, Source};
use jird_formats::sqlite::rusqlite::config::DbConfig;
use jird_formats::sqlite::rusqlite::types::Value as Stored;
use jird_formats::sqlite::rusqlite::{Connection, limits::Limit};
use jird_formats::sqlite::{
    Definition, Inserter, SqliteError, SqliteErrorKind, SqliteQuery, SqliteReport, SqliteSink, StorageType, create_for,
    describe_rust, open, open_read_only, tables, tables_and_views,
};
use jird_formats::{Rows, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

fn memory() -> Connection {
    Connection::open_in_memory().unwrap()
}

fn made(sql: &str) -> Connection {
    let conn = memory();
    conn.execute_batch(sql).unwrap();
    conn
}

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sqlite").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes records into a table.
fn fill(text: &str, sink: SqliteSink<'_>) -> Result<SqliteReport, SqliteError> {
    let mut rows = sink.into_rows();
    match event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut rows) {
        Ok(()) => Ok(rows.table().report().clone()),
        Err(Failure::Sink(error, _)) => Err(error),
        Err(Failure::Source(error)) => panic!("{error}"),
    }
}

fn try_lines(query: &mut SqliteQuery<'_>) -> Result<String, SqliteError> {
    let mut json = JsonSink::new(Vec::new());
    match event::copy(&mut query.source(), &mut json) {
        Ok(()) => Ok(String::from_utf8(json.into_inner()).unwrap()),
        Err(Failure::Source(error)) => Err(error),
        Err(Failure::Sink(error, _)) => panic!("{error}"),
    }
}

/// What a query finds, as lines of JSON.
fn lines(conn: &Connection, sql: &str) -> String {
    try_lines(&mut SqliteQuery::select(conn, sql).unwrap()).unwrap()
}

fn schema(conn: &Connection, table: &str) -> String {
    conn.query_row("select sql from sqlite_schema where name = ?", [table], |row| row.get(0)).unwrap()
}

fn stored(conn: &Connection, sql: &str) -> Vec<Stored> {
    let mut statement = conn.prepare(sql).unwrap();
    let width = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut all = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        all.extend((0..width).map(|column| row.get::<_, Stored>(column).unwrap()));
    }
    all
}

fn check_integrity(conn: &Connection) {
    let answer: String = conn.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(answer, "ok");
}

#[test]
fn what_sqlite_has_is_sent_by_its_storage_class() {
    let sql = "select 1 as a, -9223372036854775808 as b, 26.0067 as c, 'x''\"' as d, x'00ff' as e, null as f, 1e300 as g, 0.1 as h";
    assert_eq!(
        lines(&memory(), sql),
        "{\"a\":1,\"b\":-9223372036854775808,\"c\":26.0067,\"d\":\"x'\\\"\",\"e\":\"AP8=\",\"f\":null,\"g\":1e+300,\"h\":0.1}\n"
    );
}

#[test]
fn columns_of_the_same_name_are_made_distinct() {
    let conn = memory();
    conn.execute_batch("create table t (id); create table u (id); insert into t values (1); insert into u values (2)")
        .unwrap();
    assert_eq!(lines(&conn, "select *, 3 as id_2 from t, u"), "{\"id\":1,\"id_2\":2,\"id_2_2\":3}\n");
}

#[test]
fn what_is_skipped_is_not_read() {
    /// Takes one column.
    #[derive(Default)]
    struct Only(Vec<(u32, i64)>);
    impl Sink for Only {
        type Error = ();
        fn key(&mut self, key: Key<'_>) -> Result<Interest, ()> {
            Ok(Interest::take_if(key.number() == Some(1)))
        }
        fn string(&mut self, _: &str) -> Result<(), ()> {
            Err(())
        }
        fn number(&mut self, number: Numeral<'_>) -> Result<(), ()> {
            self.0.push((1, number.as_i64().unwrap()));
            Ok(())
        }
    }
    let conn = memory();
    // The first column is broken, which nobody sees who does not look.
    let mut query = SqliteQuery::select(&conn, "select cast(x'ff' as text) as a, 7 as b").unwrap();
    let mut only = Only::default();
    event::copy(&mut query.source(), &mut only).unwrap();
    assert_eq!(only.0, [(1, 7)]);
}

#[test]
fn rows_are_decoded_as_their_events_are() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "shown")]
    struct Thing {
        a: u8,
        b: Option<String>,
        #[serde(default)]
        c: Value,
    }
    fn outcomes<T: serde::de::DeserializeOwned + std::fmt::Debug>(query: &mut SqliteQuery<'_>) -> Vec<String> {
        let mut logs = [Vec::new(), Vec::new()];
        let mut made = [0; 2];
        for (is_by_events, log) in logs.iter_mut().enumerate() {
            let mut source = query.source();
            let mut told = Vec::new();
            let mut sink = Objects::new(|index, value: T| {
                told.push(format!("{index} {value:?}"));
                Ok::<_, jird::Error>(())
            });
            // A sink behind a reference knows no rows.
            let sent = if is_by_events == 1 { source.send(&mut &mut sink) } else { source.send(&mut sink) };
            log.extend(told);
            log.push(format!("{sent:?}"));
            made[is_by_events] = source.nulls_made();
        }
        let [found, wanted] = logs;
        assert_eq!((&found, made[0]), (&wanted, made[1]));
        found
    }
    let conn = memory();
    let rows = ["1, 'x', 0.5", "2, null, x'00ff'", "3, '', '[1, 2]'", "300, 'x', 1", "4, 5, 6", "null, 'x', 1"];
    let odd = ["1, 'x', 9e999", "1, cast(x'61ff' as text), 1", "1, 'x', 'no json'"];
    for last in rows.iter().chain(&odd) {
        let good = rows[..3].iter().chain([last, &rows[0]]).map(|row| format!("select {row}"));
        let sql = good.collect::<Vec<_>>().join(" union all ");
        let sql = format!("with t(a, b, c) as ({sql}) select a, b, c, b as d from t");
        let query = || SqliteQuery::select(&conn, &sql).unwrap();
        for mut query in
            [query(), query().infinite_as_null(), query().broken_text_as_bytes(), query().json_columns(["c"]).unwrap()]
        {
            outcomes::<Thing>(&mut query);
            outcomes::<Value>(&mut query);
            outcomes::<BTreeMap<String, Option<String>>>(&mut query);
        }
    }
    let found = outcomes::<Thing>(&mut SqliteQuery::select(&conn, "select 7 as a, 'x' as b, x'00' as c").unwrap());
    assert_eq!(found[0], r#"0 Thing { a: 7, b: Some("x"), c: String("AA==") }"#);
}

#[test]
fn values_that_json_does_not_have_are_named_or_sent_as_was_asked() {
    let conn = memory();
    let query = |sql| SqliteQuery::select(&conn, sql).unwrap();
    let broken = "select 1 as a union all select cast(x'61ff' as text)";
    let error = try_lines(&mut query(broken)).unwrap_err();
    assert_eq!(error.to_string(), "the column \"a\" holds a text that is not UTF-8, in record 2");
    assert_eq!(error.kind(), SqliteErrorKind::Value);
    assert_eq!(try_lines(&mut query(broken).broken_text_as_bytes()).unwrap(), "{\"a\":1}\n{\"a\":\"Yf8=\"}\n");

    let infinite = "select 9e999 as a union all select -9e999";
    let error = try_lines(&mut query(infinite)).unwrap_err();
    assert_eq!(error.to_string(), "the column \"a\" holds an infinite number, which JSON does not have, in record 1");
    let mut query = query(infinite).infinite_as_null();
    let mut source = query.source();
    event::copy(&mut source, &mut JsonSink::new(Vec::new())).unwrap();
    assert_eq!(source.nulls_made(), 2);
}

#[test]
fn json_in_columns_is_sent_as_what_it_says() {
    let conn = made(
        r#"create table t (a JSON, b json text, c text);
           insert into t values ('[1,{"x":null}]', '"s"', '{}'), (12, '1.50', null), (null, 'true', '');"#,
    );
    let query = || SqliteQuery::table(&conn, "t").unwrap();
    assert_eq!(
        try_lines(&mut query().json_declared()).unwrap(),
        "{\"a\":[1,{\"x\":null}],\"b\":\"s\",\"c\":\"{}\"}\n{\"a\":12,\"b\":1.50,\"c\":null}\n{\"a\":null,\"b\":true,\"c\":\"\"}\n"
    );
    let error = try_lines(&mut query().json_columns(["c"]).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "the column \"c\" holds a text that is not JSON, in record 3");
    assert_eq!(query().json_columns(["d"]).unwrap_err().kind(), SqliteErrorKind::Missing);
    // Two values are no JSON.
    let mut query = SqliteQuery::select(&conn, "select '1 2' as a").unwrap().json_columns(["a"]).unwrap();
    assert!(try_lines(&mut query).is_err());
}

#[test]
fn only_queries_are_queries() {
    let conn = made("create table t (a)");
    for sql in [
        "insert into t values (1) returning a",
        "delete from t",
        "",
        "select 1; select 2",
        "select ?",
        "selec 1",
        "begin",
    ] {
        assert!(SqliteQuery::select(&conn, sql).is_err(), "{sql}");
    }
    assert_eq!(SqliteQuery::table(&conn, "nothing").unwrap_err().kind(), SqliteErrorKind::Missing);
    assert!(conn.is_autocommit());
}

const NAMES: [&str; 8] = ["select", "a\"b", "a]b", "a`b", "a.b; drop table x", "It's", "\u{1f600}", "with space "];

#[test]
fn any_name_will_do() {
    let conn = memory();
    for name in NAMES {
        let record = format!("{{{}:1,{}:\"x\"}}\n", serde_json::to_string(name).unwrap(), "\"order\"");
        fill(&record, SqliteSink::create(&conn, name)).unwrap();
        assert_eq!(try_lines(&mut SqliteQuery::table(&conn, name).unwrap()).unwrap(), record, "{name}");
        fill(&record, SqliteSink::append(&conn, name)).unwrap();
        assert!(describe_rust(&conn, name).unwrap().contains("pub order: Option<String>"), "{name}");
    }
    assert_eq!(tables(&conn).unwrap(), NAMES);
    check_integrity(&conn);
    fill("{\"\":1}", SqliteSink::create(&conn, "")).unwrap();
    assert_eq!(try_lines(&mut SqliteQuery::table(&conn, "").unwrap()).unwrap(), "{\"\":1}\n");
}

#[test]
fn tables_are_listed_as_they_were_made() {
    let conn = made(
        "create table z (a integer primary key autoincrement); create table a (b unique); create view v as select 1;
         create virtual table words using fts5(word); create table sqliteish (a)",
    );
    assert_eq!(tables(&conn).unwrap(), ["z", "a", "words", "sqliteish"]);
    assert_eq!(tables_and_views(&conn).unwrap(), ["z", "a", "v", "words", "sqliteish"]);
}

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
        let mut query = SqliteQuery::table(&conn, "t").unwrap().json_declared();
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
fn a_schema_keeps_what_is_mixed_and_nested() {
    let records = "{\"a\":1,\"b\":-0.0,\"c\":true}\n{\"a\":\"1\",\"b\":1.10,\"c\":1}\n{\"a\":[1],\"b\":2.5,\"c\":null}\n{\"a\":1e400,\"b\":3.5,\"c\":\"\"}\n";
    let mut seen = Rows::new(Schema::default());
    event::copy(&mut JsonSource::from_slice(records.as_bytes()), &mut seen).unwrap();
    let conn = memory();
    let definition = Definition::of_schema("t", seen.table());
    fill(records, SqliteSink::create(&conn, "t").define(definition)).unwrap();
    assert_eq!(schema(&conn, "t"), "CREATE TABLE \"t\" (\"a\" JSON TEXT, \"b\", \"c\" JSON TEXT)");
    let back = try_lines(&mut SqliteQuery::table(&conn, "t").unwrap().json_declared()).unwrap();
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
    assert_eq!(fill("", SqliteSink::create(&conn, "t")).unwrap_err().kind(), SqliteErrorKind::Exists);
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
fn of_a_key_that_comes_twice_the_first_counts() {
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
    assert_eq!(error.kind(), SqliteErrorKind::Columns);
    assert_eq!(error.to_string(), "the table \"u\" would have more than 2000 columns");
    let error = fill("{\"late\":1}", SqliteSink::append(&conn, "t")).unwrap_err();
    assert_eq!(error.kind(), SqliteErrorKind::Columns);
    assert_eq!(tables(&conn).unwrap(), ["t"]);
    conn.set_limit(Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 10).unwrap();
    assert_eq!(fill(&record(11), SqliteSink::create(&conn, "u")).unwrap_err().kind(), SqliteErrorKind::Columns);
    fill(&record(10).repeat(25), SqliteSink::create(&conn, "u").rows_per_statement(1000)).unwrap();
    assert_eq!(lines(&conn, "select count(*) as n from u"), "{\"n\":25}\n");
}

#[test]
fn there_is_a_mode_for_a_table_that_is_there() {
    let conn = memory();
    let filled = |sink| fill("{\"id\":1,\"a\":\"x\"} {\"id\":2}", sink);
    filled(SqliteSink::create(&conn, "T")).unwrap();
    let error = filled(SqliteSink::create(&conn, "t")).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (SqliteErrorKind::Exists, "there is a table \"t\" already"));
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
fn a_row_goes_into_the_table_that_is_there() {
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
    assert_eq!(error.kind(), SqliteErrorKind::Constraint);
    assert!(error.to_string().contains("NOT NULL constraint failed: t.name, in record 3 at line 1 (byte "), "{error}");
    let error = append("t", "{\"n\":100}").unwrap_err();
    assert!(error.to_string().contains("CHECK constraint failed"), "{error}");
    let error = append("t", "{\"twice\":1}").unwrap_err();
    assert_eq!(error.to_string(), "the column \"twice\" of \"t\" is generated");
    assert_eq!(lines(&conn, "select * from t"), wanted);

    append("w", "{\"k\":\"a\",\"v\":1} {\"v\":[1],\"k\":\"b\"}").unwrap();
    assert_eq!(append("w", "{\"k\":\"a\"}").unwrap_err().kind(), SqliteErrorKind::Constraint);
    append("s", "{\"a\":1,\"b\":\"12\",\"c\":\"x\"} {\"b\":1.5}").unwrap();
    assert_eq!(lines(&conn, "select b from s"), "{\"b\":\"12\"}\n{\"b\":1.5}\n");
    assert_eq!(append("s", "{\"a\":\"x\"}").unwrap_err().kind(), SqliteErrorKind::Constraint);

    let report = append("w", "{\"k\":\"c\",\"late\":1}").unwrap();
    assert_eq!(report.added, ["late"]);
    let error = fill("{\"k\":\"d\",\"later\":1}", SqliteSink::append(&conn, "w").refuse_new_columns()).unwrap_err();
    assert_eq!(error.to_string(), "the table \"w\" has no column \"later\"");
    assert_eq!(lines(&conn, "select count(*) as n, sum(late) as late from w"), "{\"n\":3,\"late\":1}\n");
}

#[test]
fn what_a_column_would_change_is_refused_or_counted() {
    let conn = made("create table t (i integer, r real, s text, n decimal(10, 2))");
    for (text, what) in [
        ("{\"i\":\"12\"}", "the text \"12\" would change in the column \"i\" of \"t\""),
        ("{\"r\":\" 1e5 \"}", "the text \" 1e5 \" would change in the column \"r\" of \"t\""),
        ("{\"s\":12}", "the integer 12 would change in the column \"s\" of \"t\""),
        ("{\"r\":9007199254740993}", "the integer 9007199254740993 would change in the column \"r\" of \"t\""),
        ("{\"n\":18446744073709551616}", "the text \"18446744073709551616\" would change in the column \"n\" of \"t\""),
    ] {
        let error = fill(text, SqliteSink::append(&conn, "t")).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.kind()), (what, SqliteErrorKind::Value));
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

#[test]
fn all_rows_or_none() {
    let before = "create table t (a unique, b); insert into t values (0, 0)";
    let count = |conn: &Connection| lines(conn, "select count(*) as n from t");
    let text = (1..=1000).map(|index| format!("{{\"a\":{index},\"c\":1}}")).collect::<Vec<String>>().concat();

    // A row that is refused; which one, whatever the statements' length.
    for rows in [1, 10, 64, 1001] {
        let conn = made(before);
        let error = fill(
            &format!("{text}{{\"a\":\"x\"}}{{\"a\":500}}{text}"),
            SqliteSink::append(&conn, "t").rows_per_statement(rows),
        );
        let message = error.unwrap_err().to_string();
        assert!(
            message.contains("UNIQUE constraint failed: t.a, in record 1002 at line 1 (byte "),
            "{rows}: {message}"
        );
        assert_eq!(count(&conn), "{\"n\":1}\n");
        assert_eq!(schema(&conn, "t"), "CREATE TABLE t (a unique, b)");
    }

    // The source breaks off, and nobody finishes.
    let conn = made(before);
    let mut rows = SqliteSink::append(&conn, "t").into_rows();
    let failed = event::copy(&mut JsonSource::from_slice(format!("{text}{{").as_bytes()), &mut rows);
    assert!(matches!(failed, Err(Failure::Source(_))));
    assert!(!conn.is_autocommit());
    drop(rows);
    assert!(conn.is_autocommit());
    assert_eq!(count(&conn), "{\"n\":1}\n");
    assert_eq!(schema(&conn, "t"), "CREATE TABLE t (a unique, b)");

    // SQLite itself rolls back: what comes then is not written outside of the transaction.
    let conn = made(before);
    conn.execute_batch("create trigger no before insert on t when new.a = 500 begin select raise(rollback, 'no'); end")
        .unwrap();
    for rows in [1, 64] {
        let error = fill(&text, SqliteSink::append(&conn, "t").rows_per_statement(rows)).unwrap_err();
        assert_eq!((error.kind(), count(&conn).as_str()), (SqliteErrorKind::Constraint, "{\"n\":1}\n"));
        let rows: Vec<_> = (1..1000).map(|a| BTreeMap::from([("a", a)])).collect();
        let mut inserter = Inserter::<BTreeMap<&str, i32>>::new(&conn, "t").unwrap();
        assert!(inserter.insert_all(&rows).is_err());
        assert_eq!(inserter.insert(&rows[0]).unwrap_err().to_string(), "the transaction was rolled back");
        assert!(inserter.finish().is_err());
        assert_eq!(count(&conn), "{\"n\":1}\n");
    }
    conn.execute_batch("drop trigger no").unwrap();

    // Within somebody else's transaction.
    conn.execute_batch("begin; insert into t values (-1, 0)").unwrap();
    assert!(fill(&format!("{text}{{\"a\":1}}"), SqliteSink::append(&conn, "t")).is_err());
    assert_eq!(count(&conn), "{\"n\":2}\n");
    fill(&text, SqliteSink::append(&conn, "t")).unwrap();
    conn.execute_batch("rollback").unwrap();
    assert_eq!(count(&conn), "{\"n\":1}\n");

    // That is what `commit_every` gives up.
    let every = SqliteSink::append(&conn, "t").commit_every(NonZeroU64::new(100).unwrap()).rows_per_statement(50);
    assert!(fill(&format!("{text}{{\"a\":1}}"), every).is_err());
    assert_eq!(count(&conn), "{\"n\":1001}\n");
}

#[test]
fn a_connection_that_defends_its_schema_leaves_the_types_out() {
    let conn = memory();
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).unwrap();
    fill("{\"a\":1}", SqliteSink::create(&conn, "t")).unwrap();
    assert_eq!(schema(&conn, "t"), "CREATE TABLE \"t\" (\"a\")");
    assert_eq!(lines(&conn, "select * from t"), "{\"a\":1}\n");
}

#[test]
fn somebody_elses_lock_is_told_and_nothing_changes() {
    let path = folder("lock").join("a.db");
    let other = open(&path).unwrap();
    other
        .execute_batch("create table t (a); insert into t values (1); begin immediate; insert into t values (2)")
        .unwrap();
    let conn = open(&path).unwrap();
    conn.busy_timeout(Duration::from_millis(50)).unwrap();
    let error = fill("{\"a\":3}", SqliteSink::append(&conn, "t")).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (SqliteErrorKind::Locked, "beginning to write: database is locked")
    );
    other.execute_batch("commit; begin exclusive").unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.busy_timeout(Duration::from_millis(50)).unwrap();
    assert_eq!(tables(&conn).unwrap_err().kind(), SqliteErrorKind::Locked);
    other.execute_batch("commit").unwrap();
    assert_eq!(lines(&conn, "select * from t"), "{\"a\":1}\n{\"a\":2}\n");
    fill("{\"a\":3}", SqliteSink::append(&conn, "t")).unwrap();
    assert_eq!(lines(&open_read_only(&path).unwrap(), "select * from t"), "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
}

#[test]
fn a_database_for_reading_is_not_written() {
    let path = folder("read").join("a.db");
    assert_eq!(open_read_only(&path).unwrap_err().kind(), SqliteErrorKind::File);
    assert!(!path.exists());
    fill("{\"a\":1}", SqliteSink::create(&open(&path).unwrap(), "t")).unwrap();
    let conn = open_read_only(&path).unwrap();
    let error = fill("{\"a\":1}", SqliteSink::append(&conn, "t")).unwrap_err();
    assert_eq!(error.kind(), SqliteErrorKind::ReadOnly);
    let error = fill("{\"a\":1}", SqliteSink::create(&conn, "u")).unwrap_err();
    assert_eq!(error.kind(), SqliteErrorKind::ReadOnly);
    assert_eq!(lines(&conn, "select * from t"), "{\"a\":1}\n");
}

#[test]
fn files_that_are_no_databases_are_told() {
    let folder = folder("hostile");
    let path = folder.join("whole.db");
    let conn = open(&path).unwrap();
    let record = (0..5000)
        .map(|index| format!("{{\"id\":{index},\"text\":\"number {index}\"}}"))
        .collect::<Vec<String>>()
        .concat();
    fill(&record, SqliteSink::create(&conn, "t")).unwrap();
    conn.execute_batch("create index i on t (id)").unwrap();
    drop(conn);
    let whole = std::fs::read(&path).unwrap();

    let hostile = folder.join("hostile.db");
    // Whatever happens is an error or a result, and no panic.
    let read = |bytes: &[u8]| -> Result<(), SqliteError> {
        std::fs::write(&hostile, bytes).unwrap();
        let conn = open_read_only(&hostile)?;
        for table in tables_and_views(&conn)? {
            describe_rust(&conn, &table)?;
            try_lines(&mut SqliteQuery::table(&conn, &table)?.json_declared())?;
        }
        Ok(())
    };
    read(&whole).unwrap();
    let mut random = 1_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for len in [1, 2, 99, 100, 512, 4095, 4096, 5000, whole.len() / 2, whole.len() - 1] {
        let error = read(&whole[..len]).expect_err(&format!("of {len} bytes"));
        assert_eq!(error.kind(), SqliteErrorKind::NotADatabase, "{len}: {error}");
    }
    let noise: Vec<u8> = (0..20_000).map(|_| next() as u8).collect();
    assert_eq!(read(&noise).unwrap_err().kind(), SqliteErrorKind::NotADatabase);
    for _ in 0..300 {
        let mut broken = whole.clone();
        for _ in 0..=next() % 20 {
            // The schema is at the beginning.
            let at = if next() % 2 == 0 { next() % 4096 } else { next() % whole.len() as u64 };
            broken[at as usize] = next() as u8;
        }
        let _ = read(&broken);
    }
    // Names that are not UTF-8.
    let at = whole.windows(6).position(|six| six == b"\"text\"").unwrap();
    let mut broken = whole.clone();
    broken[at + 2] = 0xff;
    assert_eq!(read(&broken).unwrap_err().to_string(), "a name in the schema is not UTF-8");
    let error = SqliteQuery::select(&open_read_only(&hostile).unwrap(), "select * from t").unwrap_err();
    assert_eq!(error.to_string(), "a name in the schema is not UTF-8");

    assert_eq!(open_read_only(&folder).unwrap_err().kind(), SqliteErrorKind::File);
    assert_eq!(open(&folder).unwrap_err().kind(), SqliteErrorKind::File);

    // A journal that is missing: what was committed before is there.
    let wal = folder.join("wal.db");
    let conn = open(&wal).unwrap();
    conn.execute_batch(
        "pragma journal_mode = wal; create table t (a); insert into t values (1); pragma wal_checkpoint",
    )
    .unwrap();
    conn.execute_batch("insert into t values (2)").unwrap();
    let copy = folder.join("copy.db");
    std::fs::copy(&wal, &copy).unwrap();
    let copied = open_read_only(&copy).unwrap();
    assert_eq!(lines(&copied, "select * from t"), "{\"a\":1}\n");
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Task {
    id: i64,
    title: String,
    done: bool,
}

fn task(id: i64) -> Task {
    Task { id, title: format!("Task {id}"), done: id % 3 == 0 }
}

#[test]
fn values_of_a_type_are_rows() {
    // From 0, whose number SQLite would not give; with gaps, backwards, and in batches.
    let orders: [Vec<i64>; 6] = [
        (0..1000).collect(),
        (1..=777).collect(),
        (0..1000).map(|id| id * 7).collect(),
        (0..1000).rev().collect(),
        (-500..500).collect(),
        (1..=300).chain(600..900).chain(301..=599).chain(i64::MAX - 50..=i64::MAX).collect(),
    ];
    for ids in orders {
        for rows in [1, 2, 10, 100, 10_000] {
            let conn = memory();
            create_for::<Task>(&conn, "tasks", &["id"]).unwrap();
            let tasks: Vec<Task> = ids.iter().copied().map(task).collect();
            let mut inserter = Inserter::<Task>::new(&conn, "tasks").unwrap().rows_per_statement(rows);
            inserter.insert_all(&tasks).unwrap();
            assert_eq!(inserter.finish().unwrap(), tasks.len() as u64);
            let mut sorted = tasks.clone();
            sorted.sort_by_key(|task| task.id);
            let wanted = sorted
                .iter()
                .map(|task| {
                    format!("{{\"id\":{},\"title\":\"{}\",\"done\":{}}}\n", task.id, task.title, u8::from(task.done))
                })
                .collect::<Vec<String>>()
                .concat();
            assert_eq!(lines(&conn, "select * from tasks"), wanted);

            // The same as records.
            let conn = memory();
            create_for::<Task>(&conn, "tasks", &["id"]).unwrap();
            let text = tasks.iter().map(|task| serde_json::to_string(task).unwrap()).collect::<Vec<String>>().concat();
            fill(&text, SqliteSink::append(&conn, "tasks").rows_per_statement(rows)).unwrap();
            assert_eq!(lines(&conn, "select * from tasks"), wanted);
        }
    }
}

#[test]
fn row_numbers_are_right_whoever_else_writes() {
    for sql in [
        "create trigger more after insert on tasks when new.id < 1000 begin insert into tasks values (new.id + 1000, 'more', 0); end",
        "create temp trigger more after insert on tasks when new.id < 1000 begin insert into tasks values (new.id + 1000, 'more', 0); end",
        "delete from tasks",
        "insert into tasks values (5, 'x', 0)",
        "insert into tasks values (-7, 'x', 0)",
    ] {
        let conn = made("create table tasks (id integer primary key, title, done)");
        conn.execute_batch(sql).unwrap();
        let mut inserter = Inserter::new(&conn, "tasks").unwrap().rows_per_statement(10);
        // What SQLite gives next, were it not for the trigger.
        let next = if sql.contains("trigger") { 1 } else { 6 };
        inserter.insert_all((next..=50).map(task)).unwrap();
        // On the same connection, and in the same transaction.
        conn.execute_batch("insert or ignore into tasks values (999, 'between', 0)").unwrap();
        inserter.insert_all((51..next + 100).map(task)).unwrap();
        inserter.finish().unwrap();
        let found = lines(&conn, "select count(*) as n from tasks where title = 'Task ' || id");
        assert_eq!(found, "{\"n\":100}\n", "{sql}");
    }
    // A trigger that comes too late to be seen: an error, and no row with another's number.
    let conn = made("create table tasks (id integer primary key, title, done)");
    let mut inserter = Inserter::new(&conn, "tasks").unwrap().rows_per_statement(10);
    inserter.insert_all((1..=50).map(task)).unwrap();
    conn.execute_batch(
        "create trigger more after insert on tasks when new.id < 1000 begin insert into tasks values (new.id + 1000, 'more', 0); end",
    )
    .unwrap();
    let error = inserter.insert_all((51..=60).map(task)).unwrap_err();
    assert_eq!(error.to_string(), "rows were inserted on this connection by somebody else at the same time");
    let conn = made("create table tasks (id integer primary key autoincrement, title, done)");
    conn.execute_batch("insert into tasks values (500, 'x', 0); delete from tasks").unwrap();
    let mut inserter = Inserter::new(&conn, "tasks").unwrap().rows_per_statement(10);
    inserter.insert_all((1..=100).map(task)).unwrap();
    inserter.finish().unwrap();
    assert_eq!(lines(&conn, "select max(id) as id from tasks"), "{\"id\":100}\n");
}

#[test]
fn a_type_may_hold_anything() {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Odd {
        big: u64,
        bigger: i128,
        text: &'static str,
        letter: char,
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
        nested: BTreeMap<&'static str, Vec<Option<f64>>>,
        unit: Kind,
        filled: Kind,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<f64>,
        number: jird::NumberBuf,
        any: Value,
    }
    #[derive(Serialize)]
    enum Kind {
        One,
        Two(i32),
    }
    let odd = |note| Odd {
        big: u64::MAX,
        bigger: -7,
        text: "a\0b",
        letter: 'é',
        bytes: vec![0, 255],
        nested: BTreeMap::from([("a", vec![Some(0.5), None])]),
        unit: Kind::One,
        filled: Kind::Two(2),
        note,
        number: jird::from_str("1.50").unwrap(),
        any: serde_json::json!("s"),
    };
    for rows in [1, 2, 10] {
        let conn = made(
            "create table t (any, number, note, filled, unit, nested, bytes, letter, text, bigger, BIG, other default 3)",
        );
        let mut inserter = Inserter::new(&conn, "t").unwrap().rows_per_statement(rows);
        let notes = [None, Some(1.5), None, None, Some(2.5), None];
        inserter.insert_all(notes.iter().map(|note| odd(*note))).unwrap();
        inserter.insert(&odd(None)).unwrap();
        assert_eq!(inserter.finish().unwrap(), 7);
        let line = |note| {
            format!(
                "{{\"any\":\"s\",\"number\":1.5,\"note\":{note},\"filled\":\"{{\\\"Two\\\":2}}\",\"unit\":\"One\",\
                 \"nested\":\"{{\\\"a\\\":[0.5,null]}}\",\"bytes\":\"AP8=\",\"letter\":\"é\",\"text\":\"a\\u0000b\",\"bigger\":-7,\
                 \"BIG\":\"18446744073709551615\",\"other\":3}}\n"
            )
        };
        let wanted = ["null", "1.5", "null", "null", "2.5", "null", "null"].map(line).concat();
        assert_eq!(lines(&conn, "select * from t"), wanted);
    }
}

#[test]
fn maps_are_rows_and_what_a_table_has_not_is_refused() {
    let conn = made("create table t (a integer, b text, c as (a))");
    let map = |pairs: &[(&str, Value)]| -> BTreeMap<String, Value> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    };
    let mut inserter = Inserter::new(&conn, "t").unwrap();
    inserter.insert_all([map(&[("a", 1.into())]), map(&[("b", "x".into())]), map(&[])]).unwrap();
    for (row, what) in [
        (map(&[("a", "12".into())]), "the text \"12\" would change in the column \"a\" of \"t\", in record 4"),
        (map(&[("d", 1.into())]), "the table \"t\" has no column \"d\", in record 4"),
        (map(&[("c", 1.into())]), "the table \"t\" has a generated column \"c\", in record 4"),
        (map(&[("a", 1.into()), ("A", 1.into())]), "the table \"t\" has no second column \"A\", in record 4"),
    ] {
        assert_eq!(inserter.insert(&row).unwrap_err().to_string(), what);
    }
    inserter.insert(&map(&[("b", "y".into()), ("a", 2.into())])).unwrap();
    inserter.finish().unwrap();
    let wanted = "{\"a\":1,\"b\":null}\n{\"a\":null,\"b\":\"x\"}\n{\"a\":null,\"b\":null}\n{\"a\":2,\"b\":\"y\"}\n";
    assert_eq!(lines(&conn, "select a, b from t"), wanted);
    assert!(Inserter::new(&conn, "t").unwrap().insert(&7).is_err());
    assert!(Inserter::new(&conn, "t").unwrap().insert(&[1, 2]).is_err());
    let error = Inserter::new(&conn, "t").unwrap().insert(&BTreeMap::from([("a", f64::NAN)])).unwrap_err();
    assert_eq!(error.kind(), SqliteErrorKind::Value);
}

#[test]
fn values_that_are_not_finished_are_not_there() {
    let conn = memory();
    create_for::<Task>(&conn, "tasks", &["id"]).unwrap();
    let mut inserter = Inserter::new(&conn, "tasks").unwrap();
    inserter.insert_all((1..500).map(task)).unwrap();
    drop(inserter);
    assert_eq!(lines(&conn, "select count(*) as n from tasks"), "{\"n\":0}\n");
    let mut inserter = Inserter::new(&conn, "tasks").unwrap();
    let error = inserter.insert_all((1..150).chain([7]).chain(200..500).map(task)).unwrap_err();
    assert!(error.to_string().ends_with("UNIQUE constraint failed: tasks.id, in record 150"), "{error}");
}

#[test]
fn a_type_has_a_table() {
    use StorageType::{Any, Blob, Integer, Json, Real, Text};
    #[derive(Deserialize)]
    #[allow(dead_code, reason = "never made")]
    struct Everything {
        id: u32,
        #[serde(rename = "Wide")]
        wide: u64,
        #[serde(alias = "old", alias = "older")]
        name: String,
        price: Option<f64>,
        flag: Option<Box<Option<bool>>>,
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
        list: Vec<i32>,
        pair: (i32, i32),
        inner: Inner,
        itself: Option<Box<Everything>>,
        kind: Kind,
        any: Value,
        picky: Picky,
        #[serde(default)]
        letter: char,
        #[serde(skip)]
        skipped: i32,
    }
    #[derive(Deserialize)]
    #[allow(dead_code, reason = "never made")]
    struct Inner {
        a: i32,
    }
    #[derive(Deserialize)]
    #[allow(dead_code, reason = "never made")]
    enum Kind {
        One,
        Two(i32),
    }
    /// Takes no empty text.
    struct Picky;
    impl<'de> Deserialize<'de> for Picky {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = String::deserialize(deserializer)?;
            if text.is_empty() { Err(serde::de::Error::custom("empty")) } else { Ok(Self) }
        }
    }
    #[derive(Deserialize)]
    #[allow(dead_code, reason = "never made")]
    struct Wrapped(Task);
    #[derive(Deserialize)]
    #[allow(dead_code, reason = "never made")]
    struct Flat {
        a: i32,
        #[serde(flatten)]
        inner: Inner,
    }
    let definition = Definition::of::<Everything>("t").unwrap();
    let columns: Vec<_> =
        definition.columns().iter().map(|column| (column.name.as_str(), column.storage, column.is_nullable)).collect();
    assert_eq!(
        columns,
        [
            ("id", Integer, false),
            ("Wide", Any, false),
            ("name", Text, false),
            ("price", Real, true),
            ("flag", Integer, true),
            ("bytes", Blob, false),
            ("list", Json, false),
            ("pair", Json, false),
            ("inner", Json, false),
            ("itself", Json, true),
            ("kind", Text, false),
            ("any", Any, false),
            ("picky", Text, false),
            ("letter", Text, false),
        ]
    );
    assert_eq!(Definition::of::<Wrapped>("t").unwrap().columns().len(), 3);
    assert!(Definition::of::<Flat>("t").is_err());
    assert!(Definition::of::<i32>("t").is_err());
    assert!(Definition::of::<Vec<Task>>("t").is_err());
    assert!(Definition::of::<Task>("t").unwrap().key(["nothing"]).is_err());
    let conn = memory();
    let definition = create_for::<Task>(&conn, "a \"b\"", &["id", "title"]).unwrap();
    assert_eq!(schema(&conn, "a \"b\""), definition.to_string());
    assert_eq!(create_for::<Task>(&conn, "A \"B\"", &[]).unwrap_err().kind(), SqliteErrorKind::Exists);
}

#[test]
fn a_table_has_a_type() {
    let conn = made(
        "create table \"2 Odd-names\" (\"HTTPServer\" text, \"a b\" real not null, \"A_B\" blob, self int, type, \"1st\" boolean not null,
                                     \"größe\" date, \"\" json, \"\"\"q\"\"\\\" varchar(3), bytes blob not null, async numeric)",
    );
    let wanted = r#"#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct _2OddNames {
    #[serde(rename = "HTTPServer")]
    pub http_server: Option<String>,
    #[serde(rename = "a b")]
    pub a_b: f64,
    #[serde(rename = "A_B")]
    #[serde(with = "serde_bytes", default)]
    pub a_b_2: Option<Vec<u8>>,
    #[serde(rename = "self")]
    pub self_: Option<i64>,
    pub r#type: serde_json::Value,
    #[serde(rename = "1st")]
    pub _1st: i64,
    #[serde(rename = "größe")]
    pub gre: Option<String>,
    #[serde(rename = "")]
    pub unnamed: serde_json::Value,
    #[serde(rename = "\"q\"\\")]
    pub q: Option<String>,
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
    pub r#async: Option<f64>,
}
"#;
    assert_eq!(describe_rust(&conn, "2 odd-NAMES").unwrap(), wanted);
    assert_eq!(describe_rust(&conn, "nothing").unwrap_err().kind(), SqliteErrorKind::Missing);
}

/// What the JSON document has otherwise: no null, and `T` in its dates; and numbers by value.
fn chinook_form(value: &Value) -> Value {
    match value {
        Value::Null => Value::String(String::new()),
        Value::Number(number) => number.as_f64().unwrap().into(),
        Value::String(text) if text.len() == 19 && text.as_bytes()[10] == b' ' && text.starts_with(['1', '2']) => {
            text.replacen(' ', "T", 1).into()
        }
        other => other.clone(),
    }
}

fn chinook_rows(records: &[Value]) -> Vec<BTreeMap<String, Value>> {
    let row = |record: &Value| {
        record.as_object().unwrap().iter().map(|(key, value)| (key.clone(), chinook_form(value))).collect()
    };
    records.iter().map(row).collect()
}

#[test]
fn chinook_is_what_its_json_says() {
    let Some(corpus) = common::corpus() else { return };
    let folder = corpus.join("tables/chinook");
    let document: Value = serde_json::from_slice(&std::fs::read(folder.join("ChinookData.json")).unwrap()).unwrap();
    let conn = open_read_only(folder.join("chinook.db")).unwrap();
    let tables = tables(&conn).unwrap();
    assert_eq!(tables.len(), document.as_object().unwrap().len());
    for table in tables {
        let text = try_lines(&mut SqliteQuery::table(&conn, &table).unwrap()).unwrap();
        let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(chinook_rows(&records), chinook_rows(document[&table].as_array().unwrap()), "{table}");

        // And into a table of our own, and back.
        let own = memory();
        fill(&text, SqliteSink::create(&own, &table)).unwrap();
        assert_eq!(try_lines(&mut SqliteQuery::table(&own, &table).unwrap()).unwrap(), text, "{table}");
        check_integrity(&own);
        assert!(describe_rust(&conn, &table).unwrap().starts_with("#[derive("));
    }
}

#[test]
fn python_reads_what_we_write_and_we_read_the_same_as_python() {
    let Some(corpus) = common::corpus() else { return };
    let chinook = corpus.join("tables/chinook/chinook.db");
    let folder = folder("python");
    let path = folder.join("own.db");
    let own = open(&path).unwrap();
    let records = "{\"id\":1,\"t\":\"a\\u0000b\",\"r\":0.1,\"n\":null,\"j\":[1,\"x\"],\"late\":9007199254740993}\n{\"id\":2,\"t\":\"\u{1f600}\",\"r\":2.0}";
    fill(records, SqliteSink::create(&own, "own \"table\"")).unwrap();
    let script = r#"
import json, sqlite3, sys
for path in sys.argv[1:]:
    db = sqlite3.connect("file:" + path + "?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    names = [row[0] for row in db.execute("select name from sqlite_schema where type = 'table' order by rowid")]
    for name in names:
        for row in db.execute('select * from "' + name.replace('"', '""') + '"'):
            print(json.dumps([name, dict(row)]))
"#;
    let output = match std::process::Command::new("python3").arg("-c").arg(script).args([&chinook, &path]).output() {
        Ok(output) => output,
        Err(error) => {
            assert!(std::env::var_os("JIRD_REQUIRE_ALL").is_none_or(|all| all != "1"), "python3: {error}");
            return;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let theirs: Vec<Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut ours: Vec<Value> = Vec::new();
    for conn in [open_read_only(chinook).unwrap(), own] {
        for table in tables(&conn).unwrap() {
            let text = try_lines(&mut SqliteQuery::table(&conn, &table).unwrap()).unwrap();
            ours.extend(
                text.lines().map(|line| serde_json::json!([table, serde_json::from_str::<Value>(line).unwrap()])),
            );
        }
    }
    assert!(ours.len() > 15_000);
    assert_eq!(ours, theirs);
}

#[test]
fn memory_is_bounded_by_a_batch() {
    // More than a megabyte a row: rows are written long before a statement is full.
    let conn = memory();
    let record = format!("{{\"a\":\"{}\"}}\n", "x".repeat(3 << 19));
    let mut rows = SqliteSink::create(&conn, "t").into_rows();
    for index in 0..20 {
        jird::event::Source::send(&mut JsonSource::from_slice(record.as_bytes()), &mut rows).unwrap();
        let written: i64 = conn.query_row("select count(*) from t", [], |row| row.get(0)).unwrap();
        assert_eq!(written, index + 1);
    }
    rows.finish().unwrap();
}
