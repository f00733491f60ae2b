//! Collects the fields of records.

use jird::event::{Interest, Key, Numeral, Place, Sink};
use jird_formats::{Accumulator, Cell};
use std::collections::HashMap;
use std::convert::Infallible;

/// The maximum number of fields. Records whose keys are data would have a new field in every record; values beyond the
/// limit are only counted.
const FIELDS_MAX: usize = 10_000;

/// The type of a value, in the order of printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Null,
    Boolean,
    Integer,
    Float,
    Text,
    Object,
    Array,
}

pub(super) const TYPES: [(Type, &str); 7] = [
    (Type::Null, "null"),
    (Type::Boolean, "boolean"),
    (Type::Integer, "integer"),
    (Type::Float, "float"),
    (Type::Text, "text"),
    (Type::Object, "object"),
    (Type::Array, "array"),
];

/// The place of a record: its file, and its position there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct At {
    file: u32,
    line: u64,
    record: u64,
}

/// A field.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// The full name, which includes the names of the outer fields.
    pub(super) name: String,
    parent: usize,
    pub(super) is_element: bool,
    /// For each type: how often it occurred, and where first.
    met: [(u64, At); TYPES.len()],
    /// The number of objects that have the field, or of elements for the elements of an array.
    pub(super) present: u64,
    /// How often an object repeats the field, and where this happened first.
    pub(super) duplicates: (u64, At),
    last_object: u64,
    pub(super) seen: Accumulator,
    children: HashMap<Box<str>, usize>,
}

impl Node {
    pub(super) fn met(&self, kind: Type) -> (u64, At) {
        self.met[kind as usize]
    }
}

/// An event sink that counts what it receives. The first node is the record.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) nodes: Vec<Node>,
    files: Vec<String>,
    pub(super) records: u64,
    /// The number of values whose fields are beyond the limit.
    pub(super) beyond: u64,
    at: At,
    /// The field of the next value.
    node: usize,
    /// The open containers. An object has a number; an array has `None`.
    open: Vec<(usize, Option<u64>)>,
    objects: u64,
}

impl Default for Fields {
    fn default() -> Self {
        Self {
            nodes: vec![Node::default()],
            files: Vec::new(),
            records: 0,
            beyond: 0,
            at: At::default(),
            node: 0,
            open: Vec::new(),
            objects: 0,
        }
    }
}

impl Fields {
    /// Declares that the next records are from this file.
    pub(super) fn next_file(&mut self, name: &str) {
        self.at.file = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        self.files.push(name.to_owned());
    }

    /// The fields, each after the field that contains it, otherwise in the order of their first occurrence.
    pub(super) fn in_order(&self) -> Vec<&Node> {
        let mut children = vec![Vec::new(); self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate().skip(1) {
            children[node.parent].push(index);
        }
        let mut order = Vec::new();
        let mut next = vec![0];
        while let Some(index) = next.pop() {
            if index > 0 {
                order.push(&self.nodes[index]);
            }
            next.extend(children[index].iter().rev());
        }
        order
    }

    /// The number of objects that could have the field but do not.
    pub(super) fn missing(&self, node: &Node) -> u64 {
        if node.is_element { 0 } else { self.nodes[node.parent].met(Type::Object).0 - node.present }
    }

    /// `FILE:LINE`, or `FILE record N` for formats without lines.
    pub(super) fn place(&self, at: At) -> String {
        let file = self.files.get(at.file as usize).map_or("", String::as_str);
        match at.line {
            0 => format!("{file} record {}", at.record + 1),
            line => format!("{file}:{line}"),
        }
    }

    fn child(&mut self, parent: usize, name: &str) -> Option<usize> {
        if let Some(known) = self.nodes.get(parent)?.children.get(name) {
            return Some(*known);
        }
        if self.nodes.len() > FIELDS_MAX {
            return None;
        }
        let (around, is_element) = (&self.nodes[parent].name, name == ELEMENT);
        let full = match (parent, is_element) {
            (_, true) => format!("{around}[]"),
            (0, false) => plain(name),
            (_, false) => format!("{around}.{}", plain(name)),
        };
        self.nodes.push(Node { name: full, parent, is_element, ..Node::default() });
        let index = self.nodes.len() - 1;
        self.nodes[parent].children.insert(name.into(), index);
        Some(index)
    }

    fn value(&mut self, kind: Type, cell: Option<Cell<'_>>) {
        if let Some((array, None)) = self.open.last() {
            let Some(element) = self.child(*array, ELEMENT) else {
                self.beyond += 1;
                self.node = NOWHERE;
                return;
            };
            self.node = element;
            self.nodes[element].present += 1;
        }
        let Some(node) = self.nodes.get_mut(self.node) else { return };
        let (count, first) = &mut node.met[kind as usize];
        if *count == 0 {
            *first = self.at;
        }
        *count += 1;
        if let Some(cell) = cell {
            node.seen.observe_cell(cell, 0);
        }
    }

    fn begin(&mut self, kind: Type, json: &str, object: Option<u64>) {
        self.value(kind, Some(Cell::Json(json)));
        self.open.push((self.node, object));
    }
}

/// The child name for the elements of an array. No real key equals it.
const ELEMENT: &str = "[]\0";

/// The node of a value that is not counted.
const NOWHERE: usize = usize::MAX;

/// A key as SQL writes it: in quotes unless it is simple.
fn plain(key: &str) -> String {
    let is_simple = |char: char| char.is_alphanumeric() || matches!(char, '_' | '@' | '$' | '-');
    if !key.is_empty() && key.chars().all(is_simple) { key.to_owned() } else { format!("\"{}\"", key.escape_debug()) }
}

impl Sink for Fields {
    type Error = Infallible;

    fn begin_record(&mut self, place: Place) -> Result<(), Infallible> {
        self.records += 1;
        self.at = At { line: place.line, record: place.record, ..self.at };
        self.node = 0;
        self.open.clear();
        Ok(())
    }

    fn begin_object(&mut self) -> Result<(), Infallible> {
        self.objects += 1;
        self.begin(Type::Object, "{", Some(self.objects));
        Ok(())
    }

    fn key(&mut self, key: Key<'_>) -> Result<Interest, Infallible> {
        let Some(&(object, Some(number))) = self.open.last() else { return Ok(Interest::Skip) };
        let child = if object == NOWHERE { None } else { self.child(object, key.text()) };
        let Some(child) = child else {
            self.beyond += 1;
            return Ok(Interest::Skip);
        };
        self.node = child;
        let node = &mut self.nodes[child];
        if node.last_object == number {
            if node.duplicates.0 == 0 {
                node.duplicates.1 = self.at;
            }
            node.duplicates.0 += 1;
            return Ok(Interest::Skip);
        }
        node.last_object = number;
        node.present += 1;
        Ok(Interest::Take)
    }

    fn end_object(&mut self) -> Result<(), Infallible> {
        self.open.pop();
        Ok(())
    }

    fn begin_array(&mut self) -> Result<(), Infallible> {
        self.begin(Type::Array, "[", None);
        Ok(())
    }

    fn end_array(&mut self) -> Result<(), Infallible> {
        self.open.pop();
        Ok(())
    }

    fn null(&mut self) -> Result<(), Infallible> {
        self.value(Type::Null, None);
        Ok(())
    }

    fn bool(&mut self, value: bool) -> Result<(), Infallible> {
        self.value(Type::Boolean, Some(Cell::Bool(value)));
        Ok(())
    }

    fn number(&mut self, number: Numeral<'_>) -> Result<(), Infallible> {
        let is_integer = match number {
            Numeral::Text(number) => number.is_integer(),
            Numeral::F64(_) => false,
            Numeral::I64(_) | Numeral::U64(_) => true,
        };
        self.value(if is_integer { Type::Integer } else { Type::Float }, Some(Cell::Number(number)));
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), Infallible> {
        self.value(Type::Text, Some(Cell::Text(text)));
        Ok(())
    }
}
