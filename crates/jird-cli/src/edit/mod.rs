//! `jird patch`, `merge`, `set`, `unset`: edits of documents that keep the bytes of everything else.

mod merge;
mod patch;
mod set;

pub(crate) use merge::{MergeArgs, run as merge};
pub(crate) use patch::{PatchArgs, run as patch};
pub(crate) use set::{SetArgs, UnsetArgs, run as set, run_unset as unset};

use crate::color::ColorArgs;
use crate::documents::{Shape, are_lines, each};
use crate::input::{Counter, Input};
use crate::outcome::{BadData, Outcome};
use crate::progress::Progress;
use crate::remote::RemoteArgs;
use crate::rewrite::rewrite;
use crate::target::Target;
use anyhow::{Result, bail};
use jird::edit::{DocumentMut, EditError};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// What the commands share.
#[derive(Debug, clap::Args)]
struct EditArgs {
    /// Each line is a document of its own (NDJSON) [default: by the name]
    #[arg(long)]
    lines: bool,
    /// Rewrite the files, each as a whole or not at all; lines stay lines, and compressed files compressed
    #[arg(short, long, requires = "files", conflicts_with = "color")]
    in_place: bool,
    #[command(flatten)]
    color: ColorArgs,
    #[command(flatten)]
    remote: RemoteArgs,
    /// The documents; standard input if missing or `-`
    files: Vec<PathBuf>,
}

/// The edit of a document: takes its text, and whether it is a line.
type Edit<'e> = &'e dyn Fn(&[u8], bool) -> Result<Vec<u8>>;

impl EditArgs {
    /// Edits all documents.
    fn run(&self, edit: Edit<'_>) -> Outcome {
        self.remote.begin();
        let inputs = Input::all(&self.files);
        let read = Counter::of(&inputs);
        let shown = read.clone();
        let _progress = Progress::start(move || shown.done(), false);
        Outcome::worst(inputs, |input| {
            if self.in_place { self.rewrite(input, &read, edit) } else { self.print(input, &read, edit) }
        })
    }

    fn print(&self, input: &Input, read: &Counter, edit: Edit<'_>) -> Result<Outcome> {
        let mut out = BufWriter::new(Target::create(None)?);
        let text = input.open(read)?;
        let lines = are_lines(input, self.lines);
        let done = each(input, text, lines.then_some(Shape::Lines), |text, _| {
            let edited = edit(text, lines)?;
            out.write_all(&self.color.paint(&edited))?;
            if edited.last() != Some(&b'\n') {
                out.write_all(b"\n")?;
            }
            // A reader may wait for what a writer has just sent.
            if input.is_live() {
                out.flush()?;
            }
            Ok(())
        });
        // What came before an error is printed.
        out.flush()?;
        done.map(|()| Outcome::Fine)
    }

    fn rewrite(&self, input: &Input, read: &Counter, edit: Edit<'_>) -> Result<Outcome> {
        let lines = are_lines(input, self.lines);
        rewrite(input, lines.then_some(Shape::Lines), read, |text, _| edit(text, lines))?;
        Ok(Outcome::Fine)
    }
}

/// The text of a document after an edit with `patch`. A line stays one line.
fn edited<P>(
    text: &[u8],
    is_line: bool,
    patch: &P,
    edit: impl for<'e> FnOnce(DocumentMut<'e>, &'e P) -> Result<DocumentMut<'e>, EditError>,
) -> Result<Vec<u8>> {
    let edited = edit(DocumentMut::parse(text)?, patch)?.to_vec()?;
    if !is_line || !edited.trim_ascii().contains(&b'\n') {
        return Ok(edited);
    }
    let mut line = jird::minify(&edited)?;
    line.push(b'\n');
    Ok(line)
}

/// The text of a patch: of a file, of standard input, or the argument itself if it begins with one of these bytes.
fn text_of(argument: &Path, begins: &[u8], files: &[PathBuf]) -> Result<(String, Vec<u8>)> {
    let inline = argument.as_os_str().as_encoded_bytes();
    if inline.trim_ascii_start().first().is_some_and(|byte| begins.contains(byte)) {
        return Ok(("the patch".to_owned(), inline.to_vec()));
    }
    let input = Input::new(argument);
    if input == Input::Stdin && (files.is_empty() || files.iter().any(|file| file == Path::new("-"))) {
        bail!("standard input cannot be the patch and a document; name a file");
    }
    Ok((input.name(), input.document()?))
}

/// A patch that is wrong.
fn wrong(name: &str, text: &[u8], error: &EditError) -> anyhow::Error {
    match error.text_error() {
        Some(error) => BadData(format!("{name}: {}", error.locate(text))),
        None => BadData(format!("{name}: {error}")),
    }
    .into()
}
