//! The Python module: built as a wheel, installed into a virtual environment that is thrown away, and tested there.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::house::House;
use crate::step::{Log, Outcome, Step};

/// What builds and tests the module. orjson is the model for most of what `dumps` does, numpy's arrays are written,
/// msgspec and pydantic have classes of their own, pyarrow, pandas, polars and duckdb read streams of Arrow, atheris
/// fuzzes, and web frameworks get responses.
const NEEDED: [&str; 18] = [
    "maturin==1.16.0",
    "pytest==9.2.0",
    "hypothesis==6.170.17",
    "numpy==2.4.6",
    "orjson==3.13.0",
    "msgspec==0.22.0",
    "pydantic==2.14.4",
    "pyarrow==26.0.1",
    "pandas==3.1.1",
    "polars==2.1.0",
    "duckdb==2.0.0",
    "atheris==3.0.0",
    "flask==3.1.3",
    "starlette==1.10.0",
    "httpx==0.28.1",
    "django==5.2.19",
    "aiohttp==3.14.5",
    "sqlalchemy==2.1.9",
];

/// What tests the data source for Spark: Spark itself, which takes half a gigabyte, a server of S3, and Daft, which reads
/// streams of Arrow.
const SPARK: [&str; 6] =
    ["maturin==1.16.0", "pytest==9.2.0", "pyarrow==26.0.1", "pyspark==4.3.0", "moto[server]==5.2.5", "daft==0.7.26"];

/// Its tests, which nothing else runs.
const SPARK_TESTS: [&str; 4] = ["test_spark.py", "test_spark_write.py", "test_spark_cluster.py", "test_spark_more.py"];

/// The command line, which is in the wheel, takes minutes to optimise, and its own tests run it optimised.
const QUICK: [&str; 2] = ["--config", "profile.dev.package.jird-cli.opt-level=0"];

/// Builds of Python with checks of their own, as Debian names them.
const DEBUG: [&str; 4] = ["python3-dbg", "python3.13-dbg", "python3.12-dbg", "python3.11-dbg"];

/// The tests of what a program does while the module works.
const HOST_TESTS: [&str; 4] = ["test_calls.py", "test_hosts.py", "test_hostile.py", "test_typed_hostile.py"];

const CRATE: &str = "crates/jird-python";

/// The distribution with the program that has SQL.
const PROGRAM: &str = "crates/jird-cli";

/// The most that the wheel of the module may have.
const WHEEL_BYTES_MAX: u64 = 6_000_000;

pub(crate) fn step() -> Step {
    Step::new("python", "the Python module: clippy, its wheel, and its tests in a virtual environment", run)
}

fn run(house: &House, log: &mut Log) -> Outcome {
    let environment = match Environment::new(house, log, "xtask/python", &NEEDED) {
        Ok(environment) => environment,
        Err(outcome) => return outcome,
    };
    let python = &environment.python;
    let mut clippy = house.cargo(["clippy", "--package", "jird-python", "--features", "extension"]);
    let clippy = log.run(clippy.env("PYO3_PYTHON", python).args(["--", "-D", "warnings"]));
    // Optimised, with the checks of debug builds: as all tests are.
    let mut build = environment.maturin(house, CRATE, "dev");
    let wheel = log.run(build.args(QUICK).args(["--interpreter"]).arg(python));
    let installed = wheel && environment.install(house, log, "jird");
    let tested = installed && test(house, log, &environment, &[CRATE.to_owned()]);
    (clippy && tested).into()
}

/// Builds the module, and tests its data source in Spark, in one process and on a cluster of three.
pub(crate) fn spark(house: &House, log: &mut Log) -> Outcome {
    if !house.answers("java", &["-version"]) {
        return Outcome::Skipped("no Java for Spark: apt-get install default-jre-headless".into());
    }
    let environment = match Environment::new(house, log, "xtask/spark", &SPARK) {
        Ok(environment) => environment,
        Err(outcome) => return outcome,
    };
    let mut build = environment.maturin(house, CRATE, "dev");
    let wheel = log.run(build.args(QUICK).args(["--interpreter"]).arg(&environment.python));
    let tests = SPARK_TESTS.map(|name| format!("{CRATE}/tests/{name}"));
    (wheel && environment.install(house, log, "jird") && test(house, log, &environment, &tests)).into()
}

pub(crate) fn debug_step() -> Step {
    Step::new("hosts", "the Python module under a debug build of Python, in a hostile program", |house, log| {
        let Some(python) = debug_python(house) else {
            return Outcome::Skipped("no debug build of Python: apt-get install python3-dbg python3-dev".into());
        };
        let environment = match Environment::of(house, log, python, "xtask/hosts", &NEEDED[1..2]) {
            Ok(environment) => environment,
            Err(outcome) => return outcome,
        };
        let mut build = house.cargo(["build", "--package", "jird-python", "--features", "extension"]);
        let built = log.run(build.args(QUICK).env("PYO3_PYTHON", &environment.python));
        let tests = HOST_TESTS.map(|name| format!("{CRATE}/tests/{name}"));
        let library = house.target.join("debug/lib_jird.so");
        (built && environment.copy(house, log, &library) && test(house, log, &environment, &tests)).into()
    })
}

/// An hour in a hostile program, with AddressSanitizer, under a debug build of Python if there is one.
pub(crate) fn hostile(house: &House, log: &mut Log) -> Outcome {
    let python = debug_python(house).unwrap_or("python3");
    let Some(runtime) = house.says("cc", &["-print-file-name=libasan.so"]) else {
        return Outcome::Skipped("no C compiler, whose AddressSanitizer is loaded: apt-get install gcc".into());
    };
    if !house.answers("rustup", &["run", "nightly", "rustc", "--version"]) {
        return Outcome::Skipped("no nightly toolchain: rustup toolchain install nightly".into());
    }
    let environment = match Environment::of(house, log, python, "xtask/hostile", &[]) {
        Ok(environment) => environment,
        Err(outcome) => return outcome,
    };
    let (triple, folder) = ("x86_64-unknown-linux-gnu", house.target.join("asan"));
    let mut build = house.command("rustup");
    build.args(["run", "nightly", "cargo", "build", "--package", "jird-python", "--features", "extension"]);
    build.args(["--target", triple, "--target-dir"]).arg(&folder).args(QUICK);
    build.env("RUSTFLAGS", "-Zsanitizer=address").env("PYO3_PYTHON", &environment.python);
    let library = folder.join(triple).join("debug/lib_jird.so");
    let mut fuzz = inside(house, &environment.python, &environment.place);
    fuzz.arg(format!("{CRATE}/fuzz/hostile.py")).args(["--seconds", "3600"]);
    // Python's own pools would hide what is freed.
    fuzz.env("LD_PRELOAD", runtime.trim()).env("PYTHONMALLOC", "malloc").env("ASAN_OPTIONS", "detect_leaks=0");
    (log.run(&mut build) && environment.copy(house, log, &library) && log.run(&mut fuzz)).into()
}

/// A build of Python with checks of its own.
fn debug_python(house: &House) -> Option<&'static str> {
    let is_debug = ["-c", "import sys, venv; sys.gettotalrefcount()"];
    DEBUG.into_iter().find(|python| house.answers(python, &is_debug))
}

/// Builds both distributions as they are released, and uses them: the module alone, and then with the program.
pub(crate) fn wheels(house: &House, log: &mut Log) -> Outcome {
    let environment = match Environment::new(house, log, "xtask/wheels", &NEEDED[..1]) {
        Ok(environment) => environment,
        Err(outcome) => return outcome,
    };
    let Environment { python, place } = &environment;
    let answer = |log: &mut Log, wanted: &str| {
        let mut command = inside(house, python, place);
        let code = format!(
            "import jird\n\
             try:\n    found = list(jird.query('select count(*) as n', 'examples/events.ndjson'))\n\
             except ImportError as error:\n    found = str(error)[:21]\n\
             print(found)\nassert str(found) == {wanted:?}\n"
        );
        command.args(["-c", &code]).env_remove("JIRD_PROGRAM").env("PATH", place.join("bin"));
        log.run(&mut command)
    };
    let mut build = environment.maturin(house, CRATE, "wheel");
    let module = log.run(build.args(["--interpreter"]).arg(python));
    let alone = module
        && is_small_enough(log, &place.join("wheels"))
        && environment.install(house, log, "jird")
        && answer(log, "SQL is not in this pa");
    let program = alone && log.run(&mut environment.maturin(house, PROGRAM, "release"));
    let both = program && environment.install(house, log, "jird[query]") && answer(log, "[{'n': 3000}]");
    both.into()
}

/// Whether no wheel in the folder is larger than it may be. They are named in the log.
fn is_small_enough(log: &mut Log, wheels: &Path) -> bool {
    let mut found = fs::read_dir(wheels).into_iter().flatten().flatten().peekable();
    found.peek().is_some()
        && found.all(|wheel| {
            let bytes = wheel.metadata().map_or(u64::MAX, |data| data.len());
            let verdict = if bytes <= WHEEL_BYTES_MAX { "" } else { "error: " };
            log.say(&format!("{verdict}{}: {bytes} bytes of at most {WHEEL_BYTES_MAX}", wheel.path().display()));
            bytes <= WHEEL_BYTES_MAX
        })
}

/// A virtual environment that is thrown away.
struct Environment {
    place: PathBuf,
    python: PathBuf,
}

impl Environment {
    /// Makes one in the target folder, with these packages.
    fn new(house: &House, log: &mut Log, folder: &str, packages: &[&str]) -> Result<Self, Outcome> {
        Self::of(house, log, "python3", folder, packages)
    }

    /// The same, of another interpreter.
    fn of(house: &House, log: &mut Log, python: &str, folder: &str, packages: &[&str]) -> Result<Self, Outcome> {
        if !house.answers(python, &["-m", "venv", "--help"]) {
            return Err(Outcome::Skipped("no python3 with venv: apt-get install python3-venv".into()));
        }
        let place = house.target.join(folder);
        let _ = fs::remove_dir_all(&place);
        if !log.run(house.command(python).args(["-m", "venv"]).arg(&place)) {
            return Err(Outcome::Failed);
        }
        let environment = Self { python: place.join("bin/python"), place };
        if !packages.is_empty() && !log.run(environment.pip(house).args(packages)) {
            return Err(Outcome::Skipped(format!("pip cannot install {}", packages.join(", "))));
        }
        Ok(environment)
    }

    fn pip(&self, house: &House) -> Command {
        let mut command = inside(house, &self.python, &self.place);
        command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        command
    }

    /// Installs a distribution from a wheel that was built here.
    fn install(&self, house: &House, log: &mut Log, name: &str) -> bool {
        log.run(self.pip(house).args(["--no-index", "--find-links"]).arg(self.place.join("wheels")).arg(name))
    }

    /// Puts the package there, with an extension module that cargo has built.
    fn copy(&self, house: &House, log: &mut Log, library: &Path) -> bool {
        let python = self.python.to_string_lossy();
        let code = "import sysconfig; print(sysconfig.get_path('purelib'))";
        let Some(packages) = house.says(&python, &["-c", code]) else { return false };
        let package = Path::new(packages.trim()).join("jird");
        let python = house.root.join(CRATE).join("python/jird");
        log.run(house.command("cp").arg("-r").arg(python).arg(&package))
            && log.run(house.command("cp").arg(library).arg(package.join("_jird.so")))
    }

    /// A build of a crate's wheel by a profile of cargo.
    fn maturin(&self, house: &House, folder: &str, profile: &str) -> Command {
        let mut build = inside(house, &self.python, &self.place);
        // Of 7 MB, the best compression saves 0.2.
        build.args(["-m", "maturin", "build", "--quiet", "--compression-level", "9"]);
        build.args(["--profile", profile, "--manifest-path"]);
        build.arg(Path::new(folder).join("Cargo.toml")).arg("--out").arg(self.place.join("wheels"));
        build
    }
}

/// The virtual environment's Python, in the workspace's root.
fn inside(house: &House, python: &Path, place: &Path) -> Command {
    let mut command = house.command(&python.to_string_lossy());
    command.env("VIRTUAL_ENV", place).env_remove("PYTHONPATH").env("CARGO_TARGET_DIR", &house.target);
    command
}

/// Runs the tests, and says of them in the log what the report looks for: how many there were, and what was skipped.
fn test(house: &House, log: &mut Log, environment: &Environment, tests: &[String]) -> bool {
    let mut command = inside(house, &environment.python, &environment.place);
    command.args(["-m", "pytest", "-rs", "--color=no", "-p", "no:cacheprovider"]).args(tests);
    // The step `tests` has built the program with SQL, which takes many minutes.
    let program = house.target.join("debug/jird");
    if house.answers(&program.to_string_lossy(), &["query", "--help"]) {
        command.env("JIRD_TEST_PROGRAM", program);
    }
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
