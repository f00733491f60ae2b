// A store: keys of every type, bytes, characters, units.
use self::serde_json::{from_str, from_value, json, to_string, to_value, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::{Debug, Write};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Level { Low, High }
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Id(u16);
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Nothing;

fn keys<K: Ord + Debug + Serialize + for<'a> Deserialize<'a>>(out: &mut String, keys: impl IntoIterator<Item = K>, wrong: &str) {
    let map: BTreeMap<K, u8> = keys.into_iter().zip(0..).collect();
    let text = to_string(&map).map_err(|error| format!("{error:?}"));
    writeln!(out, "{text:?} {:?}", to_value(&map)).unwrap();
    if let Ok(text) = text {
        writeln!(out, "{:?} {:?}", from_str::<BTreeMap<K, u8>>(&text), from_value::<BTreeMap<K, u8>>(to_value(&map).unwrap())).unwrap();
    }
    writeln!(out, "{:?}", from_str::<BTreeMap<K, u8>>(wrong)).unwrap();
    writeln!(out, "{:?}", from_value::<BTreeMap<K, u8>>(json!({"": 1})).map_err(|error| error.classify())).unwrap();
}

pub fn run() -> String {
    let mut out = String::new();
    keys(&mut out, [1u8, 255], r#"{"256": 1}"#);
    keys(&mut out, [-1i64, i64::MIN], r#"{"1.5": 1}"#);
    keys(&mut out, [u128::MAX], r#"{"x": 1}"#);
    keys(&mut out, [i128::MIN], r#"{"": 1}"#);
    keys(&mut out, [true, false], r#"{"tru": 1}"#);
    keys(&mut out, ['a', 'é'], r#"{"ab": 1}"#);
    keys(&mut out, [Level::Low, Level::High], r#"{"Mid": 1}"#);
    keys(&mut out, [Id(7)], r#"{"-1": 1}"#);
    keys(&mut out, ["s".to_owned(), "\"\n".to_owned()], r#"{1: 1}"#);
    for text in [to_string(&BTreeMap::from([((1, 2), 3)])), to_string(&BTreeMap::from([(Some(1), 3)])), to_string(&BTreeMap::from([((), 3)]))] {
        writeln!(out, "{text:?}").unwrap();
    }
    for value in [to_value(BTreeMap::from([((1, 2), 3)])), to_value(BTreeMap::from([(None::<u8>, 3)])), to_value(BTreeMap::from([(vec![1], 3)]))] {
        writeln!(out, "{value:?}").unwrap();
    }
    writeln!(out, "{:?} {:?}", from_str::<char>("\"é\""), from_str::<char>("\"ab\"")).unwrap();
    writeln!(out, "{:?} {:?}", from_str::<Nothing>("null"), to_string(&(Nothing, ())).unwrap()).unwrap();
    writeln!(out, "{:?}", from_str::<Vec<Option<Level>>>(r#"[null, "Low"]"#)).unwrap();
    let value = json!({"n": 1, "f": 1.5, "s": "x", "b": true});
    writeln!(out, "{} {} {} {}", value["n"] == 1, value["n"] == 1u64, 1 == value["n"], value["f"] == 1.5f32).unwrap();
    writeln!(out, "{} {} {} {}", value["s"] == "x", "x" == value["s"], value["s"] == "x".to_owned(), value["b"] == true).unwrap();
    writeln!(out, "{} {} {}", value["f"] == 1.5f64, &value["n"] == 1i8, value["s"] == 1).unwrap();
    let made: Vec<Value> = vec![
        1i8.into(), 2usize.into(), 1.5f32.into(), f64::NAN.into(), "s".into(), String::from("t").into(), true.into(), ().into(),
        std::borrow::Cow::Borrowed("c").into(), vec![1, 2].into(), [1, 2].into(), (&[1u8][..]).into(), Some("x").into(), None::<u8>.into(),
        self::serde_json::Map::new().into(), self::serde_json::Number::from(1).into(), [1, 2].into_iter().collect(), [("k", 1)].into_iter().collect(),
    ];
    writeln!(out, "{made:?}").unwrap();
    out
}
