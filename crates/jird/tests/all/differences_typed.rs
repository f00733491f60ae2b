//! Each row of the tables in `docs/coming-from-serde_json.md`, by the row's name.

use crate::common;

use serde::de::IgnoredAny;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};
use serde_bytes::ByteBuf;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read, Write};

#[test]
fn every_row_has_its_test() {
    let Ok(page) =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/coming-from-serde_json.md"))
    else {
        return;
    };
    let tests = include_str!("differences_typed.rs");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let missing: Vec<_> = rows.clone().filter(|(name, _)| !tests.contains(&format!("fn {name}()"))).collect();
    assert!(missing.is_empty() && rows.count() > 10, "{missing:?}");
}

#[test]
fn ignored_text() {
    common::force_kernel();
    for text in [&b"\"\xFF\""[..], b"[\"\\ud800\"]"] {
        assert!(serde_json::from_slice::<IgnoredAny>(text).is_ok());
        assert!(jird::from_slice::<IgnoredAny>(text).unwrap_err().is_syntax());
    }
}

#[test]
fn bytes_are_text() {
    for text in [&b"\"\xFF\""[..], b"\"\\ud800\"", b"\"\x01\""] {
        assert!(serde_json::from_slice::<ByteBuf>(text).is_ok());
        assert!(jird::from_slice::<ByteBuf>(text).unwrap_err().is_syntax());
    }
}

#[test]
fn raw_text() {
    type Map<T> = BTreeMap<String, Box<T>>;
    let text = "{\"a\": [\"\\ud800\"]}";
    let theirs = serde_json::from_str::<Map<serde_json::value::RawValue>>(text).unwrap();
    assert_eq!(theirs["a"].get(), "[\"\\ud800\"]");
    let ours = jird::from_str::<Map<jird::RawValue>>(text).unwrap_err();
    assert_eq!((ours.is_syntax(), ours.column()), (true, 15));
}

#[test]
fn glued() {
    for text in ["1\"a\"", "truefalse", "12x"] {
        assert!(serde_json::from_str::<String>(text).unwrap_err().is_data());
        assert!(jird::from_str::<String>(text).unwrap_err().is_syntax());
    }
    let count = |text| serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>().flatten().count();
    assert_eq!((count("1\"a\""), count("1 \"a\"")), (2, 2));
    let count = |text| jird::Deserializer::from_str(text).into_iter::<IgnoredAny>().flatten().count();
    assert_eq!((count("1\"a\""), count("1 \"a\"")), (0, 2));
}

#[test]
fn floats() {
    // The tests are built with `float_roundtrip`; without it the first of these is another double.
    for text in ["0.8444218515250481", "9007199254740993.0", "2.2250738585072011e-308", "1.7976931348623157e308"] {
        assert_eq!(jird::from_str::<f64>(text).unwrap().to_bits(), text.parse::<f64>().unwrap().to_bits());
    }
    // Halfway between two of `f32` as a double, but not as it stands.
    let text = "1.00000005960464477540";
    assert_eq!(jird::from_str::<f32>(text).unwrap().to_bits(), text.parse::<f32>().unwrap().to_bits());
    #[expect(clippy::cast_possible_truncation, reason = "what rounding twice does")]
    let twice = text.parse::<f64>().unwrap() as f32;
    assert!(twice.to_bits() != text.parse::<f32>().unwrap().to_bits());
}

#[test]
fn too_large_for_f32() {
    let error = jird::from_str::<f32>("1e39").unwrap_err();
    assert!(error.is_syntax() && error.code() == "range");
    assert!(jird::from_str::<f64>("1e39").is_ok());
}

#[test]
fn where_data_is_wrong() {
    let text = "[1, \"two\"]";
    let theirs = serde_json::from_str::<Vec<u8>>(text).unwrap_err();
    assert_eq!((theirs.line(), theirs.column()), (1, 9));
    let ours = jird::from_str::<Vec<u8>>(text).unwrap_err();
    assert_eq!((ours.line(), ours.column(), ours.path()), (1, 5, "/1"));
}

#[test]
fn where_text_is_wrong() {
    let ignored = serde_json::from_str::<IgnoredAny>("\"a\u{1}\"").unwrap_err();
    assert_eq!((ignored.line(), ignored.column()), (1, 2));
    let ignored = jird::from_str::<IgnoredAny>("\"a\u{1}\"").unwrap_err();
    assert_eq!((ignored.line(), ignored.column()), (1, 3));
    let wrong: [(&[u8], _, _); 4] = [
        (b"[\"\\u1x34\"]", (1, 8), (1, 6)),
        (b"[\"\\\n\"]", (2, 0), (1, 4)),
        (b"tru\n", (2, 0), (1, 4)),
        (b"[1.\n]", (2, 0), (1, 4)),
    ];
    for (text, theirs, ours) in wrong {
        let error = serde_json::from_slice::<serde_json::Value>(text).unwrap_err();
        assert_eq!((error.line(), error.column(), error.is_syntax()), (theirs.0, theirs.1, true), "{text:?}");
        let error = jird::from_slice::<serde_json::Value>(text).unwrap_err();
        assert_eq!((error.line(), error.column(), error.is_syntax()), (ours.0, ours.1, true), "{text:?}");
    }
}

#[test]
fn where_text_ends() {
    let theirs = serde_json::from_str::<Vec<u8>>("[1,\n2").unwrap_err();
    let ours = jird::from_str::<Vec<u8>>("[1,\n2").unwrap_err();
    assert_eq!(((theirs.line(), theirs.column()), (ours.line(), ours.column())), ((2, 1), (2, 2)));
    assert!(theirs.is_eof() && ours.is_eof());
}

#[test]
fn too_long() {
    let theirs = serde_json::from_str::<(u8, u8)>("[1,2, 3]").unwrap_err();
    let ours = jird::from_str::<(u8, u8)>("[1,2, 3]").unwrap_err();
    assert_eq!((theirs.column(), ours.column()), (7, 5));
    assert!(theirs.is_syntax() && ours.is_syntax());
}

#[test]
fn category_of_keys() {
    let text = "{\"tru\": 1}";
    assert!(serde_json::from_str::<BTreeMap<bool, u8>>(text).unwrap_err().is_syntax());
    assert!(jird::from_str::<BTreeMap<bool, u8>>(text).unwrap_err().is_data());
}

#[test]
fn category_of_wide() {
    for text in ["null", "\"1\"", "[]"] {
        assert!(serde_json::from_str::<i128>(text).unwrap_err().is_syntax());
        assert!(jird::from_str::<i128>(text).unwrap_err().is_data());
    }
}

#[test]
fn category_of_cuts() {
    for text in ["-", "1.", "[1e"] {
        assert!(serde_json::from_str::<IgnoredAny>(text).unwrap_err().is_syntax());
        assert!(jird::from_str::<IgnoredAny>(text).unwrap_err().is_eof());
    }
    let texts = [("\"\\u1x\"", 5), ("\"\\udc", 5), ("[\"\\udc00\"", 6), ("[\"\\ud800\"", 9), ("[\"\\ud800\\u1", 11)];
    for (text, column) in texts {
        assert!(serde_json::from_str::<IgnoredAny>(text).unwrap_err().is_eof(), "{text}");
        let error = jird::from_str::<IgnoredAny>(text).unwrap_err();
        assert_eq!((error.is_syntax(), error.column()), (true, column), "{text}");
    }
}

#[test]
fn category_of_bytes() {
    for (text, column) in [(&b"\"\xFF"[..], 2), (b"[\"a\xE2\x28", 5), (b"\"\xE0\x80", 3)] {
        assert!(serde_json::from_slice::<serde_json::Value>(text).unwrap_err().is_eof());
        let error = jird::from_slice::<serde_json::Value>(text).unwrap_err();
        assert_eq!((error.is_syntax(), error.column()), (true, column));
    }
    // A character that the end cuts off is not a difference.
    assert!(serde_json::from_slice::<serde_json::Value>(b"\"\xE2\x82").unwrap_err().is_eof());
    assert!(jird::from_slice::<serde_json::Value>(b"\"\xE2\x82").unwrap_err().is_eof());
}

#[test]
fn reads_ahead() {
    /// Gives a byte at a time, and counts them.
    struct Slow<'a>(&'a [u8], usize);
    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let len = self.0.read(&mut buffer[..1])?;
            self.1 += len;
            Ok(len)
        }
    }
    let text = b"[1] ".repeat(200);
    let mut source = Slow(&text, 0);
    let first = serde_json::Deserializer::from_reader(&mut source).into_iter::<Vec<u8>>().next();
    assert!(first.unwrap().is_ok() && source.1 == 3);
    let mut source = Slow(&text, 0);
    let first = jird::Deserializer::from_reader(&mut source).into_iter::<Vec<u8>>().next();
    assert!(first.unwrap().is_ok() && source.1 < 300);
}

#[test]
fn paths() {
    #[derive(Deserialize, Debug)]
    #[expect(dead_code, reason = "never made")]
    struct User {
        id: u64,
    }
    let text = "[{\"id\": \"x\"}]";
    let message = "invalid type: string \"x\", expected u64";
    let theirs = serde_json::from_str::<Vec<User>>(text).unwrap_err();
    assert_eq!(theirs.to_string(), format!("{message} at line 1 column 11"));
    let ours = jird::from_str::<Vec<User>>(text).unwrap_err();
    assert_eq!(ours.to_string(), format!("{message} at line 1 column 9 (at /0/id)"));
}

/// A type that is serialized like this.
macro_rules! serialized {
    ($name:ident: $serializer:ident => $body:expr) => {
        struct $name;
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, $serializer: S) -> Result<S::Ok, S::Error> {
                $body
            }
        }
    };
}

serialized!(Failing: _serializer => Err(serde::ser::Error::custom("no")));

#[test]
fn lying_len() {
    serialized!(List: serializer => {
        let mut list = serializer.serialize_seq(Some(0))?;
        list.serialize_element(&1)?;
        list.end()
    });
    serialized!(Map: serializer => {
        let mut map = serializer.serialize_map(Some(0))?;
        map.serialize_entry("a", &1)?;
        map.end()
    });
    assert_eq!(serde_json::to_string(&List).unwrap(), "[],1]");
    assert_eq!(jird::to_string(&List).unwrap(), "[1]");
    assert_eq!(serde_json::to_string(&Map).unwrap(), "{},\"a\":1}");
    assert_eq!(jird::to_string(&Map).unwrap(), "{\"a\":1}");
}

#[test]
fn not_displayed() {
    struct Mute;
    impl fmt::Display for Mute {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            Err(fmt::Error)
        }
    }
    serialized!(Shown: serializer => serializer.collect_str(&Mute));
    assert!(std::panic::catch_unwind(|| serde_json::to_vec(&Shown)).is_err());
    assert!(jird::to_vec(&Shown).unwrap_err().is_data());
}

#[test]
fn errors_stay() {
    serialized!(Stubborn: serializer => {
        let mut list = serializer.serialize_seq(None)?;
        let _ = list.serialize_element(&(1, Failing));
        list.end()
    });
    assert_eq!(serde_json::to_string(&Stubborn).unwrap(), "[[1,]");
    assert!(jird::to_string(&Stubborn).is_err());
}

#[test]
fn arbitrary_precision() {
    // As its `Number` is with the feature, without which the tests are built.
    #[derive(Serialize)]
    #[serde(rename = "$serde_json::private::Number")]
    struct Number<'a> {
        #[serde(rename = "$serde_json::private::Number")]
        text: &'a str,
    }
    let text = jird::to_string(&Number { text: "1.50" }).unwrap();
    assert_eq!(text, r#"{"$serde_json::private::Number":"1.50"}"#);
    let ours: jird::NumberBuf = jird::from_str("1.50").unwrap();
    assert_eq!(jird::to_string(&ours).unwrap(), "1.50");
}

#[test]
fn written_late() {
    /// Counts what it is handed.
    #[derive(Default)]
    struct Pieces(usize);
    impl Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += 1;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (mut theirs, mut ours) = (Pieces::default(), Pieces::default());
    serde_json::to_writer(&mut theirs, &[1, 2, 3]).unwrap();
    jird::to_writer(&mut ours, &[1, 2, 3]).unwrap();
    assert!(theirs.0 >= 7 && ours.0 == 1, "{} and {}", theirs.0, ours.0);
}

#[test]
fn nothing_left_over() {
    let value = (1, Failing);
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    assert!(value.serialize(&mut serde_json::Serializer::new(&mut theirs)).is_err());
    assert!(value.serialize(&mut jird::Serializer::new(&mut ours)).is_err());
    assert_eq!((&theirs[..], &ours[..]), (&b"[1,"[..], &b""[..]));
    assert!(jird::to_writer(&mut ours, &value).is_err());
    assert_eq!(ours, theirs);
}

#[test]
fn formats() {
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    let format = serde_json::ser::PrettyFormatter::with_indent(b"\t");
    [1].serialize(&mut serde_json::Serializer::with_formatter(&mut theirs, format)).unwrap();
    [1].serialize(&mut jird::Serializer::with_indent(&mut ours, "\t")).unwrap();
    assert_eq!(theirs, ours);
}
