//! Types told as events, as they are written.

use super::{Adjacent, Base64, External, Flat, Internal, Tuple, Unit, Untagged};
use crate::common;
use jird::event::{self, Failure, Interest, JsonSink, Key, Objects, Place, Sink, Source};
use jird::hooks::event::Recording;
use jird::hooks::event::send;
use jird::{Error, NumberBuf, RawValue};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_bytes::ByteBuf;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

/// What a value is as events, as text: from one, as a record, and by way of a tape.
fn told<T: ?Sized + Serialize>(value: &T) -> Result<String, Error> {
    let mut out = JsonSink::new(Vec::new());
    event::send_value(value, &mut out).map_err(Failure::either::<Error>)?;
    let alone = String::from_utf8(out.so_far().to_vec()).unwrap();
    let mut out = JsonSink::new(Vec::new());
    event::copy(&mut event::Values::new([value, value]), &mut out).map_err(Failure::either::<Error>)?;
    assert_eq!(String::from_utf8(out.into_inner()).unwrap(), format!("{alone}\n{alone}\n"));
    let document = jird::parse(alone.as_bytes())?;
    let mut out = JsonSink::new(Vec::new());
    send(document.root(), &mut out).map_err(Failure::either::<Error>)?;
    assert_eq!(out.so_far(), alone.as_bytes());
    Ok(alone)
}

fn check_told<T: ?Sized + Serialize>(value: &T) {
    common::force_kernel();
    assert_eq!(told(value).unwrap(), jird::to_string(value).unwrap());
}

#[derive(Serialize)]
struct Wide<'a> {
    a: i8,
    #[serde(rename = "a key\nof \"its\" own")]
    escaped: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<u8>,
    list: Vec<Option<bool>>,
    #[serde(flatten)]
    flat: BTreeMap<&'a str, f32>,
}

#[test]
fn every_shape_is_told_as_it_is_written() {
    check_told(&());
    check_told(&Unit);
    check_told(&(true, 1_u8, -2_i8, 3_u16, -4_i16, 5_u32, -6_i32, 7_u64, -8_i64));
    check_told(&(u64::MAX, i64::MIN, u128::MAX, i128::MIN, i128::MAX, 0_u128, -1_i128));
    check_told(&("text", 'c', '"', "\u{1}\u{7f}ü😀"));
    check_told(&(0.1_f64, 0.1_f32, 1e300, 1.0_f32, -0.0, f64::NAN, f32::INFINITY, 5e-324));
    check_told(&[None, Some(Some(1)), Some(None)]);
    check_told(&Tuple(1, "x".into(), Some(Box::new(Tuple(2, String::new(), None)))));
    check_told(&[External::Unit, External::Newtype(None), External::Newtype(Some(3)), External::Tuple(1, 'x')]);
    check_told(&External::Struct { a: (), b: vec![External::Unit] });
    check_told(&[Internal::Nothing, Internal::Number { value: 1.0 }]);
    check_told(&[Adjacent::Unit, Adjacent::Newtype("x".into()), Adjacent::Struct { x: -1 }]);
    check_told(&Untagged::List(vec![Untagged::Null, Untagged::Map { a: Box::new(Untagged::Float(0.5)) }]));
    let flat = BTreeMap::from([("x", 0.3), ("y", 1.0)]);
    check_told(&Wide { a: 1, escaped: "e\\", skipped: None, list: vec![None, Some(true)], flat: flat.clone() });
    check_told(&Wide { a: 1, escaped: "", skipped: Some(1), list: vec![], flat });
    check_told(&BTreeMap::from([(1_u8, "a"), (200, "b")]));
    check_told(&BTreeMap::from([(i128::MIN, 1), (i128::MAX, 2)]));
    check_told(&BTreeMap::from([(true, 1)]));
    check_told(&BTreeMap::from([('"', 1)]));
    check_told(&BTreeMap::from([(Some("x"), 1)]));
    check_told(&std::net::Ipv4Addr::LOCALHOST);
    check_told(&HashMap::from([(std::net::Ipv4Addr::LOCALHOST, 1)]));
    check_told(&jird::from_str::<Vec<NumberBuf>>("[1.50,1e400,123456789012345678901234567890]").unwrap());
    check_told(&RawValue::from_string(r#"{"a":[1.50,"\"",{}],"b":null}"#.into()).unwrap());
    check_told(&serde_json::json!({"a": [1, -1, 1.5, "x", null, {}], "b": {}}));
    check_told(&jird::parse(br#"[{"a":[]},1.50,"\u0041"]"#).unwrap());
    check_told(&Base64 { bytes: vec![1, 2, 3] });
    assert_eq!(told(&ByteBuf::from([1, 2])).unwrap(), "\"AQI=\"");
    for refused in [
        told(&BTreeMap::from([((), 1)])).unwrap_err(),
        told(&BTreeMap::from([(vec![1], 1)])).unwrap_err(),
        told(&BTreeMap::from([(None::<u8>, 1)])).unwrap_err(),
        told(&BTreeMap::from([(ByteBuf::new(), 1)])).unwrap_err(),
    ] {
        assert_eq!(refused.to_string(), jird::to_string(&BTreeMap::from([((), 1)])).unwrap_err().to_string());
    }
}

#[test]
fn values_come_round() {
    fn round<T: Clone + Debug + PartialEq + Serialize + DeserializeOwned>(values: &[T]) {
        let mut back = Vec::new();
        event::for_each(&mut event::Values::new(values), |_, value: T| {
            back.push(value);
            Ok::<(), Error>(())
        })
        .unwrap();
        assert_eq!(back, values);
    }
    round(&[u64::MAX, 0]);
    round(&[i128::MIN, u64::MAX.into()]);
    round(&[0.1_f32, f32::MAX, f32::MIN_POSITIVE, -0.0]);
    round(&[f64::MIN_POSITIVE, 0.1, 1e308]);
    round(&[ByteBuf::from([1, 2, 255])]);
    round(&[External::Struct { a: (), b: vec![External::Tuple(1, 'x'), External::Newtype(None)] }]);
    round(&[Internal::List { values: vec![1], inner: Box::new(Internal::Number { value: 0.5 }) }, Internal::Nothing]);
    round(&[Adjacent::Struct { x: 1 }, Adjacent::Unit]);
    round(&[Flat { id: 7, rest: BTreeMap::from([("x".into(), Untagged::Text("y".into()))]) }]);
}

#[test]
fn fields_have_numbers_that_are_their_own_in_all_records() {
    #[derive(Serialize)]
    struct Inner {
        b: u8,
        c: u8,
    }
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Either {
        One {
            a: u8,
            #[serde(skip_serializing_if = "Option::is_none")]
            b: Option<u8>,
            inner: Inner,
        },
        Other {
            c: u8,
            a: u8,
        },
    }
    #[derive(Default)]
    struct Numbers(BTreeMap<u32, String>, usize);
    impl Sink for Numbers {
        type Error = Error;
        fn key(&mut self, key: Key<'_>) -> Result<Interest, Error> {
            let known = self.0.entry(key.number().unwrap()).or_insert_with(|| key.text().to_owned());
            assert_eq!(known, key.text());
            self.1 += 1;
            Ok(Interest::take_if(key.text() != "c"))
        }
    }
    let values = [
        Either::One { a: 1, b: None, inner: Inner { b: 1, c: 2 } },
        Either::Other { c: 1, a: 2 },
        Either::One { a: 1, b: Some(2), inner: Inner { b: 1, c: 2 } },
    ];
    let mut numbers = Numbers::default();
    event::copy(&mut event::Values::new(&values), &mut numbers).unwrap();
    assert_eq!(numbers.0.into_values().collect::<Vec<_>>(), ["a", "inner", "b", "c"]);
    assert_eq!(numbers.1, 4 + 2 + 5);
}

/// What a sink skips is not serialized at all.
#[test]
fn what_is_skipped_is_not_looked_at() {
    struct Never(u8);
    impl Serialize for Never {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("nobody wants {}", self.0)
        }
    }
    #[derive(Serialize)]
    struct Row {
        skip: Never,
        map: BTreeMap<&'static str, Never>,
        variant: Variant,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    enum Variant {
        Skip(Never, Never),
    }
    struct Log(Vec<String>);
    impl Sink for Log {
        type Error = Error;
        fn key(&mut self, key: Key<'_>) -> Result<Interest, Error> {
            self.0.push(key.text().into());
            Ok(Interest::take_if(key.text() != "skip"))
        }
        fn begin_array(&mut self) -> Result<(), Error> {
            panic!("nobody wants it")
        }
    }
    let mut log = Log(Vec::new());
    let row =
        Row { skip: Never(0), map: BTreeMap::from([("skip", Never(0))]), variant: Variant::Skip(Never(1), Never(2)) };
    event::send_value(&row, &mut log).unwrap();
    assert_eq!(log.0, ["skip", "map", "skip", "variant", "skip"]);
}

#[test]
fn the_keys_of_another_source_have_other_numbers() {
    #[derive(serde::Deserialize)]
    struct Two {
        a: String,
        b: String,
    }
    let send = |sink: &mut dyn Sink<Error = jird::Error>, names: [&str; 3]| {
        sink.begin_record(Place::default())?;
        sink.begin_object()?;
        for (number, name) in (0..).zip(names) {
            if sink.key(Key::numbered(name, number))? == Interest::Take {
                sink.string(name)?;
            }
        }
        sink.end_object()?;
        sink.end_record()
    };
    let mut read = Vec::new();
    let mut objects = Objects::new(|_, two: Two| {
        read.push((two.a, two.b));
        Ok::<_, jird::Error>(())
    });
    let mut recording = Recording::new();
    for names in [["a", "b", "other"], ["a", "b", "other"], ["other", "a", "b"], ["b", "other", "a"]] {
        send(&mut objects, names).unwrap();
        send(&mut recording, names).unwrap();
        let mut out = jird::event::JsonSink::new(Vec::new());
        recording.source().send(&mut out).unwrap();
        let wanted = names.map(|name| format!("\"{name}\":\"{name}\"")).join(",");
        assert_eq!(out.so_far(), format!("{{{wanted}}}\n").as_bytes());
    }
    drop(objects);
    assert!(read.len() == 4 && read.iter().all(|(a, b)| a == "a" && b == "b"), "{read:?}");
}
