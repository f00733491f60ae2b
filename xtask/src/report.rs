//! Runs steps one after the other, or several at a time, and prints their results at the end.
use std::fs;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::house::House;
use crate::step::{Counts, Log, Outcome, Step, skips, why};

/// A step that has run.
struct Finished {
    name: &'static str,
    outcome: Outcome,
    time: Duration,
    /// The processor time of its commands, in seconds.
    cpu: f64,
    tests: Counts,
    skips: Vec<String>,
}

/// Runs the steps whose names begin with one of `names`, or all steps if `names` is empty. Fails if a step fails.
pub(crate) fn run(house: &House, steps: Vec<Step>, names: &[&str]) -> ExitCode {
    let known = |name: &&str| steps.iter().any(|step| step.name.starts_with(*name));
    if let Some(name) = names.iter().find(|name| !known(name)) {
        eprintln!("no step is called {name}: see --list");
        return ExitCode::from(2);
    }
    let wanted = |step: &Step| names.is_empty() || names.iter().any(|name| step.name.starts_with(name));
    let wanted: Vec<_> = steps.into_iter().filter(wanted).collect();
    let groups = wanted.chunk_by(|one, next| one.has_company && next.has_company);
    let done: Vec<Finished> = groups.flat_map(|group| run_group(house, group)).collect();
    conclude(house, &done)
}

/// How many steps run at a time. A build keeps two cores busy only for a part of its time, and so does a test.
const LANES: usize = 3;

/// Runs the steps, each as soon as a lane is free. Returns their results in order.
fn run_group(house: &House, steps: &[Step]) -> Vec<Finished> {
    let next = AtomicUsize::new(0);
    let lane = || {
        let taken = std::iter::from_fn(|| steps.get(next.fetch_add(1, Relaxed)).map(|step| run_step(house, step)));
        taken.collect::<Vec<_>>()
    };
    let mut done = thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES.min(steps.len())).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().flat_map(|lane| lane.join().expect("a step does not panic")).collect::<Vec<_>>()
    });
    done.sort_by_key(|done| steps.iter().position(|step| step.name == done.name));
    done
}

fn run_step(house: &House, step: &Step) -> Finished {
    // The output of a run that is killed shows which steps were running.
    println!("{:<18} …", step.name);
    let start = Instant::now();
    let (outcome, text, path, cpu) = match Log::create(house, step.name) {
        Ok(mut log) => ((step.run)(house, &mut log), log.text(), log.path, log.cpu),
        Err(error) => (Outcome::Failed, format!("{}: {error}\n", house.target.display()), house.target.clone(), 0.0),
    };
    if house.is_tidy {
        // What cannot be removed costs only disk space.
        step.folders.iter().for_each(|folder| drop(fs::remove_dir_all(house.target.join(folder))));
    }
    let (time, tests, skips) = (start.elapsed(), Counts::of(&text), skips(&text));
    let done = Finished { name: step.name, outcome, time, cpu, tests, skips };
    let why = match done.outcome {
        Outcome::Failed => format!("{}    the whole log: {}\n\n", why(&text), path.display()),
        _ => String::new(),
    };
    print!("{:<18} {} ({:.1} s, {:.0} s of CPU)\n{why}", done.name, done.word(), done.time.as_secs_f64(), done.cpu);
    done
}

impl Finished {
    fn word(&self) -> &'static str {
        match self.outcome {
            Outcome::Passed => "ok",
            Outcome::Failed => "FAILED",
            Outcome::Skipped(_) | Outcome::Impossible(_) => "skipped",
        }
    }

    /// The counts of a step's tests, or of the step itself if it runs no tests.
    fn counts(&self) -> Counts {
        match self.outcome {
            Outcome::Passed if self.tests == Counts::default() => Counts { passed: 1, failed: 0 },
            // The step failed although its tests passed: the build failed, or something crashed.
            Outcome::Failed => Counts { failed: self.tests.failed.max(1), ..self.tests },
            _ => self.tests,
        }
    }

    /// The parts that were skipped because something installable is missing.
    fn avoidable(&self) -> impl Iterator<Item = String> {
        let step = match &self.outcome {
            Outcome::Skipped(why) => Some(why),
            _ => None,
        };
        step.into_iter().chain(&self.skips).map(|why| format!("{}: {why}", self.name))
    }

    fn unavoidable(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Impossible(why) => Some(format!("{}: {why}", self.name)),
            _ => None,
        }
    }
}

fn conclude(house: &House, done: &[Finished]) -> ExitCode {
    println!("\n{:<18} {:<8} {:>8} {:>8} {:>8} {:>8}", "step", "result", "seconds", "CPU", "passed", "failed");
    for step in done {
        let Counts { passed, failed } = step.counts();
        let (name, word, time, cpu) = (step.name, step.word(), step.time.as_secs_f64(), step.cpu);
        println!("{name:<18} {word:<8} {time:>8.1} {cpu:>8.1} {passed:>8} {failed:>8}");
    }
    let avoidable: Vec<String> = done.iter().flat_map(Finished::avoidable).collect();
    let unavoidable: Vec<String> = done.iter().filter_map(Finished::unavoidable).collect();
    if !avoidable.is_empty() || !unavoidable.is_empty() {
        println!("\nskipped:");
        for skip in avoidable.iter().chain(&unavoidable) {
            println!("  {skip}");
        }
    }
    let Counts { passed, mut failed } = done.iter().map(Finished::counts).fold(Counts::default(), |sum, counts| {
        Counts { passed: sum.passed + counts.passed, failed: sum.failed + counts.failed }
    });
    let mut skipped = avoidable.len() + unavoidable.len();
    if house.require_all && !avoidable.is_empty() {
        println!("\nJIRD_REQUIRE_ALL=1: what could have been installed and was not counts as failed");
        failed += avoidable.len() as u64;
        skipped -= avoidable.len();
    }
    println!("\n{passed} passed, {failed} failed, {skipped} skipped");
    ExitCode::from(u8::from(failed > 0))
}
