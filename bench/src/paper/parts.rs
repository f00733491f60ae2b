//! Figure 8: how the time of a parse and a visit divides into parts, from differences of steps that can be timed alone.

use std::hint::black_box;

use jird::hooks::Kernel;
use jird::{Kind, Parser, Value};

use super::clock::{self, used};
use super::table::{Drawing, Table, column};
use super::{documents, text};
use crate::options::Options;

/// The parts of the time, each with the sentence that says how it is derived, in the order of `differences`.
const PARTS: &[(&str, &str)] = &[
    (
        "scan",
        "pass one (scan_only) over a copy whose bytes beyond ASCII were replaced by the letter x, so that it has the same tokens",
    ),
    ("UTF-8", "pass one over the document less pass one over that copy"),
    (
        "structure",
        "validate less pass one: the grammar, and what pass one has not judged of numbers, escapes and literals",
    ),
    ("tape", "parse less validate: writing the tape"),
    ("visit", "a visit that asks for nothing but each value's kind"),
    ("strings", "a visit that decodes strings and keys too, less that visit"),
    ("numbers", "a visit that converts numbers too, less that visit"),
];

/// The nanoseconds per byte of each part.
pub(super) fn table(options: &Options) -> Result<Table, String> {
    let kernel = super::ablation::kernel(options)?;
    let mut rows = Vec::new();
    for name in documents(options) {
        let text = text(name)?;
        let times = times(&text, kernel, options)?;
        rows.push((name.to_owned(), times.map(|ns| ns / text.len() as f64).to_vec()));
    }
    let columns = PARTS.iter().map(|(name, _)| column(*name, 3)).collect();
    let mut notes: Vec<String> = PARTS.iter().map(|(name, words)| format!("{name}: {words}")).collect();
    notes.push("a difference of two times of the same size may come out slightly below zero".to_owned());
    let drawing = Drawing { unit: "nanoseconds per byte", columns: (0..PARTS.len()).collect(), stacked: true };
    let title = format!("Figure 8: time per byte and part, jird ({})", kernel.name());
    Ok(Table { title, heading: "ns/byte", columns, rows, notes, drawing: Some(drawing) })
}

fn times(text: &[u8], kernel: Kernel, options: &Options) -> Result<[f64; 7], String> {
    let ascii: Vec<u8> = text.iter().map(|byte| if byte.is_ascii() { *byte } else { b'x' }).collect();
    let parser = || Parser::with_kernel(jird::policy::Policy::default(), kernel);
    let (mut validating, mut parsing, mut holding) = (parser(), parser(), parser());
    let root = holding.parse(text).map_err(|error| error.to_string())?;
    let mut scratch = String::new();
    let mut passes: [Box<dyn FnMut() + '_>; 7] = [
        Box::new(|| used(jird::hooks::scan_only(kernel, black_box(&ascii)))),
        Box::new(|| used(jird::hooks::scan_only(kernel, black_box(text)))),
        Box::new(|| used(validating.validate(black_box(text)))),
        Box::new(|| used(parsing.parse(black_box(text)))),
        Box::new(|| visit(black_box(root), &mut |value| used(value.kind()))),
        Box::new(|| visit(black_box(root), &mut |value| decode(value, &mut scratch))),
        Box::new(|| visit(black_box(root), &mut convert)),
    ];
    let times = clock::medians(&mut passes, options);
    let [ascii, scan, validate, parse, visit, strings, numbers] =
        <[f64; 7]>::try_from(times).map_err(|_| "one time per pass")?;
    Ok([ascii, scan - ascii, validate - scan, parse - validate, visit, strings - visit, numbers - visit])
}

/// Visits every key and value in document order. Only containers recurse, because a call per scalar would cost more
/// than some of the parts.
fn visit<'a>(value: Value<'a>, each: &mut impl FnMut(Value<'a>)) {
    each(value);
    for element in value.elements() {
        below(element, each);
    }
    for (key, member) in value.entries() {
        each(key);
        below(member, each);
    }
}

#[inline(always)]
fn below<'a>(value: Value<'a>, each: &mut impl FnMut(Value<'a>)) {
    if value.kind().is_container() {
        visit(value, each);
    } else {
        each(value);
    }
}

fn decode(value: Value<'_>, scratch: &mut String) {
    if value.kind() == Kind::String {
        black_box(value.str_in(scratch));
    }
}

fn convert(value: Value<'_>) {
    if value.is_integer() {
        black_box(value.as_i64());
    } else if value.kind() == Kind::Number {
        black_box(value.as_f64());
    }
}
