// A message bus: enums in every form.
use self::serde_json::{from_str, from_value, json, to_string, to_value, Value};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

#[derive(Debug, Serialize, Deserialize, PartialEq)]
enum Outer { Unit, New(u8), Pair(u8, String), Fields { a: f64, b: Option<bool> } }
#[derive(Debug, Serialize, Deserialize, PartialEq)]
#[serde(tag = "type")]
enum Inner { Unit, New(Point), Fields { a: f64 } }
#[derive(Debug, Serialize, Deserialize, PartialEq)]
#[serde(tag = "t", content = "c")]
enum Beside { Unit, New(u8), Pair(u8, String), Fields { a: f64 } }
#[derive(Debug, Serialize, Deserialize, PartialEq)]
#[serde(untagged)]
enum Any { Number(f64), Text(String), Point(Point), List(Vec<Any>), Tree(Value) }
#[derive(Debug, Serialize, Deserialize, PartialEq)]
struct Point { x: i32, y: i32 }
#[derive(Debug, Serialize, Deserialize, PartialEq)]
struct Flat { id: u8, #[serde(flatten)] rest: self::serde_json::Map<String, Value> }

fn both<T: for<'a> Deserialize<'a> + Serialize + std::fmt::Debug>(out: &mut String, text: &str) {
    let read = from_str::<T>(text);
    writeln!(out, "{text} {read:?}").unwrap();
    if let Ok(tree) = from_str::<Value>(text) {
        writeln!(out, "{:?} {:?}", from_value::<T>(tree.clone()), T::deserialize(tree)).unwrap();
    }
    if let Ok(value) = read {
        writeln!(out, "{} {:?}", to_string(&value).unwrap(), to_value(&value).unwrap()).unwrap();
    }
}

pub fn run() -> String {
    let mut out = String::new();
    for text in [r#""Unit""#, r#"{"Unit":null}"#, r#"{"New":1}"#, r#"{"Pair":[1,"a"]}"#, r#"{"Fields":{"a":1.5,"b":null}}"#, r#"{"New":"x"}"#, r#"{"No":1}"#, r#"{}"#, r#"{"New":1,"Unit":null}"#, "1", r#"{"Pair":[1]}"#, r#"{"Pair":[]}"#, r#""New""#, r#"{"New":1"#] {
        both::<Outer>(&mut out, text);
        both::<Vec<Outer>>(&mut out, &format!("[{text}]"));
    }
    for text in [r#"{"type":"Unit"}"#, r#"{"x":1,"type":"New","y":2}"#, r#"{"type":"Fields","a":2.5}"#, r#"{"a":1}"#, r#"{"type":"New","x":"1","y":2}"#, "[]"] {
        both::<Inner>(&mut out, text);
    }
    for text in [r#"{"t":"Unit"}"#, r#"{"c":1,"t":"New"}"#, r#"{"t":"Pair","c":[1,"a"]}"#, r#"{"c":{"a":0.5},"t":"Fields"}"#, r#"{"t":"New"}"#] {
        both::<Beside>(&mut out, text);
    }
    for text in ["1", "1.5", "\"a\"", r#"{"x":1,"y":-2}"#, r#"[1,["b",{"x":1,"y":2}]]"#, "null", r#"{"z":[true]}"#] {
        both::<Any>(&mut out, text);
    }
    for text in [r#"{"id":1,"a":1.5,"b":[2.25,{"c":null}]}"#, r#"{"a":1}"#] {
        both::<Flat>(&mut out, text);
    }
    writeln!(out, "{:?}", Outer::deserialize(&json!({"Fields": {"a": 1}}))).unwrap();
    writeln!(out, "{:?} {:?}", <(u8, u8)>::deserialize(&json!([1, 2, 3])), <()>::deserialize(json!(null))).unwrap();
    out
}
