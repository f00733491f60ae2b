//! Rejects as hard as accepts: every string of up to N tokens against the naive reference, which must agree on acceptance,
//! on the values, and on the offset and kind of the first fault.
//!
//! N is `JIRD_EXHAUSTIVE`, 4 by default, and more where all is tested. The strings come without and with a space between tokens. Chunks are 64 bytes, and
//! leading spaces put the border between two chunks at every place: strings of up to N - 2 tokens are read with each of 0
//! to 63 leading spaces, longer ones with one of these counts, which goes round from string to string.

mod common;

use checks::reference::{self, Fault};
use jird::hooks::Kernel;
use jird::lines::{Options, Scanner};
use jird::policy::Policy;
use jird::{
    Error, Parser, Path,
    record::{Field, FieldReader, Projection, Record, RecordBuffer},
};
use std::ops::ControlFlow;

const TOKENS: [&str; 10] = ["{", "}", "[", "]", ":", ",", "\"a\"", "1", "true", "a"];

fn length_max() -> u32 {
    match std::env::var("JIRD_EXHAUSTIVE") {
        Ok(length) => length.parse().expect("JIRD_EXHAUSTIVE is a number of tokens"),
        Err(_) => 4,
    }
}

/// Calls `check` with each string of exactly `length` tokens, with `between` between them, after leading spaces.
fn for_each(length: u32, between: &str, mut check: impl FnMut(&[u8])) {
    let every_border = length + 2 <= length_max();
    let mut text = String::new();
    for number in 0..TOKENS.len().pow(length) {
        let leading = if every_border { 0..64 } else { number % 64..number % 64 + 1 };
        for leading in leading {
            text.clear();
            text.extend(std::iter::repeat_n(' ', leading));
            let mut rest = number;
            for index in 0..length {
                if index > 0 {
                    text.push_str(between);
                }
                text.push_str(TOKENS[rest % TOKENS.len()]);
                rest /= TOKENS.len();
            }
            check(text.as_bytes());
        }
    }
}

fn kernel() -> Kernel {
    common::force_kernel();
    Kernel::best()
}

fn fault(error: &Error) -> Fault {
    (error.kind(), usize::try_from(error.offset()).expect("an offset in the text"))
}

fn check_documents(between: &str) {
    let kernel = kernel();
    let mut parser = Parser::with_kernel(Policy::default(), kernel).with_chunk_bytes(64);
    let mut buffer = RecordBuffer::with_kernel(Policy::default(), kernel);
    let [member, nested] = [Path::root().key("a"), Path::root().key("a").key("a")];
    let projections = [vec![member.clone(), Path::root()], vec![member, nested]].map(|paths| Projection::new(&paths));
    let mut readers = projections.each_ref().map(|of| FieldReader::with_kernel(of, Policy::default(), kernel));
    let (mut accepted, mut refused) = (0, 0);
    for length in 0..=length_max() {
        for_each(length, between, |text| {
            let wanted = reference::read(text, Policy::DEPTH_MAX);
            let wanted_fault = wanted.as_ref().err().copied();
            match (&wanted, parser.parse(text)) {
                (Ok(node), Ok(value)) => checks::assert_same(text, value, node),
                (wanted, found) => {
                    assert_eq!(found.as_ref().err().map(fault), wanted_fault, "{wanted:?}: {}", checks::shown(text));
                }
            }
            assert_eq!(
                parser.validate(text).as_ref().err().map(fault),
                wanted_fault,
                "validate: {}",
                checks::shown(text)
            );
            let record = Record::scan(text, &mut buffer);
            assert_eq!(record.as_ref().err().map(fault), wanted_fault, "record: {}", checks::shown(text));
            if let Ok(node) = &wanted {
                checks::assert_same(text, Record::scan_trusted(text, &mut buffer).root(), node);
            }
            for (reader, is_nested) in readers.iter_mut().zip([false, true]) {
                let mut fields = [Field::MISSING; 2];
                let read = reader.read(text, &mut fields);
                assert_eq!(read.as_ref().err().map(fault), wanted_fault, "fields: {}", checks::shown(text));
                let Ok(node) = &wanted else { continue };
                let member = node.get("a");
                let second = if is_nested { member.and_then(|member| member.get("a")) } else { Some(node) };
                let raw = |node: Option<&reference::Node>| node.map_or(&b""[..], |node| &text[node.start..node.end]);
                let wanted = [raw(member), raw(second)];
                assert_eq!(fields.map(|field| field.raw().as_bytes()), wanted, "{}", checks::shown(text));
                let mut trusted = [Field::MISSING; 2];
                reader.read_trusted(text, &mut trusted).expect("the text is JSON");
                assert_eq!(trusted, fields, "{}", checks::shown(text));
            }
            *(if wanted.is_ok() { &mut accepted } else { &mut refused }) += 1;
        });
    }
    assert!(accepted > 0 && refused > accepted, "{accepted} accepted, {refused} refused");
}

/// Each string between two good records: what comes before is seen, what comes after is not if the string is bad.
fn check_lines(between: &str) {
    const BEFORE: &[u8] = b"{\"b\":0}\n";
    const AFTER: &[u8] = b"\n{\"b\":2}";
    let projection = Projection::new(&[Path::root().key("a"), Path::root(), Path::root().key("value").index(0)]);
    let mut scanner = Scanner::new(Options { kernel: kernel(), piece_bytes: 64, ..Options::default() });
    let mut trusted = Scanner::new(Options { check: jird::lines::Check::Trusted, ..Options::default() });
    let mut lines = Vec::new();
    for length in 0..=length_max() {
        for_each(length, between, |text| {
            lines.clear();
            lines.extend_from_slice(BEFORE);
            lines.extend_from_slice(text);
            lines.extend_from_slice(AFTER);
            let wanted = reference::read(text, Policy::DEPTH_MAX);
            let blank = matches!(wanted, Err((jird::ErrorKind::Empty, _)));
            let mut seen = 0;
            let scanned = scanner.scan(&lines, &projection, None, |row| {
                if let (Ok(node), true) = (&wanted, seen == 1) {
                    assert_eq!(row.text(), &text[node.start..node.end]);
                    assert_eq!(row.field(1).raw().as_bytes(), row.text());
                    let member = node.get("a").map_or(&b""[..], |member| &text[member.start..member.end]);
                    assert_eq!(row.field(0).raw().as_bytes(), member, "{}", checks::shown(text));
                    let first = node.at(0).map_or(&b""[..], |element| &text[element.start..element.end]);
                    assert_eq!(row.field(2).raw().as_bytes(), first, "{}", checks::shown(text));
                }
                seen += 1;
                ControlFlow::Continue(())
            });
            match wanted {
                Ok(_) => {
                    assert_eq!((scanned.map(|scanned| scanned.records), seen), (Ok(3), 3), "{}", checks::shown(text));
                }
                Err(_) if blank => assert_eq!(scanned.map(|scanned| scanned.records), Ok(2), "{}", checks::shown(text)),
                Err((kind, offset)) => {
                    let wanted = (kind, BEFORE.len() + offset);
                    assert_eq!(scanned.as_ref().err().map(fault), Some(wanted), "{}", checks::shown(text));
                    assert_eq!(seen, 1, "records before the bad one: {}", checks::shown(text));
                }
            }
            // Whatever the line is, it ends with the line.
            let mut last = 0;
            let unchecked = trusted.scan(&lines, &projection, None, |row| {
                last = row.offset();
                ControlFlow::Continue(())
            });
            if unchecked.is_ok() {
                assert_eq!(last, lines.len() - AFTER.len() + 1, "{}", checks::shown(text));
            }
        });
    }
}

#[test]
fn documents_without_spaces_are_read_as_the_reference_reads_them() {
    check_documents("");
}

#[test]
fn documents_with_spaces_are_read_as_the_reference_reads_them() {
    check_documents(" ");
}

#[test]
fn lines_without_spaces_are_read_as_the_reference_reads_them() {
    check_lines("");
}

#[test]
fn lines_with_spaces_are_read_as_the_reference_reads_them() {
    check_lines(" ");
}
