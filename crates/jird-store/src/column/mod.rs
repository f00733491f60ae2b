//! Small columns beside the documents of a block, by which conditions are decided without looking at text.
//!
//! A [`ColumnPlan`] says which paths have a column in a span, and of which type: doubles, texts or booleans. It
//! [builds](ColumnPlan::build) an Arrow array per path and block, which is stored beside the documents. [`Columns`] are
//! such arrays, read back: they [`decide`](Columns::decide) which rows of the block cannot match.
//!
//! A row is left out only if it surely does not match, although a column knows less than a document does:
//!
//! - *Null* stands for null, for a missing value, and for a value that the column has no room for: one of another kind,
//!   or a long text. [`ColumnFacts`] say whether a block has such values; if it may, rows that are null are kept.
//! - A number is rounded to the nearest double, or to an infinite one. Rounding keeps the order, so two numbers whose
//!   doubles differ compare as their doubles do. If the doubles are equal, the row is kept, unless the numbers of the
//!   block are known to be exact.
//!
//! Rows that are kept are compared again by the engine, on their text.

mod build;
mod cell;
mod decide;

pub use build::{Column, ColumnPlan, ColumnType, TEXT_MAX};
pub use decide::Columns;

/// What a column does not show of a block. It takes a byte beside the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColumnFacts(u8);

impl ColumnFacts {
    /// Nothing is known. Columns are sound with it all the same, and leave out less.
    pub const UNKNOWN: Self = Self(Self::HAS_OTHERS | Self::IS_ROUNDED);

    const HAS_OTHERS: u8 = 1;
    const IS_ROUNDED: u8 = 2;

    /// The facts as they were stored. Bits that mean nothing here are ignored.
    pub fn of_byte(byte: u8) -> Self {
        Self(byte & Self::UNKNOWN.0)
    }

    /// The byte to store.
    pub fn to_byte(self) -> u8 {
        self.0
    }

    /// Whether some rows that are null may have a value that the column has no room for.
    pub fn has_others(self) -> bool {
        self.0 & Self::HAS_OTHERS != 0
    }

    /// Whether some numbers may not be exactly the doubles that stand for them.
    pub fn is_rounded(self) -> bool {
        self.0 & Self::IS_ROUNDED != 0
    }

    fn new(has_others: bool, is_rounded: bool) -> Self {
        Self((u8::from(has_others) * Self::HAS_OTHERS) | (u8::from(is_rounded) * Self::IS_ROUNDED))
    }
}
