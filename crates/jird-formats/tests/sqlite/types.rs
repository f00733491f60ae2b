//! Values of Rust types as rows, and types as tables.

use crate::{Task, fill, lines, made, memory, schema, task};
use jird_formats::ErrorKind;
use jird_formats::sqlite::{Definition, Inserter, SqliteSink, StorageType, create_for};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

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
fn row_numbers_are_right_while_others_write() {
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
    assert_eq!(error.to_string(), "other code inserted rows on this connection at the same time");
    let conn = made("create table tasks (id integer primary key autoincrement, title, done)");
    conn.execute_batch("insert into tasks values (500, 'x', 0); delete from tasks").unwrap();
    let mut inserter = Inserter::new(&conn, "tasks").unwrap().rows_per_statement(10);
    inserter.insert_all((1..=100).map(task)).unwrap();
    inserter.finish().unwrap();
    assert_eq!(lines(&conn, "select max(id) as id from tasks"), "{\"id\":100}\n");
}

#[test]
fn a_struct_may_have_fields_of_any_type() {
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
fn raw_text_is_stored_as_the_value_that_it_denotes() {
    #[derive(Serialize)]
    struct Wrapped<T>(T);
    #[derive(Serialize)]
    struct Row {
        number: jird::NumberBuf,
        wrapped: Option<Wrapped<jird::NumberBuf>>,
        raw: Box<jird::RawValue>,
    }
    let digits = "3.14159265358979323846264338327950288";
    for (json, stored, kind) in [
        (digits, digits, "text"),
        ("123456789012345678901234567890", "123456789012345678901234567890", "text"),
        ("1e400", "1e400", "text"),
        ("18446744073709551615", "18446744073709551615", "text"),
        ("-7", "-7", "integer"),
        ("1.50", "1.5", "real"),
        (r#""a \u00e9""#, "a é", "text"),
        ("true", "1", "integer"),
        ("null", "NULL", "null"),
        ("[1, 2.50]", "[1, 2.50]", "text"),
        (r#"{"a": "b"}"#, r#"{"a": "b"}"#, "text"),
    ] {
        let number = if jird::from_str::<jird::NumberBuf>(json).is_ok() { json } else { digits };
        let row = Row {
            number: jird::from_str(number).unwrap(),
            wrapped: Some(Wrapped(jird::from_str(number).unwrap())),
            raw: jird::from_str(json).unwrap(),
        };
        let conn = made("create table t (number, wrapped, raw, theirs)");
        let mut inserter: Inserter<'_, Row> = Inserter::new(&conn, "t").unwrap();
        inserter.insert_all([&row, &row]).unwrap();
        inserter.finish().unwrap();
        let found = |column: &str| -> Vec<String> {
            let sql = format!("select ifnull(cast({column} as text), 'NULL') || ' ' || typeof({column}) from t");
            let mut statement = conn.prepare(&sql).unwrap();
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let wanted = vec![format!("{stored} {kind}"); 2];
        assert_eq!(found("raw"), wanted, "{json}");
        if number == json {
            assert_eq!(found("number"), wanted);
            assert_eq!(found("wrapped"), wanted);
        }
    }
}

#[test]
fn maps_are_inserted_as_rows_and_unknown_columns_are_refused() {
    let conn = made("create table t (a integer, b text, c as (a))");
    let map = |pairs: &[(&str, Value)]| -> BTreeMap<String, Value> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    };
    let mut inserter = Inserter::new(&conn, "t").unwrap();
    inserter.insert_all([map(&[("a", 1.into())]), map(&[("b", "x".into())]), map(&[])]).unwrap();
    for (row, what) in [
        (map(&[("a", "12".into())]), "the text \"12\" would change in the column \"a\" of \"t\", in record 4"),
        (map(&[("d", 1.into())]), "the table \"t\" has no column \"d\", in record 4"),
        (map(&[("c", 1.into())]), "the column \"c\" of \"t\" is generated, in record 4"),
        (map(&[("a", 1.into()), ("A", 1.into())]), "the row has two values for the column \"A\" of \"t\", in record 4"),
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
    assert_eq!(error.kind(), ErrorKind::Unfit);
}

#[test]
fn rows_of_an_inserter_that_was_not_finished_are_rolled_back() {
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
fn a_table_is_made_for_a_type() {
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
    assert_eq!(create_for::<Task>(&conn, "A \"B\"", &[]).unwrap_err().kind(), ErrorKind::Exists);
}
