//! The number of executions of each fuzz target, by the code that they ran with: the table in `fuzz/TALLY.md`.
//!
//! A row is a target and the code that it ran with. Its executions are of that code only. A row that is older than a
//! change says nothing about the change.
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

/// The table.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    rows: BTreeMap<Key, Row>,
}

/// A target, and the commit that last changed what its execution depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    target: String,
    code: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Row {
    /// The days of the first and the last slice, such as 2026-12-31.
    since: String,
    until: String,
    slices: u64,
    executions: u64,
    seconds: u64,
    /// The names of failing inputs that are not fixed yet.
    open: BTreeSet<String>,
}

/// A slice that ran.
pub(super) struct Entry<'a> {
    pub(super) target: &'a str,
    pub(super) code: &'a str,
    pub(super) day: &'a str,
    pub(super) executions: u64,
    pub(super) seconds: u64,
    /// The name of the input on which it failed.
    pub(super) found: Option<&'a str>,
}

impl Tally {
    /// Reads the table from its file. It is empty if there is no file.
    ///
    /// # Errors
    /// If the file cannot be read, or if a row of the table is invalid.
    pub(super) fn load(path: &Path) -> io::Result<Self> {
        match fs::read_to_string(path) {
            Ok(text) => {
                Self::parse(&text).map_err(|why| io::Error::other(format!("{why}; mend the row or remove the file")))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Replaces the file. The file is never half written.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn save(&self, path: &Path) -> io::Result<()> {
        let new = path.with_extension("md.new");
        fs::write(&new, self.print())?;
        fs::rename(new, path)
    }

    pub(super) fn add(&mut self, entry: &Entry<'_>) {
        let key = Key { target: entry.target.to_owned(), code: entry.code.to_owned() };
        let row = self.rows.entry(key).or_default();
        if row.slices == 0 {
            entry.day.clone_into(&mut row.since);
        }
        entry.day.clone_into(&mut row.until);
        row.slices += 1;
        row.executions += entry.executions;
        row.seconds += entry.seconds;
        row.open.extend(entry.found.map(str::to_owned));
    }

    /// The executions of all targets, with any code.
    pub(super) fn executions(&self) -> u64 {
        self.rows.values().map(|row| row.executions).sum()
    }

    /// The executions of all targets with this code.
    pub(super) fn executions_of(&self, code: &str) -> u64 {
        self.rows.iter().filter(|(key, _)| key.code == code).map(|(_, row)| row.executions).sum()
    }

    /// The seconds that this target ran for.
    pub(super) fn seconds(&self, target: &str) -> u64 {
        self.of(target).map(|row| row.seconds).sum()
    }

    /// The slices that this target ran for.
    pub(super) fn slices(&self, target: &str) -> u64 {
        self.of(target).map(|row| row.slices).sum()
    }

    fn of<'a>(&'a self, target: &'a str) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().filter(move |(key, _)| key.target == target).map(|(_, row)| row)
    }

    /// The open findings: targets and names.
    pub(super) fn open(&self) -> Vec<(&str, &str)> {
        let rows = self.rows.iter();
        rows.flat_map(|(key, row)| row.open.iter().map(|name| (key.target.as_str(), name.as_str()))).collect()
    }

    /// Closes the findings for which `mended` returns true. Returns whether there were any.
    pub(super) fn close(&mut self, mended: impl Fn(&str, &str) -> bool) -> bool {
        let before = self.open().len();
        for (key, row) in &mut self.rows {
            row.open.retain(|name| !mended(&key.target, name));
        }
        self.open().len() < before
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut tally = Self::default();
        for (index, line) in text.lines().enumerate() {
            let is_row = line.starts_with('|') && !line.starts_with("| target") && !line.starts_with("|--");
            if is_row {
                let (key, row) = row(line).ok_or_else(|| format!("line {} is no row of the table", index + 1))?;
                if tally.rows.insert(key, row).is_some() {
                    return Err(format!("line {} is the second row of its target and code", index + 1));
                }
            }
        }
        Ok(tally)
    }

    fn print(&self) -> String {
        let rows = self.rows.iter().map(|(Key { target, code }, row)| {
            let Row { since, until, slices, executions, seconds, open } = row;
            let open = open.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
            let open = if open.is_empty() { "none" } else { &open };
            format!("| {target} | {code} | {since} | {until} | {slices} | {executions} | {seconds} | {open} |\n")
        });
        let (executions, open) = (self.executions(), self.open().len());
        let end = format!("\n{executions} executions in all; findings open: {open}.\n");
        std::iter::once(HEAD.to_owned()).chain(rows).chain([end]).collect()
    }
}

fn row(line: &str) -> Option<(Key, Row)> {
    let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
    let [target, code, since, until, slices, executions, seconds, open] = cells[..] else { return None };
    let open = if open == "none" { "" } else { open };
    let row = Row {
        since: since.to_owned(),
        until: until.to_owned(),
        slices: slices.parse().ok()?,
        executions: executions.parse().ok()?,
        seconds: seconds.parse().ok()?,
        open: open.split_whitespace().map(str::to_owned).collect(),
    };
    Some((Key { target: target.to_owned(), code: code.to_owned() }, row))
}

const HEAD: &str = "\
# Executions of the fuzz targets

`cargo xtask deep --executions N` writes this file after every slice of a target's run, about a minute, and goes on from it:
it runs the targets until the executions of all rows together are N. Remove the file to begin anew.

All executions are under AddressSanitizer, in the build that checks each unchecked access. Three slices of four are quick,
every fourth is thorough: `Pace` in `xtask/src/fuzz/slice.rs` says what differs. In each execution the input decides which
kernel, chunk size or type is used, where there are several.

`code` is the commit that last changed the engine, the checks, the targets or the versions of dependencies before the run;
`+` means that some of these were changed and not committed. Executions count for the code that they ran with, so only the
rows of the newest commit speak of the newest code.

`open` names the inputs that a target failed on. An input is open until it lies in `fuzz/regressions/TARGET`, where the
ordinary tests replay it; until then its target is not run.

| target | code | since | until | slices | executions | seconds | open |
|--------|------|-------|-------|-------:|-----------:|--------:|------|
";

#[cfg(test)]
mod tests {
    use super::*;

    fn entry<'a>(target: &'a str, code: &'a str, executions: u64, found: Option<&'a str>) -> Entry<'a> {
        Entry { target, code, day: "2026-12-31", executions, seconds: 60, found }
    }

    fn some() -> Tally {
        let mut tally = Tally::default();
        tally.add(&entry("parse", "0123abc", 1000, None));
        tally.add(&Entry { day: "2027-01-01", ..entry("parse", "0123abc", 500, None) });
        tally.add(&entry("parse", "4567def+", 7, None));
        tally.add(&entry("lines", "0123abc", 20, Some("crash-1")));
        tally
    }

    #[test]
    fn what_is_written_is_read_again() {
        let tally = some();
        assert_eq!(Tally::parse(&tally.print()), Ok(tally));
        assert_eq!(Tally::parse(HEAD), Ok(Tally::default()));
    }

    #[test]
    fn slices_add_up_by_target_and_code() {
        let tally = some();
        assert_eq!((tally.executions(), tally.executions_of("0123abc")), (1527, 1520));
        assert_eq!((tally.seconds("parse"), tally.slices("parse"), tally.slices("new")), (180, 3, 0));
        let text = tally.print();
        assert!(text.contains("| parse | 0123abc | 2026-12-31 | 2027-01-01 | 2 | 1500 | 120 | none |\n"), "{text}");
        assert!(text.ends_with("\n1527 executions in all; findings open: 1.\n"), "{text}");
    }

    #[test]
    fn a_finding_is_open_until_it_is_mended() {
        let mut tally = some();
        assert_eq!(tally.open(), [("lines", "crash-1")]);
        assert!(!tally.close(|target, name| (target, name) == ("parse", "crash-1")));
        assert_eq!(tally.open(), [("lines", "crash-1")], "of another target");
        assert!(tally.close(|target, name| (target, name) == ("lines", "crash-1")));
        assert_eq!(tally.open(), []);
        assert_eq!(tally.executions(), 1527, "executions stay");
    }

    #[test]
    fn a_row_that_is_not_understood_is_an_error_and_not_lost() {
        let text = some().print();
        let broken = text.replace("| 1500 |", "| many |");
        let at = 1 + broken.lines().position(|line| line.contains("many")).expect("it is a row's");
        assert_eq!(Tally::parse(&broken), Err(format!("line {at} is no row of the table")));
        let twice = text.clone() + "| parse | 0123abc | 2026-12-31 | 2026-12-31 | 1 | 1 | 1 | none |";
        let at = twice.lines().count();
        assert_eq!(Tally::parse(&twice), Err(format!("line {at} is the second row of its target and code")));
    }
}
