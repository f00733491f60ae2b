//! What a scan tells of records.

use crate::error::Error;
use crate::locate::Located;
use crate::record::{Field, Mismatches};

/// What a scan has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Records read or passed by, matching or not.
    pub records: u64,
    /// Records that were tokenised. The others have no literal of the predicate. How many they are may depend on how the text
    /// is cut. Where all is checked, all.
    pub touched: u64,
    /// Bytes that were searched for literals first.
    pub searched_bytes: u64,
    /// Bytes for which the search was switched off, since it did not pay: most lines have a literal, or parts of one. Pieces in
    /// which something is wrong are in neither figure where all is checked.
    pub unsearched_bytes: u64,
    /// Records handed out.
    pub matched: u64,
    /// Records that break a rule.
    pub bad: u64,
    /// Comparisons that were unknown because the kinds differ, in records that have a literal of the predicate.
    pub mismatches: Mismatches,
    /// Whether the visitor stopped the scan.
    pub stopped: bool,
}

/// A record that was found to match. `'t` is the text's life, `'r` that of the visit.
#[derive(Debug)]
pub struct Match<'r, 't> {
    pub(super) fields: &'r [Field<'t>],
    pub(super) text: &'t [u8],
    pub(super) offset: usize,
}

impl<'r, 't> Match<'r, 't> {
    /// What the record has in slot `slot` of the projection.
    pub fn field(&self, slot: usize) -> Field<'t> {
        self.fields[slot]
    }

    /// All slots, in order.
    pub fn fields(&self) -> &'r [Field<'t>] {
        self.fields
    }

    /// The record's value as it stands, without white space around it.
    pub fn text(&self) -> &'t [u8] {
        self.text
    }

    /// Offset of the value's first byte in the text that is scanned.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

/// A record that breaks a rule.
#[derive(Clone, Debug)]
pub struct Bad<'t> {
    /// What is wrong, with its offset in the text that is scanned.
    pub error: Error,
    /// The line, without its line feed.
    pub text: &'t [u8],
    /// Offset of the line in the text that is scanned.
    pub offset: usize,
}

impl Bad<'_> {
    /// Finds line, column and path, as if the line were alone: its line is 1.
    pub fn locate(&self) -> Located {
        let within = self.error.offset().saturating_sub(self.offset as u64);
        Error::new(self.error.kind(), within).locate(self.text)
    }
}
