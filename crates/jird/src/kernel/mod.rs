//! Block operations per instruction set, and the choice between them.
//!
//! A *block* is 64 bytes; a *mask* is a `u64` with one bit per byte of a block, bit 0 for the first byte. [`Simd`] is what
//! differs between instruction sets: operations on blocks, UTF-8, and the making of tokens. The algorithms above are generic over it.
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
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod proof;
mod search;
mod simd;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod utf8;
mod words;

#[cfg_attr(not(feature = "serde"), allow(unused_imports, reason = "only what is typed is written so"))]
pub(crate) use digits::{EIGHT, SIXTEEN, eight_digits, sixteen_digits};
pub(crate) use escapes::{SHORT, any_escapes, escapes};
pub(crate) use search::Passed;
pub(crate) use simd::{BLOCK, Classes, Kinds, Simd, compact};
pub(crate) use words::TokenWords;

use crate::fault::Fault;
use crate::policy::Policy;
use crate::record::{Needles, Select};
use crate::scan::{Carry, Chunk, Found, Mode, Tokens, for_mode};
use crate::tape::structure::{Batch, Structure};
#[cfg(feature = "parallel")]
use crate::tape::unpaired::Unpaired;
use core::fmt;
use core::mem::MaybeUninit;

/// The instruction set for everything that is done block by block: pass one, pass two by masks, searches and escapes.
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
