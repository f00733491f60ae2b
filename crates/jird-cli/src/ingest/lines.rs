//! Pieces of lines, checked by any thread.

use jird::hooks::lines::{StreamPiece, newlines};
use jird_store::{Batch, EventError, FutureLimit, Settings};

/// How lines are checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Check<'s> {
    pub(super) settings: &'s Settings,
    pub(super) record_limit: usize,
    /// Events that are later are bad.
    pub(super) future_limit: Option<FutureLimit>,
    /// Whether a bad line ends the work.
    pub(super) stops: bool,
    /// Whether a last line without a line feed may still be growing.
    pub(super) grows: bool,
}

/// What a thread makes of a piece of lines.
pub(super) struct Prepared {
    pub(super) piece: StreamPiece,
    pub(super) batch: Batch,
    pub(super) wrong: Vec<Wrong>,
    /// How many bytes of the piece are taken.
    pub(super) end: usize,
    /// Whether the first line is the beginning of an array that goes on in the next one.
    pub(super) is_array: bool,
}

/// A line that is not a valid event: its offset in its piece, its line there, counted from zero, and what is wrong.
pub(super) struct Wrong {
    pub(super) offset: usize,
    pub(super) line: u64,
    pub(super) raw: Vec<u8>,
    pub(super) fault: EventError,
}

impl Prepared {
    /// The line of the first wrong line, counted from one.
    pub(super) fn first_line(&self) -> u64 {
        self.wrong.first().map_or(1, |wrong| wrong.line + 1)
    }
}

impl Wrong {
    /// A line that is too long. None of it is kept.
    pub(super) fn too_long() -> Self {
        Self {
            offset: 0,
            line: 0,
            raw: Vec::new(),
            fault: EventError::Json(jird::Error::new(jird::ErrorKind::Size, 0)),
        }
    }

    /// Whether the line is an array as far as it goes.
    fn opens_array(&self) -> bool {
        let text = self.raw.trim_ascii_end();
        let EventError::Json(error) = &self.fault else { return false };
        text.trim_ascii_start().starts_with(b"[") && error.offset() as usize >= text.len()
    }
}

/// Checks a piece. If bad lines end the work, the events before the first one are kept.
pub(super) fn prepare(piece: StreamPiece, check: &Check<'_>) -> Prepared {
    let whole = if check.grows { whole_lines(&piece) } else { piece.len() };
    let lines = &piece[..whole];
    let mut wrong: Vec<Wrong> = Vec::new();
    let blanked = without_long_lines(lines, check.record_limit, &mut wrong);
    let text = blanked.as_deref().unwrap_or(lines);
    let batch = Batch::prepare_within(text, check.settings, check.future_limit, &mut |offset, raw, mut fault| {
        if let EventError::Json(error) = &mut fault {
            // It counts from the start of the piece.
            *error = jird::Error::new(error.kind(), error.offset().saturating_sub(offset as u64));
        }
        wrong.push(Wrong { offset, line: 0, raw: raw.to_vec(), fault });
    });
    wrong.sort_by_key(|wrong| wrong.offset);
    if check.stops {
        wrong.truncate(1);
    }
    let (mut line, mut counted) = (0, 0);
    for wrong in &mut wrong {
        line += newlines(&lines[counted..wrong.offset]);
        (counted, wrong.line) = (wrong.offset, line);
    }
    let end = match wrong.first() {
        Some(first) if check.stops => first.offset,
        _ => whole,
    };
    let is_array =
        wrong.first().is_some_and(|wrong| lines[..wrong.offset].trim_ascii().is_empty() && wrong.opens_array());
    let batch = if end < whole { Batch::prepare(&lines[..end], check.settings, &mut |_, _, _| {}) } else { batch };
    Prepared { piece, batch, wrong, end, is_array }
}

/// The length of a piece without a last line that may still be growing: one that has no line feed, unless it is a value
/// whose end shows, to which nothing can be added. Blanks alone may be the beginning of a value's line.
fn whole_lines(piece: &[u8]) -> usize {
    let start = memchr::memrchr(b'\n', piece).map_or(0, |end| end + 1);
    let last = piece[start..].trim_ascii();
    let shows_its_end = !last.last().is_some_and(u8::is_ascii_digit) && jird::validate(last).is_ok();
    if shows_its_end { piece.len() } else { start }
}

/// The same lines, with blanks in place of those that are longer than the limit, which are `wrong`; `None` if there are
/// none.
fn without_long_lines(piece: &[u8], record_limit: usize, wrong: &mut Vec<Wrong>) -> Option<Vec<u8>> {
    let mut blanked: Option<Vec<u8>> = None;
    let mut start = 0;
    // A piece is longer than its longest line, and nearly always far below the limit.
    while piece.len() - start > record_limit {
        let end = memchr::memchr(b'\n', &piece[start..]).map_or(piece.len(), |len| start + len);
        if end - start > record_limit {
            wrong.push(Wrong { offset: start, raw: piece[start..end].to_vec(), ..Wrong::too_long() });
            blanked.get_or_insert_with(|| piece.to_vec())[start..end].fill(b' ');
        }
        start = (end + 1).min(piece.len());
    }
    blanked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_line_that_may_still_grow_is_left() {
        for (piece, whole) in [
            ("", 0),
            ("1\n", 2),
            ("1\n2", 2),
            ("1\n{\"a\":1}", 9),
            ("1\n{\"a\":1} ", 10),
            ("1\n{\"a\":1", 2),
            ("[1]", 3),
            ("\"x\"", 3),
            ("true", 4),
            ("tru", 0),
            ("1\n  ", 2),
            ("  ", 0),
            ("1\n{\"a\":1}x", 2),
            ("1e5", 0),
        ] {
            assert_eq!(whole_lines(piece.as_bytes()), whole, "{piece:?}");
        }
    }
}
