//! What `jird store` and `jird ingest` say of a store whose log or manifest is damaged.
#![cfg(feature = "convert")]

use crate::folder::{Folder, words};
use std::fs;
use std::path::PathBuf;

/// What it printed, and what it said on standard error. The exit code must be this one.
#[track_caller]
fn ends(folder: &Folder, command: &str, args: &[&str], code: i32) -> (String, String) {
    let output = folder.jird(command, args, b"");
    let said = words(&output);
    assert_eq!(output.status.code(), Some(code), "{command} {args:?}: {said}");
    (String::from_utf8(output.stdout).unwrap(), said)
}

fn events(from: u32, count: u32) -> String {
    (from..from + count).map(|number| format!("{{\"@t\":{number},\"n\":{number}}}\n")).collect::<Vec<_>>().concat()
}

fn logs(folder: &Folder) -> Vec<PathBuf> {
    let files = fs::read_dir(folder.0.join("log")).unwrap().map(|entry| entry.unwrap().path());
    let is_log = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("log-");
    let mut logs: Vec<PathBuf> = files.filter(is_log).collect();
    logs.sort();
    logs
}

#[test]
fn a_flipped_bit_in_the_only_batch_is_told_by_all_commands_until_it_is_accepted() {
    let folder = Folder::new("flipped").with("a.ndjson", events(0, 1000)).with("b.ndjson", events(1000, 1));
    ends(&folder, "ingest", &["log", "a.ndjson", "--sync", "batch"], 0);
    let log = logs(&folder).remove(0);
    let mut bytes = fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(&log, bytes).unwrap();
    for command in ["export", "verify", "info"] {
        let (_, said) = ends(&folder, "store", &[command, "log"], 1);
        assert!(
            said.contains("log-") && said.contains("the arrival numbers 0 to 999 are missing"),
            "{command}: {said}"
        );
        assert!(said.contains("1000 events were left out"), "{command}: {said}");
    }
    let (_, said) = ends(&folder, "ingest", &["log", "b.ndjson"], 0);
    assert!(said.contains("damaged: ") && said.contains("0 to 999 are missing"), "{said}");
    for command in ["compact", "export", "verify"] {
        let (_, said) = ends(&folder, "store", &[command, "log"], 1);
        assert!(said.contains(".damaged: ") && said.contains("0 to 999 are missing"), "{command}: {said}");
    }
    assert!(logs(&folder).iter().any(|log| log.extension().is_some_and(|end| end == "damaged")));
    let (out, said) = ends(&folder, "store", &["verify", "--repair", "log"], 1);
    assert!(out.contains("1 loss accepted") && said.contains("0 to 999 are missing"), "{out}{said}");
    assert_eq!(ends(&folder, "store", &["verify", "log", "--quiet"], 0), (String::new(), String::new()));
    assert_eq!(ends(&folder, "store", &["export", "log"], 0).0, events(1000, 1));
}

#[test]
fn a_manifest_that_is_gone_is_made_again_by_the_command_that_the_error_names() {
    let folder = Folder::new("gone").with("a.ndjson", events(0, 100));
    ends(&folder, "ingest", &["log", "a.ndjson"], 0);
    ends(&folder, "store", &["compact", "log"], 0);
    ends(&folder, "ingest", &["log", "a.ndjson"], 0);
    let all = ends(&folder, "store", &["export", "log"], 0).0;
    for files in [&["MANIFEST"][..], &["MANIFEST", "MANIFEST.copy"]] {
        files.iter().for_each(|file| fs::remove_file(folder.0.join("log").join(file)).unwrap());
        for args in [["export", "log"], ["compact", "log"], ["verify", "log"]] {
            let (_, said) = ends(&folder, "store", &args, 2);
            assert!(said.contains("`jird store verify --repair log`"), "{args:?}: {said}");
        }
        let (_, said) = ends(&folder, "ingest", &["log", "a.ndjson"], 2);
        assert!(said.contains("`jird store verify --repair log`"), "{said}");
        let (_, said) = ends(&folder, "store", &["verify", "--repair", "log"], 1);
        assert!(said.contains("it was made again from "), "{said}");
        ends(&folder, "store", &["verify", "log"], 0);
        assert_eq!(ends(&folder, "store", &["export", "log"], 0).0, all);
    }
}

#[test]
fn what_retention_hides_is_not_counted_and_lost_and_found_is_no_obstacle() {
    let folder = Folder::new("lost-found").with("a.ndjson", events(0, 100));
    fs::create_dir_all(folder.0.join("log/lost+found")).unwrap();
    ends(&folder, "ingest", &["log", "a.ndjson"], 0);
    ends(&folder, "store", &["compact", "log"], 0);
    ends(&folder, "store", &["retain", "log", "--older-than", "1970-01-01T00:00:40Z"], 0);
    let (out, _) = ends(&folder, "store", &["info", "log"], 0);
    assert!(out.starts_with("events       60\n"), "{out}");
    fs::create_dir_all(folder.0.join("other")).unwrap();
    fs::write(folder.0.join("other/notes.txt"), "mine").unwrap();
    let (_, said) = ends(&folder, "ingest", &["other", "a.ndjson"], 2);
    assert!(said.contains("such as notes.txt"), "{said}");
}
