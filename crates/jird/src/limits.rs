//! How large a document can be, and which numbers its tape can store.
//!
//! A build with `JIRD_SMALL_LIMITS=1` has small limits, so that tests reach all of them with a few kilobytes; at full
//! size that takes up to 34 GB.

/// Texts of documents are shorter than two to the power of this, in bytes.
pub(crate) const OFFSET_BITS: u32 = if cfg!(jird_small_limits) { 16 } else { 32 };

/// Offsets may lie this many bytes past the end of the text: one block.
pub(crate) const PAST_END: usize = 64;

/// The maximum length of a document's text, in bytes: an offset has [`OFFSET_BITS`] bits, and may lie past the end.
pub(crate) const SIZE_MAX: usize = (usize::MAX >> (usize::BITS - OFFSET_BITS)) - PAST_END;

/// Lengths of scalars from this value on are not stored.
pub(crate) const LENGTH_MAX: usize = if cfg!(jird_small_limits) { (1 << 7) - 1 } else { (1 << 27) - 1 };

/// Counts of children and of words from this value on are not stored with the others: see `tape/long.rs`.
pub(crate) const COUNT_MAX: usize = if cfg!(jird_small_limits) { (1 << 10) - 1 } else { (1 << 28) - 1 };
