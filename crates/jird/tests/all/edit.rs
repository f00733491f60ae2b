//! Documents that are edited, compared with a naive model; and that hostile ones cost neither stack, nor time, nor memory.

use jird::edit::{DocumentMut, EditErrorKind, EditedValue};
use jird::{Kind, patch};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::time::Instant;

/// Documents with few keys, so that paths meet.
fn documents() -> impl Strategy<Value = Value> {
    let scalar =
        prop_oneof![Just(Value::Null), (-3..3_i64).prop_map(Value::from), "[a/~\"]{0,2}".prop_map(Value::from)];
    scalar.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[ab/~]", inner, 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn paths() -> impl Strategy<Value = String> {
    const STEPS: [&str; 9] = ["a", "b", "~0", "~1", "0", "1", "2", "-", "01"];
    let step = prop::sample::select(&STEPS[..]);
    prop::collection::vec(step, 0..4).prop_map(|steps| steps.iter().fold(String::new(), |path, step| path + "/" + step))
}

#[derive(Clone, Debug)]
enum Edit {
    Set(String, Value),
    Insert(String, Value),
    Remove(String),
    Rename(String, String),
    Move(String, String),
    Copy(String, String),
    Settle,
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        4 => (paths(), documents()).prop_map(|(path, value)| Edit::Set(path, value)),
        4 => (paths(), documents()).prop_map(|(path, value)| Edit::Insert(path, value)),
        4 => paths().prop_map(Edit::Remove),
        4 => (paths(), "[ab/~]").prop_map(|(path, key)| Edit::Rename(path, key)),
        3 => (paths(), paths()).prop_map(|(from, to)| Edit::Move(from, to)),
        2 => (paths(), paths()).prop_map(|(from, to)| Edit::Copy(from, to)),
        1 => Just(Edit::Settle),
    ];
    prop::collection::vec(edit, 0..12)
}

/// Does an edit, and says whether it could be done.
fn edit(document: &mut DocumentMut<'_>, edit: &Edit) -> bool {
    match edit {
        Edit::Set(path, value) => document.set(path, value),
        Edit::Insert(path, value) => document.insert_json(path, &serde_json::to_string_pretty(value).unwrap()),
        Edit::Remove(path) => document.remove(path),
        Edit::Rename(path, key) => document.rename(path, key),
        Edit::Move(from, to) => document.move_to(from, to),
        Edit::Copy(from, to) => document.copy_to(from, to),
        Edit::Settle => document.settle(),
    }
    .is_ok()
}

/// The same with `serde_json`'s tree. `None` if it cannot be done; then the tree may be changed.
fn edit_model(document: &mut Value, edit: &Edit) -> Option<()> {
    match edit {
        Edit::Set(path, value) => place(document, path, value.clone(), true),
        Edit::Insert(path, value) => place(document, path, value.clone(), false),
        Edit::Remove(path) => take(document, path).map(drop),
        Edit::Rename(path, key) => rename(document, path, key),
        Edit::Move(from, to) if from == to => find(document, from).map(drop),
        Edit::Move(from, to) if to.starts_with(&format!("{from}/")) => None,
        Edit::Move(from, to) => take(document, from).and_then(|value| place(document, to, value, false)),
        Edit::Copy(from, to) => {
            let copied = find(document, from)?.clone();
            place(document, to, copied, false)
        }
        Edit::Settle => Some(()),
    }
}

fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// The index that a step is; `serde_json` allows `01`.
fn index(step: &str) -> Option<usize> {
    if step.len() > 1 && step.starts_with('0') { None } else { step.parse().ok() }
}

fn find<'d>(document: &'d mut Value, path: &str) -> Option<&'d mut Value> {
    path.split('/').skip(1).try_fold(document, |value, step| match value {
        Value::Object(members) => members.get_mut(&unescaped(step)),
        Value::Array(elements) => elements.get_mut(index(step)?),
        _ => None,
    })
}

fn place(document: &mut Value, path: &str, value: Value, replaces: bool) -> Option<()> {
    let Some((above, step)) = path.rsplit_once('/') else {
        *document = value;
        return Some(());
    };
    match find(document, above)? {
        Value::Object(members) => _ = members.insert(unescaped(step), value),
        Value::Array(elements) if step == "-" => elements.push(value),
        Value::Array(elements) if replaces => *elements.get_mut(index(step)?)? = value,
        Value::Array(elements) => elements.insert(index(step).filter(|at| *at <= elements.len())?, value),
        _ => return None,
    }
    Some(())
}

fn take(document: &mut Value, path: &str) -> Option<Value> {
    let (above, step) = path.rsplit_once('/')?;
    match find(document, above)? {
        Value::Object(members) => members.remove(&unescaped(step)),
        Value::Array(elements) => index(step).filter(|at| *at < elements.len()).map(|at| elements.remove(at)),
        _ => None,
    }
}

fn rename(document: &mut Value, path: &str, key: &str) -> Option<()> {
    let (above, step) = path.rsplit_once('/')?;
    let Value::Object(members) = find(document, above)? else { return None };
    if unescaped(step) == key {
        return members.contains_key(key).then_some(());
    }
    if members.contains_key(key) {
        return None;
    }
    let value = members.remove(&unescaped(step))?;
    members.insert(key.to_owned(), value);
    Some(())
}

/// The tree that the cursor shows, and each of its methods agrees on.
fn seen(value: EditedValue<'_>) -> Value {
    let tree = match value.kind() {
        Kind::Object => {
            let members: Map<_, _> = value
                .entries()
                .map(|(key, member)| {
                    assert_eq!(seen_text(value.get(&key).unwrap()), seen_text(member));
                    (key.into_owned(), seen(member))
                })
                .collect();
            Value::Object(members)
        }
        Kind::Array => {
            for (at, element) in value.elements().enumerate() {
                assert_eq!(seen_text(value.at(at).unwrap()), seen_text(element));
            }
            assert!(value.at(value.len()).is_none());
            value.elements().map(seen).collect()
        }
        Kind::String => value.as_str().unwrap().into(),
        Kind::Number => value.as_i64().unwrap().into(),
        Kind::Null | Kind::Bool => value.as_bool().map_or(Value::Null, Value::from),
    };
    let len = tree.as_array().map_or(tree.as_object().map_or(0, Map::len), Vec::len);
    assert_eq!((value.len(), value.is_empty()), (len, len == 0));
    tree
}

fn seen_text(value: EditedValue<'_>) -> String {
    value.to_string().unwrap()
}

/// The order of the keys of all objects in a text.
fn keys(text: &[u8]) -> Vec<String> {
    let document = jird::parse(text).unwrap();
    let objects = document.root().descendants().filter(|value| value.kind() == Kind::Object);
    objects.flat_map(|object| object.entries().map(|(key, _)| key.as_str().unwrap().into_owned())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn edits_do_what_the_model_does(document in documents(), edits in edits(), is_pretty in any::<bool>()) {
        let text = if is_pretty { serde_json::to_string_pretty(&document).unwrap() } else { document.to_string() };
        let mut edited = DocumentMut::parse(text.as_bytes()).unwrap();
        let mut model = document;
        for one in &edits {
            let before = (edited.clone(), edited.to_string().unwrap());
            let mut next = model.clone();
            let is_done = edit(&mut edited, one);
            prop_assert_eq!(is_done, edit_model(&mut next, one).is_some(), "{:?} of {}", one, before.1);
            if is_done {
                model = next;
            } else {
                prop_assert_eq!(&edited.to_string().unwrap(), &before.1, "{:?} failed, and must change nothing", one);
            }
            prop_assert_eq!(before.0.to_string().unwrap(), before.1, "a copy is not changed by edits of the other one");
            prop_assert_eq!(seen(edited.root()), model.clone(), "{:?}", one);
            let written = edited.to_vec().unwrap();
            jird::validate(&written).unwrap();
            prop_assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), model.clone());
            prop_assert_eq!(serde_json::to_value(&edited).unwrap(), model.clone());
            prop_assert_eq!(keys(&written), keys(jird::to_string(&edited).unwrap().as_bytes()));
        }
        let owned = edited.clone().into_owned();
        prop_assert_eq!(owned.to_string().unwrap(), edited.to_string().unwrap());
    }

    #[test]
    fn edits_that_are_undone_leave_every_byte(document in documents(), path in paths(), keys in prop::array::uniform2("[ab/~]")) {
        let text = serde_json::to_string_pretty(&document).unwrap();
        let mut edited = DocumentMut::parse(text.as_bytes()).unwrap();
        let Some(value) = edited.pointer(&path).map(|value| value.to_string().unwrap()) else { return Ok(()) };
        edited.set(&path, ["other"]).unwrap();
        edited.set_json(&path, &value).unwrap();
        let above = path.rsplit_once('/').map_or("", |(above, _)| above);
        for key in &keys {
            let there = format!("{above}/{}", key.replace('~', "~0").replace('/', "~1"));
            if edited.rename(&path, key).is_ok() && there != path {
                let old = unescaped(path.rsplit_once('/').unwrap().1);
                edited.rename(&there, &old).unwrap();
            }
        }
        let wanted: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(&edited.to_string().unwrap()).unwrap(), wanted);
        if !value.contains('\n') {
            prop_assert_eq!(edited.to_string().unwrap(), text);
        }
    }
}

#[test]
fn a_renamed_member_stays_in_its_place() {
    let mut document = DocumentMut::parse(b"{ \"a\" :1.50,\n \"b\": {\"c\": 2} , \"d\": 3}").unwrap();
    document.rename("/a", "x\"").unwrap();
    document.rename("/b/c", "y").unwrap();
    document.set("/b/z", 1).unwrap();
    document.rename("/b/z", "c").unwrap();
    document.rename("/b", "a").unwrap();
    document.set("/d", [1]).unwrap();
    document.rename("/d", "e").unwrap();
    let wanted = "{ \"x\\\"\" :1.50,\n \"a\": {\"y\": 2, \"c\": 1} , \"e\": [1]}";
    assert_eq!(document.to_string().unwrap(), wanted);
    assert_eq!(document.pointer("/a/c").and_then(EditedValue::as_u64), Some(1));
    assert!(document.pointer("/b").is_none() && document.pointer("/a/z").is_none());
    document.remove("/a").unwrap();
    document.set("/a", 2).unwrap();
    assert_eq!(document.to_string().unwrap(), "{ \"x\\\"\" :1.50 , \"e\": [1] , \"a\" :2}");
}

#[test]
fn a_new_value_that_is_edited_is_laid_out_as_before() {
    let mut document = DocumentMut::parse(b"{\n  \"a\": 1\n}").unwrap();
    document.set_json("/b", "{\n\"c\": [1.0,\n2], \"d\":{}}").unwrap();
    document.remove("/b/c/1").unwrap();
    document.move_to("/a", "/b/d/a").unwrap();
    let wanted = "{\n  \"b\": {\n    \"c\": [\n      1.0\n    ],\n    \"d\": {\n      \"a\": 1\n    }\n  }\n}";
    assert_eq!(document.to_string().unwrap(), wanted);
}

#[test]
fn what_cannot_be_edited_is_refused_and_named() {
    use EditErrorKind::*;
    let refused = |edit: &dyn Fn(&mut DocumentMut<'_>) -> Result<(), jird::edit::EditError>| {
        let mut document = DocumentMut::parse(br#"{"a": [1, 2], "b": {"c": 1}, "d": 1, "d": 2}"#).unwrap();
        let error = edit(&mut document).unwrap_err();
        assert_eq!(document.to_string().unwrap(), r#"{"a": [1, 2], "b": {"c": 1}, "d": 1, "d": 2}"#);
        (error.kind(), error.to_string())
    };
    let check = |refused: (EditErrorKind, String), kind: EditErrorKind, words: &str| {
        assert_eq!(refused, (kind, words.to_owned()));
    };
    check(
        refused(&|document| document.rename("/b", "a")),
        Exists,
        "rename /b: the object has a member with the key \"a\" already",
    );
    check(
        refused(&|document| document.rename("/a/0", "x")),
        Index,
        "rename /a/0: /a/0 is not a member of an object, so it has no key",
    );
    check(
        refused(&|document| document.rename("", "x")),
        Index,
        "rename: the root is not a member of an object, so it has no key",
    );
    check(refused(&|document| document.move_to("/x", "/a/0")), Missing, "move /x: nothing at /x");
    check(
        refused(&|document| document.move_to("/b/c", "/a/3")),
        Index,
        "move /b/c: /a/3 is beyond the end of an array with 2 elements",
    );
    check(
        refused(&|document| document.move_to("/a", "/a/0")),
        IntoItself,
        "move /a: the value at /a cannot be moved into a part of itself",
    );
    check(
        refused(&|document| document.set("/a/2", 1)),
        Index,
        "set /a/2: /a/2 is beyond the end of an array with 2 elements; /a/- is the place of a new one",
    );
    check(
        refused(&|document| document.set("/b/c/x", 1)),
        Scalar,
        "set /b/c/x: the value at /b/c is neither an object nor an array",
    );
    assert_eq!(refused(&|document| document.set("/b/x", f64::NAN)).0, Patch);
    assert_eq!(refused(&|document| document.set_json("/b/x", "01")).0, Patch);
    for refused in [
        refused(&|document| document.set("/d", 1)),
        refused(&|document| document.remove("/d")),
        refused(&|document| document.rename("/d", "e")),
        refused(&|document| document.move_to("/d", "/e")),
    ] {
        assert_eq!(refused.0, Repeated);
    }
}

#[test]
fn a_repeated_key_is_seen_as_a_document_shows_it() {
    let text = br#"{"a": {"x": 1}, "b": 0, "a": {"x": 2}}"#;
    let mut document = DocumentMut::parse(text).unwrap();
    document.set("/b", 1).unwrap();
    assert_eq!(document.pointer("/a/x").and_then(EditedValue::as_u64), Some(1));
    let xs: Vec<_> = document.root().entries().filter_map(|(_, value)| value.get("x")?.as_u64()).collect();
    assert_eq!((xs, document.root().len()), (vec![1, 2], 3));
    document.copy_to("/a", "/c").unwrap();
    assert_eq!(document.to_string().unwrap(), r#"{"a": {"x": 1}, "b": 1, "a": {"x": 2}, "c": {"x": 1}}"#);
}

#[test]
fn numbers_keep_their_digits() {
    let mut document = DocumentMut::parse(b"[0.1000000000000000055511151231257827, 1e400, -0]").unwrap();
    document.set_json("/-", "12345678901234567890123.0").unwrap();
    document.set("/-", u64::MAX).unwrap();
    document.move_to("/0", "/-").unwrap();
    let wanted = "[1e400, -0, 12345678901234567890123.0, 18446744073709551615, 0.1000000000000000055511151231257827]";
    assert_eq!(document.to_string().unwrap(), wanted);
    assert_eq!(jird::to_string(&document).unwrap(), wanted.replace(' ', ""));
    assert_eq!(document.root().at(2).and_then(EditedValue::as_number).unwrap().text(), "12345678901234567890123.0");
}

#[test]
fn a_copy_of_a_document_is_edited_and_patched_alone() {
    let text = String::from(r#"{"a": [1.0], "b": {}}"#);
    let mut document = DocumentMut::parse(text.as_bytes()).unwrap();
    document.set("/a/-", 2).unwrap();
    let patched = patch::Patch::parse(br#"[{"op": "add", "path": "/b/c", "value": {"d": 1.0}}]"#).unwrap();
    let copy = document.clone().apply(&patched).unwrap().into_owned();
    drop(patched);
    document.remove("/b").unwrap();
    assert_eq!(document.to_string().unwrap(), r#"{"a": [1.0, 2]}"#);
    drop(text);
    assert_eq!(copy.to_string().unwrap(), r#"{"a": [1.0, 2], "b": {"c": {"d": 1.0}}}"#);
}

#[test]
fn a_document_can_be_read_from_several_threads() {
    fn check<T: Send + Sync>(_: &T) {}
    let document = DocumentMut::parse(b"[]").unwrap();
    check(&document);
    check(&document.root());
}

#[test]
fn a_value_becomes_types_and_documents() {
    let mut document = DocumentMut::parse(br#"{"points": [[1, 2], [3, 4]], "name": "x"}"#).unwrap();
    document.set("/points/0/0", 9).unwrap();
    let points = document.pointer("/points").unwrap().to_document().unwrap();
    let decoded: Vec<(u8, u8)> = jird::from_slice(points.text()).unwrap();
    assert_eq!(decoded, [(9, 2), (3, 4)]);
    assert_eq!(serde_json::to_value(document.root()).unwrap(), json!({"points": [[9, 2], [3, 4]], "name": "x"}));
    assert_eq!(format!("{:?}", document.root().get("points").unwrap()), "[[9, 2], [3, 4]]");
    let name = document.root().get("name").and_then(EditedValue::as_value).unwrap();
    assert!(patch::are_equal(name, jird::parse(br#""\u0078""#).unwrap().root()));
}

/// Edits cost the same whatever was edited before. The bound is many times what they take.
#[test]
fn many_edits_and_lookups_in_one_place_take_about_linear_time() {
    const MANY: usize = 100_000;
    let begin = Instant::now();
    let mut text = String::from("{\"list\": [], \"members\": {");
    (0..MANY).for_each(|at| _ = write!(text, "\"k{at}\": {at}, "));
    text += "\"last\": 0}}";
    let mut document = DocumentMut::parse(text.as_bytes()).unwrap();
    for at in 0..MANY {
        document.set("/list/-", at).unwrap();
        document.set(&format!("/members/n{at}"), at).unwrap();
    }
    document.rename("/members/k7", "seven").unwrap();
    let members = document.pointer("/members").unwrap();
    for at in 8..MANY {
        assert_eq!(members.get(&format!("k{at}")).and_then(EditedValue::as_u64), Some(at as u64));
        assert_eq!(members.get(&format!("n{at}")).and_then(EditedValue::as_u64), Some(at as u64));
        assert_eq!(document.pointer("/list").and_then(|list| list.at(at)?.as_u64()), Some(at as u64));
    }
    assert!(members.get("k7").is_none() && members.get("none").is_none());
    assert_eq!(members.len(), 2 * MANY + 1);
    for at in 0..MANY {
        document.remove("/list/0").unwrap();
        document.remove(&format!("/members/n{at}")).unwrap();
    }
    assert_eq!(document.to_string().unwrap(), text.replace("\"k7\"", "\"seven\""));
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
}

#[test]
fn elements_of_a_long_array_are_found_after_an_edit() {
    const MANY: usize = 200_000;
    let numbers: Vec<_> = (0..MANY).collect();
    let text = jird::to_string(&numbers).unwrap();
    let mut document = DocumentMut::parse(text.as_bytes()).unwrap();
    document.remove("/100").unwrap();
    let begin = Instant::now();
    for at in 100..MANY - 1 {
        assert_eq!(document.root().at(at).and_then(EditedValue::as_u64), Some(at as u64 + 1));
    }
    assert!(begin.elapsed().as_secs() < 30, "{:?}", begin.elapsed());
    assert_eq!(document.root().elements().count(), MANY - 1);
}

/// Containers in containers, each of them edited: reading, writing, copying, settling and dropping take no stack.
#[test]
fn deep_documents_take_no_stack() {
    let deep = || {
        let text = "[".repeat(1000) + &"]".repeat(1000);
        let mut document = DocumentMut::parse(text.as_bytes()).unwrap();
        for depth in 0..1000 {
            document.set_json(&("/0".repeat(depth) + "/-"), "1").unwrap();
        }
        assert!(document.set_json(&("/0".repeat(999) + "/0"), &("[".repeat(100) + &"]".repeat(100))).is_err());
        let copy = document.clone().into_owned();
        document.settle().unwrap();
        assert_eq!(copy.to_string().unwrap(), document.to_string().unwrap());
        let innermost = copy.pointer(&"/0".repeat(1000)).and_then(EditedValue::as_u64);
        assert_eq!((innermost, copy.root().len()), (Some(1), 2));
        // Each move makes the document deeper, beyond what can be read again.
        for _ in 0..3000 {
            document.set_json("", "[[]]").unwrap();
        }
    };
    std::thread::Builder::new().stack_size(128 << 10).spawn(deep).unwrap().join().unwrap();
}

#[test]
fn moves_that_make_a_document_too_deep_are_told_when_it_is_written() {
    let mut document = DocumentMut::parse(b"{\"a\": [], \"b\": []}").unwrap();
    let wrap = |document: &mut DocumentMut<'_>| {
        document.set_json("/c", "[]").unwrap();
        document.move_to("/a", "/c/0").unwrap();
        document.rename("/c", "a").unwrap();
    };
    (0..1022).for_each(|_| wrap(&mut document));
    assert!(document.to_vec().is_ok());
    (0..1_000).for_each(|_| wrap(&mut document));
    assert_eq!(document.to_vec().unwrap_err().kind(), EditErrorKind::Depth);
    assert_eq!(document.settle().unwrap_err().kind(), EditErrorKind::Depth);
    document.remove("/a").unwrap();
    assert_eq!(document.to_string().unwrap(), "{\"b\": []}");
}

#[test]
fn a_settled_document_is_free_of_what_was_replaced() {
    let mut document = DocumentMut::parse(b"{\"count\": 0, \"queue\": []}").unwrap();
    for at in 0..10_000 {
        document.set("/count", at).unwrap();
        document.set("/queue/-", "x".repeat(1000)).unwrap();
        if at >= 2 {
            document.remove("/queue/0").unwrap();
        }
        if at % 100 == 0 {
            document.settle().unwrap();
        }
    }
    document.settle().unwrap();
    assert_eq!(
        (document.pointer("/queue").unwrap().len(), document.pointer("/count").unwrap().as_u64()),
        (2, Some(9999))
    );
}
