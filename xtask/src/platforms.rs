//! Other systems and CPUs: Windows under Wine, a big-endian CPU under qemu, WebAssembly in Node, and what only compiles for
//! macOS. `xtask/platforms.sh` installs the tools.
use std::process::Command;

use crate::house::House;
use crate::packages::SMALL;
use crate::step::{Log, Outcome, Step};
use crate::test::{QUICK_CHECKS, both};

const WINDOWS: &str = "x86_64-pc-windows-gnu";
const MACOS: &str = "aarch64-apple-darwin";
const BIG_ENDIAN: &str = "s390x-unknown-linux-gnu";
/// The one with an interface to the system, on which tests run.
const WASI: &str = "wasm32-wasip1";
/// The one without, for which the crates are compiled only.
const WASM: &str = "wasm32-unknown-unknown";

/// The crates that need nothing of the system.
const PURE: [&str; 4] = ["--package", "jird", "--package", "jird-serde-json"];

/// What compiles for other systems.
pub(crate) fn step() -> Step {
    Step::new(
        "platforms",
        "the engine compiles for Windows, macOS, s390x and WebAssembly; `deep` tests it there",
        |house, log| {
            let targets = [WINDOWS, MACOS, BIG_ENDIAN, WASI, WASM];
            if !targets.iter().all(|target| house.has_target(target)) {
                return missing("standard library for one of them");
            }
            let compiles = |target| log.run(&mut cargo(house, "check", (target, "platforms"), &PURE));
            let compiled = targets.map(compiles);
            (!compiled.contains(&false)).into()
        },
    )
}

pub(crate) fn steps() -> Vec<Step> {
    vec![
        Step::new(
            "windows",
            "Windows under Wine: the engine, formats, the program; the Python module compiles",
            windows,
        ),
        Step::new("bigendian", "the engine and jird-serde-json on an emulated s390x", big_endian),
        Step::new("wasm", "the engine and jird-serde-json in WebAssembly, run by Node", wasm),
        Step::new("macos", "what compiles for macOS: the engine and the program", macos),
    ]
}

/// The Python module compiles, for which no Python of that system is needed.
fn module(house: &House, log: &mut Log, place: (&str, &str), with: impl Fn(&mut Command)) -> Outcome {
    let mut command = cargo(house, "clippy", place, &["--package", "jird-python", "--features", "extension"]);
    command.env("PYO3_CROSS_PYTHON_VERSION", "3.11");
    with(&mut command);
    log.run(command.args(["--", "-D", "warnings"])).into()
}

fn windows(house: &House, log: &mut Log) -> Outcome {
    let wine = house.tools.join("wine/run").to_string_lossy().into_owned();
    let ready = house.has_target(WINDOWS)
        && house.answers("x86_64-w64-mingw32-gcc", &["--version"])
        && house.answers(&wine, &["cmd", "/c", "ver"]);
    if !ready {
        return missing("Wine, or a compiler for Windows");
    }
    let with_wine = |command: &mut Command| {
        command.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", "x86_64-w64-mingw32-gcc");
        command.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", &wine);
    };
    let mut outcome = Outcome::Passed;
    for tests in [
        &["--package", "jird", "--lib", "--test", "miri"][..],
        &["--package", "jird-serde-json", "--lib", "--tests"],
        &["--package", "jird-formats", "--features", "files", "--lib"],
        &["--package", "jird-store", "--lib"],
    ] {
        outcome = both(outcome, test(house, log, (WINDOWS, "windows"), tests, with_wine));
    }
    outcome = both(outcome, module(house, log, (WINDOWS, "windows"), with_wine));
    both(outcome, program(house, log, &wine))
}

/// The program answers the first query of README.md and converts between formats as it does here.
fn program(house: &House, log: &mut Log, wine: &str) -> Outcome {
    let mut command = cargo(house, "build", (WINDOWS, "windows"), &["--package", "jird-cli"]);
    command.args(SMALL).env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", "x86_64-w64-mingw32-gcc");
    if !log.run(&mut command) {
        return Outcome::Failed;
    }
    let mut script = house.command("bash");
    script.arg("xtask/windows.sh").arg(wine).arg(house.target.join("windows").join(WINDOWS).join("debug/jird.exe"));
    log.run(&mut script).into()
}

/// Unit tests take ten minutes in the emulator.
fn big_endian(house: &House, log: &mut Log) -> Outcome {
    let ready = house.has_target(BIG_ENDIAN)
        && house.answers("s390x-linux-gnu-gcc", &["--version"])
        && house.answers("qemu-s390x-static", &["--version"]);
    if !ready {
        return missing("a compiler or an emulator for s390x");
    }
    let with_qemu = |command: &mut Command| {
        command.env("CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_LINKER", "s390x-linux-gnu-gcc");
        command.env("CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_RUNNER", "qemu-s390x-static -L /usr/s390x-linux-gnu");
    };
    let engine = ["--package", "jird", "--lib", "--test", "miri"];
    let engine = test(house, log, (BIG_ENDIAN, "bigendian"), &engine, with_qemu);
    let drop_in = ["--package", "jird-serde-json", "--lib", "--tests"];
    both(engine, test(house, log, (BIG_ENDIAN, "bigendian"), &drop_in, with_qemu))
}

fn wasm(house: &House, log: &mut Log) -> Outcome {
    if !(house.has_target(WASI) && house.has_target(WASM) && house.answers("node", &["--version"])) {
        return missing("Node, or the standard library for WebAssembly");
    }
    if !log.run(&mut cargo(house, "check", (WASM, "wasm"), &PURE)) {
        return Outcome::Failed;
    }
    let runner = format!("node --no-warnings {}", house.root.join("xtask/wasi.mjs").display());
    let with_node = |command: &mut Command| _ = command.env("CARGO_TARGET_WASM32_WASIP1_RUNNER", &runner);
    let outcome = test(house, log, (WASI, "wasm"), &["--package", "jird", "--test", "miri"], with_node);
    both(outcome, test(house, log, (WASI, "wasm"), &["--package", "jird-serde-json", "--lib"], with_node))
}

/// There is no SDK to compile C with or to link with. So the C libraries of the program are left out: `true` takes the
/// place of the compiler.
fn macos(house: &House, log: &mut Log) -> Outcome {
    if !house.has_target(MACOS) {
        return missing("the standard library for macOS");
    }
    let clippy = |selection: &[&str]| {
        let mut command = cargo(house, "clippy", (MACOS, "macos"), selection);
        command.args(["--", "-D", "warnings"]).env("SDKROOT", "/");
        command.env("CC_aarch64_apple_darwin", "true").env("AR_aarch64_apple_darwin", "true");
        command
    };
    let pure = log.run(&mut clippy(&PURE));
    let program = log.run(&mut clippy(&[&["--package", "jird-cli"][..], &SMALL].concat()));
    (pure && program).into()
}

/// Runs tests that are built for a target, in a folder of their own.
fn test(house: &House, log: &mut Log, place: (&str, &str), selection: &[&str], with: impl Fn(&mut Command)) -> Outcome {
    let mut command = cargo(house, "test", place, selection);
    command.args(QUICK_CHECKS).env("CARGO_PROFILE_DEV_OPT_LEVEL", "1").env("JIRD_SLOW", "1");
    with(&mut command);
    log.run_tests(&mut command)
}

fn cargo(house: &House, what: &str, (target, folder): (&str, &str), selection: &[&str]) -> Command {
    let mut command = house.cargo([what, "--target", target]);
    command.args(selection).arg("--target-dir").arg(house.target.join(folder));
    command
}

fn missing(what: &str) -> Outcome {
    Outcome::Skipped(format!("no {what}: xtask/platforms.sh installs them"))
}
