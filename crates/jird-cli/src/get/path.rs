//! What a JSONPath finds: in a parsed document, or in a text that is read once.

use super::GetArgs;
use super::pointer::found;
use crate::documents::{each, of_one};
use crate::input::{Counter, Input};
use crate::outcome::Outcome;
use crate::target::Target;
use anyhow::{Context, Result};
use jird::jsonpath::{FoundNode, TextSearch};
use jird::{JsonPath, Parser, Path, Value};
use jird_formats::files::Text;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

pub(super) fn print(input: &Input, args: &GetArgs, path: &JsonPath, read: &Counter) -> Result<Outcome> {
    let mut printer = Printer { args, out: BufWriter::new(Target::create(None)?), count: 0, parser: Parser::new() };
    let text = input.open(read)?;
    let shape = args.shape.shape(input, &text.start, &args.lenient)?;
    let (mut documents, mut without) = (0_u64, 0_u64);
    // A text that is not UTF-8 is refused where all of it is read.
    let search = search(path).filter(|_| shape.is_none() && text.encoding().is_none() && args.lenient.is_strict());
    let done = if let Some(search) = search {
        let searched = printer.search(input, text, search);
        (documents, without) = (1, u64::from(printer.count == 0));
        searched
    } else {
        let mut parser = Parser::new();
        each(input, text, shape, |text, _| {
            let before = printer.count;
            let text = &*args.lenient.strict(text)?;
            printer.document(path, parser.parse(text)?)?;
            documents += 1;
            without += u64::from(printer.count == before);
            // A reader may wait for what a writer has just sent.
            if input.is_live() {
                printer.out.flush()?;
            }
            Ok(())
        })
    };
    printer.out.flush()?;
    done?;
    found(input, args, shape, without, documents)
}

/// A search that prints what a walk over the parsed document would, in the same order.
fn search(path: &JsonPath) -> Option<TextSearch<'_>> {
    if !path.descends() && !path.is_in_order() {
        return None;
    }
    // What is printed was read whole. Only that bounds the memory, as it does for a pointer.
    path.search().ok().map(|search| search.node_bytes_max(usize::MAX))
}

struct Printer<'a> {
    args: &'a GetArgs,
    out: BufWriter<Target>,
    /// How many nodes were printed.
    count: u64,
    /// Decodes strings.
    parser: Parser,
}

impl Printer<'_> {
    /// Prints what is found in a document.
    fn document(&mut self, path: &JsonPath, root: Value<'_>) -> io::Result<()> {
        if path.descends() {
            let mut nodes = path.find_in_order(root);
            while let Some(node) = nodes.next() {
                self.node(node, || nodes.location())?;
            }
        } else {
            let mut nodes = path.find(root);
            while let Some(node) = nodes.next() {
                self.node(node, || nodes.location())?;
            }
        }
        Ok(())
    }

    fn node(&mut self, node: Value<'_>, location: impl FnOnce() -> Path) -> io::Result<()> {
        self.count += 1;
        if self.args.paths {
            write!(self.out, "{}\t", location().normalized())?;
        }
        self.args.write(node, &mut self.out)
    }

    /// Prints what is found in a text while it is read.
    fn search(&mut self, input: &Input, text: Text, mut search: TextSearch<'_>) -> Result<()> {
        let mut written = Ok(());
        let searched = search.in_reader(text.blank_mark().into_reader(), |node| {
            written = self.found(&node);
            if written.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        written?;
        match searched {
            Ok(()) => Ok(()),
            Err(error) if error.is_io() => Err(error).with_context(|| input.name()),
            Err(error) => Err(of_one(input, &error).into()),
        }
    }

    fn found(&mut self, node: &FoundNode<'_>) -> io::Result<()> {
        self.count += 1;
        if self.args.paths {
            write!(self.out, "{}\t", node.location().normalized())?;
        }
        let value = self.parser.parse_trusted(node.raw().as_bytes());
        self.args.write(value, &mut self.out)
    }
}
