//! Interleaves the peers: each round gives every peer one batch, and each round begins with another peer.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::against::{self, Side, turns};
use crate::client::{ANSWER, Client, GREETING};
use crate::fold::{Agreement, Fold};
use crate::options::Options;
use crate::peer::Build;
use crate::peers::{self, Entry};
use crate::row::{Measured, Outcome, Row};
use crate::server::{Loaded, Request, Response};
use crate::task::{self, Detail, Task};

/// Peers that are running, or the reason why they are not.
pub(crate) struct Field {
    contestants: Vec<Contestant>,
    kernel: Option<String>,
}

struct Contestant {
    entry: &'static Entry,
    /// The name of its rows.
    name: String,
    build: Build,
    binary: Result<PathBuf, String>,
    client: Result<Client, String>,
}

impl Field {
    /// Starts all peers that the user named. Builds the other binary first if it is needed.
    pub(crate) fn start(options: &Options) -> Self {
        let this = std::env::current_exe().map_err(|error| error.to_string());
        let wanted = || peers::ALL.iter().filter(|entry| options.wants_peer(entry.name));
        // The C and C++ peers of the default build are built for the native CPU.
        let elsewhere = |build: Build| build == Build::Native || build == Build::Cxx && options.avx2();
        let builds = || wanted().flat_map(|entry| entry.builds).filter(|build| options.wants_build(**build));
        let other = if builds().any(|build| elsewhere(*build)) {
            binary_for(options.arch())
        } else {
            Err("left out".to_owned())
        };
        let facade = if builds().any(|build| *build == Build::Facade) {
            binary_of("facade", &["--features", "facade"], &[("BENCH_WITHOUT_FOREIGN", "1")])
        } else {
            Err("left out".to_owned())
        };
        let mut field = Self { contestants: Vec::new(), kernel: options.kernel.clone() };
        let sides = |entry: &'static Entry| options.sides(entry.name).iter().map(move |&side| (entry, side));
        for (entry, side) in wanted().flat_map(sides) {
            for &build in entry.builds.iter().filter(|build| options.wants_build(**build)) {
                let own = || match build {
                    Build::Facade => facade.clone(),
                    build if elsewhere(build) => other.clone(),
                    _ => this.clone(),
                };
                let binary = options.other_program(side).map_or_else(own, Ok);
                let (name, client) = (side.name(entry.name), Err("not started".to_owned()));
                let mut contestant = Contestant { entry, name, build, binary, client };
                contestant.restart(field.kernel.as_deref());
                field.contestants.push(contestant);
            }
        }
        field
    }

    /// The entry, name and build of each peer, and its version or failure.
    pub(crate) fn versions(&self) -> Vec<(&'static Entry, &str, Build, String)> {
        let version = |one: &Contestant| match &one.client {
            Ok(client) => client.version.clone(),
            Err(reason) => format!("failed: {reason}"),
        };
        self.contestants.iter().map(|one| (one.entry, one.name.as_str(), one.build, version(one))).collect()
    }

    /// The documents that each validator judges wrongly; empty for peers that do not validate.
    pub(crate) fn probe(&mut self) -> Vec<(String, Vec<String>)> {
        let mut table: Vec<(String, Vec<String>)> = Vec::new();
        for contestant in &mut self.contestants {
            if table.iter().any(|(name, _)| *name == contestant.name) {
                continue;
            }
            if let Ok(Response::Probed { wrong }) = contestant.ask(&Request::Probe, ANSWER) {
                table.push((contestant.name.clone(), wrong));
            }
        }
        table
    }

    /// Runs all rounds of one task. Several inputs are read in rotation.
    pub(crate) fn measure(&mut self, task: Task, inputs: &[&str], options: &Options) -> Vec<Row> {
        let references: Vec<_> = inputs.iter().map(|input| reference(task, input)).collect();
        let mut rows = Vec::new();
        let mut running = Vec::new();
        for (index, contestant) in self.contestants.iter_mut().enumerate() {
            contestant.restart_if_dead(self.kernel.as_deref());
            let Some(outcomes) = contestant.load(task, inputs, &references) else { continue };
            let first = rows.len();
            for (input, outcome) in inputs.iter().zip(outcomes) {
                rows.push(contestant.row(task, input, outcome.map_or_else(Outcome::Failed, Outcome::Measured)));
            }
            running.push((index, first..rows.len()));
        }
        against::same_work(&mut rows, task);
        let key = |contestant: &Contestant| (contestant.entry.name, contestant.build);
        let keys: Vec<_> = running.iter().map(|(contestant, _)| key(&self.contestants[*contestant])).collect();
        for round in 0..options.rounds {
            for turn in turns::order(&keys, round) {
                let (contestant, range) = &running[turn];
                let (contestant, rows) = (&mut self.contestants[*contestant], &mut rows[range.clone()]);
                if options.sides(contestant.entry.name) != [Side::Own] {
                    contestant.begin_anew(self.kernel.as_deref(), task, inputs, &references, rows);
                }
                contestant.batch(task, rows, options.milliseconds);
            }
        }
        for row in &mut rows {
            if let Outcome::Measured(measured) = &mut row.outcome {
                *measured = std::mem::take(measured).summed_up();
            }
        }
        rows
    }
}

impl Contestant {
    fn restart(&mut self, kernel: Option<&str>) {
        self.client = self.binary.clone().and_then(|binary| {
            Client::start(&binary, self.entry.name, kernel, GREETING).map_err(|error| error.to_string())
        });
    }

    /// Starts another process for the next round. The memory that a process gets affects its speed for its whole life.
    /// With a new process for each round, this effect becomes part of the rounds' spread, and does not shift the ratio
    /// of two builds.
    fn begin_anew(
        &mut self,
        kernel: Option<&str>,
        task: Task,
        inputs: &[&str],
        references: &[Result<Fold, String>],
        rows: &mut [Row],
    ) {
        if rows.iter().all(|row| row.measured().is_none()) {
            return;
        }
        self.restart(kernel);
        let done_no_more = || vec![Err("does not do the task any more".to_owned()); inputs.len()];
        let outcomes = self.load(task, inputs, references).unwrap_or_else(done_no_more);
        for (row, outcome) in rows.iter_mut().zip(outcomes) {
            if let Err(reason) = outcome {
                row.loaded = false;
                row.outcome = Outcome::Failed(reason);
            }
        }
    }

    /// A peer that died on one input gets another chance on the next.
    fn restart_if_dead(&mut self, kernel: Option<&str>) {
        if self.client.as_ref().is_err_and(|reason| reason.starts_with("died")) {
            self.restart(kernel);
        }
    }

    fn ask(&mut self, request: &Request, patience: Duration) -> Result<Response, String> {
        let client = self.client.as_mut().map_err(|reason| reason.clone())?;
        let answer = client.ask(request, patience);
        if let Err(reason) = &answer {
            self.client = Err(reason.clone());
        }
        answer
    }

    /// Loads the inputs. Returns the initial outcome of each input's row, or `None` if the peer does not do the task.
    fn load(
        &mut self,
        task: Task,
        inputs: &[&str],
        references: &[Result<Fold, String>],
    ) -> Option<Vec<Result<Measured, String>>> {
        let all_failed = |reason: String| Some(vec![Err(reason); inputs.len()]);
        let names = inputs.iter().map(|&input| input.to_owned()).collect();
        match self.ask(&Request::Load { task, inputs: names }, ANSWER) {
            Ok(Response::NotDone) => None,
            Ok(Response::Loaded { inputs }) => {
                Some(inputs.into_iter().zip(references).map(|(loaded, wanted)| compared(&loaded?, wanted)).collect())
            }
            Ok(Response::Failed { reason }) | Err(reason) => all_failed(reason),
            Ok(other) => all_failed(format!("unexpected answer: {other:?}")),
        }
    }

    /// Adds one batch to the rows that were loaded without failure, unless they have failed since.
    fn batch(&mut self, task: Task, rows: &mut [Row], milliseconds: u64) {
        let mut rows: Vec<&mut Row> = rows.iter_mut().filter(|row| row.loaded).collect();
        if rows.iter().all(|row| row.measured().is_none()) {
            return;
        }
        // The server runs for this long over each input.
        let told = Duration::from_millis(milliseconds) * u32::try_from(rows.len()).unwrap_or(u32::MAX);
        let failure = match self.ask(&Request::Batch { milliseconds }, ANSWER + told) {
            Ok(Response::Batch { lanes }) if lanes.len() == rows.len() * task.lanes() => {
                for (row, lanes) in rows.iter_mut().zip(lanes.chunks(task.lanes())) {
                    row.add_round(lanes);
                }
                return;
            }
            Ok(other) => format!("unexpected answer: {other:?}"),
            Err(reason) => reason,
        };
        for row in rows {
            row.outcome = Outcome::Failed(failure.clone());
        }
    }

    fn row(&self, task: Task, input: &str, outcome: Outcome) -> Row {
        let loaded = matches!(outcome, Outcome::Measured(_));
        Row { task, input: input.to_owned(), peer: self.name.clone(), build: self.build, loaded, outcome }
    }
}

/// The initial measurement of a row, if the peer's answer equals the reference.
fn compared(loaded: &Loaded, reference: &Result<Fold, String>) -> Result<Measured, String> {
    let &Loaded { fold, bytes, documents } = loaded;
    let reference = reference.clone()?;
    let agreement = fold.agrees(reference);
    if agreement == Agreement::Differs {
        return Err(format!("wrong answer: {fold:?} instead of {reference:?}"));
    }
    let floats_inexact = agreement == Agreement::NearlyFloats;
    Ok(Measured { bytes, documents, floats_inexact, least_ns: f64::INFINITY, ..Measured::default() })
}

/// The answer that all others must equal: that of simdjson, whose floats are exact, or that of `serde_json` if simdjson
/// was not built.
fn reference(task: Task, input: &str) -> Result<Fold, String> {
    let is_typed = matches!(task, Task::Typed | Task::TypedSmall | Task::ErrorTyped | Task::Million | Task::Migrate);
    if is_typed || matches!(task, Task::Scan | Task::Minify) || task.writes() {
        // Written output is checked in the server, where it is.
        return Ok(Fold::default());
    }
    let (task, input) = task.asked_of_documents(input);
    let documents = task::documents(input)?;
    let make = |name| Entry::named(name).map(|entry| (entry.make)());
    let names: &[_] = if task == Task::StringsIn { &["serde_json-typed"] } else { &["simdjson", "serde_json"] };
    let mut peer = names.iter().find_map(|name| make(name)?.ok()).ok_or("no reference peer")?;
    peer.load(&documents);
    task::refresh(&mut *peer, 0..documents.len());
    task::run(task, Detail::None, &mut *peer, 0..documents.len())
        .map_err(|_| "the reference peer refuses the document".to_owned())
}

/// Builds this package for `native` (the Rust peers) or for `haswell` (all peers), in a folder of its own.
pub(crate) fn binary_for(arch: &str) -> Result<PathBuf, String> {
    let flags = format!("-C target-cpu={arch}");
    // The C and C++ peers are in the default build.
    let foreign = if arch == "native" { ("BENCH_WITHOUT_FOREIGN", "1") } else { ("BENCH_CXX_ARCH", arch) };
    binary_of(arch, &[], &[("RUSTFLAGS", &flags), foreign])
}

/// Builds this package with these arguments and variables, in a folder of its own.
fn binary_of(name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Result<PathBuf, String> {
    let folder = target_folder()?.join(format!("bench-{name}"));
    eprintln!("building the peers for {name} in {}", folder.display());
    let mut build = cargo();
    build.args(["build", "--release", "--quiet", "--package", "bench", "--target-dir"]).arg(&folder).args(arguments);
    let status = build.envs(variables.iter().copied()).status().map_err(|error| format!("cargo: {error}"))?;
    if status.success() {
        Ok(folder.join("release/bench"))
    } else {
        Err(format!("the build for {name} failed: {status}"))
    }
}

/// A cargo command that runs in the workspace.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    for inherited in ["CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR"] {
        command.env_remove(inherited);
    }
    command
}

/// The target folder that contains this binary.
pub(crate) fn target_folder() -> Result<PathBuf, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    this.ancestors().nth(2).map(PathBuf::from).ok_or_else(|| "not in a target folder".to_owned())
}
