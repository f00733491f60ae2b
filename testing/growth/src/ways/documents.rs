//! Whole documents: parse, validate, format, records.

use super::{Way, beyond_a_chunk, each, used, way};
use crate::case::Case;
use crate::judge::Bar;
use crate::shapes::documents;
use jird::hooks::Kernel;
use jird::partial;
use jird::policy::{Duplicates, Numbers, Policy};
use jird::{
    Kind, Layout, Parser, Path, Value,
    record::{Field, FieldReader, Projection, Record, RecordBuffer},
};

/// Limits that no test text reaches.
const DEEP: Policy = Policy { numbers: Numbers::Any, duplicates: Duplicates::Keep, depth_max: usize::MAX >> 8 };

/// Small, so that a text has many chunks.
const CHUNK_BYTES: usize = 256;

/// Measured on every shape.
const MAIN: &[Way] = &[
    way("validate, deep", |text| used(Parser::with_policy(DEEP).validate(text))),
    way("validate, small chunks", |text| {
        used(Parser::with_policy(DEEP).with_chunk_bytes(CHUNK_BYTES).validate(text));
    }),
    way("validate, unique keys", |text| {
        let policy = Policy { duplicates: Duplicates::Refuse, ..DEEP };
        used(Parser::with_policy(policy).validate(text));
    }),
    way("validate, then locate", |text| {
        if let Err(error) = Parser::with_policy(DEEP).validate(text) {
            used(error.locate(text).to_string());
        }
    }),
    way("parse, then all children", |text| {
        if let Ok(root) = Parser::with_policy(DEEP).parse(text) {
            walk_all(root);
        }
    }),
    way("parse_trusted, then all children", |text| walk_all(Parser::with_policy(DEEP).parse_trusted(text))),
    way("minify, small chunks", |text| {
        let mut parser = Parser::with_policy(DEEP).with_chunk_bytes(CHUNK_BYTES);
        used(parser.minify(text, &mut Vec::new()));
    }),
    way("in pieces of 20 bytes", |text| {
        let mut document = partial::PartialDocument::new().depth_max(usize::MAX >> 8);
        used(text.chunks(20).try_for_each(|piece| document.push(piece)));
        used(document.snapshot().map(|so_far| so_far.text().len()));
    }),
    // A snapshot takes time for each level, of which there are at most 1024.
    way("in pieces of 20 bytes, with snapshots", |text| {
        let mut document = partial::PartialDocument::new();
        for piece in text.chunks(20) {
            if document.push(piece).is_err() {
                break;
            }
            used(document.snapshot().map(|so_far| so_far.text().len()));
        }
    }),
    way("in pieces of 20 bytes, strings withheld", |text| {
        let mut document = partial::PartialDocument::new().withhold_strings();
        used(text.chunks(20).try_for_each(|piece| document.push(piece)));
    }),
    // Keys are sorted.
    way("format, canonical", |text| used(jird::format(text, Layout::Canonical))).bar(Bar::SORTED),
];

/// Measured on some shapes.
const OTHERS: &[Way] = &[
    way("validate", |text| used(jird::validate(text))),
    way("validate, machine numbers", |text| {
        let policy = Policy { numbers: Numbers::Machine, ..DEEP };
        used(Parser::with_policy(policy).validate(text));
    }),
    way("parse", |text| used(jird::parse(text))),
    way("parse, small chunks", |text| {
        used(Parser::with_policy(DEEP).with_chunk_bytes(CHUNK_BYTES).parse(text));
    }),
    way("parse, then all descendants", |text| {
        if let Ok(root) = Parser::with_policy(DEEP).parse(text) {
            read_all(root);
        }
    }),
    way("parse_trusted, then all descendants", |text| read_all(Parser::with_policy(DEEP).parse_trusted(text))),
    way("Debug of a document", |text| {
        if let Ok(document) = jird::parse(text) {
            used(format!("{document:?}"));
        }
    }),
    way("minify", |text| used(Parser::with_policy(DEEP).minify(text, &mut Vec::new()))),
    way("format, indented", |text| used(jird::format(text, Layout::Indent(2)))),
    way("Record::scan", |text| {
        if let Ok(record) = Record::scan(text, &mut RecordBuffer::new()) {
            read_all(record.root());
        }
    }),
    way("Record::scan_trusted", |text| read_all(Record::scan_trusted(text, &mut RecordBuffer::new()).root())),
    way("FieldReader::read", |text| {
        let (projection, mut fields) = wanted();
        used(FieldReader::with_kernel(&projection, DEEP, Kernel::best()).read(text, &mut fields));
    }),
    way("FieldReader::read_trusted", |text| {
        let (projection, mut fields) = wanted();
        used(FieldReader::with_kernel(&projection, DEEP, Kernel::best()).read_trusted(text, &mut fields));
    }),
];

/// Fields that few records have, so that all of a record is looked at.
fn wanted<'t>() -> (Projection, [Field<'t>; 3]) {
    let paths = [Path::root().key("a"), Path::root().key("a").key("a"), Path::root().key("nothing")];
    (Projection::new(&paths), [Field::MISSING; 3])
}

pub(super) fn cases() -> Vec<Case> {
    let large = beyond_a_chunk(
        &[MAIN, OTHERS],
        &[
            "validate, deep",
            "validate, unique keys",
            "parse, then all children",
            "parse_trusted, then all children",
            "minify",
            "format, indented",
            "format, canonical",
        ],
        documents::ALL,
        &[
            "small objects, then a large one",
            "a large object, then small ones",
            "records in an array",
            "a long string without end",
            "spaces before a colon",
            "wrong at byte 2",
            "numbers beside each other",
            "nothing but line feeds",
        ],
    );
    each(MAIN, documents::ALL).chain(each(OTHERS, &documents::core())).chain(large).collect()
}

/// Reads every scalar, in document order.
fn read_all(root: Value<'_>) {
    let mut scratch = String::new();
    root.descendants().for_each(|value| read(value, &mut scratch));
}

/// Reads every scalar, through the children of each container.
fn walk_all(root: Value<'_>) {
    let mut scratch = String::new();
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        read(value, &mut scratch);
        used(value.len());
        open.extend(value.elements());
        for (key, value) in value.entries() {
            read(key, &mut scratch);
            open.push(value);
        }
    }
}

fn read(value: Value<'_>, scratch: &mut String) {
    match value.kind() {
        Kind::Number => {
            used((value.as_f64(), value.as_i64(), value.machine_number()));
        }
        Kind::String => {
            used(value.str_in(scratch));
        }
        Kind::Null | Kind::Bool | Kind::Object | Kind::Array => {}
    }
}
