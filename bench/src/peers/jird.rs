//! jird itself, at default flags.

use crate::peer::Peer;

/// A reused parser.
pub(super) fn reused() -> Result<Box<dyn Peer>, String> {
    Err("not wired yet".to_owned())
}

/// A fresh document for every parse.
pub(super) fn fresh() -> Result<Box<dyn Peer>, String> {
    Err("not wired yet".to_owned())
}
