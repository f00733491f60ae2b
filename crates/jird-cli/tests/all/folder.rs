//! `jird` in a folder of the test's own.
#![allow(dead_code, reason = "each test is a crate of its own, and none needs everything")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of the test's own, which goes away with it.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let unique = format!("{name}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(unique);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn with(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        fs::write(self.0.join(name), text).unwrap();
        self
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.fed(args, b"")
    }

    /// `jird convert`
    pub(crate) fn fed(&self, args: &[&str], input: &[u8]) -> Output {
        self.jird("convert", args, input)
    }

    /// `jird query`: what it printed, what it said, its exit code.
    pub(crate) fn query(&self, args: &[&str], input: &[u8]) -> (String, String, i32) {
        let output = self.jird("query", args, input);
        let said = words(&output);
        (String::from_utf8(output.stdout).unwrap(), said, output.status.code().unwrap())
    }

    pub(crate) fn jird(&self, name: &str, args: &[&str], input: &[u8]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jird"));
        command.arg(name).args(args).current_dir(&self.0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It may end before it has read everything.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    /// Runs a command, which must print this and end with this code. What it said; a command that is well says nothing.
    #[track_caller]
    pub(crate) fn prints(&self, arguments: &[&str], input: impl AsRef<[u8]>, printed: &str, code: i32) -> String {
        let output = self.jird(arguments[0], &arguments[1..], input.as_ref());
        let said = words(&output);
        let found = String::from_utf8(output.stdout).unwrap();
        assert_eq!((found.as_str(), output.status.code()), (printed, Some(code)), "{arguments:?} said {said:?}");
        assert!(code != 0 || said.is_empty(), "{said}");
        said
    }

    /// Runs it and wants it to be well; what it printed.
    pub(crate) fn fine(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr)), (Some(0), "".into()), "{args:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The answer of a query to a text, which must be the same from a file, a compressed file and a pipe, redirected, on one thread
/// and on several, cut anywhere.
#[track_caller]
pub(crate) fn one_answer(text: &str, sql: &str) -> String {
    let folder = Folder::new("one").with("a.ndjson", text).with("a.ndjson.gz", gzip(text));
    let (out, said, code) = folder.query(&[sql, "a.ndjson"], b"");
    assert_eq!(code, 0, "{sql}: {said}");
    let threads = ["--threads", "3", "--chunk-bytes", "11"];
    for more in
        [&["a.ndjson.gz"][..], &["-"], &[&["-"], &threads[..]].concat(), &[&["a.ndjson"], &threads[..]].concat()]
    {
        let other = folder.query(&[&[sql], more].concat(), if more[0] == "-" { text.as_bytes() } else { b"" });
        assert_eq!((&other.0, other.2), (&out, 0), "{sql} {more:?}: {}", other.1);
    }
    let redirected = fs::File::open(folder.0.join("a.ndjson")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_jird"));
    let other = command.args(["query", sql]).current_dir(&folder.0).stdin(redirected).output().unwrap();
    assert_eq!(
        (&*String::from_utf8_lossy(&other.stdout), other.status.code()),
        (&*out, Some(0)),
        "{sql}: {}",
        words(&other)
    );
    out
}

pub(crate) fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn gzip(text: &str) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(text.as_bytes()).unwrap();
    out.finish().unwrap()
}

/// Whether lines are those wanted, in which a line of `…` is any lines.
pub(crate) fn same_lines(wanted: &[&str], found: &[&str]) -> bool {
    match wanted.split_first() {
        None => found.is_empty(),
        Some((&"…", rest)) => (0..=found.len()).any(|skipped| same_lines(rest, &found[skipped..])),
        Some((line, rest)) => {
            found.split_first().is_some_and(|(first, others)| same_line(line, first) && same_lines(rest, others))
        }
    }
}

/// Whether a line is the one wanted, in which `…` is any text.
fn same_line(wanted: &str, found: &str) -> bool {
    match wanted.split_once("…") {
        None => wanted == found,
        Some((start, rest)) => found.strip_prefix(start).is_some_and(|found| {
            found.char_indices().map(|(at, _)| at).chain([found.len()]).any(|at| same_line(rest, &found[at..]))
        }),
    }
}
