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

/// What a search saves, and what it costs beside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worth {
    /// Where more of the bytes than this have to be read all the same, the search costs more than it saves.
    read_percent_max: u64,
    /// What looking at a place that may be a literal costs: as much as reading so many bytes.
    try_bytes: u64,
}

/// Lines that are not found are not tokenised.
pub(super) const UNREAD: Worth = Worth { read_percent_max: 60, try_bytes: 16 };

/// They are, and checked, but nothing is looked for in them.
pub(super) const CHECKED: Worth = Worth { read_percent_max: 40, try_bytes: 32 };

/// So many bytes are searched before it is asked whether that pays.
const SAMPLE_BYTES: u64 = 128 << 10;

/// For so many bytes nothing is searched then; each time again for twice as many.
const CLOSED_BYTES: core::ops::RangeInclusive<usize> = 1 << 20..=16 << 20;

/// Open where a search pays, by what it saved last.
#[derive(Debug)]
pub(super) struct Gate {
    worth: Worth,
    /// So many bytes until it opens again.
    closed_bytes: usize,
    /// So long it is closed next time.
    next_bytes: usize,
    sample: Sample,
}

/// What was seen since it was last asked whether the search pays.
#[derive(Debug, Default)]
struct Sample {
    searched_bytes: u64,
    /// What had to be read all the same, or might as well have been.
    read_bytes: u64,
}

impl Gate {
    pub(super) fn new(worth: Worth) -> Self {
        Self { worth, closed_bytes: 0, next_bytes: *CLOSED_BYTES.start(), sample: Sample::default() }
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

    /// Of so many bytes that were searched so many had to be read, after so many places were looked at.
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
