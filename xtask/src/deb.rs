//! The Debian package: builds it, installs it into a folder as if that were a machine's root, and uses it from there.
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::house::House;
use crate::man;
use crate::step::{Log, Outcome};

/// The files that users will look for.
const INSTALLED: [&str; 10] = [
    "usr/bin/jird",
    "usr/share/man/man1/jird.1.gz",
    "usr/share/man/man1/jird-convert.1.gz",
    "usr/share/bash-completion/completions/jird",
    "usr/share/zsh/vendor-completions/_jird",
    "usr/share/fish/vendor_completions.d/jird.fish",
    "usr/lib/systemd/system/jird-serve.service",
    "usr/share/doc/jird/copyright",
    "usr/share/doc/jird/LICENSE-APACHE",
    "usr/share/doc/jird/README.md",
];

/// An example that the page of `jird convert` has.
const EXAMPLE: &str = "jird convert events.ndjson events.parquet";

pub(crate) fn run(house: &House, log: &mut Log, features: &[&str]) -> Outcome {
    if !house.answers("cargo-deb", &["--version"]) {
        return Outcome::Skipped("no cargo-deb: cargo install --locked cargo-deb".into());
    }
    if !house.answers("dpkg-shlibdeps", &["--version"]) {
        return Outcome::Skipped("no dpkg-shlibdeps: apt-get install dpkg-dev".into());
    }
    // cargo-deb looks for this folder's files where cargo builds.
    let pages = house.target.join("release/man");
    let package = house.target.join("debian/jird.deb");
    // The release profile keeps line tables, which cargo-deb would keep too.
    let mut deb = house.cargo(["deb", "--locked", "--no-build", "--strip", "--package", "jird-cli", "--output"]);
    let built = man::write(house, log, features, &pages) && pack(house, log, &pages) && log.run(deb.arg(&package));
    if !built {
        return Outcome::Failed;
    }
    match works(house, log, &package) {
        Ok(works) => {
            log.say(&format!("the package is {}", package.display()));
            works.into()
        }
        Err(error) => {
            log.say(&format!("error: {error}"));
            Outcome::Failed
        }
    }
}

/// Compresses the pages, as Debian wants them. cargo-deb leaves files alone that lie where cargo builds.
fn pack(house: &House, log: &mut Log, folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let pages: Vec<_> = entries.filter(|path| path.extension().is_some_and(|end| end == "1")).collect();
    // -n: no time of day in the file.
    !pages.is_empty() && log.run(house.command("gzip").arg("-9n").args(pages))
}

/// Installs the package, uses it, and removes it.
fn works(house: &House, log: &mut Log, package: &Path) -> io::Result<bool> {
    let root = house.target.join("xtask/debian-root");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    fs::create_dir_all(root.join("var/lib/dpkg/info"))?;
    fs::create_dir_all(root.join("var/lib/dpkg/updates"))?;
    fs::write(root.join("var/lib/dpkg/status"), "")?;
    if !log.run(dpkg(house, &root).arg("--install").arg(package)) {
        return Ok(false);
    }
    let missing: Vec<_> = INSTALLED.iter().filter(|file| !root.join(file).is_file()).collect();
    if !missing.is_empty() {
        log.say(&format!("error: the package lacks {missing:?}"));
    }
    let sizes = [root.join("usr/bin/jird").metadata()?.len(), house.target.join("release/jird").metadata()?.len()];
    let stripped = sizes[0] < sizes[1];
    if !stripped {
        log.say("error: the binary has its line tables");
    }
    let used = converts(house, log, &root)? && shows_a_page(house, log, &root) && completes(house, log, &root);
    let removed = log.run(dpkg(house, &root).args(["--remove", "jird"]));
    let left: Vec<PathBuf> = INSTALLED.iter().map(|file| root.join(file)).filter(|path| path.exists()).collect();
    if !left.is_empty() {
        log.say(&format!("error: {left:?} stayed after the package was removed"));
    }
    Ok(missing.is_empty() && stripped && used && removed && left.is_empty())
}

/// `dpkg` with a root of its own. Its database is empty, so the C library is missing there.
fn dpkg(house: &House, root: &Path) -> Command {
    let mut command = house.command("dpkg");
    command.arg("--root").arg(root).args(["--force-depends", "--force-not-root", "--log=/dev/null"]);
    command
}

/// To CSV, in which records may have several lines, and back.
fn converts(house: &House, log: &mut Log, root: &Path) -> io::Result<bool> {
    let jird = root.join("usr/bin/jird");
    let files = [house.root.join("examples/events.ndjson"), root.join("events.csv"), root.join("events.ndjson")];
    for pair in files.windows(2) {
        if !log.run(house.command(&jird.to_string_lossy()).args(["convert", "--quiet"]).args(pair)) {
            return Ok(false);
        }
    }
    let records = |file: &PathBuf| fs::read_to_string(file).map(|text| text.lines().count());
    let all = records(&files[0])? == records(&files[2])?;
    if !all {
        log.say(&format!("error: {} has not all records", files[2].display()));
    }
    Ok(all)
}

/// `man` finds the page by the command's name.
fn shows_a_page(house: &House, log: &mut Log, root: &Path) -> bool {
    let pages = root.join("usr/share/man");
    let mut command = house.command("man");
    command.arg("--manpath").arg(pages).arg("jird-convert");
    let shown = command
        .env("MANPAGER", "cat")
        .env("MANWIDTH", "120")
        .output()
        .is_ok_and(|output| output.status.success() && String::from_utf8_lossy(&output.stdout).contains(EXAMPLE));
    if !shown {
        log.say(&format!("error: man jird-convert does not show: {EXAMPLE}"));
    }
    shown
}

/// bash accepts the script, and then knows how to complete the command.
fn completes(house: &House, log: &mut Log, root: &Path) -> bool {
    let script = root.join("usr/share/bash-completion/completions/jird");
    log.run(house.command("bash").args(["-c", ". \"$0\" && complete -p jird"]).arg(script))
}
