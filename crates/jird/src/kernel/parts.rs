//! Parts of arrays, for vectors that are loaded from any place and stored to any place.

use super::simd::BLOCK;

/// Integers, whose vectors are loaded and stored.
///
/// # Safety
/// All bytes are initialised, and all bits may have any value.
pub(super) unsafe trait Plain: Copy {}

// SAFETY: integers have no padding and no invalid values.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}

/// The `N` elements from `at` on.
///
/// # Safety
/// `at + N <= all.len()`. Checked in builds that check unchecked accesses.
#[inline(always)]
pub(super) unsafe fn part<T, const N: usize>(all: &[T], at: usize) -> &[T; N] {
    if cfg!(any(debug_assertions, jird_checked)) {
        return all[at..].first_chunk().expect("the part is inside");
    }
    // SAFETY: the caller guarantees that the elements are there.
    unsafe { &*all.as_ptr().add(at).cast() }
}

/// [`part`], to write to.
///
/// # Safety
/// `at + N <= all.len()`. Checked in builds that check unchecked accesses.
#[inline(always)]
pub(super) unsafe fn part_mut<T, const N: usize>(all: &mut [T], at: usize) -> &mut [T; N] {
    if cfg!(any(debug_assertions, jird_checked)) {
        return all[at..].first_chunk_mut().expect("the part is inside");
    }
    // SAFETY: the caller guarantees that the elements are there.
    unsafe { &mut *all.as_mut_ptr().add(at).cast() }
}

/// Returns the same mask, but hides from the compiler how it was computed.
#[inline(always)]
pub(super) fn opaque(mask: u64) -> u64 {
    // Miri cannot run assembly.
    if cfg!(miri) {
        return mask;
    }
    let mut mask = mask;
    // SAFETY: the assembly has no instruction; it only names the register.
    unsafe { core::arch::asm!("/* {} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags)) };
    mask
}

/// [`opaque`] for two numbers. The compiler computes both before it goes on with either.
#[inline(always)]
pub(super) fn opaque_both(one: u64, other: u64) -> (u64, u64) {
    // Miri cannot run assembly.
    if cfg!(miri) {
        return (one, other);
    }
    let (mut one, mut other) = (one, other);
    // SAFETY: the assembly has no instruction; it only names the registers.
    unsafe {
        core::arch::asm!(
            "/* {} {} */", inout(reg) one, inout(reg) other, options(pure, nomem, nostack, preserves_flags)
        );
    }
    (one, other)
}

/// [`Simd::prefetch`](super::simd::Simd::prefetch).
#[inline(always)]
pub(super) fn prefetch(blocks: &[[u8; BLOCK]; 2], distance: usize) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // Miri does not know the instruction.
    if cfg!(miri) {
        return;
    }
    for block in blocks {
        // SAFETY: a prefetch of any address is not an access; it never fails. SSE is part of the architecture.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(block.as_ptr().wrapping_add(distance).cast()) };
    }
}
