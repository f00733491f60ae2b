//! Standard output, whole and at once.

use anyhow::Context;
use std::io::{self, Write};

/// Writes `data` to standard output and sees it out.
pub(crate) fn write(data: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(data).and_then(|()| stdout.flush()).context("writing standard output")
}
