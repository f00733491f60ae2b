//! `jird query`: what it reads, and what becomes of bad records.

use crate::folder::{Folder, gzip};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

const SQL: &str = "select a where a > 1";

#[track_caller]
fn gives(folder: &Folder, args: &[&str], expected: &str) {
    assert_eq!(folder.query(args, b""), (expected.to_owned(), String::new(), 0), "{args:?}");
}

#[test]
fn packed_files_are_read_by_what_is_in_them() {
    let text = "{\"a\":1}\n{\"a\":2}\n\n{\"a\":3.5}\n";
    let two = [gzip("{\"a\":7}\n"), gzip("{\"a\":8}")].concat();
    let folder = Folder::new("compressed")
        .with("a.ndjson.gz", gzip(text))
        .with("b.ndjson", zstd::encode_all(text.as_bytes(), 1).unwrap())
        .with("c.gz", two);
    gives(&folder, &[SQL, "a.ndjson.gz"], "{\"a\":2}\n{\"a\":3.5}\n");
    gives(&folder, &["select sum(a) as s", "a.ndjson.gz", "b.ndjson"], "{\"s\":13.0}\n");
    gives(&folder, &["select count(*) as n, max(a) as m", "a.ndjson.gz", "b.ndjson", "c.gz"], "{\"n\":8,\"m\":8.0}\n");
    gives(
        &folder,
        &["select a", "c.gz", "b.ndjson", "--threads", "3"],
        "{\"a\":7}\n{\"a\":8}\n{\"a\":1}\n{\"a\":2}\n{\"a\":3.5}\n",
    );
    assert_eq!(folder.query(&[SQL], &gzip(text)).0, "{\"a\":2}\n{\"a\":3.5}\n");
    let cut = Folder::new("cut").with("a.gz", &gzip(&text.repeat(1000))[..60]);
    let (_, said, code) = cut.query(&["select a", "a.gz"], b"");
    assert!(code == 2 && said.starts_with("jird: a.gz: "), "{said}");
    let foreign = Folder::new("foreign")
        .with("a.7z", b"7z\xbc\xaf\x27\x1c")
        .with("b.parquet", b"PAR1....")
        .with("c.db.gz", gzip("SQLite format 3\0"));
    for (file, word) in
        [("a.7z", "compressed with 7-Zip"), ("b.parquet", "Invalid Parquet file"), ("c.db.gz", "decompress it first")]
    {
        let (_, said, code) = foreign.query(&["select a", file], b"");
        assert!(code == 2 && said.contains(word), "{said}");
    }
}

#[test]
fn a_bad_record_in_a_packed_file_has_its_line() {
    let folder = Folder::new("compressed-bad").with("a.gz", gzip("{\"a\":1}\n\n{\"a\":tru}\n"));
    let (out, said, code) = folder.query(&["select a", "a.gz"], b"");
    assert_eq!((out.as_str(), code), ("{\"a\":1}\n", 1));
    assert!(said.starts_with("jird: a.gz:3:9: "), "{said}");
    assert!(folder.query(&["select sum(a)", "a.gz"], b"").1.contains("a.gz:3:9"));
}

#[test]
fn folders_are_their_json_files_and_say_what_they_pass_by() {
    let folder = Folder::new("folders").with("c.ndjson", "{\"a\":9}\n");
    for (name, text) in [
        ("d/b.ndjson", "{\"a\":2}\n"),
        ("d/B.jsonl", "{\"a\":1}\n"),
        ("d/sub/x.json", "[{\"a\":3},\n {\"a\":4}]"),
        ("d/.hidden/y.json", "[{\"a\":100}]"),
        ("d/notes.txt", "no"),
        ("d/table.csv", "a\n1\n"),
    ] {
        let path = folder.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let (out, said, code) = folder.query(&["select a", "d"], b"");
    assert_eq!((out.as_str(), code), ("{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n{\"a\":4}\n", 0));
    assert!(said.contains("d: 2 other files were passed by (d/notes.txt, d/table.csv)"), "{said}");
    gives(&folder, &["select count(*) as n", "*", "-q"], "{\"n\":5}\n");
    gives(&folder, &["select a", "c.ndjson", "d/sub"], "{\"a\":9}\n{\"a\":3}\n{\"a\":4}\n");
}

#[test]
fn the_elements_of_an_array_are_records() {
    let pretty =
        "[\r\n  {\n    \"a\": 1,\n    \"o\": { \"k\": [1,\n 2] }\n  },\n  {\"a\": 2, \"s\": \"],[\\\"\"},\n  5\n]\n";
    let folder = Folder::new("array").with("a.json", pretty).with("b.json", "[]").with("c", "[[1],[2]]");
    gives(&folder, &["select a where a is not null", "a.json", "b.json"], "{\"a\":1}\n{\"a\":2}\n");
    gives(
        &folder,
        &["select *", "a.json"],
        "{\"a\":1,\"o\":{\"k\":[1,2]}}\n{\"a\": 2, \"s\": \"],[\\\"\"}\n{\"value\":5}\n",
    );
    gives(&folder, &["select sum(a) as s, count(*) as n", "a.json"], "{\"s\":3,\"n\":3}\n");
    gives(&folder, &["select value[0] as v", "c"], "{\"v\":1}\n{\"v\":2}\n");
    assert_eq!(folder.query(&["select a where a = 2"], pretty.as_bytes()).0, "{\"a\":2}\n");
    // Several arrays, one a line, are records themselves; so they are if the format is given.
    assert_eq!(folder.query(&["select value"], b"[1]\n[2]\n").0, "{\"value\":[1]}\n{\"value\":[2]}\n");
    assert_eq!(folder.query(&["select value", "--from", "ndjson"], b"[1]\n").0, "{\"value\":[1]}\n");
}

#[test]
fn values_may_stand_anywhere_one_after_the_other() {
    let wanted = "{\"a\":1}\n{\"a\":2}\n{\"a\":\"}{\"}\n";
    for (text, is_detected) in [
        ("{\n \"a\": 1 }\n{\"a\":\n2}\n{\"a\":\"}{\"}", true),
        ("{\"a\":1}{\"a\":2}{\"a\":\"}{\"}", true),
        ("{\"a\":1} {\"a\":2}\n\n{\"a\"\n:\"}{\"}\n", true),
        ("\u{1e}{\"a\":1}\n\u{1e}{\"a\":2}\n\u{1e}{\n\"a\":\"}{\"}\n", true),
        ("{\"a\":\n1} {\"a\":2} {\"a\":\"}{\"}", false),
    ] {
        let folder = Folder::new("values").with("a", text).with("b.gz", gzip(text));
        for args in [&["a"][..], &["b.gz"], &["-"]] {
            let args = [&["select a"], args].concat();
            let named = folder.query(&[&args[..], &["--from", "json"]].concat(), text.as_bytes());
            assert_eq!(named, (wanted.to_owned(), String::new(), 0), "{text} {args:?}");
            if is_detected {
                assert_eq!(folder.query(&args, text.as_bytes()).0, wanted, "{text} {args:?}");
            }
        }
        gives(&folder, &["select count(*) as n, count(a) as a", "a", "--from", "json"], "{\"n\":3,\"a\":3}\n");
    }
    let folder = Folder::new("scalars").with("a", "1 2.50\n\"x\"null[1,\n2]");
    gives(
        &folder,
        &["select value, _line as n", "a"],
        "{\"value\":1,\"n\":1}\n{\"value\":2.50,\"n\":1}\n{\"value\":\"x\",\"n\":2}\n{\"value\":null,\"n\":2}\n{\"value\":[1,2],\"n\":2}\n",
    );
}

#[test]
fn what_is_wrong_among_values_is_named_by_its_place() {
    for (text, out, place) in [
        ("{\"a\":1}{\"a\":tru}", "{\"a\":1}\n", "a.json:1:16: "),
        ("{\"a\":1} {\n\"a\":2,\n \"b\":}", "{\"a\":1}\n", "a.json:3:6: expected a value (byte "),
        ("{\"a\":1}{\"a\":2", "{\"a\":1}\n", "a.json:1:14: "),
        ("{\"a\":1}\u{1e}{\"a\":\"\u{1e}\"}", "{\"a\":1}\n", "a.json:1:"),
        ("{\"a\":1}}{\"a\":2}", "{\"a\":1}\n", "a.json:1:8: "),
    ] {
        let folder = Folder::new("values-bad").with("a.json", text);
        let (printed, said, code) = folder.query(&["select a", "a.json", "--from", "json"], b"");
        assert_eq!((printed.as_str(), code), (out, 1), "{text}: {said}");
        assert!(said.starts_with(&format!("jird: {place}")), "{text}: {said}");
    }
}

#[test]
fn rows_of_csv_have_the_lines_of_their_file() {
    let text = "a,b\n\"x\ny\",1\r\n\nz,2\n\"\n\n\",3\nlast,4";
    let wanted = "{\"n\":2,\"b\":1}\n{\"n\":5,\"b\":2}\n{\"n\":6,\"b\":3}\n{\"n\":9,\"b\":4}\n";
    let folder = Folder::new("csv-lines").with("a.csv", text).with("b.csv.gz", gzip(text));
    for args in [&["a.csv"][..], &["b.csv.gz"], &["-", "--from", "csv"], &["a.csv", "--on-error", "skip"]] {
        let args = [&["select _line as n, b"], args].concat();
        assert_eq!(folder.query(&args, text.as_bytes()), (wanted.to_owned(), String::new(), 0), "{args:?}");
    }
    gives(&folder, &["select _line as n where b = 3", "a.csv"], "{\"n\":6}\n");
    // What does not fit a schema is named by the same line.
    let folder = folder.with("schema", "{\"a\":\"i64\"}").with("c.csv", "a\n1\n\"2\n\"\nx\n");
    let (_, said, code) = folder.query(&["select a", "c.csv", "--schema", "schema"], b"");
    assert!(code == 1 && said.contains("c.csv:3: "), "{said}");
    let nested = "{\"items\":[{\"v\":1},{\"v\":2},\n{\"v\":3}]}";
    let folder = folder.with("d.json", nested).with("e.db", "");
    gives(
        &folder,
        &["select v, _line as n", "--records", "/items/*", "d.json"],
        "{\"v\":1,\"n\":1}\n{\"v\":2,\"n\":1}\n{\"v\":3,\"n\":2}\n",
    );
}

#[test]
fn csv_of_other_dialects_is_read() {
    let folder = Folder::new("dialects")
        .with("a.csv", "id;text\n1;a,b\n2;\"x;y\"\n")
        .with("b.txt", "id|text\n3|'p|q'\n")
        .with("c.tsv", "4\tv\n5\t\"w\"\n");
    gives(
        &folder,
        &["select *", "a.csv", "--delimiter", ";"],
        "{\"id\":1,\"text\":\"a,b\"}\n{\"id\":2,\"text\":\"x;y\"}\n",
    );
    let args = ["--delimiter", "|", "--quote", "'"];
    gives(&folder, &[&["select *", "b.txt"], &args[..]].concat(), "{\"id\":3,\"text\":\"p|q\"}\n");
    assert_eq!(folder.query(&[&["select id"], &args[..]].concat(), b"id|t\n7|x\n").0, "{\"id\":7}\n");
    gives(
        &folder,
        &["select *", "c.tsv", "--no-header", "--quote", "none"],
        "{\"column1\":4,\"column2\":\"v\"}\n{\"column1\":5,\"column2\":\"\\\"w\\\"\"}\n",
    );
    // JSON stays JSON, and `convert` has the same options.
    assert_eq!(folder.query(&["select a", "--delimiter", ";"], b"{\"a\":1}\n").0, "{\"a\":1}\n");
    assert_eq!(
        folder.fine(&["a.csv", "-", "--delimiter", ";"]).lines().next(),
        Some("{\"id\":\"1\",\"text\":\"a,b\"}")
    );
    assert_eq!(folder.fine(&["b.txt", "-", "--delimiter", "|", "--quote", "'"]), "{\"id\":\"3\",\"text\":\"p|q\"}\n");
    let (_, said, code) = folder.query(&["select a", "--delimiter", "ab"], b"");
    assert!(code == 2 && said.contains("one ASCII character"), "{said}");
    let (_, said, code) = folder.query(&["select *"], b"id,name\n1,x\n");
    assert!(code == 1 && said.contains("--from csv"), "{said}");
}

#[test]
fn names_stand_for_files() {
    let folder = Folder::new("defined")
        .with("e1.ndjson", "{\"v\":1}\n")
        .with("e2.ndjson", "{\"v\":2}\n")
        .with("t.csv", "v,n\n2,two\n")
        .with("a.ndjson", "{\"v\":9}\n");
    let define = ["--define", "errors=e*.ndjson", "--define", "times=t.csv"];
    let asks = |sql: &str, wanted: &str| gives(&folder, &[&[sql], &define[..]].concat(), wanted);
    asks("select v from errors", "{\"v\":1}\n{\"v\":2}\n");
    asks("from errors where v = 2", "{\"v\":2}\n");
    asks("select errors.v, t.n from errors join times t on errors.v = t.v", "{\"v\":2,\"n\":\"two\"}\n");
    asks("with errors as (select 7 as v) select v from errors", "{\"v\":7}\n");
    asks("select count(*) as n from (select v from errors union all select v from times)", "{\"n\":3}\n");
    let twice = ["--define", "both=e1.ndjson", "--define", "both=a.ndjson"];
    gives(&folder, &[&["select sum(v) as s from both"], &twice[..]].concat(), "{\"s\":10}\n");
    for (define, words) in [
        ("errors=gone", "No such file"),
        ("stream=a.ndjson", "all files"),
        ("a b=x", "NAME=FILES"),
        ("x=", "NAME=FILES"),
    ] {
        let (_, said, code) = folder.query(&["select v from errors", "--define", define], b"");
        assert!(code == 2 && said.contains(words), "{define}: {said}");
    }
}

#[test]
fn a_missing_file_is_an_error_whatever_the_query_names() {
    let folder = Folder::new("missing").with("a.ndjson", "{\"a\":1}\n");
    for sql in ["select 1 as x", "select 'x' as tag", "select * from 'a.ndjson'", "select now() is null as n"] {
        for files in [&["gone.ndjson"][..], &["a.ndjson", "gone.ndjson"], &["no*thing.ndjson"]] {
            let (out, said, code) = folder.query(&[&[sql], files].concat(), b"");
            assert_eq!((out.as_str(), code), ("", 2), "{sql} {files:?}: {said}");
            assert!(said.contains("No such file"), "{said}");
        }
    }
    assert_eq!(folder.query(&["select 1 as x"], b""), ("{\"x\":1}\n".to_owned(), String::new(), 0));
    let (out, said, code) = folder.query(&["select 1 as x", "a.ndjson"], b"");
    assert_eq!((out.as_str(), code), ("{\"x\":1}\n", 0));
    assert!(said.contains("reads nothing of a.ndjson"), "{said}");
}

#[test]
fn what_is_wrong_in_an_array_is_named_by_its_line() {
    for (text, out, place) in [
        ("[{\"a\":1},\n{\"a\":2,\n \"b\":tru}]", "{\"a\":1}\n", "a.json:3:9: "),
        ("[{\"a\":1},\n]", "{\"a\":1}\n", "a.json:2: expected a value"),
        ("[{\"a\":1}\n] 7", "{\"a\":1}\n", "a.json:2: unexpected text after the value"),
        ("[{\"a\":1},\n{\"a\":2}", "{\"a\":1}\n", "a.json:2: an array or object is not closed"),
        ("[{\"a\":1},\n{\"a\":\"\n\"}]", "{\"a\":1}\n", "a.json:2:"),
    ] {
        let (printed, said, code) = Folder::new("array-bad").with("a.json", text).query(&["select a", "a.json"], b"");
        assert_eq!((printed.as_str(), code), (out, 1), "{text}: {said}");
        assert!(said.starts_with(&format!("jird: {place}")), "{text}: {said}");
    }
}

#[test]
fn an_array_of_any_size_takes_little_memory_and_is_right_at_every_border() {
    let mut text = String::from("[");
    for i in 0..40_000 {
        let _ =
            write!(text, "{}{{\"i\": {i}, \"pad\": \"{}\\\"]\"}}", if i > 0 { ",\n" } else { "" }, "x".repeat(i % 61));
    }
    text.push(']');
    let folder = Folder::new("array-long").with("a.json", &text);
    gives(&folder, &["select count(*) as n, sum(i) as s", "a.json"], "{\"n\":40000,\"s\":799980000}\n");
    gives(
        &folder,
        &["select i where i % 10000 = 9999", "a.json"],
        "{\"i\":9999}\n{\"i\":19999}\n{\"i\":29999}\n{\"i\":39999}\n",
    );
}

#[test]
fn a_byte_order_mark_and_carriage_returns_are_nothing() {
    let folder = Folder::new("mark")
        .with("a.ndjson", b"\xef\xbb\xbf{\"a\":1}\r\n{\"a\":2}\r\n")
        .with("b.json", b"\xef\xbb\xbf[{\"a\":3}]")
        .with("c.gz", gzip("\u{feff}{\"a\":4}\r\n"));
    gives(&folder, &["select a", "a.ndjson", "b.json", "c.gz"], "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n{\"a\":4}\n");
    gives(&folder, &["select sum(a) as s", "a.ndjson", "b.json", "c.gz"], "{\"s\":10}\n");
    assert_eq!(folder.query(&["select a"], b"\xef\xbb\xbf{\"a\":1}\n").0, "{\"a\":1}\n");
    assert_eq!(folder.fine(&["a.ndjson", "b.json", "-"]), "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
    let bad =
        Folder::new("mark-bad").with("a.ndjson", b"\xef\xbb\xbf{\"a\":x}\n").query(&["select a", "a.ndjson"], b"");
    assert!(bad.1.contains("(byte 8"), "{}", bad.1);
}

/// What `sql` prints of lines that come one by one, each awaited before the next is sent.
fn live(sql: &str, args: &[&str], lines: &[(&str, Option<&str>)]) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_jird"))
        .arg("query")
        .arg(sql)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let (sender, printed) = channel();
    std::thread::spawn(move || output.lines().for_each(|line| sender.send(line.unwrap()).unwrap()));
    for (line, expected) in lines {
        input.write_all(line.as_bytes()).unwrap();
        input.flush().unwrap();
        if let Some(expected) = expected {
            let line = printed.recv_timeout(Duration::from_secs(20)).expect("a hit is printed while the input pauses");
            assert_eq!(line, *expected, "{sql}");
        }
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn hits_in_a_live_stream_are_printed_as_they_come() {
    let lines = [
        ("{\"a\":1}\n", None),
        ("{\"a\":2}\n", Some("{\"a\":2}")),
        ("{\"a\":0}\n{\"a\":3}\n{\"a\":", Some("{\"a\":3}")),
        ("4}\n", Some("{\"a\":4}")),
    ];
    live(SQL, &[], &lines);
    live("select a where number(a) + 0 > 1", &[], &lines);
    live(
        "select text(a) as a where length(text(a)) = 1",
        &["--format", "csv"],
        &[("{\"a\":1}\n", Some("a")), ("{\"a\":12}\n{\"a\":2}\n", Some("1"))],
    );
    live(
        SQL,
        &["--format", "table"],
        &[("{\"a\":2}\n", Some("a")), ("", Some("─")), ("", Some("2")), ("{\"a\":3}\n", Some("3"))],
    );
    live(SQL, &[], &[("[{\"a\":2},", Some("{\"a\":2}")), ("{\"a\":3}", None), (",", Some("{\"a\":3}")), ("1]", None)]);
}

const BAD: &str = "{\"a\":1}\n{\"a\":\n\n{\"a\":2,}\n{\"a\":3}\n\"\u{1}\"\n";

#[test]
fn bad_records_are_passed_by_counted_and_set_aside() {
    let folder = Folder::new("bad").with("a.ndjson", BAD).with("b.ndjson", "{\"a\":4}\nx\n");
    let run = |sql: &str, more: &[&str]| folder.query(&[&[sql, "a.ndjson", "b.ndjson"], more].concat(), b"");
    for sql in ["select a", "select a as a where number(a) > 0"] {
        let (out, said, code) = run(sql, &["--on-error", "skip"]);
        assert_eq!((out.as_str(), code), ("{\"a\":1}\n{\"a\":3}\n{\"a\":4}\n", 1));
        assert!(
            said.contains("4 bad records left out, the first: a.ndjson: ") && said.contains("at line 2 column"),
            "{said}"
        );
    }
    // Those that are read twice count once; and so do those of a table that is read by several names.
    for (sql, out) in [
        ("select sum(a) as s", "{\"s\":8}\n"),
        ("select count(*) as n from stream x join stream y on x.a = y.a", "{\"n\":3}\n"),
    ] {
        let _none_yet = fs::remove_file(folder.0.join("bad"));
        let (printed, said, code) = run(sql, &["--on-error", "quarantine=bad", "--chunk-bytes", "9"]);
        assert_eq!((printed.as_str(), code), (out, 1));
        assert!(said.contains("4 bad records left out"), "{said}");
        let lines = [
            r#"{"file":"a.ndjson","line":2,"offset":13,"kind":"unclosed","message":"an array or object is not closed at line 2 column 6","raw":"{\"a\":"}"#,
            r#"{"file":"a.ndjson","line":4,"offset":22,"kind":"key","message":"expected a key in double quotes at line 4 column 8","raw":"{\"a\":2,}"}"#,
            r#"{"file":"a.ndjson","line":6,"offset":33,"kind":"control","message":"a control character in a string must be escaped at line 6 column 2","raw":"\"\u0001\""}"#,
            r#"{"file":"b.ndjson","line":2,"offset":8,"kind":"value","message":"expected a value at line 2 column 1","raw":"x"}"#,
        ];
        assert_eq!(folder.text("bad"), lines.join("\n") + "\n");
    }
    let (_, said, code) = run("select a", &["--on-error", "skip", "--trusted"]);
    assert!(code == 2 && said.contains("--on-error checks every record"), "{said}");
    assert_eq!(run("select a", &["--on-error", "hop"]).2, 2);
}

#[test]
fn many_bad_records_of_a_packed_file_are_set_aside_in_order_while_types_are_found() {
    let text: String =
        (0..30_000).map(|i| if i % 2 == 0 { format!("{{\"a\":{i}}}\n") } else { format!("no {i}\n") }).collect();
    let folder =
        Folder::new("bad-compressed").with("a.gz", gzip(&text)).with("b.ndjson", BAD).with("c.gz", gzip("x\n"));
    let files = ["a.gz", "b.ndjson", "c.gz"];
    for threads in ["1", "3"] {
        let _none_yet = fs::remove_file(folder.0.join("bad"));
        let args = ["select sum(a) as s", "--on-error", "quarantine=bad", "--threads", threads];
        let (out, said, _) = folder.query(&[&args[..], &files].concat(), b"");
        assert_eq!(out, "{\"s\":224985004}\n");
        assert!(said.contains("15004 bad records left out"), "{said}");
        let set_aside = folder.text("bad");
        let places = set_aside.lines().map(|line| {
            let bad = jird::from_str::<jird::Json>(line).unwrap();
            (bad["file"].as_str().unwrap().to_owned(), bad["line"].as_u64().unwrap())
        });
        let wanted = (0..15_000).map(|bad| ("a.gz", 2 * bad + 2));
        let wanted = wanted.chain([2, 4, 6].map(|line| ("b.ndjson", line))).chain([("c.gz", 1)]);
        assert!(places.eq(wanted.map(|(file, line)| (file.to_owned(), line))), "{threads} threads");
    }
}

#[test]
fn convert_and_query_set_the_same_aside() {
    let folder = Folder::new("bad-both").with("a.ndjson", BAD);
    folder.query(&["select a", "a.ndjson", "--on-error", "quarantine=1"], b"");
    folder.run(&["--on-error", "quarantine=2", "a.ndjson", "out.ndjson"]);
    let [one, two] = ["1", "2"].map(|name| {
        let lines = folder.text(name);
        lines.lines().map(|line| jird::from_str::<jird::Json>(line).unwrap()).collect::<Vec<_>>()
    });
    for (one, two) in one.iter().zip(&two) {
        for key in ["file", "line", "kind", "raw"] {
            assert_eq!(one[key], two[key]);
        }
    }
    assert_eq!((one.len(), two.len()), (3, 3));
}

#[test]
fn a_run_can_be_repeated_from_the_quarantine() {
    let folder =
        Folder::new("again").with("a.ndjson", "{\"a\":1}\n{\"a\":2,}\n").with("b.ndjson", b"{\"a\":\"\xff\"}\n");
    let run = |args: &[&str]| folder.query(args, b"");
    run(&["select a", "a.ndjson", "b.ndjson", "--on-error", "quarantine=bad.ndjson"]);
    // As data it is what it is.
    assert_eq!(run(&["select line where file = 'b.ndjson'", "bad.ndjson"]).0, "{\"line\":1}\n");
    let (out, said, code) = run(&["select a", "bad.ndjson", "--from", "quarantine"]);
    assert_eq!((out.as_str(), code), ("", 1));
    assert!(said.starts_with("jird: bad.ndjson:1:8: expected a key"), "{said}");
    let corrected = folder.text("bad.ndjson").replace("2,}", "2}");
    fs::write(folder.0.join("bad.ndjson"), corrected).unwrap();
    let (out, _, code) = run(&["select a", "bad.ndjson", "--from", "quarantine", "--on-error", "quarantine=worse"]);
    assert_eq!((out.as_str(), code), ("{\"a\":2}\n", 1));
    assert!(folder.text("worse").contains("\"base64\":\"eyJhIjoi/yJ9\""), "{}", folder.text("worse"));
    let output = folder.run(&["--from", "quarantine", "--on-error", "skip", "bad.ndjson", "-"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"a\":2}\n");
    let (_, said, code) = run(&["select a", "a.ndjson", "--from", "quarantine"]);
    assert!(code == 2 && said.contains("line 1 is not a line of a quarantine file"), "{said}");
}

#[test]
fn a_quarantine_takes_no_input_s_place() {
    let folder = Folder::new("own").with("a.ndjson", BAD);
    for file in ["a.ndjson", "./a.ndjson"] {
        let (_, said, code) =
            folder.query(&["select a", "a.ndjson", "--on-error", &format!("quarantine+={file}")], b"");
        assert!(code == 2 && said.contains("would be written to what is read"), "{said}");
        assert_eq!(folder.text("a.ndjson"), BAD);
    }
    let input = fs::File::open(folder.0.join("a.ndjson")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_jird"));
    command.args(["query", "select a", "--on-error", "quarantine+=a.ndjson"]).current_dir(&folder.0).stdin(input);
    assert_eq!(command.output().unwrap().status.code(), Some(2));
    assert_eq!(folder.text("a.ndjson"), BAD);
    let (_, said, _) = folder.query(&["select a", "a.ndjson", "-o", "x", "--on-error", "quarantine=x"], b"");
    assert!(said.contains("cannot go to one file"), "{said}");
    let (_, said, code) = folder.query(&["select a", "a.ndjson", "--on-error", "quarantine=no/x"], b"");
    assert!(code == 2 && said.contains("no/x"), "{said}");
}

#[test]
fn records_are_counted_without_looking_into_them() {
    let folder = Folder::new("count").with("a.ndjson", "{\"a\":1}\r\n \r\n\n{\"a\":\n 5").with("b.gz", gzip("1\n2\n"));
    for how in ["touched", "trusted"] {
        for threads in ["1", "3"] {
            let args = [
                "select count(*) as n",
                "a.ndjson",
                "b.gz",
                "--check",
                how,
                "--threads",
                threads,
                "--chunk-bytes",
                "3",
            ];
            gives(&folder, &args, "{\"n\":5}\n");
        }
    }
    assert_eq!(folder.query(&["select count(*) as n", "a.ndjson"], b"").2, 1);
}

#[test]
fn a_result_takes_no_input_s_place() {
    const TEXT: &str = "{\"a\":1}\n{\"a\":2}\n";
    let folder = Folder::new("result").with("a.ndjson", TEXT).with("b.ndjson", TEXT);
    fs::hard_link(folder.0.join("a.ndjson"), folder.0.join("same")).unwrap();
    std::os::unix::fs::symlink("a.ndjson", folder.0.join("link")).unwrap();
    for target in ["a.ndjson", "./a.ndjson", "same", "link", "/dev/fd/1"] {
        for (sql, input) in [
            ("select a", "a.ndjson"),
            ("select a from 'a.ndjson'", "b.ndjson"),
            ("select a from 'b.ndjson' where a in (select a from './link')", "b.ndjson"),
            ("select a", "link"),
            ("select a", "*.ndjson"),
        ] {
            let script = format!("exec \"$0\" query \"$1\" '{input}' -o {target} >> a.ndjson");
            let run = |script: &str| {
                let mut command = Command::new("sh");
                command.args(["-c", script, env!("CARGO_BIN_EXE_jird"), sql]).current_dir(&folder.0);
                command.output().unwrap()
            };
            let output = run(&script);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(2) && said.contains("would be written to what is read"), "{said}");
            assert_eq!(folder.text("a.ndjson"), TEXT, "{target}");
        }
    }
    // Into standard input, which is the same file.
    let script = "exec \"$0\" query 'select a' - >> a.ndjson < a.ndjson";
    let output =
        Command::new("sh").args(["-c", script, env!("CARGO_BIN_EXE_jird")]).current_dir(&folder.0).output().unwrap();
    assert_eq!((output.status.code(), folder.text("a.ndjson").as_str()), (Some(2), TEXT));
}

#[test]
fn a_quarantine_that_is_there_is_kept() {
    let folder = Folder::new("kept").with("a.ndjson", BAD).with("good.ndjson", "{\"a\":1}\n");
    let run = |file: &str, how: &str| folder.query(&["select a", file, "--on-error", how], b"");
    assert_eq!(run("a.ndjson", "quarantine=bad").2, 1);
    let first = folder.text("bad");
    for file in ["a.ndjson", "good.ndjson"] {
        let (out, said, code) = run(file, "quarantine=bad");
        assert!(out.is_empty() && code == 2 && said.contains("bad") && said.contains("quarantine+=FILE"), "{said}");
        let output = folder.run(&["--on-error", "quarantine=bad", file, "-"]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        assert_eq!(folder.text("bad"), first);
    }
    // A query that runs again takes back only its own bad records.
    let (out, _, _) = folder.query(&["select sum(a) as s", "a.ndjson", "--on-error", "quarantine+=bad"], b"");
    assert_eq!((out.as_str(), folder.text("bad")), ("{\"s\":4}\n", first.repeat(2)));
    assert_eq!(run("good.ndjson", "quarantine+=bad").2, 0);
    assert_eq!(folder.text("bad"), first.repeat(2));
    // An empty file holds nothing that could be lost.
    let folder = folder.with("empty", "");
    assert_eq!(folder.query(&["select a", "a.ndjson", "--on-error", "quarantine=empty"], b"").2, 1);
    assert_eq!(folder.text("empty"), first);
}

#[test]
fn records_have_the_name_of_their_file_and_the_number_of_their_line() {
    let text: String = ["{\"a\":1}\n\n", "{\"a\":2}\r\n", "{\"a\":3,\"_line\":\"own\"}\n"].concat();
    let folder = Folder::new("told").with("a.ndjson", &text).with("b.json", "[{\"a\":4},\n{\n\"a\":5}]");
    let lines = "{\"_file\":\"a.ndjson\",\"n\":1,\"a\":1}\n{\"_file\":\"a.ndjson\",\"n\":3,\"a\":2}\n{\"_file\":\"a.ndjson\",\"n\":\"own\",\"a\":3}\n\
                 {\"_file\":\"b.json\",\"n\":1,\"a\":4}\n{\"_file\":\"b.json\",\"n\":2,\"a\":5}\n";
    for more in [&[][..], &["--threads", "3", "--chunk-bytes", "5"]] {
        let args = [&["select _file, _line as n, a", "a.ndjson", "b.json"], more].concat();
        gives(&folder, &args, lines);
        let args = [&["select a where _line = 3 and _file like 'a%'", "a.ndjson", "b.json"], more].concat();
        gives(&folder, &args, "{\"a\":2}\n");
        let args =
            [&["select _file as f, count(*) as n group by _file order by f", "a.ndjson", "b.json"], more].concat();
        gives(&folder, &args, "{\"f\":\"a.ndjson\",\"n\":3}\n{\"f\":\"b.json\",\"n\":2}\n");
    }
}

/// Numbers until a late record, which is beyond what a guess of types has seen.
fn with_late(late: &str) -> String {
    let mut text = String::new();
    for number in 0..60_000 {
        writeln!(text, "{{\"n\":{number},\"k\":\"k{}\"}}", number % 3).unwrap();
    }
    text + late
}

#[test]
fn a_pipe_that_is_read_while_it_is_copied_answers_as_a_file() {
    let ways: [&[&str]; 4] =
        [&[], &["--threads", "1"], &["--threads", "3", "--chunk-bytes", "1000"], &["--spool-compressed"]];
    let ends = ["", "{\"n\":0.5,\"k\":\"k1\"}\n", "{\"n\":\"x\",\"k\":7}", "{\"n\":1", "\n\n{\"n\":1e400}\n"];
    for (case, late) in ends.into_iter().enumerate() {
        let text = with_late(late);
        let folder = Folder::new("copying").with("a.ndjson", &text);
        let queries = [
            "select k, sum(n) as s, count(*) as c group by k order by k",
            "select n, k order by n desc limit 3",
            "select max(n) as m, min(k) as k",
            "select distinct k order by k",
            "select nn, sum(n) as s group by nn",
        ];
        for (at, sql) in queries.into_iter().enumerate() {
            let of_file = folder.query(&[sql, "a.ndjson"], b"");
            // Each end with each query, and each query in every way.
            for more in ways.into_iter().cycle().skip(case).take(if at == case { 4 } else { 1 }) {
                let of_pipe = folder.query(&[&[sql], more].concat(), text.as_bytes());
                let said = of_pipe.1.replace("<stdin>", "a.ndjson");
                assert_eq!((of_pipe.0, said, of_pipe.2), of_file, "{sql} {more:?} {late}");
            }
        }
    }
}

#[test]
fn a_copy_that_is_read_while_it_is_made_has_a_limit() {
    let (text, folder) = (with_late(""), Folder::new("copying-limit"));
    let limits = [(text.len(), 0), (text.len() - 1, 2), (300_000, 2), (1, 2)];
    for (limit, wanted) in limits {
        let args = ["select k, sum(n) as s group by k", "--spool-limit", &limit.to_string()];
        let (out, said, code) = folder.query(&args, text.as_bytes());
        assert_eq!((code, out.lines().count()), (wanted, if wanted == 0 { 3 } else { 0 }), "{limit}: {said}");
        assert!(wanted == 0 || said.contains(&format!("larger than {limit} bytes; --spool-limit")), "{said}");
    }
}
