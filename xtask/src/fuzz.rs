//! The fuzz targets, under AddressSanitizer and in the checked build, with cargo-fuzz and a nightly compiler.
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::house::House;
use crate::step::{Log, Outcome};

/// For how long.
#[derive(Clone, Copy)]
pub(crate) enum Time {
    /// Seconds, divided among the targets.
    InAll(u64),
    /// Seconds for each target.
    Each(u64),
}

/// Builds all targets and runs one after the other, each from its seeds and regressions. Failed if one of them found
/// something; the others are run all the same.
pub(crate) fn run(house: &House, log: &mut Log, time: Time) -> Outcome {
    if !house.answers("rustup", &["run", "nightly", "rustc", "--version"]) {
        return Outcome::Skipped("no nightly compiler: rustup toolchain install nightly".into());
    }
    if !house.answers("cargo-fuzz", &["fuzz", "--version"]) && !house.answers("cargo-fuzz", &["--version"]) {
        return Outcome::Skipped("no cargo-fuzz: cargo install --locked cargo-fuzz".into());
    }
    let targets = targets(&house.root);
    if !log.run(&mut cargo_fuzz(house, "build")) {
        return Outcome::Failed;
    }
    let seconds = match time {
        Time::InAll(seconds) => (seconds / targets.len().max(1) as u64).max(1),
        Time::Each(seconds) => seconds,
    };
    let mut passed = !targets.is_empty();
    for target in &targets {
        passed &= run_one(house, log, target, seconds);
    }
    passed.into()
}

/// The names of the targets: the files in `fuzz/fuzz_targets`.
fn targets(root: &Path) -> Vec<String> {
    let files = fs::read_dir(root.join("fuzz/fuzz_targets")).into_iter().flatten().flatten();
    let mut names: Vec<String> = files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort_unstable();
    names
}

fn run_one(house: &House, log: &mut Log, target: &str, seconds: u64) -> bool {
    // What a run learns stays out of the repository; the first folder is the one that libFuzzer writes to.
    let corpus = house.target.join("fuzz-corpus").join(target);
    if let Err(error) = fs::create_dir_all(&corpus) {
        log.say(&format!("error: {}: {error}", corpus.display()));
        return false;
    }
    let mut command = cargo_fuzz(house, "run");
    command.arg(target).arg(&corpus);
    let kept = ["seeds", "regressions"].map(|kind| house.root.join("fuzz").join(kind).join(target));
    command.args(kept.iter().filter(|folder| folder.is_dir()));
    command.arg("--").arg(format!("-max_total_time={seconds}"));
    command.args(["-timeout=20", "-rss_limit_mb=4096", "-print_final_stats=1"]);
    let passed = log.run(&mut command);
    if !passed {
        log.say(&format!(
            "error: {target} found something. Fix it, and keep the input for the ordinary tests: \
             mv fuzz/artifacts/{target}/* fuzz/regressions/{target}/"
        ));
    }
    passed
}

fn cargo_fuzz(house: &House, verb: &str) -> Command {
    let mut command = house.command("rustup");
    command.args(["run", "nightly", "cargo", "fuzz", verb, "--target-dir"]).arg(house.target.join("fuzz"));
    // Line tables for the stack traces of what is found.
    command.env("JIRD_CHECKED", "1").env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only");
    command
}
