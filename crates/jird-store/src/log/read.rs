//! Reading a log, of which nothing is believed.

use super::{BATCH_MAGIC, FIXED_BYTES, LOG_MAGIC};
use crate::event::{LoggedBatch, TextOrder};
use crate::files::{Input, has_checksum, read_exact};
use arrow_buffer::Buffer;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// What is in a log.
#[derive(Debug, Default)]
pub(crate) struct LogContent {
    pub(crate) batches: Vec<Arc<LoggedBatch>>,
    /// Stretches before a whole batch that are none, or a file that is no log: offset, bytes, what is wrong.
    pub(crate) damage: Vec<(u64, u64, &'static str)>,
    /// How many bytes at the end are no whole batch.
    pub(crate) torn_bytes: u64,
}

/// Reads a log as far as it goes now; a writer may append to it meanwhile. Needs about as much memory as the file is
/// long, which the batches share, and time linear in it.
pub(crate) fn read(input: &dyn Input) -> io::Result<LogContent> {
    let len = input.len()?;
    let mut bytes = Vec::new();
    read_exact(input, 0, len, &mut bytes)?;
    Ok(read_bytes(bytes))
}

/// How much of a log is read at a time, if its batches are no longer.
const READ_BYTES: u64 = 1 << 20;

/// Reads whole batches of a log from a byte on, which is where one begins, about a megabyte of them. Returns them and
/// where they end; what is none between two whole batches is passed over.
pub(crate) fn read_from(input: &dyn Input, at: u64) -> io::Result<(Vec<Arc<LoggedBatch>>, u64)> {
    let mut wanted = READ_BYTES;
    loop {
        let rest = input.len()?.saturating_sub(at);
        if rest == 0 {
            return Ok((Vec::new(), at));
        }
        let mut bytes = Vec::new();
        read_exact(input, at, rest.min(wanted), &mut bytes)?;
        let (batches, end) = batches(bytes, at == 0);
        if !batches.is_empty() || wanted >= rest {
            return Ok((batches, at + end as u64));
        }
        wanted = wanted.saturating_mul(4);
    }
}

/// The whole batches among these bytes, and where the last of them ends.
fn batches(bytes: Vec<u8>, is_start: bool) -> (Vec<Arc<LoggedBatch>>, usize) {
    let whole = Buffer::from_vec(bytes);
    let bytes = whole.as_slice();
    let mut at = if is_start && bytes.starts_with(LOG_MAGIC) { LOG_MAGIC.len() } else { 0 };
    let (mut found, mut end) = (Vec::new(), 0);
    let mut budget = bytes.len().saturating_mul(4);
    while at < bytes.len() {
        if let Some((batch, len)) = parse(&whole, at, &mut budget) {
            found.push(Arc::new(batch));
            at += len;
            end = at;
            continue;
        }
        let rest = bytes.get(at + 1..).unwrap_or_default();
        at = memchr::memmem::find(rest, BATCH_MAGIC).map_or(bytes.len(), |next| at + 1 + next);
    }
    (found, end)
}

fn read_bytes(bytes: Vec<u8>) -> LogContent {
    let whole = Buffer::from_vec(bytes);
    let bytes = whole.as_slice();
    let mut content = LogContent::default();
    let mut at = match bytes.strip_prefix(LOG_MAGIC) {
        Some(_) => LOG_MAGIC.len(),
        None if LOG_MAGIC.starts_with(bytes) => {
            content.torn_bytes = bytes.len() as u64;
            return content;
        }
        None => 0,
    };
    // What a forged file can make us hash.
    let mut budget = bytes.len().saturating_mul(4);
    let mut bad_from = (at == 0).then_some(0);
    while at < bytes.len() {
        if let Some((batch, len)) = parse(&whole, at, &mut budget) {
            if let Some(from) = bad_from.take() {
                content.damage.push((from as u64, (at - from) as u64, "is no whole batch"));
            }
            content.batches.push(Arc::new(batch));
            at += len;
            continue;
        }
        bad_from.get_or_insert(at);
        let rest = bytes.get(at + 1..).unwrap_or_default();
        at = memchr::memmem::find(rest, BATCH_MAGIC).map_or(bytes.len(), |next| at + 1 + next);
    }
    if let Some(from) = bad_from {
        match from {
            0 => content.damage.push((0, bytes.len() as u64, "is no log")),
            _ => content.torn_bytes = (bytes.len() - from) as u64,
        }
    }
    content
}

/// The batch that begins `at` a byte of a log, and its length, if there is a whole one.
fn parse(log: &Buffer, at: usize, budget: &mut usize) -> Option<(LoggedBatch, usize)> {
    let bytes = &log.as_slice()[at..];
    let fixed = bytes.get(..FIXED_BYTES)?.strip_prefix(BATCH_MAGIC)?;
    let u64_at = |at: usize| Some(u64::from_le_bytes(fixed.get(at..at + 8)?.try_into().ok()?));
    let u32_at = |at: usize| Some(u32::from_le_bytes(fixed.get(at..at + 4)?.try_into().ok()?));
    let text_bytes = usize::try_from(u64_at(0)?).ok()?;
    let (count, width) = (u32_at(8)? as usize, u8::try_from(u32_at(12)?).ok()?);
    let (arrival, text_sum) = (u64_at(16)?, u64_at(24)?);
    arrival.checked_add(count as u64)?;
    let head_end = count.checked_mul(8)?.checked_add(FIXED_BYTES)?;
    let end = head_end.checked_add(8)?.checked_add(text_bytes)?;
    let text_range: Range<usize> = head_end + 8..end;
    let (head, text) = (bytes.get(..head_end)?, bytes.get(text_range.clone())?);
    *budget = budget.checked_sub(end)?;
    let head_sum = u64::from_le_bytes(bytes[head_end..head_end + 8].try_into().ok()?);
    if !has_checksum(head, head_sum) || !has_checksum(text, text_sum) {
        return None;
    }
    // Checksums prove nothing against a forger.
    let is_lines = count > 0 && text.len() < u32::MAX as usize && text.last() == Some(&b'\n');
    if !is_lines || memchr::memchr_iter(b'\n', text).count() != count || std::str::from_utf8(text).is_err() {
        return None;
    }
    let times = head[FIXED_BYTES..].as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect();
    let text = log.slice_with_length(at + text_range.start, text_range.len());
    Some((LoggedBatch { arrival, text, times, order: TextOrder::of_width(width) }, end))
}

#[cfg(test)]
mod tests {
    use super::super::head;
    use super::*;
    use crate::event::Batch;
    use crate::settings::Settings;

    fn log(texts: &[&str]) -> (Vec<u8>, Vec<usize>) {
        let (mut bytes, mut ends) = (LOG_MAGIC.to_vec(), vec![LOG_MAGIC.len()]);
        for (number, text) in texts.iter().enumerate() {
            let batch = Batch::prepare_at(text.as_bytes(), &Settings::default(), 1, &mut |_, _, _| ());
            bytes.extend_from_slice(&head(&batch, 10 * number as u64));
            bytes.extend_from_slice(batch.text());
            ends.push(bytes.len());
        }
        (bytes, ends)
    }

    fn texts(content: &LogContent) -> Vec<&str> {
        content.batches.iter().map(|batch| std::str::from_utf8(&batch.text).unwrap()).collect()
    }

    #[test]
    fn a_log_is_read_up_to_its_last_whole_batch() {
        let (bytes, ends) = log(&["1\n2", "3", "4"]);
        for len in 0..=bytes.len() {
            let content = read_bytes(bytes[..len].to_vec());
            let whole = ends.iter().filter(|&&end| end <= len).count().saturating_sub(1);
            assert_eq!(texts(&content), ["1\n2\n", "3\n", "4\n"][..whole], "{len}");
            assert!(content.damage.is_empty(), "{len}");
            let known = if len < LOG_MAGIC.len() { 0 } else { ends[whole] };
            assert_eq!(content.torn_bytes, (len - known) as u64);
        }
    }

    #[test]
    fn damage_before_a_whole_batch_is_told_and_the_rest_is_read() {
        let (bytes, ends) = log(&["1\n2", "3", "4"]);
        for at in 0..bytes.len() {
            for flip in [1, 0x80] {
                let mut bytes = bytes.clone();
                bytes[at] ^= flip;
                let content = read_bytes(bytes);
                let hit = ends.iter().filter(|&&end| end <= at).count();
                let wanted: Vec<&str> = ["1\n2\n", "3\n", "4\n"]
                    .into_iter()
                    .enumerate()
                    .filter_map(|(number, text)| (number + 1 != hit).then_some(text))
                    .collect();
                assert_eq!(texts(&content), wanted, "{at}");
                assert_eq!(content.damage.len(), usize::from(hit < 3), "{at}");
                assert_eq!(content.torn_bytes > 0, hit == 3, "{at}");
            }
        }
    }

    #[test]
    fn forged_batches_cost_linear_time_and_are_none() {
        // Each claims the whole rest, with a wrong checksum.
        let mut bytes = LOG_MAGIC.to_vec();
        let len = 4_000_000;
        while bytes.len() < len {
            let rest = len.saturating_sub(bytes.len() + FIXED_BYTES + 8) as u64;
            bytes.extend_from_slice(BATCH_MAGIC);
            bytes.extend_from_slice(&rest.saturating_sub(64).to_le_bytes());
            bytes.extend_from_slice(&[0; 24]);
        }
        let begun = std::time::Instant::now();
        assert!(read_bytes(bytes).batches.is_empty());
        assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    }
}
