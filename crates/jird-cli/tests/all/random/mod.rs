//! Random queries by jird and `DuckDB`, texts that were made of them, and their answers by any number of threads from any input. The
//! queries and what is compared are in Python, where `DuckDB` is.
#![cfg(feature = "query")]

use std::path::Path;
use std::process::Command;

/// How many queries, mutated texts, and queries by all ways of input, unless `JIRD_RANDOM` says so: `5000 2000 500`.
const AMOUNTS: &str = "60 40 3";

#[test]
#[allow(clippy::print_stdout, reason = "for readers of the log")]
fn random_queries_answer_as_duckdb_does_and_in_one_way() {
    let python = std::env::var("JIRD_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_duckdb = Command::new(&python).args(["-c", "import duckdb"]).output();
    if !has_duckdb.is_ok_and(|output| output.status.success()) {
        println!("skipped: duckdb");
        return;
    }
    let amounts = std::env::var("JIRD_RANDOM").unwrap_or_else(|_| AMOUNTS.to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/random/beside_duckdb.py");
    let mut command = Command::new(python);
    command.arg(script).arg(env!("CARGO_BIN_EXE_jird")).arg("1").args(amounts.split(' '));
    let output = command.output().unwrap();
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
