//! Parts of documents, decoded one by one.

use jird::{Deserializer, Error};
use serde_json::Value;

/// Everything that `pattern` leads to: from a slice and from readers with borders everywhere.
fn records(text: &str, pattern: &str) -> Vec<Result<Value, (&'static str, u64, String)>> {
    let told =
        |item: Result<Value, Error>| item.map_err(|error| (error.code(), error.offset(), error.path().to_owned()));
    let pattern: jird::event::Pattern = pattern.parse().unwrap();
    let whole: Vec<_> = Deserializer::from_slice(text.as_bytes()).records(pattern.clone()).map(told).collect();
    for bytes in [64, 128] {
        let reader = Deserializer::from_reader(text.as_bytes()).with_chunk_bytes(bytes);
        assert_eq!(reader.records(pattern.clone()).map(told).collect::<Vec<_>>(), whole, "{text} in chunks of {bytes}");
    }
    whole
}

fn good(text: &str, pattern: &str) -> String {
    let values: Vec<_> = records(text, pattern).into_iter().map(Result::unwrap).collect();
    serde_json::to_string(&values).unwrap()
}

#[test]
fn a_pattern_leads_to_records_at_any_depth() {
    let text =
        r#"{"next":[1,{"items":[9]}],"items":[{"id":1},2,[3],"x"],"m\u006fre":{"items":[7]}} {"items":[{"id":4}]} [1]"#;
    assert_eq!(good(text, "/items/*"), r#"[{"id":1},2,[3],"x",{"id":4}]"#);
    assert_eq!(good(text, "/items/2/0"), "[3]");
    assert_eq!(good(text, "/more/items"), "[[7]]");
    assert_eq!(good(text, "/*/items/*"), "[7]");
    assert_eq!(good(text, "/items/*/id"), "[1,4]");
    assert_eq!(good(text, "/nothing"), "[]");
    assert_eq!(good("1 [2]\n\"x\"{}", ""), r#"[1,[2],"x",{}]"#);
    assert_eq!(good("[]", "/*"), "[]");
    assert_eq!(good("[[],[[]]]", "/*/*"), "[[]]");
    assert_eq!(good("", "/*"), "[]");
}

#[test]
fn an_error_at_the_start_of_a_record_has_its_path() {
    for (text, pattern, path) in [
        ("[", "/*", "/0"),
        ("[7,", "/*", "/1"),
        ("[[8],[", "/*/*", "/1/0"),
        ("[\u{1}", "/*", "/0"),
        ("{\"a\":[\\", "/a/*", "/a/0"),
        ("{\"a\":", "/a", "/a"),
        ("{\"b\":[1,", "/*", "/b/1"),
        ("{\"b\":[", "/a/*", ""),
    ] {
        let (_, _, found) = records(text, pattern).pop().unwrap().unwrap_err();
        assert_eq!(found, path, "{pattern}: {text}");
    }
}

#[test]
fn what_is_wrong_is_said_where_a_parse_says_it_and_behind_what_was_right() {
    for text in [
        "[1,2,]",
        "[1 2]",
        "[1,2",
        "[1,tru]",
        "{\"a\":[1,}",
        "[1]]",
        "[1,{\"b\":[}]",
        "[1,\u{1}]",
        "[1,\"\\x\"]",
        "[1}",
    ] {
        let wanted = jird::validate(text.as_bytes()).unwrap_err();
        let found = records(text, "/*");
        let (code, offset, _) = found.last().unwrap().clone().unwrap_err();
        // Behind a document another may begin, but not with a bracket that closes.
        let code = if text == "[1]]" { "trailing" } else { code };
        assert_eq!((code, offset), (wanted.code(), wanted.offset()), "{text}");
        assert!(found[..found.len() - 1].iter().all(Result::is_ok), "{text}");
    }
}

#[test]
fn an_error_has_the_whole_path() {
    let text = r#"{"a":{"some key":[0,{"x":["y"]}]}}"#;
    let typed = |pattern: &str| {
        type Record = std::collections::BTreeMap<String, Vec<u8>>;
        let items = Deserializer::from_str(text).records::<Record>(pattern.parse().unwrap());
        items.last().unwrap().unwrap_err().to_string()
    };
    let wanted = "invalid type: string \"y\", expected u8 at line 1 column 27 (at /a/some key/1/x/0)";
    assert_eq!(typed("/a/some key/1"), wanted);
    assert_eq!(typed("/*/*/1"), wanted);
    assert_eq!(typed("/a"), "invalid type: map, expected u8 at line 1 column 21 (at /a/some key/1)");
}

#[test]
fn a_bad_line_is_an_item_and_the_next_line_is_the_next() {
    let text =
        "{\"a\":1}\n\n{\"a\":\n2}\n{\"a\":\"x\ny\"}\n[3] 4\n5\n\"\\ud800\"\n{\"a\":6}\n{\"a\":\"7\"}\r\n  \n{\"a\":8}";
    for bytes in [64, 1 << 16] {
        let lines = Deserializer::from_reader(text.as_bytes()).with_chunk_bytes(bytes);
        let lines = lines.records::<std::collections::BTreeMap<String, u8>>(jird::event::Pattern::default()).lines();
        let lines: Vec<_> = lines.map(|line| line.map(|line| line["a"]).map_err(|e| (e.line(), e.code()))).collect();
        assert_eq!(
            lines,
            [
                Ok(1),
                Err((3, "unclosed")),
                Err((4, "data")),
                Err((5, "string")),
                Err((6, "value")),
                Err((7, "data")),
                Err((8, "data")),
                Err((9, "escape")),
                Ok(6),
                Err((11, "data")),
                Ok(8)
            ]
        );
        let lines = Deserializer::from_reader(text.as_bytes()).with_chunk_bytes(bytes);
        let lines = lines.records::<Value>("/a".parse().unwrap()).lines();
        let lines: Vec<_> = lines.map(|line| line.map_err(|error| (error.line(), error.code()))).collect();
        assert!(lines.contains(&Ok(Value::from(8))) && lines.contains(&Err((7, "trailing"))), "{lines:?}");
    }
}

#[test]
fn what_follows_a_record_in_its_line_is_an_error_of_the_record() {
    let lines = Deserializer::from_str("1 2\n3\n4]\n5").records::<u8>(jird::event::Pattern::default()).lines();
    let lines: Vec<_> = lines.map(|line| line.map_err(|error| (error.line(), error.code()))).collect();
    assert_eq!(lines, [Err((1, "trailing")), Ok(3), Err((3, "trailing")), Ok(5)]);
}

#[test]
fn memory_does_not_grow_with_the_records() {
    /// As many elements as are wanted, and never the same buffer.
    struct Endless(usize);
    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let text: &[u8] = if self.0 == 0 { b"[{\"id\":1}" } else { b",{\"id\":1}" };
            self.0 += 1;
            let len = text.len().min(buffer.len());
            buffer[..len].copy_from_slice(&text[..len]);
            Ok(len)
        }
    }
    let items =
        Deserializer::from_reader(Endless(0)).records::<std::collections::BTreeMap<String, u8>>("/*".parse().unwrap());
    assert_eq!(items.take(200_000).map(|item| u32::from(item.unwrap()["id"])).sum::<u32>(), 200_000);
}
