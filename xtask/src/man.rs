//! The manual pages and the completions. The binary writes both, from the definitions of its arguments.
use std::fs;
use std::io;
use std::path::Path;

use crate::house::House;
use crate::step::Log;

/// The completion scripts: the shell and the file's name.
const SHELLS: [(&str, &str); 3] = [("bash", "jird.bash"), ("zsh", "_jird"), ("fish", "jird.fish")];

/// Builds the binary with these features, in the release profile, and writes pages and scripts into the folder.
pub(crate) fn write(house: &House, log: &mut Log, features: &[&str], folder: &Path) -> bool {
    let mut build = house.cargo(["build", "--release", "--locked", "--package", "jird-cli"]);
    if !log.run(build.args(features)) {
        return false;
    }
    let written = fill(house, log, folder);
    if let Err(error) = &written {
        log.say(&format!("error: {}: {error}", folder.display()));
    }
    matches!(written, Ok(true))
}

fn fill(house: &House, log: &mut Log, folder: &Path) -> io::Result<bool> {
    let jird = house.target.join("release/jird");
    let jird = jird.to_string_lossy();
    // A page of a command that is gone must not stay.
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    if !log.run(house.command(&jird).arg("man").arg(folder)) {
        return Ok(false);
    }
    for (shell, name) in SHELLS {
        let Some(script) = house.says(&jird, &["completions", shell]) else { return Ok(false) };
        fs::write(folder.join(name), script)?;
    }
    Ok(true)
}
