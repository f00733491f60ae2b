//! The elements of an array while it is edited: runs of elements as they were, and new ones between them.
//!
//! It is a treap (Seidel & Aragon, "Randomized Search Trees", Algorithmica 16, 1996), ordered by position: a binary tree
//! that is also a heap of random priorities. So with `n` pieces every operation takes `O(log n)` steps on average,
//! whichever elements are edited, and recursion is as deep. An input cannot know the priorities.

use std::hash::{BuildHasher, RandomState};

/// Elements that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stretch<T> {
    /// The elements `from..to` of the array as it was.
    Run { from: usize, to: usize },
    /// Another element, and the index of the one in whose place it is; `None` if it was inserted.
    New { value: T, origin: Option<usize> },
}

impl<T> Stretch<T> {
    fn len(&self) -> usize {
        match self {
            Self::Run { from, to } => to - from,
            Self::New { .. } => 1,
        }
    }
}

/// The element at an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element<T> {
    /// As it was, at this index.
    Origin(usize),
    New(T),
}

#[derive(Clone, Debug)]
pub(super) struct Sequence<T> {
    knots: Vec<Knot<T>>,
    /// Knots that were removed.
    free: Vec<usize>,
    root: Option<usize>,
    priorities: Priorities,
}

#[derive(Clone, Debug)]
struct Knot<T> {
    left: Option<usize>,
    right: Option<usize>,
    priority: u64,
    /// The number of elements of this knot and of all below it.
    len: usize,
    piece: Stretch<T>,
}

impl<T: Copy> Sequence<T> {
    /// `len` elements as they were.
    pub(super) fn new(len: usize) -> Self {
        let mut sequence = Self { knots: Vec::new(), free: Vec::new(), root: None, priorities: Priorities::new() };
        if len > 0 {
            sequence.root = Some(sequence.knot(Stretch::Run { from: 0, to: len }));
        }
        sequence
    }

    pub(super) fn len(&self) -> usize {
        self.len_of(self.root)
    }

    /// The element at `index`, which must be less than [`len`](Self::len).
    pub(super) fn get(&self, mut index: usize) -> Element<T> {
        let mut at = self.root;
        loop {
            let knot = &self.knots[at.expect("the index is less than the length")];
            let before = self.len_of(knot.left);
            if index < before {
                at = knot.left;
            } else if index < before + knot.piece.len() {
                return match knot.piece {
                    Stretch::Run { from, .. } => Element::Origin(from + index - before),
                    Stretch::New { value, .. } => Element::New(value),
                };
            } else {
                index -= before + knot.piece.len();
                at = knot.right;
            }
        }
    }

    /// Puts `value` in the place of the element at `index`.
    pub(super) fn put(&mut self, index: usize, value: T) {
        let (before, element, after) = self.cut_out(index);
        let origin = match self.knots[element].piece {
            Stretch::Run { from, .. } => Some(from),
            Stretch::New { origin, .. } => origin,
        };
        self.knots[element].piece = Stretch::New { value, origin };
        let after = self.join(Some(element), after);
        self.root = self.join(before, after);
    }

    /// Inserts elements before the one at `index`, or at the end.
    pub(super) fn insert(&mut self, index: usize, piece: Stretch<T>) {
        let (before, after) = self.split(self.root, index);
        let new = self.knot(piece);
        let after = self.join(Some(new), after);
        self.root = self.join(before, after);
    }

    /// Removes the element at `index`, and returns it.
    pub(super) fn remove(&mut self, index: usize) -> Stretch<T> {
        let (before, element, after) = self.cut_out(index);
        self.root = self.join(before, after);
        self.free.push(element);
        self.knots[element].piece
    }

    /// All pieces in order.
    pub(super) fn pieces(&self) -> Vec<Stretch<T>> {
        let (mut pieces, mut open, mut at) = (Vec::new(), Vec::new(), self.root);
        loop {
            if let Some(knot) = at {
                open.push(knot);
                at = self.knots[knot].left;
            } else if let Some(knot) = open.pop() {
                pieces.push(self.knots[knot].piece);
                at = self.knots[knot].right;
            } else {
                return pieces;
            }
        }
    }

    /// The trees before and after the element at `index`, and the knot with that element alone.
    fn cut_out(&mut self, index: usize) -> (Option<usize>, usize, Option<usize>) {
        let (before, rest) = self.split(self.root, index);
        let (element, after) = self.split(rest, 1);
        (before, element.expect("the index is less than the length"), after)
    }

    fn knot(&mut self, piece: Stretch<T>) -> usize {
        let priority = self.priorities.next();
        let knot = Knot { left: None, right: None, priority, len: piece.len(), piece };
        if let Some(at) = self.free.pop() {
            self.knots[at] = knot;
            return at;
        }
        self.knots.push(knot);
        self.knots.len() - 1
    }

    fn len_of(&self, at: Option<usize>) -> usize {
        at.map_or(0, |at| self.knots[at].len)
    }

    fn count(&mut self, at: usize) {
        let knot = &self.knots[at];
        self.knots[at].len = self.len_of(knot.left) + knot.piece.len() + self.len_of(knot.right);
    }

    /// Takes a tree apart: into its first `len` elements, and the others.
    fn split(&mut self, at: Option<usize>, len: usize) -> (Option<usize>, Option<usize>) {
        let Some(root) = at else { return (None, None) };
        let knot = &self.knots[root];
        let (left, right, before, own) = (knot.left, knot.right, self.len_of(knot.left), knot.piece.len());
        if len <= before {
            let (first, rest) = self.split(left, len);
            self.knots[root].left = rest;
            self.count(root);
            return (first, Some(root));
        }
        if len >= before + own {
            let (first, rest) = self.split(right, len - before - own);
            self.knots[root].right = first;
            self.count(root);
            return (Some(root), rest);
        }
        if let Stretch::Run { from, to } = knot.piece {
            let middle = from + len - before;
            self.knots[root].piece = Stretch::Run { from, to: middle };
            self.knots[root].right = None;
            self.count(root);
            let rest = self.knot(Stretch::Run { from: middle, to });
            return (Some(root), self.join(Some(rest), right));
        }
        unreachable!("a new element is one, and cannot be taken apart")
    }

    /// One tree of two, the first before the second.
    fn join(&mut self, first: Option<usize>, second: Option<usize>) -> Option<usize> {
        let (Some(one), Some(other)) = (first, second) else { return first.or(second) };
        if self.knots[one].priority >= self.knots[other].priority {
            self.knots[one].right = self.join(self.knots[one].right, second);
            self.count(one);
            Some(one)
        } else {
            self.knots[other].left = self.join(first, self.knots[other].left);
            self.count(other);
            Some(other)
        }
    }
}

/// Random numbers by `SplitMix64` (Steele, Lea & Flood, OOPSLA 2014), from a random start.
#[derive(Clone, Debug)]
struct Priorities(u64);

impl Priorities {
    fn new() -> Self {
        Self(RandomState::new().hash_one(0))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The elements of a sequence, one by one.
    fn elements(sequence: &Sequence<u16>) -> Vec<Element<u16>> {
        let of_piece = |piece| match piece {
            Stretch::Run { from, to } => (from..to).map(Element::Origin).collect::<Vec<_>>(),
            Stretch::New { value, .. } => vec![Element::New(value)],
        };
        sequence.pieces().into_iter().flat_map(of_piece).collect()
    }

    proptest! {
        #[test]
        fn a_sequence_is_edited_as_a_vector_is(
            len in 0_usize..20,
            edits in prop::collection::vec((0_u8..3, any::<prop::sample::Index>(), any::<u16>()), 0..60),
        ) {
            let mut sequence = Sequence::new(len);
            let mut model: Vec<_> = (0..len).map(Element::Origin).collect();
            for (edit, index, value) in edits {
                match edit {
                    0 => {
                        let at = index.index(model.len() + 1);
                        sequence.insert(at, Stretch::New { value, origin: None });
                        model.insert(at, Element::New(value));
                    }
                    _ if model.is_empty() => {}
                    1 => {
                        let at = index.index(model.len());
                        let removed = sequence.remove(at);
                        let was = model.remove(at);
                        if value % 2 == 0 {
                            sequence.insert(at, removed);
                            model.insert(at, was);
                        }
                    }
                    _ => {
                        let at = index.index(model.len());
                        sequence.put(at, value);
                        model[at] = Element::New(value);
                    }
                }
                prop_assert_eq!(sequence.len(), model.len());
                for (at, element) in model.iter().enumerate() {
                    prop_assert_eq!(sequence.get(at), *element);
                }
            }
            prop_assert_eq!(elements(&sequence), model);
        }
    }

    #[test]
    fn many_edits_at_one_place_make_no_deep_tree() {
        let mut sequence = Sequence::new(0);
        for value in 0..200_000 {
            sequence.insert(0, Stretch::New { value: value as u16, origin: None });
        }
        assert_eq!(sequence.len(), 200_000);
        assert_eq!(sequence.get(0), Element::New(199_999_u32 as u16));
    }
}
