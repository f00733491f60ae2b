//! The `jird` command, as the Python distribution `jird-query` brings it and the module `jird` starts it.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    jird_cli::run(std::env::args_os()).into()
}
