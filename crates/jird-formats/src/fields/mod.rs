//! What records hold: the fields, and the kinds of their values.

mod schema;

use crate::{Accumulator, Cell};
use jird::event::{Interest, Key, Numeral, Place, Sink};
use std::collections::HashMap;
use std::convert::Infallible;

/// The maximum number of fields. Records whose keys are data would have a new field in every record; values beyond the
/// limit are only counted.
const FIELDS_MAX: usize = 10_000;

/// The kind of a value, in the order of printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum FieldKind {
    Null,
    Boolean,
    Integer,
    Float,
    Text,
    Object,
    Array,
}

impl FieldKind {
    /// All kinds, in this order.
    pub const ALL: [Self; 7] =
        [Self::Null, Self::Boolean, Self::Integer, Self::Float, Self::Text, Self::Object, Self::Array];

    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Text => "text",
            Self::Object => "object",
            Self::Array => "array",
        }
    }
}

/// The place of a record: its file, and its position there.
#[derive(Clone, Copy, Debug, Default)]
pub struct FieldPlace {
    file: u32,
    line: u64,
    record: u64,
}

/// What is known of a field.
#[derive(Debug, Default)]
pub struct FieldFacts {
    name: String,
    keys: Vec<Box<str>>,
    parent: usize,
    /// The last key; `None` for the elements of an array, and for the record.
    key: Option<Box<str>>,
    /// For each kind: how often it occurred, and where first.
    met: [(u64, FieldPlace); FieldKind::ALL.len()],
    present: u64,
    duplicates: (u64, FieldPlace),
    last_object: u64,
    seen: Accumulator,
    children: HashMap<Box<str>, usize>,
    /// The elements, where arrays were met.
    element: Option<usize>,
}

impl FieldFacts {
    /// The full name, which includes the names of the outer fields.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The keys that lead to the field; `None` if it is inside an array.
    pub fn keys(&self) -> Option<&[Box<str>]> {
        (!self.keys.is_empty()).then_some(&self.keys)
    }

    /// The number of objects that have the field, or of elements for the elements of an array.
    pub fn present(&self) -> u64 {
        self.present
    }

    /// How often an object repeats the field, and where this happened first.
    pub fn duplicates(&self) -> (u64, FieldPlace) {
        self.duplicates
    }

    /// How often a kind of value occurred, and where first.
    pub fn met(&self, kind: FieldKind) -> (u64, FieldPlace) {
        self.met[kind as usize]
    }

    /// The kinds that occurred.
    pub fn kinds(&self) -> impl Iterator<Item = FieldKind> {
        FieldKind::ALL.into_iter().filter(|kind| self.met(*kind).0 > 0)
    }

    /// The name of the narrowest type that holds all values of the field.
    pub fn type_name(&self) -> String {
        match self.seen.column_type() {
            None => "null".to_owned(),
            Some(kind) => {
                let mut kinds = self.kinds().filter(|kind| *kind != FieldKind::Null);
                match (kinds.next(), kinds.next()) {
                    (Some(only @ (FieldKind::Object | FieldKind::Array)), None) => only.name().to_owned(),
                    _ => kind.to_string(),
                }
            }
        }
    }
}

/// An event sink that counts what it receives.
///
/// ```
/// use jird::event::JsonSource;
/// use jird_formats::{FieldKind, Fields};
/// let mut fields = Fields::default();
/// let mut records = JsonSource::from_slice(b"{\"a\":1}{\"a\":null,\"b\":[true]}");
/// while jird::event::Source::send_record(&mut records, &mut fields).map_err(|_| "a bad record")? {}
/// let names: Vec<_> = fields.in_order().iter().map(|field| field.name().to_owned()).collect();
/// assert_eq!(names, ["a", "b", "b[]"]);
/// assert_eq!(fields.in_order()[0].met(FieldKind::Null).0, 1);
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct Fields {
    /// The first one is the record.
    nodes: Vec<FieldFacts>,
    files: Vec<String>,
    records: u64,
    beyond: u64,
    at: FieldPlace,
    /// The field of the next value.
    node: usize,
    /// The open containers. An object has a number; an array has `None`.
    open: Vec<(usize, Option<u64>)>,
    objects: u64,
}

impl Default for Fields {
    fn default() -> Self {
        Self {
            nodes: vec![FieldFacts::default()],
            files: Vec::new(),
            records: 0,
            beyond: 0,
            at: FieldPlace::default(),
            node: 0,
            open: Vec::new(),
            objects: 0,
        }
    }
}

impl Fields {
    /// The number of records.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// What is known of the records themselves.
    pub fn record(&self) -> &FieldFacts {
        &self.nodes[0]
    }

    /// The number of values whose fields are not counted, because there are too many names.
    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Declares that the next records are from this file.
    pub fn next_file(&mut self, name: &str) {
        self.at.file = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        self.files.push(name.to_owned());
    }

    /// The fields, each after the field that contains it, otherwise in the order of their first occurrence.
    pub fn in_order(&self) -> Vec<&FieldFacts> {
        let children = self.children();
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

    /// For each node, the fields directly in it, in the order of their first occurrence.
    fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate().skip(1) {
            children[node.parent].push(index);
        }
        children
    }

    /// The number of objects that could have the field but do not.
    pub fn missing(&self, node: &FieldFacts) -> u64 {
        if node.key.is_none() { 0 } else { self.nodes[node.parent].met(FieldKind::Object).0 - node.present }
    }

    /// `FILE:LINE`, or `FILE record N` for formats without lines.
    pub fn place(&self, at: FieldPlace) -> String {
        let file = self.files.get(at.file as usize).map_or("", String::as_str);
        match at.line {
            0 => format!("{file} record {}", at.record + 1),
            line => format!("{file}:{line}"),
        }
    }

    /// The field with this key, or of the elements, in the field `parent`. `None` if there are too many fields.
    fn child(&mut self, parent: usize, key: Option<&str>) -> Option<usize> {
        let outer = self.nodes.get(parent)?;
        let known = key.map_or(outer.element, |key| outer.children.get(key).copied());
        if known.is_some() {
            return known;
        }
        if self.nodes.len() > FIELDS_MAX {
            return None;
        }
        let full = match (parent, key) {
            (_, None) => format!("{}[]", outer.name),
            (0, Some(key)) => plain(key),
            (_, Some(key)) => format!("{}.{}", outer.name, plain(key)),
        };
        let keys = match (key, parent > 0 && outer.keys.is_empty()) {
            (Some(key), false) => outer.keys.iter().cloned().chain([key.into()]).collect(),
            _ => Vec::new(),
        };
        let index = self.nodes.len();
        self.nodes.push(FieldFacts { name: full, keys, parent, key: key.map(Into::into), ..FieldFacts::default() });
        match key {
            Some(key) => _ = self.nodes[parent].children.insert(key.into(), index),
            None => self.nodes[parent].element = Some(index),
        }
        Some(index)
    }

    fn value(&mut self, kind: FieldKind, cell: Option<Cell<'_>>) {
        if let Some((array, None)) = self.open.last() {
            let Some(element) = self.child(*array, None) else {
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

    fn begin(&mut self, kind: FieldKind, json: &str, object: Option<u64>) {
        self.value(kind, Some(Cell::Json(json)));
        self.open.push((self.node, object));
    }
}

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
        self.at = FieldPlace { line: place.line, record: place.record, ..self.at };
        self.node = 0;
        self.open.clear();
        Ok(())
    }

    fn begin_object(&mut self) -> Result<(), Infallible> {
        self.objects += 1;
        self.begin(FieldKind::Object, "{", Some(self.objects));
        Ok(())
    }

    fn key(&mut self, key: Key<'_>) -> Result<Interest, Infallible> {
        let Some(&(object, Some(number))) = self.open.last() else { return Ok(Interest::Skip) };
        let child = if object == NOWHERE { None } else { self.child(object, Some(key.text())) };
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
        self.begin(FieldKind::Array, "[", None);
        Ok(())
    }

    fn end_array(&mut self) -> Result<(), Infallible> {
        self.open.pop();
        Ok(())
    }

    fn null(&mut self) -> Result<(), Infallible> {
        self.value(FieldKind::Null, None);
        Ok(())
    }

    fn bool(&mut self, value: bool) -> Result<(), Infallible> {
        self.value(FieldKind::Boolean, Some(Cell::Bool(value)));
        Ok(())
    }

    fn number(&mut self, number: Numeral<'_>) -> Result<(), Infallible> {
        let is_integer = match number {
            Numeral::Text(number) => number.is_integer(),
            Numeral::F64(_) => false,
            Numeral::I64(_) | Numeral::U64(_) => true,
        };
        self.value(if is_integer { FieldKind::Integer } else { FieldKind::Float }, Some(Cell::Number(number)));
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), Infallible> {
        self.value(FieldKind::Text, Some(Cell::Text(text)));
        Ok(())
    }
}
