//! Deletions: what is deleted is in no file, and nothing else is lost.

use super::model::{Random, read};
use crate::files::Files;
use crate::files::simulated::{Disk, Trouble};
use crate::index::Condition;
use crate::settings::{Compression, Settings, Window, WriterOptions};
use crate::store::Store;
use crate::{DeleteScope, Deleted, Deletion, Error, ErrorKind, Extent, Sync};
use jird::Path as FieldPath;
use jird::record::{Comparison, Literal, Predicate};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NAMES: [&str; 4] = ["ann-of-a", "bob-of-b", "cid-of-c", "dan-of-d"];

fn seconds(count: i64) -> i64 {
    count * 1_000_000_000
}

/// The event of a second; each name has every fourth.
fn event(second: usize) -> String {
    format!("{{\"@t\":{second},\"user\":\"{}\",\"pad\":\"{}\"}}", NAMES[second % 4], "x".repeat(60))
}

fn append(store: &Store, seconds: std::ops::Range<usize>, seals: bool) {
    let writer = store.writer(&WriterOptions { sync: Sync::Batch, ..WriterOptions::default() }).unwrap();
    for second in seconds {
        writer.commit(writer.append_event(event(second).as_bytes()).unwrap()).unwrap();
    }
    if seals {
        writer.seal().unwrap();
    }
    writer.finish().unwrap();
}

/// A store with a span for each hundred seconds up to 400, and the seconds from there up to 420 in a log.
fn example() -> (Disk, Store) {
    let disk = Disk::default();
    let settings = Settings { compression: Compression::None, ..Settings::default() };
    let store = Store::create_on(Arc::new(disk.clone()), Path::new("/store"), &settings).unwrap();
    for part in 0..4 {
        append(&store, 100 * part..100 * part + 100, true);
    }
    append(&store, 400..420, false);
    (disk, store)
}

fn open(disk: &Disk) -> Result<Store, Error> {
    Store::open_on(Arc::new(disk.clone()), Path::new("/store"))
}

fn has(event: &[u8], name: &str) -> bool {
    memchr::memmem::find(event, name.as_bytes()).is_some()
}

fn delete(store: &Store, name: &str) -> Result<Deleted, Error> {
    store.delete(&DeleteScope::default(), &mut |event| has(event, name))
}

/// The seconds whose events are there, in order.
#[track_caller]
fn present(store: &Store) -> Vec<usize> {
    let snapshot = store.snapshot().unwrap();
    let text = read(&snapshot, Window::ALL).unwrap();
    assert_eq!(snapshot.damage(), []);
    let second = |line: &str| line["{\"@t\":".len()..line.find(',').unwrap()].parse().unwrap();
    text.lines().map(second).inspect(|second| assert!(text.contains(&event(*second)))).collect()
}

fn all_but(name: usize) -> Vec<usize> {
    (0..420).filter(|second| second % 4 != name).collect()
}

/// The files in which a text is.
fn files_with(disk: &Disk, text: &str) -> Vec<PathBuf> {
    disk.files().into_iter().filter(|(_, bytes)| has(bytes, text)).map(|(path, _)| path).collect()
}

fn records(store: &Store) -> Vec<Deletion> {
    store.info().unwrap().deletions
}

#[test]
fn what_is_deleted_is_in_no_file() {
    let (disk, store) = example();
    let would = store.would_delete(&DeleteScope::default(), &mut |event| has(event, NAMES[1])).unwrap();
    assert_eq!((would.events, would.spans, would.in_logs), (105, 4, 5));
    assert_eq!(present(&store), (0..420).collect::<Vec<_>>());
    let deleted = delete(&store, NAMES[1]).unwrap();
    assert_eq!((deleted.events, deleted.spans, deleted.in_logs), (105, 5, 0));
    assert_eq!((deleted.damage, deleted.aside), (Vec::new(), Vec::new()));
    assert_eq!(present(&store), all_but(1));
    assert_eq!(files_with(&disk, NAMES[1]), [""; 0].map(PathBuf::from));
    store.compact(Extent::Full).unwrap();
    assert_eq!((present(&store), store.verify(false).unwrap().damage), (all_but(1), Vec::new()));
    assert_eq!(delete(&store, NAMES[1]).unwrap(), Deleted::default());
    assert_eq!(records(&store).len(), 1, "a deletion of nothing is not noted");
}

#[test]
fn spans_without_a_match_stay_and_spans_of_matches_go() {
    let (disk, store) = example();
    let before = disk.files();
    let scope =
        DeleteScope { window: Window { since: Some(seconds(100)), until: Some(seconds(250)) }, ..<_>::default() };
    let mut asked = 0;
    let deleted = store.delete(&scope, &mut |_| {
        asked += 1;
        true
    });
    let deleted = deleted.unwrap();
    assert_eq!((deleted.events, deleted.spans, asked), (150, 2, 150));
    assert_eq!(present(&store), (0..100).chain(250..420).collect::<Vec<_>>());
    let files = disk.files();
    let spans = before.iter().filter(|(path, _)| path.to_string_lossy().contains("span-"));
    assert_eq!(spans.filter(|file| files.contains(file)).count(), 4, "two spans and their indexes");
}

#[test]
fn blocks_that_an_index_rules_out_are_not_read() {
    let (_, store) = example();
    append(&store, 0..0, true);
    let is = |field: &str, literal: Literal| {
        let predicate = Predicate::Compare { slot: 0, op: Comparison::Eq, literal };
        Condition::new(&predicate, &[FieldPath::root().key(field)])
    };
    for (condition, found, is_read) in [
        (is("user", Literal::Text("nobody".into())), 0, false),
        (is("@t", Literal::Number("1000".into())), 0, false),
        (is("user", Literal::Text(NAMES[1].into())), 105, true),
    ] {
        let mut asked = 0;
        let scope = DeleteScope { condition: Some(&condition), ..DeleteScope::default() };
        let deleted = store.delete(&scope, &mut |event| {
            asked += 1;
            has(event, NAMES[1])
        });
        assert_eq!((deleted.unwrap().events, asked > 0), (found, is_read), "{condition:?}");
    }
    assert_eq!(present(&store), all_but(1));
}

#[test]
fn what_an_operation_that_fails_leaves_is_no_success() {
    let operations = {
        let (disk, store) = example();
        disk.set(Trouble::None);
        delete(&store, NAMES[2]).unwrap();
        disk.operations()
    };
    assert!(operations > 50, "{operations}");
    for at in 1..=operations {
        for trouble in [Trouble::Fail(at), Trouble::FullFrom(at), Trouble::FailFrom(at)] {
            let (disk, store) = example();
            disk.set(trouble);
            let deleted = delete(&store, NAMES[2]);
            disk.set(Trouble::None);
            let there = present(&store);
            assert!(all_but(2).iter().all(|second| there.contains(second)), "{trouble:?}");
            if deleted.is_ok() {
                assert_eq!((there, files_with(&disk, NAMES[2]).len()), (all_but(2), 0), "{trouble:?}");
            }
            // The same command again does what is left.
            delete(&store, NAMES[2]).unwrap();
            assert_eq!((present(&store), files_with(&disk, NAMES[2]).len()), (all_but(2), 0), "{trouble:?}");
            assert_eq!(store.verify(false).unwrap().damage, []);
            let noted: u64 = records(&store).iter().map(|record| record.events).sum();
            assert_eq!(noted, 105, "{trouble:?}");
        }
    }
}

#[test]
fn what_a_deletion_left_next_to_a_writer_the_next_one_removes() {
    let operations = {
        let (disk, store) = example();
        disk.set(Trouble::None);
        delete(&store, NAMES[2]).unwrap();
        disk.operations()
    };
    for at in 1..=operations {
        let (disk, store) = example();
        append(&store, 420..420, true);
        let writer = store.writer(&WriterOptions { sync: Sync::None, ..WriterOptions::default() }).unwrap();
        disk.set(Trouble::FailFrom(at));
        let _ = delete(&store, NAMES[2]);
        disk.set(Trouble::None);
        delete(&store, NAMES[2]).unwrap();
        assert_eq!((present(&store), files_with(&disk, NAMES[2]).len()), (all_but(2), 0), "{at}");
        assert_eq!(store.info().unwrap().deletions.iter().map(|record| record.events).sum::<u64>(), 105);
        writer.finish().unwrap();
    }
}

#[test]
fn the_power_may_go_at_every_operation_of_a_deletion() {
    let (disk, store) = example();
    disk.set(Trouble::None);
    delete(&store, NAMES[3]).unwrap();
    for at in 1..=disk.operations() {
        for kill in [false, true] {
            let (disk, store) = example();
            disk.set(Trouble::Crash(at));
            let _ = delete(&store, NAMES[3]);
            drop(store);
            let mut random = Random(at);
            if kill {
                disk.kill();
            } else {
                disk.reboot(&mut || random.next());
            }
            let store = open(&disk).unwrap();
            let there = present(&store);
            assert!(all_but(3).iter().all(|second| there.contains(second)), "{at}");
            let noted: u64 = records(&store).iter().map(|record| record.events).sum();
            assert_eq!(noted as usize, 420 - there.len(), "{at}");
            delete(&store, NAMES[3]).unwrap();
            assert_eq!((present(&store), files_with(&disk, NAMES[3]).len()), (all_but(3), 0), "{at}");
            assert_eq!(store.verify(false).unwrap().damage, []);
        }
    }
}

#[test]
fn a_writer_seals_its_log_for_a_deletion() {
    let (disk, store) = example();
    let writer = store.writer(&WriterOptions { sync: Sync::Batch, ..WriterOptions::default() }).unwrap();
    // Its thread may have to wait for a busy machine longer than a deletion of tests waits.
    let deleted = (0..100).find_map(|_| delete(&store, NAMES[0]).ok()).expect("it is sealed");
    assert_eq!((deleted.events, deleted.spans), (105, 5));
    assert_eq!((present(&store), files_with(&disk, NAMES[0]).len()), (all_but(0), 0));
    writer.finish().unwrap();
}

#[test]
fn a_writer_seals_what_is_to_be_deleted_and_goes_on() {
    let (disk, store) = example();
    let writer = store.writer(&WriterOptions { sync: Sync::Batch, ..WriterOptions::default() }).unwrap();
    let mut appended = 420;
    let mut matches = |event: &[u8]| {
        if appended < 440 {
            writer.append_event(self::event(appended).as_bytes()).unwrap();
            appended += 1;
        }
        if appended == 430 {
            writer.seal().unwrap();
        }
        has(event, NAMES[0])
    };
    // Its thread may have to wait for a busy machine longer than a deletion of tests waits.
    let deleted = loop {
        match store.delete(&DeleteScope::default(), &mut matches) {
            Err(error) if error.kind() == ErrorKind::Locked => {}
            deleted => break deleted.unwrap(),
        }
    };
    // Those that came later stay, or not.
    assert!((105..=110).contains(&deleted.events));
    assert!(!disk.files().iter().any(|(path, _)| path.ends_with("SEAL")));
    writer.finish().unwrap();
    let there = present(&store);
    let is_wanted = |second: &usize| *second >= 420 || !second.is_multiple_of(4);
    assert!(there.iter().all(is_wanted) && all_but(0).iter().all(|second| there.contains(second)));
    assert_eq!(store.verify(false).unwrap().damage, []);
}

#[test]
fn a_writer_that_does_not_seal_is_told_and_left_alone_if_its_log_has_no_match() {
    let (disk, store) = example();
    let _other = crate::files::Files::lock(&disk, Path::new("/store/LOCK"), false).unwrap().unwrap();
    let before = disk.files();
    let refused = delete(&store, NAMES[0]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Locked);
    let said = refused.to_string();
    assert!(said.starts_with("5 events that match are in the log") && said.contains("nothing was deleted"), "{said}");
    assert_eq!(disk.files(), before);
    // The log has seconds from 400 on.
    let scope = DeleteScope { window: Window { since: None, until: Some(seconds(400)) }, ..DeleteScope::default() };
    assert_eq!(store.delete(&scope, &mut |event| has(event, NAMES[0])).unwrap().events, 100);
    let wanted: Vec<_> = (0..420_usize).filter(|second| *second >= 400 || !second.is_multiple_of(4)).collect();
    assert_eq!(present(&store), wanted);
}

#[test]
fn retention_may_remove_and_cut_spans_meanwhile() {
    for before in [100, 150, 1000] {
        let (disk, store) = example();
        let mut asked = 0;
        let deleted = store.delete(&DeleteScope::default(), &mut |event| {
            asked += 1;
            if asked == 130 {
                store.retain(seconds(before)).unwrap();
            }
            has(event, NAMES[0])
        });
        deleted.unwrap();
        let wanted: Vec<_> = all_but(0).into_iter().filter(|second| *second as i64 >= before).collect();
        assert_eq!((present(&store), files_with(&disk, NAMES[0]).len()), (wanted, 0), "{before}");
        assert_eq!(store.verify(false).unwrap().damage, []);
    }
}

#[test]
fn what_retention_has_hidden_goes_too_and_gives_no_words_to_columns() {
    let (disk, store) = example();
    store.retain(seconds(50)).unwrap();
    let deleted = store.delete(
        &DeleteScope { window: Window { since: None, until: Some(seconds(50)) }, ..DeleteScope::default() },
        &mut |event| has(event, NAMES[0]),
    );
    assert_eq!(deleted.map(|deleted| (deleted.events, deleted.spans)).unwrap(), (0, 1));
    let first = event(0);
    assert_eq!(files_with(&disk, &first), [""; 0].map(PathBuf::from));
    // What is hidden is no sample for the columns of a compaction.
    let disk = Disk::default();
    let settings = Settings { compression: Compression::None, ..Settings::default() };
    let store = Store::create_on(Arc::new(disk.clone()), Path::new("/store"), &settings).unwrap();
    let writer = store.writer(&WriterOptions { sync: Sync::Batch, ..WriterOptions::default() }).unwrap();
    for second in 0..100 {
        let name = if second < 50 { NAMES[0] } else { NAMES[1] };
        writer.append_event(format!("{{\"@t\":{second},\"user\":\"{name}\"}}").as_bytes()).unwrap();
    }
    writer.seal().unwrap();
    writer.finish().unwrap();
    store.retain(seconds(50)).unwrap();
    assert_eq!(store.compact(Extent::Full).unwrap().merged, 1);
    assert_eq!(files_with(&disk, NAMES[0]), [""; 0].map(PathBuf::from));
}

#[test]
fn a_full_disk_has_room_for_spans_that_go_and_not_for_those_that_are_written_again() {
    let (disk, store) = example();
    append(&store, 420..421, true);
    disk.set_room(Some(disk.used()));
    let whole = DeleteScope { window: Window { since: None, until: Some(seconds(100)) }, ..DeleteScope::default() };
    let part = DeleteScope { window: Window { since: Some(seconds(150)), until: None }, ..DeleteScope::default() };
    let error = store.delete(&part, &mut |event| has(event, NAMES[0])).unwrap_err();
    assert!(error.is_full() && error.to_string().contains("make room and try again"), "{error}");
    assert_eq!((present(&store).len(), records(&store).len()), (421, 0));
    assert_eq!(store.delete(&whole, &mut |_| true).unwrap().events, 100);
    assert_eq!(present(&store), (100..421).collect::<Vec<_>>());
}

#[test]
fn a_damaged_span_stays_and_is_told() {
    let (disk, store) = example();
    let is_span = |path: &Path| path.to_string_lossy().ends_with(".arrow");
    let has_it = |(path, bytes): &(PathBuf, Vec<u8>)| is_span(path) && has(bytes, &event(8));
    let (path, mut bytes) = disk.files().into_iter().find(has_it).unwrap();
    let at = memchr::memmem::find(&bytes, event(8).as_bytes()).unwrap() + 40;
    bytes[at] ^= 1;
    disk.put(&path, bytes);
    let deleted = delete(&store, NAMES[1]).unwrap();
    assert_eq!((deleted.events, deleted.spans, deleted.damage.len()), (80, 4, 1));
    assert_eq!(deleted.damage[0].file, path);
    assert!(!records(&store)[0].is_complete);
}

#[test]
fn a_wish_that_a_killed_deletion_left_goes_with_the_next_maintenance() {
    let (disk, store) = example();
    for name in ["SEAL", "SEAL.new"] {
        disk.create(&store.folder.file(name)).unwrap().append(b"x").unwrap();
    }
    store.compact(Extent::Tiers).unwrap();
    assert!(disk.files().iter().all(|(path, _)| !path.to_string_lossy().contains("SEAL")));
}

#[test]
fn one_deletion_is_at_work_at_a_time() {
    let (_, store) = example();
    let mut refused = 0;
    store
        .delete(&DeleteScope::default(), &mut |event| {
            if refused == 0 {
                let kinds =
                    [delete(&store, NAMES[0]).unwrap_err().kind(), store.compact(Extent::Full).unwrap_err().kind()];
                assert_eq!(kinds, [ErrorKind::Locked; 2]);
                refused += 1;
            }
            has(event, NAMES[0])
        })
        .unwrap();
    assert_eq!((present(&store), refused), (all_but(0), 1));
}

#[test]
fn the_record_survives_compaction_and_repairs() {
    let (disk, store) = example();
    let scope = DeleteScope { note: Some("case 7"), window: Window { since: Some(5), until: None }, condition: None };
    store.delete(&scope, &mut |event| has(event, NAMES[1])).unwrap();
    store.compact(Extent::Full).unwrap();
    let before = records(&store);
    let [record] = &before[..] else { panic!("{before:?}") };
    assert_eq!((record.events, record.spans, record.note.as_deref()), (105, 5, Some("case 7")));
    assert!(record.is_complete && record.time > 0 && record.window == scope.window);
    // Of the copy; and of an older one, from which only this is taken.
    for is_older in [false, true] {
        disk.put(Path::new("/store/MANIFEST"), b"{}".to_vec());
        if is_older {
            append_to_copy(&disk);
        }
        let restored = Store::restore_on(Arc::new(disk.clone()), Path::new("/store")).unwrap().unwrap();
        assert_eq!(restored.is_copy, !is_older);
        assert_eq!(records(&open(&disk).unwrap()), before);
        assert_eq!(present(&open(&disk).unwrap()), all_but(1));
    }
}

/// A file that the copy of the manifest does not know.
fn append_to_copy(disk: &Disk) {
    disk.put(Path::new("/store/span-9999.arrow"), Vec::new());
}

#[test]
fn files_that_are_kept_aside_are_told() {
    let (disk, store) = example();
    for name in ["log-3.damaged", "span-7.arrow.unknown", "refused.ndjson", "notes.unknown", "MANIFEST.damaged"] {
        disk.put(&Path::new("/store").join(name), b"1\n".to_vec());
    }
    let mut aside = delete(&store, "nobody").unwrap().aside;
    aside.sort();
    let names: Vec<_> = aside.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["log-3.damaged", "refused.ndjson", "span-7.arrow.unknown"]);
}
