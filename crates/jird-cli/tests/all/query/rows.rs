//! `jird query`: `in (select …)` wherever it stands, and distinct values in an order.
#![expect(clippy::format_collect, reason = "texts to test, not to hurry")]

use crate::folder::{Folder, one_answer};

const ROWS: &str = r#"{"a":1,"b":"x"}
{"a":2,"b":"y"}
{"a":null,"b":"x"}
{"a":9007199254740993,"b":null}
"#;

/// The values of the column `i` for each of [`ROWS`], in their order.
#[track_caller]
fn answers(others: &str, expression: &str, wanted: [Option<bool>; 4]) {
    let folder = Folder::new("answers").with("a.ndjson", ROWS).with("t.ndjson", others);
    let json = |answer: Option<bool>| answer.map_or("null".to_owned(), |answer| answer.to_string());
    let as_column = format!("select {expression} as i");
    let (out, said, code) = folder.query(&[&as_column, "a.ndjson"], b"");
    let lines =
        |wanted: &[Option<bool>]| wanted.iter().map(|&i| format!("{{\"i\":{}}}\n", json(i))).collect::<String>();
    assert_eq!((out, code), (lines(&wanted), 0), "{as_column}: {said}");
    // Within a condition, the unknown must not become false.
    let unknown = wanted.iter().filter(|answer| answer.is_none()).count();
    let kept = wanted.iter().filter(|answer| **answer == Some(true)).count();
    let rejected = wanted.iter().filter(|answer| **answer == Some(false)).count();
    for (condition, count) in [
        (expression.to_owned(), kept),
        (format!("not ({expression})"), rejected),
        (format!("({expression}) or b = 'never'"), kept),
        (format!("not (({expression}) or b = 'never' and b = 'x')"), rejected),
        (format!("({expression}) is null"), unknown),
        (format!("case when {expression} then 1 else 2 end = 2"), unknown + rejected),
    ] {
        let sql = format!("select count(*) as n where {condition}");
        let (out, said, code) = folder.query(&[&sql, "a.ndjson"], b"");
        // `b` is null in one row, where the other side of `or` is unknown.
        let wanted = if condition.ends_with("b = 'x')") && wanted[3] == Some(false) { count - 1 } else { count };
        assert_eq!((out, code), (format!("{{\"n\":{wanted}}}\n"), 0), "{sql}: {said}");
    }
}

#[test]
fn whether_a_value_is_in_a_subquery_may_be_unknown() {
    let (yes, no) = (Some(true), Some(false));
    let ones = "{\"c\":1.0,\"d\":\"x\"}\n{\"c\":5,\"d\":\"y\"}\n";
    let with_null = "{\"c\":1,\"d\":\"x\"}\n{\"c\":null,\"d\":\"y\"}\n";
    answers(ones, "a in (select c from 't.ndjson')", [yes, no, None, no]);
    answers(ones, "a not in (select c from 't.ndjson')", [no, yes, None, yes]);
    answers(with_null, "a in (select c from 't.ndjson')", [yes, None, None, None]);
    answers(with_null, "a not in (select c from 't.ndjson')", [no, None, None, None]);
    answers("", "a in (select c from 't.ndjson')", [no, no, no, no]);
    answers("", "a not in (select c from 't.ndjson')", [yes, yes, yes, yes]);
    // Computed on both sides, of other types, and exact.
    answers("{\"c\":9007199254740992}\n", "a + 0 in (select c + 1 from 't.ndjson')", [no, no, None, yes]);
    answers("{\"c\":9007199254740992.0}\n", "a in (select max(c) from 't.ndjson')", [no, no, None, no]);
    answers(ones, "upper(b) in (select upper(d) from 't.ndjson')", [yes, yes, yes, None]);
}

#[test]
fn whether_a_row_is_in_a_subquery_may_be_unknown() {
    let (yes, no) = (Some(true), Some(false));
    let rows = "{\"c\":1.0,\"d\":\"x\"}\n{\"c\":3,\"d\":\"y\"}\n";
    answers(rows, "(a, b) in (select c, d from 't.ndjson')", [yes, no, None, no]);
    answers(rows, "(a, b) not in (select c, d from 't.ndjson')", [no, yes, None, yes]);
    let with_nulls = "{\"c\":2,\"d\":null}\n{\"c\":null,\"d\":\"q\"}\n";
    answers(with_nulls, "(a, b) in (select c, d from 't.ndjson')", [no, None, None, None]);
    answers("", "(a, b) in (select c, d from 't.ndjson')", [no, no, no, no]);
}

#[test]
fn a_subquery_may_depend_on_the_row() {
    let text = "{\"i\":1,\"k\":\"a\",\"v\":2}\n{\"i\":2,\"k\":\"a\",\"v\":1}\n{\"i\":3,\"k\":\"b\",\"v\":3}\n{\"i\":4,\"k\":\"c\"}\n";
    for (sql, out) in [
        (
            "select l.i, l.i in (select s.v from stream s where s.k = l.k) as m from stream l order by 1",
            "{\"i\":1,\"m\":true}\n{\"i\":2,\"m\":true}\n{\"i\":3,\"m\":true}\n{\"i\":4,\"m\":null}\n",
        ),
        ("select l.i from stream l where l.v not in (select s.i from stream s where s.k = l.k) order by 1", ""),
        (
            "select l.i from stream l where l.v not in (select s.i + 2 from stream s where s.k = l.k) order by 1",
            "{\"i\":1}\n{\"i\":2}\n{\"i\":3}\n",
        ),
    ] {
        assert_eq!(one_answer(text, sql), out, "{sql}");
    }
}

#[test]
fn a_subquery_of_rows_takes_linear_time() {
    let rows = |from: u64| (from..from + 30_000).map(|n| format!("{{\"a\":{n},\"b\":\"t{n}\"}}\n")).collect::<String>();
    let folder = Folder::new("many").with("a.ndjson", rows(0)).with("t.ndjson", rows(10_000));
    let started = std::time::Instant::now();
    for (sql, count) in [
        ("select count(*) as n where (a, b) not in (select a, b from 't.ndjson')", 10_000),
        ("select count(*) as n where (a, b) in (select a, b from 't.ndjson')", 20_000),
        ("select count(*) as n where not ((a, b) in (select a, b from 't.ndjson') or b = 't1')", 9_999),
        ("select sum(m::int) as n from (select a in (select a from 't.ndjson') as m from stream)", 20_000),
    ] {
        let (out, said, code) = folder.query(&[sql, "a.ndjson"], b"");
        assert_eq!((out, code), (format!("{{\"n\":{count}}}\n"), 0), "{sql}: {said}");
    }
    // All pairs are 900 million.
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

#[test]
fn what_is_compared_must_have_the_columns_of_the_subquery() {
    let folder = Folder::new("columns").with("a.ndjson", ROWS);
    for sql in [
        "select a where (a, b) in (select a from stream)",
        "select a in (select a, b from stream) as i",
        "select a where a in (select a, b from stream)",
    ] {
        let (_, said, code) = folder.query(&[sql, "a.ndjson"], b"");
        assert!(code == 2 && said.contains("compared with"), "{sql}: {said}");
    }
}

#[test]
fn distinct_values_are_collected_in_any_order() {
    let text = "{\"g\":1,\"n\":2,\"m\":\"b\"}\n{\"g\":1,\"n\":1,\"m\":2}\n{\"g\":1,\"n\":2.0,\"m\":10}\n{\"g\":1,\"n\":10,\"m\":2.0}\n\
                {\"g\":1,\"m\":null}\n{\"g\":1,\"n\":null,\"m\":[1]}\n{\"g\":2,\"n\":null,\"m\":{\"k\":1.0}}\n";
    let typed = text.replace("2.0", "2");
    for (text, sql, out) in [
        (
            typed.as_str(),
            "select array_agg(distinct n order by n) as u, array_agg(distinct n order by n desc) as d where g = 1",
            "{\"u\":[1,2,10,null],\"d\":[null,10,2,1]}\n",
        ),
        (
            typed.as_str(),
            "select g, array_agg(distinct n order by n desc nulls last) filter (where n > 1) as d group by g order by g",
            "{\"g\":1,\"d\":[10,2]}\n{\"g\":2,\"d\":null}\n",
        ),
        (
            text,
            "select array_agg(distinct m order by m) as u, array_agg(distinct m order by m desc) as d",
            "{\"u\":[2,10,\"b\",[1],{\"k\":1},null],\"d\":[null,{\"k\":1},[1],\"b\",10,2]}\n",
        ),
        (
            text,
            "select string_agg(distinct m, '-' order by m desc) as s, string_agg(distinct m, '+' order by m) as t where g = 1",
            "{\"s\":\"[1]-b-10-2\",\"t\":\"2+10+b+[1]\"}\n",
        ),
        (
            typed.as_str(),
            "select group_concat(distinct n order by n) as s, string_agg(distinct text(n), '' order by text(n) desc) as t",
            "{\"s\":\"1,2,10\",\"t\":\"2101\"}\n",
        ),
        (text, "select string_agg(distinct n, '-' order by n) as s where g = 2", "{\"s\":null}\n"),
    ] {
        assert_eq!(one_answer(text, sql), out, "{sql}");
    }
}

#[test]
fn computed_integers_and_doubles_compare_exactly() {
    let text = "{\"i\":9007199254740993,\"f\":9007199254740992.0}\n{\"i\":1,\"f\":1.5}\n";
    for (sql, out) in [
        (
            "select i + 0 = f as e, i - 0 > f + 0.0 as g, i + 0 <> f as n order by i",
            "{\"e\":false,\"g\":false,\"n\":true}\n{\"e\":false,\"g\":true,\"n\":true}\n",
        ),
        (
            "select i + 0 between 0.0 and f + 0.0 as b, i + 0 not between f and 1e300 as o, i * 1 in (f + 0.0, 1.5) as m order by i",
            "{\"b\":true,\"o\":true,\"m\":false}\n{\"b\":false,\"o\":false,\"m\":false}\n",
        ),
        ("select max(i) as m having max(i) = 9007199254740992.0", ""),
        ("select max(i) as m having max(i) > 9007199254740992.0", "{\"m\":9007199254740993}\n"),
        ("select count(*) as n from stream a join stream b on a.i + 0 = b.f + 0.0", "{\"n\":0}\n"),
        ("select sum(i) > 9007199254740994.5 as g, sum(i) = 9007199254740994.0 as e", "{\"g\":false,\"e\":true}\n"),
        (
            "select coalesce(i + 0, 0.5) as c, greatest(i * 1, f) as g order by i limit 1 offset 1",
            "{\"c\":9007199254740993,\"g\":9007199254740993}\n",
        ),
        (
            "select 9007199254740993 = 9007199254740992.0 as e, 9007199254740993 > 9007199254740992.0 as g limit 1",
            "{\"e\":false,\"g\":true}\n",
        ),
    ] {
        assert_eq!(one_answer(text, sql), out, "{sql}");
    }
}

#[test]
fn a_quantile_of_mixed_values_is_one_of_the_numbers() {
    let text = "{\"v\":3}\n{\"v\":\"x\"}\n{\"v\":1.50}\n{\"v\":[0]}\n{\"v\":null}\n{\"v\":2}\n";
    assert_eq!(one_answer(text, "select quantile(v, 0.5) as q"), "{\"q\":2}\n");
    assert_eq!(one_answer(text, "select quantile_disc(v, 0) as l"), "{\"l\":1.50}\n");
    let arrays = "{\"l\":[7,\"x\",null]}\n";
    let sql = "select array_element(l, 1) as f, array_element(l, -2) as x, array_element(l, 4) as n, array_element(l, 0) as z";
    assert_eq!(one_answer(arrays, sql), "{\"f\":7,\"x\":\"x\",\"n\":null,\"z\":null}\n");
}
