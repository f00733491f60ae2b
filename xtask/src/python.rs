//! The Python module: built as a wheel, installed into a virtual environment that is thrown away, and tested there.
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::house::House;
use crate::step::{Log, Outcome, Step};

/// What builds and tests the module. orjson is the model for most of what `dumps` does, numpy's arrays are written,
/// msgspec and pydantic have classes of their own, and pyarrow reads streams of Arrow.
const NEEDED: [&str; 8] = [
    "maturin==1.16.0",
    "pytest==9.2.0",
    "hypothesis==6.170.17",
    "numpy==2.4.6",
    "orjson==3.13.0",
    "msgspec==0.22.0",
    "pydantic==2.14.4",
    "pyarrow==26.0.1",
];

/// The command line, which is in the wheel, takes minutes to optimise, and its own tests run it optimised.
const QUICK: [&str; 2] = ["--config", "profile.dev.package.jird-cli.opt-level=0"];

const CRATE: &str = "crates/jird-python";

pub(crate) fn step() -> Step {
    Step::new("python", "the Python module: clippy, its wheel, and its tests in a virtual environment", run)
}

fn run(house: &House, log: &mut Log) -> Outcome {
    if !house.answers("python3", &["-m", "venv", "--help"]) {
        return Outcome::Skipped("no python3 with venv: apt-get install python3-venv".into());
    }
    let place = house.target.join("xtask/python");
    let _ = fs::remove_dir_all(&place);
    if !log.run(house.command("python3").args(["-m", "venv"]).arg(&place)) {
        return Outcome::Failed;
    }
    let python = place.join("bin/python");
    let pip = |arguments: &[&str]| {
        let mut command = inside(house, &python, &place);
        command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(arguments);
        command
    };
    if !log.run(&mut pip(&NEEDED)) {
        return Outcome::Skipped(format!("pip cannot install {}", NEEDED.join(", ")));
    }
    let mut clippy = house.cargo(["clippy", "--package", "jird-python", "--features", "extension"]);
    let clippy = log.run(clippy.env("PYO3_PYTHON", &python).args(["--", "-D", "warnings"]));
    // Optimised, with the checks of debug builds: as all tests are.
    let mut build = inside(house, &python, &place);
    build.args(["-m", "maturin", "build", "--quiet", "--profile", "dev", "--manifest-path"]);
    build.arg(Path::new(CRATE).join("Cargo.toml")).arg("--out").arg(place.join("wheels"));
    let wheel = log.run(build.args(QUICK).args(["--interpreter"]).arg(&python));
    let wheels = place.join("wheels").to_string_lossy().into_owned();
    let installed = wheel && log.run(&mut pip(&["--no-index", "--find-links", &wheels, "jird"]));
    let tested = installed && test(house, log, &python, &place);
    (clippy && tested).into()
}

/// The virtual environment's Python, in the workspace's root.
fn inside(house: &House, python: &Path, place: &Path) -> Command {
    let mut command = house.command(&python.to_string_lossy());
    command.env("VIRTUAL_ENV", place).env_remove("PYTHONPATH").env("CARGO_TARGET_DIR", &house.target);
    command
}

/// Runs the tests, and says of them in the log what the report looks for: how many there were, and what was skipped.
fn test(house: &House, log: &mut Log, python: &Path, place: &Path) -> bool {
    let mut command = inside(house, python, place);
    command.args(["-m", "pytest", "-rs", "--color=no", "-p", "no:cacheprovider", CRATE]);
    let passed = log.run(command.env("PYTHONDONTWRITEBYTECODE", "1"));
    let text = log.text();
    let (mut ok, mut bad) = (0, 0);
    for line in text.lines() {
        if let Some((_, what)) = line.split_once(": skipped: ").filter(|_| line.starts_with("SKIPPED ")) {
            log.say(&format!("skipped: {what}"));
        }
        if let Some(counts) = counts(line) {
            (ok, bad) = counts;
        }
    }
    log.say(&format!("test result: {}. {ok} passed; {bad} failed", if passed { "ok" } else { "FAILED" }));
    passed && ok > 0
}

/// The numbers of tests that passed and failed, from pytest's last line: `3 failed, 210 passed in 9.81s`.
fn counts(line: &str) -> Option<(u64, u64)> {
    let (counts, _) = line.trim_matches([' ', '=']).split_once(" in ")?;
    let mut found = (0, 0);
    for part in counts.split(", ") {
        match part.split_once(' ')? {
            (count, "passed") => found.0 = count.parse().ok()?,
            (count, "failed" | "error" | "errors") => found.1 += count.parse::<u64>().ok()?,
            (count, "skipped" | "deselected" | "xfailed" | "warning" | "warnings") => drop(count.parse::<u64>().ok()?),
            _ => return None,
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn the_last_line_of_pytest_is_understood_and_no_other() {
        assert_eq!(counts("210 passed in 9.81s"), Some((210, 0)));
        assert_eq!(counts("3 failed, 210 passed, 1 skipped, 2 errors in 9.81s"), Some((210, 5)));
        assert_eq!(counts("====== 1 passed, 2 warnings in 0.10s ======"), Some((1, 0)));
        assert_eq!(counts("a line in which 3 passed in a row"), None);
        assert_eq!(counts("SKIPPED [1] tests/conftest.py:15: skipped: the corpus"), None);
    }
}
