//! `jird convert` when something goes wrong: a clear error, and nothing is lost.
#![cfg(all(feature = "convert", unix))]

use crate::folder::{Folder, words};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const JIRD: &str = env!("CARGO_BIN_EXE_jird");

/// A run that is fed records until it, or the test, ends.
struct Run {
    child: Child,
    feeder: JoinHandle<()>,
    enough: Arc<AtomicBool>,
}

/// A record that no compression makes nothing of.
fn record(id: u64) -> String {
    let noise = [1_u64, 2, 3].map(|by| (id + by).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(21 * by as u32));
    format!("{{\"id\":{id},\"text\":\"{:016x}{:016x}{:016x}\"}}\n", noise[0], noise[1], noise[2])
}

fn records(count: u64) -> String {
    (0..count).map(record).collect::<Vec<_>>().concat()
}

impl Run {
    fn start(folder: &Folder, args: &[&str]) -> Self {
        let mut command = Command::new(JIRD);
        command.args(["convert", "--from", "ndjson"]).args(args).current_dir(&folder.0);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, enough) = (child.stdin.take().unwrap(), Arc::new(AtomicBool::new(false)));
        let feeder = thread::spawn({
            let enough = Arc::clone(&enough);
            move || feed(input, &enough)
        });
        Self { child, feeder, enough }
    }

    /// Waits until something is there to see.
    fn until(self, is_so: impl Fn() -> bool) -> Self {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < Duration::from_mins(1), "nothing came");
            thread::sleep(Duration::from_millis(5));
        }
        self
    }

    fn signal(mut self, name: &str) -> ExitStatus {
        let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", self.child.id())]).status().unwrap();
        assert!(sent.success());
        let status = self.child.wait().unwrap();
        self.feeder.join().unwrap();
        status
    }

    /// Feeds no more, and waits for the end.
    fn end(self) -> Output {
        self.enough.store(true, Ordering::Relaxed);
        let output = self.child.wait_with_output().unwrap();
        self.feeder.join().unwrap();
        output
    }
}

fn feed(mut input: ChildStdin, enough: &AtomicBool) {
    for id in 0.. {
        if enough.load(Ordering::Relaxed) || input.write_all(record(id).as_bytes()).is_err() {
            return;
        }
        // Not more than a run of some seconds can hold.
        if id % 1000 == 0 && id > 100_000 {
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Whether a file in the folder, whose name has this part, has `bytes` bytes.
fn has(folder: &Folder, part: &str, bytes: u64) -> bool {
    let len = |name: &String| fs::metadata(folder.0.join(name)).map_or(0, |data| data.len());
    folder.names().iter().any(|name| name.contains(part) && len(name) >= bytes)
}

fn without_parts(folder: &Folder) -> Vec<String> {
    folder.names().into_iter().filter(|name| !name.contains(".part")).collect()
}

#[test]
fn a_target_is_whole_or_as_before_when_the_run_is_killed() {
    for (target, is_there) in [("new.ndjson", false), ("new.json.gz", false), ("new.db", false), ("old.ndjson", true)] {
        let folder = Folder::new("killed").with("old.ndjson", "{\"old\":true}\n");
        let run = Run::start(&folder, &["-", target]).until(|| has(&folder, ".part", 100_000));
        assert!(!run.signal("KILL").success());
        assert_eq!(without_parts(&folder), ["old.ndjson"], "{target}");
        assert!(!is_there || folder.text(target) == "{\"old\":true}\n");
    }
    // Those whose columns are planned read what is fed to its end first.
    for target in ["new.csv", "new.parquet", "new.arrow"] {
        let folder = Folder::new("killed").with("much.ndjson", records(500_000));
        // On a busy machine a run may be through before the signal comes.
        let was_killed = (0..20).any(|_| {
            let _ = fs::remove_file(folder.0.join(target));
            let run = Run::start(&folder, &["much.ndjson", target]);
            let run = run.until(|| has(&folder, ".part", 1) || has(&folder, target, 1));
            !run.signal("KILL").success()
        });
        assert!(was_killed, "{target}");
        assert_eq!(without_parts(&folder), ["much.ndjson"], "{target}");
    }
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        for target in ["new.ndjson", "new.db", "old.ndjson"] {
            let folder = Folder::new("interrupted").with("old.ndjson", "{\"old\":true}\n");
            let run = Run::start(&folder, &["-", target]).until(|| has(&folder, ".part", 100_000));
            assert_eq!(run.signal(signal).code(), Some(code), "{signal}");
            assert_eq!(folder.names(), ["old.ndjson"], "{signal} {target}");
            assert_eq!(folder.text("old.ndjson"), "{\"old\":true}\n");
        }
    }
}

#[test]
fn a_database_is_as_before_when_the_run_is_ended() {
    for (signal, table) in [
        ("KILL", &["--table", "t", "--append"][..]),
        ("KILL", &["--table", "u"]),
        ("TERM", &["--table", "t", "--append"]),
    ] {
        let folder = Folder::new("ended").with("t.ndjson", record(7));
        folder.fine(&["t.ndjson", "data.db"]);
        let before = folder.fine(&["data.db", "-"]);
        // More than its cache, so that pages are written before the end.
        let args = [table, &["-", "data.db"]].concat();
        let run = Run::start(&folder, &args).until(|| has(&folder, "data.db", 4 << 20));
        assert!(!run.signal(signal).success());
        assert!(has(&folder, "data.db-journal", 1), "the journal takes it back");
        // Read by jird, which writes nothing else.
        assert_eq!(folder.fine(&["data.db", "-"]), before);
        assert_eq!(folder.names(), ["data.db", "t.ndjson"]);
        folder.fine(&["t.ndjson", "data.db", "--append"]);
        assert_eq!(folder.fine(&["data.db", "-"]), before.repeat(2));
    }
}

#[test]
fn what_was_committed_stays() {
    for is_new in [true, false] {
        let folder = Folder::new("committed").with("t.ndjson", record(0)).with("empty.ndjson", "");
        if !is_new {
            folder.fine(&["t.ndjson", "data.db"]);
        }
        let run = Run::start(&folder, &["--commit-every", "1000", "--table", "t", "--append", "-", "data.db"]);
        assert!(!run.until(|| has(&folder, "data.db", 1 << 20)).signal("KILL").success());
        let rows = folder.fine(&["data.db", "-"]);
        let fed = rows.lines().count() - usize::from(!is_new);
        assert!(fed >= 1000, "{fed}");
        let expected = records(fed as u64);
        assert!(rows == if is_new { expected } else { record(0) + &expected });
    }
}

/// Wants it to end with this code, and to say these words.
#[track_caller]
fn fails(folder: &Folder, args: &[&str], code: i32, parts: &[&str]) {
    let output = folder.run(args);
    let said = words(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    assert!(parts.iter().all(|part| said.contains(part)), "{args:?}: {said}");
    assert!(said.lines().count() == 1 && said.starts_with("jird: "), "{said}");
}

#[test]
fn a_target_that_must_not_be_written_is_left_alone() {
    let folder = Folder::new("readonly").with("a.ndjson", record(1)).with("old.csv", "x\n1\n");
    folder.fine(&["a.ndjson", "old.db"]);
    for (name, is) in [("old.csv", "for reading only"), ("old.db", "for reading only")] {
        let path = folder.0.join(name);
        let before = fs::read(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        // A user who may write everything may write to a database of this mode.
        let may_all = name == "old.db" && fs::File::options().write(true).open(&path).is_ok();
        if !may_all {
            fails(&folder, &["a.ndjson", name, "--table", "new"], 2, &[name, is]);
            assert_eq!(fs::read(&path).unwrap(), before);
        }
    }
    for target in ["a.ndjson/x.csv", "a.ndjson/x.db", "none/x.csv", "/proc/x.parquet"] {
        fails(&folder, &["a.ndjson", target], 2, &["cannot write", target]);
    }
    assert_eq!(folder.names(), ["a.ndjson", "old.csv", "old.db"]);
}

#[test]
fn what_stands_in_for_a_file_stays() {
    let folder = Folder::new("odd").with("a.ndjson", "{\"a\":1}\n").with("real.csv", "old\n");
    // A link is written through, and the permissions of the file stay the same.
    fs::set_permissions(folder.0.join("real.csv"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink("real.csv", folder.0.join("link.csv")).unwrap();
    folder.fine(&["a.ndjson", "link.csv"]);
    assert_eq!(folder.text("real.csv"), "a\n1\n");
    assert!(fs::symlink_metadata(folder.0.join("link.csv")).unwrap().is_symlink());
    assert_eq!(fs::metadata(folder.0.join("real.csv")).unwrap().permissions().mode() & 0o777, 0o600);
    // A pipe is not a file: written and read as it comes.
    assert!(Command::new("mkfifo").arg(folder.0.join("pipe")).status().unwrap().success());
    for to in ["csv", "ndjson", "arrow"] {
        let reader = Command::new("timeout")
            .args(["30", "cat"])
            .arg(folder.0.join("pipe"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        folder.fine(&["a.ndjson", "pipe", "--to", to]);
        let got = reader.wait_with_output().unwrap().stdout;
        assert!(got.len() >= 4 && folder.names().contains(&"pipe".to_owned()), "{to}");
    }
    fails(&folder, &["a.ndjson", "pipe", "--to", "sqlite"], 2, &["pipe", "written to a file"]);
    for to in ["-", "b.csv"] {
        let mut writer =
            Command::new("sh").args(["-c", "timeout 30 cat a.ndjson > pipe"]).current_dir(&folder.0).spawn().unwrap();
        folder.fine(&["pipe", to, "--from", "ndjson"]);
        writer.wait().unwrap();
    }
    assert_eq!(folder.text("b.csv"), "a\n1\n");
}

/// Runs a script, in a file system of its own that it may fill and close: `None` where the system does not allow one.
fn in_small_disk(folder: &Folder, script: &str) -> Option<Output> {
    let mount = "mkdir -p disk && mount -t tmpfs -o size=256k none disk";
    for unshare in [&["-m"][..], &["-rm"]] {
        let run = |script: &str| {
            let mut command = Command::new("unshare");
            command.args(unshare).args(["sh", "-c", script, JIRD]).current_dir(&folder.0).output()
        };
        if run(mount).is_ok_and(|output| output.status.success()) {
            return Some(run(&format!("{mount} && {script}")).unwrap());
        }
    }
    None
}

#[test]
fn a_full_disk_is_told_and_leaves_what_was_there() {
    let folder = Folder::new("full").with("much.ndjson", records(60_000)).with("a.ndjson", record(1));
    for target in ["x.csv", "x.ndjson", "x.parquet", "x.arrow", "x.db", "old.csv"] {
        // The system's limit for the size of a file is a disk that is full, as far as a program can tell.
        let script = format!(
            "trap '' XFSZ; \"$0\" convert a.ndjson old.csv; ulimit -f 8; exec \"$0\" convert much.ndjson {target}"
        );
        let output = Command::new("sh").args(["-c", &script, JIRD]).current_dir(&folder.0).output().unwrap();
        // Parquet may have room: it is compressed.
        let said = words(&output);
        assert_eq!(output.status.code(), Some(2), "{target}: {said}");
        assert!(said.contains(&format!("cannot write {target}")), "{said}");
        assert_eq!(folder.names(), ["a.ndjson", "much.ndjson", "old.csv"]);
        assert_eq!(folder.text("old.csv").lines().count(), 2);
    }
    for target in ["x.csv", "x.ndjson", "x.parquet", "x.arrow", "x.db", "old.db"] {
        let script = format!(
            "\"$0\" convert a.ndjson disk/old.db --table old; ls disk > before; \
             \"$0\" convert disk/old.db rows.before --to ndjson; \
             \"$0\" convert much.ndjson disk/{target}; code=$?; \
             ls disk > after; \"$0\" convert disk/old.db rows.after --to ndjson; exit $code"
        );
        let Some(output) = in_small_disk(&folder, &script) else { return };
        let said = words(&output);
        assert_eq!(output.status.code(), Some(2), "{target}: {said}");
        assert!(said.contains(&format!("cannot write disk/{target}")) && said.lines().count() == 1, "{said}");
        assert_eq!(folder.text("before"), folder.text("after"), "{target}");
        assert_eq!(folder.text("rows.before"), folder.text("rows.after"));
    }
    for target in ["x.csv", "x.db", "old.db"] {
        let script = format!(
            "\"$0\" convert a.ndjson disk/old.db && mount -o remount,ro disk; \"$0\" convert a.ndjson disk/{target} --table new"
        );
        let output = in_small_disk(&folder, &script).unwrap();
        let said = words(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains(&format!("cannot write disk/{target}")) && said.to_lowercase().contains("read"),
            "{said}"
        );
    }
}

#[test]
fn a_lock_is_told() {
    let folder = Folder::new("locked").with("a.ndjson", record(1));
    folder.fine(&["a.ndjson", "data.db"]);
    let before = folder.fine(&["data.db", "-"]);
    let run = Run::start(&folder, &["--table", "other", "-", "data.db"]).until(|| has(&folder, "data.db-journal", 1));
    fails(
        &folder,
        &["a.ndjson", "data.db", "--append"],
        2,
        &["cannot write data.db", "database is locked", "try again"],
    );
    assert!(run.end().status.success());
    assert_eq!(folder.fine(&["data.db", "-", "--table", "a"]), before);
}

#[test]
fn damaged_inputs_are_errors_that_name_them() {
    let folder = Folder::new("damaged").with("a.ndjson", records(3000));
    let mut random = 1_u64;
    let mut below = |limit: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % limit
    };
    let mut told = 0;
    for format in ["json", "ndjson", "csv", "db", "parquet", "arrow", "ndjson.gz", "csv.zst"] {
        let good = format!("good.{format}");
        folder.fine(&["a.ndjson", &good]);
        let bytes = fs::read(folder.0.join(&good)).unwrap();
        let mut damaged: Vec<Vec<u8>> =
            [bytes.len() - 1, bytes.len() / 2, 100, 10, 0].map(|end| bytes[..end].to_vec()).to_vec();
        for _ in 0..8 {
            let mut flipped = bytes.clone();
            let at = below(bytes.len());
            flipped[at] ^= 1 << below(8);
            damaged.push(flipped);
        }
        for bytes in damaged {
            let name = format!("bad.{format}");
            fs::write(folder.0.join(&name), bytes).unwrap();
            for target in ["out.ndjson", "out.csv"] {
                let output = folder.run(&[&name, target]);
                let (code, said) = (output.status.code(), words(&output));
                match code {
                    Some(0) => assert!(said.is_empty(), "{said}"),
                    Some(1 | 2) => {
                        let lines = said.lines().filter(|line| !line.starts_with("`--on-error skip`"));
                        assert!(said.contains(&name) && lines.count() == 1, "{said}");
                        assert!(!folder.names().iter().any(|name| name.starts_with("out")), "{name}: {said}");
                        told += 1;
                    }
                    _ => panic!("{name}: {code:?} {said}"),
                }
                let _ = fs::remove_file(folder.0.join(target));
            }
        }
    }
    assert!(told > 80, "{told}");
}

#[test]
fn other_packings_are_named() {
    let folder = Folder::new("packings")
        .with("a.7z", b"7z\xbc\xaf\x27\x1c")
        .with("a.zip", b"PK\x03\x04\x14")
        .with("a.ndjson.br", b"\x8b\x03\x80abc")
        .with("a.parquet.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03")
        .with("a.db.zst", b"\x28\xb5\x2f\xfd\x04")
        .with("a.ndjson", "{\"a\":1}\n");
    let of =
        [("7z", "7-Zip"), ("zip", "zip"), ("ndjson.br", "Brotli"), ("parquet.gz", "gzip"), ("db.zst", "Zstandard")];
    for (suffix, compressor) in of {
        let name = format!("a.{suffix}");
        fails(&folder, &[&name, "-"], 2, &[&name, &format!("compressed with {compressor}"), "decompress it"]);
    }
    for target in ["b.csv.bz2", "b.ndjson.xz", "b.parquet.gz", "b.db.zst"] {
        fails(&folder, &["a.ndjson", target], 2, &[target]);
    }
}

#[test]
fn nothing_is_read_and_written_at_once() {
    let folder = Folder::new("overlap").with("a.ndjson", "{\"a\":1}\n{\"a\":2}\n").with("b.csv", "x\n1\n");
    folder.fine(&["a.ndjson", "data.db"]);
    let (ndjson, rows) = (folder.text("a.ndjson"), folder.fine(&["data.db", "-"]));
    fs::hard_link(folder.0.join("data.db"), folder.0.join("same.db")).unwrap();
    symlink("a.ndjson", folder.0.join("link")).unwrap();
    for args in [
        &["data.db", "data.db", "--append"][..],
        &["data.db", "./same.db", "--append"],
        &["b.csv", "data.db", "same.db"],
    ] {
        fails(&folder, args, 2, &["data.db", "read and written"]);
    }
    for bad in ["quarantine=a.ndjson", "quarantine=./a.ndjson", "quarantine=link"] {
        fails(&folder, &["--on-error", bad, "a.ndjson", "-"], 2, &["a.ndjson", "bad records"]);
    }
    fails(&folder, &["--on-error", "quarantine=./out.csv", "a.ndjson", "out.csv"], 2, &["out.csv", "one file"]);
    for redirected in [">> a.ndjson", ">> link"] {
        let script = format!("exec \"$0\" convert a.ndjson - {redirected}");
        let output = Command::new("sh").args(["-c", &script, JIRD]).current_dir(&folder.0).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", words(&output));
    }
    fs::hard_link(folder.0.join("a.ndjson"), folder.0.join("same.ndjson")).unwrap();
    for target in ["a.ndjson", "./a.ndjson", "link", "same.ndjson"] {
        fails(&folder, &["a.ndjson", target], 2, &["a.ndjson", "read and written"]);
    }
    assert_eq!((folder.text("a.ndjson"), folder.fine(&["data.db", "-"])), (ndjson, rows));
}

#[test]
fn two_inputs_do_not_become_one_by_accident() {
    let folder = Folder::new("clash").with("x.csv", "a\n1\n");
    for other in ["more", "out"] {
        fs::create_dir(folder.0.join(other)).unwrap();
    }
    let folder = folder.with("more/x.csv", "a\n2\n").with("more/X.csv", "a\n3\n");
    for (other, mode) in [("more/x.csv", None), ("more/X.csv", None), ("more/x.csv", Some("--replace"))] {
        let args: Vec<&str> = ["x.csv", other, "data.db"].into_iter().chain(mode).collect();
        fails(&folder, &args, 2, &["x.csv and more/", "the table", "--append"]);
    }
    fails(&folder, &["x.csv", "more/x.csv", "out/"], 2, &["x.csv and more/x.csv", "out/x.ndjson"]);
    fails(&folder, &["x.csv", "more/X.csv", "data.db", "--table", "t"], 2, &["\"t\""]);
    assert_eq!(folder.names(), ["more", "out", "x.csv"]);
    folder.fine(&["x.csv", "more/x.csv", "data.db", "--append"]);
    assert_eq!(folder.fine(&["data.db", "-"]), "{\"a\":\"1\"}\n{\"a\":\"2\"}\n");
    fails(&folder, &["*.nope", "b.csv"], 2, &["*.nope", "no file has a name like this"]);
    fails(&folder, &["more", "b.csv"], 2, &["more", "directory"]);
}
