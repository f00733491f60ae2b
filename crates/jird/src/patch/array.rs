//! An array that is edited: its elements as they were, by index, and others between them.

use super::content::Content;
use super::sequence::{Element, Sequence, Stretch};
use super::texts::{Leaf, Texts};

/// The place of every element whose index is a multiple of this is remembered; the others are found from there.
const STEP: usize = 64;

/// The edits of an array. Its text stays as it is.
#[derive(Debug)]
pub(super) struct ArrayEdits {
    pub(super) source: Leaf,
    source_len: usize,
    elements: Sequence<Content>,
    /// The places of the elements 0, 64, 128 and so on, as far as they were needed.
    marks: Vec<usize>,
}

impl ArrayEdits {
    pub(super) fn new(source: Leaf, texts: &Texts<'_>) -> Self {
        let array = texts.value(source);
        let first = array.elements().next().map(|first| texts.document(source.text).place_of(first));
        Self {
            source,
            source_len: array.len(),
            elements: Sequence::new(array.len()),
            marks: first.into_iter().collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.elements.len()
    }

    /// The element at an index, which must be less than [`len`](Self::len).
    pub(super) fn content(&mut self, texts: &Texts<'_>, index: usize) -> Content {
        match self.elements.get(index) {
            Element::New(content) => content,
            Element::Origin(origin) => {
                self.mark(texts, origin);
                Content::Plain(self.leaf(texts, origin))
            }
        }
    }

    pub(super) fn put(&mut self, texts: &Texts<'_>, index: usize, content: Content) {
        self.mark_element(texts, index);
        self.elements.put(index, content);
    }

    pub(super) fn insert(&mut self, texts: &Texts<'_>, index: usize, content: Content) {
        self.mark_element(texts, index);
        self.elements.insert(index, content);
    }

    pub(super) fn remove(&mut self, texts: &Texts<'_>, index: usize) {
        self.mark_element(texts, index);
        self.elements.remove(index);
    }

    pub(super) fn pieces(&self) -> Vec<Stretch<Content>> {
        self.elements.pieces()
    }

    /// The number of elements that the array had at first.
    pub(super) fn source_len(&self) -> usize {
        self.source_len
    }

    /// The element that had this index at first, which must be less than [`source_len`](Self::source_len). Takes up to 64
    /// steps if the array was edited there.
    pub(super) fn leaf(&self, texts: &Texts<'_>, origin: usize) -> Leaf {
        debug_assert!(origin < self.source_len);
        let document = texts.document(self.source.text);
        let nearest = (origin / STEP).min(self.marks.len() - 1);
        let next = |place| document.at_place(place).map_or(place, |value| document.place_behind(value));
        let place = (nearest * STEP..origin).fold(self.marks[nearest], |place, _| next(place));
        Leaf { place, ..self.source }
    }

    /// Remembers places as far as the element that had this index at first.
    fn mark(&mut self, texts: &Texts<'_>, origin: usize) {
        while self.marks.len() <= origin / STEP {
            let next = self.leaf(texts, self.marks.len() * STEP);
            self.marks.push(next.place);
        }
    }

    /// Remembers places as far as the element at this index, if there is one: a run of elements will begin or end there.
    fn mark_element(&mut self, texts: &Texts<'_>, index: usize) {
        if index < self.len()
            && let Element::Origin(origin) = self.elements.get(index)
        {
            self.mark(texts, origin);
        }
    }
}
