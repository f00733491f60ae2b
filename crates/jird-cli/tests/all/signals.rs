//! What every command does when a signal ends it, when its output is closed, and what it shows on a terminal meanwhile.
#![cfg(all(feature = "query", target_os = "linux"))]
#![expect(clippy::format_collect, reason = "texts to test, not to hurry")]

use crate::folder::Folder;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const JIRD: &str = env!("CARGO_BIN_EXE_jird");

/// The signals that end a command, and its exit codes.
const ENDING: [(&str, u8, i32); 3] = [("HUP", 1, 129), ("INT", 2, 130), ("TERM", 15, 143)];

/// A command may take this long to end. It takes some milliseconds, but other tests run next to this one.
const PROMPT: Duration = Duration::from_secs(2);

const LINES: &str = "{\"a\":1}\n{\"a\":2}\nno\n";

/// Commands that wait for more from a pipe, and the files that they are writing meanwhile.
const WAITING: [(&[&str], &str); 14] = [
    (&["validate"], ""),
    (&["validate", "--lines"], ""),
    (&["fmt"], ""),
    (&["fmt", "--lines"], ""),
    (&["get", "/a"], ""),
    (&["get", "/a", "--lines"], ""),
    (&["query", "select count(*) as n"], ""),
    (&["query", "select a order by a desc", "-o", "new.csv"], ".part"),
    (&["query", "select a", "-o", "old.ndjson.gz"], ".part"),
    (&["convert", "-", "-", "--from", "ndjson"], ""),
    (&["convert", "-", "new.db", "--from", "ndjson"], ".part"),
    (&["convert", "-", "new.parquet", "--from", "ndjson"], ""),
    (&["convert", "-", "old.ndjson.gz", "--from", "ndjson"], ".part"),
    (&["describe", "--from", "ndjson"], ""),
];

fn start(folder: &Folder, args: &[&str]) -> Child {
    let mut command = Command::new(JIRD);
    command.args(args).current_dir(&folder.0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[track_caller]
fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_mins(1), "nothing came");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process has blocked a signal, to wait for it. Before that, it would die of it.
fn waits_for(pid: u32, signal: u8) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap_or_default();
    u64::from_str_radix(blocked.trim(), 16).unwrap_or_default() >> (signal - 1) & 1 == 1
}

fn has(folder: &Folder, part: &str) -> bool {
    folder.names().iter().any(|name| name.contains(part))
}

fn send(pid: u32, signal: &str) {
    assert!(Command::new("sh").args(["-c", &format!("kill -{signal} {pid}")]).status().unwrap().success());
}

/// Sends a signal, and returns how the process ended and what it said.
#[track_caller]
fn ended(mut child: Child, signal: &str) -> (ExitStatus, String) {
    let begun = Instant::now();
    // Waiting would close it, and the command would go on to its end.
    let _pipe = child.stdin.take();
    send(child.id(), signal);
    let status = child.wait().unwrap();
    assert!(begun.elapsed() < PROMPT, "{:?}", begun.elapsed());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (status, said)
}

#[test]
fn a_command_that_waits_for_a_pipe_ends_at_once_and_leaves_nothing() {
    for (args, writes) in WAITING {
        for (name, number, code) in ENDING {
            let folder = Folder::new("waiting").with("old.ndjson.gz", "old");
            let mut child = start(&folder, args);
            child.stdin.as_mut().unwrap().write_all(b"{\"a\":1}\n{\"a\":2}\n{\"a\":").unwrap();
            until(|| waits_for(child.id(), number) && has(&folder, writes));
            let (status, said) = ended(child, name);
            assert_eq!((status.code(), said.as_str()), (Some(code), ""), "{args:?} {name}");
            assert_eq!(
                (folder.names(), folder.text("old.ndjson.gz")),
                (vec!["old.ndjson.gz".into()], "old".into()),
                "{args:?}"
            );
        }
    }
}

/// Much work, with names that sort in another order than they come in.
fn records() -> String {
    (0..300_000_u64)
        .map(|id| format!("{{\"id\":{id},\"text\":\"{:x}\"}}\n", id.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect()
}

#[test]
fn a_command_that_computes_ends_at_once_and_leaves_nothing() {
    let folder = Folder::new("computing").with("much.ndjson", records()).with("cases.sql", "select id where id = 7\n");
    let (names, text) = (folder.names(), folder.text("much.ndjson"));
    for (args, writes) in [
        (&["query", "select text, count(*) as n group by text order by text", "much.ndjson"][..], ""),
        (&["query", "select text order by text", "much.ndjson", "-o", "new.parquet"], ".part"),
        (&["bench", "--cases", "cases.sql", "--runs", "100000", "much.ndjson"], ""),
        (&["fmt", "-i", "--canonical", "much.ndjson"], ".part"),
        (&["convert", "much.ndjson", "new.csv"], ".part"),
        (&["convert", "much.ndjson", "new.db"], ".part"),
    ] {
        // On a busy machine a run may be through before the signal comes.
        let code = (0..20).find_map(|_| {
            let mut child = start(&folder, args);
            until(|| waits_for(child.id(), 15) && has(&folder, writes) || child_ended(child.id()));
            if child.try_wait().unwrap().is_some() {
                return None;
            }
            let (status, said) = ended(child, "TERM");
            assert_eq!(said, "", "{args:?}");
            status.code().filter(|code| *code != 0)
        });
        assert_eq!(code, Some(143), "{args:?}");
        assert_eq!(folder.names(), names, "{args:?}");
        assert!(folder.text("much.ndjson") == text, "{args:?}");
    }
}

fn child_ended(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

#[test]
fn bad_records_that_were_set_aside_are_whole_lines() {
    for args in [
        &["query", "select a", "--on-error", "quarantine+=bad.ndjson"][..],
        &["convert", "-", "new.ndjson", "--from", "ndjson", "--on-error", "quarantine+=bad.ndjson"],
        &["describe", "--from", "ndjson", "--on-error", "quarantine+=bad.ndjson"],
    ] {
        let folder = Folder::new("aside").with("bad.ndjson", "{\"raw\":\"before\"}\n");
        let mut child = start(&folder, args);
        let mut input = child.stdin.take().unwrap();
        let feeder = thread::spawn(move || while input.write_all(LINES.as_bytes()).is_ok() {});
        until(|| folder.0.join("bad.ndjson").metadata().is_ok_and(|file| file.len() > 100_000));
        assert_eq!(ended(child, "INT").0.code(), Some(130), "{args:?}");
        feeder.join().unwrap();
        let aside = folder.text("bad.ndjson");
        assert!(aside.ends_with("}\n") && aside.starts_with("{\"raw\":\"before\"}\n"), "{args:?}");
        assert!(aside.lines().skip(1).all(|line| line.contains("\"raw\":\"no\"")), "{args:?}");
        assert_eq!(folder.names(), ["bad.ndjson"], "{args:?}");
    }
}

/// A user who ends a stream with Ctrl-C wants the bad records that came before it.
#[test]
fn a_bad_record_is_set_aside_as_soon_as_it_is_known() {
    let folder = Folder::new("soon");
    let mut child = start(&folder, &["convert", "-", "-", "--from", "ndjson", "--on-error", "quarantine=bad.ndjson"]);
    child.stdin.as_mut().unwrap().write_all(LINES.as_bytes()).unwrap();
    until(|| has(&folder, "bad.ndjson") && folder.text("bad.ndjson").contains("\"raw\":\"no\""));
    assert_eq!(ended(child, "INT").0.code(), Some(130));
    assert_eq!(folder.text("bad.ndjson").lines().count(), 1);
}

#[test]
fn a_signal_that_the_caller_ignores_is_ignored() {
    let folder = Folder::new("nohup");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" validate", JIRD]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).current_dir(&folder.0).spawn().unwrap();
    until(|| waits_for(child.id(), 15));
    send(child.id(), "HUP");
    thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none());
    assert_eq!(ended(child, "TERM").0.code(), Some(143));
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let bad = "no\n".repeat(100_000);
    let folder = Folder::new("enough").with("much.ndjson", records()).with("bad.ndjson", bad);
    let folder = folder.with("cases.sql", "select id where id = 7\n");
    for (args, code) in [
        (&["validate", "bad.ndjson"][..], 0),
        (&["fmt", "much.ndjson"], 0),
        (&["get", "/id", "much.ndjson"], 0),
        (&["query", "select id", "much.ndjson"], 0),
        (&["query", "select id", "much.ndjson", "--format", "table"], 0),
        (&["query", "select * order by text", "much.ndjson", "--format", "parquet"], 0),
        (&["convert", "much.ndjson", "-"], 0),
        (&["convert", "much.ndjson", "-", "--to", "csv"], 0),
        (&["convert", "much.ndjson", "-", "--to", "arrow"], 0),
        (&["describe", "much.ndjson"], 0),
        (&["bench", "--cases", "cases.sql", "--runs", "1", "much.ndjson"], 0),
        (&["completions", "bash"], 0),
        (&["query", "--help"], 0),
        (&["--version"], 0),
    ] {
        let mut command = Command::new(JIRD);
        command.args(args).current_dir(&folder.0).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*said), (Some(code), ""), "{args:?}");
    }
}

/// `jird` on a terminal of 60 columns, which `script` makes. It waits for a pipe without end.
struct OnTerminal {
    script: Child,
    jird: u32,
    _pipe: File,
}

impl OnTerminal {
    fn start(folder: &Folder, command: &str) -> Self {
        let pipe = folder.0.join("pipe.ndjson");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        // A pipe that is open for both does not block.
        let mut open = File::options().read(true).write(true).open(&pipe).unwrap();
        open.write_all(b"{\"a\":1}\n").unwrap();
        let line = format!("stty cols 60; echo $$ > pid; exec {JIRD} {command}");
        let mut script = Command::new("script");
        script.args(["-qefc", &line, "shown"]).env("TERM", "xterm").env_remove("NO_COLOR").current_dir(&folder.0);
        let script = script.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let pid = || fs::read_to_string(folder.0.join("pid")).ok()?.trim().parse().ok();
        until(|| pid().is_some_and(|pid| waits_for(pid, 15)));
        Self { script, jird: pid().unwrap(), _pipe: open }
    }
}

fn shown(folder: &Folder) -> String {
    String::from_utf8_lossy(&fs::read(Path::new(&folder.0).join("shown")).unwrap_or_default()).into_owned()
}

#[test]
fn every_command_shows_progress_on_a_terminal_and_removes_it_in_the_end() {
    let cases = "select id where id = 7\n";
    for (command, wanted) in [
        ("validate pipe.ndjson", "8 B read, "),
        ("fmt pipe.ndjson > out", "8 B read, "),
        ("get /a pipe.ndjson > out", "8 B read, "),
        ("query 'select count(*) as n' pipe.ndjson", "8 B read, "),
        ("convert pipe.ndjson new.ndjson", "8 B read, "),
        ("convert pipe.ndjson new.csv", "8 B read, "),
        ("describe pipe.ndjson", "8 B read, "),
        ("bench --cases cases.sql --runs 100000 much.ndjson", " of 100002 runs"),
    ] {
        let folder = Folder::new("terminal").with("cases.sql", cases);
        let folder = if command.contains("much") { folder.with("much.ndjson", records()) } else { folder };
        let mut run = OnTerminal::start(&folder, command);
        until(|| shown(&folder).contains(wanted));
        send(run.jird, "TERM");
        assert_eq!(run.script.wait().unwrap().code(), Some(143), "{command}");
        let shown = shown(&folder);
        let (before, last) = shown.rsplit_once(wanted).unwrap();
        assert!(last.contains("\r\x1b[J"), "{command}: {shown:?}");
        assert!(!shown.contains("\x1b[?25l"), "{command}: the cursor stays: {shown:?}");
        assert!(
            before.split('\r').skip(1).all(|line| line.chars().count() <= 60 + "\x1b[J".len()),
            "{command}: {shown:?}"
        );
    }
}

#[test]
fn output_on_a_terminal_ends_the_progress_line() {
    let folder = Folder::new("output");
    let mut run = OnTerminal::start(&folder, "get /a pipe.ndjson --lines");
    // The one record is printed at once. After that comes no line.
    until(|| shown(&folder).contains("1\x1b[0m\r\n"));
    thread::sleep(Duration::from_millis(1500));
    assert!(!shown(&folder).contains("read"), "{:?}", shown(&folder));
    send(run.jird, "INT");
    assert_eq!(run.script.wait().unwrap().code(), Some(130));
}

#[test]
fn nothing_is_drawn_where_nobody_looks() {
    let folder = Folder::new("nobody");
    for args in [&["validate"][..], &["query", "select count(*) as n"], &["describe", "--from", "ndjson"]] {
        let child = start(&folder, args);
        thread::sleep(Duration::from_millis(1300));
        let (status, said) = ended(child, "TERM");
        assert_eq!((status.code(), said.as_str()), (Some(143), ""), "{args:?}");
    }
    let mut run = OnTerminal::start(&folder, "validate pipe.ndjson 2> said");
    thread::sleep(Duration::from_millis(1300));
    send(run.jird, "TERM");
    assert_eq!(run.script.wait().unwrap().code(), Some(143));
    assert_eq!(folder.text("said"), "");
}

#[test]
fn a_full_disk_is_named_by_every_command() {
    let folder =
        Folder::new("full").with("a.ndjson", "{\"a\":1}\n").with("bad.ndjson", "no\n").with("c.sql", "select a\n");
    for command in [
        "validate bad.ndjson",
        "fmt a.ndjson",
        "get /a a.ndjson",
        "query 'select a' a.ndjson",
        "convert a.ndjson -",
        "describe a.ndjson",
        "bench --cases c.sql --runs 1 a.ndjson",
        "completions bash",
    ] {
        let line = format!("{JIRD} {command} > /dev/full");
        let output = Command::new("sh").args(["-c", &line]).current_dir(&folder.0).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("cannot write standard output: No space left on device"), "{command}: {said}");
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{command}: {said}");
    }
}
