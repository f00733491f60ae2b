//! Texts that begin with a byte order mark, or are UTF-16 or UTF-32: refused like any other text that is wrong there, and named.

use crate::common;

use jird::event::{Failure, Feed, JsonSource, Source};
use jird::hooks::event::Recording;
use jird::lines::{Options, Scanner};
use jird::{
    Encoding, Error,
    record::{Projection, Record, RecordBuffer},
};
use serde::de::IgnoredAny;
use std::ops::ControlFlow;

/// The text in UTF-16 or UTF-32.
fn encoded(text: &str, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Utf16LittleEndian => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Encoding::Utf16BigEndian => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        Encoding::Utf32LittleEndian => text.chars().flat_map(|char| u32::from(char).to_le_bytes()).collect(),
        Encoding::Utf32BigEndian => text.chars().flat_map(|char| u32::from(char).to_be_bytes()).collect(),
        _ => text.as_bytes().to_vec(),
    }
}

const ALL: [(Encoding, &str); 5] = [
    (Encoding::Utf8WithMark, "the text begins with a UTF-8 byte order mark; remove these three bytes"),
    (Encoding::Utf16LittleEndian, "the text looks like UTF-16, little endian; convert it to UTF-8"),
    (Encoding::Utf16BigEndian, "the text looks like UTF-16, big endian; convert it to UTF-8"),
    (Encoding::Utf32LittleEndian, "the text looks like UTF-32, little endian; convert it to UTF-8"),
    (Encoding::Utf32BigEndian, "the text looks like UTF-32, big endian; convert it to UTF-8"),
];

fn failed<T, E>(result: Result<T, Failure<Error, E>>) -> Error {
    match result {
        Err(Failure::Source(error)) => error,
        _ => panic!("it is wrong"),
    }
}

/// The error of every way in.
fn errors(text: &[u8]) -> Vec<Error> {
    let mut errors = vec![
        jird::parse(text).map(drop).unwrap_err(),
        jird::validate(text).unwrap_err(),
        jird::minify(text).unwrap_err(),
        Record::scan(text, &mut RecordBuffer::new()).map(drop).unwrap_err(),
        jird::from_slice::<IgnoredAny>(text).unwrap_err(),
        jird::from_slice::<Vec<String>>(text).unwrap_err(),
        jird::from_reader::<_, IgnoredAny>(text).unwrap_err(),
        jird::lines::typed::<IgnoredAny>(std::io::Cursor::new(text.to_vec())).next().unwrap().unwrap_err(),
        Scanner::new(Options::default())
            .scan(text, &Projection::new(&[]), None, |_| ControlFlow::Continue(()))
            .unwrap_err(),
        failed(JsonSource::from_slice(text).send_record(&mut Recording::default())),
        failed(JsonSource::from_reader(text).lines().send_record(&mut Recording::default())),
        failed(Feed::new().feed(text, &mut Recording::default())),
    ];
    if let Ok(text) = core::str::from_utf8(text) {
        errors.push(jird::from_str::<IgnoredAny>(text).unwrap_err());
    }
    errors
}

#[test]
fn a_mark_and_other_encodings_are_named_by_every_way_in() {
    common::force_kernel();
    for (encoding, words) in ALL {
        let is_mark = encoding == Encoding::Utf8WithMark;
        for text in ["[1]", "{\"a\":1}", "\"a\"", "12", " [1,\n2]", "\t\"x\"", "null", "-1.5", "\"é\""] {
            for mark in ["\u{feff}", ""] {
                if mark.is_empty() && (is_mark || text.contains('é')) {
                    continue;
                }
                let bytes = encoded(&[mark, text].concat(), encoding);
                let first = jird::validate(&bytes).unwrap_err();
                assert!(first.offset() < 4 && first.is_syntax(), "{bytes:X?}");
                for error in errors(&bytes) {
                    let message = error.to_string();
                    assert_eq!(error.encoding(), Some(encoding), "{bytes:X?}: {message}");
                    assert!(message.ends_with(&format!(": {words}")), "{message}");
                    // A bracket of the wrong kind comes before what is wrong.
                    if error.code() != "data" {
                        assert_eq!((error.code(), error.offset()), (first.code(), first.offset()), "{bytes:X?}");
                    }
                    let located = error.locate(&bytes);
                    assert!(format!("{located:#}").ends_with(&format!("): {words}")), "{located}");
                }
            }
        }
    }
}

#[test]
fn the_place_and_the_rule_are_what_they_are_without_the_name() {
    let cases: [(&[u8], _, _); 8] = [
        (b"\xEF\xBB\xBF[1]", "value", 0),
        (b"\xFF\xFE[\0]\0", "utf8", 0),
        (b"\xFE\xFF\0[\0]", "utf8", 0),
        (b"\xFF\xFE\0\0[\0\0\0", "utf8", 0),
        (b"\0\0\xFE\xFF\0\0\0[", "value", 0),
        (b"[\0]\0", "value", 1),
        (b"\0[\0]", "value", 0),
        (b"\"\0a\0\"\0", "control", 1),
    ];
    for (text, code, offset) in cases {
        let error = jird::validate(text).unwrap_err();
        assert_eq!((error.code(), error.offset(), error.is_syntax()), (code, offset, true), "{text:X?}");
        assert_eq!(jird::Error::new(error.kind(), offset), error);
    }
}

#[test]
fn what_is_wrong_elsewhere_is_not_laid_to_the_encoding() {
    let texts: [&[u8]; 8] = [b"", b"\0", b"[\0", b"[\0]", b"\xEF\xBB", b"[1,]", b"[1]\xEF\xBB\xBF", b"\xC3\xA9\0\0"];
    for text in texts {
        let error = jird::validate(text).unwrap_err();
        assert_eq!(error.encoding(), None);
        assert!(!error.locate(text).to_string().contains("the text "), "{text:X?}");
    }
    // A part of a longer text begins with one, and is wrong later.
    let error = jird::validate(b"\xEF\xBB\xBF[1]").unwrap_err();
    assert_eq!(error.clone().shifted(10).encoding(), None);
    assert_eq!(error.shifted(0).encoding(), Some(Encoding::Utf8WithMark));
    let second = Scanner::new(Options::default())
        .scan(b"[1]\n\xEF\xBB\xBF[2]", &Projection::new(&[]), None, |_| ControlFlow::Continue(()));
    assert_eq!(second.unwrap_err().encoding(), None);
}
