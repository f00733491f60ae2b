//! Runs the fuzz targets under AddressSanitizer in the checked build, with cargo-fuzz and a nightly compiler.
mod slice; // one target, for a number of seconds
mod tally; // the committed count of executions
mod turns; // slices of all targets in turns, until a number of executions is reached

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::house::House;
use crate::step::{Log, Outcome};
use slice::{End, Pace};

/// How much to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// This many seconds for each target.
    Each(u64),
    /// Executions of all targets together, including those of earlier runs, with this many targets at a time.
    Executions { wanted: u64, jobs: usize },
}

/// Builds all targets and runs each one from its seeds, its regressions and what it has learned. Fails if a target
/// found something; the other targets run all the same.
pub(crate) fn run(house: &House, log: &mut Log, amount: Amount) -> Outcome {
    if !house.answers("rustup", &["run", "nightly", "rustc", "--version"]) {
        return Outcome::Skipped("no nightly compiler: rustup toolchain install nightly".into());
    }
    if !house.answers("cargo-fuzz", &["fuzz", "--version"]) && !house.answers("cargo-fuzz", &["--version"]) {
        return Outcome::Skipped("no cargo-fuzz: cargo install --locked cargo-fuzz".into());
    }
    let Some(fuzzers) = Fuzzers::open(house) else {
        log.say("error: no fuzz targets, or the nightly compiler does not name its host");
        return Outcome::Failed;
    };
    if let Amount::Executions { wanted, jobs } = amount {
        return turns::run(&fuzzers, log, wanted, jobs);
    }
    if !fuzzers.build(log) {
        return Outcome::Failed;
    }
    let seconds = match amount {
        Amount::Each(seconds) => seconds,
        Amount::Executions { .. } => unreachable!("handled above"),
    };
    let mut passed = true;
    for target in &fuzzers.targets {
        let slice = fuzzers.run_slice(target, Pace::Thorough, seconds);
        slice.tell(log, target);
        if let End::Found(name) = &slice.end {
            log.say(&slice::remedy(target, name));
        }
        passed &= slice.end == End::Whole;
    }
    passed.into()
}

/// The targets, and where they are.
struct Fuzzers<'a> {
    house: &'a House,
    /// The names of the files in `fuzz/fuzz_targets`, without `.rs`.
    targets: Vec<String>,
    /// The folder in which cargo-fuzz puts the programs.
    programs: PathBuf,
}

impl<'a> Fuzzers<'a> {
    /// `None` if there are no targets, or if the compiler's host is unknown.
    fn open(house: &'a House) -> Option<Self> {
        let files = fs::read_dir(house.root.join("fuzz/fuzz_targets")).into_iter().flatten().flatten();
        let mut targets: Vec<String> = files
            .map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
            .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
            .collect();
        targets.sort_unstable();
        let version = house.says("rustup", &["run", "nightly", "rustc", "-vV"])?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: "))?;
        let programs = house.target.join("fuzz").join(host).join("release");
        (!targets.is_empty()).then_some(Self { house, targets, programs })
    }

    fn build(&self, log: &mut Log) -> bool {
        log.run(&mut self.build_command())
    }

    fn build_command(&self) -> Command {
        let mut command = self.house.command("rustup");
        command.args(["run", "nightly", "cargo", "fuzz", "build", "--target-dir"]).arg(self.house.target.join("fuzz"));
        // Reporting each comparison to libFuzzer took half the time of `encode`, and a fifth of the time of the other
        // targets. libFuzzer would learn JSON's words from comparisons; `fuzz/json.dict` provides them instead.
        command.arg("--no-trace-compares");
        // Line tables are for the stack traces of findings.
        command.env("JIRD_CHECKED", "1").env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only");
        command
    }
}
