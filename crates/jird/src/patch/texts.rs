//! The texts whose parts make the edited document: the document, patches, new values, and copies of what was edited.

use crate::tape::{Document, Value};

/// A value of one of the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// The index of its text.
    pub(super) text: usize,
    /// Its place in that document, as [`Document::place_of`] says.
    pub(super) place: usize,
}

/// Documents that the editor borrows or owns.
#[derive(Debug, Default)]
pub(super) struct Texts<'a>(Vec<Source<'a>>);

#[derive(Debug)]
struct Source<'a> {
    document: Ownership<'a>,
    /// Whether its values are new in the edited document, so that they take its layout.
    is_new: bool,
}

#[derive(Debug)]
enum Ownership<'a> {
    Lent(&'a Document<'a>),
    Own(Document<'static>),
}

impl<'a> Texts<'a> {
    /// Adds a document, and returns the index of its text.
    pub(super) fn lend(&mut self, document: &'a Document<'a>, is_new: bool) -> usize {
        self.0.push(Source { document: Ownership::Lent(document), is_new });
        self.0.len() - 1
    }

    /// Adds a document, and returns its root.
    pub(super) fn own(&mut self, document: Document<'static>, is_new: bool) -> Leaf {
        self.0.push(Source { document: Ownership::Own(document), is_new });
        Leaf { text: self.0.len() - 1, place: 0 }
    }

    pub(super) fn document(&self, text: usize) -> &Document<'_> {
        match &self.0[text].document {
            Ownership::Lent(document) => document,
            Ownership::Own(document) => document,
        }
    }

    pub(super) fn is_new(&self, text: usize) -> bool {
        self.0[text].is_new
    }

    pub(super) fn value(&self, leaf: Leaf) -> Value<'_> {
        self.document(leaf.text).at_place(leaf.place).expect("leaves are made of values only")
    }

    pub(super) fn bytes(&self, text: usize) -> &[u8] {
        self.document(text).text()
    }
}

/// Where a value ends in its text.
pub(super) fn end(value: Value<'_>) -> usize {
    value.offset() + value.raw().len()
}

/// A text that was made of parts of checked texts, cut at tokens, and of ASCII.
pub(super) fn utf8(text: Vec<u8>) -> String {
    String::from_utf8(text).expect("checked texts are UTF-8, and tokens begin and end at characters")
}
