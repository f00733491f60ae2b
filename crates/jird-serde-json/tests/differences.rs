//! One test for each row of the first table of `docs/coming-from-serde_json.md`.
#![allow(missing_docs, reason = "tests")]
#![allow(clippy::unwrap_used, reason = "tests")]

use jird_serde_json::{Number, Value, json};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};

#[test]
fn every_row_has_its_test() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/coming-from-serde_json.md");
    let Ok(page) = std::fs::read_to_string(page) else { return };
    let (table, _) = page.split_once("The rest of this page").expect("the table of this crate comes first");
    let tests = include_str!("differences.rs");
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let named = |row: &&&str| {
        let name = row.trim_end_matches(['|', ' ', '`']).rsplit('`').next().unwrap();
        tests.contains(&format!("fn {name}()"))
    };
    let missing: Vec<_> = rows.iter().filter(|row| !named(row)).collect();
    assert!(missing.is_empty() && rows.len() > 10, "{missing:?}");
    let count = tests.matches("\n#[test]").count() - 1;
    assert_eq!(rows.len(), count, "rows of the page, and tests");
}

#[test]
fn numbers_keep_their_text() {
    let text = "[1.50,123456789012345678901234567890,1e2]";
    let theirs: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(theirs.to_string(), "[1.5,1.2345678901234568e+29,100.0]");
    let ours: Value = jird_serde_json::from_str(text).unwrap();
    assert_eq!(ours.to_string(), text);
    assert_eq!(ours[0], json!(1.5));
    for at in 0..3 {
        assert_eq!(ours[at].as_f64(), theirs[at].as_f64());
    }
}

#[test]
fn two_numbers_with_one_double() {
    #[derive(Deserialize)]
    struct Flat<T> {
        #[serde(flatten)]
        rest: BTreeMap<String, T>,
    }
    let text = r#"{"a": 0.1000000000000000001, "b": 0.1000000000000000002}"#;
    let theirs: Flat<serde_json::Value> = serde_json::from_str(text).unwrap();
    assert_eq!(theirs.rest["a"], theirs.rest["b"]);
    let error = jird_serde_json::from_str::<Flat<Value>>(text).map(|flat| flat.rest).unwrap_err();
    assert!(error.is_data() && error.to_string().contains("digits"), "{error}");
    // A type that asks for an `f64` anyway loses nothing.
    let read = jird_serde_json::from_str::<Flat<f64>>(text).unwrap().rest["a"];
    assert_eq!(read.to_bits(), 0.1_f64.to_bits());
}

#[test]
fn wide_integers() {
    assert!(serde_json::to_value(u128::MAX).is_err());
    assert_eq!(jird_serde_json::to_value(u128::MAX).unwrap().to_string(), u128::MAX.to_string());
    assert_eq!(jird_serde_json::from_value::<i128>(json!(i128::MIN)).unwrap(), i128::MIN);
}

#[test]
fn digits_in_another_format_of_text() {
    struct Shown<'a, T>(&'a T);
    impl<T: Serialize> fmt::Display for Shown<'_, T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.serialize(f)
        }
    }
    let text = "0.1000000000000000001";
    let theirs: serde_json::Number = serde_json::from_str(text).unwrap();
    assert_eq!(Shown(&theirs).to_string(), "0.1");
    let ours: Number = jird_serde_json::from_str(text).unwrap();
    let mut written = String::new();
    assert!(fmt::write(&mut written, format_args!("{}", Shown(&ours))).is_err(), "{written}");
    assert_eq!(Shown(&Number::from_f64(ours.as_f64().unwrap()).unwrap()).to_string(), "0.1");
    let half: Number = jird_serde_json::from_str("1.50").unwrap();
    assert_eq!(Shown(&half).to_string(), "1.5");
}

#[test]
fn trees_of_the_other_crate() {
    let theirs = serde_json::json!({"a": [1, 2.5, null]});
    let ours = Value::from(theirs.clone());
    assert_eq!(ours, json!({"a": [1, 2.5, null]}));
    assert_eq!(serde_json::Value::try_from(ours).unwrap(), theirs);
    let lost: Value = jird_serde_json::from_str("0.1000000000000000001").unwrap();
    assert!(serde_json::Value::try_from(lost).unwrap_err().to_string().contains("loses"));
}

/// Counts the calls of a writer, and wants whole characters.
#[derive(Default)]
struct Calls(usize);

impl Write for Calls {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        assert!(std::str::from_utf8(text).is_ok());
        self.0 += 1;
        Ok(text.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_writers_receive() {
    let values: Vec<String> = (0..10_000).map(|n| format!("é{n}")).collect();
    let (mut theirs, mut ours) = (Calls::default(), Calls::default());
    serde_json::to_writer(&mut theirs, &values).unwrap();
    jird_serde_json::to_writer(&mut ours, &values).unwrap();
    assert!(theirs.0 > 20_000 && ours.0 < 100, "{} {}", theirs.0, ours.0);
}

/// Gives all it has, and notes how much was asked for.
struct Asked<'a>(&'a [u8], Vec<usize>);

impl Read for Asked<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.1.push(to.len());
        self.0.read(to)
    }
}

#[test]
fn what_readers_are_asked_for() {
    let text = format!("[{}0]", "1, ".repeat(10_000));
    let mut theirs = Asked(text.as_bytes(), Vec::new());
    serde_json::from_reader::<_, Vec<u8>>(&mut theirs).unwrap();
    let mut ours = Asked(text.as_bytes(), Vec::new());
    jird_serde_json::from_reader::<_, Vec<u8>>(&mut ours).unwrap();
    assert!(theirs.1.iter().all(|&len| len == 1) && theirs.1.len() > text.len());
    assert!(ours.1.len() < 100, "{}", ours.1.len());
}

#[test]
fn errors_in_long_texts() {
    let text = format!("[\n{}?]", "\"some text of no use\",\n".repeat(800_000));
    assert!(text.len() > 16 << 20);
    let theirs = serde_json::from_reader::<_, Vec<String>>(io::BufReader::new(text.as_bytes())).unwrap_err();
    let ours = jird_serde_json::from_reader::<_, Vec<String>>(text.as_bytes()).unwrap_err();
    assert_eq!((ours.line(), ours.column(), ours.classify()), (theirs.line(), theirs.column(), theirs.classify()));
    let short = jird_serde_json::from_reader::<_, Vec<String>>(&text.as_bytes()[text.len() - 100..]).unwrap_err();
    assert!(short.is_data() || short.is_syntax());
}

#[test]
fn words_of_errors_in_trees() {
    fn words<T: for<'de> Deserialize<'de> + fmt::Debug>(text: &str) -> String {
        T::deserialize(&mut jird_serde_json::Deserializer::from_str(text)).unwrap_err().to_string()
    }
    assert!(words::<serde_json::Value>("[1,]").starts_with("trailing comma"));
    assert!(words::<Value>("[1,]").starts_with("expected value"));
    assert!(jird_serde_json::from_str::<Value>("[1,]").unwrap_err().to_string().starts_with("trailing comma"));
}

#[test]
fn depth_of_trees() {
    fn read<T: for<'de> Deserialize<'de>>(text: &str) -> jird_serde_json::Result<T> {
        let mut deserializer = jird_serde_json::Deserializer::from_str(text);
        deserializer.disable_recursion_limit();
        T::deserialize(&mut deserializer)
    }
    let deep = "[".repeat(300) + &"]".repeat(300);
    assert!(read::<serde_json::Value>(&deep).is_ok());
    assert!(read::<Value>(&deep).unwrap_err().is_data());
    // Within 127 levels of its own, a tree may stand at any depth.
    let within = "[".repeat(100) + &"]".repeat(100);
    assert!(read::<Value>(&within).is_ok());
}

#[test]
fn numbers_cut_in_streams() {
    for cut in ["{\"x\":4.", "[-", "4e", "4e+"] {
        let theirs = jird_serde_json::Deserializer::from_str(cut).into_iter::<serde_json::Value>().next();
        assert!(theirs.unwrap().unwrap_err().is_eof(), "{cut}");
        let ours = jird_serde_json::Deserializer::from_str(cut).into_iter::<Value>().next().unwrap().unwrap_err();
        assert!(ours.is_syntax() && ours.to_string().starts_with("invalid number"), "{cut}: {ours}");
        let whole = jird_serde_json::from_str::<Value>(cut).unwrap_err();
        assert_eq!(whole.to_string(), serde_json::from_str::<serde_json::Value>(cut).unwrap_err().to_string());
        let blocks = jird_serde_json::blocks::ValueReader::new(cut.as_bytes()).read::<Value>().unwrap_err();
        assert!(blocks.is_eof(), "{cut}: {blocks}");
    }
    // What is cut elsewhere ends too early for both.
    for cut in ["{\"x\":tr", "[\"a\\u00", "[\"\\ud800", "[\"\\ud800\\u", "{\"x\"", "[1", "\"a\\", "nul"] {
        let ours = jird_serde_json::Deserializer::from_str(cut).into_iter::<Value>().next().unwrap().unwrap_err();
        let theirs = jird_serde_json::Deserializer::from_str(cut).into_iter::<serde_json::Value>().next();
        assert_eq!(ours.is_eof(), theirs.unwrap().unwrap_err().is_eof(), "{cut}: {ours}");
    }
}

#[test]
fn places_of_the_errors_of_readers() {
    struct Fails<'a>(&'a [u8]);
    impl Read for Fails<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() { Err(io::Error::from_raw_os_error(104)) } else { self.0.read(to) }
        }
    }
    let mut places = Vec::new();
    for text in ["[1, ", "[\"a", "{\"a\": 1"] {
        let ours = Value::deserialize(&mut jird_serde_json::Deserializer::from_reader(Fails(text.as_bytes())));
        let ours = ours.unwrap_err();
        assert_eq!((ours.line(), ours.is_io()), (0, true), "{text}");
        let theirs = serde_json::from_reader::<_, serde_json::Value>(Fails(text.as_bytes())).unwrap_err();
        places.push(theirs.line());
    }
    assert!(places.iter().any(|&line| line > 0), "{places:?}");
}

#[test]
fn types_that_break_serde_s_rules() {
    /// Continues after one of its parts has failed.
    struct GoesOn;
    impl Serialize for GoesOn {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut list = serializer.serialize_seq(None)?;
            let _ = list.serialize_element(&BTreeMap::from([((), 1)]));
            list.end()
        }
    }
    /// Has elements, and says that it has none.
    struct Lies;
    impl Serialize for Lies {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut list = serializer.serialize_seq(Some(0))?;
            list.serialize_element(&1)?;
            list.end()
        }
    }
    assert!(serde_json::from_str::<Value>(&serde_json::to_string(&GoesOn).unwrap()).is_err());
    assert!(jird_serde_json::to_string(&GoesOn).is_err());
    assert_eq!(serde_json::to_string(&Lies).unwrap(), "[],1]");
    assert_eq!(jird_serde_json::to_string(&Lies).unwrap(), "[1]");
}

#[test]
fn refused_texts_are_read_twice() {
    thread_local! {
        static CALLS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }
    #[derive(Debug)]
    struct Counts;
    impl<'de> Deserialize<'de> for Counts {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            CALLS.set(CALLS.get() + 1);
            u8::deserialize(deserializer).map(|_| Counts)
        }
    }
    assert!(serde_json::from_str::<Counts>("\"x\"").is_err());
    assert_eq!(CALLS.replace(0), 1);
    assert!(jird_serde_json::from_str::<Counts>("\"x\"").is_err());
    assert!(CALLS.replace(0) > 1);
    assert!(jird_serde_json::from_str::<Counts>("1").is_ok());
    assert_eq!(CALLS.get(), 1);
}
