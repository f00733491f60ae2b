//! How large a document can be, and what stands on its tape.
//!
//! A build with `JIRD_SMALL_LIMITS=1` has small ones, so that tests reach all of them with a few kilobytes: at full size that
//! takes up to 34 GB.

/// Texts of documents are shorter than two to the power of this, in bytes.
pub(crate) const OFFSET_BITS: u32 = if cfg!(jird_small_limits) { 16 } else { 32 };

/// Offsets may lie so far past the end of the text, in bytes: a block.
pub(crate) const PAST_END: usize = 64;

/// The longest text of a document, in bytes: an offset has [`OFFSET_BITS`], and may lie past the end.
pub(crate) const SIZE_MAX: usize = (1 << OFFSET_BITS) - 1 - PAST_END;

/// Lengths of scalars from here on are not stored.
pub(crate) const LENGTH_MAX: usize = if cfg!(jird_small_limits) { (1 << 7) - 1 } else { (1 << 27) - 1 };

/// Counts of children and of words from here on are not stored with the others: see `tape/long.rs`.
pub(crate) const COUNT_MAX: usize = if cfg!(jird_small_limits) { (1 << 10) - 1 } else { (1 << 28) - 1 };
