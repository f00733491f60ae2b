// A tool that looks into documents: trees, their kinds, pointers, indexes.
use self::serde_json::value::{Index, Serializer as TreeSerializer};
use self::serde_json::{Value, from_str, json, to_value};
use serde::Serialize;
use std::fmt::Write;

fn at<I: Index>(value: &Value, index: I) -> Option<&Value> {
    value.get(index)
}

pub fn run() -> String {
    let mut out = String::new();
    let text = r#" {"a/b": [1, -2, 2.5, "x\n", null, true, {}], "c~": {"d": {"e": 18446744073709551615}}, "": 0} "#;
    let mut value: Value = from_str(text).unwrap();
    writeln!(out, "{value} {value:#} {value:?} {value:#?}").unwrap();
    writeln!(out, "{:?} {:?}", text.parse::<Value>().unwrap() == value, "{".parse::<Value>().unwrap_err()).unwrap();
    for value in value["a/b"].as_array().unwrap().iter().chain([&value]) {
        writeln!(
            out,
            "{} {} {} {} {} {} {} {} {}",
            value.is_object(), value.is_array(), value.is_string(), value.is_number(), value.is_boolean(),
            value.is_null(), value.is_i64(), value.is_u64(), value.is_f64()
        )
        .unwrap();
        writeln!(
            out,
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            value.as_object(), value.as_array(), value.as_str(), value.as_number(), value.as_bool(), value.as_null(),
            value.as_i64(), value.as_u64(), value.as_f64()
        )
        .unwrap();
    }
    for pointer in ["", "/", "/a~1b/0", "/a~1b/00", "/a~1b/+1", "/a~1b/7", "/c~0/d/e", "a", "/x/y"] {
        writeln!(out, "{pointer} {:?} {:?}", value.pointer(pointer).cloned(), value.pointer_mut(pointer)).unwrap();
    }
    writeln!(out, "{:?} {:?} {:?}", at(&value, "a/b"), at(&value, 0), at(&value["a/b"], 1)).unwrap();
    writeln!(out, "{:?} {:?}", at(&value, String::from("")), at(&value, &&"c~")).unwrap();
    value["new"]["inner"] = json!(1);
    value["a/b"][0] = json!("first");
    *value.get_mut("").unwrap() = json!(null);
    value.as_object_mut().unwrap().insert("z".into(), json!([]));
    value["z"].as_array_mut().unwrap().push(json!(1.0));
    writeln!(out, "{value} {}", value["no"]["such"]).unwrap();
    let taken = value["a/b"].take();
    value.sort_all_objects();
    writeln!(out, "{taken} {value} {:?} {:?}", Value::default(), <&Value>::default()).unwrap();
    writeln!(out, "{:?} {:?}", to_value((1u8, "a", 'c', 1.5f32)).unwrap(), (1, Some(())).serialize(TreeSerializer)).unwrap();
    writeln!(out, "{}", json!(1) == json!(1.0)).unwrap();
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
    let hash = |value: &Value| BuildHasherDefault::<DefaultHasher>::default().hash_one(value);
    writeln!(out, "{}", hash(&json!({"a": [0.0, 1]})) == hash(&json!({"a": [-0.0, 1]}))).unwrap();
    for wrong in [|| json!([1])[1].take(), || { let mut v = json!([1]); v[1] = json!(2); v }, || { let mut v = json!(1); v["a"] = json!(2); v }] {
        let panic = std::panic::catch_unwind(wrong).map_err(|panic| panic.downcast_ref::<String>().cloned());
        writeln!(out, "{panic:?}").unwrap();
    }
    out
}
