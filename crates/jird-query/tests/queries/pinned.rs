//! Records that other tools read wrong, each with what they make of it; as seen with `DuckDB` 2.0.0 (`read_json`, what it infers) and
//! Polars 2.1.0 (`scan_ndjson`).

use crate::model::{Folder, Form, Way};
use jird_query::{Check, ErrorKind, OnError};
use std::sync::atomic::{AtomicU32, Ordering};

const WAYS: [Way; 4] = [
    Way { form: Form::Lines, check: Check::All, threads: 1, chunk_bytes: None },
    Way { form: Form::Lines, check: Check::All, threads: 5, chunk_bytes: Some(1) },
    Way { form: Form::Lines, check: Check::Touched, threads: 2, chunk_bytes: Some(31) },
    Way { form: Form::Lines, check: Check::Trusted, threads: 1, chunk_bytes: None },
];

/// A folder that holds a text.
fn holding(text: &str) -> Folder {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut folder = Folder::new(&format!("pinned-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
    folder.hold(&[text]);
    folder
}

/// The query prints these lines, however it is run.
#[track_caller]
fn gives(text: &str, sql: &str, lines: &[&str]) {
    let folder = holding(text);
    for way in WAYS {
        let (found, _) = folder.run(sql, way).unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_eq!(found.lines().collect::<Vec<_>>(), lines, "{sql} {way:?}");
    }
}

/// Many records with a number, and then this line.
fn after_many(line: &str) -> String {
    (0..30_000).map(|i| format!("{{\"i\":{i},\"v\":{i}}}\n")).chain([line.to_owned()]).collect()
}

#[test]
fn a_key_that_comes_late_has_its_values() {
    let text = after_many("{\"i\":-1,\"trace\":\"at main\"}\n");
    // `select *`: Polars drops the text without a word; DuckDB fails with "has unknown key". A column by its name: neither knows it.
    let folder = holding(&text);
    let way = Way { form: Form::Lines, check: Check::All, threads: 2, chunk_bytes: Some(64 << 10) };
    let last = |sql: &str| folder.run(sql, way).unwrap().0.lines().last().map(str::to_owned);
    assert_eq!(last("select *").unwrap(), "{\"i\":-1,\"trace\":\"at main\"}");
    assert_eq!(last("select i, trace where trace is not null").unwrap(), "{\"i\":-1,\"trace\":\"at main\"}");
    assert_eq!(last("select max(upper(trace)) as t, count(trace) as n").unwrap(), "{\"t\":\"AT MAIN\",\"n\":1}");
    assert_eq!(last("select *, 1 as one").unwrap(), "{\"i\":-1,\"trace\":\"at main\",\"one\":1}");
}

#[test]
fn a_type_that_comes_late_is_no_error() {
    // DuckDB: "Failed to cast value to numerical"; Polars: "cannot parse 'x' (string) as Int64".
    let folder = holding(&after_many("{\"i\":-1,\"v\":\"x\"}\n"));
    let way = Way { form: Form::Lines, check: Check::All, threads: 2, chunk_bytes: Some(64 << 10) };
    let found = |sql: &str| folder.run(sql, way).unwrap().0;
    assert_eq!(found("select v where i = -1"), "{\"v\":\"x\"}\n");
    assert_eq!(found("select i where v = 'x' or v > 29998"), "{\"i\":29999}\n{\"i\":-1}\n");
    assert_eq!(found("select sum(number(v)) as s, count(v) as n"), "{\"s\":449985000.0,\"n\":30001}\n");
}

#[test]
fn values_of_several_types_keep_them() {
    // DuckDB: `a = 1` is true of all three, and `a` is JSON; Polars: all become texts, `1` and `"1"` the same one, and `a == 1` fails.
    let text = "{\"i\":1,\"a\":1}\n{\"i\":2,\"a\":\"1\"}\n{\"i\":3,\"a\":true}\n";
    gives(text, "select i where a = 1", &["{\"i\":1}"]);
    gives(text, "select i where a = '1'", &["{\"i\":2}"]);
    gives(text, "select i where a = true", &["{\"i\":3}"]);
    gives(text, "select i where not (a <> '1')", &["{\"i\":2}"]);
    gives(text, "select count(distinct a) as n", &["{\"n\":3}"]);
}

#[test]
fn integers_of_any_size_are_whole() {
    // DuckDB: doubles; it loses row 2 of the first query, and counts three distinct ones. Polars: right, as Int128.
    let text = "{\"i\":1,\"n\":9223372036854775807}\n{\"i\":2,\"n\":9223372036854775808}\n{\"i\":3,\"n\":18446744073709551616}\n{\"i\":4,\"n\":10000000000000000000000001}\n{\"i\":5,\"n\":10000000000000000000000000}\n";
    gives(text, "select i where n > 9223372036854775807", &["{\"i\":2}", "{\"i\":3}", "{\"i\":4}", "{\"i\":5}"]);
    gives(text, "select count(distinct n) as c", &["{\"c\":5}"]);
    gives(text, "select i where n = 1e25", &["{\"i\":5}"]);
    gives(text, "select max(n) as m, min(n) as l", &["{\"m\":10000000000000000000000001,\"l\":9223372036854775807}"]);
    gives(text, "select sum(n) as s", &["{\"s\":20000036893488147419103232}"]);
    gives(
        text,
        "select n order by n desc limit 2",
        &["{\"n\":10000000000000000000000001}", "{\"n\":10000000000000000000000000}"],
    );
    // Polars: -9223372036854775808.
    gives("{\"n\":9223372036854775807}\n{\"n\":1}\n", "select sum(n) as s", &["{\"s\":9223372036854775808}"]);
}

#[test]
fn an_integer_beside_a_fraction_is_not_rounded() {
    // DuckDB, Polars: 9007199254740992.0, and the sum of it.
    let text = "{\"n\":9007199254740993}\n{\"n\":1.5}\n";
    gives(text, "select n", &["{\"n\":9007199254740993}", "{\"n\":1.5}"]);
    gives(text, "select n where n = 9007199254740993", &["{\"n\":9007199254740993}"]);
    gives(text, "select n where n = 9007199254740992", &[]);
    gives(text, "select sum(n) as s, max(n) as m", &["{\"s\":9007199254740994.5,\"m\":9007199254740993}"]);
}

#[test]
fn an_integer_beside_a_fraction_is_handed_on_with_all_its_digits() {
    // Exactly 2⁶⁴, a double, whose shortest decimal is 18446744073709552000.
    let text = "{\"n\":18446744073709551616}\n{\"n\":1.5}\n";
    gives(text, "select max(n) as m, min(n) as l", &["{\"m\":18446744073709551616,\"l\":1.5}"]);
}

#[test]
fn decimals_compare_by_all_their_digits() {
    // DuckDB: 0.1 twice, and infinite. Polars: "InvalidNumber" of what is RFC 8259.
    let text = "{\"n\":0.1}\n{\"n\":0.10000000000000000001}\n{\"n\":1e400}\n{\"n\":0.10}\n";
    gives(text, "select n where n = 0.1", &["{\"n\":0.1}", "{\"n\":0.10}"]);
    gives(text, "select n where n > 0.1", &["{\"n\":0.10000000000000000001}", "{\"n\":1e400}"]);
    gives(text, "select n where n between 1e399 and 1e401", &["{\"n\":1e400}"]);
    gives(text, "select count(distinct n) as c", &["{\"c\":3}"]);
}

#[test]
fn of_a_repeated_key_the_first_counts() {
    // DuckDB: "has duplicate key". Polars: the first too.
    let text = "{\"a\":1,\"a\":2}\n{\"a\":null,\"\\u0061\":3}\n{\"p\":{\"q\":1},\"p\":{\"r\":2}}\n";
    gives(text, "select a, p.r as r", &["{\"a\":1}", "{\"a\":null}", "{}"]);
    gives(text, "select a where a = 2 or a = 3 or p.r = 2", &[]);
    gives(text, "select sum(a) as s, count(a) as n", &["{\"s\":1,\"n\":1}"]);
    gives(text, "select *", &text.lines().collect::<Vec<_>>());
}

#[test]
fn null_is_not_missing() {
    // DuckDB, Polars: both are null, and neither can tell.
    let text = "{\"i\":1,\"a\":null}\n{\"i\":2}\n{\"i\":3,\"a\":1}\n";
    gives(text, "select i, a", &["{\"i\":1,\"a\":null}", "{\"i\":2}", "{\"i\":3,\"a\":1}"]);
    gives(text, "select i where json_type(a) = 'null'", &["{\"i\":1}"]);
    gives(text, "select i where json_type(a) is null", &["{\"i\":2}"]);
    gives(text, "select i where a is null", &["{\"i\":1}", "{\"i\":2}"]);
    gives(text, "select i where a <> 1 or not (a = 1)", &[]);
}

#[test]
fn names_that_differ_in_case_are_two() {
    // DuckDB: `select a, "A"` gives 1 twice.
    gives("{\"a\":1,\"A\":2}\n", "select a, A, \"A\" as b", &["{\"a\":1,\"A\":2,\"b\":2}"]);
}

#[test]
fn a_text_that_looks_like_a_date_is_one() {
    // DuckDB: a DATE, which of `2024-1-2` makes `2024-01-02`, and for which there is no `like`; and a UUID in small letters.
    let text = "{\"t\":\"2024-01-01\"}\n{\"t\":\"2024-1-2\"}\n{\"t\":\"CAFEBABE-0000-0000-0000-000000000001\"}\n";
    gives(
        text,
        "select t where t like '%-1-2' or t like 'CAFE%'",
        &["{\"t\":\"2024-1-2\"}", "{\"t\":\"CAFEBABE-0000-0000-0000-000000000001\"}"],
    );
    gives(text, "select max(t) as m, min(t) as l where t < 'C'", &["{\"m\":\"2024-1-2\",\"l\":\"2024-01-01\"}"]);
}

#[test]
fn a_broken_line_is_named_and_no_other_is_lost() {
    // `{"a":1,}`: DuckDB takes it for {"a":1} without a word; Polars names no line. Of `tru` DuckDB says that line 3 is wrong.
    for line in ["{\"a\":2,}", "{\"a\":tru}", "{\"a\":2} {\"a\":3}", "{\"a\":2,\"b\":01}", "{\"a\":\"\\ud800\"}"] {
        let folder = holding(&format!("{{\"a\":1}}\n{line}\n{{\"a\":4}}\n"));
        for way in &WAYS[..2] {
            let error = folder.run("select a", *way).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Record, "{line}");
            assert!(error.to_string().contains(".ndjson:2:"), "{line}: {error}");
        }
        let (found, report) = folder.run_passing("select a", OnError::Skip).unwrap();
        assert_eq!((found.as_str(), report.bad), ("{\"a\":1}\n{\"a\":4}\n", 1), "{line}");
    }
}

#[test]
fn texts_have_the_order_of_their_bytes() {
    // Right with DuckDB and Polars too; in UTF-16, which others sort by, U+FFFD is behind U+1F600.
    let text =
        "{\"t\":\"\\ud83d\\ude00\"}\n{\"t\":\"\u{FFFD}\"}\n{\"t\":\"z\"}\n{\"t\":\"Z\"}\n{\"t\":\"é\"}\n{\"t\":\"\"}\n";
    let sorted =
        ["\"\"", "\"Z\"", "\"z\"", "\"é\"", "\"\u{FFFD}\"", "\"\\ud83d\\ude00\""].map(|t| format!("{{\"t\":{t}}}"));
    gives(text, "select t order by t", &sorted.each_ref().map(String::as_str));
    gives(text, "select t where t > '\u{FFFD}'", &["{\"t\":\"\\ud83d\\ude00\"}"]);
    gives(text, "select min(t) as l, max(t) as m", &["{\"l\":\"\",\"m\":\"\u{1F600}\"}"]);
}

#[test]
fn a_text_may_have_a_nul() {
    // Right with DuckDB and Polars too.
    let text = "{\"i\":1,\"t\":\"a\\u0000b\"}\n{\"i\":2,\"t\":\"a\"}\n";
    gives(text, "select i where t = 'a'", &["{\"i\":2}"]);
    gives(text, "select i, t where t like 'a_b'", &["{\"i\":1,\"t\":\"a\\u0000b\"}"]);
}

#[test]
fn what_is_no_value_is_last_or_first() {
    // As DuckDB does for an ascending order, and Polars for none: there nulls are first unless the query says where.
    // NaN is not JSON.
    let text = "{\"i\":1,\"a\":0}\n{\"i\":2,\"a\":-0.0}\n{\"i\":3,\"a\":null}\n{\"i\":4}\n{\"i\":5,\"a\":-1}\n";
    let order = |order: &str, wanted: [u8; 5]| {
        let lines = wanted.map(|i| format!("{{\"i\":{i}}}"));
        gives(text, &format!("select i order by a {order}"), &lines.each_ref().map(String::as_str));
    };
    order(", i", [5, 1, 2, 3, 4]);
    order("desc, i", [3, 4, 1, 2, 5]);
    order("nulls first, i desc", [4, 3, 5, 2, 1]);
    order("desc nulls last, i", [1, 2, 5, 3, 4]);
    let error = holding("{\"a\":NaN}\n").run("select a", WAYS[0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Record);
}

#[test]
fn a_group_is_its_value_however_it_was_spelled_and_whatever_is_asked_of_it() {
    // Right with DuckDB too, but that null and missing are a group called null.
    let text = "{\"t\":\"\\u0061\\n\\/\\b\\\"\\u00e9\",\"i\":1}\n{\"t\":null,\"i\":2}\n{\"t\":\"a\\u000A/\\u0008\\u0022é\",\"i\":3}\n{\"i\":4}\n";
    let groups = ["{\"t\":\"a\\n/\\b\\\"é\",\"n\":4}", "{\"t\":null,\"n\":6}"];
    // As JSON text; as JSON text and as the value it is made of; over a table, a table by another name, a subquery.
    gives(text, "select t, sum(i) as n group by t order by n", &groups);
    gives(text, "select t, sum(i) as n group by t order by t", &groups);
    gives(text, "select s.t, sum(i) as n from stream as s where i > 0 group by s.t order by s.t", &groups);
    gives(text, "select t, sum(i) as n from (select t, i from stream) as s group by t order by t", &groups);
    gives(text, "select t, sum(i) as n group by t having upper(t) = 'A\n/\u{8}\"É'", &groups[..1]);
    gives(text, "select distinct t order by t desc", &["{\"t\":null}", "{\"t\":\"a\\n/\\b\\\"é\"}"]);
    gives(
        text,
        "select t, upper(t) as u, sum(i) as n group by t order by t limit 1",
        &["{\"t\":\"a\\n/\\b\\\"é\",\"u\":\"A\\n/\\b\\\"É\",\"n\":4}"],
    );
    // Zeros are one, in whatever form they are handed on.
    let zeros = "{\"x\":-0.0,\"i\":1}\n{\"x\":0.0,\"i\":2}\n{\"x\":0.5,\"i\":4}\n";
    let grouped = ["{\"x\":0,\"n\":3}", "{\"x\":0.5,\"n\":4}"];
    gives(zeros, "select x, sum(i) as n group by x order by x", &grouped);
    gives(
        zeros,
        "select x, n from (select x, sum(i) as n from stream group by x) as s order by n",
        &grouped.map(|row| row.replace(":0,", ":0.0,")).each_ref().map(String::as_str),
    );
    // Numbers that are one double are still two.
    let text = "{\"x\":0.1}\n{\"x\":0.10000000000000000001}\n{\"x\":1e-1}\n";
    gives(
        text,
        "select x, count(*) as n group by x order by n",
        &["{\"x\":0.10000000000000000001,\"n\":1}", "{\"x\":0.1,\"n\":2}"],
    );
}

#[test]
fn a_union_is_json_whatever_its_sides_are() {
    let text = "{\"t\":\"a\",\"u\":1.0}\n{\"t\":\"b/\\\"\",\"u\":\"x\"}\n{\"u\":2}\n";
    let fields = ["{\"t\":1.0}", "{\"t\":\"x\"}", "{\"t\":2}"];
    let groups = ["{\"t\":\"a\"}", "{\"t\":\"b/\\\"\"}", "{\"t\":null}"];
    let sorted = |sql: &str, rows: &[&[&str]]| {
        let mut rows = rows.concat();
        rows.sort_unstable();
        for way in WAYS {
            let (found, _) = holding(text).run(sql, way).unwrap_or_else(|error| panic!("{sql}: {error}"));
            let mut found: Vec<_> = found.lines().collect();
            found.sort_unstable();
            assert_eq!(found, rows, "{sql} {way:?}");
        }
    };
    for inner in ["select t from stream group by t", "select distinct t from stream"] {
        sorted(&format!("select a.t from ({inner}) as a union all select u from stream"), &[&groups, &fields]);
        sorted(&format!("select u as t from stream union all select a.t from ({inner}) as a"), &[&groups, &fields]);
        sorted(&format!("select a.t from ({inner}) as a union select t from stream"), &[&groups]);
    }
    // Of several kinds, and numbers that are spelled differently.
    let mixed = ["{\"t\":1}", "{\"t\":2}", "{\"t\":\"x\"}"];
    sorted(
        "select a.u as t from (select u from stream group by u) as a union all select t from stream where t = 'c'",
        &[&mixed],
    );
    sorted(
        "select a.t from (select u as t from stream union all select u from stream) as a union select t from stream where t = 'c'",
        &[&mixed],
    );
}

#[test]
fn groups_of_a_subquery_are_values_wherever_they_are_used() {
    let text = "{\"i\":1,\"b\":true,\"n\":1,\"f\":0.5,\"t\":\"x\",\"m\":1}\n{\"i\":2,\"b\":false,\"n\":2,\"f\":1.0,\"t\":\"y\",\"m\":\"x\"}\n{\"i\":3,\"b\":true,\"n\":1,\"f\":0.50,\"t\":\"x\",\"m\":null}\n";
    let all = ["{\"i\":1}", "{\"i\":2}", "{\"i\":3}"];
    for field in ["b", "n", "f", "t", "m"] {
        let found = if field == "m" { &all[..2] } else { &all };
        let groups = format!("(select distinct {field} from stream) as g");
        gives(text, &format!("select l.i from stream as l join {groups} on l.{field} = g.{field} order by l.i"), found);
        gives(text, &format!("select l.i from stream as l join {groups} using ({field}) order by l.i"), found);
        gives(
            text,
            &format!(
                "select i from stream as l where exists (select 1 from {groups} where g.{field} = l.{field}) order by i"
            ),
            found,
        );
        let found = format!("select count(*) as n from {groups} where g.{field} in (select {field} from stream)");
        gives(text, &found, &["{\"n\":2}"]);
    }
    // A text is not a number, and has a type.
    let groups = "from (select distinct t from stream) as g";
    gives(text, &format!("select count(number(t)) as n, min(text(t)) as t {groups}"), &["{\"n\":0,\"t\":\"x\"}"]);
    gives(text, &format!("select distinct json_type(t) as k {groups}"), &["{\"k\":\"string\"}"]);
}

#[test]
fn windows_take_zeros_as_one() {
    let text = "{\"i\":1,\"f\":0.0}\n{\"i\":2,\"f\":-0.0}\n{\"i\":3,\"f\":0.5}\n{\"i\":4,\"f\":0.0}\n";
    gives(
        text,
        "select i, rank() over (order by f) as r, count(*) over (partition by f) as n, lag(i) over (order by f, i) as l order by i",
        &[
            "{\"i\":1,\"r\":1,\"n\":3,\"l\":null}",
            "{\"i\":2,\"r\":1,\"n\":3,\"l\":1}",
            "{\"i\":3,\"r\":4,\"n\":1,\"l\":4}",
            "{\"i\":4,\"r\":1,\"n\":3,\"l\":2}",
        ],
    );
}

#[test]
fn arrays_and_objects_compare_with_their_like() {
    let text = "{\"i\":1,\"o\":{\"q\":1}}\n{\"i\":2,\"o\":[1]}\n{\"i\":3,\"o\":5}\n";
    let all = ["{\"i\":1}", "{\"i\":2}", "{\"i\":3}"];
    gives(text, "select i where o = o", &all);
    gives(text, "select i where coalesce(o, 1) = coalesce(o, 2)", &all);
    gives(text, "select i where not (o < (select max(o) from stream))", &["{\"i\":1}"]);
    gives(text, "select i where o < 6 or o < [2]", &["{\"i\":2}", "{\"i\":3}"]);
}

#[test]
fn times_and_ranges_are_those_of_the_values() {
    let text = "{\"d\":\"2024-05-01T10:00:00Z\",\"n\":1,\"f\":-0.0}\n{\"d\":\"2024-05-01T10:30:00Z\",\"n\":2,\"f\":0.0}\n{\"d\":\"2025-05-01T10:00:00Z\",\"n\":4,\"f\":0.5}\n";
    let groups = "from (select distinct d from stream) as g";
    gives(
        text,
        &format!("select year(d) as y, count(*) as n {groups} group by year(d) order by y"),
        &["{\"y\":2024,\"n\":2}", "{\"y\":2025,\"n\":1}"],
    );
    gives(text, &format!("select count(timestamp(d)) as n {groups}"), &["{\"n\":3}"]);
    gives(
        text,
        "select sum(n) over (order by n range between 1 preceding and current row) as s order by n",
        &["{\"s\":1}", "{\"s\":3}", "{\"s\":4}"],
    );
    gives(
        text,
        "select count(*) over (order by f range between 0.5 preceding and current row) as s order by n",
        &["{\"s\":2}", "{\"s\":2}", "{\"s\":3}"],
    );
    let hour = "order by timestamp(d) range between interval '1 hour' preceding and current row";
    gives(text, &format!("select count(*) over ({hour}) as s order by n"), &["{\"s\":1}", "{\"s\":2}", "{\"s\":1}"]);
}

#[test]
fn a_field_without_any_value_goes_with_all_kinds() {
    let text = "{\"i\":1,\"t\":\"x\",\"b\":true}\n{\"i\":2,\"t\":\"y\",\"b\":null,\"never\":null}\n";
    gives(text, "select coalesce(never, 'none') as c", &["{\"c\":\"none\"}", "{\"c\":\"none\"}"]);
    gives(text, "select coalesce(never, t) as c", &["{\"c\":\"x\"}", "{\"c\":\"y\"}"]);
    gives(text, "select upper(coalesce(coalesce(never, other), t)) as c", &["{\"c\":\"X\"}", "{\"c\":\"Y\"}"]);
    gives(text, "select case when i = 1 then b else never end as c", &["{\"c\":true}", "{\"c\":null}"]);
    gives(text, "select sum(coalesce(never, i)) as c", &["{\"c\":3}"]);
    gives(
        text,
        "select lag(never, 1, 'none') over (order by i) as c order by i",
        &["{\"c\":\"none\"}", "{\"c\":null}"],
    );
}

#[test]
fn a_cast_stands_beside_what_it_casts() {
    let text = "{\"g\":1,\"v\":9}\n{\"g\":1,\"v\":10}\n{\"g\":2,\"v\":null}\n";
    for (sql, lines) in [
        (
            "select distinct cast(v as varchar) as a, v",
            &["{\"a\":\"10\",\"v\":10}", "{\"a\":\"9\",\"v\":9}", "{\"a\":null,\"v\":null}"][..],
        ),
        (
            "select count(*) as n group by cast(v as varchar), cast(v as double), v having count(v) > 0",
            &["{\"n\":1}", "{\"n\":1}"],
        ),
        (
            "select max(cast(v as varchar)) as a, max(v) as b, max(cast(v as double)) as c, max(try_cast(v as varchar)) as d",
            &["{\"a\":\"9\",\"b\":10,\"c\":10.0,\"d\":\"9\"}"],
        ),
        (
            "select count(distinct cast(v as varchar)) as a, count(distinct v) as b, sum(cast(v as double)) as c, sum(v) as d",
            &["{\"a\":2,\"b\":2,\"c\":19.0,\"d\":19}"],
        ),
        (
            "select max(cast(v as varchar)) over () as a, max(v) over () as b, lag(cast(v as varchar)) over (order by v) as c, lag(v) over (order by v) as d where v = 10 or v = 9 order by v desc limit 1",
            &["{\"a\":\"9\",\"b\":10,\"c\":\"9\",\"d\":9}"],
        ),
        (
            "select cast(x as varchar) as a, cast(x as double) as b, x from (select v + 1 as x where v = 9) group by 1, 2, 3",
            &["{\"a\":\"10\",\"b\":10.0,\"x\":10}"],
        ),
        (
            "select g, cast(g as varchar) || '!' as a, count(*) as n group by g, cast(g as varchar) || '!', g || '!' order by g",
            &["{\"g\":1,\"a\":\"1!\",\"n\":2}", "{\"g\":2,\"a\":\"2!\",\"n\":1}"],
        ),
        ("select v order by cast(v as varchar), v limit 2", &["{\"v\":10}", "{\"v\":9}"]),
        (
            "select cast(v as varchar) as a, cast(v as varchar) as b where v = 9 group by rollup (cast(v as varchar), v) order by a limit 1",
            &["{\"a\":\"9\",\"b\":\"9\"}"],
        ),
    ] {
        gives(text, sql, lines);
    }
}

#[test]
fn a_key_that_a_condition_makes_constant_may_order_what_is_joined() {
    let text = "{\"a\":null,\"n\":1}\n{\"a\":1,\"n\":2}\n{\"a\":null,\"n\":0}\n";
    let lines = ["{\"c0\":\"null\",\"n\":0}", "{\"c0\":\"null\",\"n\":1}"];
    let condition = "on l.a = s.n where json_type(l.a) = 'null'";
    let sql = "select json_type(l.a) as c0, l.n from stream as l left join stream as s";
    gives(text, &format!("{sql} {condition} order by l.n, c0"), &lines);
    let sql = "select json_type(l.a) as c0, (select count(s.n) from stream as s where s.n = l.a) as n from stream as l";
    gives(text, &format!("{sql} where json_type(l.a) = 'null'"), &[lines[0]; 2]);
}

#[test]
fn a_column_of_several_tables_may_be_computed_in_one() {
    let text = "{\"id\":1}\n{\"id\":2.0}\n{\"id\":\"1\"}\n";
    let one = ["{\"id\":1}"];
    gives(text, "select id from stream join (select 1 as id) x using (id)", &one);
    gives(text, "select id from stream natural join (select 1.0 as id) x", &one);
    gives(text, "select id from stream anti join (values (2), (3)) x(id) using (id)", &[one[0], "{\"id\":\"1\"}"]);
    gives(
        text,
        "select id from stream join (values (1), ('1')) x(id) using (id) join (select 1 as id) y using (id)",
        &one,
    );
    gives(text, "select id from stream full join (values (1), (7)) x(id) using (id) where id = 7", &["{\"id\":7}"]);
}

#[test]
fn a_key_after_a_dot_reads_nothing() {
    gives("{\"a\":9}\n{\"a\":8}\n", "select {'a': 1}.a as x, {'a': {'b': [5]}}.a.b[0] as y", &["{\"x\":1,\"y\":5}"]);
}

#[test]
fn a_refusal_is_in_the_words_of_the_query() {
    let folder = holding("{\"g\":1,\"v\":2}\n");
    for (sql, wanted) in [
        ("select lag(v, null) over (order by v)", "`lag` and `lead` take a constant number of rows"),
        (
            "select arg_max(g, v) over (partition by g)",
            "an aggregate with an order of its own is not computed over a window",
        ),
        (
            "select * from stream a join (select * from stream limit 1)",
            "`JOIN (SELECT * FROM stream LIMIT 1)` needs `on`",
        ),
        ("select make_map('a', 1)['a'] as x", "there is no function `array_element` for objects or maps"),
        ("select json_ally(v)", "there is no function `json_ally`"),
        (
            "select v from stream x order by case when not exists (select 1 from stream q where q.g = x.g and q.v = 9) then 1 else 2 end",
            "in `order by`, name it as a column",
        ),
    ] {
        let error = folder.run(sql, WAYS[0]).unwrap_err().to_string();
        let is_plain =
            !["raw:", "Struct", "entries", "json_all`", "ORDER BY is"].iter().any(|word| error.contains(word));
        assert!(error.contains(wanted) && is_plain, "{sql}: {error}");
    }
}

#[test]
fn a_cast_that_is_tried_has_no_note() {
    let folder = holding("{\"s\":\"{\"}\n{\"s\":\"[1]\"}\n");
    for (sql, lines, notes) in [
        ("select json_valid(s) as e", "{\"e\":false}\n{\"e\":true}\n", 0),
        ("select try_cast(s as json) as e", "{\"e\":null}\n{\"e\":[1]}\n", 0),
        ("select cast(s as json) as e", "{\"e\":null}\n{\"e\":[1]}\n", 1),
    ] {
        let (found, report) = folder.run(sql, WAYS[0]).unwrap();
        assert_eq!((found.as_str(), report.notes.len()), (lines, notes), "{sql}: {:?}", report.notes);
    }
}
