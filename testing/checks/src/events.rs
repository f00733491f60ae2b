//! Events are the same from memory, from readers, in pieces, and from a parse.

use crate::{CHUNK_BYTES, shown, ways};
use jird::event::filter::{Flatten, Project, Validate};
use jird::event::{self, Failure, Feed, Interest, JsonSink, JsonSource, Key, Numeral, Pattern, Place, Sink, Source};
use jird::hooks::event::Recording;
use jird::hooks::event::send;
use jird::{Error, Kind, Value};
use std::convert::Infallible;
use std::fmt::Write;
use std::io::{self, Read};

/// The events of a text, and how it ended.
type Told = (String, Option<(&'static str, u64)>);

/// However a text is read and wherever it is cut, the same events come in the same order, with the same error. They are
/// also the events of a parse. Filters turn them into events that keep to the protocol.
///
/// # Panics
/// If this does not hold.
pub fn events(text: &[u8]) {
    let wanted = sent(JsonSource::from_slice(text));
    let parts: [fn(&[u8], &Told); 7] =
        [chunks, pieces, checked_first, parsed, trusted, |text, _| lines(text), |text, _| filters(text)];
    ways(parts).for_each(|check| check(text, &wanted));
}

/// Reads from memory and from a reader, with chunks of any size.
fn chunks(text: &[u8], wanted: &Told) {
    for bytes in ways(CHUNK_BYTES) {
        let slice = JsonSource::from_slice(text).chunk_bytes(bytes);
        assert_eq!(&sent(slice), wanted, "chunks of {bytes}: {}", shown(text));
        let reader = JsonSource::from_reader(Drops(text, bytes / 3)).chunk_bytes(bytes);
        assert_eq!(&sent(reader), wanted, "a reader: {}", shown(text));
    }
}

/// Feeds the text byte by byte, and in pieces whose lengths depend on the text.
fn pieces(text: &[u8], wanted: &Told) {
    assert_eq!(&fed(text, |_| 1), wanted, "byte by byte: {}", shown(text));
    let mut state = text.iter().fold(0_u64, |state, &byte| mix(state ^ u64::from(byte)));
    let pieces = |_| {
        state = mix(state);
        1 + (state >> 33) as usize % [2, 8, 70, 400][(state >> 60) as usize % 4]
    };
    assert_eq!(&fed(text, pieces), wanted, "in pieces: {}", shown(text));
}

/// With `check_first`, no event comes of an invalid record, and all events of the records before it do.
fn checked_first(text: &[u8], wanted: &Told) {
    let (checked, error) = sent(JsonSource::from_slice(text).check_first());
    assert!(wanted.0.starts_with(&checked) && error == wanted.1, "checked first: {}", shown(text));
    assert!(checked.is_empty() || checked.ends_with("end\n"), "{checked}: {}", shown(text));
}

/// Valid text gives the same events with trusted reading as without. Any other text gives consistent events, wherever
/// chunks end.
fn trusted(text: &[u8], wanted: &Told) {
    let told = sent(JsonSource::from_slice_trusted(text));
    if wanted.1.is_none() {
        assert_eq!(&told, wanted, "trusted: {}", shown(text));
    }
    assert_eq!(sent(JsonSource::from_slice_trusted(text).chunk_bytes(64)), told, "trusted: {}", shown(text));
    let reader = JsonSource::from_reader_trusted(Drops(text, 50)).chunk_bytes(128);
    assert_eq!(sent(reader), told, "trusted, a reader: {}", shown(text));
    let lines = |source: JsonSource<jird::de::Trusted<jird::de::SliceRead<'_>>>| sent(source.lines());
    let told = lines(JsonSource::from_slice_trusted(text));
    if let checked @ (_, None) = sent(JsonSource::from_slice(text).lines()) {
        assert_eq!(told, checked, "trusted lines: {}", shown(text));
    }
    assert_eq!(lines(JsonSource::from_slice_trusted(text).chunk_bytes(64)), told, "trusted lines: {}", shown(text));
}

fn mix(state: u64) -> u64 {
    (state ^ 1).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

/// Compares with the result of a parse.
fn parsed(text: &[u8], wanted: &Told) {
    match jird::parse(text) {
        Ok(document) => {
            let (mut log, mut own) = (Log::default(), Log::default());
            send(document.root(), &mut log).expect("a document is right");
            tell(document.root(), &mut own);
            assert_eq!(log.0, own.0, "{}", shown(text));
            assert_eq!(wanted, &(format!("record\n{}end\n", log.0), None), "{}", shown(text));
        }
        // A stream may contain no value, or several.
        Err(error) if matches!(error.code(), "empty" | "trailing") => {}
        Err(error) => assert_eq!(wanted.1, Some((error.code(), error.offset())), "{}", shown(text)),
    }
}

/// Sends the same events, naively.
fn tell(value: Value<'_>, log: &mut Log) {
    let Ok(()) = match value.kind() {
        Kind::Null => log.null(),
        Kind::Bool => log.bool(value.as_bool() == Some(true)),
        Kind::Number => log.number(Numeral::Text(value.as_number().expect("it is one"))),
        Kind::String => log.string(&value.as_str().expect("it is one")),
        Kind::Array => {
            log.line("[");
            value.elements().for_each(|element| tell(element, log));
            log.end_array()
        }
        Kind::Object => {
            log.line("{");
            for (key, value) in value.entries() {
                let Ok(interest) = log.key(Key::new(&key.as_str().expect("it is one")));
                if interest == Interest::Take {
                    tell(value, log);
                }
            }
            log.end_object()
        }
    };
}

/// Skips invalid lines one by one. With chunk borders everywhere, the result is the same.
fn lines(text: &[u8]) {
    let all = |mut source: JsonSource<jird::de::SliceRead<'_>>| {
        let mut log = Log::default();
        let mut errors = Vec::new();
        loop {
            match source.send_record(&mut log) {
                Ok(true) => {}
                Ok(false) => return (log.0, errors),
                Err(Failure::Source(error)) => {
                    errors.push((error.code(), error.offset(), error.line()));
                    source.skip_line(&error).expect("memory can be read");
                }
                Err(Failure::Sink(never, _)) => match never {},
            }
            assert!(errors.len() <= text.len(), "more lines than bytes");
        }
    };
    let wanted = all(JsonSource::from_slice(text).lines().check_first());
    let small = all(JsonSource::from_slice(text).lines().check_first().chunk_bytes(64));
    assert_eq!(small, wanted, "lines: {}", shown(text));
}

/// Filters receive and send events in order. A recording sends the same events again.
fn filters(text: &[u8]) {
    let paths = || ["", "/a", "/*/a", "/0", "/*/*", "/a/*/a"].iter().filter_map(|path| path.parse::<Pattern>().ok());
    let out = || Validate::new(Null);
    let mut sink = Validate::new(Project::new(Flatten::new(out()), paths().skip(2)));
    if let Err(Failure::Sink(error, place)) = event::copy(&mut JsonSource::from_slice(text), &mut sink) {
        panic!("{error} at {place}: {}", shown(text));
    }
    let mut recording = Recording::new();
    let Ok(true) = JsonSource::from_slice(text).send_record(&mut recording) else { return };
    let (mut again, mut once) = (JsonSink::new(Vec::new()), JsonSink::new(Vec::new()));
    let Ok(true) = recording.source().send_record(&mut again) else { panic!("it is complete: {}", shown(text)) };
    let Ok(true) = JsonSource::from_slice(text).send_record(&mut once) else { panic!("it was right: {}", shown(text)) };
    assert_eq!(again.so_far(), once.so_far(), "{}", shown(text));
    let mut rows = Flatten::new(JsonSink::new(Vec::new()));
    let Ok(true) = recording.source().send_record(&mut rows) else { panic!("it is complete: {}", shown(text)) };
    assert!(jird::validate(rows.into_inner().so_far()).is_ok(), "{}", shown(text));
}

/// Receives nothing.
struct Null;

impl Sink for Null {
    type Error = Infallible;

    fn key(&mut self, key: Key<'_>) -> Result<Interest, Infallible> {
        Ok(Interest::take_if(key.text().len() % 3 != 2))
    }
}

fn sent<R: Source<Error = Error>>(mut source: R) -> Told {
    let mut log = Log::default();
    let told = event::copy(&mut source, &mut log);
    ended(log, told)
}

fn fed(text: &[u8], mut bytes: impl FnMut(usize) -> usize) -> Told {
    let mut log = Log::default();
    let mut feed = Feed::new();
    let mut at = 0;
    while at < text.len() {
        let end = text.len().min(at + bytes(at));
        if let Err(failure) = feed.feed(&text[at..end], &mut log) {
            return ended(log, Err(failure));
        }
        at = end;
    }
    let told = feed.finish(&mut log);
    ended(log, told)
}

fn ended(log: Log, told: Result<(), Failure<Error, Infallible>>) -> Told {
    match told {
        Ok(()) => (log.0, None),
        Err(Failure::Source(error)) => (log.0, Some((error.code(), error.offset()))),
        Err(Failure::Sink(never, _)) => match never {},
    }
}

/// Records every event, except for what it skips.
#[derive(Default)]
struct Log(String);

impl Log {
    fn line(&mut self, line: impl std::fmt::Display) {
        writeln!(self.0, "{line}").expect("a string takes everything");
    }
}

macro_rules! logged {
    ($($method:ident($($value:ident: $type:ty)?) $line:expr;)*) => {
        $(fn $method(&mut self, $($value: $type)?) -> Result<(), Infallible> {
            self.line($line);
            Ok(())
        })*
    };
}

impl Sink for Log {
    type Error = Infallible;

    fn key(&mut self, key: Key<'_>) -> Result<Interest, Infallible> {
        self.line(format_args!("key {:?}", key.text()));
        Ok(Interest::take_if(!key.text().starts_with('b')))
    }

    logged! {
        begin_record(_place: Place) "record";
        end_record() "end";
        begin_object() "{";
        end_object() "}";
        begin_array() "[";
        end_array() "]";
        null() "null";
        bool(value: bool) value;
    }

    fn string(&mut self, text: &str) -> Result<(), Infallible> {
        assert!(std::str::from_utf8(text.as_bytes()).is_ok());
        self.line(format_args!("{text:?}"));
        Ok(())
    }

    fn number(&mut self, number: Numeral<'_>) -> Result<(), Infallible> {
        let mut text = Vec::new();
        number.write(&mut text);
        self.line(String::from_utf8_lossy(&text));
        Ok(())
    }
}

/// A reader that gives a fixed number of bytes at a time.
struct Drops<'a>(&'a [u8], usize);

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.0.len().min(buffer.len()).min(self.1);
        let (now, later) = self.0.split_at(len);
        buffer[..len].copy_from_slice(now);
        self.0 = later;
        Ok(len)
    }
}
