//! Sinks that fail or panic at any event, change what they want, and receive events again afterwards from a source that
//! is used again.

use super::readers::Options;
use super::script::{Deed, Script, assert_text, caught, own_panic};
use super::told::assert_number;
use crate::shown;
use jird::event::filter::{Disorder, Flatten, Project, Validate};
use jird::event::{
    self, Failure, Feed, Interest, JsonSource, Key, Numeral, Pattern, Place, Sink, Source, Timestamp, Values,
};
use jird::hooks::event::send_text;
use jird::hooks::event::{Recording, send};
use jird::{Error, de::Trusted};
use std::cell::Cell;

/// A sink that carries out the script's deeds.
#[derive(Debug)]
pub(super) struct Rogue<'s> {
    script: &'s Script<'s>,
    calls: usize,
    asked: Cell<usize>,
    wants: Wants,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wants {
    More,
    Nothing,
    /// Wants more at every other question.
    Now,
}

/// The error that it fails with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stopped;

impl From<Error> for Stopped {
    fn from(_: Error) -> Self {
        Self
    }
}

impl<'s> Rogue<'s> {
    pub(super) fn new(script: &'s Script<'s>) -> Self {
        Self { script, calls: 0, asked: Cell::new(0), wants: Wants::More }
    }

    /// Carries out the deed for this event, and returns it, if there is one.
    fn event(&mut self) -> Result<Option<Deed>, Stopped> {
        let call = self.calls;
        self.calls += 1;
        assert!(call < 16 * self.script.rest.len() + 4096, "events without end: {}", shown(self.script.rest));
        let Some(deed) = self.script.deed(call) else { return Ok(None) };
        match deed.what % 8 {
            0 => return Err(Stopped),
            1 => own_panic(),
            2 => self.wants = Wants::Nothing,
            3 => self.wants = Wants::Now,
            4 => self.wants = Wants::More,
            _ => {}
        }
        Ok(Some(deed))
    }

    fn told(&mut self) -> Result<(), Stopped> {
        self.event().map(|_| ())
    }
}

macro_rules! events {
    ($($method:ident($($value:ident: $type:ty)?) $($check:expr)?;)*) => {
        $(fn $method(&mut self, $($value: $type)?) -> Result<(), Stopped> {
            $($check;)?
            self.told()
        })*
    };
}

impl Sink for Rogue<'_> {
    type Error = Stopped;

    fn key(&mut self, key: Key<'_>) -> Result<Interest, Stopped> {
        assert_text(key.text());
        let deed = self.event()?;
        Ok(match deed {
            Some(Deed { what, .. }) if what & 8 != 0 => Interest::Skip,
            Some(_) => Interest::Take,
            None => Interest::take_if(self.script.size & 1 == 0 || !self.calls.is_multiple_of(3)),
        })
    }

    events! {
        begin_record(_place: Place);
        end_record();
        begin_object();
        end_object();
        begin_array();
        end_array();
        null();
        bool(_value: bool);
        number(number: Numeral<'_>) assert_number(number);
        string(text: &str) assert_text(text);
        bytes(_bytes: &[u8]);
        timestamp(_time: Timestamp);
        finish();
    }

    fn wants_more(&self) -> bool {
        self.asked.set(self.asked.get() + 1);
        match self.wants {
            Wants::More => true,
            Wants::Nothing => false,
            Wants::Now => self.asked.get().is_multiple_of(2),
        }
    }
}

/// Sends a text to a sink that behaves as its script says.
pub(super) fn sinks(script: &Script<'_>) {
    const WAYS: u8 = 8;
    let variant = script.variant(WAYS);
    let options = Options { variant, chunk_bytes: script.chunk_bytes() };
    let text = script.rest;
    match script.way(WAYS) {
        0 => drive(&mut options.apply(JsonSource::from_slice(text)), script),
        1 => drive(&mut options.apply(JsonSource::from_reader(text)), script),
        2 => drive(&mut options.apply::<Trusted<_>>(JsonSource::from_slice_trusted(text)), script),
        4 => parsed(script, variant),
        5 => filtered(script, variant),
        6 if variant.is_multiple_of(8) => super::threads::sink(script),
        3 | 6 => feed(script, variant),
        _ => values(script),
    }
}

/// Checks that a source keeps to the protocol until the sink fails. Afterwards both can be used again, with no result
/// worse than an error.
fn drive<A: Source<Error: std::fmt::Debug>>(source: &mut A, script: &Script<'_>) {
    let mut sink = Validate::new(Rogue::new(script));
    let sent = caught(|| event::copy(source, &mut sink));
    in_order(sent, script);
    for _ in 0..2 {
        let _ = caught(|| source.send_record(&mut sink).is_ok());
        let _ = caught(|| event::copy(source, &mut sink).is_ok());
    }
    let mut sink = sink.into_inner();
    let _ = caught(|| event::copy(source, &mut sink).is_ok());
}

fn in_order<T, E>(sent: Option<Result<T, Failure<E, Disorder<Stopped>>>>, script: &Script<'_>) {
    if let Some(Err(Failure::Sink(Disorder::Source(words), place))) = sent {
        panic!("{words}, at {place:?}: {}", shown(script.rest));
    }
}

/// Feeds the text in pieces. Feeding continues after a failure, and the feed is finished even then.
fn feed(script: &Script<'_>, variant: u8) {
    let pattern: Pattern = ["", "/*", "/a", "/*/1"][usize::from(variant % 4)].parse().expect("a pattern");
    let mut sink = Validate::new(Rogue::new(script));
    let mut feed = Feed::records(pattern);
    let mut failed = false;
    for piece in script.rest.chunks(script.step().min(300)) {
        let fed = caught(|| feed.feed(piece, &mut sink));
        let stopped = !matches!(fed, Some(Ok(())));
        if !failed {
            in_order(fed, script);
        }
        failed |= stopped;
    }
    let finished = caught(|| feed.finish(&mut sink));
    if !failed {
        in_order(finished, script);
    }
}

/// Sends a text that was parsed or recorded before.
fn parsed(script: &Script<'_>, variant: u8) {
    let text = script.rest;
    if variant & 1 != 0 {
        let mut recording = Recording::new();
        if JsonSource::from_slice(text).send_record(&mut recording).is_ok() {
            drive(&mut recording.source(), script);
        }
        return;
    }
    let mut sink = Rogue::new(script);
    // The thread's parser is in use while the sink receives events.
    let _ = caught(|| send_text(text, &mut sink).is_ok());
    let mut buffer = Vec::new();
    if let Ok(json) = event::JsonText::check(text, &mut buffer) {
        assert_text(json.as_str());
        let _ = caught(|| sink.json(json).is_ok());
        let _ = caught(|| json.send(&mut sink).is_ok());
    }
    let _ = caught(|| send_text(text, &mut sink).is_ok());
    if let Ok(document) = jird::parse(text) {
        let mut sink = Validate::new(Rogue::new(script));
        let _ = caught(|| sink.begin_record(Place::default()).is_ok());
        in_order(caught(|| send(document.root(), &mut sink)), script);
    }
}

fn filtered(script: &Script<'_>, variant: u8) {
    let paths = || ["/a", "/*/a", "/0", "/*/*"].iter().filter_map(|path| path.parse::<Pattern>().ok());
    let rogue = || Validate::new(Rogue::new(script));
    match variant % 4 {
        0 => through(&mut Flatten::new(rogue()), script),
        1 => through(&mut Project::new(rogue(), paths()), script),
        2 => through(&mut Project::new(Flatten::new(rogue()), paths()), script),
        _ => through(&mut Flatten::new(Project::new(Rogue::new(script), paths())), script),
    }
}

/// In its first use, the filter sends to its sink events that keep to the protocol.
fn through<S: Sink<Error: std::fmt::Debug>>(filter: &mut S, script: &Script<'_>) {
    let mut source = JsonSource::from_slice(script.rest).chunk_bytes(script.chunk_bytes());
    if let Some(Err(Failure::Sink(error, place))) = caught(|| event::copy(&mut source, filter)) {
        let words = format!("{error:?}");
        assert!(words.contains("Stopped"), "{words}, at {place:?}: {}", shown(script.rest));
    }
    for _ in 0..3 {
        let _ = caught(|| source.send_record(filter).is_ok());
        let mut again = JsonSource::from_slice(script.rest);
        let _ = caught(|| event::copy(&mut again, filter).is_ok());
    }
}

/// Sends Rust types.
fn values(script: &Script<'_>) {
    let text = String::from_utf8_lossy(script.rest);
    let words: Vec<&str> = text.split([' ', '"', '\n']).take(8).collect();
    let value = (&words, words.len(), Some(0.5), std::collections::BTreeMap::from_iter([(words.len(), &words)]));
    let mut sink = Rogue::new(script);
    let _ = caught(|| event::send_value(&value, &mut sink).is_ok());
    drive(&mut Values::new([&value; 3]), script);
}
