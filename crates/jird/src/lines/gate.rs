//! Decides whether searching for literals before lines are read saves time.

/// When something is done that pays only for some lines: a search for the literals of a predicate before lines are read,
/// or a sweep for fields instead of a scan for tokens.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// Where it pays, as last measured: where few enough lines have a literal, or where lines are long.
    #[default]
    Measured,
    Always,
    Never,
}

/// The saving and the cost of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worth {
    /// If more than this percentage of the bytes must be read anyway, the search costs more than it saves.
    read_percent_max: u64,
    /// The cost of looking at a place that may be a literal, as the number of bytes that could be read in that time.
    try_bytes: u64,
}

/// Lines without a literal are not tokenised.
pub(super) const UNREAD: Worth = Worth { read_percent_max: 60, try_bytes: 16 };

/// All lines are tokenised and checked, but nothing is looked up in lines without a literal.
pub(super) const CHECKED: Worth = Worth { read_percent_max: 40, try_bytes: 32 };

/// The number of bytes that are searched before the saving is measured.
const SAMPLE_BYTES: u64 = 128 << 10;

/// The number of bytes that are not searched after a search did not pay off. It doubles each time, up to the end of
/// this range.
const CLOSED_BYTES: core::ops::RangeInclusive<usize> = 1 << 20..=16 << 20;

/// Open while searching pays off, as last measured.
#[derive(Debug)]
pub(super) struct Gate {
    worth: Worth,
    /// The number of bytes until it opens again.
    closed_bytes: usize,
    /// The number of bytes for which it closes next time.
    next_bytes: usize,
    sample: Sample,
}

/// The figures since the last decision.
#[derive(Debug, Default)]
struct Sample {
    searched_bytes: u64,
    /// Bytes that had to be read anyway, plus the cost of the places that were looked at, in bytes.
    read_bytes: u64,
}

impl Gate {
    pub(super) fn new(worth: Worth) -> Self {
        Self { worth, closed_bytes: 0, next_bytes: *CLOSED_BYTES.start(), sample: Sample::default() }
    }

    /// Whether the next `bytes` are searched.
    pub(super) fn opens(&mut self, search: When, bytes: usize) -> bool {
        match search {
            When::Always => true,
            When::Never => false,
            When::Measured => {
                let is_open = self.closed_bytes == 0;
                self.closed_bytes = self.closed_bytes.saturating_sub(bytes);
                is_open
            }
        }
    }

    /// Records that of `searched_bytes` searched bytes `read_bytes` had to be read, after `tried` places were looked
    /// at.
    pub(super) fn measure(&mut self, searched_bytes: usize, read_bytes: usize, tried: u64) {
        let sample = &mut self.sample;
        sample.searched_bytes += searched_bytes as u64;
        sample.read_bytes += read_bytes as u64 + tried * self.worth.try_bytes;
        if sample.searched_bytes < SAMPLE_BYTES {
            return;
        }
        let Sample { searched_bytes, read_bytes } = core::mem::take(sample);
        if read_bytes <= searched_bytes / 100 * self.worth.read_percent_max {
            self.next_bytes = *CLOSED_BYTES.start();
        } else {
            self.closed_bytes = self.next_bytes;
            self.next_bytes = (2 * self.next_bytes).min(*CLOSED_BYTES.end());
        }
    }
}
