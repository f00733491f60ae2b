//! Whole documents: pass one and pass two alternate, chunk by chunk, so that text and tokens stay in cache.

use super::{Build, Walk, Walked};
use crate::fault::{ErrorKind, Fault};
use crate::kernel::{BLOCK, Kernel};
use crate::limits::SIZE_MAX;
use crate::scan::{Carry, Chunk, Keeps, Mode, SENTINELS, TextSoFar, Tokens, Violations, first_fault, index, scan};
use crate::text::begins_character;
use core::cell::RefCell;

/// Bytes scanned before their tokens are walked: text, offsets and kinds then fit easily into a second-level cache of
/// 1 MB.
const CHUNK_BYTES: usize = 64 << 10;

/// Runs pass one and a pass two over the chunks of a text, with one set of buffers.
#[derive(Debug)]
pub(crate) struct Chunks {
    pub(crate) kernel: Kernel,
    chunk_bytes: usize,
    pub(crate) tokens: Tokens,
}

/// A second pass over the tokens of a document.
pub(crate) trait PassTwo<'t> {
    /// Whether kinds must come without marks, as [`Tokens::forget_spaces`] leaves them.
    const WANTS_PLAIN_KINDS: bool;

    /// Consumes tokens from `*at` on, and leaves `*at` at the first token that cannot be judged without later ones. If
    /// `last` is set, the last tokens are sentinels, and all tokens must be consumed.
    fn consume(&mut self, text: &[u8], tokens: &Tokens, at: &mut usize, last: bool) -> Result<(), Fault>;

    /// Called after a chunk was scanned without an error so far.
    #[inline(always)]
    fn scanned(&mut self, _scanned: &TextSoFar<'t>, _tokens: &Tokens) {}
}

impl Chunks {
    pub(crate) fn new(kernel: Kernel) -> Self {
        Self { kernel, chunk_bytes: CHUNK_BYTES, tokens: Tokens::default() }
    }

    /// Scans chunks of this many bytes, rounded up to whole blocks. Tests use it to move the borders between chunks.
    pub(crate) fn with_chunk_bytes(mut self, bytes: usize) -> Self {
        self.chunk_bytes = bytes.next_multiple_of(BLOCK).max(BLOCK);
        self
    }

    /// Reads `text` as one document. In [`Mode::Document`] it checks everything; in [`Mode::DocumentTrusted`] it
    /// checks only what pass two checks, and that strings are closed.
    pub(crate) fn read<'t>(&mut self, text: &'t [u8], mode: Mode, pass: &mut impl PassTwo<'t>) -> Result<(), Fault> {
        if text.len() > SIZE_MAX {
            return Err(Fault::at_byte(ErrorKind::Size, SIZE_MAX));
        }
        self.tokens.clear();
        let mut carry = Carry::default();
        let mut scanned = TextSoFar::new(text);
        loop {
            let to = text.len().min(scanned.chunk().to + self.chunk_bytes);
            let found = scanned.scan(self.kernel, to, mode, &mut carry, &mut self.tokens);
            let fault = chunk_fault(scanned.chunk(), &found, &carry);
            if fault.is_none() {
                pass.scanned(&scanned, &self.tokens);
            }
            if fault.is_some() || to == text.len() {
                return self.finish(text, fault, pass);
            }
            let mut at = 0;
            self.forget_spaces(text, pass);
            pass.consume(text, &self.tokens, &mut at, false).map_err(|error| utf8_first(text, error))?;
            self.tokens.consume(at);
        }
    }

    /// Consumes the remaining tokens, up to the text's end or to the error that pass one found. An error that pass two
    /// finds before that comes first.
    pub(crate) fn finish<'t>(
        &mut self,
        text: &'t [u8],
        fault: Option<Fault>,
        pass: &mut impl PassTwo<'t>,
    ) -> Result<(), Fault> {
        self.tokens.end_at(fault_offset(text, fault));
        self.forget_spaces(text, pass);
        first_of(pass.consume(text, &self.tokens, &mut 0, true), fault)
    }

    fn forget_spaces<'t, P: PassTwo<'t>>(&mut self, text: &[u8], _: &P) {
        if P::WANTS_PLAIN_KINDS {
            self.tokens.forget_spaces(text);
        }
    }

    /// Scans all of `text`, which must be at most `SIZE_MAX` bytes long, and checks nothing.
    pub(crate) fn scan_trusted(&mut self, text: &[u8]) {
        self.tokens.clear();
        let chunk = Chunk { text, from: 0, to: text.len() };
        scan(self.kernel, &chunk, Mode::DocumentTrusted, &mut Carry::default(), &mut self.tokens);
        self.tokens.end_at(text.len());
        self.tokens.forget_spaces(text);
    }
}

/// The error that pass one found in a chunk, or an unclosed string if the text ends with this chunk.
#[inline]
pub(crate) fn chunk_fault(chunk: Chunk<'_>, found: &Violations, carry: &Carry) -> Option<Fault> {
    let unclosed = chunk.to == chunk.text.len() && carry.in_string();
    first_fault(chunk, found).or_else(|| unclosed.then(|| Fault::at_byte(ErrorKind::String, chunk.to)))
}

/// The offset up to which pass two may judge tokens.
pub(crate) fn fault_offset(text: &[u8], fault: Option<Fault>) -> usize {
    fault.map_or(text.len(), |fault| usize::try_from(fault.offset()).unwrap_or(usize::MAX))
}

/// The error of pass two, if it comes before the error of pass one; otherwise the error of pass one, if there is one.
pub(crate) fn first_of(consumed: Result<(), Fault>, fault: Option<Fault>) -> Result<(), Fault> {
    match (consumed, fault) {
        (Err(error), Some(fault)) if error.offset() < fault.offset() => Err(error),
        (_, Some(fault)) => Err(fault),
        (consumed, None) => consumed,
    }
}

/// The walk as pass two: it reports everything to a builder.
pub(crate) struct WalkPass<'a, B: Build> {
    pub(crate) walk: &'a mut Walk<B::Mark>,
    pub(crate) build: &'a mut B,
}

impl<B: Build> PassTwo<'_> for WalkPass<'_, B> {
    const WANTS_PLAIN_KINDS: bool = true;

    fn consume(&mut self, text: &[u8], tokens: &Tokens, at: &mut usize, last: bool) -> Result<(), Fault> {
        match self.walk.run(text, tokens, at, self.build)? {
            Walked::More if last => unreachable!("{SENTINELS} sentinels stand after {} tokens", tokens.len()),
            Walked::More => Ok(()),
            // The error is returned at once: otherwise the unused tokens would be kept to the end, and looked at again
            // with each chunk.
            Walked::Value => {
                let (_, pos) = tokens.slices();
                let left = pos.len() - *at;
                let trailing = if last { left > SENTINELS } else { left > 0 };
                if trailing { Err(Fault::at_byte(ErrorKind::Trailing, pos[*at] as usize)) } else { Ok(()) }
            }
        }
    }
}

/// A byte that the grammar forbids may also be one that cannot begin a character. If it is the last byte of a chunk,
/// pass one checks it only with the next chunk. So that the error does not depend on the chunk's end, it is reported
/// as invalid UTF-8.
#[cold]
fn utf8_first(text: &[u8], error: Fault) -> Fault {
    let byte = usize::try_from(error.offset()).ok().and_then(|offset| text.get(offset));
    match byte {
        Some(&byte) if !begins_character(byte) => Fault::new(ErrorKind::Utf8, error.offset()),
        _ => error,
    }
}

/// Runs pass one alone, in chunks as a parse does, with buffers of the thread. Returns the number of tokens in `text`.
/// For benchmarks; it reports no errors.
#[must_use]
pub fn scan_only(kernel: Kernel, text: &[u8]) -> usize {
    thread_local!(static TOKENS: RefCell<Tokens> = RefCell::default());
    TOKENS.with_borrow_mut(|tokens| {
        let mut carry = Carry::default();
        let mut count = 0;
        let mut from = 0;
        loop {
            let to = text.len().min(from + CHUNK_BYTES);
            tokens.clear();
            index(kernel, &Chunk { text, from, to }, Mode::Document, Keeps::Nothing, &mut carry, tokens);
            count += tokens.len();
            from = to;
            if to == text.len() {
                return count;
            }
        }
    })
}
