//! `jird patch`: applies a JSON Patch.

use super::{EditArgs, edited, text_of, wrong};
use crate::outcome::Outcome;
use anyhow::Result;
use jird::patch::Patch;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  jird patch '[{\"op\": \"add\", \"path\": \"/tags\", \"value\": [\"new\"]}]' data.json
  jird diff --patch data.json user.json > to-user.json     exits with 1, because they differ
  jird patch to-user.json data.json
  jird patch '[{\"op\": \"add\", \"path\": \"/seen\", \"value\": true}]' -i events.ndjson.gz   every line";

/// Apply a JSON Patch (RFC 6902): operations to add, remove, replace, move, copy and test values
///
/// Everything that the patch does not change keeps its bytes. A patch is applied to a document as a whole or not at all: if
/// an operation fails, the message names it, and the exit code is 1. A key that occurs twice in an object is not changed
/// but refused. gzip, zstd, bzip2, xz and LZ4 are recognised.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PatchArgs {
    /// A file with the patch, or the patch itself if it begins with `[`
    patch: PathBuf,
    #[command(flatten)]
    edit: EditArgs,
}

pub(crate) fn run(args: &PatchArgs) -> Result<Outcome> {
    let (name, text) = text_of(&args.patch, b"[", &args.edit.files)?;
    let patch = Patch::parse(&text).map_err(|error| wrong(&name, &text, &error))?;
    Ok(args.edit.run(&|text, is_line| edited(text, is_line, &patch, |document, patch| document.apply(patch))))
}
