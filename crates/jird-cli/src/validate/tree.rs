//! A record as a tree that `jsonschema` walks: its numbers stay exact, and of a key that occurs twice the first value
//! counts, as everywhere in jird.
//!
//! The walk is metered: every look at a value takes one unit of fuel. When the fuel is used up, every value looks like
//! `null`, so that the walk soon ends; the caller then discards its result.

use jird::{Kind, Number, Value};
use jsonschema::JsonType;
use jsonschema::json::{Array, Json, JsonNumber, Node, NodeIdentity, Object};
use serde_json::Value as JsonValue;
use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::HashSet;

/// The representation, by which `jsonschema` names the tree.
pub(super) struct Exact;

/// A value and everything in it.
#[derive(Debug)]
pub(super) enum Tree<'t> {
    Null,
    Bool(bool),
    Number(Number<'t>),
    String(Cow<'t, str>),
    Array(Vec<Self>),
    Object(Members<'t>),
}

/// The members of an object, each key once, in document order.
#[derive(Debug, Default)]
pub(super) struct Members<'t> {
    members: Vec<(Cow<'t, str>, Tree<'t>)>,
    /// If there are many: their positions, in the order of their keys.
    sorted: Vec<u32>,
}

/// Up to this many keys are compared one by one.
const FEW: usize = 16;

impl<'t> Tree<'t> {
    /// The tree of a value in which up to `levels` objects and arrays are open at once; `None` if there are more.
    /// Takes stack in proportion to them.
    pub(super) fn new(value: Value<'t>, levels: usize) -> Option<Self> {
        Some(match value.kind() {
            Kind::Array => {
                let inner = levels.checked_sub(1)?;
                Self::Array(value.elements().map(|element| Self::new(element, inner)).collect::<Option<_>>()?)
            }
            Kind::Object => Self::Object(Members::new(value, levels.checked_sub(1)?)?),
            _ => match (value.as_bool(), value.as_number(), value.as_str()) {
                (Some(bool), _, _) => Self::Bool(bool),
                (_, Some(number), _) => Self::Number(number),
                (_, _, Some(text)) => Self::String(text),
                _ => Self::Null,
            },
        })
    }
}

impl<'t> Members<'t> {
    fn new(object: Value<'t>, levels: usize) -> Option<Self> {
        let mut members: Vec<(Cow<'t, str>, Tree<'t>)> = Vec::with_capacity(object.len());
        let many = object.len() > FEW;
        let mut known = HashSet::new();
        for (key, value) in object.entries() {
            let key = key.as_str().unwrap_or_default();
            let is_known =
                if many { !known.insert(key.clone()) } else { members.iter().any(|(other, _)| *other == key) };
            if !is_known {
                members.push((key, Tree::new(value, levels)?));
            }
        }
        let mut sorted = Vec::new();
        if many {
            sorted.extend(0..u32::try_from(members.len()).ok()?);
            sorted.sort_unstable_by(|one, other| members[*one as usize].0.cmp(&members[*other as usize].0));
        }
        Some(Self { members, sorted })
    }

    fn find(&self, key: &str) -> Option<&Tree<'t>> {
        if self.sorted.is_empty() {
            return self.members.iter().find(|(known, _)| known == key).map(|(_, value)| value);
        }
        let at = self.sorted.binary_search_by(|at| self.members[*at as usize].0.as_ref().cmp(key)).ok()?;
        Some(&self.members[self.sorted[at] as usize].1)
    }
}

thread_local! {
    /// How often the walk on this thread may still look at a value.
    static FUEL: Cell<u64> = const { Cell::new(0) };
}

/// Runs `walk` with so much fuel. `None` if it was not enough.
pub(super) fn with_fuel<T>(fuel: u64, walk: impl FnOnce() -> T) -> Option<T> {
    FUEL.set(fuel);
    let result = walk();
    (FUEL.get() > 0).then_some(result)
}

/// Stands for every value when the fuel is used up.
static NOTHING: Tree<'static> = Tree::Null;

/// Looks at a value.
#[inline]
fn look<'a>(tree: &'a Tree<'a>) -> &'a Tree<'a> {
    let left = FUEL.get().saturating_sub(1);
    FUEL.set(left);
    if left == 0 { &NOTHING } else { tree }
}

impl Json for Exact {
    type Node<'a> = &'a Tree<'a>;
    type PreparedKey = Box<str>;
    type StringBuffer = ();
    // As for `serde_json`'s maps, which are searched as quickly.
    const KEYS_PER_LOOKUP: usize = 2;
    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(Self::Node<'_>) -> T) -> T {
        f(&Tree::String(Cow::Borrowed(string)))
    }
}

impl<'a> Node<'a, Exact> for &'a Tree<'a> {
    type Object = &'a Members<'a>;
    type Array = &'a [Tree<'a>];
    type Number = Numeral<'a>;

    fn as_object(&self) -> Option<&'a Members<'a>> {
        if let Tree::Object(members) = look(self) { Some(members) } else { None }
    }

    fn as_array(&self) -> Option<&'a [Tree<'a>]> {
        if let Tree::Array(elements) = look(self) { Some(elements) } else { None }
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        if let Tree::String(text) = look(self) { Some(Cow::Borrowed(text)) } else { None }
    }

    fn as_number(&self) -> Option<Numeral<'a>> {
        if let Tree::Number(number) = look(self) { Some(Numeral(*number)) } else { None }
    }

    fn as_boolean(&self) -> Option<bool> {
        if let Tree::Bool(bool) = look(self) { Some(*bool) } else { None }
    }

    fn is_null(&self) -> bool {
        matches!(look(self), Tree::Null)
    }

    fn json_type(&self) -> JsonType {
        match look(self) {
            Tree::Null => JsonType::Null,
            Tree::Bool(_) => JsonType::Boolean,
            Tree::Number(_) => JsonType::Number,
            Tree::String(_) => JsonType::String,
            Tree::Array(_) => JsonType::Array,
            Tree::Object(_) => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &JsonValue) -> bool {
        equals(self, expected)
    }

    /// Only the type: `jsonschema` wants the value for its messages alone, and ours read it from the text.
    fn to_value(&self) -> Cow<'a, JsonValue> {
        Cow::Owned(match self {
            Tree::Null => JsonValue::Null,
            Tree::Bool(bool) => JsonValue::Bool(*bool),
            Tree::Number(_) => JsonValue::from(0),
            Tree::String(_) => JsonValue::String(String::new()),
            Tree::Array(_) => JsonValue::Array(Vec::new()),
            Tree::Object(_) => JsonValue::Object(serde_json::Map::new()),
        })
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref::<Tree<'_>>(self) as usize))
    }
}

impl<'a> Object<'a, Exact> for &'a Members<'a> {
    type Node = &'a Tree<'a>;
    type MemberName = &'a str;
    type MembersIter = MembersIter<'a>;

    fn len(&self) -> usize {
        self.members.len()
    }

    fn get(&self, key: &Box<str>) -> Option<&'a Tree<'a>> {
        self.find(key)
    }

    fn members(&self) -> MembersIter<'a> {
        MembersIter(self.members.iter())
    }
}

/// The members of an object, in order.
pub(super) struct MembersIter<'a>(std::slice::Iter<'a, (Cow<'a, str>, Tree<'a>)>);

impl<'a> Iterator for MembersIter<'a> {
    type Item = (&'a str, &'a Tree<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_ref(), value))
    }
}

impl<'a> Array<'a, Exact> for &'a [Tree<'a>] {
    type Node = &'a Tree<'a>;
    type ElementsIter = std::slice::Iter<'a, Tree<'a>>;

    fn len(&self) -> usize {
        <[Tree<'_>]>::len(self)
    }

    fn elements(&self) -> Self::ElementsIter {
        self.iter()
    }

    fn is_unique(&self) -> bool {
        let mut known = HashSet::with_capacity(<[Tree<'_>]>::len(self));
        self.iter().all(|element| {
            let mut key = Vec::new();
            write_key(element, &mut key);
            known.insert(key)
        })
    }
}

/// A number of a record.
pub(super) struct Numeral<'a>(Number<'a>);

impl JsonNumber for Numeral<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0.as_u64()
    }

    fn as_i64(&self) -> Option<i64> {
        self.0.as_i64()
    }

    fn as_f64(&self) -> Option<f64> {
        self.0.to_f64()
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.text())
    }

    /// For messages, which read the number from the text instead.
    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        Cow::Owned(0.into())
    }

    /// Whether the value is an integer, however it is written and however large it is.
    fn is_integer(&self) -> bool {
        if self.0.is_integer() {
            return true;
        }
        // The shortest text of an integer has no fraction, and no negative exponent.
        let mut text = String::new();
        self.0.normalize(&mut text);
        !text.contains("e-") && !text.contains('.')
    }

    fn is_written_as_integer(&self) -> bool {
        self.0.is_integer()
    }
}

/// Whether a value is that of a schema. Numbers are compared exactly, as decimals.
fn equals(tree: &Tree<'_>, expected: &JsonValue) -> bool {
    match (look(tree), expected) {
        (Tree::Null, JsonValue::Null) => true,
        (Tree::Bool(bool), JsonValue::Bool(expected)) => bool == expected,
        (Tree::Number(number), JsonValue::Number(expected)) => {
            Number::new(&expected.to_string()).is_some_and(|expected| number.compare(expected) == Ordering::Equal)
        }
        (Tree::String(text), JsonValue::String(expected)) => text == expected,
        (Tree::Array(elements), JsonValue::Array(expected)) => {
            elements.len() == expected.len()
                && elements.iter().zip(expected).all(|(element, expected)| equals(element, expected))
        }
        (Tree::Object(object), JsonValue::Object(expected)) => {
            object.members.len() == expected.len()
                && expected.iter().all(|(key, value)| object.find(key).is_some_and(|found| equals(found, value)))
        }
        _ => false,
    }
}

/// Appends bytes that are the same for equal values, and for no others.
fn write_key(tree: &Tree<'_>, out: &mut Vec<u8>) {
    match look(tree) {
        Tree::Null => out.push(b'n'),
        Tree::Bool(bool) => out.push(if *bool { b't' } else { b'f' }),
        Tree::Number(number) => {
            out.push(b'0');
            number.order_key(out);
        }
        Tree::String(text) => write_text(text, out),
        Tree::Array(elements) => {
            out.push(b'[');
            elements.iter().for_each(|element| write_key(element, out));
            out.push(b']');
        }
        Tree::Object(object) => {
            let mut sorted: Vec<_> = object.members.iter().collect();
            sorted.sort_unstable_by(|one, other| one.0.cmp(&other.0));
            out.push(b'{');
            for (key, value) in sorted {
                write_text(key, out);
                write_key(value, out);
            }
            out.push(b'}');
        }
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(&text.len().to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}
