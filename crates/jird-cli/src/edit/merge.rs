//! `jird merge`: applies a merge patch.

use super::{EditArgs, edited, text_of, wrong};
use crate::outcome::Outcome;
use anyhow::Result;
use jird::patch::MergePatch;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  jird merge '{\"name\": \"new\", \"old\": null}' data.json    sets one member and removes another
  jird diff --merge data.json user.json > to-user.json     exits with 1, because they differ
  jird merge to-user.json data.json
  jird merge '{\"seen\": true}' -i events.ndjson.gz            every line";

/// Apply a merge patch (RFC 7396): an object whose members are set, and removed where they are null
///
/// Objects are merged member by member; any other value replaces the one that was there. Everything else keeps its bytes.
/// gzip, zstd, bzip2, xz and LZ4 are recognised.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MergeArgs {
    /// A file with the merge patch, or the patch itself if it begins with `{`
    patch: PathBuf,
    #[command(flatten)]
    edit: EditArgs,
}

pub(crate) fn run(args: &MergeArgs) -> Result<Outcome> {
    let (name, text) = text_of(&args.patch, b"{", &args.edit.files)?;
    let patch = MergePatch::parse(&text).map_err(|error| wrong(&name, &text, &error))?;
    Ok(args.edit.run(&|text, is_line| edited(text, is_line, &patch, |document, patch| document.merge(patch))))
}
