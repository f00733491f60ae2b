//! A type whose `Serialize` fails, panics, or is another one each time: it runs once, and the error is `serde_json`'s.
#![allow(missing_docs, reason = "tests")]

use serde::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

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

#[test]
fn a_writer_sees_the_beginning_of_one_text() {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let counts = Counts(Cell::new(0));
    assert!(jird_serde_json::to_writer(&mut ours, &counts).is_err());
    assert_eq!(counts.0.get(), 1);
    assert!(serde_json::to_writer(&mut theirs, &Counts(Cell::new(0))).is_err());
    assert!(!ours.is_empty() && theirs.starts_with(&ours), "{} bytes", ours.len());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let counts = Counts(Cell::new(0));
    assert!(jird_serde_json::to_writer_pretty(&mut ours, &counts).is_err());
    assert_eq!(counts.0.get(), 1);
    assert!(serde_json::to_writer_pretty(&mut theirs, &Counts(Cell::new(0))).is_err());
    assert!(!ours.is_empty() && theirs.starts_with(&ours), "{} bytes", ours.len());
}
