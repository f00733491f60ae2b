//! Writing: the bytes are those of `serde_json`, for every shape that serde knows.

use crate::common;

use proptest::prelude::*;
use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple};
use serde::ser::{SerializeTupleStruct, SerializeTupleVariant};
use serde::{Serialize, Serializer};
use serde_bytes::ByteBuf;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Debug};
use std::io::{self, Write};
use std::net::Ipv4Addr;

/// All ways to write, compared with `serde_json`'s.
fn check<T: ?Sized + Serialize>(value: &T) {
    common::force_kernel();
    let wanted = serde_json::to_string(value).expect("serde_json writes it");
    assert_eq!(jird::to_string(value).expect("jird writes it"), wanted);
    assert_eq!(jird::to_vec(value).expect("jird writes it"), wanted.as_bytes());
    let mut text = b"before".to_vec();
    jird::ser::to_vec_in(value, &mut text).expect("jird writes it");
    assert_eq!(text, [b"before", wanted.as_bytes()].concat());
    let mut text = Vec::new();
    jird::to_writer(&mut text, value).expect("jird writes it");
    assert_eq!(text, wanted.as_bytes());

    let wanted = serde_json::to_string_pretty(value).expect("serde_json writes it");
    assert_eq!(jird::to_string_pretty(value).expect("jird writes it"), wanted);
    assert_eq!(jird::to_vec_pretty(value).expect("jird writes it"), wanted.as_bytes());
    let mut text = Vec::new();
    jird::to_writer_pretty(&mut text, value).expect("jird writes it");
    assert_eq!(text, wanted.as_bytes());

    let (mut text, mut wanted) = (Vec::new(), Vec::new());
    let format = serde_json::ser::PrettyFormatter::with_indent(b"\t\t\t");
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut wanted, format)).expect("serde_json writes it");
    value.serialize(&mut jird::Serializer::with_indent(&mut text, "\t\t\t")).expect("jird writes it");
    assert_eq!(text, wanted);
}

/// Neither writes it; the categories are the same, and the words.
fn check_refused<T: ?Sized + Serialize>(value: &T) {
    let (ours, theirs) = (jird::to_vec(value).unwrap_err(), serde_json::to_vec(value).unwrap_err());
    assert_eq!(ours.to_string(), theirs.to_string());
    assert_eq!(format!("{:?}", ours.classify()), format!("{:?}", theirs.classify()));
    let mut text = b"before".to_vec();
    jird::ser::to_vec_in(value, &mut text).unwrap_err();
    assert_eq!(text, b"before", "nothing is left of what failed");
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Newtype<T>(T);

#[derive(Serialize)]
struct Tuple(u8, String, Option<Box<Tuple>>);

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct Struct<'a> {
    a: i8,
    #[serde(rename = "a key\nof \"its\" own, \\ and longer than most: ключ")]
    escaped: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<u8>,
    nested: Empty,
    list: Vec<Newtype<Option<bool>>>,
    #[serde(flatten)]
    flat: BTreeMap<&'a str, f32>,
}

#[derive(Serialize)]
enum Enum {
    Unit,
    Newtype(i16),
    Empty(),
    Tuple(u8, char),
    Struct { a: (), b: Vec<u8> },
    NoFields {},
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Internal {
    OneThing { value: u8 },
    Nothing,
}

#[derive(Serialize)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Newtype(u8),
    Tuple(u8, u8),
    Unit,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Untagged {
    Number(f64),
    Text(&'static str),
    List(Vec<Self>),
}

#[test]
fn every_shape_is_written_as_serde_json_does() {
    check(&());
    check(&Unit);
    check(&[true, false]);
    check(&(1_u8, -2_i8, 3_u16, -4_i16, 5_u32, -6_i32, 7_u64, -8_i64));
    check(&(u64::MAX, i64::MIN, u128::MAX, i128::MIN, i128::MAX, 0_u128, 10_u128.pow(16), 10_u128.pow(32) + 1));
    check(&("text", 'c', '"', '\u{1}', 'ü', '😀', String::from("\u{7f}\u{2028}")));
    check(&[None, Some(Some(1)), Some(None)]);
    check(&Some(Newtype("x")));
    check(&Tuple(1, "2".into(), Some(Box::new(Tuple(3, String::new(), None)))));
    check(&ByteBuf::from(vec![0, 9, 10, 255]));
    check(&ByteBuf::new());
    check(&(Empty {}, [(); 0], Vec::<Vec<u8>>::new(), vec![Vec::<u8>::new()], BTreeMap::<u8, u8>::new()));
    let flat = BTreeMap::from([("x", 0.1), ("y", f32::MIN)]);
    let list = vec![Newtype(Some(true)), Newtype(None)];
    check(&Struct { a: -1, escaped: "\"\\\u{8}\u{c}\n\r\t/", skipped: None, nested: Empty {}, list, flat });
    let list = vec![];
    check(&Struct { a: 1, escaped: "", skipped: Some(2), nested: Empty {}, list, flat: BTreeMap::new() });
    let structs = Enum::Struct { a: (), b: vec![1, 2] };
    check(&[Enum::Unit, Enum::Newtype(-1), Enum::Empty(), Enum::Tuple(1, 'x'), structs, Enum::NoFields {}]);
    check(&[Internal::OneThing { value: 1 }, Internal::Nothing]);
    check(&[Adjacent::Newtype(1), Adjacent::Tuple(1, 2), Adjacent::Unit]);
    check(&[Untagged::Number(1.0), Untagged::Text("x"), Untagged::List(vec![Untagged::Number(-0.0)])]);
    check(&Ipv4Addr::new(192, 0, 2, 17));
    check(&format_args!("{} \"and\" {:?}", "displayed in parts\n", "й".repeat(3000)));
    check("text");
}

#[test]
fn keys_are_made_of_all_that_serde_json_makes_them_of() {
    check(&BTreeMap::from([(1_u8, "a"), (255, "b")]));
    check(&BTreeMap::from([(i64::MIN, 1), (-1, 2)]));
    check(&BTreeMap::from([(u128::MAX, 1)]));
    check(&BTreeMap::from([(true, 1), (false, 2)]));
    check(&BTreeMap::from([('"', 1), ('é', 2)]));
    check(&BTreeMap::from([(Some("x"), 1)]));
    check(&BTreeMap::from([("a\n", BTreeMap::from([("", [None::<u8>])]))]));
    check(&BTreeMap::from([(Ipv4Addr::new(10, 0, 0, 1), 1)]));
    check(&Pairs(vec![(Newtype(1.5_f64), 1), (Newtype(1e300), 2)]));
    check(&Pairs(vec![(0.1_f32, 1)]));
    check(&Pairs(vec![(Enum::Unit, 1)]));

    check_refused(&Pairs(vec![(f64::NAN, 1)]));
    check_refused(&Pairs(vec![(f32::INFINITY, 1)]));
    check_refused(&Pairs(vec![((), 1)]));
    check_refused(&Pairs(vec![(Unit, 1)]));
    check_refused(&Pairs(vec![(None::<u8>, 1)]));
    check_refused(&Pairs(vec![(vec![1], 1)]));
    check_refused(&Pairs(vec![((1, 2), 1)]));
    check_refused(&Pairs(vec![(ByteBuf::from(vec![1]), 1)]));
    check_refused(&Pairs(vec![(Tuple(1, String::new(), None), 1)]));
    check_refused(&Pairs(vec![(Empty {}, 1)]));
    check_refused(&Pairs(vec![(BTreeMap::from([(1, 2)]), 1)]));
    let variants = [Enum::Newtype(1), Enum::Tuple(1, 'x'), Enum::NoFields {}];
    variants.into_iter().for_each(|key| check_refused(&Pairs(vec![(key, 1)])));
}

/// A map whose keys need no order.
struct Pairs<K, V>(Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Pairs<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[test]
fn integers_of_every_length_are_written() {
    for power in 0..=38 {
        let ten = 10_i128.pow(power);
        for value in [ten - 1, ten, ten + 1, ten + ten / 2] {
            check(&(value, -value));
            let (unsigned, signed) = (u64::try_from(value), i64::try_from(value));
            check(&(unsigned.ok(), signed.ok(), signed.ok().map(|value| -value)));
            check(&(u32::try_from(value).ok(), i16::try_from(value).ok(), u8::try_from(value).ok()));
        }
    }
    check(&(0..20_000_u32).collect::<Vec<_>>());
}

#[test]
fn floats_are_written_as_serde_json_does() {
    let mut state = 7_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let any = (0..100_000).map(|_| f64::from_bits(random())).collect::<Vec<_>>();
    check(&any);
    let everyday =
        |bits: u64| f64::from_bits((bits % 90 + 995) << 52 | bits >> 12) * if bits & 1 == 0 { 1.0 } else { -1.0 };
    let everyday = (0..400_000).map(|_| everyday(random())).collect::<Vec<_>>();
    check(&everyday);
    check(&(0..100_000).map(|_| f64::from(random() as u32 % 10_000_000) / 1000.0).collect::<Vec<_>>());
    check(&(0..100_000).map(|_| f32::from_bits(random() as u32)).collect::<Vec<_>>());
    check(&(0..10_000).map(f64::from).collect::<Vec<_>>());
    for exponent in -330..310 {
        let value: f64 = format!("1e{exponent}").parse().expect("a number");
        check(&[value, value.next_up(), value.next_down(), -value, value * 1.5]);
    }
    for exponent in 0..2047_u64 {
        let power = f64::from_bits(exponent << 52);
        check(&[power, power.next_up(), power.next_down(), f64::from_bits(exponent << 52 | 1 << 51)]);
    }
    check(&[f64::MAX, f64::MIN_POSITIVE, 5e-324, 0.0, -0.0, 1e21, 1e15, 1e16, 1e17, 123_456_789_012_345_680.0]);
    check(&[f32::MAX, f32::MIN_POSITIVE, 1e-45, 0.0, -0.0, 1e21, 16_777_216.0]);
}

#[test]
fn what_json_has_no_number_for_is_null_or_an_error() {
    check(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    check(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY]);
    for value in [f64::NAN, f64::INFINITY] {
        let mut text = Vec::new();
        let mut serializer = jird::Serializer::new(&mut text).refuse_non_finite();
        assert!((1, value).serialize(&mut serializer).unwrap_err().is_syntax());
        assert!((value as f32).serialize(&mut serializer).is_err());
        // And goes on with the next, and nothing is left over.
        (1, 0.5).serialize(&mut serializer).expect("finite");
        assert_eq!(text, b"[1,0.5]");
    }
}

#[test]
fn strings_of_every_length_are_escaped_at_every_place() {
    let mut texts = Vec::new();
    for len in 0..200 {
        let plain = "abcdefghijklmnopqrstuvwxyz".chars().cycle().take(len).collect::<String>();
        texts.push(plain.clone());
        for at in 0..len {
            for escape in ["\"", "\n", "\u{1f}"] {
                texts.push(format!("{}{escape}{}", &plain[..at], &plain[at + 1..]));
            }
        }
        texts.push("\\\u{0}".repeat(len));
        texts.push("йц\"".repeat(len));
    }
    check(&texts);
    check(&(0..=0x10_ffff).filter_map(char::from_u32).collect::<String>());
    check(&(0..0x800).filter_map(char::from_u32).collect::<Vec<_>>());
    for len in [4095, 4096, 4097, 8192, 100_000] {
        check(&[&"x".repeat(len), &"й".repeat(len), &"\u{1}".repeat(len), &"words and \"quotes\"\n".repeat(len / 8)]);
    }
}

#[test]
fn keys_of_every_length_are_written() {
    /// A struct of one field.
    struct One(&'static str);
    impl Serialize for One {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut one = serializer.serialize_struct("One", 2)?;
            one.serialize_field(self.0, &1)?;
            one.serialize_field(self.0, "x")?;
            one.end()
        }
    }
    for len in (0..70_usize).chain([4095, 4096, 4097, 5000]) {
        for (at, byte) in [(0, 'a'), (0, '"'), (len / 2, '\n'), (len.saturating_sub(1), '\\'), (len / 3, '\u{1f}')] {
            let mut key = "k".repeat(len);
            if len > 0 {
                key.replace_range(at..=at, &byte.to_string());
            }
            check(&One(key.leak()));
        }
    }
}

/// Any value, as serde sees them.
#[derive(Clone, Debug)]
enum Any {
    Unit,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Wide(i128),
    Single(f32),
    Double(f64),
    Char(char),
    Text(String),
    Bytes(Vec<u8>),
    Some(Box<Any>),
    Newtype(Box<Any>),
    Seq(Vec<Any>, bool),
    Tuple(Vec<Any>),
    TupleStruct(Vec<Any>),
    Map(Vec<(String, Any)>, bool),
    Struct(Vec<Any>),
    UnitVariant(usize),
    NewtypeVariant(usize, Box<Any>),
    TupleVariant(usize, Vec<Any>),
    StructVariant(usize, Vec<Any>),
    Displayed(Vec<String>),
}

/// Names of fields and variants.
const NAMES: [&str; 6] = ["a", "name", "a longer name of a field", "", "with \"quotes\"", "поле\n"];

impl Serialize for Any {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = |count| NAMES.into_iter().cycle().take(count);
        match self {
            Self::Unit => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Signed(value) => serializer.serialize_i64(*value),
            Self::Unsigned(value) => serializer.serialize_u64(*value),
            Self::Wide(value) => serializer.serialize_i128(*value),
            Self::Single(value) => serializer.serialize_f32(*value),
            Self::Double(value) => serializer.serialize_f64(*value),
            Self::Char(value) => serializer.serialize_char(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::Bytes(value) => serializer.serialize_bytes(value),
            Self::Some(value) => serializer.serialize_some(value),
            Self::Newtype(value) => serializer.serialize_newtype_struct("Newtype", value),
            Self::Seq(values, sized) => {
                let mut seq = serializer.serialize_seq(sized.then_some(values.len()))?;
                values.iter().try_for_each(|value| seq.serialize_element(value))?;
                seq.end()
            }
            Self::Tuple(values) => {
                let mut tuple = serializer.serialize_tuple(values.len())?;
                values.iter().try_for_each(|value| tuple.serialize_element(value))?;
                tuple.end()
            }
            Self::TupleStruct(values) => {
                let mut tuple = serializer.serialize_tuple_struct("Tuple", values.len())?;
                values.iter().try_for_each(|value| tuple.serialize_field(value))?;
                tuple.end()
            }
            Self::Map(entries, sized) => {
                let mut map = serializer.serialize_map(sized.then_some(entries.len()))?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index % 2 == 0 {
                        map.serialize_entry(key, value)?;
                    } else {
                        map.serialize_key(key)?;
                        map.serialize_value(value)?;
                    }
                }
                map.end()
            }
            Self::Struct(values) => {
                let mut fields = serializer.serialize_struct("Struct", values.len())?;
                names(values.len()).zip(values).try_for_each(|(name, value)| fields.serialize_field(name, value))?;
                fields.end()
            }
            Self::UnitVariant(name) => serializer.serialize_unit_variant("Enum", 0, NAMES[*name]),
            Self::NewtypeVariant(name, value) => serializer.serialize_newtype_variant("Enum", 1, NAMES[*name], value),
            Self::TupleVariant(name, values) => {
                let mut tuple = serializer.serialize_tuple_variant("Enum", 2, NAMES[*name], values.len())?;
                values.iter().try_for_each(|value| tuple.serialize_field(value))?;
                tuple.end()
            }
            Self::StructVariant(name, values) => {
                let mut fields = serializer.serialize_struct_variant("Enum", 3, NAMES[*name], values.len())?;
                names(values.len()).zip(values).try_for_each(|(name, value)| fields.serialize_field(name, value))?;
                fields.end()
            }
            Self::Displayed(parts) => serializer.collect_str(&Parts(parts)),
        }
    }
}

/// Displayed one after the other.
struct Parts<'a>(&'a [String]);

impl fmt::Display for Parts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| f.write_str(part))
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,12}", "\\PC{0,70}", "[\\x00-\\x7f]{0,140}", "[\"\\\\\n\u{1}я]{0,40}"]
}

fn any_value() -> impl Strategy<Value = Any> {
    let leaf = prop_oneof![
        Just(Any::Unit),
        any::<bool>().prop_map(Any::Bool),
        any::<i64>().prop_map(Any::Signed),
        any::<u64>().prop_map(Any::Unsigned),
        (any::<i64>(), 0..64_u32).prop_map(|(value, shift)| Any::Signed(value >> shift)),
        any::<i128>().prop_map(Any::Wide),
        any::<u32>().prop_map(|bits| Any::Single(f32::from_bits(bits))),
        any::<u64>().prop_map(|bits| Any::Double(f64::from_bits(bits))),
        (any::<i32>(), 0..9).prop_map(|(value, places)| Any::Double(f64::from(value) / 10_f64.powi(places))),
        any::<char>().prop_map(Any::Char),
        text().prop_map(Any::Text),
        proptest::collection::vec(any::<u8>(), 0..5).prop_map(Any::Bytes),
        (0..NAMES.len()).prop_map(Any::UnitVariant),
        proptest::collection::vec(text(), 0..4).prop_map(Any::Displayed),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        let list = || proptest::collection::vec(inner.clone(), 0..6);
        prop_oneof![
            boxed().prop_map(Any::Some),
            boxed().prop_map(Any::Newtype),
            (list(), any::<bool>()).prop_map(|(values, sized)| Any::Seq(values, sized)),
            list().prop_map(Any::Tuple),
            list().prop_map(Any::TupleStruct),
            (proptest::collection::vec((text(), inner.clone()), 0..6), any::<bool>())
                .prop_map(|(entries, sized)| Any::Map(entries, sized)),
            list().prop_map(Any::Struct),
            (0..NAMES.len(), boxed()).prop_map(|(name, value)| Any::NewtypeVariant(name, value)),
            (0..NAMES.len(), list()).prop_map(|(name, values)| Any::TupleVariant(name, values)),
            (0..NAMES.len(), list()).prop_map(|(name, values)| Any::StructVariant(name, values)),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_is_written_as_serde_json_does(value in any_value()) {
        check(&value);
    }

    #[test]
    fn what_is_written_is_json_again(value in any_value()) {
        let text = jird::to_vec(&value).expect("it can be written");
        let document = jird::parse(&text).expect("JSON");
        // A document is written as it was, its white space apart.
        assert_eq!(jird::to_vec(&document).expect("JSON"), text);
        let pretty = jird::to_vec_pretty(&value).expect("it can be written");
        assert_eq!(jird::to_vec_pretty(&document).expect("JSON"), pretty);
        assert_eq!(jird::minify(&pretty).expect("JSON"), text);
    }

    #[test]
    fn the_canonical_form_is_that_of_the_text(value in any_value()) {
        let text = jird::to_vec(&value).expect("it can be written");
        let laid_out = jird::format(&text, jird::Layout::Canonical);
        match jird::ser::to_string_canonical(&value) {
            Ok(canonical) => assert_eq!(canonical.as_bytes(), laid_out.expect("the same text")),
            // What only the value shows: infinities, which the text has as `null`.
            Err(error) if laid_out.is_ok() => assert!(error.to_string().contains("finite"), "{error}"),
            Err(_) => {}
        }
    }

    #[test]
    fn trees_of_serde_json_come_back_from_their_text(value in any_value()) {
        let tree = serde_json::to_value(&value);
        let Ok(tree) = tree else { return Ok(()) };
        let text = jird::to_vec(&tree).expect("it can be written");
        assert_eq!(text, serde_json::to_vec(&tree).expect("it can be written"));
        let document = jird::parse(&text).expect("JSON");
        // Numbers of ours are numbers to others, and not text.
        assert_eq!(serde_json::to_value(&document).expect("a tree"), serde_json::from_slice::<serde_json::Value>(&text).expect("JSON"));
    }
}

#[test]
fn numbers_keep_their_text_as_json_and_are_numbers_elsewhere() {
    let text = "[1.50,-0,1E400,123456789012345678901234567890,0.1,18446744073709551615]";
    let document = jird::parse(text.as_bytes()).expect("JSON");
    assert_eq!(jird::to_string(&document).expect("JSON"), text);
    assert_eq!(jird::to_string(&document.root().at(2).and_then(jird::Value::as_number)).expect("JSON"), "1E400");
    let numbers: Vec<_> = document.root().elements().filter_map(jird::Value::as_number).collect();
    assert_eq!(jird::to_string(&numbers).expect("JSON"), text);
    // It is built with its raw values, so that it keeps the text too. Another format of text refuses to lose digits.
    assert_eq!(serde_json::to_string(&numbers[0]).expect("a number"), "1.50");
    assert_eq!(serde_json::to_string(&numbers[3]).expect("a number"), "123456789012345678901234567890");
    assert_eq!(serde_json::to_string(&numbers[5]).expect("a number"), "18446744073709551615");
    assert_eq!(serde_json::to_string(&numbers[2]).expect("a number"), "1E400");
    assert_eq!(jird::to_string(&Pairs(vec![(numbers[0], numbers[0])])).expect("JSON"), r#"{"1.5":1.50}"#);
}

#[test]
fn raw_text_is_written_as_it_stands() {
    #[derive(Serialize)]
    #[serde(rename = "$serde_json::private::RawValue")]
    struct Raw<T>(T);
    let long = format!("[{}]", "\"й\", ".repeat(10_000) + "1");
    for text in ["{ \"a\" : 1.0 }", "\"\\u0041\"", "", long.as_str()] {
        assert_eq!(jird::to_string(&[Raw(text)]).expect("a string"), format!("[{text}]"));
        assert_eq!(jird::to_string_pretty(&[Raw(Some(text))]).expect("a string"), format!("[\n  {text}\n]"));
    }
    assert!(jird::to_string(&Raw(1)).unwrap_err().is_data());
    assert!(jird::to_string(&Raw(vec!["1"])).is_err());
}

#[test]
fn raw_values_of_both_crates_are_read_and_written_by_both() {
    let text = r#"{"a": [1.50,  -0]}"#;
    let ours: Box<jird::RawValue> = serde_json::from_str(text).expect("JSON");
    let theirs: Box<serde_json::value::RawValue> = jird::from_str(text).expect("JSON");
    assert_eq!((ours.get(), theirs.get()), (text, text));
    let borrowed: &serde_json::value::RawValue = jird::from_str(text).expect("JSON");
    assert_eq!(borrowed.get(), text);
    assert_eq!(serde_json::to_string(&[&ours]).expect("JSON"), format!("[{text}]"));
    assert_eq!(jird::to_string(&[&theirs]).expect("JSON"), format!("[{text}]"));
    let numbers: Vec<jird::NumberBuf> = serde_json::from_str("[1.50, -0, 1E400]").expect("JSON");
    assert_eq!(serde_json::to_string(&numbers).expect("JSON"), "[1.50,-0,1E400]");
    assert_eq!(
        jird::parse(text.as_bytes()).and_then(|text| text.decode::<Box<serde_json::value::RawValue>>()).map(drop),
        Ok(())
    );
}

/// A struct whose one field is raw text, but which has none, or two, or a failing one.
#[test]
fn raw_text_that_is_missing_is_an_error() {
    struct Fields(usize);
    impl Serialize for Fields {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeStruct;
            let name = "$serde_json::private::RawValue";
            let mut raw = serializer.serialize_struct(name, 1)?;
            for _ in 0..self.0 {
                let _ = raw.serialize_field(name, "1");
            }
            raw.end()
        }
    }
    assert_eq!(jird::to_string(&Fields(1)).expect("JSON"), "1");
    assert!(jird::to_string(&Fields(0)).unwrap_err().is_data());
    assert!(jird::to_string(&Fields(2)).is_err());
}

#[test]
fn writers_receive_whole_characters() {
    struct Whole(Vec<u8>);
    impl std::io::Write for Whole {
        fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
            assert!(std::str::from_utf8(text).is_ok(), "a piece ends within a character");
            self.0.extend_from_slice(text);
            Ok(text.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for shift in 0..5 {
        let text = "x".repeat(shift) + &"語😀ü".repeat(20_000);
        let mut whole = Whole(Vec::new());
        jird::to_writer(&mut whole, &[&text, &text]).expect("written");
        assert_eq!(String::from_utf8(whole.0).expect("text"), format!("[\"{text}\",\"{text}\"]"));
    }
}

/// Takes this many bytes, a few at a time, and then fails.
struct Failing {
    taken: Vec<u8>,
    room: usize,
}

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.room == 0 {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "the disk is full"));
        }
        let len = bytes.len().min(self.room).min(1000);
        self.taken.extend_from_slice(&bytes[..len]);
        self.room -= len;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        panic!("nobody asked for this");
    }
}

#[test]
fn a_writer_that_fails_is_reported_and_got_a_beginning() {
    let value: Vec<_> =
        (0..20_000).map(|number| (number, "some text, \"quoted\"", 0.5, "й".repeat(number % 40))).collect();
    let wanted = serde_json::to_vec(&value).expect("JSON");
    for room in [0, 1, 100, 16_384, 70_000, wanted.len() - 1, wanted.len()] {
        let mut writer = Failing { taken: Vec::new(), room };
        let written = jird::to_writer(&mut writer, &value);
        assert_eq!(writer.taken, wanted[..room]);
        if room < wanted.len() {
            let error = written.unwrap_err();
            assert!(error.is_io());
            assert_eq!(error.io_error_kind(), Some(io::ErrorKind::StorageFull));
            assert_eq!(error.to_string(), "the disk is full");
        } else {
            written.expect("there was room");
        }
    }
    // Endless values end with the writer.
    let mut writer = Failing { taken: Vec::new(), room: 100_000 };
    assert!(jird::to_writer(&mut writer, &Endless).unwrap_err().is_io());
    // One string, larger than any buffer.
    let text = "я".repeat(1 << 20);
    let mut writer = Failing { taken: Vec::new(), room: usize::MAX };
    jird::to_writer(&mut writer, &text).expect("there is room");
    assert_eq!(writer.taken, serde_json::to_vec(&text).expect("JSON"));
}

/// A list without an end.
struct Endless;

impl Serialize for Endless {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(0_u64..)
    }
}

#[test]
fn a_writer_gets_no_more_than_a_buffer_at_once() {
    /// Remembers the longest.
    struct Longest(usize);
    impl Write for Longest {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.max(bytes.len());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut writer = Longest(0);
    let text = "\u{1}a".repeat(1 << 18);
    jird::to_writer(&mut writer, &(&text, HashMap::from([(&text, Newtype(&text))]), vec![0.1; 50_000]))
        .expect("it takes all");
    assert!(writer.0 <= 40 << 10, "{} bytes at once", writer.0);
}

#[test]
fn whoever_goes_on_after_an_error_gets_another() {
    /// Takes no notice of an element that fails.
    struct Stubborn;
    impl Serialize for Stubborn {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut seq = serializer.serialize_seq(None)?;
            seq.serialize_element("before")?;
            assert!(
                seq.serialize_element(&Pairs(vec![("x".repeat(100_000), 1)].into_iter().map(|_| ((), 1)).collect()))
                    .is_err()
            );
            assert!(seq.serialize_element("behind").is_err());
            seq.end()
        }
    }
    assert!(jird::to_vec(&Stubborn).is_err());
    assert!(jird::to_writer(io::sink(), &Stubborn).is_err());
    let mut text = b"kept".to_vec();
    assert!(jird::ser::to_vec_in(&Stubborn, &mut text).is_err());
    assert_eq!(text, b"kept");

    assert!(jird::to_vec(&Mute).unwrap_err().is_data());
}

/// Cannot be displayed.
struct Mute;

impl fmt::Display for Mute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("some")?;
        Err(fmt::Error)
    }
}

impl Serialize for Mute {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

thread_local! {
    /// Where the stack is in the innermost value.
    static DEEPEST: Cell<usize> = const { Cell::new(0) };
}

/// This many nested values.
struct Nested(usize);

impl Serialize for Nested {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 == 0 {
            let here = 0_u8;
            DEEPEST.set(&raw const here as usize);
            return serializer.serialize_unit();
        }
        let mut seq = serializer.serialize_seq(Some(1))?;
        seq.serialize_element(&Self(self.0 - 1))?;
        seq.end()
    }
}

#[test]
fn nesting_needs_no_more_stack_than_serde_json_does() {
    const DEPTH: usize = 1000;
    let here = 0_u8;
    let used = |write: &dyn Fn()| {
        write();
        (&raw const here as usize).abs_diff(DEEPEST.get()) / DEPTH
    };
    let theirs = used(&|| assert!(serde_json::to_vec(&Nested(DEPTH)).is_ok()));
    let ours = used(&|| assert!(jird::to_vec(&Nested(DEPTH)).is_ok()));
    assert!(ours <= theirs + 64, "{ours} bytes of stack for each level, {theirs} in serde_json");
}
