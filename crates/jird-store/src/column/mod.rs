//! Small columns next to the documents of a block, by which conditions are decided without looking at text.
//!
//! A [`ColumnPlan`] says which paths have a column in a span, and its type: doubles, decimals, texts, words or booleans. It
//! [builds](ColumnPlan::build) an Arrow array per path and block, which is stored next to the documents. [`Columns`]
//! are such arrays, read back: they [`decide`](Columns::decide) which rows of the block cannot match.
//!
//! A row is left out only if it surely does not match, although a column knows less than a document does:
//!
//! - *Null* stands for null, for a missing value, and for a value that the column has no room for: one of another kind,
//!   or a long text. [`ColumnFacts`] say whether a block has such values; if it may, rows that are null are kept.
//! - A number is rounded to the nearest double, or to an infinite one. Rounding keeps the order, so two numbers whose
//!   doubles differ compare as their doubles do. If the doubles are equal, the row is kept, unless it is known which number
//!   of those that are rounded to this double a block has: the double itself, or its shortest decimal.
//!
//! Rows that are kept are compared again by the engine, on their text.
//!
//! If columns show all that a reader looks at, its documents need not be read: [`Columns::write`] makes lines of the
//! cells, `{"Level":"Error"}` for a document of half a kilobyte, in which the fields have the text that they have in the
//! document. Readers of lines then know nothing of columns; others take [`Cells`]. [`ColumnFacts`] say whether the
//! texts are known: whether each is what jird writes for its value (`1.50` is not, `1.5` is), and whether null stands
//! for null or for a missing value. The few texts that are others stand in one more column, the spellings.

mod build;
mod cell;
mod cells;
mod decide;
mod decimal;
mod fields;
mod spellings;
mod suggest;
mod texts;
mod words;
mod write;

use cell::Rounding;

pub(crate) use build::of_lines;
pub use build::{Column, ColumnPlan, ColumnType, TEXT_MAX};
pub use cells::{Cell, Cells};
pub use decide::Columns;
pub(crate) use decide::is_exact;
pub use decimal::Digits;
pub use fields::Fields;
pub(crate) use suggest::{spread, suggest};

/// The type that keeps all numbers of a field exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Numbers {
    /// Integers of at most 2⁵³, or none.
    Integers,
    /// Doubles, and perhaps such integers.
    Floats,
}

/// What a column shows of a block, and what it does not. It takes one byte in addition to the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColumnFacts(u8);

impl ColumnFacts {
    /// Nothing is known. Columns are sound with it all the same, and leave out less.
    pub const UNKNOWN: Self = Self(Self::HAS_OTHERS | Self::IS_ROUNDED);

    const HAS_OTHERS: u8 = 1;
    const IS_ROUNDED: u8 = 2;
    const HAS_TEXTS: u8 = 4;
    const NONE_IS_NULL: u8 = 8;
    const NONE_IS_MISSING: u8 = 16;
    /// Rows whose text is not what the column says, or that are null and have a value, are among the spellings.
    const IS_SPELLED: u8 = 32;
    /// All numbers are integers of at most 2⁵³, or have a point or an exponent and are what jird writes for their double,
    /// in some spelling...
    const IS_ORDINARY: u8 = 64;
    /// ...and some of them have a point or an exponent.
    const HAS_FLOATS: u8 = 128;
    /// What holds of a column of texts that shows all that documents have, none of them null or missing.
    pub(crate) const WHOLE: Self = Self(Self::HAS_TEXTS | Self::NONE_IS_NULL | Self::NONE_IS_MISSING);
    /// What holds of a column of a field that no document has.
    pub(crate) const ABSENT: Self = Self(Self::HAS_TEXTS | Self::NONE_IS_NULL);
    /// What holds of a column without rows.
    const OF_NONE: Self = Self(Self::HAS_TEXTS | Self::NONE_IS_NULL | Self::NONE_IS_MISSING | Self::IS_ORDINARY);

    /// The facts as they were stored.
    pub fn of_byte(byte: u8) -> Self {
        Self(byte)
    }

    /// The byte to store.
    pub fn to_byte(self) -> u8 {
        self.0
    }

    /// Whether some rows that are null may have a value that the column has no room for.
    pub fn has_others(self) -> bool {
        self.has(Self::HAS_OTHERS)
    }

    /// How the numbers differ from the doubles that stand for them.
    fn rounding(self) -> Rounding {
        match (self.has(Self::IS_ROUNDED), self.numbers()) {
            (false, _) => Rounding::None,
            // Integers of at most 2⁵³ are the shortest decimals of their doubles, too.
            (true, Some(_)) => Rounding::Shortest,
            (true, None) => Rounding::Unknown,
        }
    }

    /// Whether what the column does not show is among the spellings of its block.
    pub fn is_spelled(self) -> bool {
        self.has(Self::IS_SPELLED)
    }

    /// The text for which a row that is null stands, if it is the same for all that are not among the spellings:
    /// `Some("null")`, or none because the value is missing. `None` if the texts of the rows are not known.
    pub fn text_of_null(self) -> Option<Option<&'static str>> {
        if self.is_spelled() {
            return Some(None);
        }
        let is_known = self.has(Self::HAS_TEXTS) && !self.has_others();
        match (is_known, self.has(Self::NONE_IS_NULL), self.has(Self::NONE_IS_MISSING)) {
            (true, true, _) => Some(None),
            (true, false, true) => Some(Some("null")),
            _ => None,
        }
    }

    /// What numbers the column has, if all of them are exact as doubles, in some spelling, or are integers of at most 2⁵³.
    pub fn numbers(self) -> Option<Numbers> {
        let known = if self.has(Self::HAS_FLOATS) { Numbers::Floats } else { Numbers::Integers };
        self.has(Self::IS_ORDINARY).then_some(known)
    }

    fn add_if(&mut self, holds: bool, fact: u8) {
        self.0 |= if holds { fact } else { 0 };
    }

    fn remove_if(&mut self, holds: bool, fact: u8) {
        self.0 &= if holds { !fact } else { u8::MAX };
    }

    fn has(self, fact: u8) -> bool {
        self.0 & fact != 0
    }
}
