//! Well-known crates with `jird-serde-json` in the place of `serde_json`, by their manifests and nothing else.
//!
//! Each crate is compiled and tested twice, as the registry has it and with its dependency renamed, and the lists of
//! its tests are compared. `serde_json` itself is one of them: its own tests, with the library replaced. No source of theirs is kept in this repository. `xtask/migrate.txt` lists the differences
//! that are known. Documentation tests, examples and benches are left out.
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::house::House;
use crate::step::{Log, Outcome};

/// A crate, and how it is tested.
struct Guest {
    name: &'static str,
    /// Tells apart two tests of one crate.
    with: &'static str,
    version: &'static str,
    /// The arguments that choose its features and tests.
    arguments: &'static [&'static str],
    /// The development dependencies that none of these tests needs, and that would compile half the world.
    dropped: &'static [&'static str],
}

const EVERY: &[&str] = &["--lib", "--tests"];

const GUESTS: &[Guest] = &[
    Guest {
        name: "axum",
        with: "",
        version: "0.8.9",
        arguments: &["--lib", "--tests", "--features", "macros,multipart,ws,axum-macros/__private"],
        dropped: &[],
    },
    Guest {
        name: "cargo_metadata",
        with: "",
        version: "0.23.1",
        arguments: &["--lib", "--tests", "--features", "builder"],
        dropped: &[],
    },
    Guest { name: "config", with: "", version: "0.15.27", arguments: EVERY, dropped: &["notify", "reqwest", "warp"] },
    Guest {
        name: "handlebars",
        with: "",
        version: "6.4.4",
        arguments: &["--lib", "--tests", "--features", "dir_source,string_helpers,testing"],
        dropped: &["criterion", "tiny_http"],
    },
    Guest { name: "jsonrpsee-types", with: "", version: "0.26.1", arguments: EVERY, dropped: &[] },
    Guest {
        name: "jsonwebtoken",
        with: "",
        version: "11.1.0",
        arguments: &["--lib", "--tests", "--features", "rust_crypto"],
        dropped: &["criterion"],
    },
    Guest {
        name: "kube-core",
        with: "",
        version: "5.0.0",
        arguments: &["--lib", "--tests", "--features", "ws,kubelet-debug"],
        dropped: &[],
    },
    // With these features, trees of `serde_json` itself come from other crates.
    Guest {
        name: "kube-core",
        with: "+schema",
        version: "5.0.0",
        arguments: &["--lib", "--tests", "--features", "ws,kubelet-debug,schema,admission,jsonpatch,cel"],
        dropped: &[],
    },
    Guest { name: "lsp-server", with: "", version: "0.7.9", arguments: EVERY, dropped: &[] },
    // The last version whose package has its integration tests.
    Guest {
        name: "reqwest",
        with: "",
        version: "0.12.9",
        arguments: &[
            "--lib",
            "--tests",
            "--no-default-features",
            "--features",
            "blocking,charset,cookies,gzip,json,multipart,stream",
        ],
        dropped: &[],
    },
    Guest {
        name: "serde_json",
        with: "",
        version: "1.0.154",
        arguments: &["--test=debug", "--test=map", "--test=regression", "--test=stream", "--test=test"],
        dropped: &["trybuild"],
    },
    Guest {
        name: "serde_json",
        with: "+raw",
        version: "1.0.154",
        arguments: &[
            "--test=debug",
            "--test=map",
            "--test=regression",
            "--test=stream",
            "--test=test",
            "--features=raw_value,unbounded_depth,float_roundtrip,preserve_order",
        ],
        dropped: &["trybuild"],
    },
    Guest {
        name: "serde_json",
        with: "+digits",
        version: "1.0.154",
        arguments: &[
            "--test=debug",
            "--test=map",
            "--test=regression",
            "--test=stream",
            "--test=test",
            "--features=raw_value,unbounded_depth,float_roundtrip,preserve_order,arbitrary_precision",
        ],
        dropped: &["trybuild"],
    },
    // Its other tests need a crate that is not published.
    Guest {
        name: "tracing-subscriber",
        with: "",
        version: "0.3.23",
        arguments: &[
            "--lib",
            "--test=ansi_escaping",
            "--test=duplicate_spans",
            "--test=event_enabling",
            "--test=fmt_max_level_hint",
            "--test=option",
            "--test=registry_max_level_hint",
            "--test=registry_with_subscriber",
            "--test=reload",
            "--test=vec",
            "--features=json,env-filter",
        ],
        dropped: &["criterion"],
    },
];

/// The differences that are known: a crate, and a test that passes with `serde_json` alone, or `compile`.
const KNOWN: &str = include_str!("../migrate.txt");

/// What answers to the name `serde_json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Theirs,
    Ours,
}

impl Side {
    fn name(self) -> &'static str {
        if self == Self::Theirs { "theirs" } else { "ours" }
    }
}

/// Compiles and tests all crates, and prints a line for each.
pub(crate) fn run(house: &House, log: &mut Log) -> Outcome {
    let folder = house.target.join("migrate");
    match unpacked(house, log, &folder) {
        Ok(true) => (),
        Ok(false) => return Outcome::Failed,
        Err(error) => {
            log.say(&format!("error: {}: {error}", folder.display()));
            return Outcome::Failed;
        }
    }
    let results: Vec<bool> = GUESTS.iter().map(|guest| compared(house, log, &folder, guest)).collect();
    (!results.contains(&false)).into()
}

/// Lays out the crates of both sides, each with the versions of other crates that its package names. Returns `false` if
/// the registry does not have them.
fn unpacked(house: &House, log: &mut Log, folder: &Path) -> io::Result<bool> {
    let probe = folder.join("fetch");
    fs::create_dir_all(&probe)?;
    let mut wanted: Vec<_> = GUESTS.iter().map(|guest| format!("{} = \"={}\"\n", guest.name, guest.version)).collect();
    wanted.dedup();
    let wanted = wanted.concat();
    let package = "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n";
    fs::write(probe.join("Cargo.toml"), format!("{package}[dependencies]\n{wanted}"))?;
    fs::write(probe.join("lib.rs"), "")?;
    let manifest = probe.join("Cargo.toml").to_string_lossy().into_owned();
    if !log.run(&mut house.cargo(["fetch", "--manifest-path", &manifest])) {
        return Ok(false);
    }
    let metadata = ["metadata", "--format-version", "1", "--manifest-path", &manifest];
    let Some(metadata) = house.says("cargo", &metadata) else {
        log.say("error: cargo metadata fails");
        return Ok(false);
    };
    for side in [Side::Theirs, Side::Ours] {
        let workspace = folder.join(side.name());
        for guest in GUESTS {
            let Some(source) = source_of(&metadata, guest) else {
                log.say(&format!("error: no source of {} {}", guest.name, guest.version));
                return Ok(false);
            };
            let target = workspace.join(guest.name);
            let _ = fs::remove_dir_all(&target);
            copy(&source, &target)?;
            let manifest = fs::read_to_string(target.join("Cargo.toml"))?;
            let manifest = rewritten(&manifest, side, guest.dropped, &house.root);
            if guest.name == "serde_json" && side == Side::Ours {
                fs::write(target.join("src/lib.rs"), "pub use ours::*;\n")?;
                fs::write(target.join("Cargo.toml"), with_our_library(&manifest, &house.root))?;
            } else {
                fs::write(target.join("Cargo.toml"), manifest)?;
            }
        }
    }
    Ok(true)
}

/// The folder of a crate's source, from the output of `cargo metadata`.
fn source_of(metadata: &str, guest: &Guest) -> Option<PathBuf> {
    let end = format!("{}-{}/Cargo.toml\"", guest.name, guest.version);
    let mut paths = metadata.split("\"manifest_path\":\"").skip(1);
    let path = paths.find(|path| path.split_inclusive('"').next().is_some_and(|path| path.ends_with(&end)))?;
    Some(Path::new(path.split('"').next()?).parent()?.to_owned())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// A manifest as cargo publishes it, as a workspace of its own, without the dropped development dependencies, and on
/// our side with `serde_json` renamed.
fn rewritten(manifest: &str, side: Side, dropped: &[&str], root: &Path) -> String {
    let mut text = String::new();
    let (mut is_left_out, mut is_renamed) = (false, false);
    for line in manifest.lines() {
        if line.starts_with('[') {
            let is_development_of = |name: &&str| line.ends_with(&format!("dev-dependencies.{name}]"));
            is_left_out = dropped.iter().any(is_development_of);
            is_renamed = side == Side::Ours && line.ends_with("dependencies.serde_json]");
        }
        // The version is that of the other crate.
        if is_left_out || is_renamed && line.starts_with("version = ") {
            continue;
        }
        text.push_str(line);
        text.push('\n');
        if is_renamed && line.starts_with('[') {
            let path = root.join("crates/jird-serde-json");
            text.extend(["package = \"jird-serde-json\"\npath = ", &format!("{:?}\n", path.to_string_lossy())]);
        }
    }
    text.push_str("\n[workspace]\n");
    text
}

/// The manifest of `serde_json`, whose library is ours and has the same features.
fn with_our_library(manifest: &str, root: &Path) -> String {
    let mut text = manifest.to_owned();
    for feature in ["arbitrary_precision", "float_roundtrip", "raw_value", "unbounded_depth"] {
        text = text.replace(&format!("\n{feature} = []\n"), &format!("\n{feature} = [\"ours/{feature}\"]\n"));
    }
    text = text.replace("\npreserve_order = [\n", "\npreserve_order = [\n    \"ours/preserve_order\",\n");
    let path = root.join("crates/jird-serde-json");
    text + &format!("\n[dependencies.ours]\npackage = \"jird-serde-json\"\npath = {:?}\n", path.to_string_lossy())
}

/// Tests a crate on both sides, and prints what differs. Returns whether all that differs is known.
fn compared(house: &House, log: &mut Log, folder: &Path, guest: &Guest) -> bool {
    let theirs = tested(house, log, folder, guest, Side::Theirs);
    // Cargo adds what is only ours.
    let lock = |side: Side| folder.join(side.name()).join(guest.name).join("Cargo.lock");
    let same_versions = fs::copy(lock(Side::Theirs), lock(Side::Ours));
    let ours = same_versions.ok().and_then(|_| tested(house, log, folder, guest, Side::Ours));
    let differences = match (&theirs, &ours) {
        (Some(theirs), Some(ours)) => theirs
            .iter()
            .filter(|(test, good)| **good && ours.get(*test) != Some(&true))
            .map(|(test, _)| &**test)
            .collect(),
        (Some(_), None) => vec!["compile"],
        (None, _) => {
            tell(log, &format!("error: {} {} does not compile with serde_json", guest.name, guest.version));
            return false;
        }
    };
    let passed = |tests: &Option<BTreeMap<String, bool>>| match tests {
        Some(tests) => format!("{} of {}", tests.values().filter(|good| **good).count(), tests.len()),
        None => "none, not compiled".to_owned(),
    };
    let dropped = guest.dropped.join(", ");
    let dropped = if dropped.is_empty() { dropped } else { format!("; left out: {dropped}") };
    let (name, version) = (format!("{}{}", guest.name, guest.with), guest.version);
    tell(
        log,
        &format!("{name} {version}: passed {} with serde_json, {} with ours{dropped}", passed(&theirs), passed(&ours)),
    );
    let mut is_known = true;
    for stale in no_longer(&name, &differences) {
        is_known = false;
        tell(log, &format!("  error: {stale} is known to differ, and does not"));
    }
    for difference in differences {
        let known = known(&name, difference);
        is_known &= known.is_some();
        tell(
            log,
            &format!("  {}{difference}{}", if known.is_some() { "" } else { "error: " }, known.unwrap_or_default()),
        );
    }
    is_known
}

/// The known differences of a crate that are not among these.
fn no_longer<'d>(guest: &str, differences: &[&str]) -> Vec<&'d str> {
    let of_guest = |line: &'d str| line.strip_prefix(guest)?.strip_prefix(' ')?.split_once(": ");
    let known = KNOWN.lines().filter_map(of_guest).map(|(test, _)| test);
    known.filter(|test| !differences.contains(test)).collect()
}

/// What is said about a difference that is known.
fn known(guest: &str, difference: &str) -> Option<&'static str> {
    KNOWN
        .lines()
        .find_map(|line| line.strip_prefix(guest)?.strip_prefix(' ')?.strip_prefix(difference))
        .filter(|rest| rest.starts_with(':'))
}

#[expect(clippy::print_stdout, reason = "the table is the answer")]
fn tell(log: &mut Log, line: &str) {
    println!("    {line}");
    log.say(line);
}

/// Runs a crate's tests. `None` if they do not compile.
fn tested(house: &House, log: &mut Log, folder: &Path, guest: &Guest, side: Side) -> Option<BTreeMap<String, bool>> {
    let mut command = house.cargo(["test", "--no-fail-fast"]);
    command.args(guest.arguments).current_dir(folder.join(side.name()).join(guest.name));
    for (setting, value) in [("OPT_LEVEL", "0"), ("DEBUG", "false"), ("INCREMENTAL", "false")] {
        command.env(format!("CARGO_PROFILE_DEV_{setting}"), value);
    }
    command.env("CARGO_TARGET_DIR", folder.join("build")).env("RUSTFLAGS", "--cap-lints warn");
    log.say(&format!("$ {command:?}"));
    let output = folder.join(format!("{}{}.{}.log", guest.name, guest.with, side.name()));
    let done = fs::File::create(&output).and_then(|file| {
        let copy = file.try_clone()?;
        command.stdout(Stdio::from(file)).stderr(Stdio::from(copy)).status()
    });
    if let Err(error) = done {
        log.say(&format!("error: {error}"));
        return None;
    }
    let text = fs::read(&output).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let tests = results(&text);
    if tests.is_empty() {
        log.say(&format!("  see {}", output.display()));
    }
    (!tests.is_empty()).then_some(tests)
}

/// The tests of an output of `cargo test`, with the file that they are in, and whether they passed.
fn results(output: &str) -> BTreeMap<String, bool> {
    let mut file = "";
    let mut tests = BTreeMap::new();
    for line in output.lines() {
        if let Some(running) = line.trim_start().strip_prefix("Running ") {
            file = running.split(" (").next().unwrap_or_default();
        }
        let result = line.strip_prefix("test ").and_then(|test| test.rsplit_once(" ... "));
        let good = match result {
            Some((_, "ok")) => true,
            Some((_, "FAILED")) => false,
            _ => continue,
        };
        tests.extend(result.map(|(name, _)| (format!("{file} {name}"), good)));
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_dependency_is_renamed() {
        let manifest = "[features]\njson = [\n    \"dep:serde_json\",\n]\n[dependencies.serde_json]\nversion = \"1.0\"\n\
            features = [\"raw_value\"]\noptional = true\n\n[dev-dependencies.criterion]\nversion = \"0.5\"\n\n\
            [dependencies.tokio]\nversion = \"1\"\n";
        let renamed = "[features]\njson = [\n    \"dep:serde_json\",\n]\n[dependencies.serde_json]\n\
            package = \"jird-serde-json\"\npath = \"/r/crates/jird-serde-json\"\n\
            features = [\"raw_value\"]\noptional = true\n\n[dependencies.tokio]\nversion = \"1\"\n";
        let alone = |manifest: &str| format!("{manifest}\n[workspace]\n");
        assert_eq!(rewritten(manifest, Side::Ours, &["criterion"], Path::new("/r")), alone(renamed));
        assert_eq!(rewritten(manifest, Side::Theirs, &[], Path::new("/r")), alone(manifest));
    }

    #[test]
    fn a_known_difference_that_is_gone_is_told() {
        assert_eq!(no_longer("kube-core+schema", &["compile"]), [""; 0]);
        assert_eq!(no_longer("kube-core+schema", &["tests/x.rs a"]), ["compile"]);
        assert_eq!(no_longer("kube-core", &[]), [""; 0]);
    }

    #[test]
    fn the_library_of_serde_json_is_replaced_with_its_features() {
        let manifest = "[features]\nraw_value = []\npreserve_order = [\n    \"indexmap\",\n]\n\n[lib]\n";
        let replaced = "[features]\nraw_value = [\"ours/raw_value\"]\npreserve_order = [\n    \"ours/preserve_order\",\n    \
            \"indexmap\",\n]\n\n[lib]\n\n[dependencies.ours]\npackage = \"jird-serde-json\"\npath = \"/r/crates/jird-serde-json\"\n";
        assert_eq!(with_our_library(manifest, Path::new("/r")), replaced);
    }

    #[test]
    fn what_differs_in_serde_json_s_own_tests_is_on_the_page() {
        let page = include_str!("../../docs/coming-from-serde_json.md");
        for line in KNOWN.lines().filter(|line| line.starts_with("serde_json")) {
            let row = line.split('`').nth(1).expect("the name of a row");
            assert!(page.contains(&format!("| `{row}` |")), "{line}");
        }
    }

    #[test]
    fn tests_are_told_apart_by_their_files() {
        let output = "     Running unittests src/lib.rs (target/a)\ntest a::b ... ok\ntest c - should panic ... FAILED\n\
            test d ... ignored\n     Running tests/x.rs (target/b)\ntest a::b ... ok\ntest result: FAILED. 1 passed\n";
        let wanted = [
            ("tests/x.rs a::b", true),
            ("unittests src/lib.rs a::b", true),
            ("unittests src/lib.rs c - should panic", false),
        ];
        assert_eq!(results(output), wanted.map(|(name, good)| (name.to_owned(), good)).into());
    }

    #[test]
    fn every_known_difference_names_a_crate_and_says_why() {
        for line in KNOWN.lines().filter(|line| !line.starts_with('#')) {
            let (test, why) = line.split_once(": ").expect("a reason");
            assert!(GUESTS.iter().any(|guest| test.starts_with(guest.name)) && !why.is_empty(), "{line}");
        }
    }

    #[test]
    fn sources_are_found_in_the_metadata() {
        let metadata =
            r#"{"manifest_path":"/a/axum-core-0.8.9/Cargo.toml","x":1,"manifest_path":"/a/axum-0.8.9/Cargo.toml"}"#;
        assert_eq!(source_of(metadata, &GUESTS[0]).as_deref(), Some(Path::new("/a/axum-0.8.9")));
    }
}
