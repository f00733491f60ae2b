//! The checks that take too long for every change.
use crate::fuzz;
use crate::step::{Outcome, Step};

/// Minutes of fuzzing per target, unless told otherwise.
pub(crate) const MINUTES: u64 = 5;

pub(crate) fn steps(minutes: u64) -> Vec<Step> {
    vec![
        Step::new("exhaustive", "every token string up to length 7 against the reference", |house, log| {
            let mut command = house.cargo(["test", "--release", "--package", "jird", "--lib", "--tests"]);
            log.run_tests(command.env("JIRD_EXHAUSTIVE", "7"))
        }),
        Step::new("checked", "the same in the checked build, up to length 6", |house, log| {
            let mut command = house.cargo(["test", "--release", "--package", "jird", "--lib", "--tests"]);
            command.arg("--target-dir").arg(house.target.join("checked"));
            log.run_tests(command.env("JIRD_EXHAUSTIVE", "6").env("JIRD_CHECKED", "1"))
        }),
        Step::new("large", "streams beyond 4 GiB and documents of a gigabyte", |house, log| {
            let mut command = house.cargo(["test", "--release", "--package", "jird", "--test", "large"]);
            // One after the other: one of them measures the process's memory.
            log.run_tests(command.env("JIRD_LARGE", "1").env("RUST_TEST_THREADS", "1"))
        }),
        Step::new("fuzz", "every fuzz target for minutes", move |house, log| {
            fuzz::run(house, log, fuzz::Time::Each(60 * minutes))
        }),
        Step::new("bars", "the barometer's bars hold", |house, log| {
            if !house.answers("c++", &["--version"]) {
                return Outcome::Skipped("no C++ compiler for the peers".into());
            }
            log.run(&mut house.cargo(["run", "--release", "--package", "bench", "--", "--bars"])).into()
        }),
    ]
}
