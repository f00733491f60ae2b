//! Events: sources, feeds, sinks and filters.

use super::{ByteByByte, Way, beyond_a_chunk, each, used, way};
use crate::case::Case;
use crate::judge::Bar;
use crate::shapes::documents;
use jird::event::filter::{Flatten, Project, Validate};
use jird::event::{self, Feed, JsonSink, JsonSource, Objects, Pattern, Sink, Source};
use jird::hooks::event::pipe;
use jird::hooks::event::{Condition, Recording};
use jird::{
    Json, Layout, Path,
    de::{IoRead, SliceRead},
    record::{Comparison, Literal, Predicate},
};
use std::convert::Infallible;
use std::io;

/// Takes every event, and does nothing with it.
struct Nothing;

impl Sink for Nothing {
    type Error = Infallible;
}

/// A limit that no test text reaches.
const DEEP: usize = usize::MAX >> 8;

/// Measured on every shape.
const MAIN: &[Way] = &[
    way("events from a slice, checked first", |text| run(deep(text).check_first(), Nothing)),
    way("events from a reader, checked first, small chunks", |text| {
        run(reader(text).check_first().chunk_bytes(256), Nothing);
    }),
    way("feed, in pieces of 100 bytes", |text| feed(text, 100)),
    way("events to JSON", |text| run(deep(text), json())),
    // Keys are sorted, and a record of one byte costs some thousand instructions.
    way("events to JSON, canonical", |text| run(JsonSource::from_slice(text), json().layout(Layout::Canonical)))
        .bar(Bar::SORTED.per_byte(5000.0))
        .smaller(2),
];

/// Measured on some shapes.
const OTHERS: &[Way] = &[
    way("events from a slice", |text| run(deep(text), Nothing)),
    way("events from a slice, trusted", |text| run(JsonSource::from_slice_trusted(text).depth_max(DEEP), Nothing)),
    way("events from a slice, small chunks", |text| run(deep(text).chunk_bytes(256), Nothing)),
    way("events from a reader", |text| run(reader(text), Nothing)),
    way("events from a reader, byte by byte", |text| {
        run(JsonSource::from_reader(ByteByByte(text)).depth_max(DEEP).chunk_bytes(64), Nothing);
    }),
    way("events, records of an array", |text| run(reader(text).records(Pattern::each()), Nothing)),
    way("events, records beside others", |text| {
        run(deep(text).records("/id/*".parse().expect("a pattern")).chunk_bytes(256), Nothing);
    }),
    way("feed, all at once", |text| feed(text, text.len().max(1))),
    way("feed, byte by byte", |text| feed(text, 1)).smaller(8).bar(Bar::LINEAR.per_byte(10_000.0)),
    way("events to JSON, indented", |text| run(JsonSource::from_slice(text), json().layout(Layout::Indent(2)))),
    way("events to a recording, and from there", |text| {
        let mut recording = Recording::new();
        let mut source = deep(text);
        while source.send_record(&mut recording).is_ok_and(|sent| sent) {
            used(recording.source().send(&mut Nothing));
        }
    }),
    way("events to trees", |text| {
        run(
            JsonSource::from_slice(text),
            Objects::new(|_, value: Json| {
                used(value);
                Ok::<(), jird::Error>(())
            }),
        );
    }),
    way("events through a pipe", |text| {
        used(pipe(&mut Nothing, |pipe| deep(text).send(pipe).is_ok()));
    }),
    way("events, flattened", |text| run(JsonSource::from_slice(text), Flatten::new(json()))),
    way("events, projected", |text| {
        let paths = ["/id", "/*/id", "/*/*/x", "/a/a/a", "/k1", "/k2", "/k3"];
        run(deep(text), Project::new(json(), paths.map(|path| path.parse().expect("a pattern"))));
    }),
    way("events, validated", |text| run(deep(text), Validate::new(Nothing))),
    way("events, of which a condition is asked", |text| {
        let literal = Literal::Text("needle".into());
        let is = Predicate::Compare { slot: 0, op: Comparison::Eq, literal };
        let mut condition = Condition::new(is, vec![Path::root().key("a").key("a")]);
        let mut recording = Recording::new();
        let mut source = deep(text);
        while source.send_record(&mut recording).is_ok_and(|sent| sent) {
            used(condition.holds(&recording));
        }
    }),
];

pub(super) fn cases() -> Vec<Case> {
    let large = beyond_a_chunk(
        &[MAIN, OTHERS],
        &["events from a reader", "events, records of an array", "feed, in pieces of 100 bytes", "events to JSON"],
        documents::ALL,
        &[
            "records in an array",
            "spaces around all values",
            "nothing but line feeds",
            "a long string without end",
            "numbers beside each other",
        ],
    );
    each(MAIN, documents::ALL).chain(each(OTHERS, &documents::core())).chain(large).collect()
}

fn deep(text: &[u8]) -> JsonSource<SliceRead<'_>> {
    JsonSource::from_slice(text).depth_max(DEEP)
}

fn reader(text: &[u8]) -> JsonSource<IoRead<&[u8]>> {
    JsonSource::from_reader(text).depth_max(DEEP)
}

fn json() -> JsonSink<io::Sink> {
    JsonSink::new(io::sink())
}

fn run<A: Source, S: Sink>(mut source: A, mut sink: S) {
    used(event::copy(&mut source, &mut sink).is_ok());
}

fn feed(text: &[u8], bytes: usize) {
    let mut feed = Feed::new();
    let fed = text.chunks(bytes).try_for_each(|piece| feed.feed(piece, &mut Nothing));
    if fed.is_ok() {
        used(feed.finish(&mut Nothing).is_ok());
    }
}
