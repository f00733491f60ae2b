//! Prints a table as a Rust struct.

use crate::outcome::Outcome;
use crate::{input, output};
use anyhow::{Context, Result, bail};
use jird_formats::sqlite;
use std::path::Path;

/// Prints the struct for the rows of a table.
pub(super) fn run(table: &str, file: &Path) -> Result<Outcome> {
    let name = file.display().to_string();
    let connection = input::database(file)?;
    let tables = sqlite::tables(&connection).with_context(|| name.clone())?;
    match sqlite::describe_rust(&connection, table) {
        Ok(text) => output::write(text.as_bytes())?,
        Err(_) if !tables.iter().any(|other| other == table) => {
            bail!("{name} has no table {table}; it has {}", tables.join(", "))
        }
        Err(error) => return Err(error).context(name),
    }
    Ok(Outcome::Fine)
}
