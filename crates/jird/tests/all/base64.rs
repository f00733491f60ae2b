//! Bytes and numbers as base64 within strings.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::Write;

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Bytes(#[serde(with = "jird::base64")] Vec<u8>);

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Others<'a> {
    #[serde(with = "jird::base64")]
    cow: Cow<'a, [u8]>,
    #[serde(with = "jird::base64")]
    boxed: Box<[u8]>,
    #[serde(with = "jird::base64")]
    array: [u8; 3],
}

#[derive(Serialize, Deserialize, Debug)]
struct Doubles(#[serde(with = "jird::base64::f64s")] Vec<f64>);

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Integers(#[serde(with = "jird::base64::i64s")] Vec<i64>);

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// As RFC 4648 §4 says, bit by bit.
fn encoded(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().fold(String::new(), |mut bits, byte| {
        let _ = write!(bits, "{byte:08b}");
        bits
    });
    let mut text = String::new();
    for group in digits.as_bytes().chunks(6) {
        let group = format!("{:0<6}", std::str::from_utf8(group).unwrap());
        text.push(ALPHABET[usize::from_str_radix(&group, 2).unwrap()].into());
    }
    text + &"=".repeat((3 - bytes.len() % 3) % 3)
}

/// The error's message without its position.
fn message<T: for<'de> Deserialize<'de>>(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    let Err(error) = jird::from_str::<T>(&quoted) else { return format!("accepted {quoted}") };
    assert!(error.is_data() && error.column() == 1, "{error}");
    error.to_string().replace(" at line 1 column 1", "")
}

#[test]
fn every_length_comes_back() {
    for len in (0..200).chain(760..780).chain([1535, 1536, 1537, 100_000]) {
        let bytes: Vec<u8> = (0..len).map(|index| (index * 167 % 251) as u8).collect();
        let text = jird::to_string(&Bytes(bytes.clone())).unwrap();
        assert_eq!(text, format!("\"{}\"", encoded(&bytes)), "{len}");
        assert_eq!(text, serde_json::to_string(&Bytes(bytes.clone())).unwrap(), "{len}");
        assert_eq!(jird::from_str::<Bytes>(&text).unwrap().0, bytes, "{len}");
    }
}

#[test]
fn whatever_is_made_of_bytes_will_do() {
    let others = Others { cow: Cow::Borrowed(b"ab"), boxed: Box::new([255]), array: [1, 2, 3] };
    let text = jird::to_string(&others).unwrap();
    assert_eq!(text, r#"{"cow":"YWI=","boxed":"/w==","array":"AQID"}"#);
    assert_eq!(jird::from_str::<Others>(&text).unwrap(), others);
    let error = jird::from_str::<Others>(r#"{"cow":"", "boxed":"", "array": "AQ=="}"#).unwrap_err();
    assert_eq!(error.to_string(), "base64: 1 elements do not fit the type at line 1 column 33 (at /array)");
}

#[test]
fn escapes_are_read_first() {
    assert_eq!(jird::from_str::<Bytes>(r#""\u0059WI\u003d""#).unwrap().0, b"ab");
    assert_eq!(jird::from_str::<Bytes>(r#""\/w==""#).unwrap().0, [255]);
}

#[test]
fn every_wrong_character_is_named_at_every_place() {
    let good = encoded(&[0xA5; 48]);
    let strangers = (0..=255_u8).map(char::from).chain("іＡ€😀".chars());
    for stranger in strangers.filter(|c| !c.is_ascii() || !ALPHABET.contains(&(*c as u8))) {
        for at in 0..good.len() - 1 {
            let text = format!("{}{stranger}{}", &good[..at], &good[at + 1..]);
            assert_eq!(message::<Bytes>(&text), format!("base64: unexpected {stranger:?} at {at}"));
        }
    }
}

#[test]
fn only_one_text_is_the_right_one() {
    let groups = |digits, padding| format!("base64: {digits} characters and {padding} of padding are not groups of 4");
    for (text, digits, padding) in
        [("Y", 1, 0), ("YW", 2, 0), ("YWI", 3, 0), ("YWJj=", 4, 1), ("=", 0, 1), ("====", 0, 4), ("Y===", 1, 3)]
    {
        assert_eq!(message::<Bytes>(text), groups(digits, padding), "{text}");
    }
    assert_eq!(message::<Bytes>("YQ==YQ=="), "base64: unexpected '=' at 2");
    for (last, padding) in [(b'Q', "=="), (b'E', "=")] {
        let place = ALPHABET.iter().position(|digit| *digit == last).unwrap();
        let spare = if padding.len() == 2 { 16 } else { 4 };
        for (index, digit) in ALPHABET.iter().enumerate() {
            let text = format!("{}{}{padding}", &"YWI"[..3 - padding.len()], char::from(*digit));
            if index % spare == 0 {
                assert_eq!(encoded(&jird::from_str::<Bytes>(&format!("\"{text}\"")).unwrap().0), text);
            } else {
                assert_eq!(message::<Bytes>(&text), "base64: the last character has bits that are not used", "{text}");
            }
        }
        assert_eq!(place % spare, 0);
    }
}

#[test]
fn numbers_are_whole() {
    for len in (0..64).filter(|len| len % 8 != 0) {
        let wanted = format!("base64: {len} bytes are not a multiple of 8");
        assert_eq!(message::<Doubles>(&encoded(&vec![1; len])), wanted);
        assert_eq!(message::<Integers>(&encoded(&vec![1; len])), wanted);
    }
}

#[test]
fn what_is_no_string_is_refused_where_it_is() {
    for (text, wanted) in [
        ("[\"\", 7]", "invalid type: integer `7`, expected a string of base64 at line 1 column 6 (at /1)"),
        ("[\"AA==\", [1]]", "invalid type: sequence, expected a string of base64 at line 1 column 10 (at /1)"),
        ("[\"\", \"A\"]", "base64: 1 characters and 0 of padding are not groups of 4 at line 1 column 6 (at /1)"),
    ] {
        assert_eq!(jird::from_str::<Vec<Bytes>>(text).unwrap_err().to_string(), wanted);
    }
}

proptest! {
    #[test]
    fn bytes_come_back(bytes: Vec<u8>) {
        let text = jird::to_string(&Bytes(bytes.clone())).unwrap();
        prop_assert_eq!(jird::from_str::<Bytes>(&text).unwrap().0, bytes);
    }

    #[test]
    fn numbers_come_back_bit_by_bit(bits in prop::collection::vec(any::<u64>(), 0..300)) {
        let wanted = encoded(&bits.iter().flat_map(|bits| bits.to_le_bytes()).collect::<Vec<_>>());
        let doubles = Doubles(bits.iter().map(|bits| f64::from_bits(*bits)).collect());
        let text = jird::to_string(&doubles).unwrap();
        prop_assert_eq!(&text, &format!("\"{wanted}\""));
        let back = jird::from_str::<Doubles>(&text).unwrap().0;
        prop_assert_eq!(back.into_iter().map(f64::to_bits).collect::<Vec<_>>(), bits.clone());
        let integers = Integers(bits.iter().map(|bits| bits.cast_signed()).collect());
        prop_assert_eq!(&jird::to_string(&integers).unwrap(), &text);
        prop_assert_eq!(jird::from_str::<Integers>(&text).unwrap(), integers);
    }

    #[test]
    fn what_is_accepted_is_written_the_same(text in "[A-Za-z0-9+/]{0,9}={0,3}") {
        let quoted = format!("\"{text}\"");
        if let Ok(bytes) = jird::from_str::<Bytes>(&quoted) {
            prop_assert_eq!(jird::to_string(&bytes).unwrap(), quoted);
        }
    }
}
