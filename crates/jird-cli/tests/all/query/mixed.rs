//! `jird query`: fields whose values have no common type, and exact sums.

use crate::folder::Folder;
use std::fmt::Write;

/// `a`: numbers and a text. `b`: numbers that no double holds, and other values.
const MIXED: &str = r#"{"k":"x","a":1,"b":9007199254740993}
{"k":"x","a":200.5,"b":9007199254740992.5}
{"k":"y","a":270,"b":1e400}
{"k":"x","a":"fast","b":null}
{"k":"z","a":null,"b":[1]}
{"k":"z","a":0.1,"b":"x"}
{"k":"z","b":true}
"#;

/// The answer from a file, which must be that from standard input, and that of one thread with small pieces.
fn answer(sql: &str) -> String {
    let folder = Folder::new("mixed").with("m.ndjson", MIXED);
    let (out, said, code) = folder.query(&[sql, "m.ndjson"], b"");
    assert_eq!(code, 0, "{sql}: {said}");
    for more in [&[][..], &["--threads", "1", "--chunk-bytes", "11"], &["--threads", "3", "--chunk-bytes", "70"]] {
        let piped = folder.query(&[&[sql], more].concat(), MIXED.as_bytes());
        assert_eq!((&piped.0, piped.2), (&out, 0), "{sql}: {}", piped.1);
    }
    out
}

#[test]
fn numbers_are_computed_with_and_the_rest_is_left_out() {
    for (sql, wanted) in [
        ("select sum(a) as s, avg(a) as m, count(a) as n", r#"{"s":471.6,"m":117.9,"n":5}"#),
        ("select sum(b) as s where b < 1e300", r#"{"s":18014398509481985.5}"#),
        ("select avg(b) as m where b < 1e300", r#"{"m":9007199254740992.0}"#),
        ("select median(a) as m, round(stddev(a), 6) as d", r#"{"m":100.75,"d":138.443274}"#),
        ("select percentile_cont(0.5) within group (order by a) as p", r#"{"p":100.75}"#),
        ("select sum(a * 2) as s, abs(min(a) - 1) as d", r#"{"s":943.2,"d":0.9}"#),
        ("select sum(distinct a) as s", r#"{"s":471.6}"#),
        (
            "select k, sum(a) as s group by k order by s",
            "{\"k\":\"z\",\"s\":0.1}\n{\"k\":\"x\",\"s\":201.5}\n{\"k\":\"y\",\"s\":270}",
        ),
        ("select s + 1 as t from (select sum(a) as s from stream)", r#"{"t":472.6}"#),
        ("select k where a > (select avg(a) from stream) order by k", "{\"k\":\"x\"}\n{\"k\":\"y\"}"),
    ] {
        assert_eq!(answer(sql).trim_end(), wanted, "{sql}");
    }
    let folder = Folder::new("note").with("m.ndjson", MIXED);
    let said = folder.query(&["select sum(a) as s, avg(b) as m where b < 1e300 or b is null", "m.ndjson"], b"").1;
    assert!(said.contains("`a` has integers (first at m.ndjson:1), floats (first at m.ndjson:2), texts (first at m.ndjson:4): 1 value that is not a number was left out"), "{said}");
}

#[test]
fn all_values_have_one_order() {
    let column = |sql: &str| {
        let out = answer(sql);
        out.lines().map(|line| line.trim_start_matches("{\"v\":").trim_end_matches('}').to_owned()).collect::<Vec<_>>()
    };
    let order = ["true", "9007199254740992.5", "9007199254740993", "1e400", "\"x\"", "[1]", "null"];
    assert_eq!(column("select b as v order by b"), order);
    let window = column("select first_value(b) over (order by b desc nulls last) as v limit 1");
    assert_eq!(window, ["[1]"]);
    assert_eq!(column("select lag(b) over (order by b) as v"), [&["null"], &order[..6]].concat());
    assert_eq!(
        answer("select min(b) as lo, max(b) as hi, max(a) as a").trim_end(),
        r#"{"lo":true,"hi":[1],"a":"fast"}"#
    );
    assert_eq!(answer("select max(b) as m where b < 1e300").trim_end(), r#"{"m":9007199254740993}"#);
    assert_eq!(
        answer("select greatest(b, 9007199254740992) as v, least(b, 0) as w where b < 1e300"),
        "{\"v\":9007199254740993,\"w\":0}\n{\"v\":9007199254740992.5,\"w\":0}\n"
    );
}

#[test]
fn values_are_passed_on_as_they_are() {
    for (sql, wanted) in [
        ("select coalesce(a, b, 'none') as v where k = 'z'", "{\"v\":[1]}\n{\"v\":0.1}\n{\"v\":true}"),
        (
            "select case when k = 'x' then a else 0 end as v where k <> 'z'",
            "{\"v\":1}\n{\"v\":200.5}\n{\"v\":0}\n{\"v\":\"fast\"}",
        ),
        ("select nullif(a, 1.0) as v where k = 'x'", "{\"v\":null}\n{\"v\":200.5}\n{\"v\":\"fast\"}"),
        (
            "select upper(a) as v, a || '!' as w where k = 'x'",
            "{\"v\":null,\"w\":\"1!\"}\n{\"v\":null,\"w\":\"200.5!\"}\n{\"v\":\"FAST\",\"w\":\"fast!\"}",
        ),
        (
            "select v from (select a as v from stream where k = 'y' union all select 'none') order by v",
            "{\"v\":270}\n{\"v\":\"none\"}",
        ),
        (
            "select v from (select a as v from stream union select 1.0 as v) where v < 2 order by v",
            "{\"v\":0.1}\n{\"v\":1}",
        ),
        ("select cast(a as double) as v, cast(a as varchar) as w where k = 'x' limit 1", "{\"v\":1.0,\"w\":\"1\"}"),
    ] {
        assert_eq!(answer(sql).trim_end(), wanted, "{sql}");
    }
}

#[test]
fn a_type_that_changes_late_gives_the_same_answer() {
    // The types of the first records are guessed to be those of all; the last record says otherwise.
    let mut text = String::new();
    for i in 0..30_000 {
        let _fits = writeln!(text, "{{\"k\":{},\"a\":{}.5}}", i % 3, i % 1000);
    }
    let folder =
        Folder::new("late").with("a.ndjson", &text).with("b.ndjson", "{\"k\":0,\"a\":\"x\"}\n{\"k\":1,\"a\":1e400}\n");
    let sql = "select k, sum(a) as s, max(a) as m, count(*) as n where a is null or a < 1e300 or a = 'x' group by k order by k";
    let (out, said, code) = folder.query(&[sql, "a.ndjson", "b.ndjson"], b"");
    assert_eq!((out.lines().count(), code), (3, 0), "{said}");
    let sums: Vec<(String, String)> = out
        .lines()
        .map(|line| jird::from_str::<jird::Json>(line).unwrap())
        .map(|row| (row["s"].to_string(), row["m"].to_string()))
        .collect();
    // In each group: the values i mod 1000 for every third i below 30,000, and a half each.
    let sum = |group: u64| (0..30_000).filter(|i| i % 3 == group).map(|i| i % 1000).sum::<u64>() + 5000;
    let wanted = [(sum(0), "\"x\""), (sum(1), "999.5"), (sum(2), "999.5")];
    assert_eq!(sums, wanted.map(|(sum, max)| (sum.to_string(), max.to_owned())));
}

/// Values of every kind; ties between 1 and 1.0; integers that one double stands for.
const KINDS: &str = r#"{"id":1,"k":"a","v":1.0}
{"id":2,"k":"b","v":1}
{"id":3,"k":"a","v":1}
{"id":4,"k":"b","v":"x"}
{"id":5,"k":"b","v":null}
{"id":6,"k":"c"}
{"id":7,"k":"c","v":true}
{"id":8,"k":"c","v":9007199254740993}
{"id":9,"k":"c","v":9007199254740992}
{"id":10,"k":"d","v":[1,2]}
{"id":11,"k":"d","v":0.1}
"#;

#[test]
fn what_is_computed_from_values_of_all_kinds_is_of_all_kinds_too() {
    let folder = Folder::new("kinds").with("k.ndjson", KINDS);
    for (sql, wanted) in [
        ("select max(coalesce(v, 0)) as m where id < 10 and id <> 4", "{\"m\":9007199254740993}"),
        ("select max(case when id > 0 then v end) as m, min(nullif(v, true)) as n", "{\"m\":[1,2],\"n\":0.1}"),
        ("select greatest(coalesce(v, 0), 5) as g where id = 2", "{\"g\":5}"),
        ("select greatest(v, null) as g where id = 2", "{\"g\":1}"),
        (
            "select case when id = 2 then v else (null) end as c where id in (2, 3) order by id",
            "{\"c\":1}\n{\"c\":null}",
        ),
        ("select case when id = 4 then v else 1.0/0 end as c where id = 3", "{\"c\":null}"),
        (
            "select id from stream where id < 9 order by coalesce(v, 0), id",
            "{\"id\":7}\n{\"id\":5}\n{\"id\":6}\n{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n{\"id\":8}\n{\"id\":4}",
        ),
        ("select coalesce(v, 0) as x, count(*) as n where id < 4 group by coalesce(v, 0)", "{\"x\":1,\"n\":3}"),
        (
            "select x, count(*) as n from (select coalesce(v, 0) as x from stream where id < 4) group by x",
            "{\"x\":1,\"n\":3}",
        ),
        (
            "select count(coalesce(v, 0)) as a, count(case when id > 0 then v end) as b, count(distinct coalesce(v, 0)) as c",
            "{\"a\":11,\"b\":9,\"c\":8}",
        ),
        (
            "select coalesce(v, 0) as x from stream where id < 4 union select coalesce(v, 0) from stream where id < 4",
            "{\"x\":1}",
        ),
        ("select id where v = (select max(v) from stream where k = 'b')", "{\"id\":4}"),
        ("select id where coalesce(v, 0) = 9007199254740993", "{\"id\":8}"),
        ("select k, max(v) as m group by k having max(v) = 9007199254740993", "{\"k\":\"c\",\"m\":9007199254740993}"),
        ("select k, max(v) as m group by k having max(v) = 9007199254740992", ""),
        ("select count(*) as n where coalesce(v, false)", "{\"n\":1}"),
        (
            "select id, rank() over (order by v) as r where id < 4 order by id",
            "{\"id\":1,\"r\":1}\n{\"id\":2,\"r\":1}\n{\"id\":3,\"r\":1}",
        ),
        ("select id where id < 4 order by v, id", "{\"id\":1}\n{\"id\":2}\n{\"id\":3}"),
        ("select lag(v, -1) over (order by id) as n where id < 3", "{\"n\":1}\n{\"n\":null}"),
        (
            "select x from (select v as x from stream where id = 2 union all values ('a')) order by x",
            "{\"x\":1}\n{\"x\":\"a\"}",
        ),
        (
            "select sum(distinct v) as s, avg(distinct v) as m where id in (2, 3, 8, 9, 11)",
            "{\"s\":18014398509481986.1,\"m\":4503599627370497.0}",
        ),
        ("select avg(distinct id) as m, sum(distinct id) as s where id < 4", "{\"m\":2.0,\"s\":6}"),
    ] {
        let (out, said, code) = folder.query(&[sql, "k.ndjson"], b"");
        assert_eq!((out.trim_end(), code), (wanted, 0), "{sql}: {said}");
        for more in [&["--threads", "3", "--chunk-bytes", "60"][..], &["--threads", "1"]] {
            let (again, said, _) = folder.query(&[&[sql, "k.ndjson"], more].concat(), b"");
            let sorted = |text: &str| {
                let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
                lines.sort();
                lines
            };
            assert_eq!(sorted(&again), sorted(&out), "{sql}: {said}");
        }
    }
    for sql in [
        "select sum(id) over (order by v range between 1 preceding and current row) from stream",
        "select id where v is distinct from max(v) over ()",
        "select cast(v as interval) as b",
        "(select id + 1 as x from stream order by x limit 1) union all select v from stream",
    ] {
        let (out, said, code) = folder.query(&[sql, "k.ndjson"], b"");
        assert!(out.is_empty() && code == 2 && !said.contains("bug"), "{sql}: {out} {said}");
    }
}

#[test]
fn a_sum_of_extreme_numbers_ends() {
    let long = format!("{{\"v\":1{}}}\n{{\"v\":0.5}}\n", "0".repeat(1 << 20));
    let folder = Folder::new("extreme")
        .with("min.ndjson", "{\"v\":-170141183460469231731687303715884105728}\n{\"v\":0}\n{\"v\":0.5}\n")
        .with("long.ndjson", long);
    let (out, said, _) = folder.query(&["select sum(v) as s, avg(v) as m", "min.ndjson"], b"");
    assert_eq!(out, "{\"s\":-1.701411834604692317316873037158841057275e38,\"m\":-5.671372782015641e37}\n", "{said}");
    let (_, said, code) = folder.query(&["select sum(v) as s", "long.ndjson"], b"");
    assert!(code == 2 && said.len() < 1000, "{said}");
}

fn gives(text: &str, sql: &str, wanted: &str) {
    let folder = Folder::new("gives").with("e.ndjson", text);
    assert_eq!(folder.query(&[sql, "e.ndjson"], b""), (wanted.to_owned(), String::new(), 0), "{sql}");
}

#[test]
fn sums_divide_as_people_divide() {
    let text = "{\"e\":1}\n{\"e\":2}\n{\"e\":2}\n";
    gives(text, "select sum(e)/count(*) as r, sum(e) as s", "{\"r\":1.6666666666666667,\"s\":5}\n");
    gives(text, "select sum(e) / sum(e * 3) as r FROM Stream", "{\"r\":0.3333333333333333}\n");
}

#[test]
fn sums_do_not_depend_on_the_order_of_records() {
    let mut text = String::new();
    for i in 0..20_000_u64 {
        let _fits = writeln!(text, "{{\"k\":{},\"e\":{}.{:03}}}", i % 2, i * i % 977, i % 1000);
    }
    let folder = Folder::new("sums").with("e.ndjson", &text);
    let sql = "select k, sum(e) as s, avg(e) as m, sum(e * 1.5) as t group by k order by k";
    let whole = folder.query(&[sql, "e.ndjson", "--threads", "1"], b"").0;
    // The sums, from integers.
    let sum = |k: u64| (0..20_000).filter(|i| i % 2 == k).map(|i| i * i % 977 * 1000 + i % 1000).sum::<u64>();
    for (line, k) in whole.lines().zip(0..) {
        let thousandths: f64 = format!("{}e-3", sum(k)).parse().unwrap();
        let wanted = format!("{{\"k\":{k},\"s\":{thousandths:?},");
        assert!(line.starts_with(&wanted), "{line} {wanted}");
    }
    for threads in ["2", "3", "7"] {
        assert_eq!(folder.query(&[sql, "e.ndjson", "--threads", threads, "--chunk-bytes", "5000"], b"").0, whole);
    }
    gives(
        "{\"i\":1,\"x\":1e20}\n{\"i\":2,\"x\":1}\n{\"i\":3,\"x\":1}\n",
        "select sum(x) over (order by i rows between 1 preceding and current row) as w",
        "{\"w\":1e20}\n{\"w\":1e20}\n{\"w\":2.0}\n",
    );
}

/// The answer, whatever the notes say.
fn answers(text: &str, sql: &str, wanted: &str) {
    let folder = Folder::new("answers").with("e.ndjson", text);
    let (out, said, code) = folder.query(&[sql, "e.ndjson"], b"");
    assert_eq!((out.as_str(), code), (wanted, 0), "{sql}: {said}");
}

#[test]
fn numbers_other_than_zero_are_true_in_if() {
    let text = "{\"n\":0}\n{\"n\":7}\n{\"n\":0.0}\n{\"n\":0.5}\n{\"n\":-0}\n{\"n\":null}\n{}\n";
    let wanted =
        "{\"t\":\"n\"}\n{\"t\":\"y\"}\n{\"t\":\"n\"}\n{\"t\":\"y\"}\n{\"t\":\"n\"}\n{\"t\":\"n\"}\n{\"t\":\"n\"}\n";
    answers(text, "select if(n, 'y', 'n') as t", wanted);
    answers(text, "select iif((n), 'y', 'n') as t", wanted);
    answers(text, "select if(m, 'y', 'n') as t from (select n as m from stream)", wanted);
    answers(text, "select count(*) as c where if(n, 1, 0) = 1", "{\"c\":2}\n");
    let mixed = "{\"n\":true}\n{\"n\":2}\n{\"n\":false}\n{\"n\":\"x\"}\n";
    answers(mixed, "select if((n), 1, 0) as t", "{\"t\":1}\n{\"t\":1}\n{\"t\":0}\n{\"t\":0}\n");
    answers("{\"a\":1}\n", "select if(coalesce(b, false), 1, 0) as t", "{\"t\":0}\n");
    answers(mixed, "select if(n, 1, 0) as t", "{\"t\":1}\n{\"t\":1}\n{\"t\":0}\n{\"t\":0}\n");
}

#[test]
fn integers_beside_texts_are_rounded_exactly() {
    let text = "{\"a\":9007199254740993}\n{\"a\":2.25}\n{\"a\":\"x\"}\n{\"a\":-15}\n";
    answers(text, "select round(a, 1) as r", "{\"r\":9007199254740993}\n{\"r\":2.3}\n{\"r\":null}\n{\"r\":-15}\n");
    answers(text, "select round(a, -1) as r", "{\"r\":9007199254740990}\n{\"r\":0.0}\n{\"r\":null}\n{\"r\":-20}\n");
    answers(text, "select trunc(a, 1) as r", "{\"r\":9007199254740993}\n{\"r\":2.2}\n{\"r\":null}\n{\"r\":-15}\n");
    answers(text, "select round(a) as r", "{\"r\":9007199254740993}\n{\"r\":2.0}\n{\"r\":null}\n{\"r\":-15}\n");
    answers(text, "select round(a, 400) as r", "{\"r\":9007199254740993}\n{\"r\":2.25}\n{\"r\":null}\n{\"r\":-15}\n");
    let folder = Folder::new("arguments").with("e.ndjson", text);
    for call in ["abs(a, 5)", "round(a, 1, 2)"] {
        let (out, said, code) = folder.query(&[&format!("select {call} as r"), "e.ndjson"], b"");
        assert_eq!((out.as_str(), code), ("", 2), "{call}: {said}");
    }
}

#[test]
fn distinct_values_are_counted_and_listed_by_value() {
    let text = "{\"a\":1}\n{\"a\":1.0}\n{\"a\":\"x\"}\n{\"a\":1e0}\n{\"a\":null}\n{}\n";
    answers(text, "select approx_distinct(a) as n, count(distinct a) as c", "{\"n\":2,\"c\":2}\n");
    answers(text, "select group_concat(distinct a) as s where a = 1", "{\"s\":\"1\"}\n");
    answers(text, "select length(string_agg(distinct a, '+')) as n", "{\"n\":3}\n");
    let numbers = "{\"a\":1}\n{\"a\":1.0}\n{\"a\":2.5}\n{\"a\":18446744073709551616}\n";
    answers(numbers, "select approx_distinct(a) as n", "{\"n\":3}\n");
}
