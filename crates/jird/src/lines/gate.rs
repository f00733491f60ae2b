//! Whether it pays to search for literals before lines are read.

/// When the literals of a predicate are searched for before lines are read.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// Where few enough lines have one.
    #[default]
    Measured,
    Always,
    Never,
}

/// Where more of the bytes than this have to be read all the same, the search costs more than it saves.
const READ_PERCENT_MAX: usize = 60;

/// For so many bytes nothing is searched then; each time again for twice as many.
const CLOSED_BYTES: core::ops::RangeInclusive<usize> = 1 << 20..=16 << 20;

/// Open where a search pays, by what it saved last.
#[derive(Debug)]
pub(super) struct Gate {
    /// So many bytes until it opens again.
    closed_bytes: usize,
    /// So long it is closed next time.
    next_bytes: usize,
}

impl Gate {
    pub(super) fn new() -> Self {
        Self { closed_bytes: 0, next_bytes: *CLOSED_BYTES.start() }
    }

    /// Whether the next `bytes` are to be searched.
    pub(super) fn opens(&mut self, search: Search, bytes: usize) -> bool {
        match search {
            Search::Always => true,
            Search::Never => false,
            Search::Measured => {
                let is_open = self.closed_bytes == 0;
                self.closed_bytes = self.closed_bytes.saturating_sub(bytes);
                is_open
            }
        }
    }

    /// Of so many bytes that were searched so many had to be read.
    pub(super) fn measure(&mut self, searched_bytes: usize, read_bytes: usize) {
        if read_bytes <= searched_bytes / 100 * READ_PERCENT_MAX {
            self.next_bytes = *CLOSED_BYTES.start();
        } else {
            self.closed_bytes = self.next_bytes;
            self.next_bytes = (2 * self.next_bytes).min(*CLOSED_BYTES.end());
        }
    }
}
