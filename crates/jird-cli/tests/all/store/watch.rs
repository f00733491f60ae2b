//! `jird ingest --watch`: what programs append is there once, however files are rotated and the command ends.
#![cfg(all(feature = "convert", unix))]

use super::follow::Running;
use super::jird;
use crate::folder::{Folder, gzip};
use jird_store::{Store, Window};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Nothing takes as long, even if other tests run.
const LONG: Duration = Duration::from_secs(30);

/// All events of the store, in the order of their times.
fn stored(folder: &Folder) -> Vec<String> {
    let Ok(store) = Store::open(&folder.0.join("log")) else { return Vec::new() };
    let text = store.snapshot().unwrap().text(Window::ALL).unwrap();
    let (mut all, mut lines) = (Vec::new(), Vec::new());
    for block in text.blocks() {
        text.read(block, None, &mut lines).unwrap();
        all.extend(String::from_utf8(lines.clone()).unwrap().lines().map(str::to_owned));
    }
    all
}

fn event(number: u64) -> String {
    format!("{{\"@t\":{number},\"pad\":\"{}\"}}", "x".repeat((number * 31 % 300) as usize))
}

#[track_caller]
fn wait_for_count(folder: &Folder, wanted: u64) {
    let begun = Instant::now();
    while (stored(folder).len() as u64) < wanted {
        assert!(begun.elapsed() < LONG, "{} of {wanted} events", stored(folder).len());
        thread::sleep(Duration::from_millis(20));
    }
}

#[track_caller]
fn wait_for(folder: &Folder, wanted: u64) {
    wait_for_count(folder, wanted);
    assert_eq!(stored(folder), (0..wanted).map(event).collect::<Vec<_>>());
}

fn add(folder: &Folder, name: &str, text: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(folder.0.join(name)).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// A program that writes events, sometimes half a line, and the log rotation that it knows nothing of.
struct Source<'f> {
    folder: &'f Folder,
    file: fs::File,
    rotations: u32,
    next: u64,
    /// What it has yet to write of a line.
    rest: String,
}

impl<'f> Source<'f> {
    fn new(folder: &'f Folder) -> Self {
        let file = fs::File::create(folder.0.join("app.ndjson")).unwrap();
        Self { folder, file, rotations: 0, next: 0, rest: String::new() }
    }

    fn write(&mut self, count: u64, cut: usize) {
        let mut text = std::mem::take(&mut self.rest);
        for _ in 0..count {
            text += &(event(self.next) + "\n");
            self.next += 1;
        }
        self.rest = text.split_off(text.len() - cut.min(text.len()));
        self.file.write_all(text.as_bytes()).unwrap();
    }

    /// Renames the file under its writer, which writes some more to it before it opens the name again.
    fn rotate(&mut self) {
        self.rotations += 1;
        let name = self.folder.0.join("app.ndjson");
        fs::rename(&name, self.folder.0.join(format!("app.ndjson.{}", self.rotations))).unwrap();
        self.write(3, 0);
        if self.rotations.is_multiple_of(2) {
            thread::sleep(Duration::from_millis(250));
        }
        self.file = fs::File::create(name).unwrap();
    }
}

#[test]
fn what_is_appended_is_there_once_through_rotations_and_ends() {
    let folder = Folder::new("watch");
    let mut source = Source::new(&folder);
    let args = ["ingest", "log", "app.ndjson", "--watch", "--threads", "2"];
    for round in 0..8 {
        let watch = Running::start(&folder, &args);
        for step in 0..6 {
            source.write(1 + (round * 7 + step * 11) % 40, [0, 5, 1, 0, 40, 2][(round + step) as usize % 6]);
            if (round + step) % 4 == 3 {
                // Of what is renamed while nothing watches, only files that are named are taken.
                source.write(0, 0);
                wait_for(&folder, source.next);
                source.rotate();
            }
        }
        source.write(0, 0);
        wait_for(&folder, source.next);
        if round % 2 == 0 {
            let (code, said) = watch.interrupted();
            assert_eq!(code, Some(130), "{said}");
            assert!(said.contains("app.ndjson: ") && said.contains(" to the end (line "), "{said}");
        } else {
            watch.killed();
        }
        // Written while nothing watches.
        source.write(2, 0);
    }
    let watch = Running::start(&folder, &args);
    wait_for(&folder, source.next);
    watch.killed();
    assert!(source.rotations > 8, "{}", source.rotations);
}

#[test]
fn files_that_come_later_are_waited_for_and_those_that_shrink_are_taken_again() {
    let folder = Folder::new("watch-later");
    let watch = Running::start(&folder, &["ingest", "log", "a.ndjson", "b.ndjson", "--watch"]);
    thread::sleep(Duration::from_millis(300));
    add(&folder, "b.ndjson", "");
    thread::sleep(Duration::from_millis(300));
    add(&folder, "b.ndjson", &(event(0) + "\n" + &event(1)));
    wait_for(&folder, 2);
    add(&folder, "b.ndjson", "\n");
    add(&folder, "a.ndjson", &(event(2) + "\n"));
    wait_for(&folder, 3);
    // As `copytruncate` of logrotate does, with a shorter text, and with a longer one before anything looks at the file.
    fs::write(folder.0.join("a.ndjson"), event(3).replace('x', "") + "\n").unwrap();
    wait_for_count(&folder, 4);
    fs::write(folder.0.join("b.ndjson"), (4..9).map(|number| event(number) + "\n").collect::<String>()).unwrap();
    wait_for_count(&folder, 9);
    // With a pause, and the same first line.
    fs::write(folder.0.join("a.ndjson"), "").unwrap();
    thread::sleep(Duration::from_secs(2));
    add(&folder, "a.ndjson", &(event(3).replace('x', "") + "\n"));
    wait_for_count(&folder, 10);
    add(&folder, "a.ndjson", &(event(3).replace('x', "") + "\n"));
    wait_for_count(&folder, 11);
    let (code, said) = watch.interrupted();
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("watching 2 files, 2 not there yet; a signal such as Ctrl-C ends the command"), "{said}");
    for name in ["a", "b"] {
        let note = format!("note: {name}.ndjson: was emptied or overwritten, and is taken from its beginning");
        assert!(said.contains(&note), "{said}");
    }
}

#[test]
fn a_file_that_is_overwritten_right_after_it_was_taken_loses_nothing() {
    let folder = Folder::new("watch-overwritten");
    let watch = Running::start(&folder, &["ingest", "log", "a.ndjson", "--watch"]);
    for number in 0..15 {
        fs::write(folder.0.join("a.ndjson"), event(number * 7) + "\n").unwrap();
        wait_for_count(&folder, number + 1);
    }
    watch.killed();
    assert_eq!(stored(&folder), (0..15).map(|number| event(number * 7)).collect::<Vec<_>>());
}

/// The numbers of the events, in their order.
fn numbers(folder: &Folder) -> Vec<u64> {
    let number = |line: &String| line.split(['[', ':', ',', '}']).nth(1).and_then(|text| text.parse().ok());
    stored(folder).iter().map(|line| number(line).expect("a number")).collect()
}

fn line(number: u64) -> String {
    event(number) + "\n"
}

#[track_caller]
fn wait_for_numbers(folder: &Folder, wanted: &[u64]) {
    wait_for_count(folder, wanted.len() as u64);
    // Nothing comes twice.
    thread::sleep(Duration::from_millis(450));
    assert_eq!(numbers(folder), wanted);
}

fn pause() {
    thread::sleep(Duration::from_millis(500));
}

#[test]
fn a_file_with_several_names_is_taken_once() {
    let folder = Folder::new("watch-names");
    add(&folder, "f", &line(0));
    fs::hard_link(folder.0.join("f"), folder.0.join("hard")).unwrap();
    std::os::unix::fs::symlink("f", folder.0.join("soft")).unwrap();
    let args = ["ingest", "log", "f", "f", "hard", "soft", "f.1", "f.2", "--watch"];
    let watch = Running::start(&folder, &args);
    wait_for_numbers(&folder, &[0]);
    fs::remove_file(folder.0.join("hard")).unwrap();
    let mut next = 1;
    for _ in 0..3 {
        add(&folder, "f", &line(next));
        wait_for_numbers(&folder, &(0..=next).collect::<Vec<_>>());
        let _ = fs::rename(folder.0.join("f.1"), folder.0.join("f.2"));
        let mut old = OpenOptions::new().append(true).open(folder.0.join("f")).unwrap();
        fs::rename(folder.0.join("f"), folder.0.join("f.1")).unwrap();
        add(&folder, "f", &line(next + 2));
        pause();
        // Its writer learns late that it was renamed.
        old.write_all(line(next + 1).as_bytes()).unwrap();
        next += 3;
        wait_for_numbers(&folder, &(0..next).collect::<Vec<_>>());
    }
    watch.killed();
    let watch = Running::start(&folder, &args);
    add(&folder, "f.2", &line(next));
    wait_for_numbers(&folder, &(0..=next).collect::<Vec<_>>());
    watch.killed();
}

#[test]
fn a_new_file_is_another_one_whatever_it_begins_with() {
    let folder = Folder::new("watch-alike");
    add(&folder, "f", &(line(0) + &line(1)));
    let args = ["ingest", "log", "f", "--watch"];
    let watch = Running::start(&folder, &args);
    wait_for_numbers(&folder, &[0, 1]);
    // The same first line; then all of the lines before; then a file that was removed and written again.
    fs::rename(folder.0.join("f"), folder.0.join("f.1")).unwrap();
    add(&folder, "f", &(line(0) + &line(3)));
    wait_for_numbers(&folder, &[0, 0, 1, 3]);
    fs::rename(folder.0.join("f"), folder.0.join("f.2")).unwrap();
    add(&folder, "f", &(line(0) + &line(3) + &line(4)));
    wait_for_numbers(&folder, &[0, 0, 0, 1, 3, 3, 4]);
    fs::remove_file(folder.0.join("f")).unwrap();
    add(&folder, "f", &line(0));
    wait_for_numbers(&folder, &[0, 0, 0, 0, 1, 3, 3, 4]);
    // Emptied while nothing watches, with the same first line.
    watch.killed();
    fs::write(folder.0.join("f"), "").unwrap();
    let watch = Running::start(&folder, &args);
    pause();
    add(&folder, "f", &line(5));
    wait_for_numbers(&folder, &[0, 0, 0, 0, 1, 3, 3, 4, 5]);
    watch.killed();
}

#[test]
fn what_was_written_to_renamed_files_is_taken() {
    let folder = Folder::new("watch-renamed");
    add(&folder, "f", &line(0));
    let args = ["ingest", "log", "f", "--watch"];
    let watch = Running::start(&folder, &args);
    wait_for_numbers(&folder, &[0]);
    // Two rotations at once, and the first writer goes on.
    let mut first = OpenOptions::new().append(true).open(folder.0.join("f")).unwrap();
    fs::rename(folder.0.join("f"), folder.0.join("f.1")).unwrap();
    add(&folder, "f", &line(1));
    wait_for_count(&folder, 2);
    fs::rename(folder.0.join("f"), folder.0.join("f.2")).unwrap();
    add(&folder, "f", &line(2));
    wait_for_count(&folder, 3);
    first.write_all(line(3).as_bytes()).unwrap();
    wait_for_numbers(&folder, &[0, 1, 2, 3]);
    watch.killed();
    // Written, and renamed, while nothing watches.
    add(&folder, "f", &line(4));
    fs::rename(folder.0.join("f"), folder.0.join("f.3")).unwrap();
    add(&folder, "f", &line(5));
    let watch = Running::start(&folder, &args);
    wait_for_numbers(&folder, &[0, 1, 2, 3, 4, 5]);
    let (_, said) = watch.interrupted();
    assert!(said.contains("f.3: 1 event taken after byte "), "{said}");
}

#[test]
fn renamed_files_are_followed_over_several_restarts() {
    let folder = Folder::new("watch-restarts");
    add(&folder, "f", &line(0));
    let args = ["ingest", "log", "f", "--watch"];
    let watch = Running::start(&folder, &args);
    wait_for_numbers(&folder, &[0]);
    watch.killed();
    add(&folder, "f", &line(1));
    fs::rename(folder.0.join("f"), folder.0.join("f.1")).unwrap();
    add(&folder, "f", &line(3));
    for round in 0..3 {
        let watch = Running::start(&folder, &args);
        wait_for_numbers(&folder, &[vec![0, 1], (2..2 + round).map(|_| 2).collect(), vec![3]].concat());
        if round == 2 {
            // Also without a restart.
            add(&folder, "f.1", &line(2));
            wait_for_numbers(&folder, &[0, 1, 2, 2, 2, 3]);
        }
        watch.killed();
        add(&folder, "f.1", &line(2));
    }
    // A file that has the number and the first line of one that was taken is not that file.
    let text = fs::read_to_string(folder.0.join("f.1")).unwrap();
    fs::write(folder.0.join("f.1"), text.replacen(&line(1), &line(7), 1) + &line(8)).unwrap();
    let watch = Running::start(&folder, &args);
    add(&folder, "f", &line(9));
    wait_for_numbers(&folder, &[0, 1, 2, 2, 2, 3, 9]);
    watch.killed();
}

#[test]
fn copies_and_other_names_do_not_repeat_what_was_taken() {
    let folder = Folder::new("watch-copies");
    add(&folder, "f", &(line(0) + &line(1)));
    let watch = Running::start(&folder, &["ingest", "log", "f", "f.1", "f.1.gz", "--watch"]);
    wait_for_numbers(&folder, &[0, 1]);
    fs::copy(folder.0.join("f"), folder.0.join("f.1")).unwrap();
    OpenOptions::new().write(true).truncate(true).open(folder.0.join("f")).unwrap();
    add(&folder, "f", &line(2));
    wait_for_numbers(&folder, &[0, 1, 2]);
    // Compressed by log rotation, which writes a part, and then the rest.
    let packed = gzip(&(line(0) + &line(1)));
    let mut file = fs::File::create(folder.0.join("f.1.gz")).unwrap();
    file.write_all(&packed[..20]).unwrap();
    pause();
    file.write_all(&packed[20..]).unwrap();
    fs::remove_file(folder.0.join("f.1")).unwrap();
    add(&folder, "f", &line(3));
    wait_for_numbers(&folder, &[0, 1, 2, 3]);
    let (_, said) = watch.interrupted();
    assert_eq!(said.matches("f.1.gz: ").count(), 1, "{said}");
}

#[test]
fn files_that_have_the_same_text_are_both_taken() {
    let folder = Folder::new("watch-same");
    add(&folder, "f", &line(0));
    let watch = Running::start(&folder, &["ingest", "log", "f", "g", "--watch"]);
    wait_for_numbers(&folder, &[0]);
    add(&folder, "g", &line(0));
    wait_for_numbers(&folder, &[0, 0]);
    watch.killed();
}

#[test]
fn a_single_byte_and_a_file_that_nobody_may_read_yet_are_waited_for() {
    let folder = Folder::new("watch-byte");
    let watch = Running::start(&folder, &["ingest", "log", "f", "--watch"]);
    add(&folder, "f", "{");
    pause();
    add(&folder, "f", &line(0)[1..]);
    wait_for_numbers(&folder, &[0]);
    // A long last line without an end, in a file that is renamed.
    add(&folder, "f", &format!("{{\"@t\":1,\"pad\":\"{}\"}}", "x".repeat(70_000)));
    fs::rename(folder.0.join("f"), folder.0.join("f.1")).unwrap();
    add(&folder, "f", &line(2));
    wait_for_count(&folder, 3);
    assert_eq!(numbers(&folder), [0, 1, 2]);
    watch.killed();
}

#[test]
fn a_file_that_is_renamed_while_it_is_first_read_is_read_to_its_end() {
    let folder = Folder::new("watch-first");
    let text: String = (0..60_000).map(line).collect();
    fs::write(folder.0.join("f"), &text).unwrap();
    let watch = Running::start(&folder, &["ingest", "log", "f", "--watch", "--threads", "1"]);
    wait_for_count(&folder, 1);
    let mut old = OpenOptions::new().append(true).open(folder.0.join("f")).unwrap();
    fs::rename(folder.0.join("f"), folder.0.join("f.1")).unwrap();
    add(&folder, "f", &line(60_000));
    wait_for_count(&folder, 60_000);
    pause();
    old.write_all(line(60_001).as_bytes()).unwrap();
    wait_for_count(&folder, 60_002);
    assert_eq!(numbers(&folder), (0..60_002).collect::<Vec<_>>());
    watch.killed();
}

#[test]
fn a_text_of_the_same_length_marks_and_blanks_are_no_trouble() {
    let folder = Folder::new("watch-odd");
    fs::write(folder.0.join("same"), line(1)).unwrap();
    fs::write(folder.0.join("mark"), "\u{feff}").unwrap();
    fs::write(folder.0.join("blanks"), line(10) + "  ").unwrap();
    let watch = Running::start(&folder, &["ingest", "log", "same", "mark", "blanks", "--watch"]);
    wait_for_numbers(&folder, &[1, 10]);
    fs::write(folder.0.join("same"), line(1).replace("\"@t\":1", "\"@t\":2")).unwrap();
    wait_for_numbers(&folder, &[1, 2, 10]);
    add(&folder, "mark", &line(20));
    add(&folder, "blanks", &line(11));
    wait_for_numbers(&folder, &[1, 2, 10, 11, 20]);
    watch.killed();
}

#[test]
fn a_long_line_that_grows_is_taken_when_it_ends() {
    let folder = Folder::new("watch-long");
    let watch = Running::start(&folder, &["ingest", "log", "f", "--watch"]);
    add(&folder, "f", &(line(0) + "{\"@t\":1,\"pad\":\""));
    for _ in 0..5 {
        add(&folder, "f", &"x".repeat(100_000));
        thread::sleep(Duration::from_millis(210));
    }
    wait_for_numbers(&folder, &[0]);
    add(&folder, "f", "\"}\n");
    wait_for_numbers(&folder, &[0, 1]);
    watch.killed();
}

#[test]
fn a_store_that_is_gone_ends_the_command() {
    let folder = Folder::new("watch-gone");
    add(&folder, "f", &line(0));
    let watch = Running::start(&folder, &["ingest", "log", "f", "--watch"]);
    wait_for_numbers(&folder, &[0]);
    fs::rename(folder.0.join("log"), folder.0.join("moved")).unwrap();
    let (code, said) = watch.ended();
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("log: the store is gone, and with it what was taken last"), "{said}");
}

#[test]
fn a_compressed_file_that_grows_is_taken_on() {
    let folder = Folder::new("watch-gzip").with("a.gz", gzip(&(event(0) + "\n")));
    let watch = Running::start(&folder, &["ingest", "log", "a.gz", "--watch", "--quiet"]);
    wait_for(&folder, 1);
    let mut file = OpenOptions::new().append(true).open(folder.0.join("a.gz")).unwrap();
    file.write_all(&gzip(&(event(1) + "\n"))).unwrap();
    wait_for(&folder, 2);
    watch.killed();
}

#[test]
fn a_bad_line_ends_it_or_is_set_aside() {
    let folder = Folder::new("watch-bad");
    add(&folder, "a.ndjson", &(event(0) + "\n"));
    let watch = Running::start(&folder, &["ingest", "log", "a.ndjson", "--watch"]);
    wait_for(&folder, 1);
    add(&folder, "a.ndjson", &("{bad\n".to_owned() + &event(1) + "\n"));
    let (code, said) = watch.ended();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("a.ndjson:2:2: ") && said.contains("up to line 1"), "{said}");
    let args = ["ingest", "log", "a.ndjson", "--watch", "--on-error", "quarantine=bad.ndjson"];
    let watch = Running::start(&folder, &args);
    wait_for(&folder, 2);
    add(&folder, "a.ndjson", &("[\n".to_owned() + &event(2) + "\n"));
    wait_for(&folder, 3);
    assert_eq!(fs::read_to_string(folder.0.join("bad.ndjson")).unwrap().lines().count(), 2);
    watch.killed();
}

#[test]
fn what_cannot_be_watched_is_refused_before_anything_is_taken() {
    let folder = Folder::new("watch-refused").with("a.ndjson", "{}\n");
    fs::create_dir(folder.0.join("sub")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.0.join("pipe")).status().unwrap().success());
    for name in ["-", "sub", "pipe", "https://127.0.0.1:1/a.ndjson"] {
        let (_, said, code) = jird(&folder, "ingest", &["log", "a.ndjson", name, "--watch"], b"");
        assert_eq!(code, 2);
        assert!(said.contains("--watch needs the names of files, not pipes, folders or URLs"), "{said}");
        assert!(!folder.0.join("log").exists());
    }
}

#[test]
fn old_events_go_while_a_watch_runs() {
    let folder = Folder::new("watch-keep");
    let old = "{\"@t\":\"1999-01-01T00:00:00Z\",\"a\":\"OLDOLDOLD\"}\n";
    let (_, said, code) = jird(&folder, "ingest", &["log"], (old.to_owned() + &event(4_000_000_000)).as_bytes());
    assert_eq!(code, 0, "{said}");
    add(&folder, "a.ndjson", &(event(4_000_000_001) + "\n"));
    let has_old = || {
        let files = fs::read_dir(folder.0.join("log")).unwrap().map(|entry| entry.unwrap().path());
        files.filter_map(|file| fs::read(file).ok()).any(|bytes| bytes.windows(9).any(|part| part == b"OLDOLDOLD"))
    };
    assert!(has_old());
    let watch =
        Running::start(&folder, &["ingest", "log", "a.ndjson", "--watch", "--keep", "1d", "--keep-size", "1GB"]);
    let begun = Instant::now();
    while has_old() || stored(&folder).len() != 2 {
        assert!(begun.elapsed() < LONG, "{:?}", stored(&folder));
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(stored(&folder), [event(4_000_000_000), event(4_000_000_001)]);
    watch.killed();
    let (_, said, code) = jird(&folder, "ingest", &["log", "a.ndjson", "--keep", "1d"], b"");
    assert!(code == 2 && said.contains("--watch"), "{said}");
}
