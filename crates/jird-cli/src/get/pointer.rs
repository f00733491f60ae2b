//! The value that a JSON Pointer leads to.

use super::GetArgs;
use crate::documents::{are_lines, each};
use crate::input::{Counter, Input};
use crate::outcome::{BadData, Outcome};
use crate::target::Target;
use anyhow::Result;
use std::io::{BufWriter, Write};

pub(super) fn print(input: &Input, args: &GetArgs, read: &Counter) -> Result<Outcome> {
    let mut out = BufWriter::new(Target::create(None)?);
    let (mut parser, mut documents, mut without) = (jird::Parser::new(), 0_u64, 0_u64);
    let text = input.open(read)?;
    let lines = are_lines(input, args.lines);
    let done = each(input, text, lines, |text, _| {
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
    found(input, args, lines, without, documents)
}

/// The outcome, when something was found in all but `without` of the documents.
pub(super) fn found(input: &Input, args: &GetArgs, lines: bool, without: u64, documents: u64) -> Result<Outcome> {
    match without {
        0 => Ok(Outcome::Fine),
        _ if !lines => Err(BadData(format!("{}: nothing at {}", input.name(), args.path)).into()),
        _ => {
            let message = format!("{}: nothing at {} in {without} of {documents} lines", input.name(), args.path);
            Err(BadData(message).into())
        }
    }
}
