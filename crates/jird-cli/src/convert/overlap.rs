//! Refuses to write a file while it is read.
//!
//! A result often has less than its input: records that were left out, keys that were not selected. So no input is
//! replaced, also where that would work because the new file appears only after everything was read.

use super::ConvertArgs;
use crate::input::Input;
use crate::target::{are_one, is_stdout};
use anyhow::{Result, bail};
use std::path::Path;

pub(super) fn check(args: &ConvertArgs, inputs: &[Input], target: &Path) -> Result<()> {
    let to_stdout = target == Path::new("-");
    // The two ends of a pipe or a terminal may both be meant, so only files are compared.
    for input in inputs {
        let path = match input {
            Input::File(path) => path.as_path(),
            Input::Stdin => Path::new("/dev/stdin"),
            // Nothing is written there.
            Input::Url { .. } => continue,
        };
        if to_stdout && is_stdout(path) {
            bail!("{}: standard output is this file, which is read; write to another file", path.display());
        }
        if !to_stdout && are_one(path, target) {
            bail!("{}: it would be read and written at once; write to another file", path.display());
        }
        if let Some(bad) = args.on_error.quarantine()
            && are_one(path, bad)
        {
            bail!("{}: the bad records would be written to what is read; name another file", path.display());
        }
    }
    match args.on_error.quarantine() {
        Some(bad) if are_one(bad, target) => {
            bail!("{}: good and bad records cannot go to one file", bad.display())
        }
        _ => Ok(()),
    }
}
