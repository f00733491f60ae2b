//! Access without bounds checks to what the tape's builder has bounded; checked in debug and in checked builds.

/// Whether unchecked accesses are checked in this build.
const CHECKED: bool = cfg!(any(debug_assertions, jird_checked));

/// `words[0]`
///
/// # Safety
/// `words` must not be empty.
#[inline(always)]
pub(super) unsafe fn first(words: &[u64]) -> u64 {
    if CHECKED {
        return words[0];
    }
    // SAFETY: the caller's promise.
    unsafe { *words.get_unchecked(0) }
}

/// `words[1]`
///
/// # Safety
/// `words` must have two words at least.
#[inline(always)]
pub(super) unsafe fn second(words: &[u64]) -> u64 {
    if CHECKED {
        return words[1];
    }
    // SAFETY: the caller's promise.
    unsafe { *words.get_unchecked(1) }
}

/// `items[start..end]`
///
/// # Safety
/// `start <= end && end <= items.len()`
#[inline(always)]
pub(super) unsafe fn range<T>(items: &[T], start: usize, end: usize) -> &[T] {
    if CHECKED {
        return &items[start..end];
    }
    // SAFETY: the caller's promise.
    unsafe { items.get_unchecked(start..end) }
}
