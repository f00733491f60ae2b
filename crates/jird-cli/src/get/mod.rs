//! `jird get`: prints the value that a JSON Pointer leads to, or all that a JSONPath finds.

mod argument;
mod path;
mod pointer;

use crate::color::ColorArgs;
use crate::documents::ShapeArgs;
use crate::input::{Counter, Input};
use crate::lenient::LenientArgs;
use crate::outcome::{Outcome, report};
use crate::progress::Progress;
use crate::remote::RemoteArgs;
use anyhow::{Result, bail};
use argument::PathArgument;
use jird::Value;
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  jird get /statuses/0/user/name twitter.json
  jird get '$.statuses[?@.user.verified == true].text' twitter.json
  jird get --raw '$..screen_name' twitter.json
  jird get --paths '$..url' twitter.json    each value after its path
  jird get --raw /name < user.json
  jird get '' data.json             the whole document
  jird get /a~1b data.json          the key \"a/b\"
  jird get /theme --from jsonc settings.jsonc
  jird get /Level events.ndjson.gz  one value for each line";

/// Print the value that a JSON Pointer leads to, or every value that a JSONPath finds, byte for byte
///
/// A text that begins with `$` is a JSONPath (RFC 9535), everything else a JSON Pointer (RFC 6901). What a JSONPath
/// finds is printed in the order of the standard; with `..` in the order of the document, and each value once. Documents
/// are checked as a whole. If nothing is found in one of them, the exit code is 1. gzip, zstd, bzip2, xz and LZ4 are
/// recognised.
///
/// A file that is larger than memory can be searched with a JSONPath, unless it counts from the end of an array, looks at
/// `$` in a filter, or lists several selectors in one bracket without `..`. What is found before an error is then printed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GetArgs {
    /// A JSON Pointer: empty, or steps that each begin with `/`; or a JSONPath, which begins with `$`
    #[arg(value_name = "PATH")]
    path: String,
    /// The documents; standard input if missing or `-`
    files: Vec<PathBuf>,
    #[command(flatten)]
    shape: ShapeArgs,
    /// Print a string's content, without quotes and escapes
    #[arg(long, short)]
    raw: bool,
    /// Print the normalized path (RFC 9535 §2.7) and a tab before each value; for JSONPath
    #[arg(long)]
    paths: bool,
    #[command(flatten)]
    lenient: LenientArgs,
    #[command(flatten)]
    color: ColorArgs,
    #[command(flatten)]
    remote: RemoteArgs,
}

pub(crate) fn run(args: &GetArgs) -> Result<Outcome> {
    let wanted = PathArgument::new(&args.path)?;
    if let PathArgument::Path(path) = &wanted {
        path.doubts().iter().for_each(|doubt| report(&format!("warning: {doubt}")));
    } else if args.paths {
        bail!("--paths is for a JSONPath, as in `jird get --paths '$..id'`; a JSON Pointer leads to one value");
    }
    args.remote.begin();
    let inputs = Input::all(&args.files);
    let read = Counter::of(&inputs);
    let shown = read.clone();
    let _progress = Progress::start(move || shown.done(), false);
    Ok(Outcome::worst(inputs, |input| match &wanted {
        PathArgument::Pointer => pointer::print(input, args, &read),
        PathArgument::Path(path) => path::print(input, args, path, &read),
    }))
}

impl GetArgs {
    /// Writes a value as the user wants it.
    fn write(&self, value: Value<'_>, out: &mut impl Write) -> io::Result<()> {
        match value.as_str().filter(|_| self.raw) {
            Some(content) => out.write_all(Cow::as_ref(&content).as_bytes())?,
            None => out.write_all(&self.color.paint(value.raw()))?,
        }
        out.write_all(b"\n")
    }
}
