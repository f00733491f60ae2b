//! One pass over an event, which is JSON without white space between its tokens.

use super::facts::{Facts, NO_FIELD};
use super::grams::Grams;
use super::hash::{self, Domain};
use super::hash_set::HashSet64;
use super::kinds::FieldKinds;
use super::messages::Messages;
use super::number::{self, Canonical};
use super::{DEPTH_MAX, SHORT_MAX};
use jird::record::Field;
use std::hash::{BuildHasher, RandomState};

/// What has been found in a block.
pub(crate) struct BlockFindings {
    pub(crate) facts: Facts,
    pub(crate) grams: Grams,
    pub(crate) messages: Messages,
    pub(crate) seen: HashSet64,
    pub(crate) pairs: Vec<u64>,
    open: Vec<Frame>,
    /// Values that a block had already are skipped by their hash. A client must not be able to predict that hash: of
    /// two texts with one hash, the second would be left without words.
    secret: u64,
    /// A text between its quotes, decoded.
    decoded: String,
    scratch: Vec<u8>,
}

/// An object that has not ended.
#[derive(Clone, Copy)]
struct Frame {
    field: u32,
    path: u64,
}

/// A string of the event.
#[derive(Clone, Copy)]
struct Span {
    /// The opening quote.
    start: usize,
    /// After the closing quote.
    end: usize,
    escaped: bool,
}

impl BlockFindings {
    pub(crate) fn new() -> Self {
        Self {
            facts: Facts::new(),
            grams: Grams::new(),
            messages: Messages::new(),
            seen: HashSet64::new(),
            pairs: Vec::new(),
            open: Vec::new(),
            secret: RandomState::new().hash_one(0) | 1,
            decoded: String::new(),
            scratch: Vec::new(),
        }
    }

    /// Counts an event in. `None` if something in it is not as expected: of the block, nothing is known then.
    pub(crate) fn event(&mut self, text: &[u8]) -> Option<()> {
        self.facts.begin_event();
        self.open.clear();
        let root = Frame { field: NO_FIELD, path: hash::ROOT };
        let mut at = if text.first() == Some(&b'{') {
            self.open.push(root);
            1
        } else {
            // The engine reads it as if it were the member `value` of an object.
            let path = hash::child(hash::ROOT, b"value");
            let field = self.facts.field(NO_FIELD, b"value", path)?;
            self.value(text, 0, Frame { field, path })?
        };
        if text.get(at) == Some(&b'}') && !self.open.is_empty() {
            self.open.pop();
            at += 1;
        }
        while let Some(&frame) = self.open.last() {
            let key = string(text, at)?;
            let child = self.key(text, key, frame)?;
            at = key.end;
            (*text.get(at)? == b':').then_some(())?;
            at += 1;
            let open = self.open.len();
            at = self.value(text, at, child)?;
            if self.open.len() > open {
                continue;
            }
            loop {
                match *text.get(at)? {
                    b',' => {
                        at += 1;
                        break;
                    }
                    b'}' => {
                        at += 1;
                        self.open.pop();
                        if self.open.is_empty() {
                            break;
                        }
                    }
                    _ => return None,
                }
            }
        }
        self.messages.end_event(text, &mut self.grams);
        (at == text.len()).then_some(())
    }

    /// The path of a key in an open object.
    #[inline]
    fn key(&mut self, text: &[u8], key: Span, parent: Frame) -> Option<Frame> {
        if key.escaped {
            return self.escaped_key(text, key, parent);
        }
        self.plain_key(&text[key.start..key.end], parent)
    }

    #[cold]
    fn escaped_key(&mut self, text: &[u8], key: Span, parent: Frame) -> Option<Frame> {
        let decoded = self.decode(&text[key.start..key.end])?;
        // What stands for no character is spelled in many ways.
        let frame = if decoded.contains(char::REPLACEMENT_CHARACTER) {
            None
        } else {
            self.plain_key(decoded.as_bytes(), parent)
        };
        self.decoded = decoded;
        frame
    }

    /// The same for a key between its quotes, without escapes.
    #[inline]
    fn plain_key(&mut self, quoted: &[u8], parent: Frame) -> Option<Frame> {
        let key = &quoted[1..quoted.len() - 1];
        let path = hash::child(parent.path, key);
        if self.open.len() > 1 {
            self.messages.inner_key(key);
        }
        let field = if parent.field == NO_FIELD && self.open.len() > 1 {
            self.facts.no_field()
        } else {
            self.facts.field(parent.field, key, path)?
        };
        if self.facts.is_spelled_first(field) {
            self.grams.add(quoted);
            self.messages.fold(key, &mut self.grams);
        }
        Some(Frame { field, path })
    }

    /// Counts the value at `at` in. Returns where it ends; of an object with members, where its first key begins.
    #[inline]
    fn value(&mut self, text: &[u8], at: usize, frame: Frame) -> Option<usize> {
        match *text.get(at)? {
            b'"' => {
                let span = string(text, at)?;
                self.facts.add(frame.field, FieldKinds::STRING);
                self.text(text, span, frame.path, true)?;
                Some(span.end)
            }
            b'{' => {
                self.facts.add(frame.field, FieldKinds::OBJECT);
                if text.get(at + 1) == Some(&b'}') {
                    return Some(at + 2);
                }
                if self.open.len() == DEPTH_MAX || self.open.is_empty() {
                    return self.skip(text, at);
                }
                self.open.push(frame);
                Some(at + 1)
            }
            b'[' => {
                self.facts.add(frame.field, FieldKinds::ARRAY);
                self.skip(text, at)
            }
            b't' => self.literal(text, at, b"true", frame.field, FieldKinds::TRUE),
            b'f' => self.literal(text, at, b"false", frame.field, FieldKinds::FALSE),
            b'n' => self.literal(text, at, b"null", frame.field, FieldKinds::NULL),
            _ => self.number(text, at, frame),
        }
    }

    #[inline]
    fn literal(&mut self, text: &[u8], at: usize, word: &[u8], field: u32, kind: FieldKinds) -> Option<usize> {
        self.facts.add(field, kind);
        text[at..].starts_with(word).then_some(at + word.len())
    }

    #[inline]
    fn number(&mut self, text: &[u8], at: usize, frame: Frame) -> Option<usize> {
        let len = text[at..].iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'));
        let end = at + len.count();
        let token = text.get(at..end).filter(|token| matches!(token, [b'0'..=b'9', ..] | [b'-', b'0'..=b'9', ..]))?;
        let canonical = Canonical::of(token);
        let pair = number::hash(frame.path, token, canonical, &mut self.scratch);
        if self.seen.insert(pair) && !self.seen.is_full() {
            self.pairs.push(pair);
        }
        self.facts.add_number(frame.field, token, canonical).then_some(end)
    }

    /// Counts a text in: its words, and if it is at a path, the pair.
    #[inline]
    fn text(&mut self, text: &[u8], span: Span, path: u64, is_pair: bool) -> Option<()> {
        let quoted = &text[span.start..span.end];
        if span.escaped {
            let decoded = self.decode(quoted)?;
            self.plain_text(decoded.as_bytes(), path, is_pair);
            self.decoded = decoded;
        } else {
            self.plain_text(quoted, path, is_pair);
        }
        Some(())
    }

    #[inline]
    fn plain_text(&mut self, quoted: &[u8], path: u64, is_pair: bool) {
        let content = &quoted[1..quoted.len() - 1];
        if is_pair {
            self.messages.text(path, content);
        } else {
            self.messages.inner_key(content);
        }
        if !self.seen.insert(hash::value(path ^ self.secret, Domain::LongText, content)) {
            return;
        }
        if is_pair && content.len() <= SHORT_MAX && !self.seen.is_full() {
            self.pairs.push(hash::value(path, Domain::Text, content));
        }
        self.grams.add(quoted);
        self.messages.fold(content, &mut self.grams);
    }

    /// Skips an array or object, but for the words of its texts and keys.
    fn skip(&mut self, text: &[u8], mut at: usize) -> Option<usize> {
        let mut depth = 0_usize;
        loop {
            match *text.get(at)? {
                b'"' => {
                    let span = string(text, at)?;
                    self.text(text, span, hash::ROOT, false)?;
                    at = span.end;
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// A string with its escapes decoded, between quotes. The buffer is the builder's own; put it back.
    fn decode(&mut self, quoted: &[u8]) -> Option<String> {
        let raw = std::str::from_utf8(quoted).ok()?;
        let content = Field::from_raw(raw).as_str()?;
        let mut decoded = std::mem::take(&mut self.decoded);
        decoded.clear();
        decoded.push('"');
        decoded.push_str(&content);
        decoded.push('"');
        Some(decoded)
    }
}

/// The string at `at`.
#[inline]
fn string(text: &[u8], at: usize) -> Option<Span> {
    if text.get(at) != Some(&b'"') {
        return None;
    }
    let mut escaped = false;
    let mut end = at + 1;
    while let Some(rest) = text.get(end..) {
        let skipped = end_of_run(rest)?;
        end += skipped;
        if text[end] == b'"' {
            return Some(Span { start: at, end: end + 1, escaped });
        }
        escaped = true;
        end += 2;
    }
    None
}

/// The index of the first quote or backslash.
#[inline]
fn end_of_run(text: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let (words, rest) = text.as_chunks();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The lowest byte that is 0 is found exactly; bytes above it may be found wrongly.
        let zero = |word: u64| word.wrapping_sub(ONES) & !word & ONES << 7;
        let is = |byte: u8| zero(word ^ u64::from_le_bytes([byte; 8]));
        let found = is(b'"') | is(b'\\');
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    Some(words.len() * 8 + at)
}
