//! Copies of a store: whole or none, whatever happens meanwhile.

use super::model::{Run, copy_path, read};
use crate::files::simulated::Trouble;
use crate::settings::Window;
use crate::{BackupOptions, ErrorKind, Extent, Patience, Settings, Store, Sync, WriterOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A store with spans and logs, while its writer is at work.
fn example(seed: u64) -> Run {
    let mut run = Run::new(seed);
    for _ in 0..12 {
        run.append().unwrap();
    }
    run
}

/// The names of what is in the folder of a copy.
fn names(run: &Run, number: u64) -> Vec<PathBuf> {
    let files = run.disk.files().into_iter().map(|(path, _)| path);
    files.filter(|path| path.starts_with(copy_path(number))).collect()
}

/// The files that the folder of a copy has, by its manifest.
fn named(copy: &Store) -> Vec<PathBuf> {
    let (folder, manifest) = (&copy.folder, copy.folder.manifest().unwrap());
    let spans = manifest.spans.iter().flat_map(|span| [folder.span(span.number), folder.index(span.number)]);
    let logs = manifest.logs.iter().map(|log| folder.log(log.number));
    let others = ["MANIFEST", "MANIFEST.copy", "TAKEN"].map(|name| folder.file(name));
    let mut named: Vec<PathBuf> = spans.chain(logs).chain(others).collect();
    named.sort();
    named
}

/// How many operations the next copy takes.
fn operations(seed: u64) -> u64 {
    let mut run = example(seed);
    run.close();
    run.set(Trouble::None);
    run.back_up().unwrap();
    run.disk.operations()
}

#[test]
fn the_power_may_go_at_every_operation_of_a_copy() {
    // One seed links, the other copies.
    for seed in [7, 8] {
        let (mut whole, all) = (0, operations(seed));
        for at in 1..=all {
            for kill in [false, true] {
                let mut run = example(seed);
                run.close();
                run.set(Trouble::Crash(at));
                assert!(run.back_up().is_err());
                run.crash(kill);
                whole += run.check_copies();
                run.check();
                run.verify();
            }
        }
        assert!(whole > 0 && whole < all, "{whole} of {all}");
    }
}

#[test]
fn a_copy_that_fails_leaves_nothing_behind() {
    for seed in [7, 8] {
        for at in 1..=operations(seed) {
            for trouble in [Trouble::Fail(at), Trouble::FullFrom(at)] {
                let mut run = example(seed);
                run.close();
                run.set(trouble);
                // Without the copy of the manifest, it is whole.
                let result = run.back_up();
                run.set(Trouble::None);
                match result {
                    Err(_) => assert_eq!(names(&run, 1), Vec::<PathBuf>::new(), "{trouble:?}"),
                    Ok(()) => assert_eq!(run.check_copies(), 1),
                }
                run.check();
                run.verify();
            }
        }
    }
}

#[test]
fn files_are_linked_unless_they_cannot_be_or_must_not_be() {
    for (is_without_links, copies) in [(false, false), (false, true), (true, false)] {
        let mut run = example(7);
        // A writer may be sealing meanwhile, which takes room, too.
        drop(run.writer.take());
        let (used, store) = (run.disk.used() as u64, run.store().unwrap());
        if is_without_links {
            run.disk.refuse_links();
        }
        let backup = store.backup(&copy_path(1), &BackupOptions { copies, ..BackupOptions::default() }).unwrap();
        let is_linked = !is_without_links && !copies;
        assert_eq!(backup.linked_bytes > 0, is_linked, "{backup:?}");
        assert!(backup.spans > 0 && backup.copied_bytes > 0);
        let more = run.disk.used() as u64 - used;
        // Manifests and notes are small.
        assert!(more >= backup.copied_bytes && more < backup.copied_bytes + 10_000, "{more} {backup:?}");
        let wanted = read(&store.snapshot().unwrap(), Window::ALL).unwrap();
        let copy = Store::open_on(Arc::new(run.disk.clone()), &copy_path(1)).unwrap();
        assert_eq!(read(&copy.snapshot().unwrap(), Window::ALL).unwrap(), wanted);
        // Each goes its own way from then on.
        let writer = copy.writer(&WriterOptions { sync: Sync::Batch, ..WriterOptions::default() }).unwrap();
        writer.append_event(b"{\"@t\":0,\"n\":0,\"pad\":\"\"}").unwrap();
        writer.seal().unwrap();
        writer.finish().unwrap();
        copy.compact(Extent::Full).unwrap();
        copy.retain(i64::MAX).unwrap();
        assert_eq!(read(&store.snapshot().unwrap(), Window::ALL).unwrap(), wanted);
        run.verify();
        assert_eq!(copy.verify(true).unwrap().damage, []);
    }
}

#[test]
fn a_copy_reports_what_the_store_lacks() {
    let with_copy = |harm: &dyn Fn(&Run, &Store)| {
        let mut run = example(7);
        run.close();
        let store = run.store().unwrap();
        harm(&run, &store);
        let reasons = |store: &Store| {
            let damage = store.verify(false).unwrap().damage.into_iter();
            let mut reasons: Vec<_> = damage.map(|damage| (damage.reason, damage.events)).collect();
            reasons.sort();
            reasons
        };
        let backup = store.backup(&copy_path(1), &BackupOptions::default()).unwrap();
        let copy = Store::open_on(Arc::new(run.disk.clone()), &copy_path(1)).unwrap();
        assert_eq!(reasons(&copy), reasons(&store));
        assert_eq!(
            read(&copy.snapshot().unwrap(), Window::ALL).unwrap(),
            read(&store.snapshot().unwrap(), Window::ALL).unwrap()
        );
        assert_eq!(backup.damage.len(), reasons(&store).len(), "{:?}", backup.damage);
        reasons(&store).len()
    };
    let manifest = |store: &Store| store.folder.manifest().unwrap();
    assert_eq!(with_copy(&|_, _| ()), 0);
    for end in ["arrow", "index"] {
        let gone = with_copy(&|run, store| {
            let number = manifest(store).spans[0].number;
            run.disk.delete(&store.folder.file(&format!("span-{number}.{end}")));
        });
        assert!(gone > 0, "{end}");
    }
    let log = |run: &Run, store: &Store| {
        let files = run.disk.files();
        let of = |path: &Path| files.iter().find(|(name, _)| name == path).unwrap().1.clone();
        let paths = manifest(store).logs.iter().map(|log| store.folder.log(log.number)).collect::<Vec<_>>();
        let path = paths.into_iter().max_by_key(|path| of(path).len()).unwrap();
        (of(&path), path)
    };
    // A log that is gone, cut, or has a flipped bit.
    assert!(with_copy(&|run, store| run.disk.delete(&log(run, store).1)) > 0);
    let cut = |run: &Run, store: &Store| {
        let (bytes, path) = log(run, store);
        run.disk.put(&path, bytes[..bytes.len() - 3].to_vec());
    };
    assert!(with_copy(&cut) > 0);
    let flip = |run: &Run, store: &Store| {
        let (mut bytes, path) = log(run, store);
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        run.disk.put(&path, bytes);
    };
    assert!(with_copy(&flip) > 0);
    // What was accepted is reported no more.
    let accepted = |run: &Run, store: &Store| {
        flip(run, store);
        assert!(!store.verify(true).unwrap().damage.is_empty());
    };
    assert_eq!(with_copy(&accepted), 0);
}

#[test]
fn damage_to_the_log_of_a_copy_is_known_by_the_copy() {
    let run = Run::new(7);
    let store = run.store().unwrap();
    let writer = store.writer(&WriterOptions::default()).unwrap();
    for _ in 0..3 {
        writer.append_event(b"1").unwrap();
    }
    store.backup(&copy_path(1), &BackupOptions::default()).unwrap();
    let copy = run.copy(1).unwrap();
    let [log] = &copy.folder.manifest().unwrap().logs[..] else { panic!("there is more than one log") };
    // Whole batches are gone, and nothing of the log looks wrong.
    let path = copy.folder.log(log.number);
    let bytes = run.disk.files().into_iter().find(|(name, _)| *name == path).unwrap().1;
    run.disk.put(&path, bytes[..crate::log::START_BYTES].to_vec());
    for notes in [true, false] {
        if !notes {
            run.disk.delete(&copy_path(1).join("TAKEN"));
        }
        let damage = copy.verify(false).unwrap().damage;
        assert!(matches!(&damage[..], [one] if one.events == Some(3)), "{damage:?}");
    }
}

#[test]
fn a_folder_with_something_in_it_is_refused_and_left_as_it_is() {
    let mut run = example(7);
    run.close();
    let store = run.store().unwrap();
    let before = |run: &Run| run.disk.files();
    run.disk.put(Path::new("/used/notes.txt"), b"mine".to_vec());
    run.disk.put(Path::new("/half/UNFINISHED"), Vec::new());
    run.disk.put(Path::new("/half/span-1.arrow"), Vec::new());
    let files = before(&run);
    for (path, said) in
        [("/used", "notes.txt"), ("/store", "there is a store in /store already"), ("/half", "not finished")]
    {
        let error = store.backup(Path::new(path), &BackupOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Exists);
        assert!(error.to_string().contains(said), "{error}");
        let error = Store::create_on(Arc::new(run.disk.clone()), Path::new(path), &Settings::default()).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
    let error = Store::open_on(Arc::new(run.disk.clone()), Path::new("/half")).unwrap_err();
    assert!(error.kind() == ErrorKind::Missing && error.to_string().contains("not finished"), "{error}");
    assert!(before(&run) == files);
}

#[test]
fn a_copy_that_is_stopped_leaves_nothing_and_may_be_made_again() {
    let run = example(7);
    let options = BackupOptions { stop: Arc::new(AtomicBool::new(true)), ..BackupOptions::default() };
    let error = run.store().unwrap().backup(&copy_path(1), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io(std::io::ErrorKind::Interrupted));
    assert_eq!(names(&run, 1), Vec::<PathBuf>::new());
    options.stop.store(false, Ordering::Relaxed);
    run.store().unwrap().backup(&copy_path(1), &options).unwrap();
}

/// Ends the threads of a test.
struct End<'e>(&'e AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Events that are their numbers, so that those that are missing are known.
#[test]
fn a_copy_has_all_that_was_acknowledged_while_a_writer_compactions_and_retention_go_on() {
    for (seed, is_without_links) in [(1, false), (2, true)] {
        let run = Run::new(seed);
        if is_without_links {
            run.disk.refuse_links();
        }
        let store = run.store().unwrap();
        let (acknowledged, removed, ends) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut number = 0;
                while !ends.load(Ordering::SeqCst) {
                    let options = WriterOptions { sync: Sync::None, seal_bytes: 400 };
                    let writer = store.writer(&options).unwrap();
                    for _ in 0..60 {
                        let event = format!("{{\"@t\":{number},\"n\":{number},\"pad\":0}}");
                        writer.append_event(event.as_bytes()).unwrap();
                        number += 1;
                        acknowledged.store(number, Ordering::SeqCst);
                    }
                    writer.finish().unwrap();
                }
            });
            scope.spawn(|| {
                let mut round = 0_u64;
                // A writer that begins has the lock of compactions for a moment.
                let store = store.clone().with_patience(Patience::Endless);
                while !ends.load(Ordering::SeqCst) {
                    store.compact(Extent::Full).unwrap();
                    round += 1;
                    if round.is_multiple_of(3) {
                        let below = acknowledged.load(Ordering::SeqCst) / 2;
                        // From here on, they may be gone.
                        removed.store(below, Ordering::SeqCst);
                        store.retain(below as i64 * 1_000_000_000).unwrap();
                    }
                }
            });
            // Also if something is wrong, or the threads would be waited for.
            let _end = End(&ends);
            while acknowledged.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            for number in 1..150 {
                let due = acknowledged.load(Ordering::SeqCst);
                let backup = store.backup(&copy_path(number), &BackupOptions::default()).unwrap();
                let gone = removed.load(Ordering::SeqCst);
                assert_eq!(backup.damage, []);
                let copy = Store::open_on(Arc::new(run.disk.clone()), &copy_path(number)).unwrap();
                assert_eq!(copy.verify(false).unwrap().damage, []);
                assert_eq!(names(&run, number), named(&copy), "nothing of an older state stays");
                let text = read(&copy.snapshot().unwrap(), Window::ALL).unwrap();
                let numbers: Vec<u64> = text.lines().map(super::model::number).collect();
                assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{numbers:?}");
                assert_eq!(numbers.len() as u64, backup.events);
                let (first, last) = (numbers.first().copied(), numbers.last().copied());
                if due > gone {
                    assert!(first <= Some(gone) && last >= Some(due - 1), "{due} {gone}: {first:?} to {last:?}");
                }
            }
        });
    }
}
