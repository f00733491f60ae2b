//! What stands at a place of the edited document.

use super::texts::Leaf;

/// A value of the edited document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// As it stands in one of the texts.
    Plain(Leaf),
    /// A container in which something was edited, or at least looked up: the index of its edits.
    Open(usize),
}
