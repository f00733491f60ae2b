//! `jird query`: `copy … to '…'`.
#![expect(clippy::format_collect, reason = "texts to test, not to hurry")]

use crate::folder::Folder;
use std::fs;
use std::os::unix::fs::symlink;

const LOG: &str = "\
{\"day\":\"2024-01-02\",\"v\":1,\"t\":\"é\"}
{\"day\":\"2024-01-01\",\"v\":2}
{\"day\":\"2024-01-02\",\"v\":null}
{\"day\":null,\"v\":4}
{\"v\":5.0}
{\"day\":\"a/b=%\",\"v\":6}
";

fn folder(name: &str) -> Folder {
    Folder::new(name).with("log.ndjson", LOG)
}

/// Runs a query that prints nothing.
#[track_caller]
fn copies(folder: &Folder, args: &[&str]) {
    let (out, said, code) = folder.query(args, b"");
    assert_eq!((out.as_str(), said.as_str(), code), ("", "", 0), "{args:?}");
}

/// The query fails, says this, and leaves nothing.
#[track_caller]
fn fails(folder: &Folder, args: &[&str], words: &str) {
    let before = folder.names();
    let (out, said, code) = folder.query(args, b"");
    assert_eq!((out.as_str(), code), ("", 2), "{args:?}: {said}");
    assert!(said.contains(words), "{args:?}: {said}");
    assert_eq!(folder.names(), before, "{args:?}");
}

/// All files below a folder.
fn files(folder: &Folder, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.0.join(name)];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder.0.join(name)).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn rows_are_copied_to_a_file() {
    let folder = folder("file");
    copies(&folder, &["copy (select v, day where v < 3) to 'a.csv'", "log.ndjson"]);
    assert_eq!(folder.text("a.csv"), "v,day\n1,2024-01-02\n2,2024-01-01\n");
    copies(&folder, &["COPY (select v from 'log.ndjson' order by v desc nulls last limit 1) TO 'b' (FORMAT 'json')"]);
    assert_eq!(folder.text("b"), "[\n{\"v\":6}\n]\n");
    copies(&folder, &["copy 'log.ndjson' to 'c.ndjson';"]);
    assert_eq!(folder.text("c.ndjson"), LOG);
    copies(&folder, &["create view v as select max(v) as m from stream; copy v to 'd.ndjson.gz'", "log.ndjson"]);
    assert_eq!(folder.query(&["from 'd.ndjson.gz'"], b"").0, "{\"m\":6.0}\n");
    copies(&folder, &["copy (from 'log.ndjson' where v = 5) to 'e.parquet' with (format parquet)"]);
    assert_eq!(folder.query(&["select v = 5 as v from 'e.parquet'"], b"").0, "{\"v\":true}\n");
    // A device cannot be lost.
    let (out, said, code) = folder.query(&["copy (select 1 as x) to '/dev/stdout'"], b"");
    assert_eq!((out.as_str(), code), ("{\"x\":1}\n", 0), "{said}");
    // What is there stays, unless the query says otherwise.
    fails(&folder, &["copy (select 1 as x) to 'a.csv'"], "a.csv: it is there already");
    symlink("gone", folder.0.join("link.csv")).unwrap();
    fails(&folder, &["copy (select 1 as x) to 'link.csv'"], "it is there already");
    fails(&folder, &["copy (select 1 as x) to 'a.csv' (overwrite false)"], "it is there already");
    copies(&folder, &["copy (select 1 as x) to 'a.csv' (overwrite)"]);
    copies(&folder, &["copy (select 2 as x) to 'a.csv' (overwrite true, format csv)"]);
    assert_eq!(folder.text("a.csv"), "x\n2\n");
    fails(
        &folder,
        &["copy (select v from 'log.ndjson') to 'log.ndjson' (overwrite)"],
        "would be written to what is read",
    );
    assert_eq!(folder.text("log.ndjson"), LOG);
}

#[test]
fn rows_are_copied_to_folders() {
    let folder = folder("parts");
    for (to, options) in [
        ("days", "(partition_by (day))"),
        ("more", "(format ndjson, partition_by day)"),
        ("last", "partition by (day)"),
    ] {
        copies(&folder, &[&format!("copy (select * from 'log.ndjson') to '{to}' {options}")]);
        let names = [
            "day=2024-01-01/part-0.ndjson",
            "day=2024-01-02/part-0.ndjson",
            "day=__HIVE_DEFAULT_PARTITION__/part-0.ndjson",
            "day=a%2Fb%3D%25/part-0.ndjson",
        ];
        assert_eq!(files(&folder, to), names);
        assert_eq!(folder.text(&format!("{to}/{}", names[1])), "{\"v\":1,\"t\":\"é\"}\n{\"v\":null}\n");
        assert_eq!(folder.text(&format!("{to}/{}", names[2])), "{\"v\":4}\n{\"v\":5.0}\n");
    }
    let back = "select day, v, t from 'days' order by v";
    let (out, _, _) = folder.query(&[back], b"");
    let wanted = "\
{\"day\":\"2024-01-02\",\"v\":1,\"t\":\"é\"}
{\"day\":\"2024-01-01\",\"v\":2}
{\"v\":4}
{\"v\":5.0}
{\"day\":\"a/b=%\",\"v\":6}
{\"day\":\"2024-01-02\",\"v\":null}
";
    assert_eq!(out, wanted);
    for (format, suffix) in [("csv", "csv"), ("parquet", "parquet"), ("arrow", "arrow"), ("json", "json")] {
        copies(
            &folder,
            &[
                &format!(
                    "copy (select v, day as d, v > 2 as late where v > 0) to 'f-{format}' (format {format}, partition_by (d, late))"
                ),
                "log.ndjson",
            ],
        );
        let first = format!("f-{format}/d=2024-01-01/late=false/part-0.{suffix}");
        assert_eq!(
            folder.query(&[&format!("select v < 3 as s, d, late from '{first}'")], b"").0,
            "{\"s\":true,\"d\":\"2024-01-01\",\"late\":\"false\"}\n",
            "{format}"
        );
    }
    copies(
        &folder,
        &[
            "copy (select v, v % 2 as odd from 'log.ndjson' where v > 3 order by v desc) to 'z' (compression zstd, partition_by (odd))",
        ],
    );
    assert_eq!(files(&folder, "z"), ["odd=0/part-0.ndjson.zst", "odd=1/part-0.ndjson.zst"]);
    assert_eq!(
        folder.query(&["select odd, v from 'z'"], b"").0,
        "{\"odd\":0,\"v\":6}\n{\"odd\":0,\"v\":4}\n{\"odd\":1,\"v\":5.0}\n"
    );
}

#[test]
fn rows_of_a_part_are_in_the_order_of_the_query() {
    let text: String =
        (0..3000).map(|at| format!("{{\"k\":{},\"n\":{at},\"o\":{{\"p\":{}}}}}\n", at % 3, at * 7919 % 3000)).collect();
    let folder = Folder::new("order").with("a.ndjson", &text);
    for (at, (to, sql, sorted_by)) in [
        ("one", "select k, n from stream", "n"),
        ("two", "select * from stream", "n"),
        ("three", "select k, n, o.p as p from stream order by n desc", "-n"),
        ("four", "select k, n from stream order by o.p", "n * 7919 % 3000"),
        ("five", "select *, 3000 - n as r from stream order by r", "-n"),
        ("six", "select * from stream order by o.p desc", "-(n * 7919 % 3000)"),
        ("seven", "select k, n from stream where k < 1 union all select k, n from stream where k > 0 order by n", "n"),
        ("eight", "select k, n from stream order by 2", "n"),
        ("nine", "select k, n, count(*) as c from stream group by k, n order by count(*), n", "n"),
    ]
    .into_iter()
    .enumerate()
    {
        let (target, threads) = (to, ["1", "3"][at % 2]);
        let sql = format!("copy ({sql}) to '{target}' (partition_by (k))");
        copies(&folder, &[&sql, "a.ndjson", "--threads", threads, "--chunk-bytes", "999"]);
        assert_eq!(files(&folder, target).len(), 3, "{to}");
        for part in ["k=0", "k=1", "k=2"] {
            let path = format!("{target}/{part}/part-0.ndjson");
            let (out, said, code) = folder.query(&[&format!("select n from '{path}'")], b"");
            let (wanted, _, _) = folder.query(&[&format!("select n from '{path}' order by {sorted_by}")], b"");
            assert_eq!((&out, code), (&wanted, 0), "{to} {part}: {said}");
            assert_eq!(out.lines().count(), 1000, "{to} {part}");
            assert!(!folder.text(&path).contains("order:"), "{to}");
        }
    }
}

#[test]
fn values_of_several_kinds_name_folders() {
    let folder = Folder::new("kinds")
        .with("a.ndjson", "{\"k\":1,\"n\":1}\n{\"k\":1.0,\"n\":2}\n{\"k\":\"1\",\"n\":3}\n{\"k\":1,\"n\":4}\n{\"k\":true,\"n\":5}\n{\"k\":\"\",\"n\":6}\n")
        .with("o.ndjson", "{\"k\":1}\n{\"k\":{\"a\":1}}\n");
    copies(&folder, &["copy 'a.ndjson' to 'a' (partition_by (k))"]);
    assert_eq!(
        files(&folder, "a"),
        ["k=/part-0.ndjson", "k=1/part-0.ndjson", "k=1/part-1.ndjson", "k=true/part-0.ndjson"]
    );
    assert_eq!(folder.text("a/k=1/part-0.ndjson"), "{\"n\":1}\n{\"n\":2}\n{\"n\":4}\n");
    assert_eq!(folder.text("a/k=1/part-1.ndjson"), "{\"n\":3}\n");
    fails(&folder, &["copy 'o.ndjson' to 'o' (partition_by (k))"], "a value of `k` is {\"a\":1}");
    // More folders than files may be open, and names that lead elsewhere.
    let many: String = (0..1500).map(|at| format!("{{\"k\":{at},\"n\":{at}}}\n")).collect();
    let folder =
        folder.with("m.ndjson", many).with("dots.ndjson", "{\"k\":\"..\"}\n{\"k\":\"/etc\"}\n{\"k\":\"../../x\"}\n");
    copies(&folder, &["copy 'm.ndjson' to 'm' (partition_by (k))"]);
    assert_eq!(files(&folder, "m").len(), 1500);
    copies(&folder, &["copy (select k, 1 as n from 'dots.ndjson') to 'dots' (partition_by (k))"]);
    assert_eq!(files(&folder, "dots"), ["k=%2Fetc/part-0.ndjson", "k=..%2F..%2Fx/part-0.ndjson", "k=../part-0.ndjson"]);
}

#[test]
fn a_folder_appears_when_it_is_whole() {
    let folder = folder("whole").with("bad.ndjson", format!("{LOG}{{\"day\":\n"));
    let (_, said, code) = folder.query(&["copy 'bad.ndjson' to 'out' (partition_by (day))"], b"");
    assert_eq!(code, 1, "{said}");
    assert_eq!(folder.names(), ["bad.ndjson", "log.ndjson"]);
    fs::create_dir(folder.0.join("empty")).unwrap();
    copies(&folder, &["copy (select v, day from 'log.ndjson' where v = 1) to 'empty' (partition_by (day))"]);
    assert_eq!(files(&folder, "empty"), ["day=2024-01-02/part-0.ndjson"]);
    for options in ["(partition_by (day))", "(partition_by (day), overwrite)"] {
        fails(&folder, &[&format!("copy 'log.ndjson' to 'empty' {options}")], "empty: ");
    }
    fails(&folder, &["copy 'log.ndjson' to 'log.ndjson' (partition_by (day))"], "it is there already");
    fails(&folder, &["copy 'log.ndjson' to 'no/such/place' (partition_by (day))"], "No such file");
    copies(&folder, &["copy (select v, day from 'log.ndjson' where v > 99) to 'none/' (partition_by (day))"]);
    assert!(files(&folder, "none").is_empty());
}

#[test]
fn what_is_wrong_with_a_copy_is_said() {
    let folder = folder("wrong");
    for (sql, words) in [
        ("copy (select 1 as x)", "lacks a `to`"),
        ("copy (select 1 as x) to", "found the end"),
        (
            "copy (select 1 as x) to a.csv",
            "expected the name of a file in quotes, behind `to`, found a (line 1, column 25)",
        ),
        ("copy (select 1 as x) to 'a.xyz'", "cannot tell the output format from the file name"),
        ("copy (select 1 as x) to 'a.csv' (format xml)", "`copy` knows no format xml: there are table, "),
        ("copy (select 1 as x) to 'a.csv' (header true)", "`copy` has no option header; it has format"),
        ("copy (select 1 as x) to 'a.csv' (format csv, format csv)", "the option format twice"),
        ("copy (select 1 as x) to 'a.csv' (format csv", "expected `)`, found the end"),
        ("copy (select 1 as x) to 'a.csv' () ", "the name of an option, found )"),
        ("copy (select 1 as x) to 'a.csv' csv", "expected the end of the statement, found csv"),
        ("copy (select 1 as x) to 'a' (partition_by ())", "the name of a column"),
        ("copy (select 1 as x) to 'a' (partition_by (y))", "no column `result.y`: result has x"),
        ("copy (select 1 as x) to 'a.csv' (compression gzip)", "the name of a file says how it is compressed"),
        ("copy (select 1 as x) to 'a' (format parquet, compression gzip, partition_by x)", "compressed within"),
        ("copy (select 1 as x) to 'a' (compression lzma, partition_by x)", "knows no compression lzma"),
        ("copy (describe 'log.ndjson') to 'a.csv'", "there is no table describe"),
        ("copy (drop table x) to 'a.csv'", "syntax error: "),
        ("copy nowhere to 'a.csv'", "there is no table nowhere"),
        ("copy (select 1 as x) to 'a.csv'; select 1", "one query at a time"),
        ("create view v as copy (select 1) to 'a.csv'; from v", "syntax error: "),
        ("explain copy (select 1 as x) to 'a.csv'", ""),
        ("copy (select 1 as x) to 's3://bucket/a.csv'", "is a URL"),
        ("copy (select 1 as x) to 's3://bucket/a' (partition_by x)", "is a URL"),
    ] {
        fails(&folder, &[sql], words);
    }
    fails(&folder, &["copy (select 1 as x) to 'a.csv'", "-o", "b.csv"], "remove --output");
    fails(&folder, &["copy (select 1 as x) to 'a.csv'", "--format", "csv"], "remove --output and --format");
}
