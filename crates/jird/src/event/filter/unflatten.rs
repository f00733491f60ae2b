//! Members with dotted keys as nested objects.

use crate::error::Error;
use crate::event::protocol::{Scalar, forwards, scalars};
use crate::event::recording::{Item, Recording};
use crate::event::{Interest, Key, KeyTable, Place, Sink};
use core::fmt::Write as _;

/// Makes nested records of rows: the reverse of [`Flatten`](super::Flatten). Members whose keys begin with the same
/// parts become one object, at the position of the first of them.
///
/// Objects with the keys `0`, `1`, … in this order become arrays, if [asked for](Self::arrays). If a key is both the
/// key of a value and the first part of another key, it occurs twice in the result, so that nothing is lost. A key is
/// split into at most [`PARTS_MAX`](Self::PARTS_MAX) parts.
///
/// Members that belong together may stand apart. So each record is held until it is complete, and the filter takes
/// every value in it.
///
/// ```
/// use jird::event::{self, JsonSink, JsonSource, filter::Unflatten};
/// let text = br#"{"id":1,"user.name":"Ada","tags.0":"x","tags.1.y":2,"user.age":36}"#;
/// let mut out = Unflatten::new(JsonSink::new(Vec::new())).arrays();
/// event::copy(&mut JsonSource::from_slice(text), &mut out)?;
/// assert_eq!(out.into_inner().into_inner(), br#"{"id":1,"user":{"name":"Ada","age":36},"tags":["x",{"y":2}]}
/// "#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Unflatten<S> {
    sink: S,
    separator: String,
    arrays: bool,
    recording: Recording,
    tree: Tree,
    /// Objects, by the number of the object around them and their own name; and the node of each.
    objects: KeyTable,
    object_nodes: Vec<u32>,
    scratch: String,
}

/// The members of a record, sorted into objects.
#[derive(Debug, Default)]
struct Tree {
    /// All nodes; the first is the record.
    nodes: Vec<MemberNode>,
    /// All names, concatenated.
    names: String,
}

/// A member: a recorded value, or an object of other members.
#[derive(Clone, Copy, Debug)]
struct MemberNode {
    name_start: usize,
    name_end: usize,
    /// The event of the recorded key, which its value follows; zero for an object.
    key: usize,
    first: u32,
    last: u32,
    next: u32,
    /// The number of members of an object, and whether they are named 0, 1, ….
    len: u64,
    is_array: bool,
}

const NONE: u32 = u32::MAX;

impl<S: Sink<Error: From<Error>>> Unflatten<S> {
    /// The maximum number of parts of one key; the last part keeps the remaining separators.
    pub const PARTS_MAX: usize = 128;

    /// Forwards nested records to `sink`.
    pub fn new(sink: S) -> Self {
        Self {
            sink,
            separator: ".".to_owned(),
            arrays: false,
            recording: Recording::new(),
            tree: Tree::default(),
            objects: KeyTable::new(),
            object_nodes: Vec::new(),
            scratch: String::new(),
        }
    }

    /// Makes arrays of objects with the keys `0`, `1`, ….
    #[must_use]
    pub fn arrays(mut self) -> Self {
        self.arrays = true;
        self
    }

    /// Sets the separator between the parts of a key; a dot by default.
    #[must_use]
    pub fn separator(mut self, separator: impl Into<String>) -> Self {
        self.separator = separator.into();
        self
    }

    /// The sink.
    pub fn into_inner(self) -> S {
        self.sink
    }

    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<(), S::Error> {
        Ok(scalar.send(&mut self.recording)?)
    }

    /// Sorts the recorded members into objects.
    fn nest(&mut self) {
        self.tree.restart();
        self.objects.clear();
        self.object_nodes.clear();
        let mut at = 1;
        while let Item::Key(key) = self.recording.item(at) {
            let mut parent = 0;
            let mut parts = key.text().splitn(Self::PARTS_MAX, &*self.separator).peekable();
            while let Some(part) = parts.next() {
                let is_last = parts.peek().is_none();
                if !is_last {
                    self.scratch.clear();
                    let _ = write!(self.scratch, "{parent}.{part}");
                    let known = self.objects.insert(&self.scratch) as usize;
                    if let Some(&node) = self.object_nodes.get(known) {
                        parent = node;
                        continue;
                    }
                    self.object_nodes.push(self.tree.nodes.len() as u32);
                }
                parent = self.tree.add(parent, part, if is_last { at } else { 0 });
            }
            at = self.recording.behind(at + 1);
        }
    }

    /// Sends the nested record.
    fn send(&mut self) -> Result<(), S::Error> {
        self.sink.begin_object()?;
        // The open objects, each with its next member.
        let mut open = vec![(self.tree.nodes[0].first, false)];
        while let Some((next, in_array)) = open.last_mut() {
            if *next == NONE {
                if *in_array { self.sink.end_array() } else { self.sink.end_object() }?;
                open.pop();
                continue;
            }
            let node = self.tree.nodes[*next as usize];
            *next = node.next;
            if !*in_array {
                // An unchanged key keeps its number.
                let name = self.tree.name(node);
                let key = match self.recording.item(node.key) {
                    Item::Key(key) if key.text() == name => key,
                    _ => Key::new(name),
                };
                if self.sink.key(key)? == Interest::Skip {
                    continue;
                }
            }
            if node.key > 0 {
                self.recording.send_at(node.key + 1, &mut self.sink)?;
                continue;
            }
            let is_array = self.arrays && node.is_array;
            if is_array { self.sink.begin_array() } else { self.sink.begin_object() }?;
            open.push((node.first, is_array));
        }
        Ok(())
    }
}

impl Tree {
    fn restart(&mut self) {
        self.names.clear();
        self.nodes.clear();
        self.nodes.push(MemberNode::new(0..0, 0));
    }

    /// Adds a member to an object.
    fn add(&mut self, parent: u32, name: &str, key: usize) -> u32 {
        let number = self.nodes.len() as u32;
        let start = self.names.len();
        self.names.push_str(name);
        let object = &mut self.nodes[parent as usize];
        object.is_array &= is_index(name, object.len);
        object.len += 1;
        let before = core::mem::replace(&mut object.last, number);
        match self.nodes.get_mut(before as usize) {
            Some(before) => before.next = number,
            None => self.nodes[parent as usize].first = number,
        }
        self.nodes.push(MemberNode::new(start..self.names.len(), key));
        number
    }

    fn name(&self, node: MemberNode) -> &str {
        &self.names[node.name_start..node.name_end]
    }
}

impl MemberNode {
    fn new(name: core::ops::Range<usize>, key: usize) -> Self {
        Self {
            name_start: name.start,
            name_end: name.end,
            key,
            first: NONE,
            last: NONE,
            next: NONE,
            len: 0,
            is_array: true,
        }
    }
}

/// Whether a name is this number.
fn is_index(name: &str, index: u64) -> bool {
    (name == "0" || !name.starts_with(['0', '+'])) && name.parse() == Ok(index)
}

impl<S: Sink<Error: From<Error>>> Sink for Unflatten<S> {
    type Error = S::Error;

    fn begin_record(&mut self, place: Place) -> Result<(), S::Error> {
        Ok(self.recording.begin_record(place)?)
    }

    fn end_record(&mut self) -> Result<(), S::Error> {
        self.sink.begin_record(self.recording.place())?;
        if self.recording.is_complete() {
            if let Item::Object(_) = self.recording.item(0) {
                self.nest();
                self.send()?;
            } else {
                self.recording.send_at(0, &mut self.sink)?;
            }
        }
        self.sink.end_record()
    }

    #[inline]
    fn key(&mut self, key: Key<'_>) -> Result<Interest, S::Error> {
        Ok(self.recording.key(key)?)
    }

    scalars!();

    forwards!(self => self.sink, Into::into; wants_more finish);
    forwards!(self => self.recording, Into::into; begin_object end_object begin_array end_array);
}
