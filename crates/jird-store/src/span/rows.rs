//! The keys and offsets of a block's events. Nothing in a file is believed.

use super::{BLOCK_BYTES_MAX, arrow};
use crate::event::Key;
use std::fmt;
use std::io;

/// Why a block cannot be read.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The operating system refused.
    Io(io::Error),
    /// What is there is not what was written.
    Wrong(&'static str),
}

/// The keys of a block's events, and where each begins in the documents; one offset more than keys.
#[derive(Debug, Default)]
pub(crate) struct BlockRows {
    pub(crate) keys: Vec<Key>,
    pub(crate) offsets: Vec<u32>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Wrong(what) => f.write_str(what),
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The keys and offsets of the events whose columns are in `head`. `None` if they cannot be: keys ascend, and offsets
/// ascend from 0 to `text_bytes`.
pub(super) fn rows_of(head: &[u8], text_bytes: u64, base: u64) -> Option<BlockRows> {
    let layout = arrow::layout(head)?;
    (text_bytes <= BLOCK_BYTES_MAX && (1..=text_bytes).contains(&layout.rows)).then_some(())?;
    let count = usize::try_from(layout.rows).ok()?;
    let unpack = |range: std::ops::Range<usize>, len: usize| {
        let mut out = Vec::new();
        arrow::unpack(head.get(range)?, layout.compression, len, &mut out)?;
        Some(out)
    };
    let times = unpack(layout.times.clone(), count.checked_mul(8)?)?;
    let arrivals = unpack(layout.arrivals.clone(), count.checked_mul(4)?)?;
    let offsets = unpack(layout.offsets.clone(), count.checked_add(1)?.checked_mul(4)?)?;
    let times = times.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes));
    let arrivals = arrivals.as_chunks::<4>().0.iter().map(|bytes| u64::from(u32::from_le_bytes(*bytes)));
    let key = |(time, relative)| Some(Key { time, arrival: base.checked_add(relative)? });
    let keys: Vec<Key> = times.zip(arrivals).map(key).collect::<Option<_>>()?;
    let offsets: Vec<u32> = offsets.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    let ascends = keys.is_sorted() && offsets.is_sorted_by(|one, two| one < two);
    let is_whole = offsets.first() == Some(&0) && offsets.last().map(|last| u64::from(*last)) == Some(text_bytes);
    (ascends && is_whole).then_some(BlockRows { keys, offsets })
}
