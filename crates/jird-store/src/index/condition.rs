//! A predicate of the engine, made ready for indexes and columns.
//!
//! Predicates have three values: true, false and unknown. Indexes and columns answer a simpler question: may the
//! predicate be *true* of this record, or of some record of this block? To answer it, `not` is moved down to the
//! comparisons; then each of them asks whether it may be true, or whether it may be false, and unknown is neither. What
//! cannot be said is "may".

use super::facts::hash_of;
use super::grams::grams;
use super::hash::{self, Domain};
use super::kinds::FieldKinds;
use super::number::{self, Canonical};
use super::{DEPTH_MAX, SHORT_MAX};
use crate::search::Search;
use jird::Path;
use jird::record::{Comparison, Literal, Predicate, Projection, Step};
use std::iter;

/// Lists of more values than this are tested by kinds alone.
const LIST_MAX: usize = 256;

/// A predicate, made ready for [`SpanIndex`](super::SpanIndex) and [`Columns`](crate::column::Columns).
///
/// Making one takes about as long as making the predicate; it is shared by all spans and threads.
#[derive(Clone, Debug)]
pub struct Condition {
    root: Node,
    paths: Vec<Path>,
}

/// A part of a condition.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// Holds if all parts hold.
    All(Vec<Node>),
    /// Holds if any part holds.
    Any(Vec<Node>),
    Leaf(Box<Leaf>),
}

/// A comparison that is to be true, or is to be false.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// The comparison itself, over the slots of the condition.
    pub(crate) predicate: Predicate,
    /// Its wanted result.
    pub(crate) wanted: bool,
    /// What its one path must have.
    pub(crate) on: On,
    /// A second path, with whose kinds the first one's must have one in common.
    pub(crate) other: Option<usize>,
    /// Texts that a record must have.
    pub(crate) words: Option<Words>,
}

/// What a path must have.
#[derive(Clone, Debug)]
pub(crate) struct On {
    pub(crate) slot: usize,
    /// One of these kinds.
    pub(crate) kinds: FieldKinds,
    /// A number on this side of this one, if it has no other kind.
    pub(crate) range: Option<(Comparison, Vec<u8>)>,
    /// One of these pairs.
    pub(crate) pairs: Option<Vec<u64>>,
}

/// Texts; a record must have one of them.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    /// The hashes of the words of each text.
    pub(crate) texts: Vec<Vec<u64>>,
    /// A number that may match has not got its text among the words.
    pub(crate) unless_numbers: bool,
    /// They are those of a search, which finds more than the texts that stand in an event.
    pub(crate) of_search: bool,
}

impl Condition {
    /// A predicate whose slots are these paths. Nothing is known about a slot that is not among them.
    pub fn new(predicate: &Predicate, paths: &[Path]) -> Self {
        let projection = Projection::new(paths);
        Self { root: Compile { projection: &projection }.node(predicate, true), paths: paths.to_vec() }
    }

    pub(crate) fn root(&self) -> &Node {
        &self.root
    }

    /// Another condition on the same paths.
    pub(super) fn with_root(&self, root: Node) -> Self {
        Self { root, paths: self.paths.clone() }
    }

    /// The paths, by slot.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// The slots that it depends on, ascending.
    pub fn slots(&self) -> Vec<usize> {
        let mut slots = Vec::new();
        self.root.slots(&mut slots);
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}

impl Node {
    /// A part that never holds.
    pub(crate) const NEVER: Self = Self::Any(Vec::new());
    /// A part that always holds. Columns rely on it, so a part that only may hold has to be a leaf.
    pub(crate) const ALWAYS: Self = Self::All(Vec::new());

    fn slots(&self, out: &mut Vec<usize>) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.slots(out)),
            Self::Leaf(leaf) => out.extend(iter::once(leaf.on.slot).chain(leaf.other)),
        }
    }
}

/// The keys of a path that is indexed: one to [`DEPTH_MAX`] of them, and no indices.
pub(crate) fn keys(path: &Path) -> Option<Vec<&str>> {
    let keys: Option<Vec<&str>> =
        path.steps().iter().map(|step| if let Step::Key(key) = step { Some(&**key) } else { None }).collect();
    keys.filter(|keys| (1..=DEPTH_MAX).contains(&keys.len()))
}

struct Compile<'p> {
    projection: &'p Projection,
}

impl Compile<'_> {
    /// The part that holds if the predicate may be `wanted`.
    fn node(&self, predicate: &Predicate, wanted: bool) -> Node {
        let parts = |parts: &[Predicate]| parts.iter().map(|part| self.node(part, wanted)).collect();
        match predicate {
            Predicate::Not(inner) => self.node(inner, !wanted),
            Predicate::And(all) if wanted => Node::All(parts(all)),
            Predicate::And(all) => Node::Any(parts(all)),
            Predicate::Or(any) if wanted => Node::Any(parts(any)),
            Predicate::Or(any) => Node::All(parts(any)),
            Predicate::In { list, .. } if list.is_empty() => {
                if wanted {
                    Node::NEVER
                } else {
                    Node::ALWAYS
                }
            }
            leaf => self.leaf(leaf, wanted).map_or(Node::NEVER, |leaf| Node::Leaf(Box::new(leaf))),
        }
    }

    /// A comparison; `None` if it never has the wanted result.
    fn leaf(&self, predicate: &Predicate, wanted: bool) -> Option<Leaf> {
        use FieldKinds as Kinds;
        let on = |slot: usize, kinds: Kinds| On { slot, kinds, range: None, pairs: None };
        let (mut other, mut words) = (None, None);
        let on = match predicate {
            Predicate::Compare { slot, op, literal } => {
                let op = if wanted { *op } else { opposite(*op) };
                let is_text = op == Comparison::Eq && matches!(literal, Literal::Text(_));
                words = is_text.then(|| self.needles(predicate, false)).flatten();
                self.compare(*slot, op, literal)?
            }
            Predicate::CompareSlots { left, right, .. } => {
                other = Some(*right);
                on(*left, Kinds::ANY.without(Kinds::NULLS))
            }
            Predicate::In { slot, list } if wanted => {
                words = self.needles(predicate, false);
                self.any_of(*slot, list)?
            }
            // It is false only if it is false of each value: all of them must be of the field's kind.
            Predicate::In { slot, list } => {
                on(*slot, list.iter().fold(Kinds::ANY, |kinds, literal| kinds.and(kinds_like(literal))))
            }
            // Its values are of any kind.
            Predicate::Json { slot, test } => {
                words = test.hint::<Search>().filter(|_| wanted).and_then(search_words);
                on(*slot, Kinds::ANY.without(Kinds::NULLS))
            }
            Predicate::IsNull { slot } => {
                on(*slot, if wanted { Kinds::NULLS } else { Kinds::ANY.without(Kinds::NULLS) })
            }
            Predicate::Like { slot, .. } => {
                words = wanted.then(|| self.needles(predicate, false)).flatten();
                on(*slot, Kinds::STRING)
            }
            Predicate::Matches { slot, matcher } => {
                let numbers = matcher.takes_numbers();
                words = wanted.then(|| self.needles(predicate, numbers)).flatten();
                on(*slot, if numbers { Kinds::STRING.with(Kinds::NUMBER) } else { Kinds::STRING })
            }
            Predicate::Truth { slot } => on(*slot, if wanted { Kinds::TRUE } else { Kinds::FALSE }),
            Predicate::And(_) | Predicate::Or(_) | Predicate::Not(_) => unreachable!("they are no leaves"),
        };
        if on.kinds.is_empty() {
            return None;
        }
        Some(Leaf { predicate: predicate.clone(), wanted, on, other, words })
    }

    fn compare(&self, slot: usize, op: Comparison, literal: &Literal) -> Option<On> {
        let range = match literal {
            Literal::Number(token) => {
                let mut key = Vec::new();
                number::order_key(token.as_bytes(), &mut key);
                // A constant that is not a number compares in no way that is promised.
                Some((op, key)).filter(|(_, key)| !key.is_empty())
            }
            _ => None,
        };
        let kinds = match literal {
            Literal::Bool(wanted) => {
                let holds = |value: bool, kind| if op.holds(value.cmp(wanted)) { kind } else { FieldKinds::NONE };
                holds(false, FieldKinds::FALSE).with(holds(true, FieldKinds::TRUE))
            }
            literal => kinds_like(literal),
        };
        if kinds.is_empty() {
            return None;
        }
        let pair = if op == Comparison::Eq { self.pair(slot, literal) } else { None };
        Some(On { slot, kinds, range, pairs: pair.map(|pair| vec![pair]) })
    }

    /// A value that equals one of a list.
    fn any_of(&self, slot: usize, list: &[Literal]) -> Option<On> {
        // No value equals null.
        let list: Vec<&Literal> = list.iter().filter(|literal| **literal != Literal::Null).collect();
        let all = list.iter().map(|literal| self.compare(slot, Comparison::Eq, literal));
        let kinds = all.flatten().fold(FieldKinds::NONE, |kinds, on| kinds.with(on.kinds));
        let pairs =
            if list.len() > LIST_MAX { None } else { list.iter().map(|literal| self.pair(slot, literal)).collect() };
        (!kinds.is_empty()).then_some(On { slot, kinds, range: None, pairs })
    }

    /// The pair of a path that is indexed and a value that is a number or a short text.
    fn pair(&self, slot: usize, literal: &Literal) -> Option<u64> {
        let path = hash_of(keys(self.projection.paths().get(slot)?)?);
        match literal {
            Literal::Number(token) => {
                let token = token.as_bytes();
                jird::Number::new(std::str::from_utf8(token).ok()?)?;
                Some(number::hash(path, token, Canonical::of(token), &mut Vec::new()))
            }
            Literal::Text(text) if text.len() <= SHORT_MAX => Some(hash::value(path, Domain::Text, text.as_bytes())),
            _ => None,
        }
    }

    /// The words of the texts that the engine searches for.
    fn needles(&self, predicate: &Predicate, unless_numbers: bool) -> Option<Words> {
        let texts = predicate.literals(self.projection);
        let texts: Vec<Vec<u64>> = texts.iter().map(|text| word_hashes(iter::once(text.as_str()))).collect();
        // A text without words may be anywhere.
        let known = !texts.is_empty() && texts.iter().all(|words| !words.is_empty());
        known.then_some(Words { texts, unless_numbers, of_search: false })
    }
}

/// The words that an event must have for a search.
fn search_words(search: &Search) -> Option<Words> {
    let words = word_hashes(search.words());
    (!words.is_empty()).then(|| Words { texts: vec![words], unless_numbers: false, of_search: true })
}

/// The hashes of the words of some texts, ascending.
fn word_hashes<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<u64> {
    let mut hashes: Vec<u64> =
        texts.flat_map(|text| grams(text.as_bytes())).map(|gram| hash::word(u64::from(gram))).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// The kinds of values with which a constant's comparison is known.
fn kinds_like(literal: &Literal) -> FieldKinds {
    match literal {
        Literal::Null => FieldKinds::NONE,
        Literal::Bool(_) => FieldKinds::BOOLS,
        Literal::Number(_) => FieldKinds::NUMBER,
        Literal::Text(_) => FieldKinds::STRING,
        Literal::Container(_) => FieldKinds::ARRAY.with(FieldKinds::OBJECT),
    }
}

pub(super) fn opposite(op: Comparison) -> Comparison {
    match op {
        Comparison::Eq => Comparison::Ne,
        Comparison::Ne => Comparison::Eq,
        Comparison::Lt => Comparison::Ge,
        Comparison::Le => Comparison::Gt,
        Comparison::Gt => Comparison::Le,
        Comparison::Ge => Comparison::Lt,
    }
}
