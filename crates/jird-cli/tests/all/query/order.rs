//! `jird query`: one answer, however many threads there are and wherever the input comes from and is cut.
#![expect(clippy::format_collect, reason = "texts to test, not to hurry")]

use crate::folder::Folder;

const RECORDS: usize = 60_000;

/// The fields of a record: its number, a key with few values, another one, and a decimal.
fn record(i: usize) -> (usize, usize, String, String) {
    // Some numbers without a pattern.
    let dice = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    (i, dice % 7, format!("{}-{}", dice / 7 % 5, "x".repeat(20)), format!("{}e{}", dice % 1000, dice % 9))
}

/// The records in files of their own and in one, and what runs a query over them in all ways.
struct Ways {
    folder: Folder,
    text: String,
}

impl Ways {
    fn new(name: &str) -> Self {
        let line = |i: usize| {
            let (i, k, s, x) = record(i);
            format!("{{\"i\":{i},\"k\":{k},\"s\":\"{s}\",\"x\":{x},\"more\":\"{}\"}}\n", "-".repeat(i % 50))
        };
        let lines = |range: std::ops::Range<usize>| range.map(line).collect::<String>();
        let (first, last) = (lines(0..RECORDS / 3), lines(RECORDS / 3..RECORDS));
        let text = [&first[..], &last].concat();
        let folder = Folder::new(name).with("all.ndjson", &text).with("a.ndjson", &first).with("b.ndjson", &last);
        Self { folder, text }
    }

    /// The only answer of a query.
    #[track_caller]
    fn answer(&self, sql: &str) -> String {
        let mut answer = None;
        for (threads, files, is_pipe) in [
            ("1", &["all.ndjson"][..], false),
            ("3", &["all.ndjson"], false),
            ("2", &["a.ndjson", "b.ndjson"], false),
            ("3", &[], true),
        ] {
            // Chunks are cut elsewhere with several threads.
            let chunk = if threads == "1" { "1000000" } else { "30000" };
            let arguments = [&[sql, "--threads", threads, "--chunk-bytes", chunk][..], files].concat();
            let input = if is_pipe { self.text.as_bytes() } else { b"" };
            let (out, said, code) = self.folder.query(&arguments, input);
            assert_eq!(code, 0, "{arguments:?}: {said}");
            let first = answer.get_or_insert_with(|| out.clone());
            assert!(out == *first, "{arguments:?} has another answer than with one thread");
        }
        answer.unwrap_or_default()
    }
}

/// Lines of JSON from the texts of their values.
fn lines(rows: impl IntoIterator<Item = String>) -> String {
    rows.into_iter().map(|row| format!("{{{row}}}\n")).collect()
}

/// The numbers of the records, sorted by their key; equal ones in the order of the input.
fn by_key() -> Vec<usize> {
    let mut sorted: Vec<_> = (0..RECORDS).collect();
    sorted.sort_by_key(|i| record(*i).1);
    sorted
}

fn of_key(k: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..RECORDS).filter(move |i| record(*i).1 == k)
}

fn list(numbers: impl IntoIterator<Item = usize>) -> String {
    numbers.into_iter().map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}

#[test]
fn groups_and_distinct_rows_are_ordered_by_their_keys() {
    let ways = Ways::new("order-groups");
    let counted = |k| format!("\"k\":{k},\"n\":{}", of_key(k).count());
    assert_eq!(ways.answer("select k, count(*) as n group by k"), lines((0..7).map(counted)));
    assert_eq!(ways.answer("select k, count(*) as n group by all"), lines((0..7).map(counted)));
    assert_eq!(ways.answer("select k, count(*) as n group by k limit 2 offset 3"), lines((3..5).map(counted)));
    let counts = lines((0..7).map(|k| format!("\"n\":{}", of_key(k).count())));
    assert_eq!(ways.answer("select count(*) as n group by k"), counts);
    assert_eq!(ways.answer("select distinct k"), lines((0..7).map(|k| format!("\"k\":{k}"))));
    assert_eq!(
        ways.answer("select i as k from stream where i in (11, 9, 300) union select k from stream where k > 4"),
        lines([5, 6, 9, 11, 300].map(|k| format!("\"k\":{k}")))
    );
    for sql in [
        "select k, s, count(*) as n group by rollup (k, s)",
        "select distinct * where i < 20000",
        "select k, s, sum(x) as sum, avg(x) as mean group by k, s",
    ] {
        ways.answer(sql);
    }
}

#[test]
fn what_depends_on_the_order_of_records_takes_that_of_the_input() {
    let ways = Ways::new("order-input");
    let groups = |of: &dyn Fn(usize) -> String| lines((0..7).map(|k| format!("\"k\":{k},\"v\":{}", of(k))));
    assert_eq!(
        ways.answer("select k, array_agg(i) as v group by k order by k"),
        groups(&|k| format!("[{}]", list(of_key(k))))
    );
    assert_eq!(ways.answer("select k, first_value(i) as v group by k order by k"), groups(&|k| list(of_key(k).next())));
    assert_eq!(
        ways.answer("select k, last_value(i) as v group by k order by k"),
        groups(&|k| list(of_key(k).next_back()))
    );
    assert_eq!(ways.answer("select array_agg(i order by k) as v"), lines([format!("\"v\":[{}]", list(by_key()))]));
    assert_eq!(
        ways.answer("select last_value(i order by k) as v"),
        lines([format!("\"v\":{}", list(of_key(6).next_back()))])
    );
    let ends = [of_key(0).next(), of_key(0).next_back(), of_key(6).next(), of_key(6).next_back()];
    assert_eq!(
        ways.answer(
            "select [first_value(i order by k), last_value(i order by k desc), first_value(i order by k desc), \
             last_value(i order by k)] as v"
        ),
        lines([format!("\"v\":[{}]", list(ends.into_iter().flatten()))])
    );
    let both = [of_key(2), of_key(1)].into_iter().flatten();
    assert_eq!(
        ways.answer("select i from stream where k = 2 union all select i from stream where k = 1"),
        lines(both.map(|i| format!("\"i\":{i}")))
    );
    for sql in [
        "select stddev(x) as v",
        "select corr(x, i) as v",
        "select k, approx_percentile_cont(x, 0.3) as v group by k",
        "select string_agg(s, ',' order by k) as v",
        "select a.i, b.i as j from stream a join stream b on a.i = b.k where a.i < 5",
        "select count(*) as n, sum(v) as sum from (select first_value(i) as v, s from stream group by s limit 3) t",
        "select (select i from stream where k = 3 limit 1) as v, count(*) as n",
    ] {
        ways.answer(sql);
    }
}

/// Rows of a join that match nothing come at some place, which is always the same.
#[test]
fn rows_of_joins_have_one_order() {
    let ways = Ways::new("order-joins");
    let few = "(select i, k, s from stream where i < 5)";
    for kind in ["left", "right", "full", "left semi", "right semi", "left anti", "right anti", "inner"] {
        let what = match kind {
            "left semi" | "left anti" => "a.i",
            "right semi" | "right anti" => "b.i",
            _ => "a.i, b.i as j",
        };
        let (on, other) = ("a.i = b.k and b.i > a.i * 7000", "a.i = b.i and a.k > 2");
        ways.answer(&format!("select {what} from {few} a {kind} join stream b on {on}"));
        ways.answer(&format!("select {what} from stream a {kind} join {few} b on {other}"));
        if ["left", "right", "full"].contains(&kind) {
            ways.answer(&format!("select {what} from {few} a {kind} join stream b on b.i % 5 < a.i and a.s < b.s"));
        }
    }
    for sql in [
        "select a.i, b.i as j, c.i as l from stream a full join (select i from stream where i > 59000) b on a.i = b.i \
         right join (select i, k from stream where i < 2000) c on c.k = a.i",
        "select k, array_agg(j) as v from (select b.k, a.i as j from stream a right join stream b on a.i = b.i + 9 and a.k = 1) t \
         group by k",
    ] {
        ways.answer(sql);
    }
}

#[test]
fn equal_rows_of_a_window_keep_the_order_of_the_input() {
    let ways = Ways::new("order-windows");
    let mut place = vec![0; RECORDS];
    by_key().into_iter().zip(1..).for_each(|(i, number)| place[i] = number);
    assert_eq!(
        ways.answer("select i, row_number() over (order by k) as v order by i"),
        lines((0..RECORDS).map(|i| format!("\"i\":{i},\"v\":{}", place[i])))
    );
    assert_eq!(
        ways.answer("select i, row_number() over (order by k) as v limit 9"),
        lines(by_key().into_iter().take(9).zip(1..).map(|(i, number)| format!("\"i\":{i},\"v\":{number}")))
    );
    let mut before: Vec<_> = (0..RECORDS).map(|_| "null".to_owned()).collect();
    let pairs = |k| of_key(k).zip(of_key(k).skip(1));
    (0..7).flat_map(pairs).for_each(|(one, next)| before[next] = one.to_string());
    assert_eq!(
        ways.answer("select i, lag(i) over (partition by k) as v order by i"),
        lines((0..RECORDS).map(|i| format!("\"i\":{i},\"v\":{}", before[i])))
    );
    // The frame reaches to the last of the rows that are equal.
    assert_eq!(
        ways.answer("select i, last_value(i) over (order by k) as v order by i limit 20"),
        lines((0..20).map(|i| format!("\"i\":{i},\"v\":{}", list(of_key(record(i).1).next_back()))))
    );
    for sql in [
        "select i, sum(i) over (order by k rows between 2 preceding and current row) as v order by i",
        "select i, ntile(9) over (order by s) as v order by i",
        "select i, rank() over (order by k) as v order by i",
        "select k, sum(x) over (order by k) as v order by k, v",
        "select i, lead(x) over (partition by s order by k) as v",
    ] {
        ways.answer(sql);
    }
}

#[test]
fn equal_rows_keep_the_order_of_the_input() {
    let line = |i: u32| format!("{{\"i\":{i},\"k\":{},\"s\":\"{}\"}}\n", i % 3, i % 2);
    let lines = |range: std::ops::Range<u32>| range.map(line).collect::<String>();
    let (first, last) = (lines(0..30_000), lines(30_000..50_000));
    let text = [&first[..], &last].concat();
    let folder = Folder::new("ties").with("all.ndjson", &text).with("a.ndjson", &first).with("b.ndjson", &last);
    let rows = |keep: &dyn Fn(u32) -> bool| (0..50_000).filter(|i| keep(*i)).collect::<Vec<_>>();
    let last_first = |keep: &dyn Fn(u32) -> bool| rows(keep).into_iter().rev().collect::<Vec<_>>();
    let inner = "(select i, k, upper(s) as s from stream where k < 2) t";
    for (sql, wanted) in [
        ("select i order by k limit 5", rows(&|i| i % 3 == 0)[..5].to_vec()),
        ("select i order by k limit 5000", rows(&|i| i % 3 == 0)[..5000].to_vec()),
        ("select i where i > 9 order by s, k limit 5", rows(&|i| i > 9 && i % 6 == 0)[..5].to_vec()),
        ("select i order by k desc limit 5", last_first(&|i| i % 3 == 2)[..5].to_vec()),
        ("select i order by k desc, s limit 4 offset 8000", last_first(&|i| i % 6 == 2)[8000..8004].to_vec()),
        (&format!("select i from {inner} order by s, k limit 6 offset 2"), rows(&|i| i % 6 == 0)[2..8].to_vec()),
    ] {
        let wanted: String = wanted.iter().map(|i| format!("{{\"i\":{i}}}\n")).collect();
        for threads in ["1", "2", "3"] {
            let whole: (&[&str], &str) = (&["all.ndjson"], "");
            for (files, input) in [whole, (&["a.ndjson", "b.ndjson"], ""), (&[], &text)] {
                let arguments = [&[sql, "--threads", threads][..], files].concat();
                let (out, said, code) = folder.query(&arguments, input.as_bytes());
                assert_eq!((out, code), (wanted.clone(), 0), "{arguments:?}: {said}");
            }
        }
    }
}

/// Groups have no place, so their other columns decide.
#[test]
fn equal_groups_are_ordered_by_their_columns() {
    let text: String = (0..9_000).map(|i| format!("{{\"k\":\"g{}\"}}\n", i % 900)).collect();
    let folder = Folder::new("equal-groups").with("a.ndjson", &text);
    let wanted = ["g0", "g1", "g10", "g100"].map(|k| format!("{{\"k\":\"{k}\",\"n\":10}}\n")).concat();
    for threads in ["1", "2", "3"] {
        let sql = "select k, count(*) as n group by k order by n limit 4";
        let (out, said, code) = folder.query(&[sql, "a.ndjson", "--threads", threads], b"");
        assert_eq!((out, code), (wanted.clone(), 0), "{said}");
    }
}

/// Each group has zeros of both signs, and for `min` or `max` the first of them is the wrong one.
#[test]
fn zeros_have_their_order_in_groups_too() {
    let zero = |i: usize| if (i / 3000).is_multiple_of(2) { ["0.0", "-0.0"][i % 2] } else { ["-0.0", "0.0"][i % 2] };
    let text: String = (0..20_000).map(|i| format!("{{\"k\":{},\"x\":{}}}\n", i % 3, zero(i))).collect();
    let folder = Folder::new("zeros").with("all.ndjson", &text);
    let grouped: String = (0..3).map(|k| format!("{{\"k\":{k},\"a\":-0.0,\"b\":0.0,\"c\":null}}\n")).collect();
    for (sql, wanted) in [
        ("select k, min(x) as a, max(x) as b, min(x) filter (where k < 0) as c group by k", &*grouped),
        ("select min(x) as a, max(x) as b from stream", "{\"a\":-0.0,\"b\":0.0}\n"),
    ] {
        for threads in ["1", "2", "3", "7"] {
            let arguments = [sql, "all.ndjson", "--threads", threads, "--chunk-bytes", "20000"];
            let (out, said, code) = folder.query(&arguments, b"");
            assert_eq!(code, 0, "{said}");
            assert_eq!(out, wanted, "{threads} {sql}");
        }
    }
}
