//! Several processes: a writer that is killed at any moment, beside readers, compactions and retention.

use crate::common::{Scratch, all, batch, options, read};
use jird_store::{ErrorKind, Store, Window};
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

/// The work of a child, which runs until it is killed: it says which events are acknowledged, and below which number they
/// are removed.
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
                store.compact().unwrap();
                std::thread::sleep(Duration::from_millis(3));
            }
        });
        loop {
            let end = next + 1 + next % 40;
            let lines: String = (next..end).map(event).collect();
            let ticket = writer.append(batch(&lines)).unwrap();
            writer.commit(ticket).unwrap();
            next = end;
            say(&format!("acknowledged {next}"));
            if next % 100 < 3 && next > 2000 {
                say(&format!("removing {}", next - 2000));
                store.retain((next - 2000) as i64 * 1_000_000_000).unwrap();
                say(&format!("removed {}", next - 2000));
            }
        }
    });
}

/// Prints a line at once.
fn say(line: &str) {
    use std::io::Write;
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
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
    assert!(numbers.iter().copied().eq(first..=last), "{} numbers from {first} to {last}", numbers.len());
    Some((first, last + 1))
}

#[test]
fn a_writer_may_be_killed_at_any_moment() {
    let scratch = Scratch::new();
    let store = scratch.store();
    // Numbers below `lowest` may be gone, those below `removed` must be.
    let (mut next, mut lowest, mut removed) = (0, 0, 0);
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
                        "removing" => lowest = number,
                        "removed" => removed = number,
                        _ => {}
                    }
                }
            });
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
        match store.compact() {
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
