//! Types that ask for something out of turn.

use jird::record::{Record, RecordBuffer};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::fmt;

/// Asks for keys and never for their values.
#[derive(Debug)]
struct KeysAlone;

impl<'de> Deserialize<'de> for KeysAlone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(KeysVisitor)
    }
}

struct KeysVisitor;

impl<'de> Visitor<'de> for KeysVisitor {
    type Value = KeysAlone;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<KeysAlone, A::Error> {
        while let Some(text) = access.next_key::<String>()? {
            assert!(std::str::from_utf8(text.as_bytes()).is_ok(), "a String that is not UTF-8");
        }
        Ok(KeysAlone)
    }
}

#[test]
fn keys_that_are_asked_for_without_their_values_are_an_error() {
    crate::common::force_kernel();
    for value in ["[1,[2],{}]", "{\"b\":{\"c\":[]}}", "\"text\"", "[]", "12", "null"] {
        let text = format!("{{\"a\":{value},\"d\":{value}}}");
        let document = jird::parse(text.as_bytes()).expect("it is JSON");
        let error = document.decode::<KeysAlone>().expect_err("no value was asked for");
        assert!(error.to_string().contains("key"), "{error}");
        assert!(jird::from_str::<KeysAlone>(&text).is_err());
        let mut buffer = RecordBuffer::new();
        let trusted = Record::scan_trusted(text.as_bytes(), &mut buffer);
        assert!(trusted.decode::<KeysAlone>().is_err());
    }
}

/// Asks for a value again after its type has panicked.
#[derive(Debug)]
struct AsksAgain;

impl<'de> Deserialize<'de> for AsksAgain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Again;
        impl<'de> Visitor<'de> for Again {
            type Value = AsksAgain;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("members")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<AsksAgain, A::Error> {
                while access.next_key::<IgnoredAny>()?.is_some() {
                    let work = std::panic::AssertUnwindSafe(|| access.next_value::<Panics>());
                    assert!(std::panic::catch_unwind(work).is_err());
                    assert!(access.next_value::<IgnoredAny>().is_err(), "the value was taken");
                }
                Ok(AsksAgain)
            }
        }
        deserializer.deserialize_map(Again)
    }
}

struct Panics;

impl<'de> Deserialize<'de> for Panics {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        std::panic::resume_unwind(Box::new("its own"))
    }
}

#[test]
fn a_value_whose_type_panicked_is_not_there_a_second_time() {
    crate::common::force_kernel();
    let document = jird::parse(br#"{"a":[1,[2]],"b":{"c":1}}"#).expect("it is JSON");
    assert!(document.decode::<AsksAgain>().is_ok());
}
