//! An array that is edited: its elements as they were, by index, and others between them.

use super::content::Content;
use super::sequence::{Element, Sequence, Stretch};
use super::texts::{Leaf, Texts};
use std::sync::OnceLock;

/// The place of every element whose index is a multiple of this is remembered; the others are found from there.
const STEP: usize = 64;

/// The edits of an array. Its text stays as it is.
#[derive(Clone, Debug)]
pub(crate) struct ArrayEdits {
    pub(super) source: Leaf,
    source_len: usize,
    /// The place of the first element.
    first: usize,
    elements: Sequence<Content>,
    /// The places of the elements 0, 64, 128 and so on, if one after the 64th was wanted.
    marks: OnceLock<Vec<usize>>,
}

impl ArrayEdits {
    pub(super) fn new(source: Leaf, texts: &Texts<'_>) -> Self {
        let array = texts.value(source);
        let first = array.elements().next().map_or(0, |first| texts.document(source.text).place_of(first));
        let elements = Sequence::new(array.len());
        Self { source, source_len: array.len(), first, elements, marks: OnceLock::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.elements.len()
    }

    /// The element at an index, which must be less than [`len`](Self::len).
    pub(super) fn content(&self, texts: &Texts<'_>, index: usize) -> Content {
        match self.elements.get(index) {
            Element::New(content) => content,
            Element::Origin(origin) => Content::Plain(self.leaf(texts, origin)),
        }
    }

    pub(super) fn put(&mut self, index: usize, content: Content) {
        self.elements.put(index, content);
    }

    pub(super) fn insert(&mut self, index: usize, content: Content) {
        self.elements.insert(index, Stretch::New { value: content, origin: None });
    }

    /// Removes an element, and returns what [`put_back`](Self::put_back) takes.
    pub(super) fn remove(&mut self, index: usize) -> Stretch<Content> {
        self.elements.remove(index)
    }

    pub(super) fn put_back(&mut self, index: usize, removed: Stretch<Content>) {
        self.elements.insert(index, removed);
    }

    pub(super) fn pieces(&self) -> Vec<Stretch<Content>> {
        self.elements.pieces()
    }

    /// The number of elements that the array had at first.
    pub(super) fn source_len(&self) -> usize {
        self.source_len
    }

    /// The element that had this index at first, which must be less than [`source_len`](Self::source_len). Takes up to 64
    /// steps, and once as many as the array has elements.
    pub(super) fn leaf(&self, texts: &Texts<'_>, origin: usize) -> Leaf {
        debug_assert!(origin < self.source_len);
        let near = if origin < STEP { self.first } else { self.marks(texts)[origin / STEP] };
        let document = texts.document(self.source.text);
        let next = |place| document.at_place(place).map_or(place, |value| document.place_behind(value));
        Leaf { place: (0..origin % STEP).fold(near, |place, _| next(place)), ..self.source }
    }

    fn marks(&self, texts: &Texts<'_>) -> &[usize] {
        self.marks.get_or_init(|| {
            let document = texts.document(self.source.text);
            texts.value(self.source).elements().step_by(STEP).map(|element| document.place_of(element)).collect()
        })
    }
}
