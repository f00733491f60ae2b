//! The words that a search finds in an event beside those of its texts and keys.
//!
//! A search looks at the message that a template makes of the event's properties, and folds letters. Where no letter or
//! digit of a property can touch one of the template, all words of a message are words of the event's texts, and nothing is
//! to be done. Other messages are rendered, and their words are added. Templates anywhere but at the root, which a search
//! of a single field would find, are not worth that: the words of such a block are not those of a search.

use super::grams::Grams;
use super::hash;
use crate::search::{TEMPLATES, fold_into, folds_into_ascii, messages, sets_holes_apart};
use jird::Parser;

/// What has been found of templates.
pub(crate) struct Messages {
    paths: [u64; TEMPLATES.len()],
    /// The event has a template, and its holes are apart from its words.
    has_template: bool,
    is_apart: bool,
    /// Some event of the block has a template that is not at its root.
    has_others: bool,
    parser: Parser,
    folded: String,
}

impl Messages {
    pub(crate) fn new() -> Self {
        Self {
            paths: TEMPLATES.map(|name| hash::child(hash::ROOT, name.as_bytes())),
            has_template: false,
            is_apart: true,
            has_others: false,
            parser: Parser::new(),
            folded: String::new(),
        }
    }

    /// A text at a path.
    #[inline]
    pub(crate) fn text(&mut self, path: u64, content: &[u8]) {
        if self.paths.contains(&path) {
            self.has_template = true;
            self.is_apart &= std::str::from_utf8(content).is_ok_and(sets_holes_apart);
        }
    }

    /// A key that is not at the root, or a text in an array.
    #[inline]
    pub(crate) fn inner_key(&mut self, key: &[u8]) {
        self.has_others |= TEMPLATES.iter().any(|name| name.as_bytes() == key);
    }

    /// Adds the words of the event's message that none of its texts has.
    #[inline]
    pub(crate) fn end_event(&mut self, event: &[u8], grams: &mut Grams) {
        if !self.has_template {
            return;
        }
        // In JSON within a message, escapes touch letters.
        if !self.is_apart || memchr::memchr(b'\\', event).is_some() {
            self.render(event, grams);
        }
        (self.has_template, self.is_apart) = (false, true);
    }

    #[cold]
    fn render(&mut self, event: &[u8], grams: &mut Grams) {
        let Self { parser, folded, has_others, .. } = self;
        let Ok(event) = parser.parse(event) else {
            *has_others = true;
            return;
        };
        messages(event, &mut String::new(), |message| {
            grams.add(message.as_bytes());
            add_folded(message, folded, grams);
        });
    }

    /// Adds the words of a text that has them only when letters are folded.
    #[inline]
    pub(crate) fn fold(&mut self, content: &[u8], grams: &mut Grams) {
        if !content.is_ascii()
            && let Ok(text) = std::str::from_utf8(content)
        {
            add_folded(text, &mut self.folded, grams);
        }
    }

    /// Whether the block's words are all that a search finds in it. Begins the next block.
    pub(crate) fn end_block(&mut self) -> bool {
        !std::mem::take(&mut self.has_others)
    }
}

fn add_folded(text: &str, folded: &mut String, grams: &mut Grams) {
    if folds_into_ascii(text) {
        folded.clear();
        fold_into(text, folded);
        grams.add(folded.as_bytes());
    }
}
