//! The write-ahead log: batches in the order in which they came, each with its checksums.
//!
//! ```text
//! file   "jirdlog1", then batches
//! batch  "jirdbat1"  8 bytes
//!        bytes of the text         u64    all numbers are little-endian
//!        number of events          u32
//!        width of their times      u32    0: unknown
//!        arrival number of the first  u64
//!        checksum of the text      u64
//!        times                     i64 for each event
//!        checksum of all above     u64
//!        text: the events, each with a line feed at its end
//! ```
//!
//! A process that was killed leaves part of a batch at the end, which nobody had been told was safe. A reader stops there.
//! If a whole batch follows, then what is before it is damaged; a reader says so and reads on.

mod read;

use crate::event::Batch;
use crate::files::checksum;

pub(crate) use read::{read, read_from};

pub(crate) const LOG_MAGIC: &[u8; 8] = b"jirdlog1";
const BATCH_MAGIC: &[u8; 8] = b"jirdbat1";
/// Bytes of a batch before the times.
const FIXED_BYTES: usize = 40;

/// What goes before the text of a batch.
pub(crate) fn head(batch: &Batch, arrival: u64) -> Vec<u8> {
    let mut head = Vec::with_capacity(FIXED_BYTES + 8 * batch.times().len() + 8);
    head.extend_from_slice(BATCH_MAGIC);
    head.extend_from_slice(&(batch.text().len() as u64).to_le_bytes());
    head.extend_from_slice(&(batch.times().len() as u32).to_le_bytes());
    head.extend_from_slice(&u32::from(batch.order().width()).to_le_bytes());
    head.extend_from_slice(&arrival.to_le_bytes());
    head.extend_from_slice(&checksum(batch.text()).to_le_bytes());
    batch.times().iter().for_each(|time| head.extend_from_slice(&time.to_le_bytes()));
    let sum = checksum(&head);
    head.extend_from_slice(&sum.to_le_bytes());
    head
}
