//! A plain list of events, and next to it a store on a simulated disk.

use crate::Extent;
use crate::event::Batch;
use crate::files::simulated::{Disk, Trouble};
use crate::settings::{Compression, Settings, Window, WriterOptions};
use crate::snapshot::Snapshot;
use crate::store::Store;
use crate::writer::Writer;
use crate::{BackupOptions, DeleteScope, Error, ErrorKind, Sync};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Numbers that look random and are the same for a seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        // Splitmix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// An event: its time in seconds, its number in the order of appending, and the number of its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    pub(super) second: u64,
    pub(super) number: u64,
    batch: u64,
}

impl Event {
    pub(super) fn line(&self) -> String {
        let (minute, second) = (self.second / 60, self.second % 60);
        let pad = "é".repeat((self.number * 31 % 60) as usize);
        format!("{{\"@t\":\"1970-01-01T00:{minute:02}:{second:02}Z\",\"n\":{},\"pad\":\"{pad}\"}}\n", self.number)
    }
}

/// What a deletion is to delete: events from a second on whose numbers have a remainder by 7, and that were appended
/// before the one with this number.
#[derive(Clone, Copy, Debug)]
struct DeletedNumbers {
    since: u64,
    remainder: u64,
    below: u64,
}

impl DeletedNumbers {
    fn has(&self, event: &Event) -> bool {
        event.second >= self.since && event.number % 7 == self.remainder && event.number < self.below
    }
}

/// A store, its model, and what is open.
pub(super) struct Run {
    pub(super) disk: Disk,
    pub(super) random: Random,
    options: WriterOptions,
    settings: Settings,
    pub(super) writer: Option<Writer>,
    /// What is surely there.
    pub(super) events: Vec<Event>,
    /// Batches that were neither acknowledged nor refused.
    doubtful: Vec<Vec<Event>>,
    /// Times before which events may have been removed, and the number of the next event then.
    doubtful_cuts: Vec<(u64, u64)>,
    doubtful_deletions: Vec<DeletedNumbers>,
    held: Vec<(Snapshot, Vec<Event>)>,
    next: u64,
    batches: u64,
    /// How many copies were begun.
    copies: u64,
}

const PATH: &str = "/store";

/// Where a copy is.
pub(super) fn copy_path(number: u64) -> PathBuf {
    PathBuf::from(format!("/copies/{number}"))
}

impl Run {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let compression = [Compression::None, Compression::Lz4, Compression::Zstd][random.below(3) as usize];
        let settings = Settings { compression, ..Settings::default() };
        let options = WriterOptions { sync: Sync::Batch, seal_bytes: 500 << random.below(6) };
        let disk = Disk::default();
        Store::create_on(Arc::new(disk.clone()), Path::new(PATH), &settings).unwrap();
        Self {
            disk,
            random,
            options,
            settings,
            writer: None,
            events: Vec::new(),
            doubtful: Vec::new(),
            doubtful_cuts: Vec::new(),
            doubtful_deletions: Vec::new(),
            held: Vec::new(),
            next: 0,
            batches: 0,
            copies: 0,
        }
    }

    pub(super) fn store(&self) -> Result<Store, Error> {
        Store::open_on(Arc::new(self.disk.clone()), Path::new(PATH))
    }

    /// One thing that a user may do. An error is one of the disk.
    pub(super) fn step(&mut self) -> Result<(), Error> {
        match self.random.below(23) {
            0..=9 => self.append(),
            10 | 11 => self.check_window(),
            12 => {
                self.close();
                Ok(())
            }
            13 => self.writer.take().map_or(Ok(()), |writer| writer.finish().map(drop)),
            14 if self.has_no_doubt() => {
                let snapshot = self.store()?.snapshot()?;
                self.held.push((snapshot, self.expected()));
                Ok(())
            }
            14 | 15 => self.check_held(),
            16 => self.retain(),
            // A writer may be sealing meanwhile.
            17 => self.store()?.verify(false).map(|verified| assert_eq!(verified.damage, [])),
            18 | 19 => self.delete(),
            20 => self.back_up(),
            _ => {
                let extent = [Extent::Full, Extent::Tiers, Extent::Equals][self.random.below(3) as usize];
                self.store()?.compact(extent).map(|compacted| assert_eq!(compacted.damage, []))
            }
        }
    }

    pub(super) fn append(&mut self) -> Result<(), Error> {
        if self.writer.is_none() {
            self.writer = Some(self.store()?.writer(&self.options)?);
        }
        let mut events = Vec::new();
        for _ in 0..=self.random.below(30) {
            let second = match self.random.below(10) {
                0 => self.random.below(3000),
                1 => 1000,
                _ => self.next / 3 % 3000,
            };
            events.push(Event { second, number: self.next, batch: self.batches });
            self.next += 1;
        }
        self.batches += 1;
        let lines: String = events.iter().map(Event::line).collect();
        let batch = Batch::prepare_at(lines.as_bytes(), &self.settings, 0, &mut |_, _, error| panic!("{error}"));
        let Some(writer) = &self.writer else { unreachable!("it was opened") };
        let ticket = match writer.append(batch) {
            Ok(ticket) => ticket,
            Err(error) => {
                // Nothing of it was taken, unless the power went.
                if self.disk.is_off() {
                    self.doubtful.push(events);
                }
                return Err(error);
            }
        };
        match writer.commit(ticket) {
            Ok(()) => self.events.extend(events),
            Err(error) => {
                self.doubtful.push(events);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Copies the store to a folder of its own.
    pub(super) fn back_up(&mut self) -> Result<(), Error> {
        self.copies += 1;
        let copies = self.random.below(2) == 0;
        let (path, options) = (copy_path(self.copies), BackupOptions { copies, ..BackupOptions::default() });
        let backup = self.store()?.backup(&path, &options)?;
        assert_eq!(backup.damage, []);
        let got = read(&self.copy(self.copies)?.snapshot()?, Window::ALL)?;
        assert_eq!(got.lines().count() as u64, backup.events);
        if self.doubtful.is_empty() && self.doubtful_cuts.is_empty() {
            assert_same(&got, &self.expected());
        }
        Ok(())
    }

    /// The copy of this number.
    pub(super) fn copy(&self, number: u64) -> Result<Store, Error> {
        Store::open_on(Arc::new(self.disk.clone()), &copy_path(number))
    }

    /// Each copy is a whole store, or none, whatever `verify --repair` would do.
    pub(super) fn check_copies(&self) -> u64 {
        let mut whole = 0;
        for number in 1..=self.copies {
            let path = copy_path(number);
            match Store::restore_on(Arc::new(self.disk.clone()), &path) {
                Ok(restored) => assert_eq!(restored, None),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Missing, "{error}");
                    continue;
                }
            }
            let verified = self.copy(number).unwrap().verify(false).unwrap();
            assert_eq!(verified.damage, []);
            whole += 1;
        }
        whole
    }

    pub(super) fn close(&mut self) {
        drop(self.writer.take());
    }

    pub(super) fn retain(&mut self) -> Result<(), Error> {
        let second = self.random.below(self.next / 3 + 2);
        let cut = (second, self.next);
        self.doubtful_cuts.push(cut);
        self.store()?.retain(second as i64 * 1_000_000_000)?;
        self.doubtful_cuts.pop();
        self.cut(cut);
        Ok(())
    }

    fn cut(&mut self, (second, below): (u64, u64)) {
        let goes = |event: &Event| event.second < second && event.number < below;
        self.events.retain(|event| !goes(event));
        self.doubtful.iter_mut().for_each(|batch| batch.retain(|event| !goes(event)));
    }

    /// Deletes events, unless an open writer has some of them in its log.
    pub(super) fn delete(&mut self) -> Result<(), Error> {
        let since = if self.random.below(2) == 0 { 0 } else { self.random.below(self.next / 3 + 2) };
        let deletion = DeletedNumbers { since, remainder: self.random.below(7), below: self.next };
        self.doubtful_deletions.push(deletion);
        let window = Window { since: Some(since as i64 * 1_000_000_000), until: None };
        let scope = DeleteScope { window, note: Some("a note"), ..DeleteScope::default() };
        let matches = &mut |event: &[u8]| number(std::str::from_utf8(event).unwrap()) % 7 == deletion.remainder;
        match self.store()?.delete(&scope, matches) {
            // Nothing was deleted.
            Err(error) if error.kind() == ErrorKind::Locked => {
                self.doubtful_deletions.pop();
            }
            deleted => {
                assert_eq!(deleted?.damage, []);
                self.doubtful_deletions.pop();
                self.events.retain(|event| !deletion.has(event));
                self.doubtful.iter_mut().for_each(|batch| batch.retain(|event| !deletion.has(event)));
            }
        }
        Ok(())
    }

    /// Whether it is known which events are there.
    fn has_no_doubt(&self) -> bool {
        self.doubtful.is_empty() && self.doubtful_cuts.is_empty() && self.doubtful_deletions.is_empty()
    }

    /// The events in their order.
    pub(super) fn expected(&self) -> Vec<Event> {
        let mut events = self.events.clone();
        events.sort_unstable();
        events
    }

    fn check_held(&mut self) -> Result<(), Error> {
        for (snapshot, events) in std::mem::take(&mut self.held) {
            let got = read(&snapshot, Window::ALL)?;
            assert_same(&got, &events);
            self.held.push((snapshot, events));
        }
        Ok(())
    }

    fn check_window(&mut self) -> Result<(), Error> {
        let mut bound = || (self.random.below(3) > 0).then(|| self.random.below(3000));
        let (since, until) = (bound(), bound());
        let nanos = |second: u64| second as i64 * 1_000_000_000;
        let window = Window { since: since.map(nanos), until: until.map(nanos) };
        let got = read(&self.store()?.snapshot()?, window)?;
        let is_in = |event: &Event| {
            since.is_none_or(|since| event.second >= since) && until.is_none_or(|until| event.second < until)
        };
        if self.has_no_doubt() {
            let events: Vec<Event> = self.expected().into_iter().filter(is_in).collect();
            assert_same(&got, &events);
        }
        Ok(())
    }

    /// Everything is there that must be, nothing twice, in order; what is doubtful is decided.
    pub(super) fn check(&mut self) {
        let store = self.store().unwrap();
        let snapshot = store.snapshot().unwrap();
        let got = read(&snapshot, Window::ALL).unwrap();
        assert_eq!(snapshot.damage(), []);
        // A cut that is doubtful was made, or not, as a whole.
        let numbers: BTreeSet<u64> = got.lines().map(number).collect();
        // Each event of a deletion that is doubtful is there or not.
        for deletion in std::mem::take(&mut self.doubtful_deletions) {
            let is_deleted = |event: &Event| deletion.has(event) && !numbers.contains(&event.number);
            self.events.retain(|event| !is_deleted(event));
            self.doubtful.iter_mut().for_each(|batch| batch.retain(|event| !is_deleted(event)));
        }
        for cut in std::mem::take(&mut self.doubtful_cuts) {
            let older = |event: &&Event| event.second < cut.0 && event.number < cut.1;
            if self.events.iter().filter(older).any(|event| !numbers.contains(&event.number)) {
                self.cut(cut);
            }
        }
        for batch in std::mem::take(&mut self.doubtful) {
            let there = batch.iter().filter(|event| numbers.contains(&event.number)).count();
            assert!(there == 0 || there == batch.len(), "{there} of a batch of {}", batch.len());
            if there > 0 {
                self.events.extend(batch);
            }
        }
        assert_same(&got, &self.expected());
        self.check_copies();
    }

    /// Takes the power away; or, for `kill`, ends the process.
    pub(super) fn crash(&mut self, kill: bool) {
        self.close();
        self.held.clear();
        if kill {
            self.disk.kill();
        } else {
            let mut random = Random(self.random.next());
            self.disk.reboot(&mut || random.next());
        }
    }

    pub(super) fn verify(&self) {
        let verified = self.store().unwrap().verify(false).unwrap();
        assert_eq!(verified.damage, []);
    }

    pub(super) fn set(&self, trouble: Trouble) {
        self.disk.set(trouble);
    }
}

pub(super) fn number(line: &str) -> u64 {
    let rest = &line[line.find("\"n\":").unwrap() + 4..];
    rest[..rest.find(',').unwrap()].parse().unwrap()
}

#[track_caller]
fn assert_same(got: &str, events: &[Event]) {
    let wanted: String = events.iter().map(Event::line).collect();
    if got == wanted {
        return;
    }
    let numbers: Vec<u64> = got.lines().map(number).collect();
    let wanted: Vec<u64> = events.iter().map(|event| event.number).collect();
    let (there, due): (BTreeSet<_>, BTreeSet<_>) =
        (numbers.iter().copied().collect(), wanted.iter().copied().collect());
    let lost: Vec<_> = due.difference(&there).collect();
    let surplus: Vec<_> = there.difference(&due).collect();
    panic!(
        "{} events, wanted {}; lost {lost:?}; surplus {surplus:?}; twice {}",
        numbers.len(),
        wanted.len(),
        numbers.len() - there.len()
    );
}

pub(super) fn read(snapshot: &Snapshot, window: Window) -> Result<String, Error> {
    let text = snapshot.text(window)?;
    let (mut lines, mut buffer) = (String::new(), Vec::new());
    for number in text.blocks() {
        text.read(number, None, &mut buffer)?;
        let facts = text.block(number);
        assert_eq!((facts.offset, facts.bytes), (lines.len() as u64, buffer.len() as u64));
        assert_eq!(facts.events, memchr::memchr_iter(b'\n', &buffer).count() as u64);
        lines.push_str(std::str::from_utf8(&buffer).unwrap());
    }
    Ok(lines)
}
