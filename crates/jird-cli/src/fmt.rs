//! `jird fmt`: rewrites a document with another layout.

use crate::input::Input;
use crate::outcome::Outcome;
use crate::output;
use jird::Layout;
use std::path::PathBuf;

/// Rewrite the layout of a document; numbers and strings keep their text
///
/// With --canonical, everything is rewritten as RFC 8785 prescribes, and no line feed follows the document.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  jird fmt data.json\n  jird fmt --minify < data.json\n  jird fmt --canonical data.json | sha256sum"
)]
pub(crate) struct FmtArgs {
    /// Spaces per level
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=16))]
    indent: u8,
    /// No white space at all
    #[arg(long, conflicts_with_all = ["indent", "canonical"])]
    minify: bool,
    /// The canonical form of RFC 8785
    #[arg(long, conflicts_with = "indent")]
    canonical: bool,
    /// The document; standard input if missing or `-`
    file: Option<PathBuf>,
}

pub(crate) fn run(args: &FmtArgs) -> anyhow::Result<Outcome> {
    let layout = match args {
        FmtArgs { minify: true, .. } => Layout::Minify,
        FmtArgs { canonical: true, .. } => Layout::Canonical,
        FmtArgs { indent, .. } => Layout::Indent(usize::from(*indent)),
    };
    let input = args.file.as_deref().map_or(Input::Stdin, Input::new);
    let text = input.document()?;
    let mut out = jird::format(&text, layout).map_err(|error| input.wrong(&error, &text))?;
    if layout != Layout::Canonical {
        out.push(b'\n');
    }
    output::write(&out)?;
    Ok(Outcome::Fine)
}
