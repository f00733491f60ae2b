//! `jird get`: prints the value that a JSON Pointer leads to.

use crate::color::ColorArgs;
use crate::documents::{are_lines, each};
use crate::input::{Counter, Input};
use crate::outcome::{BadData, Outcome};
use crate::progress::Progress;
use crate::remote::RemoteArgs;
use crate::target::Target;
use anyhow::{Result, bail};
use std::borrow::Cow;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  jird get /statuses/0/user/name twitter.json
  jird get --raw /name < user.json
  jird get '' data.json             the whole document
  jird get /a~1b data.json          the key \"a/b\"
  jird get /Level events.ndjson.gz  one value for each line";

/// Print the value that a JSON Pointer (RFC 6901) leads to, byte for byte
///
/// Each document is checked as a whole. If the pointer leads nowhere in one of them, nothing is printed for it and the
/// exit code is 1. gzip, zstd, bzip2, xz and LZ4 are recognised.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GetArgs {
    /// The pointer: empty, or steps that each begin with `/`
    pointer: String,
    /// The documents; standard input if missing or `-`
    files: Vec<PathBuf>,
    /// Each line is a document of its own (NDJSON) [default: by the name]
    #[arg(long)]
    lines: bool,
    /// Print a string's content, without quotes and escapes
    #[arg(long, short)]
    raw: bool,
    #[command(flatten)]
    color: ColorArgs,
    #[command(flatten)]
    remote: RemoteArgs,
}

pub(crate) fn run(args: &GetArgs) -> Result<Outcome> {
    if !args.pointer.is_empty() && !args.pointer.starts_with('/') {
        bail!(
            "{:?} is not a JSON Pointer: it must be empty or begin with `/`, as in `/{}`",
            args.pointer,
            args.pointer
        );
    }
    args.remote.begin();
    let inputs = Input::all(&args.files);
    let read = Counter::of(&inputs);
    let shown = read.clone();
    let _progress = Progress::start(move || shown.done(), false);
    Ok(Outcome::worst(inputs, |input| print(input, args, &read)))
}

fn print(input: &Input, args: &GetArgs, read: &Counter) -> Result<Outcome> {
    let mut out = BufWriter::new(Target::create(None)?);
    let (mut parser, mut documents, mut without) = (jird::Parser::new(), 0_u64, 0_u64);
    let text = input.open(read)?;
    let lines = are_lines(input, args.lines);
    let done = each(input, text, lines, |text| {
        let root = parser.parse(text)?;
        documents += 1;
        let Some(value) = root.pointer(&args.pointer) else {
            without += 1;
            return Ok(());
        };
        match value.as_str().filter(|_| args.raw) {
            Some(content) => out.write_all(Cow::as_ref(&content).as_bytes())?,
            None => out.write_all(&args.color.paint(value.raw()))?,
        }
        out.write_all(b"\n")?;
        // A reader may wait for what a writer has just sent.
        if input.is_live() {
            out.flush()?;
        }
        Ok(())
    });
    out.flush()?;
    done?;
    match without {
        0 => Ok(Outcome::Fine),
        _ if !lines => Err(BadData(format!("{}: nothing at {}", input.name(), args.pointer)).into()),
        _ => {
            let message = format!("{}: nothing at {} in {without} of {documents} lines", input.name(), args.pointer);
            Err(BadData(message).into())
        }
    }
}
