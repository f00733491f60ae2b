//! The names of the rows, and which program a row belongs to.

/// The process that does a row's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The process of this barometer, or the jird of `--jird`.
    Own,
    /// The program of `--against`.
    Before,
    /// A second process of the program of `--against`. Its difference from the first one is noise.
    Again,
}

const JIRD: &str = "jird";
const BEFORE: &str = "-before";
const AGAIN: &str = "-before-again";

impl Side {
    /// The name of a row that belongs to this side.
    pub(crate) fn name(self, row: &str) -> String {
        let suffix = match self {
            Self::Own => "",
            Self::Before => BEFORE,
            Self::Again => AGAIN,
        };
        format!("{row}{suffix}")
    }
}

/// Whether this row belongs to jird, on any side.
pub(crate) fn is_jird(row: &str) -> bool {
    row.strip_prefix(JIRD).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// The name of the row that this row is the counterpart of, or the row's own name if it is not a counterpart.
pub(crate) fn base(row: &str) -> &str {
    row.strip_suffix(AGAIN).or_else(|| row.strip_suffix(BEFORE)).unwrap_or(row)
}

/// Whether the program of `--against` did this row's work.
pub(crate) fn is_other_build(row: &str) -> bool {
    base(row) != row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{alone, convert, peers};

    #[test]
    fn names_lead_back_to_their_row() {
        for side in [Side::Own, Side::Before, Side::Again] {
            let name = side.name("jird-lines");
            assert!(base(&name) == "jird-lines" && is_jird(&name), "{name}");
            assert_eq!(is_other_build(&name), side != Side::Own, "{name}");
        }
    }

    #[test]
    fn no_peer_is_taken_for_a_counterpart() {
        let all = peers::ALL.iter().map(|entry| entry.name).chain(convert::tools()).chain(alone::names());
        for name in all {
            assert!(!is_other_build(name), "{name}");
            assert_eq!(is_jird(name), name.starts_with("jird"), "{name}");
        }
    }
}
