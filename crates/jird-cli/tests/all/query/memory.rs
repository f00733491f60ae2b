//! `jird query` within little memory: what it puts aside, and what it says where that is not enough.

use crate::folder::Folder;
use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};

/// Records whose sorts and groups take several times the least memory that a query can be given.
fn many(records: u64) -> String {
    let mut text = String::new();
    for number in 0..records {
        let key = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        writeln!(text, "{{\"id\":{number},\"k\":{key},\"user\":\"user {}\",\"t\":\"{key:060}\"}}", key % 90_001)
            .unwrap();
    }
    text
}

#[test]
fn an_answer_does_not_depend_on_the_memory() {
    let folder = Folder::new("memory").with("a.ndjson", many(100_000));
    let spilled = folder.0.join("aside");
    fs::create_dir(&spilled).unwrap();
    // A join puts aside what it sorts only where each of its sorts has room for some batches.
    let by_text = "select a.id, b.t from stream a join stream b on a.t = b.t order by a.id, b.id";
    for sql in [
        "select * from stream order by k",
        "select id, t order by t desc, id limit 70000",
        "select t, count(*) as n, sum(id) as s group by t order by t",
        by_text,
        "select a.id, b.k from stream a left join stream b on a.k = b.id order by a.id, b.k limit 70000",
        "select id from stream a where exists (select * from stream b where b.k = a.id) order by id",
    ] {
        let enough = folder.query(&[sql, "a.ndjson", "--memory-limit", "4G"], b"");
        assert_eq!(enough.2, 0, "{sql}: {}", enough.1);
        for threads in if sql == by_text { &["3"][..] } else { &["1", "3"] } {
            let mut command = Command::new(env!("CARGO_BIN_EXE_jird"));
            let limit = if sql == by_text { "48M" } else { "32M" };
            command.args(["query", sql, "a.ndjson", "--memory-limit", limit, "--threads", threads]);
            let output = command.env("TMPDIR", &spilled).current_dir(&folder.0).output().unwrap();
            let (out, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert_eq!((output.status.code(), &*said), (Some(0), &*enough.1), "{sql} {threads}");
            assert!(out == enough.0, "{sql} {threads}: another answer");
            assert_eq!(fs::read_dir(&spilled).unwrap().count(), 0, "{sql}");
        }
    }
}

#[test]
fn what_is_beyond_the_limits_is_told() {
    let folder = Folder::new("memory-limits").with("a.ndjson", many(60_000));
    let sort = "select * from stream order by t";
    let (out, said, code) = folder.query(&[sort, "a.ndjson", "--memory-limit", "6M", "--spill-limit", "1M"], b"");
    assert_eq!((out.as_str(), code), ("", 2), "{said}");
    assert!(said.contains("more than 1000000 bytes aside") && said.contains("--spill-limit"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    // A window keeps all rows.
    let window = "select id, t, max(t) over () as m";
    let (out, said, code) = folder.query(&[window, "a.ndjson", "--memory-limit", "4M"], b"");
    assert_eq!((out.as_str(), code), ("", 2), "{said}");
    assert!(said.contains("--memory-limit") && said.lines().count() == 1, "{said}");
    let output = Command::new(env!("CARGO_BIN_EXE_jird"))
        .args(["query", sort, "a.ndjson", "--memory-limit", "6M"])
        .env("TMPDIR", folder.0.join("gone"))
        .current_dir(&folder.0)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot be put aside in") && said.contains("gone"), "{said}");
}

/// Where the system gives little, a query takes less.
#[test]
fn a_limit_of_the_system_is_no_crash() {
    let folder = Folder::new("memory-ulimit").with("a.ndjson", many(120_000));
    let jird = env!("CARGO_BIN_EXE_jird");
    let mut answers = Vec::new();
    for sql in ["select * from stream order by t", "select t, count(*) as n group by t order by t"] {
        let enough = folder.query(&[sql, "a.ndjson"], b"");
        // The program itself, which is mapped, and the stacks of threads take most of it.
        for kilobytes in [1_100_000_u64, 900_000] {
            let shell = format!("ulimit -v {kilobytes} && exec {jird} query '{sql}' a.ndjson");
            let output = Command::new("sh").args(["-c", &shell]).current_dir(&folder.0).stdin(Stdio::null()).output();
            let output = output.unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) => assert!(output.stdout == enough.0.as_bytes(), "{sql}: another answer"),
                code => assert!(code == Some(2) && said.contains("memory"), "{sql} {kilobytes}: {code:?} {said}"),
            }
            answers.push(output.status.code());
        }
    }
    assert!(answers.contains(&Some(0)), "{answers:?}");
}

/// Two sorts fill their shares, and their rows are merged all the same.
#[test]
fn a_sort_ends_with_any_memory_and_number_of_threads() {
    let record =
        |i: usize| format!("{{\"i\":{i},\"k\":{},\"s\":\"{}\"}}\n", i * 7919 % 1000, "x".repeat(100 + i % 100));
    let folder = Folder::new("memory-sort").with("a.ndjson", (0..100_000).map(record).collect::<String>());
    let sql = "select i, k, s from stream order by k desc, s, i";
    let (enough, said, code) = folder.query(&[sql, "a.ndjson"], b"");
    assert_eq!(code, 0, "{said}");
    for (memory, threads) in [("8M", "2"), ("12M", "2"), ("14M", "3"), ("20M", "2")] {
        let (out, said, code) = folder.query(&[sql, "a.ndjson", "--memory-limit", memory, "--threads", threads], b"");
        assert!(code == 0 && out == enough, "{memory}, {threads} threads: {code} {said}");
    }
}
