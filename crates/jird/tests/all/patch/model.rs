//! Random documents and patches, compared with a naive model over `serde_json`'s tree.

use jird::patch::{self, are_equal};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Documents with few keys, so that paths meet. Strings have what pointers escape.
fn documents() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..3_i64).prop_map(Value::from),
        "[a/~\"]{0,2}".prop_map(Value::from)
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[ab/~]", inner, 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn paths() -> impl Strategy<Value = String> {
    let step = prop_oneof![
        Just("a"),
        Just("b"),
        Just("~0"),
        Just("~1"),
        Just("0"),
        Just("1"),
        Just("2"),
        Just("-"),
        Just("01")
    ];
    prop::collection::vec(step, 0..4).prop_map(|steps| steps.iter().fold(String::new(), |path, step| path + "/" + step))
}

fn patches() -> impl Strategy<Value = Vec<Value>> {
    let operation = (0..6, paths(), paths(), documents()).prop_map(|(op, path, from, value)| match op {
        0 => json!({"op": "add", "path": path, "value": value}),
        1 => json!({"op": "remove", "path": path}),
        2 => json!({"op": "replace", "path": path, "value": value}),
        3 => json!({"op": "move", "path": path, "from": from}),
        4 => json!({"op": "copy", "path": path, "from": from}),
        _ => json!({"op": "test", "path": path, "value": value}),
    });
    prop::collection::vec(operation, 0..5)
}

/// RFC 6902, literally. `None` if the patch fails.
fn apply(mut document: Value, patch: &[Value]) -> Option<Value> {
    for operation in patch {
        let text = |name: &str| operation[name].as_str().unwrap_or_default();
        let value = || operation["value"].clone();
        match text("op") {
            "add" => add(&mut document, text("path"), value())?,
            "remove" => drop(remove(&mut document, text("path"))?),
            "replace" => *find(&mut document, text("path"))? = value(),
            "move" => {
                let (from, path) = (text("from"), text("path"));
                if path.strip_prefix(from).is_some_and(|rest| rest.starts_with('/')) {
                    return None;
                }
                let moved = find(&mut document, from)?.clone();
                if from != path {
                    remove(&mut document, from)?;
                    add(&mut document, path, moved)?;
                }
            }
            "copy" => {
                let copied = find(&mut document, text("from"))?.clone();
                add(&mut document, text("path"), copied)?;
            }
            _ => (*find(&mut document, text("path"))? == value()).then_some(())?,
        }
    }
    Some(document)
}

/// `serde_json` allows `01` as an index.
fn is_index(step: &str) -> bool {
    step == "0" || !step.starts_with('0')
}

fn find<'d>(document: &'d mut Value, path: &str) -> Option<&'d mut Value> {
    path.split('/').skip(1).try_fold(document, |value, step| {
        let key = step.replace("~1", "/").replace("~0", "~");
        match value {
            Value::Object(members) => members.get_mut(&key),
            Value::Array(elements) if is_index(step) => elements.get_mut(step.parse::<usize>().ok()?),
            _ => None,
        }
    })
}

fn split(path: &str) -> Option<(&str, &str, String)> {
    let (above, step) = path.rsplit_once('/')?;
    Some((above, step, step.replace("~1", "/").replace("~0", "~")))
}

fn add(document: &mut Value, path: &str, value: Value) -> Option<()> {
    let Some((above, step, key)) = split(path) else {
        *document = value;
        return Some(());
    };
    match find(document, above)? {
        Value::Object(members) => drop(members.insert(key, value)),
        Value::Array(elements) if step == "-" => elements.push(value),
        Value::Array(elements) if is_index(step) => {
            let at = step.parse::<usize>().ok().filter(|at| *at <= elements.len())?;
            elements.insert(at, value);
        }
        _ => return None,
    }
    Some(())
}

fn remove(document: &mut Value, path: &str) -> Option<Value> {
    let (above, step, key) = split(path)?;
    match find(document, above)? {
        Value::Object(members) => members.remove(&key),
        Value::Array(elements) if is_index(step) => {
            let at = step.parse::<usize>().ok().filter(|at| *at < elements.len())?;
            Some(elements.remove(at))
        }
        _ => None,
    }
}

/// RFC 7396 §2, literally.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(members) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (key, value) in members {
        match value {
            Value::Null => drop(target.as_object_mut().unwrap().remove(key)),
            value => merge(&mut target[key], value),
        }
    }
}

/// The text of a document, with white space in places that depend on `seed`.
fn text(document: &Value, mut seed: u64) -> String {
    let pretty = serde_json::to_string_pretty(document).unwrap();
    match seed % 3 {
        0 => return pretty,
        1 => return document.to_string(),
        _ => {}
    }
    let mut out = String::new();
    for line in pretty.lines() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let gap = ["", " ", "\n", "\t ", "\r\n  "][(seed >> 33) as usize % 5];
        out = out + gap + line.trim();
    }
    out + "\n"
}

fn tree(text: &[u8]) -> Value {
    jird::validate(text).unwrap();
    serde_json::from_slice(text).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn patches_do_what_the_model_does(document in documents(), patch in patches(), seed in any::<u64>()) {
        let text = text(&document, seed);
        let wanted = apply(document, &patch);
        let patch = serde_json::to_string_pretty(&patch).unwrap();
        let edited = patch::apply(text.as_bytes(), patch.as_bytes());
        match wanted {
            Some(wanted) => prop_assert_eq!(tree(&edited.unwrap()), wanted),
            None => prop_assert!(edited.is_err(), "{:?}", edited),
        }
    }

    #[test]
    fn merge_patches_do_what_the_model_does(document in documents(), patch in documents(), seed in any::<u64>()) {
        let text = text(&document, seed);
        let mut wanted = document;
        merge(&mut wanted, &patch);
        let edited = patch::merge(text.as_bytes(), serde_json::to_string_pretty(&patch).unwrap().as_bytes()).unwrap();
        prop_assert_eq!(tree(&edited), wanted);
    }

    #[test]
    fn a_difference_leads_from_one_document_to_the_other(one in documents(), other in documents(), seed in any::<u64>()) {
        let texts = [text(&one, seed), text(&other, seed / 3)];
        let [old, new] = texts.each_ref().map(|text| jird::parse(text.as_bytes()).unwrap());
        let diff = patch::diff(&old, &new);
        prop_assert_eq!(diff.is_empty(), one == other);
        prop_assert_eq!(are_equal(old.root(), new.root()), one == other);
        let patch = diff.to_patch();
        prop_assert_eq!(tree(&patch::apply(old.text(), patch.as_bytes()).unwrap()), other.clone(), "{}", patch);
        for change in diff.changes() {
            if let Some(value) = change.old {
                prop_assert!(old.root().pointer(&change.path).is_some_and(|found| are_equal(found, value)));
            } else {
                prop_assert!(new.root().pointer(&change.path).is_some_and(|found| are_equal(found, change.new.unwrap())));
            }
        }
        if let Ok(merge) = patch::merge_diff(&old, &new) {
            prop_assert_eq!(tree(&patch::merge(old.text(), merge.as_bytes()).unwrap()), other, "{}", merge);
        }
    }

    #[test]
    fn all_bytes_but_those_of_a_replaced_value_stay(document in documents(), at in any::<prop::sample::Index>(), seed in any::<u64>()) {
        let text = text(&document, seed);
        let parsed = jird::parse(text.as_bytes()).unwrap();
        let values: Vec<_> = pointers(&document);
        let path = &values[at.index(values.len())];
        let value = parsed.root().pointer(path).unwrap();
        let (start, end) = (value.offset(), value.offset() + value.raw().len());
        let wanted = [&text[..start], "\"new\"", &text[end..]].concat();
        prop_assert_eq!(patch::set(text.as_bytes(), path, "\"new\"").unwrap(), wanted.as_bytes());
    }
}

/// The pointers of all values.
fn pointers(document: &Value) -> Vec<String> {
    let below = |step: String, value: &Value| {
        pointers(value).into_iter().map(move |rest| format!("/{step}{rest}")).collect::<Vec<_>>()
    };
    let mut all = vec![String::new()];
    match document {
        Value::Object(members) => {
            all.extend(members.iter().flat_map(|(key, value)| below(key.replace('~', "~0").replace('/', "~1"), value)));
        }
        Value::Array(elements) => {
            all.extend(elements.iter().enumerate().flat_map(|(at, value)| below(at.to_string(), value)));
        }
        _ => {}
    }
    all
}
