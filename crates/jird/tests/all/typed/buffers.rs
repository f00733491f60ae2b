//! Numbers that serde keeps in a buffer of its own have the digits of their own text: not those of another record,
//! another text or another thread, whatever else decodes there, panics or is forgotten.

use jird::{Deserializer, NumberBuf, RawValue};
use serde::Deserialize;
use serde::de::{DeserializeOwned, DeserializeSeed};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A type with one number in a buffer, or several.
trait Shape: DeserializeOwned + Debug + Send + 'static {
    /// A JSON text with `digits` where the number is, without line ends.
    fn text(digits: &str) -> String;
    fn number(&self) -> &NumberBuf;
}

/// Defines shapes: a type, its text with `#` for the number, and the number in it.
macro_rules! shapes {
    ($($(#[$attribute:meta])* $kind:ident $name:ident $body:tt: $text:literal, |$it:ident| $number:expr;)+) => {
        $(
            #[derive(Debug, Deserialize)]
            #[allow(dead_code, reason = "only read")]
            $(#[$attribute])*
            $kind $name $body

            impl Shape for $name {
                fn text(digits: &str) -> String {
                    $text.replace('#', digits)
                }
                fn number(&self) -> &NumberBuf {
                    let $it = self;
                    $number
                }
            }
        )+

        /// Runs a generic test for all shapes.
        macro_rules! for_all_shapes {
            ($test:ident) => {
                $($test::<$name>();)+
            };
        }
    };
}

#[derive(Debug, Deserialize)]
struct Number {
    n: NumberBuf,
}

shapes! {
    struct Flat { id: u8, #[serde(flatten)] rest: Number }: r#"{"n": #, "id": 1}"#, |it| &it.rest.n;
    struct FlatMap { id: u8, #[serde(flatten)] rest: BTreeMap<String, NumberBuf> }:
        r#"{"id": 1, "n": #, "m": 7, "z": 0.25}"#, |it| &it.rest["n"];
    struct FlatOption { id: u8, #[serde(flatten)] rest: Option<Number> }:
        r#"{"id": 1, "n": #}"#, |it| &it.rest.as_ref().expect("a number").n;
    /// An object within, whose buffer is another one, stands between the members of the buffer outside.
    struct FlatAround { inner: Flat, last: Untagged, #[serde(flatten)] rest: Number }:
        r#"{"n": #, "inner": {"n": #1, "id": 2}, "last": {"n": #2}}"#, |it| &it.rest.n;
    struct FlatWithin { #[serde(flatten)] outer: Flat }: r#"{"n": #, "id": 2}"#, |it| &it.outer.rest.n;
    struct FlatDeep { #[serde(flatten)] rest: BTreeMap<String, Vec<Untagged>> }:
        r#"{"a": [{"n": 0.125}], "b": [{"n": #}]}"#, |it| it.rest["b"][0].number();
    #[serde(untagged)]
    enum Untagged { Flag { flag: bool }, Text(String), Number { n: NumberBuf } }:
        r#"{"n": #, "x": [1.25, null]}"#, |it| match it { Self::Number { n } => n, _ => panic!("{it:?}") };
    #[serde(untagged)]
    enum UntaggedList { Flag(bool), Numbers(Vec<NumberBuf>) }:
        "[0.5, #]", |it| match it { Self::Numbers(list) => &list[1], Self::Flag(_) => panic!("{it:?}") };
    #[serde(tag = "t")]
    enum Internal { A { n: NumberBuf }, B { #[serde(flatten)] rest: Number } }:
        r#"{"n": #, "t": "A"}"#, |it| match it { Self::A { n } => n, Self::B { rest } => &rest.n };
    #[serde(tag = "t")]
    enum InternalFlat { A { n: NumberBuf }, B { #[serde(flatten)] rest: Number } }:
        r#"{"t": "B", "n": #}"#, |it| match it { Self::A { n } => n, Self::B { rest } => &rest.n };
    #[serde(tag = "t", content = "c")]
    enum Adjacent { A { n: NumberBuf }, B(NumberBuf) }:
        r#"{"c": {"n": #}, "t": "A"}"#, |it| match it { Self::A { n } | Self::B(n) => n };
    #[serde(tag = "t", content = "c")]
    enum AdjacentSecond { A { n: NumberBuf }, B(NumberBuf) }:
        r#"{"t": "B", "c": #}"#, |it| match it { Self::A { n } | Self::B(n) => n };
    struct Listed { list: Vec<Untagged>, after: Internal }:
        r#"{"list": [{"n": #0}, {"n": #}], "after": {"t": "A", "n": #00}}"#, |it| it.list[1].number();
    struct Within { inner: Vec<Pulls> }: r#"{"inner": [{"n": #, "t": "{\"n\": #5, \"id\": 2}"}]}"#, |it| &it.inner[0].rest.n;
}

/// Decodes another text, in several ways, while it is decoded from a buffer itself.
#[derive(Debug, Deserialize)]
struct Pulls {
    #[allow(dead_code, reason = "only read")]
    t: Inner,
    #[serde(flatten)]
    rest: Number,
}

#[derive(Debug)]
struct Inner;

impl<'de> Deserialize<'de> for Inner {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wanted = text[6..].split(',').next().expect("a number").to_owned();
        let whole: Flat = jird::from_str(&text).expect("JSON");
        assert_eq!(whole.rest.n.to_string(), wanted);
        let document = jird::parse(text.as_bytes()).expect("JSON");
        assert_eq!(document.decode::<Flat>().expect("JSON").rest.n.to_string(), wanted);
        Ok(Self)
    }
}

/// Texts of one double; no two of them have the same digits.
fn digits(index: usize) -> String {
    format!("1.5{}", "0".repeat(index))
}

fn assert_number<S: Shape>(shape: &S, index: usize) {
    assert_eq!(shape.number().to_string(), digits(index), "{shape:?}");
}

/// Runs a generic test for one shape of each kind of buffer. All shapes in all ways take minutes to compile.
macro_rules! for_some_shapes {
    ($test:ident) => {
        $test::<Flat>();
        $test::<Untagged>();
        $test::<Internal>();
    };
}

/// Twenty texts, with other digits each.
fn texts<S: Shape>() -> Vec<String> {
    (0..20).map(|index| S::text(&digits(index))).collect()
}

fn check<S: Shape>(shapes: Vec<S>) {
    assert_eq!(shapes.len(), 20);
    shapes.into_iter().enumerate().for_each(|(index, shape)| assert_number(&shape, index));
}

fn each_record_has_its_own<S: Shape>() {
    let texts = texts::<S>();
    check::<S>(jird::from_str(&format!("[{}]", texts.join(", "))).expect("JSON"));
    let lines = texts.join("\n");
    check::<S>(Deserializer::from_str(&lines).into_iter().map(|shape| shape.expect("JSON")).collect());
}

#[test]
fn each_record_has_its_own_digits() {
    for_all_shapes!(each_record_has_its_own);
}

fn in_all_ways<S: Shape>() {
    let texts = texts::<S>();
    let check = check::<S>;
    let list = format!("[{}]", texts.join(", "));
    check(jird::from_reader(list.as_bytes()).expect("JSON"));
    check(jird::parse(list.as_bytes()).expect("JSON").decode().expect("JSON"));
    let raw: &RawValue = jird::from_str(&list).expect("JSON");
    check(Vec::deserialize(raw).expect("JSON"));
    let raws: Vec<&RawValue> = jird::from_str(&list).expect("JSON");
    check(raws.into_iter().map(|raw| S::deserialize(raw).expect("JSON")).collect());
    let map = texts.iter().enumerate().map(|(index, text)| format!("\"{index:02}\": {text}")).collect::<Vec<_>>();
    let map: BTreeMap<String, S> = jird::from_str(&format!("{{{}}}", map.join(", "))).expect("JSON");
    check(map.into_values().collect());
    let lines = texts.join("\n");
    check(Deserializer::from_reader(lines.as_bytes()).into_iter().map(|shape| shape.expect("JSON")).collect());
    let records = Deserializer::from_str(&list).records::<S>("/*".parse().expect("a pattern"));
    check(records.map(|shape| shape.expect("JSON")).collect());
    let mut one_by_one = Deserializer::from_str(&lines);
    check((0..20).map(|_| S::deserialize(&mut one_by_one).expect("JSON")).collect());
}

#[test]
fn each_record_has_its_own_digits_in_all_ways() {
    for_some_shapes!(in_all_ways);
}

/// Decodes two texts in turn, by `next`, which decodes the next value of one of them.
fn in_turn<S: Shape>(mut next: impl FnMut(usize) -> S) {
    for round in 0..10 {
        assert_number(&next(0), 2 * round);
        assert_number(&next(1), 2 * round + 1);
    }
}

fn interleaved<S: Shape>() {
    let text = |odd: usize| (0..10).map(|round| S::text(&digits(2 * round + odd))).collect::<Vec<_>>().join(" ");
    let texts = [text(0), text(1)];
    let mut both = texts.each_ref().map(|text| Deserializer::from_str(text));
    in_turn(|at| S::deserialize(&mut both[at]).expect("JSON"));
    let mut both = texts.each_ref().map(|text| Deserializer::from_str(text).into_iter::<S>());
    in_turn(|at| both[at].next().expect("a value").expect("JSON"));
    let mut stream = Deserializer::from_str(&texts[0]).into_iter::<S>();
    let mut other = Deserializer::from_reader(texts[1].as_bytes());
    in_turn(|at| match at {
        0 => stream.next().expect("a value").expect("JSON"),
        _ => S::deserialize(&mut other).expect("JSON"),
    });
}

#[test]
fn texts_that_are_decoded_in_turn_do_not_disturb_each_other() {
    for_some_shapes!(interleaved);
}

fn forgotten<S: Shape>() {
    for index in 0..200 {
        let text = S::text(&digits(index));
        let mut deserializer = Deserializer::from_str(&text);
        assert_number(&S::deserialize(&mut deserializer).expect("JSON"), index);
        std::mem::forget(deserializer);
        let mut stream = Deserializer::from_str(&text).into_iter::<S>();
        assert_number(&stream.next().expect("a value").expect("JSON"), index);
        std::mem::forget(stream);
        let other = S::text(&digits(index + 3));
        assert_number(&jird::from_str::<S>(&other).expect("JSON"), index + 3);
        assert_number(&jird::parse(other.as_bytes()).expect("JSON").decode::<S>().expect("JSON"), index + 3);
    }
}

#[test]
fn a_deserializer_that_is_forgotten_leaves_other_texts_as_they_are() {
    for_some_shapes!(forgotten);
}

fn moved<S: Shape>() {
    let text = format!("{0} {0}", S::text(&digits(1)));
    let mut here = Deserializer::from_str(&text);
    assert_number(&S::deserialize(&mut here).expect("JSON"), 1);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let other = S::text(&digits(2));
            let mut there = Deserializer::from_str(&other);
            assert_number(&S::deserialize(&mut there).expect("JSON"), 2);
            assert_number(&S::deserialize(&mut here).expect("JSON"), 1);
            drop(here);
        });
    });
    assert_number(&jird::from_str::<S>(&S::text(&digits(4))).expect("JSON"), 4);
}

#[test]
fn a_deserializer_may_go_to_another_thread_between_values() {
    for_some_shapes!(moved);
}

/// A seed that panics, or that decodes what it is given.
struct Seed<'a, T>(&'a RefCell<Vec<T>>, bool);

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Seed<'_, T> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.borrow_mut().push(T::deserialize(deserializer)?);
        assert!(!self.1, "on purpose");
        Ok(())
    }
}

/// A reader that panics at the end of its bytes.
struct Panics<'a>(&'a [u8]);

impl std::io::Read for Panics<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        assert!(!self.0.is_empty(), "on purpose");
        self.0.read(to)
    }
}

fn panicking<S: Shape>() {
    let values = RefCell::new(Vec::<S>::new());
    let text = format!("{} {}", S::text(&digits(1)), S::text(&digits(2)));
    let mut deserializer = Deserializer::from_str(&text);
    let panics = catch_unwind(AssertUnwindSafe(|| Seed(&values, true).deserialize(&mut deserializer)));
    assert!(panics.is_err());
    let other = S::text(&digits(3));
    values.borrow_mut().push(jird::from_str(&other).expect("JSON"));
    Seed(&values, false).deserialize(&mut deserializer).expect("JSON");
    for (shape, index) in values.borrow().iter().zip([1, 3, 2]) {
        assert_number(shape, index);
    }
    // A reader that panics in the middle of a buffer.
    let cut = S::text(&digits(4));
    let mut reader = Deserializer::from_reader(Panics(&cut.as_bytes()[..cut.len() - 1]));
    assert!(catch_unwind(AssertUnwindSafe(|| S::deserialize(&mut reader))).is_err());
    assert_number(&jird::from_str::<S>(&S::text(&digits(5))).expect("JSON"), 5);
    drop(reader);
    assert_number(&jird::from_str::<S>(&S::text(&digits(6))).expect("JSON"), 6);
}

#[test]
fn a_panic_leaves_no_digits_behind() {
    for_some_shapes!(panicking);
}

#[test]
fn digits_of_one_text_are_never_given_to_another_format() {
    let mut deserializer = Deserializer::from_str(r#"{"n": 2.50}"#);
    let _waits = Untagged::deserialize(&mut deserializer).expect("JSON");
    let error = serde_json::from_str::<Untagged>(r#"{"n": 2.5}"#).expect_err("no text").to_string();
    assert!(error.contains("did not match"), "{error}");
    let error = serde_json::from_str::<Flat>(r#"{"n": 2.5, "id": 1}"#).expect_err("no text").to_string();
    assert!(error.contains("the text of the number 2.5 was lost"), "{error}");
    // A tree that is decoded without its document waits on the stack, and is not asked for by others.
    let document = jird::parse(br#"{"n": 2.500}"#).expect("JSON");
    let value = serde::de::IntoDeserializer::into_deserializer(document.root());
    assert_eq!(Untagged::deserialize(value).expect("JSON").number().to_string(), "2.500");
    assert!(serde_json::from_str::<Flat>(r#"{"n": 2.5, "id": 1}"#).is_err());
    let wide: Flat = jird::from_str(r#"{"n": 2.50000, "id": 1}"#).expect("JSON");
    assert_eq!(wide.rest.n.to_string(), "2.50000");
}

/// Keeps a deserializer alive that has decoded a value within the value outside.
struct Keeps(NumberBuf);

impl<'de> Deserialize<'de> for Keeps {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut waits = Deserializer::from_str(r#"{"n": 1.50}"#);
        let inner = Untagged::deserialize(&mut waits).map_err(serde::de::Error::custom)?;
        assert_eq!(inner.number().to_string(), "1.50");
        NumberBuf::deserialize(deserializer).map(Keeps)
    }
}

#[test]
fn a_number_is_refused_if_it_could_be_that_of_a_text_within() {
    #[derive(Deserialize)]
    struct Outer {
        #[serde(flatten)]
        rest: BTreeMap<String, Keeps>,
    }
    let read = |text: &str| jird::from_str::<Outer>(text).map(|outer| outer.rest["a"].0.to_string());
    assert_eq!(read(r#"{"a": 1.50}"#).expect("the same"), "1.50");
    assert_eq!(read(r#"{"a": 2.50}"#).expect("another"), "2.50");
    assert!(read(r#"{"a": 1.500}"#).expect_err("which of both?").is_data());
}

#[test]
fn two_texts_of_one_double_in_one_buffer_are_not_told_apart() {
    let read = |text: &str| jird::from_str::<FlatMap>(text).map(|flat| flat.rest["n"].to_string());
    assert_eq!(read(r#"{"id": 1, "n": 1.50, "m": 1.50}"#).expect("the same digits"), "1.50");
    for other in ["1.5", "15e-1", "1.5000000000000000000001"] {
        let text = format!(r#"{{"id": 1, "n": 1.50, "m": {other}}}"#);
        assert!(read(&text).expect_err("two texts").to_string().contains("was lost"), "{other}");
    }
    // For a type that asks for an `f64`, both are one.
    let text = r#"{"id": 1, "n": 1.50, "m": 1.5}"#;
    assert_eq!(jird::from_str::<BTreeMap<String, f64>>(text).expect("JSON")["n"].to_bits(), 1.5_f64.to_bits());
}
