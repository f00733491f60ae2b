//! Bytes that were checked, as text.

/// Bytes as `str`, checked only where unchecked accesses are.
///
/// # Safety
/// `bytes` must be UTF-8.
#[inline(always)]
pub(crate) unsafe fn trusted_str(bytes: &[u8]) -> &str {
    if cfg!(any(debug_assertions, jird_checked)) {
        return core::str::from_utf8(bytes).expect("pass one found this to be UTF-8");
    }
    // SAFETY: the caller's promise.
    unsafe { core::str::from_utf8_unchecked(bytes) }
}
