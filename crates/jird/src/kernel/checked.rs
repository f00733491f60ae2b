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

/// The bytes as `str`, if they are UTF-8. For short text: a loop over sixteen bytes at a time finds most of it to be
/// ASCII, without the set-up that the standard library's check has.
#[inline]
pub(crate) fn as_utf8(bytes: &[u8]) -> Option<&str> {
    const HIGH_BITS: u128 = u128::from_ne_bytes([0x80; 16]);
    let (sixteens, _) = bytes.as_chunks::<16>();
    let is_ascii = match bytes.last_chunk() {
        Some(last) => {
            let high = |all, sixteen: &[u8; 16]| all | u128::from_ne_bytes(*sixteen);
            sixteens.iter().fold(u128::from_ne_bytes(*last), high) & HIGH_BITS == 0
        }
        None => bytes.iter().fold(0, |all, byte| all | byte) < 0x80,
    };
    if !is_ascii {
        return core::str::from_utf8(bytes).ok();
    }
    // SAFETY: no byte has its high bit, and ASCII is UTF-8.
    Some(unsafe { trusted_str(bytes) })
}
