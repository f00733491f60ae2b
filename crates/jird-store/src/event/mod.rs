//! Events: checked, minified and dated.

mod batch;
mod future;
mod rows;

pub(crate) use batch::ArrivalClock;
pub use batch::{Batch, BatchBuilder};
pub use future::{EventError, FutureLimit};
pub use rows::Key;
pub(crate) use rows::{Clip, LoggedBatch, Row, sorted_rows};

/// What the times of some events say about their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TextOrder {
    /// There are no events.
    #[default]
    Empty,
    /// All of them have their time in a text of this width, and these texts sort as the events do.
    Width(u8),
    /// All of them have their time in the time field, as texts of several forms, or as numbers.
    Dated,
    /// Some have no time of their own. Before there was [`Dated`](Self::Dated), perhaps all have one.
    Unknown,
}

impl TextOrder {
    /// What holds for these events and others together.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Empty, order) | (order, Self::Empty) => order,
            (Self::Width(one), Self::Width(two)) if one == two => self,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            _ => Self::Dated,
        }
    }

    /// Whether the texts of the times sort as the events do.
    pub(crate) fn is_of_texts(self) -> bool {
        matches!(self, Self::Empty | Self::Width(_))
    }

    /// As a number: 0 if nothing is known.
    pub(crate) fn width(self) -> u8 {
        match self {
            Self::Width(width) => width,
            Self::Dated => Self::DATED,
            Self::Empty | Self::Unknown => 0,
        }
    }

    /// From such a number; there are events.
    pub(crate) fn of_width(width: u8) -> Self {
        match width {
            0 => Self::Unknown,
            Self::DATED => Self::Dated,
            width => Self::Width(width),
        }
    }

    /// No text of a time is as wide.
    const DATED: u8 = u8::MAX;
}
