//! `jird set` and `jird unset`: one value.

use super::{EditArgs, edited};
use crate::outcome::Outcome;
use anyhow::{Result, bail};
use jird::hooks::quoted;

const SET_EXAMPLES: &str = "\
Examples:
  jird set /size 1.50 data.json
  jird set /name '\"new\"' data.json
  jird set --string /name new -i data.json      rewrites the file
  jird set /tags '[\"a\"]' data.json
  jird set /items/- '{\"id\": 3}' answer.json    at the end of an array
  jird set /seen true events.ndjson.gz          in each line";

const UNSET_EXAMPLES: &str = "\
Examples:
  jird unset /statuses/0/user twitter.json
  jird unset /statuses/0 -i twitter.json        rewrites the file
  jird unset /Level events.ndjson.gz            in each line";

/// Set the value at a JSON Pointer (RFC 6901); everything else keeps its bytes
///
/// A member that is not there is added to its object, after the others; `-` in place of an index adds an element at the
/// end of an array. The objects and arrays above it must be there. If that fails in a document, the exit code is 1. gzip,
/// zstd, bzip2, xz and LZ4 are recognised.
#[derive(Debug, clap::Args)]
#[command(after_help = SET_EXAMPLES)]
pub(crate) struct SetArgs {
    /// The pointer: empty, or steps that each begin with `/`
    pointer: String,
    /// The value: JSON, so a string has quotes; see --string
    #[arg(allow_hyphen_values = true)]
    value: String,
    /// VALUE is the content of a string
    #[arg(long, short)]
    string: bool,
    #[command(flatten)]
    edit: EditArgs,
}

/// Remove the value at a JSON Pointer (RFC 6901); everything else keeps its bytes
///
/// If there is nothing at the pointer in a document, the exit code is 1. gzip, zstd, bzip2, xz and LZ4 are recognised.
#[derive(Debug, clap::Args)]
#[command(after_help = UNSET_EXAMPLES)]
pub(crate) struct UnsetArgs {
    /// The pointer: steps that each begin with `/`
    pointer: String,
    #[command(flatten)]
    edit: EditArgs,
}

pub(crate) fn run(args: &SetArgs) -> Result<Outcome> {
    check(&args.pointer)?;
    let value = if args.string { quoted(&args.value) } else { args.value.clone() };
    if let Err(error) = jird::validate(value.as_bytes()) {
        bail!("the value {value} is not JSON: {error}; a string is written '{}', or with --string", quoted(&value));
    }
    Ok(args.edit.run(&|text, is_line| {
        edited(text, is_line, &value, |mut document, value| {
            document.set_json(&args.pointer, value)?;
            Ok(document)
        })
    }))
}

pub(crate) fn run_unset(args: &UnsetArgs) -> Result<Outcome> {
    check(&args.pointer)?;
    Ok(args.edit.run(&|text, is_line| {
        edited(text, is_line, &args.pointer, |mut document, pointer| {
            document.remove(pointer)?;
            Ok(document)
        })
    }))
}

fn check(pointer: &str) -> Result<()> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        bail!("{pointer:?} is not a JSON Pointer: it must be empty or begin with `/`, as in `/{pointer}`");
    }
    Ok(())
}
