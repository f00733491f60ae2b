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
    assert!(begun.elapsed().as_secs() < 20);
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
                // What is no letter has quotes and brackets around it.
                let shown = |path: &str| {
                    let quoted = path.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                    quoted.map_or(path.to_owned(), |quoted| serde_json::from_str::<String>(quoted).unwrap())
                };
                assert_eq!(slice, read, "{text}");
                let shown = shown(&read);
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
