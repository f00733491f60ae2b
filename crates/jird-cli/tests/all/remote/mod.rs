//! Inputs that are URLs: a web server of the test's own, which may lie, stall and cut off; and moto, a server of S3.
#![allow(clippy::print_stdout, reason = "what is skipped is for who reads the log")]
#![cfg(all(feature = "query", feature = "convert", feature = "remote"))]

mod s3;
mod tricks;

use crate::folder::Folder;
use std::process::{Command, Output};

/// `count` records of about 100 bytes.
fn records(count: usize) -> String {
    let record = |n: usize| {
        let level = ["Info", "Warn", "Error"][n * 7 % 3];
        format!(
            "{{\"id\":{n},\"Level\":\"{level}\",\"Message\":\"request {} took a while\",\"Elapsed\":{}.5}}\n",
            n * n,
            n % 977
        )
    };
    (0..count).map(record).collect()
}

/// What a command printed and said, and its exit code.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    out: String,
    said: String,
    code: i32,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints UTF-8");
        Self { out: text(output.stdout), said: text(output.stderr), code: output.status.code().unwrap_or(-1) }
    }
}

/// Runs `jird` in a folder, with variables of its environment, and none of those that name stores otherwise.
fn jird(folder: &Folder, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jird"));
    for (name, _) in std::env::vars() {
        if ["AWS_", "AZURE_", "GOOGLE_"].iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command.args(arguments).envs(variables.iter().copied()).current_dir(&folder.0).output().expect("it runs").into()
}
