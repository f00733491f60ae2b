//! `jird diff`: what differs between two documents.

use crate::color::ColorArgs;
use crate::input::Input;
use crate::outcome::Outcome;
use crate::output::{self, shown};
use crate::remote::RemoteArgs;
use anyhow::{Result, anyhow, bail};
use jird::Document;
use jird::patch::{Change, diff, merge_diff};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  jird diff data.json data.json                 nothing, and exit code 0
  jird diff data.json user.json                 exits with 1, because they differ
  jird diff --patch data.json user.json > to-user.json
  jird diff --merge data.json user.json > to-user.json";

/// Show what differs between two documents
///
/// Each line is `- POINTER: VALUE` for what only A has, or `+ POINTER: VALUE` for what only B has. The order of members
/// means nothing, numbers are compared exactly by value, and elements that were inserted or removed do not make the
/// others differ. If the documents are equal, it exits with 0; if they differ, it exits with 1; if one cannot be read, with 2.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DiffArgs {
    /// Print a JSON Patch (RFC 6902) that makes A equal to B
    #[arg(long, conflicts_with = "merge")]
    patch: bool,
    /// Print a merge patch (RFC 7396) that makes A equal to B; there is none if a value must become null
    #[arg(long)]
    merge: bool,
    #[command(flatten)]
    color: ColorArgs,
    #[command(flatten)]
    remote: RemoteArgs,
    /// A document; `-` is standard input
    a: PathBuf,
    /// Another document
    b: PathBuf,
}

pub(crate) fn run(args: &DiffArgs) -> Result<Outcome> {
    args.remote.begin();
    let [one, other] = [&args.a, &args.b].map(|name| Input::new(name));
    if one == Input::Stdin && other == Input::Stdin {
        bail!("standard input cannot be both documents; name a file");
    }
    let texts = [one.document()?, other.document()?];
    let [old, new] = [(&one, &texts[0]), (&other, &texts[1])].map(|(input, text)| parsed(input, text));
    let (old, new) = (old?, new?);
    let diff = diff(&old, &new);
    let text = if args.patch {
        diff.to_patch() + "\n"
    } else if args.merge {
        let merge = merge_diff(&old, &new).map_err(|error| anyhow!("{}: {error}", other.name()))?;
        merge + "\n"
    } else {
        diff.changes().map(|change| lines(&change, args.color)).collect()
    };
    let is_json = args.patch || args.merge;
    output::write(&if is_json { args.color.paint(text.as_bytes()) } else { text.into_bytes().into() })?;
    Ok(if diff.is_empty() { Outcome::Fine } else { Outcome::BadData })
}

fn parsed<'t>(input: &Input, text: &'t [u8]) -> Result<Document<'t>> {
    // Exit code 1 means that documents differ, so this is not bad data.
    jird::parse(text).map_err(|error| anyhow!("{}", input.wrong(&error, text)))
}

/// The lines of a change.
fn lines(change: &Change<'_>, color: ColorArgs) -> String {
    let path = if change.path.is_empty() { "(the whole document)" } else { &shown(&change.path) };
    let line = |sign: char, value: jird::Value<'_>| {
        let raw = value.raw();
        let small = if raw.contains(&b'\n') { jird::minify(raw).unwrap_or_default() } else { raw.to_vec() };
        let line = format!("{sign} {path}: {}", shown(&String::from_utf8_lossy(&small)));
        color.of_change(sign, &line) + "\n"
    };
    let (old, new) = (change.old.map(|value| line('-', value)), change.new.map(|value| line('+', value)));
    [old, new].into_iter().flatten().collect()
}
