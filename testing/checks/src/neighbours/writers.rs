//! Writers that lie, fail, panic or take single bytes, and are written to again afterwards.

use super::script::{Deed, Script, caught, own_panic};
use crate::shown;
use jird::event::{self, Failure, JsonSink, JsonSource, Source};
use jird::hooks::event::Parts;
use jird::{Error, Layout, Serializer};
use serde::Serialize;
use std::cell::RefCell;
use std::io::{self, ErrorKind, Write};

/// A writer that carries out the script's deeds, and can be inspected while the engine has it.
#[derive(Clone, Copy)]
struct Writer<'s> {
    script: &'s Script<'s>,
    state: &'s RefCell<State>,
}

#[derive(Default)]
struct State {
    calls: usize,
    /// The bytes that the writer took.
    taken: Vec<u8>,
    /// The first thing that it did wrong.
    wrong: Option<Wrong>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Failed(ErrorKind),
    /// It failed with an error of the engine's own type, which the writer made.
    Forged,
    Panicked,
    /// It did not take what it claimed.
    Lied,
}

impl State {
    fn take(&mut self, bytes: &[u8], len: usize) -> usize {
        let len = len.min(bytes.len());
        self.taken.extend_from_slice(&bytes[..len]);
        len
    }

    fn fail<T>(&mut self, kind: ErrorKind) -> io::Result<T> {
        self.wrong.get_or_insert(Wrong::Failed(kind));
        Err(kind.into())
    }

    fn claim(&mut self, len: usize) -> usize {
        self.wrong.get_or_insert(Wrong::Lied);
        len
    }

    fn panic(&mut self) -> ! {
        self.wrong.get_or_insert(Wrong::Panicked);
        own_panic()
    }

    fn misdo(&mut self, deed: Deed, bytes: &[u8]) -> io::Result<usize> {
        let (len, amount) = (bytes.len(), usize::from(deed.amount));
        match deed.what % 14 {
            0 => Ok(self.take(bytes, 1 + len / 256)),
            1 => Ok(self.take(bytes, 1 + amount + len / 256)),
            2 => Ok(self.claim(len + 1)),
            3 => Ok(self.claim(usize::MAX)),
            4 => Ok(self.claim(0_usize.wrapping_sub(1 + amount))),
            5 => {
                self.wrong.get_or_insert(Wrong::Failed(ErrorKind::WriteZero));
                Ok(0)
            }
            6 if self.calls.is_multiple_of(2) => Err(ErrorKind::Interrupted.into()),
            7 => self.fail(ErrorKind::WouldBlock),
            8 => self.fail(ErrorKind::Other),
            9 => self.panic(),
            10 => {
                self.take(bytes, amount);
                self.panic()
            }
            11 => {
                self.wrong.get_or_insert(Wrong::Forged);
                Err(Error::new(jird::ErrorKind::Colon, u64::MAX >> (deed.amount % 64)).into())
            }
            12 => {
                self.take(bytes, amount);
                Ok(self.claim(len - len / 2))
            }
            _ => self.fail(ErrorKind::BrokenPipe),
        }
    }

    /// The number of this call.
    fn call(&mut self) -> usize {
        self.calls += 1;
        assert!(self.calls < 300_000, "a writer is called without end");
        self.calls - 1
    }
}

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.state.borrow_mut();
        let call = state.call();
        match self.script.deed(call) {
            Some(deed) => state.misdo(deed, bytes),
            None => Ok(state.take(bytes, self.script.step().max(7))),
        }
    }

    /// As in the standard library. There, the panic for a writer that claims too much is the writer's own, so here it
    /// is too.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut left = bytes;
        while !left.is_empty() {
            match self.write(left) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(len) => left = left.get(len..).unwrap_or_else(|| own_panic()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut state = self.state.borrow_mut();
        let call = state.call();
        match self.script.deed(call).map(|deed| deed.what % 14) {
            Some(9) => state.panic(),
            Some(7..) => state.fail(ErrorKind::Other),
            _ => Ok(()),
        }
    }
}

/// The values to write: short ones, and ones longer than any buffer.
#[derive(Serialize)]
struct Value<'t> {
    text: &'t str,
    list: Vec<(&'t str, f64, Option<u64>)>,
    nested: Option<Box<Value<'t>>>,
}

impl<'t> Value<'t> {
    fn new(text: &'t str, long: bool) -> Self {
        let times = if long { 15_000 / (text.len() + 8) } else { 2 };
        let inner = Self { text, list: Vec::new(), nested: None };
        let number = f64::from_bits(text.len() as u64 ^ 0x3FF0_1234_5678_9ABC);
        Self { text, list: vec![(text, number, None); times], nested: Some(Box::new(inner)) }
    }
}

/// Writes values to a writer that behaves as its script says.
pub(super) fn writers(script: &Script<'_>) {
    const WAYS: u8 = 8;
    let variant = script.variant(WAYS);
    let text = String::from_utf8_lossy(script.rest);
    let value = Value::new(&text, variant % 8 == 1);
    let compact = jird::to_vec(&value).expect("it can be written");
    let pretty = jird::to_vec_pretty(&value).expect("it can be written");
    let state = RefCell::new(State::default());
    let writer = Writer { script, state: &state };
    match script.way(WAYS) {
        0 => rounds(&state, &compact, || jird::to_writer(writer, &value)),
        1 => rounds(&state, &pretty, || jird::to_writer_pretty(writer, &value)),
        2 => {
            let mut serializer = Serializer::new(writer);
            rounds(&state, &compact, || value.serialize(&mut serializer));
        }
        3 => {
            let mut serializer = Serializer::pretty(writer);
            rounds(&state, &pretty, || value.serialize(&mut serializer));
        }
        4 => parts(writer, &compact, variant & 2 != 0),
        _ => lines(writer, &compact, variant),
    }
}

/// Writes a few times. If the writer did nothing wrong, the last bytes it took are the text; otherwise the engine
/// reports it.
fn rounds(state: &RefCell<State>, wanted: &[u8], write: impl FnMut() -> Result<(), Error>) {
    rounds_until_broken(state, wanted, None, write);
}

/// The same, but once the writer has failed, the engine may also return an error that says `broken`, for output that
/// cannot continue.
fn rounds_until_broken(
    state: &RefCell<State>,
    wanted: &[u8],
    broken: Option<&str>,
    mut write: impl FnMut() -> Result<(), Error>,
) {
    let mut has_failed = false;
    for _ in 0..4 {
        state.borrow_mut().wrong = None;
        let written = caught(&mut write);
        let State { wrong, taken, .. } = &*state.borrow();
        let is_broken = |error: &Error| has_failed && broken.is_some_and(|broken| error.to_string().contains(broken));
        match (wrong, &written) {
            (_, Some(Err(error))) if is_broken(error) => {}
            (None, Some(Ok(()))) => assert!(taken.ends_with(wanted), "{} is not {}", shown(taken), shown(wanted)),
            (Some(Wrong::Failed(kind)), Some(Err(error))) => assert_eq!(error.io_error_kind(), Some(*kind)),
            (Some(Wrong::Forged), Some(Err(_))) | (Some(Wrong::Panicked), None) | (Some(Wrong::Lied), _) => {}
            (wrong, written) => panic!("the writer: {wrong:?}, and what was told: {written:?}"),
        }
        has_failed |= wrong.is_some();
    }
}

/// Writes through a sink of events.
fn lines(writer: Writer<'_>, record: &[u8], variant: u8) {
    let layout = [Layout::Minify, Layout::Indent(1), Layout::Canonical][usize::from(variant / 2 % 3)];
    let text = [record, b" ", record].concat();
    let mut plain = JsonSink::new(Vec::new()).layout(layout);
    copy(&text, &mut plain).expect("it can be written");
    let wanted = plain.into_inner();
    let mut sink = JsonSink::new(writer).layout(layout);
    if variant & 8 == 0 {
        rounds(writer.state, &wanted, || copy(&text, &mut sink));
    } else {
        // Whatever was written before, the array ends with its bracket, or fails because it has a part of a record.
        sink = sink.array();
        rounds_until_broken(writer.state, b"\n]\n", Some("the array is broken"), || copy(&text, &mut sink));
    }
}

fn copy<W: Write>(text: &[u8], sink: &mut JsonSink<W>) -> Result<(), Error> {
    event::copy(&mut JsonSource::from_slice(text), sink).map_err(Failure::either)
}

/// Writes through a sink in parts.
fn parts(writer: Writer<'_>, record: &[u8], array: bool) {
    let mut sink = JsonSink::new(writer);
    if array {
        sink = sink.array();
    }
    let wanted = if array { record.to_vec() } else { [record, b"\n"].concat() };
    rounds(writer.state, &wanted, || {
        let mut part = sink.part(1 << 20);
        JsonSource::from_slice(record).send(&mut part).map_err(Failure::either::<Error>)?;
        let mut full = sink.part(record.len() / 2);
        let sent = JsonSource::from_slice(record).send(&mut full).map_err(Failure::either::<Error>);
        let joined = sent.and_then(|()| sink.join(full));
        assert!(joined.is_err(), "a part is longer than it may be");
        sink.join(part)?;
        Parts::flush(&mut sink)
    });
}
