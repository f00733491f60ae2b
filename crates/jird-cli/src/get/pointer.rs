//! The value that a JSON Pointer leads to.

use super::GetArgs;
use crate::documents::{Shape, each};
use crate::input::{Counter, Input};
use crate::outcome::{BadData, Outcome};
use crate::target::Target;
use anyhow::Result;
use std::io::{BufWriter, Write};

pub(super) fn print(input: &Input, args: &GetArgs, read: &Counter) -> Result<Outcome> {
    let mut out = BufWriter::new(Target::create(None)?);
    let (mut parser, mut documents, mut without) = (jird::Parser::new(), 0_u64, 0_u64);
    let text = input.open(read)?;
    let shape = args.shape.shape(input, &text.start, &args.lenient)?;
    let done = each(input, text, shape, |text, _| {
        let text = &*args.lenient.strict(text)?;
        let root = parser.parse(text)?;
        documents += 1;
        let Some(value) = root.pointer(&args.path) else {
            without += 1;
            return Ok(());
        };
        args.write(value, &mut out)?;
        // A reader may wait for what a writer has just sent.
        if input.is_live() {
            out.flush()?;
        }
        Ok(())
    });
    out.flush()?;
    done?;
    found(input, args, shape, without, documents)
}

/// The outcome, when something was found in all but `without` of the documents.
pub(super) fn found(
    input: &Input,
    args: &GetArgs,
    shape: Option<Shape>,
    without: u64,
    documents: u64,
) -> Result<Outcome> {
    match without {
        0 => Ok(Outcome::Fine),
        _ if shape.is_none() => Err(BadData(format!("{}: nothing at {}", input.name(), args.path)).into()),
        _ => {
            let what = if shape == Some(Shape::Lines) { "lines" } else { "documents" };
            let message = format!("{}: nothing at {} in {without} of {documents} {what}", input.name(), args.path);
            Err(BadData(message).into())
        }
    }
}
