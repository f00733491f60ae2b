//! An edit, checked in minutes.
//!
//! It builds no integration test, because those of the command line alone take minutes to compile.
use std::process::ExitCode;

use crate::house::House;
use crate::step::{Outcome, Step};
use crate::{layers, report};

/// Checks these packages; those with files that differ from the last commit, if none are named.
pub(crate) fn run(house: &House, crates: &[&str]) -> ExitCode {
    let crates: Vec<String> = match crates {
        [] => changed(house),
        named => named.iter().map(|name| (*name).to_owned()).collect(),
    };
    let mut steps = vec![
        Step::new("format", "rustfmt has nothing to change", |house, log| {
            log.run(&mut house.cargo(["fmt", "--all", "--check"])).into()
        }),
        layers::step(),
    ];
    if !crates.is_empty() {
        println!("of {}", crates.join(", "));
        steps.push(of("clippy", "clippy has nothing to say", crates.clone(), &["clippy"], &["--", "-D", "warnings"]));
        let folders = ["crates", "testing", "."];
        let has_library =
            |name: &String| folders.iter().any(|folder| house.root.join(folder).join(name).join("src/lib.rs").exists());
        let targets: &'static [&'static str] =
            if crates.iter().any(has_library) { &["test", "--lib", "--bins"] } else { &["test", "--bins"] };
        steps.push(of("unit tests", "the tests beside the code", crates, targets, &[]));
    }
    report::run(house, steps, &[])
}

/// A step that is one command of cargo for these packages.
fn of(
    name: &'static str,
    about: &'static str,
    crates: Vec<String>,
    command: &'static [&'static str],
    rest: &'static [&'static str],
) -> Step {
    Step::new(name, about, move |house, log| {
        let packages = crates.iter().flat_map(|name| ["--package", name]);
        let arguments = command.iter().copied().chain(packages).chain(rest.iter().copied());
        Outcome::from(log.run(&mut house.cargo(arguments)))
    })
}

/// The packages with files that differ from the last commit.
fn changed(house: &House) -> Vec<String> {
    let files = house.says("git", &["status", "--porcelain", "--no-renames"]).unwrap_or_default();
    let name = |folder: &str| {
        let manifest = std::fs::read_to_string(house.root.join(folder).join("Cargo.toml")).ok()?;
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = "))?;
        Some(name.trim_matches('"').to_owned())
    };
    let mut crates: Vec<String> = files.lines().filter_map(|line| name(&folder(line.get(3..)?)?)).collect();
    crates.sort_unstable();
    crates.dedup();
    // It has a workspace of its own.
    crates.retain(|name| name != "jird-cluster");
    crates
}

/// The folder of the package of a file of this repository.
fn folder(file: &str) -> Option<String> {
    let mut folders = file.split('/');
    match (folders.next()?, folders.next()?) {
        (parent @ ("crates" | "testing"), name) => folders.next().map(|_| format!("{parent}/{name}")),
        (name @ ("xtask" | "bench" | "fuzz"), _) => Some(name.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::folder;

    #[test]
    fn files_have_packages() {
        let of = |file| folder(file);
        assert_eq!(of("crates/jird/src/lib.rs").as_deref(), Some("crates/jird"));
        assert_eq!(of("testing/checks/Cargo.toml").as_deref(), Some("testing/checks"));
        assert_eq!(of("xtask/src/main.rs").as_deref(), Some("xtask"));
        assert_eq!(of("crates/README.md"), None);
        assert_eq!(of("docs/guide/serve.md"), None);
        assert_eq!(of("README.md"), None);
    }
}
