//! Which module of a crate uses which, and the circles among them.
//!
//! In goes the code of a crate's files, without tests and comments. Out come, for each folder, its files and folders
//! with arrows between those of them that use each other.
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The path of a module in its crate.
type Module<'c> = Vec<&'c str>;

/// The arrows among the files and folders of one folder: which uses which.
pub(crate) type Arrows<'c> = BTreeMap<&'c str, BTreeSet<&'c str>>;

/// The modules of a crate.
pub(crate) struct Graph<'c> {
    modules: BTreeMap<Module<'c>, &'c str>,
}

impl<'c> Graph<'c> {
    /// Of files, by their paths below `src`.
    pub(crate) fn of(files: &'c BTreeMap<PathBuf, String>) -> Self {
        let modules = files.iter().map(|(path, code)| (module_of(path), code.as_str()));
        Self { modules: modules.collect() }
    }

    /// The folders with their arrows, by their paths.
    pub(crate) fn folders(&self) -> BTreeMap<Module<'c>, Arrows<'c>> {
        let mut folders: BTreeMap<Module<'c>, Arrows<'c>> = BTreeMap::new();
        for module in self.modules.keys() {
            for (depth, part) in module.iter().enumerate() {
                folders.entry(module[..depth].to_vec()).or_default().entry(part).or_default();
            }
        }
        for (module, code) in &self.modules {
            for path in paths(code) {
                let used = self.home_of(module, &path);
                // The arrow is between the two parts in which the paths differ.
                let Some(depth) = (0..module.len().min(used.len())).find(|at| module[*at] != used[*at]) else {
                    continue;
                };
                let arrows = folders.get_mut(&module[..depth]).and_then(|folder| folder.get_mut(module[depth]));
                if let Some(arrows) = arrows {
                    arrows.insert(used[depth]);
                }
            }
        }
        folders
    }

    /// The module that a path leads to, seen from another one. What a module passes on stands in another module.
    fn home_of(&self, from: &Module<'c>, path: &[&'c str]) -> Module<'c> {
        let mut found = from.clone();
        for part in path {
            match *part {
                "crate" => found.clear(),
                "super" => {
                    found.pop();
                }
                part => {
                    found.push(part);
                    if !self.modules.contains_key(&found) {
                        found.pop();
                        return self.passed_on(&found, part).unwrap_or(found);
                    }
                }
            }
        }
        found
    }

    /// The module below `module` from which it takes `name`.
    fn passed_on(&self, module: &Module<'c>, name: &str) -> Option<Module<'c>> {
        let code = self.modules.get(module)?;
        code.split("use ").skip(1).find_map(|taken| {
            let taken = taken.split(';').next()?.trim_start_matches("self::").trim_start_matches("crate::");
            let names = |word: &str| word == name;
            let (child, rest) = taken.split_once("::")?;
            let home = self.modules.keys().find(|known| known.starts_with(module) && known[module.len()..] == [child]);
            rest.split(|char: char| !is_part(char)).any(names).then(|| home.cloned()).flatten()
        })
    }
}

/// The circles among the parts of a folder: sets of parts that all use each other, directly or not.
pub(crate) fn circles<'c>(arrows: &Arrows<'c>) -> Vec<Vec<&'c str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = arrows.keys().map(|part| (*part, reached(arrows, part))).collect();
    let mut circles: Vec<Vec<&str>> = Vec::new();
    for part in arrows.keys() {
        let is_back = |other: &&&str| reached[part].contains(**other) && reached[**other].contains(part);
        let circle: Vec<&str> = arrows.keys().filter(is_back).copied().collect();
        if circle.len() > 1 && !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

/// All parts that a part uses, directly or not.
fn reached<'c>(arrows: &Arrows<'c>, part: &str) -> BTreeSet<&'c str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = arrows[part].iter().copied().collect();
    while let Some(part) = next.pop() {
        if reached.insert(part) {
            next.extend(arrows.get(part).into_iter().flatten());
        }
    }
    reached
}

fn module_of(path: &Path) -> Module<'_> {
    let mut parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    if let Some(last) = parts.pop() {
        let name = last.trim_end_matches(".rs");
        if !["mod", "lib", "main"].contains(&name) {
            parts.push(name);
        }
    }
    parts
}

/// The paths in the code that begin with `crate` or `super`, each part of a group by itself.
fn paths(code: &str) -> Vec<Vec<&str>> {
    let mut paths = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = &code[..at];
            if !before.ends_with("::") && !before.ends_with(is_part) {
                path(&code[at..], &mut Vec::new(), &mut paths);
            }
        }
    }
    paths
}

/// Reads a path or a group of paths, and returns what follows it.
fn path<'c>(code: &'c str, begun: &mut Vec<&'c str>, paths: &mut Vec<Vec<&'c str>>) -> &'c str {
    if let Some(mut rest) = code.strip_prefix('{') {
        loop {
            rest = rest.trim_start_matches(|char: char| char.is_whitespace() || char == ',');
            let before = rest.len();
            if rest.starts_with('}') || rest.is_empty() {
                return rest.get(1..).unwrap_or_default();
            }
            rest = path(rest, begun, paths);
            if rest.len() == before {
                // A glob, or the name behind `as`.
                rest = rest.get(rest.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
            }
        }
    }
    let end = code.find(|char: char| !is_part(char)).unwrap_or(code.len());
    let (part, rest) = code.split_at(end);
    if part.is_empty() {
        return rest;
    }
    begun.push(part);
    let rest = match rest.strip_prefix("::") {
        Some(rest) if rest.starts_with(|char: char| is_part(char) || char == '{') => path(rest, begun, paths),
        _ => {
            paths.push(begun.clone());
            rest
        }
    };
    begun.pop();
    rest
}

fn is_part(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        let files = files.iter().map(|(path, code)| (PathBuf::from(path), (*code).to_owned())).collect();
        let graph = Graph::of(&files);
        let told = |(folder, arrows): (&Vec<&str>, &Arrows<'_>)| {
            let shown = |circle: Vec<&str>| format!("{}: {}", folder.join("/"), circle.join(" "));
            circles(arrows).into_iter().map(shown).collect::<Vec<_>>()
        };
        graph.folders().iter().flat_map(told).collect()
    }

    #[test]
    fn files_that_use_each_other_are_a_circle() {
        assert_eq!(circles_of(&[("a.rs", "use crate::b::B;"), ("b.rs", "super::a::x();")]), [": a b"]);
        assert!(circles_of(&[("a.rs", "use crate::b::B;"), ("b.rs", "std::super::a; supper::a")]).is_empty());
    }

    #[test]
    fn groups_and_folders_are_seen_through() {
        let files = [
            ("f/mod.rs", ""),
            ("f/one.rs", "use crate::{f::{two::{A, B as C}, *}, g::x};"),
            ("f/two.rs", "use super::three::Z;"),
            ("f/three/mod.rs", ""),
            ("f/three/deep.rs", "use super::super::one::A;"),
            ("g.rs", "use crate::f::two::A;"),
        ];
        assert_eq!(circles_of(&files), [": f g", "f: one three two"]);
    }

    #[test]
    fn what_a_folder_passes_on_stands_in_a_file() {
        let files = [("f/mod.rs", "pub(crate) use one::{Stone, Tree};"), ("f/one.rs", "use super::two::X;")];
        let user = ("f/two.rs", "use super::Tree;");
        assert_eq!(circles_of(&[files[0], files[1], user]), ["f: one two"]);
        assert!(circles_of(&[files[0], files[1], ("f/two.rs", "use super::Own;")]).is_empty());
    }
}
