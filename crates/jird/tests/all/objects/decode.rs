//! Types decoded from events, as they are from text.

use super::{
    Adjacent, Base64, External, Flat, Internal, Lax, Newtype, Newtype2, Strict, Tuple, Unit, Untagged, by_events,
    check, recorded,
};
use crate::common;
use jird::event::{Key, Numeral, Sink, Timestamp};
use jird::{NumberBuf, RawValue};
use serde::de::IgnoredAny;
use serde_bytes::ByteBuf;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

#[test]
fn every_shape_is_decoded_as_text_is() {
    for text in [
        "null",
        "true",
        "0",
        "-1",
        "1.5",
        "\"x\"",
        "\"\"",
        "[]",
        "{}",
        "[null]",
        "{\"a\":1}",
        "300",
        "1e400",
        "-0",
        "1e2",
    ] {
        check::<()>(text);
        check::<bool>(text);
        check::<u8>(text);
        check::<i64>(text);
        check::<u128>(text);
        check::<i128>(text);
        check::<f32>(text);
        check::<f64>(text);
        check::<char>(text);
        check::<String>(text);
        check::<Option<u64>>(text);
        check::<Vec<Option<u8>>>(text);
        check::<(u8, String)>(text);
        check::<[u8; 1]>(text);
        check::<BTreeMap<String, u8>>(text);
        check::<HashMap<u8, u8>>(text);
        check::<Unit>(text);
        check::<Newtype>(text);
        check::<Tuple>(text);
        check::<External>(text);
        check::<Internal>(text);
        check::<Untagged>(text);
        check::<Flat>(text);
        check::<Strict>(text);
        check::<Lax>(text);
        check::<IgnoredAny>(text);
        check::<ByteBuf>(text);
        check::<serde_json::Value>(text);
        check::<NumberBuf>(text);
        check::<Cow<'_, str>>(text);
    }
    let numbers = "[18446744073709551615,-9223372036854775808,340282366920938463463374607431768211455,0.1,1.0,-0.0,12345678901234567890123]";
    check::<Vec<u64>>(numbers);
    check::<Vec<f64>>(numbers);
    check::<Vec<f32>>(numbers);
    check::<Vec<NumberBuf>>(numbers);
    check::<Vec<serde_json::Value>>(numbers);
    check::<(u64, i64, u128)>("[18446744073709551615,-9223372036854775808,340282366920938463463374607431768211455]");
    check::<(i128, i128)>("[-170141183460469231731687303715884105728,-1]");
    check::<Vec<i128>>("[-170141183460469231731687303715884105729]");
    check::<Vec<Tuple>>(r#"[[1,"a",null],[2,"b",[3,"c",null]]]"#);
    check::<Vec<External>>(
        r#"["Unit",{"Unit":null},{"Newtype":null},{"Newtype":-3},{"Tuple":[1,"x"]},{"Struct":{"a":null,"b":["Unit"]}}]"#,
    );
    for text in [
        r#"{"Newtype":1,"Unit":null}"#,
        r#"{"Nothing":1}"#,
        r#""Tuple""#,
        r#"{"Tuple":[1]}"#,
        r#"{"Tuple":[1,"x",2]}"#,
        "{}",
    ] {
        check::<External>(text);
    }
    check::<Vec<Internal>>(
        r#"[{"kind":"Nothing"},{"value":1,"kind":"Number"},{"kind":"List","inner":{"kind":"Nothing","x":{}},"values":[1,2]}]"#,
    );
    check::<Vec<Adjacent>>(r#"[{"t":"Unit"},{"c":"x","t":"Newtype"},{"t":"Struct","c":{"x":-1}}]"#);
    check::<Vec<Untagged>>(r#"[1,1.5,"x",[null,[2]],{"a":{"a":null}},9223372036854775808]"#);
    check::<Flat>(r#"{"x":[1],"id":7,"y":{"a":null}}"#);
    check::<Strict>(r#"{"a":1,"bee":"x"}"#);
    check::<Strict>(r#"{"a":1,"c":"x"}"#);
    check::<Strict>(r#"{"a":1,"a":2}"#);
    check::<Lax>(r#"{"z":{"a":[{}]},"a key\n":"q\"","c":[{"a":2,"zz":1}],"a":3}"#);
    check::<Lax>(r#"{"c":[{},{"a":256}]}"#);
    check::<Lax>(r#"{"c":[{},{"a":"256"}]}"#);
    check::<BTreeMap<i8, (bool, char)>>(r#"{"1":[true,"x"],"-128":[false,"ü"]}"#);
    check::<BTreeMap<i8, u8>>(r#"{"200":1}"#);
    check::<BTreeMap<bool, u8>>(r#"{"true":1}"#);
    check::<BTreeMap<char, u8>>(r#"{"x":1}"#);
    check::<BTreeMap<u128, u8>>(r#"{"340282366920938463463374607431768211455":1}"#);
    check::<BTreeMap<Option<Newtype2>, u8>>(r#"{"7":1}"#);
    check::<ByteBuf>(r#""\u0000a""#);
    check::<ByteBuf>("[1,2,255]");
    check::<Base64>(r#"{"bytes":"AQI="}"#);
    check::<Vec<Box<RawValue>>>(r#"[{"a":[1.50,"x"]},1e400,"\"",null]"#);
}

#[test]
fn documents_of_the_corpus_are_decoded_as_text_is() {
    let Some(root) = common::corpus() else { return };
    for common::Document { name, text } in common::documents(&root) {
        let Ok(text) = std::str::from_utf8(&text) else { continue };
        // Numbers that no double holds are refused in both ways.
        let Ok(wanted) = jird::from_str::<serde_json::Value>(text) else { continue };
        assert!(by_events::<serde_json::Value>(text).is_ok_and(|found| found == [wanted]), "{name}");
    }
}

#[test]
fn bytes_and_times_are_what_is_asked_for() {
    let bytes = recorded(|sink| sink.bytes(&[1, 2]));
    assert_eq!(bytes.decode::<ByteBuf>().unwrap(), [1, 2]);
    assert_eq!(bytes.decode::<&[u8]>().unwrap(), [1, 2]);
    assert_eq!(bytes.decode::<Vec<u8>>().unwrap(), [1, 2]);
    assert_eq!(bytes.decode::<[u8; 2]>().unwrap(), [1, 2]);
    assert_eq!(bytes.decode::<String>().unwrap(), "AQI=");
    assert_eq!(bytes.decode::<serde_json::Value>().unwrap(), "AQI=");
    assert_eq!(bytes.decode::<Box<RawValue>>().unwrap().get(), "\"AQI=\"");
    assert!(bytes.decode::<[u8; 1]>().is_err() && bytes.decode::<u8>().is_err());
    let row = recorded(|sink| {
        sink.begin_object()?;
        sink.key(Key::new("bytes"))?;
        sink.bytes(&[1, 2, 3])?;
        sink.end_object()
    });
    assert_eq!(row.decode::<Base64>().unwrap().bytes, [1, 2, 3]);
    let time = recorded(|sink| sink.timestamp(Timestamp { seconds: -1, nanoseconds: 500_000_000, is_utc: true }));
    assert_eq!(time.decode::<String>().unwrap(), "1969-12-31T23:59:59.5Z");
    assert_eq!(time.decode::<serde_json::Value>().unwrap(), "1969-12-31T23:59:59.5Z");
    assert!(time.decode::<i64>().is_err());
}

#[test]
fn numbers_of_machines_are_what_is_asked_for() {
    let of = |number| recorded(|sink| sink.number(number));
    assert_eq!(of(Numeral::I64(7)).decode::<u8>().unwrap(), 7);
    assert_eq!(of(Numeral::I64(-7)).decode::<i128>().unwrap(), -7);
    assert!(of(Numeral::I64(-7)).decode::<u128>().is_err());
    assert_eq!(of(Numeral::U64(u64::MAX)).decode::<u128>().unwrap(), u64::MAX.into());
    assert!(of(Numeral::U64(u64::MAX)).decode::<i64>().is_err());
    assert_eq!(of(Numeral::U64(3)).decode::<f64>().unwrap().to_bits(), 3.0_f64.to_bits());
    assert_eq!(of(Numeral::F64(0.5)).decode::<f32>().unwrap().to_bits(), 0.5_f32.to_bits());
    assert!(of(Numeral::F64(1.0)).decode::<i64>().is_err() && of(Numeral::F64(1.0)).decode::<i128>().is_err());
    assert_eq!(of(Numeral::F64(1.0)).decode::<NumberBuf>().unwrap().to_string(), "1.0");
}
