//! Access without bounds checks at indexes that the tape's builder has bounded. Debug builds and checked builds
//! check the bounds.

/// Whether unchecked accesses are checked in this build.
const CHECKED: bool = cfg!(any(debug_assertions, jird_checked));

/// `words[index]`
///
/// # Safety
/// `index < words.len()`
#[inline(always)]
pub(super) unsafe fn at(words: &[u64], index: usize) -> u64 {
    if CHECKED {
        return words[index];
    }
    // SAFETY: the caller guarantees the bound.
    unsafe { *words.get_unchecked(index) }
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
    // SAFETY: the caller guarantees the bounds.
    unsafe { items.get_unchecked(start..end) }
}
