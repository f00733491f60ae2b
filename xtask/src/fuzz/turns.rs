//! Runs slices of all targets in turns, several targets at a time, until a number of executions is reached.
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Fuzzers;
use super::slice::{End, Pace, Slice, remedy};
use super::tally::{Entry, Tally};
use crate::step::{Log, Outcome};

/// The seconds of a slice. An interruption loses at most this much work of each running target.
const SLICE_SECONDS: u64 = 60;

/// One slice in this many is thorough.
const THOROUGH_EVERY: u64 = 4;

/// The files and folders that an execution depends on.
const CODE: [&str; 6] = [
    "crates/jird/src",
    "crates/jird/Cargo.toml",
    "crates/jird/build.rs",
    "testing/checks",
    "fuzz/fuzz_targets",
    "Cargo.lock",
];

/// Runs the targets, `jobs` at a time, until the tally has `wanted` executions. Does nothing if it has them already.
/// Fails if findings are open.
pub(super) fn run(fuzzers: &Fuzzers<'_>, log: &mut Log, wanted: u64, jobs: usize) -> Outcome {
    let path = fuzzers.house.root.join("fuzz/TALLY.md");
    let mut tally = match Tally::load(&path) {
        Ok(tally) => tally,
        Err(error) => return fail(log, &path, &error),
    };
    let regressions = fuzzers.house.root.join("fuzz/regressions");
    if tally.close(|target, name| regressions.join(target).join(name).is_file())
        && let Err(error) = tally.save(&path)
    {
        return fail(log, &path, &error);
    }
    if tally.executions() < wanted && !fuzzers.build(log) {
        return Outcome::Failed;
    }
    let turns = Turns {
        targets: fuzzers.targets.clone(),
        wanted,
        code: code(fuzzers),
        stopped: tally.open().iter().map(|(target, _)| (*target).to_owned()).collect(),
        running: BTreeSet::new(),
        broken: false,
        tally,
        path,
        log,
    };
    let turns = Mutex::new(turns);
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| work(fuzzers, &turns));
        }
    });
    turns.into_inner().unwrap_or_else(PoisonError::into_inner).conclude()
}

fn fail(log: &mut Log, path: &Path, error: &io::Error) -> Outcome {
    log.say(&format!("error: {}: {error}", path.display()));
    Outcome::Failed
}

fn work(fuzzers: &Fuzzers<'_>, turns: &Mutex<Turns<'_>>) {
    loop {
        // A separate statement, so that the lock is released before this worker runs its slice.
        let turn = lock(turns).begin();
        let Some((target, pace)) = turn else { return };
        let slice = fuzzers.run_slice(&target, pace, SLICE_SECONDS);
        let day = fuzzers.house.says("date", &["-u", "+%F"]).unwrap_or_default();
        lock(turns).end(&target, &slice, day.trim());
    }
}

fn lock<'t, 'l>(turns: &'t Mutex<Turns<'l>>) -> MutexGuard<'t, Turns<'l>> {
    turns.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state that the workers share.
struct Turns<'l> {
    targets: Vec<String>,
    wanted: u64,
    code: String,
    /// Targets that must not run, because a finding of theirs is open or they cannot be started.
    stopped: BTreeSet<String>,
    running: BTreeSet<String>,
    /// A target stopped without a finding, or the tally could not be written.
    broken: bool,
    tally: Tally,
    path: PathBuf,
    log: &'l mut Log,
}

impl Turns<'_> {
    /// The target whose turn it is, which is the one that ran for the shortest time. `None` at the end.
    fn begin(&mut self) -> Option<(String, Pace)> {
        if self.tally.executions() >= self.wanted {
            return None;
        }
        let free =
            self.targets.iter().filter(|target| !self.stopped.contains(*target) && !self.running.contains(*target));
        let target = free.min_by_key(|target| self.tally.seconds(target))?.clone();
        self.running.insert(target.clone());
        let thorough = self.tally.slices(&target) % THOROUGH_EVERY == THOROUGH_EVERY - 1;
        Some((target, if thorough { Pace::Thorough } else { Pace::Quick }))
    }

    /// Adds a slice to the tally's file.
    fn end(&mut self, target: &str, slice: &Slice, day: &str) {
        self.running.remove(target);
        slice.tell(self.log, target);
        let found = match &slice.end {
            End::Found(name) => Some(name.as_str()),
            End::Whole | End::Broken(_) => None,
        };
        if slice.end != End::Whole {
            self.stopped.insert(target.to_owned());
            self.broken |= found.is_none();
        }
        let (executions, seconds) = (slice.executions, slice.time.as_secs());
        self.tally.add(&Entry { target, code: &self.code, day, executions, seconds, found });
        if let Err(error) = self.tally.save(&self.path) {
            fail(self.log, &self.path, &error);
            self.broken = true;
            // Executions that cannot be counted are not worth running.
            self.stopped.extend(self.targets.iter().cloned());
        }
    }

    fn conclude(self) -> Outcome {
        let open = self.tally.open();
        let (all, with_code) = (self.tally.executions(), self.tally.executions_of(&self.code));
        self.log.say(&format!(
            "{all} executions of {} wanted, {with_code} of them with the code of {}; findings open: {}",
            self.wanted,
            self.code,
            open.len()
        ));
        open.iter().for_each(|(target, name)| self.log.say(&remedy(target, name)));
        let reached = all >= self.wanted;
        if !reached {
            self.log.say("error: no target is left that can be run");
        }
        Outcome::from(reached && open.is_empty() && !self.broken)
    }
}

/// The commit that last changed what an execution depends on, with a `+` if there are uncommitted changes.
fn code(fuzzers: &Fuzzers<'_>) -> String {
    let ask = |arguments: &[&str]| fuzzers.house.says("git", &[arguments, &["--"], &CODE].concat());
    let commit = ask(&["log", "-1", "--format=%h", "--abbrev=12"]).unwrap_or_default();
    let changes = ask(&["status", "--porcelain"]).unwrap_or_default();
    match (commit.trim(), changes.is_empty()) {
        ("", _) => "unknown".to_owned(),
        (commit, true) => commit.to_owned(),
        (commit, false) => format!("{commit}+"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Runs all turns as a single worker would, in a folder of its own. `run` returns a target's executions and end.
    fn all_turns(wanted: u64, mut run: impl FnMut(&str, Pace) -> (u64, End)) -> (Vec<String>, Tally, Outcome) {
        let folder = std::env::temp_dir().join(format!("turns-{}-{wanted}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the tally");
        let mut log = Log { path: folder.join("log"), cpu: 0.0 };
        std::fs::write(&log.path, "").expect("a log");
        let path = folder.join("TALLY.md");
        let mut turns = Turns {
            targets: ["a", "b", "c"].map(str::to_owned).to_vec(),
            wanted,
            code: "0123abc".into(),
            stopped: BTreeSet::new(),
            running: BTreeSet::new(),
            broken: false,
            tally: Tally::default(),
            path: path.clone(),
            log: &mut log,
        };
        let mut order = Vec::new();
        while let Some((target, pace)) = turns.begin() {
            let (executions, end) = run(&target, pace);
            turns.end(&target, &Slice::of(executions, Duration::from_mins(1), end), "2026-12-31");
            order.push(target);
        }
        let outcome = turns.conclude();
        let tally = Tally::load(&path).expect("it was written");
        std::fs::remove_dir_all(folder).expect("it can be removed");
        (order, tally, outcome)
    }

    #[test]
    fn slow_and_fast_targets_run_in_turns_until_the_count_is_reached() {
        let rate = |target: &str| if target == "b" { 1 } else { 100 };
        let (order, tally, outcome) = all_turns(601, |target, _| (rate(target), End::Whole));
        assert_eq!(order, ["a", "b", "c", "a", "b", "c", "a", "b", "c"]);
        assert_eq!((tally.executions(), outcome), (603, Outcome::Passed));
    }

    #[test]
    fn a_finding_stops_its_target_alone_and_fails_the_step() {
        let end = |target: &str| if target == "b" { End::Found("crash-1".into()) } else { End::Whole };
        let (order, tally, outcome) = all_turns(50, |target, _| (10, end(target)));
        assert_eq!(order, ["a", "b", "c", "a", "c"]);
        assert_eq!((tally.open(), outcome), (vec![("b", "crash-1")], Outcome::Failed));
    }

    #[test]
    fn a_target_that_cannot_be_started_fails_the_step() {
        let (order, tally, outcome) = all_turns(51, |_, _| (0, End::Broken("not found".into())));
        assert_eq!(order, ["a", "b", "c"]);
        assert_eq!((tally.executions(), outcome), (0, Outcome::Failed));
    }

    #[test]
    fn every_fourth_slice_of_a_target_is_thorough() {
        let mut paces = Vec::new();
        all_turns(24, |target, pace| {
            paces.extend((target == "c").then_some(pace == Pace::Thorough));
            (1, End::Whole)
        });
        assert_eq!(paces, [false, false, false, true, false, false, false, true]);
    }
}
