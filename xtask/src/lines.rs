//! Counts lines of code, comments and blank lines in each folder, without tests.
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::AddAssign;
use std::path::Path;

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

/// Prints a line for each folder of each crate's `src`, the largest crate first, and the total.
///
/// # Errors
/// If a folder or file cannot be read.
pub(crate) fn print(house: &House) -> io::Result<()> {
    let mut crates = Vec::new();
    for found in fs::read_dir(house.root.join("crates"))? {
        let path = found?.path();
        let mut folders = BTreeMap::new();
        count(&path.join("src"), "", &mut folders)?;
        let mut all = Lines::default();
        folders.values().for_each(|lines| all += *lines);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        crates.push((all.code, name, folders, all));
    }
    crates.sort_by_key(|(code, ..)| Reverse(*code));
    println!("{:<32} {:>8} {:>9} {:>6}", "", "code", "comments", "blank");
    let row = |name: &str, Lines { code, comments, blank }: Lines| {
        println!("{name:<32} {code:>8} {comments:>9} {blank:>6}");
    };
    for (_, name, folders, all) in crates {
        row(&name, all);
        folders.iter().for_each(|(folder, lines)| row(&format!("  {folder}"), *lines));
    }
    Ok(())
}

/// Adds up the files of a folder and of its subfolders, grouped by the first folder below `src`.
fn count(path: &Path, folder: &str, folders: &mut BTreeMap<String, Lines>) -> io::Result<()> {
    for found in fs::read_dir(path)? {
        let path = found?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            count(&path, if folder.is_empty() { &name } else { folder }, folders)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "tests.rs" {
            let folder = if folder.is_empty() { "(files)" } else { folder };
            *folders.entry(folder.to_owned()).or_default() += Lines::of(&fs::read_to_string(&path)?);
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
}
