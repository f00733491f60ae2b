//! Several processes: a writer that is killed at any moment, with readers, compactions and retention.

use crate::common::{Scratch, all, append, batch, options, read};
use jird_store::{BackupOptions, ErrorKind, Extent, Store, Window};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Where the store of a child process is, and the number of its first event.
const CHILD: &str = "JIRD_STORE_CHILD";

/// How often a process is killed: `JIRD_STORE_KILLS`, or a few times.
fn kills() -> u64 {
    std::env::var("JIRD_STORE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(30)
}

/// The work of a child, which runs until it is killed: it says which events are acknowledged, below which number they
/// are removed, and when it compacts.
#[test]
fn child_that_is_killed() {
    let Ok(task) = std::env::var(CHILD) else { return };
    let (first, path) = task.split_once(' ').unwrap();
    let store = Store::open(Path::new(path)).unwrap();
    let writer = store.writer(&options(30_000)).unwrap();
    let mut next: u64 = first.parse().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                say("compacting 0");
                let compacted = store.compact(Extent::Full).unwrap();
                say(&format!("compacted {}", compacted.merged));
                std::thread::sleep(Duration::from_millis(3));
            }
        });
        for number in 0_u64.. {
            let end = next + 1 + next % 40;
            let lines: String = (next..end).map(event).collect();
            let ticket = writer.append(batch(&lines)).unwrap();
            writer.commit(ticket).unwrap();
            next = end;
            say(&format!("acknowledged {next}"));
            if number % 8 == 7 && next > 2000 {
                say(&format!("removing {}", next - 2000));
                store.retain((next - 2000) as i64 * 1_000_000_000).unwrap();
                say(&format!("removed {}", next - 2000));
            }
        }
    });
}

/// Prints a line at once, with one call, so that lines of two threads do not mix.
fn say(line: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(format!("{line}\n").as_bytes());
    let _ = out.flush();
}

/// In the midst of what children were killed.
#[derive(Debug, Default)]
struct Hits {
    removals: u64,
    compactions: u64,
    /// Compactions that left a file that the manifest does not name.
    half_written: u64,
    /// Of all compactions, those that ended, and those that merged spans.
    ended: u64,
    merged: u64,
}

/// The number of span files that the manifest does not name.
fn unnamed_spans(path: &Path) -> usize {
    let manifest = std::fs::read_to_string(path.join("MANIFEST")).unwrap();
    let names = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let numbers = names.filter_map(|name| Some(name.strip_prefix("span-")?.strip_suffix(".arrow")?.to_owned()));
    numbers.filter(|number| !manifest.contains(&format!("\"number\":{number},"))).count()
}

/// An event whose time, in seconds, is its number.
fn event(number: u64) -> String {
    format!("{{\"@t\":{number},\"pad\":\"{}\"}}\n", "x".repeat((number * 37 % 200) as usize))
}

fn numbers(lines: &str) -> Vec<u64> {
    let number = |line: &str| line["{\"@t\":".len()..].split(',').next().unwrap().parse().unwrap();
    lines.lines().map(number).collect()
}

fn start(path: &Path, first: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::child_that_is_killed", "--nocapture"])
        .env(CHILD, format!("{first} {}", path.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The store has a stretch of numbers without a gap, and none twice.
fn stretch(lines: &str) -> Option<(u64, u64)> {
    let numbers = numbers(lines);
    let (first, last) = (*numbers.first()?, *numbers.last()?);
    let holes: Vec<_> = numbers.windows(2).filter(|pair| pair[0] + 1 != pair[1]).collect();
    assert!(holes.is_empty(), "{} numbers from {first} to {last}, not one after the other at {holes:?}", numbers.len());
    Some((first, last + 1))
}

#[test]
fn a_writer_may_be_killed_at_any_moment() {
    let scratch = Scratch::new();
    let store = scratch.store();
    // Numbers below `lowest` may be gone, those below `removed` must be.
    let (mut next, mut lowest, mut removed) = (0, 0, 0);
    let mut hits = Hits::default();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let snapshot = store.snapshot().unwrap();
                let lines = read(&snapshot, Window::ALL);
                let before = stretch(&lines);
                std::thread::sleep(Duration::from_millis(2));
                assert_eq!(stretch(&read(&snapshot, Window::ALL)), before, "a snapshot is one state");
                assert_eq!(snapshot.damage(), []);
            }
        });
        for round in 0..kills() {
            let mut child = start(scratch.path(), next);
            let output = BufReader::new(child.stdout.take().unwrap());
            let (mut is_compacting, mut is_removing) = (false, false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(20 + round * 7919 % 200));
                    child.kill().unwrap();
                    child.wait().unwrap();
                });
                for line in output.lines().map_while(Result::ok) {
                    let Some((what, number)) = line.split_once(' ') else { continue };
                    let Ok(number) = number.parse::<u64>() else { continue };
                    match what {
                        "acknowledged" => next = number,
                        "removing" => (lowest, is_removing) = (number, true),
                        "removed" => (removed, is_removing) = (number, false),
                        "compacting" => is_compacting = true,
                        "compacted" => {
                            is_compacting = false;
                            hits.ended += 1;
                            hits.merged += u64::from(number > 0);
                        }
                        _ => {}
                    }
                }
            });
            hits.removals += u64::from(is_removing);
            hits.compactions += u64::from(is_compacting);
            hits.half_written += u64::from(is_compacting && unnamed_spans(scratch.path()) > 0);
            if let Some((first, end)) = stretch(&all(&store)) {
                assert!(end >= next, "round {round}: {end} of {next} acknowledged");
                assert!((removed..=lowest).contains(&first), "round {round}: {first} of {removed} to {lowest}");
                next = end;
            } else {
                assert_eq!(next, 0, "round {round}");
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(next > 0);
    if kills() >= 100 {
        let all = [hits.removals, hits.compactions, hits.half_written, hits.merged];
        assert!(all.iter().all(|count| *count > 0), "{hits:?}");
    }
    assert_eq!(store.verify(false).unwrap().damage, []);
    // What it left in the logs is taken over.
    let writer = store.writer(&options(30_000)).unwrap();
    assert_eq!(writer.damage(), []);
    writer.finish().unwrap();
    assert_eq!(stretch(&all(&store)).unwrap().1, next);
}

#[test]
fn a_second_process_may_not_write_and_may_read_compact_and_retain() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let mut child = start(scratch.path(), 0);
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(output.any(|line| line.starts_with("acknowledged")));
    assert_eq!(store.writer(&options(1000)).unwrap_err().kind(), ErrorKind::Locked);
    for round in 0..10 {
        match store.compact(Extent::Full) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::Locked),
        }
        store.retain(round * 1_000_000_000).unwrap();
        stretch(&all(&store));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(stretch(&all(&store)).unwrap().0 >= 9);
}

#[test]
fn a_backup_of_a_store_at_work_has_all_that_was_acknowledged_before() {
    for copies in [false, true] {
        let scratch = Scratch::new();
        drop(scratch.store());
        let mut child = start(scratch.path(), 0);
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let (mut next, mut made) = (0, 0);
        while made < 15 {
            let line = output.next().unwrap();
            let Some((what, number)) = line.split_once(' ') else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            if what != "acknowledged" || number < 2500 + 300 * made {
                continue;
            }
            (next, made) = (number.max(next), made + 1);
            let place = Scratch::new();
            let how = BackupOptions { copies, ..BackupOptions::default() };
            let backup = Store::open(scratch.path()).unwrap().backup(place.path(), &how).unwrap();
            assert_eq!((backup.damage, backup.linked_bytes > 0), (vec![], !copies));
            let copy = Store::open(place.path()).unwrap();
            assert_eq!(copy.verify(false).unwrap().damage, []);
            let (first, end) = stretch(&all(&copy)).unwrap();
            assert!(end >= next && end - first == backup.events, "{first}..{end}, {next} acknowledged");
            let writer = copy.writer(&options(1000)).unwrap();
            assert_eq!(writer.damage(), []);
            append(&writer, &event(end));
            writer.finish().unwrap();
            assert_eq!(stretch(&all(&copy)), Some((first, end + 1)));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
