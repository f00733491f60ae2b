//! `jird ingest --future-limit`: events from clocks that are wrong.

use super::{fine, jird};
use crate::folder::Folder;
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

const FAR: &str = "{\"@t\":\"2261-01-01T00:00:00Z\",\"n\":0}";

#[track_caller]
fn ingest(folder: &Folder, args: &[&str], input: &str, code: i32) -> String {
    let (out, said, ended) = jird(folder, "ingest", &[&["log"], args].concat(), input.as_bytes());
    assert_eq!((out.as_str(), ended), ("", code), "{args:?}: {said}");
    said
}

fn export(folder: &Folder) -> String {
    fine(folder, "store", &["export", "log"])
}

/// The time this many seconds from now, in seconds since 1970.
fn from_now(seconds: u64) -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + seconds
}

#[test]
fn an_event_beyond_the_limit_is_a_bad_line() {
    let text = format!("{{\"@t\":1}}\n\n{FAR}\n{{\"@t\":2}}\n");
    let message = ":3:1: the time 2261-01-01T00:00:00Z is more than 1d in the future (byte 10, at /@t)";
    let folder = Folder::new("future").with("a.ndjson", &text);
    let said = ingest(&folder, &["a.ndjson", "--future-limit", "1d"], "", 1);
    assert!(said.contains(&format!("a.ndjson{message}\n`--on-error skip` leaves bad records out")), "{said}");
    assert!(said.contains("1 event taken up to line 2, byte 10"), "{said}");
    assert_eq!(export(&folder), "{\"@t\":1}\n");
    // The same command goes on in the same place, with another limit to the end.
    let said = ingest(&folder, &["a.ndjson", "--future-limit", "1d", "--resume"], "", 1);
    assert!(said.contains(message), "{said}");
    ingest(&folder, &["a.ndjson", "--future-limit", "90000d", "--resume"], "", 0);
    assert_eq!(export(&folder), format!("{{\"@t\":1}}\n{{\"@t\":2}}\n{FAR}\n"));

    // Beyond what a store knows, where a limit may lead, too.
    let late = "{\"@t\":\"9999-12-31T00:00:00Z\"}\n{\"@t\":\"2263-01-01\"}\n{\"@t\":\"0001-01-01\"}\n";
    for (limit, stays) in [("1d", 1), ("99999d", 2)] {
        let folder = Folder::new("future");
        let said = ingest(&folder, &["--future-limit", limit, "--on-error", "skip"], late, 1);
        assert!(said.contains("the time 9999-12-31T00:00:00Z is more than"), "{said}");
        assert_eq!(export(&folder).lines().count(), stays, "{said}");
    }

    let folder = Folder::new("future");
    let said = ingest(&folder, &["--future-limit", "1d", "--on-error", "skip"], &text, 1);
    assert!(
        said.contains("1 bad record left out, the first: ") && said.contains("more than 1d in the future"),
        "{said}"
    );
    assert_eq!(export(&folder), "{\"@t\":1}\n{\"@t\":2}\n");

    let folder = Folder::new("future");
    ingest(&folder, &["--future-limit", "1d", "--on-error", "quarantine=bad.ndjson"], &text, 1);
    let bad = std::fs::read_to_string(folder.0.join("bad.ndjson")).unwrap();
    let document = jird::parse(bad.as_bytes()).unwrap();
    let member = |key: &str| document.root().get(key).unwrap_or_else(|| panic!("{key} in {bad}"));
    assert!(bad.contains("2261-01-01T00:00:00Z is more than 1d in the future") && bad.contains("\"future\""), "{bad}");
    assert_eq!(member("line").as_u64(), Some(3));
}

#[test]
fn the_limit_counts_from_now_and_events_without_a_time_are_taken() {
    let folder = Folder::new("future-now");
    let (near, far) = (from_now(3000), from_now(4000));
    let text = format!("{{\"@t\":{near}}}\n{{\"@t\":{far}}}\n{{}}\n{{\"@t\":\"9999-12-31\"}}\n");
    let said = ingest(&folder, &["--future-limit", "1h", "--on-error", "skip"], &text, 1);
    assert!(said.contains("2 bad records left out") && said.contains("1 event has no time"), "{said}");
    assert_eq!(export(&folder), format!("{{}}\n{{\"@t\":{near}}}\n"));
}

#[test]
fn without_a_limit_all_times_are_taken_and_far_ones_told() {
    let folder = Folder::new("future-none");
    let said = ingest(&folder, &[], &format!("{{\"@t\":{}}}\n", from_now(80_000)), 0);
    assert!(!said.contains("future"), "{said}");
    let said = ingest(&folder, &[], &format!("{FAR}\n{FAR}\n{{\"@t\":{}}}\n", from_now(90_000)), 0);
    let wanted = "note: 3 events are more than a day in the future, up to 2261-01-01T00:00:00Z: a clock may be wrong";
    assert!(said.contains(wanted), "{said}");
    assert_eq!(ingest(&folder, &["--quiet"], FAR, 0), "");
    let said = ingest(&folder, &["--future-limit", "90000d"], FAR, 0);
    assert!(!said.contains("note:"), "{said}");
    for text in ["1y", "2024-03-05", "", "10"] {
        let said = ingest(&folder, &["--future-limit", text], FAR, 2);
        assert!(said.contains("--future-limit"), "{text}: {said}");
    }
}

#[test]
fn late_events_are_found_among_bad_and_blank_lines_on_all_threads() {
    let (mut text, mut good, mut bad) = (String::new(), String::new(), 0);
    for number in 0..60_000_u32 {
        match number % 7 {
            1 => writeln!(text, "{FAR}").unwrap(),
            3 => writeln!(text, "{{\"@t\":{number},").unwrap(),
            5 => writeln!(text, " \t").unwrap(),
            _ => {
                let line = format!("{{\"@t\":{number},\"pad\":\"{}\"}}", "x".repeat(number as usize % 50));
                writeln!(text, "{line}").unwrap();
                writeln!(good, "{line}").unwrap();
            }
        }
        bad += u32::from(matches!(number % 7, 1 | 3));
    }
    let folder = Folder::new("future-many").with("a.ndjson", &text);
    let args = ["a.ndjson", "--future-limit", "1d", "--on-error", "quarantine=bad.ndjson", "--threads", "3"];
    let said = ingest(&folder, &args, "", 1);
    assert!(said.contains(&format!("{bad} bad records left out")), "{said}");
    assert!(export(&folder) == good);
    let lines: Vec<u64> = std::fs::read_to_string(folder.0.join("bad.ndjson"))
        .unwrap()
        .lines()
        .map(|line| jird::parse(line.as_bytes()).unwrap().root().get("line").unwrap().as_u64().unwrap())
        .collect();
    let wanted: Vec<u64> = (0..60_000).filter(|number| matches!(number % 7, 1 | 3)).map(|number| number + 1).collect();
    assert_eq!(lines, wanted);
}
