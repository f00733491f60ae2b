//! `jird store backup` and `jird store restore`.

use super::{damage, events, fine, folder, jird, sealed};
use crate::folder::Folder;
use std::fs;
use std::path::Path;

/// Whether two names are those of one file.
#[cfg(unix)]
fn are_one(folder: &Folder, one: &str, other: &str) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |name: &str| fs::metadata(folder.0.join(name)).unwrap().ino();
    number(one) == number(other)
}

fn names(folder: &Folder, of: &str) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder.0.join(of))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The name of the only span of a store.
#[cfg(unix)]
fn span(folder: &Folder, store: &str) -> String {
    names(folder, store).into_iter().find(|name| Path::new(name).extension().is_some_and(|end| end == "arrow")).unwrap()
}

#[test]
fn a_backup_is_a_store_and_a_restored_one_goes_on() {
    let folder = sealed("backup", 3000);
    let more = "{\"@t\":\"2024-03-08T00:00:00Z\",\"id\":\"in the log\"}\n";
    let _ = jird(&folder, "ingest", &["log", "-q"], more.as_bytes());
    let all = fine(&folder, "store", &["export", "log"]);
    assert_eq!(all.lines().count(), 3001);
    let said = fine(&folder, "store", &["backup", "log", "to/a/copy"]);
    assert!(said.starts_with("1 span, 3001 events; ") && said.contains(" bytes linked, "), "{said}");
    assert_eq!(fine(&folder, "store", &["export", "to/a/copy"]), all);
    fine(&folder, "store", &["verify", "to/a/copy"]);
    fine(&folder, "query", &["select id limit 1", "--store", "to/a/copy"]);
    let said = fine(&folder, "store", &["backup", "log", "copied", "--copy"]);
    assert!(said.contains("; 0 bytes linked, "), "{said}");
    #[cfg(unix)]
    {
        let span = span(&folder, "log");
        assert!(are_one(&folder, &format!("log/{span}"), &format!("to/a/copy/{span}")));
        assert!(!are_one(&folder, &format!("log/{span}"), &format!("copied/{span}")));
    }
    // A mistake with the store is none with its backup.
    fine(&folder, "store", &["retain", "log", "--older-than", "1d"]);
    fine(&folder, "store", &["compact", "log"]);
    fs::remove_dir_all(folder.0.join("log")).unwrap();
    let said = fine(&folder, "store", &["restore", "to/a/copy", "log"]);
    assert!(said.starts_with("1 span, 3001 events restored, "), "{said}");
    #[cfg(unix)]
    assert!(!are_one(
        &folder,
        &format!("log/{}", span(&folder, "log")),
        &format!("to/a/copy/{}", span(&folder, "log"))
    ));
    assert_eq!(fine(&folder, "store", &["export", "log"]), all);
    for store in ["log", "to/a/copy"] {
        fine(&folder, "ingest", &[store, "a.ndjson"]);
        fine(&folder, "store", &["verify", store]);
        assert_eq!(fine(&folder, "store", &["export", store]).lines().count(), 6001);
    }
    for args in [&["backup", "log", "quiet", "-q"][..], &["restore", "log", "quiet too", "--quiet"]] {
        assert_eq!(fine(&folder, "store", args), "");
    }
}

#[test]
fn a_run_is_resumed_in_a_restored_store_where_the_backup_ended() {
    let folder = Folder::new("backup-resume").with("a.ndjson", events(50));
    fine(&folder, "ingest", &["log", "a.ndjson"]);
    fine(&folder, "store", &["backup", "log", "copy"]);
    fs::write(folder.0.join("a.ndjson"), events(80)).unwrap();
    fine(&folder, "ingest", &["log", "a.ndjson", "--resume"]);
    fine(&folder, "store", &["restore", "copy", "new"]);
    fine(&folder, "ingest", &["new", "a.ndjson", "--resume"]);
    assert_eq!(fine(&folder, "store", &["export", "new"]), events(80));
    assert_eq!(fine(&folder, "store", &["export", "new"]), fine(&folder, "store", &["export", "log"]));
}

#[test]
fn a_folder_that_is_not_empty_is_refused_and_nothing_changes() {
    let folder = folder("backup-refused", 10);
    fs::create_dir(folder.0.join("used")).unwrap();
    fs::write(folder.0.join("used/mine.txt"), "mine").unwrap();
    fine(&folder, "store", &["backup", "log", "copy"]);
    for (target, reason) in [
        ("used", "mine.txt: name a folder that is new or empty"),
        ("copy", "there is a store in copy already"),
        ("log", "there is a store in log already"),
        ("a.ndjson", "a.ndjson is not a folder"),
        ("log/inner", "in the folder of a store"),
        ("./log/../log/inner", "in the folder of a store"),
        ("s3://bucket/log", "is a URL"),
    ] {
        for task in [&["backup", "log", target][..], &["restore", "copy", target]] {
            let before = (folder.names(), names(&folder, "log"));
            let (_, said, code) = jird(&folder, "store", task, b"");
            assert!(code == 2 && said.contains(reason), "{task:?}: {said}");
            assert_eq!((folder.names(), names(&folder, "log")), before, "{task:?}");
        }
    }
    // However deep.
    let (_, said, code) = jird(&folder, "store", &["backup", "log", "log/deep/inner"], b"");
    assert!(code == 2 && said.contains("in the folder of a store"), "{said}");
    assert_eq!(names(&folder, "used"), ["mine.txt"]);
    for task in ["backup", "restore"] {
        let (_, said, code) = jird(&folder, "store", &[task, "used", "new"], b"");
        assert!(code == 2 && said.contains("there is no store in used"), "{said}");
    }
    assert!(!folder.0.join("new").exists());
}

#[cfg(unix)]
#[test]
fn links_lead_to_where_they_lead() {
    let folder = sealed("backup-links", 100);
    let path = |name: &str| folder.0.join(name);
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(path(to), path(name)).unwrap();
    fs::create_dir(path("empty")).unwrap();
    link("empty", "to-empty");
    link("log", "to-log");
    link("nowhere", "dangling");
    fine(&folder, "store", &["backup", "to-log", "to-empty", "-q"]);
    fine(&folder, "store", &["verify", "empty", "-q"]);
    let (_, said, code) = jird(&folder, "store", &["backup", "log", "dangling"], b"");
    assert!(code == 2 && said.contains("dangling"), "{said}");
    let (_, said, code) = jird(&folder, "store", &["backup", "log", "to-log/inner"], b"");
    assert!(code == 2 && said.contains("in the folder of a store"), "{said}");
    // A span that was moved to another disk, and is a link now: the backup has the bytes.
    let span = span(&folder, "log");
    fs::rename(path(&format!("log/{span}")), path("elsewhere")).unwrap();
    link("elsewhere", &format!("log/{span}"));
    fine(&folder, "store", &["backup", "log", "copy", "-q"]);
    assert!(fs::symlink_metadata(path(&format!("copy/{span}"))).unwrap().is_file());
    fine(&folder, "store", &["verify", "copy", "-q"]);
}

#[test]
fn a_damaged_backup_is_restored_only_if_that_is_asked_for() {
    let folder = sealed("backup-damaged", 5000);
    fine(&folder, "store", &["backup", "log", "copy", "--copy"]);
    damage(&folder, b"event 100\"", 0);
    fine(&folder, "store", &["restore", "copy", "fine", "-q"]);
    fine(&folder, "store", &["backup", "log", "bad", "-q"]);
    let (out, said, code) = jird(&folder, "store", &["restore", "bad", "new"], b"");
    assert_eq!((out.as_str(), code), ("", 2), "{said}");
    assert!(said.contains("damaged: bad") && said.contains("nothing was restored; --damaged"), "{said}");
    assert!(!Path::new(&folder.0.join("new")).exists());
    let (out, said, code) = jird(&folder, "store", &["restore", "bad", "new", "--damaged"], b"");
    assert!(code == 1 && said.contains("damaged: bad") && out.contains("1 span, 5000 events restored"), "{out}{said}");
    let (out, _, code) = jird(&folder, "store", &["export", "new"], b"");
    assert!(code == 1 && out.lines().count() > 1000);
}

/// As a power failure or a kill leaves it.
#[test]
fn a_backup_that_was_not_finished_is_no_store_whatever_is_tried() {
    let folder = sealed("backup-half", 100);
    fine(&folder, "store", &["backup", "log", "half", "-q"]);
    for name in ["MANIFEST", "MANIFEST.copy"] {
        fs::remove_file(folder.0.join("half").join(name)).unwrap();
    }
    fs::write(folder.0.join("half/UNFINISHED"), "").unwrap();
    for args in
        [&["verify", "half", "--repair"][..], &["verify", "half"], &["info", "half"], &["restore", "half", "new"]]
    {
        let (_, said, code) = jird(&folder, "store", args, b"");
        assert!(code == 2 && said.contains("copy that was not finished; remove the folder"), "{args:?}: {said}");
    }
    for (command, args) in [("ingest", &["half", "a.ndjson", "-q"][..]), ("store", &["backup", "log", "half"])] {
        let (_, said, code) = jird(&folder, command, args, b"");
        assert!(code == 2 && said.contains("was not finished: remove the folder"), "{args:?}: {said}");
    }
}
