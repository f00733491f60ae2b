//! Records and the values in them.

use super::decimal::Decimal;
use super::query::Step;
use crate::reference::{self, Node, Tree};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A JSON value as it stands in its record.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) raw: String,
    pub(crate) json: Json,
}

#[derive(Clone, Debug)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(Decimal),
    Text(String),
    Array(Vec<Value>),
    /// Repeated keys are all there.
    Object(Vec<(String, Value)>),
}

/// The records of a text, one a line; blank lines are none.
pub(crate) fn records(text: &str) -> Vec<Value> {
    let (nodes, fault) = reference::read_lines(text.as_bytes(), 100);
    assert_eq!(fault, None, "these are records: {text}");
    nodes.into_iter().map(|node| Value::of(node, text)).collect()
}

/// A text as JSON writes it that escapes only what it must.
fn quoted(text: &str) -> String {
    let escape = |char| match char {
        '"' | '\\' => format!("\\{char}"),
        '\u{8}' => "\\b".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        ..' ' => format!("\\u{:04x}", u32::from(char)),
        _ => char.to_string(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

impl Value {
    fn of(node: Node, text: &str) -> Self {
        let raw = text[node.start..node.end].to_owned();
        let json = match node.tree {
            Tree::Null => Json::Null,
            Tree::Bool(known) => Json::Bool(known),
            Tree::Number => Json::Number(Decimal::of(&raw)),
            Tree::String(content) => Json::Text(content),
            Tree::Array(elements) => Json::Array(elements.into_iter().map(|node| Self::of(node, text)).collect()),
            Tree::Object(members) => Json::Object(
                members
                    .into_iter()
                    .map(|(key, node)| match key.tree {
                        Tree::String(key) => (key, Self::of(node, text)),
                        _ => unreachable!("keys are strings"),
                    })
                    .collect(),
            ),
        };
        Self { raw, json }
    }

    /// A value that stands in no record.
    pub(crate) fn bool(known: bool) -> Self {
        Self { raw: known.to_string(), json: Json::Bool(known) }
    }

    pub(crate) fn number_of(number: Decimal) -> Self {
        Self { raw: number.text(), json: Json::Number(number) }
    }

    pub(crate) fn text_of(text: &str) -> Self {
        Self { raw: quoted(text), json: Json::Text(text.to_owned()) }
    }

    /// An object whose JSON is never asked for.
    pub(crate) fn object(members: Vec<(String, Self)>) -> Self {
        Self { raw: String::new(), json: Json::Object(members) }
    }

    /// The field of a record. One that is not an object has the field `value`.
    pub(crate) fn field(&self, path: &[Step]) -> Option<&Self> {
        match (&self.json, path) {
            (Json::Object(_), path) => self.at(path),
            (_, [Step::Key("value"), rest @ ..]) => self.at(rest),
            _ => None,
        }
    }

    /// Of members with one key the first counts.
    fn at(&self, path: &[Step]) -> Option<&Self> {
        match (path, &self.json) {
            ([], _) => Some(self),
            ([Step::Key(wanted), rest @ ..], Json::Object(members)) => {
                members.iter().find(|(key, _)| key == wanted)?.1.at(rest)
            }
            ([Step::Index(index), rest @ ..], Json::Array(elements)) => elements.get(*index)?.at(rest),
            ([Step::Back(back), rest @ ..], Json::Array(elements)) => {
                elements.get(elements.len().checked_sub(*back)?)?.at(rest)
            }
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.json, Json::Null)
    }

    /// As `json_type` names it.
    pub(crate) fn kind(&self) -> &'static str {
        match self.json {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(_) => "number",
            Json::Text(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    /// The nearest `f64` of a number that has one.
    pub(crate) fn number(&self) -> Option<f64> {
        let Json::Number(_) = self.json else { return None };
        self.raw.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// A string's content, of all else the JSON.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.json {
            Json::Null => None,
            Json::Text(content) => Some(content),
            _ => Some(&self.raw),
        }
    }

    /// What equal values share: numbers by their value, texts by their content, arrays by their elements, objects by
    /// their members in any order, where the first with a key counts.
    pub(crate) fn group(&self) -> String {
        match &self.json {
            Json::Number(value) => format!("number {value:?}"),
            Json::Text(content) => format!("text {content:?}"),
            Json::Array(elements) => {
                let elements: Vec<_> = elements.iter().map(Self::group).collect();
                format!("array {elements:?}")
            }
            Json::Object(members) => {
                let mut known = BTreeMap::new();
                for (key, value) in members {
                    known.entry(key).or_insert_with(|| value.group());
                }
                format!("object {known:?}")
            }
            Json::Null | Json::Bool(_) => self.raw.clone(),
        }
    }

    /// The order of all values: null, false, true, numbers, texts, arrays, objects.
    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        self.json.cmp(&other.json)
    }
}

impl Json {
    /// Arrays are ordered element by element; objects by their keys in order, and then by the values of these keys.
    pub(super) fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(left), Self::Bool(right)) => left.cmp(right),
            (Self::Number(left), Self::Number(right)) => left.cmp(right),
            (Self::Text(left), Self::Text(right)) => left.as_bytes().cmp(right.as_bytes()),
            (Self::Array(left), Self::Array(right)) => each(&mut left.iter(), &mut right.iter()),
            (Self::Object(_), Self::Object(_)) => {
                let (left, right) = (self.members(), other.members());
                left.keys().cmp(right.keys()).then_with(|| each(&mut left.into_values(), &mut right.into_values()))
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }

    /// The first member with each key.
    fn members(&self) -> BTreeMap<&str, &Value> {
        let mut known = BTreeMap::new();
        if let Self::Object(members) = self {
            for (key, value) in members {
                known.entry(key.as_str()).or_insert(value);
            }
        }
        known
    }

    /// The place of the kind in the order.
    pub(super) fn rank(&self) -> usize {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Number(_) => 2,
            Self::Text(_) => 3,
            Self::Array(_) => 4,
            Self::Object(_) => 5,
        }
    }
}

/// The order of the first values that differ, else of the numbers of values.
fn each<'v>(left: &mut dyn Iterator<Item = &'v Value>, right: &mut dyn Iterator<Item = &'v Value>) -> Ordering {
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(left), Some(right)) if left.cmp(right).is_eq() => {}
            (Some(left), Some(right)) => return left.cmp(right),
        }
    }
}
