//! A source that is taken with checkpoints, and trouble at every operation: repeated from its checkpoint, each event is
//! there once.

use crate::Extent;
use crate::files::simulated::{Disk, Trouble};
use crate::settings::{Settings, Window, WriterOptions};
use crate::source::{Checkpoint, Prefix};
use crate::store::Store;
use crate::tests::model::Random;
use crate::{Batch, Damage, Error, Sync};
use std::path::Path;
use std::sync::Arc;

/// The lines of the source. The first ones are removed in the end.
const LINES: usize = 90;
const REMOVED: usize = 30;
const BATCH_LINES: usize = 8;

/// A line, which is an event, a blank one, or no JSON; an event has its number as its time.
fn line(number: usize) -> String {
    match number % 9 {
        4 => "\n".into(),
        7 => "{no\n".into(),
        _ => format!("{{\"@t\":{number},\"pad\":\"{}\"}}\n", "x".repeat(number * 37 % 150)),
    }
}

fn lines(range: std::ops::Range<usize>) -> String {
    range.map(line).collect()
}

fn open(disk: &Disk) -> Result<Store, Error> {
    Store::open_on(Arc::new(disk.clone()), Path::new("/store"))
}

/// Takes the source from its checkpoint on, as a command does.
fn ingest(disk: &Disk) -> Result<(), Error> {
    let writer = open(disk)?.writer(&WriterOptions { sync: Sync::Batch, seal_bytes: 1500 })?;
    let known = writer.sources().checkpoints().last().cloned();
    let mut taken = known.as_ref().map_or(0, |known| known.prefix.lines as usize);
    let mut prefix = Prefix::default();
    prefix.add(lines(0..taken).as_bytes());
    assert!(known.is_none_or(|known| known.prefix == prefix.sums()));
    let take = |at: usize, prefix: &mut Prefix| {
        let text = lines(at..(at + BATCH_LINES).min(LINES));
        let batch = Batch::prepare(text.as_bytes(), writer.settings(), &mut |_, _, _| ());
        prefix.add(text.as_bytes());
        let checkpoint = Checkpoint {
            source: 0,
            name: "/source".into(),
            file: None,
            events: at as u64,
            takes_all: false,
            prefix: prefix.sums(),
        };
        writer.append_from(batch, &checkpoint).and_then(|ticket| writer.commit(ticket))
    };
    let mut result = Ok(());
    while taken < LINES && result.is_ok() {
        result = take(taken, &mut prefix);
        taken += BATCH_LINES;
    }
    let finished = writer.finish_sealed();
    result.and(finished.map(drop))
}

fn retain(disk: &Disk) -> Result<(), Error> {
    open(disk)?.retain(REMOVED as i64 * 1_000_000_000).map(drop)
}

fn compact(disk: &Disk) -> Result<(), Error> {
    // Retention gives up indexes for room.
    let is_index = |damage: &Damage| damage.events == Some(0);
    open(disk)?
        .compact(Extent::Full)
        .map(|compacted| assert!(compacted.damage.iter().all(is_index), "{:?}", compacted.damage))
}

fn new_disk() -> Disk {
    let disk = Disk::default();
    Store::create_on(Arc::new(disk.clone()), Path::new("/store"), &Settings::default()).unwrap();
    disk
}

/// The commands, the first one twice: the second run has nothing to do when all is well.
fn course(disk: &Disk) {
    for command in [ingest, ingest, compact, retain, ingest, compact] {
        let _ = command(disk);
    }
}

/// How many operations the course has. Threads make it a few more or less.
fn operations() -> u64 {
    let disk = new_disk();
    disk.set(Trouble::None);
    course(&disk);
    check(&disk, "no trouble");
    disk.operations()
}

#[track_caller]
fn check(disk: &Disk, trouble: &str) {
    let mut out = Vec::new();
    let export = open(disk).unwrap().export(Window::ALL, &mut out).unwrap();
    let wanted: String = (REMOVED..LINES).map(line).filter(|line| line.contains("@t")).collect();
    assert!(String::from_utf8(out).unwrap() == wanted, "{trouble}: {} events", export.events);
}

/// With the cause mended, the commands succeed, and each event is there once.
fn repeat(disk: &Disk, trouble: &str) {
    disk.set(Trouble::None);
    // What room cost in indexes.
    open(disk).unwrap().verify(true).unwrap();
    for command in [ingest, retain, compact] {
        command(disk).unwrap_or_else(|error| panic!("{trouble}: {error}"));
    }
    check(disk, trouble);
    assert_eq!(open(disk).unwrap().verify(false).unwrap().damage, [], "{trouble}");
}

#[test]
#[expect(clippy::print_stdout, reason = "how much was tried is for who reads the log")]
fn each_event_is_there_once_when_any_operation_fails_and_the_commands_are_repeated() {
    let operations = operations();
    println!("{operations} operations, {} runs", 3 * operations);
    for at in 1..=operations {
        for trouble in [Trouble::Fail(at), Trouble::FailFrom(at), Trouble::FullFrom(at)] {
            let disk = new_disk();
            disk.set(trouble);
            course(&disk);
            repeat(&disk, &format!("{trouble:?}"));
        }
    }
}

#[test]
fn each_event_is_there_once_when_the_power_goes_at_any_operation_and_the_commands_are_repeated() {
    for at in 1..=operations() {
        for kills in [false, true] {
            let disk = new_disk();
            disk.set(Trouble::Crash(at));
            course(&disk);
            let mut random = Random(at);
            if kills {
                disk.kill();
            } else {
                disk.reboot(&mut || random.next());
            }
            repeat(&disk, &format!("power at {at}, {kills}"));
        }
    }
}

#[test]
fn each_event_is_there_once_with_any_room_on_the_disk() {
    let disk = new_disk();
    course(&disk);
    let needed = disk.used() + 40_000;
    for room in (100..needed).step_by(needed / 150) {
        let disk = new_disk();
        disk.set_room(Some(room));
        course(&disk);
        disk.set_room(None);
        repeat(&disk, &format!("{room} bytes of room"));
    }
}
