// A server's answers: `json!` in all of its forms.
use self::serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

const KEY: &str = "const";
mod names {
    pub const PATH: &str = "path";
}

#[derive(serde::Serialize)]
struct Point { x: i32, y: i32 }

pub fn run() -> String {
    let mut out = String::new();
    let (name, list, map) = ("Ada", vec![1, 2], BTreeMap::from([("k", 1)]));
    let values = [
        json!(null), json!(true), json!(false), json!([]), json!({}), json!("s"), json!(-1), json!(1.5),
        json!([null, true, false, [], {}, [1, [2]], {"a": {"b": []}}]),
        json!([1, 2, 3,]), json!([name, list, map, name.len() + 1, -1, Point { x: 1, y: 2 }]),
        json!({"a": null, "b": true, "c": false, "d": [], "e": {}, "f": name, "g": name.len() > 2 && true,}),
        json!({ name: 1, KEY: 2, names::PATH: 3, (format!("{name}!")): 4, format!("{}?", name): [list.iter().max()] }),
        json!({"nested": {"deep": [{"er": [name, {"x": null}]}]}}),
        json!(list.iter().map(|n| json!({"n": n})).collect::<Vec<_>>()),
        json!(Some(1)), json!(None::<u8>), json!((1, "a")), json!(if name.is_empty() { 1 } else { 2 }),
        json!({"if": if list.len() > 1 { "many" } else { "few" }, "match": match name { "Ada" => 1, _ => 0 }}),
        json!([Value::Null, json!([1])]),
    ];
    for value in &values {
        writeln!(out, "{value} {value:?}").unwrap();
    }
    writeln!(out, "{}", self::serde_json::json_internal!({"a": [1]})).unwrap();
    let unchanged = list;
    writeln!(out, "{unchanged:?}").unwrap();
    out
}
