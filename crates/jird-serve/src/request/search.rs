//! Full-text search: events that contain words and phrases, in any field and in the rendered message.
//!
//! A text is any string of an event but a key, a number as it is written, and what a message template makes of the
//! event's properties (`Order {Number}`, messagetemplates.org). A term is found in a text as a part of it, whatever the
//! case of its letters. All terms must be found, each in any of the texts.
//!
//! Most events are ruled out by their raw bytes. That is sound for those without escapes, templates and letters beyond
//! ASCII; all others are read.

use crate::base::problem::Problem;
use crate::request::template::{TEMPLATES, render};
use jird::{Kind, Parser, Value};
use memchr::{memchr, memchr2_iter, memmem};

/// The most characters and terms of a search: the time grows with them.
const CHARACTERS_MAX: usize = 1000;
const TERMS_MAX: usize = 32;

/// What is searched for.
#[derive(Debug)]
pub(crate) struct Search {
    terms: Vec<Term>,
}

impl Search {
    /// Reads words, and phrases in double quotes. `None`: there are none, so that all events have them.
    ///
    /// # Errors
    /// 400 if there are too many.
    pub(crate) fn new(text: &str) -> Result<Option<Self>, Problem> {
        if text.chars().count() > CHARACTERS_MAX {
            return Err(Problem::bad(format!("a search has at most {CHARACTERS_MAX} characters")));
        }
        // A quote that is not closed lasts to the end.
        let parts = text.split('"').enumerate();
        let words = parts.flat_map(|(number, part)| {
            let (words, phrase) = if number.is_multiple_of(2) { (part, "") } else { ("", part) };
            words.split_whitespace().chain((!phrase.is_empty()).then_some(phrase))
        });
        let terms: Vec<_> = words.map(Term::new).collect();
        if terms.len() > TERMS_MAX {
            return Err(Problem::bad(format!("a search has at most {TERMS_MAX} words and phrases")));
        }
        Ok((!terms.is_empty()).then_some(Self { terms }))
    }

    pub(crate) fn matcher(&self) -> Matcher<'_> {
        Matcher { terms: &self.terms, parser: Parser::new(), message: String::new(), scratch: String::new() }
    }
}

/// A word or a phrase, in folded letters.
#[derive(Debug)]
struct Term {
    folded: String,
    /// The place of its rarest byte, and this byte in both cases; `None`: it has letters beyond ASCII.
    rarest: Option<(usize, [u8; 2])>,
}

impl Term {
    fn new(text: &str) -> Self {
        let mut folded = String::new();
        fold_into(text, &mut folded);
        let rarest = folded.bytes().enumerate().min_by_key(|(_, byte)| commonness(*byte));
        let rarest = rarest.filter(|_| folded.is_ascii());
        let rarest = rarest.map(|(at, byte)| (at, [byte, byte.to_ascii_uppercase()]));
        Self { folded, rarest }
    }

    /// Whether text in ASCII contains it.
    fn is_in_ascii(&self, text: &[u8]) -> bool {
        let Some((at, [lower, upper])) = self.rarest else { return false };
        let term = self.folded.as_bytes();
        memchr2_iter(lower, upper, text).any(|found| {
            let begin = found.checked_sub(at);
            let part = begin.and_then(|begin| text.get(begin..begin + term.len()));
            part.is_some_and(|part| part.eq_ignore_ascii_case(term))
        })
    }

    fn is_in(&self, text: &str, scratch: &mut String) -> bool {
        if text.is_ascii() {
            return self.is_in_ascii(text.as_bytes());
        }
        scratch.clear();
        fold_into(text, scratch);
        memmem::find(scratch.as_bytes(), self.folded.as_bytes()).is_some()
    }
}

/// How common a byte is in logs, roughly: looking for the rarest one of a term stops least often.
fn commonness(byte: u8) -> usize {
    const COMMON: &[u8] = b"etaoinsrhldcumfpgwybvkxjqz0123456789_/-.:, \"";
    COMMON.iter().position(|known| *known == byte).map_or(0, |place| COMMON.len() - place)
}

/// Appends a text in which letters that differ only in their case are the same, in any script. Taking the lower case of
/// the upper case of the lower case also makes one of `ς` and `σ`, and of `ẞ`, `ß` and `ss`.
fn fold_into(text: &str, folded: &mut String) {
    for char in text.chars() {
        if char.is_ascii() {
            folded.push(char.to_ascii_lowercase());
        } else {
            folded.extend(char.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase));
        }
    }
}

/// Decides about one event after the other.
pub(crate) struct Matcher<'s> {
    terms: &'s [Term],
    parser: Parser,
    message: String,
    scratch: String,
}

impl Matcher<'_> {
    /// Whether a line of these may have all terms; if not, none of them needs a look.
    pub(crate) fn may_be_in(&self, lines: &[u8]) -> bool {
        !is_plain(lines) || self.terms.iter().all(|term| term.is_in_ascii(lines))
    }

    /// Whether an event has all terms.
    pub(crate) fn holds(&mut self, event: &[u8]) -> bool {
        if !self.may_be_in(event) {
            return false;
        }
        let Self { terms, parser, message, scratch } = self;
        // Events were checked when they came in.
        let root = parser.parse_trusted(event);
        let mut missing: Vec<&Term> = terms.iter().collect();
        messages(root, message, |text| missing.retain(|term| !term.is_in(text, scratch)));
        // All other texts are in the bytes as they are.
        if is_literal(event) && missing.iter().any(|term| !term.is_in_ascii(event)) {
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
                    missing.retain(|term| !term.is_in(text, scratch));
                }
                Kind::Number => missing.retain(|term| !term.is_in_ascii(value.raw())),
                _ => {}
            }
        }
        missing.is_empty()
    }
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
