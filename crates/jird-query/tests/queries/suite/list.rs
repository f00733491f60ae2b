//! `differences.txt`: which answers are not those that DataFusion's tests want, and why.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write;
use std::fs;

const TEXT: &str = include_str!("differences.txt");
const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/queries/suite/differences.txt");

/// A file and a line in it.
pub(super) type Place = (String, usize);

/// How an answer differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Difference {
    /// The query is refused.
    Refused,
    /// It is refused, or was to be, in words of the inside.
    Leaks,
    /// It has another answer.
    Differs,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused => "refused",
            Self::Leaks => "leaks",
            Self::Differs => "differs",
        })
    }
}

/// The differences of the list, each with its reason: what follows the comma of its heading.
pub(super) fn listed() -> BTreeMap<Place, (Difference, &'static str)> {
    let mut listed = BTreeMap::new();
    let mut heading = None;
    for line in TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(places) = line.strip_prefix("    ") {
            let mut words = places.split(' ');
            let file = words.next().expect("a file");
            for line in words {
                let line = line.parse().unwrap_or_else(|_| panic!("differences.txt: {places}"));
                let known = listed.insert((file.to_owned(), line), heading.expect("a heading"));
                assert!(known.is_none(), "differences.txt has {file} {line} twice");
            }
        } else {
            let (kind, reason) = line.split_once(", ").unwrap_or_else(|| panic!("differences.txt: {line}"));
            let all = [Difference::Refused, Difference::Leaks, Difference::Differs];
            let difference = all.into_iter().find(|difference| difference.to_string() == kind);
            heading = Some((difference.unwrap_or_else(|| panic!("differences.txt: {line}")), reason));
        }
    }
    listed
}

/// Whether it says why: a reason begins with `scope`, `design`, `theirs` or `ours`.
pub(super) fn is_reason(reason: &str) -> bool {
    ["scope: ", "design: ", "theirs: ", "ours: "].iter().any(|kind| reason.starts_with(kind))
}

/// Puts these into the list, each with the reason that it has had, or else with its message.
pub(super) fn write(found: &BTreeMap<Place, (Difference, String)>) {
    let listed = listed();
    let mut headings: BTreeMap<(Difference, String), BTreeMap<&str, Vec<usize>>> = BTreeMap::new();
    for (place, (difference, message)) in found {
        let reason = match listed.get(place) {
            Some((known, reason)) if known == difference => (*reason).to_owned(),
            _ => format!("new: {}", kind_of(message)),
        };
        headings.entry((*difference, reason)).or_default().entry(&place.0).or_default().push(place.1);
    }
    let head = TEXT.split_inclusive('\n').take_while(|line| line.starts_with('#'));
    let mut text: String = head.collect();
    for ((difference, reason), files) in headings {
        let _ = write!(text, "\n{difference}, {reason}\n");
        for (file, lines) in files {
            let lines: Vec<_> = lines.iter().map(usize::to_string).collect();
            let _ = writeln!(text, "    {file} {}", lines.join(" "));
        }
    }
    fs::write(PATH, text).unwrap();
}

/// A message without what it quotes, so that those of one kind are together.
fn kind_of(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    let quotes = |char: char| ['`', '\''].contains(&char);
    message.split(quotes).enumerate().map(|(at, part)| if at % 2 == 1 { "`…`" } else { part }).collect()
}
