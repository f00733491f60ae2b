//! Files that are cut, flipped or forged: no panic, and damage is reported.

use super::model::{Random, Run, read};
use crate::files::Files;
use crate::files::checksum;
use crate::files::simulated::Disk;
use crate::settings::{Compression, Patience, Window, WriterOptions};
use crate::{ErrorKind, Store};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A store with spans and a log, and its files.
fn example(seed: u64) -> (Run, Vec<(PathBuf, Vec<u8>)>) {
    let mut run = Run::new(seed);
    for _ in 0..12 {
        run.append().unwrap();
    }
    run.close();
    run.check();
    let files = run.disk.files();
    (run, files)
}

/// Reads everything that there is; how many events, and whether damage was reported.
fn use_all(run: &Run) -> Option<(usize, bool)> {
    let store = run.store().ok()?;
    let snapshot = store.snapshot().ok()?;
    let lines = lossy(&snapshot);
    let told = !snapshot.damage().is_empty();
    let _ = store.info();
    let _ = store.verify(false);
    Some((lines, told))
}

fn lossy(snapshot: &crate::Snapshot) -> usize {
    let text = snapshot.text(Window::ALL).unwrap();
    let (mut lines, mut buffer) = (0, Vec::new());
    for number in text.blocks() {
        if text.read(number, None, &mut buffer).is_ok() {
            lines += memchr::memchr_iter(b'\n', &buffer).count();
        }
    }
    lines
}

/// Whether nothing of the store is in a file.
fn is_lock(path: &Path) -> bool {
    ["LOCK", "BALLAST"].iter().any(|name| path.to_string_lossy().contains(name))
}

fn with(disk: &Disk, path: &Path, bytes: Vec<u8>, then: impl FnOnce()) {
    let before = disk.files().into_iter().find(|(name, _)| name == path).map(|(_, bytes)| bytes);
    disk.put(path, bytes);
    then();
    disk.put(path, before.unwrap());
}

#[test]
fn a_flipped_bit_is_told_and_costs_a_block_at_most() {
    for seed in [3, 4, 5] {
        let (run, files) = example(seed);
        let events = run.events.len();
        let mut random = Random(seed);
        for (path, bytes) in files.iter().filter(|(path, _)| !is_lock(path)) {
            for _ in 0..150 {
                let at = random.below(bytes.len() as u64) as usize;
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << random.below(8);
                with(&run.disk, path, flipped, || {
                    let found = use_all(&run);
                    let verified = run.store().and_then(|store| store.verify(false));
                    let Some((lines, told)) = found else {
                        assert!(path.ends_with("MANIFEST"), "{}", path.display());
                        return;
                    };
                    assert!(told || lines == events, "{} at {at}: {lines}", path.display());
                    let verified = verified.unwrap();
                    let is_padding = path.extension().is_some_and(|end| end == "arrow");
                    assert!(
                        !verified.damage.is_empty() || is_note(path) || is_padding && lines == events,
                        "{} at {at}",
                        path.display()
                    );
                });
            }
        }
    }
}

/// Notes, as opposed to the files that have the events.
fn is_note(path: &Path) -> bool {
    path.ends_with("TAKEN") || path.ends_with("MANIFEST.copy")
}

#[test]
fn a_file_that_is_cut_or_gone_is_told() {
    let (run, files) = example(6);
    let mut random = Random(6);
    for (path, bytes) in files.iter().filter(|(path, _)| !is_lock(path)) {
        for _ in 0..60 {
            let len = random.below(bytes.len() as u64) as usize;
            with(&run.disk, path, bytes[..len].to_vec(), || {
                if let Some((lines, told)) = use_all(&run) {
                    assert!(told || lines == run.events.len(), "{} at {len}", path.display());
                }
            });
        }
        run.disk.delete(path);
        let found = use_all(&run);
        assert!(found.is_none_or(|(_, told)| told) || is_note(path), "{}", path.display());
        run.disk.put(path, bytes.clone());
    }
}

/// Makes the checksums of the manifest and of an index file right again, as a forger would.
fn forge(run: &Run, path: &Path, bytes: Vec<u8>) {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    if name == "MANIFEST" {
        let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        run.disk.put(path, [line, format!("\n{:016x}\n", checksum(line)).as_bytes()].concat());
        return;
    }
    run.disk.put(path, bytes);
    if path.extension().is_none_or(|end| end != "arrow") {
        return;
    }
    // Without the index and with another checksum of the table, everything is read from the messages.
    run.disk.delete(&path.with_extension("index"));
    let manifest = path.with_file_name("MANIFEST");
    let text = run.disk.files().into_iter().find(|(name, _)| *name == manifest).unwrap().1;
    let text = String::from_utf8(text).unwrap();
    let line = text
        .lines()
        .next()
        .unwrap()
        .replace("\"table\":\"", "\"table\":\"0")
        .replace("\"table\":\"00", "\"table\":\"0");
    let line: String = line
        .split("\"table\":\"")
        .enumerate()
        .map(|(number, part)| {
            if number == 0 {
                part.to_owned()
            } else {
                format!("\"table\":\"0123456789abcdef{}", &part[part.find('"').unwrap()..])
            }
        })
        .collect();
    run.disk.put(&manifest, format!("{line}\n{:016x}\n", checksum(line.as_bytes())).into_bytes());
}

#[test]
fn forged_files_are_read_without_panics() {
    for seed in [8, 9, 10] {
        let (run, files) = example(seed);
        let mut random = Random(seed);
        for (path, bytes) in files.iter().filter(|(path, _)| !is_lock(path)) {
            for _ in 0..150 {
                let mut forged = bytes.clone();
                for _ in 0..=random.below(3) {
                    let at = random.below(bytes.len() as u64) as usize;
                    match random.below(3) {
                        0 => forged[at] ^= 1 << random.below(8),
                        1 => forged[at] = b"0123456789-\xff"[random.below(12) as usize],
                        _ => {
                            let end = (at + 8).min(forged.len());
                            let huge = (random.next() >> random.below(64)).to_le_bytes();
                            forged[at..end].copy_from_slice(&huge[..end - at]);
                        }
                    }
                }
                forge(&run, path, forged);
                use_all(&run);
                for (path, bytes) in &files {
                    run.disk.put(path, bytes.clone());
                }
            }
        }
        let (run, _) = example(seed);
        drop(run);
    }
}

#[test]
fn lies_that_no_checksum_betrays_are_told() {
    let mut tried = 0;
    for seed in 0..20 {
        let (run, files) = example(seed);
        let snapshot = run.store().unwrap().snapshot().unwrap();
        for span in snapshot.spans().iter().filter(|span| span.table().compression == Compression::None) {
            let path = span_path(&files, span.number());
            let bytes = &files.iter().find(|(name, _)| *name == path).unwrap().1;
            for block in span.table().blocks.iter().filter(|block| block.events > 2) {
                let end = (block.document_offset() + block.document_bytes) as usize;
                let head = &bytes[block.offset as usize..][..block.head_bytes as usize];
                let places = crate::span::places(head).unwrap();
                let [times, offsets] = places.map(|range| block.offset as usize + range.start);
                let lies: [(usize, &[u8], &str); 4] = [
                    (end - 1, b"x", "not whole lines"),
                    // Then the table, which is made of the blocks, lacks this one.
                    (times + 8, &i64::MIN.to_le_bytes(), ""),
                    (offsets + 4, &[0; 4], ""),
                    (offsets + 4, &1_u32.to_le_bytes(), "its offsets are not those of its lines"),
                ];
                for (at, lie, said) in lies {
                    let mut forged = bytes.clone();
                    forged[at..at + lie.len()].copy_from_slice(lie);
                    forge(&run, &path, forged);
                    let damage = run.store().unwrap().verify(false).unwrap().damage;
                    let is_told = damage.iter().any(|damage| {
                        damage.file == path && damage.events >= Some(block.events) && damage.reason.contains(said)
                    });
                    assert!(is_told, "{said}: {damage:?}");
                    use_all(&run);
                    files.iter().for_each(|(path, bytes)| run.disk.put(path, bytes.clone()));
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 50, "{tried}");
}

fn span_path(files: &[(PathBuf, Vec<u8>)], number: u64) -> PathBuf {
    let name = format!("span-{number}.arrow");
    files.iter().map(|(path, _)| path).find(|path| path.ends_with(&name)).unwrap().clone()
}

#[test]
fn a_lost_or_damaged_index_is_made_anew() {
    let (run, files) = example(11);
    let store = run.store().unwrap();
    let wanted = read(&store.snapshot().unwrap(), Window::ALL).unwrap();
    for (path, bytes) in files.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "index")) {
        for damaged in [None, Some(bytes[..bytes.len() / 2].to_vec())] {
            match damaged {
                None => run.disk.delete(path),
                Some(bytes) => run.disk.put(path, bytes),
            }
            let snapshot = store.snapshot().unwrap();
            assert_eq!(read(&snapshot, Window::ALL).unwrap(), wanted);
            assert_eq!(snapshot.damage().len(), 1, "{:?}", snapshot.damage());
            let verified = store.verify(true).unwrap();
            assert_eq!((verified.repaired, &verified.damage[..]), (1, &[][..]));
            let again = run.disk.files().into_iter().find(|(name, _)| name == path).unwrap().1;
            assert!(again == *bytes, "{}", path.display());
        }
    }
    run.verify();
}

#[test]
fn a_loss_is_reported_by_the_repair_that_accepts_it_and_not_lost_with_one_that_is_refused() {
    let run = Run::new(7);
    let store = run.store().unwrap();
    let writer = store.writer(&WriterOptions::default()).unwrap();
    writer.append_event(b"1").unwrap();
    drop(writer);
    let log = store.folder.log(store.folder.manifest().unwrap().logs[0].number);
    run.disk.delete(&log);
    let lock = run.disk.lock(&store.folder.file("LOCK.care"), false).unwrap();
    assert_eq!(store.verify(true).unwrap_err().kind(), ErrorKind::Locked);
    drop(lock);
    let verified = store.verify(true).unwrap();
    let lost = |damage: &[crate::Damage]| damage.iter().filter(|damage| damage.events == Some(1)).count();
    assert_eq!((verified.accepted, lost(&verified.damage)), (1, 1), "{verified:?}");
    assert_eq!(lost(&store.verify(true).unwrap().damage), 0);
}

#[test]
fn a_manifest_is_not_made_again_if_another_process_did_so_meanwhile() {
    let (run, files) = example(3);
    let store = run.store().unwrap();
    let path = store.folder.file("MANIFEST");
    let manifest = files.into_iter().find(|(name, _)| *name == path).unwrap().1;
    run.disk.delete(&path);
    let lock = run.disk.lock(&store.folder.file("LOCK.care"), false).unwrap();
    let patient = store.folder.clone();
    std::thread::scope(|scope| {
        let patient = crate::manifest::Folder { patience: Patience::Endless, ..patient };
        let waiting = scope.spawn(move || Store::restore_in(&patient).unwrap());
        std::thread::sleep(Duration::from_millis(100));
        run.disk.put(&path, manifest);
        drop(lock);
        assert_eq!(waiting.join().unwrap(), None);
    });
    run.verify();
}
