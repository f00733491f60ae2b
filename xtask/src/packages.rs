//! What users build and download: the small build without the SQL engine, and the packages of the crates.
//!
//! The step `packages` only packs. The deep steps build what was packed, as `cargo publish` and `cargo install` do.
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::house::House;
use crate::step::{Log, Outcome, Step};

/// The crates that are published. Each uses only those before it.
const PUBLISHED: [&str; 7] =
    ["jird", "jird-serde-json", "jird-formats", "jird-store", "jird-query", "jird-serve", "jird-cli"];

/// What the documentation calls the build without `jird query` and `jird bench`.
pub(crate) const SMALL: [&str; 3] = ["--no-default-features", "--features", "convert,brotli"];

/// The dependency that the small build does without.
const SQL_ENGINE: &str = "datafusion";

/// The files that each package must have. The licences are those of the repository.
const REQUIRED: [&str; 4] = ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"];
/// The other files that a package may have, besides Rust code in `src`. Cargo adds all but the last.
const ALLOWED: [&str; 4] = ["Cargo.toml.orig", "Cargo.lock", ".cargo_vcs_info.json", "build.rs"];

/// What the page of a crate in a registry shows.
const METADATA: [&str; 6] = ["description", "readme", "keywords", "categories", "license", "rust-version"];

/// The maximum size of a packed package. The largest one had 335 kB when this was written.
const PACKED_BYTES_MAX: u64 = 600_000;

/// What names a file next to the code that uses it.
const INCLUDES: [&str; 3] = ["include_str!(\"", "include_bytes!(\"", "#[path = \""];

pub(crate) fn step() -> Step {
    Step::new(
        "packages",
        "the small build has no SQL engine; packages have what they need, and no more",
        |house, log| {
            let small = small_build_has_no_sql_engine(house, log);
            let members = only_the_right_members_are_published(house, log);
            let packed = pack(house, log);
            (small && members && packed).into()
        },
    )
}

fn small_build_has_no_sql_engine(house: &House, log: &mut Log) -> bool {
    let tree = |features: &[&str]| {
        let edges = ["tree", "--locked", "--package", "jird-cli", "--edges", "normal,build", "--prefix", "none"];
        house.says("cargo", &[&edges, features].concat())
    };
    let (Some(full), Some(small)) = (tree(&[]), tree(&SMALL)) else {
        log.say("error: cargo tree fails");
        return false;
    };
    let engine = |tree: &str| tree.lines().find(|line| line.contains(SQL_ENGINE)).map(str::to_owned);
    if let Some(line) = engine(&small) {
        log.say(&format!("error: the build with {} has {line}", SMALL.join(" ")));
    }
    // Otherwise the engine has another name now, and nothing was checked.
    if engine(&full).is_none() {
        log.say(&format!("error: no crate of the full build is called {SQL_ENGINE}"));
    }
    engine(&small).is_none() && engine(&full).is_some()
}

fn only_the_right_members_are_published(house: &House, log: &mut Log) -> bool {
    let Some(metadata) = house.says("cargo", &["metadata", "--locked", "--no-deps", "--format-version", "1"]) else {
        log.say("error: cargo metadata fails");
        return false;
    };
    let mut published = published(&metadata);
    published.sort_unstable();
    let mut wanted = PUBLISHED;
    wanted.sort_unstable();
    if published != wanted {
        log.say(&format!("error: cargo would publish {published:?}, and not {wanted:?}"));
    }
    published == wanted
}

/// The names of the packages that may be published, from the output of `cargo metadata`.
fn published(metadata: &str) -> Vec<&str> {
    let mut parts = metadata.split(",\"id\":\"path+file:");
    let mut before = parts.next().unwrap_or_default();
    let mut names = Vec::new();
    for part in parts {
        let name = before.rsplit("{\"name\":\"").next().and_then(|rest| rest.split('"').next());
        names.extend(name.filter(|_| part.contains("\"publish\":null")));
        before = part;
    }
    names
}

fn pack(house: &House, log: &mut Log) -> bool {
    let mut command = house.cargo(["package", "--locked", "--no-verify", "--allow-dirty"]);
    command.args(PUBLISHED.iter().flat_map(|name| ["--package", name]));
    log.run(&mut command) && PUBLISHED.iter().all(|name| is_in_order(house, log, name))
}

fn is_in_order(house: &House, log: &mut Log, name: &str) -> bool {
    let faults = unpack(house, log, name).and_then(|files| faults(house, &files));
    match faults {
        Ok(faults) => {
            faults.iter().for_each(|fault| log.say(&format!("error: package {name}: {fault}")));
            faults.is_empty()
        }
        Err(error) => {
            log.say(&format!("error: package {name}: {error}"));
            false
        }
    }
}

/// The files of a package. The log gets their number and size.
fn unpack(house: &House, log: &mut Log, name: &str) -> io::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let full = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
    let packed = house.target.join("package").join(format!("{full}.crate"));
    let folder = house.target.join("xtask/packages");
    let _ = fs::remove_dir_all(folder.join(&full));
    fs::create_dir_all(&folder)?;
    if !log.run(house.command("tar").arg("-xzf").arg(&packed).arg("-C").arg(&folder)) {
        return Err(io::Error::other("tar fails"));
    }
    let mut files = BTreeMap::new();
    collect(&folder.join(&full), Path::new(""), &mut files)?;
    let size: usize = files.values().map(Vec::len).sum();
    let packed = packed.metadata()?.len();
    log.say(&format!("{full}: {} files, {size} bytes, {packed} packed", files.len()));
    if packed > PACKED_BYTES_MAX {
        return Err(io::Error::other(format!("{packed} bytes are too much: see PACKED_BYTES_MAX")));
    }
    Ok(files)
}

fn collect(folder: &Path, below: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> io::Result<()> {
    for entry in fs::read_dir(folder.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            collect(folder, &path, files)?;
        } else {
            files.insert(path, fs::read(entry.path())?);
        }
    }
    Ok(())
}

fn faults(house: &House, files: &BTreeMap<PathBuf, Vec<u8>>) -> io::Result<Vec<String>> {
    let mut faults = Vec::new();
    for required in REQUIRED {
        match files.get(Path::new(required)) {
            None => faults.push(format!("{required} is missing")),
            Some(text) if required.starts_with("LICENSE") && *text != fs::read(house.root.join(required))? => {
                faults.push(format!("{required} is not the repository's"));
            }
            Some(_) => {}
        }
    }
    let manifest = files.get(Path::new("Cargo.toml")).map(Vec::as_slice).unwrap_or_default();
    let manifest = String::from_utf8_lossy(manifest);
    let has = |key: &str| manifest.lines().any(|line| line.split_once(" = ").is_some_and(|(name, _)| name == key));
    faults.extend(METADATA.iter().filter(|key| !has(key)).map(|key| format!("Cargo.toml has no {key}")));
    for (path, text) in files {
        // The page of the server is compiled in.
        let is_page = |end: &str| path.starts_with("src/routes/page") && matches!(end, "html" | "css" | "js");
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        let is_code = path.starts_with("src") && end == "rs" || is_page(end);
        if !is_code && !REQUIRED.iter().chain(&ALLOWED).any(|name| path == Path::new(name)) {
            faults.push(format!("{} does not belong here", path.display()));
        }
        let lost = |file: &PathBuf| !files.contains_key(file);
        for file in included(path, &String::from_utf8_lossy(text)).into_iter().filter(lost) {
            faults.push(format!("{} includes {}, which is not in the package", path.display(), file.display()));
        }
    }
    Ok(faults)
}

/// The files that a file of Rust code includes, by their paths in the package.
fn included(path: &Path, text: &str) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new(""));
    if path.extension().is_none_or(|end| end != "rs") {
        return Vec::new();
    }
    let names = INCLUDES.iter().flat_map(|word| text.split(word).skip(1)).filter_map(|rest| rest.split('"').next());
    names.map(|name| resolved(folder, Path::new(name))).collect()
}

/// The path without `..`, except where it leaves the package.
fn resolved(folder: &Path, file: &Path) -> PathBuf {
    let mut path = folder.to_owned();
    for part in file.components() {
        let within = path.file_name().is_some();
        if part == Component::ParentDir && within {
            path.pop();
        } else {
            path.push(part);
        }
    }
    path
}

/// Packs a clean clone and builds each package as its users will, up to the upload. This builds the SQL engine.
pub(crate) fn publish(house: &House, log: &mut Log) -> Outcome {
    let clone = house.target.join("xtask/clone");
    let _ = fs::remove_dir_all(&clone);
    if !log.run(house.command("git").args(["clone", "--quiet", "."]).arg(&clone)) {
        return Outcome::Failed;
    }
    let mut command = house.cargo(["publish", "--dry-run", "--locked"]);
    command.args(PUBLISHED.iter().flat_map(|name| ["--package", name]));
    command.current_dir(&clone).env("CARGO_TARGET_DIR", house.target.join("publish"));
    log.run(&mut command).into()
}

/// Installs the binary with these features as the guide says, and counts the files.
pub(crate) fn install(house: &House, log: &mut Log, features: &[&str]) -> Outcome {
    let root = house.target.join("xtask/install");
    let _ = fs::remove_dir_all(&root);
    let mut command = house.cargo(["install", "--locked", "--path", "crates/jird-cli", "--root"]);
    // Elsewhere everything would be built again.
    command.arg(&root).args(features).env("CARGO_TARGET_DIR", &house.target);
    if !log.run(&mut command) {
        return Outcome::Failed;
    }
    let mut files = BTreeMap::new();
    let read = collect(&root, Path::new(""), &mut files);
    // Cargo's own notes about what it installed begin with a dot.
    files.retain(|path, _| !path.to_string_lossy().starts_with('.'));
    let only = read.is_ok() && files.keys().eq([Path::new("bin/jird")]);
    if !only {
        log.say(&format!("error: installed were {:?}, and not the binary alone", files.keys()));
    }
    Outcome::from(only && log.run(house.command(&root.join("bin/jird").to_string_lossy()).arg("--version")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_published_is_read_from_the_metadata() {
        let metadata = concat!(
            r#"{"packages":[{"name":"a","version":"1","id":"path+file:///a","targets":[{"name":"a"}],"publish":null},"#,
            r#"{"name":"b","version":"1","id":"path+file:///b","targets":[{"name":"x"}],"publish":[]}]}"#
        );
        assert_eq!(published(metadata), ["a"]);
    }

    #[test]
    fn included_files_are_found_also_outside_the_package() {
        let text =
            "#[doc = include_str!(\"../README.md\")]\n#[path = \"../../../x/y.rs\"]\nmod y; include_bytes!(\"z\")";
        let paths = |path| included(Path::new(path), text);
        assert_eq!(paths("src/lib.rs"), ["README.md", "src/z", "../../x/y.rs"].map(PathBuf::from));
        assert_eq!(paths("README.md"), <[PathBuf; 0]>::default());
    }
}
