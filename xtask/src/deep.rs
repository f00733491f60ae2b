//! The checks that take too long for every change.
use crate::budget;
use crate::deb;
use crate::fuzz::{self, Amount};
use crate::growth;
use crate::house::House;
use crate::migrate;
use crate::miri;
use crate::packages;
use crate::platforms;
use crate::python;
use crate::step::{Log, Outcome, Step};
use crate::test::{aarch64, both, limits, narrow};

/// How long to fuzz each target, unless an option says otherwise.
pub(crate) const FUZZING: Amount = Amount::Each(5 * 60);

pub(crate) fn steps(fuzzing: Amount) -> Vec<Step> {
    let mut steps = vec![
        Step::new("exhaustive", "every token string up to length 7 against the reference", |house, log| {
            let mut command = house.cargo(["test", "--release", "--package", "jird", "--lib", "--tests"]);
            log.run_tests(command.env("JIRD_EXHAUSTIVE", "7"))
        }),
        Step::new("checked", "the same in the checked build, up to length 6", |house, log| {
            let mut command = house.cargo(["test", "--release", "--package", "jird", "--lib", "--tests"]);
            command.arg("--target-dir").arg(house.target.join("checked"));
            log.run_tests(command.env("JIRD_EXHAUSTIVE", "6").env("JIRD_CHECKED", "1"))
        }),
        Step::new("limits", "documents of the largest sizes, in a build where these are small", limits),
        Step::new("large", "streams beyond 4 GiB and documents of a gigabyte", |house, log| {
            let mut command = house.cargo(["test", "--release", "--package", "jird", "--test", "large"]);
            // One test at a time, because one of them measures the process's memory.
            log.run_tests(command.env("JIRD_LARGE", "1").env("RUST_TEST_THREADS", "1"))
        }),
        Step::new(
            "queries",
            "5,000 seeds of random queries against their model, 500 of them by all ways of input; DataFusion's own tests",
            |house, log| {
                let mut command = house.cargo(["test", "--release", "--package", "jird-query", "--test", "queries"]);
                command.env("JIRD_QUERY_SEEDS", "5000").env("JIRD_QUERY_ALL_WAYS", "500");
                log.run_tests(command.env("JIRD_SUITE", "all"))
            },
        ),
        Step::new(
            "random",
            "5,000 random queries beside DuckDB, 2,000 mutated ones, 500 by all ways of input and numbers of threads",
            |house, log| {
                let mut command =
                    house.cargo(["test", "--release", "--package", "jird-cli", "--test", "all", "random"]);
                log.run_tests(command.env("JIRD_RANDOM", "5000 2000 500"))
            },
        ),
        Step::new(
            "stores",
            "10,000 random queries over stores of a million events, beside the file of the events",
            stores,
        ),
        Step::new("growth", "the cost of every way into jird, and of the program's commands, is linear", growth::run),
        Step::new("aarch64", "all tests of the engine on an emulated aarch64", |house, log| {
            aarch64(house, log, &["--lib", "--test", "all", "--test", "exhaustive", "--test", "miri"])
        }),
        Step::new("narrow", "all tests of the engine on 32 bits, on i686", narrow),
        Step::new("fuzz", "every fuzz target for minutes, or up to a number of executions", move |house, log| {
            fuzz::run(house, log, fuzzing)
        }),
        Step::new("miri", "every public way in under Miri, for hours", |house, log| {
            miri::run(house, log, miri::Amount::Long)
        }),
        Step::new("binary", "the released binary answers a query", binary),
        Step::new(
            "small",
            "the first command of README.md answers without the SQL engine, and says what it lacks",
            small,
        ),
        Step::new("install", "cargo install installs the binary and nothing else", |house, log| {
            packages::install(house, log, &[])
        }),
        Step::new("debian", "the Debian package is installed, used and removed", |house, log| {
            deb::run(house, log, &[])
        }),
        Step::new("wheels", "both Python distributions are built, installed and used", python::wheels),
        Step::new("cluster", "queries on a scheduler and two executors of Ballista: format, clippy, tests", cluster),
        Step::new("spark", "jird.spark in Spark itself, alone and on a cluster of three; Daft", python::spark),
        Step::new(
            "hostile",
            "the Python module in a hostile program, for an hour, with AddressSanitizer",
            python::hostile,
        ),
        Step::new(
            "trust",
            "a served database, with other processes at it: nothing lost, mixed, stale or held up",
            trust,
        ),
        Step::new("publish", "every package of a clean clone builds by itself", packages::publish),
        Step::new(
            "migrate",
            "ten crates, and serde_json itself, pass their tests with jird-serde-json for serde_json",
            migrate::run,
        ),
        Step::new("budget", "a cold build, its program and its start cost no more than they may", budget::run),
        Step::new("bars", "the barometer's bars hold", |house, log| {
            if !house.answers("c++", &["--version"]) {
                return Outcome::Skipped("no C++ compiler for the peers".into());
            }
            let tested = log.run_tests(&mut house.cargo(["test", "--release", "--package", "bench"]));
            both(tested, log.run(&mut house.cargo(["run", "--release", "--package", "bench", "--", "--bars"])).into())
        }),
        Step::new("itself", "the barometer takes a build to be as fast as itself, within 2 %", |house, log| {
            let tasks = ["--task", "scan,validate,parse,dom,small,two,partial", "--peer", "jird"];
            let mut bench = house.cargo(["run", "--release", "--package", "bench", "--", "--within", "2%"]);
            bench.arg("--against").arg(house.target.join("release/bench")).args(tasks);
            // Short turns, so that what slows the machine for a while slows both.
            log.run(bench.args(["--milliseconds", "4", "--rounds", "41"])).into()
        }),
    ];
    steps.extend(platforms::steps());
    steps
}

/// The crate has a workspace of its own, whose build takes longer than all else together. `.ci/cluster` runs this step.
fn cluster(house: &House, log: &mut Log) -> Outcome {
    const MANIFEST: [&str; 2] = ["--manifest-path", "crates/jird-cluster/Cargo.toml"];
    let formatted = log.run(house.cargo(["fmt", "--check"]).args(MANIFEST));
    let linted = log.run(house.cargo(["clippy", "--all-targets"]).args(MANIFEST).args(["--", "-D", "warnings"]));
    // The features of the crates that it uses are on here alone.
    let others = ["--package", "jird-query", "--package", "jird-cli"];
    let theirs = log.run(house.cargo(["clippy"]).args(MANIFEST).args(others).args(["--", "-D", "warnings"]));
    let parts = ["test", "--package", "jird-query", "--features", "cluster", "--lib", "cluster::"];
    let parts = log.run_tests(&mut house.cargo(parts));
    let tested = log.run_tests(house.cargo(["test"]).args(MANIFEST));
    both((formatted && linted && theirs).into(), both(parts, tested))
}

fn stores(house: &House, log: &mut Log) -> Outcome {
    let mut command =
        house.cargo(["test", "--release", "--package", "jird-cli", "--test", "all", "random_queries_over"]);
    log.run_tests(command.env("JIRD_RANDOM_STORE", "1000000 10000"))
}

/// The program with SQL, and a script that asks it.
fn trust(house: &House, log: &mut Log) -> Outcome {
    if !log.run(&mut house.cargo(["build", "--release", "--package", "jird-cli"])) {
        return Outcome::Failed;
    }
    let mut script = std::process::Command::new("python3");
    script.arg("bench/serve/trust.py").arg(house.target.join("release/jird")).current_dir(&house.root);
    log.run(&mut script).into()
}

/// The first query of README.md.
const FIRST: &str = "select Message where Elapsed > 200";

/// The build without the SQL engine, by the alias of `.cargo/config.toml`.
fn small(house: &House, log: &mut Log) -> Outcome {
    let ask = |query| house.says("cargo", &["jird", "query", query, "examples/events.ndjson"]);
    let readme = std::fs::read_to_string(house.root.join("README.md")).unwrap_or_default();
    let shown: Vec<_> = readme.lines().skip_while(|line| !line.contains(FIRST)).skip(1).take(3).collect();
    let Some(answer) = ask(FIRST) else {
        log.say("error: `cargo jird` does not answer the first query of README.md");
        return Outcome::Failed;
    };
    let is_shown = shown.len() == 3 && answer.lines().take(3).eq(shown) && answer.lines().count() == 930;
    if !is_shown {
        log.say("error: its answer is another one than README.md shows");
    }
    let lacks = ask("select Message order by Elapsed").is_none();
    if !lacks {
        log.say("error: it sorts, so it has an SQL engine");
    }
    Outcome::from(is_shown && lacks)
}

fn binary(house: &House, log: &mut Log) -> Outcome {
    let mut command = house.cargo(["run", "--release", "--package", "jird-cli", "--"]);
    let passed = log.run(command.args(["query", FIRST, "examples/events.ndjson"]));
    // The generator puts 310 slow events into every thousand.
    let rows = log.text().lines().filter(|line| line.starts_with("{\"Message\":")).count();
    if rows != 930 {
        log.say(&format!("error: {rows} rows, and not 930"));
    }
    Outcome::from(passed && rows == 930)
}
