//! `jird describe`: what a table is, as a Rust struct.

use crate::outcome::Outcome;
use crate::{input, output};
use anyhow::{Context, Result, bail};
use jird_formats::sqlite;
use std::path::PathBuf;

/// Describe a table of an SQLite database as a Rust struct
///
/// The struct has serde's attributes: `jird_formats::sqlite` reads the table's rows into it and writes them from it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  jird describe --rust Artist chinook.db >> src/tables.rs")]
pub(crate) struct Args {
    /// Print the struct for the rows of this table or view
    #[arg(long, value_name = "TABLE")]
    rust: String,
    /// The database
    file: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let name = args.file.display().to_string();
    let connection = input::database(&args.file)?;
    let tables = sqlite::tables(&connection).with_context(|| name.clone())?;
    match sqlite::describe_rust(&connection, &args.rust) {
        Ok(text) => output::write(text.as_bytes())?,
        Err(_) if !tables.contains(&args.rust) => {
            bail!("{name} has no table {}; it has {}", args.rust, tables.join(", "))
        }
        Err(error) => return Err(error).context(name),
    }
    Ok(Outcome::Fine)
}
