//! Decoding, compared with `serde_json`: the same texts are taken, with the same values; and where a text is refused, it is
//! for the same kind of reason.
#![allow(clippy::zero_sized_map_values, reason = "serde's data model has everything")]

mod common;

use jird::{Category, Deserializer, Kernel};
use proptest::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::io::{self, Read};

/// A reader that gives as much at a time as the pattern says.
struct Drops<'a>(&'a [u8], usize);

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.0.len().min(buffer.len()).min(self.1);
        let (now, later) = self.0.split_at(len);
        buffer[..len].copy_from_slice(now);
        self.0 = later;
        Ok(len)
    }
}

type Outcome<T> = Result<T, Category>;

fn theirs<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Outcome<T> {
    serde_json::from_slice(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Io => Category::Io,
        serde_json::error::Category::Syntax => Category::Syntax,
        serde_json::error::Category::Data => Category::Data,
        serde_json::error::Category::Eof => Category::Eof,
    })
}

/// Decodes in every way there is; all give the same.
fn ours<T: DeserializeOwned + Debug + PartialEq>(text: &[u8]) -> Result<T, jird::Error> {
    let wanted = jird::from_slice::<T>(text);
    let shown = || String::from_utf8_lossy(&text[..text.len().min(400)]).into_owned();
    let agrees = |name: &str, found: Result<T, jird::Error>| match (&wanted, &found) {
        (Ok(wanted), Ok(found)) => assert_eq!(format!("{wanted:?}"), format!("{found:?}"), "{name}: {}", shown()),
        (Err(wanted), Err(found)) => {
            let seen = |error: &jird::Error| (error.to_string(), error.offset(), error.classify());
            assert_eq!(seen(wanted), seen(found), "{name}: {}", shown());
        }
        _ => panic!("{name}: {wanted:?} and {found:?} of {}", shown()),
    };
    for chunk_bytes in [64, 128, 320] {
        agrees("chunks", Deserializer::from_slice(text).with_chunk_bytes(chunk_bytes).whole());
        let reader = Drops(text, chunk_bytes / 9);
        agrees("reader", Deserializer::from_reader(reader).with_chunk_bytes(chunk_bytes).whole());
    }
    agrees("from_reader", jird::from_reader(text));
    // What was parsed before is decoded to the same, or refused in the same place.
    if let Ok(document) = jird::parse(text) {
        match (&wanted, document.decode::<T>()) {
            (Ok(wanted), Ok(found)) => assert_eq!(format!("{wanted:?}"), format!("{found:?}"), "tree: {}", shown()),
            (Err(wanted), Err(found)) => {
                assert_eq!(wanted.path(), found.path(), "tree: {wanted}, {found}: {}", shown());
            }
            (_, found) => panic!("tree: {wanted:?} and {found:?} of {}", shown()),
        }
    }
    wanted
}

/// The same outcome as `serde_json`'s.
fn same<T: DeserializeOwned + Debug + PartialEq>(text: &[u8]) {
    let (wanted, found) = (theirs::<T>(text), ours::<T>(text));
    let shown = String::from_utf8_lossy(&text[..text.len().min(400)]);
    match (wanted, found) {
        // NaN is nowhere to be had.
        (Ok(wanted), Ok(found)) => assert_eq!(format!("{wanted:?}"), format!("{found:?}"), "{shown}"),
        (Err(wanted), Err(found)) => {
            // What is glued to a number or a literal makes it none, before anybody asks of which type it is.
            let glued = matches!(found.code(), "number" | "literal") && wanted == Category::Data;
            // And of a number that ends too early it does not always say that the text ended.
            let cut = found.code() == "number" && found.is_eof() && wanted == Category::Syntax;
            // Where fewer than four bytes are left it does not look for hexadecimal digits.
            let hex = found.code() == "escape" && wanted == Category::Eof;
            assert!(glued || cut || hex || found.classify() == wanted, "{wanted:?} of serde_json, {found}: {shown}");
            assert!(found.offset() <= text.len() as u64 && found.line() > 0);
            place(text, &found);
        }
        (wanted, found) => panic!("{wanted:?} of serde_json, {found:?} of jird: {shown}"),
    }
}

/// Line and column are those of the offset.
fn place(text: &[u8], error: &jird::Error) {
    let before = &text[..usize::try_from(error.offset()).unwrap()];
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1);
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    assert_eq!((error.line(), error.column()), (line, before.len() - start + 1));
}

#[derive(Deserialize, Debug, PartialEq)]
struct Plain {
    a: u64,
    b: String,
    #[serde(default)]
    c: Option<f64>,
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
struct Strict {
    a: i8,
    #[serde(default)]
    b: Vec<Strict>,
}

#[derive(Deserialize, Debug, PartialEq)]
struct Flat {
    a: u64,
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    rest: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize, Debug, PartialEq)]
struct Inner {
    b: Option<String>,
}

#[derive(Deserialize, Debug, PartialEq)]
struct Unit;
#[derive(Deserialize, Debug, PartialEq)]
struct Newtype(Option<u16>);
#[derive(Deserialize, Debug, PartialEq)]
struct Pair(u8, String);

#[derive(Deserialize, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Name {
    A,
    B,
    #[serde(other)]
    Other,
}

#[derive(Deserialize, Debug, PartialEq)]
enum External {
    A,
    B(u8),
    C(u8, String),
    D { a: bool },
    E(Vec<External>),
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(tag = "t")]
enum Internal {
    A,
    B(Inner),
    D { a: bool },
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    A,
    B(u8),
    C(u8, String),
    D { a: bool },
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(untagged)]
enum Untagged {
    U(u8),
    I(i64),
    F(f64),
    B(bool),
    S(String),
    L(Vec<Untagged>),
    D { a: bool },
    M(BTreeMap<String, Untagged>),
    N(()),
}

/// Every shape of serde's data model.
fn all_types(text: &[u8]) {
    macro_rules! each {
        ($($type:ty),* $(,)?) => { $(same::<$type>(text);)* };
    }
    each!(
        serde_json::Value,
        (),
        bool,
        u8,
        i8,
        u16,
        i16,
        u32,
        i32,
        u64,
        i64,
        f32,
        f64,
        char,
        String,
        Option<String>,
        Option<Option<u8>>,
        Box<str>,
        Vec<u8>,
        Vec<String>,
        Vec<serde_json::Value>,
        Vec<Vec<f64>>,
        (u8, String),
        (f64,),
        [i32; 2],
        BTreeMap<String, serde_json::Value>,
        BTreeMap<u8, ()>,
        BTreeMap<i64, f64>,
        BTreeMap<char, String>,
        BTreeMap<Option<i32>, u8>,
        BTreeMap<Name, Vec<u8>>,
        BTreeMap<String, Option<Plain>>,
        Plain,
        Vec<Plain>,
        Strict,
        Flat,
        Inner,
        Unit,
        Newtype,
        Pair,
        Name,
        External,
        Vec<External>,
        Internal,
        Adjacent,
        Untagged,
        serde::de::IgnoredAny,
        std::time::Duration,
        std::net::IpAddr,
        Result<u8, String>,
        std::ops::Range<u8>,
    );
}

/// Where `serde_json` calls syntax what is another type: an integer of 128 bits is wanted and something else is there, and a
/// key that is to be a boolean.
fn nearly_same<T: DeserializeOwned + Debug + PartialEq>(text: &[u8]) {
    let (wanted, found) = (theirs::<T>(text), ours::<T>(text));
    match (wanted, found) {
        (Ok(wanted), Ok(found)) => assert_eq!(wanted, found),
        (Err(_), Err(_)) => {}
        // Bytes are those of text, and text is what JSON says.
        (Ok(_), Err(error)) if matches!(error.code(), "control" | "utf8" | "escape") => {}
        (wanted, found) => panic!("{wanted:?} of serde_json, {found:?} of jird"),
    }
}

fn wide(text: &[u8]) {
    nearly_same::<i128>(text);
    nearly_same::<u128>(text);
    nearly_same::<Vec<i128>>(text);
    nearly_same::<BTreeMap<i128, u128>>(text);
    nearly_same::<BTreeMap<bool, u8>>(text);
    nearly_same::<serde_bytes::ByteBuf>(text);
    nearly_same::<Vec<serde_bytes::ByteBuf>>(text);
}

const TEXTS: &[&str] = &[
    "",
    " ",
    "null",
    "true",
    "false",
    "nul",
    "nulll",
    "tru",
    "truE",
    "fals",
    "falsey",
    "1",
    "0",
    "-0",
    "-",
    "- ",
    "01",
    "-01",
    "1.",
    "1.5",
    "-1.5e3",
    "1e",
    "1e+",
    "1e400",
    "-1e400",
    "1e-400",
    "255",
    "256",
    "-128",
    "-129",
    "65536",
    "4294967296",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "1.0",
    "1e2",
    "0.1",
    "3.4028236e38",
    "1e39",
    "16777217.0",
    "123456789012345678901234567890",
    "1 2",
    "1,",
    "+1",
    ".5",
    "NaN",
    "Infinity",
    "\"\"",
    "\"a\"",
    "\"A\"",
    "\"B\"",
    "\"C\"",
    "\"é\"",
    "\"日本\"",
    "\"\\u0041\"",
    "\"\\n\"",
    "\"\\ud83d\\ude00\"",
    "\"\\uFFFF\"",
    "\"\\x\"",
    "\"\\u12\"",
    "\"\\u12",
    "\"a",
    "\"a\\",
    "\"a\\\"",
    "\"\t\"",
    "\"a\" x",
    "\"127.0.0.1\"",
    "[]",
    "[ ]",
    "[1]",
    "[1,2]",
    "[1,2,3]",
    "[1 2]",
    "[1,]",
    "[,1]",
    "[,]",
    "[1",
    "[1,",
    "[",
    "]",
    "[]]",
    "[1,\"a\"]",
    "[1,\"a\",null]",
    "[\"a\",\"b\"]",
    "[1.5,2]",
    "[[1],[2,3]]",
    "[[1.5]]",
    "[256]",
    "[-1]",
    "[null]",
    "[[[[[[]]]]]]",
    "[}",
    "[1}",
    "{}",
    "{ }",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1",
    "{\"a\":1,",
    "{\"a\":1,}",
    "{,}",
    "{1:2}",
    "{\"a\" 1}",
    "{\"a\":1 \"b\":2}",
    "{\"a\":1,\"b\":\"x\"}",
    "{\"a\":1,\"b\":\"x\",\"c\":2.5}",
    "{\"b\":\"x\",\"a\":1,\"z\":[1,{}]}",
    "{\"a\":1,\"a\":2,\"b\":\"\"}",
    "{\"a\":\"1\",\"b\":\"x\"}",
    "{\"a\":1,\"b\":null}",
    "{\"a\":1,\"b\":[{\"a\":2}]}",
    "{\"a\":1,\"b\":[{\"a\":2,\"z\":1}]}",
    "{\"a\":1]",
    "{\"\\u0061\":1,\"b\":\"x\"}",
    "{\"1\":null}",
    "{\"1\":2}",
    "{\"-1\":2}",
    "{\"256\":null}",
    "{\"1.5\":1}",
    "{\"01\":1}",
    "{\" 1\":1}",
    "{\"1 \":1}",
    "{\"true\":1,\"false\":2}",
    "{\"tru\":1}",
    "{\"é\":\"e\"}",
    "{\"ab\":\"e\"}",
    "{\"A\":[1]}",
    "{\"B\":1}",
    "{\"B\":256}",
    "{\"B\":1,\"A\":null}",
    "{\"A\":null}",
    "{\"C\":[1,\"x\"]}",
    "{\"C\":[1]}",
    "{\"C\":[1,\"x\",2]}",
    "{\"D\":{\"a\":true}}",
    "{\"D\":{\"a\":1}}",
    "{\"D\":[true]}",
    "{\"E\":[\"A\",{\"B\":2},{\"E\":[]}]}",
    "{\"E\":[\"A\",{\"B\":2}",
    "{\"Z\":1}",
    "{\"t\":\"A\"}",
    "{\"t\":\"B\",\"b\":\"x\"}",
    "{\"t\":\"D\",\"a\":true}",
    "{\"a\":true,\"t\":\"D\"}",
    "{\"a\":true}",
    "{\"t\":\"B\",\"c\":1}",
    "{\"c\":1,\"t\":\"B\"}",
    "{\"t\":\"C\",\"c\":[1,\"x\"]}",
    "{\"t\":\"D\",\"c\":{\"a\":false}}",
    "{\"t\":\"Z\"}",
    "{\"t\":1}",
    "{\"secs\":1,\"nanos\":2}",
    "{\"Ok\":1}",
    "{\"Err\":\"x\"}",
    "{\"start\":1,\"end\":2}",
    "{\"340282366920938463463374607431768211455\":1}",
    "{\"a\":{\"a\":1,\"b\":\"x\"},\"b\":null}",
    "\u{6c0}",
    "[\u{6c0}",
    "[\u{6c0}1]",
    "[1\u{740}",
    "[1\u{740},2]",
    "{\"a\":[1\u{740}}",
    "\u{feff}1",
    "[1]\u{0}",
    "\u{0}",
    "é",
    "[é]",
    "/**/1",
    "'a'",
    "[1]\n\n\t\r ",
    "\n\n[1,\n x]",
    "{\"a\":1,\n\"b\":2}",
    "{\"a\": 1 ,\"b\" : \"x\" }",
    "{\"a\":tru}",
    "[nul",
    "[true,fals]",
    "[ 1 , \"a\" ]",
    "{\"x\":1e999}",
    "{\"x\":01}",
    "{\"x\":\"\\q\"}",
    "{\"x\":[1,2}",
    "{\"x\":{]}",
    "[1,2 ,3 ] ]",
    "\u{fb}",
    "[\u{fb}]",
    "{\"a\":\u{fd}",
    "Û",
    "[Û",
    "[1Ý",
    "{\"k\":Û1]}",
];

#[test]
fn every_shape_of_the_data_model_takes_what_serde_json_takes() {
    common::force_kernel();
    for text in TEXTS {
        all_types(text.as_bytes());
        wide(text.as_bytes());
    }
}

#[test]
fn each_beginning_and_each_changed_byte_of_a_document_is_judged_alike() {
    common::force_kernel();
    let text = r#"{"a": 1, "b": "x\ud83d\ude00é", "c": -1.5e3, "z": [true, {"k": null}, "\u0000", 12]}"#;
    for end in 0..text.len() {
        let text = &text.as_bytes()[..end];
        same::<Plain>(text);
        same::<serde_json::Value>(text);
        same::<Flat>(text);
    }
    for at in 0..text.len() {
        for byte in *b"\"\\{}[]:, 0a-\x01\n" {
            let mut text = text.as_bytes().to_vec();
            text[at] = byte;
            if core::str::from_utf8(&text).is_ok() {
                same::<serde_json::Value>(&text);
                same::<Flat>(&text);
            }
        }
    }
}

#[test]
fn arrays_may_be_as_deep_as_with_serde_json_and_what_is_ignored_deeper() {
    common::force_kernel();
    for depth in [126, 127, 128, 200] {
        same::<serde_json::Value>(&[b"[".repeat(depth), b"]".repeat(depth)].concat());
        same::<serde_json::Value>(&[b"{\"a\":".repeat(depth), b"1".to_vec(), b"}".repeat(depth)].concat());
    }
    for depth in [1, 63, 64, 65, 128, 129, 5000] {
        for text in [
            [b"[".repeat(depth), b"]".repeat(depth)].concat(),
            [b"[{\"a\":".repeat(depth), b"1".to_vec(), b"}]".repeat(depth)].concat(),
            [b"[{\"a\":".repeat(depth), b"1".to_vec(), b"]}".repeat(depth)].concat(),
            [b"[".repeat(depth), b"]".repeat(depth + 1)].concat(),
            [b"[".repeat(depth + 1), b"]".repeat(depth)].concat(),
        ] {
            same::<serde::de::IgnoredAny>(&text);
        }
    }
    let deep = [b"[".repeat(128), b"]".repeat(128)].concat();
    let mut deserializer = Deserializer::from_slice(&deep).with_depth_max(128);
    assert!(serde_json::Value::deserialize(&mut deserializer).is_ok());
}

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
    assert_eq!(error.to_string(), "a: invalid type: string \"\\n\", expected a borrowed string at line 1 column 7");
    assert!(error.is_data());
}

#[test]
fn an_error_says_where_the_value_is() {
    #[derive(Deserialize, Debug)]
    #[allow(dead_code)]
    struct Timeline {
        statuses: Vec<Status>,
    }
    #[derive(Deserialize, Debug)]
    #[allow(dead_code)]
    struct Status {
        #[serde(rename = "user name")]
        user: Option<User>,
    }
    #[derive(Deserialize, Debug)]
    #[allow(dead_code)]
    struct User {
        id: u64,
        #[serde(default)]
        names: BTreeMap<String, (u8, Name)>,
    }
    let check = |text: &str, wanted: &str| {
        let error = jird::from_str::<Timeline>(text).unwrap_err();
        assert_eq!(error.to_string(), wanted);
        place(text.as_bytes(), &error);
        let read = jird::from_reader::<_, Timeline>(Drops(text.as_bytes(), 7)).unwrap_err();
        assert_eq!(read.to_string(), wanted);
    };
    check(
        "{\"statuses\": [{},\n {\"user name\": {\"id\": \"7\"}}]}",
        "statuses[1][\"user name\"].id: invalid type: string \"7\", expected u64 at line 2 column 23",
    );
    check(
        "{\"statuses\": [{\"user name\": {\n}}]}",
        "statuses[0][\"user name\"]: missing field `id` at line 2 column 1",
    );
    check(
        "{\"statuses\": [{\"user name\": {\"id\": 1, \"id\"",
        "statuses[0][\"user name\"]: duplicate field `id` at line 1 column 39",
    );
    check(
        "{\"statuses\": [{\"user name\": {\"id\": 1, \"names\": {\"x\\u0041\": [1]}}}]}",
        "statuses[0][\"user name\"].names.xA: invalid length 1, expected a tuple of size 2 at line 1 column 62",
    );
    check(
        "{\"statuses\": [{\"user name\": {\"id\": 1.5}}]}",
        "statuses[0][\"user name\"].id: invalid type: floating point `1.5`, expected u64 at line 1 column 36",
    );
    check(
        "{\"statuses\": [{\"user name\": {\"id\": tru}}]}",
        "statuses[0][\"user name\"].id: expected `true`, `false` or `null` at line 1 column 39",
    );
    check("{\"statuses\": null}", "statuses: invalid type: null, expected a sequence at line 1 column 14");
    check("[1,2]", "[0]: invalid type: integer `1`, expected a sequence at line 1 column 2");
    check("", "expected a value, found nothing at line 1 column 1");
}

#[test]
fn a_path_shows_no_more_than_somebody_reads() {
    let text = format!("{}{{\"{}\":x", "{\"a\":[".repeat(60), "k".repeat(1000));
    let error = jird::from_str::<serde_json::Value>(&text).unwrap_err();
    assert!(error.path().contains("…(89 more)…") && error.path().len() < 300, "{}", error.path());
}

#[test]
fn a_stream_gives_what_serde_json_gives() {
    common::force_kernel();
    for text in [
        "",
        " ",
        "1",
        "1 2 3",
        "1 \"a\"[2]{}\n null true",
        "[1][2]",
        "1 x",
        "1,2",
        "[1",
        "12 \"a",
        "{} tru",
        "\"a\u{1}b\"",
    ] {
        let mut wanted = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
        for chunk_bytes in [64, 1 << 16] {
            let mut found = Deserializer::from_str(text).with_chunk_bytes(chunk_bytes).into_iter::<serde_json::Value>();
            let mut read = Deserializer::from_reader(Drops(text.as_bytes(), 1)).into_iter::<serde_json::Value>();
            for wanted in wanted.by_ref() {
                let (found, read) = (found.next().unwrap(), read.next().unwrap());
                assert_eq!(found.as_ref().ok(), wanted.as_ref().ok(), "{text}");
                assert_eq!(read.as_ref().ok(), wanted.as_ref().ok(), "{text}");
                if wanted.is_err() {
                    break;
                }
            }
            assert!(found.next().is_none() && read.next().is_none());
            assert_eq!(found.byte_offset(), read.byte_offset());
            wanted = serde_json::Deserializer::from_str(text).into_iter();
        }
    }
    let mut stream = Deserializer::from_str(" [1] 22  true x").into_iter::<serde_json::Value>();
    let mut offsets = vec![stream.byte_offset()];
    while stream.next().is_some() {
        offsets.push(stream.byte_offset());
    }
    assert_eq!(offsets, [0, 4, 7, 13, 13]);
}

#[test]
fn a_reader_that_fails_is_an_error_of_io() {
    struct Fails(usize);
    impl Read for Fails {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            let len = self.0.min(buffer.len());
            buffer[..len].fill(b'[');
            self.0 -= len;
            Ok(len)
        }
    }
    for len in [0, 1, 50, 100] {
        let error = jird::from_reader::<_, serde_json::Value>(Fails(len)).unwrap_err();
        assert!(error.is_io() && error.io_error_kind() == Some(io::ErrorKind::ConnectionReset), "{error}");
    }
    assert!(jird::from_reader::<_, serde_json::Value>(Fails(1000)).unwrap_err().is_syntax(), "too deep before");
}

#[test]
fn a_long_text_from_a_reader_takes_little_memory() {
    struct Endless(u64);
    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            const PIECE: &[u8; 41] = b"{\"id\": 123456789, \"name\": \"somebody\\n\"},\n";
            assert!(buffer.len() < 1 << 20, "so much is read at a time");
            let len = buffer.len().min(usize::try_from(self.0).unwrap());
            for (index, byte) in buffer[..len].iter_mut().enumerate() {
                *byte = PIECE[(usize::try_from(self.0).unwrap() * (PIECE.len() - 1) + index) % PIECE.len()];
            }
            self.0 -= len as u64;
            Ok(len)
        }
    }
    let items = 400_000 * 41;
    let text = io::Cursor::new("[").chain(Endless(items)).chain(io::Cursor::new("{}]"));
    let error = jird::from_reader::<_, Vec<serde::de::IgnoredAny>>(text.take(9_000_000)).unwrap_err();
    assert!(error.is_eof() && error.offset() == 9_000_000, "{error}");
    let text = io::Cursor::new("[").chain(Endless(items)).chain(io::Cursor::new("{}]"));
    let all: Vec<serde::de::IgnoredAny> = jird::from_reader(text).unwrap();
    assert_eq!(all.len() as u64, items / 41 + 1);
}

#[test]
fn errors_that_somebody_catches_take_linear_time() {
    /// A number, or whatever.
    struct Lenient;
    impl<'de> Deserialize<'de> for Lenient {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let _ = bool::deserialize(deserializer);
            Ok(Self)
        }
    }
    let text = format!("[{}1]", "1,".repeat(2_000_000));
    let begun = std::time::Instant::now();
    assert_eq!(jird::from_str::<Vec<Lenient>>(&text).unwrap().len(), 2_000_001);
    assert!(begun.elapsed().as_secs() < 20);
}

/// Texts that are JSON, or nearly.
fn nearly_json() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"a\"",
        "\"b\"",
        "\"c\"",
        "\"t\"",
        "\"A\"",
        "\"\\u0061\"",
        "\"x\"",
        "1",
        "-1",
        "2.5",
        "0",
        "256",
        "true",
        "false",
        "null",
        " ",
        "\n",
        "{\"a\":1,\"b\":\"x\"}",
        "\"a\":1",
        "\"b\":\"x\",",
        "[1,2]",
        "\"é\"",
        "{\"t\":\"A\"}",
        "Û",
    ]);
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::{Value, json};
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0_u8..20).prop_map(Value::from),
        any::<f64>().prop_map(|value| json!(value)),
        ".{0,12}".prop_map(Value::from),
        "[abct\"\\\\\u{1}]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[abctABCD]|.{0,5}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_nearly_json_is_judged_alike(text in nearly_json()) {
        common::force_kernel();
        all_types(text.as_bytes());
    }

    #[test]
    fn every_document_has_the_same_value(value in json(), pretty in any::<bool>()) {
        common::force_kernel();
        let text = if pretty { serde_json::to_vec_pretty(&value) } else { serde_json::to_vec(&value) }.unwrap();
        all_types(&text);
        prop_assert_eq!(ours::<serde_json::Value>(&text).unwrap(), theirs::<serde_json::Value>(&text).unwrap());
    }

    #[test]
    fn any_bytes_are_taken_or_refused_alike(
        value in json(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..3),
    ) {
        common::force_kernel();
        let mut text = serde_json::to_vec(&value).unwrap();
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        let (wanted, found) = (theirs::<serde_json::Value>(&text), ours::<serde_json::Value>(&text));
        prop_assert_eq!(wanted.as_ref().ok().map(ToString::to_string), found.as_ref().ok().map(ToString::to_string));
        if let Err(error) = found {
            place(&text, &error);
            if core::str::from_utf8(&text).is_ok() {
                prop_assert_eq!(wanted.err(), Some(error.classify()), "{}", error);
            }
        }
    }
}

#[test]
fn every_kernel_decodes_the_same() {
    let _ = Kernel::available().count();
    common::force_kernel();
    for text in TEXTS {
        // The same, where a block or a chunk ends.
        for pad in [40, 55, 58, 60, 61, 62, 63, 64, 120] {
            let text = [" ".repeat(pad).as_bytes(), text.as_bytes(), b" "].concat();
            same::<serde_json::Value>(&text);
            same::<Plain>(&text);
        }
    }
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
    assert!(error.is_data() && error.to_string().starts_with("[1]: invalid value: "), "{error}");
    // Where serde buffers values, the text of numbers is lost, but not the numbers.
    let flat: Flattened = jird::from_str("{\"a\": 1.50, \"b\": 7}").unwrap();
    assert_eq!((flat.all["a"].to_string(), flat.all["b"].to_string()), ("1.5".into(), "7".into()));
}

#[test]
fn lines_are_decoded_in_order_on_any_number_of_threads() {
    #[derive(Deserialize, PartialEq, Debug)]
    struct Event {
        id: u64,
    }
    let mut text = String::new();
    for id in 0..60_000 {
        if id % 7919 == 0 {
            text.push_str("\r\n  \n{\"id\": true}\n");
        }
        let _ = writeln!(text, "{{\"id\": {id}, \"text\": \"some more\"}}");
    }
    text.truncate(text.len() - 1);
    let wanted: Vec<_> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| serde_json::from_str::<Event>(line).map_err(|_| (index + 1, 8)))
        .collect();
    for threads in [1, 2, 5] {
        let reader = io::Cursor::new(text.clone().into_bytes());
        let found: Vec<_> = jird::lines::typed_on::<Event>(reader, threads)
            .map(|event| {
                event.map_err(|error| {
                    place(text.as_bytes(), &error);
                    (error.line(), error.column())
                })
            })
            .collect();
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(&wanted) {
            assert_eq!(found.as_ref().ok(), wanted.as_ref().ok());
            assert_eq!(found.as_ref().err(), wanted.as_ref().err());
        }
        // Whoever loses interest stops the threads.
        let reader = io::Cursor::new(text.clone().into_bytes());
        assert_eq!(jird::lines::typed_on::<Event>(reader, threads).nth(2).unwrap().unwrap(), Event { id: 1 });
    }
}
