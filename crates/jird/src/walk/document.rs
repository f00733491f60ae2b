//! Whole documents: pass one and pass two by turns, chunk by chunk, so that text and tokens stay in cache.

use super::{Build, Open, Pen, Walk, Walked, walk_trusted};
use crate::error::{Error, ErrorKind};
use crate::kernel::{BLOCK, Kernel};
use crate::policy::Policy;
use crate::scan::{Carry, Chunk, Mode, Tokens, first_fault};
use core::cell::RefCell;

/// The longest text of a document, in bytes: offsets are 32 bits wide, and leave room for one block past the end.
pub(crate) const SIZE_MAX: usize = u32::MAX as usize - BLOCK;

/// Bytes scanned before the tokens are walked: text, offsets and kinds then fit a 1 MB second-level cache with room to
/// spare.
const CHUNK_BYTES: usize = 64 << 10;

/// Reads documents with one set of buffers.
#[derive(Debug)]
pub(crate) struct Reader<M> {
    kernel: Kernel,
    chunk_bytes: usize,
    tokens: Tokens,
    walk: Walk<M>,
    open: Vec<Open<M>>,
}

impl<M: Copy + Default> Reader<M> {
    pub(crate) fn new(kernel: Kernel, policy: &Policy) -> Self {
        Self { kernel, chunk_bytes: CHUNK_BYTES, tokens: Tokens::default(), walk: Walk::new(policy), open: Vec::new() }
    }

    /// Scans chunks of this many bytes, rounded up to whole blocks. For tests: it moves the borders between chunks.
    pub(crate) fn with_chunk_bytes(mut self, bytes: usize) -> Self {
        self.chunk_bytes = bytes.next_multiple_of(BLOCK).max(BLOCK);
        self
    }

    /// Reads `text` as one document: checks all of it, and tells `build` of its values. `build` may have been told of some
    /// when an error is found.
    pub(crate) fn read<B: Build<Mark = M>>(&mut self, text: &[u8], build: &mut B) -> Result<(), Error> {
        if text.len() > SIZE_MAX {
            return Err(Error::at_byte(ErrorKind::Size, SIZE_MAX));
        }
        self.tokens.clear();
        self.walk.restart();
        let mut carry = Carry::default();
        let mut from = 0;
        loop {
            let to = text.len().min(from + self.chunk_bytes);
            let chunk = Chunk { text, from, to };
            let found = self.kernel.scan(chunk, Mode::Document, &mut carry, &mut self.tokens);
            let fault = first_fault(chunk, &found)
                .or_else(|| (to == text.len() && carry.in_string()).then(|| Error::at_byte(ErrorKind::String, to)));
            if fault.is_some() || to == text.len() {
                return self.finish(text, fault, build);
            }
            let mut at = 0;
            self.walk.run(text, &self.tokens, &mut at, build).map_err(|error| utf8_first(text, error))?;
            self.tokens.consume(at);
            from = to;
        }
    }

    /// Reads `text` without checking anything; see [`walk_trusted`]. Of a text beyond [`SIZE_MAX`] it reads that much.
    pub(crate) fn read_trusted<B: Build<Mark = M>>(&mut self, text: &[u8], build: &mut B) {
        let text = &text[..text.len().min(SIZE_MAX)];
        self.tokens.clear();
        let chunk = Chunk { text, from: 0, to: text.len() };
        self.kernel.scan(chunk, Mode::DocumentTrusted, &mut Carry::default(), &mut self.tokens);
        self.tokens.end_at(text.len());
        let mut pen = build.pen(self.tokens.len());
        walk_trusted(text, &self.tokens, &mut 0, &mut self.open, &mut pen, |_| false);
        pen.finish();
    }

    /// Walks what is left, up to the end or to the fault that pass one found; what the walk finds before that comes first.
    fn finish<B: Build<Mark = M>>(&mut self, text: &[u8], fault: Option<Error>, build: &mut B) -> Result<(), Error> {
        let end = fault.map_or(text.len(), |fault| usize::try_from(fault.offset()).unwrap_or(usize::MAX));
        self.tokens.end_at(end);
        let walked = self.after_value(text, end, build);
        match (walked, fault) {
            (Err(error), Some(fault)) if error.offset() < fault.offset() => Err(error),
            (_, Some(fault)) => Err(fault),
            (walked, None) => walked,
        }
    }

    fn after_value<B: Build<Mark = M>>(&mut self, text: &[u8], end: usize, build: &mut B) -> Result<(), Error> {
        let mut at = 0;
        let walked = self.walk.run(text, &self.tokens, &mut at, build)?;
        let (_, pos) = self.tokens.slices();
        match walked {
            Walked::Value if pos.get(at).is_none_or(|&pos| pos as usize >= end) => Ok(()),
            Walked::Value => Err(Error::at_byte(ErrorKind::Trailing, pos[at] as usize)),
            Walked::More => unreachable!("four sentinels stand after the last token, and the walk stops at the first"),
        }
    }
}

/// A byte that the grammar forbids may also begin a sequence that is not UTF-8, which pass one judges with the next chunk if
/// this one ends inside the sequence. Then that is what is wrong, wherever the chunk ends.
#[cold]
fn utf8_first(text: &[u8], error: Error) -> Error {
    let offset = usize::try_from(error.offset()).unwrap_or(usize::MAX);
    let sequence = text.get(offset..text.len().min(offset.saturating_add(4))).unwrap_or_default();
    match core::str::from_utf8(sequence) {
        Err(fault) if fault.valid_up_to() == 0 => Error::new(ErrorKind::Utf8, error.offset()),
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
            kernel.scan(Chunk { text, from, to }, Mode::Document, &mut carry, tokens);
            count += tokens.len();
            from = to;
            if to == text.len() {
                return count;
            }
        }
    })
}
