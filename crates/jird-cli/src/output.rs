//! Writes to standard output.

use crate::progress;
use anyhow::Context;
use std::io::{self, Write};

/// Writes all of `data` to standard output and flushes it.
pub(crate) fn write(data: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    progress::aside(|| stdout.write_all(data).and_then(|()| stdout.flush())).context("cannot write standard output")
}

/// A text that a terminal may show: control characters, which strings and keys may have, become spaces.
pub(crate) fn shown(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}
