//! The texts whose parts make the edited document: the document, patches, new values, and copies of what was edited.

use crate::tape::{Document, Value};
use std::sync::Arc;

/// A value of one of the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// The index of its text.
    pub(crate) text: usize,
    /// Its place in that document, as [`Document::place_of`] says.
    pub(crate) place: usize,
}

/// Documents that are borrowed or owned. The first is the one that is edited.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts<'a>(Vec<Source<'a>>);

#[derive(Clone, Debug)]
struct Source<'a> {
    document: Ownership<'a>,
    /// Whether its values are new in the edited document, so that they take its layout.
    is_new: bool,
}

#[derive(Clone, Debug)]
enum Ownership<'a> {
    Lent(&'a Document<'a>),
    /// Copies of an edited document share its texts.
    Own(Arc<Document<'a>>),
}

impl<'a> Texts<'a> {
    /// Adds a document, and returns the index of its text.
    pub(crate) fn lend(&mut self, document: &'a Document<'a>, is_new: bool) -> usize {
        self.add(Ownership::Lent(document), is_new)
    }

    /// Adds a document, and returns its root.
    pub(crate) fn own(&mut self, document: Document<'a>, is_new: bool) -> Leaf {
        Leaf { text: self.add(Ownership::Own(Arc::new(document)), is_new), place: 0 }
    }

    fn add(&mut self, document: Ownership<'a>, is_new: bool) -> usize {
        self.0.push(Source { document, is_new });
        self.0.len() - 1
    }

    /// Copies what is borrowed, and what other copies share.
    pub(super) fn into_owned(self) -> Texts<'static> {
        let owned = |source: Source<'a>| {
            let document = match source.document {
                Ownership::Lent(document) => document.to_owned(),
                Ownership::Own(document) => {
                    Arc::try_unwrap(document).map_or_else(|shared| Document::to_owned(&shared), Document::into_owned)
                }
            };
            Source { document: Ownership::Own(Arc::new(document)), is_new: source.is_new }
        };
        Texts(self.0.into_iter().map(owned).collect())
    }

    pub(crate) fn document(&self, text: usize) -> &Document<'_> {
        match &self.0[text].document {
            Ownership::Lent(document) => document,
            Ownership::Own(document) => document,
        }
    }

    pub(super) fn is_new(&self, text: usize) -> bool {
        self.0[text].is_new
    }

    pub(crate) fn value(&self, leaf: Leaf) -> Value<'_> {
        self.document(leaf.text).at_place(leaf.place).expect("leaves are made of values only")
    }

    pub(crate) fn bytes(&self, text: usize) -> &[u8] {
        self.document(text).text()
    }
}

/// Where a value ends in its text.
pub(super) fn end(value: Value<'_>) -> usize {
    value.offset() + value.raw().len()
}

/// A text that was made of parts of checked texts, cut at tokens, and of ASCII.
pub(crate) fn utf8(text: Vec<u8>) -> String {
    String::from_utf8(text).expect("checked texts are UTF-8, and tokens begin and end at characters")
}
