//! NDJSON: the scanner, events and types. Bad lines are skipped.

use super::{ByteByByte, Way, beyond_a_chunk, case, each, used, way};
use crate::case::{Case, Prepared};
use crate::judge::Bar;
use crate::shapes::{Shape, documents, lines};
use jird::event::{Failure, JsonSink, JsonSource, Source};
use jird::hooks::lines::{When, in_order, read_range};
use jird::lines::{Check, Options, Scanner, read_stream, typed_on};
use jird::policy::{Duplicates, Policy};
use jird::{
    Deserializer, Json, Path,
    de::Read,
    record::{Comparison, Like, Literal, Matcher, Predicate, Projection},
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::ops::ControlFlow;

/// The fields that are read from each line.
#[derive(Deserialize)]
struct Line {
    #[allow(dead_code, reason = "it is decoded")]
    id: Option<u64>,
}

/// Measured on every shape.
const MAIN: &[Way] = &[
    way("lines, all checked", |text| scan(text, Options::default(), None)),
    way("lines, touched, searched", |text| {
        let options = Options { check: Check::Touched, search: When::Always, ..Options::default() };
        scan(text, options, Some(&needle()));
    }),
    way("records of lines from a reader", |text| records::<_, Json>(Deserializer::from_reader(text))),
    way("events of lines from a slice, checked first", |text| skip_lines(JsonSource::from_slice(text).check_first())),
    way("events of lines from a reader", |text| skip_lines(JsonSource::from_reader(text))),
];

/// Measured on some shapes.
const OTHERS: &[Way] = &[
    way("lines, all checked, small pieces", |text| {
        scan(text, Options { piece_bytes: 256, ..Options::default() }, None);
    }),
    way("lines, unique keys", |text| {
        let policy = Policy { duplicates: Duplicates::Refuse, ..Policy::default() };
        scan(text, Options { policy, ..Options::default() }, None);
    }),
    way("lines, all checked, filtered", |text| scan(text, Options::default(), Some(&needle()))),
    way("lines, all checked, searched", |text| {
        scan(text, Options { search: When::Always, ..Options::default() }, Some(&needle()));
    }),
    way("lines, touched, small pieces", |text| {
        let options = Options { check: Check::Touched, piece_bytes: 256, ..Options::default() };
        scan(text, options, Some(&needle()));
    }),
    way("lines, trusted", |text| scan(text, Options { check: Check::Trusted, ..Options::default() }, None)),
    way("lines, trusted, searched", |text| {
        let options = Options { check: Check::Trusted, search: When::Always, ..Options::default() };
        scan(text, options, Some(&needle()));
    }),
    way("lines, records of at most 100 bytes", |text| {
        scan(text, Options { record_bytes_max: 100, ..Options::default() }, None);
    }),
    way("lines of a stream", |text| {
        let mut scanner = Scanner::new(Options::default());
        let projection = projection();
        let read = read_stream::<jird::Error>(text, &mut Vec::new(), usize::MAX, |_, piece| {
            scan_all(&mut scanner, piece, &projection, None);
            Ok(ControlFlow::Continue(()))
        });
        used(read);
    }),
    way("lines of a stream, byte by byte", |text| {
        let read = read_stream::<jird::Error>(ByteByByte(text), &mut Vec::new(), usize::MAX, |_, piece| {
            used(piece.len());
            Ok(ControlFlow::Continue(()))
        });
        used(read);
    }),
    way("lines of ranges", |text| {
        let mut buffer = Vec::new();
        // Each range has to find the end of the line that extends beyond it.
        let len = text.len().div_ceil(4) as u64;
        for start in (0..4).map(|index| index * len) {
            let range = start..(start + len).min(text.len() as u64);
            let read = read_range::<jird::Error>(&text, range, &mut buffer, usize::MAX, |_, piece| {
                used(piece.len());
                Ok(ControlFlow::Continue(()))
            });
            used(read);
        }
    }),
    way("typed lines", |text| typed_on::<Line>(std::io::Cursor::new(text.to_vec()), 1).for_each(used))
        .bar(Bar::THREADS),
    way("lines by two threads, in order", |text| {
        let pieces = text.chunks(4096);
        let work = |scanner: &mut Scanner, piece: &[u8]| scan_all(scanner, piece, &projection(), None);
        in_order(
            pieces,
            2,
            || Scanner::new(Options::default()),
            work,
            |bad| {
                used(bad);
                ControlFlow::Continue(())
            },
        );
    })
    .bar(Bar::THREADS),
    way("records of lines from a slice", |text| records::<_, Line>(Deserializer::from_slice(text))),
    way("records of lines from a reader, small chunks", |text| {
        records::<_, IgnoredAny>(Deserializer::from_reader(text).with_chunk_bytes(256));
    }),
    way("events of lines from a slice", |text| skip_lines(JsonSource::from_slice(text))),
    way("events of lines from a slice, trusted", |text| skip_lines(JsonSource::from_slice_trusted(text))),
    way("events of lines from a slice, small chunks", |text| skip_lines(JsonSource::from_slice(text).chunk_bytes(256))),
    way("events of lines from a reader, checked first", |text| skip_lines(JsonSource::from_reader(text).check_first())),
    way("events of lines from a reader, byte by byte", |text| skip_lines(JsonSource::from_reader(ByteByByte(text)))),
];

/// After a bad line some hundreds of bytes are scanned again, and a line may have only two bytes.
const PER_BYTE: f64 = 15_000.0;

pub(super) fn cases() -> Vec<Case> {
    let documents = documents::named(&[
        "nothing but [",
        "nested arrays, closed",
        "an object of many keys",
        "keys that differ in the middle",
        "small objects, then a large one",
        "a long string without end",
        "backslashes without end",
        "nothing but quotes",
        "a string of \\u escapes",
        "a number of many digits",
        "nothing but spaces",
        "spaces before a colon",
        "wrong at byte 2",
        "numbers beside each other",
        "nothing but 0xFF",
    ]);
    let some: Vec<Shape> = lines::core().into_iter().chain(documents).collect();
    let cases = each(MAIN, lines::ALL).chain(each(MAIN, &some[lines::core().len()..])).chain(each(OTHERS, &some));
    let large = beyond_a_chunk(
        &[MAIN, OTHERS],
        &["lines, all checked", "lines of a stream", "records of lines from a reader", "events of lines from a reader"],
        lines::ALL,
        &["good lines", "blank lines", "one line without end", "short lines, then a long one"],
    );
    cases.chain(large).map(|case| Case { bar: case.bar.per_byte(PER_BYTE), ..case }).chain([many_paths()]).collect()
}

fn projection() -> Projection {
    Projection::new(&[Path::root().key("id"), Path::root().key("name"), Path::root().key("in").key("x")])
}

/// A predicate with a text that can be searched for.
fn needle() -> Predicate {
    let equal = Predicate::Compare { slot: 1, op: Comparison::Eq, literal: Literal::Text("needle".into()) };
    let like = Predicate::Like { slot: 1, pattern: Like::new("%a%needle%") };
    let matches =
        Predicate::Matches { slot: 1, matcher: Matcher::new(|text| text.contains("needle")).requiring(["needle"]) };
    Predicate::Or(vec![equal, like, matches])
}

/// Scans all lines, and locates the error of each bad one.
fn scan(text: &[u8], options: Options, filter: Option<&Predicate>) {
    used(scan_all(&mut Scanner::new(options), text, &projection(), filter));
}

fn scan_all(scanner: &mut Scanner, text: &[u8], projection: &Projection, filter: Option<&Predicate>) -> u64 {
    let mut scratch = String::new();
    let visit = |row: jird::lines::Match<'_, '_>| {
        for field in row.fields() {
            used((field.text(&mut scratch).is_some(), field.as_number()));
        }
        ControlFlow::Continue(())
    };
    let scanned = scanner.scan_all(text, projection, filter, visit, |bad| {
        used(bad.locate().line());
        ControlFlow::Continue(())
    });
    scanned.bad
}

/// Decodes each line, and continues after a bad one.
fn records<'de, R: Read<'de>, T: Deserialize<'de>>(deserializer: Deserializer<R>) {
    let records = deserializer.records::<T>(jird::event::Pattern::default()).lines();
    records.for_each(used);
}

/// Sends each line, and continues after a bad one.
fn skip_lines<'de, R: Read<'de>>(source: JsonSource<R>) {
    let mut source = source.lines();
    let mut sink = JsonSink::new(std::io::sink());
    loop {
        match source.send_record(&mut sink) {
            Ok(true) => {}
            Ok(false) | Err(Failure::Sink(..)) => return,
            Err(Failure::Source(error)) => {
                sink = JsonSink::new(std::io::sink());
                if source.skip_line(&error).is_err() {
                    return;
                }
            }
        }
    }
}

/// Asks for many fields of a record that has them all.
fn many_paths() -> Case {
    case("lines · as many fields as are asked for", |bytes| {
        let count = bytes / 12;
        let paths: Vec<Path> = (0..count).map(|index| Path::root().key(format!("k{index:06}"))).collect();
        let members: Vec<String> = (0..count).map(|index| format!("\"k{index:06}\":1")).collect();
        let text = ["{", &members.join(","), "}\n"].concat().into_bytes();
        Prepared::new(text.len(), move || {
            let projection = Projection::new(&paths);
            used(scan_all(&mut Scanner::new(Options::default()), &text, &projection, None));
        })
    })
}
