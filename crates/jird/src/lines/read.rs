//! Cutting an input into pieces of whole lines, with bounded memory.

use core::ops::{ControlFlow, Range};
use std::io::{self, Read};

/// Bytes read at a time: they fit a second-level cache together with the buffers of a scan.
const READ_BYTES: usize = 256 << 10;

/// Bytes that several threads may read at any offset, such as a file.
pub trait ReadAt: Send + Sync {
    /// Fills as much of `buffer` as it can from `offset` on. Returns the number of bytes; it is 0 only at the end, or
    /// if `buffer` is empty.
    ///
    /// # Errors
    /// The errors of reading.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

impl ReadAt for &[u8] {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or_default();
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }
}

/// Calls `each` with the lines whose first byte is in `range`: whole lines, in order, several at a time, with the
/// offset of the first. Adjacent ranges share no line and lose none. Memory is bounded by `record_bytes_max` and one
/// read.
///
/// Of a line longer than `record_bytes_max`, `each` may receive only the first `record_bytes_max + 1` bytes, and then a
/// newline in the place of the rest. This is enough for a [`Scanner`](super::Scanner) with the same limit to report it.
///
/// # Errors
/// The errors of reading, and the errors of `each`.
pub fn read_range<E: From<io::Error>>(
    source: &dyn ReadAt,
    range: Range<u64>,
    buffer: &mut Vec<u8>,
    record_bytes_max: usize,
    mut each: impl FnMut(u64, &[u8]) -> Result<ControlFlow<()>, E>,
) -> Result<ControlFlow<()>, E> {
    // The byte before the range says whether the range's first byte begins a line; if not, that line belongs to an
    // earlier range.
    let mut skip_line = range.start > 0;
    let mut offset = range.start.saturating_sub(1);
    let mut filled = 0;
    loop {
        // Bytes past the range are read only to finish its last line.
        let left = usize::try_from(range.end.saturating_sub(offset + filled as u64)).unwrap_or(usize::MAX);
        let wanted = if left == 0 { READ_BYTES / 16 } else { left.min(READ_BYTES) };
        if buffer.len() < filled + wanted {
            buffer.resize(filled + wanted, 0);
        }
        let read = read_some(source, &mut buffer[filled..filled + wanted], offset + filled as u64)?;
        let at_end = read == 0;
        let new = filled;
        filled += read;
        let mut start = 0;
        if skip_line {
            match memchr::memchr(b'\n', &buffer[new..filled]) {
                Some(newline) => {
                    skip_line = false;
                    start = new + newline + 1;
                }
                None if at_end => return Ok(ControlFlow::Continue(())),
                None => {
                    offset += filled as u64;
                    filled = 0;
                    if offset >= range.end {
                        return Ok(ControlFlow::Continue(()));
                    }
                    continue;
                }
            }
        }
        if offset + start as u64 >= range.end {
            return Ok(ControlFlow::Continue(()));
        }
        let lines_end = lines_end(&buffer[..filled], new.max(start), offset, range.end, at_end);
        if let Some(end) = lines_end.filter(|end| *end > start) {
            if each(offset + start as u64, &buffer[start..end])?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            start = end;
        }
        if at_end {
            return Ok(ControlFlow::Continue(()));
        }
        buffer.copy_within(start..filled, 0);
        offset += start as u64;
        filled -= start;
        if offset >= range.end {
            return Ok(ControlFlow::Continue(()));
        }
        if filled > record_bytes_max {
            if each(offset, head(buffer, record_bytes_max))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            offset += filled as u64;
            filled = 0;
            skip_line = true;
        }
    }
}

/// The start of a line that is longer than `bytes_max`: one byte more than that, and a newline.
fn head(buffer: &mut Vec<u8>, bytes_max: usize) -> &[u8] {
    buffer.resize(buffer.len().max(bytes_max + 2), 0);
    buffer[bytes_max + 1] = b'\n';
    &buffer[..bytes_max + 2]
}

/// The end of the lines of `text` that are complete and begin before `range_end`; `new` is the first byte not yet
/// searched.
fn lines_end(text: &[u8], new: usize, offset: u64, range_end: u64, at_end: bool) -> Option<usize> {
    // The last line of the range is the one that holds its last byte: it ends at the first newline from there on.
    let last = usize::try_from(range_end - 1 - offset).unwrap_or(usize::MAX);
    if last < text.len()
        && let Some(newline) = memchr::memchr(b'\n', &text[last.max(new)..])
    {
        return Some(last.max(new) + newline + 1);
    }
    if at_end {
        return Some(text.len());
    }
    memchr::memrchr(b'\n', &text[new..]).map(|newline| new + newline + 1)
}

fn read_some(source: &dyn ReadAt, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        match source.read_at(buffer, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return within(result?, buffer.len()),
        }
    }
}

/// The number of bytes that a reader says it has read; an error if there was no room for them.
fn within(read: usize, room: usize) -> io::Result<usize> {
    if read <= room {
        return Ok(read);
    }
    Err(io::Error::other(format!("the reader said that it read {read} bytes into a buffer of {room}")))
}

/// As [`read_range`], over all of a stream that can be read only once.
///
/// # Errors
/// As [`read_range`].
pub fn read_stream<E: From<io::Error>>(
    mut reader: impl Read,
    buffer: &mut Vec<u8>,
    record_bytes_max: usize,
    mut each: impl FnMut(u64, &[u8]) -> Result<ControlFlow<()>, E>,
) -> Result<ControlFlow<()>, E> {
    let (mut offset, mut filled) = (0, 0);
    loop {
        let filling = fill(&mut reader, buffer, &mut filled, 0, record_bytes_max)?;
        let end = match filling {
            Filled::Lines(end) => end,
            Filled::End => filled,
            Filled::TooLong => {
                if each(offset, head(buffer, record_bytes_max))?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                offset += filled as u64;
                let Some(dropped) = skip_line(&mut reader, buffer, &mut filled, &mut |_| ())? else {
                    return Ok(ControlFlow::Continue(()));
                };
                offset += dropped;
                continue;
            }
        };
        if end > 0 && each(offset, &buffer[..end])?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if matches!(filling, Filled::End) {
            return Ok(ControlFlow::Continue(()));
        }
        buffer.copy_within(end..filled, 0);
        offset += end as u64;
        filled -= end;
    }
}

/// Drops the rest of a line, which `dropping` sees piece by piece. Returns the number of bytes dropped, and leaves in
/// `buffer` the first `filled` bytes after the line. Returns `None` if the stream ends before the line does.
pub(super) fn skip_line(
    reader: &mut impl Read,
    buffer: &mut Vec<u8>,
    filled: &mut usize,
    dropping: &mut dyn FnMut(&[u8]),
) -> io::Result<Option<u64>> {
    let mut dropped = 0;
    buffer.resize(buffer.len().max(READ_BYTES), 0);
    *filled = 0;
    loop {
        let read = read_once(reader, buffer)?;
        let newline = memchr::memchr(b'\n', &buffer[..read]);
        let end = newline.map_or(read, |newline| newline + 1);
        dropped += end as u64;
        dropping(&buffer[..end]);
        if newline.is_some() {
            buffer.copy_within(end..read, 0);
            *filled = read - end;
            return Ok(Some(dropped));
        }
        if read == 0 {
            return Ok(None);
        }
    }
}

/// Reads once, as much as has arrived; 0 bytes are the end.
fn read_once(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return within(result?, buffer.len()),
        }
    }
}

/// Why [`fill`] has stopped.
pub(super) enum Filled {
    /// The buffer begins with this many bytes of whole lines.
    Lines(usize),
    /// The stream has ended. The last line may have no newline.
    End,
    /// The buffer has no whole line, and more bytes than a line may have.
    TooLong,
}

/// Reads from a stream into `buffer`, whose first `filled` bytes begin a line, until there are whole lines and at least
/// `bytes_min` bytes. Leaves in `filled` how many bytes there are.
pub(super) fn fill(
    reader: &mut impl Read,
    buffer: &mut Vec<u8>,
    filled: &mut usize,
    bytes_min: usize,
    line_bytes_max: usize,
) -> io::Result<Filled> {
    let mut end = memchr::memrchr(b'\n', &buffer[..*filled]).map_or(0, |newline| newline + 1);
    while end == 0 || *filled < bytes_min {
        if end == 0 && *filled > line_bytes_max {
            return Ok(Filled::TooLong);
        }
        buffer.resize(buffer.len().max(*filled + READ_BYTES), 0);
        let read = read_once(reader, &mut buffer[*filled..])?;
        if read == 0 {
            return Ok(Filled::End);
        }
        let new = *filled..*filled + read;
        *filled = new.end;
        end = memchr::memrchr(b'\n', &buffer[new.clone()]).map_or(end, |newline| new.start + newline + 1);
    }
    Ok(Filled::Lines(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::RECORD_BYTES_MAX;

    fn lines_of(text: &[u8], range: Range<u64>) -> Vec<(u64, Vec<u8>)> {
        let mut lines = Vec::new();
        let flow = read_range::<Box<dyn std::error::Error>>(
            &OneByOne(text.to_vec()),
            range,
            &mut Vec::new(),
            RECORD_BYTES_MAX,
            |at, piece| {
                let mut at = at;
                for line in piece.split_inclusive(|&byte| byte == b'\n') {
                    lines.push((at, line.to_vec()));
                    at += line.len() as u64;
                }
                Ok(ControlFlow::Continue(()))
            },
        );
        assert!(flow.unwrap().is_continue());
        lines
    }

    /// Returns few bytes at a time, to move the borders.
    struct OneByOne(Vec<u8>);

    impl ReadAt for OneByOne {
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            let some = buffer.len().min(3);
            (&self.0[..]).read_at(&mut buffer[..some], offset)
        }
    }

    #[test]
    fn ranges_that_meet_share_no_line_and_lose_none() {
        for text in ["a\nbb\n\nccc\n", "a\nbb\n\nccc", "\n", "no line feed", "", "\n\n\nx\n"] {
            let text = text.as_bytes();
            let whole = lines_of(text, 0..text.len() as u64);
            assert_eq!(whole.iter().flat_map(|(_, line)| line.clone()).collect::<Vec<_>>(), text);
            for cut in 0..=text.len() as u64 {
                for second in cut..=text.len() as u64 {
                    let mut lines = lines_of(text, 0..cut);
                    lines.extend(lines_of(text, cut..second));
                    lines.extend(lines_of(text, second..text.len() as u64));
                    assert_eq!(lines, whole, "{:?} cut at {cut} and {second}", String::from_utf8_lossy(text));
                }
            }
        }
    }

    #[test]
    fn of_a_line_over_the_limit_only_the_head_is_kept() {
        const LIMIT: usize = 1 << 20;
        let long = vec![b'x'; 3 * LIMIT];
        let text = [b"a\n", &long[..], b"\nb\n", &long, b"\n\nc\n", &long[..LIMIT], b"\n", &long].concat();
        let ends = |range: Range<u64>| lines_with_limit(&text, Some(range), LIMIT);
        let len = text.len() as u64;
        let whole = ends(0..len);
        let heads: Vec<_> = whole.iter().map(|(at, line)| (*at, line.len())).collect();
        let (second, third) = (2 + long.len() as u64 + 1, 2 + long.len() as u64 + 3);
        let after = third + long.len() as u64 + 1;
        let (exact, last) = (after + 3, after + 3 + LIMIT as u64 + 1);
        let head = LIMIT + 2;
        let wanted = [(0, 2), (2, head), (second, 2), (third, head), (after, 1), (after + 1, 2), (exact, LIMIT + 1)];
        assert_eq!(heads[..7], wanted);
        assert_eq!(heads[7..], [(last, head)]);
        for cut in [1, 2, 3, 1000, second - 1, second, third, third + 1, after - 1, after, exact, last, len - 1] {
            assert_eq!([ends(0..cut), ends(cut..len)].concat(), whole, "cut at {cut}");
        }
        assert_eq!(lines_with_limit(&text, None, LIMIT), whole);
    }

    /// The lines that are handed out of a range, or of a stream.
    fn lines_with_limit(text: &[u8], range: Option<Range<u64>>, limit: usize) -> Vec<(u64, Vec<u8>)> {
        let (mut lines, mut buffer) = (Vec::new(), Vec::new());
        let each = |mut at: u64, piece: &[u8]| {
            for line in piece.split_inclusive(|&byte| byte == b'\n') {
                lines.push((at, line.to_vec()));
                at += line.len() as u64;
            }
            Ok::<_, io::Error>(ControlFlow::Continue(()))
        };
        let read = match range {
            Some(range) => read_range(&text, range, &mut buffer, limit, each),
            None => read_stream(text, &mut buffer, limit, each),
        };
        assert!(read.unwrap().is_continue());
        assert!(buffer.len() <= limit + 2 * READ_BYTES, "{} bytes of buffer", buffer.len());
        lines
    }
}
