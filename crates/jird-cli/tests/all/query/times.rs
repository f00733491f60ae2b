//! `jird query`: points in time.

use crate::folder::{Folder, one_answer};

const TIMES: &str = r#"{"a":1,"t":"2024-03-05T07:10:00Z","s":1709622600,"ms":1709622600123}
{"a":2,"t":"2024-03-05T08:20:00+01:00","s":1709626200.5,"ms":1709626200123}
{"a":3,"t":"soon","s":null,"ms":"2024-03-05T09:30:00Z"}
{"a":4,"t":"0001-01-01T00:00:00Z","s":-1,"ms":0}
"#;

#[track_caller]
fn all(cases: &[(&str, &[&str])]) {
    for (sql, lines) in cases {
        assert_eq!(one_answer(TIMES, sql).lines().collect::<Vec<_>>(), *lines, "{sql}");
    }
}

#[test]
fn numbers_are_times_by_their_size() {
    all(&[
        (
            "select timestamp(s) as s, timestamp(ms) as ms order by a",
            &[
                r#"{"s":"2024-03-05T07:10:00Z","ms":"2024-03-05T07:10:00.123Z"}"#,
                r#"{"s":"2024-03-05T08:10:00.500Z","ms":"2024-03-05T08:10:00.123Z"}"#,
                r#"{"s":null,"ms":"2024-03-05T09:30:00Z"}"#,
                r#"{"s":"1969-12-31T23:59:59Z","ms":"1970-01-01T00:00:00Z"}"#,
            ],
        ),
        ("select a where timestamp(ms) > timestamp '2024-03-05T08:00:00Z' order by a", &[r#"{"a":2}"#, r#"{"a":3}"#]),
        ("select a where timestamp s < timestamp '2000-01-01'", &[r#"{"a":4}"#]),
    ]);
}

#[test]
fn buckets_have_any_unit_and_zone() {
    all(&[
        (
            "select time_bucket('1 hour', t) as h, count(*) as n group by h order by h",
            &[r#"{"h":"0001-01-01T00:00:00Z","n":1}"#, r#"{"h":"2024-03-05T07:00:00Z","n":2}"#, r#"{"h":null,"n":1}"#],
        ),
        (
            "select time_bucket('1 month', ms at time zone 'Europe/Berlin') as m, count(*) as n where a < 4 group by m",
            &[r#"{"m":"2024-03-01T00:00:00+01:00","n":3}"#],
        ),
        (
            "select time_bucket('1y', t) as y, time_bucket(interval '1 day', t) as d where a = 1",
            &[r#"{"y":"2024-01-01T00:00:00Z","d":"2024-03-05T00:00:00Z"}"#],
        ),
        ("select date_trunc('month', t) as m where a = 4", &[r#"{"m":"0001-01-01T00:00:00Z"}"#]),
    ]);
}

#[test]
fn parts_and_texts_of_times() {
    all(&[
        (
            "select year(t) as y, extract(hour from t) as h, date_part('minute', t) as m where a = 2",
            &[r#"{"y":2024,"h":7,"m":20}"#],
        ),
        (
            "select to_char(t, '%d.%m.%Y') as c, to_char(t, 'YYYY-MM-DD HH24:MI') as p, strftime('%H', t) as s where a in (1, 4) order by a",
            &[
                r#"{"c":"05.03.2024","p":"2024-03-05 07:10","s":"07"}"#,
                r#"{"c":"01.01.0001","p":"0001-01-01 00:00","s":"00"}"#,
            ],
        ),
        ("select t at time zone '+05:30' as x where a = 1", &[r#"{"x":"2024-03-05T12:40:00+05:30"}"#]),
        ("select timestamp t as x where a = 2", &[r#"{"x":"2024-03-05T07:20:00Z"}"#]),
        (
            "select max(timestamp t) as x, min(timestamp(t)) as y",
            &[r#"{"x":"2024-03-05T07:20:00Z","y":"0001-01-01T00:00:00Z"}"#],
        ),
    ]);
}

#[test]
fn a_value_that_is_no_time_is_null_and_counted() {
    let folder = Folder::new("no-time").with("t.ndjson", TIMES);
    let (out, said, code) = folder.query(&["select date_trunc('day', t) as d where a = 3", "t.ndjson"], b"");
    assert_eq!((out.as_str(), code), ("{\"d\":null}\n", 0), "{said}");
    assert!(said.contains("1 value that is not a time became null"), "{said}");
    for (sql, reason) in [
        ("select time_bucket('1 parsec', t)", "time_bucket takes a width"),
        ("select t at time zone 'Nowhere'", "takes the name of a zone"),
        ("select to_char(t, '%Q')", "is not a format of times"),
        ("select to_char(t, 'FMMonth')", "no known pattern"),
    ] {
        let (_, said, code) = folder.query(&[sql, "t.ndjson"], b"");
        assert!(code == 2 && said.contains(reason), "{sql}: {said}");
    }
}

#[test]
fn a_schema_holds_for_every_plan() {
    let folder = Folder::new("schema")
        .with("s.json", r#"{"n":"i64"}"#)
        .with("r.ndjson", "{\"n\":1,\"a\":1}\n{\"n\":\"x\",\"a\":2}\n{\"n\":3,\"a\":3}\n");
    for sql in ["select a", "select count(*)", "select a where a = 3", "select sum(n)", "select n", "select *"] {
        let (_, said, code) = folder.query(&[sql, "r.ndjson", "--schema", "s.json"], b"");
        assert!(code == 1 && said.contains("r.ndjson:2") && said.contains("/n is \"x\", not i64"), "{sql}: {said}");
        let skipped = folder.query(&[sql, "r.ndjson", "--schema", "s.json", "--on-error", "skip"], b"");
        assert!(skipped.2 == 0 || skipped.2 == 1, "{sql}: {}", skipped.1);
        assert!(skipped.1.contains("1 bad record"), "{sql}: {}", skipped.1);
    }
}

#[test]
fn a_record_that_does_not_fit_is_counted_once() {
    let folder =
        Folder::new("misfit").with("s.json", r#"{"id":"u64"}"#).with("r.ndjson", "{\"id\":1}\n{\"id\":\"2\"}\n");
    let sql = "select x.id from stream x join stream y on x.id = y.id";
    let (out, said, _) = folder.query(&[sql, "r.ndjson", "--schema", "s.json", "--on-error", "quarantine=bad"], b"");
    assert_eq!((out.as_str(), folder.text("bad").lines().count()), ("{\"id\":1}\n", 1), "{said}");
}
