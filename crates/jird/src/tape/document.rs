//! Documents and the parser that makes them.

use super::build::{TapeBuilder, Unchecked};
use super::duplicates::refuse_duplicates;
use super::long;
#[cfg(feature = "parallel")]
use super::parallel::Pieces;
use super::small::{self, SMALL_MAX};
use super::structure::{JOINED_MAX, Stopped, Structure, StructurePass, joined};
use super::value::Value;
use crate::error::Error;
use crate::fault::{ErrorKind, Fault};
use crate::kernel::{BLOCK, Kernel};
use crate::limits::SIZE_MAX;
use crate::policy::{Duplicates, Policy};
use crate::scan::{Chunk, Mode, NumberCheck, TextSoFar, Tokens, compact};
use crate::walk::{Build, Chunks, PassTwo, TrustedFrame, Visitor, Walk, WalkPass, walk_trusted};
use crate::word::{Node, Word};
use core::cell::Cell;
use core::fmt;
use std::borrow::Cow;

/// Parses a text that is one JSON document, and checks all of it: UTF-8, grammar, escapes and numbers.
///
/// The document borrows the text; [`Document::into_owned`] copies it. This function allocates the tape (8 bytes
/// for each key and scalar, 16 for each object and array); a [`Parser`] would reuse it. Each thread that calls it keeps
/// buffers of less than 1 MB.
///
/// ```
/// let document = jird::parse(br#"{"name": "jird", "legs": [1, 2, 3, 4]}"#)?;
/// assert_eq!(document.root().get("name").and_then(|name| name.as_str()).as_deref(), Some("jird"));
/// assert_eq!(document.root().pointer("/legs/3").and_then(|leg| leg.as_u64()), Some(4));
/// # Ok::<(), jird::Error>(())
/// ```
///
/// # Errors
/// The first byte at which `text` can no longer be a JSON document, and the rule that it breaks.
pub fn parse(text: &[u8]) -> Result<Document<'_>, Error> {
    with_spare(|parser| {
        let filled = parser.fill(text);
        let words = core::mem::take(&mut parser.words);
        filled.map_err(|fault| Error::in_text(fault, text))?;
        Ok(Document { text: Cow::Borrowed(text), words })
    })
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
    with_spare(|parser| parser.validate(text))
}

thread_local! {
    /// An unused parser without a tape, for the next text. Its other buffers hold the tokens of one chunk, less than 1 MB
    /// whatever was read. Making them takes as long as reading 1 KB. Those of a text of some 100 KB are so large that
    /// `malloc` may return their pages to the system and get them back, page by page, in each call.
    static SPARE: Cell<Option<Box<Parser>>> = const { Cell::new(None) };
}

/// Calls `read` with a parser of the default policy.
fn with_spare<T>(read: impl FnOnce(&mut Parser) -> T) -> T {
    // A thread that ends keeps nothing. The kernel may have been forced since the parser was made.
    let spare = SPARE.try_with(Cell::take).ok().flatten();
    let spare = spare.filter(|parser| parser.chunks.kernel == Kernel::best());
    let mut parser = spare.unwrap_or_else(|| Box::new(Parser::new()));
    let result = read(&mut parser);
    let _ = SPARE.try_with(|spare| spare.set(Some(parser)));
    result
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
        // SAFETY: documents are made only by `parse`, from a text and the tape that was built for it.
        unsafe { Value::new(&self.text, &self.words) }
    }

    /// The text as the caller passed it.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The place of a value of this document, for [`Document::at_place`]. Without a meaning for values of another one.
    #[doc(hidden)]
    pub fn place_of(&self, value: Value<'_>) -> usize {
        value.first_word().addr().wrapping_sub(self.words.as_ptr().addr()) / size_of::<u64>()
    }

    /// The value at a place, for callers that cannot keep a borrowed [`Value`]; `None` if no value begins there. Free.
    #[doc(hidden)]
    #[inline]
    pub fn at_place(&self, place: usize) -> Option<Value<'_>> {
        let words = self.words.get(place..).filter(|words| !words.is_empty())?;
        // SAFETY: every word of a tape is the first of a node, except those of the kind `End`: the last words of
        // containers, and the counts of large ones. A node is followed by all its words.
        (Word::new(words[0]).node() != Node::End).then(|| unsafe { Value::new(&self.text, words) })
    }

    /// The place after a value of this document: that of the next element of its array, if there is one. Free.
    #[doc(hidden)]
    #[inline]
    pub fn place_behind(&self, value: Value<'_>) -> usize {
        self.place_of(value) + value.words_len()
    }

    /// A copy, which owns its text.
    pub(crate) fn to_owned(&self) -> Document<'static> {
        Document { text: Cow::Owned(self.text.to_vec()), words: self.words.clone() }
    }

    /// Converts it into a document that owns its text. Copies the text if it was borrowed.
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
    /// The open containers of a text that is parsed without checks.
    open: Vec<TrustedFrame<usize>>,
    without: Option<Technique>,
    /// Whether short texts are read in one pass.
    has_one_pass: bool,
    /// Whether short texts take both passes in one entry, with kernels for which that pays.
    joins_passes: bool,
}

/// A technique that makes parsing faster and can be switched off, so that benchmarks can measure its effect.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Technique {
    /// Pass two processes 64 tokens at a time.
    Batches,
    /// The numbers of chunks with many numbers are checked by masks, before pass two.
    NumbersByMasks,
    /// In chunks that are half digits, these are the masks of the text, and numbers are not gathered before.
    NumbersInPlace,
    /// The numbers of all other chunks are checked one by one, in pass two.
    NumbersOneByOne,
    /// The UTF-8 check is skipped where all bytes are ASCII.
    AsciiShortcut,
}

impl Parser {
    /// A parser with the default policy.
    pub fn new() -> Self {
        Self::with_policy(Policy::default())
    }

    /// A parser with the limits and refusals of `policy`.
    pub fn with_policy(policy: Policy) -> Self {
        Self { has_one_pass: true, ..Self::with_kernel(policy, Kernel::best()) }
    }

    /// A parser that uses the given instruction set, and two passes for every text.
    #[doc(hidden)]
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
            has_one_pass: false,
            joins_passes: true,
        }
    }

    /// Uses this many threads for [`Parser::parse`] and [`Parser::validate`] of a large text. Each call starts the
    /// threads, and the calling thread joins their results. The result is the same as with one thread, errors
    /// included. A text below 8 MB is parsed by the calling thread alone, and by default every text is.
    ///
    /// Besides the tape, each thread takes about 5 MB while it works, or 25 MB if the text consists of brackets
    /// only.
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

    /// Scans chunks of this many bytes, in two passes. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_chunk_bytes(self, bytes: usize) -> Self {
        Self {
            has_one_pass: false,
            joins_passes: false,
            chunks: self.chunks.with_chunk_bytes(bytes),
            #[cfg(feature = "parallel")]
            pieces: self.pieces.with_bytes(bytes),
            ..self
        }
    }

    /// Parses `text` as [`parse`] does, and returns the document's value, which borrows the text and this parser.
    ///
    /// # Errors
    /// The errors of [`parse`], and everything that the policy refuses.
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

    /// What all buffers take.
    #[cfg(test)]
    fn buffer_bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>() + self.chunks.tokens.buffer_bytes() + self.structure.buffer_bytes()
    }

    #[cfg(test)]
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Checks `text` as [`Parser::parse`] does, and appends it to `out` without the white space between its tokens.
    /// Makes no tape, and takes little more time than [`Parser::validate`].
    ///
    /// ```
    /// let mut small = Vec::new();
    /// jird::Parser::new().minify(b"{ \"a\" : [1.50, \"\\u0041 \"] }", &mut small)?;
    /// assert_eq!(small, b"{\"a\":[1.50,\"\\u0041 \"]}");
    /// # Ok::<(), jird::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Parser::parse`]; `out` is unchanged then.
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

    /// In checked builds every parse must equal that of the naive model.
    #[cfg(jird_checked)]
    fn compare_with_model(&self, text: &[u8], read: Result<(), Fault>) {
        let wanted = crate::tape::model::parse(text, &self.policy);
        assert_eq!(read, wanted.as_ref().map(drop).map_err(|error| *error), "the model judges otherwise");
        if let Ok(words) = wanted {
            assert_eq!(self.words, words, "the model has another tape");
        }
    }

    /// Parses `text`, which must have been validated before: gives the same value as [`Parser::parse`] in less
    /// time. Brackets, commas and colons are still checked; UTF-8, escapes, control characters, numbers and
    /// literals are not.
    ///
    /// This function is safe on any text. From a text that is not JSON it makes *some* value, in linear time. That
    /// value never panics and never returns a `str` that is not UTF-8: a string's UTF-8 and a number's grammar are
    /// checked when the caller asks for them.
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
        // SAFETY: the tape was just built for `text`, and its words are marked as unchecked.
        unsafe { Value::new(text, &self.words) }
    }

    /// Makes the tape of a text whose brackets, commas or colons are wrong, or whose value is not a container.
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

    /// The same parser without one technique. Its results do not change.
    #[doc(hidden)]
    #[must_use]
    pub fn without(mut self, technique: Technique) -> Self {
        let tuning = &mut self.chunks.tokens.tuning;
        match technique {
            Technique::Batches => {}
            Technique::NumbersByMasks => tuning.numbers = NumberCheck::OneByOne,
            Technique::NumbersInPlace => tuning.numbers = NumberCheck::Gathered,
            Technique::NumbersOneByOne => tuning.numbers = NumberCheck::ByMasks,
            Technique::AsciiShortcut => tuning.skips_ascii = false,
        }
        self.without = Some(technique);
        (self.has_one_pass, self.joins_passes) = (false, false);
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

    /// Checks `text`, and makes its tape if `tape` is set.
    fn read(&mut self, text: &[u8], tape: bool) -> Result<(), Fault> {
        self.read_pieces(text, tape)?;
        long::spell_out(&mut self.words);
        Ok(())
    }

    fn read_pieces(&mut self, text: &[u8], tape: bool) -> Result<(), Fault> {
        self.words.clear();
        if tape && self.has_one_pass && text.len() <= SMALL_MAX {
            if small::fill(text, &self.policy, &mut self.words).is_some() {
                return Ok(());
            }
            self.words.clear();
        }
        if self.without == Some(Technique::Batches) {
            return self.read_by_token(text);
        }
        let words = tape.then_some(&mut self.words);
        #[cfg(feature = "parallel")]
        if self.pieces.pay_for(text) {
            return self.pieces.read(self.chunks.kernel, &self.policy, text, words);
        }
        self.structure.restart();
        // No other check of numbers is made then.
        let guesses = self.chunks.tokens.tuning.numbers == NumberCheck::Guessed;
        if self.joins_passes && guesses && text.len() <= JOINED_MAX && self.chunks.kernel.joins_passes() {
            return self.read_joined(text, tape);
        }
        let mut pass = StructurePass { kernel: self.chunks.kernel, state: &mut self.structure, words };
        self.chunks.read(text, Mode::Document, &mut pass)
    }

    /// Reads a short text with both passes in one entry of the kernel.
    #[inline(always)]
    fn read_joined(&mut self, text: &[u8], tape: bool) -> Result<(), Fault> {
        let words = tape.then_some(&mut self.words);
        let Chunks { kernel, tokens, .. } = &mut self.chunks;
        tokens.clear();
        match joined(*kernel, text, tokens, &mut self.structure, words) {
            Ok(()) => Ok(()),
            Err(Stopped::Judged(fault)) => Err(fault),
            Err(Stopped::Unclosed) => Err(Fault::at_byte(ErrorKind::Unclosed, text.len())),
            Err(Stopped::Scanned(whole)) => {
                let words = tape.then_some(&mut self.words);
                let mut pass = StructurePass { kernel: *kernel, state: &mut self.structure, words };
                self.chunks.finish(text, whole.fault(), &mut pass)
            }
        }
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

/// Pass two that checks the text, together with a step that copies each chunk without its white space.
struct MinifyPass<'a> {
    kernel: Kernel,
    checks: StructurePass<'a>,
    out: &'a mut Vec<u8>,
}

impl<'t> PassTwo<'t> for MinifyPass<'_> {
    const WANTS_PLAIN_KINDS: bool = false;

    fn consume(&mut self, text: &[u8], tokens: &Tokens, at: &mut usize, last: bool) -> Result<(), Fault> {
        self.checks.consume(text, tokens, at, last)
    }

    fn scanned(&mut self, scanned: &TextSoFar<'t>, tokens: &Tokens) {
        let Chunk { text, from, to } = scanned.chunk();
        let text = &text[from..to];
        self.out.reserve(text.len() + BLOCK);
        let kept = compact(self.kernel, text, tokens.blanks(), self.out.spare_capacity_mut());
        // SAFETY: `compact` wrote `kept` bytes directly after the bytes that were there.
        unsafe { self.out.set_len(self.out.len() + kept) };
    }
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{Parser, SPARE, Technique, parse, validate};

    #[test]
    fn a_thread_keeps_little_whatever_it_reads() {
        let mega = 1 << 20;
        let texts = [
            ["[", &"[],".repeat(mega), "[]]"].concat(),
            ["[", &"{\"a\":1.5},".repeat(mega), "nul]"].concat(),
            ["[\"", &"\\n".repeat(mega), "\"]"].concat(),
            "[".repeat(mega),
            ["\"", &"é".repeat(mega), "\""].concat(),
            ["[1", &" ".repeat(mega), "2]"].concat(),
        ];
        for text in texts {
            for read in [|text: &str| parse(text.as_bytes()).is_ok(), |text: &str| validate(text.as_bytes()).is_ok()] {
                read(&text);
                let bytes = SPARE.with(|spare| {
                    let parser = spare.take().expect("a parser is kept");
                    let bytes = parser.buffer_bytes();
                    spare.set(Some(parser));
                    bytes
                });
                assert!(bytes < 1 << 20, "{bytes} bytes after {text:.20}");
            }
        }
    }

    #[test]
    fn a_place_leads_to_its_value_and_nowhere_else() {
        let text = br#"[{"a": [1, "b\n", {}], "c": null}, [[]], true]"#;
        let document = parse(text).expect("it is valid");
        let places: Vec<usize> = document.root().descendants().map(|value| document.place_of(value)).collect();
        for place in 0..document.words.len() + 2 {
            let found = document.at_place(place).map(|value| (value.kind(), value.raw(), value.len()));
            let wanted = places.iter().position(|&at| at == place);
            let wanted = wanted.and_then(|index| document.root().descendants().nth(index));
            assert_eq!(found, wanted.map(|value| (value.kind(), value.raw(), value.len())), "{place}");
        }
    }

    #[test]
    fn a_technique_that_is_switched_off_is_not_used() {
        let numbers_are_left_to_pass_two = |technique| {
            let mut parser = Parser::new().without(technique);
            parser.validate(b"[1,2.5,-3e7]").expect("it is valid");
            parser.chunks.tokens.owe_numbers(0)
        };
        assert!(numbers_are_left_to_pass_two(Technique::NumbersByMasks));
        assert!(!numbers_are_left_to_pass_two(Technique::NumbersOneByOne));
        assert!(!numbers_are_left_to_pass_two(Technique::NumbersInPlace));
    }
}
