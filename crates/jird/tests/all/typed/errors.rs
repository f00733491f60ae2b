//! What errors say, and where.

use crate::typed::judge::{Drops, place};
use crate::typed::shapes::Name;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{self, Read};

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
        "invalid type: string \"7\", expected u64 at line 2 column 23 (at /statuses/1/user name/id)",
    );
    check(
        "{\"statuses\": [{\"user name\": {\n}}]}",
        "missing field `id` at line 2 column 1 (at /statuses/0/user name)",
    );
    check(
        "{\"statuses\": [{\"user name\": {\"id\": 1, \"id\"",
        "duplicate field `id` at line 1 column 39 (at /statuses/0/user name)",
    );
    check(
        "{\"statuses\": [{\"user name\": {\"id\": 1, \"names\": {\"x\\u0041\": [1]}}}]}",
        "invalid length 1, expected a tuple of size 2 at line 1 column 62 (at /statuses/0/user name/names/xA)",
    );
    check(
        "{\"statuses\": [{\"user name\": {\"id\": 1.5}}]}",
        "invalid type: floating point `1.5`, expected u64 at line 1 column 36 (at /statuses/0/user name/id)",
    );
    check(
        "{\"statuses\": [{\"user name\": {\"id\": tru}}]}",
        "expected `true`, `false` or `null` at line 1 column 39 (at /statuses/0/user name/id)",
    );
    check("{\"statuses\": null}", "invalid type: null, expected a sequence at line 1 column 14 (at /statuses)");
    check("[1,2]", "invalid type: integer `1`, expected a sequence at line 1 column 2 (at /0)");
    check("", "expected a value, found nothing at line 1 column 1");
}

#[test]
fn every_message_names_a_value_by_the_same_pointer() {
    let check = |key: &str, pointer: &str, shown: &str| {
        let in_text = serde_json::to_string(key).expect("a string");
        let path = jird::Path::root().key(key).index(0);
        assert_eq!(path.to_string(), pointer);
        assert_eq!(format!("{path:#}"), shown);
        assert_eq!(pointer.parse::<jird::event::Pattern>().expect("a pattern").to_string(), pointer);
        let parsed = format!("{{{in_text}:[7]}}");
        let document = jird::parse(parsed.as_bytes()).expect("it is JSON");
        assert_eq!(document.root().pointer(pointer).map(jird::Value::raw), Some(&b"7"[..]), "{key:?}");

        let text = format!("{{{in_text}:[\"7\"]}}");
        let at = text.len() - 5;
        let typed = jird::from_str::<BTreeMap<String, Vec<u8>>>(&text).unwrap_err();
        assert_eq!(typed.path(), pointer);
        let words = format!("invalid type: string \"7\", expected u8 at line 1 column {} (at {shown})", at + 1);
        assert_eq!(typed.to_string(), words);

        let text = text.replace("\"7\"", "x");
        let located = jird::validate(text.as_bytes()).unwrap_err().locate(text.as_bytes());
        assert_eq!(located.pointer(), pointer);
        assert_eq!(located.place().to_string(), format!("(byte {at}, at {shown})"));
        let words = format!("expected a value at line 1 column {} (byte {at}, at {shown})", at + 1);
        assert_eq!(format!("{located:#}"), words);
    };
    for (key, pointer) in [
        ("user", "/user/0"),
        ("", "//0"),
        (" ", "/ /0"),
        ("user name", "/user name/0"),
        ("a.b", "/a.b/0"),
        ("a/b", "/a~1b/0"),
        ("/", "/~1/0"),
        ("m~n", "/m~0n/0"),
        ("~1", "/~01/0"),
        ("~/~", "/~0~1~0/0"),
        ("0", "/0/0"),
        ("[0]", "/[0]/0"),
        ("*", "/*/0"),
        ("say \"hi\"", "/say \"hi\"/0"),
        ("a\\b", "/a\\b/0"),
        ("é😀", "/é😀/0"),
    ] {
        check(key, pointer, pointer);
    }
    check("\u{1b}[31m\n", "/\u{1b}[31m\n/0", "/␛[31m␊/0");
    check("a\tb\u{7f}\u{9b}", "/a\tb\u{7f}\u{9b}/0", "/a b␡�/0");
}

#[test]
fn a_path_shows_no_more_than_somebody_reads() {
    let text = format!("{}{{\"{}\":x", "{\"a\":[".repeat(60), "k".repeat(1000));
    let error = jird::from_str::<serde_json::Value>(&text).unwrap_err();
    assert!(error.path().contains("/…(89 more)/") && error.path().len() < 300, "{}", error.path());
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
    // Hours, if it were quadratic; an emulated and busy machine takes half a minute.
    assert!(begun.elapsed().as_secs() < 120);
}

#[test]
fn a_reader_shows_of_a_key_what_a_slice_shows_and_of_a_long_one_that_it_goes_on() {
    type Map = BTreeMap<String, u8>;
    let path = |error: jird::Error| error.path().to_owned();
    // Characters of a key as they may stand in a text, and what they mean.
    let pieces = [
        ("\\u0061", "a"),
        ("\\u00e9", "é"),
        ("\\ud83d\\ude00", "😀"),
        ("é", "é"),
        ("😀", "😀"),
        ("\\n", "\n"),
        ("xyz", "xyz"),
    ];
    let mut cut = 0;
    for (piece, meant) in pieces {
        for before in 0..13 {
            for count in 1..60 {
                let text = format!("{{\"{}{}\": \"no\"}}", "b".repeat(before), piece.repeat(count));
                let whole = "b".repeat(before) + &meant.repeat(count);
                let slice = path(jird::from_str::<Map>(&text).unwrap_err());
                let read = path(jird::from_reader::<_, Map>(text.as_bytes()).unwrap_err());
                assert_eq!(slice, read, "{text}");
                let shown = read.strip_prefix('/').expect("a pointer");
                if shown != whole {
                    let beginning = shown.strip_suffix('…').unwrap_or_else(|| panic!("{read} of {text}"));
                    assert!(whole.starts_with(beginning) && (15..=80).contains(&beginning.len()), "{read} of {text}");
                    cut += 1;
                }
            }
        }
    }
    assert!(cut > 100, "{cut}");
}

#[test]
fn a_path_has_the_names_of_variants() {
    #[derive(Debug, serde::Deserialize)]
    #[allow(dead_code, reason = "only read")]
    enum Event {
        A { x: u8 },
        B(u8),
        C(u8, u8),
    }
    let check = |text: &str, path: &str| {
        assert_eq!(jird::from_str::<Vec<Event>>(text).unwrap_err().path(), path, "{text}");
        let document = jird::parse(text.as_bytes()).unwrap();
        assert_eq!(document.decode::<Vec<Event>>().unwrap_err().path(), path, "{text}");
    };
    check(r#"[{"A": {"x": "1"}}]"#, "/0/A/x");
    check(r#"[{"B": 1}, {"B": []}]"#, "/1/B");
    check(r#"[{"C": [1, -1]}]"#, "/0/C/1");
}

#[test]
fn the_error_of_a_reader_comes_back_as_it_was() {
    struct Refuses;
    impl std::io::Read for Refuses {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::from_raw_os_error(104))
        }
    }
    let error = jird::from_reader::<_, u8>(Refuses).unwrap_err();
    assert_eq!(std::io::Error::from(error).raw_os_error(), Some(104));
}

#[test]
fn a_buffer_may_be_changed_while_a_deserializer_of_it_is_in_scope() {
    let mut buffer = b"1 2 ".to_vec();
    let mut stream = jird::Deserializer::from_slice(&buffer).into_iter::<u8>();
    assert!(stream.by_ref().all(|number| number.is_ok()));
    let end = stream.byte_offset();
    buffer.drain(..end);
    assert!(buffer.is_empty());
}
