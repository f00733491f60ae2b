//! How much room collections are told to reserve: what will come, if known.

use crate::common;
use crate::typed::arbitrary::json;
use jird::Deserializer;
use proptest::prelude::*;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use std::collections::HashMap;

/// What arrays and objects said before each of their items and behind the last, innermost first.
#[derive(Default)]
struct Hints(Vec<Vec<Option<usize>>>);

impl<'de> Deserialize<'de> for Hints {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self::default())
    }
}

macro_rules! scalars {
    ($($method:ident: $type:ty),*) => {
        $(
            fn $method<E>(self, _: $type) -> Result<Self, E> {
                Ok(self)
            }
        )*
    };
}

impl<'de> Visitor<'de> for Hints {
    type Value = Self;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("anything")
    }

    scalars!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64, visit_str: &str);

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Self, A::Error> {
        let mut said = vec![seq.size_hint()];
        while let Some(inner) = seq.next_element::<Self>()? {
            self.0.extend(inner.0);
            said.push(seq.size_hint());
        }
        self.0.push(said);
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        let mut said = vec![map.size_hint()];
        while let Some((_, inner)) = map.next_entry::<IgnoredAny, Self>()? {
            self.0.extend(inner.0);
            said.push(map.size_hint());
        }
        self.0.push(said);
        Ok(self)
    }
}

/// What is left, each time.
fn exact(said: &[Option<usize>]) -> bool {
    said.iter().rev().enumerate().all(|(left, hint)| *hint == Some(left))
}

#[test]
fn flat_arrays_and_objects_say_how_many_items_they_have() {
    common::force_kernel();
    for text in ["[]", "[ ]", "{}", "[1]", "[\"\\n\" , 2]", "{\"a\":1}", "{\"a\" : \"\\u0041\", \"b\\n\":null }"] {
        let hints: Hints = jird::from_str(text).unwrap();
        assert!(exact(&hints.0[0]), "{text}: {:?}", hints.0);
    }
    for len in (0..40).chain([500, 5000]) {
        let array = serde_json::to_string(&(0..len).collect::<Vec<u32>>()).unwrap();
        let object = serde_json::to_string(&(0..len).map(|key| (key, "x")).collect::<HashMap<u32, _>>()).unwrap();
        for text in [array, object] {
            let hints: Hints = jird::from_str(&text).unwrap();
            assert!(exact(&hints.0[0]), "{text}");
        }
    }
    let numbers: Vec<u64> = jird::from_str("[1, 2, 3, 4, 5, 6, 7]").unwrap();
    assert_eq!(numbers.capacity(), 7);
}

/// Notes what an array says at first.
struct First<'a>(&'a mut Option<usize>);

impl<'de> Visitor<'de> for First<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        *self.0 = seq.size_hint();
        Ok(())
    }
}

#[test]
fn what_is_said_of_a_text_that_is_refused_is_no_more_than_it_could_hold() {
    common::force_kernel();
    for (text, wanted) in [
        ("[1 2 3]", Some(2)),
        ("[1,]", Some(1)),
        ("[,,,,]", Some(2)),
        ("[1:2]", Some(2)),
        // What begins with the byte of a bracket that has a mark.
        ("[1,\u{6c0}]", None),
        ("[1,\u{740}]", Some(1)),
        ("[1,2}", None),
        ("[1,2", None),
        ("[", None),
        ("[\"a", None),
        ("[1,\u{1}2]", Some(2)),
        ("[1,\"\u{1}\"]", None),
    ] {
        let mut said = None;
        let _ = (&mut Deserializer::from_str(text)).deserialize_seq(First(&mut said));
        assert_eq!(said, wanted, "{text}");
        assert!(said.is_none_or(|said| said <= text.len() / 2), "{text}");
        assert!(jird::from_str::<Vec<IgnoredAny>>(text).is_err(), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_comes(value in json(), pretty in any::<bool>(), chunk_bytes in prop::sample::select(&[64, 128, 1 << 16])) {
        common::force_kernel();
        let text = if pretty { serde_json::to_vec_pretty(&value) } else { serde_json::to_vec(&value) }.unwrap();
        let hints: Hints = Deserializer::from_slice(&text).with_chunk_bytes(chunk_bytes).whole().unwrap();
        for said in hints.0 {
            for (left, hint) in said.iter().rev().enumerate() {
                prop_assert!(hint.is_none_or(|hint| hint == left), "{said:?}");
            }
        }
        let hints: Hints = jird::parse(&text).unwrap().decode().unwrap();
        prop_assert!(hints.0.iter().all(|said| exact(said)));
    }
}
