//! Random damage to every file of a store: what was acknowledged is there, or its loss is reported by queries, checks
//! and compactions alike.
//!
//! `JIRD_STORE_MUTATIONS` is how many are tried.

use crate::common::{Scratch, append, event, options};
use jird_store::{ColumnChoice, Damage, Error, Extent, Settings, Store, Sync, Window, Writer, WriterOptions};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A store that others are made of: its files at several times, and the numbers of the events that it has.
struct Example {
    /// In the end, and when it had fewer events.
    states: [Vec<(String, Vec<u8>)>; 2],
    acknowledged: BTreeSet<u64>,
    /// What retention removed.
    removed: BTreeSet<u64>,
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .filter(|(name, _)| !name.starts_with("LOCK") && name != "BALLAST")
        .collect();
    files.sort();
    files
}

/// How the last writer of an example ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Finished,
    /// Its files are those that a process leaves that is killed.
    Killed(Sync),
    /// All events are in logs.
    Unsealed,
}

const ENDS: [End; 4] =
    [End::Finished, End::Killed(Sync::Batch), End::Killed(Sync::Interval(Duration::from_secs(9))), End::Unsealed];

fn lines(numbers: impl Iterator<Item = u64>) -> String {
    numbers.map(|number| event(number / 2, number)).collect()
}

fn example(end: End) -> Example {
    let scratch = Scratch::new();
    let store = Store::create(scratch.path(), &Settings::default()).unwrap().with_block_bytes(1000);
    let mut removed = BTreeSet::new();
    let mut next = 0;
    let mut write = |writer: &Writer, batches: u64| {
        for size in 0..batches {
            append(writer, &lines(next..next + 1 + size % 4));
            next += 1 + size % 4;
        }
    };
    if end != End::Unsealed {
        for _ in 0..3 {
            let writer = store.writer(&options(1 << 20)).unwrap();
            write(&writer, 6);
            writer.seal().unwrap();
            writer.finish().unwrap();
        }
        store.compact(Extent::Full).unwrap();
        store.retain(5_000_000_000).unwrap();
        removed.extend(0..10);
    }
    let writer = store.writer(&options(1 << 20)).unwrap();
    write(&writer, 9);
    writer.finish().unwrap();
    let before = files(scratch.path());
    let sync = if let End::Killed(sync) = end { sync } else { Sync::Batch };
    let writer = store.writer(&WriterOptions { sync, seal_bytes: 1 << 20 }).unwrap();
    write(&writer, 9);
    let killed = files(scratch.path());
    writer.finish().unwrap();
    let last = if matches!(end, End::Killed(_)) { killed } else { files(scratch.path()) };
    let acknowledged = (0..next).filter(|number| !removed.contains(number)).collect();
    Example { states: [last, before], acknowledged, removed }
}

/// Numbers that look random and are the same for a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end.max(1)
    }
}

/// Damages a file of a store, or puts another one in its place; what was done.
fn mutate(random: &mut Random, folder: &Path, example: &Example, other: &Example) -> String {
    let [now, before] = &example.states;
    let (name, bytes) = &now[random.below(now.len())];
    let path = folder.join(name);
    let mut changed = bytes.clone();
    let at = random.below(bytes.len());
    let len = 1 + random.below((bytes.len() - at).min(700));
    let what = match random.below(13) {
        0..=2 => {
            (0..=random.below(3)).for_each(|_| changed[random.below(bytes.len())] ^= 1 << random.below(8));
            "bits"
        }
        3 => {
            changed.truncate(at);
            "cut"
        }
        4 => {
            changed.clear();
            "emptied"
        }
        5 => {
            let at = at / 512 * 512;
            let end = (at + 512 * (1 + random.below(3))).min(changed.len());
            changed[at..end].fill(0);
            "zeroed"
        }
        6 => {
            let tail: Vec<u8> = match random.below(3) {
                0 => vec![0; len],
                1 => (0..len).map(|_| random.below(256) as u8).collect(),
                _ => bytes[at..at + len].to_vec(),
            };
            changed.extend(tail);
            "longer"
        }
        7 => {
            let piece = bytes[at..at + len].to_vec();
            if random.below(2) == 0 {
                changed.splice(at..at, piece);
            } else {
                changed.drain(at..at + len);
            }
            "moved"
        }
        8 => {
            fs::remove_file(&path).unwrap();
            return format!("{name} gone");
        }
        9 => {
            let (second, content) = &now[random.below(now.len())];
            fs::write(folder.join(second), bytes).unwrap();
            fs::write(&path, content).unwrap();
            return format!("{name} and {second} exchanged");
        }
        10 => {
            let (from, state) =
                if random.below(2) == 0 { ("before", before) } else { ("another store", &other.states[0]) };
            let (second, content) = &state[random.below(state.len())];
            let to = if random.below(2) == 0 { second } else { name };
            fs::write(folder.join(to), content).unwrap();
            return format!("{second} of {from} as {to}");
        }
        11 => {
            let to = format!("log-{}", [1, 2, 3, 40, 77][random.below(5)]);
            let is_copied = random.below(2) == 0;
            fs::write(folder.join(&to), bytes).unwrap();
            if !is_copied && to != *name {
                fs::remove_file(&path).unwrap();
            }
            return format!("{name} as {to}, copied: {is_copied}");
        }
        _ => {
            // The manifest of an earlier state, as restored by an operator who has no other.
            let (name, content) = before.iter().find(|(name, _)| name == "MANIFEST").unwrap();
            fs::write(folder.join(name), content).unwrap();
            return "the manifest of before".into();
        }
    };
    fs::write(&path, &changed).unwrap();
    if changed == *bytes { "nothing".into() } else { format!("{name} {what} at {at} of {}", bytes.len()) }
}

/// The numbers of the events that a query finds, and what it tells.
fn asked(folder: &Path) -> Result<(Vec<u64>, Vec<Damage>), Error> {
    let snapshot = Store::open(folder)?.snapshot()?;
    let text = snapshot.text(Window::ALL)?;
    let (mut numbers, mut lines) = (Vec::new(), Vec::new());
    for block in text.blocks() {
        if text.read(block, None, &mut lines).is_ok() {
            numbers.extend(String::from_utf8_lossy(&lines).lines().map(number));
        }
    }
    Ok((numbers, snapshot.damage()))
}

fn number(line: &str) -> u64 {
    let rest = &line[line.find("\"n\":").unwrap() + 4..];
    rest[..rest.find(',').unwrap()].parse().unwrap()
}

/// As `jird store compact`.
fn compacted(folder: &Path) -> Result<Vec<Damage>, Error> {
    let store = Store::open(folder)?;
    let writer = store.writer(&WriterOptions::default())?;
    writer.seal()?;
    writer.finish()?;
    Ok(store.compact(Extent::Full)?.damage)
}

/// What must hold of an answer: every event is there once, or damage is reported.
#[track_caller]
fn check(example: &Example, answer: &Result<(Vec<u64>, Vec<Damage>), Error>, what: &str) -> bool {
    let Ok((numbers, damage)) = answer else { return true };
    let there: BTreeSet<u64> = numbers.iter().copied().collect();
    assert_eq!(there.len(), numbers.len(), "{what}: an event is there twice; told {damage:?}");
    let lost = example.acknowledged.difference(&there).count();
    let again = there.intersection(&example.removed).count();
    let is_known = |number: &&u64| example.acknowledged.contains(number) || example.removed.contains(number);
    let foreign = there.iter().filter(|number| !is_known(number)).count();
    assert!(lost == 0 || !damage.is_empty(), "{what}: {lost} events are lost, and nobody says so");
    assert!(again == 0 || !damage.is_empty(), "{what}: {again} events that were removed are there again");
    assert!(foreign == 0 || !damage.is_empty(), "{what}: {foreign} events of another store are there");
    lost > 0
}

fn try_one(seed: u64, examples: &[Example], folder: &Path) {
    let mut random = Random(seed);
    (0..4).for_each(|_| _ = random.below(2));
    let at = random.below(examples.len());
    let (example, other) = (&examples[at], &examples[(at + 1) % examples.len()]);
    let _ = fs::remove_dir_all(folder);
    fs::create_dir(folder).unwrap();
    example.states[0].iter().for_each(|(name, bytes)| fs::write(folder.join(name), bytes).unwrap());
    let what = format!("seed {seed}, {:?}, {}", ENDS[at], mutate(&mut random, folder, example, other));
    let is_told = |damage: &Result<Vec<Damage>, Error>| damage.as_ref().is_ok_and(Vec::is_empty);
    let verified = || Store::open(folder).and_then(|store| store.verify(false)).map(|verified| verified.damage);

    let before = asked(folder);
    let is_lost = check(example, &before, &what);
    assert!(!(is_lost && is_told(&verified())), "{what}: `verify` says that all is fine");
    let compacting = compacted(folder);
    assert!(!(is_lost && is_told(&compacting)), "{what}: `compact` says that all is fine");
    let after = asked(folder);
    let is_lost = check(example, &after, &format!("{what}, compacted"));
    assert!(!(is_lost && is_told(&verified())), "{what}: `verify` after `compact` says that all is fine");
    if let (Ok((before, _)), Ok((after, _))) = (&before, &after) {
        assert_eq!(before.len(), after.len(), "{what}: compaction");
    }

    let restored = Store::restore(folder);
    let repaired = restored.and_then(|_| Store::open(folder)?.verify(true));
    let Ok(repaired) = repaired else { return };
    let (numbers, damage) = asked(folder).unwrap_or_else(|error| panic!("{what}: {error}, repaired"));
    let unique: BTreeSet<&u64> = numbers.iter().collect();
    assert_eq!(unique.len(), numbers.len(), "{what}: an event is there twice after a repair");
    assert!(damage.len() <= repaired.damage.len(), "{what}: {damage:?} after {:?}", repaired.damage);
    if let Ok((before, _)) = &before {
        assert!(
            numbers.len() >= before.len(),
            "{what}: a repair loses {} of {}",
            before.len() - numbers.len(),
            before.len()
        );
    }
    // It can be used on.
    let store = Store::open(folder).unwrap();
    let writer = store.writer(&options(1 << 20)).unwrap();
    append(&writer, &event(1, 5000));
    writer.finish().unwrap();
    let (again, damage) = asked(folder).unwrap();
    assert_eq!(again.len(), numbers.len() + 1, "{what}: after another event; {damage:?}");
}

#[test]
fn what_was_acknowledged_is_there_or_its_loss_is_told() {
    let count = std::env::var("JIRD_STORE_MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(300);
    let from = std::env::var("JIRD_STORE_MUTATION").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let examples = ENDS.map(example);
    let folder = memory().join(format!("jird-store-mutations-{}", std::process::id()));
    for seed in from..from + count {
        try_one(seed, &examples, &folder);
    }
    let _ = fs::remove_dir_all(folder);
}

/// Where files cost no disk.
fn memory() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }
}

#[test]
fn damage_beside_a_live_writer_is_told() {
    for seed in 0..40 {
        let scratch = Scratch::new();
        let store = scratch.store();
        let writer = store.writer(&options(1 << 20)).unwrap();
        (0..9).for_each(|number| append(&writer, &lines(3 * number..3 * number + 3)));
        let (name, bytes) = files(scratch.path())
            .into_iter()
            .filter(|(name, _)| name.starts_with("log-"))
            .max_by_key(|(_, bytes)| bytes.len())
            .unwrap();
        let mut random = Random(seed);
        let mut changed = bytes.clone();
        let at = 40 + random.below(bytes.len() - 40);
        if seed % 2 == 0 {
            changed[at] ^= 1 << random.below(8);
        } else {
            changed.truncate(at);
        }
        fs::write(scratch.path().join(&name), changed).unwrap();
        let (numbers, damage) = asked(scratch.path()).unwrap();
        let told: u64 = damage.iter().filter_map(|damage| damage.events).sum();
        assert_eq!((numbers.len() + told as usize, damage.len()), (27, 1), "{damage:?}");
        assert_eq!(store.verify(false).unwrap().damage, damage);
        assert_eq!(store.compact(Extent::Full).unwrap().damage, damage);
        drop(writer);
        // The next writer keeps the log aside, and all of them tell it until it is accepted.
        let kept = compacted(scratch.path()).unwrap();
        assert!(scratch.path().join(format!("{name}.damaged")).is_file());
        assert!(!scratch.path().join(&name).exists());
        assert_eq!((kept.len(), kept[0].events), (1, Some(told)));
        assert_eq!(asked(scratch.path()).unwrap(), (numbers.clone(), kept.clone()));
        assert_eq!(store.verify(false).unwrap().damage, kept);
        let repaired = store.verify(true).unwrap();
        assert_eq!((repaired.accepted, repaired.damage), (1, kept));
        assert_eq!(asked(scratch.path()).unwrap(), (numbers, vec![]));
        assert_eq!(store.verify(false).unwrap().damage, []);
        assert!(scratch.path().join(format!("{name}.damaged")).is_file());
    }
}

#[test]
fn a_manifest_is_made_again_from_its_copy_or_from_the_other_files() {
    for end in ENDS {
        let example = example(end);
        for without in [&["MANIFEST"][..], &["MANIFEST", "MANIFEST.copy"], &["MANIFEST", "MANIFEST.copy", "TAKEN"]] {
            let scratch = Scratch::new();
            fs::create_dir(scratch.path()).unwrap();
            for (name, bytes) in example.states[0].iter().filter(|(name, _)| !without.contains(&name.as_str())) {
                fs::write(scratch.path().join(name), bytes).unwrap();
            }
            let error = Store::open(scratch.path()).unwrap_err().to_string();
            let command = format!("`jird store verify --repair {}`", scratch.path().display());
            assert!(error.contains(&command), "{error}");
            assert_eq!(Store::open_or_create(scratch.path(), &Settings::default()).unwrap_err().to_string(), error);
            let restored = Store::restore(scratch.path()).unwrap().unwrap();
            assert_eq!(restored.is_copy, without.len() == 1);
            let (numbers, damage) = asked(scratch.path()).unwrap();
            assert_eq!(damage, [], "{end:?} without {without:?}");
            let mut wanted = example.acknowledged.clone();
            if !restored.is_copy {
                wanted.extend(&example.removed);
                assert!(!restored.notes.is_empty());
            }
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, wanted.into_iter().collect::<Vec<u64>>(), "{end:?} without {without:?}");
            assert_eq!(Store::open(scratch.path()).unwrap().verify(false).unwrap().damage, []);
            assert_eq!(Store::restore(scratch.path()).unwrap(), None);
            assert_eq!(compacted(scratch.path()).unwrap(), []);
            assert_eq!(asked(scratch.path()).unwrap(), (numbers, vec![]));
        }
    }
}

#[test]
fn a_rebuilt_store_has_the_settings_that_its_files_show() {
    let scratch = Scratch::new();
    let settings = Settings {
        time_field: jird::Path::root().key("when"),
        columns: ColumnChoice::Fields(vec![jird::Path::root().key("n")]),
        compression: jird_store::Compression::Lz4,
    };
    let store = Store::create(scratch.path(), &settings).unwrap();
    let writer = store.writer(&WriterOptions::default()).unwrap();
    writer.append_event(br#"{"n":1,"other":"1999-01-01T00:00:00Z","when":"2024-03-05T07:00:00Z"}"#).unwrap();
    writer.seal().unwrap();
    writer.finish().unwrap();
    fs::remove_file(scratch.path().join("MANIFEST")).unwrap();
    fs::remove_file(scratch.path().join("MANIFEST.copy")).unwrap();
    Store::restore(scratch.path()).unwrap().unwrap();
    assert_eq!(Store::open(scratch.path()).unwrap().settings(), &settings);
}

#[test]
fn the_longer_the_part_of_a_span_that_is_left_the_more_is_read() {
    let scratch = Scratch::new();
    let store = Store::create(scratch.path(), &Settings::default()).unwrap().with_block_bytes(150);
    let writer = store.writer(&options(500_000)).unwrap();
    append(&writer, &(0..40).map(|number| event(number, number)).collect::<String>());
    writer.seal().unwrap();
    writer.finish().unwrap();
    let named = |end: &str| {
        let names = fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().path());
        names.into_iter().find(|path| path.to_string_lossy().ends_with(end)).unwrap()
    };
    let (span, index) = (named(".arrow"), named(".index"));
    fs::write(index, b"").unwrap();
    let whole = fs::read(&span).unwrap();
    let mut before = 0;
    for len in (0..whole.len()).step_by(4) {
        fs::write(&span, &whole[..len]).unwrap();
        let text = Store::open(scratch.path()).unwrap().snapshot().unwrap().text(Window::ALL).unwrap();
        let mut lines = Vec::new();
        let mut events = 0;
        for block in text.blocks() {
            text.read(block, None, &mut lines).unwrap();
            events += lines.iter().filter(|byte| **byte == b'\n').count();
        }
        assert!(events >= before, "{len}: {events} after {before}");
        before = events;
    }
    assert_eq!(before, 40);
}
