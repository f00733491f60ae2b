//! `jird query`: types, times, and what results are written as.

use crate::folder::{Folder, gzip};

#[track_caller]
fn gives(text: &str, args: &[&str], expected: &str) {
    let folder = Folder::new(&format!("types-{}", line())).with("e.ndjson", text);
    let args = [args, &["e.ndjson"]].concat();
    assert_eq!(folder.query(&args, b""), (expected.to_owned(), String::new(), 0), "{args:?}");
}

/// Where the test is, which makes its folder its own.
#[track_caller]
fn line() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

const EVENTS: &str = "{\"id\":1,\"n\":1.5,\"s\":\"x\"}\n{\"id\":18446744073709551615,\"n\":2,\"s\":null}\n{\"n\":\"a\",\"late\":[1, 2]}\n";

#[test]
fn parquet_and_arrow_have_typed_columns_and_lose_nothing() {
    let folder = Folder::new("binary").with("e.ndjson", EVENTS);
    for file in ["out.parquet", "out.arrow"] {
        for sql in ["select *", "select id, n, s, late", "select id, n, s, late from (select * from stream) x"] {
            assert_eq!(folder.query(&[sql, "e.ndjson", "-o", file], b"").2, 0, "{sql}");
            let back = folder.fine(&[file, "-"]);
            let expected = "{\"id\":1,\"n\":1.5,\"s\":\"x\",\"late\":null}\n{\"id\":18446744073709551615,\"n\":2,\"s\":null,\"late\":null}\n{\"id\":null,\"n\":\"a\",\"s\":null,\"late\":[1,2]}\n";
            assert_eq!(back, expected, "{sql} {file}");
        }
        let sql = "select s, count(*) as n, max(id) as m group by s order by s";
        assert_eq!(folder.query(&[sql, "e.ndjson", "-o", file], b"").2, 0);
        assert_eq!(
            folder.fine(&[file, "-"]),
            "{\"s\":\"x\",\"n\":1,\"m\":1}\n{\"s\":null,\"n\":2,\"m\":18446744073709551615}\n"
        );
        assert_eq!(folder.query(&["select id where id > 5 and id < 6", "e.ndjson", "-o", file], b"").2, 0);
        assert_eq!(folder.fine(&[file, "-"]), "");
        // Standard input is read twice.
        assert_eq!(folder.query(&["select id, s", "-o", file], EVENTS.as_bytes()).2, 0);
        assert_eq!(folder.fine(&["--limit", "1", file, "-"]), "{\"id\":1,\"s\":\"x\"}\n");
    }
}

#[test]
fn the_name_of_an_output_says_its_format() {
    let folder = Folder::new("named").with("e.ndjson", "{\"a\":1}\n");
    for (name, expected) in
        [("o.json", "[\n{\"a\":1}\n]\n"), ("o.csv", "a\n1\n"), ("o.ndjson", "{\"a\":1}\n"), ("o", "{\"a\":1}\n")]
    {
        assert_eq!(folder.query(&["select a", "e.ndjson", "-o", name], b"").2, 0);
        assert_eq!(folder.text(name), expected, "{name}");
    }
    for name in ["o.ndjson.gz", "o.csv.zst"] {
        assert_eq!(folder.query(&["select a", "e.ndjson", "-o", name], b"").2, 0);
        assert_eq!(folder.fine(&[name, "-"]), if name.contains("csv") { "{\"a\":\"1\"}\n" } else { "{\"a\":1}\n" });
    }
    assert_eq!(folder.query(&["select a", "e.ndjson", "-o", "-"], b"").0, "{\"a\":1}\n");
    for (name, said) in
        [("o.txt", ".parquet"), ("o.db", ".parquet"), ("o.txt.gz", ".parquet"), ("o.parquet.gz", "within")]
    {
        let (_, message, code) = folder.query(&["select a", "e.ndjson", "-o", name], b"");
        assert!(code == 2 && message.contains(name) && message.contains(said), "{message}");
        assert!(!folder.0.join(name).exists());
    }
    assert_eq!(folder.query(&["select a", "e.ndjson", "-o", "o.txt", "--format", "csv"], b"").2, 0);
}

#[test]
fn a_table_fits_the_page() {
    let text = "{\"n\":1,\"t\":\"a long text that has no place\",\"w\":\"漢字漢字漢字\"}\n{\"n\":-200.5,\"t\":null,\"w\":\"é\"}\n";
    let args = ["select n, t, w", "--format", "table", "--width", "30"];
    let rows = [
        "     n  t           w",
        "──────  ──────────  ──────────",
        "     1  a long te…  漢字漢字…",
        "-200.5  null        é",
    ];
    let folder = Folder::new("page").with("e.ndjson", text);
    let (out, _, _) = folder.query(&[&args[..], &["e.ndjson"]].concat(), b"");
    assert_eq!(out.lines().collect::<Vec<_>>(), rows);
    gives(
        text,
        &["select t", "--format", "table"],
        "t\n─────────────────────────────\na long text that has no place\nnull\n",
    );
    gives("{\"z\":\"0123\"}\n", &["select text(z) as zip", "--format", "table"], "zip\n────\n0123\n");
}

#[test]
fn explain_says_what_the_scan_does() {
    let folder = Folder::new("explain").with("e.ndjson", EVENTS);
    let (out, _, code) =
        folder.query(&["explain select s, max(id) as m where n > 1 and upper(s) = 'X' group by s", "e.ndjson"], b"");
    assert_eq!(code, 0);
    for word in [
        "files    e.ndjson",
        "decides  n > 1",
        "/id u64 by the first records",
        "/s text by the first records",
        "AggregateExec",
    ] {
        assert!(out.contains(word), "no {word:?} in {out}");
    }
    // Printed and sorted by, and read once.
    let once = folder.query(&["explain select s, count(*) as n group by s order by s", "e.ndjson"], b"").0;
    assert!(once.contains("  reads    /s text by the first records\n"), "{once}");
    // Where rows go out before the last record is read, types are those of all.
    let computed = folder.query(&["explain select upper(s) as s, id + 1 as i", "e.ndjson"], b"").0;
    assert!(computed.contains("/id u64\n") || computed.contains("/id u64;"), "{computed}");
    assert!(folder.query(&["explain analyze select s", "e.ndjson"], b"").1.contains("--stats"));
    // Where types are looked at in passing, every record is looked into.
    for (asked, searched) in [("count(*)", "`\"x\"`"), ("max(id)", "nothing")] {
        let out = folder.query(&[&format!("explain select {asked} as it where s = 'x'"), "e.ndjson"], b"").0;
        assert!(out.contains(&format!("  searches {searched}\n")), "{out}");
    }
}

#[test]
fn times_compare_as_times_where_that_is_asked() {
    let text = "{\"i\":1,\"t\":\"2024-03-05T07:00:00Z\"}\n{\"i\":2,\"t\":\"2024-03-05T08:30:00.5+01:00\"}\n{\"i\":3,\"t\":\"soon\"}\n{\"i\":4,\"t\":5}\n{\"i\":5}\n{\"i\":6,\"t\":\"0999-01-01\"}\n{\"i\":7,\"t\":\"\"}\n";
    for (condition, expected) in [
        ("t > timestamp '2024-03-05T07:00:00Z'", &[2][..]),
        ("t >= timestamp '2024-03-05T08:00:00+01:00'", &[1, 2]),
        ("timestamp '2024-03-05' > t", &[4, 6]),
        ("timestamp t = '2024-03-05 07:30:00.5'", &[2]),
        ("not t > timestamp '2024-03-05T07:00:00Z'", &[1, 4, 6]),
        ("t between timestamp '2024-03-05T07:00Z' and timestamp '2024-03-05T07:10Z'", &[1]),
        ("timestamp \"t\" <> '2024-03-05T07:00:00Z' and i < 6", &[2, 4]),
        ("timestamp(t) < '2024-01-01'", &[4, 6]),
    ] {
        let sql = format!("select i where {condition}").replace("timestamp t", "timestamp \"t\"");
        let expected = expected.iter().fold(String::new(), |all, i| all + &format!("{{\"i\":{i}}}\n"));
        gives(text, &[&sql], &expected);
    }
    gives(
        text,
        &["select timestamp(t) as t where i < 4", "--quiet"],
        "{\"t\":\"2024-03-05T07:00:00Z\"}\n{\"t\":\"2024-03-05T07:30:00.500Z\"}\n{\"t\":null}\n",
    );
    let folder = Folder::new("time-wrong").with("e.ndjson", text);
    // Two texts that say no time, and a number.
    let (_, said, _) = folder.query(&["select i where t > timestamp '2024-03-05'", "e.ndjson", "--stats"], b"");
    assert!(said.contains("mismatches  2\n"), "{said}");
    let (_, said, code) = folder.query(&["select i where t > timestamp 'noon'", "e.ndjson"], b"");
    assert!(code == 2 && said.contains("'noon' is not a time"), "{said}");
}

#[test]
fn a_schema_fixes_types_and_names_what_does_not_fit() {
    let text = "{\"id\":1,\"u\":{\"n\":\"a\"}}\n{\"id\":2,\"u\":{\"n\":\"b\"}}\n{\"id\":\"x\",\"u\":{\"n\":7}}\n{\"id\":null}\n{\"id\":4}\n";
    let folder = Folder::new("schema")
        .with("e.ndjson", text)
        .with("s.json", "{\"id\":\"u64\",\"u\":{\"n\":\"text\"}}")
        .with("wrong.json", "{\"id\":\"number\"}");
    let run = |args: &[&str], input: &str| folder.query(&[&["--schema", "s.json"], args].concat(), input.as_bytes());
    // No field that needs a type is without one: the input is read once, and may be a pipe.
    assert_eq!(run(&["select sum(id) as s"], "{\"id\":1}\n{\"id\":41}\n").0, "{\"s\":42}\n");
    let (out, said, code) = run(&["select sum(id) as s", "e.ndjson"], "");
    let advice = "`--on-error skip` leaves bad records out, `--on-error quarantine=FILE` sets them aside\n";
    let expected = format!("jird: e.ndjson:3: /u/n is 7, not text\n{advice}");
    assert_eq!((&*out, said, code), ("", expected, 1));
    // An array that is not closed is not a bad record: it cannot be skipped.
    let (_, said, code) = run(&["select id", "-"], "[{\"id\":1},{\"id\":2");
    assert!(code == 1 && said.contains("closed") && !said.contains("on-error"), "{said}");
    // What is given already is not advised, nor what cannot be.
    assert!(!run(&["select sum(id) as s", "e.ndjson", "--check", "touched"], "").1.contains("on-error"));
    let (out, said, code) =
        run(&["select sum(id) as s, count(*) as n", "e.ndjson", "--on-error", "quarantine=bad"], "");
    assert_eq!((out.as_str(), code), ("{\"s\":7,\"n\":4}\n", 1), "{said}");
    assert!(said.contains("1 bad record left out, the first: e.ndjson: /u/n is 7, not text, at line 3"), "{said}");
    assert!(
        folder.text("bad").starts_with("{\"file\":\"e.ndjson\",\"line\":3,")
            && folder.text("bad").contains("\"kind\":\"type\"")
    );
    let (out, _, _) = run(&["select upper(u.n) as n", "e.ndjson", "--on-error", "skip"], "");
    assert_eq!(out, "{\"n\":\"A\"}\n{\"n\":\"B\"}\n{\"n\":null}\n{\"n\":null}\n");
    // Also where a query takes values as they stand.
    assert_eq!(run(&["select id where id = 'x'", "e.ndjson"], "").2, 1);
    assert_eq!(run(&["select id where id = 'x'", "e.ndjson", "--check", "touched"], "").0, "{\"id\":\"x\"}\n");
    let (_, said, code) = folder.query(&["select id", "e.ndjson", "--schema", "wrong.json"], b"");
    assert!(code == 2 && said.contains("\"number\" at /id is no type; there are boolean, i64"), "{said}");
}

#[test]
fn sums_of_exact_numbers_are_exact() {
    let wide = "99999999999999999999999999999999999999";
    gives(
        &format!("{{\"a\":{wide}}}\n").repeat(20),
        &["select sum(a) as s"],
        "{\"s\":1999999999999999999999999999999999999980}\n",
    );
    gives("{\"a\":18446744073709551615}\n{\"a\":-1}\n", &["select sum(a) as s"], "{\"s\":18446744073709551614}\n");
    gives("{\"a\":1}\n{\"a\":0.5}\n", &["select sum(a) as s"], "{\"s\":1.5}\n");
}

#[test]
fn types_are_those_of_all_files_together() {
    let folder = Folder::new("across")
        .with("1.ndjson", "{\"a\":1,\"b\":1}\n")
        .with("2.ndjson", "{\"a\":-1,\"b\":\"x\"}\n{\"a\":18446744073709551615,\"late\":\"l\"}\n")
        .with("3.json", "[{\"a\":0.1234567890123456789},\n{\"late\":null}]");
    let run = |sql: &str, files: &[&str]| folder.query(&[&[sql], files].concat(), b"");
    assert_eq!(
        run("select max(a) as m, min(late) as l", &["1.ndjson", "2.ndjson"]).0,
        "{\"m\":18446744073709551615,\"l\":\"l\"}\n"
    );
    let (sum, _, _) = run("select sum(a) as s", &["1.ndjson", "2.ndjson", "3.json"]);
    assert_eq!(sum, "{\"s\":18446744073709551615.1234567890123456789}\n");
    let (_, said, _) = run("select sum(b)", &["1.ndjson", "2.ndjson"]);
    assert!(said.contains("integers (first at 1.ndjson:1), texts (first at 2.ndjson:1)"), "{said}");
    let csv = folder.query(&["select *", "1.ndjson", "2.ndjson", "3.json", "--format", "csv"], b"");
    assert_eq!(csv.0, "a,b,late\n1,1,\n-1,x,\n18446744073709551615,,l\n0.1234567890123456789,,\n,,\n");
}

/// Types that the first records have are a guess, which all records confirm or refute.
#[test]
fn what_late_records_have_counts_as_much_as_what_early_ones_have() {
    // Polars 2.1 drops a key that its sample has not; DuckDB 2.0 fails over a value of another type behind its sample.
    const EARLY: usize = 40_000;
    let early = |tail: &str| "{\"n\":1,\"s\":\"x\"}\n".repeat(EARLY) + tail + "\n";
    let sum = "select sum(n) as total, count(n) as n, max(n) as most";
    let tries: [(&str, &str, &str, &str); 9] = [
        ("{\"n\":2}", sum, "{\"total\":40002,\"n\":40001,\"most\":2}\n", ""),
        ("{\"n\":1.5}", sum, "{\"total\":40001.5,\"n\":40001,\"most\":1.5}\n", "n: i64 to f64 by e.ndjson:40001"),
        (
            "{\"n\":18446744073709551615}",
            sum,
            "{\"total\":18446744073709591615,\"n\":40001,\"most\":18446744073709551615}\n",
            "n: i64 to u64 by e.ndjson:40001",
        ),
        (
            "{\"n\":\"one\"}",
            sum,
            "{\"total\":40000,\"n\":40001,\"most\":\"one\"}\n",
            "`n` has integers (first at e.ndjson:1), texts (first at e.ndjson:40001): 1 value that is not a number was",
        ),
        ("{\"n\":7,\"late\":0.5}", "select sum(late) as l, sum(n) as n", "{\"l\":0.5,\"n\":40007}\n", ""),
        // Also where the condition turns it away.
        ("{\"n\":1.5}", "select sum(n) as t where n < 1.2", "{\"t\":40000.0}\n", "n: i64 to f64 by e.ndjson:40001"),
        (
            "{\"n\":1.5,\"s\":2}",
            "select s, count(*) as c group by s order by c",
            "{\"s\":2,\"c\":1}\n{\"s\":\"x\",\"c\":40000}\n",
            "",
        ),
        ("{\"n\":3,\"s\":\"a\"}", "select s, n order by n desc limit 1", "{\"s\":\"a\",\"n\":3}\n", ""),
        ("{\"n\":}", sum, "", "e.ndjson:40001:6: "),
    ];
    for (tail, sql, expected, said) in tries {
        let folder = Folder::new("guess").with("e.ndjson", early(tail)).with("e.ndjson.gz", gzip(&early(tail)));
        for file in ["e.ndjson", "e.ndjson.gz"] {
            for threads in ["1", "3"] {
                let args = ["--stats", "--threads", threads, sql, file];
                let (printed, words, _) = folder.query(&args, b"");
                let said = said.replace("e.ndjson", file);
                // Of a compressed file the column is known, and not which line.
                let is_place = tail == "{\"n\":}";
                assert_eq!(printed, expected, "{args:?} {words}");
                assert!(words.contains(&said) || is_place && words.contains(file), "{args:?}: {words}");
                // To group and to count no type is needed.
                let is_typed = !sql.contains("group by");
                assert_eq!(words.contains("types       inferred"), is_typed && !expected.is_empty(), "{words}");
            }
        }
    }
}

#[test]
fn a_guess_is_confirmed_by_all_files_before_anything_is_printed_in_any_format() {
    let folder = Folder::new("guess-files")
        .with("a.ndjson", "{\"n\":1,\"s\":\"x\"}\n".repeat(40_000))
        .with("b.ndjson", "{\"n\":1.5,\"s\":2}\n");
    let sums = "select sum(n) as t, max(n) as m";
    let groups = "select s, count(*) as c group by s order by c";
    for (sql, format, expected) in [
        (sums, "ndjson", "{\"t\":40001.5,\"m\":1.5}\n"),
        (sums, "csv", "t,m\n40001.5,1.5\n"),
        (sums, "json", "[\n{\"t\":40001.5,\"m\":1.5}\n]\n"),
        (groups, "csv", "s,c\n2,1\nx,40000\n"),
    ] {
        let (printed, _, code) = folder.query(&[sql, "a.ndjson", "b.ndjson", "--format", format], b"");
        assert_eq!((&*printed, code), (expected, 0), "{sql}");
    }
    let (table, _, code) = folder.query(&[sums, "a.ndjson", "b.ndjson", "--format", "table"], b"");
    assert!(code == 0 && table.matches("40001.5").count() == 1 && !table.contains("40000"), "{table}");
}

#[test]
fn a_guess_beside_a_schema_hides_no_bad_record() {
    let folder = Folder::new("guess-schema")
        .with("e.ndjson", "{\"id\":1,\"ms\":2}\n{\"id\":\"x\",\"ms\":3}\n")
        .with("s.json", "{\"id\":\"u64\"}");
    let sql = "select sum(id) as s, sum(ms) as t";
    let (printed, said, code) = folder.query(&["--schema", "s.json", sql, "e.ndjson"], b"");
    assert_eq!((&*printed, code), ("", 1));
    assert!(said.contains("e.ndjson:2") && said.contains("/id is \"x\", not u64"), "{said}");
    for (format, expected) in [("csv", "s,t\n1,5\n"), ("ndjson", "{\"s\":1,\"t\":5}\n")] {
        let sql = "select sum(id) as s, sum(ms) as t from (select ms, case when ms < 3 then number(id) end as id from stream) x";
        let (printed, said, code) = folder.query(&["--format", format, sql, "e.ndjson"], b"");
        assert_eq!((printed.replace("1.0", "1"), said, code), (expected.to_owned(), String::new(), 0));
    }
}
