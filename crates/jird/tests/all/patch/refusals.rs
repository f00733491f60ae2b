//! What is refused, and that hostile documents and patches cost neither stack, nor time, nor memory.

use jird::edit::{DocumentMut, EditErrorKind};
use jird::patch::{self, MergePatch, Patch};
use std::fmt::Write;

#[track_caller]
fn check(document: &str, patch: &str, kind: EditErrorKind, words: &str) {
    let error = patch::apply(document.as_bytes(), patch.as_bytes()).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, words));
}

#[test]
fn errors_name_the_operation_its_path_and_what_is_wrong() {
    use EditErrorKind::*;
    check("{", "[]", Document, "an array or object is not closed (byte 1)");
    check("{}", "[", Patch, "an array or object is not closed (byte 1)");
    check(
        "{}",
        "{}",
        Malformed,
        "a JSON Patch is an array of operations, and this is a value of kind object; an object may be a merge patch (RFC 7396)",
    );
    check(
        "{}",
        r#"[{"op":"add","path":"/a","value":1},{"path":"/a"}]"#,
        Malformed,
        "operation 1: it has no member \"op\"",
    );
    check("{}", r#"[{"op":"add","path":"/a","op":"remove"}]"#, Malformed, "operation 0: it has two members \"op\"");
    check(
        "{}",
        r#"[{"op":"remove","path":"a"}]"#,
        Pointer,
        "operation 0: \"a\" is not a JSON Pointer: it must be empty or begin with `/`, as in \"/a\"",
    );
    check(
        "{}",
        r#"[{"op":"remove","path":""}]"#,
        Root,
        "operation 0 (remove): the whole document cannot be removed; it can be replaced",
    );
    check(
        "[1]",
        r#"[{"op":"replace","path":"/1","value":0}]"#,
        Index,
        "operation 0 (replace /1): /1 is beyond the end of an array with 1 element",
    );
    check(
        "[1]",
        r#"[{"op":"remove","path":"/0/x"}]"#,
        Scalar,
        "operation 0 (remove /0/x): the value at /0 is neither an object nor an array",
    );
    check(
        "[1]",
        r#"[{"op":"test","path":"/0","value":2}]"#,
        Test,
        "operation 0 (test /0): the value is 1, and the test wants 2",
    );
    check(
        r#"{"a":{}}"#,
        r#"[{"op":"move","from":"/a","path":"/a/b"}]"#,
        IntoItself,
        "operation 0 (move /a/b): the value at /a cannot be moved into a part of itself",
    );
}

#[test]
fn a_repeated_key_is_read_and_not_edited() {
    let document = r#"{"a":1,"a":2,"b":{"c":1,"c":2}}"#;
    for patch in [
        r#"[{"op":"remove","path":"/a"}]"#,
        r#"[{"op":"replace","path":"/a","value":1}]"#,
        r#"[{"op":"add","path":"/a","value":1}]"#,
        r#"[{"op":"add","path":"/b/c","value":1}]"#,
        r#"[{"op":"move","from":"/a","path":"/x"}]"#,
    ] {
        let error = patch::apply(document.as_bytes(), patch.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), EditErrorKind::Repeated, "{patch}");
    }
    assert_eq!(patch::merge(document.as_bytes(), br#"{"a":1}"#).unwrap_err().kind(), EditErrorKind::Repeated);
    assert_eq!(MergePatch::parse(br#"{"a":1,"a":2}"#).unwrap_err().kind(), EditErrorKind::Patch);
    let read =
        r#"[{"op":"test","path":"/a","value":1},{"op":"copy","from":"/b","path":"/d"},{"op":"remove","path":"/b"}]"#;
    let edited = patch::apply(document.as_bytes(), read.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(edited).unwrap(), r#"{"a":1,"a":2,"d":{"c":1,"c":2}}"#);
}

#[test]
fn copies_that_double_a_document_have_a_limit() {
    let copies: Vec<String> = (0..60).map(|at| format!(r#"{{"op":"copy","from":"","path":"/{at}"}}"#)).collect();
    let error = patch::apply(br#"{"a":"laughter"}"#, format!("[{}]", copies.join(",")).as_bytes()).unwrap_err();
    assert_eq!(error.kind(), EditErrorKind::Size);
    assert!(error.operation().is_some_and(|index| index < 30), "{error}");
    let patch = Patch::parse(br#"[{"op":"copy","from":"/a","path":"/b"}]"#).unwrap();
    let document = jird::parse(br#"{"a":"laughter"}"#).unwrap();
    let edit = |bytes| {
        DocumentMut::from(&document).with_growth_max(bytes).apply(&patch).map(drop).map_err(|error| error.kind())
    };
    assert_eq!((edit(9), edit(10)), (Err(EditErrorKind::Size), Ok(())));
}

#[test]
fn white_space_does_not_multiply() {
    let document = format!("[1,{}2]", " ".repeat(100_000));
    let adds = vec![r#"{"op":"add","path":"/1","value":0}"#; 10_000].join(",");
    let edited = patch::apply(document.as_bytes(), format!("[{adds}]").as_bytes()).unwrap();
    assert!(edited.len() < 200_000, "{}", edited.len());
}

#[test]
fn the_result_is_never_too_deep_to_be_read() {
    let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
    let set = |depth: usize| patch::set(b"[[]]", "/0/-", &nested(depth));
    assert!(set(1022).is_ok());
    assert_eq!(set(1023).unwrap_err().kind(), EditErrorKind::Depth);
    let document = format!(r#"{{"deep":{},"way":{{"a":[]}}}}"#, nested(1022));
    for patch in ["move", "copy"].map(|op| format!(r#"[{{"op":"{op}","from":"/deep","path":"/way/a/0"}}]"#)) {
        let error = patch::apply(document.as_bytes(), patch.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), EditErrorKind::Depth, "{patch}");
    }
}

#[test]
fn many_operations_in_one_place_take_about_linear_time() {
    let mut patch = "[".to_owned();
    for at in 0..200_000 {
        let (op, path) = if at % 2 == 0 { ("add", "/a/0") } else { ("add", "/o/k") };
        let _ = write!(
            patch,
            r#"{}{{"op":"{op}","path":"{path}{}","value":{at}}}"#,
            if at == 0 { "" } else { "," },
            if at % 2 == 0 { String::new() } else { at.to_string() }
        );
    }
    patch.push(']');
    let edited = patch::apply(br#"{"a":[],"o":{}}"#, patch.as_bytes()).unwrap();
    let edited = jird::parse(&edited).unwrap();
    assert_eq!(edited.root().get("a").map(jird::Value::len), Some(100_000));
    assert_eq!(edited.root().get("o").map(jird::Value::len), Some(100_000));
}

#[test]
fn values_nested_within_edits_take_no_stack() {
    let thread = std::thread::Builder::new().stack_size(64 << 10);
    let deep = ["{\"a\":".repeat(1000), "1".to_owned(), "}".repeat(1000)].concat();
    let other = deep.replace('1', "2");
    let joined = thread.spawn(move || {
        let path = "/a".repeat(1000);
        let edited = patch::set(deep.as_bytes(), &path, "2").unwrap();
        assert_eq!(edited, other.as_bytes());
        assert_eq!(patch::merge(deep.as_bytes(), other.as_bytes()).unwrap(), other.as_bytes());
        let [old, new] = [&deep, &other].map(|text| jird::parse(text.as_bytes()).unwrap());
        let diff = patch::diff(&old, &new);
        assert_eq!(diff.changes().next().unwrap().path, path);
        assert_eq!(patch::merge_diff(&old, &new).unwrap(), other.replace(':', ": "));
    });
    joined.unwrap().join().unwrap();
}

#[test]
fn a_merge_patch_cannot_set_null_or_repeat_a_key() {
    for (old, new) in [("{}", r#"{"a":null}"#), ("1", r#"{"a":{"b":null}}"#), ("{}", r#"{"a":[{"k":1,"k":2}]}"#)] {
        let [old, new] = [old, new].map(|text| jird::parse(text.as_bytes()).unwrap());
        assert_eq!(patch::merge_diff(&old, &new).unwrap_err().kind(), EditErrorKind::NoMergePatch);
    }
    let [old, new] = ["{}", r#"{"a":[null]}"#].map(|text| jird::parse(text.as_bytes()).unwrap());
    assert_eq!(patch::merge_diff(&old, &new).unwrap(), r#"{"a": [null]}"#);
}
