//! What a cold build of the program costs, what comes out of it, and how it starts, compared with `xtask/budget.txt`.
use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::house::House;
use crate::step::{Log, Outcome, children_cpu_seconds};

const BUDGET: &str = include_str!("../budget.txt");

/// A start is measured so often; the median counts.
const STARTS: usize = 21;

/// Builds the program from nothing, and compares the figures with the budget.
pub(crate) fn run(house: &House, log: &mut Log) -> Outcome {
    let target = house.target.join("budget");
    if target.exists() && fs::remove_dir_all(&target).is_err() {
        log.say("error: the folder of the last measurement cannot be removed");
        return Outcome::Failed;
    }
    let (Some(cpu), started) = (children_cpu_seconds(), Instant::now()) else {
        return Outcome::Skipped("no /proc/self/stat, which knows the time of child processes".into());
    };
    let mut build = house.cargo(["build", "--release", "--locked", "--package", "jird-cli", "--target-dir"]);
    if !log.run(build.arg(&target)) {
        return Outcome::Failed;
    }
    let wall = started.elapsed().as_secs_f64();
    let cpu = children_cpu_seconds().unwrap_or_default() - cpu;
    let program = target.join("release/jird");
    let bytes = fs::metadata(&program).map_or(0, |data| data.len());
    let ten = house.root.join("examples/orders.csv");
    #[expect(clippy::cast_precision_loss, reason = "a size in megabytes")]
    let found = [
        ("wall-minutes", wall / 60.0),
        ("cpu-minutes", cpu / 60.0),
        ("binary-megabytes", bytes as f64 / 1e6),
        ("version-milliseconds", start(Command::new(&program).arg("--version"))),
        ("query-milliseconds", start(Command::new(&program).args(["query", "select count(*) as n"]).arg(ten))),
    ];
    judge(&found, log).into()
}

/// Whether no figure is above its limit.
fn judge(found: &[(&str, f64)], log: &mut Log) -> bool {
    let mut holds = true;
    for (name, figure) in found {
        let limit = limit(name);
        let verdict = if limit.is_some_and(|limit| *figure <= limit) { "" } else { "error: " };
        holds &= verdict.is_empty();
        log.say(&format!("{verdict}{name}: {figure:.1}, and the limit is {}", limit.unwrap_or(f64::NAN)));
    }
    holds
}

/// The limit of a figure.
fn limit(name: &str) -> Option<f64> {
    let line = BUDGET.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The median of some starts of a program, in milliseconds.
fn start(command: &mut Command) -> f64 {
    let mut times: Vec<f64> = (0..STARTS)
        .map(|_| {
            let started = Instant::now();
            let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
            if status.is_ok_and(|status| status.success()) {
                1e3 * started.elapsed().as_secs_f64()
            } else {
                f64::INFINITY
            }
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[STARTS / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_a_limit() {
        for name in ["wall-minutes", "cpu-minutes", "binary-megabytes", "version-milliseconds", "query-milliseconds"] {
            assert!(limit(name).is_some_and(|limit| limit > 0.0), "{name}");
        }
        assert_eq!(limit("wall"), None);
        assert!(children_cpu_seconds().is_some());
    }
}
