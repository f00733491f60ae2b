//! Checks the layers of each crate: which of its folders uses which, and the names of its types.
//!
//! A folder uses only the folders before it in its crate's list. So a reader of a folder needs to know only those below
//! it, and a change to a folder cannot affect those below. Within every folder, at most two files use each other.
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use crate::draw::{code_of, read};
use crate::graph::{Graph, circles};
use crate::house::House;
use crate::step::Step;

/// The folders and files of each crate, from the ground up.
const CRATES: [Layers; 9] = [
    Layers {
        name: "jird",
        order: "limits policy fault word encoding message path error threads kernel number text locate scan walk tape \
                record jsonpath layout lenient edit patch data_model event typed partial lines hooks",
    },
    Layers { name: "jird-serde-json", order: "error plain de blocks ser tree" },
    Layers {
        name: "jird-formats",
        order: "panics detached cell encoding columns fields rows error bad_value csv arrow parquet sqlite recover files lenient remote",
    },
    Layers {
        name: "jird-store",
        order: "error settings time search notation files event index column log manifest source logs span clean snapshot tail writer store care",
    },
    Layers { name: "jird-query", order: "base input sql functions guard scan output types plan setup cluster run" },
    Layers { name: "jird-serve", order: "base request http log cache tables events queries routes server" },
    Layers { name: "jird-cluster", order: "told address codec engine scheduler executor client" },
    Layers { name: "jird-python", order: "raw system error forked loads dumps document stdlib scan database store" },
    Layers {
        name: "jird-cli",
        order: "system progress outcome remote input format lenient from documents output color target rewrite signals memory limits dialect durations window wait store_args condition man validate fmt get edit diff ingest store convert describe query bench serve args cluster bin",
    },
];

/// Permitted uses of a later folder by an earlier one: crate, user, used, reason. There are none.
const EXCEPTIONS: [[&str; 4]; 0] = [];

/// The folders that may have unsafe code. They must allow it with this attribute, because their crates refuse it
/// elsewhere.
const UNSAFE: [(&str, &[&str]); 3] =
    [("jird", &["kernel", "number", "scan", "tape", "text"]), ("jird-python", &["raw"]), ("jird-serve", &["log"])];
const ALLOWS_UNSAFE: [&str; 2] = ["allow(unsafe_code", "expect(unsafe_code"];

/// What opens a file by its name, in the crates that read files of users.
const OPENS: [&str; 9] = [
    "File::open(",
    "File::create(",
    "File::options()",
    "OpenOptions",
    "fs::read(",
    "fs::read_to_string(",
    "fs::write(",
    "fs::copy(",
    "same_file",
];
const READERS: [&str; 5] = ["jird-formats", "jird-query", "jird-serve", "jird-cli", "jird-python"];

/// The files that may do so, and why closing what they open ends no locks of SQLite. All others use
/// `jird_formats::files::open`.
const OPENERS: [(&str, &str, &str); 10] = [
    ("jird-formats", "files/open.rs", "asks SQLite first, and never closes a database"),
    ("jird-formats", "files/bad.rs", "has asked before"),
    ("jird-formats", "files/system/windows.rs", "is of Windows, where closing a file ends no locks"),
    ("jird-cli", "system/unix.rs", "reads what the system tells of this process"),
    ("jird-cli", "memory.rs", "reads what the system tells of this process and its control group"),
    ("jird-cli", "man.rs", "makes files of its own"),
    ("jird-cli", "target.rs", "makes files of its own, and opens devices"),
    ("jird-cli", "progress.rs", "opens the pipe that its caller has made"),
    ("jird-serve", "queries/confine.rs", "its tests, which open what no database has"),
    ("jird-python", "scan/input.rs", "never closes a database"),
];

/// The words that name an instruction set, and the one folder that may contain them.
const NAMES_INSTRUCTIONS: [&str; 3] = ["::arch::", "target_arch", "is_x86_feature_detected"];
const INSTRUCTIONS: (&str, &str) = ("jird", "kernel");

/// Words that are no names of types: they say that something happened, and not what the type is.
const VAGUE: [&str; 20] = [
    "Asked", "Done", "Found", "Given", "Gone", "Got", "Held", "How", "Kept", "Known", "Made", "Ran", "Refused", "Said",
    "Seen", "Taken", "Told", "Wanted", "What", "Why",
];

/// The most types of one name in a crate.
const SAME_NAME_MAX: usize = 2;

struct Layers {
    name: &'static str,
    order: &'static str,
}

pub(crate) fn step() -> Step {
    Step::new(
        "layers",
        "no folder uses one above it; types have names of their own; unsafe code stands in few folders",
        |house, log| {
            let found = faults(house);
            match &found {
                Ok(faults) => faults.iter().for_each(|fault| log.say(fault)),
                Err(error) => log.say(&format!("error: {error}")),
            }
            found.is_ok_and(|faults| faults.is_empty()).into()
        },
    )
}

/// The violations, one per line.
fn faults(house: &House) -> io::Result<Vec<String>> {
    let mut faults = Vec::new();
    for layers in &CRATES {
        let source = Source::read(&house.root.join("crates").join(layers.name).join("src"))?;
        source.uses_that_run_up(layers, &mut faults);
        source.names_used_again(layers.name, &mut faults);
        source.unsafe_elsewhere(layers.name, &mut faults);
        source.opens_elsewhere(layers.name, &mut faults);
        source.circles(layers.name, &mut faults);
    }
    Ok(faults)
}

/// A crate's code, without tests and comments.
struct Source {
    /// The crate's root file, which lists what the crate exports and from which folder.
    root: String,
    /// The files, by their paths below `src`.
    files: BTreeMap<PathBuf, String>,
}

impl Source {
    fn read(folder: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        read(folder, folder, &mut files)?;
        let mut files: BTreeMap<_, _> = files.into_iter().map(|(file, text)| (file, code_of(&text))).collect();
        let root = ["lib.rs", "main.rs"].map(|root| files.remove(Path::new(root)).unwrap_or_default()).concat();
        Ok(Self { root, files })
    }

    fn uses_that_run_up(&self, layers: &Layers, faults: &mut Vec<String>) {
        let order: Vec<&str> = layers.order.split_whitespace().collect();
        let level = |name: &str| order.iter().position(|known| *known == name);
        for (file, code) in &self.files {
            let folder = folder_of(file);
            let Some(from) = level(&folder) else {
                faults.push(format!("{}: {folder} has no place among the layers", layers.name));
                continue;
            };
            let mut used = uses(code, "crate::");
            if file.components().count() == 1 {
                used.extend(uses(code, "super::"));
            }
            for name in used {
                let used = if level(name).is_some() { name } else { self.home_of(name).unwrap_or(name) };
                match level(used) {
                    None => {
                        faults.push(format!("{}: nobody knows where {used} is, of {}", layers.name, file.display()));
                    }
                    Some(to) if to > from && !is_exception(layers.name, &folder, used) => {
                        faults.push(format!("{}: {} uses {used}, which stands above it", layers.name, file.display()));
                    }
                    Some(_) => {}
                }
            }
        }
    }

    /// Finds more than two files or folders of one folder that use each other.
    fn circles(&self, krate: &str, faults: &mut Vec<String>) {
        for (folder, arrows) in Graph::of(&self.files).folders() {
            for circle in circles(&arrows).into_iter().filter(|circle| circle.len() > 2) {
                let (folder, circle) = (folder.join("/"), circle.join(", "));
                faults.push(format!("{krate}: a circle in {folder}/: {circle}"));
            }
        }
    }

    /// The folder from which the root exports `name`.
    fn home_of(&self, name: &str) -> Option<&str> {
        self.root.split("pub use ").skip(1).find_map(|exported| {
            let exported = exported.split(';').next()?.trim_start_matches("crate::");
            let is_it = |word: &str| word == name;
            exported.split(|char: char| !is_part(char)).skip(1).any(is_it).then(|| ident(exported)).flatten()
        })
    }

    /// Finds unsafe code outside the folders that may have it, and instruction sets outside theirs.
    fn unsafe_elsewhere(&self, krate: &str, faults: &mut Vec<String>) {
        let refused = ["deny(unsafe_code)", "forbid(unsafe_code)"];
        if !refused.iter().any(|attribute| self.root.contains(attribute)) {
            faults.push(format!("{krate}: unsafe code is not refused"));
        }
        let folders = UNSAFE.iter().find(|(name, _)| *name == krate).map_or(&[][..], |(_, folders)| folders);
        for (file, code) in &self.files {
            let allows = ALLOWS_UNSAFE.iter().any(|attribute| code.contains(attribute));
            if allows && !folders.contains(&folder_of(file).as_str()) {
                faults.push(format!("{krate}: {} allows unsafe code", file.display()));
            }
            let names = NAMES_INSTRUCTIONS.iter().any(|name| code.contains(name));
            if names && (krate, folder_of(file).as_str()) != INSTRUCTIONS {
                faults.push(format!("{krate}: {} names an instruction set", file.display()));
            }
        }
    }

    /// Finds what opens files and could so end locks of SQLite.
    fn opens_elsewhere(&self, krate: &str, faults: &mut Vec<String>) {
        for (file, code) in self.files.iter().filter(|_| READERS.contains(&krate)) {
            let may_open = OPENERS.iter().any(|(name, path, _)| *name == krate && Path::new(path) == file);
            let is_there = |call: &str| {
                code.match_indices(call).any(|(at, _)| !code[..at].ends_with(|before: char| before.is_alphanumeric()))
            };
            if let Some(call) = OPENS.iter().find(|call| is_there(call)).filter(|_| !may_open) {
                let file = file.display();
                faults.push(format!("{krate}: {file} uses {call}, which could end locks of SQLite: use files::open"));
            }
        }
    }

    /// Finds types that share a name. A type's name should say what the type is wherever it is read.
    fn names_used_again(&self, krate: &str, faults: &mut Vec<String>) {
        let mut types: BTreeMap<&str, Vec<(bool, &Path)>> = BTreeMap::new();
        for (file, code) in &self.files {
            for (name, public) in code.lines().filter_map(type_of) {
                types.entry(name).or_default().push((public, file));
            }
        }
        for (name, found) in types {
            if VAGUE.contains(&name) {
                let file = found[0].1.display();
                faults.push(format!("{krate}: {file} has a type called {name}: a noun would say what it is"));
            }
            let public = found.iter().filter(|(public, _)| *public).count();
            if found.len() > SAME_NAME_MAX || public > 1 {
                let files: Vec<_> = found.iter().map(|(_, file)| file.display().to_string()).collect();
                faults.push(format!("{krate}: several types are called {name}: {}", files.join(", ")));
            }
        }
    }
}

fn is_exception(krate: &str, from: &str, to: &str) -> bool {
    EXCEPTIONS.iter().any(|[of, user, used, _]| [*of, *user, *used] == [krate, from, to])
}

/// The name of a file's folder, or of the file itself.
fn folder_of(file: &Path) -> String {
    let first = file.iter().next().unwrap_or_default();
    Path::new(first).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The name of the type that a line defines at a file's outermost level, and whether the type is public.
fn type_of(line: &str) -> Option<(&str, bool)> {
    let (visibility, rest) = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => (false, rest.split_once(") ")?.1),
        Some(rest) => (true, rest.strip_prefix(' ')?),
        None => (false, line),
    };
    let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let kinds = ["struct ", "enum ", "trait ", "union ", "type "];
    let rest = kinds.iter().find_map(|kind| rest.strip_prefix(kind))?;
    Some((ident(rest)?, visibility))
}

/// The names that follow `prefix`, such as `crate::`, in the code, also within a group of names.
fn uses<'c>(code: &'c str, prefix: &str) -> BTreeSet<&'c str> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices(prefix) {
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(group) => names.extend(group_of(group)),
            None => names.extend(ident(rest)),
        }
    }
    names
}

/// The first names of the paths in a group. The group's `{` was already consumed.
fn group_of(group: &str) -> Vec<&str> {
    let (mut depth, mut names, mut begins) = (0, Vec::new(), true);
    for (at, char) in group.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            _ if begins && !char.is_whitespace() => {
                names.extend(ident(&group[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

fn ident(text: &str) -> Option<&str> {
    let end = text.find(|char: char| !is_part(char)).unwrap_or(text.len());
    text.get(..end).filter(|name| !name.is_empty())
}

fn is_part(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(root: &str, files: &[(&str, &str)]) -> Source {
        Source { root: root.into(), files: files.iter().map(|(path, code)| (path.into(), (*code).into())).collect() }
    }

    fn run_up(source: &Source) -> Vec<String> {
        let mut faults = Vec::new();
        source.uses_that_run_up(&Layers { name: "it", order: "ground middle top" }, &mut faults);
        faults
    }

    #[test]
    fn names_are_found_alone_and_in_groups() {
        let code = "use crate::scan::{Tokens, END};\nuse crate::{text::{a, b}, walk, tape::Value};\ncrate::error::Error::new();";
        assert_eq!(uses(code, "crate::").into_iter().collect::<Vec<_>>(), ["error", "scan", "tape", "text", "walk"]);
    }

    #[test]
    fn a_use_may_run_down_and_not_up() {
        assert!(
            run_up(&source("", &[("top/mod.rs", "use crate::ground::A;"), ("middle.rs", "use super::ground;")]))
                .is_empty()
        );
        for up in ["use crate::top::A;", "use super::top::A;", "use crate::{ground::B, top::A};"] {
            assert_eq!(run_up(&source("", &[("middle.rs", up)])).len(), 1, "{up}");
        }
    }

    #[test]
    fn what_the_root_exports_is_known_by_its_folder() {
        let root = "pub mod ground;\npub use top::{Thing, Other};\npub use ground::Stone;";
        assert_eq!(run_up(&source(root, &[("ground/a.rs", "crate::Thing::new(); crate::Stone;")])).len(), 1);
        assert_eq!(run_up(&source(root, &[("top/a.rs", "crate::Nobody")])).len(), 1);
        assert_eq!(run_up(&source(root, &[("attic.rs", "")])).len(), 1);
    }

    #[test]
    fn unsafe_code_stands_in_few_folders() {
        let faults = |root: &str, file: &str| {
            let mut faults = Vec::new();
            source(root, &[(file, "#![allow(unsafe_code, reason = \"intrinsics\")]")])
                .unsafe_elsewhere("jird", &mut faults);
            faults.len()
        };
        assert_eq!(faults("#![deny(unsafe_code)]", "kernel/avx2.rs"), 0);
        assert_eq!(faults("#![deny(unsafe_code)]", "lines/search.rs"), 1);
        assert_eq!(faults("", "kernel/avx2.rs"), 1);
    }

    #[test]
    fn instruction_sets_are_named_in_one_folder() {
        let faults = |file: &str| {
            let mut faults = Vec::new();
            source("#![deny(unsafe_code)]", &[(file, "use core::arch::x86_64::*;")])
                .unsafe_elsewhere("jird", &mut faults);
            faults.len()
        };
        assert_eq!((faults("kernel/avx2.rs"), faults("number/swar.rs")), (0, 1));
    }

    #[test]
    fn a_public_name_is_there_once_and_others_twice() {
        let faults = |files: &[(&str, &str)]| {
            let mut faults = Vec::new();
            source("", files).names_used_again("it", &mut faults);
            faults.len()
        };
        assert_eq!(faults(&[("a.rs", "struct A;\n    struct A;"), ("b.rs", "pub(super) enum A {}")]), 0);
        assert_eq!(faults(&[("a.rs", "struct A;"), ("b.rs", "enum A {}"), ("c.rs", "pub unsafe trait A {}")]), 1);
        assert_eq!(faults(&[("a.rs", "pub struct A;"), ("b.rs", "pub trait A<'a> {}")]), 1);
        assert_eq!(faults(&[("a.rs", "struct Told;\n    struct Kept;"), ("b.rs", "struct Toll;")]), 1);
    }
}
