//! `jird store delete`.

use super::{events, fine, folder, jird, sealed};
use crate::folder::Folder;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

#[track_caller]
fn delete(folder: &Folder, condition: &str, more: &[&str]) -> (String, String, i32) {
    jird(folder, "store", &[&["delete", "log", "--where", condition], more].concat(), b"")
}

/// What a query finds. A note about a field that no record has is ignored.
fn query(folder: &Folder, sql: &str) -> String {
    let (out, said, code) = jird(folder, "query", &[sql, "--store", "log"], b"");
    assert_eq!(code, 0, "{sql}: {said}");
    out
}

/// The lines of the events that stay.
fn rest(count: u32, stays: impl Fn(&str) -> bool) -> String {
    events(count).lines().filter(|line| stays(line)).map(|line| format!("{line}\n")).collect()
}

/// The files of the store that have a text.
fn files_with(folder: &Folder, text: &str) -> Vec<String> {
    let has = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    let files = fs::read_dir(folder.0.join("log")).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| has(&fs::read(path).unwrap()));
    files.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

#[test]
fn the_events_that_a_query_finds_are_deleted_and_no_others() {
    for condition in [
        "user.id = 3",
        "user.id = 3 and Level in ('Error', 'Debug')",
        "Message like '%7' or Elapsed between 10 and 20",
        "not (Level = 'Error')",
        "\"@t\" < '2024-03-05T03'",
        "\"@t\" >= timestamp '2024-03-06T00:00Z'",
        "nothing is null",
        "id = 'r-00999'",
        "search('ERROR r-00')",
        "search(Message, '77') and Elapsed > 10",
        "Level = 'None'",
    ] {
        for (state, folder) in [("log", folder("delete", 2000)), ("span", sealed("delete", 2000))] {
            let ids = |text: &str| -> Vec<String> {
                text.lines().map(|line| line.split("\"id\":\"").nth(1).unwrap()[..7].to_owned()).collect()
            };
            let found = ids(&query(&folder, &format!("select id where {condition}")));
            let (out, said, code) = delete(&folder, condition, &["--dry-run"]);
            assert!(code == 0 && (said.is_empty() || said.contains("no event has `nothing`")), "{condition}: {said}");
            let events = if found.len() == 1 { "1 event".to_owned() } else { format!("{} events", found.len()) };
            assert!(out.starts_with(&format!("{events} would be deleted")), "{condition} {state}: {out}");
            let (out, said, code) = delete(&folder, condition, &[]);
            assert!(code == 0 && (said.is_empty() || said.contains("no event has `nothing`")), "{condition}: {said}");
            let spans = if found.is_empty() { "0 spans" } else { "1 span" };
            assert_eq!(out, format!("{events} deleted from {spans}\n"), "{condition} {state}");
            let wanted = rest(2000, |line| !found.contains(&ids(line)[0]));
            assert_eq!(fine(&folder, "store", &["export", "log"]), wanted, "{condition} {state}");
            fine(&folder, "store", &["verify", "log", "--quiet"]);
            assert_eq!(query(&folder, &format!("select id where {condition}")), "");
        }
    }
}

#[test]
fn a_window_restricts_a_deletion() {
    let folder = folder("delete-window", 300);
    let window = ["--since", "2024-03-05T01:00:00Z", "--until", "2024-03-05T02:00:00Z", "--note", "ticket\t7"];
    let (out, said, code) = delete(&folder, "Level = 'Error'", &window);
    assert_eq!((out.as_str(), said.as_str(), code), ("20 events deleted from 1 span\n", "", 0));
    let stays = |line: &str| !(line.contains("T01:") && line.contains("\"Error\""));
    assert_eq!(fine(&folder, "store", &["export", "log"]), rest(300, stays));
    let page = fine(&folder, "store", &["info", "log"]);
    let wanted = "20 events of 1 span, since 2024-03-05T01:00:00Z, until 2024-03-05T02:00:00Z: ticket 7\n";
    assert!(page.contains(wanted) && !page.contains("Error"), "{page}");
    let json = fine(&folder, "store", &["info", "log", "--json"]);
    let document = jird::parse(json.as_bytes()).unwrap();
    let record = document.root().get("deletions").unwrap().at(0).unwrap();
    assert_eq!(record.get("note").unwrap().as_str().unwrap(), "ticket\t7");
    assert_eq!(
        (record.get("events").unwrap().as_u64(), record.get("complete").unwrap().as_bool()),
        (Some(20), Some(true))
    );
    let (_, said, code) = delete(&folder, "Level = 'Error'", &["--since", "1h", "--until", "2h"]);
    assert!(code == 2 && said.contains("--since is not before --until"), "{said}");
    let (_, said, code) = delete(&folder, "Level = 'Error'", &["--note", &"x".repeat(1001)]);
    assert!(code == 2 && said.contains("1001 bytes"), "{said}");
}

#[test]
fn a_name_that_is_deleted_is_in_no_file() {
    let folder = sealed("delete-name", 3000);
    assert!(!files_with(&folder, "Warning").is_empty());
    delete(&folder, "Level = 'Warning'", &["-q"]);
    assert_eq!(files_with(&folder, "Warning"), [""; 0]);
    fine(&folder, "store", &["verify", "log", "--repair", "--quiet"]);
    assert_eq!(query(&folder, "select count(*) as n"), "{\"n\":2000}\n");
}

#[test]
fn what_is_no_condition_is_refused_and_what_matches_nothing_is_told() {
    let folder = sealed("delete-words", 100);
    for (condition, wanted) in
        [("Level =", "found the end"), ("lower(Level) = 'error'", "filter it by a query"), ("", "found the end")]
    {
        let (out, said, code) = delete(&folder, condition, &[]);
        assert_eq!((out.as_str(), code), ("", 2), "{condition}: {said}");
        assert!(said.contains(wanted), "{condition}: {said}");
    }
    let (out, said, code) = delete(&folder, "level = 'Error'", &[]);
    assert_eq!((out.as_str(), code), ("0 events deleted from 0 spans\n", 0));
    assert!(said.contains("no event has `level`"), "{said}");
    let (_, said, code) = jird(&folder, "store", &["delete", "log"], b"");
    assert!(code == 2 && said.contains("--where"), "{said}");
    let (_, said, code) = jird(&folder, "store", &["delete", "nowhere", "--where", "a = 1"], b"");
    assert!(code == 2 && said.contains("there is no store in nowhere"), "{said}");
    assert_eq!(query(&folder, "select count(*) as n"), "{\"n\":100}\n");
}

#[test]
fn positions_survive_a_deletion_and_keys_do_not() {
    let folder = folder("delete-resume", 100);
    delete(&folder, "user.id = 3", &["-q"]);
    let (_, said, code) = jird(&folder, "ingest", &["log", "a.ndjson", "--resume"], b"");
    assert!(code == 0 && said.contains("0 events taken"), "{said}");
    assert_eq!(query(&folder, "select count(*) as n"), "{\"n\":86}\n");
    // The store does not remember what it is to forget.
    let (_, said, code) = jird(&folder, "ingest", &["log", "-", "--once", "id"], events(100).as_bytes());
    assert!(code == 0 && said.contains("14 events taken"), "{said}");
    assert_eq!(query(&folder, "select count(*) as n"), "{\"n\":100}\n");
}

#[test]
fn a_process_that_writes_seals_its_log_and_goes_on() {
    let folder = sealed("delete-locked", 100);
    let mut writer = Command::new(env!("CARGO_BIN_EXE_jird"))
        .args(["ingest", "log", "-"])
        .current_dir(&folder.0)
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = writer.stdin.take().unwrap();
    input.write_all(b"{\"@t\":\"2025-01-01T00:00:00Z\",\"user\":{\"id\":3}}\n").unwrap();
    while query(&folder, "select count(*) as n") != "{\"n\":101}\n" {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let (out, said, code) = delete(&folder, "user.id = 3", &[]);
    assert_eq!((out.as_str(), said.as_str(), code), ("15 events deleted from 2 spans\n", "", 0));
    input.write_all(b"{\"@t\":\"2025-01-01T00:00:01Z\",\"user\":{\"id\":4}}\n").unwrap();
    drop(input);
    assert!(writer.wait().unwrap().success());
    assert_eq!(query(&folder, "select count(*) as n"), "{\"n\":87}\n");
    fine(&folder, "store", &["verify", "log", "--quiet"]);
}

#[test]
fn damage_is_told_and_nothing_else_of_the_span_goes() {
    let folder = sealed("delete-damage", 3000);
    let spans = || fs::read_dir(folder.0.join("log")).unwrap().map(|entry| entry.unwrap().path());
    let span = spans().find(|path| path.extension().is_some_and(|end| end == "arrow")).unwrap();
    let mut bytes = fs::read(&span).unwrap();
    let at = bytes.windows(8).position(|window| window == b"event 77").unwrap();
    bytes[at] ^= 1;
    fs::write(&span, &bytes).unwrap();
    let (out, said, code) = delete(&folder, "user.id = 3", &[]);
    assert_eq!((out.as_str(), code), ("0 events deleted from 0 spans\n", 1));
    assert!(said.contains("damaged:") && said.contains("events that match may still be"), "{said}");
    assert!(span.exists());
}

#[cfg(unix)]
#[test]
fn files_that_are_no_part_of_the_store_are_told() {
    let folder = sealed("delete-aside", 10).with("log/log-3.damaged", "x").with("log/notes.txt", "x");
    let (out, said, code) = delete(&folder, "user.id = 3", &[]);
    assert_eq!((out.as_str(), code), ("1 event deleted from 1 span\n", 0), "{said}");
    assert!(said.contains("log-3.damaged does not belong to the store") && !said.contains("notes.txt"), "{said}");
}
