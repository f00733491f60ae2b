//! Block operations per instruction set, and the choice between them.
//!
//! A *block* is 64 bytes; a *mask* is a `u64` with one bit per byte of a block, bit 0 for the first byte. `Simd` is
//! the trait of operations that differ between instruction sets: operations on blocks, the UTF-8 check, and writing
//! tokens and tape words. Algorithms are `Pass`es that are generic over it, in the folders that they belong to;
//! `Kernel::enter` runs one. A value of a type that implements `Simd` proves that this CPU has the instructions,
//! because only its `detect` makes one. Another instruction set is another file here. This folder is the only place
//! with intrinsics and with `cfg(target_arch)`.
#![allow(unsafe_code, reason = "intrinsics, and entering functions compiled for a CPU that was detected")]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod checked;
#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "only what is typed is written so"))]
mod digits;
mod escapes;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod parts;
mod portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod proof;
mod simd;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod utf8;
mod words;

pub(crate) use checked::{as_utf8, trusted_str};
#[cfg_attr(not(feature = "serde"), allow(unused_imports, reason = "only what is typed is written so"))]
pub(crate) use digits::{EIGHT, SIXTEEN, eight_digits, sixteen_digits};
pub(crate) use escapes::{SHORT, any_escapes, escapes};
pub(crate) use simd::{BLOCK, Classes, Kinds, MANY, Outline, Simd};
pub(crate) use words::TokenWords;

use core::fmt;

/// The instruction set for all work that is done block by block: pass one, pass two by masks, searches and escapes.
///
/// [`Kernel::best`] is the default everywhere; all kernels give the same result on every input.
///
/// ```
/// use jird::hooks::Kernel;
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

    /// The kernel in use: the forced one if there is one, otherwise the best that this CPU can run. Detection runs
    /// once per process.
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
    /// If `name` is unknown or not available on this CPU; the error lists the available names.
    pub fn named(name: &str) -> Result<Self, UnknownKernel> {
        Self::available().find(|kernel| kernel.name() == name).ok_or_else(|| UnknownKernel { name: name.into() })
    }

    /// Makes this kernel the one that the whole process uses. The first call decides; a later call for another kernel
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

    /// Runs a pass that is compiled for this instruction set. It costs a branch and a call: enter once per chunk, not
    /// once per block.
    #[inline(always)]
    pub(crate) fn enter<P: Pass>(self, pass: P) -> P::Out {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(proof) => proof.enter(pass),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(proof) => proof.enter(pass),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon(proof) => proof.enter(pass),
            Isa::Portable(proof) => enter_portable(proof, pass),
        }
    }

    /// [`Simd::SKIMS`] of this instruction set.
    #[inline]
    pub(crate) fn skims(self) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(_) => avx512::Avx512::SKIMS,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(_) => avx2::Avx2::SKIMS,
            #[cfg(target_arch = "aarch64")]
            Isa::Neon(_) => neon::Neon::SKIMS,
            Isa::Portable(_) => portable::Portable::SKIMS,
        }
    }

    /// [`Simd::LOADS_RESTS`] of this instruction set.
    #[inline(always)]
    pub(crate) fn loads_rests(self) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(_) => avx512::Avx512::LOADS_RESTS,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(_) => avx2::Avx2::LOADS_RESTS,
            #[cfg(target_arch = "aarch64")]
            Isa::Neon(_) => neon::Neon::LOADS_RESTS,
            Isa::Portable(_) => portable::Portable::LOADS_RESTS,
        }
    }

    /// [`Simd::JOINS_PASSES`] of this instruction set.
    #[inline(always)]
    pub(crate) fn joins_passes(self) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(_) => avx512::Avx512::JOINS_PASSES,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(_) => avx2::Avx2::JOINS_PASSES,
            #[cfg(target_arch = "aarch64")]
            Isa::Neon(_) => neon::Neon::JOINS_PASSES,
            Isa::Portable(_) => portable::Portable::JOINS_PASSES,
        }
    }
}

/// Work on blocks, with everything that it needs: written once, and compiled for each instruction set.
pub(crate) trait Pass {
    /// The result.
    type Out;

    /// Does the work. Every implementation, and every function that it calls for each block, must be
    /// `#[inline(always)]`: a separate function does not have the instruction set's features, and every intrinsic in
    /// it would be a call.
    fn run<S: Simd>(self, simd: S) -> Self::Out;
}

/// A separate function, as for the other instruction sets. Inlined, its stack frame of 4 KB would be made and probed on
/// every entry, for the other instruction sets too: 4 % of the time for a record of 600 bytes.
#[inline(never)]
fn enter_portable<P: Pass>(proof: portable::Portable, pass: P) -> P::Out {
    pass.run(proof)
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
