//! Tables as sources.

use crate::{check_integrity, fill, lines, made, memory, try_lines};
use jird::event::{self, Interest, JsonSink, Key, Numeral, Objects, Sink, Source};
use jird_formats::ErrorKind;
use jird_formats::sqlite::{SqliteQuery, SqliteSink, tables, tables_and_views};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[test]
fn each_storage_class_is_sent_as_its_own_kind_of_value() {
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
fn skipped_values_are_not_read() {
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
    // The first column is broken, which goes unnoticed unless it is read.
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
            // A sink behind a reference has no rows.
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
    assert_eq!(error.kind(), ErrorKind::Utf8);
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
fn booleans_in_columns_are_sent_as_such() {
    let conn = made(
        "create table t (a BOOLEAN, b bool not null, c integer);
         insert into t values (1, 0, 1), (null, 1, 0), (2, -1, 2), (0.5, 'x', null), (1.0, '1', 1.0);
         create view v as select b, a as \"first\", not a as \"not\" from t;",
    );
    assert_eq!(
        try_lines(&mut SqliteQuery::table(&conn, "t").unwrap().as_declared()).unwrap(),
        "{\"a\":true,\"b\":false,\"c\":1}\n{\"a\":null,\"b\":true,\"c\":0}\n{\"a\":2,\"b\":-1,\"c\":2}\n\
         {\"a\":0.5,\"b\":\"x\",\"c\":null}\n{\"a\":true,\"b\":true,\"c\":1}\n"
    );
    assert!(try_lines(&mut SqliteQuery::table(&conn, "t").unwrap()).unwrap().starts_with("{\"a\":1,\"b\":0,"));
    let view = try_lines(&mut SqliteQuery::select(&conn, "select * from v limit 1").unwrap().as_declared()).unwrap();
    // What is computed has no declared type.
    assert_eq!(view, "{\"b\":false,\"first\":true,\"not\":0}\n");
}

#[test]
fn json_in_columns_is_sent_as_its_values() {
    let conn = made(
        r#"create table t (a JSON, b json text, c text);
           insert into t values ('[1,{"x":null}]', '"s"', '{}'), (12, '1.50', null), (null, 'true', '');"#,
    );
    let query = || SqliteQuery::table(&conn, "t").unwrap();
    assert_eq!(
        try_lines(&mut query().as_declared()).unwrap(),
        "{\"a\":[1,{\"x\":null}],\"b\":\"s\",\"c\":\"{}\"}\n{\"a\":12,\"b\":1.50,\"c\":null}\n{\"a\":null,\"b\":true,\"c\":\"\"}\n"
    );
    let error = try_lines(&mut query().json_columns(["c"]).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "the column \"c\" holds a text that is not JSON, in record 3");
    assert_eq!(query().json_columns(["d"]).unwrap_err().kind(), ErrorKind::Missing);
    // Two values are no JSON.
    let mut query = SqliteQuery::select(&conn, "select '1 2' as a").unwrap().json_columns(["a"]).unwrap();
    assert!(try_lines(&mut query).is_err());
}

#[test]
fn statements_that_return_no_rows_are_refused_as_queries() {
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
    assert_eq!(SqliteQuery::table(&conn, "nothing").unwrap_err().kind(), ErrorKind::Missing);
    assert!(conn.is_autocommit());
}

const NAMES: [&str; 8] = ["select", "a\"b", "a]b", "a`b", "a.b; drop table x", "It's", "\u{1f600}", "with space "];

#[test]
fn any_name_can_be_that_of_a_column() {
    let conn = memory();
    for name in NAMES {
        let record = format!("{{{}:1,{}:\"x\"}}\n", serde_json::to_string(name).unwrap(), "\"order\"");
        fill(&record, SqliteSink::create(&conn, name)).unwrap();
        assert_eq!(try_lines(&mut SqliteQuery::table(&conn, name).unwrap()).unwrap(), record, "{name}");
        fill(&record, SqliteSink::append(&conn, name)).unwrap();
    }
    assert_eq!(tables(&conn).unwrap(), NAMES);
    check_integrity(&conn);
    fill("{\"\":1}", SqliteSink::create(&conn, "")).unwrap();
    assert_eq!(try_lines(&mut SqliteQuery::table(&conn, "").unwrap()).unwrap(), "{\"\":1}\n");
}

#[test]
fn tables_are_listed_in_the_order_of_their_creation() {
    let conn = made(
        "create table z (a integer primary key autoincrement); create table a (b unique); create view v as select 1;
         create virtual table words using fts5(word); create table sqliteish (a)",
    );
    assert_eq!(tables(&conn).unwrap(), ["z", "a", "words", "sqliteish"]);
    assert_eq!(tables_and_views(&conn).unwrap(), ["z", "a", "v", "words", "sqliteish"]);
}
