//! Folders that other programs made or changed: nothing hangs, nothing is written elsewhere, and every fault is
//! reported.

use crate::common::{Scratch, all, append, event, options, read};
use jird::Path as FieldPath;
use jird_store::{ErrorKind, Extent, FieldKinds, Settings, Store, Window, WriterOptions};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

/// A store with two small spans and a log, and its files but for the locks.
fn example() -> (Scratch, Store, BTreeMap<PathBuf, Vec<u8>>) {
    let scratch = Scratch::new();
    let store = scratch.store();
    let writer = store.writer(&WriterOptions::default()).unwrap();
    for part in 0..3 {
        (0..4).for_each(|number| append(&writer, &event(part * 5 + number % 3, part * 4 + number)));
        if part < 2 {
            writer.seal().unwrap();
        }
    }
    writer.finish().unwrap();
    let files = files(scratch.path());
    assert_eq!(files.keys().filter(|path| path.extension().is_some_and(|end| end == "arrow")).count(), 2);
    (scratch, store, files)
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    // As long as no other file is damaged, nothing is missing without these.
    let is_spare = |path: &PathBuf| ["TAKEN", "MANIFEST.copy", "BALLAST"].iter().any(|name| path.ends_with(name));
    let is_lock = |path: &PathBuf| path.to_string_lossy().contains("LOCK") || is_spare(path);
    paths.filter(|path| !is_lock(path)).map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

fn restore(files: &BTreeMap<PathBuf, Vec<u8>>) {
    for (path, bytes) in files {
        let _ = fs::remove_file(path);
        let _ = fs::remove_dir(path);
        fs::write(path, bytes).unwrap();
    }
}

/// Does everything with a store that only reads it; the events that were read, and whether damage was reported. `None`
/// if the store cannot be opened.
fn looked_at(path: &Path) -> Option<(Vec<String>, bool)> {
    let store = Store::open(path).ok()?;
    let snapshot = store.snapshot().ok()?;
    let text = snapshot.text(Window::ALL).unwrap();
    let mut lines = Vec::new();
    let mut buffer = Vec::new();
    for block in text.blocks() {
        if text.read(block, None, &mut buffer).is_ok() {
            lines.extend(String::from_utf8_lossy(&buffer).lines().map(str::to_owned));
        }
    }
    let _ = store.info();
    let verified = store.verify(false);
    let told = !snapshot.damage().is_empty() || !verified.is_ok_and(|verified| verified.damage.is_empty());
    Some((lines, told))
}

/// The same with what writes, on a thread of its own, which must end.
fn used(path: &Path) -> Option<(Vec<String>, bool)> {
    let (done, wait) = channel();
    let path = path.to_owned();
    std::thread::spawn(move || {
        let found = looked_at(&path);
        if let Ok(store) = Store::open(&path) {
            let _ = store.compact(Extent::Full);
            let _ = store.retain(0);
            let _ = store.writer(&WriterOptions::default()).map(jird_store::Writer::finish);
        }
        done.send(found).unwrap();
    });
    wait.recv_timeout(Duration::from_mins(1)).expect("nothing waits for ever")
}

#[test]
fn every_byte_of_a_small_store_may_be_another_one() {
    let (scratch, store, files) = example();
    let wanted: Vec<String> = all(&store).lines().map(str::to_owned).collect();
    for (path, bytes) in &files {
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            fs::write(path, &changed).unwrap();
            match looked_at(scratch.path()) {
                None => assert!(path.ends_with("MANIFEST"), "{} at {at}", path.display()),
                Some((lines, told)) => {
                    assert!(lines.iter().all(|line| wanted.contains(line)), "{} at {at}", path.display());
                    // The padding of an Arrow file is nothing.
                    assert!(told || lines == wanted, "{} at {at}", path.display());
                }
            }
        }
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn files_that_have_changed_places_are_told_and_no_event_is_there_twice() {
    let (scratch, store, files) = example();
    let wanted: Vec<String> = all(&store).lines().map(str::to_owned).collect();
    let paths: Vec<&PathBuf> = files.keys().collect();
    for one in &paths {
        for other in paths.iter().filter(|other| *other > one) {
            fs::write(one, &files[*other]).unwrap();
            fs::write(other, &files[*one]).unwrap();
            match used(scratch.path()) {
                None => assert!(one.ends_with("MANIFEST") || other.ends_with("MANIFEST"), "{one:?} {other:?}"),
                Some((lines, told)) => {
                    assert!(told, "{one:?} {other:?}");
                    let mut once = lines.clone();
                    once.sort();
                    once.dedup();
                    assert_eq!(once.len(), lines.len(), "{one:?} {other:?}");
                    assert!(lines.iter().all(|line| wanted.contains(line)), "{one:?} {other:?}");
                }
            }
            let now = fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().path());
            now.filter(|path| !files.contains_key(path)).for_each(|path| drop(fs::remove_file(path)));
            restore(&files);
        }
    }
    assert_eq!(all(&store).lines().count(), wanted.len());
}

#[test]
fn what_is_no_file_is_told_and_nobody_waits_for_it() {
    let (scratch, store, files) = example();
    let count = all(&store).lines().count();
    for path in files.keys() {
        for kind in ["pipe", "folder", "device", "nothing"] {
            fs::remove_file(path).unwrap();
            match kind {
                "pipe" => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
                "folder" => fs::create_dir(path).unwrap(),
                "device" => std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
                _ => std::os::unix::fs::symlink("/nowhere/at/all", path).unwrap(),
            }
            match used(scratch.path()) {
                None => assert!(path.ends_with("MANIFEST"), "{} as a {kind}", path.display()),
                Some((lines, told)) => {
                    assert!(told && lines.len() <= count, "{} as a {kind}: {}", path.display(), lines.len());
                }
            }
            let now = fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().path());
            now.filter(|path| !files.contains_key(path)).for_each(|path| drop(fs::remove_file(path)));
            restore(&files);
        }
    }
}

#[test]
fn a_link_in_a_store_leads_no_write_elsewhere() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let victim = scratch.path().with_extension("victim");
    fs::write(&victim, "precious").unwrap();
    let writer = store.writer(&options(2000)).unwrap();
    append(&writer, &event(0, 0));
    let numbers = (2..60).flat_map(|number| {
        [
            format!("log-{number}"),
            format!("span-{number}.arrow"),
            format!("span-{number}.index"),
            format!("span-{number}.index.new"),
        ]
    });
    for name in numbers.chain(["MANIFEST.new", "SAVED", "SAVED.new"].map(str::to_owned)) {
        std::os::unix::fs::symlink(&victim, scratch.path().join(name)).unwrap();
    }
    for part in 0..6 {
        append(&writer, &(0..20).map(|number| event(number, 1 + part * 20 + number)).collect::<String>());
    }
    writer.seal().unwrap();
    store.compact(Extent::Full).unwrap();
    let path = FieldPath::root().key("n");
    let literal = jird::record::Literal::Number("7".into());
    let predicate = jird::record::Predicate::Compare { slot: 0, op: jird::record::Comparison::Eq, literal };
    let condition = jird_store::Condition::new(&predicate, std::slice::from_ref(&path));
    let snapshot = store.snapshot().unwrap();
    let text = snapshot.text(Window::ALL).unwrap();
    let selected = text.select(0, Some(&condition));
    assert!(!selected.saved.is_empty());
    snapshot.note_saved(&selected.saved);
    store.verify(true).unwrap();
    store.compact(Extent::Full).unwrap();
    writer.finish().unwrap();
    assert_eq!(all(&store).lines().count(), 121);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    fs::remove_file(victim).unwrap();
}

#[test]
fn the_kinds_of_a_window_are_those_of_its_events() {
    let scratch = Scratch::new();
    let store = Store::create(scratch.path(), &Settings::default()).unwrap().with_block_bytes(130);
    let writer = store.writer(&WriterOptions::default()).unwrap();
    // Blocks of two events; one of them has a text.
    for (second, value) in [(1, "1"), (2, "2"), (3, "3"), (4, "\"x\""), (5, "5"), (6, "6")] {
        append(&writer, &format!("{{\"@t\":\"1970-01-01T00:00:0{second}Z\",\"v\":{value},\"pad\":\"xxxxxxxxxx\"}}\n"));
    }
    writer.seal().unwrap();
    writer.finish().unwrap();
    let (v, never) = (FieldPath::root().key("v"), FieldPath::root().key("never"));
    let snapshot = store.snapshot().unwrap();
    let of = |since: i64, until: i64, path: &FieldPath| {
        let window = Window { since: Some(since * 1_000_000_000), until: Some(until * 1_000_000_000) };
        (read(&snapshot, window).lines().count(), snapshot.text(window).unwrap().kinds(path))
    };
    let mixed = FieldKinds::NUMBER.with(FieldKinds::STRING);
    assert_eq!(of(1, 7, &v), (6, Some(mixed)));
    assert_eq!(of(1, 3, &v), (2, Some(FieldKinds::NUMBER)));
    assert_eq!(of(5, 7, &v), (2, Some(FieldKinds::NUMBER)));
    // The event at 4 is outside, and the index does not know that of 3 from that of 4.
    assert_eq!(of(1, 4, &v), (3, None));
    assert_eq!(of(2, 3, &v), (1, None));
    // What both parts of a block may have, others have for sure.
    assert_eq!(of(1, 6, &v), (5, Some(mixed)));
    assert_eq!(of(1, 7, &never), (6, Some(FieldKinds::MISSING)));
}

#[test]
fn a_store_of_a_later_version_is_left_alone() {
    let (scratch, store, _) = example();
    let writer = store.writer(&WriterOptions::default()).unwrap();
    let manifest = scratch.path().join("MANIFEST");
    let text = fs::read_to_string(&manifest).unwrap();
    let line = text.lines().next().unwrap().replace("\"format\":2", "\"format\":3");
    let sum = twox_hash::XxHash3_64::oneshot(line.as_bytes());
    let later = format!("{line}\n{sum:016x}\n");
    fs::write(&manifest, &later).unwrap();
    assert_eq!(Store::open(scratch.path()).unwrap_err().kind(), ErrorKind::Version);
    // Also through a store that was opened before.
    assert_eq!(store.snapshot().unwrap_err().kind(), ErrorKind::Version);
    assert_eq!(store.compact(Extent::Full).unwrap_err().kind(), ErrorKind::Version);
    assert_eq!(store.retain(i64::MAX).unwrap_err().kind(), ErrorKind::Version);
    append(&writer, &event(1, 99));
    assert_eq!(writer.seal().unwrap_err().kind(), ErrorKind::Version);
    drop(writer);
    assert_eq!(fs::read_to_string(&manifest).unwrap(), later);
}
