//! Runs the engine's public entry points under Miri, which detects every out-of-bounds access, every use of
//! uninitialised memory, every violation of aliasing rules and every data race in a run. Miri does not support AVX-512,
//! and runs no assembly.
use std::process::Command;

use crate::house::House;
use crate::step::{Log, Outcome};

/// How much to run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Amount {
    /// Minutes, on the best kernel that Miri knows.
    Short,
    /// Hours, on each of its kernels: more texts, each in every way; other orders of threads; and the rules of Tree Borrows as
    /// well.
    Long,
}

/// Miri takes the CPU's instruction sets from the compiler's flags.
const FEATURES: &str = "-C target-feature=+avx2,+bmi1,+bmi2,+lzcnt,+popcnt,+pclmulqdq";

/// The tests read files, and an environment variable selects their kernel.
const FLAGS: &str = "-Zmiri-disable-isolation";

/// The tests that use threads.
const THREADED: [&str; 3] = [
    "several_threads_parse_a_text",
    "lines_are_decoded_on_several_threads",
    "events_pass_between_threads_and_are_written_in_parts",
];

pub(crate) fn run(house: &House, log: &mut Log, amount: Amount) -> Outcome {
    if !house.answers("rustup", &["run", "nightly", "cargo", "miri", "--version"]) {
        return Outcome::Skipped("no Miri: rustup component add miri rust-src --toolchain nightly".into());
    }
    let kernels: &[&str] = match amount {
        Amount::Long if cfg!(target_arch = "x86_64") => &["portable", "avx2"],
        Amount::Short if cfg!(target_arch = "x86_64") => &["avx2"],
        _ => &["portable"],
    };
    let mut passed = true;
    for kernel in kernels {
        passed &= tests(house, log, kernel, amount, FLAGS, &[]);
        if amount == Amount::Long {
            passed &= tests(house, log, kernel, Amount::Short, &format!("{FLAGS} -Zmiri-tree-borrows"), &[]);
            passed &= tests(house, log, kernel, amount, &format!("{FLAGS} -Zmiri-many-seeds=0..16"), &THREADED);
        }
    }
    passed.into()
}

/// Runs the tests that these arguments of a test program choose: all tests, if there are none.
fn tests(house: &House, log: &mut Log, kernel: &str, amount: Amount, flags: &str, chosen: &[&str]) -> bool {
    let mut command: Command = house.command("rustup");
    command.args(["run", "nightly", "cargo", "miri", "test", "--package", "jird", "--test", "miri", "--target-dir"]);
    command.arg(house.target.join("miri")).args(["--", "--test-threads=1"]).args(chosen);
    command.env("MIRIFLAGS", flags).env("JIRD_KERNEL", kernel);
    if cfg!(target_arch = "x86_64") {
        command.env("RUSTFLAGS", FEATURES);
    }
    if amount == Amount::Long {
        command.env("JIRD_MIRI", "long");
    }
    // Debug assertions would check unchecked accesses. Miri should see these accesses as they are in a release build.
    command.env("CARGO_PROFILE_DEV_DEBUG_ASSERTIONS", "false").env("CARGO_PROFILE_DEV_OVERFLOW_CHECKS", "true");
    log.run(&mut command)
}
