//! Full-text search: events that contain words and phrases, in any field and in the rendered message.
//!
//! A text is any string of an event but a key, a number as it is written, and what a message template makes of the
//! event's properties (`Order {Number}`, messagetemplates.org). A term is found in a text as a part of it, whatever the
//! case of its letters. All terms must be found, each in any of the texts.
//!
//! Most events are ruled out by their raw bytes. That is sound for those without escapes, templates and letters beyond
//! ASCII; all others are read.

mod template;

use jird::record::JsonTest;
use jird::{Kind, Parser, Value};
use memchr::{memchr, memmem};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use template::{TEMPLATES, render};

/// The most characters and terms of a search: the time grows with them.
const CHARACTERS_MAX: usize = 1000;
const TERMS_MAX: usize = 32;

/// Words and phrases that are searched for.
///
/// ```
/// let search = jird_store::Search::new(r#"order "timed out""#)?.expect("there are words");
/// let mut matcher = search.matcher();
/// assert!(matcher.holds(br#"{"@mt":"{What} {Number} timed out","What":"Order","Number":4711}"#));
/// assert!(!matcher.holds(br#"{"@mt":"{What} was out, timed by us","What":"Order"}"#));
/// # Ok::<(), jird_store::SearchError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Search {
    terms: Arc<[Term]>,
}

/// A search that would take too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchError(String);

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SearchError {}

impl Search {
    /// Reads words, and phrases in double quotes. `None`: there are none, so that all events have them.
    ///
    /// # Errors
    /// If there are more than 1,000 characters or 32 words and phrases.
    pub fn new(text: &str) -> Result<Option<Self>, SearchError> {
        if text.chars().count() > CHARACTERS_MAX {
            return Err(SearchError(format!("a search has at most {CHARACTERS_MAX} characters")));
        }
        // A quote that is not closed lasts to the end.
        let parts = text.split('"').enumerate();
        let words = parts.flat_map(|(number, part)| {
            let (words, phrase) = if number.is_multiple_of(2) { (part, "") } else { ("", part) };
            words.split_whitespace().chain((!phrase.is_empty()).then_some(phrase))
        });
        let terms: Vec<_> = words.map(Term::new).collect();
        if terms.len() > TERMS_MAX {
            return Err(SearchError(format!("a search has at most {TERMS_MAX} words and phrases")));
        }
        Ok((!terms.is_empty()).then(|| Self { terms: terms.into() }))
    }

    /// What decides about events, one after the other.
    pub fn matcher(&self) -> Matcher {
        let terms = Arc::clone(&self.terms);
        Matcher { terms, parser: Parser::new(), message: String::new(), scratch: String::new() }
    }

    /// The search as a test of a predicate: of a whole record, or of any value in it.
    pub fn test(&self) -> JsonTest {
        let locked = Locked { search: self.clone(), matcher: Mutex::new(self.matcher()) };
        JsonTest::new(move |json| locked.holds(json))
    }
}

/// A matcher for a test, whose clones have matchers of their own.
struct Locked {
    search: Search,
    matcher: Mutex<Matcher>,
}

impl Locked {
    fn holds(&self, json: &str) -> bool {
        self.matcher.lock().unwrap_or_else(PoisonError::into_inner).holds(json.as_bytes())
    }
}

impl Clone for Locked {
    fn clone(&self) -> Self {
        Self { search: self.search.clone(), matcher: Mutex::new(self.search.matcher()) }
    }
}

/// A word or a phrase, in folded letters.
#[derive(Debug)]
struct Term {
    finder: memmem::Finder<'static>,
    is_ascii: bool,
}

impl Term {
    fn new(text: &str) -> Self {
        let mut folded = String::new();
        fold_into(text, &mut folded);
        Self { finder: memmem::Finder::new(folded.as_bytes()).into_owned(), is_ascii: folded.is_ascii() }
    }

    fn is_in(&self, folded: &[u8]) -> bool {
        self.finder.find(folded).is_some()
    }
}

/// Crosses out the terms that are in a text.
fn cross_out(missing: &mut Vec<&Term>, text: &str, scratch: &mut String) {
    scratch.clear();
    fold_into(text, scratch);
    missing.retain(|term| !term.is_in(scratch.as_bytes()));
}

/// Appends a text in which letters that differ only in their case are the same, in any script. Taking the lower case of
/// the upper case of the lower case also makes one of `ς` and `σ`, and of `ẞ`, `ß` and `ss`.
fn fold_into(text: &str, folded: &mut String) {
    if text.is_ascii() {
        let begin = folded.len();
        folded.push_str(text);
        folded[begin..].make_ascii_lowercase();
        return;
    }
    for char in text.chars() {
        if char.is_ascii() {
            folded.push(char.to_ascii_lowercase());
        } else {
            folded.extend(char.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase));
        }
    }
}

/// Decides about one event after the other. Its buffers are kept from one to the next.
#[derive(Debug)]
pub struct Matcher {
    terms: Arc<[Term]>,
    parser: Parser,
    message: String,
    scratch: String,
}

impl Matcher {
    /// Whether a line of these may have all terms; if not, none of them needs a look.
    pub fn may_be_in(&mut self, lines: &[u8]) -> bool {
        !is_plain(lines) || has_all(self.terms.iter(), lines, &mut self.scratch)
    }

    /// Whether an event, or any other JSON text, has all terms. What is not JSON has none.
    pub fn holds(&mut self, event: &[u8]) -> bool {
        if !self.may_be_in(event) {
            return false;
        }
        let Self { terms, parser, message, scratch } = self;
        let Ok(root) = parser.parse(event) else { return false };
        let mut missing: Vec<&Term> = terms.iter().collect();
        messages(root, message, |text| cross_out(&mut missing, text, scratch));
        // All other texts are in the bytes as they are.
        if is_literal(event) && !has_all(missing.iter().copied(), event, scratch) {
            return false;
        }
        let mut values = vec![root];
        let mut decoded = String::new();
        while !missing.is_empty()
            && let Some(value) = values.pop()
        {
            match value.kind() {
                Kind::Object => values.extend(value.entries().map(|(_, value)| value)),
                Kind::Array => values.extend(value.elements()),
                Kind::String => {
                    let text = value.str_in(&mut decoded).unwrap_or_default();
                    cross_out(&mut missing, text, scratch);
                }
                Kind::Number => cross_out(&mut missing, value.raw_str().unwrap_or_default(), scratch),
                _ => {}
            }
        }
        missing.is_empty()
    }
}

/// Whether lines in ASCII have all these terms.
fn has_all<'t>(mut terms: impl Iterator<Item = &'t Term>, lines: &[u8], scratch: &mut String) -> bool {
    scratch.clear();
    fold_into(core::str::from_utf8(lines).unwrap_or_default(), scratch);
    terms.all(|term| term.is_ascii && term.is_in(scratch.as_bytes()))
}

/// Whether texts of these lines are in them as they are: there are no escapes, no letters beyond ASCII, and no message is
/// put together from parts.
fn is_plain(lines: &[u8]) -> bool {
    is_literal(lines) && !TEMPLATES.iter().any(|name| memmem::find(lines, name.as_bytes()).is_some())
}

/// Whether the strings of these lines are in them as they are, in ASCII.
fn is_literal(lines: &[u8]) -> bool {
    lines.is_ascii() && memchr(b'\\', lines).is_none()
}

/// Calls `found` with each message that a template of the event makes.
fn messages(event: Value<'_>, message: &mut String, mut found: impl FnMut(&str)) {
    for name in TEMPLATES {
        if let Some(template) = event.get(name).and_then(Value::as_str) {
            message.clear();
            render(&template, event, message);
            found(message);
        }
    }
}
