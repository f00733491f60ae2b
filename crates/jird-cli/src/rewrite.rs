//! Files whose documents are rewritten in place.

use crate::documents::{Shape, each};
use crate::input::{Counter, Input};
use crate::target::Target;
use anyhow::{Context, Result, bail};
use jird_formats::files::Compressor;
use std::io::{BufWriter, IntoInnerError, Write};
use std::path::Path;

/// Rewrites a file as a whole or not at all. `edit` gets each document, with its line number if it is a line, and returns what
/// takes its place. A compressed file stays compressed.
///
/// # Errors
/// The input must be a file of this machine. Otherwise, errors of [`each`], of `edit` and of writing.
pub(crate) fn rewrite(
    input: &Input,
    shape: Option<Shape>,
    read: &Counter,
    mut edit: impl FnMut(&[u8], Option<u64>) -> Result<Vec<u8>>,
) -> Result<()> {
    let path = match input {
        Input::File(path) => path,
        Input::Stdin => bail!("standard input cannot be rewritten; name a file"),
        Input::Url { .. } => bail!("{}: only files of this machine can be rewritten", input.name()),
    };
    let text = input.open(read)?;
    if !Path::is_file(path) {
        bail!("{}: only files can be rewritten", input.name());
    }
    let mut out: Compressor<_> = text.compression.compress(BufWriter::new(Target::create(Some(path))?))?;
    each(input, text, shape, |text, line| Ok(out.write_all(&edit(text, line)?)?))?;
    let out = out.finish()?.into_inner().map_err(IntoInnerError::into_error)?;
    out.commit().with_context(|| input.name())
}
