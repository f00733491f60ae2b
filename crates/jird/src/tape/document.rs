//! Documents and the parser that makes them.

use super::build::{TapeBuilder, Unchecked};
use super::duplicates::refuse_duplicates;
use super::long;
#[cfg(feature = "parallel")]
use super::parallel::Pieces;
use super::structure::{Structure, StructurePass};
use super::value::Value;
use crate::error::Error;
use crate::fault::Fault;
use crate::kernel::{BLOCK, Kernel};
use crate::limits::SIZE_MAX;
use crate::policy::{Duplicates, Policy};
use crate::scan::{Chunk, Cursor, Mode, Tokens, compact};
use crate::walk::{Build, Chunks, PassTwo, TrustedFrame, Visitor, Walk, WalkPass, walk_trusted};
use core::fmt;
use std::borrow::Cow;

/// Parses a text that is one JSON document, and checks all of it: UTF-8, grammar, escapes, numbers.
///
/// The document borrows the text; [`Document::into_owned`] copies it. Allocates the tape (8 bytes for each key and scalar,
/// 16 for each object and array) and buffers that a [`Parser`] would reuse.
///
/// ```
/// let document = jird::parse(br#"{"name": "jird", "legs": [1, 2, 3, 4]}"#)?;
/// assert_eq!(document.root().get("name").and_then(|name| name.as_str()).as_deref(), Some("jird"));
/// assert_eq!(document.root().pointer("/legs/3").and_then(|leg| leg.as_u64()), Some(4));
/// # Ok::<(), jird::Error>(())
/// ```
///
/// # Errors
/// The first byte at which `text` can no longer be a JSON document, and which rule it breaks.
pub fn parse(text: &[u8]) -> Result<Document<'_>, Error> {
    let mut parser = Parser::new();
    parser.fill(text).map_err(|fault| Error::in_text(fault, text))?;
    Ok(Document { text: Cow::Borrowed(text), words: parser.words })
}

/// Checks that a text is one JSON document: everything that [`parse`] checks, without making a tape.
///
/// ```
/// assert!(jird::validate(b"[1, 2, {}]").is_ok());
/// assert_eq!(jird::validate(b"[1, 2").unwrap_err().code(), "unclosed");
/// ```
///
/// # Errors
/// As [`parse`].
pub fn validate(text: &[u8]) -> Result<(), Error> {
    Parser::new().validate(text)
}

/// A parsed and checked document. Its values can be read in any order and any number of times, from several threads.
pub struct Document<'a> {
    text: Cow<'a, [u8]>,
    words: Vec<u64>,
}

impl Document<'_> {
    /// The document's value.
    #[inline]
    pub fn root(&self) -> Value<'_> {
        // SAFETY: only `parse` makes documents, of a text and the tape that was built for it.
        unsafe { Value::new(&self.text, &self.words) }
    }

    /// The text as it was given.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The same document with a text of its own. Copies the text if it was borrowed.
    pub fn into_owned(self) -> Document<'static> {
        Document { text: Cow::Owned(self.text.into_owned()), words: self.words }
    }
}

impl fmt::Debug for Document<'_> {
    /// The tape, node by node.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::dump::dump(&self.text, &self.words, f)
    }
}

/// Parses one document after the other with the same buffers: after the first few, parsing allocates nothing.
///
/// ```
/// let mut parser = jird::Parser::new();
/// let mut sum = 0;
/// for text in ["[1, 2]", "[3]"] {
///     sum += parser.parse(text.as_bytes())?.elements().filter_map(|value| value.as_u64()).sum::<u64>();
/// }
/// assert_eq!(sum, 6);
/// # Ok::<(), jird::Error>(())
/// ```
#[derive(Debug)]
pub struct Parser {
    policy: Policy,
    chunks: Chunks,
    structure: Structure,
    words: Vec<u64>,
    #[cfg(feature = "parallel")]
    pieces: Pieces,
    /// For texts that are not checked.
    open: Vec<TrustedFrame<usize>>,
    without: Option<Technique>,
}

/// What makes a parse fast and can be done without. For whoever measures what it is worth.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Technique {
    /// Pass two takes 64 tokens at a time.
    Batches,
    /// Pass one judges the numbers of chunks that are full of them.
    NumbersByMasks,
    /// Pass one leaves the numbers of all other chunks to pass two.
    NumbersOneByOne,
    /// UTF-8 is not looked at where all is ASCII.
    AsciiShortcut,
}

impl Parser {
    /// A parser with the default policy.
    pub fn new() -> Self {
        Self::with_policy(Policy::default())
    }

    /// A parser with limits and refusals of your own.
    pub fn with_policy(policy: Policy) -> Self {
        Self::with_kernel(policy, Kernel::best())
    }

    /// A parser on a certain instruction set.
    pub fn with_kernel(policy: Policy, kernel: Kernel) -> Self {
        Self {
            policy,
            chunks: Chunks::new(kernel),
            structure: Structure::new(&policy),
            words: Vec::new(),
            #[cfg(feature = "parallel")]
            pieces: Pieces::default(),
            open: Vec::new(),
            without: None,
        }
    }

    /// Spreads [`Parser::parse`] and [`Parser::validate`] of a large text over this many threads, which are started for it;
    /// the calling thread puts together what they find. The result is the same, also an error. A text below 8 MB is read by
    /// the calling thread alone, as everything is by default.
    ///
    /// Beside the tape each thread takes some 5 MB while it works, and 25 MB if the text is nothing but brackets.
    ///
    /// ```
    /// let text = ["[", &"[1, \"two\"],".repeat(1_000_000), "3]"].concat();
    /// let mut parser = jird::Parser::new().with_threads(4);
    /// assert_eq!(parser.parse(text.as_bytes())?.len(), 1_000_001);
    /// # Ok::<(), jird::Error>(())
    /// ```
    #[cfg(feature = "parallel")]
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { pieces: self.pieces.with_threads(threads), ..self }
    }

    /// Scans chunks of this many bytes. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_chunk_bytes(self, bytes: usize) -> Self {
        Self {
            chunks: self.chunks.with_chunk_bytes(bytes),
            #[cfg(feature = "parallel")]
            pieces: self.pieces.with_bytes(bytes),
            ..self
        }
    }

    /// Parses `text` as [`parse`] does, and returns the document's value, which borrows the text and this parser.
    ///
    /// # Errors
    /// As [`parse`], and what the policy refuses.
    #[inline]
    pub fn parse<'a>(&'a mut self, text: &'a [u8]) -> Result<Value<'a>, Error> {
        self.fill(text).map_err(|fault| Error::in_text(fault, text))?;
        // SAFETY: the tape was just built for `text`, which was checked.
        Ok(unsafe { Value::new(text, &self.words) })
    }

    /// Checks `text` as [`validate`] does, under this parser's policy.
    ///
    /// # Errors
    /// As [`Parser::parse`].
    pub fn validate(&mut self, text: &[u8]) -> Result<(), Error> {
        self.check(text).map_err(|fault| Error::in_text(fault, text))
    }

    fn check(&mut self, text: &[u8]) -> Result<(), Fault> {
        if self.policy.duplicates == Duplicates::Refuse { self.fill(text) } else { self.read(text, false) }
    }

    #[cfg(test)]
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Checks `text` as [`Parser::parse`] does, and appends it to `out` without the white space between its tokens. Makes no
    /// tape; takes little more time than [`Parser::validate`].
    ///
    /// ```
    /// let mut small = Vec::new();
    /// jird::Parser::new().minify(b"{ \"a\" : [1.50, \"\\u0041 \"] }", &mut small)?;
    /// assert_eq!(small, b"{\"a\":[1.50,\"\\u0041 \"]}");
    /// # Ok::<(), jird::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Parser::parse`]; then `out` is as it was.
    pub fn minify(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        if self.policy.duplicates == Duplicates::Refuse {
            self.fill(text).map_err(|fault| Error::in_text(fault, text))?;
        }
        let before = out.len();
        self.structure.restart();
        let kernel = self.chunks.kernel;
        let checks = StructurePass { kernel, state: &mut self.structure, words: None };
        let read = self.chunks.read(text, Mode::DocumentBlanks, &mut MinifyPass { kernel, checks, out });
        if read.is_err() {
            out.truncate(before);
        }
        read.map_err(|fault| Error::in_text(fault, text))
    }

    /// In checked builds every parse must equal the naive one.
    #[cfg(jird_checked)]
    fn compare_with_model(&self, text: &[u8], read: Result<(), Fault>) {
        let wanted = crate::tape::model::parse(text, &self.policy);
        assert_eq!(read, wanted.as_ref().map(drop).map_err(|error| *error), "the model judges otherwise");
        if let Ok(words) = wanted {
            assert_eq!(self.words, words, "the model has another tape");
        }
    }

    /// Parses `text`, which somebody has validated before: what [`Parser::parse`] makes of it, in less time. Brackets, commas and
    /// colons are still looked at, but neither UTF-8 nor escapes, control characters, numbers or literals.
    ///
    /// Safe on any text: of one that is not JSON it makes *some* value, in linear time, that never panics and never hands out
    /// a `str` that is not UTF-8; strings are checked for that when they are asked for, and numbers for their grammar.
    ///
    /// ```
    /// let mut parser = jird::Parser::new();
    /// let text = br#"{"a": [1, 2]}"#;
    /// parser.validate(text)?;
    /// assert_eq!(parser.parse_trusted(text).pointer("/a/1").and_then(|value| value.as_i64()), Some(2));
    /// # Ok::<(), jird::Error>(())
    /// ```
    pub fn parse_trusted<'a>(&'a mut self, text: &'a [u8]) -> Value<'a> {
        let text = &text[..text.len().min(SIZE_MAX)];
        self.words.clear();
        self.structure.restart();
        self.structure.trust(true);
        let words = Some(&mut self.words);
        let mut pass = StructurePass { kernel: self.chunks.kernel, state: &mut self.structure, words };
        let read = self.chunks.read(text, Mode::DocumentTrusted, &mut pass);
        self.structure.trust(false);
        if read.is_err() || self.words.is_empty() {
            self.parse_carefully(text);
        }
        long::spell_out(&mut self.words);
        // SAFETY: the tape was just built for `text`, and says that it was not checked.
        unsafe { Value::new(text, &self.words) }
    }

    /// Makes the tape of a text whose brackets, commas or colons are wrong, or that is no container.
    #[cold]
    fn parse_carefully(&mut self, text: &[u8]) {
        self.chunks.scan_trusted(text);
        self.words.clear();
        let tokens = &self.chunks.tokens;
        let mut build = Unchecked(&mut self.words);
        let mut visitor = build.visitor(tokens.len());
        walk_trusted(text, tokens, &mut 0, &mut self.open, &mut visitor, |_| false);
        visitor.finish();
    }

    /// The same parser without a technique. Its results are the same.
    #[doc(hidden)]
    #[must_use]
    pub fn without(mut self, technique: Technique) -> Self {
        let tuning = &mut self.chunks.tokens.tuning;
        match technique {
            Technique::Batches => {}
            Technique::NumbersByMasks => tuning.numbers_density = 0,
            Technique::NumbersOneByOne => tuning.numbers_density = BLOCK * BLOCK,
            Technique::AsciiShortcut => tuning.skips_ascii = false,
        }
        self.without = Some(technique);
        self
    }

    /// Makes the tape token by token.
    #[cold]
    fn read_by_token(&mut self, text: &[u8]) -> Result<(), Fault> {
        let mut build = TapeBuilder { words: core::mem::take(&mut self.words) };
        let mut pass = WalkPass { walk: &mut Walk::new(&self.policy), build: &mut build };
        let read = self.chunks.read(text, Mode::Document, &mut pass);
        self.words = build.words;
        read
    }

    /// Checks `text`, and makes its tape if that is wanted.
    fn read(&mut self, text: &[u8], tape: bool) -> Result<(), Fault> {
        self.read_pieces(text, tape)?;
        long::spell_out(&mut self.words);
        Ok(())
    }

    fn read_pieces(&mut self, text: &[u8], tape: bool) -> Result<(), Fault> {
        self.words.clear();
        if self.without == Some(Technique::Batches) {
            return self.read_by_token(text);
        }
        let words = tape.then_some(&mut self.words);
        #[cfg(feature = "parallel")]
        if self.pieces.pay_for(text) {
            return self.pieces.read(self.chunks.kernel, &self.policy, text, words);
        }
        self.structure.restart();
        let mut pass = StructurePass { kernel: self.chunks.kernel, state: &mut self.structure, words };
        self.chunks.read(text, Mode::Document, &mut pass)
    }

    pub(crate) fn fill(&mut self, text: &[u8]) -> Result<(), Fault> {
        let read = self.read(text, true);
        #[cfg(jird_checked)]
        self.compare_with_model(text, read);
        read?;
        if self.policy.duplicates == Duplicates::Refuse {
            // SAFETY: the tape was just built for `text`, which was checked.
            refuse_duplicates(unsafe { Value::new(text, &self.words) })?;
        }
        Ok(())
    }
}

/// The second pass that checks, and before it the copy of each chunk without its white space.
struct MinifyPass<'a> {
    kernel: Kernel,
    checks: StructurePass<'a>,
    out: &'a mut Vec<u8>,
}

impl PassTwo for MinifyPass<'_> {
    const WANTS_PLAIN_KINDS: bool = false;

    fn consume(&mut self, text: &[u8], tokens: &Tokens, at: &mut Cursor, last: bool) -> Result<(), Fault> {
        self.checks.consume(text, tokens, at, last)
    }

    fn scanned(&mut self, chunk: Chunk<'_>, tokens: &Tokens) {
        let text = &chunk.text[chunk.from..chunk.to];
        self.out.reserve(text.len() + BLOCK);
        let kept = compact(self.kernel, text, tokens.blanks(), self.out.spare_capacity_mut());
        // SAFETY: so many bytes were written behind those that were there.
        unsafe { self.out.set_len(self.out.len() + kept) };
    }
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}
