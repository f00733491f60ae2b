//! Checks that the cost of every entry point of jird is linear. Valgrind counts the instructions.
use crate::house::House;
use crate::step::{Log, Outcome, Step};

/// The cases that look at a document's values. They run once more in a build in which tapes have small limits, so that
/// a small text has containers of the largest kind.
const VALUES: &str = "a value ·";

/// What is shipped has no symbols, and valgrind counts the calls of a function that it knows by name.
const RUN: [&str; 5] = ["run", "--profile", "profiling", "--package", "growth"];

pub(crate) fn step() -> Step {
    Step::new("growth", "no way into jird takes more than linear time, in instructions", |house, log| {
        if !house.answers("valgrind", &["--version"]) {
            return Outcome::Skipped("no valgrind: apt-get install valgrind".into());
        }
        let all = log.run(&mut house.cargo(RUN));
        (all & small_limits(house, log)).into()
    })
}

/// In the same target folder, so that the packages of others are compiled once.
fn small_limits(house: &House, log: &mut Log) -> bool {
    log.run(house.cargo(RUN).args(["--", VALUES]).env("JIRD_SMALL_LIMITS", "1"))
}
