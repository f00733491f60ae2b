//! Nodes of a text in document order, without a tree: tokens are pulled, and values in which nothing can be found are
//! skipped, and checked.
//!
//! Names, indexes and `..` are followed from token to token, by the states of `automaton.rs`. A value that is a result is
//! kept until its end; so is a child that a filter must see. What can be found inside of such a value is found in its
//! tape. So the text that is kept at once is that of one result or of one candidate of a filter.

use super::automaton::{Child, Met, NodeStates, States, StepText};
use super::evaluation::Evaluation;
use super::find::JsonPath;
use super::needs::{NeedsDocument, why_not};
use super::ordered::OrderedWalk;
use super::syntax::{Query, Segment, Test};
use crate::error::Error;
use crate::fault::ErrorKind;
use crate::kernel::Kernel;
use crate::path::{Path, Step};
use crate::policy::{Policy, RECORD_BYTES_MAX};
use crate::scan::{Content, ESCAPED, IoRead, Pull, SliceRead, TextSource};
use crate::tape::Parser;
use crate::text;
use core::ops::ControlFlow;
use std::io;

/// Searches texts with a query, without a tree of the whole text: see [`JsonPath::search`].
pub struct TextSearch<'p> {
    path: &'p JsonPath,
    depth_max: usize,
    node_bytes_max: usize,
    chunk_bytes: Option<usize>,
    walk: Outer,
    parser: Parser,
}

/// What is open around the next value.
#[derive(Default)]
struct Outer {
    states: States,
    levels: Vec<OuterLevel>,
    /// The keys that lead to the next value, one after the other.
    keys: String,
}

/// An array or object.
struct OuterLevel {
    is_object: bool,
    /// Whether nothing in it was read.
    is_new: bool,
    /// Whether some segment that applies to its children has a filter.
    filters: bool,
    states: NodeStates,
    met: Met,
    /// The index of the element that is read, or where in `keys` the key of the member begins.
    at: usize,
}

/// A node that a search has found.
pub struct FoundNode<'s> {
    raw: &'s str,
    offset: u64,
    outer: &'s Outer,
    inner: Option<&'s OrderedWalk<'s, 's>>,
}

impl JsonPath {
    /// A search of texts that need not fit into memory.
    ///
    /// ```
    /// use jird::JsonPath;
    /// use std::ops::ControlFlow;
    /// let text = br#"{"next":null,"items":[{"id":1,"ok":true},{"id":2},{"id":3,"ok":true}]}"#;
    /// let path = JsonPath::new("$.items[?@.ok].id")?;
    /// let mut found = Vec::new();
    /// path.search()?.in_reader(&text[..], |node| {
    ///     found.push((node.raw().to_owned(), node.location().to_string()));
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(found, [("1".into(), "/items/0/id".into()), ("3".into(), "/items/2/id".into())]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NeedsDocument`], for a query that is not decided before the text's end.
    pub fn search(&self) -> Result<TextSearch<'_>, NeedsDocument> {
        if let Some(why) = why_not(&self.query) {
            return Err(NeedsDocument(why));
        }
        Ok(TextSearch {
            path: self,
            depth_max: Policy::DEPTH_MAX,
            node_bytes_max: RECORD_BYTES_MAX,
            chunk_bytes: None,
            walk: Outer::default(),
            parser: Parser::new(),
        })
    }
}

impl TextSearch<'_> {
    /// Limits the number of arrays and objects that may be open at once; [`Policy::DEPTH_MAX`] by default.
    #[must_use]
    pub fn depth_max(mut self, depth_max: usize) -> Self {
        self.depth_max = depth_max;
        self
    }

    /// Limits the text that is kept at once, if it is read from a reader: a result, or a candidate of a filter. A longer
    /// one is an error of kind [`Size`](ErrorKind::Size). The default is [`RECORD_BYTES_MAX`].
    #[must_use]
    pub fn node_bytes_max(mut self, bytes: usize) -> Self {
        self.node_bytes_max = bytes;
        self
    }

    /// Scans chunks of `bytes` bytes, for tests that need many chunk borders.
    #[doc(hidden)]
    #[must_use]
    pub fn chunk_bytes(mut self, bytes: usize) -> Self {
        self.chunk_bytes = Some(bytes);
        self
    }

    /// Searches a text that is one JSON document, and checks all of it. Nodes come in the order in which they begin in
    /// the document, each once, until `each` breaks; then the rest is not checked.
    ///
    /// # Errors
    /// As [`parse`](crate::parse). Nodes before the error were found before it was noticed.
    pub fn in_slice(&mut self, text: &[u8], each: impl FnMut(FoundNode<'_>) -> ControlFlow<()>) -> Result<(), Error> {
        self.run(Pull::new(SliceRead::new(text), Kernel::best()), each)
    }

    /// The same for text from a reader, which needs no buffer of its own. Memory is bounded by the largest token and
    /// the largest [text that is kept](Self::node_bytes_max).
    ///
    /// # Errors
    /// As [`in_slice`](Self::in_slice), and errors of reading.
    pub fn in_reader(
        &mut self,
        reader: impl io::Read,
        each: impl FnMut(FoundNode<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut pull = Pull::new(IoRead::new(reader), Kernel::best());
        pull.set_window_max(self.node_bytes_max);
        self.run(pull, each)
    }

    fn run<'de, S: TextSource<'de>>(
        &mut self,
        mut pull: Pull<S>,
        mut each: impl FnMut(FoundNode<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        if let Some(bytes) = self.chunk_bytes {
            pull.set_chunk_bytes(bytes);
        }
        self.walk.levels.clear();
        self.walk.keys.clear();
        let Self { path, depth_max, walk, parser, .. } = self;
        let mut reading = Reading { path, depth_max: *depth_max, walk, parser, pull: &mut pull, each: &mut each };
        match reading.document() {
            Ok(ControlFlow::Continue(())) => pull.end(),
            Ok(ControlFlow::Break(())) => Ok(()),
            Err(error) => Err(self.walk.inside(error)),
        }
    }
}

/// A search at work.
struct Reading<'s, S, F> {
    path: &'s JsonPath,
    depth_max: usize,
    walk: &'s mut Outer,
    parser: &'s mut Parser,
    pull: &'s mut Pull<S>,
    each: &'s mut F,
}

impl<'de, S: TextSource<'de>, F: FnMut(FoundNode<'_>) -> ControlFlow<()>> Reading<'_, S, F> {
    fn document(&mut self) -> Result<ControlFlow<()>, Error> {
        let token = self.pull.token();
        if self.pull.is_end(token) {
            return Err(self.pull.unexpected(ErrorKind::Empty));
        }
        let root = self.walk.states.begin();
        self.value(root)?;
        while let Some(level) = self.walk.levels.last_mut() {
            let token = self.pull.token();
            match self.pull.bracket(token) {
                b'}' if level.is_object => self.leave(),
                b']' if !level.is_object => self.leave(),
                b',' if !level.is_new => {
                    self.pull.step();
                    if self.child()?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                _ if level.is_new => {
                    level.is_new = false;
                    if self.child()?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                _ => return Err(self.pull.unexpected(ErrorKind::Comma)),
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self) {
        self.pull.step();
        self.walk.leave();
    }

    /// Reads the next child of the innermost container.
    fn child(&mut self) -> Result<ControlFlow<()>, Error> {
        let Some(level) = self.walk.levels.last() else { return Ok(ControlFlow::Continue(())) };
        if level.is_object {
            self.key()?;
        }
        if self.walk.levels.last().is_some_and(|level| level.filters) {
            return self.candidate();
        }
        let mut states = self.walk.child(&self.path.query, |_| false);
        if states.take_result(&self.walk.states, &self.path.query.segments) {
            let at = self.pull.token().start;
            let offset = self.pull.offset(at);
            let inner = self.depth_max.saturating_sub(self.walk.levels.len());
            let raw = text_of(self.pull.raw_within(inner)?);
            let found = KeptNode { path: self.path, walk: self.walk, parser: self.parser, raw, offset };
            let flow = found.found(states, self.each);
            self.walk.leave_child();
            return Ok(flow);
        }
        self.value(states)?;
        Ok(ControlFlow::Continue(()))
    }

    /// Reads a key and its colon.
    fn key(&mut self) -> Result<(), Error> {
        let token = self.pull.token();
        if token.plain() != b'"' {
            return Err(self.pull.unexpected(ErrorKind::Key));
        }
        let key = text_of(self.pull.content(token)?);
        self.walk.take_key(key, token.kind & ESCAPED != 0);
        self.pull.step();
        let token = self.pull.token();
        if token.plain() != b':' {
            return Err(self.pull.unexpected(ErrorKind::Colon));
        }
        self.pull.step();
        Ok(())
    }

    /// Reads a child that filters must see.
    fn candidate(&mut self) -> Result<ControlFlow<()>, Error> {
        let at = self.pull.token().start;
        let offset = self.pull.offset(at);
        let inner = self.depth_max.saturating_sub(self.walk.levels.len());
        let raw = text_of(self.pull.raw_within(inner)?);
        let value = self.parser.parse_trusted(raw.as_bytes());
        let run = Evaluation::new(value, self.path.memos, u64::MAX);
        let mut states = self.walk.child(&self.path.query, |test| run.passes(test, value));
        let segments = &self.path.query.segments;
        let is_result = states.take_result(&self.walk.states, segments);
        let mut flow = ControlFlow::Continue(());
        if is_result {
            flow = (self.each)(FoundNode { raw, offset, outer: self.walk, inner: None });
        }
        if flow.is_continue() && !states.is_empty() && value.kind().is_container() {
            let passed = self.walk.states.of(states);
            let inner = OrderedWalk::from_states(segments, value, passed);
            flow = each_inside(inner, &run, self.walk, offset, self.each);
        }
        self.walk.leave_child();
        Ok(flow)
    }

    /// Reads a value that is not a result. Its children may be: then this goes into it, otherwise it skips it.
    fn value(&mut self, states: NodeStates) -> Result<(), Error> {
        let token = self.pull.token();
        let bracket = self.pull.bracket(token);
        let is_open = matches!(bracket, b'{' | b'[');
        if states.is_empty() || !is_open {
            self.pull.skip_within(self.depth_max.saturating_sub(self.walk.levels.len()))?;
            self.walk.leave_child();
            return Ok(());
        }
        if self.walk.levels.len() >= self.depth_max {
            return Err(self.pull.syntax(ErrorKind::Depth, token.start));
        }
        self.pull.step();
        self.walk.enter(&self.path.query, states, bracket == b'{');
        Ok(())
    }
}

/// A result, kept.
struct KeptNode<'s> {
    path: &'s JsonPath,
    walk: &'s Outer,
    parser: &'s mut Parser,
    raw: &'s str,
    offset: u64,
}

impl KeptNode<'_> {
    /// Passes it on, and then what is found inside of it.
    fn found(self, states: NodeStates, each: &mut impl FnMut(FoundNode<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        let Self { path, walk, parser, raw, offset } = self;
        each(FoundNode { raw, offset, outer: walk, inner: None })?;
        if states.is_empty() || !raw.starts_with(['{', '[']) {
            return ControlFlow::Continue(());
        }
        let value = parser.parse_trusted(raw.as_bytes());
        let run = Evaluation::new(value, path.memos, u64::MAX);
        let inner = OrderedWalk::from_states(&path.query.segments, value, walk.states.of(states));
        each_inside(inner, &run, walk, offset, each)
    }
}

/// Passes on what is found inside of a value that begins at `offset`.
fn each_inside<'a>(
    mut inner: OrderedWalk<'_, 'a>,
    run: &Evaluation<'a>,
    outer: &Outer,
    offset: u64,
    each: &mut impl FnMut(FoundNode<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    while let Some(node) = inner.next(run) {
        let Some(raw) = node.raw_str() else { continue };
        each(FoundNode { raw, offset: offset + node.offset() as u64, outer, inner: Some(&inner) })?;
    }
    ControlFlow::Continue(())
}

fn text_of<'s>(content: Content<'s, 's>) -> &'s str {
    match content {
        Content::Borrowed(text) | Content::Passing(text) => text,
    }
}

impl Outer {
    /// Opens a container.
    fn enter(&mut self, query: &Query, states: NodeStates, is_object: bool) {
        let filters = self
            .states
            .of(states)
            .iter()
            .any(|&state| query.segments.get(state as usize).is_some_and(Segment::filters));
        let at = if is_object { self.keys.len() } else { 0 };
        self.levels.push(OuterLevel { is_object, is_new: true, filters, states, met: Met::new(), at });
    }

    /// Closes the innermost container.
    fn leave(&mut self) {
        if let Some(level) = self.levels.pop().filter(|level| level.is_object) {
            self.keys.truncate(level.at);
        }
        self.leave_child();
    }

    /// The states of the next child of the innermost container.
    fn child(&mut self, query: &Query, passes: impl FnMut(&Test) -> bool) -> NodeStates {
        let Some(level) = self.levels.last_mut() else { return NodeStates::default() };
        let step = if level.is_object { StepText::Key(&self.keys[level.at..]) } else { StepText::Index(level.at) };
        self.states.child(&query.segments, level.states, Child { step, len: 0 }, &mut level.met, passes)
    }

    fn take_key(&mut self, key: &str, is_escaped: bool) {
        let Some(level) = self.levels.last() else { return };
        self.keys.truncate(level.at);
        if is_escaped {
            text::unescape(key, &mut self.keys);
        } else {
            self.keys.push_str(key);
        }
    }

    /// A child was read.
    fn leave_child(&mut self) {
        if let Some(level) = self.levels.last_mut().filter(|level| !level.is_object) {
            level.at += 1;
        }
    }

    fn steps(&self) -> impl DoubleEndedIterator<Item = Step> {
        self.levels.iter().enumerate().map(|(number, level)| {
            if !level.is_object {
                return Step::Index(level.at);
            }
            let inner = self.levels[number + 1..].iter().find(|level| level.is_object);
            Step::Key(self.keys[level.at..inner.map_or(self.keys.len(), |inner| inner.at)].into())
        })
    }

    /// Adds the path of the next value to an error.
    #[cold]
    fn inside(&self, error: Error) -> Error {
        self.steps().rev().fold(error, |error, step| match step {
            Step::Key(key) => error.inside(Step::key(&key)),
            Step::Index(_) => error.inside(step),
        })
    }
}

impl FoundNode<'_> {
    /// The node's text, as it stands in the document.
    pub fn raw(&self) -> &str {
        self.raw
    }

    /// The offset of the node's first byte in the document.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The path from the root to the node. Takes time linear in its steps.
    pub fn location(&self) -> Path {
        let outer = self.outer.steps().fold(Path::root(), |path, step| match step {
            Step::Key(key) => path.key(key),
            Step::Index(index) => path.index(index),
        });
        match self.inner {
            Some(inner) => inner.path(outer),
            None => outer,
        }
    }
}
