//! Ordinary memory, for systems other than Unix.

/// A range of memory, which has no guard pages.
pub struct Guarded(Vec<u8>);

impl Guarded {
    /// Room for at least `len` bytes.
    pub fn new(len: usize) -> Self {
        Self(vec![0; len.max(1)])
    }

    /// A copy of `bytes` that ends where the range does.
    ///
    /// # Panics
    /// If there is no room for `bytes`.
    pub fn at_end(&mut self, bytes: &[u8]) -> &[u8] {
        let from = self.0.len().checked_sub(bytes.len()).expect("room for the bytes");
        self.0[from..].copy_from_slice(bytes);
        &self.0[from..]
    }

    /// A copy of `bytes` that begins where the range does.
    ///
    /// # Panics
    /// If there is no room for `bytes`.
    pub fn at_start(&mut self, bytes: &[u8]) -> &[u8] {
        let room = self.0.get_mut(..bytes.len()).expect("room for the bytes");
        room.copy_from_slice(bytes);
        room
    }
}
