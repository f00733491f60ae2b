//! Compares the engine's values with the reference's.

use crate::reference::{Node, Tree};
use jird::{Kind, Value};

/// The most members and elements of a container that are looked up one by one.
const LOOKUPS: usize = 4;

/// Checks that `value`, read from `text`, answers every question as `node` does.
///
/// # Panics
/// If an answer differs.
pub fn assert_same(text: &[u8], value: Value<'_>, node: &Node) {
    let at = node.start;
    let raw = &text[node.start..node.end];
    assert_eq!(value.offset(), node.start, "offset");
    assert_eq!(value.raw(), raw, "raw text at {at}");
    assert_eq!(value.raw_str().map(str::as_bytes), Some(raw), "raw text as str at {at}");
    assert_eq!(value.is_null(), node.tree == Tree::Null, "null at {at}");
    assert_eq!(value.as_bool(), if let Tree::Bool(known) = node.tree { Some(known) } else { None }, "boolean at {at}");
    assert_eq!(value.is_empty(), value.is_empty());
    match &node.tree {
        Tree::Null => assert_eq!(value.kind(), Kind::Null, "kind at {at}"),
        Tree::Bool(_) => assert_eq!(value.kind(), Kind::Bool, "kind at {at}"),
        Tree::Number => number(raw, value),
        Tree::String(content) => string(content, value),
        Tree::Array(elements) => {
            assert_eq!((value.kind(), value.len()), (Kind::Array, elements.len()), "array at {at}");
            let mut values = value.elements();
            for element in elements {
                assert_same(text, values.next().expect("as many elements as the reference has"), element);
            }
            assert!(values.next().is_none(), "elements past the last at {at}");
            for index in 0..=elements.len().min(LOOKUPS) {
                assert_eq!(value.at(index).map(Value::offset), elements.get(index).map(|element| element.start));
            }
        }
        Tree::Object(members) => {
            assert_eq!((value.kind(), value.len()), (Kind::Object, members.len()), "object at {at}");
            let mut entries = value.entries();
            for (index, (key, member)) in members.iter().enumerate() {
                let (found_key, found) = entries.next().expect("as many members as the reference has");
                assert_same(text, found_key, key);
                assert_same(text, found, member);
                if let (Tree::String(key), true) = (&key.tree, index < LOOKUPS) {
                    let first = node.get(key).expect("it has the key");
                    assert_eq!(
                        value.get(key).map(Value::offset),
                        Some(first.start),
                        "the first member {key:?} at {at}"
                    );
                }
            }
            assert!(entries.next().is_none(), "members past the last at {at}");
            seeks(value, node, members);
        }
    }
    if !matches!(node.tree, Tree::Array(_)) {
        assert!(value.elements().next().is_none() && value.at(0).is_none(), "elements of what is no array");
    }
    if !matches!(node.tree, Tree::Object(_)) {
        assert!(value.entries().next().is_none() && value.get("").is_none(), "members of what is no object");
    }
}

/// Members that are sought in order are found at their places. Sought in the opposite order, a member is the next one
/// with its key, or else the first one with it.
fn seeks(value: Value<'_>, node: &Node, members: &[(Node, Node)]) {
    let key = |name: &'_ Node| if let Tree::String(key) = &name.tree { Some(key.clone()) } else { None };
    let keys = || members.iter().take(LOOKUPS).filter_map(|(name, member)| Some((key(name)?, member)));
    let mut entries = value.entries();
    for (key, member) in keys() {
        assert_eq!(entries.seek(&key).map(Value::offset), Some(member.start), "{key:?}, in order");
    }
    let mut entries = value.entries();
    for (key, _) in keys().collect::<Vec<_>>().into_iter().rev() {
        let (mut left, first) = (entries.clone(), node.get(&key).expect("it has the key"));
        let next = left.find(|(name, _)| name.is_str(&key)).map_or(first.start, |(_, member)| member.offset());
        assert_eq!(entries.seek(&key).map(Value::offset), Some(next), "{key:?}, in the opposite order");
    }
    assert!(entries.seek("\u{0}no such key").is_none());
}

fn string(content: &str, value: Value<'_>) {
    assert_eq!(value.kind(), Kind::String);
    assert_eq!(value.as_str().as_deref(), Some(content));
    let mut scratch = String::from("left over");
    assert_eq!(value.str_in(&mut scratch), Some(content));
    assert!(value.is_str(content), "is_str of its own content");
    assert!(!value.is_str(&format!("{content}x")), "is_str of something longer");
    assert!(value.as_number().is_none() && value.as_f64().is_none(), "a string is no number");
}

fn number(raw: &[u8], value: Value<'_>) {
    let text = core::str::from_utf8(raw).expect("numbers are ASCII");
    let integer = !text.contains(['.', 'e', 'E']);
    assert_eq!(value.kind(), Kind::Number);
    assert_eq!(value.is_integer(), integer, "{text}");
    assert_eq!(value.as_number().map(jird::Number::text), Some(text));
    assert_eq!(value.as_i64(), if integer { text.parse().ok() } else { None }, "{text} as i64");
    let unsigned = if text == "-0" { "0" } else { text };
    assert_eq!(value.as_u64(), if integer { unsigned.parse().ok() } else { None }, "{text} as u64");
    let double = text.parse::<f64>().ok().filter(|double| double.is_finite());
    assert_eq!(value.as_f64().map(f64::to_bits), double.map(f64::to_bits), "{text} as f64");
    assert!(value.as_str().is_none(), "a number is no string");
}

/// Checks a value that was made from any bytes without validation. Every text that it hands out is UTF-8 and lies in
/// `text`, children lie inside their parents and in order, and all ways to the same thing agree. Returns the number of
/// values.
///
/// # Panics
/// If one of these does not hold.
pub fn assert_consistent(text: &[u8], root: Value<'_>) -> usize {
    let mut count = 0;
    // Nested containers contain the same text again and again.
    let mut bytes_left = 20 * text.len() + 1000;
    let mut scratch = String::new();
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        count += 1;
        let raw = value.raw();
        assert!(raw.is_empty() || in_bounds(text, raw), "raw text out of bounds");
        assert!(value.offset() <= text.len(), "offset {} of {}", value.offset(), text.len());
        bytes_left = bytes_left.saturating_sub(raw.len());
        if bytes_left > 0
            && let Some(raw) = value.raw_str()
        {
            assert!(core::str::from_utf8(raw.as_bytes()).is_ok(), "a str that is not UTF-8");
        }
        let content = value.as_str();
        if let Some(content) = &content {
            assert!(core::str::from_utf8(content.as_bytes()).is_ok(), "a str that is not UTF-8");
            assert!(value.is_str(content), "is_str of its own content {content:?}");
        }
        assert_eq!(value.str_in(&mut scratch), content.as_deref());
        if let Some(number) = value.as_number() {
            assert!(jird::Number::new(number.text()).is_some(), "a number that is none: {:?}", number.text());
            assert_eq!(value.as_i64(), number.as_i64());
            assert_eq!(value.as_u64(), number.as_u64());
            assert_eq!(value.as_f64().map(f64::to_bits), number.to_f64().map(f64::to_bits));
        }
        let mut children = 0;
        for (key, member) in value.entries() {
            assert_eq!(key.kind(), Kind::String, "a key that is no string");
            open.extend([key, member]);
            children += 1;
        }
        for element in value.elements() {
            open.push(element);
            children += 1;
        }
        assert_eq!(value.len(), children, "the number of children");
    }
    count
}

fn in_bounds(text: &[u8], part: &[u8]) -> bool {
    let (all, part) = (text.as_ptr_range(), part.as_ptr_range());
    all.start <= part.start && part.end <= all.end
}
