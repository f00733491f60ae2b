//! Whole documents: pass one and pass two by turns, chunk by chunk, so that text and tokens stay in cache.

use super::{Build, Walk, Walked};
use crate::fault::{ErrorKind, Fault};
use crate::kernel::{BLOCK, Kernel};
use crate::limits::SIZE_MAX;
use crate::scan::{Carry, Chunk, Cursor, Found, Mode, SENTINELS, Tokens, first_fault, scan};
use crate::text::begins_character;
use core::cell::RefCell;

/// Bytes scanned before the tokens are walked: text, offsets and kinds then fit a 1 MB second-level cache with room to
/// spare.
const CHUNK_BYTES: usize = 64 << 10;

/// Runs pass one and some pass two over the chunks of a text, with one set of buffers.
#[derive(Debug)]
pub(crate) struct Chunks {
    pub(crate) kernel: Kernel,
    chunk_bytes: usize,
    pub(crate) tokens: Tokens,
}

/// What is done with the tokens of a document.
pub(crate) trait PassTwo {
    /// Kinds are wanted as [`Tokens::forget_spaces`] leaves them.
    const WANTS_PLAIN_KINDS: bool;

    /// Consumes tokens from `*at` on, and leaves `*at` at the first that needs those behind it to be judged. The last are
    /// sentinels if `last` says so: then nothing may be left.
    fn consume(&mut self, text: &[u8], tokens: &Tokens, at: &mut Cursor, last: bool) -> Result<(), Fault>;

    /// A chunk was scanned and nothing is wrong with it so far.
    #[inline(always)]
    fn scanned(&mut self, _chunk: Chunk<'_>, _tokens: &Tokens) {}
}

impl Chunks {
    pub(crate) fn new(kernel: Kernel) -> Self {
        Self { kernel, chunk_bytes: CHUNK_BYTES, tokens: Tokens::default() }
    }

    /// Scans chunks of this many bytes, rounded up to whole blocks. For tests: it moves the borders between chunks.
    pub(crate) fn with_chunk_bytes(mut self, bytes: usize) -> Self {
        self.chunk_bytes = bytes.next_multiple_of(BLOCK).max(BLOCK);
        self
    }

    /// Reads `text` as one document. In [`Mode::Document`] it checks all of it; in [`Mode::DocumentTrusted`] only what the
    /// second pass checks, and that strings are closed.
    pub(crate) fn read(&mut self, text: &[u8], mode: Mode, pass: &mut impl PassTwo) -> Result<(), Fault> {
        if text.len() > SIZE_MAX {
            return Err(Fault::at_byte(ErrorKind::Size, SIZE_MAX));
        }
        self.tokens.clear();
        let mut carry = Carry::default();
        let mut from = 0;
        loop {
            let to = text.len().min(from + self.chunk_bytes);
            let chunk = Chunk { text, from, to };
            let found = scan(self.kernel, chunk, mode, &mut carry, &mut self.tokens);
            let fault = chunk_fault(chunk, &found, &carry);
            if fault.is_none() {
                pass.scanned(chunk, &self.tokens);
            }
            if fault.is_some() || to == text.len() {
                return self.finish(text, fault, pass);
            }
            let mut at = Cursor::default();
            self.forget_spaces(text, pass);
            pass.consume(text, &self.tokens, &mut at, false).map_err(|error| utf8_first(text, error))?;
            self.tokens.consume(at);
            from = to;
        }
    }

    /// Consumes what is left, up to the end or to the fault that pass one found; what pass two finds before that comes first.
    fn finish(&mut self, text: &[u8], fault: Option<Fault>, pass: &mut impl PassTwo) -> Result<(), Fault> {
        self.tokens.end_at(fault_offset(text, fault));
        self.forget_spaces(text, pass);
        first_of(pass.consume(text, &self.tokens, &mut Cursor::default(), true), fault)
    }

    fn forget_spaces<P: PassTwo>(&mut self, text: &[u8], _: &P) {
        if P::WANTS_PLAIN_KINDS {
            self.tokens.forget_spaces(text);
        }
    }

    /// Scans all of `text`, which is not too long, and checks nothing.
    pub(crate) fn scan_trusted(&mut self, text: &[u8]) {
        self.tokens.clear();
        let chunk = Chunk { text, from: 0, to: text.len() };
        scan(self.kernel, chunk, Mode::DocumentTrusted, &mut Carry::default(), &mut self.tokens);
        self.tokens.end_at(text.len());
        self.tokens.forget_spaces(text);
    }
}

/// What pass one found wrong in a chunk, or with the text if this is its end.
#[inline]
pub(crate) fn chunk_fault(chunk: Chunk<'_>, found: &Found, carry: &Carry) -> Option<Fault> {
    let unclosed = chunk.to == chunk.text.len() && carry.in_string();
    first_fault(chunk, found).or_else(|| unclosed.then(|| Fault::at_byte(ErrorKind::String, chunk.to)))
}

/// Where the tokens end that pass two may judge.
pub(crate) fn fault_offset(text: &[u8], fault: Option<Fault>) -> usize {
    fault.map_or(text.len(), |fault| usize::try_from(fault.offset()).unwrap_or(usize::MAX))
}

/// What pass two says of the tokens before a fault of pass one, or else the fault.
pub(crate) fn first_of(consumed: Result<(), Fault>, fault: Option<Fault>) -> Result<(), Fault> {
    match (consumed, fault) {
        (Err(error), Some(fault)) if error.offset() < fault.offset() => Err(error),
        (_, Some(fault)) => Err(fault),
        (consumed, None) => consumed,
    }
}

/// The walk as the second pass: tells a builder of everything.
pub(crate) struct WalkPass<'a, B: Build> {
    pub(crate) walk: &'a mut Walk<B::Mark>,
    pub(crate) build: &'a mut B,
}

impl<B: Build> PassTwo for WalkPass<'_, B> {
    const WANTS_PLAIN_KINDS: bool = true;

    fn consume(&mut self, text: &[u8], tokens: &Tokens, at: &mut Cursor, last: bool) -> Result<(), Fault> {
        at.skip_ends();
        match self.walk.run(text, tokens, &mut at.token, self.build)? {
            Walked::More if last => unreachable!("{SENTINELS} sentinels stand after {} tokens", tokens.len()),
            Walked::More => Ok(()),
            // Said at once: tokens that nobody wants would be kept to the end, and looked at again with each chunk.
            Walked::Value => {
                let (_, pos) = tokens.slices();
                let left = pos.len() - at.token;
                let trailing = if last { left > SENTINELS } else { left > 0 };
                if trailing { Err(Fault::at_byte(ErrorKind::Trailing, pos[at.token] as usize)) } else { Ok(()) }
            }
        }
    }
}

/// A byte that the grammar forbids may also be one that begins no character. If it is the last of a chunk, pass one judges it with
/// the next chunk. That it is no UTF-8 is what is wrong, wherever the chunk ends.
#[cold]
fn utf8_first(text: &[u8], error: Fault) -> Fault {
    let byte = usize::try_from(error.offset()).ok().and_then(|offset| text.get(offset));
    match byte {
        Some(&byte) if !begins_character(byte) => Fault::new(ErrorKind::Utf8, error.offset()),
        _ => error,
    }
}

/// Pass one alone, in chunks as a parse has them, with buffers of the thread's. Returns how many tokens `text` has. Here for
/// whoever measures; it judges nothing.
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
            scan(kernel, Chunk { text, from, to }, Mode::Document, &mut carry, tokens);
            count += tokens.len();
            from = to;
            if to == text.len() {
                return count;
            }
        }
    })
}
