//! Case files.

use crate::input::open;
use anyhow::{Context, Result, bail};
use std::io;
use std::path::Path;

/// One query of a case file.
pub(super) struct Case {
    pub(super) sql: String,
    /// File and line, for messages.
    pub(super) place: String,
}

/// The cases of a file.
pub(super) fn read(path: &Path) -> Result<Vec<Case>> {
    let name = path.display().to_string();
    let text = io::read_to_string(open(path)?).with_context(|| name.clone())?;
    let cases = of(&text, &name);
    if cases.is_empty() {
        bail!("{name}: there is no query in this file; write one query per line");
    }
    Ok(cases)
}

fn of(text: &str, name: &str) -> Vec<Case> {
    let lines = text.trim_start_matches('\u{feff}').lines().zip(1..);
    let lines = lines.map(|(line, number)| (line.trim().trim_end_matches(';'), number));
    lines
        .filter(|(line, _)| !line.is_empty() && !is_comment(line))
        .map(|(line, number): (&str, usize)| Case { sql: line.to_owned(), place: format!("{name}:{number}") })
        .collect()
}

/// Whether a line is a comment, as in SQL or in a shell.
fn is_comment(line: &str) -> bool {
    line.starts_with("--") || line.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_query_a_line() {
        let cases = of("\u{feff}# first\n-- SQL's\n  select a ;\r\nselect '#'\n  # b\nselect c", "f");
        let found: Vec<_> = cases.iter().map(|case| (&*case.sql, &*case.place)).collect();
        assert_eq!(found, [("select a ", "f:3"), ("select '#'", "f:4"), ("select c", "f:6")]);
    }
}
