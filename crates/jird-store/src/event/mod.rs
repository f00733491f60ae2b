//! Events: checked, minified and dated.

mod batch;
mod rows;

pub(crate) use batch::ArrivalClock;
pub use batch::{Batch, BatchBuilder};
pub use rows::Key;
pub(crate) use rows::{Clip, LoggedBatch, Row, sorted_rows};

/// What the times of some events say about their order: the width of their texts if all of them have their time in a
/// text of this width, and these texts sort as the events do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TextOrder {
    /// There are no events.
    #[default]
    Empty,
    /// All of them have such a text.
    Width(u8),
    /// Some have none, or one of another width.
    Unknown,
}

impl TextOrder {
    /// What holds for these events and others together.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Empty, order) | (order, Self::Empty) => order,
            (Self::Width(one), Self::Width(two)) if one == two => self,
            _ => Self::Unknown,
        }
    }

    /// As a number: 0 if nothing is known.
    pub(crate) fn width(self) -> u8 {
        if let Self::Width(width) = self { width } else { 0 }
    }

    /// From the number of events that there are.
    pub(crate) fn of_width(width: u8) -> Self {
        if width == 0 { Self::Unknown } else { Self::Width(width) }
    }
}
