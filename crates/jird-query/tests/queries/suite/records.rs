//! The files: statements and queries, and what they want.
//!
//! The crate that reads them for DataFusion brings nine others, and features of `object_store` with which DataFusion
//! would be compiled once more.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package that has the files; its version is DataFusion's.
pub(super) const PACKAGE: &str = "datafusion-sqllogictest";

/// A statement or a query.
#[derive(Debug)]
pub(super) struct Record {
    /// Its file, from the folder of all.
    pub(super) file: String,
    /// The line with its first word.
    pub(super) line: usize,
    pub(super) sql: String,
    pub(super) wants: Wants,
}

#[derive(Debug)]
pub(super) enum Wants {
    /// It is only run, if it is well.
    Nothing,
    Error,
    /// These lines, one for each row, or for each value if these are sorted.
    Rows {
        columns: usize,
        sorted: Sorted,
        lines: Vec<String>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sorted {
    Not,
    Rows,
    Values,
}

/// The folder with the files, which cargo fetches from the registry if it has not yet. `None` if it cannot.
pub(super) fn folder() -> Option<PathBuf> {
    let name = format!("{PACKAGE}-{}", datafusion::DATAFUSION_VERSION);
    let unpacked = || {
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
        let registries = fs::read_dir(home.join("registry/src")).ok()?.flatten();
        registries.map(|registry| registry.path().join(&name).join("test_files")).find(|folder| folder.is_dir())
    };
    unpacked().or_else(|| {
        let package = format!("{PACKAGE}@{}", datafusion::DATAFUSION_VERSION);
        // Outside the workspace, where it looks at the registry.
        let mut cargo = Command::new("cargo");
        cargo.args(["info", "--quiet", &package]).current_dir(std::env::temp_dir()).output().ok()?;
        unpacked()
    })
}

/// All files, in the order of their names.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "slt") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The records of a file, and of those that it includes.
pub(super) fn read(folder: &Path, path: &Path) -> Vec<Record> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: VecDeque<_> = text.lines().enumerate().collect();
    let mut records = Vec::new();
    let mut is_for_others = false;
    while let Some((at, line)) = lines.pop_front() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["halt"] => break,
            ["include", pattern] => {
                let pattern = path.parent().unwrap().join(pattern);
                let found = glob::glob(&pattern.to_string_lossy()).unwrap().flatten();
                records.extend(found.flat_map(|path| read(folder, &path)));
            }
            ["skipif", name] => is_for_others |= name == "Datafusion",
            ["onlyif", name] => is_for_others |= name != "Datafusion",
            [kind @ ("statement" | "query"), ref words @ ..] => {
                let sql = text_of(&mut lines);
                let wants = wanted(kind, words, &mut lines);
                let file = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                if !std::mem::take(&mut is_for_others) {
                    records.push(Record { file, line: at + 1, sql, wants });
                }
            }
            _ => {}
        }
    }
    records
}

/// The lines up to a blank one, or to that before the result.
fn text_of(lines: &mut VecDeque<(usize, &str)>) -> String {
    let mut sql = Vec::new();
    while let Some((_, line)) = lines.pop_front_if(|(_, line)| !line.is_empty() && *line != "----") {
        sql.push(line);
    }
    sql.join("\n")
}

fn wanted(kind: &str, words: &[&str], lines: &mut VecDeque<(usize, &str)>) -> Wants {
    let has_result = lines.pop_front_if(|(_, line)| *line == "----").is_some();
    let mut result = Vec::new();
    while has_result && let Some((_, line)) = lines.pop_front_if(|(_, line)| !line.is_empty()) {
        result.push(line.to_owned());
    }
    match words {
        ["error", ..] => Wants::Error,
        [types, rest @ ..] if kind == "query" => {
            let sorted = match rest.first() {
                Some(&"rowsort") => Sorted::Rows,
                Some(&"valuesort") => Sorted::Values,
                _ => Sorted::Not,
            };
            Wants::Rows { columns: types.len(), sorted, lines: result }
        }
        _ => Wants::Nothing,
    }
}
