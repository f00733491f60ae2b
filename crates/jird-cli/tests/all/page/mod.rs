//! The page of `jird serve` in headless Chromium: what a person does with it, by mouse and by keys; pages of other
//! servers, which may do nothing; and `examples/todomvc`. The steps are in `page/`, in Python, which speaks with
//! Chromium through a pipe.
#![cfg(all(feature = "serve", target_os = "linux"))]
#![allow(clippy::print_stdout, reason = "it is for readers of the log")]

use crate::folder::Folder;
use std::path::Path;
use std::process::Command;

#[test]
fn a_person_clicks_through_the_page_and_pages_of_others_change_nothing() {
    let python = std::env::var("JIRD_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let runs =
        |program: &str| Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !runs(&python) || !runs("chromium") {
        println!("skipped: python3, chromium");
        return;
    }
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Folder::new("page");
    let mut command = Command::new(python);
    command.arg(crate_folder.join("tests/all/page/all.py")).arg(env!("CARGO_BIN_EXE_jird"));
    command.arg(crate_folder.join("../..")).current_dir(&folder.0);
    if cfg!(all(feature = "query", feature = "convert")) {
        command.arg("--queries");
    }
    let output = command.output().unwrap();
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
