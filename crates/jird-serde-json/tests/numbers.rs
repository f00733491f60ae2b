//! No number is changed silently: each is kept to its last digit, or refused, in every place in which serde can hold it,
//! whichever crate reads and writes.
#![allow(missing_docs, reason = "tests")]

use jird::NumberBuf;
use jird_serde_json::value::RawValue;
use jird_serde_json::{Map, Number, Value};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// Texts that an `f64` does not tell.
const NUMBERS: &[&str] = &[
    "1.50",
    "-0",
    "0.0",
    "-0.0",
    "0.10",
    "100",
    "-7",
    "1e2",
    "1E+2",
    "123456789012345678901234567890",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "0.1234567890123456789",
    "65.613616999999977",
    "1.0000000000000000000000001",
    "9007199254740993.0",
    "1e-400",
    "12345678901234567890.5",
];

#[derive(Debug, Serialize, Deserialize)]
struct Field<T> {
    n: T,
}

#[derive(Debug, Serialize, Deserialize)]
struct Flat<T> {
    id: u8,
    #[serde(flatten)]
    rest: Field<T>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged<T> {
    No { no: bool },
    Yes { n: T },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "a")]
enum Internal<T> {
    Yes { n: T },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "a", content = "c")]
enum Adjacent<T> {
    Yes { n: T },
}

#[derive(Debug, Serialize, Deserialize)]
enum External<T> {
    Yes { n: T },
}

/// Who reads or writes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    Engine,
    Facade,
    Theirs,
    TheirReader,
    OurTree,
    TheirTree,
}

const ALL: [Who; 6] = [Who::Engine, Who::Facade, Who::Theirs, Who::TheirReader, Who::OurTree, Who::TheirTree];

impl Who {
    fn read<T: DeserializeOwned>(self, text: &str) -> Result<T, String> {
        match self {
            Who::Engine => jird::from_str(text).map_err(|error| error.to_string()),
            Who::Facade => jird_serde_json::from_str(text).map_err(|error| error.to_string()),
            Who::Theirs => serde_json::from_str(text).map_err(|error| error.to_string()),
            Who::TheirReader => serde_json::from_reader(text.as_bytes()).map_err(|error| error.to_string()),
            Who::OurTree => jird_serde_json::from_str::<Value>(text)
                .and_then(jird_serde_json::from_value)
                .map_err(|error| error.to_string()),
            Who::TheirTree => serde_json::from_str::<serde_json::Value>(text)
                .and_then(serde_json::from_value)
                .map_err(|error| error.to_string()),
        }
    }

    fn write<T: Serialize>(self, value: &T) -> Result<String, String> {
        match self {
            Who::Engine => jird::to_string(value).map_err(|error| error.to_string()),
            Who::Facade => jird_serde_json::to_string(value).map_err(|error| error.to_string()),
            Who::Theirs | Who::TheirReader => serde_json::to_string(value).map_err(|error| error.to_string()),
            Who::OurTree => {
                jird_serde_json::to_value(value).map(|value| value.to_string()).map_err(|error| error.to_string())
            }
            Who::TheirTree => {
                serde_json::to_value(value).map(|value| value.to_string()).map_err(|error| error.to_string())
            }
        }
    }
}

/// How a number may come back.
#[derive(Clone, Copy, PartialEq)]
enum Demand {
    /// To its last digit.
    Exact,
    /// To its last digit, or not at all.
    ExactOrError,
}

/// Reads and writes a text in all ways.
fn check<T: DeserializeOwned + Serialize + Debug>(text: &str, demand: impl Fn(Who) -> Option<Demand>) {
    for reader in ALL {
        let Some(demanded) = demand(reader) else { continue };
        let value: T = match reader.read(text) {
            Ok(value) => value,
            Err(error) => {
                assert!(demanded == Demand::ExactOrError, "{text} {reader:?} {} {error}", std::any::type_name::<T>());
                continue;
            }
        };
        for writer in ALL {
            // A tree of `serde_json` has no other digits than those of an `f64`.
            if writer == Who::TheirTree {
                continue;
            }
            let written = writer.write(&value);
            assert_eq!(written.as_deref(), Ok(text), "{reader:?} {writer:?} {}", std::any::type_name::<T>());
        }
    }
}

fn places<T: DeserializeOwned + Serialize + Debug>(buffered: Demand) {
    for number in NUMBERS {
        // What `serde_json` has in its own tree has lost its digits before a type can see it.
        let direct = |who| (who != Who::TheirTree).then_some(Demand::Exact);
        check::<T>(number, direct);
        check::<Vec<T>>(&format!("[{number},{number}]"), direct);
        check::<Option<T>>(number, direct);
        check::<Field<T>>(&format!("{{\"n\":{number}}}"), direct);
        check::<External<T>>(&format!("{{\"Yes\":{{\"n\":{number}}}}}"), direct);
        check::<Adjacent<T>>(&format!("{{\"a\":\"Yes\",\"c\":{{\"n\":{number}}}}}"), direct);
        // Buffers of serde's, read by this crate's functions and by the engine.
        let ours = |who| matches!(who, Who::Engine | Who::Facade).then_some(buffered);
        check::<Flat<T>>(&format!("{{\"id\":1,\"n\":{number}}}"), ours);
        check::<Untagged<T>>(&format!("{{\"n\":{number}}}"), ours);
        check::<Internal<T>>(&format!("{{\"a\":\"Yes\",\"n\":{number}}}"), ours);
    }
}

#[test]
fn numbers_keep_every_digit_wherever_they_are() {
    places::<NumberBuf>(Demand::Exact);
    places::<Number>(Demand::Exact);
    places::<Value>(Demand::Exact);
    places::<Box<jird::RawValue>>(Demand::Exact);
    places::<Box<RawValue>>(Demand::ExactOrError);
}

#[test]
fn what_another_reader_has_buffered_is_exact_or_an_error() {
    for number in NUMBERS {
        let text = format!("{{\"id\":1,\"n\":{number}}}");
        let demand = |who| (who != Who::TheirTree).then_some(Demand::ExactOrError);
        check::<Flat<NumberBuf>>(&text, demand);
        check::<Flat<Box<RawValue>>>(&text, demand);
    }
}

#[test]
fn members_that_a_map_takes_up_keep_their_digits() {
    #[derive(Serialize, Deserialize)]
    struct Rest {
        #[serde(flatten)]
        rest: Map<String, Value>,
    }
    let text = r#"{"a":1.50,"b":[123456789012345678901234567890,{"c":-0}]}"#;
    let rest: Rest = jird_serde_json::from_str(text).expect("JSON");
    assert_eq!(jird_serde_json::to_string(&rest).expect("JSON"), text);
    // Two texts of one number: its value is kept. Two numbers with one `f64`: refused.
    let rest: Rest = jird_serde_json::from_str(r#"{"a":1.50,"b":1.5}"#).expect("JSON");
    assert_eq!(jird_serde_json::to_string(&rest).expect("JSON"), r#"{"a":1.5,"b":1.5}"#);
    let two = r#"{"a":0.1000000000000000001,"b":0.1000000000000000002}"#;
    assert!(jird_serde_json::from_str::<Rest>(two).is_err());
}

#[test]
fn trees_of_both_crates_become_each_other_or_an_error() {
    for number in NUMBERS {
        let text = format!("{{\"a\":[{number}]}}");
        let ours: Value = text.parse().expect("JSON");
        match serde_json::Value::try_from(ours.clone()) {
            Ok(theirs) => assert_eq!(Value::from(theirs), ours, "{text}"),
            Err(error) => assert!(error.to_string().contains("loses"), "{error}"),
        }
    }
    let theirs = serde_json::json!({"a": [1, -1, 2.5, "x", null, true]});
    assert_eq!(Value::from(theirs.clone()).to_string(), theirs.to_string());
    assert_eq!(jird_serde_json::to_value(&theirs).expect("a tree").to_string(), theirs.to_string());
}

#[test]
fn the_digits_of_numbers_come_back_from_their_text() {
    let mut state = 1_u64;
    for _ in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let digits = (state >> 20).to_string();
        let at = 1 + (state >> 10) as usize % (digits.len() - 1).max(1);
        let (whole, fraction) = digits.split_at(at.min(digits.len() - 1).max(1).min(digits.len()));
        let text = format!("{}{whole}.{fraction}0", if state & 1 == 0 { "-" } else { "" });
        let number: Number = text.parse().expect("a number");
        assert_eq!(number.to_string(), text);
        assert_eq!(number.as_f64().map(f64::to_bits), text.parse::<f64>().ok().map(f64::to_bits), "{text}");
    }
}

/// Marks what a number is written by.
struct Marks;

impl jird_serde_json::ser::Formatter for Marks {
    fn write_f64<W: ?Sized + std::io::Write>(&mut self, writer: &mut W, value: f64) -> std::io::Result<()> {
        write!(writer, "<{value}>")
    }

    fn write_raw_fragment<W: ?Sized + std::io::Write>(&mut self, _: &mut W, _: &str) -> std::io::Result<()> {
        Err(std::io::Error::other("raw values are not supported"))
    }
}

#[test]
fn a_formatter_of_another_crate_receives_the_double_of_a_number() {
    fn marked(value: &impl Serialize) -> String {
        let mut text = Vec::new();
        let mut serializer = jird_serde_json::Serializer::with_formatter(&mut text, Marks);
        value.serialize(&mut serializer).expect("a text");
        String::from_utf8(text).expect("UTF-8")
    }
    for text in ["[1.50,1e2,2.5]", "[123456789012345678901,0.1000000000000000001,{\"a\":-0}]", "{\"a\":-1.0E-2}"] {
        let theirs = marked(&serde_json::from_str::<serde_json::Value>(text).expect("JSON"));
        assert_eq!(marked(&jird_serde_json::from_str::<Value>(text).expect("JSON")), theirs);
    }
    // With the formatters of `serde_json` itself, the text stays.
    let text = "[1.50,123456789012345678901]";
    let value: Value = jird_serde_json::from_str(text).expect("JSON");
    let mut written = Vec::new();
    value.serialize(&mut jird_serde_json::Serializer::new(&mut written)).expect("a text");
    assert_eq!(written, text.as_bytes());
    let mut pretty = Vec::new();
    value.serialize(&mut jird_serde_json::Serializer::pretty(&mut pretty)).expect("a text");
    assert_eq!(String::from_utf8(pretty).expect("UTF-8"), "[\n  1.50,\n  123456789012345678901\n]");
}
