//! Whole processes side by side: run in turns, their answers looked at once, timed from outside.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::against::{Side, turns};
use crate::peer::Build;
use crate::process::{self, Cost};
use crate::row::{Measured, Outcome, Process, Row};
use crate::run;
use crate::task::Task;

/// A command and what it leaves behind.
pub(crate) struct Invocation {
    pub(crate) words: Vec<OsString>,
    /// Where its answer goes.
    pub(crate) output: PathBuf,
    /// The answer is its standard output.
    pub(crate) prints: bool,
    /// Where the program tells its time without start-up, if it does.
    pub(crate) report: PathBuf,
    pub(crate) kernel: Option<String>,
}

impl Invocation {
    /// Runs it once.
    fn run(&self) -> Result<Cost, String> {
        // Writing over an old file costs other work than writing a new one.
        self.clean();
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).stdin(Stdio::null()).stdout(Stdio::null());
        if self.prints {
            let file = fs::File::create(&self.output).map_err(|error| error.to_string())?;
            command.stdout(file);
        }
        if let Some(kernel) = &self.kernel {
            command.env("JIRD_KERNEL", kernel);
        }
        // What it says of its work is for us; its errors too.
        if self.words.iter().any(|word| word == "--stats") {
            let file = fs::File::create(&self.report).map_err(|error| error.to_string())?;
            command.stderr(file);
        }
        process::run(&mut command).map_err(|error| format!("{}: {error}", self.words[0].display()))
    }

    /// Best effort: they may not have been written.
    fn clean(&self) {
        for path in [&self.output, &self.report] {
            let _ = fs::remove_file(path);
        }
    }
}

impl Drop for Invocation {
    fn drop(&mut self) {
        self.clean();
    }
}

/// A program at one task and input.
pub(crate) struct Runner {
    /// Of the peer; several sides of one peer share it.
    row: &'static str,
    /// Of the row.
    pub(crate) name: String,
    pub(crate) build: Build,
    /// Or why it is out.
    pub(crate) invocation: Result<Invocation, String>,
    /// So slow that one run, the first, has to do.
    pub(crate) once: bool,
    /// The time that counts is the one that it tells.
    pub(crate) inside: bool,
    pub(crate) process: Process,
    /// What it said last.
    pub(crate) told: Option<Report>,
    rounds_ns: Vec<f64>,
}

/// What a process says of its work, where it does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Without start-up.
    pub(crate) inside_seconds: f64,
    #[serde(default)]
    pub(crate) records: u64,
    #[serde(default)]
    pub(crate) checksum: u64,
    /// What else it measured, by name.
    #[serde(default)]
    pub(crate) figures: BTreeMap<String, f64>,
}

impl Report {
    /// Of an object, or of what jird says with `--stats`.
    fn of(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().or_else(|| {
            let seconds = text.lines().find_map(|line| line.strip_prefix("seconds"))?;
            let inside_seconds = seconds.trim().parse().ok()?;
            Some(Self { inside_seconds, records: 0, checksum: 0, figures: BTreeMap::new() })
        })
    }
}

impl Runner {
    pub(crate) fn new(row: &'static str, side: Side, build: Build, invocation: Result<Invocation, String>) -> Self {
        Self {
            row,
            name: side.name(row),
            build,
            invocation,
            once: false,
            inside: false,
            process: Process::default(),
            told: None,
            rounds_ns: Vec::new(),
        }
    }

    /// So many untimed runs, or the one that counts.
    pub(crate) fn warm_up(&mut self, runs: usize) {
        if self.once {
            return self.time();
        }
        for _ in 0..runs {
            self.attempt();
        }
    }

    /// The file that the last run wrote.
    pub(crate) fn answer<T>(&mut self, read: impl FnOnce(&Path) -> Result<T, String>) -> Option<T> {
        let invocation = self.invocation.as_ref().ok()?;
        let answer = read(&invocation.output);
        // It may be large, and there are many.
        invocation.clean();
        answer.map_err(|reason| self.fail(reason)).ok()
    }

    /// Takes it out.
    pub(crate) fn fail(&mut self, reason: String) {
        self.invocation = Err(reason);
    }

    fn time(&mut self) {
        let Some(cost) = self.attempt() else { return };
        let told = self.told.as_ref();
        let inside_ns = told.map(|told| told.inside_seconds * 1e9);
        let counts = inside_ns.filter(|_| self.inside);
        self.rounds_ns.push(counts.unwrap_or(cost.elapsed.as_secs_f64() * 1e9));
        self.process.resident_bytes_max = self.process.resident_bytes_max.max(cost.resident_bytes_max);
        self.process.inside_rounds_ns.extend(inside_ns);
        for (name, figure) in told.iter().flat_map(|told| &told.figures) {
            self.process.figures.entry(name.clone()).or_default().push(*figure);
        }
    }

    /// One run; a failure takes it out.
    fn attempt(&mut self) -> Option<Cost> {
        let invocation = self.invocation.as_ref().ok()?;
        let run = invocation.run();
        self.told = fs::read_to_string(&invocation.report).ok().and_then(|text| Report::of(&text));
        match run {
            Ok(_) if self.inside && self.told.is_none() => self.fail("no report".to_owned()),
            Ok(cost) => return Some(cost),
            Err(reason) => self.fail(reason),
        }
        None
    }

    /// The row, over an input of so many bytes and records.
    pub(crate) fn into_row(self, task: Task, input: &str, bytes: u64, records: u64) -> Row {
        let outcome = match self.invocation {
            Ok(_) => Outcome::Measured(
                Measured {
                    bytes: usize::try_from(bytes).expect("64 bits"),
                    documents: usize::try_from(records).expect("64 bits"),
                    least_ns: self.rounds_ns.iter().copied().fold(f64::INFINITY, f64::min),
                    runs: self.rounds_ns.len(),
                    rounds_ns: self.rounds_ns,
                    process: Some(self.process),
                    ..Measured::default()
                }
                .summed_up(),
            ),
            Err(reason) => Outcome::Failed(reason),
        };
        Row { task, input: input.to_owned(), peer: self.name, build: self.build, loaded: false, outcome }
    }
}

/// The rounds, each of which begins with another program.
pub(crate) fn race(runners: &mut [Runner], rounds: usize) {
    let keys: Vec<_> = runners.iter().map(|runner| (runner.row, runner.build)).collect();
    for round in 0..rounds {
        for index in turns::order(&keys, round) {
            let runner = &mut runners[index];
            if !runner.once {
                runner.time();
                // What it writes was looked at before.
                let _ = runner.invocation.as_ref().map(Invocation::clean);
            }
        }
    }
}

/// The size of a file; 0 if it is not there.
pub(crate) fn len(path: &Result<PathBuf, String>) -> u64 {
    path.as_ref().ok().and_then(|path| fs::metadata(path).ok()).map_or(0, |file| file.len())
}

/// In memory where there is such a folder, so that no disk takes part.
pub(crate) fn scratch(name: &str) -> Result<PathBuf, String> {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { run::target_folder()? };
    Ok(folder.join(format!("jird-bench-{}-{name}", std::process::id())))
}

/// A file that is made once and kept under the target folder: `make` writes it at the place that it is told.
pub(crate) fn kept(name: &str, make: impl FnOnce(&Path) -> Result<(), String>) -> Result<PathBuf, String> {
    let path = run::target_folder()?.join(name);
    if path.exists() {
        return Ok(path);
    }
    eprintln!("making {}", path.display());
    let beside = path.with_added_extension("part");
    let _ = fs::remove_file(&beside);
    make(&beside)?;
    fs::rename(&beside, &path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}
