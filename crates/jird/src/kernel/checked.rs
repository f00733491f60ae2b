//! Turns bytes that were checked into text.

/// The bytes as `str`. Builds that check unchecked accesses check the bytes too.
///
/// # Safety
/// `bytes` must be UTF-8.
#[inline(always)]
pub(crate) unsafe fn trusted_str(bytes: &[u8]) -> &str {
    if cfg!(any(debug_assertions, jird_checked)) {
        return core::str::from_utf8(bytes).expect("pass one found this to be UTF-8");
    }
    // SAFETY: the caller guarantees UTF-8.
    unsafe { core::str::from_utf8_unchecked(bytes) }
}
