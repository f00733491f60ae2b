//! Types whose `Serialize` breaks serde's rules: values without keys, keys without values, wrong lengths, swallowed
//! errors, texts under the engine's own private names, things that cannot be displayed. Also serializers that are used
//! again after all that.

use super::script::{Program, Script, assert_text, caught, own_panic};
use super::types::Profile;
use crate::second::SerdeTree;
use crate::shown;
use jird::event::filter::{Disorder, Flatten, Project, Validate};
use jird::event::{self, Failure, JsonSink, Objects, Pattern, Values};
use jird::hooks::event::Recording;
use jird::{Error, Serializer};
use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer as Serde,
};
use std::cell::{Cell, RefCell};
use std::fmt::{self, Display};

/// The names under which this engine, and `serde_json`, pass text that is already JSON.
const NAMES: [&str; 6] = [
    jird::hooks::EXACT_NUMBERS,
    jird::hooks::RAW_TEXT,
    jird::hooks::RAW_TEXT,
    "$serde_json::private::Number",
    "a",
    "é\"\\",
];

/// A value that serializes as its program says, from the start of it at each call.
struct Unruly<'i> {
    program: Program<'i>,
    running: RefCell<Program<'i>>,
    depth: Cell<usize>,
    /// Whether the value broke a rule of serde's.
    broke: Cell<bool>,
    /// Whether the value reported an error of its own.
    failed: Cell<bool>,
}

/// Values nested deeper are null, because how deep a type recurses is not the engine's concern.
const DEPTH_MAX: usize = 100;

impl<'i> Unruly<'i> {
    fn new(bytes: &'i [u8]) -> Self {
        let program = Program::new(bytes);
        let running = RefCell::new(program.clone());
        Self { program, running, depth: Cell::new(0), broke: Cell::new(false), failed: Cell::new(false) }
    }

    /// Returns to the beginning of the program.
    fn restart(&self) {
        self.running.replace(self.program.clone());
        self.depth.set(0);
        self.broke.set(false);
        self.failed.set(false);
    }

    fn byte(&self) -> u8 {
        self.running.borrow_mut().byte()
    }

    fn text(&self, len_max: u8) -> String {
        self.running.borrow_mut().text(len_max)
    }

    fn word(&self) -> u64 {
        self.running.borrow_mut().word()
    }

    fn name(&self) -> &'static str {
        let name = NAMES[usize::from(self.byte() % 6)];
        self.forges(name);
        name
    }

    /// The actual number of items, and the number that is claimed.
    fn len(&self) -> (usize, usize) {
        let byte = self.byte();
        let len = usize::from(byte % 8);
        if byte < 0xC0 {
            return (len, len);
        }
        self.broke();
        (len, usize::try_from(self.word()).unwrap_or(0))
    }

    fn broke(&self) {
        self.broke.set(true);
    }

    /// Passes on an error from inside, or swallows it.
    fn heed<T, E>(&self, done: Result<T, E>) -> Result<(), E> {
        match done {
            Ok(_) => Ok(()),
            Err(error) if !self.byte().is_multiple_of(4) => Err(error),
            Err(_) => {
                self.broke();
                Ok(())
            }
        }
    }
}

impl Serialize for Unruly<'_> {
    fn serialize<S: Serde>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.depth.get() >= DEPTH_MAX || self.running.borrow().is_over() {
            return serializer.serialize_unit();
        }
        self.depth.set(self.depth.get() + 1);
        let done = self.value(serializer);
        self.depth.set(self.depth.get() - 1);
        done
    }
}

impl Unruly<'_> {
    fn value<S: Serde>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let op = self.byte();
        match op % 32 {
            0 => serializer.serialize_unit(),
            1 => serializer.serialize_bool(op & 32 != 0),
            2 => serializer.serialize_u64(self.word()),
            3 => serializer.serialize_i64(self.word().cast_signed()),
            4 => serializer.serialize_f64(f64::from_bits(self.word())),
            5 => serializer.serialize_f32(f32::from_bits(self.word() as u32)),
            6 => serializer.serialize_i128(i128::from(self.word().cast_signed()) << (op / 32 * 8)),
            7 => serializer.serialize_u128(u128::from(self.word()) << (op / 32 * 8)),
            8 => serializer.serialize_char(char::from_u32(self.word() as u32 % 0x11_0000).unwrap_or('"')),
            9 | 10 => serializer.serialize_str(&self.text(70)),
            11 => serializer.serialize_bytes(self.text(10).as_bytes()),
            12 => serializer.serialize_none(),
            13 => serializer.serialize_some(self),
            14 => serializer.serialize_unit_struct(self.name()),
            15 => serializer.serialize_unit_variant("e", 0, self.name()),
            16 => {
                let name = self.name();
                self.forges(name);
                serializer.serialize_newtype_struct(name, &self.text(20))
            }
            17 => {
                let name = self.name();
                self.forges(name);
                serializer.serialize_newtype_struct(name, self)
            }
            18 => serializer.serialize_newtype_variant("e", 0, self.name(), self),
            19 => self.seq(serializer),
            20 => {
                let (len, said) = self.len();
                let mut tuple = serializer.serialize_tuple(said)?;
                (0..len).try_for_each(|_| self.heed(tuple.serialize_element(self)))?;
                tuple.end()
            }
            21 => {
                let (len, said) = self.len();
                let mut tuple = serializer.serialize_tuple_struct(self.name(), said)?;
                (0..len).try_for_each(|_| self.heed(tuple.serialize_field(self)))?;
                tuple.end()
            }
            22 => {
                let (len, said) = self.len();
                let mut tuple = serializer.serialize_tuple_variant("e", 0, self.name(), said)?;
                (0..len).try_for_each(|_| self.heed(tuple.serialize_field(self)))?;
                tuple.end()
            }
            23 | 24 => self.map(serializer),
            25 => {
                let (len, said) = self.len();
                let mut fields = serializer.serialize_struct(self.name(), said)?;
                (0..len).try_for_each(|_| self.heed(fields.serialize_field(self.name(), self)))?;
                fields.end()
            }
            26 => {
                let (len, said) = self.len();
                let mut fields = serializer.serialize_struct_variant("e", 0, self.name(), said)?;
                (0..len).try_for_each(|_| self.heed(fields.serialize_field(self.name(), self)))?;
                fields.end()
            }
            27 | 28 => serializer.collect_str(&Shown(self)),
            29 => {
                self.failed.set(true);
                Err(S::Error::custom(Shown(self)))
            }
            30 if op & 32 != 0 => own_panic(),
            30 => {
                let once = serializer.is_human_readable();
                serializer.serialize_bool(once == serializer_says_so(once))
            }
            _ => serializer.collect_seq(self.text(9).chars()),
        }
    }

    /// Text under a private name can be anything.
    fn forges(&self, name: &str) {
        if name.starts_with('$') {
            self.broke();
        }
    }

    fn seq<S: Serde>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (len, said) = self.len();
        let mut seq = serializer.serialize_seq(if said % 3 == 2 { None } else { Some(said) })?;
        for _ in 0..len {
            self.heed(seq.serialize_element(self))?;
        }
        seq.end()
    }

    /// Serializes members in order, or parts of members in any order.
    fn map<S: Serde>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (len, said) = self.len();
        let mut map = serializer.serialize_map(if said % 3 == 2 { None } else { Some(said) })?;
        for _ in 0..len {
            match self.byte() % 8 {
                0 => {
                    self.broke();
                    self.heed(map.serialize_key(&self.text(9)))?;
                }
                1 => {
                    self.broke();
                    self.heed(map.serialize_value(self))?;
                }
                // Serializes keys of any kind.
                2 => self.heed(map.serialize_entry(self, self))?,
                3 => self.heed(map.serialize_entry(&self.word(), self))?,
                _ => self.heed(map.serialize_entry(&self.text(9), self))?,
            }
        }
        map.end()
    }
}

/// A serializer gives the same answer each time, as serde requires.
fn serializer_says_so(once: bool) -> bool {
    once
}

/// Displays a few texts, or fails, or panics.
struct Shown<'u, 'i>(&'u Unruly<'i>);

impl Display for Shown<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unruly = self.0;
        for _ in 0..unruly.byte() % 4 {
            f.write_str(&unruly.text(70))?;
        }
        match unruly.byte() % 16 {
            0 => {
                unruly.broke();
                unruly.failed.set(true);
                Err(fmt::Error)
            }
            1 => own_panic(),
            // The error is swallowed, and does not reach the engine.
            2 => {
                unruly.broke();
                let _ = f.write_str("é");
                let _ = write!(f, "{Silent}");
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Always fails.
struct Silent;

impl Display for Silent {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Err(fmt::Error)
    }
}

/// Serializes a value that behaves as its program says, in every way.
pub(super) fn serialize(script: &Script<'_>) {
    const WAYS: u8 = 8;
    let unruly = Unruly::new(script.rest);
    match script.way(WAYS) {
        0..=2 => texts(&unruly),
        3 => again(&unruly, script),
        4 => pretty_again(&unruly),
        5 => canonical(&unruly),
        _ => events(&unruly, script.variant(WAYS)),
    }
}

/// Serializes from the start of the program; `None` if the value panicked.
fn from_start<T>(unruly: &Unruly<'_>, work: impl FnOnce() -> T) -> Option<T> {
    unruly.restart();
    caught(work)
}

/// Serializes to text, which must equal `serde_json`'s if no rule was broken.
fn texts(unruly: &Unruly<'_>) {
    let text = from_start(unruly, || jird::to_string(unruly));
    let broke = unruly.broke.get();
    if let Some(Ok(text)) = &text {
        assert_text(text);
    }
    let bytes = from_start(unruly, || jird::to_vec(unruly));
    assert_eq!(
        bytes.map(Result::ok),
        text.as_ref().map(|text| text.as_ref().ok().map(|text| text.clone().into_bytes()))
    );
    let mut appended = b"before".to_vec();
    let done = from_start(unruly, || jird::ser::to_vec_in(unruly, &mut appended));
    match (&text, done) {
        (Some(Ok(text)), Some(Ok(()))) => assert_eq!(appended, [b"before", text.as_bytes()].concat()),
        (Some(Err(_)), Some(Err(_))) => assert_eq!(appended, b"before", "something is left of a failure"),
        (None, None) => {}
        (text, done) => panic!("{text:?} and {done:?}"),
    }
    let pretty = from_start(unruly, || jird::to_string_pretty(unruly));
    if let Some(Ok(pretty)) = &pretty {
        assert_text(pretty);
    }
    if !broke {
        let wanted = from_start(unruly, || serde_json::to_string(unruly));
        same(wanted.as_ref(), text.as_ref());
        let wanted = from_start(unruly, || serde_json::to_string_pretty(unruly));
        same(wanted.as_ref(), pretty.as_ref());
    }
}

fn same(wanted: Option<&Result<String, serde_json::Error>>, found: Option<&Result<String, Error>>) {
    match (wanted, found) {
        (Some(Ok(wanted)), Some(Ok(found))) => assert_eq!(wanted, found),
        (Some(Err(_)), Some(Err(_))) | (None, None) => {}
        _ => panic!("{wanted:?} of serde_json, {found:?} of jird"),
    }
}

/// A value that keeps to the rules.
const GOOD: (u8, [&str; 2], Option<bool>) = (7, ["a", "\n"], None);

/// Uses one serializer for values that fail and for values that do not.
fn again(unruly: &Unruly<'_>, script: &Script<'_>) {
    let mut serializer = Serializer::new(Vec::new());
    for _ in 0..3 {
        unruly.restart();
        let _ = caught(|| unruly.serialize(&mut serializer).is_ok());
        // Leaves a container open.
        let open = |serializer| Serde::serialize_seq(serializer, None);
        let _ = caught(|| {
            open(&mut serializer).and_then(|mut seq| SerializeSeq::serialize_element(&mut seq, unruly)).is_ok()
        });
        let _ = caught(|| (&mut serializer).collect_str(&Shown(unruly)).is_ok());
        GOOD.serialize(&mut serializer).expect("it can be written");
    }
    let text = serializer.into_inner();
    assert!(text.ends_with(br#"[7,["a","\n"],null]"#), "{}: {}", shown(&text), shown(script.rest));
    assert!(std::str::from_utf8(&text).is_ok(), "{}", shown(&text));
}

/// The same with white space; the indentation must not depend on earlier values.
fn pretty_again(unruly: &Unruly<'_>) {
    let wanted = jird::to_string_pretty(&GOOD).expect("it can be written");
    let mut serializer = Serializer::pretty(Vec::new());
    for _ in 0..2 {
        unruly.restart();
        let _ = caught(|| unruly.serialize(&mut serializer).is_ok());
        GOOD.serialize(&mut serializer).expect("it can be written");
        let _ = (&mut serializer).serialize_map(None).is_ok();
        GOOD.serialize(&mut serializer).expect("it can be written");
    }
    let text = serializer.into_inner();
    let begins = text.len() - wanted.len();
    assert_eq!(String::from_utf8_lossy(&text[begins..]), wanted, "laid out anew after an error");
}

/// Checks the canonical form: it is JSON, or an error.
fn canonical(unruly: &Unruly<'_>) {
    if let Some(Ok(text)) = from_start(unruly, || jird::ser::to_string_canonical(unruly)) {
        assert_text(&text);
        assert!(jird::validate(text.as_bytes()).is_ok(), "{text:?} is no JSON");
    }
    if let Some(Ok(text)) = from_start(unruly, || jird::ser::to_vec_canonical(unruly)) {
        assert!(jird::validate(&text).is_ok(), "{} is no JSON", shown(&text));
    }
}

/// Serializes to events, for sinks that rely on their order and for one that checks it.
fn events(unruly: &Unruly<'_>, variant: u8) {
    let out = || JsonSink::new(Vec::new());
    let sent = |told: Option<Result<(), Failure<Error, Disorder<Error>>>>| {
        if let Some(Err(Failure::Sink(Disorder::Source(words), _))) = told {
            assert!(unruly.broke.get(), "{words}, of a value that breaks no rule");
        }
    };
    let source = || Values::new([unruly; 3]);
    match variant % 8 {
        0 | 1 => {
            let mut sink = Validate::new(out());
            let told = from_start(unruly, || event::copy(&mut source(), &mut sink));
            sent(told);
            let _ = from_start(unruly, || event::copy(&mut source(), &mut sink).is_ok());
        }
        2 => {
            let mut sink = Validate::new(Project::new(out(), [Pattern::dotted("a")]));
            sent(from_start(unruly, || event::copy(&mut source(), &mut sink)));
        }
        3 => {
            let mut recording = Recording::new();
            let _ = from_start(unruly, || event::copy(&mut source(), &mut recording).is_ok());
            let tree = recording.decode::<SerdeTree>();
            assert!(tree.is_err() || recording.is_complete());
        }
        4 => {
            let mut sink = Flatten::new(out());
            let _ = from_start(unruly, || event::copy(&mut source(), &mut sink).is_ok());
            assert!(std::str::from_utf8(sink.into_inner().so_far()).is_ok());
        }
        5 => {
            let mut sink = Objects::new(|_, _: Profile| Ok::<(), Error>(()));
            let _ = from_start(unruly, || event::copy(&mut source(), &mut sink).is_ok());
        }
        6 => {
            // One source, used again after each failure.
            let (mut source, mut sink) = (source(), out());
            for _ in 0..4 {
                let _ = from_start(unruly, || event::copy(&mut source, &mut sink).is_ok());
            }
            assert!(std::str::from_utf8(sink.so_far()).is_ok());
        }
        _ => {
            let mut sink = out();
            let _ = from_start(unruly, || event::send_value(unruly, &mut sink).is_ok());
            assert!(std::str::from_utf8(sink.so_far()).is_ok());
        }
    }
}
