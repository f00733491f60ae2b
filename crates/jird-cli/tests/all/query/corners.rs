//! `jird query`: results that are not numbers, several percentiles of one field, pipes that are named twice, and what
//! is refused with advice.

use crate::folder::Folder;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

const MIXED: &str = "{\"v\":1}\n{\"v\":2.5}\n{\"v\":\"x\"}\n{\"v\":10}\n{\"v\":1e308}\n";

#[test]
fn an_infinite_result_is_null_in_every_format_and_told() {
    let folder = Folder::new("infinite").with("m.ndjson", MIXED).with("f.ndjson", "{\"v\":1e308}\n{\"v\":1.5}\n");
    let note = "note: 1 result became null: it is beyond the largest number (about 1.8e308), or a division by zero\n";
    for (sql, file) in [
        ("select 1e308 * v as x where v = 1e308", "f.ndjson"),
        // A field of several kinds.
        ("select v * 10 as x where v = 1e308", "m.ndjson"),
        ("select 1.5 / 0 as x limit 1", "f.ndjson"),
        ("select 1e400 * 10 as x limit 1", "f.ndjson"),
    ] {
        for (format, wanted) in [
            ("ndjson", "{\"x\":null}\n"),
            ("json", "[\n{\"x\":null}\n]\n"),
            ("csv", "x\n\"\"\n"),
            ("table", "x\n─\n\n"),
        ] {
            let (out, said, code) = folder.query(&[sql, file, "--format", format], b"");
            assert_eq!((out.as_str(), code), (wanted, 0), "{sql} {format}: {said}");
            assert!(said.contains(note), "{sql} {format}: {said}");
        }
        for format in ["parquet", "arrow"] {
            let target = format!("x.{format}");
            let (_, said, code) = folder.query(&[sql, file, "-o", &target], b"");
            assert!(code == 0 && said.contains(note), "{sql} {format}: {said}");
            let (out, said, code) = folder.query(&["select count(*) as n, count(x) as x", &target], b"");
            assert_eq!((out.as_str(), code), ("{\"n\":1,\"x\":0}\n", 0), "{sql} {format}: {said}");
        }
    }
    let (out, said, _) = folder.query(&["select v * 10 as x", "f.ndjson"], b"");
    assert!(out == "{\"x\":null}\n{\"x\":15.0}\n" && said.contains("1 result became null"), "{out}{said}");
    let (_, said, _) = folder.query(&["select v * 2 as x where v < 100", "m.ndjson"], b"");
    assert!(!said.contains("became null"), "{said}");
}

#[test]
fn several_percentiles_of_a_field_of_several_kinds_are_computed_together() {
    let folder = Folder::new("percentiles").with("m.ndjson", MIXED);
    for (sql, wanted) in [
        ("select quantile(v, 0.25) as a, quantile(v, 0.75) as b, quantile(v, 0) as c", r#"{"a":1,"b":10,"c":1}"#),
        ("select quantile_cont(v, 0.5) as a, quantile_cont(v, 0) as b", r#"{"a":6.25,"b":1.0}"#),
        ("select quantile_cont(v, 0.5) as a, quantile(v, 0.5) as b, median(v) as c", r#"{"a":6.25,"b":2.5,"c":6.25}"#),
        ("select approx_quantile(v, 0) as a, approx_quantile(v, 1) as b where v < 100", r#"{"a":1.0,"b":10.0}"#),
        (
            "select percentile_cont(0.25) within group (order by v) as a, percentile_cont(0.25) within group (order by v desc) as b \
             where v < 100",
            r#"{"a":1.75,"b":6.25}"#,
        ),
    ] {
        let (out, said, code) = folder.query(&[sql, "m.ndjson"], b"");
        assert_eq!((out.trim_end(), code), (wanted, 0), "{sql}: {said}");
    }
    let (_, said, _) = folder.query(&["select quantile(v, 0.1) as a, quantile(v, 0.9) as b", "m.ndjson"], b"");
    assert!(
        said.contains("`v` has integers and others: 1 value that is not a number") || said.contains(": 1 value that"),
        "{said}"
    );
}

#[test]
fn what_is_refused_says_what_to_write() {
    let folder = Folder::new("refused").with("m.ndjson", MIXED).with("s.ndjson", "{\"v\":1,\"w\":2}\n");
    let sql = "select l.v from stream as l where l.v = 7 or l.v in (select s.v from 's.ndjson' as s where s.v > l.v)";
    let (_, said, code) = folder.query(&[sql, "m.ndjson"], b"");
    assert!(code == 2 && said.contains("write it as a join"), "{sql}: {said}");
}

/// Runs a query to which a pipe with two lines is handed as descriptor 3, too.
fn with_pipe(folder: &Folder, sql: &str, files: &[&str]) -> (String, String, i32) {
    let words = [&["query", sql][..], files].concat();
    let mut command = Command::new("sh");
    command
        .arg0("sh")
        .arg("-c")
        .arg("printf '{\"a\":1}\\n{\"a\":2}\\n' | \"$0\" \"$@\" 3<&0")
        .arg(env!("CARGO_BIN_EXE_jird"));
    let output = command.args(words).current_dir(&folder.0).stdin(Stdio::null()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

#[test]
fn a_pipe_that_is_named_twice_is_refused_before_it_is_read() {
    let folder = Folder::new("pipes");
    let count = "select count(*) as n";
    let (out, said, code) = with_pipe(&folder, count, &["/dev/fd/3"]);
    assert_eq!((out.as_str(), code), ("{\"n\":2}\n", 0), "{said}");
    // One name, used twice, is one copy.
    let twice = "select count(*) as n from stream as l join stream as r on l.a = r.a";
    let (out, said, code) = with_pipe(&folder, twice, &["-"]);
    assert_eq!((out.as_str(), code), ("{\"n\":2}\n", 0), "{said}");
    for (sql, files) in [
        (count, &["-", "-"][..]),
        (count, &["/dev/stdin", "-"]),
        (count, &["/dev/fd/3", "-"]),
        ("select count(*) as n from '/dev/fd/3' as l join stream as r on l.a = r.a", &["-"]),
        ("select count(*) as n from '/dev/fd/3' as l join '/dev/stdin' as r on l.a = r.a", &[]),
    ] {
        let (out, said, code) = with_pipe(&folder, sql, files);
        assert!(
            code == 2 && out.is_empty() && said.contains("is a pipe that the query names twice"),
            "{sql} {files:?}: {said}"
        );
    }
}
