//! A type whose `Serialize` fails, panics, or is another one each time: it runs once, the error is `serde_json`'s, and a
//! writer receives all that comes before the failure.
#![allow(missing_docs, reason = "tests")]

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTupleVariant,
    Serializer,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::Write;

/// Gives its iterator away.
struct Once<I>(RefCell<Option<I>>);

impl<I: Iterator<Item = Result<u32, &'static str>>> Serialize for Once<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let elements = self.0.borrow_mut().take().expect("serialized once");
        let mut list = serializer.serialize_seq(None)?;
        for element in elements {
            list.serialize_element(&element.map_err(S::Error::custom)?)?;
        }
        list.end()
    }
}

/// Another list each time, with a failure at its end.
struct Counts(Cell<u64>);

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let times = self.0.replace(self.0.get() + 1);
        let mut list = serializer.serialize_seq(None)?;
        for element in 0..20_000 {
            list.serialize_element(&(element + 1_000_000_000 * times))?;
        }
        Err(S::Error::custom("on purpose"))
    }
}

#[derive(Clone, Copy)]
enum Wrong {
    /// A message with a place, as `serde_json` itself writes it.
    Words(&'static str),
    UnitKey,
    NanKey,
    InfiniteKey,
    ListKey,
    Display,
}

impl Serialize for Wrong {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn key<S: Serializer, K: Serialize>(serializer: S, key: &K) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            map.serialize_entry(&"first", &1)?;
            map.serialize_entry(key, &2)?;
            map.end()
        }
        match self {
            Self::Words(words) => Err(S::Error::custom(words)),
            Self::UnitKey => key(serializer, &()),
            Self::NanKey => key(serializer, &f64::NAN),
            Self::InfiniteKey => key(serializer, &f32::INFINITY),
            Self::ListKey => key(serializer, &[1]),
            Self::Display => serializer.collect_str(&"fine"),
        }
    }
}

const WRONG: [Wrong; 9] = [
    Wrong::Words("no"),
    Wrong::Words("wrong at line 3 column 7"),
    Wrong::Words(""),
    Wrong::Words("key must be a string"),
    Wrong::UnitKey,
    Wrong::NanKey,
    Wrong::InfiniteKey,
    Wrong::ListKey,
    Wrong::Display,
];

#[test]
fn an_error_has_the_words_and_the_category_of_serde_json() {
    let told =
        |error: serde_json::Error| (error.to_string(), format!("{:?} {error:?}", error.classify()), error.line());
    for wrong in WRONG {
        for value in [vec![wrong], vec![Wrong::Display, wrong]] {
            let value = BTreeMap::from([("a", value)]);
            let theirs = serde_json::to_string(&value).map_err(told);
            assert_eq!(jird_serde_json::to_string(&value).map_err(told), theirs);
            assert_eq!(jird_serde_json::to_vec(&value).map_err(told), theirs.clone().map(String::into_bytes));
            assert_eq!(jird_serde_json::to_string_pretty(&value).map_err(told).map(drop), theirs.clone().map(drop));
            assert_eq!(jird_serde_json::to_vec_pretty(&value).map_err(told).map(drop), theirs.clone().map(drop));
            assert_eq!(jird_serde_json::to_writer(std::io::sink(), &value).map_err(told), theirs.clone().map(drop));
            assert_eq!(jird_serde_json::to_writer_pretty(std::io::sink(), &value).map_err(told), theirs.map(drop));
        }
    }
}

#[test]
fn what_fails_is_serialized_once() {
    let once = || Once(RefCell::new(Some(vec![Ok(1), Ok(2), Err("row 3 failed")].into_iter())));
    let words = |error: jird_serde_json::Error| error.to_string();
    assert_eq!(jird_serde_json::to_string(&once()).map_err(words), Err("row 3 failed".into()));
    assert_eq!(jird_serde_json::to_string_pretty(&once()).map_err(words), Err("row 3 failed".into()));
    assert_eq!(jird_serde_json::to_vec(&once()).map_err(words), Err("row 3 failed".into()));
    assert_eq!(jird_serde_json::to_vec_pretty(&once()).map_err(words), Err("row 3 failed".into()));
    assert_eq!(jird_serde_json::to_writer(std::io::sink(), &once()).map_err(words), Err("row 3 failed".into()));
    assert_eq!(jird_serde_json::to_writer_pretty(std::io::sink(), &once()).map_err(words), Err("row 3 failed".into()));
    assert!(jird_serde_json::to_value(once()).is_err());
}

/// Writes with both crates, compact and indented; both writers have received the same, and both errors say the same.
fn received_alike<T: Serialize>(name: &str, value: impl Fn() -> T) {
    let told = |text: Vec<u8>, result: serde_json::Result<()>| -> (Vec<u8>, Option<String>) {
        (text, result.err().map(|error| error.to_string()))
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let result = jird_serde_json::to_writer(&mut ours, &value());
    let expected = serde_json::to_writer(&mut theirs, &value());
    assert_eq!(told(ours, result), told(theirs, expected), "{name}");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let result = jird_serde_json::to_writer_pretty(&mut ours, &value());
    let expected = serde_json::to_writer_pretty(&mut theirs, &value());
    assert_eq!(told(ours, result), told(theirs, expected), "{name}, indented");
}

type ToWriter<T> = fn(&mut dyn Write, &T) -> serde_json::Result<()>;

/// Compact and indented.
fn writes<T: Serialize>() -> [ToWriter<T>; 2] {
    [|to, value| jird_serde_json::to_writer(to, value), |to, value| jird_serde_json::to_writer_pretty(to, value)]
}

/// The ways in which a value can fail after it was begun.
#[derive(Clone, Copy)]
enum Fails {
    AtOnce,
    InList(u32),
    InMap(u32),
    InStruct,
    InVariant,
    InTuple,
    /// After a value that was written.
    Behind,
}

impl Serialize for Fails {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let failed = Err(S::Error::custom("on purpose"));
        match *self {
            Self::AtOnce => return failed,
            Self::InList(elements) => {
                let mut list = serializer.serialize_seq(None)?;
                (0..elements).try_for_each(|element| list.serialize_element(&(element, "é\n")))?;
            }
            Self::InMap(members) => {
                let mut map = serializer.serialize_map(None)?;
                (0..members).try_for_each(|member| map.serialize_entry(&member, &[f64::from(member); 2]))?;
                map.serialize_key("last")?;
            }
            Self::InStruct => {
                let mut object = serializer.serialize_struct("S", 2)?;
                object.serialize_field("a", &[0; 3])?;
                object.serialize_field("b", &Self::AtOnce)?;
            }
            Self::InVariant => {
                let mut object = serializer.serialize_struct_variant("S", 0, "V", 1)?;
                object.serialize_field("a", &None::<u8>)?;
            }
            Self::InTuple => {
                let mut list = serializer.serialize_tuple_variant("S", 0, "V", 2)?;
                list.serialize_field(&(1, 2))?;
                list.serialize_field(&BTreeMap::from([((), 1)]))?;
            }
            Self::Behind => drop(serializer.serialize_str("written")?),
        }
        failed
    }
}

const SMALL: [Fails; 7] = [
    Fails::AtOnce,
    Fails::InList(0),
    Fails::InList(3),
    Fails::InStruct,
    Fails::InVariant,
    Fails::InTuple,
    Fails::Behind,
];

const LARGE: [Fails; 2] = [Fails::InList(20_000), Fails::InMap(20_000)];

#[test]
fn a_writer_receives_all_that_comes_before_a_failure() {
    for (index, fails) in SMALL.into_iter().chain(LARGE).enumerate() {
        received_alike(&format!("{index}"), || fails);
        received_alike(&format!("{index}, in a list"), || vec![Some(fails)]);
        received_alike(&format!("{index}, in a newtype variant"), || Err::<u8, _>(fails));
        received_alike(&format!("{index}, behind a long text"), || ("x".repeat(100_000), fails));
    }
    // At every place of a buffer.
    for (index, fails) in SMALL.into_iter().enumerate() {
        for len in (0..200).chain(16_000..16_500) {
            received_alike(&format!("{index}, behind {len} bytes"), || ("x".repeat(len), [1], fails, "behind"));
        }
    }
    for (index, wrong) in WRONG.into_iter().enumerate() {
        received_alike(&format!("key {index}"), || BTreeMap::from([("a", wrong)]));
        received_alike(&format!("key {index}, later"), || (vec!["é"; 20_000], wrong));
    }
}

#[test]
fn a_value_that_fails_is_serialized_once_into_a_writer() {
    for write in writes() {
        let (mut text, counts) = (Vec::new(), Counts(Cell::new(0)));
        assert!(write(&mut text, &counts).is_err());
        assert_eq!((counts.0.get(), text.is_empty()), (1, false));
    }
}

/// Takes some bytes, and then nothing for a while.
struct Full {
    text: Vec<u8>,
    takes: usize,
    calls: usize,
}

impl Write for Full {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.calls += 1;
        let takes = text.len().min(self.takes - self.text.len());
        self.text.extend(&text[..takes]);
        if takes == 0 { Err(std::io::Error::other("full")) } else { Ok(takes) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_writer_that_fails_too_does_not_hide_the_first_error() {
    for takes in [0, 1, 5] {
        let mut full = Full { text: Vec::new(), takes, calls: 0 };
        let error = jird_serde_json::to_writer(&mut full, &(1, 2, 3, Fails::AtOnce)).unwrap_err();
        assert_eq!((error.to_string(), error.is_io()), ("on purpose".into(), false));
        assert_eq!(full.text, b"[1,2,"[..takes]);
    }
    // Nor is anything written after the writer's own failure.
    let mut full = Full { text: Vec::new(), takes: 10_000, calls: 0 };
    let error = jird_serde_json::to_writer(&mut full, &(vec![1; 50_000], Fails::AtOnce)).unwrap_err();
    assert_eq!((error.is_io(), full.text.len(), full.calls), (true, 10_000, 2));
}

/// Fails once, in the middle of a piece, and takes everything before and after it.
struct FailsOnce {
    text: Vec<u8>,
    calls: usize,
    failing: usize,
}

impl Write for FailsOnce {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.calls += 1;
        match self.calls.checked_sub(self.failing) {
            Some(0) => self.text.write(&text[..text.len().div_ceil(2)]),
            Some(1) => Err(std::io::Error::other("once")),
            _ => self.text.write(text),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Goes on whatever its parts say.
struct Deaf {
    first: usize,
    fails: bool,
}

impl Serialize for Deaf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let _ = list.serialize_element(&"x".repeat(self.first));
        for _ in 0..2500 {
            let _ = list.serialize_element(&u64::MAX);
        }
        if self.fails { Err(S::Error::custom("on purpose")) } else { list.end() }
    }
}

#[test]
fn no_text_comes_twice_from_a_type_that_ignores_a_writer_s_failure() {
    for write in writes() {
        // A buffer is full before, within and behind each element, and at the end.
        for (first, fails) in (0..60).flat_map(|first| [(first, false), (first, true)]) {
            let mut whole = Vec::new();
            write(&mut whole, &Deaf { first, fails: false }).unwrap();
            for failing in 1..whole.len() / (16 << 10) {
                let mut writer = FailsOnce { text: Vec::new(), calls: 0, failing };
                let result = write(&mut writer, &Deaf { first, fails });
                assert!(result.is_err(), "first {first}, call {failing}: the writer failed");
                assert!(whole.starts_with(&writer.text), "first {first}, call {failing}");
            }
        }
    }
}
