//! What is borrowed, and what keeps every byte.

use crate::common;
use crate::typed::judge::Drops;
use jird::{Deserializer, NumberBuf, RawValue};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

#[test]
fn strings_without_escapes_are_borrowed() {
    #[derive(Deserialize, Debug, PartialEq)]
    struct Borrowing<'a> {
        a: &'a str,
        #[serde(borrow)]
        b: Cow<'a, str>,
        c: &'a [u8],
    }
    let text = br#"{"a": "x", "b": "y", "c": "z"}"#;
    let borrowed: Borrowing<'_> = jird::from_slice(text).unwrap();
    assert!(matches!(borrowed, Borrowing { a: "x", b: Cow::Borrowed("y"), c: b"z" }));
    assert!(text.as_ptr_range().contains(&borrowed.a.as_ptr()));
    let text = br#"{"a": "x", "b": "\u0079", "c": "z"}"#;
    assert!(matches!(jird::from_slice(text).unwrap(), Borrowing { b: Cow::Owned(_), .. }));
    let error = jird::from_slice::<Borrowing<'_>>(br#"{"a": "\n"}"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid type: string \"\\n\", expected a borrowed string at line 1 column 7 (at /a)"
    );
    assert!(error.is_data());
}

#[derive(Deserialize, serde::Serialize)]
struct Kept<'a> {
    #[serde(borrow)]
    a: &'a jird::RawValue,
    b: Box<jird::RawValue>,
    #[serde(borrow)]
    c: jird::Number<'a>,
    d: Vec<jird::NumberBuf>,
}

#[derive(Deserialize)]
struct Flattened {
    #[serde(flatten)]
    all: BTreeMap<String, jird::NumberBuf>,
}

#[test]
fn raw_text_and_numbers_keep_every_byte() {
    common::force_kernel();
    let long = format!("[{}]", "\"é\\n\", ".repeat(300) + "{}");
    for value in ["1.50", " \"\\u0041\" ", "{ \"k\" : [ ] }", "null", &long] {
        let text = format!("{{\"a\": {value}, \"b\": {value} , \"c\": -1.00e+2,\"d\":[1E400, 0.10 ]}}");
        let kept: Kept<'_> = jird::from_str(&text).unwrap();
        assert_eq!((kept.a.get(), kept.b.get()), (value.trim(), value.trim()));
        assert_eq!(
            (kept.c.text(), kept.d[0].to_string(), kept.d[1].to_string()),
            ("-1.00e+2", "1E400".into(), "0.10".into())
        );
        let again = jird::to_string(&kept).unwrap();
        let wanted = format!("{{\"a\":{0},\"b\":{0},\"c\":-1.00e+2,\"d\":[1E400,0.10]}}", value.trim());
        assert_eq!(again, wanted);
        let read: Vec<Box<jird::RawValue>> =
            Deserializer::from_reader(Drops(format!("[{value},{value}]").as_bytes(), 5))
                .with_chunk_bytes(64)
                .whole()
                .unwrap();
        assert_eq!(read[1].get(), value.trim());
    }
    // Raw values from a reader that has forgotten what came before them.
    let values: Vec<String> = (0..3000).map(|index| format!("[{index}, \"{}\"]", "x".repeat(index % 500))).collect();
    let text = format!("[{}]", values.join(", "));
    let read: Vec<Box<jird::RawValue>> = jird::from_reader(Drops(text.as_bytes(), 5000)).unwrap();
    assert!(read.iter().map(|raw| raw.get()).eq(values.iter().map(String::as_str)));
    for wrong in ["[1", "tru", "{\"a\"}", "\"\\x\"", "01"] {
        let wanted = jird::validate(wrong.as_bytes()).unwrap_err();
        assert_eq!(jird::from_str::<Box<jird::RawValue>>(wrong).unwrap_err().offset(), wanted.offset(), "{wrong}");
    }
    let error = jird::from_str::<Vec<jird::NumberBuf>>("[1, \"2\"]").unwrap_err();
    assert!(error.is_data() && error.to_string().starts_with("invalid value: ") && error.path() == "/1", "{error}");
    // Where serde buffers values, numbers keep their text too, unless two of them are one double.
    let flat: Flattened = jird::from_str("{\"a\": 1.50, \"b\": 7}").unwrap();
    assert_eq!((flat.all["a"].to_string(), flat.all["b"].to_string()), ("1.50".into(), "7".into()));
    let error = jird::from_str::<Flattened>("{\"a\": 1.50, \"b\": 1.5}").map(drop).unwrap_err();
    assert!(error.to_string().contains("the text of the number 1.5 was lost"), "{error}");
}

#[derive(Debug, Deserialize)]
struct Numbers {
    #[serde(flatten)]
    rest: BTreeMap<String, NumberBuf>,
}

#[test]
fn buffered_numbers_keep_their_text_as_long_as_their_deserializer_and_no_longer() {
    let text = |kept: &Numbers| kept.rest["n"].number().text().to_owned();
    // Decoded by the caller with one deserializer.
    let mut values = Deserializer::from_str(r#"{"n": 1.50} {"n": 1.500}"#);
    assert_eq!(text(&Numbers::deserialize(&mut values).expect("JSON")), "1.50");
    assert_eq!(text(&Numbers::deserialize(&mut values).expect("JSON")), "1.500");
    drop(values);
    // Decoded by an iterator.
    let stream = Deserializer::from_str(r#"{"n": 1.50} {"n": 1.500} {"n": 15e-1}"#).into_iter::<Numbers>();
    let texts: Vec<_> = stream.map(|kept| text(&kept.expect("JSON"))).collect();
    assert_eq!(texts, ["1.50", "1.500", "15e-1"]);
    // Nothing is left for another crate's buffer.
    let error = serde_json::from_str::<Numbers>(r#"{"n": 1.5}"#).expect_err("no text").to_string();
    assert!(error.contains("text of the number 1.5 was lost"), "{error}");
    // A type that panics leaves nothing either.
    let panics = || drop(jird::from_str::<(Numbers, Panics)>(r#"[{"n": 2.50}, 0]"#));
    assert!(std::panic::catch_unwind(panics).is_err());
    let error = serde_json::from_str::<Numbers>(r#"{"n": 2.5}"#).expect_err("no text").to_string();
    assert!(error.contains("text of the number 2.5 was lost"), "{error}");
}

struct Panics;

impl<'de> Deserialize<'de> for Panics {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("on purpose")
    }
}

#[test]
fn raw_text_is_a_deserializer_of_its_value() {
    let raw: &RawValue = jird::from_str(r#" {"n": [1, 1.50, "a\n"]} "#).expect("JSON");
    let read = BTreeMap::<String, (u8, NumberBuf, String)>::deserialize(raw).expect("the types fit");
    assert_eq!((read["n"].1.number().text(), &*read["n"].2), ("1.50", "a\n"));
    let error = BTreeMap::<String, Vec<u8>>::deserialize(raw).expect_err("1.50 is no integer");
    assert_eq!((error.path(), error.column()), ("/n/1", 11));
}

#[test]
fn raw_values_come_whole_out_of_a_window_that_moves() {
    // Now and then a value's last byte is the last one that was read before the window moves.
    let elements: Vec<_> = (0..40_000).map(|id| format!(r#"{{"id":{id},"a":["{}"]}}"#, "x".repeat(id % 131))).collect();
    let text = format!("[{}]", elements.join(" ,"));
    let raw: Vec<Box<RawValue>> = jird::from_reader(text.as_bytes()).expect("it is JSON");
    assert!(raw.iter().map(|raw| raw.get()).eq(&elements));
}
