//! Block operations per instruction set, and the choice between them.
//!
//! A *block* is 64 bytes; a *mask* is a `u64` with one bit per byte of a block, bit 0 for the first byte. [`Simd`] is the
//! handful of operations in which the instruction sets differ; everything above is one algorithm, generic over it.
//! A value of an implementing type is the proof that this CPU has the instructions: only its `detect` makes one.
//! This folder is the only place with intrinsics and with `cfg(target_arch)`.
#![allow(unsafe_code, reason = "intrinsics, and entering functions compiled for a CPU that was detected")]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "only what is typed is written so"))]
mod digits;
mod escapes;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod search;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod utf8;

#[cfg_attr(not(feature = "serde"), allow(unused_imports, reason = "only what is typed is written so"))]
pub(crate) use digits::{EIGHT, SIXTEEN, eight_digits, sixteen_digits};
pub(crate) use escapes::{SHORT, any_escapes, escapes};
pub(crate) use search::Passed;

use crate::fault::Fault;
use crate::policy::Policy;
use crate::record::{Needles, Select};
use crate::scan::{Carry, Chunk, Found, Mode, Tokens, for_mode};
use crate::tape::structure::{Batch, Structure};
#[cfg(feature = "parallel")]
use crate::tape::unpaired::Unpaired;
use crate::tape::word::{LENGTH_MAX, UPPER};
use core::fmt;
use core::mem::MaybeUninit;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use utf8::UTF8_TABLES;

/// Bytes in a block, bits in a mask.
pub(crate) const BLOCK: usize = 64;

/// The quotes of a string.
const QUOTES: u32 = 2;

/// What pass one needs to know about a block: one mask per class of byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Classes {
    /// `\`
    pub(crate) backslash: u64,
    /// `"`
    pub(crate) quote: u64,
    /// Space, tab, line feed, carriage return.
    pub(crate) space: u64,
    /// `{ } [ ] : ,`
    pub(crate) operator: u64,
    /// Bytes below 0x20.
    pub(crate) control: u64,
}

/// 64 tokens by what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds {
    pub(crate) string: u64,
    pub(crate) number: u64,
    pub(crate) literal: u64,
    pub(crate) comma: u64,
    pub(crate) colon: u64,
    pub(crate) open_object: u64,
    pub(crate) open_array: u64,
    pub(crate) close_object: u64,
    pub(crate) close_array: u64,
}

impl Kinds {
    /// These are none of them.
    #[cold]
    pub(crate) fn remove(&mut self, tokens: u64) {
        self.string &= !tokens;
        self.comma &= !tokens;
        self.colon &= !tokens;
        self.open_object &= !tokens;
        self.open_array &= !tokens;
        self.close_object &= !tokens;
        self.close_array &= !tokens;
    }

    #[inline(always)]
    pub(crate) fn scalar(&self) -> u64 {
        self.string | self.number | self.literal
    }

    #[inline(always)]
    pub(crate) fn open(&self) -> u64 {
        self.open_object | self.open_array
    }

    #[inline(always)]
    pub(crate) fn close(&self) -> u64 {
        self.close_object | self.close_array
    }
}

/// The operations that differ per instruction set. Every method means the same in every implementation.
pub(crate) trait Simd: Copy {
    /// A block in registers.
    type Block: Copy;
    /// What the UTF-8 check remembers of the blocks before.
    type Utf8: Copy;

    /// Whether numbers are ever judged by masks. Where a mask costs many instructions, one by one is faster.
    const JUDGES_NUMBERS: bool = true;
    /// Whether members of records are found by masks. Where masks cost more, steps from key to key are faster.
    const SKIMS: bool = false;

    /// The block's bytes in registers.
    fn load(self, block: &[u8; BLOCK]) -> Self::Block;
    /// Fewer than 64 bytes, and spaces behind them.
    #[inline(always)]
    fn load_rest(self, rest: &[u8]) -> [u8; BLOCK] {
        let mut block = [b' '; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        block
    }
    /// One mask per class of byte.
    fn classify(self, block: Self::Block) -> Classes;
    /// The same mask, of which the compiler does not know where it comes from.
    #[inline(always)]
    fn opaque(self, mask: u64) -> u64 {
        mask
    }
    /// Where `byte` stands.
    fn eq(self, block: Self::Block, byte: u8) -> u64;
    /// Where a byte from `low` to `high` stands, both included.
    fn between(self, block: Self::Block, low: u8, high: u8) -> u64;
    /// Bit `i` of the result is the parity of bits `0..=i`.
    fn prefix_xor(self, mask: u64) -> u64;
    /// The UTF-8 state after `before`, which was found to be right or will be found wrong elsewhere.
    fn utf8_after(self, before: &[u8; BLOCK]) -> Self::Utf8;
    /// Checks a block that follows the blocks that `state` has seen. A sequence that the block leaves open is judged
    /// with the next block.
    fn utf8_step(self, state: &mut Self::Utf8, block: Self::Block);
    /// False once any step saw a byte that is not UTF-8.
    fn utf8_ok(self, state: &Self::Utf8) -> bool;
    /// A block that has, for each bit of a byte, whether one of the two has it.
    fn merge(self, one: Self::Block, other: Self::Block) -> Self::Block;
    /// Where one of `"\\/bfnrt` stands, which may follow a backslash.
    #[inline(always)]
    fn escape_letters(self, block: Self::Block) -> u64 {
        let letters = self.eq(block, b'b') | self.eq(block, b'f') | self.eq(block, b'n') | self.eq(block, b'r');
        letters | self.eq(block, b't') | self.eq(block, b'/') | self.eq(block, b'"') | self.eq(block, b'\\')
    }
    /// Where a byte stands that a JSON string cannot hold as it is.
    #[inline(always)]
    fn escapes(self, block: Self::Block) -> u64 {
        self.eq(block, b'"') | self.eq(block, b'\\') | self.between(block, 0, 0x1f)
    }
    /// Where a byte beyond ASCII stands.
    fn beyond_ascii(self, block: Self::Block) -> u64;
    /// Each byte without its high bit.
    fn without_high_bits(self, block: Self::Block) -> Self::Block;
    /// What the tokens of these kinds are, as far as they are `valid`.
    #[inline(always)]
    fn kinds(self, kinds: Self::Block, valid: u64) -> Kinds {
        // Operators and strings may be marked by their high bit; of what else has it, nothing begins a token.
        let plain = self.without_high_bits(kinds);
        let is = |byte| self.eq(plain, byte) & valid;
        let letter = self.eq(kinds, b't') | self.eq(kinds, b'f') | self.eq(kinds, b'n');
        Kinds {
            string: is(b'"'),
            number: (self.between(kinds, b'0', b'9') | self.eq(kinds, b'-')) & valid,
            literal: letter & valid,
            comma: is(b','),
            colon: is(b':'),
            open_object: is(b'{'),
            open_array: is(b'['),
            close_object: is(b'}'),
            close_array: is(b']'),
        }
    }
    /// Whether `text[start..end]`, which begins with a digit or a minus and is followed by neither digit nor point, is a number
    /// of less than 32 bytes without exponent. False says nothing; and what `end` is may be nonsense.
    #[inline(always)]
    fn is_plain_number(self, text: &[u8], start: usize, end: usize) -> bool {
        start <= end && end <= text.len() && crate::number::check_at(text, start, end).is_ok()
    }
    /// Copies the bytes of the block that `keep` has, in order, and returns how many. What lies past the last is left
    /// arbitrary.
    #[inline(always)]
    fn compact(self, block: &[u8; BLOCK], keep: u64, out: &mut [MaybeUninit<u8>; BLOCK]) -> usize {
        // A byte for each, and a step on for those that are kept: no branch.
        let mut at = 0;
        for (index, &byte) in block.iter().enumerate() {
            out[at % BLOCK].write(byte);
            at += (keep >> index & 1) as usize;
        }
        at
    }
    /// Writes `base + i` for each set bit `i` of `mask`, in order. What lies past the last is left arbitrary.
    #[inline(always)]
    fn offsets(self, mut mask: u64, base: u32, offsets: &mut [u32; BLOCK]) {
        for offset in offsets.iter_mut().take(mask.count_ones() as usize) {
            *offset = base.wrapping_add(mask.trailing_zeros());
            mask &= mask.wrapping_sub(1);
        }
    }
    /// Those of `keys`, which are strings that a colon follows at once, whose length has its bit, modulo 64, in `lengths`; `pos`
    /// has where the tokens begin.
    #[inline(always)]
    fn keys_as_long(self, pos: &[u32; BLOCK + 1], mut keys: u64, lengths: u64) -> u64 {
        let mut found = 0;
        while keys != 0 {
            let index = keys.trailing_zeros() as usize;
            let len = pos[index % BLOCK + 1].wrapping_sub(pos[index % BLOCK]).wrapping_sub(QUOTES);
            found |= (lengths >> (len % 64) & 1) << index;
            keys &= keys - 1;
        }
        found
    }
    /// Writes a word of the tape for each token of `keep`, in order: see [`TokenWords`]. What lies past the last is left
    /// arbitrary.
    #[inline(always)]
    fn words(self, _kinds: Self::Block, tokens: &TokenWords<'_>, out: &mut [MaybeUninit<u64>; BLOCK]) {
        words_one_by_one(tokens, out);
    }
    /// Writes `base + i` and the byte at `i` for each set bit `i` of `mask`, in order, the byte with its high bit set if that
    /// of `marked` is. What lies past the last is left arbitrary.
    #[expect(clippy::too_many_arguments, reason = "the block in both its forms, what to write, and where")]
    fn emit(
        self,
        block: Self::Block,
        bytes: &[u8; BLOCK],
        mask: u64,
        marked: u64,
        base: u32,
        pos: &mut [u32; BLOCK],
        kind: &mut [u8; BLOCK],
    );
}

/// [`Simd::is_plain_number`], given masks of 32 bytes from the number's first on: what is no digit, points, zeros.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn is_plain_number(len: usize, other: u32, points: u32, zeros: u32) -> bool {
    // The first byte is a digit or a minus.
    let sign = other & 1;
    let point = other & !(u32::MAX << (len & 31)) & !1;
    // Behind the sign stands a digit, and no digit behind it if it is a zero; behind a point stands a digit; there is one
    // point at most, and nothing else.
    let first_digit = (other | zeros & !(other >> 1)) >> sign & 1;
    first_digit | point & !points | point << 1 & other | point & point.wrapping_sub(1) == 0 && len < 32
}

/// 64 tokens that become words of the tape (`tape::word`): offset in the lower half, what it is and its length in the upper.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "masks of what the kind tells as well"))]
pub(crate) struct TokenWords<'a> {
    /// The kinds.
    pub(crate) kinds: &'a [u8; BLOCK],
    /// Where the tokens begin, and where the one behind them does.
    pub(crate) pos: &'a [u32; BLOCK + 1],
    /// Tokens that get a word.
    pub(crate) keep: u64,
    /// Strings, whose word says where the content is.
    pub(crate) string: u64,
    /// Strings with an escape.
    pub(crate) escaped: u64,
    /// Strings, numbers and literals, which have a length.
    pub(crate) scalar: u64,
    /// Scalars that white space follows, and where they end, in order.
    pub(crate) loose: u64,
    pub(crate) ends: &'a [u32; BLOCK],
    /// Closing brackets, whose word says where the text behind them begins.
    pub(crate) close: u64,
    /// What the upper half of every word holds besides.
    pub(crate) flag: u32,
}

/// [`Simd::words`] without a compress: token by token, those that are kept.
#[inline(always)]
fn words_one_by_one(tokens: &TokenWords<'_>, out: &mut [MaybeUninit<u64>; BLOCK]) {
    let TokenWords { kinds, pos: [starts @ .., _], mut keep, mut loose, .. } = *tokens;
    let [_, nexts @ ..] = tokens.pos;
    let mut nexts: [u32; BLOCK] = *nexts;
    for &end in tokens.ends {
        if loose == 0 {
            break;
        }
        nexts[loose.trailing_zeros() as usize % BLOCK] = end;
        loose &= loose - 1;
    }
    for word in out.iter_mut().take(keep.count_ones() as usize) {
        let index = keep.trailing_zeros() as usize % BLOCK;
        keep &= keep.wrapping_sub(1);
        let form = u32::from(FORMS[usize::from(kinds[index])]);
        let start = starts[index];
        let len = nexts[index].wrapping_sub(start).wrapping_sub(form & FORM_QUOTES).min(LENGTH_MAX as u32);
        let upper = tokens.flag | (form & FORM_UPPER) << 24 | len;
        word.write(u64::from(upper) << 32 | u64::from(start.wrapping_add(form & FORM_SKIP)));
    }
}

/// How a token's word is made, by its kind: what [`UPPER`] says, how many of its bytes are quotes, and how many the offset
/// skips. That brackets have no length nobody needs to know: the upper halves of their words are written later.
static FORMS: [u8; 256] = {
    let mut forms = UPPER;
    let mut kind = 0;
    while kind < 256 {
        forms[kind] |= match kind as u8 & 0x7F {
            b'"' => 3,
            b'}' | b']' => 1,
            _ => 0,
        };
        kind += 1;
    }
    forms
};

const FORM_UPPER: u32 = 0xF8;
const FORM_QUOTES: u32 = 2;
const FORM_SKIP: u32 = 1;

/// Copies the bytes of `text` that are not `blank` to `out`, and returns how many. `blank` has a mask for each block of the
/// text, the last of which may be short.
#[inline(always)]
pub(crate) fn compact<S: Simd>(simd: S, text: &[u8], blank: &[u64], out: &mut [MaybeUninit<u8>]) -> usize {
    let mut len = 0;
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    let mut room = out;
    for (block, &blank) in blocks.iter().zip(blank) {
        let (next, _) = room.split_first_chunk_mut().expect("room for the text and a block more");
        let kept = simd.compact(block, !blank, next);
        len += kept;
        room = &mut room[kept..];
    }
    if let (false, Some(&blank)) = (rest.is_empty(), blank.get(blocks.len())) {
        for (_, &byte) in rest.iter().enumerate().filter(|(index, _)| blank >> index & 1 == 0) {
            room[0].write(byte);
            room = &mut room[1..];
            len += 1;
        }
    }
    len
}

/// Defines a proof token: `detect` is the only way to one, and one feature list serves detection and compilation.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! proof {
    ($name:ident, $enter:ident, $detected:ident: $($feature:tt),+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name(());

        impl $name {
            /// `Some` exactly when this CPU has every feature of the list.
            pub(crate) fn detect() -> Option<Self> {
                ($(std::arch::$detected!($feature))&&+).then_some(Self(()))
            }

            /// Pass one over a chunk, compiled with the list's features. A named function and not a closure: a closure
            /// has no features of its own, and where it did not fuse every intrinsic would become a call.
            pub(crate) fn scan(self, chunk: Chunk<'_>, mode: Mode, carry: &mut Carry, tokens: &mut Tokens) -> Found {
                #[target_feature($(enable = $feature),+)]
                fn $enter<const LINES: bool, const CHECK: bool, const BLANKS: bool>(
                    proof: $name, chunk: Chunk<'_>, carry: &mut Carry, tokens: &mut Tokens,
                ) -> Found {
                    crate::scan::scan_chunk::<$name, LINES, CHECK, BLANKS>(proof, chunk, carry, tokens)
                }
                // SAFETY: `self` exists, so `detect` found this very list on this CPU.
                unsafe { crate::scan::for_mode!(mode, $enter(self, chunk, carry, tokens)) }
            }

            /// Copies what is not white space.
            pub(crate) fn compact(self, text: &[u8], blank: &[u64], out: &mut [MaybeUninit<u8>]) -> usize {
                #[target_feature($(enable = $feature),+)]
                fn $enter(proof: $name, text: &[u8], blank: &[u64], out: &mut [MaybeUninit<u8>]) -> usize {
                    crate::kernel::compact(proof, text, blank, out)
                }
                // SAFETY: `self` exists, so `detect` found this very list on this CPU.
                unsafe { $enter(self, text, blank, out) }
            }

            /// Escapes whole blocks.
            pub(crate) fn escape_blocks(self, content: &[u8], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
                #[target_feature($(enable = $feature),+)]
                fn $enter(proof: $name, content: &[u8], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
                    crate::text::escape_blocks(proof, content, out)
                }
                // SAFETY: `self` exists, so `detect` found this very list on this CPU.
                unsafe { $enter(self, content, out) }
            }

            /// Pass two over some tokens of a document.
            pub(crate) fn structure(
                self, batch: Batch<'_>, state: &mut Structure, words: Option<&mut Vec<u64>>,
            ) -> Result<(), Fault> {
                #[target_feature($(enable = $feature),+)]
                fn $enter(
                    proof: $name, batch: Batch<'_>, state: &mut Structure, words: Option<&mut Vec<u64>>,
                ) -> Result<(), Fault> {
                    crate::tape::structure::run(proof, batch, state, words)
                }
                // SAFETY: `self` exists, so `detect` found this very list on this CPU.
                unsafe { $enter(self, batch, state, words) }
            }

            /// Pass two over lines that are most likely right.
            pub(crate) fn lines_are_right(self, text: &[u8], tokens: &Tokens, policy: &crate::policy::Policy) -> bool {
                #[target_feature($(enable = $feature),+)]
                fn $enter(proof: $name, text: &[u8], tokens: &Tokens, policy: &crate::policy::Policy) -> bool {
                    crate::lines::grammar::is_right(proof, text, tokens, policy)
                }
                // SAFETY: `self` exists, so `detect` found this very list on this CPU.
                unsafe { $enter(self, text, tokens, policy) }
            }

            /// Finds what is wanted of a record by masks.
            #[allow(dead_code, reason = "not where Simd::SKIMS is false")]
            pub(crate) fn skim(
                self, select: &mut crate::record::Select<'_>, text: &[u8], tokens: &Tokens, at: usize,
            ) -> Option<usize> {
                #[target_feature($(enable = $feature),+)]
                fn $enter(
                    proof: $name, select: &mut crate::record::Select<'_>, text: &[u8], tokens: &Tokens, at: usize,
                ) -> Option<usize> {
                    select.by_masks(proof, text, tokens, at)
                }
                // SAFETY: `self` exists, so `detect` found this very list on this CPU.
                unsafe { $enter(self, select, text, tokens, at) }
            }

            /// Looks for needles in lines.
            pub(crate) fn search(self, text: &[u8], from: usize, needles: &crate::record::Needles) -> crate::kernel::Passed {
                #[target_feature($(enable = $feature),+)]
                fn $enter(
                    proof: $name, text: &[u8], from: usize, needles: &crate::record::Needles,
                ) -> crate::kernel::Passed {
                    crate::kernel::search::search(proof, text, from, needles)
                }
                // SAFETY: `self` exists, so `detect` found this very list on this CPU.
                unsafe { $enter(self, text, from, needles) }
            }

            /// Brackets without partners among the tokens from `at` on.
            #[cfg(feature = "parallel")]
            pub(crate) fn unpaired(self, tokens: &Tokens, at: usize, found: &mut crate::tape::unpaired::Unpaired) {
                #[target_feature($(enable = $feature),+)]
                fn $enter(proof: $name, tokens: &Tokens, at: usize, found: &mut crate::tape::unpaired::Unpaired) {
                    crate::tape::unpaired::find(proof, tokens, at, found);
                }
                // SAFETY: `self` exists, so `detect` found this very list on this CPU.
                unsafe { $enter(self, tokens, at, found) }
            }
        }
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use proof;

/// [`Simd::emit`] without a byte compress, from bytes that are marked already: groups of eight without a test inside, since
/// a branch per token would be mispredicted once per block.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn emit_by_eights(bytes: &[u8; BLOCK], mut mask: u64, base: u32, pos: &mut [u32; BLOCK], kind: &mut [u8; BLOCK]) {
    let groups = (mask.count_ones() as usize).div_ceil(8);
    let (pos, kind) = (pos.as_chunks_mut::<8>().0, kind.as_chunks_mut::<8>().0);
    for (pos, kind) in pos.iter_mut().zip(kind).take(groups) {
        for (pos, kind) in pos.iter_mut().zip(kind) {
            // Past the last bit this writes `base + 64`, which nobody reads.
            let at = mask.trailing_zeros();
            *pos = base.wrapping_add(at);
            *kind = bytes[at as usize % BLOCK];
            mask &= mask.wrapping_sub(1);
        }
    }
}

/// The instruction set that pass one runs on.
///
/// [`Kernel::best`] is what everything uses unless told otherwise; all kernels give the same result on every input.
///
/// ```
/// use jird::Kernel;
/// assert!(Kernel::available().any(|kernel| kernel.name() == "portable"));
/// assert_eq!(Kernel::available().next(), Some(Kernel::best()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kernel(Isa);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Isa {
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(neon::Neon),
    Portable(portable::Portable),
}

impl Kernel {
    /// Every kernel that this CPU can run, best first. The portable one is always there, last.
    pub fn available() -> impl Iterator<Item = Self> {
        let kernels = core::iter::once(Isa::Portable(portable::Portable));
        #[cfg(target_arch = "x86_64")]
        let kernels = avx2::Avx2::detect().map(Isa::Avx2).into_iter().chain(kernels);
        #[cfg(target_arch = "x86_64")]
        let kernels = avx512::Avx512::detect().map(Isa::Avx512).into_iter().chain(kernels);
        #[cfg(target_arch = "aarch64")]
        let kernels = neon::Neon::detect().map(Isa::Neon).into_iter().chain(kernels);
        kernels.map(Self)
    }

    /// The one in use: the forced one if there is one, else the best that this CPU can run. Detects once per process.
    pub fn best() -> Self {
        static BEST: std::sync::OnceLock<Kernel> = std::sync::OnceLock::new();
        if let Some(kernel) = FORCED.get() {
            return *kernel;
        }
        *BEST.get_or_init(|| Self::available().next().unwrap_or(Self(Isa::Portable(portable::Portable))))
    }

    /// The kernel of this name.
    ///
    /// # Errors
    /// Says which names this CPU can run if `name` is unknown or not available here.
    pub fn named(name: &str) -> Result<Self, UnknownKernel> {
        Self::available().find(|kernel| kernel.name() == name).ok_or_else(|| UnknownKernel { name: name.into() })
    }

    /// Makes this kernel the one that the whole process uses. The first call decides; a later one for another kernel
    /// fails.
    ///
    /// # Errors
    /// If another kernel was forced before.
    pub fn force(self) -> Result<(), UnknownKernel> {
        match FORCED.get_or_init(|| self) {
            kernel if *kernel == self => Ok(()),
            kernel => Err(UnknownKernel { name: format!("{} (after {})", self.name(), kernel.name()) }),
        }
    }

    /// `avx512`, `avx2`, `neon` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(_) => "avx2",
            #[cfg(target_arch = "aarch64")]
            Isa::Neon(_) => "neon",
            Isa::Portable(_) => "portable",
        }
    }

    /// Pass one over a chunk. Dispatches once per chunk, not once per block.
    pub(crate) fn scan(self, chunk: Chunk<'_>, mode: Mode, carry: &mut Carry, tokens: &mut Tokens) -> Found {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(proof) => proof.scan(chunk, mode, carry, tokens),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(proof) => proof.scan(chunk, mode, carry, tokens),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon(proof) => proof.scan(chunk, mode, carry, tokens),
            Isa::Portable(proof) => for_mode!(mode, portable_scan(proof, chunk, carry, tokens)),
        }
    }
}

fn portable_scan<const LINES: bool, const CHECK: bool, const BLANKS: bool>(
    proof: portable::Portable,
    chunk: Chunk<'_>,
    carry: &mut Carry,
    tokens: &mut Tokens,
) -> Found {
    crate::scan::scan_chunk::<_, LINES, CHECK, BLANKS>(proof, chunk, carry, tokens)
}

impl Kernel {
    /// Copies the bytes of a chunk that are not white space outside strings; see [`compact`].
    pub(crate) fn compact(self, text: &[u8], blank: &[u64], out: &mut [MaybeUninit<u8>]) -> usize {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(proof) => proof.compact(text, blank, out),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(proof) => proof.compact(text, blank, out),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon(proof) => proof.compact(text, blank, out),
            Isa::Portable(proof) => compact(proof, text, blank, out),
        }
    }

    /// Writes what stands for `content`, a block at least, in a JSON string: block by block to the end, while there is room for
    /// a block of escapes. Returns how many bytes were read and written: of what is stored behind the latter nothing counts.
    #[inline]
    pub(crate) fn escape_blocks(self, content: &[u8], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(proof) => proof.escape_blocks(content, out),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(proof) => proof.escape_blocks(content, out),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon(proof) => proof.escape_blocks(content, out),
            Isa::Portable(proof) => crate::text::escape_blocks(proof, content, out),
        }
    }

    /// Pass two over some tokens of a document; writes the tape if there is one.
    pub(crate) fn structure(
        self,
        batch: Batch<'_>,
        state: &mut Structure,
        words: Option<&mut Vec<u64>>,
    ) -> Result<(), Fault> {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(proof) => proof.structure(batch, state, words),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(proof) => proof.structure(batch, state, words),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon(proof) => proof.structure(batch, state, words),
            Isa::Portable(proof) => crate::tape::structure::run(proof, batch, state, words),
        }
    }

    /// Whether all lines of which these are the tokens are right; false where only a walk can tell.
    pub(crate) fn lines_are_right(self, text: &[u8], tokens: &Tokens, policy: &Policy) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(proof) => proof.lines_are_right(text, tokens, policy),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(proof) => proof.lines_are_right(text, tokens, policy),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon(proof) => proof.lines_are_right(text, tokens, policy),
            Isa::Portable(proof) => crate::lines::grammar::is_right(proof, text, tokens, policy),
        }
    }

    /// Finds what is wanted of a record whose tokens begin before `at`: [`Select::by_masks`] or [`Select::by_steps`], whichever is the
    /// faster. For each record: around the loop over them it would compile that, and whoever is visited, once for each instruction
    /// set. The call takes 0.2 % of a filter.
    #[inline]
    pub(crate) fn skim(self, select: &mut Select<'_>, text: &[u8], tokens: &Tokens, at: usize) -> Option<usize> {
        match self.0 {
            // As `Simd::SKIMS` has it.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(proof) => proof.skim(select, text, tokens, at),
            _ => select.by_steps(text, tokens, at),
        }
    }

    /// The first line of `text`, from the line's beginning at `from` on, that has a needle; and what comes before it.
    pub(crate) fn search(self, text: &[u8], from: usize, needles: &Needles) -> Passed {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(proof) => proof.search(text, from, needles),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(proof) => proof.search(text, from, needles),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon(proof) => proof.search(text, from, needles),
            Isa::Portable(proof) => search::search(proof, text, from, needles),
        }
    }

    /// Brackets without partners among the tokens from `at` on.
    #[cfg(feature = "parallel")]
    pub(crate) fn unpaired(self, tokens: &Tokens, at: usize, found: &mut Unpaired) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(proof) => proof.unpaired(tokens, at, found),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(proof) => proof.unpaired(tokens, at, found),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon(proof) => proof.unpaired(tokens, at, found),
            Isa::Portable(proof) => crate::tape::unpaired::find(proof, tokens, at, found),
        }
    }
}

static FORCED: std::sync::OnceLock<Kernel> = std::sync::OnceLock::new();

impl Default for Kernel {
    fn default() -> Self {
        Self::best()
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({})", self.name())
    }
}

/// A kernel that is unknown or that this CPU cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKernel {
    name: String,
}

impl fmt::Display for UnknownKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = Kernel::available().map(Kernel::name).collect();
        write!(f, "no kernel {:?} on this machine; it has {}", self.name, names.join(", "))
    }
}

impl std::error::Error for UnknownKernel {}
