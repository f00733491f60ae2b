//! `jird ingest`, ended in the middle by everything that can end it, and repeated with `--resume`: each event is there
//! once, and what was taken is reported.
#![cfg(all(feature = "convert", unix))]
#![expect(clippy::format_collect, reason = "texts to test, not to hurry")]

use crate::folder::{Folder, gzip, words};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Runs `jird`; what it said, and its exit code.
fn jird(folder: &Folder, command: &str, args: &[&str]) -> (String, i32) {
    let output = folder.jird(command, args, b"");
    (words(&output), output.status.code().unwrap())
}

#[track_caller]
fn ingest(folder: &Folder, args: &[&str], code: i32) -> String {
    let (said, found) = jird(folder, "ingest", &[&["log"], args].concat());
    assert_eq!(found, code, "{args:?}: {said}");
    said
}

#[track_caller]
fn resume(folder: &Folder, files: &[&str], code: i32) -> String {
    ingest(folder, &[files, &["--resume"]].concat(), code)
}

fn export(folder: &Folder) -> String {
    String::from_utf8(folder.jird("store", &["export", "log"], b"").stdout).unwrap()
}

/// Events of these seconds, in the notation in which they are kept.
fn events(numbers: std::ops::Range<u32>) -> String {
    let pad = |number: u32| "x".repeat((number * 31 % 90) as usize);
    numbers.map(|number| format!("{{\"@t\":{number},\"pad\":\"{}\"}}\n", pad(number))).collect()
}

fn add(folder: &Folder, name: &str, text: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(folder.0.join(name)).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn put(folder: &Folder, name: &str, text: impl AsRef<[u8]>) {
    fs::write(folder.0.join(name), text).unwrap();
}

fn rename(folder: &Folder, from: &str, to: &str) {
    fs::rename(folder.0.join(from), folder.0.join(to)).unwrap();
}

#[test]
fn a_bad_line_says_what_was_taken_and_once_repaired_the_rest_follows() {
    let (before, after) = (events(1..11), events(12..14));
    let folder = Folder::new("repaired").with("a.ndjson", format!("{before}{{bad\n{after}"));
    for round in 0..3 {
        let said = resume(&folder, &["a.ndjson"], 1);
        let taken =
            if round == 0 { "a.ndjson: 10 events taken up to line 10, byte " } else { "0 events taken after byte " };
        assert!(said.contains("a.ndjson:11:2") && said.contains(taken), "{said}");
        assert_eq!(export(&folder), before);
    }
    let whole = events(1..14);
    put(&folder, "a.ndjson", &whole);
    let said = resume(&folder, &["a.ndjson"], 0);
    assert!(said.contains("a.ndjson: 3 events taken after byte"), "{said}");
    assert_eq!(export(&folder), whole);
    let said = resume(&folder, &["a.ndjson"], 0);
    assert!(said.contains("0 events taken after byte") && said.contains("to the end (line 13,"), "{said}");
    assert_eq!(export(&folder), whole);
}

#[test]
fn totals_are_told_always_and_quiet_is_only_what_is_well() {
    let folder =
        Folder::new("totals").with("a.ndjson", events(0..3)).with("b.ndjson", events(3..5)).with("bad", "1\n{");
    let said = ingest(&folder, &["a.ndjson", "b.ndjson"], 0);
    assert_eq!(
        said,
        format!(
            "jird: a.ndjson: 3 events taken to the end (line 3, byte {})\njird: b.ndjson: 2 events taken to the end (line 2, byte {})\n",
            events(0..3).len(),
            events(3..5).len()
        )
    );
    assert_eq!(ingest(&folder, &["a.ndjson", "-q"], 0), "");
    let said = ingest(&folder, &["bad", "-q"], 1);
    assert!(
        said.contains("bad: 1 event taken up to line 1, byte 2, and nothing after that; --resume goes on"),
        "{said}"
    );
    let said = ingest(&folder, &["bad", "-q", "--on-error", "skip"], 1);
    assert!(!said.contains("taken"), "{said}");
    let said = ingest(&folder, &["missing", "a.ndjson"], 2);
    assert!(said.contains("missing: No such file") && said.contains("a.ndjson: 3 events taken to the end"), "{said}");
    let output = folder.jird("ingest", &["log"], b"1\n{\n");
    let said = words(&output);
    assert!(said.contains("<stdin>: 1 event taken up to line 1, byte 2, and nothing after that\n"), "{said}");
}

#[test]
fn a_file_that_grows_is_taken_as_far_as_its_lines_are_whole() {
    let folder = Folder::new("grows").with("a.log", "");
    let mut written = String::new();
    let text = events(0..40);
    // Cut anywhere, also within a line and a number.
    for (round, part) in text.as_bytes().chunks(37).enumerate() {
        let part = std::str::from_utf8(part).unwrap();
        add(&folder, "a.log", part);
        written += part;
        let said = resume(&folder, &["a.log"], 0);
        let whole = &written[..written.rfind('\n').map_or(0, |end| end + 1)];
        let found = export(&folder);
        assert!(found == whole || found.trim_end() == written, "{round}: {said}");
    }
    assert_eq!(export(&folder), text);
    // A number without a line feed may go on; what shows its end does not.
    put(&folder, "n.log", "{\"@t\":100}\n12");
    let said = resume(&folder, &["n.log"], 0);
    assert!(said.contains("the last line has no end yet"), "{said}");
    add(&folder, "n.log", "34\n{\"@t\":101}");
    resume(&folder, &["n.log"], 0);
    add(&folder, "n.log", "\n{\"@t\":102}\n");
    resume(&folder, &["n.log"], 0);
    let found = export(&folder);
    let events: Vec<&str> = found.lines().skip(40).collect();
    assert_eq!(events, ["{\"@t\":100}", "{\"@t\":101}", "{\"@t\":102}", "1234"]);
    // Taken without --resume as it was, a line that grows later is refused.
    put(&folder, "m.log", "56");
    ingest(&folder, &["m.log"], 0);
    add(&folder, "m.log", "78\n");
    let said = resume(&folder, &["m.log"], 2);
    assert!(said.contains("line 1 was taken as it was without its line feed, and has grown since"), "{said}");
}

#[test]
fn files_that_are_rotated_are_known_under_their_new_names() {
    let folder = Folder::new("rotated").with("app.log", events(0..30));
    resume(&folder, &["app.log"], 0);
    // By renaming, with more in the old file, which no run has seen yet.
    add(&folder, "app.log", &events(30..33));
    rename(&folder, "app.log", "app.log.1");
    put(&folder, "app.log", events(33..40));
    let said = resume(&folder, &["app.log", "app.log.1"], 0);
    assert!(said.contains("app.log: is another file") && said.contains("app.log.1: goes on where"), "{said}");
    assert_eq!(export(&folder), events(0..40));
    // The same names again, one further.
    rename(&folder, "app.log.1", "app.log.2");
    rename(&folder, "app.log", "app.log.1");
    put(&folder, "app.log", events(40..41));
    resume(&folder, &["app.log", "app.log.1", "app.log.2"], 0);
    assert_eq!(export(&folder), events(0..41));
    // Compressed; and a new file of the same name.
    add(&folder, "app.log", &events(41..44));
    let text = fs::read(folder.0.join("app.log")).unwrap();
    put(&folder, "app.log.1.gz", gzip(std::str::from_utf8(&text).unwrap()));
    fs::remove_file(folder.0.join("app.log")).unwrap();
    put(&folder, "app.log", events(44..45));
    resume(&folder, &["app.log.1.gz", "app.log"], 0);
    assert_eq!(export(&folder), events(0..45));
    // Copied and cut, as `copytruncate` of logrotate does.
    add(&folder, "app.log", &events(45..47));
    fs::copy(folder.0.join("app.log"), folder.0.join("copy.log")).unwrap();
    put(&folder, "app.log", "");
    assert!(!resume(&folder, &["app.log"], 0).contains("another"));
    put(&folder, "app.log", events(47..49));
    resume(&folder, &["app.log", "copy.log"], 0);
    assert_eq!(export(&folder), events(0..49));
}

#[test]
fn files_that_begin_alike_are_not_taken_for_each_other() {
    let same = "{\"@t\":0,\"start\":true}\n";
    let folder = Folder::new("alike").with("a.log", same).with("b.log", format!("{same}{}", events(1..3)));
    resume(&folder, &["a.log"], 0);
    let said = resume(&folder, &["b.log"], 0);
    assert!(said.contains("b.log: begins like"), "{said}");
    assert_eq!(export(&folder), format!("{same}{same}{}", events(1..3)));
    // A file that was rotated away, and one that begins with all of it.
    rename(&folder, "a.log", "a.log.1");
    put(&folder, "a.log", format!("{same}{}", events(5..7)));
    resume(&folder, &["a.log"], 0);
    assert_eq!(export(&folder), format!("{same}{same}{same}{}{}", events(1..3), events(5..7)));
    resume(&folder, &["a.log", "b.log", "a.log.1"], 0);
    assert_eq!(export(&folder).lines().count(), 7);
}

#[test]
fn a_file_that_was_edited_or_cut_is_refused_and_nothing_of_it_is_taken() {
    let text = events(0..50);
    for (name, edited, what) in [
        ("a byte", text.replacen("\"@t\":7,", "\"@t\":8,", 1), "these bytes are others now"),
        ("the first line", text.replacen("\"@t\":0,", "\"@t\":9,", 1), "these bytes are others now"),
        ("a line less", text.replacen(&events(20..21), "", 1), "it is shorter now"),
        ("cut", events(0..25), "it is shorter now"),
    ] {
        let folder = Folder::new("edited").with("a.log", &text);
        resume(&folder, &["a.log"], 0);
        put(&folder, "a.log", edited);
        let said = resume(&folder, &["a.log"], 2);
        assert!(said.contains(what) && said.contains("leave out --resume"), "{name}: {said}");
        assert_eq!(export(&folder), text, "{name}");
        // Without it, all is taken again, and from there on it goes on.
        let all = fs::read_to_string(folder.0.join("a.log")).unwrap();
        ingest(&folder, &["a.log"], 0);
        add(&folder, "a.log", &events(60..61));
        resume(&folder, &["a.log"], 0);
        assert_eq!(export(&folder).lines().count(), 51 + all.lines().count(), "{name}");
    }
}

#[test]
fn pipes_are_refused_with_resume_and_take_nothing() {
    let folder = Folder::new("pipes");
    for args in [&["log", "--resume"][..], &["log", "-", "--resume"]] {
        let output = folder.jird("ingest", args, b"1\n");
        assert_eq!(output.status.code(), Some(2));
        assert!(words(&output).contains("--resume needs files"), "{}", words(&output));
    }
    assert!(!folder.0.join("log").exists());
}

#[test]
fn compressed_files_marks_and_lines_that_are_too_long_are_resumed() {
    let long = format!("{{\"@t\":5,\"long\":\"{}\"}}\n", "y".repeat(70_000));
    let text = format!("\u{feff}{}{long}\n\n{}", events(0..5), events(6..9));
    let kept = format!("{}{}", events(0..5), events(6..9));
    let limit = ["--record-limit", "64K", "--on-error", "skip"];
    let folder = Folder::new("long").with("a.ndjson", &text).with("a.gz", gzip(&events(20..25)));
    for round in 0..2 {
        let said = ingest(&folder, &[&["a.ndjson", "a.gz", "--resume"], &limit[..]].concat(), i32::from(round == 0));
        assert!(round == 0 || said.matches("0 events taken").count() == 2, "{said}");
        assert_eq!(export(&folder), kept.clone() + &events(20..25));
    }
    add(&folder, "a.ndjson", &events(9..10));
    ingest(&folder, &[&["a.ndjson", "--resume"], &limit[..]].concat(), 0);
    put(&folder, "a.gz", gzip(&events(20..30)));
    resume(&folder, &["a.gz"], 0);
    assert_eq!(export(&folder), kept + &events(9..10) + &events(20..30));
}

/// How often a run is killed: `JIRD_STORE_KILLS`, or a few times.
fn kills() -> u32 {
    std::env::var("JIRD_STORE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(8)
}

#[test]
fn a_run_that_is_killed_anywhere_and_repeated_takes_each_event_once() {
    let text = events(0..60_000);
    let folder = Folder::new("killed").with("a.ndjson", &text).with("b.gz", gzip(&events(60_000..80_000)));
    for kill in 0..kills() {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jird"));
        command.args(["ingest", "log", "a.ndjson", "b.gz", "--resume", "-q"]).current_dir(&folder.0);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_micros(3000 + u64::from(kill * 7919 % 97) * 400));
        let _ = child.kill();
        child.wait().unwrap();
        if folder.0.join("log/MANIFEST").exists() {
            let found = export(&folder);
            assert!(text.starts_with(&found) || found.starts_with(&text), "kill {kill}: {} bytes", found.len());
        }
    }
    resume(&folder, &["a.ndjson", "b.gz"], 0);
    assert!(export(&folder) == events(0..80_000));
}

#[test]
fn a_signal_says_what_was_taken_and_the_rest_follows() {
    let folder = Folder::new("signal");
    let mut command = Command::new(env!("CARGO_BIN_EXE_jird"));
    command.args(["ingest", "log", "-"]).current_dir(&folder.0).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let text = events(0..5);
    child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    while export(&folder) != text {
        thread::sleep(Duration::from_millis(5));
    }
    let kill = format!("kill -TERM {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let _pipe = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143));
    let wanted = format!("jird: <stdin>: 5 events taken up to line 5, byte {}, and nothing after that\n", text.len());
    assert_eq!(words(&output), wanted);
    assert_eq!(export(&folder), text);
}

#[test]
fn a_file_that_may_not_grow_is_told_to_the_line_and_resumed() {
    let text = events(0..20_000);
    let folder = Folder::new("limit").with("a.ndjson", &text);
    let script = format!("ulimit -f 1000; exec {} ingest log a.ndjson", env!("CARGO_BIN_EXE_jird"));
    let output = Command::new("sh").args(["-c", &script]).current_dir(&folder.0).output().unwrap();
    let (said, taken) = (words(&output), export(&folder));
    assert_eq!(output.status.code(), Some(2), "{said}");
    let count = taken.lines().count();
    let told = format!("a.ndjson: {count} events taken up to line {count}, byte {}, and nothing after", taken.len());
    assert!(count > 0 && said.contains(&told), "{count}: {said}");
    resume(&folder, &["a.ndjson"], 0);
    assert!(export(&folder) == text);
}

#[test]
fn a_quarantine_that_may_not_grow_has_whole_lines() {
    let bad: String = (0..200).map(|number| format!("{{\"i\":{number},\"pad\":\"{:80}\"\n", "")).collect();
    let folder = Folder::new("aside").with("bad.ndjson", &bad);
    let run = format!("exec {} ingest log bad.ndjson --on-error quarantine=q.ndjson", env!("CARGO_BIN_EXE_jird"));
    let script = format!("ulimit -f 20; {run}");
    let output = Command::new("sh").args(["-c", &script]).current_dir(&folder.0).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
    let aside = folder.text("q.ndjson");
    assert!(aside.len() > 9000 && aside.lines().all(|line| line.ends_with('}')), "{aside}");
}

#[test]
fn events_without_a_time_keep_their_order_with_any_number_of_threads() {
    let text: String = (0..60_000).map(|number| format!("{{\"i\":{number},\"same\":\"{:60}\"}}\n", "")).collect();
    let folder = Folder::new("undated").with("a.ndjson", &text);
    for threads in ["1", "2", "3", "5", "8"] {
        for from_pipe in [false, true] {
            let _ = fs::remove_dir_all(folder.0.join("log"));
            let file = if from_pipe { "-" } else { "a.ndjson" };
            let output = folder.jird("ingest", &["log", file, "--threads", threads, "-q"], text.as_bytes());
            assert_eq!((words(&output), output.status.code()), (String::new(), Some(0)));
            assert!(export(&folder) == text, "{threads} threads, {file}");
        }
    }
}

#[test]
fn a_key_that_the_store_has_is_taken_once() {
    let event = |id: &str| format!("{{\"@t\":5,\"id\":{id}}}\n");
    let first = ["1", "\"1\"", "1.0", "\"a\\u0041\"", "null", "[1]"].map(event).concat();
    let folder = Folder::new("once");
    let take = |text: &str, code: i32| {
        let output = folder.jird("ingest", &["log", "--once", "id"], text.as_bytes());
        assert_eq!(output.status.code(), Some(code), "{}", words(&output));
        words(&output)
    };
    let said = take(&first, 0);
    assert!(said.contains("6 events taken") && said.contains("note: 1 event without `id`, taken unseen"), "{said}");
    // The same again, a text in another spelling, twice in one run, and something new.
    let said = take(&format!("{}{}{}{}", first, event("\"aA\""), event("7"), event("7")), 0);
    assert!(
        said.contains("2 events taken") && said.contains("7 events left out: the store has their `id` already"),
        "{said}"
    );
    assert_eq!(export(&folder), format!("{first}{}{}", event("null"), event("7")));
    // Also those that were sealed; only from a time on, if that is wanted.
    assert_eq!(jird(&folder, "store", &["compact", "log", "-q"]).1, 0);
    assert!(take(&event("7"), 0).contains("0 events taken"), "{}", export(&folder));
    let output =
        folder.jird("ingest", &["log", "--once", "id", "--once-since", "1970-01-02", "-q"], event("7").as_bytes());
    assert_eq!((output.status.code(), words(&output)), (Some(0), String::new()));
    assert_eq!(export(&folder).matches("\"id\":7}").count(), 2);
}
