//! A table of texts, each decoded into every type, and what becomes of them when they are cut or changed.

use crate::common;
use crate::typed::judge::same;
use crate::typed::shapes::{Flat, Plain, all_types, wide};
use jird::Deserializer;
use jird::hooks::Kernel;
use serde::Deserialize;

const TEXTS: &[&str] = &[
    "",
    " ",
    "null",
    "true",
    "false",
    "nul",
    "nulll",
    "tru",
    "truE",
    "fals",
    "falsey",
    "1",
    "0",
    "-0",
    "-",
    "- ",
    "01",
    "-01",
    "1.",
    "1.5",
    "-1.5e3",
    "1e",
    "1e+",
    "1e400",
    "-1e400",
    "1e-400",
    "255",
    "256",
    "-128",
    "-129",
    "65536",
    "4294967296",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "1.0",
    "1e2",
    "0.1",
    "3.4028236e38",
    "1e39",
    "16777217.0",
    "123456789012345678901234567890",
    "1 2",
    "1,",
    "+1",
    ".5",
    "NaN",
    "Infinity",
    "\"\"",
    "\"a\"",
    "\"A\"",
    "\"B\"",
    "\"C\"",
    "\"é\"",
    "\"日本\"",
    "\"\\u0041\"",
    "\"\\n\"",
    "\"\\ud83d\\ude00\"",
    "\"\\uFFFF\"",
    "\"\\x\"",
    "\"\\u12\"",
    "\"\\u12",
    "\"a",
    "\"a\\",
    "\"a\\\"",
    "\"\t\"",
    "\"a\" x",
    "\"127.0.0.1\"",
    "[]",
    "[ ]",
    "[0]",
    "[1]",
    "[1,2]",
    "[1,2,3]",
    "[1 2]",
    "[1,]",
    "[,1]",
    "[,]",
    "[1",
    "[1,",
    "[",
    "]",
    "[]]",
    "[1,\"a\"]",
    "[1,\"a\",null]",
    "[\"a\",\"b\"]",
    "[1.5,2]",
    "[[1],[2,3]]",
    "[[1.5]]",
    "[256]",
    "[-1]",
    "[null]",
    "[[[[[[]]]]]]",
    "[}",
    "[1}",
    "{}",
    "{ }",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1",
    "{\"a\":1,",
    "{\"a\":1,}",
    "{,}",
    "{1:2}",
    "{\"a\" 1}",
    "{\"a\":1 \"b\":2}",
    "{\"a\":1,\"b\":\"x\"}",
    "{\"a\":1,\"b\":\"x\",\"c\":2.5}",
    "{\"b\":\"x\",\"a\":1,\"z\":[1,{}]}",
    "{\"a\":1,\"a\":2,\"b\":\"\"}",
    "{\"a\":\"1\",\"b\":\"x\"}",
    "{\"a\":1,\"b\":null}",
    "{\"a\":1,\"b\":[{\"a\":2}]}",
    "{\"a\":1,\"b\":[{\"a\":2,\"z\":1}]}",
    "{\"a\":1]",
    "{\"\\u0061\":1,\"b\":\"x\"}",
    "{\"1\":null}",
    "{\"1\":2}",
    "{\"-1\":2}",
    "{\"256\":null}",
    "{\"1.5\":1}",
    "{\"01\":1}",
    "{\" 1\":1}",
    "{\"1 \":1}",
    "{\"true\":1,\"false\":2}",
    "{\"tru\":1}",
    "{\"é\":\"e\"}",
    "{\"ab\":\"e\"}",
    "{\"A\":[1]}",
    "{\"B\":1}",
    "{\"B\":256}",
    "{\"B\":1,\"A\":null}",
    "{\"A\":null}",
    "{\"C\":[1,\"x\"]}",
    "{\"C\":[1]}",
    "{\"C\":[1,\"x\",2]}",
    "{\"D\":{\"a\":true}}",
    "{\"D\":{\"a\":1}}",
    "{\"D\":[true]}",
    "{\"D\":[0],\"t\":null}",
    "{\"E\":[\"A\",{\"B\":2},{\"E\":[]}]}",
    "{\"E\":[\"A\",{\"B\":2}",
    "{\"Z\":1}",
    "{\"t\":\"A\"}",
    "{\"t\":\"B\",\"b\":\"x\"}",
    "{\"t\":\"D\",\"a\":true}",
    "{\"a\":true,\"t\":\"D\"}",
    "{\"a\":true}",
    "{\"t\":\"B\",\"c\":1}",
    "{\"c\":1,\"t\":\"B\"}",
    "{\"t\":\"C\",\"c\":[1,\"x\"]}",
    "{\"t\":\"D\",\"c\":{\"a\":false}}",
    "{\"t\":\"Z\"}",
    "{\"t\":1}",
    "{\"secs\":1,\"nanos\":2}",
    "{\"Ok\":1}",
    "{\"Err\":\"x\"}",
    "{\"start\":1,\"end\":2}",
    "{\"340282366920938463463374607431768211455\":1}",
    "{\"a\":{\"a\":1,\"b\":\"x\"},\"b\":null}",
    "\u{6c0}",
    "[\u{6c0}",
    "[\u{6c0}1]",
    "[1\u{740}",
    "[1\u{740},2]",
    "{\"a\":[1\u{740}}",
    "\u{feff}1",
    "[1]\u{0}",
    "\u{0}",
    "é",
    "[é]",
    "/**/1",
    "'a'",
    "[1]\n\n\t\r ",
    "\n\n[1,\n x]",
    "{\"a\":1,\n\"b\":2}",
    "{\"a\": 1 ,\"b\" : \"x\" }",
    "{\"a\":tru}",
    "[nul",
    "[true,fals]",
    "[ 1 , \"a\" ]",
    "{\"x\":1e999}",
    "{\"x\":01}",
    "{\"x\":\"\\q\"}",
    "{\"x\":[1,2}",
    "{\"x\":{]}",
    "[1,2 ,3 ] ]",
    "\u{fb}",
    "[\u{fb}]",
    "{\"a\":\u{fd}",
    "Û",
    "[Û",
    "[1Ý",
    "{\"k\":Û1]}",
    "{\"-6x\":1}",
    "{\"300x\":1}",
];

#[test]
fn every_shape_of_the_data_model_takes_what_serde_json_takes() {
    common::force_kernel();
    for text in TEXTS {
        all_types(text.as_bytes());
        wide(text.as_bytes());
    }
}

#[test]
fn each_beginning_and_each_changed_byte_of_a_document_is_judged_alike() {
    common::force_kernel();
    let text = r#"{"a": 1, "b": "x\ud83d\ude00é", "c": -1.5e3, "z": [true, {"k": null}, "\u0000", 12]}"#;
    for end in 0..text.len() {
        let text = &text.as_bytes()[..end];
        same::<Plain>(text);
        same::<serde_json::Value>(text);
        same::<Flat>(text);
    }
    for at in 0..text.len() {
        for byte in *b"\"\\{}[]:, 0a-\x01\n" {
            let mut text = text.as_bytes().to_vec();
            text[at] = byte;
            if core::str::from_utf8(&text).is_ok() {
                same::<serde_json::Value>(&text);
                same::<Flat>(&text);
            }
        }
    }
}

#[test]
fn arrays_may_be_as_deep_as_with_serde_json_and_what_is_ignored_deeper() {
    common::force_kernel();
    for depth in [126, 127, 128, 200] {
        same::<serde_json::Value>(&[b"[".repeat(depth), b"]".repeat(depth)].concat());
        same::<serde_json::Value>(&[b"{\"a\":".repeat(depth), b"1".to_vec(), b"}".repeat(depth)].concat());
    }
    for depth in [1, 63, 64, 65, 128, 129, 5000] {
        for text in [
            [b"[".repeat(depth), b"]".repeat(depth)].concat(),
            [b"[{\"a\":".repeat(depth), b"1".to_vec(), b"}]".repeat(depth)].concat(),
            [b"[{\"a\":".repeat(depth), b"1".to_vec(), b"]}".repeat(depth)].concat(),
            [b"[".repeat(depth), b"]".repeat(depth + 1)].concat(),
            [b"[".repeat(depth + 1), b"]".repeat(depth)].concat(),
        ] {
            same::<serde::de::IgnoredAny>(&text);
        }
    }
    let deep = [b"[".repeat(128), b"]".repeat(128)].concat();
    let mut deserializer = Deserializer::from_slice(&deep).with_depth_max(128);
    assert!(serde_json::Value::deserialize(&mut deserializer).is_ok());
}

#[test]
fn every_kernel_decodes_the_same() {
    let _ = Kernel::available().count();
    common::force_kernel();
    for text in TEXTS {
        // The same, where a block or a chunk ends.
        for pad in [40, 55, 58, 60, 61, 62, 63, 64, 120] {
            let text = [" ".repeat(pad).as_bytes(), text.as_bytes(), b" "].concat();
            same::<serde_json::Value>(&text);
            same::<Plain>(&text);
        }
    }
}
