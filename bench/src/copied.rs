//! Bytes that C and C++ hand over: they copy them into a buffer that Rust owns, so no address of theirs is read.

/// The bytes that `copy` wrote to its buffer of `capacity` bytes. `copy` returns the length of all that it has, and may
/// leave out what does not fit.
///
/// # Errors
///
/// If `copy` returns more than `capacity`.
pub(crate) fn copied(capacity: usize, copy: impl FnOnce(&mut [u8]) -> usize) -> Result<Vec<u8>, String> {
    let mut buffer = vec![0; capacity];
    let len = copy(&mut buffer);
    if len > capacity {
        return Err(format!("the driver says that it has {len} bytes, but {capacity} are the most that it can have"));
    }
    buffer.truncate(len);
    Ok(buffer)
}
