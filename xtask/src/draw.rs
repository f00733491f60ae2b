//! Draws the house: for each folder its lines without tests, the arrows between its files, circles, and the longest functions.
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use crate::graph::{Graph, circles};
use crate::house::House;

/// The kinds of lines in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lines {
    code: usize,
    comments: usize,
    blank: usize,
}

impl AddAssign for Lines {
    fn add_assign(&mut self, more: Self) {
        self.code += more.code;
        self.comments += more.comments;
        self.blank += more.blank;
    }
}

impl Lines {
    /// Counts the lines of a Rust file, up to its tests.
    fn of(text: &str) -> Self {
        let mut lines = Self::default();
        for line in without_tests(text) {
            match line.trim() {
                "" => lines.blank += 1,
                line if line.starts_with("//") => lines.comments += 1,
                _ => lines.code += 1,
            }
        }
        lines
    }
}

/// The lines of a file, without the modules that exist only for tests: neither the declarations of such modules nor
/// their contents. A test module's contents extend to the end of the file.
pub(crate) fn without_tests(text: &str) -> Vec<&str> {
    let mut kept = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line != "#[cfg(test)]" {
            kept.push(line);
            continue;
        }
        match lines.find(|line| !line.starts_with("#[")) {
            Some(line) if line.contains("mod ") && line.ends_with('{') => break,
            Some(line) if line.ends_with(';') => {}
            Some(line) => kept.push(line),
            None => break,
        }
    }
    kept
}

/// The number of functions that are shown.
const LONGEST: usize = 12;

/// Prints a line for each folder of each crate's `src`, the largest crate first; then circles and the longest functions.
///
/// # Errors
/// If a folder or file cannot be read.
pub(crate) fn print(house: &House) -> io::Result<()> {
    let (mut crates, mut functions, mut round) = (Vec::new(), Vec::new(), Vec::new());
    for found in fs::read_dir(house.root.join("crates"))? {
        let path = found?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (mut folders, mut files) = (BTreeMap::new(), BTreeMap::new());
        read(&path.join("src"), &path.join("src"), &mut files)?;
        for (file, text) in &files {
            let folder = file.parent().and_then(|folder| folder.iter().next()).unwrap_or(OsStr::new("(files)"));
            *folders.entry(folder.to_string_lossy().into_owned()).or_default() += Lines::of(text);
            functions.extend(
                lengths(text).map(|(length, function)| (length, function, format!("{name}/{}", file.display()))),
            );
        }
        let code = files.into_iter().map(|(file, text)| (file, code_of(&text))).collect();
        let graph = Graph::of(&code).folders();
        for (folder, arrows) in &graph {
            let told = |circle: Vec<&str>| format!("{name} {}/: {}", folder.join("/"), circle.join(", "));
            round.extend(circles(arrows).into_iter().map(told));
        }
        let arrows: usize = graph.values().flat_map(BTreeMap::values).map(BTreeSet::len).sum();
        crates.push((folders, name, arrows));
    }
    table(&mut crates);
    println!("\ncircles ({})", round.len());
    round.iter().for_each(|circle| println!("  {circle}"));
    functions.sort_by_key(|(length, ..)| Reverse(*length));
    println!("\nlongest functions");
    functions.iter().take(LONGEST).for_each(|(length, function, file)| println!("  {length:>4} {function} ({file})"));
    Ok(())
}

/// Prints the lines of each folder, and the arrows of each crate.
fn table(crates: &mut [(BTreeMap<String, Lines>, String, usize)]) {
    let sum = |folders: &BTreeMap<String, Lines>| {
        let mut all = Lines::default();
        folders.values().for_each(|lines| all += *lines);
        all
    };
    crates.sort_by_key(|(folders, ..)| Reverse(sum(folders).code));
    println!("{:<32} {:>8} {:>9} {:>6} {:>7}", "", "code", "comments", "blank", "arrows");
    let row = |name: &str, Lines { code, comments, blank }: Lines, arrows: &str| {
        println!("{name:<32} {code:>8} {comments:>9} {blank:>6} {arrows:>7}");
    };
    let (mut all, mut all_arrows) = (Lines::default(), 0);
    for (folders, name, arrows) in crates.iter() {
        row(name, sum(folders), &arrows.to_string());
        folders.iter().for_each(|(folder, lines)| row(&format!("  {folder}"), *lines, ""));
        all += sum(folders);
        all_arrows += arrows;
    }
    row("all", all, &all_arrows.to_string());
}

/// The code without tests and comments.
pub(crate) fn code_of(text: &str) -> String {
    let code = without_tests(text).into_iter().filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

/// The functions outside of tests, each with its number of lines.
fn lengths(text: &str) -> impl Iterator<Item = (usize, String)> {
    let lines = without_tests(text);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let found = lines.iter().enumerate().filter_map(|(start, line)| {
        let name = line.split_once("fn ").filter(|(before, _)| before.trim_start().split(' ').all(is_modifier))?.1;
        let end = lines[start..].iter().position(|end| end.trim() == "}" && indent(end) == indent(line))?;
        Some((end + 1, name.split(['(', '<']).next().unwrap_or(name).to_owned()))
    });
    found.collect::<Vec<_>>().into_iter()
}

/// Whether a word may stand before `fn`.
fn is_modifier(word: &str) -> bool {
    word.is_empty() || word.starts_with("pub") || ["const", "unsafe", "async", "extern", "\"C\""].contains(&word)
}

/// Reads the Rust files of a folder and of its subfolders, without those of tests, by their paths below `root`.
pub(crate) fn read(path: &Path, root: &Path, files: &mut BTreeMap<PathBuf, String>) -> io::Result<()> {
    for found in fs::read_dir(path)? {
        let path = found?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            read(&path, root, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "tests.rs" {
            files.insert(path.strip_prefix(root).unwrap_or(&path).to_owned(), fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_left_out_wherever_they_stand() {
        let text = "//! A file.\n\n#[cfg(test)]\nmod oracle;\nmod scan;\n\nfn a() {\n    // why\n    b();\n}\n\n#[cfg(test)]\nmod tests {\n    x\n}\n";
        assert_eq!(Lines::of(text), Lines { code: 4, comments: 2, blank: 3 });
    }

    #[test]
    fn functions_are_counted_from_their_first_line_to_their_last() {
        let text = "pub(crate) fn a<T>(x: T) {\n    b();\n}\n\nimpl C {\n    fn d(\n        &self,\n    ) {\n        if x {\n        }\n    }\n}\n// fn e() {\n";
        let wanted = [(3, "a".to_owned()), (6, "d".to_owned())];
        assert_eq!(lengths(text).collect::<Vec<_>>(), wanted);
    }
}
