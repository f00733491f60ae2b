//! The token buffers: what pass one writes and pass two reads.

use super::State;
use super::escapes::EscapeBlocks;
use crate::kernel::{BLOCK, Simd};
use crate::word::ESCAPED;
use core::mem::MaybeUninit;

const _: () = assert!(SPACED == ESCAPED, "one mask marks both");

/// Set in the kind of an operator of a document if white space stands before it: the scalar before may then end earlier. It is
/// also set behind a control character, which makes the text invalid.
pub(crate) const SPACED: u8 = 0x80;

/// The number of tokens that [`Tokens::batch`] returns.
pub(crate) const BATCH: usize = 64;

/// The kind of the sentinels after the last token; their offset is the end of the text. A NUL byte in the text has the
/// same kind, but stands before the end.
pub(crate) const END: u8 = 0;

/// The kind of a string, number or literal that an error found by pass one cuts off. Used when tokens are pulled.
pub(super) const CUT: u8 = 1;

/// The bits that the kinds of all brackets have in common, with a mark or without. No other token has all of them.
pub(crate) const BRACKET: u8 = b'[' & b']' & b'{' & b'}';

/// The number of sentinels after the last token: the number of tokens that pass two looks ahead.
pub(crate) const SENTINELS: usize = 4;

/// Settings that change the cost of a scan, but not its results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    pub(crate) numbers: NumberCheck,
    /// The UTF-8 check is skipped where all bytes are ASCII.
    pub(crate) skips_ascii: bool,
    /// Memory is asked for the text of lines before it is scanned.
    pub(crate) prefetches: bool,
}

/// How the numbers of a document are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberCheck {
    /// By masks in chunks that seem to have many numbers, one by one elsewhere.
    Guessed,
    /// All by masks, after pass one.
    ByMasks,
    /// All one by one, in pass two.
    OneByOne,
    /// All by masks, of bytes that pass one has gathered.
    Gathered,
}

impl Tuning {
    /// Unit tests check all numbers by masks, because their texts are short.
    const USUAL: Self = Self {
        numbers: if cfg!(test) { NumberCheck::ByMasks } else { NumberCheck::Guessed },
        skips_ascii: true,
        prefetches: true,
    };
}

/// Tokens in text order: the kind and the offset of each. The buffers only grow; they are not cleared or zeroed for
/// reuse.
///
/// Invariant: `pos` and `kind` have the same length. After the first `reserve`, `len + SENTINELS` is at most that
/// length.
#[derive(Debug)]
pub(crate) struct Tokens {
    pos: Vec<u32>,
    kind: Vec<u8>,
    len: usize,
    /// Where the chunk has escapes: the first `escapes_len` entries.
    escapes: Vec<EscapeBlocks>,
    escapes_len: usize,
    /// The white space outside strings, a mask for each block of the chunk. Only if masks are kept.
    blanks: Vec<u64>,
    /// The same for the bytes outside strings that are neither operators nor white space nor quotes.
    runs: Vec<u64>,
    /// The bytes of the chunk's runs, and the byte after each run: the first `scalars_len` bytes. Only if they are kept.
    scalars: Vec<u8>,
    scalars_len: usize,
    /// Pass one did not check all numbers among the tokens before this index. Documents only.
    numbers_unjudged: usize,
    /// No token from this index on begins with a byte beyond ASCII.
    ascii_from: usize,
    /// Whether there is white space between the tokens, other than newlines. Lines only, and only if [`Simd::SKIMS`].
    pub(crate) blank: bool,
    /// Whether the text had many tokens where pass one was last; at its start, so that short texts have no branch on it. It changes
    /// only the cost.
    pub(super) is_dense: bool,
    pub(crate) tuning: Tuning,
}

impl Default for Tokens {
    fn default() -> Self {
        Self::new()
    }
}

impl Tokens {
    /// What all buffers take.
    #[cfg(test)]
    pub(crate) fn buffer_bytes(&self) -> usize {
        self.pos.capacity() * size_of::<u32>()
            + self.kind.capacity()
            + self.scalars.capacity()
            + self.escapes.capacity() * size_of::<EscapeBlocks>()
            + (self.blanks.capacity() + self.runs.capacity()) * size_of::<u64>()
    }

    pub(super) const fn new() -> Self {
        Self {
            pos: Vec::new(),
            kind: Vec::new(),
            len: 0,
            escapes: Vec::new(),
            escapes_len: 0,
            blanks: Vec::new(),
            runs: Vec::new(),
            scalars: Vec::new(),
            scalars_len: 0,
            is_dense: true,
            tuning: Tuning::USUAL,
            numbers_unjudged: 0,
            ascii_from: 0,
            blank: false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Removes all tokens.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.numbers_unjudged = 0;
        self.ascii_from = 0;
        self.blank = false;
        self.is_dense = true;
    }

    /// The kinds and the offsets.
    #[inline(always)]
    pub(crate) fn slices(&self) -> (&[u8], &[u32]) {
        (&self.kind[..self.len], &self.pos[..self.len])
    }

    /// The kinds of 64 tokens from `at` on, and the offsets of these and of the next token. Values past the last token
    /// are arbitrary.
    ///
    /// # Panics
    /// If `at` is greater than the number of tokens.
    #[inline(always)]
    pub(crate) fn batch(&self, at: usize) -> (&[u8; BATCH], &[u32; BATCH + 1]) {
        let batch = (self.kind[at..].first_chunk(), self.pos[at..].first_chunk());
        let (Some(kind), Some(pos)) = batch else { panic!("room for a block stands behind the last token") };
        (kind, pos)
    }

    /// If the token at `at` is an operator, returns whether white space stands before it. Documents only.
    #[inline(always)]
    pub(crate) fn operator(&self, at: usize) -> Option<bool> {
        let kind = self.kind[at];
        matches!(kind & !SPACED, b',' | b':' | b'{' | b'}' | b'[' | b']').then_some(kind & SPACED != 0)
    }

    /// Makes room for the tokens of `bytes` more bytes.
    #[inline]
    pub(crate) fn reserve(&mut self, bytes: usize) {
        // A byte is at most one token. Each block writes 64 entries into each buffer, whatever it finds, and a batch
        // reads 64.
        let wanted = self.len + bytes + 2 * BLOCK + SENTINELS;
        if wanted > self.pos.len() {
            self.grow(wanted);
        }
        // One entry for each pair of blocks, one for a block without a partner, and one for the rest of the text.
        let escapes = bytes / (2 * BLOCK) + 2;
        if escapes > self.escapes.len() {
            self.escapes.resize(escapes, EscapeBlocks::default());
        }
    }

    #[cold]
    fn grow(&mut self, wanted: usize) {
        // If no tokens must be kept, fresh zeroed memory is better: the system then provides its pages as they are
        // needed.
        if self.len == 0 {
            self.pos = vec![0; wanted];
            self.kind = vec![0; wanted];
        } else {
            self.pos.resize(wanted, 0);
            self.kind.resize(wanted, 0);
        }
    }

    /// Makes room for the masks of the blocks of a chunk of `bytes` bytes.
    pub(super) fn reserve_masks(&mut self, bytes: usize) {
        for masks in [&mut self.blanks, &mut self.runs] {
            masks.clear();
            masks.resize(bytes / BLOCK + 1, 0);
        }
    }

    /// The white space outside strings of the chunk that was scanned last, a mask for each block.
    pub(crate) fn blanks(&self) -> &[u64] {
        &self.blanks
    }

    /// The runs of the chunk that was scanned last, a mask for each block.
    pub(super) fn runs(&self) -> &[u64] {
        &self.runs
    }

    /// Makes room for the scalars of a chunk of `bytes` bytes.
    #[inline]
    pub(super) fn reserve_scalars(&mut self, bytes: usize) {
        // Each block writes a block, whatever it finds; one more is made of the end of the text.
        let wanted = bytes + 2 * BLOCK;
        if wanted > self.scalars.len() {
            self.scalars.resize(wanted, 0);
        }
    }

    /// The bytes of the runs of the chunk that was scanned last, each run with the byte after it.
    pub(super) fn scalars(&self) -> &[u8] {
        &self.scalars[..self.scalars_len]
    }

    /// Where the chunk that was scanned last has escapes.
    pub(super) fn escapes(&self) -> &[EscapeBlocks] {
        &self.escapes[..self.escapes_len]
    }

    /// The buffers, to be written after the tokens that are there.
    #[inline(always)]
    pub(super) fn free(&mut self) -> Free<'_> {
        Free {
            pos: &mut self.pos,
            kind: &mut self.kind,
            len: self.len,
            escapes: &mut self.escapes,
            escapes_len: 0,
            blanks: &mut self.blanks,
            runs: &mut self.runs,
            scalars: &mut self.scalars,
            scalars_len: 0,
        }
    }

    /// Sets the lengths after a scan wrote to the buffers that [`Tokens::free`] lent.
    pub(super) fn set_written(&mut self, Written { tokens, escapes, scalars }: Written) {
        assert!(tokens + SENTINELS <= self.pos.len(), "room was reserved for the sentinels");
        (self.len, self.escapes_len, self.scalars_len) = (tokens, escapes, scalars);
    }

    /// Whether the token at `at` begins with an ASCII byte. If it does not, its kind may look like that of a marked
    /// operator or string. In UTF-8 it can only look like a square bracket, because no character begins with one of
    /// the other bytes.
    #[inline(always)]
    pub(crate) fn is_ascii(&self, text: &[u8], at: usize) -> bool {
        text[self.pos[at] as usize].is_ascii()
    }

    /// Whether some colon does not stand directly after a quote. Always false without [`Simd::SKIMS`].
    pub(crate) fn has_loose_colon(&self, text: &[u8]) -> bool {
        let (kinds, pos) = self.slices();
        let is_behind_quote = |at: usize| pos[at].checked_sub(1).is_some_and(|before| text[before as usize] == b'"');
        self.blank && memchr::memchr_iter(b':', kinds).any(|at| !is_behind_quote(at))
    }

    /// Removes the [`SPACED`] mark from all operators of a document, for callers that compare kinds one by one.
    /// Afterwards only operators have an operator's kind.
    pub(crate) fn forget_spaces(&mut self, text: &[u8]) {
        for at in 0..self.len {
            if self.kind[at] & SPACED != 0 && self.operator(at).is_some() && self.is_ascii(text, at) {
                self.kind[at] &= !SPACED;
            }
        }
    }

    /// Records whether pass one checked the numbers of the chunk that it has just scanned, and whether one is invalid.
    /// After an invalid one, all numbers count as unchecked, so that pass two finds out which one it is.
    pub(super) fn numbers_judged(&mut self, judged: bool, wrong: bool) {
        if wrong {
            self.numbers_unjudged = usize::MAX;
        } else if !judged {
            self.numbers_unjudged = self.numbers_unjudged.max(self.len);
        }
    }

    /// Declares all numbers unchecked by pass one.
    pub(super) fn owe_all_numbers(&mut self) {
        self.numbers_unjudged = usize::MAX;
    }

    /// Removes the sentinels, and the tokens at `end` and after it.
    pub(super) fn reopen_at(&mut self, end: usize) {
        let tokens = &self.pos[..self.len - SENTINELS];
        self.len = tokens.partition_point(|&pos| (pos as usize) < end);
    }

    /// Appends a token.
    pub(super) fn push(&mut self, kind: u8, pos: u32) {
        self.reserve(0);
        (self.kind[self.len], self.pos[self.len]) = (kind, pos);
        self.len += 1;
    }

    /// Whether some numbers of the tokens from `at` on may still be unchecked.
    #[inline(always)]
    pub(crate) fn owe_numbers(&self, at: usize) -> bool {
        at < self.numbers_unjudged
    }

    /// Says that the chunk of the last tokens has bytes beyond ASCII.
    pub(super) fn not_ascii(&mut self) {
        self.ascii_from = self.len;
    }

    /// Whether the token at `at` or one after it may begin with a byte beyond ASCII.
    #[inline(always)]
    pub(crate) fn may_be_beyond_ascii(&self, at: usize) -> bool {
        at < self.ascii_from
    }

    /// Removes the tokens before `at`.
    pub(crate) fn consume(&mut self, at: usize) {
        if self.numbers_unjudged != usize::MAX {
            self.numbers_unjudged = self.numbers_unjudged.saturating_sub(at);
        }
        self.ascii_from = self.ascii_from.saturating_sub(at);
        self.pos.copy_within(at..self.len, 0);
        self.kind.copy_within(at..self.len, 0);
        self.len -= at;
    }

    /// Adjusts the offsets after the text has lost its first `bytes`, which hold no token any more.
    pub(super) fn shift(&mut self, bytes: usize) {
        self.pos[..self.len].iter_mut().for_each(|pos| *pos -= bytes as u32);
    }

    /// Makes the last token [`CUT`] if it is not complete before `end`, where the sentinels stand: a string without
    /// its closing quote, or a number or literal with nothing after it.
    pub(super) fn cut(&mut self, text: &[u8], end: usize) {
        let Some(last) = self.len.checked_sub(SENTINELS + 1) else { return };
        let token = &text[self.pos[last] as usize..end];
        let is_cut = match token {
            [b'"', rest @ ..] => crate::text::closing_quote(rest).is_none(),
            [b'-' | b'0'..=b'9' | b't' | b'f' | b'n', ..] => !matches!(token, [.., b' ' | b'\t' | b'\n' | b'\r']),
            _ => false,
        };
        if is_cut {
            self.kind[last] = CUT;
        }
    }

    /// The kind and the offset of the token at `at`, and the offset of the next token.
    ///
    /// # Safety
    /// `at` and `at + 1` must be indexes of tokens.
    #[inline(always)]
    pub(super) unsafe fn token_unchecked(&self, at: usize) -> (u8, u32, u32) {
        if cfg!(any(debug_assertions, jird_checked)) {
            assert!(at + 1 < self.len, "two tokens");
        }
        // SAFETY: the caller guarantees `at + 1 < self.len`, and both vectors are longer than `len`.
        unsafe { (*self.kind.get_unchecked(at), *self.pos.get_unchecked(at), *self.pos.get_unchecked(at + 1)) }
    }

    /// The kinds and the offsets of four tokens from `at` on. Values past the last token are arbitrary.
    ///
    /// # Safety
    /// `at` must be the index of a token.
    #[inline(always)]
    pub(super) unsafe fn four_unchecked(&self, at: usize) -> ([u8; 4], [u32; 4]) {
        if cfg!(any(debug_assertions, jird_checked)) {
            assert!(at < self.len, "a token");
        }
        // SAFETY: the caller guarantees `at < self.len`, and `reserve` made room for a block after `len`.
        unsafe {
            (self.kind.as_ptr().add(at).cast::<[u8; 4]>().read(), self.pos.as_ptr().add(at).cast::<[u32; 4]>().read())
        }
    }

    /// The number of tokens from `at` on before the next bracket, if that bracket is already known and is `closing`.
    /// In an invalid text another byte may look like a bracket. A caller that asks only after opening brackets makes
    /// this function look at each token at most once.
    #[cfg(feature = "serde")]
    #[inline(always)]
    pub(super) fn before_closing(&self, at: usize, closing: u8) -> Option<usize> {
        match self.kind[..self.len].get(at)? {
            kind if kind & BRACKET == BRACKET => (kind & !ESCAPED == closing).then_some(0),
            _ => self.before_closing_far(at, closing),
        }
    }

    #[cfg(feature = "serde")]
    #[inline(never)]
    fn before_closing_far(&self, at: usize, closing: u8) -> Option<usize> {
        const ONES: u64 = u64::from_le_bytes([1; 8]);
        let kinds = &self.kind[at..self.len];
        // Values past the last token are arbitrary; they are not counted.
        let (words, _) = self.kind[at..].as_chunks();
        for (index, word) in words.iter().take(kinds.len().div_ceil(8)).enumerate() {
            let others = !u64::from_le_bytes(*word) & (ONES * u64::from(BRACKET));
            let brackets = others.wrapping_sub(ONES) & !others & (ONES << 7);
            if brackets != 0 {
                let count = index * 8 + brackets.trailing_zeros() as usize / 8;
                return (kinds.get(count)? & !ESCAPED == closing).then_some(count);
            }
        }
        None
    }

    /// Appends the sentinels of a text that was scanned whole and ends at `end`.
    #[inline(always)]
    pub(crate) fn end_whole(&mut self, end: usize) {
        let room = (self.pos[self.len..].first_chunk_mut(), self.kind[self.len..].first_chunk_mut());
        let (Some(pos), Some(kind)) = room else { panic!("room was reserved for the sentinels") };
        // Texts are shorter than 2^32 bytes; the callers of the scan refuse longer ones.
        (*pos, *kind) = ([end as u32; SENTINELS], [END; SENTINELS]);
        self.len += SENTINELS;
    }

    /// Replaces the tokens at `end` and after it by sentinels.
    pub(crate) fn end_at(&mut self, end: usize) {
        self.reserve(0);
        while self.len > 0 && self.pos[self.len - 1] as usize >= end {
            self.len -= 1;
        }
        let end = u32::try_from(end).expect("the driver refuses texts of 2^32 bytes");
        self.pos[self.len..][..SENTINELS].fill(end);
        self.kind[self.len..][..SENTINELS].fill(END);
        self.len += SENTINELS;
    }
}

/// A scalar at the end of a piece of text: only the next piece shows where it ends, and pass two reads it with that
/// piece.
#[cfg(feature = "parallel")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CutScalar {
    pos: u32,
    kind: u8,
}

/// Support for pieces of a text that are not scanned in order.
#[cfg(feature = "parallel")]
impl Tokens {
    /// Removes all tokens, makes room for those of `bytes` bytes, and leaves a place for a [`Cut`] before them. If the
    /// cut scalar is a string, an escape after the border marks that place.
    pub(crate) fn clear_behind_cut(&mut self, bytes: usize) {
        self.clear();
        self.reserve(1 + bytes);
        (self.pos[0], self.kind[0]) = (0, b'"');
        self.len = 1;
    }

    /// The last token may be read only with the next piece, while the brackets of this piece are counted earlier. If
    /// the token's byte begins a character and looks like a marked bracket, this function changes its kind to one that
    /// does not.
    pub(crate) fn tell_last_from_bracket(&mut self, text: &[u8]) {
        const NO_BRACKET: u8 = 0xC2;
        let last = self.len - 1;
        if last > 0 && self.kind[last] & BRACKET == BRACKET && !self.is_ascii(text, last) {
            self.kind[last] = NO_BRACKET;
        }
    }

    /// Fills the place before the tokens. Returns the index of the first token.
    pub(crate) fn put_cut(&mut self, text: &[u8], cut: Option<CutScalar>) -> usize {
        let Some(CutScalar { pos, kind }) = cut else { return 1 };
        let mark = if kind == b'"' { self.kind[0] & ESCAPED } else { 0 };
        (self.pos[0], self.kind[0]) = (pos, kind | mark);
        // Pass one does not check a number that a border cuts.
        self.numbers_unjudged = self.numbers_unjudged.max(1);
        if !self.is_ascii(text, 0) {
            self.ascii_from = self.ascii_from.max(1);
        }
        0
    }

    /// Splits off the last token if it is a scalar: returns the number of the other tokens, and the scalar.
    pub(crate) fn cut_off(&self, text: &[u8], first: usize) -> (usize, Option<CutScalar>) {
        let last = self.len - 1;
        if self.len <= first || self.operator(last).is_some() && self.is_ascii(text, last) {
            return (self.len, None);
        }
        (last, Some(CutScalar { pos: self.pos[last], kind: self.kind[last] }))
    }
}

/// How much a scan has written.
pub(super) struct Written {
    /// The tokens, with those that were there before.
    tokens: usize,
    escapes: usize,
    scalars: usize,
}

/// The token buffers during the scan of a chunk: slices and lengths in locals.
pub(super) struct Free<'t> {
    pos: &'t mut [u32],
    kind: &'t mut [u8],
    len: usize,
    escapes: &'t mut [EscapeBlocks],
    escapes_len: usize,
    blanks: &'t mut [u64],
    runs: &'t mut [u64],
    scalars: &'t mut [u8],
    scalars_len: usize,
}

impl Free<'_> {
    /// The number of tokens.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(super) fn written(self) -> Written {
        Written { tokens: self.len, escapes: self.escapes_len, scalars: self.scalars_len }
    }

    /// Keeps two masks of a block, which is `index` of the chunk: its white space outside strings, and its runs.
    #[inline(always)]
    pub(super) fn keep_masks(&mut self, index: usize, blank: u64, run: u64) {
        (self.blanks[index], self.runs[index]) = (blank, run);
    }

    /// Keeps the bytes of a block whose bit is set in `keep`.
    #[inline(always)]
    pub(super) fn keep_scalars<S: Simd>(&mut self, simd: S, bytes: &[u8; BLOCK], keep: u64) {
        if cfg!(any(debug_assertions, jird_checked)) {
            assert!(self.scalars_len + BLOCK <= self.scalars.len());
        }
        // SAFETY: `Running::run` reserved room for the chunk and for two blocks more; each block before has kept at most 64
        // bytes, and at most one is made of the text's end.
        let out: &mut [MaybeUninit<u8>; BLOCK] =
            unsafe { &mut *self.scalars.as_mut_ptr().add(self.scalars_len).cast() };
        self.scalars_len += simd.compact(bytes, keep, out);
    }

    /// Appends the tokens of a block. Those in `marked` are marked: operators [`SPACED`], strings [`ESCAPED`].
    #[inline(always)]
    pub(super) fn emit<S: Simd>(
        &mut self,
        simd: S,
        block: S::Block,
        bytes: &[u8; BLOCK],
        found: u64,
        marked: u64,
        base: S::Offset,
    ) {
        if cfg!(any(debug_assertions, jird_checked)) {
            assert!(self.len + BLOCK <= self.pos.len() && self.len + BLOCK <= self.kind.len());
        }
        // SAFETY: `Running::run` reserved room for a token for each byte of the chunk and for two blocks more; each
        // block before has made at most 64 tokens.
        let (pos, kind) = unsafe {
            (&mut *self.pos.as_mut_ptr().add(self.len).cast(), &mut *self.kind.as_mut_ptr().add(self.len).cast())
        };
        simd.emit(block, bytes, found, marked, base, pos, kind);
        self.len += found.count_ones() as usize;
    }

    /// Marks the last token if `has_escape` is 1 and the token is a string. It is not one if the quote stands directly
    /// after another scalar; the text is invalid there.
    #[inline(always)]
    pub(super) fn mark_last(&mut self, has_escape: u64) {
        if let Some(kind) = self.len.checked_sub(1).and_then(|last| self.kind.get_mut(last)) {
            *kind |= u8::from(*kind == b'"') * ((has_escape as u8) << 7);
        }
    }

    /// Notes that one or two blocks, starting at block `index` of the chunk, have escapes.
    #[inline(always)]
    pub(super) fn note_escapes(&mut self, index: usize, state: State) {
        self.escapes[self.escapes_len] = EscapeBlocks::new(index, state);
        self.escapes_len += 1;
    }
}
