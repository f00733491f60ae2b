//! The wanted parts of a record, and the code that finds them: without tokens (`sweep`, and `levels` at any depth),
//! without a walk (`skim`, and `elements` in a whole document) or as a visitor of one.

mod elements;
mod levels;
mod skim;
mod sweep;

pub(super) use elements::{Elements, Stretch};
pub(super) use levels::container_len;

use crate::number::Class;
use crate::path::{Path, Step};
use crate::scan::ESCAPED;
use crate::tape::Kind;
use crate::text;
use crate::walk::{Bracket, Build, Literal, Visitor, own_visitor};
use core::ops::Range;
use std::collections::HashMap;
use std::sync::Arc;

/// The wanted paths of a record: path `i` fills slot `i`. If several members have the same key, the first counts.
///
/// A record that is not an object is read as if it were the member `value` of an object.
///
/// ```
/// use jird::{Path, record::Projection};
/// let projection = Projection::new(&[Path::root().key("Elapsed"), Path::root().key("Properties").key("RequestId")]);
/// assert_eq!(projection.slots(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Projection {
    /// A trie of the paths; the root is node 0.
    nodes: Vec<PathNode>,
    paths: Arc<[Path]>,
    /// The number of slots in the trie.
    sought: usize,
    /// The `lengths` of all nodes.
    lengths: u64,
    /// How far a wanted key's opening quote stands before its colon, each distance once. Empty if there are more than
    /// [`DISTANCES_MAX`] of them, or if one is not below 64.
    distances: Vec<u32>,
    /// Whether no path leads to an element of an array.
    has_only_keys: bool,
    /// The slots that want the record as a whole.
    whole: Vec<usize>,
}

/// With more distances, looking at each key costs less than looking for all of them.
const DISTANCES_MAX: usize = 4;

/// The same for the keys of one object.
const LEVEL_DISTANCES_MAX: usize = 8;

#[derive(Clone, Debug, Default)]
struct PathNode {
    /// The slots that want the value at this node.
    slots: Vec<usize>,
    keys: Vec<(Box<str>, u32)>,
    /// The same keys, if there are more than [`FEW`].
    by_key: HashMap<Box<[u8]>, u32>,
    indices: Vec<(usize, u32)>,
    /// Bit `len % 64` is set for the length of each key: this test rejects most keys.
    lengths: u64,
    /// As [`Projection::distances`], but of this node's keys.
    distances: Vec<u32>,
}

/// Up to this number, keys are compared one by one.
const FEW: usize = 32;

/// No node: no value here or below is wanted.
const NOWHERE: u32 = u32::MAX;

/// The key under which a record that is not an object is read.
pub(super) const VALUE: &str = "value";

impl Projection {
    /// The top-level keys that the paths begin with. `None` if there are no paths, or if one of them is the whole record.
    ///
    /// ```
    /// use jird::{Path, record::Projection};
    /// let paths = [Path::root().key("a").key("b"), Path::root().key("c")];
    /// assert_eq!(Projection::new(&paths).keys(), Some(vec!["a", "c"]));
    /// assert_eq!(Projection::new(&[Path::root(), Path::root().key("a")]).keys(), None);
    /// ```
    pub fn keys(&self) -> Option<Vec<&str>> {
        let root = self.nodes.first().filter(|_| self.whole.is_empty())?;
        let are_keys = root.slots.is_empty() && root.indices.is_empty() && !root.keys.is_empty();
        are_keys.then(|| root.keys.iter().map(|(key, _)| &**key).collect())
    }

    /// The projection of these paths, in this order. The empty projection only counts records.
    pub fn new(paths: &[Path]) -> Self {
        Self::of(&paths.into(), |_| true)
    }

    /// A projection with the same slots that looks for only some of them; the others stay missing.
    pub(crate) fn only(&self, wants: impl Fn(usize) -> bool) -> Self {
        Self::of(&self.paths, wants)
    }

    fn of(paths: &Arc<[Path]>, wants: impl Fn(usize) -> bool) -> Self {
        let mut projection = Self {
            nodes: vec![PathNode::default()],
            paths: Arc::clone(paths),
            sought: 0,
            lengths: 0,
            distances: Vec::new(),
            has_only_keys: true,
            whole: Vec::new(),
        };
        for (slot, path) in paths.iter().enumerate().filter(|(slot, _)| wants(*slot)) {
            // The record as a whole needs no search.
            if path.steps().is_empty() {
                projection.whole.push(slot);
                continue;
            }
            let node = path.steps().iter().fold(0, |node, step| projection.child(node, step));
            projection.nodes[node as usize].slots.push(slot);
            projection.sought += 1;
        }
        projection.lengths = projection.nodes.iter().fold(0, |all, node| all | node.lengths);
        projection.has_only_keys = projection.nodes.iter().all(|node| node.indices.is_empty());
        projection.distances = distances(&projection.nodes, DISTANCES_MAX);
        for node in &mut projection.nodes {
            node.distances = distances(core::slice::from_ref(node), LEVEL_DISTANCES_MAX);
        }
        projection
    }

    /// Whether no path leads to an element of an array.
    pub(super) fn has_only_keys(&self) -> bool {
        self.has_only_keys
    }

    /// The slots that want the record as a whole.
    pub(super) fn whole(&self) -> &[usize] {
        &self.whole
    }

    /// Whether a slot is in the trie.
    #[cfg(jird_checked)]
    pub(crate) fn seeks(&self, slot: usize) -> bool {
        self.nodes.iter().any(|node| node.slots.contains(&slot))
    }

    /// The number of slots.
    pub fn slots(&self) -> usize {
        self.paths.len()
    }

    /// The wanted paths, slot by slot.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// The node that this step leads to from `node`; created if it does not exist.
    fn child(&mut self, node: u32, step: &Step) -> u32 {
        let fresh = u32::try_from(self.nodes.len()).expect("fewer than 2^32 steps fit in memory");
        let parent = &mut self.nodes[node as usize];
        let found = match step {
            Step::Key(key) => Some(parent.find(key.as_bytes())).filter(|&node| node != NOWHERE),
            Step::Index(index) => parent.indices.iter().find(|(known, _)| known == index).map(|(_, node)| *node),
        };
        if let Some(node) = found {
            return node;
        }
        match step {
            Step::Key(key) => {
                parent.lengths |= 1 << (key.len() % 64);
                parent.keys.push((key.clone(), fresh));
                if parent.keys.len() > FEW {
                    let new = parent.keys.iter().skip(parent.by_key.len());
                    parent.by_key.extend(new.map(|(key, node)| (key.as_bytes().into(), *node)));
                }
            }
            Step::Index(index) => parent.indices.push((*index, fresh)),
        }
        self.nodes.push(PathNode::default());
        fresh
    }
}

/// [`Projection::distances`] of these nodes.
fn distances(nodes: &[PathNode], most: usize) -> Vec<u32> {
    // The closing quote and the colon come after the key.
    let keys = nodes.iter().flat_map(|node| &node.keys).map(|(key, _)| key.len() + 2);
    let mut distances: Vec<u32> = keys.map(|far| u32::try_from(far).unwrap_or(u32::MAX)).collect();
    distances.sort_unstable();
    distances.dedup();
    let are_few = distances.len() <= most && distances.iter().all(|&far| far < u64::BITS);
    if are_few { distances } else { Vec::new() }
}

impl PathNode {
    #[inline(always)]
    fn member(&self, text: &[u8], start: usize, end: usize, escaped: bool) -> u32 {
        if escaped {
            return self.escaped_member(&text[start..end]);
        }
        if self.lengths >> ((end - start) % 64) & 1 == 0 {
            return NOWHERE;
        }
        self.find(&text[start..end])
    }

    #[inline(always)]
    fn find(&self, key: &[u8]) -> u32 {
        if self.keys.len() > FEW {
            return self.find_among_many(key);
        }
        self.keys.iter().find(|(wanted, _)| text::same(wanted.as_bytes(), key)).map_or(NOWHERE, |(_, node)| *node)
    }

    #[inline(never)]
    fn find_among_many(&self, key: &[u8]) -> u32 {
        self.by_key.get(key).copied().unwrap_or(NOWHERE)
    }

    #[cold]
    fn escaped_member(&self, raw: &[u8]) -> u32 {
        // A trusted text may have any bytes here.
        if self.keys.len() > FEW
            && let Ok(raw) = core::str::from_utf8(raw)
        {
            let mut key = String::new();
            text::unescape(raw, &mut key);
            return self.find_among_many(key.as_bytes());
        }
        self.keys.iter().find(|(wanted, _)| text::eq_unescaped(raw, wanted)).map_or(NOWHERE, |(_, node)| *node)
    }

    fn element(&self, index: usize) -> u32 {
        self.indices.iter().find(|(wanted, _)| *wanted == index).map_or(NOWHERE, |(_, node)| *node)
    }
}

/// A value that was found: its range in the scanned text, a string's with its quotes, and its kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) kind: Option<Kind>,
    pub(crate) escaped: bool,
    start: u32,
    end: u32,
}

impl Slot {
    const MISSING: Self = Self { kind: None, escaped: false, start: 0, end: 0 };

    /// Texts are shorter than 2^32 bytes; the callers of the scan refuse longer ones.
    #[inline(always)]
    fn new(kind: Kind, escaped: bool, start: usize, end: usize) -> Self {
        Self { kind: Some(kind), escaped, start: start as u32, end: end as u32 }
    }

    /// The range of the value; empty if it is missing.
    #[inline(always)]
    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The kind of the first token of a record that was not scanned, and whose first byte is not white space; 0 if there
    /// is none.
    #[inline(always)]
    pub(crate) fn first_kind(record: &[u8]) -> u8 {
        match record.first() {
            Some(b'"') if memchr::memchr(b'\\', record).is_some() => b'"' | ESCAPED,
            first => first.copied().unwrap_or_default(),
        }
    }

    /// The record as a whole; `first` is the kind of its first token.
    #[inline(always)]
    pub(crate) fn whole(first: u8, start: usize, end: usize) -> Self {
        let kind = match first & !ESCAPED {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::String,
            b't' | b'f' => Kind::Bool,
            b'n' => Kind::Null,
            _ => Kind::Number,
        };
        Self::new(kind, first & ESCAPED != 0, start, end)
    }
}

/// Finds the wanted values of one record after the other.
#[derive(Debug)]
pub(crate) struct Select<'p> {
    projection: &'p Projection,
    found: Vec<Slot>,
    /// The record in which each node was last met, so that only the first member with a key counts.
    met: Vec<u64>,
    record: u64,
    here: Here,
    /// The node of the value that comes next in an object.
    next: u32,
    /// The number of slots that are still missing.
    missing: usize,
    /// The open objects while skimming, and the open containers while sweeping.
    open: Vec<Outer>,
    /// Whether a sweep goes by levels.
    brackets: bool,
}

/// An open container that contains wanted values, while skimming or sweeping.
#[derive(Clone, Copy, Debug)]
struct Outer {
    /// The node of the container around it.
    parent: u32,
    node: u32,
    start: u32,
    /// How many wanted keys of the parent were not met yet. Only sweeps count them.
    left: usize,
}

/// The innermost container.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here {
    /// Its node.
    node: u32,
    /// The index of the next element, in an array.
    index: u32,
    is_array: bool,
}

/// The state to restore when a container closes, and where the container begins.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    outside: Here,
    start: u32,
}

impl Default for Here {
    fn default() -> Self {
        Self { node: NOWHERE, index: 0, is_array: false }
    }
}

impl<'p> Select<'p> {
    pub(crate) fn new(projection: &'p Projection) -> Self {
        let outside = Here::default();
        let found = vec![Slot::MISSING; projection.slots()];
        let met = vec![0; projection.nodes.len()];
        Self {
            projection,
            found,
            met,
            record: 0,
            here: outside,
            next: 0,
            missing: projection.sought,
            open: Vec::new(),
            // Keys below the root's are wanted.
            brackets: projection.nodes.iter().skip(1).any(|node| !node.keys.is_empty()),
        }
    }

    /// Begins a record; `is_object` says whether its root is an object.
    #[inline(always)]
    pub(crate) fn begin(&mut self, is_object: bool) {
        self.found.fill(Slot::MISSING);
        self.record += 1;
        self.open.clear();
        self.here = Here::default();
        self.next = 0;
        self.missing = self.projection.sought;
        if !is_object {
            let root = &self.projection.nodes[0];
            self.next = root.keys.iter().find(|(key, _)| &**key == VALUE).map_or(NOWHERE, |(_, node)| *node);
        }
    }

    /// Whether [`Select::sweep`] may find the values of many lines sooner than one scan for their tokens does. It does not
    /// if it goes by levels.
    pub(crate) fn may_sweep(&self) -> bool {
        self.projection.has_only_keys && !self.brackets
    }

    #[cfg(jird_checked)]
    pub(crate) fn projection(&self) -> &'p Projection {
        self.projection
    }

    /// The slots of the record that was walked or skimmed.
    #[inline(always)]
    pub(crate) fn found(&self) -> &[Slot] {
        &self.found
    }

    /// Whether all wanted values were found.
    pub(crate) fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// The node of the next value.
    #[inline(always)]
    fn arrive(&mut self) -> u32 {
        if self.here.is_array && self.here.node != NOWHERE {
            let node = self.projection.nodes[self.here.node as usize].element(self.here.index as usize);
            self.here.index += 1;
            return node;
        }
        core::mem::replace(&mut self.next, NOWHERE)
    }

    #[inline(always)]
    fn scalar(&mut self, kind: Kind, escaped: bool, start: usize, end: usize) {
        let node = self.arrive();
        if node != NOWHERE {
            self.fill(node, Slot::new(kind, escaped, start, end));
        }
    }

    /// The node for a member of `node` whose key is the end of `text`; `NOWHERE` if the key is not wanted, or if an
    /// earlier member had it.
    #[inline(always)]
    fn meet(&mut self, node: u32, text: &[u8], start: usize, escaped: bool) -> u32 {
        let child = self.projection.nodes[node as usize].member(text, start, text.len(), escaped);
        let is_new = |met: &mut u64| core::mem::replace(met, self.record) != self.record;
        if child != NOWHERE && is_new(&mut self.met[child as usize]) { child } else { NOWHERE }
    }

    /// Whether the whole value at a node is wanted.
    #[inline(always)]
    fn awaits(&self, node: u32) -> bool {
        !self.projection.nodes[node as usize].slots.is_empty()
    }

    #[inline(always)]
    fn fill(&mut self, node: u32, slot: Slot) {
        for &wanted in &self.projection.nodes[node as usize].slots {
            self.found[wanted] = slot;
            self.missing = self.missing.saturating_sub(1);
        }
    }
}

impl<'p> Build for Select<'p> {
    type Mark = Mark;
    own_visitor!(Select<'p>);
}

impl Visitor for &mut Select<'_> {
    type Mark = Mark;

    #[inline(always)]
    fn key(&mut self, text: &[u8], start: usize, end: usize, escaped: bool) {
        if self.here.node == NOWHERE {
            return;
        }
        let node = self.projection.nodes[self.here.node as usize].member(text, start, end, escaped);
        if node != NOWHERE && self.met[node as usize] != self.record {
            self.met[node as usize] = self.record;
            self.next = node;
        }
    }

    #[inline(always)]
    fn string(&mut self, start: usize, end: usize, escaped: bool) {
        self.scalar(Kind::String, escaped, start - 1, end + 1);
    }

    #[inline(always)]
    fn number(&mut self, start: usize, end: usize, _class: Class) {
        self.scalar(Kind::Number, false, start, end);
    }

    #[inline(always)]
    fn literal(&mut self, start: usize, literal: Literal) {
        let kind = if literal == Literal::Null { Kind::Null } else { Kind::Bool };
        self.scalar(kind, false, start, start + literal.text().len());
    }

    #[inline(always)]
    fn open(&mut self, bracket: Bracket, start: usize) -> Mark {
        let node = self.arrive();
        let mark = Mark { outside: self.here, start: start as u32 };
        self.here = Here { node, index: 0, is_array: bracket == Bracket::Array };
        mark
    }

    #[inline(always)]
    fn close(&mut self, mark: Mark, bracket: Bracket, _count: u32, end: usize) {
        let node = self.here.node;
        self.here = mark.outside;
        if node != NOWHERE {
            let kind = if bracket == Bracket::Object { Kind::Object } else { Kind::Array };
            self.fill(node, Slot::new(kind, false, mark.start as usize, end));
        }
    }

    #[inline(always)]
    fn wants(&self) -> bool {
        self.here.node != NOWHERE
    }

    #[inline(always)]
    fn finish(self) {}
}
