//! Sources that break the protocol: events in any order, keys with the numbers of others, doubles that are not numbers,
//! and rows that differ each time they are read. They are used again after they panicked.

use super::script::{Program, Script, assert_text, caught, own_panic};
use super::types::{Choice, Profile};
use crate::second::SerdeTree;
use crate::shown;
use jird::event::filter::{Disorder, Flatten, Project, Validate};
use jird::event::{
    self, Failure, Interest, JsonSink, JsonText, Key, Numeral, Objects, Pattern, Place, Row, Scalar, Sink, Source,
    Timestamp,
};
use jird::hooks::event::pipe;
use jird::hooks::event::{Condition, Parts, Recording};
use jird::{
    Error, Layout, Number, Path,
    record::{Comparison, Literal, Predicate},
};
use std::cell::Cell;
use std::convert::Infallible;

/// Sends the events of its program.
struct Emitter<'i> {
    program: Program<'i>,
    /// The number of records begun.
    records: u64,
    /// Whether a record is open; and whether a record ever began within another, or the stream ended early.
    is_open: bool,
    abandons: bool,
}

impl<'i> Emitter<'i> {
    fn new(program: &Program<'i>) -> Self {
        Self { program: program.clone(), records: 0, is_open: false, abandons: false }
    }

    fn place(&self) -> Place {
        Place { record: self.records, offset: self.records * 7, line: 0 }
    }

    /// Sends events up to the end of a record or of the program.
    fn send_some<S: Sink>(&mut self, sink: &mut S) -> Result<(), S::Error> {
        while !self.program.is_over() {
            let op = self.program.byte();
            match op % 24 {
                0 | 16 => sink.begin_object()?,
                1 | 17 => {
                    let key = self.program.text(6);
                    send_key(sink, Key::new(&key))?;
                }
                2 => {
                    let (number, key) = (u32::from(self.program.byte() % 4), self.program.text(4));
                    send_key(sink, Key::numbered(&key, number))?;
                }
                3 => {
                    let (number, key) = (self.program.word() as u32, self.program.text(4));
                    send_key(sink, Key::numbered(&key, number))?;
                }
                4 | 18 => sink.end_object()?,
                5 | 19 => sink.begin_array()?,
                6 | 20 => sink.end_array()?,
                7 => sink.null()?,
                8 => sink.bool(op & 32 != 0)?,
                9 => {
                    let word = self.program.word();
                    sink.number(number(op, word))?;
                }
                10 | 21 => {
                    let text = self.program.text(20);
                    sink.string(&text)?;
                }
                11 => {
                    let bytes = self.program.text(9);
                    sink.bytes(bytes.as_bytes())?;
                }
                12 => {
                    let (seconds, nanoseconds) = (self.program.word().cast_signed(), self.program.word() as u32);
                    sink.timestamp(Timestamp { seconds, nanoseconds, is_utc: op & 32 != 0 })?;
                }
                13 => {
                    let mut buffer = Vec::new();
                    let text = self.program.text(20);
                    if let Ok(json) = JsonText::check(text.as_bytes(), &mut buffer) {
                        sink.json(json)?;
                    }
                }
                14 => {
                    self.abandons |= std::mem::replace(&mut self.is_open, true);
                    self.records += 1;
                    sink.begin_record(self.place())?;
                }
                15 if op & 32 != 0 => own_panic(),
                15 => {
                    // No event may come after the end.
                    self.abandons = true;
                    let _ = sink.wants_more();
                    sink.finish()?;
                }
                22 => sink.number(Numeral::U64(u64::from(op)))?,
                _ => {
                    self.is_open = false;
                    return sink.end_record();
                }
            }
        }
        Ok(())
    }
}

/// Sends a key, and a value that the sink did not ask for if it skips the key.
fn send_key<S: Sink>(sink: &mut S, key: Key<'_>) -> Result<(), S::Error> {
    match sink.key(key)? {
        Interest::Take => Ok(()),
        Interest::Skip => sink.null(),
    }
}

/// A number of any kind and any size.
fn number(op: u8, word: u64) -> Numeral<'static> {
    match op / 24 % 4 {
        0 => Numeral::I64(word.cast_signed()),
        1 => Numeral::U64(word),
        2 => Numeral::F64(f64::from_bits(word)),
        _ => {
            let texts = ["-0", "1e400", "0.1", "1E-400", "123456789012345678901234567890"];
            Numeral::Text(Number::new(texts[(word % 5) as usize]).expect("a number"))
        }
    }
}

impl Source for Emitter<'_> {
    type Error = Infallible;

    fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Infallible, S::Error>> {
        let place = self.place();
        if self.program.is_over() {
            return Ok(false);
        }
        self.send_some(sink).map(|()| true).map_err(|error| Failure::Sink(error, place))
    }
}

/// Receives nothing.
struct Null;

impl Sink for Null {
    type Error = Infallible;
}

/// Sends events in any order to every sink and filter of the engine.
pub(super) fn sources(script: &Script<'_>) {
    const WAYS: u8 = 16;
    let program = Program::new(script.rest);
    let variant = script.variant(WAYS);
    let paths = || ["/a", "/*/a", "/0", "/*/*"].iter().filter_map(|path| path.parse::<Pattern>().ok());
    let out = || JsonSink::new(Vec::new());
    match script.way(WAYS) {
        0 | 1 => written(&program, Layout::Minify, variant),
        2 => written(&program, Layout::Indent(usize::from(variant)), variant),
        3 => written(&program, Layout::Canonical, variant),
        4 | 5 => recorded(&program, script),
        6 | 7 => assert_out(&send(&program, Flatten::new(out())).into_inner()),
        8 | 9 => assert_out(&send(&program, Project::new(out(), paths())).into_inner()),
        10 | 11 => assert_out(&send(&program, Project::new(Flatten::new(out()), paths())).into_inner().into_inner()),
        12 => {
            let mut part = out().array().part(usize::from(variant) * 40);
            send(&program, &mut part);
            assert_out(&part);
        }
        13 => objects(&program),
        14 => rows(script),
        _ if variant.is_multiple_of(4) => {
            let mut source = Emitter::new(&program);
            let mut sink = out();
            let _ = caught(|| pipe(&mut sink, |pipe| source.send(pipe).is_ok()).is_ok());
            assert_out(&sink);
        }
        _ => objects(&program),
    }
}

/// Sends the whole program, continuing after a panic or an error.
fn send<S: Sink>(program: &Program<'_>, mut sink: S) -> S {
    let mut source = Emitter::new(program);
    for _ in 0..100 {
        let _ = caught(|| event::copy(&mut source, &mut sink).is_ok());
        if source.program.is_over() {
            break;
        }
    }
    sink
}

fn assert_out<W: std::io::Write>(sink: &JsonSink<W>) {
    assert!(std::str::from_utf8(sink.so_far()).is_ok(), "text that is not UTF-8: {}", shown(sink.so_far()));
}

/// Writes JSON, and checks that it is JSON if the program keeps to the protocol.
fn written(program: &Program<'_>, layout: Layout, variant: u8) {
    let array = variant & 1 != 0;
    let new = || if array { JsonSink::new(Vec::new()).array() } else { JsonSink::new(Vec::new()) };
    let sink = send(program, new().layout(layout));
    assert_out(&sink);
    // The canonical form can fail: keys may be doubled, and numbers too large.
    let mut source = Emitter::new(program);
    let mut sink = Validate::new(new().layout(layout));
    let told = caught(|| event::copy(&mut source, &mut sink));
    let text = sink.into_inner().into_inner();
    match told {
        // The beginning of an abandoned record may be written.
        _ if source.abandons || source.is_open => {}
        Some(Ok(())) if array => assert!(jird::validate(&text).is_ok(), "{}", shown(&text)),
        Some(Ok(())) => {
            let count = jird::Deserializer::from_slice(&text).into_iter::<serde::de::IgnoredAny>();
            let count = count.inspect(|value| assert!(value.is_ok(), "{value:?}: {}", shown(&text))).count();
            assert_eq!(count as u64, source.records, "{}", shown(&text));
        }
        Some(Err(Failure::Sink(Disorder::Sink(error), _))) => {
            assert!(layout == Layout::Canonical, "{error}, though it keeps to the protocol");
        }
        _ => {}
    }
}

/// Records the events, and then decodes them, sends them again and filters them.
fn recorded(program: &Program<'_>, script: &Script<'_>) {
    let mut recording = Recording::new();
    let mut source = Emitter::new(program);
    let filter = Predicate::Compare { slot: 0, op: Comparison::Gt, literal: Literal::Number("2".into()) };
    let paths = [Path::root().key("a"), Path::root().index(1), Path::root().key("a").index(0)];
    let path = paths[usize::from(script.size % 3)].clone();
    let mut condition = Condition::new(filter, vec![path]);
    while !source.program.is_over() {
        let _ = caught(|| source.send_record(&mut recording).is_ok());
        let tree = recording.decode::<SerdeTree>();
        assert!(tree.is_err() || recording.is_complete(), "a value of half a record");
        let _ = recording.decode::<Profile>().is_ok();
        let _ = recording.decode::<Vec<Choice>>().is_ok();
        let _ = recording.decode::<Box<jird::RawValue>>().map(|raw| assert_text(raw.get()));
        let _ = recording.decode::<serde::de::IgnoredAny>().is_ok();
        let _ = condition.holds(&recording);
        let mut out = JsonSink::new(Vec::new());
        let _ = event::copy(&mut recording.source(), &mut out).is_ok();
        assert_out(&out);
        let _ = event::copy(&mut recording.source(), &mut Validate::new(Null)).is_ok();
    }
}

/// Decodes the records one by one.
fn objects(program: &Program<'_>) {
    let mut seen = 0;
    let sink = Objects::new(|_, profile: Profile| {
        seen += usize::from(format!("{profile:?}").len() > 10);
        Ok::<(), Error>(())
    });
    send(program, sink);
    send(program, Objects::new(|_, _: SerdeTree| Ok::<(), Error>(())));
    send(program, Objects::new(|_, _: Vec<(Choice, f32)>| Ok::<(), Error>(())));
}

/// A row whose columns differ each time they are read.
struct Changing<'i> {
    program: &'i [u8],
    at: Cell<usize>,
    records: u64,
}

impl Changing<'_> {
    fn byte(&self) -> u8 {
        let at = self.at.get();
        self.at.set(at + 1);
        self.program.get(at % self.program.len().max(1)).copied().unwrap_or(0) ^ (at / self.program.len().max(1)) as u8
    }
}

const NAMES: [&str; 8] = ["a", "b", "value", "c", "k", "", "a", "é"];

impl Row for &Changing<'_> {
    type Error = Infallible;

    fn place(&self) -> Place {
        Place { record: self.records, ..Place::default() }
    }

    fn columns(&self) -> usize {
        usize::from(self.byte() % 8)
    }

    fn name(&self, _column: usize) -> &str {
        NAMES[usize::from(self.byte() % 8)]
    }

    fn is_missing(&self, _column: usize) -> bool {
        self.byte().is_multiple_of(4)
    }

    fn scalar(&self, _column: usize) -> Option<Scalar<'_>> {
        Some(match self.byte() % 10 {
            0 => return None,
            1 => own_panic(),
            2 => Scalar::Bool(true),
            3 => Scalar::Number(Numeral::F64(f64::NAN)),
            4 => Scalar::Number(Numeral::U64(u64::MAX)),
            5 => Scalar::Bytes(self.program),
            6 => Scalar::Timestamp(Timestamp { seconds: i64::MIN, nanoseconds: u32::MAX, is_utc: true }),
            7 => Scalar::Null,
            _ => Scalar::String(NAMES[usize::from(self.byte() % 8)]),
        })
    }

    fn send<S: Sink>(self, sink: &mut S) -> Result<(), Failure<Infallible, S::Error>> {
        let rest = &self.program[self.program.len().min(self.at.get() % 64)..];
        let mut source = Emitter::new(&Program::new(rest));
        source.send_record(sink).map(|_| ())
    }
}

/// Sends rows to sinks that ask for their values, and to some that do not.
fn rows(script: &Script<'_>) {
    let row = Changing { program: script.rest, at: Cell::new(0), records: 3 };
    let mut profiles = Objects::new(|_, _: Profile| Ok::<(), Error>(()));
    let mut trees = Objects::new(|_, _: SerdeTree| Ok::<(), Error>(()));
    let mut raw = Objects::new(|_, _: std::collections::BTreeMap<String, Box<jird::RawValue>>| Ok::<(), Error>(()));
    let mut out = Flatten::new(JsonSink::new(Vec::new()));
    for _ in 0..12 {
        let _ = caught(|| profiles.row(&row).is_ok());
        let _ = caught(|| trees.row(&row).is_ok());
        let _ = caught(|| raw.row(&row).is_ok());
        let _ = caught(|| out.row(&row).is_ok());
    }
    assert_out(&out.into_inner());
}
