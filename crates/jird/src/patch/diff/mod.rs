//! The difference of two documents: for people, and as a patch.

mod align;
mod digest;
mod merging;

pub use merging::merge_diff;

use super::equal::{name, same_string};
use crate::edit::utf8;
use crate::message::{self, Step};
use crate::tape::{Document, Kind, Value};
use crate::text::writer::write_string;
use align::{Hunk, hunks};
use digest::{Digests, Secret, is_same, repeats_a_key};
use std::borrow::Cow;
use std::collections::HashMap;

/// Compares two documents: what must be removed, added and replaced in `old` to get a document that is equal to `new`, as
/// [`are_equal`](super::are_equal) says.
///
/// Of two objects, members with the same key are compared; of two arrays, a shortest list of insertions and removals is
/// found (Myers 1986), and an element that is removed where another one is inserted is compared with it. If such a list has
/// more than 1024 elements that both arrays have, in another order, the arrays are compared element by element. An object
/// with a repeated key is replaced as a whole.
///
/// Takes time and memory linear in the documents, besides the paths of what differs.
///
/// ```
/// use jird::patch::{ChangeKind, diff};
/// let old = jird::parse(br#"{"name": "jird", "legs": [1, 2, 4], "age": 1.0}"#)?;
/// let new = jird::parse(br#"{"name": "jird", "legs": [1, 2, 3, 4], "age": 2}"#)?;
/// let diff = diff(&old, &new);
/// let changes: Vec<_> = diff.changes().map(|change| (change.kind(), change.path)).collect();
/// assert_eq!(changes, [(ChangeKind::Replaced, "/age".to_owned()), (ChangeKind::Added, "/legs/2".to_owned())]);
/// let edited = jird::patch::apply(old.text(), diff.to_patch().as_bytes())?;
/// assert_eq!(edited, br#"{"name": "jird", "legs": [1, 2, 3, 4], "age": 2}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn diff<'d>(old: &'d Document<'d>, new: &'d Document<'d>) -> Diff<'d> {
    let secret = Secret::new();
    let [old_digests, new_digests] = [old, new].map(|document| Digests::of(document, secret));
    let mut differ =
        Differ { old: old_digests, new: new_digests, links: Vec::new(), edits: Vec::new(), open: Vec::new() };
    differ.compare(None, old.root(), new.root());
    while let Some((link, old, new)) = differ.open.pop() {
        let before = differ.open.len();
        match old.kind() {
            Kind::Array => differ.arrays(link, old, new),
            _ => differ.objects(link, old, new),
        }
        // The next one in the order of the document is taken from the end.
        differ.open[before..].reverse();
    }
    Diff { links: differ.links, edits: differ.edits }
}

/// What differs between two documents; [`diff`] makes it.
#[derive(Debug)]
pub struct Diff<'d> {
    links: Vec<Link<'d>>,
    edits: Vec<Edit<'d>>,
}

/// A difference of two documents.
#[derive(Clone, Debug)]
pub struct Change<'d> {
    /// Where it is, as a JSON Pointer: in the old document; for an added value, in the new one.
    pub path: String,
    /// The value in the old document; `None` if it was added.
    pub old: Option<Value<'d>>,
    /// The value in the new document; `None` if it was removed.
    pub new: Option<Value<'d>>,
}

/// What kind of difference it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// Only the new document has the value.
    Added,
    /// Only the old document has the value.
    Removed,
    /// Each document has a value.
    Replaced,
}

impl Change<'_> {
    /// What kind of difference it is.
    pub fn kind(&self) -> ChangeKind {
        match (&self.old, &self.new) {
            (None, _) => ChangeKind::Added,
            (Some(_), None) => ChangeKind::Removed,
            (Some(_), Some(_)) => ChangeKind::Replaced,
        }
    }
}

/// A step of a path. Paths that begin alike share their links.
#[derive(Debug)]
struct Link<'d> {
    above: Option<usize>,
    /// The key; `None` in an array.
    key: Option<Value<'d>>,
    /// The index in the old array, in the new one, and when the patch comes there.
    index: [usize; 3],
}

/// Which of the indexes of a link.
#[derive(Clone, Copy)]
enum Side {
    Old,
    New,
    Patch,
}

#[derive(Debug)]
struct Edit<'d> {
    link: Option<usize>,
    old: Option<Value<'d>>,
    new: Option<Value<'d>>,
}

impl<'d> Diff<'d> {
    /// Whether the documents are equal.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The number of differences.
    pub fn len(&self) -> usize {
        self.edits.len()
    }

    /// The differences: those of a container come before those of what is in it.
    pub fn changes(&self) -> impl Iterator<Item = Change<'d>> + '_ {
        self.edits.iter().map(|edit| {
            let side = if edit.old.is_some() { Side::Old } else { Side::New };
            Change { path: self.pointer(edit.link, side), old: edit.old, new: edit.new }
        })
    }

    /// The differences as a JSON Patch (RFC 6902), an operation in each line. Applied to the old document, it gives one that
    /// is equal to the new one.
    pub fn to_patch(&self) -> String {
        let mut out = Vec::new();
        for (at, edit) in self.edits.iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"[\n  {\"op\": \"" } else { b",\n  {\"op\": \"" });
            let verb: &[u8] = match (edit.old, edit.new) {
                (_, None) => b"remove",
                (None, Some(_)) => b"add",
                (Some(_), Some(_)) => b"replace",
            };
            out.extend_from_slice(verb);
            out.extend_from_slice(b"\", \"path\": ");
            write_string(&self.pointer(edit.link, Side::Patch), &mut out);
            if let Some(value) = edit.new {
                out.extend_from_slice(b", \"value\": ");
                out.extend_from_slice(&one_line(value));
            }
            out.push(b'}');
        }
        out.extend_from_slice(if self.is_empty() { b"[]" } else { b"\n]" });
        utf8(out)
    }

    /// A path as a JSON Pointer.
    fn pointer(&self, link: Option<usize>, side: Side) -> String {
        let mut steps = Vec::new();
        let mut at = link;
        while let Some(link) = at.map(|at| &self.links[at]) {
            steps.push(link);
            at = link.above;
        }
        let mut pointer = String::new();
        for (above, link) in steps.iter().enumerate().rev() {
            // Deeper operations come when those of the arrays around them are done.
            let side = if above > 0 && matches!(side, Side::Patch) { Side::New } else { side };
            let key = link.key.map(name);
            let step = key.as_ref().map_or(Step::Index(link.index[side as usize]), |key| Step::Key(key));
            let _ = message::write_step(&mut pointer, &step);
        }
        pointer
    }
}

/// A value's text, without white space between tokens if it has line breaks.
pub(super) fn one_line(value: Value<'_>) -> Cow<'_, [u8]> {
    let raw = value.raw();
    let small = || crate::layout::minify(raw).map_or(Cow::Borrowed(raw), Cow::Owned);
    if raw.contains(&b'\n') { small() } else { Cow::Borrowed(raw) }
}

/// Two documents, and what was found to differ.
struct Differ<'d> {
    old: Digests<'d>,
    new: Digests<'d>,
    links: Vec<Link<'d>>,
    edits: Vec<Edit<'d>>,
    /// Pairs of objects and of arrays that are not equal, and will be compared.
    open: Vec<(Option<usize>, Value<'d>, Value<'d>)>,
}

impl<'d> Differ<'d> {
    fn compare(&mut self, link: Option<usize>, old: Value<'d>, new: Value<'d>) {
        if self.is_same(old, new) {
            return;
        }
        let is_pair = match (old.kind(), new.kind()) {
            (Kind::Array, Kind::Array) => true,
            (Kind::Object, Kind::Object) => !repeats_a_key(old) && !repeats_a_key(new),
            _ => false,
        };
        if is_pair {
            self.open.push((link, old, new));
        } else {
            self.edits.push(Edit { link, old: Some(old), new: Some(new) });
        }
    }

    fn is_same(&self, old: Value<'d>, new: Value<'d>) -> bool {
        is_same((&self.old, old), (&self.new, new))
    }

    fn objects(&mut self, link: Option<usize>, old: Value<'d>, new: Value<'d>) {
        // Most objects have the same keys in the same order.
        let (mut olds, mut news) = (old.entries().peekable(), new.entries().peekable());
        while let (Some((key, value)), Some((other_key, other))) = (olds.peek().copied(), news.peek().copied()) {
            if !same_string(key, other_key) {
                break;
            }
            self.member(link, key, value, other);
            olds.next();
            news.next();
        }
        let news: Vec<_> = news.collect();
        let mut others: HashMap<Cow<'d, str>, Value<'d>> =
            news.iter().map(|(key, value)| (name(*key), *value)).collect();
        for (key, value) in olds {
            if let Some(other) = others.remove(&name(key)) {
                self.member(link, key, value, other);
            } else {
                let link = Some(self.link(Link { above: link, key: Some(key), index: [0; 3] }));
                self.edits.push(Edit { link, old: Some(value), new: None });
            }
        }
        for (key, value) in news.into_iter().filter(|(key, _)| others.contains_key(&name(*key))) {
            let link = Some(self.link(Link { above: link, key: Some(key), index: [0; 3] }));
            self.edits.push(Edit { link, old: None, new: Some(value) });
        }
    }

    /// Compares members with the same key.
    fn member(&mut self, link: Option<usize>, key: Value<'d>, old: Value<'d>, new: Value<'d>) {
        if !self.is_same(old, new) {
            let link = Some(self.link(Link { above: link, key: Some(key), index: [0; 3] }));
            self.compare(link, old, new);
        }
    }

    fn arrays(&mut self, link: Option<usize>, old: Value<'d>, new: Value<'d>) {
        let olds: Vec<_> = old.elements().collect();
        let news: Vec<_> = new.elements().collect();
        let old_digests: Vec<_> = olds.iter().map(|value| self.old.of_value(*value)).collect();
        let new_digests: Vec<_> = news.iter().map(|value| self.new.of_value(*value)).collect();
        let end = Hunk { old: olds.len()..olds.len(), new: news.len()..news.len() };
        let mut done = (0, 0);
        for Hunk { old, new } in hunks(&old_digests, &new_digests).into_iter().chain([end]) {
            for (at, other) in (done.0..old.start).zip(done.1..new.start) {
                // Equal digests, and almost always equal values.
                if !self.is_same(olds[at], news[other]) {
                    let link = Some(self.link(Link { above: link, key: None, index: [at, other, other] }));
                    self.compare(link, olds[at], news[other]);
                }
            }
            done = (old.end, new.end);
            for at in 0..old.len().max(new.len()) {
                let (value, other) = (olds[old.clone()].get(at), news[new.clone()].get(at));
                // What comes before was edited already; what is removed makes place for the next.
                let patch = new.start + at.min(new.len());
                let link =
                    Some(self.link(Link { above: link, key: None, index: [old.start + at, new.start + at, patch] }));
                match (value, other) {
                    (Some(old), Some(new)) => self.compare(link, *old, *new),
                    (old, new) => self.edits.push(Edit { link, old: old.copied(), new: new.copied() }),
                }
            }
        }
    }

    fn link(&mut self, link: Link<'d>) -> usize {
        self.links.push(link);
        self.links.len() - 1
    }
}
