// A relay: raw values passed on.
use self::serde_json::value::{RawValue, to_raw_value};
use self::serde_json::{Value, from_str, from_value, json, to_string, to_value};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

#[derive(Debug, Serialize, Deserialize)]
struct Envelope<'a> {
    id: u8,
    #[serde(borrow)]
    body: &'a RawValue,
    owned: Box<RawValue>,
    more: Option<Box<RawValue>>,
}

pub fn run() -> String {
    let mut out = String::new();
    let text = r#"{"id": 1, "body": {"x" : [1.50,  -0]}, "owned": 1e2 , "more": "\ud800"}"#;
    let envelope: Envelope = from_str(text).unwrap();
    writeln!(out, "{envelope:?} {} {}", to_string(&envelope).unwrap(), envelope.body).unwrap();
    for text in ["1", " [1, 2] ", "", "[", "1 2", "nul", "{\"a\":}", "\"\\ud800\""] {
        writeln!(out, "{text} {:?} {:?}", RawValue::from_string(text.to_owned()), from_str::<&RawValue>(text)).unwrap();
    }
    writeln!(out, "{} {} {} {:?}", RawValue::NULL, RawValue::TRUE, RawValue::FALSE, <Box<RawValue>>::default()).unwrap();
    let raw = to_raw_value(&json!({"a": [1]})).unwrap();
    writeln!(out, "{} {} {}", raw.get(), raw.clone(), raw.to_owned()).unwrap();
    writeln!(out, "{:?} {:?}", Value::deserialize(&*raw), Vec::<u8>::deserialize(&*raw).map_err(|error| error.to_string())).unwrap();
    writeln!(out, "{:?}", to_value(&raw)).unwrap();
    writeln!(out, "{:?}", from_value::<Box<RawValue>>(json!({"a": [1, "x", null]}))).unwrap();
    writeln!(out, "{:?}", Box::<RawValue>::deserialize(&json!([1]))).unwrap();
    let boxed: Box<str> = raw.into();
    writeln!(out, "{boxed}").unwrap();
    out
}
