//! Which folder of the engine uses which: the layers, from the ground up, and what runs against them.
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use crate::house::House;
use crate::lines::without_tests;

/// The folders and files of `crates/jird/src`, from the ground up: each uses only what stands before it.
const ORDER: [&str; 21] = [
    "limits",
    "policy",
    "fault",
    "word",
    "encoding",
    "error",
    "threads",
    "kernel",
    "number",
    "text",
    "locate",
    "scan",
    "walk",
    "path",
    "tape",
    "record",
    "layout",
    "data_model",
    "event",
    "typed",
    "lines",
];

/// A use that runs up: from, to, and the files in which it stands.
type Arrows<'a> = BTreeMap<(&'a str, &'a str), BTreeSet<String>>;

/// Prints the uses in the engine that run up. Returns how many pairs of folders have one.
///
/// # Errors
/// If a folder or file cannot be read.
pub(crate) fn print(house: &House) -> io::Result<usize> {
    let mut arrows = Arrows::new();
    let source = house.root.join("crates/jird/src");
    for found in fs::read_dir(&source)? {
        let path = found?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if name == "lib" {
            continue;
        }
        let Some(from) = ORDER.iter().position(|known| *known == name) else {
            return Err(io::Error::other(format!("{name} has no place among the layers")));
        };
        collect(&path, from, &source, &mut arrows)?;
    }
    for ((from, to), files) in &arrows {
        println!("{from} uses {to}: {}", files.iter().cloned().collect::<Vec<_>>().join(", "));
    }
    println!("{} arrows run up; the order is {}", arrows.len(), ORDER.join(", "));
    Ok(arrows.len())
}

/// Adds what a file, or the files of a folder, use that stands above layer `from`.
fn collect(path: &Path, from: usize, source: &Path, arrows: &mut Arrows<'_>) -> io::Result<()> {
    if path.is_dir() {
        return fs::read_dir(path)?.try_for_each(|found| collect(&found?.path(), from, source, arrows));
    }
    let file = path.strip_prefix(source).unwrap_or(path).display().to_string();
    if file.ends_with("tests.rs") || file.contains("/tests/") {
        return Ok(());
    }
    let text = fs::read_to_string(path)?;
    let code: Vec<&str> =
        without_tests(&text).into_iter().filter(|line| !line.trim_start().starts_with("//")).collect();
    for name in uses(&code.join("\n")) {
        if let Some(to) = ORDER.iter().skip(from + 1).find(|known| **known == name) {
            arrows.entry((ORDER[from], to)).or_default().insert(file.clone());
        }
    }
    Ok(())
}

/// What follows each `crate::` in the code, in a group of names too.
fn uses(code: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => names.extend(group_of(group)),
            None => names.extend(ident(rest)),
        }
    }
    names
}

/// The names at the beginning of each path of a group, whose `{` came before.
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
    let end = text.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(text.len());
    text.get(..end).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_alone_and_in_groups() {
        let code = "use crate::scan::{Tokens, END};\nuse crate::{text::{a, b}, walk, tape::Value};\ncrate::error::Error::new();";
        assert_eq!(uses(code).into_iter().collect::<Vec<_>>(), ["error", "scan", "tape", "text", "walk"]);
    }
}
