//! The `jird` command with SQL, which the Python module `jird` starts.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    jird_cli::run(std::env::args_os()).into()
}
