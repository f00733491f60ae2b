//! `jird convert` by several threads: nothing of it is to be seen. What `--limit` is given is read by one thread.
#![cfg(feature = "convert")]

use crate::folder::Folder;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// More than there are records.
const ONE_THREAD: [&str; 2] = ["--limit", "1000000000"];

/// Records of some pieces: of every length, with blank lines, both ends of lines, and `odd` lines between.
fn records(odd: &[(usize, &str)]) -> String {
    let mut text = String::new();
    for id in 0..12_000_usize {
        let name = "é\\n\"".repeat(if id % 1999 == 0 { 20_000 } else { id % 13 }).replace('"', "\\\"");
        let end = ["\n", "\r\n", "\n\n", " \n"][id % 4];
        let _ = write!(text, r#"{{"id":{id},"name":"{name}","in":{{"x":{}.50,"y":[{id}]}}}}{end}"#, id / 7);
        if let Some((_, line)) = odd.iter().find(|(at, _)| *at == id) {
            text += line;
            text += "\n";
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// Runs both ways: exit code, what was said, and what was written.
fn same(folder: &Folder, args: &[&str], out: &str) -> (Option<i32>, String, String) {
    let mut runs = [&ONE_THREAD[..], &[]].map(|more| {
        let _ = std::fs::remove_file(folder.0.join("bad.ndjson"));
        let _ = std::fs::remove_file(folder.0.join(out));
        let output = folder.run(&[args, more].concat());
        let bad = std::fs::read_to_string(folder.0.join("bad.ndjson")).unwrap_or_default();
        let written = std::fs::read_to_string(folder.0.join(out)).unwrap_or_default();
        (output.status.code(), String::from_utf8(output.stderr).unwrap() + &bad, written)
    });
    let [one, all] = &mut runs;
    assert_eq!((one.0, &one.1), (all.0, &all.1), "{args:?}");
    assert!(one.2 == all.2, "{args:?}: {} and {} bytes", one.2.len(), all.2.len());
    core::mem::take(all)
}

#[test]
fn text_becomes_the_same_text() {
    let folder = Folder::new("share-text").with("a.ndjson", records(&[]));
    for out in ["o.ndjson", "o.json", "o.csv", "o.tsv", "o.ndjson.gz"] {
        let ways: &[&[&str]] = &[&[], &["--flatten"], &["--select", "in.x,id"], &["--select", "in.y", "--flatten"]];
        for way in ways {
            let args = [&["a.ndjson", out], *way].concat();
            let compressed = out.ends_with("gz");
            if compressed {
                assert!(folder.run(&args).status.success());
                folder.fine(&["--from", "ndjson", out, "decompressed.ndjson"]);
                folder.fine(&[&["a.ndjson", "plain.ndjson"], *way].concat());
                assert!(folder.text("decompressed.ndjson") == folder.text("plain.ndjson"));
                continue;
            }
            let (code, said, written) = same(&folder, &args, out);
            assert_eq!((code, &*said), (Some(0), ""));
            assert!(written.lines().count() >= 12_000);
        }
    }
}

#[test]
fn selected_columns_are_what_the_filters_send() {
    let odd = [
        r#"{"in":{"y":[1]},"id":1}"#,
        r#"{"in":{},"id":2,"name":null}"#,
        r#"{"in":[{"x":1}],"id":[3]}"#,
        r#"{"in":5,"id":{"a":4},"id":7}"#,
        r#"{"in":{"x":1,"x":2},"in":{"x":3,"z":true},"name":"a","name":"b"}"#,
        r#"{"\u0069d":"\ud83d\ude00\n","in":{"\u0078":1e5,"z":"a,\"b"}}"#,
        "[{\"id\":1}]",
        "7",
        r#"{"value":1,"z":{"id":2},"":3,"in.x":4}"#,
        "{}",
        r#"{"in":{"z":{}},"id":false}"#,
        r#"{"in":{"x":null}}"#,
    ];
    let ways: &[&[&str]] = &[
        &["--select", "id"],
        &["--select", "id,name,value"],
        &["--select", "name,id,id", "--flatten"],
        &["--select", "in.x,id,in.z", "--flatten"],
        &["--select", "in.x", "--flatten"],
        &["--select", "in.z", "--flatten"],
        &["--select", "in,in.x,id", "--flatten"],
        &["--select", "in.x.y,in.z,*", "--flatten"],
        &["--select", ",z.id,z.no", "--flatten"],
    ];
    // One of them in each of many pieces, so that it is known which way it goes; and all.
    for lines in odd.iter().map(std::slice::from_ref).chain([&odd[..], &odd[4..6]]) {
        let odd: Vec<(usize, &str)> = lines.iter().enumerate().map(|(at, line)| (4000 + at * 300, *line)).collect();
        let folder = Folder::new("share-fields").with("a.ndjson", records(&odd));
        for (at, way) in ways.iter().enumerate() {
            let out = ["o.ndjson", "o.csv"][(at + lines[0].len()) % 2];
            let (code, said, written) = same(&folder, &[&["a.ndjson", out], *way].concat(), out);
            assert_eq!(code, Some(0), "{said}");
            // Some columns are in no record.
            assert!(said.lines().all(|line| line.starts_with("jird: note: no record has")), "{said}");
            assert!(written.lines().count() >= 12_000);
        }
    }
}

#[test]
fn several_inputs_are_one_array() {
    let folder = Folder::new("share-several").with("a.ndjson", records(&[])).with("b.ndjson", "").with("c.ndjson", "7");
    let (.., written) =
        same(&folder, &["b.ndjson", "c.ndjson", "a.ndjson", "b.ndjson", "c.ndjson", "o.json"], "o.json");
    let all: jird::Json = jird::from_str(&written).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 12_002);
    assert_eq!(same(&folder, &["b.ndjson", "o.json"], "o.json").2, "[]\n");
}

#[test]
fn bad_lines_are_told_alike() {
    let late = r#"{"id":1,"new":2}"#;
    let odd: &[&[(usize, &str)]] = &[
        &[(5000, "{\"id\":}")],
        &[(0, "\u{1}"), (1, "[1"), (7777, "{\"a\":1} 2"), (7778, "\"\\u12\""), (11_999, "{\"a\":[")],
        &[(9000, late)],
        &[(3000, "nul"), (9000, late), (9001, "}")],
    ];
    for odd in odd {
        let folder = Folder::new("share-bad").with("a.ndjson", records(odd));
        for out in ["o.ndjson", "o.json", "o.csv"] {
            for how in ["stop", "skip", "quarantine=bad.ndjson"] {
                let (code, said, _) = same(&folder, &["--on-error", how, "a.ndjson", out], out);
                let is_bad = odd.iter().any(|(_, line)| *line != late);
                assert_eq!(code, Some(i32::from(is_bad)), "{said}");
                assert_eq!(said.is_empty(), !is_bad);
            }
        }
    }
}

#[test]
fn long_lines_and_large_results_take_no_more_memory() {
    let long = format!("[\"{}\"]", "x".repeat(17 << 20));
    // Each key is written with those around it.
    let deep = format!("{}1{}", "{\"key\":".repeat(1000), "}".repeat(1000));
    let wide = (0..400).map(|id| format!("\"{id}\":{deep}")).collect::<Vec<_>>().join(",");
    let text = format!("{}\n{long}\n{{{wide}}}\n{}", records(&[]), records(&[(3, "]")]));
    let folder = Folder::new("share-long").with("a.ndjson", &text);
    for more in [&[][..], &["--flatten"]] {
        let (code, ..) = same(&folder, &[&["--on-error", "skip", "a.ndjson", "o.ndjson"], more].concat(), "o.ndjson");
        assert_eq!(code, Some(1));
    }
}

#[test]
fn tables_become_the_same_text() {
    let folder = Folder::new("share-tables");
    let setup = "
        create table plain(a integer primary key, b text, c real);
        with recursive n(i) as (select 0 union all select i + 1 from n where i < 9999)
        insert into plain select i * 3 - 5, 'row ' || i, i / 7.0 from n;
        create table sparse(b text, rowid text);
        with recursive n(i) as (select 0 union all select i + 1 from n where i < 6000)
        insert into sparse(_rowid_, b) select i * i * i * 40000001 - 4000000000000000000, i from n;
        create table keyed(a text primary key, b) without rowid;
        insert into keyed select b, a from plain;
        create table hidden(rowid, oid, _rowid_);
        insert into hidden select a, b, c from plain;
        create table few(x);
        insert into few values (null);
        create table none(x);
        create table json(id integer primary key, data json);
        insert into json select a, '{\"a\": [' || a || ', 1]}' from plain;
        create table bad(id integer primary key, data json);
        insert into bad select a, iif(a = 22222, '{', '[]') from plain;
        create table blobs(b);
        insert into blobs select iif(a % 3000 = 1, randomblob(3000000), x'01') from plain;
        create index other on blobs(b);
        create view seen as select b, a from plain where a > 100;";
    for mode in ["delete", "wal"] {
        let _ = std::fs::remove_file(folder.0.join("a.db"));
        let conn = jird_formats::sqlite::open(folder.0.join("a.db")).unwrap();
        conn.execute_batch(&format!("pragma journal_mode = {mode}; {setup}")).unwrap();
        for table in ["plain", "sparse", "keyed", "hidden", "few", "none", "json", "bad", "blobs", "seen"] {
            for out in ["o.ndjson", "o.csv"] {
                let (code, said, written) = same(&folder, &["--table", table, "a.db", out], out);
                assert_eq!(code, Some(i32::from(table == "bad")), "{table} to {out}: {said}");
                assert!(table == "bad" || table == "none" || !written.is_empty(), "{table}");
                assert!(table != "bad" || said.contains("record 7410"), "{said}");
            }
        }
        let (.., written) = same(&folder, &["--select", "b", "--table", "plain", "a.db", "o.json"], "o.json");
        assert_eq!(written.lines().count(), 10_002);
    }
}

#[test]
fn what_has_come_is_seen_at_once() {
    let folder = Folder::new("share-live");
    for to in ["ndjson", "csv"] {
        let args = ["convert", "--from", "ndjson", "--to", to, "-", "-"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_jird"));
        command.args(args).current_dir(&folder.0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut input, mut lines) =
            (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
        // A table's columns are not known before the end.
        if to == "ndjson" {
            for id in 0..3 {
                writeln!(input, "{{\"id\":{id},\"text\":\"some text\"}}").unwrap();
                let line = lines.next().unwrap().unwrap();
                assert_eq!(line, format!("{{\"id\":{id},\"text\":\"some text\"}}"));
            }
        }
        write!(input, "{{\"id\":7}}").unwrap();
        drop(input);
        assert_eq!(lines.last().unwrap().unwrap(), if to == "csv" { "7" } else { "{\"id\":7}" });
        assert!(child.wait().unwrap().success());
    }
}
