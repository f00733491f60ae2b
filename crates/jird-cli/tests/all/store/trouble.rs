//! `jird ingest` and `jird store` with what a stranger brings: odd events, odd times, arrays, and a disk without room.
#![cfg(all(feature = "query", feature = "convert"))]
#![expect(clippy::format_collect, reason = "texts to test, not to hurry")]

use crate::folder::{Folder, words};
use std::process::Command;

/// What it printed, and what it said on standard error. The exit code must be this one.
#[track_caller]
fn ends(folder: &Folder, command: &str, args: &[&str], input: &str, code: i32) -> (String, String) {
    let output = folder.jird(command, args, input.as_bytes());
    let said = words(&output);
    assert_eq!(output.status.code(), Some(code), "{command} {args:?}: {said}");
    (String::from_utf8(output.stdout).unwrap(), said)
}

fn export(folder: &Folder, store: &str) -> String {
    ends(folder, "store", &["export", store], "", 0).0
}

#[test]
fn huge_events_and_a_hundred_thousand_keys_are_kept_and_found() {
    let long = format!("{{\"@t\":1,\"text\":\"{}needle{}\"}}\n", "x".repeat(6_000_000), "é".repeat(2_000_000));
    let wide: String = (0..100_000).map(|key| format!(",\"k{key}\":{key}")).collect();
    let wide = format!("{{\"@t\":2{wide}}}\n");
    let many: String = (0..100_000).map(|key| format!("{{\"@t\":3,\"own{key}\":\"v{key}\"}}\n")).collect();
    let text = [long, wide, many].concat();
    let folder = Folder::new("huge").with("a.ndjson", &text);
    ends(&folder, "ingest", &["log", "a.ndjson"], "", 0);
    for part in ["in the log", "in a span"] {
        assert!(export(&folder, "log") == text, "{part}");
        for (sql, wanted) in [
            ("select k99999 where k50000 = 50000", "{\"k99999\":99999}\n"),
            ("select own77777 where own77777 = 'v77777'", "{\"own77777\":\"v77777\"}\n"),
            ("select count(*) as n where text like '%needle%'", "{\"n\":1}\n"),
            ("select count(*) as n where own5 = 'v6' or k3 = 4", "{\"n\":0}\n"),
        ] {
            let (out, said) = ends(&folder, "query", &[sql, "--store", "log"], "", 0);
            assert_eq!(out, wanted, "{sql} {part}: {said}");
        }
        ends(&folder, "store", &["verify", "log"], "", 0);
        // A second span, so that there is something to compact.
        ends(&folder, "ingest", &["log", "-", "--quiet"], "", 0);
        ends(&folder, "store", &["compact", "log"], "", 0);
    }
}

#[test]
fn marks_blank_lines_and_carriage_returns_are_no_events() {
    let folder = Folder::new("lines");
    let text = "\u{feff}\r\n\n{\"@t\": 1}\r\n \t\r\n{\"@t\":2,\"a\":\"x\\r\"} \r\n\r\n[1,\t2]\r\n7";
    let (_, said) = ends(&folder, "ingest", &["log"], text, 0);
    assert!(said.contains("2 events have no time"), "{said}");
    assert_eq!(export(&folder, "log"), "{\"@t\":1}\n{\"@t\":2,\"a\":\"x\\r\"}\n[1,2]\n7\n");
    let (_, said) = ends(&folder, "ingest", &["log", "-q"], "", 0);
    assert_eq!(said, "");
    let (_, said) = ends(&folder, "ingest", &["log"], "{\"@t\":1}\n\u{0}\n", 1);
    assert!(said.contains("<stdin>:2:1") || said.contains(":2:1"), "{said}");
}

#[test]
fn events_come_in_any_order_of_any_year_and_twice() {
    let folder = Folder::new("years");
    let events = [
        r#"{"meta":{"a.b":"2262-04-11T23:47:16.854775807Z"},"i":7}"#,
        r#"{"meta":{"a.b":"1969-12-31T23:59:59.999Z"},"i":2}"#,
        r#"{"meta":{"a.b":1709622000},"i":4}"#,
        r#"{"meta":{"a.b":"2024-03-05T08:00:00+01:00"},"i":4}"#,
        r#"{"meta":{"a.b":"1677-09-21T00:12:43.145224192Z"},"i":1}"#,
        r#"{"meta":{"a.b":"9999-12-31T23:59:59Z"},"i":6}"#,
        r#"{"meta":{"a.b":"0001-01-01T00:00:00Z"},"i":6}"#,
        r#"{"meta":{"a.b":null},"i":6}"#,
        r#"{"i":6}"#,
        r#"{"meta":{"a.b":"2024-03-05T07:00:00.000000001Z"},"i":5}"#,
        r#"{"meta":{"a.b":"1970-01-01"},"i":3}"#,
        r#"{"meta":{"a.b":"1970-01-01"},"i":3}"#,
    ];
    let text: String = events.iter().map(|event| format!("{event}\n")).collect();
    let (_, said) = ends(&folder, "ingest", &["log", "--time-field", "/meta/a.b"], &text, 0);
    assert!(said.contains("4 events have no time in"), "{said}");
    let in_order = "1\n2\n3\n3\n4\n4\n5\n6\n6\n6\n6\n7\n";
    for state in ["in the log", "in a span"] {
        let (out, _) = ends(&folder, "query", &["select i", "--store", "log", "--format", "csv"], "", 0);
        assert_eq!(out, format!("i\n{in_order}"), "{state}");
        for (window, wanted) in [
            (&["--until", "1970-01-01"][..], "1\n2\n"),
            (&["--since", "1969-12-31T23:59:59.999Z", "--until", "2024-03-05T07:00:00Z"], "2\n3\n3\n"),
            (&["--since", "2024-03-05T07:00:00Z", "--until", "2024-03-05T07:00:00.000000001Z"], "4\n4\n"),
            (&["--since", "2262-04-11T23:47:16.854775807Z"], "7\n"),
            (&["--since", "1d", "--until", "2262-04-11T23:47:16.854775807Z"], "6\n6\n6\n6\n"),
        ] {
            let args = [&["select i", "--store", "log", "--format", "csv"], window].concat();
            let (out, _) = ends(&folder, "query", &args, "", 0);
            assert_eq!(out, format!("i\n{wanted}"), "{window:?} {state}");
        }
        ends(&folder, "store", &["compact", "log"], "", 0);
        ends(&folder, "store", &["verify", "log"], "", 0);
    }
    let (_, said) = ends(&folder, "query", &["select i", "--store", "log", "--since", "9999-01-01"], "", 2);
    assert!(said.contains("--since 9999-01-01"), "{said}");
}

#[test]
fn an_array_of_events_is_refused_with_advice() {
    let folder = Folder::new("array");
    for text in [
        "[\n{\"a\":1},\n{\"a\":2}\n]\n",
        "[ {\"a\":1},\n{\"a\":2} ]\n",
        "[{\"a\":1}\n,{\"a\":2}\n]\n",
        "\u{feff}\n [\r\n{\"a\":1}]",
        "[{\"a\":[1,\n2]}]",
    ] {
        for more in [&[][..], &["--on-error", "skip"]] {
            let (_, said) = ends(&folder, "ingest", &[&["log", "-"], more].concat(), text, 1);
            assert!(said.contains("jird convert FILE - --to ndjson | jird ingest STORE"), "{text:?} {more:?}: {said}");
            assert_eq!(export(&folder, "log"), "", "{text:?} {more:?}");
        }
    }
    // These are lines; some of them are wrong.
    for (text, more, kept) in [
        ("[1,2]\n[3\n", &[][..], "[1,2]\n"),
        ("[1,2]\n[3\n[4]\n", &["--on-error", "skip"], "[1,2]\n[4]\n"),
        ("[1,}\n[2]\n", &["--on-error", "skip"], "[2]\n"),
    ] {
        let _ = std::fs::remove_dir_all(folder.0.join("log"));
        let (_, said) = ends(&folder, "ingest", &[&["log", "-"], more].concat(), text, 1);
        assert!(!said.contains("convert"), "{text:?}: {said}");
        assert_eq!(export(&folder, "log"), kept, "{text:?}");
    }
    // What the advice says.
    let folder = folder.with("a.json", "[\n{\"@t\":1,\"a\":1},\n{\"@t\":2,\"a\":2}\n]\n");
    let lines = folder.fine(&["a.json", "-", "--to", "ndjson"]);
    ends(&folder, "ingest", &["other"], &lines, 0);
    assert_eq!(export(&folder, "other").lines().count(), 2);
}

/// Runs `jird` from a shell that has set a limit.
fn limited(folder: &Folder, limit: &str, args: &str) -> (String, Option<i32>) {
    let script = format!("{limit}; exec {} {args}", env!("CARGO_BIN_EXE_jird"));
    let output = Command::new("sh").arg("-c").arg(script).current_dir(&folder.0).output().unwrap();
    (words(&output), output.status.code())
}

#[test]
fn a_file_that_may_not_grow_costs_nothing_that_was_there() {
    let event = |at: u32| format!("{{\"@t\":{at},\"pad\":\"{}\"}}\n", "x".repeat(200));
    let (few, many): (String, String) = ((0..10).map(event).collect(), (10..20_000).map(event).collect());
    let folder = Folder::new("limited").with("few.ndjson", &few).with("many.ndjson", many);
    ends(&folder, "ingest", &["log", "few.ndjson"], "", 0);
    // 512 bytes a block: the second log cannot hold all of it.
    let (said, code) = limited(&folder, "ulimit -f 1000", "ingest log many.ndjson");
    assert!(code == Some(2) && said.contains("cannot write") && said.contains("too large"), "{said}");
    assert!(export(&folder, "log").starts_with(&few));
    ends(&folder, "store", &["verify", "log"], "", 0);
    let (said, code) = limited(&folder, "ulimit -f 1", "store compact log");
    assert!(code == Some(2) && said.contains("too large"), "{said}");
    assert!(export(&folder, "log").starts_with(&few));
    ends(&folder, "ingest", &["log", "few.ndjson"], "", 0);
    ends(&folder, "store", &["compact", "log"], "", 0);
    ends(&folder, "store", &["verify", "log"], "", 0);
    assert_eq!(export(&folder, "log").lines().filter(|line| *line == event(3).trim_end()).count(), 2);
}

#[test]
fn a_store_of_many_spans_is_read_with_few_files_allowed_at_first() {
    let folder = Folder::new("spans");
    for part in 0..9 {
        // Eight logs are sealed together, so each of these makes a span or a log.
        ends(&folder, "ingest", &["log"], &format!("{{\"@t\":{part}}}\n"), 0);
    }
    let query = "query 'select count(*) as n' --store log --threads 1";
    // The soft limit is raised to the hard one.
    assert_eq!(limited(&folder, "ulimit -Sn 12", query), (String::new(), Some(0)));
    let (said, code) = limited(&folder, "ulimit -n 10", query);
    assert!(code == Some(0) || said.contains("oo many open files"), "{said}");
}
