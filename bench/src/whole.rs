//! Measures whole processes: they run in turns, their answers are checked once, and they are timed from outside.

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

/// A command, and the files that it writes.
pub(crate) struct Invocation {
    pub(crate) words: Vec<OsString>,
    /// The file for the answer.
    pub(crate) output: PathBuf,
    /// Whether the command prints its answer to standard output.
    pub(crate) prints: bool,
    /// The file in which the program reports its time without start-up, if it does.
    pub(crate) report: PathBuf,
    pub(crate) kernel: Option<String>,
}

impl Invocation {
    /// Runs the command once.
    fn run(&self) -> Result<Cost, String> {
        // Overwriting an old file costs different work than writing a new one.
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
        // The output of `--stats` goes to the report. So do the program's error messages.
        if self.words.iter().any(|word| word == "--stats") {
            let file = fs::File::create(&self.report).map_err(|error| error.to_string())?;
            command.stderr(file);
        }
        process::run(&mut command).map_err(|error| format!("{}: {error}", self.words[0].display()))
    }

    /// Ignores errors, because the files may not exist.
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
    /// The name of the peer; several sides of one peer share it.
    row: &'static str,
    /// The name of the row.
    pub(crate) name: String,
    pub(crate) build: Build,
    /// The command, or why the program dropped out.
    pub(crate) invocation: Result<Invocation, String>,
    /// Whether the program is so slow that only its first run counts.
    pub(crate) once: bool,
    /// Whether the time that the program reports counts.
    pub(crate) inside: bool,
    pub(crate) process: Process,
    /// The last report of the program.
    pub(crate) told: Option<Report>,
    rounds_ns: Vec<f64>,
}

/// A process's report on its work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    /// The time without start-up.
    pub(crate) inside_seconds: f64,
    #[serde(default)]
    pub(crate) records: u64,
    #[serde(default)]
    pub(crate) checksum: u64,
    /// Other figures that it measured, by name.
    #[serde(default)]
    pub(crate) figures: BTreeMap<String, f64>,
}

impl Report {
    /// Reads a report from a JSON object, or from jird's `--stats`.
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

    /// Does this many untimed runs, or the one run that counts.
    pub(crate) fn warm_up(&mut self, runs: usize) {
        if self.once {
            return self.time();
        }
        for _ in 0..runs {
            self.attempt();
        }
    }

    /// Reads the file that the last run wrote, and removes it.
    pub(crate) fn answer<T>(&mut self, read: impl FnOnce(&Path) -> Result<T, String>) -> Option<T> {
        let invocation = self.invocation.as_ref().ok()?;
        let answer = read(&invocation.output);
        // The file may be large, and there are many such files.
        invocation.clean();
        answer.map_err(|reason| self.fail(reason)).ok()
    }

    /// Drops the program, for this reason.
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

    /// Runs the program once; a failure drops it.
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

    /// The row, over an input of `bytes` bytes and `records` records.
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

/// Runs the rounds, each of which begins with another program.
pub(crate) fn race(runners: &mut [Runner], rounds: usize) {
    let keys: Vec<_> = runners.iter().map(|runner| (runner.row, runner.build)).collect();
    for round in 0..rounds {
        for index in turns::order(&keys, round) {
            let runner = &mut runners[index];
            if !runner.once {
                runner.time();
                // The output was checked before.
                let _ = runner.invocation.as_ref().map(Invocation::clean);
            }
        }
    }
}

/// The size of a file; 0 if it does not exist.
pub(crate) fn len(path: &Result<PathBuf, String>) -> u64 {
    path.as_ref().ok().and_then(|path| fs::metadata(path).ok()).map_or(0, |file| file.len())
}

/// A path in a memory file system if there is one, so that no disk takes part.
pub(crate) fn scratch(name: &str) -> Result<PathBuf, String> {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { run::target_folder()? };
    Ok(folder.join(format!("jird-bench-{}-{name}", std::process::id())))
}

/// A file that is made once and kept under the target folder. `make` writes it to the path that it gets.
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
