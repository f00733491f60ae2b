// A web service: structs in and out, and the messages when they are wrong.
use self::serde_json::error::Category;
use self::serde_json::{Error, Result, from_slice, from_str, from_value, json, to_string, to_string_pretty, to_vec, to_vec_pretty};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::Write;

#[derive(Debug, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Order<'a> {
    id: u32,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(default)]
    tags: Vec<String>,
    price: Option<f64>,
    at: (i8, bool),
}

fn read(text: &str) -> Result<Order<'_>> {
    from_str(text)
}

fn told(out: &mut String, error: &Error) {
    let category = match error.classify() {
        Category::Io => "io",
        Category::Syntax => "syntax",
        Category::Data => "data",
        Category::Eof => "eof",
    };
    writeln!(out, "{error} | {error:?} | {} {} {category}", error.line(), error.column()).unwrap();
    writeln!(out, "{} {} {} {} {:?}", error.is_io(), error.is_syntax(), error.is_data(), error.is_eof(), error.io_error_kind()).unwrap();
}

pub fn run() -> String {
    let mut out = String::new();
    let good = r#"{"id": 7, "name": "A\u00e9", "at": [1, true], "price": 2.50}"#;
    let order = read(good).unwrap();
    writeln!(out, "{order:?} {} {}", to_string(&order).unwrap(), to_string_pretty(&order).unwrap()).unwrap();
    writeln!(out, "{:?} {:?}", to_vec(&order).unwrap(), to_vec_pretty(&order).unwrap()).unwrap();
    writeln!(out, "{:?}", from_slice::<Order>(good.as_bytes()).unwrap() == order).unwrap();
    for (index, _) in good.char_indices() {
        told(&mut out, &read(&good[..index]).unwrap_err());
    }
    let wrong = [
        "{\"id\": \"7\"}", "{\"id\": -1, \"name\": \"\"}", "{\"id\": 1.5}", "{\n\"id\": 7,\n \"x\": 1}", "[1, 2]", "null", "7", "\"a",
        "{\"id\": 7, \"id\": 7}", "{\"id\": 7,}", "{\"id\" 7}", "{id: 7}", "{\"id\": 07}", "{\"at\": [1]}", "{\"at\": [1, true, 2]}",
        "{\"at\": [1, true,]}", "{\"name\": \"\\x\"}", "{\"name\": \"\u{1}\"}", "{\"name\": \"\\ud800\"}", "{\"price\": nul}", "{\"price\": 1e999}",
        "{\"tags\": [1]}", "{\"tags\": [\"a\" \"b\"]}", "{} x", "{\"id\": 4294967296}", "{\"name\": null}", "\n\n  ?",
    ];
    for text in wrong {
        told(&mut out, &read(text).unwrap_err());
        told(&mut out, &from_slice::<Order>(text.as_bytes()).unwrap_err());
        let tree = from_str::<self::serde_json::Value>(text);
        match tree {
            Ok(tree) => told(&mut out, &from_value::<Owned>(tree).unwrap_err()),
            Err(error) => told(&mut out, &error),
        }
    }
    told(&mut out, &from_slice::<String>(b"\"\xff\"").unwrap_err());
    let deep = "[".repeat(200) + &"]".repeat(200);
    told(&mut out, &from_str::<self::serde_json::Value>(&deep).unwrap_err());
    let io: std::io::Error = from_str::<u8>("x").unwrap_err().into();
    writeln!(out, "{:?} {:?}", io.kind(), std::io::Error::from(from_str::<u8>("").unwrap_err()).kind()).unwrap();
    told(&mut out, &<Error as serde::de::Error>::custom("mine at line 3 column 4"));
    told(&mut out, &<Error as serde::ser::Error>::custom("mine"));
    writeln!(out, "{:?}", from_value::<Owned>(json!({"id": 1, "at": [1, 2, 3]}))).unwrap();
    out
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Owned {
    id: u32,
    name: String,
    at: (i8, bool),
    tags: Option<Vec<String>>,
    price: Option<f64>,
}
