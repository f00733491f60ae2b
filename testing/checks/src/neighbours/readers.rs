//! Readers that lie, fail, panic or give single bytes, and are read from again afterwards.
//!
//! If a reader keeps to the rules of [`Read`], the result is that of a slice of the same bytes. If a reader claims a
//! length that fits into the buffer, its text is what the buffer contained at that moment, whatever the reader meant to
//! give.

use super::script::{Deed, Script, caught, own_panic};
use super::told::{Seen, Told, assert_in};
use super::types::{Choice, Profile, Texts};
use crate::second::SerdeTree;
use crate::shown;
use jird::event::{Failure, JsonSource, Pattern, Source};
use jird::{Deserializer, Error, RawValue};
use serde::de::{Deserialize, DeserializeOwned, IgnoredAny};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A reader of `script.rest` that carries out the script's deeds.
pub(super) struct Reader<'s> {
    script: &'s Script<'s>,
    left: &'s [u8],
    calls: usize,
    /// What it gave before it first broke a rule or failed. This is the text that the engine received, if there is one.
    pub(super) given: Vec<u8>,
    /// The same, followed by what it gave afterwards.
    pub(super) all: Vec<u8>,
    /// What ended `given`.
    pub(super) end: End,
    /// Whether it panicked, at that point or later.
    panicked: bool,
}

/// Why a reader's text ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It has not ended.
    Open,
    /// The reader reported its end.
    Said,
    /// The reader failed with an error of this kind.
    Failed(ErrorKind),
    /// The reader failed with an error of the engine's own type, which it made itself.
    Forged,
    /// The reader claimed more bytes than the buffer has.
    Overclaimed,
    Panicked,
}

impl<'s> Reader<'s> {
    pub(super) fn new(script: &'s Script<'s>) -> Self {
        Self::resume(script, 0, script.rest.len())
    }

    /// A reader in its state after `calls` calls, with `left` bytes of its text left.
    fn resume(script: &'s Script<'s>, calls: usize, left: usize) -> Self {
        let left = &script.rest[script.rest.len() - left..];
        Self { script, left, calls, given: Vec::new(), all: Vec::new(), end: End::Open, panicked: false }
    }

    /// The number of calls after which it gives nothing, so that a reader that claims bytes it did not give also ends.
    fn calls_max(&self) -> usize {
        self.script.rest.len() + 64
    }

    fn close(&mut self, end: End) {
        if self.end == End::Open {
            self.end = end;
        }
    }

    /// Puts this many bytes of the text into the buffer.
    fn give(&mut self, buffer: &mut [u8], bytes: usize) -> usize {
        let len = bytes.min(buffer.len()).min(self.left.len());
        let (now, later) = self.left.split_at(len);
        buffer[..len].copy_from_slice(now);
        self.left = later;
        len
    }

    /// Claims to have put this many bytes into the buffer.
    fn claim(&mut self, buffer: &[u8], bytes: usize) -> usize {
        match buffer.get(..bytes) {
            None => self.close(End::Overclaimed),
            Some([]) => self.close(End::Said),
            Some(given) => {
                if self.end == End::Open {
                    self.given.extend_from_slice(given);
                }
                self.all.extend_from_slice(given);
            }
        }
        bytes
    }

    fn fail(&mut self, kind: ErrorKind) -> io::Result<usize> {
        self.close(End::Failed(kind));
        Err(kind.into())
    }

    fn misdo(&mut self, deed: Deed, buffer: &mut [u8]) -> io::Result<usize> {
        let (room, amount) = (buffer.len(), usize::from(deed.amount));
        let step = self.script.step();
        let claimed = match deed.what % 20 {
            0 => self.give(buffer, 1),
            1 => self.give(buffer, amount),
            2 => (self.give(buffer, step) + 1 + amount).min(room),
            3 => {
                self.give(buffer, step);
                room + 1
            }
            4 => usize::MAX,
            5 => 0_usize.wrapping_sub(1 + amount),
            6 => room + 2 + amount,
            7 => usize::MAX / 2 + amount,
            8 => 0,
            // Every other call only, because endless interruptions would make the test endless.
            9 if self.calls.is_multiple_of(2) => return Err(ErrorKind::Interrupted.into()),
            10 => return self.fail(ErrorKind::WouldBlock),
            11 => return self.fail(ErrorKind::UnexpectedEof),
            12 => return self.fail(ErrorKind::Other),
            13 => {
                self.close(End::Forged);
                return Err(Error::new(jird::ErrorKind::Colon, u64::MAX >> (deed.amount % 64)).into());
            }
            14 => {
                self.close(End::Panicked);
                self.panicked = true;
                own_panic();
            }
            15 => {
                let given = self.give(buffer, step);
                buffer[given..].fill(0xFF);
                given
            }
            16 => {
                let given = self.give(buffer, step);
                buffer[given / 2..given].fill(0xFF);
                given
            }
            17 => self.give(buffer, step) / 2,
            18 => {
                buffer.fill(b'"');
                self.give(buffer, step)
            }
            // Claims what the buffer contained before.
            19 => room.min(1 + amount),
            _ => self.give(buffer, step),
        };
        Ok(self.claim(buffer, claimed))
    }
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert!(!buffer.is_empty(), "asked for nothing, whose answer would be taken for the end");
        let call = self.calls;
        self.calls += 1;
        assert!(call < self.calls_max() + 1000, "a reader is asked without end: {}", shown(self.script.rest));
        if call >= self.calls_max() {
            return Ok(self.claim(buffer, 0));
        }
        if let Some(deed) = self.script.deed(call) {
            return self.misdo(deed, buffer);
        }
        let given = self.give(buffer, self.script.step());
        Ok(self.claim(buffer, given))
    }
}

/// A reader that owns its script, for the engine's own threads.
pub(super) struct Owned {
    input: Vec<u8>,
    calls: usize,
    left: usize,
    /// Whether it panicked, visible to the other thread.
    panicked: Arc<AtomicBool>,
}

impl Owned {
    pub(super) fn new(input: &[u8], panicked: Arc<AtomicBool>) -> Self {
        let left = Script::new(input).rest.len();
        Self { input: input.to_vec(), calls: 0, left, panicked }
    }
}

impl Read for Owned {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let script = Script::new(&self.input);
        let mut reader = Reader::resume(&script, self.calls, self.left);
        self.calls += 1;
        let read = caught(|| reader.read(buffer));
        self.left = reader.left.len();
        read.unwrap_or_else(|| {
            self.panicked.store(true, Ordering::Relaxed);
            own_panic()
        })
    }
}

/// Reads a text through a reader that behaves as its script says.
pub(super) fn readers(script: &Script<'_>) {
    const WAYS: u8 = 8;
    let variant = script.variant(WAYS);
    match script.way(WAYS) {
        0 => with_type(variant, script, Way::Whole),
        1 => with_type(variant, script, Way::Stream),
        2 => with_type(variant, script, Way::Records { lines: script.size & 8 != 0 }),
        3 | 4 => events(script, variant),
        5 => super::lines::read_stream(script),
        6 => super::lines::read_range(script),
        _ if variant.is_multiple_of(4) => super::threads::readers(script),
        _ => events(script, variant),
    }
}

/// How values are decoded.
#[derive(Clone, Copy)]
enum Way {
    Whole,
    Stream,
    Records { lines: bool },
}

fn with_type(variant: u8, script: &Script<'_>, way: Way) {
    match variant % 8 {
        0 => typed::<(String, u8)>(script, way),
        1 => typed::<SerdeTree>(script, way),
        2 => typed::<Profile>(script, way),
        3 => typed::<Vec<Box<RawValue>>>(script, way),
        4 => typed::<Vec<u8>>(script, way),
        5 => typed::<Vec<Choice>>(script, way),
        6 => typed::<IgnoredAny>(script, way),
        _ => typed::<BTreeMap<String, Option<String>>>(script, way),
    }
}

/// Decodes the values of one type, checks each, and judges how they end. Then does the same [`ROUNDS`] more times, and
/// checks the texts only.
fn typed<T: DeserializeOwned + Texts>(script: &Script<'_>, way: Way) {
    let chunk_bytes = script.chunk_bytes();
    let pattern: Pattern = ["", "/*", "/a", "/*/*"][usize::from(script.size / 16 % 4)].parse().expect("a pattern");
    let mut reader = Reader::new(script);
    let wanted = |text: &[u8]| {
        let de = Deserializer::from_slice(text).with_chunk_bytes(chunk_bytes);
        match way {
            Way::Whole => whole::<_, T>(&mut { de }),
            Way::Stream => all(&mut de.into_iter::<T>(), text.len()),
            Way::Records { lines } => all(&mut records::<_, T>(de, pattern.clone(), lines), text.len()),
        }
    };
    let mut again = Vec::new();
    {
        // Judged while the deserializer, which holds the reader, is still alive.
        let shared = Shared(RefCell::new(&mut reader));
        let de = Deserializer::from_reader(&shared).with_chunk_bytes(chunk_bytes);
        let len = 2 * script.rest.len() + 16;
        match way {
            Way::Whole => {
                let de = &mut { de };
                judge(caught(|| whole::<_, T>(de)), &shared, wanted);
                (0..ROUNDS).for_each(|_| again.extend(caught(|| whole::<_, T>(de))));
            }
            Way::Stream => {
                let stream = &mut de.into_iter::<T>();
                judge(caught(|| all(stream, len)), &shared, wanted);
                (0..ROUNDS).for_each(|_| again.extend(caught(|| all(stream, len))));
            }
            Way::Records { lines } => {
                let records = &mut records::<_, T>(de, pattern.clone(), lines);
                judge(caught(|| all(records, len)), &shared, wanted);
                (0..ROUNDS).for_each(|_| again.extend(caught(|| all(records, len))));
            }
        }
    }
    again.iter().for_each(|seen| assert_in(&seen.texts, &reader.all));
}

/// The number of uses after the first one, which may have failed.
const ROUNDS: usize = 3;

fn whole<'de, R: jird::de::Read<'de>, T: Deserialize<'de> + Texts>(de: &mut Deserializer<R>) -> Seen {
    let value = T::deserialize(&mut *de).and_then(|value| de.end().map(|()| value));
    let mut seen = Seen::default();
    seen.value(value);
    seen
}

fn all<T: Texts>(values: &mut dyn Iterator<Item = Result<T, Error>>, len: usize) -> Seen {
    let mut seen = Seen::default();
    for value in values {
        assert!(seen.told.len() <= 400 * (len + 16), "values without end");
        seen.value(value);
    }
    seen
}

fn records<'de, R: jird::de::Read<'de>, T: Deserialize<'de>>(
    de: Deserializer<R>,
    pattern: Pattern,
    lines: bool,
) -> jird::de::Records<'de, R, T> {
    let records = de.records(pattern);
    if lines { records.lines() } else { records }
}

/// A reader that can be inspected while the engine has it.
pub(super) struct Shared<'r, 's>(pub(super) RefCell<&'r mut Reader<'s>>);

impl Read for &Shared<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(buffer)
    }
}

/// Checks that a reader's text gave the same result as a slice of it, or the beginning of that if the reader failed.
pub(super) fn judge(seen: Option<Seen>, reader: &Shared<'_, '_>, wanted: impl Fn(&[u8]) -> Seen) {
    let (end, given) = {
        let reader = reader.0.borrow();
        (reader.end, reader.given.clone())
    };
    let Some(seen) = seen else {
        assert!(reader.0.borrow().panicked, "a panic of a reader that had not panicked: {}", shown(&given));
        return;
    };
    assert_in(&seen.texts, &reader.0.borrow().all);
    if end == End::Said {
        assert_eq!(seen, wanted(&given), "{}", shown(&given));
        return;
    }
    let (told, wanted) = (seen.before_errors(), wanted(&given).told);
    // An error made by the reader can claim any place for the next line.
    assert!(end == End::Forged || wanted.starts_with(told), "{told}\ninstead of\n{wanted}\nfrom {}", shown(&given));
    match (end, &seen.error) {
        (End::Open | End::Said, _) | (End::Forged, Some(_)) => {}
        (End::Failed(kind), Some(error)) if error.is_io() => {
            assert_eq!(error.io_error_kind(), Some(kind), "another error than the reader's: {}", shown(&given));
        }
        (End::Overclaimed, Some(error)) if error.is_io() => {}
        // An error in the text before the point at which the reader failed.
        (_, Some(error)) => assert!(error.offset() <= given.len() as u64, "{error}: {}", shown(&given)),
        (_, None) => panic!("{end:?}, and no error: {}", shown(&given)),
    }
}

/// Reads the text as events.
fn events(script: &Script<'_>, variant: u8) {
    let mut reader = Reader::new(script);
    let options = Options { variant, chunk_bytes: script.chunk_bytes() };
    if options.is_trusted() {
        let shared = Shared(RefCell::new(&mut reader));
        let source = options.apply(JsonSource::from_reader_trusted(&shared));
        let wanted = |text: &[u8]| options.told(&mut options.apply(JsonSource::from_slice_trusted(text)), text.len());
        run_events(source, &shared, options, script, wanted);
        return;
    }
    let shared = Shared(RefCell::new(&mut reader));
    let source = options.apply(JsonSource::from_reader(&shared));
    let wanted = |text: &[u8]| options.told(&mut options.apply(JsonSource::from_slice(text)), text.len());
    run_events(source, &shared, options, script, wanted);
}

fn run_events<'de, R: jird::de::Read<'de>>(
    mut source: JsonSource<R>,
    reader: &Shared<'_, '_>,
    options: Options,
    script: &Script<'_>,
    wanted: impl Fn(&[u8]) -> Seen,
) {
    let len = 2 * script.rest.len() + 64;
    judge(caught(|| options.told(&mut source, len)), reader, wanted);
    for _ in 0..ROUNDS {
        if let Some(seen) = caught(|| options.told(&mut source, len)) {
            assert_in(&seen.texts, &reader.0.borrow().all);
        }
    }
}

/// The options of a [`JsonSource`].
#[derive(Clone, Copy)]
pub(super) struct Options {
    pub(super) variant: u8,
    pub(super) chunk_bytes: usize,
}

impl Options {
    fn is_trusted(self) -> bool {
        self.variant & 16 != 0
    }

    fn lines(self) -> bool {
        self.variant & 1 != 0
    }

    pub(super) fn apply<'de, R: jird::de::Read<'de>>(self, source: JsonSource<R>) -> JsonSource<R> {
        let mut source = source.chunk_bytes(self.chunk_bytes);
        if self.lines() {
            source = source.lines();
        }
        if self.variant & 2 != 0 {
            source = source.check_first();
        }
        let pattern = ["", "/*", "/a", "/*/1"][usize::from(self.variant / 4 % 4)];
        source.records(pattern.parse().expect("a pattern"))
    }

    /// Reads all records. In lines mode, reads the valid lines and the first error.
    pub(super) fn told<'de, R: jird::de::Read<'de>>(self, source: &mut JsonSource<R>, len: usize) -> Seen {
        let mut told = Told::new(len);
        let mut first = None;
        for _ in 0..=len + 16 {
            match source.send_record(&mut told) {
                Ok(true) => {}
                Ok(false) => return told.seen(first),
                Err(Failure::Sink(never, _)) => match never {},
                Err(Failure::Source(error)) => {
                    let skipped = self.lines() && !error.is_io() && source.skip_line(&error).is_ok();
                    if !skipped {
                        return told.seen(first.or(Some(error)));
                    }
                    told.error(&error);
                    first.get_or_insert(error);
                }
            }
        }
        panic!("records without end")
    }
}
