//! The fields of records, as they are met.

use jird::event::{Interest, Key, Numeral, Place, Sink};
use jird_formats::{Accumulator, Cell};
use std::collections::HashMap;
use std::convert::Infallible;

/// More are not told apart: records whose keys are data have as many as there are records.
const FIELDS_MAX: usize = 10_000;

/// What a value is. Ordered as it is printed.
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

/// A record: of which file, and where in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct At {
    file: u32,
    line: u64,
    record: u64,
}

/// A field.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// With the names of those around it.
    pub(super) name: String,
    parent: usize,
    pub(super) is_element: bool,
    /// For each type how often it was met, and where first.
    met: [(u64, At); TYPES.len()],
    /// Objects that have it, or elements of arrays.
    pub(super) present: u64,
    /// Objects that have it more than once, and the first of them.
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

/// An event sink that counts what it sees. The first node is the record.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) nodes: Vec<Node>,
    files: Vec<String>,
    pub(super) records: u64,
    /// Values of fields beyond those that are told apart.
    pub(super) beyond: u64,
    at: At,
    /// The field of the next value.
    node: usize,
    /// The objects and arrays that are open, with their numbers; that of an array is none.
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
    /// What comes now is of this file.
    pub(super) fn next_file(&mut self, name: &str) {
        self.at.file = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        self.files.push(name.to_owned());
    }

    /// Fields, each behind the one that it is in, in the order in which they were met.
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

    /// Objects that could have the field and do not.
    pub(super) fn missing(&self, node: &Node) -> u64 {
        if node.is_element { 0 } else { self.nodes[node.parent].met(Type::Object).0 - node.present }
    }

    /// `FILE:LINE`, or `FILE record N` where there are no lines.
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

/// The child of an array. No key is this, as keys are written.
const ELEMENT: &str = "[]\0";

/// The field of a value that nobody counts.
const NOWHERE: usize = usize::MAX;

/// A key as SQL has it: in quotes, if it is not simple.
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
