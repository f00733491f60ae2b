//! Nodes of a text in memory that was checked before, with as little reading as possible.
//!
//! A query that begins with `..name` is answered by a search for the name's bytes, quotes included: nothing else of the
//! text is looked at until they are found. In JSON an unescaped quote begins or ends a string, so a name between two such
//! quotes with a colon after it is a key. Keys whose characters are written as escapes are found by their `\u`.

use super::children::{ChildWalk, are_children, are_names, search_children};
use super::evaluation::Evaluation;
use super::find::JsonPath;
use super::ordered::OrderedWalk;
use super::syntax::{Segment, Selector};
use crate::kernel::Kernel;
use crate::record::value_len;
use crate::tape::Parser;
use crate::text::{closing_quote, eq_unescaped, is_space};
use core::ops::ControlFlow;
use memchr::memmem::Finder;

/// A node of a text that was not checked: see [`JsonPath::search_trusted`].
#[derive(Clone, Copy, Debug)]
pub struct TrustedNode<'t> {
    text: &'t [u8],
    start: usize,
}

impl<'t> TrustedNode<'t> {
    /// The offset of the node's first byte in the text. Free.
    pub fn offset(self) -> usize {
        self.start
    }

    /// The node's text. Finds its end, which takes time linear in the node.
    pub fn raw(self) -> &'t [u8] {
        let rest = &self.text[self.start..];
        &rest[..value_len(Kernel::best(), rest)]
    }
}

impl JsonPath {
    /// Searches a text that is JSON and was checked before. Nodes come as [`find_in_order`](Self::find_in_order) gives
    /// them, until `each` breaks.
    ///
    /// Nothing is checked. From a text that is not JSON *some* nodes are found, safely and in linear time. The caller
    /// vouches as well that no object has a key twice; where one has, a name may select all of them.
    ///
    /// A query that begins with `..name` looks at no more than what has the name: a search for `$..name` is several
    /// times as fast as a parse. A query of names and up to four `[*]` alone skips the values that it does not go through.
    /// Other queries make a tape of the whole text, as [`Parser::parse_trusted`] does.
    ///
    /// ```
    /// use jird::JsonPath;
    /// use std::ops::ControlFlow;
    /// let text = br#"{"users":[{"id":1,"name":"a"},{"\u0069d":{"id":2}}],"x":"id:"}"#;
    /// jird::validate(text)?;
    /// let mut found = Vec::new();
    /// JsonPath::new("$..id")?.search_trusted(text, |node| {
    ///     found.push(node.raw());
    ///     ControlFlow::Continue(())
    /// });
    /// assert_eq!(found, [&b"1"[..], br#"{"id":2}"#, b"2"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn search_trusted<'t>(&self, text: &'t [u8], mut each: impl FnMut(TrustedNode<'t>) -> ControlFlow<()>) {
        let segments = &self.query.segments[..];
        let flow = match segments.first().and_then(name_below) {
            Some(name) if self.search().is_ok() => {
                let names = segments.iter().map(|segment| name_below(segment).map(KeyFinder::new));
                match names.collect::<Option<Vec<_>>>() {
                    Some(names) => search_names(text, &names, &mut each),
                    None => self.search_below(text, &KeyFinder::new(name), &mut each),
                }
            }
            _ if are_children(segments) => search_children(text, segments, |start| each(TrustedNode { text, start })),
            _ if self.is_in_order() => {
                let mut parser = Parser::new();
                let mut nodes = self.find(parser.parse_trusted(text));
                nodes.try_for_each(|node| each(TrustedNode { text, start: node.offset().min(text.len()) }))
            }
            _ => self.walk(text, 0, &[0], &mut Parser::new(), &mut each),
        };
        // Nothing follows, whether the caller has stopped or not.
        let _ = flow;
    }

    /// Searches for the first name, and goes through what has it.
    fn search_below<'t>(
        &self,
        text: &'t [u8],
        name: &KeyFinder<'_>,
        each: &mut impl FnMut(TrustedNode<'t>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (mut keys, mut parser) = (Keys::new(text, name), Parser::new());
        let children = &self.query.segments[1..];
        let children = are_names(children).then(|| ChildWalk::new(text, children));
        let mut from = 0;
        while let Some(start) = keys.next(from) {
            if let Some(children) = &children {
                let (node, read) = children.node(start);
                // The name may be again in what was passed over: then its nodes may come first.
                if keys.next(start).is_none_or(|next| next >= read) {
                    if let Some(start) = node {
                        each(TrustedNode { text, start })?;
                    }
                    from = start;
                    continue;
                }
            }
            from = start + value_len(Kernel::best(), &text[start..]);
            // The value has passed the first segment; what is in it may pass it again.
            self.walk(&text[..from], start, &[0, 1], &mut parser, each)?;
        }
        ControlFlow::Continue(())
    }

    /// Makes a tape of the end of a text, and goes through it.
    fn walk<'t>(
        &self,
        text: &'t [u8],
        start: usize,
        passed: &[u32],
        parser: &mut Parser,
        each: &mut impl FnMut(TrustedNode<'t>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let value = parser.parse_trusted(&text[start..]);
        let run = Evaluation::new(value, self.memos, u64::MAX);
        let mut walk = OrderedWalk::from_states(&self.query.segments, value, passed);
        while let Some(node) = walk.next(&run) {
            each(TrustedNode { text, start: (start + node.offset()).min(text.len()) })?;
        }
        ControlFlow::Continue(())
    }
}

/// The longest name that is searched for, in bytes: the time to look at an escape grows with it.
const NAME_MAX: usize = 256;

/// The name of a segment `..name`, if it is not long, and cannot be written with escapes other than `\u`.
fn name_below(segment: &Segment) -> Option<&str> {
    let is_plain = |char: char| !char.is_control() && !matches!(char, '"' | '\\' | '/');
    match &segment.selectors[..] {
        [Selector::Name(name)] if segment.descends && name.len() <= NAME_MAX && name.chars().all(is_plain) => {
            Some(name)
        }
        _ => None,
    }
}

/// Finds the nodes of `$..a..b..c`: within the outermost values of each name, those of the next.
fn search_names<'t>(
    text: &'t [u8],
    names: &[KeyFinder<'_>],
    each: &mut impl FnMut(TrustedNode<'t>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some(first) = names.first() else { return ControlFlow::Continue(()) };
    // The search for each name so far, and where it goes on.
    let mut open = vec![(Keys::new(text, first), 0)];
    loop {
        let next = names.get(open.len());
        let Some((keys, from)) = open.last_mut() else { return ControlFlow::Continue(()) };
        match (keys.next(*from), next) {
            (None, _) => _ = open.pop(),
            (Some(start), None) => {
                *from = start;
                each(TrustedNode { text, start })?;
            }
            (Some(start), Some(name)) => {
                let end = start + value_len(Kernel::best(), &keys.text[start..]);
                *from = end;
                open.push((Keys::new(&text[..end], name), start));
            }
        }
    }
}

/// Finds the keys of one name.
struct KeyFinder<'n> {
    name: &'n str,
    /// The name in quotes.
    plain: Finder<'static>,
    /// What each other way to write the name has.
    escape: Finder<'static>,
}

impl<'n> KeyFinder<'n> {
    fn new(name: &'n str) -> Self {
        let quoted = ["\"", name, "\""].concat();
        let escape = if name.is_ascii() { &b"\\u00"[..] } else { b"\\u" };
        Self { name, plain: Finder::new(quoted.as_bytes()).into_owned(), escape: Finder::new(escape).into_owned() }
    }
}

/// The keys of one name in a text.
struct Keys<'t, 'f> {
    text: &'t [u8],
    finder: &'f KeyFinder<'f>,
    /// The value of the next key that is written without escapes, if it was looked for.
    next_plain: Next,
    /// The same of one with escapes.
    next_escaped: Next,
}

/// What comes next.
#[derive(Clone, Copy)]
enum Next {
    /// A value begins there; it was the first from some offset on.
    At(usize),
    Nothing,
    Unknown,
}

impl<'t, 'f> Keys<'t, 'f> {
    fn new(text: &'t [u8], finder: &'f KeyFinder<'f>) -> Self {
        let next_escaped = if finder.name.is_empty() { Next::Nothing } else { Next::Unknown };
        Self { text, finder, next_plain: Next::Unknown, next_escaped }
    }

    /// The offset of the first value of a key that is greater than `from`. Calls come with ascending offsets.
    #[inline]
    fn next(&mut self, from: usize) -> Option<usize> {
        if is_stale(self.next_plain, from) {
            self.next_plain = self.find_plain(from);
        }
        if is_stale(self.next_escaped, from) {
            self.next_escaped = self.find_escaped(from);
        }
        match (self.next_plain, self.next_escaped) {
            (Next::At(one), Next::At(two)) => Some(one.min(two)),
            (Next::At(one), _) | (_, Next::At(one)) => Some(one),
            _ => None,
        }
    }

    fn find_plain(&self, from: usize) -> Next {
        let mut at = from;
        while let Some(found) = self.text.get(at..).and_then(|rest| self.finder.plain.find(rest)) {
            let quote = at + found;
            let end = quote + self.finder.name.len() + 2;
            if let Some(value) = self.value_of_key(end)
                && !is_escaped(self.text, quote)
            {
                return Next::At(value);
            }
            // Its closing quote may be the opening quote of the key.
            at = end - 1;
        }
        Next::Nothing
    }

    fn find_escaped(&self, from: usize) -> Next {
        let mut at = from;
        while let Some(found) = self.text.get(at..).and_then(|rest| self.finder.escape.find(rest)) {
            let escape = at + found;
            at = escape + 2;
            // A byte of the name takes at most six bytes.
            let earliest = escape.saturating_sub(6 * self.finder.name.len() + 1).max(from);
            let quote = self.text[earliest..escape].iter().rposition(|&byte| byte == b'"');
            let Some(quote) = quote.map(|quote| earliest + quote).filter(|&quote| !is_escaped(self.text, quote)) else {
                continue;
            };
            let content = &self.text[quote + 1..];
            // Its content is short, or it is another key.
            let content = &content[..content.len().min(6 * self.finder.name.len() + 1)];
            let Some(len) = closing_quote(content) else { continue };
            let Ok(key) = core::str::from_utf8(&content[..len]) else { continue };
            if eq_unescaped(key.as_bytes(), self.finder.name)
                && let Some(value) = self.value_of_key(quote + len + 2)
            {
                return Next::At(value);
            }
        }
        Next::Nothing
    }

    /// The offset of the value after a key that ends at `end`; `None` if no colon follows.
    fn value_of_key(&self, end: usize) -> Option<usize> {
        let skip = |at: usize| Some(at + self.text.get(at..)?.iter().position(|&byte| !is_space(byte))?);
        let colon = skip(end).filter(|&at| self.text[at] == b':')?;
        skip(colon + 1)
    }
}

fn is_stale(next: Next, from: usize) -> bool {
    match next {
        Next::At(at) => at <= from,
        Next::Nothing => false,
        Next::Unknown => true,
    }
}

/// Whether an odd number of backslashes stands before a byte.
fn is_escaped(text: &[u8], at: usize) -> bool {
    text[..at].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}
