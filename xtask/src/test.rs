//! The checks that must pass for every change.
//!
//! DataFusion takes many minutes to compile on two cores. So only a few steps link it, and they share what they build:
//! `lints` checks it, and `build` compiles it for `tests`, `doctests` and the kernels. For this reason these steps select the
//! same packages: a different selection could enable other features of shared dependencies, and everything would be compiled
//! again, the engine too. The binary is tested in `deep`, in its release form.
//!
//! What compares no times closely runs first, three steps at a time; then the rest, each alone.
use std::process::Command;

use crate::house::House;
use crate::step::{Log, Outcome, Step};
use crate::{assembly, layers, miri, packages, platforms, public, python};

/// Token strings up to this length are tried exhaustively where completeness matters most (see `JIRD_EXHAUSTIVE` in the
/// engine's tests)...
const EXHAUSTIVE: &str = "6";
/// ...up to this length where everything is slower...
const EXHAUSTIVE_SLOW: &str = "5";
/// ...up to this length under an emulator, where each token more takes minutes...
const EXHAUSTIVE_EMULATED: &str = "4";
/// ...and up to this length on a developer's machine, to take seconds instead of minutes.
const EXHAUSTIVE_QUICK: &str = "4";

pub(crate) fn steps(house: &House) -> Vec<Step> {
    if house.checked {
        return vec![checked()];
    }
    vec![
        Step::new("format", "rustfmt has nothing to change", |house, log| {
            log.run(&mut house.cargo(["fmt", "--all", "--check"])).into()
        }),
        layers::step(),
        packages::step(),
        // While `build` runs, what has a target folder of its own; then what takes turns in the common one.
        Step::new("build", "the programs of the unit and integration tests", build).in_company(),
        Step::new("miri", "every public way in under Miri, with small texts, in minutes", |house, log| {
            miri::run(house, log, miri::Amount::Short)
        })
        .long()
        .in_company()
        .alone_in(&["miri"]),
        Step::new("aarch64", "every public way into the engine, with NEON, on an emulated aarch64", |house, log| {
            aarch64(house, log, &["--test", "miri"])
        })
        .long()
        .in_company()
        .alone_in(&["aarch64"]),
        platforms::step().long().in_company().alone_in(&["platforms"]),
        assembly::step(assembly::Show::Nothing).long().in_company().alone_in(&["assembly"]),
        Step::new("lints", "clippy has nothing to say, in any target of the workspace", lints).in_company(),
        Step::new("doctests", "the examples in the documentation", |house, log| {
            log.run_tests(house.cargo(["test", "--doc"]).args(packages_of(house)))
        })
        .in_company(),
        public::step().in_company(),
        // Some of these compare times, with room for other work on the machine.
        Step::new("tests", "unit and integration tests of the workspace", tests).in_company(),
        python::step().long(),
        python::debug_step().long(),
        Step::new("kernel portable", "the engine's tests without SIMD", |house, log| {
            kernel(house, log, "portable", true)
        })
        .long(),
        Step::new("kernel avx2", "the engine's tests with AVX2", |house, log| kernel(house, log, "avx2", has_avx2()))
            .long(),
        Step::new("kernel avx512", "the engine's tests with AVX-512", |house, log| {
            kernel(house, log, "avx512", has_avx512())
        })
        .long(),
    ]
}

/// The steps that every change needs.
pub(crate) fn short(house: &House) -> Vec<Step> {
    let short = |step: &Step| house.checked || !step.is_long;
    steps(house).into_iter().filter(short).collect()
}

/// The packages that `tests` and `doctests` both select.
fn packages_of(house: &House) -> Vec<&'static str> {
    let mut selection = vec!["--workspace"];
    // Its binaries have a `main` only under cargo-fuzz.
    exclude(house, &mut selection, "jird-fuzz", "fuzz");
    // It compiles four engines of others. `deep` tests it before it measures.
    exclude(house, &mut selection, "bench", "bench");
    selection
}

fn exclude(house: &House, selection: &mut Vec<&'static str>, package: &'static str, folder: &str) {
    if house.has_member(folder) {
        selection.extend(["--exclude", package]);
    }
}

/// The barometer's peers and libFuzzer are written in C++. Nothing that users build is.
fn has_cpp(house: &House) -> bool {
    house.answers("c++", &["--version"])
}

fn lints(house: &House, log: &mut Log) -> Outcome {
    let mut selection = vec!["--workspace"];
    if !has_cpp(house) {
        log.say("skipped: bench and fuzz (no C++ compiler)");
        exclude(house, &mut selection, "bench", "bench");
        exclude(house, &mut selection, "jird-fuzz", "fuzz");
    }
    let mut command = house.cargo(["clippy", "--all-targets", "--keep-going"]);
    let all = log.run(command.args(selection).args(["--", "-D", "warnings"]));
    // With few features nothing may be missing, and nothing may be unused.
    let few = [
        ("jird", ""),
        ("jird", "serde"),
        ("jird", "jsonpath"),
        ("jird-formats", "csv"),
        ("jird-formats", "files"),
        ("jird-formats", "sqlite"),
        ("jird-query", ""),
        ("jird-cli", ""),
        ("jird-cli", "convert"),
        ("jird-cli", "query"),
        ("jird-cli", "serve"),
    ];
    let few = few.map(|(package, features)| {
        let mut command =
            house.cargo(["clippy", "--package", package, "--no-default-features", "--features", features]);
        log.run(command.args(["--", "-D", "warnings"]))
    });
    (all && !few.contains(&false)).into()
}

/// The tests of all packages, and those of a feature that changes results and that no other package turns on.
fn all_tests(house: &House) -> [Command; 2] {
    let mut most = most_tests(house);
    most.env("JIRD_EXHAUSTIVE", if house.require_all { EXHAUSTIVE } else { EXHAUSTIVE_QUICK });
    let mut digits = house.cargo(["test", "--package", "jird-serde-json", "--test", "digits"]);
    digits.args(["--features", "arbitrary_precision", "--config", "profile.dev.package.jird.opt-level=0"]);
    [most, digits]
}

fn most_tests(house: &House) -> Command {
    let mut command = house.cargo(["test", "--lib", "--bins", "--tests", "--examples"]);
    command.args(packages_of(house));
    command
}

fn build(house: &House, log: &mut Log) -> Outcome {
    let built = all_tests(house).map(|mut command| log.run(command.arg("--no-run")));
    (!built.contains(&false)).into()
}

fn tests(house: &House, log: &mut Log) -> Outcome {
    let [most, digits] = all_tests(house).map(|mut command| log.run_tests(&mut command));
    both(most, digits)
}

pub(crate) fn both(one: Outcome, other: Outcome) -> Outcome {
    if one == Outcome::Passed { other } else { one }
}

fn with_exhaustive<'c>(house: &House, command: &'c mut Command) -> &'c mut Command {
    command.env("JIRD_EXHAUSTIVE", if house.require_all { EXHAUSTIVE_SLOW } else { EXHAUSTIVE_QUICK })
}

/// The engine's tests with a kernel, as they were built with all others.
fn kernel(house: &House, log: &mut Log, name: &str, available: bool) -> Outcome {
    if !available {
        return Outcome::Impossible(format!("this CPU lacks {name}"));
    }
    let best = if has_avx512() { "avx512" } else { "avx2" };
    let mut command = most_tests(house);
    if name == best && house.require_all {
        // `tests` ran all of them with it.
        command = house.cargo(["test", "--lib", "--test", "miri"]);
        command.args(packages_of(house));
    }
    log.run_tests(with_exhaustive(house, command.args(ENGINE_ONLY).env("JIRD_KERNEL", name)))
}

/// Runs the programs of the engine's tests and no others.
const ENGINE_ONLY: [&str; 2] = ["--config", "target.'cfg(all())'.runner = ['xtask/only.sh', 'crates/jird']"];

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("pclmulqdq")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    std::arch::is_x86_feature_detected!("avx512vbmi2")
        && std::arch::is_x86_feature_detected!("avx512bitalg")
        && std::arch::is_x86_feature_detected!("avx512vl")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx512() -> bool {
    false
}

/// The build in which every unchecked access is checked and nothing else, as in a release. Builds with debug assertions
/// check these accesses too.
fn checked() -> Step {
    Step::new("checked", "every public way into the engine, optimised, every unchecked access checked", |house, log| {
        let mut command = house.cargo(["test", "--package", "jird", "--release", "--target-dir"]);
        command.arg(house.target.join("checked")).args(EVERY_WAY);
        command.env("JIRD_CHECKED", "1").env("JIRD_MIRI", "long");
        log.run_tests(with_exhaustive(house, &mut command))
    })
}

/// Every public way into the engine, and complete token strings. All of the engine's tests take minutes to compile: `deep`
/// runs them.
const EVERY_WAY: [&str; 4] = ["--test", "exhaustive", "--test", "miri"];

/// Documents of the largest sizes, in a build where these are small.
pub(crate) fn limits(house: &House, log: &mut Log) -> Outcome {
    let mut command = house.cargo(["test", "--package", "jird", "--test", "limits", "--target-dir"]);
    command.arg(house.target.join("limits")).args(QUICK_CHECKS);
    log.run_tests(command.env("JIRD_SMALL_LIMITS", "1"))
}

/// Cross-compiles with the tools that `aarch64.sh` installed, and runs these tests under qemu.
pub(crate) fn aarch64(house: &House, log: &mut Log, tests: &[&str]) -> Outcome {
    let rustc = house.tools.join("aarch64/rustc");
    let ready = house.answers(&rustc.to_string_lossy(), &["--version"])
        && house.answers("qemu-aarch64-static", &["--version"])
        && house.answers("aarch64-linux-gnu-gcc", &["--version"]);
    if !ready {
        return Outcome::Skipped("no compiler or emulator for aarch64: xtask/aarch64.sh installs them".into());
    }
    let mut command = house.cargo(["test", "--package", "jird", "--target", "aarch64-unknown-linux-gnu"]);
    command.args(QUICK_CHECKS).args(tests).arg("--target-dir").arg(house.target.join("aarch64"));
    command.env("JIRD_EXHAUSTIVE", EXHAUSTIVE_EMULATED).env("JIRD_MIRI", "long");
    // A quarter of the generated texts.
    command.env("JIRD_SLOW", "1").env("PROPTEST_CASES", "64");
    command.env("RUSTC", rustc);
    command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc");
    // SVE is only the C library's there, and emulated slowly.
    command.env(
        "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
        "qemu-aarch64-static -cpu max,sve=off -L /usr/aarch64-linux-gnu",
    );
    log.run_tests(&mut command)
}

/// For tests that need little or nothing of `checks`, which cargo builds all the same: optimising it takes two minutes of
/// CPU time.
pub(crate) const QUICK_CHECKS: [&str; 2] = ["--config", "profile.dev.package.checks.opt-level=0"];

/// What a `usize` of 32 bits is tested with.
const NARROW: &str = "i686-unknown-linux-gnu";

/// Runs all tests of the engine on 32 bits. WebAssembly has 32, too, and its step runs for every change.
pub(crate) fn narrow(house: &House, log: &mut Log) -> Outcome {
    if let Some(missing) = missing_for_narrow(house) {
        return Outcome::Skipped(missing);
    }
    let tests = ["--lib", "--test", "all", "--test", "miri"];
    let mut command = house.cargo(["test", "--package", "jird", "--target", NARROW]);
    command.args(QUICK_CHECKS).args(tests).arg("--target-dir").arg(house.target.join("narrow"));
    command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
    log.run_tests(command.env("JIRD_SLOW", "1"))
}

/// What is not installed.
fn missing_for_narrow(house: &House) -> Option<String> {
    if !house.has_target(NARROW) {
        return Some(format!("rustup target add {NARROW}"));
    }
    let links = house.answers("cc", &["-m32", "-shared", "-x", "c", "/dev/null", "-o", "/dev/null"]);
    (!links).then(|| "no C library for 32 bits: apt-get install libc6-dev-i386 lib32gcc-12-dev".into())
}
