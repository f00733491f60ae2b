//! Many lines at a time against one line at a time: what a scanner finds, where it stops, what it goes on after, and that it
//! does not matter how an input was cut or how many threads read it.

mod beside;
use crate::common;
mod inputs;
mod records;
mod search;

use jird::lines::{Options, Scanner};
use jird::{Path, record::Projection};
use std::ops::ControlFlow;

pub(crate) fn a() -> Projection {
    Projection::new(&[Path::root().key("a")])
}

/// The raw text of `a` of each record, the errors, and whether both came in order.
pub(crate) fn all(text: &[u8], options: Options) -> (Vec<String>, Vec<(&'static str, u64)>) {
    common::force_kernel();
    let (mut found, mut bad) = (Vec::new(), Vec::new());
    let last = std::cell::Cell::new(0);
    let scanned = Scanner::new(options).scan_all(
        text,
        &a(),
        None,
        |row| {
            assert!(row.offset() >= last.replace(row.offset()), "out of order");
            found.push(row.field(0).raw().to_owned());
            ControlFlow::Continue(())
        },
        |line| {
            assert!(line.offset >= last.replace(line.offset), "out of order");
            assert_eq!(&text[line.offset..line.offset + line.text.len()], line.text);
            assert!(!line.text.contains(&b'\n'));
            let within = line.error.offset() - line.offset as u64;
            assert!(within <= line.text.len() as u64, "the error is outside of its line");
            assert_eq!((line.locate().line(), line.locate().column()), (1, within + 1));
            bad.push((line.error.code(), line.error.offset()));
            ControlFlow::Continue(())
        },
    );
    assert_eq!((scanned.records, scanned.bad, scanned.stopped), (found.len() as u64, bad.len() as u64, false));
    (found, bad)
}

pub(crate) fn sizes() -> impl Iterator<Item = Options> {
    [64, 65, 300, 64 << 10].map(|piece_bytes| Options { piece_bytes, ..Options::default() }).into_iter()
}
