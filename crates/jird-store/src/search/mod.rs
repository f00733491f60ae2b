//! Full-text search: events that contain words and phrases, in any field and in the rendered message.
//!
//! A text is any string of an event but a key, a number as it is written, and what a message template makes of the
//! event's properties (`Order {Number}`, messagetemplates.org). A term is found in a text as a part of it, whatever the
//! case of its letters. All terms must be found, each in any of the texts.
//!
//! Most events are ruled out by their raw bytes. That is sound unless escapes, other letters or a template make words of
//! parts; all others are read.

mod template;

use jird::record::JsonTest;
use jird::{Kind, Parser, Value};
use memchr::{memchr, memmem};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use template::render;
pub(crate) use template::{TEMPLATES, sets_holes_apart};

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
        let (message, scratch) = (String::new(), String::new());
        Matcher { terms, marks: Marks::new(), parser: Parser::new(), message, scratch }
    }

    /// The search as a test of a predicate: of a whole record, or of any value in it.
    pub fn test(&self) -> JsonTest {
        let locked = Locked { search: self.clone(), matcher: Mutex::new(self.matcher()) };
        JsonTest::new(move |json| locked.holds(json)).with_hint(self.clone())
    }

    /// The words that an event with all terms has, letter by letter in any case: each in a text or a key, or between two
    /// marks of a rendered message, unless it could be a part of a number or of a literal there.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().flat_map(Term::words).filter(|word| !may_be_unquoted(word))
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
    folded: Box<str>,
    finder: memmem::Finder<'static>,
}

impl Term {
    fn new(text: &str) -> Self {
        let mut folded = String::new();
        fold_into(text, &mut folded);
        Self { finder: memmem::Finder::new(folded.as_bytes()).into_owned(), folded: folded.into() }
    }

    fn is_in(&self, folded: &[u8]) -> bool {
        self.finder.find(folded).is_some()
    }

    /// Its runs of letters and digits in ASCII.
    fn words(&self) -> impl Iterator<Item = &str> {
        self.folded.split(|char: char| !char.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
    }
}

/// Whether a word can be a part of a JSON text that is not in quotes.
fn may_be_unquoted(word: &str) -> bool {
    word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'e'))
        || ["true", "false", "null"].iter().any(|literal| literal.contains(word))
}

/// Crosses out the terms that are in a text.
fn cross_out(missing: &mut Vec<&Term>, text: &str, scratch: &mut String) {
    scratch.clear();
    if missing.iter().all(|term| term.folded.is_ascii()) && !folds_into_ascii(text) {
        scratch.push_str(text);
        scratch.make_ascii_lowercase();
    } else {
        fold_into(text, scratch);
    }
    missing.retain(|term| !term.is_in(scratch.as_bytes()));
}

/// Appends a text in which letters that differ only in their case are the same, in any script. Taking the lower case of
/// the upper case of the lower case also makes one of `ς` and `σ`, and of `ẞ`, `ß` and `ss`.
pub(crate) fn fold_into(text: &str, folded: &mut String) {
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
            folded.extend(fold(char));
        }
    }
}

fn fold(char: char) -> impl Iterator<Item = char> {
    char.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

/// Whether folding makes letters in ASCII of others, such as `k` of the Kelvin sign and `ss` of `ß`.
pub(crate) fn folds_into_ascii(text: &str) -> bool {
    // The first bytes of these letters.
    let may = |pair: &[u8]| {
        matches!(
            pair,
            [0xc3, 0x9f]
                | [0xc4, 0xb0 | 0xb1]
                | [0xc5, 0x89 | 0xbf]
                | [0xc7, 0xb0]
                | [0xe1, 0xba]
                | [0xe2, 0x84]
                | [0xef, 0xac]
        )
    };
    !text.is_ascii() && text.as_bytes().windows(2).any(may) && text.chars().any(becomes_ascii)
}

fn becomes_ascii(char: char) -> bool {
    matches!(
        char,
        'ß' | 'İ' | 'ı' | 'ŉ' | 'ſ' | 'ǰ' | '\u{1e96}'..='\u{1e9a}' | 'ẞ' | '\u{212a}' | '\u{fb00}'..='\u{fb06}'
    )
}

/// Decides about one event after the other. Its buffers are kept from one to the next.
#[derive(Debug)]
pub struct Matcher {
    terms: Arc<[Term]>,
    marks: Marks,
    parser: Parser,
    message: String,
    scratch: String,
}

impl Matcher {
    /// Whether a line of these may have all terms; if not, none of them needs a look.
    pub fn may_be_in(&mut self, lines: &[u8]) -> bool {
        !self.marks.is_plain(lines) || has_all(&self.terms, lines, &mut self.scratch)
    }

    /// Whether an event, or any other JSON text, has all terms. What is not JSON has none.
    pub fn holds(&mut self, event: &[u8]) -> bool {
        let Self { terms, marks, parser, message, scratch } = self;
        if !marks.may_have_all(terms, event, scratch) {
            return false;
        }
        let Ok(root) = parser.parse(event) else { return false };
        let mut missing: Vec<&Term> = terms.iter().collect();
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
        if !missing.is_empty() {
            messages(root, message, |text| cross_out(&mut missing, text, scratch));
        }
        missing.is_empty()
    }
}

/// What may make texts of an event other than its bytes.
#[derive(Debug)]
struct Marks {
    templates: [memmem::Finder<'static>; TEMPLATES.len()],
    escape: memmem::Finder<'static>,
}

impl Marks {
    fn new() -> Self {
        Self { templates: TEMPLATES.map(memmem::Finder::new), escape: memmem::Finder::new("\\u") }
    }

    /// Whether texts of these lines are in them as they are: there are no escapes, no letters beyond ASCII, and no message
    /// is put together from parts.
    fn is_plain(&self, lines: &[u8]) -> bool {
        lines.is_ascii()
            && memchr(b'\\', lines).is_none()
            && self.templates.iter().all(|name| name.find(lines).is_none())
    }

    /// Whether an event may have all terms, as far as its bytes tell.
    ///
    /// A term in ASCII stands in a text as it is, but for the case of its letters. Escapes may come between its words, and
    /// a message may put it together of parts of the event; its words stand there even so, unless an escape or a hole is
    /// in them.
    fn may_have_all(&self, terms: &[Term], event: &[u8], scratch: &mut String) -> bool {
        let Ok(text) = core::str::from_utf8(event) else { return true };
        if folds_into_ascii(text) || self.escapes_letters(event) {
            return true;
        }
        scratch.clear();
        scratch.push_str(text);
        scratch.make_ascii_lowercase();
        let lower = scratch.as_bytes();
        let is_literal = memchr(b'\\', event).is_none();
        let mut apart = None;
        terms.iter().all(|term| {
            if !term.folded.is_ascii() {
                return !(is_literal && text.is_ascii());
            }
            term.is_in(lower)
                || match *apart.get_or_insert_with(|| self.holes_are_apart(event)) {
                    Some(false) => true,
                    None if is_literal => false,
                    _ => term.words().all(|word| memmem::find(lower, word.as_bytes()).is_some()),
                }
        })
    }

    /// Whether an escape such as `\u0041` may stand for a letter or digit in ASCII, or for one that becomes one.
    fn escapes_letters(&self, event: &[u8]) -> bool {
        self.escape.find_iter(event).any(|at| {
            let digits = event.get(at + 2..at + 6).and_then(|digits| core::str::from_utf8(digits).ok());
            let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            unit.is_none_or(|unit| unit < 0x80 || char::from_u32(unit).is_some_and(becomes_ascii))
        })
    }

    /// Whether all holes of an event's templates are apart from the letters and digits around them, as far as the bytes
    /// tell; `None` if it has no template.
    fn holes_are_apart(&self, event: &[u8]) -> Option<bool> {
        let mut apart = None;
        for name in &self.templates {
            for at in name.find_iter(event) {
                let template = event[at + name.needle().len()..].strip_prefix(b"\":\"").and_then(|rest| {
                    let end = memchr(b'"', rest)?;
                    core::str::from_utf8(&rest[..end]).ok()
                });
                // With an escape, it may not end there.
                let is_apart = template.is_some_and(|text| !text.contains('\\') && sets_holes_apart(text));
                apart = Some(apart.unwrap_or(true) && is_apart);
            }
        }
        apart
    }
}

/// Whether lines in ASCII have all these terms.
fn has_all(terms: &[Term], lines: &[u8], scratch: &mut String) -> bool {
    scratch.clear();
    fold_into(core::str::from_utf8(lines).unwrap_or_default(), scratch);
    terms.iter().all(|term| term.folded.is_ascii() && term.is_in(scratch.as_bytes()))
}

/// Calls `found` with each message that a template of the event makes.
pub(crate) fn messages(event: Value<'_>, message: &mut String, mut found: impl FnMut(&str)) {
    for name in TEMPLATES {
        if let Some(template) = event.get(name).and_then(Value::as_str) {
            message.clear();
            render(&template, event, message);
            found(message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Search, fold, folds_into_ascii, sets_holes_apart};

    #[test]
    fn letters_that_fold_into_ascii_are_known() {
        for char in ('\u{80}'..=char::MAX).filter(|char| fold(*char).any(|char| char.is_ascii())) {
            assert!(folds_into_ascii(&format!("a{char}")), "{char:?}");
        }
        assert!(!folds_into_ascii("a") && !folds_into_ascii("äöü") && !folds_into_ascii("日本"));
    }

    #[test]
    fn words_are_runs_of_letters_and_digits_that_must_be_in_texts() {
        let words = |text: &str| Search::new(text).unwrap().unwrap().words().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words("Timed-Out \"order 4711 x\""), ["timed", "out", "order", "x"]);
        assert_eq!(words("grüße 12e7 4a2 TRUE fals nul RU true1"), ["gr", "sse", "4a2", "true1"]);
    }

    #[test]
    fn bytes_rule_out_no_event_that_has_the_terms() {
        for (search, event) in [
            ("xout", r#"{"@mt":"say \" x{A}","A":"out"}"#),
            ("xout", r#"{"@mt":"x{A}","A":"out"}"#),
            ("xout", r#"{"@mt" : "x{A}","A":"out"}"#),
            ("xout", r#"{"MessageTemplate":"x{A}","A":"OUT"}"#),
            ("\"x out\"", r#"{"@mt":"x {A}","A":"out"}"#),
            ("\"in 17 ms\"", r#"{"@mt":"in {A} ms","A":17}"#),
            ("xout", r#"{"a":"x\u006fut"}"#),
            ("kelvin", "{\"a\":\"\u{212a}elvin\"}"),
            ("kelvin", r#"{"a":"\u212aelvin"}"#),
            ("\"line two\"", r#"{"a":"a line\ntwo","b":"line two"}"#),
            ("two", r#"{"a":"a line\ntwo"}"#),
            ("ntwo", r#"{"@mt":"{A}","A":["\ntwo"]}"#),
            ("a/b", r#"{"a":"a\/b"}"#),
            ("\\", r#"{"a":"\\"}"#),
            ("größe", r#"{"a":"GR\u00d6SSE"}"#),
            ("GRÖSSE", "{\"a\":\"Größe\"}"),
            ("😀", r#"{"a":"\ud83d\ude00"}"#),
        ] {
            let holds = |event: &str| Search::new(search).unwrap().unwrap().matcher().holds(event.as_bytes());
            assert!(holds(event), "{search} {event}");
            assert!(!holds(r#"{"@mt":"ou t{A}tw o","x":"xo ut","A":"kel","xout":1,"kelvin":true}"#), "{search}");
        }
    }

    #[test]
    fn holes_are_apart_if_no_letter_or_digit_is_next_to_them() {
        for template in ["", "a", "{A}", "a {A} b", "a:{A}, {B:0.0}.", "({A})", "{ x }"] {
            assert!(sets_holes_apart(template), "{template}");
        }
        for template in ["x{A}", "{{ b }}", "{A}ms", "{A}{B}", "{A}5", "é{A}", "{A}é", "{{{A}}}", "{A} {B}{C}"] {
            assert!(!sets_holes_apart(template), "{template}");
        }
    }
}
