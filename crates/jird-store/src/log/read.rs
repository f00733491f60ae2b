//! Reading a log, without trusting anything in it.

use super::{
    BATCH_MAGIC, FIRST_BATCH_MAGIC, FIRST_FIXED_BYTES, FIRST_LOG_MAGIC, FIXED_BYTES, LOG_MAGIC, START_BYTES,
    start_bytes,
};
use crate::event::{LoggedBatch, TextOrder};
use crate::files::{Input, has_checksum, read_exact};
use arrow_buffer::Buffer;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// What is in a log.
#[derive(Debug, Default)]
pub(crate) struct LogContent {
    /// In the order of the file.
    pub(crate) batches: Vec<Arc<LoggedBatch>>,
    /// What is in the file that is none of its batches: offset, bytes, what is wrong.
    pub(crate) damage: Vec<(u64, u64, &'static str)>,
    /// The end is such a stretch, and does not look like what a loss of power leaves.
    pub(crate) has_bad_end: bool,
    /// The identity with which it was read.
    pub(crate) identity: Option<u64>,
    /// How many bytes at the end are not a whole batch, and look as if they were being written.
    pub(crate) torn_bytes: u64,
    /// How many bytes were read.
    pub(crate) len: u64,
}

/// Reads a log as far as it goes now; a writer may append to it meanwhile. `identity` is that of the manifest; `None` for
/// a log of the first format. Needs about as much memory as the file is long, which the batches share, and time linear in
/// it.
pub(crate) fn read(input: &dyn Input, identity: Option<u64>) -> io::Result<LogContent> {
    let len = input.len()?;
    let mut bytes = Vec::new();
    read_exact(input, 0, len, &mut bytes)?;
    Ok(read_bytes(bytes, identity))
}

/// Reads a log when nothing is known but what it says itself: its beginning, unless it is damaged or of the first
/// format, and its batches.
pub(crate) fn read_unknown(input: &dyn Input) -> io::Result<(Option<LogStart>, LogContent)> {
    let len = input.len()?;
    let mut bytes = Vec::new();
    read_exact(input, 0, len, &mut bytes)?;
    let start = LogStart::read(&bytes);
    let of_batch = || {
        let at = memchr::memmem::find(&bytes, BATCH_MAGIC)? + BATCH_MAGIC.len();
        Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
    };
    let is_first_format = bytes.starts_with(FIRST_LOG_MAGIC);
    let identity = start.map(|start| start.identity).or_else(|| if is_first_format { None } else { of_batch() });
    Ok((start, read_bytes(bytes, identity)))
}

/// What a log says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogStart {
    pub(crate) number: u64,
    pub(crate) store: u64,
    pub(crate) identity: u64,
}

impl LogStart {
    /// `None` if it is damaged.
    fn read(bytes: &[u8]) -> Option<Self> {
        let start = bytes.get(..START_BYTES)?;
        let mut rest = start.strip_prefix(LOG_MAGIC)?;
        let (number, store) = (take_u64(&mut rest)?, take_u64(&mut rest)?);
        let _random = take_u64(&mut rest)?;
        let identity = take_u64(&mut rest)?;
        has_checksum(&start[..START_BYTES - 8], identity).then_some(Self { number, store, identity })
    }
}

/// How much of a log is read at a time, if its batches are no longer.
const READ_BYTES: u64 = 1 << 20;

/// Reads whole batches of a log from a byte on, which is where one begins, about a megabyte of them. Returns them and
/// where they end; what is none between two whole batches is passed over.
pub(crate) fn read_from(input: &dyn Input, identity: Option<u64>, at: u64) -> io::Result<(Vec<Arc<LoggedBatch>>, u64)> {
    let mut wanted = READ_BYTES;
    loop {
        let rest = input.len()?.saturating_sub(at);
        if rest == 0 {
            return Ok((Vec::new(), at));
        }
        let mut bytes = Vec::new();
        read_exact(input, at, rest.min(wanted), &mut bytes)?;
        let mut walk = Walk::new(bytes, identity);
        let (mut batches, mut end) = (Vec::new(), 0);
        while let Some(batch) = walk.next_batch() {
            batches.push(batch);
            end = walk.at;
        }
        if !batches.is_empty() || wanted >= rest {
            return Ok((batches, at + end as u64));
        }
        wanted = wanted.saturating_mul(4);
    }
}

fn read_bytes(bytes: Vec<u8>, identity: Option<u64>) -> LogContent {
    let mut content = LogContent { identity, len: bytes.len() as u64, ..LogContent::default() };
    let mut walk = Walk::new(bytes, identity);
    let len = walk.log.len();
    let start_bytes = start_bytes(identity);
    let is_own = match identity {
        Some(_) => LogStart::read(walk.log.as_slice()).map(|start| start.identity) == identity,
        None => walk.log.as_slice().starts_with(FIRST_LOG_MAGIC),
    };
    if is_own {
        walk.at = start_bytes;
    } else {
        content.damage.push((0, start_bytes.min(len) as u64, "is not the beginning of this log"));
        walk.at = start_bytes.min(len);
    }
    let mut from = walk.at;
    while let Some(batch) = walk.next_batch() {
        if walk.found > from {
            content.damage.push((from as u64, (walk.found - from) as u64, "is not a whole batch of this log"));
        }
        from = walk.at;
        content.batches.push(batch);
    }
    let end = &walk.log.as_slice()[from..];
    if looks_torn(end, identity) {
        content.torn_bytes = end.len() as u64;
    } else {
        content.damage.push((from as u64, end.len() as u64, "at its end is not a whole batch of this log"));
        content.has_bad_end = true;
    }
    content
}

/// Whether the end of a log, which is not a whole batch, is what a loss of power may leave of a batch that was being
/// written: too few bytes, or sectors that are still 0. What has all its bytes and another checksum is damaged.
fn looks_torn(end: &[u8], identity: Option<u64>) -> bool {
    /// No batch has as many in a row, but for one whose events are of 1970.
    const ZEROS: [u8; 32] = [0; 32];
    let (magic, fixed) =
        if identity.is_some() { (BATCH_MAGIC, FIXED_BYTES) } else { (FIRST_BATCH_MAGIC, FIRST_FIXED_BYTES) };
    let is_short = if end.len() < fixed {
        magic.starts_with(&end[..end.len().min(magic.len())]) || end.starts_with(magic)
    } else {
        Head::read(end, identity).is_some_and(|head| head.end > end.len())
    };
    is_short || end.last() == Some(&0) || memchr::memmem::find(end, &ZEROS).is_some()
}

/// Finds the whole batches of a log, one after the other.
struct Walk {
    log: Buffer,
    identity: Option<u64>,
    /// Where the last batch begins and ends.
    found: usize,
    at: usize,
    /// What a forged file can make us hash.
    budget: usize,
}

impl Walk {
    fn new(bytes: Vec<u8>, identity: Option<u64>) -> Self {
        let budget = bytes.len().saturating_mul(4);
        Self { log: Buffer::from_vec(bytes), identity, found: 0, at: 0, budget }
    }

    fn next_batch(&mut self) -> Option<Arc<LoggedBatch>> {
        let magic = if self.identity.is_some() { BATCH_MAGIC } else { FIRST_BATCH_MAGIC };
        let mut at = self.at;
        loop {
            at += memchr::memmem::find(self.log.as_slice().get(at..)?, magic)?;
            if let Some((batch, len)) = parse(&self.log, at, self.identity, &mut self.budget) {
                (self.found, self.at) = (at, at + len);
                return Some(Arc::new(batch));
            }
            at += 1;
        }
    }
}

/// What a batch begins with.
struct Head {
    count: usize,
    width: u8,
    arrival: u64,
    text_sum: u64,
    times: Range<usize>,
    mark: Range<usize>,
    /// Where the text begins, and where the batch ends.
    text: usize,
    end: usize,
}

impl Head {
    /// Reads the fixed part of a head. `None` if it is cut off, cannot be, or is one of another log.
    fn read(bytes: &[u8], identity: Option<u64>) -> Option<Self> {
        let mut rest = match identity {
            Some(identity) => {
                bytes.get(..FIXED_BYTES)?.strip_prefix(BATCH_MAGIC)?.strip_prefix(&identity.to_le_bytes()[..])?
            }
            None => bytes.get(..FIRST_FIXED_BYTES)?.strip_prefix(FIRST_BATCH_MAGIC)?,
        };
        let text_bytes = usize::try_from(take_u64(&mut rest)?).ok()?;
        let (count, width) = (take_u32(&mut rest)? as usize, u8::try_from(take_u32(&mut rest)?).ok()?);
        let (arrival, text_sum) = (take_u64(&mut rest)?, take_u64(&mut rest)?);
        let (fixed, mark_bytes) = match identity {
            Some(_) => (FIXED_BYTES, take_u32(&mut rest)? as usize),
            None => (FIRST_FIXED_BYTES, 0),
        };
        // Only what the writer noted may come without events.
        let is_possible = if count == 0 { text_bytes == 0 && mark_bytes > 0 } else { text_bytes >= count };
        arrival.checked_add(count as u64).filter(|end| is_possible && *end < u64::MAX / 2)?;
        let times = fixed..count.checked_mul(8)?.checked_add(fixed)?;
        let mark = times.end..times.end.checked_add(mark_bytes)?;
        let text = mark.end.checked_add(8)?;
        Some(Self { count, width, arrival, text_sum, times, mark, text, end: text.checked_add(text_bytes)? })
    }
}

fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    rest.split_off(..8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes)
}

fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    rest.split_off(..4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes)
}

/// The batch that begins `at` a byte of a log, and its length, if there is a whole one.
fn parse(log: &Buffer, at: usize, identity: Option<u64>, budget: &mut usize) -> Option<(LoggedBatch, usize)> {
    let bytes = &log.as_slice()[at..];
    let Head { count, width, arrival, text_sum, times, mark, text, end } = Head::read(bytes, identity)?;
    let (head, lines) = (bytes.get(..mark.end)?, bytes.get(text..end)?);
    *budget = budget.checked_sub(end)?;
    let head_sum = u64::from_le_bytes(bytes[mark.end..text].try_into().ok()?);
    if !has_checksum(head, head_sum) || !has_checksum(lines, text_sum) {
        return None;
    }
    // Checksums prove nothing against a forger.
    let is_lines = lines.len() < u32::MAX as usize && lines.last().is_none_or(|last| *last == b'\n');
    if !is_lines || memchr::memchr_iter(b'\n', lines).count() != count || std::str::from_utf8(lines).is_err() {
        return None;
    }
    let order = if count == 0 { TextOrder::Empty } else { TextOrder::of_width(width) };
    let times = bytes[times].as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect();
    let text = log.slice_with_length(at + text, end - text);
    Some((LoggedBatch { arrival, text, times, order, mark: bytes[mark].into() }, end))
}

#[cfg(test)]
mod tests {
    use super::super::{head, start};
    use super::*;
    use crate::event::Batch;
    use crate::files::checksum;
    use crate::settings::Settings;

    const IDENTITY: u64 = 0x0123_4567_89ab_cdef;

    fn batch(text: &str) -> Batch {
        Batch::prepare_at(text.as_bytes(), &Settings::default(), 1, &mut |_, _, _| ())
    }

    /// A log, its identity, and where its beginning and its batches end.
    fn log(texts: &[&str]) -> (Vec<u8>, Option<u64>, Vec<usize>) {
        let (start, identity) = start(7, IDENTITY);
        let (mut bytes, mut ends) = (start.to_vec(), vec![start.len()]);
        for (number, text) in texts.iter().enumerate() {
            let batch = batch(text);
            bytes.extend_from_slice(&head(identity, &batch, 10 * number as u64, b"mark"));
            bytes.extend_from_slice(batch.text());
            ends.push(bytes.len());
        }
        (bytes, Some(identity), ends)
    }

    fn texts(content: &LogContent) -> Vec<&str> {
        content.batches.iter().map(|batch| std::str::from_utf8(&batch.text).unwrap()).collect()
    }

    #[test]
    fn a_log_is_read_up_to_its_last_whole_batch() {
        let (bytes, identity, ends) = log(&["1\n2", "3", "4"]);
        for len in 0..=bytes.len() {
            let content = read_bytes(bytes[..len].to_vec(), identity);
            let whole = ends.iter().filter(|&&end| end <= len).count().saturating_sub(1);
            assert_eq!(texts(&content), ["1\n2\n", "3\n", "4\n"][..whole], "{len}");
            // Its beginning was synced before it got its name.
            assert_eq!(content.damage.len(), usize::from(len < ends[0]), "{len}");
            assert_eq!(content.torn_bytes, len.saturating_sub(ends[whole]) as u64, "{len}");
            assert!(content.batches.iter().all(|batch| *batch.mark == *b"mark"));
        }
    }

    #[test]
    fn damage_is_told_wherever_it_is_and_the_rest_is_read() {
        let (bytes, identity, ends) = log(&["1\n2", "3", "4"]);
        for at in 0..bytes.len() {
            for flip in [1, 0x80] {
                let mut bytes = bytes.clone();
                bytes[at] ^= flip;
                let content = read_bytes(bytes, identity);
                let hit = ends.iter().filter(|&&end| end <= at).count();
                let wanted: Vec<&str> = ["1\n2\n", "3\n", "4\n"]
                    .into_iter()
                    .enumerate()
                    .filter_map(|(number, text)| (number + 1 != hit).then_some(text))
                    .collect();
                assert_eq!(texts(&content), wanted, "{at}");
                // A length that leads beyond the end looks as if the rest had not been written.
                let is_told = content.damage.len() == 1 && content.has_bad_end == (hit == 3);
                assert!(is_told || hit == 3 && content.torn_bytes > 0, "{at}: {:?}", content.damage);
                assert!(is_told || (ends[2] + 16..ends[2] + 32).contains(&at) || at >= ends[2] + 48, "{at}");
            }
        }
    }

    #[test]
    fn sectors_that_were_not_written_are_the_end_of_a_log_and_no_damage() {
        let (bytes, identity, ends) = log(&["1", &"[\"a long event\"]\n".repeat(200)]);
        for at in ends[1]..bytes.len() {
            let mut bytes = bytes.clone();
            let end = bytes.len().min(at + 512);
            bytes[at..end].fill(0);
            let content = read_bytes(bytes, identity);
            assert_eq!((texts(&content), &content.damage[..]), (vec!["1\n"], &[][..]), "{at}");
        }
    }

    #[test]
    fn batches_of_another_log_are_none_of_this_one() {
        let (one, identity, ends) = log(&["1", "2"]);
        let (other, ..) = log(&["3", "4"]);
        let content = read_bytes([&one[..ends[1]], &other[ends[0]..ends[1]], &one[ends[1]..]].concat(), identity);
        assert_eq!((texts(&content), content.damage.len()), (vec!["1\n", "2\n"], 1));
        let content = read_bytes(other, identity);
        assert_eq!(texts(&content), [""; 0]);
        assert!(content.has_bad_end && content.damage.len() == 2, "{:?}", content.damage);
    }

    #[test]
    fn a_mark_may_come_without_events() {
        let (mut bytes, identity, _) = log(&["1"]);
        bytes.extend_from_slice(&head(identity.unwrap(), &batch(""), 1, b"far"));
        let content = read_bytes(bytes.clone(), identity);
        let [_, last] = &content.batches[..] else { panic!("{content:?}") };
        assert_eq!((last.times.len(), &*last.mark, last.order), (0, &b"far"[..], TextOrder::Empty));
        bytes.extend_from_slice(&head(identity.unwrap(), &batch(""), 1, b""));
        assert_eq!(read_bytes(bytes, identity).batches.len(), 2, "nothing at all is no batch");
    }

    #[test]
    fn a_log_of_the_first_format_is_read() {
        let text = b"1\n2\n";
        let mut batch = FIRST_BATCH_MAGIC.to_vec();
        batch.extend_from_slice(&(text.len() as u64).to_le_bytes());
        batch.extend_from_slice(&[2, 0, 0, 0, 0, 0, 0, 0]);
        batch.extend_from_slice(&5_u64.to_le_bytes());
        batch.extend_from_slice(&checksum(text).to_le_bytes());
        [8_i64, 9].iter().for_each(|time| batch.extend_from_slice(&time.to_le_bytes()));
        let sum = checksum(&batch);
        batch.extend_from_slice(&sum.to_le_bytes());
        batch.extend_from_slice(text);
        let log = [&FIRST_LOG_MAGIC[..], &batch].concat();
        let content = read_bytes(log.clone(), None);
        assert_eq!((texts(&content), &content.damage[..]), (vec!["1\n2\n"], &[][..]));
        assert_eq!((content.batches[0].arrival, &content.batches[0].times[..]), (5, &[8, 9][..]));
        assert_eq!(read_bytes(log, Some(IDENTITY)).batches.len(), 0);
    }

    #[test]
    fn forged_batches_cost_linear_time_and_are_none() {
        // Each claims the whole rest, with a wrong checksum.
        let mut bytes = LOG_MAGIC.to_vec();
        let len = 4_000_000;
        while bytes.len() < len {
            let rest = len.saturating_sub(bytes.len() + FIXED_BYTES + 8) as u64;
            bytes.extend_from_slice(BATCH_MAGIC);
            bytes.extend_from_slice(&IDENTITY.to_le_bytes());
            bytes.extend_from_slice(&rest.saturating_sub(64).to_le_bytes());
            bytes.extend_from_slice(&[1, 0, 0, 0]);
            bytes.extend_from_slice(&[0; 24]);
        }
        let begun = std::time::Instant::now();
        assert!(read_bytes(bytes, Some(IDENTITY)).batches.is_empty());
        assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    }
}
