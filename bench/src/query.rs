//! `query`: whole processes over the generated events, answers written to a file and compared.
//!
//! Each writes the text that it writes fastest, jird NDJSON and `DuckDB` CSV, and both are decoded and compared: the same
//! messages in the input's order. The file is in the page cache, since both read it untimed first. `DuckDB` gets a schema of the two fields; jird infers.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use generate_events::{EVENTS_DEFAULT, SEED_DEFAULT, write_events};
use serde::Deserialize;

use crate::options::Options;
use crate::peer::Build;
use crate::process;
use crate::row::{Measured, Outcome, Process, Row};
use crate::run;
use crate::task::Task;

/// Pinned, so that a figure says which `DuckDB` it was.
const DUCKDB: &str = "duckdb==2.0.0";

struct Query {
    name: &'static str,
    jird: &'static str,
    duckdb: &'static str,
}

const QUERIES: &[Query] = &[
    Query { name: "elapsed", jird: "select Message where Elapsed > 200", duckdb: "Elapsed > 200" },
    Query {
        name: "match",
        jird: "select Message where match(Message, '/api/customers')",
        duckdb: "regexp_matches(Message, '/api/customers')",
    },
];

/// Runs both queries through both programs.
pub(crate) fn measure(options: &Options) -> Vec<Row> {
    let setting = Setting::prepare(options);
    let wanted = QUERIES.iter().filter(|query| options.wants_input(query.name));
    wanted.flat_map(|query| setting.measure(query, options)).collect()
}

/// Where everything is, or why it is not there.
struct Setting {
    events: Result<PathBuf, String>,
    jird: Result<PathBuf, String>,
    python: Result<PathBuf, String>,
    kernel: Option<String>,
}

impl Setting {
    fn prepare(options: &Options) -> Self {
        let left_out = |name: &str| if options.wants_peer(name) { Ok(()) } else { Err("left out".to_owned()) };
        Self {
            events: options.events.clone().map_or_else(generated_events, Ok),
            jird: left_out("jird").and_then(|()| options.jird.clone().map_or_else(built_jird, Ok)),
            python: left_out("duckdb").and_then(|()| python_with_duckdb()),
            kernel: options.kernel.clone(),
        }
    }

    fn measure(&self, query: &Query, options: &Options) -> Vec<Row> {
        let mut runners = Vec::new();
        for (name, build) in [("jird", Build::Default), ("duckdb", Build::Cxx)] {
            if options.wants_peer(name) {
                let command = self.command(name, query);
                runners.push(Runner { name, build, command, answer: None, measured: Measured::default() });
            }
        }
        for runner in &mut runners {
            runner.warm_up();
        }
        agree(&mut runners);
        for round in 0..options.rounds {
            for turn in 0..runners.len() {
                let index = (turn + round) % runners.len();
                runners[index].time();
            }
        }
        let bytes = self.events.as_ref().ok().and_then(|path| fs::metadata(path).ok()).map_or(0, |file| file.len());
        runners.into_iter().map(|runner| runner.into_row(query, bytes)).collect()
    }

    fn command(&self, name: &'static str, query: &Query) -> Result<Invocation, String> {
        let events = self.events.clone()?;
        let output = scratch(&format!("{name}-{}.txt", query.name))?;
        let report = scratch(&format!("{name}-{}.json", query.name))?;
        let mut words: Vec<std::ffi::OsString> = Vec::new();
        if name == "jird" {
            words.extend([self.jird.clone()?.into(), "query".into(), query.jird.into(), events.into()]);
            words.extend(["--format".into(), "ndjson".into(), "--threads".into(), "2".into()]);
            words.extend(["--check".into(), "all".into(), "-o".into(), output.clone().into()]);
        } else {
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/duckdb_query.py");
            words.extend([self.python.clone()?.into(), "-I".into(), script.into(), events.into()]);
            words.extend([query.duckdb.into(), output.clone().into(), report.clone().into()]);
        }
        Ok(Invocation { words, output, report, kernel: self.kernel.clone() })
    }
}

struct Invocation {
    words: Vec<std::ffi::OsString>,
    output: PathBuf,
    /// Where the program tells its time without start-up, if it does.
    report: PathBuf,
    kernel: Option<String>,
}

/// What a program answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Answer {
    hits: u64,
    /// Over the messages, in order.
    checksum: u64,
}

struct Runner {
    name: &'static str,
    build: Build,
    command: Result<Invocation, String>,
    answer: Option<Answer>,
    measured: Measured,
}

#[derive(Deserialize)]
struct Report {
    inside_seconds: f64,
}

impl Runner {
    /// Two untimed runs, then a look at the answer.
    fn warm_up(&mut self) {
        for _ in 0..2 {
            self.attempt();
        }
        if let Ok(invocation) = &self.command {
            let read = if self.name == "jird" { ndjson_answer } else { csv_answer };
            match read(&invocation.output) {
                Ok(answer) => self.answer = Some(answer),
                Err(reason) => self.command = Err(reason),
            }
        }
        self.measured = Measured {
            least_ns: f64::INFINITY,
            process: Some(Process { hits: self.answer.map_or(0, |answer| answer.hits), ..Process::default() }),
            ..Measured::default()
        };
    }

    fn time(&mut self) {
        let Some(cost) = self.attempt() else { return };
        let nanoseconds = cost.elapsed.as_secs_f64() * 1e9;
        self.measured.rounds_ns.push(nanoseconds);
        self.measured.least_ns = self.measured.least_ns.min(nanoseconds);
        self.measured.runs += 1;
        let inside = self.command.as_ref().ok().and_then(|invocation| read_report(&invocation.report));
        if let Some(process) = &mut self.measured.process {
            process.resident_bytes_max = process.resident_bytes_max.max(cost.resident_bytes_max);
            process.inside_rounds_ns.extend(inside);
        }
    }

    /// One run; a failure takes the runner out.
    fn attempt(&mut self) -> Option<process::Cost> {
        let invocation = self.command.as_ref().ok()?;
        let mut command = Command::new(&invocation.words[0]);
        command.args(&invocation.words[1..]).stdin(Stdio::null()).stdout(Stdio::null());
        if let Some(kernel) = &invocation.kernel {
            command.env("JIRD_KERNEL", kernel);
        }
        // Writing over an old file costs other work than writing a new one.
        let _ = fs::remove_file(&invocation.output);
        match process::run(&mut command) {
            Ok(cost) => Some(cost),
            Err(error) => {
                self.command = Err(error.to_string());
                None
            }
        }
    }

    fn into_row(self, query: &Query, bytes: u64) -> Row {
        let outcome = match self.command {
            Ok(_) => {
                let bytes = usize::try_from(bytes).expect("64 bits");
                let documents = usize::try_from(EVENTS_DEFAULT).expect("64 bits");
                Outcome::Measured(Measured { bytes, documents, ..self.measured }.summed_up())
            }
            Err(reason) => Outcome::Failed(reason),
        };
        let (input, peer) = (query.name.to_owned(), self.name.to_owned());
        Row { task: Task::Query, input, peer, build: self.build, loaded: false, outcome }
    }
}

/// Unequal answers fail jird's row: `DuckDB`'s is the reference.
fn agree(runners: &mut [Runner]) {
    let answer =
        |name: &str, runners: &[Runner]| runners.iter().find(|one| one.name == name).and_then(|one| one.answer);
    let (Some(ours), Some(theirs)) = (answer("jird", runners), answer("duckdb", runners)) else { return };
    if ours != theirs {
        for runner in runners.iter_mut().filter(|one| one.name == "jird") {
            runner.command = Err(format!("wrong answer: {ours:?}, DuckDB has {theirs:?}"));
        }
    }
}

impl Answer {
    fn add(&mut self, message: &str) {
        let mut hasher = DefaultHasher::new();
        (self.checksum, message).hash(&mut hasher);
        self.checksum = hasher.finish();
        self.hits += 1;
    }
}

/// Of a `{"Message": …}` a line. Streams, so that this process stays small: its size counts in its children's.
fn ndjson_answer(path: &Path) -> Result<Answer, String> {
    #[derive(Deserialize)]
    struct Line {
        #[serde(rename = "Message")]
        message: String,
    }
    let mut answer = Answer::default();
    for line in open(path)?.lines() {
        let line = line.map_err(|error| error.to_string())?;
        let line: Line = serde_json::from_str(&line).map_err(|error| format!("answer: {error}"))?;
        answer.add(&line.message);
    }
    Ok(answer)
}

/// Of CSV with one column and a header. Streams too.
fn csv_answer(path: &Path) -> Result<Answer, String> {
    let mut answer = Answer::default();
    let mut record = String::new();
    // Not `lines`, which would take a carriage return at a line break inside quotes for a part of it.
    for line in open(path)?.split(b'\n').skip(1) {
        let line = line.map_err(|error| error.to_string())?;
        record.push_str(core::str::from_utf8(&line).map_err(|error| error.to_string())?);
        // A line break inside quotes goes on with the record.
        if !record.matches('"').count().is_multiple_of(2) {
            record.push('\n');
            continue;
        }
        match record.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(quoted) => answer.add(&quoted.replace("\"\"", "\"")),
            None => answer.add(&record),
        }
        record.clear();
    }
    Ok(answer)
}

fn open(path: &Path) -> Result<BufReader<File>, String> {
    File::open(path).map(BufReader::new).map_err(|error| format!("{}: {error}", path.display()))
}

/// In nanoseconds.
fn read_report(path: &Path) -> Option<f64> {
    let report: Report = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    Some(report.inside_seconds * 1e9)
}

/// In memory where there is such a folder, so that no disk takes part.
fn scratch(name: &str) -> Result<PathBuf, String> {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { run::target_folder()? };
    Ok(folder.join(format!("jird-bench-{}-{name}", std::process::id())))
}

impl Drop for Invocation {
    fn drop(&mut self) {
        // Best effort: they may not have been written.
        let _ = fs::remove_file(&self.output);
        let _ = fs::remove_file(&self.report);
    }
}

/// Made once, kept under the target folder.
fn generated_events() -> Result<PathBuf, String> {
    let path = run::target_folder()?.join("bench-events.ndjson");
    if path.exists() {
        return Ok(path);
    }
    eprintln!("generating {EVENTS_DEFAULT} events into {}", path.display());
    let beside = path.with_extension("part");
    let mut file = File::create(&beside).map_err(|error| format!("{}: {error}", beside.display()))?;
    write_events(&mut file, EVENTS_DEFAULT, SEED_DEFAULT).map_err(|error| error.to_string())?;
    fs::rename(&beside, &path).map_err(|error| error.to_string())?;
    Ok(path)
}

/// The `jird` that a user gets: release profile, default flags.
fn built_jird() -> Result<PathBuf, String> {
    let target = run::target_folder()?;
    let status = run::cargo()
        .args(["build", "--release", "--quiet", "--package", "jird-cli", "--target-dir"])
        .arg(&target)
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    if status.success() { Ok(target.join("release/jird")) } else { Err(format!("jird does not build: {status}")) }
}

/// A virtual environment under the target folder.
fn python_with_duckdb() -> Result<PathBuf, String> {
    let folder = run::target_folder()?.join("bench-venv");
    let python = folder.join("bin/python");
    let works = |module: &str| {
        let status = Command::new(&python).args(["-c", module]).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let version = DUCKDB.rsplit("==").next().unwrap_or_default();
    let check = format!("import duckdb; assert duckdb.__version__ == '{version}'");
    if works(&check) {
        return Ok(python);
    }
    eprintln!("installing {DUCKDB} into {}", folder.display());
    let done = |command: &mut Command| match command.stdout(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{DUCKDB} could not be installed: {status}")),
        Err(error) => Err(format!("{DUCKDB} could not be installed: {error}")),
    };
    done(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    done(Command::new(&python).args(["-m", "pip", "install", "--quiet", DUCKDB]))?;
    if works(&check) { Ok(python) } else { Err(format!("{DUCKDB} was installed but does not load")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_messages_as_csv_and_as_ndjson_make_the_same_answer() {
        let folder = run::target_folder().expect("tests lie in a target folder");
        let (csv, ndjson) = (folder.join("bench-test.csv"), folder.join("bench-test.ndjson"));
        fs::write(&csv, "Message\nplain\n\"a, \"\"b\"\"\nc\"\n\"\"\n").expect("the folder is writable");
        fs::write(&ndjson, "{\"Message\":\"plain\"}\n{\"Message\":\"a, \\\"b\\\"\\nc\"}\n{\"Message\":\"\"}\n")
            .expect("the folder is writable");
        let answer = csv_answer(&csv).expect("it was just written");
        assert_eq!(answer.hits, 3);
        assert_eq!(Ok(answer), ndjson_answer(&ndjson));
    }
}
