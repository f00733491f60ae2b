//! What is not edited keeps its bytes, and what is new looks like its neighbours.

use jird::edit::DocumentMut;
use jird::patch;

#[track_caller]
fn check(document: &str, patch: &str, wanted: &str) {
    let edited = patch::apply(document.as_bytes(), patch.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(String::from_utf8(edited).unwrap(), wanted);
}

#[track_caller]
fn merged(document: &str, merge: &str, wanted: &str) {
    let edited = patch::merge(document.as_bytes(), merge.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(String::from_utf8(edited).unwrap(), wanted);
}

#[test]
fn white_space_numbers_and_escapes_stay_as_they_are() {
    let document = "\n { \"a\" :1.50e+01 ,\t\"\\u0062\": [ 0.0,\r\n -0 ] , \"c\":\"\\/\"}\n\n";
    check(document, "[]", document);
    let patch = r#"[{"op":"replace","path":"/b/1","value":7}]"#;
    check(document, patch, &document.replace("-0", "7"));
    let patch =
        r#"[{"op":"test","path":"/b","value":[0,0]},{"op":"test","path":"","value":{"a":15,"b":[0,0],"c":"/"}}]"#;
    check(document, patch, document);
}

#[test]
fn members_and_elements_are_removed_with_one_gap() {
    let document = "{\n  \"a\": 1,\n  \"b\": [1, 2,  3],\n  \"c\": 3\n}";
    let remove = |path: &str| format!(r#"[{{"op":"remove","path":"{path}"}}]"#);
    check(document, &remove("/a"), "{\n  \"b\": [1, 2,  3],\n  \"c\": 3\n}");
    check(document, &remove("/b"), "{\n  \"a\": 1,\n  \"c\": 3\n}");
    check(document, &remove("/c"), "{\n  \"a\": 1,\n  \"b\": [1, 2,  3]\n}");
    check(document, &remove("/b/0"), &document.replace("[1, 2,  3]", "[2,  3]"));
    check(document, &remove("/b/1"), &document.replace("[1, 2,  3]", "[1,  3]"));
    check(document, &remove("/b/2"), &document.replace("[1, 2,  3]", "[1, 2]"));
    check("[ 1 ]", &remove("/0"), "[]");
}

#[test]
fn new_members_look_like_their_neighbours() {
    let add = |path: &str, value: &str| format!(r#"[{{"op":"add","path":"{path}","value":{value}}}]"#);
    check("{\"a\":1}", &add("/b", "2"), "{\"a\":1,\"b\":2}");
    check("{\"a\": 1}", &add("/b", "2"), "{\"a\": 1, \"b\": 2}");
    check("{ \"a\" : 1 , \"b\" : 2 }", &add("/c", "3"), "{ \"a\" : 1 , \"b\" : 2 , \"c\" : 3 }");
    check("{\n\t\"a\": 1\n}", &add("/b", "2"), "{\n\t\"a\": 1,\n\t\"b\": 2\n}");
    check("{\r\n  \"a\": 1\r\n}", &add("/b", "2"), "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}");
    check("[\n  1,\n  2\n]", &add("/0", "0"), "[\n  0,\n  1,\n  2\n]");
    check("[\n  1,\n  2\n]", &add("/1", "0"), "[\n  1,\n  0,\n  2\n]");
    check("[1, 2]", &add("/-", "3"), "[1, 2, 3]");
    check("[[1,2],[3]]", &add("/1/-", "4"), "[[1,2],[3,4]]");
    check("{}", &add("/a", "1"), "{\"a\":1}");
    check("[ ]", &add("/-", "1"), "[1]");
    check("{\"a\\n\": 1}", &add("/b\\\"", "1"), "{\"a\\n\": 1, \"b\\\"\": 1}");
}

#[test]
fn an_empty_container_is_filled_with_the_indentation_of_the_others() {
    let document = "{\n  \"a\": {},\n  \"b\": []\n}";
    let patch = r#"[{"op":"add","path":"/a/x","value":1},{"op":"add","path":"/b/0","value":1}]"#;
    check(document, patch, "{\n  \"a\": {\n    \"x\": 1\n  },\n  \"b\": [\n    1\n  ]\n}");
}

#[test]
fn a_new_value_with_line_breaks_is_laid_out_like_its_place() {
    let patch = "[{\"op\": \"add\", \"path\": \"/b\", \"value\": {\n \"x\": [\n1.0]}}]";
    let wanted = "{\n    \"a\": 1,\n    \"b\": {\n        \"x\": [\n            1.0\n        ]\n    }\n}";
    check("{\n    \"a\": 1\n}", patch, wanted);
    check("{\"a\":1}", patch, "{\"a\":1,\"b\":{\"x\":[1.0]}}");
    let patch = r#"[{"op":"add","path":"/b","value":{"x": [1.0]}}]"#;
    check("{\n    \"a\": 1\n}", patch, "{\n    \"a\": 1,\n    \"b\": {\"x\": [1.0]}\n}");
    merged("{\"a\": 1}", "{\n  \"b\": {\n    \"c\": null,\n    \"d\": 1.0\n  }\n}", "{\"a\": 1, \"b\": {\"d\":1.0}}");
}

#[test]
fn operations_see_what_those_before_them_did() {
    check(
        "[1,[2],3]",
        r#"[{"op":"remove","path":"/0"},{"op":"add","path":"/0/0","value":1},{"op":"copy","from":"/0","path":"/-"},
            {"op":"add","path":"/0/-","value":9},{"op":"move","from":"/0/0","path":"/0/2"}]"#,
        "[[2,9,1],3,[1,2]]",
    );
    check("{\"a\":{\"b\":1}}", r#"[{"op":"move","from":"/a/b","path":""}]"#, "1");
    check("{\"a\":1}", r#"[{"op":"copy","from":"","path":"/b"},{"op":"remove","path":"/b/a"}]"#, "{\"a\":1,\"b\":{}}");
    check("{\"a\":1}", r#"[{"op":"remove","path":"/a"},{"op":"add","path":"/a","value":2}]"#, "{\"a\":2}");
}

#[test]
fn several_ways_of_editing_are_one_edit() {
    let document = DocumentMut::parse(b"{\"a\": [1.0], \"b\": null}").unwrap();
    let patch = patch::Patch::parse(br#"[{"op":"add","path":"/a/0","value":0}]"#).unwrap();
    let merge = patch::MergePatch::parse(br#"{"b": {"c": 1}}"#).unwrap();
    let mut document = document.apply(&patch).unwrap().merge(&merge).unwrap();
    document.set_json("/b/d", "[2]").unwrap();
    assert!(document.set_json("/x/y", "2").is_err() && document.remove("/x").is_err());
    assert_eq!(document.to_string().unwrap(), "{\"a\": [0, 1.0], \"b\": {\"c\": 1, \"d\": [2]}}");
}

#[test]
fn many_edits_of_long_containers_meet_the_index() {
    let members: Vec<String> = (0..200).map(|at| format!("\"k{at}\": {at}")).collect();
    let document = format!("{{{}}}", members.join(", "));
    let removed: Vec<String> = (0..200).step_by(2).map(|at| format!(r#"{{"op":"remove","path":"/k{at}"}}"#)).collect();
    let kept: Vec<String> = (1..200).step_by(2).map(|at| format!("\"k{at}\": {at}")).collect();
    check(&document, &format!("[{}]", removed.join(",")), &format!("{{{}}}", kept.join(", ")));
    let elements: Vec<String> = (0..1000).map(|at| at.to_string()).collect();
    let removed: Vec<String> = (0..500).map(|at| format!(r#"{{"op":"remove","path":"/{at}"}}"#)).collect();
    let kept: Vec<String> = (0..1000).skip(1).step_by(2).map(|at| at.to_string()).collect();
    check(&format!("[{}]", elements.join(",")), &format!("[{}]", removed.join(",")), &format!("[{}]", kept.join(",")));
}
