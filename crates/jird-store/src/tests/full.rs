//! Disks that are full, from any operation on or to the last byte: nothing half-written stays, and what makes room works.

use super::model::Run;
use crate::Extent;
use crate::files::simulated::{Disk, Trouble};
use crate::settings::{Settings, WriterOptions};
use crate::store::Store;
use crate::{Error, Sync};
use std::path::Path;
use std::sync::Arc;

/// The files that belong to no store, and are not those that every store has.
fn strays(run: &Run) -> Vec<String> {
    let manifest = run.store().unwrap().folder.manifest().unwrap();
    let folder = run.store().unwrap().folder;
    let mut known: Vec<_> =
        ["MANIFEST", "MANIFEST.copy", "TAKEN", "BALLAST", "SAVED", "ASKED"].map(|name| folder.file(name)).into();
    for span in &manifest.spans {
        known.extend([folder.span(span.number), folder.index(span.number)]);
    }
    known.extend(manifest.logs.iter().map(|log| folder.log(log.number)));
    let files = run.disk.files().into_iter().map(|(path, _)| path).filter(|path| !known.contains(path));
    files.map(|path| path.display().to_string()).collect()
}

/// Appends, with seals, compactions, a deletion and a retention. The writer is ended as every command ends it.
fn course(run: &mut Run) {
    for _ in 0..6 {
        let _ = run.append();
    }
    let _ = run.store().and_then(|store| store.compact(Extent::Full));
    finish(run);
    for _ in 0..6 {
        let _ = run.append();
    }
    finish(run);
    let _ = run.delete();
    let _ = run.retain();
    let _ = run.store().and_then(|store| store.compact(Extent::Full));
}

fn finish(run: &mut Run) {
    let _ = run.writer.take().map(crate::Writer::finish_sealed);
}

#[test]
fn nothing_half_written_stays_when_the_disk_is_full_from_any_operation_on() {
    let mut run = Run::new(7);
    run.set(Trouble::None);
    course(&mut run);
    let operations = run.disk.operations();
    assert!(operations > 50, "{operations}");
    for at in 1..=operations {
        for trouble in [Trouble::FullFrom(at), Trouble::Fail(at)] {
            let mut run = Run::new(7);
            run.set(trouble);
            course(&mut run);
            run.set(Trouble::None);
            // One removal that fails leaves one file, which the next writer removes.
            if trouble == Trouble::FullFrom(at) {
                assert_eq!(strays(&run), [""; 0], "{trouble:?}");
                // Retention gives up indexes for room, which there never is here.
                run.store().unwrap().verify(true).unwrap();
            }
            run.check();
            run.append().unwrap();
            finish(&mut run);
            assert_eq!(strays(&run), [""; 0], "{trouble:?}");
            run.check();
            run.verify();
        }
    }
}

/// A store with several spans, of events of the seconds from 0 on, on a disk with no room left.
fn full() -> (Disk, Store) {
    let disk = Disk::default();
    let store = Store::create_on(Arc::new(disk.clone()), Path::new("/store"), &Settings::default()).unwrap();
    for part in 0..5 {
        let writer = store.writer(&WriterOptions { sync: Sync::Batch, ..WriterOptions::default() }).unwrap();
        for second in 0..100 {
            let event = format!("{{\"@t\":{},\"pad\":\"{}\"}}", 100 * part + second, "x".repeat(100));
            writer.append_event(event.as_bytes()).unwrap();
        }
        writer.seal().unwrap();
        assert!(writer.finish().unwrap().unsealed.is_none());
    }
    disk.set_room(Some(disk.used()));
    (disk, store)
}

fn seconds(count: i64) -> i64 {
    count * 1_000_000_000
}

fn events(store: &Store) -> u64 {
    let mut out = Vec::new();
    let export = store.export(crate::Window::ALL, &mut out).unwrap();
    assert_eq!(export.damage, []);
    export.events
}

#[test]
fn retention_makes_room_on_a_full_disk_again_and_again() {
    let (disk, store) = full();
    for part in 1..4_u64 {
        let retained = store.retain(seconds(100 * part as i64)).unwrap();
        assert_eq!(retained.spans_removed, 1);
        assert_eq!(events(&store), 500 - 100 * part);
        // What was freed is taken by others at once.
        disk.set_room(Some(disk.used()));
    }
    // There is a ballast again: a cut within a span frees nothing, and is made all the same.
    assert_eq!(store.retain(seconds(350)).unwrap().cut, 1);
    assert_eq!(events(&store), 150);
}

#[test]
fn retention_makes_room_without_a_ballast() {
    let (disk, store) = full();
    disk.delete(Path::new("/store/BALLAST"));
    disk.set_room(Some(disk.used()));
    assert_eq!(store.retain(seconds(300)).unwrap().spans_removed, 3);
    assert_eq!(events(&store), 200);
}

#[test]
fn retention_makes_room_of_what_a_killed_writer_left() {
    let (disk, store) = full();
    disk.delete(Path::new("/store/BALLAST"));
    disk.set_room(None);
    // The last number that the last writer reserved was not used.
    let number = store.folder.manifest().unwrap().next - 1;
    disk.put(&store.folder.span(number), vec![7; 5000]);
    disk.set_room(Some(disk.used()));
    // No span goes, so no index does either.
    assert_eq!(store.retain(seconds(50)).unwrap().cut, 1);
    assert_eq!(events(&store), 450);
}

#[test]
fn a_full_disk_takes_no_event_and_leaves_everything_as_it_was() {
    let (disk, store) = full();
    let before = disk.files();
    for _ in 0..3 {
        let Err(error) = store.writer(&WriterOptions::default()) else { panic!("there is no room for a log") };
        assert!(error.to_string().contains("make room and try again"), "{error}");
        let error = store.compact(Extent::Full).unwrap_err();
        assert!(error.to_string().contains("merging 2 spans needs"), "{error}");
        assert_eq!(disk.files(), before);
    }
    assert_eq!(events(&store), 500);
}

/// The room that one more batch of events takes.
const BATCH_ROOM: usize = 60 << 10;

#[test]
fn events_that_were_taken_are_no_error_when_they_cannot_be_sealed() {
    let (disk, store) = full();
    disk.set_room(Some(disk.used() + BATCH_ROOM));
    let writer = store.writer(&WriterOptions { sync: Sync::Batch, seal_bytes: 40 << 10 }).unwrap();
    let mut taken = 0;
    let refused: Error = loop {
        let event = format!("{{\"@t\":{},\"pad\":\"{}\"}}", 1000 + taken, "x".repeat(200));
        match writer.append_event(event.as_bytes()) {
            Ok(_) => taken += 1,
            Err(error) => break error,
        }
    };
    assert!(refused.is_full(), "{refused}");
    let totals = writer.finish().unwrap();
    assert_eq!(totals.events, taken);
    assert_eq!(events(&store), 500 + taken);
    let names = || disk.files().into_iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>();
    let spans = names().iter().filter(|name| name.contains("span-")).count();
    assert_eq!(spans, 10, "{:?}", names());
    // With room again, nothing is there twice.
    disk.set_room(None);
    assert!(store.writer(&WriterOptions::default()).unwrap().finish_sealed().unwrap().unsealed.is_none());
    store.compact(Extent::Full).unwrap();
    assert_eq!(events(&store), 500 + taken);
}

#[test]
fn a_new_store_survives_a_loss_of_power_with_the_folders_above_it() {
    for seed in 0..20 {
        let disk = Disk::default();
        let path = Path::new("/var/lib/new/store");
        let store = Store::create_on(Arc::new(disk.clone()), path, &Settings::default()).unwrap();
        let writer = store.writer(&WriterOptions { sync: Sync::Batch, ..WriterOptions::default() }).unwrap();
        writer.commit(writer.append_event(b"1").unwrap()).unwrap();
        let mut random = super::model::Random(seed);
        drop(writer);
        disk.reboot(&mut || random.next());
        let store = Store::open_on(Arc::new(disk.clone()), path).unwrap();
        assert_eq!(events(&store), 1, "{seed}");
    }
}
