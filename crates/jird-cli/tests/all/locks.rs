//! SQLite's locks on a database, whatever the commands do with its file. A program that has the commands built in may
//! have connections of its own, and a process loses its locks on a file when it closes any descriptor of that file.
#![cfg(all(feature = "convert", target_os = "linux"))]
#![allow(clippy::print_stderr, reason = "what a child says is for the test")]

use crate::folder::Folder;
use jird_formats::sqlite::rusqlite::Connection;
use std::process::{Command, Stdio};

/// The arguments of the command that a child runs, a line each.
const CHILD: &str = "JIRD_TEST_LOCKS";

#[test]
fn a_child_keeps_its_locks() {
    let Ok(arguments) = std::env::var(CHILD) else { return };
    let opened: Vec<_> = ["t.db", "plain", "as.json"].map(|name| (name, Connection::open(name).unwrap())).into();
    for (_, conn) in &opened {
        conn.execute_batch("begin; select * from t").unwrap();
    }
    let names = ["t.db", "t.db-shm", "plain", "as.json"];
    let before = names.map(process_locks::of);
    assert!(before.iter().all(|locks| !locks.is_empty()), "{before:?}");
    let code = jird_cli::run(arguments.lines().map(Into::into));
    assert_eq!(names.map(process_locks::of), before, "{arguments:?}");
    eprintln!("kept: {code}");
}

#[test]
fn no_command_ends_a_lock_of_this_process() {
    let folder = Folder::new("locks").with("a.ndjson", "{\"a\":1}\n").with("bad.ndjson", "{\"a\":1}\nx\n");
    let path = |name: &str| folder.0.join(name);
    std::fs::create_dir(path("more")).unwrap();
    std::os::unix::fs::symlink(path("t.db"), path("more/link.json")).unwrap();
    for (name, mode) in [("t.db", "wal"), ("plain", "delete"), ("as.json", "delete")] {
        let conn = Connection::open(path(name)).unwrap();
        conn.query_row(&format!("pragma journal_mode = {mode}"), [], |_| Ok(())).unwrap();
        conn.execute_batch("create table t (a); insert into t values (1)").unwrap();
    }
    let mut commands = Vec::new();
    for file in ["t.db", "plain", "as.json", "t.db-shm", "t.db-wal", "more/link.json", "more", "-"] {
        for command in ["validate", "fmt", "get /a", "describe", "ingest store"] {
            commands.push(format!("{command} {file}"));
        }
        for target in ["-o out.csv", "-o out.db", "-o t.db --append", "-o plain", "-o as.json", "-o t.db-shm"] {
            commands.push(format!("convert {file} {target}"));
        }
        commands.push(format!("convert --from csv {file} -o out.csv"));
        commands.push(format!("convert a.ndjson {file} -o both.db"));
        commands.push(format!("convert bad.ndjson -o out.csv --on-error quarantine={file}"));
        commands.push(format!("convert bad.ndjson -o out.csv --on-error quarantine+={file}"));
    }
    #[cfg(feature = "query")]
    for file in ["t.db", "t.db::t", "plain", "as.json", "t.db-shm", "more", "*", "t.db*", "**/*.json", "-"] {
        for from in ["", " --from ndjson", " --from sqlite"] {
            commands.push(format!("query{from} select\u{a0}count(*)\u{a0}from\u{a0}'{file}'"));
        }
        commands.push(format!("query select\u{a0}*\u{a0}from\u{a0}'{file}' -o out.csv"));
        commands.push(format!("query select\u{a0}*\u{a0}from\u{a0}'a.ndjson' -o {file}"));
        commands.push(format!("query select\u{a0}*\u{a0}from\u{a0}'bad.ndjson' --on-error quarantine={file}"));
        commands.push(format!("bench {file}"));
    }
    for command in commands {
        for name in ["out.db", "out.csv", "both.db"] {
            let _ = std::fs::remove_file(path(name));
        }
        let arguments: Vec<_> = std::iter::once("jird".to_owned())
            .chain(command.split(' ').map(|word| word.replace('\u{a0}', " ")))
            .collect();
        let run = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "locks::a_child_keeps_its_locks", "--nocapture"])
            .env(CHILD, arguments.join("\n"))
            .current_dir(&folder.0)
            .stdin(std::fs::File::open(path("t.db")).map_or(Stdio::null(), Stdio::from))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status.success() && said.contains("kept: ") || run.status.code() == Some(2), "{command}: {said}");
    }
}
