//! `jird get`: prints the value that a JSON Pointer leads to.

use crate::input::Input;
use crate::outcome::{BadData, Outcome};
use crate::output;
use anyhow::bail;
use std::path::PathBuf;

/// Print the value that a JSON Pointer (RFC 6901) leads to, byte for byte
///
/// The whole document is checked. If the pointer leads nowhere, nothing is printed and the exit code is 1.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  jird get /statuses/0/user/name twitter.json\n  jird get --raw /name < user.json\n  jird get '' data.json    # the whole document\n  jird get /a~1b data.json # the key \"a/b\""
)]
pub(crate) struct GetArgs {
    /// The pointer: empty, or steps that each begin with `/`
    pointer: String,
    /// The document; standard input if missing or `-`
    file: Option<PathBuf>,
    /// Print a string's content, without quotes and escapes
    #[arg(long, short)]
    raw: bool,
}

pub(crate) fn run(args: &GetArgs) -> anyhow::Result<Outcome> {
    if !args.pointer.is_empty() && !args.pointer.starts_with('/') {
        bail!(
            "{:?} is not a JSON Pointer: it must be empty or begin with `/`, as in `/{}`",
            args.pointer,
            args.pointer
        );
    }
    let input = args.file.as_deref().map_or(Input::Stdin, Input::new);
    let text = input.document()?;
    let document = jird::parse(&text).map_err(|error| input.wrong(&error, &text))?;
    let Some(value) = document.root().pointer(&args.pointer) else {
        return Err(BadData(format!("{}: nothing at {}", input.name(), args.pointer)).into());
    };
    let mut out = match value.as_str().filter(|_| args.raw) {
        Some(content) => content.into_owned().into_bytes(),
        None => value.raw().to_vec(),
    };
    out.push(b'\n');
    output::write(&out)?;
    Ok(Outcome::Fine)
}
