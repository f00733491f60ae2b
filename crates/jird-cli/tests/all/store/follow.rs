//! `jird store tail`, and `--wait`.

use super::{events, fine, folder, jird, sealed};
use crate::folder::Folder;
use jird_store::{Extent, Settings, Store, Sync, WriterOptions};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

const JIRD: &str = env!("CARGO_BIN_EXE_jird");

/// Nothing takes as long, even if other tests run.
const LONG: Duration = Duration::from_secs(30);

/// A command that runs, and the lines that it prints.
pub(super) struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    pub(super) fn start(folder: &Folder, args: &[&str]) -> Self {
        let mut command = Command::new(JIRD);
        command.args(args).current_dir(&folder.0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines }
    }

    /// The next lines.
    #[track_caller]
    fn next(&self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.lines.recv_timeout(LONG).expect("a line")).collect()
    }

    /// Ends it with Ctrl-C: its exit code, and what it said.
    pub(super) fn interrupted(mut self) -> (Option<i32>, String) {
        let kill = format!("kill -INT {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let begun = Instant::now();
        let status = self.child.wait().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (status.code(), said)
    }

    /// Ends it at once.
    pub(super) fn killed(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// How it ends by itself.
    pub(super) fn ended(mut self) -> (Option<i32>, String) {
        let begun = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < LONG, "it does not end");
            thread::sleep(Duration::from_millis(5));
        }
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

fn numbered(range: std::ops::Range<u64>) -> Vec<String> {
    range.map(|number| format!("{{\"@t\":{},\"n\":{number}}}", 1_000_000 - number)).collect()
}

#[test]
fn a_tail_prints_every_event_in_the_order_of_arrival_whatever_happens_to_the_store() {
    let folder = Folder::new("tail");
    let store = Store::create(&folder.0.join("log"), &Settings::default()).unwrap();
    let append = |range: std::ops::Range<u64>, seal: bool| {
        let writer = store.writer(&WriterOptions { sync: Sync::None, seal_bytes: 2000 }).unwrap();
        for event in numbered(range) {
            writer.append_event(event.as_bytes()).unwrap();
        }
        if seal {
            writer.seal().unwrap();
        }
        writer.finish().unwrap();
    };
    append(0..500, true);
    append(500..505, false);
    // Those that came last, as `tail -f` prints them: they have the lowest times.
    let tail = Running::start(&folder, &["store", "tail", "log"]);
    assert_eq!(tail.next(10), numbered(495..505));
    let (mut next, mut printed) = (505, 505);
    for round in 0..20 {
        let end = next + 1 + round * 17;
        append(next..end, round % 3 == 0);
        if round % 4 == 1 {
            store.compact(Extent::Full).unwrap();
        }
        // In some rounds, it has two to catch up with.
        if round % 3 > 0 {
            assert_eq!(tail.next((end - printed) as usize), numbered(printed..end), "{round}");
            printed = end;
        }
        if round % 5 == 1 && printed == end {
            store.retain((1_000_000 - 300) * 1_000_000_000).unwrap();
        }
        next = end;
    }
    let (code, said) = tail.interrupted();
    assert_eq!((code, said.as_str()), (Some(130), ""));
}

#[test]
fn a_tail_prints_as_many_of_the_newest_as_it_is_told_and_those_that_are_wanted() {
    let folder = sealed("tail-where", 3000);
    fine(&folder, "ingest", &["log", "a.ndjson"]);
    let all: Vec<String> = events(3000).lines().map(str::to_owned).collect();
    let wanted = |is: &dyn Fn(&str) -> bool, count: usize| {
        let both = all.iter().chain(&all).filter(|line| is(line)).cloned().collect::<Vec<_>>();
        both[both.len() - count..].to_vec()
    };
    for (args, lines) in [
        (&["-n", "3"][..], wanted(&|_| true, 3)),
        (&["-n", "5000"], wanted(&|_| true, 5000)),
        (&["-n", "7000"], wanted(&|_| true, 6000)),
        (&["-n2", "--where", "id = 'r-00001'"], wanted(&|line| line.contains("r-00001"), 2)),
        (&["--lines", "3", "--where", "id = 'r-00001'"], wanted(&|line| line.contains("r-00001"), 2)),
        (
            &["-n", "1200", "--where", "Level = 'Error' and Elapsed >= 0"],
            wanted(&|line| line.contains("\"Error\""), 1200),
        ),
        (&["-n", "0"], vec![]),
    ] {
        let tail = Running::start(&folder, &[&["store", "tail", "log"], args].concat());
        assert!(tail.next(lines.len()) == lines, "{args:?}");
        assert!(tail.lines.recv_timeout(Duration::from_millis(300)).is_err(), "{args:?}: too many");
        assert_eq!(tail.interrupted(), (Some(130), String::new()), "{args:?}");
    }
    let tail = Running::start(&folder, &["store", "tail", "log", "-n0", "--where", "new = 1"]);
    thread::sleep(Duration::from_millis(300));
    let _ = jird(&folder, "ingest", &["log"], b"{\"new\":2}\n{\"new\":1}\n{\"old\":1}\n{\"new\": 1.0}\n");
    assert_eq!(tail.next(2), ["{\"new\":1}", "{\"new\":1.0}"]);
    assert_eq!(tail.interrupted().0, Some(130));
    for (args, reason) in [
        (&["tail", "nowhere"][..], "there is no store in nowhere"),
        (&["tail", "log", "--where", "lower(id) = 'a'"], "lower"),
        (&["tail", "log", "-n", "100001"], "100000"),
    ] {
        let (_, said, code) = jird(&folder, "store", args, b"");
        assert!(code == 2 && said.contains(reason), "{args:?}: {said}");
    }
}

#[test]
fn a_tail_ends_when_its_reader_goes_although_nothing_comes() {
    let folder = folder("tail-gone", 30);
    let mut command = Command::new(JIRD);
    command.args(["store", "tail", "log", "-n", "0"]).current_dir(&folder.0).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none());
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    let line = format!("{JIRD} store tail log -n 3 | head -n 1; {JIRD} store tail log -n 1 | true");
    let begun = Instant::now();
    let output = Command::new("sh").args(["-c", &line]).current_dir(&folder.0).output().unwrap();
    assert!(begun.elapsed() < LONG);
    let (out, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!((out.lines().count(), said.as_str()), (1, ""), "{out}");
    assert!(out.contains("r-00027"), "{out}");
}

#[test]
fn a_store_that_goes_ends_its_tail() {
    let folder = folder("tail-store-goes", 30);
    let tail = Running::start(&folder, &["store", "tail", "log", "-n1"]);
    tail.next(1);
    std::fs::remove_dir_all(folder.0.join("log")).unwrap();
    let (code, said) = tail.ended();
    assert!(code == Some(2) && said.contains("there is no store in log"), "{said}");
}

#[test]
fn a_command_waits_for_the_lock_of_another_one() {
    let folder = folder("wait", 30);
    let store = Store::open(&folder.0.join("log")).unwrap();
    let writer = store.writer(&WriterOptions::default()).unwrap();
    let more = folder.0.join("more.ndjson");
    std::fs::write(more, "{\"@t\":1}\n").unwrap();
    let (_, said, code) = jird(&folder, "ingest", &["log", "more.ndjson"], b"");
    assert!(
        code == 2 && said.contains("with --wait, this command waits") && said.contains("no event was taken"),
        "{said}"
    );
    let begun = Instant::now();
    let (_, said, code) = jird(&folder, "ingest", &["log", "more.ndjson", "--wait=1s"], b"");
    assert!(code == 2 && said.contains("it did not end within 1s; no event was taken"), "{said}");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    for text in ["soon", "10", "-1s", "2024-03-05"] {
        let (_, said, code) = jird(&folder, "ingest", &["log", "more.ndjson", &format!("--wait={text}")], b"");
        assert!(code == 2 && said.contains("is not a duration"), "{text}: {said}");
    }
    let waiting = Running::start(&folder, &["ingest", "log", "more.ndjson", "-q", "--wait"]);
    thread::sleep(Duration::from_millis(300));
    assert_eq!(waiting.interrupted(), (Some(130), String::new()));
    let mut waiting = Running::start(&folder, &["ingest", "log", "more.ndjson", "-q", "--wait=10m"]);
    thread::sleep(Duration::from_millis(300));
    assert!(waiting.child.try_wait().unwrap().is_none());
    writer.finish().unwrap();
    assert_eq!(waiting.ended(), (Some(0), String::new()));
    assert_eq!(fine(&folder, "store", &["export", "log"]).lines().count(), 31);
}

#[test]
fn maintenance_waits_for_maintenance_and_then_does_its_work() {
    let folder = folder("wait-care", 30);
    let lock = std::fs::File::create(folder.0.join("log/LOCK.care")).unwrap();
    for task in [&["compact", "log"][..], &["verify", "log", "--repair"], &["delete", "log", "--where", "i = -1"]] {
        lock.lock().unwrap();
        let (_, said, code) = jird(&folder, "store", task, b"");
        assert!(code == 2 && said.contains("another process compacts, repairs") && said.contains("--wait"), "{said}");
        let mut waiting = Running::start(&folder, &[&["store"], task, &["--wait", "-q"]].concat());
        thread::sleep(Duration::from_millis(300));
        assert!(waiting.child.try_wait().unwrap().is_none());
        lock.unlock().unwrap();
        assert_eq!(waiting.ended(), (Some(0), String::new()));
    }
    // The manifest is made again, once both locks are free.
    lock.lock().unwrap();
    std::fs::remove_file(folder.0.join("log/MANIFEST")).unwrap();
    let mut waiting = Running::start(&folder, &["store", "verify", "log", "--repair", "-q", "--wait=10m"]);
    thread::sleep(Duration::from_millis(300));
    assert!(waiting.child.try_wait().unwrap().is_none());
    lock.unlock().unwrap();
    let (code, said) = waiting.ended();
    assert!(code == Some(1) && said.contains("it was made again from its copy"), "{said}");
    assert_eq!(fine(&folder, "store", &["export", "log"]).lines().count(), 30);
}
