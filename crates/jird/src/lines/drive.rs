//! Spreads the parts of texts over threads, and hands out the results in order, with the lines before each.
//!
//! `jird validate`, `query` and `convert` read lines with the same parts. So they agree on which line a bad record is
//! in, whether it comes from a file or a pipe, on one thread or on many:
//!
//! ```text
//! ranges, read_range         cut a file into ranges of bytes, which threads read at any offset: validate, query
//! read_stream, StreamPieces  read a stream in pieces of whole lines, with bounded memory: all, and lines::typed
//! LineReader, LinePiece      scan a part and count its lines; each bad record gets a line, and the caller's `bad`
//!                            decides whether it stops the work or is skipped: validate, query
//! drive                      hands parts to threads; results come in order, each with the lines before it: all
//! ```
//!
//! `convert` sends the records of a piece as events. Its threads note nothing: a piece with a bad record is done again
//! on the calling thread, which knows its place. Where a query may return rows in any order, DataFusion cuts the files
//! and runs the threads, and each partition is one part that a `LineReader` reads. A query that ends at the first bad
//! record counts no lines of a file: it reads the file again up to that record. For `query` and `convert`,
//! `jird_formats::files::BadRecords` counts the records that are skipped, and writes the quarantine.

use crate::threads::in_order;
use core::ops::{ControlFlow, Range};

/// Cuts a range into ranges of `bytes` bytes; the last may be shorter.
///
/// # Panics
/// If `bytes` is zero, or if there are more ranges than addresses.
pub fn ranges(range: Range<u64>, bytes: u64) -> impl ExactSizeIterator<Item = Range<u64>> + Send {
    let count = range.end.saturating_sub(range.start).div_ceil(bytes);
    let count = usize::try_from(count).expect("a text has fewer ranges than there are addresses");
    (0..count).map(move |index| {
        let start = range.start + index as u64 * bytes;
        start..(start + bytes).min(range.end)
    })
}

/// Reads the parts of texts on `threads` threads, and consumes the results on the calling thread, in the order of the
/// parts, until `consume` breaks. As with [`in_order`], on which it stands, only a few results per thread are in flight.
///
/// A part comes with the number of its text; the parts of one text follow each other. `work` reads a part, and returns
/// a result and the number of lines of the part. `consume` takes the result with the lines of its text that it covers,
/// counted from zero. So whatever `work` has found in line `n` of the part is in line `lines.start + n` of the text.
///
/// ```
/// use jird::hooks::lines::{Counting, LineReader, Part, drive, ranges};
/// use jird::lines::Options;
/// let text = &b"1\n2\nno\n4\n5\nneither\n"[..];
/// let parts = ranges(0..text.len() as u64, 6).map(|range| (0, range));
/// let reader = || LineReader::new(Options::default());
/// let find = |reader: &mut LineReader, range| {
///     let mut found = Vec::new();
///     let read = reader.read::<jird::Error>(
///         Part::Range(&text, range),
///         Counting::default(),
///         (&jird::record::Projection::new(&[]), None),
///         |_, _| std::ops::ControlFlow::Continue(()),
///         |bad, piece| {
///             found.push(piece.locate(bad));
///             std::ops::ControlFlow::Continue(())
///         },
///         |_, _| Ok(std::ops::ControlFlow::Continue(())),
///     );
///     ((found, read), reader.lines())
/// };
/// let mut places = Vec::new();
/// drive(parts, 2, reader, find, |(found, read), lines| {
///     assert!(read.is_ok());
///     places.extend(found.into_iter().map(|bad| bad.after_lines(lines.start, 0).line()));
///     std::ops::ControlFlow::Continue(())
/// });
/// assert_eq!(places, [3, 6]);
/// ```
///
/// # Panics
/// If `parts`, `work` or `consume` panics.
pub fn drive<P, S, T: Send>(
    parts: impl IntoIterator<Item = (usize, P), IntoIter: Send>,
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, P) -> (T, u64) + Sync,
    mut consume: impl FnMut(T, Range<u64>) -> ControlFlow<()>,
) {
    let work = |state: &mut S, (text, part): (usize, P)| (text, work(state, part));
    let mut before = (0, 0);
    in_order(parts, threads, state, work, |(text, (made, lines))| {
        let start = if before.0 == text { before.1 } else { 0 };
        before = (text, start + lines);
        consume(made, start..start + lines)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::lines::Options;
    use crate::lines::part::{Counting, LineReader, Part};
    use crate::locate::Located;
    use crate::record::Projection;

    #[test]
    fn ranges_cover_all_bytes_once() {
        let check = |range, bytes, expected: &[(u64, u64)]| {
            let found: Vec<_> = ranges(range, bytes).map(|range| (range.start, range.end)).collect();
            assert_eq!(found, expected);
        };
        check(0..0, 3, &[]);
        check(0..3, 3, &[(0, 3)]);
        check(2..9, 3, &[(2, 5), (5, 8), (8, 9)]);
        check(5..6, u64::MAX / 2, &[(5, 6)]);
    }

    #[test]
    fn bad_records_have_the_same_lines_wherever_ranges_begin() {
        let text = &b"1\n\nno\n[2, 3]\r\n{\n\n\n4\nnull \n[1 2]\n5\n]"[..];
        let wanted = [(3, 4), (5, 15), (10, 29), (12, 34)];
        for bytes in 1..=text.len() as u64 + 1 {
            for threads in [1, 4] {
                let parts = ranges(0..text.len() as u64, bytes).map(|range| (0, range));
                let mut places = Vec::new();
                drive(
                    parts,
                    threads,
                    || LineReader::new(Options::default()),
                    |reader, range| bad_records(reader, Part::Range(&text, range)),
                    |found, lines| {
                        places.extend(found.into_iter().map(|bad| {
                            let bad = bad.after_lines(lines.start, 0);
                            (bad.line(), bad.error().offset())
                        }));
                        ControlFlow::Continue(())
                    },
                );
                assert_eq!(places, wanted, "{threads} threads, {bytes} bytes");
            }
        }
        let (found, lines) = bad_records(&mut LineReader::new(Options::default()), Part::Stream(&mut &text[..]));
        assert_eq!(found.iter().map(|bad| (bad.line(), bad.error().offset())).collect::<Vec<_>>(), wanted);
        assert_eq!(lines, 11);
    }

    /// The bad records of a part, and the number of its lines.
    fn bad_records(reader: &mut LineReader, part: Part<'_>) -> (Vec<Located>, u64) {
        let mut found = Vec::new();
        let read = reader.read::<Error>(
            part,
            Counting::default(),
            (&Projection::new(&[]), None),
            |_, _| ControlFlow::Continue(()),
            |bad, piece| {
                found.push(piece.locate(bad));
                ControlFlow::Continue(())
            },
            |_, _| Ok(ControlFlow::Continue(())),
        );
        assert!(read.unwrap().is_continue());
        (found, reader.lines())
    }

    #[test]
    fn lines_count_from_the_start_of_their_text() {
        let parts = [(0, 5), (0, 7), (1, 2), (2, 0), (2, 3), (2, 1)];
        for threads in [1, 4] {
            let mut seen = Vec::new();
            drive(
                parts,
                threads,
                || (),
                |(), lines| ((), lines),
                |(), lines| {
                    seen.push(lines);
                    if seen.len() == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                },
            );
            assert_eq!(seen, [0..5, 5..12, 0..2, 0..0, 0..3]);
        }
    }
}
