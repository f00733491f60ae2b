//! The write-ahead log: batches in the order in which they came, each with its checksums.
//!
//! ```text
//! file   "jirdlog2"  8 bytes
//!        number of the log         u64    all numbers are little-endian
//!        identity of the store     u64
//!        random number             u64
//!        checksum of all above     u64    the *identity* of the log: the manifest has it
//! batch  "jirdbat2"  8 bytes
//!        identity of the log       u64
//!        bytes of the text         u64
//!        number of events          u32
//!        width of their times      u32    0: unknown
//!        arrival number of the first  u64
//!        checksum of the text      u64
//!        bytes of the mark         u32
//!        times                     i64 for each event
//!        mark                      what the writer noted with the batch
//!        checksum of all above     u64
//!        text: the events, each with a line feed at its end
//! ```
//!
//! A log is written by one writer only, so its identity and an arrival number name one batch for ever: whatever was
//! copied here from another log, store or state is none of its batches. Arrival numbers have no gaps, so `logs` knows
//! which events are missing, wherever the damage is.
//!
//! A process that was killed leaves part of a batch at the end, which was never acknowledged. A reader stops there.
//!
//! Logs of the first format (`jirdlog1`) are read, too: they have no head but these 8 bytes, and their batches neither
//! the identity nor a mark.

mod read;

use crate::event::Batch;
use crate::files::checksum;

pub(crate) use read::{LogContent, read, read_from, read_unknown};

const LOG_MAGIC: &[u8; 8] = b"jirdlog2";
const BATCH_MAGIC: &[u8; 8] = b"jirdbat2";
/// Bytes of a batch before the times.
const FIXED_BYTES: usize = 52;
/// Bytes before the first batch.
pub(crate) const START_BYTES: usize = 40;

const FIRST_LOG_MAGIC: &[u8; 8] = b"jirdlog1";
const FIRST_BATCH_MAGIC: &[u8; 8] = b"jirdbat1";
const FIRST_FIXED_BYTES: usize = 40;

/// Bytes before the first batch of a log, by its identity.
pub(crate) fn start_bytes(identity: Option<u64>) -> usize {
    identity.map_or(FIRST_LOG_MAGIC.len(), |_| START_BYTES)
}

/// What a log begins with, and its identity.
pub(crate) fn start(number: u64, store: u64) -> ([u8; START_BYTES], u64) {
    let mut start = [0; START_BYTES];
    start[..8].copy_from_slice(LOG_MAGIC);
    start[8..16].copy_from_slice(&number.to_le_bytes());
    start[16..24].copy_from_slice(&store.to_le_bytes());
    start[24..32].copy_from_slice(&crate::files::random().to_le_bytes());
    let identity = checksum(&start[..32]);
    start[32..].copy_from_slice(&identity.to_le_bytes());
    (start, identity)
}

/// What goes before the text of a batch in a log with this identity.
pub(crate) fn head(identity: u64, batch: &Batch, arrival: u64, mark: &[u8]) -> Vec<u8> {
    let mut head = Vec::with_capacity(FIXED_BYTES + 8 * batch.times().len() + mark.len() + 8);
    head.extend_from_slice(BATCH_MAGIC);
    head.extend_from_slice(&identity.to_le_bytes());
    head.extend_from_slice(&(batch.text().len() as u64).to_le_bytes());
    head.extend_from_slice(&(batch.times().len() as u32).to_le_bytes());
    head.extend_from_slice(&u32::from(batch.order().width()).to_le_bytes());
    head.extend_from_slice(&arrival.to_le_bytes());
    head.extend_from_slice(&checksum(batch.text()).to_le_bytes());
    head.extend_from_slice(&(mark.len() as u32).to_le_bytes());
    batch.times().iter().for_each(|time| head.extend_from_slice(&time.to_le_bytes()));
    head.extend_from_slice(mark);
    let sum = checksum(&head);
    head.extend_from_slice(&sum.to_le_bytes());
    head
}
