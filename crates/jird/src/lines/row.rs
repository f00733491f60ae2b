//! The results of a scan of lines.

use crate::error::Error;
use crate::locate::Located;
use crate::record::{Field, Mismatches};

/// Counts of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Records read or skipped, matching or not.
    pub records: u64,
    /// Records that were tokenised. The others contain no literal of the predicate. The number may depend on how the
    /// text is cut into pieces. With [`Check::All`](super::Check::All) it counts all records.
    pub touched: u64,
    /// Bytes that were searched for literals first.
    pub searched_bytes: u64,
    /// Bytes for which the search was switched off, because it did not save time: most lines have a literal, or parts
    /// of one. With [`Check::All`](super::Check::All), pieces that contain an error are in neither figure.
    pub unsearched_bytes: u64,
    /// Records passed to the visitor.
    pub matched: u64,
    /// Records that break a rule.
    pub bad: u64,
    /// Comparisons whose result is unknown because the kinds differ, in records that contain a literal of the
    /// predicate.
    pub mismatches: Mismatches,
    /// Whether the visitor stopped the scan.
    pub stopped: bool,
}

/// A record that matches. `'t` is the lifetime of the text, `'r` that of the visit.
#[derive(Debug)]
pub struct Match<'r, 't> {
    pub(super) fields: &'r [Field<'t>],
    pub(super) text: &'t [u8],
    pub(super) offset: usize,
}

impl<'r, 't> Match<'r, 't> {
    /// The record's field in slot `slot` of the projection.
    pub fn field(&self, slot: usize) -> Field<'t> {
        self.fields[slot]
    }

    /// All slots, in order.
    pub fn fields(&self) -> &'r [Field<'t>] {
        self.fields
    }

    /// The record's value as it stands in the text, without white space around it.
    pub fn text(&self) -> &'t [u8] {
        self.text
    }

    /// Offset of the value's first byte in the scanned text.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

/// A record that breaks a rule.
#[derive(Clone, Debug)]
pub struct Bad<'t> {
    /// The error, with its offset in the scanned text.
    pub error: Error,
    /// The line, without its newline; of a line that is too long, one byte more than it may have.
    pub text: &'t [u8],
    /// Offset of the line in the scanned text.
    pub offset: usize,
}

impl Bad<'_> {
    /// Finds the line, column and path, as if the line were a text of its own: its line number is 1.
    pub fn locate(&self) -> Located {
        let within = self.error.offset().saturating_sub(self.offset as u64);
        Error::new(self.error.kind(), within).locate(self.text)
    }
}
