//! Types whose `Deserialize` breaks serde's rules. They ask for values before keys, for two at once, or for more after
//! the end or after an error; they stop early, do nothing, ask for one thing after another, swallow errors, or panic.
//! Every deserializer of the engine decodes them, and is used again afterwards.

use super::script::{Script, assert_text, caught, own_panic};
use crate::shown;
use jird::event::{self, JsonSource, Objects, Source};
use jird::hooks::event::Recording;
use jird::{
    Deserializer, Error, hooks,
    record::{Record, RecordBuffer},
};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer as Serde, EnumAccess, Error as _, IgnoredAny, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use std::cell::{Cell, RefCell};
use std::fmt;

thread_local! {
    /// The program for this thread's types. It is a thread-local because nothing can be passed to a type that is being
    /// decoded.
    static PROGRAM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// The next step.
    static AT: Cell<usize> = const { Cell::new(0) };
}

/// The most steps of one decoding. After them everything is ignored.
const STEPS_MAX: usize = 400;

fn start(program: &[u8]) {
    PROGRAM.with_borrow_mut(|known| {
        known.clear();
        known.extend_from_slice(program);
    });
    AT.set(0);
}

/// The next step; `None` if there are no more.
fn step() -> Option<u8> {
    let at = AT.replace(AT.get() + 1);
    PROGRAM.with_borrow(|program| {
        if program.is_empty() || at >= STEPS_MAX {
            return None;
        }
        // Starts over, with slightly different steps.
        Some(program[at % program.len()].wrapping_add((at / program.len()) as u8))
    })
}

/// The most types that wrap each other, because how deep a type recurses is not the engine's concern.
const WRAPPED_MAX: usize = 60;

/// A value that decodes itself as its thread's program says. It keeps the texts that it borrowed.
#[derive(Debug, Default)]
struct Unruly<'de>(Vec<&'de str>);

impl Unruly<'_> {
    fn check(&self) {
        self.0.iter().for_each(|text| assert_text(text));
    }
}

impl<'de> Deserialize<'de> for Unruly<'de> {
    fn deserialize<D: Serde<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ask(deserializer, 0)
    }
}

/// A value that borrows nothing.
#[derive(Debug)]
struct Owned;

impl<'de> Deserialize<'de> for Owned {
    fn deserialize<D: Serde<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ask(deserializer, 0).map(|value| {
            value.check();
            Self
        })
    }
}

/// A value wrapped in this many others.
struct Seed(usize);

impl<'de> DeserializeSeed<'de> for Seed {
    type Value = Unruly<'de>;

    fn deserialize<D: Serde<'de>>(self, deserializer: D) -> Result<Unruly<'de>, D::Error> {
        ask(deserializer, self.0)
    }
}

const FIELDS: [&str; 3] = ["a", "b", "value"];

fn ask<'de, D: Serde<'de>>(deserializer: D, wrapped: usize) -> Result<Unruly<'de>, D::Error> {
    let visit = Visit { wrapped, step: step().unwrap_or(0) };
    let Some(op) = step().filter(|_| wrapped < WRAPPED_MAX) else {
        return deserializer.deserialize_ignored_any(IgnoredAny).map(|_| Unruly::default());
    };
    match op % 48 {
        0 => deserializer.deserialize_bool(visit),
        1 => deserializer.deserialize_i8(visit),
        2 => deserializer.deserialize_i64(visit),
        3 => deserializer.deserialize_i128(visit),
        4 => deserializer.deserialize_u16(visit),
        5 => deserializer.deserialize_u64(visit),
        6 => deserializer.deserialize_u128(visit),
        7 => deserializer.deserialize_f32(visit),
        8 => deserializer.deserialize_f64(visit),
        9 => deserializer.deserialize_char(visit),
        10 => deserializer.deserialize_str(visit),
        11 => deserializer.deserialize_string(visit),
        12 => deserializer.deserialize_bytes(visit),
        13 => deserializer.deserialize_byte_buf(visit),
        14 | 15 => deserializer.deserialize_option(visit),
        16 => deserializer.deserialize_unit(visit),
        17 => deserializer.deserialize_unit_struct(hooks::RAW_TEXT, visit),
        18 => deserializer.deserialize_newtype_struct(hooks::EXACT_NUMBERS, visit),
        19 => deserializer.deserialize_newtype_struct(hooks::RAW_TEXT, visit),
        20 => deserializer.deserialize_newtype_struct("a", visit),
        21 => deserializer.deserialize_seq(visit),
        22 => deserializer.deserialize_tuple(usize::MAX, visit),
        23 => deserializer.deserialize_tuple_struct("$serde_json::private::Number", 0, visit),
        24 => deserializer.deserialize_map(visit),
        25 | 26 => deserializer.deserialize_struct("a", &FIELDS, visit),
        27 => deserializer.deserialize_struct(hooks::RAW_TEXT, &[], visit),
        28 | 29 => deserializer.deserialize_enum("a", &FIELDS, visit),
        30 => deserializer.deserialize_identifier(visit),
        31 => deserializer.deserialize_ignored_any(visit),
        32 => Ok(Unruly::default()),
        33 => Err(D::Error::custom("it says so")),
        34 if visit.step.is_multiple_of(4) => own_panic(),
        // Most steps ask for whatever is there.
        _ => deserializer.deserialize_any(visit),
    }
}

/// What a value does with the parts that it is shown.
struct Visit {
    wrapped: usize,
    step: u8,
}

impl Visit {
    fn seed(&self) -> Seed {
        Seed(self.wrapped + 1)
    }

    fn scalar<'de, E: serde::de::Error>(&self, lent: Option<&'de str>) -> Result<Unruly<'de>, E> {
        match self.step % 32 {
            30 => Err(E::custom("it says so")),
            31 => own_panic(),
            _ => Ok(Unruly(lent.into_iter().collect())),
        }
    }
}

/// Passes on an error from inside, or replaces it with nothing.
fn heed<T, E>(done: Result<T, E>) -> Result<Option<T>, E> {
    match done {
        Ok(value) => Ok(Some(value)),
        Err(error) if step().is_none_or(|step| step % 4 > 0) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Scalars without a text.
macro_rules! scalars {
    ($($method:ident: $type:ty),*) => {
        $(fn $method<E: serde::de::Error>(self, _: $type) -> Result<Unruly<'de>, E> {
            self.scalar(None)
        })*
    };
}

impl<'de> Visitor<'de> for Visit {
    type Value = Unruly<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step % 16 {
            0 => Err(fmt::Error),
            _ => f.write_str("what it is"),
        }
    }

    scalars! {
        visit_bool: bool, visit_i64: i64, visit_i128: i128, visit_u64: u64, visit_u128: u128, visit_byte_buf: Vec<u8>
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Unruly<'de>, E> {
        assert!(value.is_finite(), "{value} as a number");
        self.scalar(None)
    }

    fn visit_f32<E: serde::de::Error>(self, value: f32) -> Result<Unruly<'de>, E> {
        assert!(value.is_finite(), "{value} as a number");
        self.scalar(None)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Unruly<'de>, E> {
        assert_text(text);
        self.scalar(None)
    }

    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<Unruly<'de>, E> {
        assert_text(&text);
        self.scalar(None)
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<Unruly<'de>, E> {
        assert_text(text);
        self.scalar(Some(text))
    }

    fn visit_bytes<E: serde::de::Error>(self, _: &[u8]) -> Result<Unruly<'de>, E> {
        self.scalar(None)
    }

    fn visit_borrowed_bytes<E: serde::de::Error>(self, bytes: &'de [u8]) -> Result<Unruly<'de>, E> {
        self.scalar(std::str::from_utf8(bytes).ok())
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Unruly<'de>, E> {
        self.scalar(None)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Unruly<'de>, E> {
        self.scalar(None)
    }

    fn visit_some<D: Serde<'de>>(self, deserializer: D) -> Result<Unruly<'de>, D::Error> {
        ask(deserializer, self.wrapped + 1)
    }

    fn visit_newtype_struct<D: Serde<'de>>(self, deserializer: D) -> Result<Unruly<'de>, D::Error> {
        ask(deserializer, self.wrapped + 1)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Unruly<'de>, A::Error> {
        let mut all = Unruly::default();
        let mut behind = 3;
        while let Some(op) = step() {
            match op % 16 {
                0 => break,
                1 => {
                    let _ = access.size_hint();
                }
                2 => all
                    .0
                    .extend(heed(access.next_element_seed(self.seed()))?.flatten().iter().flat_map(|value| &value.0)),
                3 if op & 64 != 0 => return Err(A::Error::custom("it says so")),
                _ => match heed(access.next_element_seed(self.seed()))? {
                    Some(Some(value)) => all.0.extend(value.0),
                    // Asks again after the end, a few times.
                    _ if behind > 0 => behind -= 1,
                    _ => break,
                },
            }
        }
        Ok(all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Unruly<'de>, A::Error> {
        let mut all = Unruly::default();
        let mut behind = 3;
        while let Some(op) = step() {
            match op % 24 {
                0 => break,
                1 => {
                    let _ = access.size_hint();
                }
                2 => all.0.extend(heed(access.next_key_seed(self.seed()))?.flatten().iter().flat_map(|value| &value.0)),
                3 => all.0.extend(heed(access.next_value_seed(self.seed()))?.iter().flat_map(|value| &value.0)),
                4 if op & 64 != 0 => return Err(A::Error::custom("it says so")),
                5 => {
                    heed(access.next_key::<u8>())?;
                }
                6 => {
                    heed(access.next_key::<f32>())?;
                }
                7 => {
                    heed(access.next_key::<Option<Box<jird::RawValue>>>())?;
                }
                8 => {
                    heed(access.next_key::<IgnoredAny>())?;
                }
                _ => match heed(access.next_entry_seed(self.seed(), self.seed()))? {
                    Some(Some((key, value))) => all.0.extend(key.0.into_iter().chain(value.0)),
                    _ if behind > 0 => behind -= 1,
                    _ => break,
                },
            }
        }
        Ok(all)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Unruly<'de>, A::Error> {
        if self.step % 16 == 1 {
            return Ok(Unruly::default());
        }
        let (mut name, content) = access.variant_seed(self.seed())?;
        let value = match step().unwrap_or(0) % 8 {
            0 => return Ok(name),
            1 => content.unit_variant().map(|()| Unruly::default()),
            2 => content.tuple_variant(usize::MAX, Visit { wrapped: self.wrapped + 1, step: self.step }),
            3 => content.struct_variant(&FIELDS, Visit { wrapped: self.wrapped + 1, step: self.step }),
            _ => content.newtype_variant_seed(self.seed()),
        };
        if let Some(value) = heed(value)? {
            name.0.extend(value.0);
        }
        Ok(name)
    }
}

/// Decodes a text into types that behave as a program says. The first byte gives the program's length, then come the
/// program and the text.
pub(super) fn deserialize(script: &Script<'_>) {
    const WAYS: u8 = 8;
    let Some((&len, rest)) = script.rest.split_first() else { return };
    let (program, text) = rest.split_at(usize::from(len % 64).min(rest.len()));
    start(program);
    match script.way(WAYS) {
        0 | 1 => typed(&mut Deserializer::from_slice(text).with_chunk_bytes(script.chunk_bytes())),
        2 => typed(&mut Deserializer::from_reader(text).with_chunk_bytes(script.chunk_bytes())),
        3 => streamed(text, script),
        4 => parsed(text),
        5 => recorded(text),
        6 => objects(text),
        _ => untrusted(text),
    }
}

/// Decodes a few times, whatever happens, and then once into a type that keeps to the rules.
fn typed<'de, R: jird::de::Read<'de>>(de: &mut Deserializer<R>) {
    let mut kept = Vec::new();
    for _ in 0..4 {
        kept.extend(caught(|| Unruly::deserialize(&mut *de)).and_then(Result::ok));
    }
    let _ = IgnoredAny::deserialize(&mut *de).is_ok();
    let _ = de.end().is_ok();
    kept.iter().for_each(Unruly::check);
}

fn streamed(text: &[u8], script: &Script<'_>) {
    let new = || Deserializer::from_slice(text).with_chunk_bytes(script.chunk_bytes());
    // Bounded, because a type that consumes nothing of the text could be decoded forever.
    let all = |values: &mut dyn Iterator<Item = Result<Unruly<'_>, Error>>| {
        for _ in 0..8 {
            if let Some(Some(Ok(value))) = caught(|| values.next()) {
                value.check();
            }
        }
    };
    let mut stream = new().into_iter();
    all(&mut stream);
    assert!(stream.byte_offset() <= text.len(), "{} of {}", stream.byte_offset(), shown(text));
    let pattern = if script.size & 8 == 0 { "" } else { "/*" };
    all(&mut new().records(pattern.parse().expect("a pattern")));
    all(&mut new().records(pattern.parse().expect("a pattern")).lines());
}

fn parsed(text: &[u8]) {
    let Ok(document) = jird::parse(text) else { return };
    for _ in 0..3 {
        if let Some(Ok(value)) = caught(|| document.decode::<Unruly<'_>>()) {
            value.check();
        }
    }
}

fn recorded(text: &[u8]) {
    let mut recording = Recording::new();
    let mut source = JsonSource::from_slice(text);
    while source.send_record(&mut recording).is_ok_and(|sent| sent) {
        for _ in 0..3 {
            if let Some(Ok(value)) = caught(|| recording.decode::<Unruly<'_>>()) {
                value.check();
            }
        }
    }
}

fn objects(text: &[u8]) {
    let mut seen = 0_usize;
    let mut sink = Objects::new(|_, _: Owned| {
        seen += 1;
        if seen.is_multiple_of(3) { own_panic() } else { Ok::<(), Error>(()) }
    });
    let mut source = JsonSource::from_slice(text);
    for _ in 0..6 {
        let _ = caught(|| event::copy(&mut source, &mut sink).is_ok());
    }
}

/// Decodes a text without checks.
fn untrusted(text: &[u8]) {
    let mut buffer = RecordBuffer::new();
    let record = Record::scan_trusted(text, &mut buffer);
    for _ in 0..3 {
        if let Some(Ok(value)) = caught(|| record.decode::<Unruly<'_>>()) {
            value.check();
        }
    }
    let mut source = JsonSource::from_slice_trusted(text);
    let mut sink = Objects::new(|_, _: Owned| Ok::<(), Error>(()));
    for _ in 0..3 {
        let _ = caught(|| event::copy(&mut source, &mut sink).is_ok());
    }
}
