//! The suites of RFC 6902, RFC 7396 and RFC 6901 in the corpus.

use crate::common::corpus;
use jird::patch::{self, are_equal};
use jird::{Kind, Value};
use std::fs;

/// The tests of a file that are marked as disabled, and the reason why the result here is right.
const DISABLED: [(&str, &str); 4] = [
    ("A.13 Invalid JSON Patch Document", "the operation of RFC 6902 A.13 has two members `op`; the file has lost one"),
    ("Toplevel scalar values OK?", "passes: RFC 8259 allows any value as a document"),
    ("Whole document", "passes; the file names no result"),
    (
        "duplicate ops",
        "the operation once had two members `op`; the file has lost one, and what is left is a valid `move`",
    ),
];

fn text<'v>(test: Value<'v>, member: &str) -> Option<&'v [u8]> {
    test.get(member).map(Value::raw)
}

#[test]
fn the_suites_of_rfc_6902_pass() {
    let Some(root) = corpus() else { return };
    for (file, count) in [("rfc6902_spec_tests.json", 17), ("rfc6902_tests.json", 95)] {
        let suite = fs::read(root.join("conformance/jsonpatch").join(file)).unwrap();
        let suite = jird::parse(&suite).unwrap();
        assert_eq!(suite.root().len(), count, "{file}");
        for test in suite.root().elements() {
            let comment = test.get("comment").and_then(Value::as_str).unwrap_or_default();
            let is_disabled = test.get("disabled").is_some();
            assert_eq!(is_disabled, DISABLED.iter().any(|(name, _)| *name == comment), "{comment}");
            let (Some(document), Some(patch)) = (text(test, "doc"), text(test, "patch")) else {
                panic!("a test without document or patch: {test:?}");
            };
            let edited = patch::apply(document, patch);
            match (test.get("expected"), test.get("error")) {
                (Some(expected), _) => {
                    let edited = edited.unwrap_or_else(|error| panic!("{error}: {test:?}"));
                    let edited = jird::parse(&edited).unwrap();
                    assert!(are_equal(edited.root(), expected), "{edited:?}, and not {expected:?}");
                }
                (None, Some(_)) if !is_disabled => {
                    let error = edited.expect_err(comment.as_ref());
                    assert!(error.operation().is_some(), "{error}");
                }
                (None, Some(_)) => {}
                (None, None) => assert!(edited.is_ok(), "{test:?}"),
            }
        }
    }
}

#[test]
fn the_suites_of_rfc_7396_pass() {
    let Some(root) = corpus() else { return };
    for file in ["rfc7396_merge_patch-object.json", "rfc7396_merge_patch-nonobject.json"] {
        let suite = fs::read(root.join("conformance/jsonpatch").join(file)).unwrap();
        let suite = jird::parse(&suite).unwrap();
        assert!(suite.root().len() >= 3);
        for test in suite.root().elements() {
            let (victim, merge) = (text(test, "victim").unwrap(), text(test, "patch").unwrap());
            // Those without a result are replaced as a whole.
            let wanted = test.get("result").unwrap_or_else(|| test.get("patch").unwrap());
            let edited = patch::merge(victim, merge).unwrap();
            let edited = jird::parse(&edited).unwrap();
            assert!(are_equal(edited.root(), wanted), "{edited:?}, and not {wanted:?}");
        }
    }
}

/// RFC 7396, appendix A.
#[test]
fn the_examples_of_rfc_7396_pass() {
    let table = [
        (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
        (r#"{"a":"b"}"#, r#"{"a":null}"#, r"{}"),
        (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
        (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
        (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
        (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
        (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
        (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
        (r#"{"a":"foo"}"#, "null", "null"),
        (r#"{"a":"foo"}"#, r#""bar""#, r#""bar""#),
        (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#),
        ("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
        ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
    ];
    for (document, merge, wanted) in table {
        let edited = patch::merge(document.as_bytes(), merge.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(edited).unwrap(), wanted, "{merge}");
    }
}

#[test]
fn the_examples_of_rfc_6901_lead_to_what_they_name() {
    let Some(root) = corpus() else { return };
    let suite = fs::read(root.join("conformance/jsonpointer/rfc6901.json")).unwrap();
    let suite = jird::parse(&suite).unwrap();
    let document = suite.root().get("document").unwrap();
    let pointers = suite.root().get("pointers").unwrap();
    assert_eq!(pointers.len(), 12);
    for example in pointers.elements() {
        let pointer = example.at(0).and_then(Value::as_str).unwrap();
        let wanted = example.at(1).unwrap();
        // The file has `null` for the whole document.
        let wanted = if wanted.kind() == Kind::Null { document } else { wanted };
        assert!(are_equal(document.pointer(&pointer).unwrap(), wanted), "{pointer}");
        let test = format!(r#"[{{"op":"test","path":{},"value":{wanted:?}}}]"#, jird::hooks::quoted(&pointer));
        patch::apply(document.raw(), test.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    }
}
