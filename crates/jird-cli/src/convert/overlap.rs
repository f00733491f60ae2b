//! Refuses to write a file while it is read.
//!
//! A new file that replaces another may replace an input, because it appears only after everything was read. Targets
//! that are written in place (a database, standard output, the quarantine) may not be inputs.

use super::ConvertArgs;
use super::format::Format;
use super::write::is_folder;
use crate::input::Input;
use crate::target::are_one;
use anyhow::{Result, bail};
use jird_formats::files::OnError;
use same_file::Handle;
use std::path::Path;

pub(super) fn check(args: &ConvertArgs, inputs: &[Input], target: &Path) -> Result<()> {
    let to_stdout = target == Path::new("-");
    // The two ends of a pipe or a terminal may both be meant, so only files are compared. Opening a pipe here would
    // wait for its other end.
    let stdout = if to_stdout { Handle::stdout().ok() } else { None };
    let is_database = !to_stdout && !is_folder(target) && Format::of_target(args.to, Some(target))? == Format::Sqlite;
    for input in inputs {
        let Input::File(path) = input else { continue };
        if stdout.is_some() && path.is_file() && Handle::from_path(path).ok() == stdout {
            bail!(
                "{}: standard output is this file, which is also read; name it as the target, and it is replaced at the end",
                path.display()
            );
        }
        if is_database && are_one(path, target) {
            bail!("{}: the database would be read and written at once; write to another one", path.display());
        }
        if let OnError::Quarantine(bad) = &args.on_error
            && are_one(path, bad)
        {
            bail!("{}: this file is read; write the bad records to another file", path.display());
        }
    }
    match &args.on_error {
        OnError::Quarantine(bad) if are_one(bad, target) => {
            bail!("{}: good and bad records cannot go to one file", bad.display())
        }
        _ => Ok(()),
    }
}
