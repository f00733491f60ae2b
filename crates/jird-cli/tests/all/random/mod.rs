//! Random queries by jird and `DuckDB`, texts that were made of them, and their answers by any number of threads from any input; and
//! random queries over stores and over the file of their events. The queries and what is compared are in Python, where `DuckDB` is.
#![cfg(feature = "query")]

use std::path::Path;
use std::process::Command;

/// Runs a script of this folder with a seed and the amounts that the variable says, or these. It prints what is wrong.
#[allow(clippy::print_stdout, reason = "for readers of the log")]
fn run(python: &str, script: &str, variable: &str, amounts: &str) {
    let amounts = std::env::var(variable).unwrap_or_else(|_| amounts.to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/random").join(script);
    let mut command = Command::new(python);
    command.arg(script).arg(env!("CARGO_BIN_EXE_jird")).arg("1").args(amounts.split(' '));
    let output = command.output().unwrap();
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn python() -> String {
    std::env::var("JIRD_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

#[test]
#[allow(clippy::print_stdout, reason = "for readers of the log")]
fn random_queries_answer_as_duckdb_does_and_in_one_way() {
    let python = python();
    let has_duckdb = Command::new(&python).args(["-c", "import duckdb"]).output();
    if !has_duckdb.is_ok_and(|output| output.status.success()) {
        println!("skipped: duckdb");
        return;
    }
    // How many queries, mutated texts, and queries by all ways of input.
    run(&python, "beside_duckdb.py", "JIRD_RANDOM", "60 40 3");
}

#[test]
#[allow(clippy::print_stdout, reason = "for readers of the log")]
fn random_queries_over_stores_answer_as_those_over_the_file_of_their_events_do() {
    let python = python();
    if !Command::new(&python).arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("skipped: python3");
        return;
    }
    // How many events and queries.
    run(&python, "beside_file.py", "JIRD_RANDOM_STORE", "4000 60");
}
