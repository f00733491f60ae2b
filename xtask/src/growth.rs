//! Checks that the cost of every entry point of jird is linear. Valgrind counts the instructions.
use crate::house::House;
use crate::step::{Log, Outcome};

/// The cases that look at a document's values. They run once more in a build in which tapes have small limits, so that
/// a small text has containers of the largest kind.
const VALUES: &str = "a value ·";

/// What is shipped has no symbols, and valgrind counts the calls of a function that it knows by name.
const RUN: [&str; 6] = ["run", "--profile", "profiling", "--package", "growth", "--"];

pub(crate) fn run(house: &House, log: &mut Log) -> Outcome {
    if !house.answers("valgrind", &["--version"]) {
        return Outcome::Skipped("no valgrind: apt-get install valgrind".into());
    }
    let libraries = log.run(&mut house.cargo(RUN));
    // In the same target folder, so that the packages of others are compiled once.
    let small_limits = log.run(house.cargo(RUN).arg(VALUES).env("JIRD_SMALL_LIMITS", "1"));
    if !(libraries && small_limits) {
        return Outcome::Failed;
    }
    let mut commands = house.cargo(["test", "--release", "--package", "jird-cli", "--test", "all", "growth::"]);
    log.run_tests(commands.env("JIRD_GROWTH", "all"))
}
