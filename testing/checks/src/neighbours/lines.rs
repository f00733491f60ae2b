//! Readers of lines: [`lines::read_stream`] and [`hooks::lines::read_range`](jird::hooks::lines::read_range).

use super::readers::{End, Reader};
use super::script::{Script, caught, own_panic};
use super::told::assert_texts;
use crate::shown;
use jird::hooks::lines::{self as parts, ReadAt};
use jird::{
    Error, lines,
    record::{Record, RecordBuffer},
};
use std::cell::RefCell;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::Mutex;

thread_local! {
    /// Kept from run to run, because reading grows it to a quarter of a megabyte.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Reads pieces of whole lines from a stream.
pub(super) fn read_stream(script: &Script<'_>) {
    let mut reader = Reader::new(script);
    let bytes_max = if script.size & 8 == 0 { usize::MAX / 4 } else { 40 };
    let mut lines = Lines { pieces: Vec::new(), text: Vec::new(), script };
    let read = BUFFER.with_borrow_mut(|buffer| {
        caught(|| lines::read_stream(&mut reader, buffer, bytes_max, |offset, piece| lines.take(offset, piece)))
    });
    lines.judge(&reader, read, bytes_max);
}

/// The lines that a reader of lines received.
struct Lines<'s> {
    /// The offset and the length of each piece.
    pieces: Vec<(u64, usize)>,
    /// The pieces, one after the other.
    text: Vec<u8>,
    script: &'s Script<'s>,
}

impl Lines<'_> {
    fn take(&mut self, offset: u64, piece: &[u8]) -> Result<ControlFlow<()>, Error> {
        assert!(!piece.is_empty(), "an empty piece");
        self.pieces.push((offset, piece.len()));
        self.text.extend_from_slice(piece);
        // Whatever the line contains, a record of it is consistent.
        let line = piece.split(|byte| *byte == b'\n').next().unwrap_or_default();
        assert_texts(Record::scan_trusted(line, &mut RecordBuffer::new()).root());
        match self.script.way / 8 % 8 {
            5 if self.text.len() > 20 => Ok(ControlFlow::Break(())),
            6 if self.text.len() > 20 => Err(Error::new(jird::ErrorKind::Size, offset)),
            7 if self.text.len() > 20 => own_panic(),
            _ => Ok(ControlFlow::Continue(())),
        }
    }

    fn judge(&self, reader: &Reader<'_>, read: Option<Result<ControlFlow<()>, Error>>, bytes_max: usize) {
        let end = self.end_in(&reader.given, bytes_max);
        match read {
            Some(Ok(ControlFlow::Continue(()))) => {
                assert_eq!(reader.end, End::Said, "{}", shown(&self.text));
                assert_eq!(reader.given.len(), end, "not all was handed on");
            }
            Some(Err(error)) if error.is_io() => match reader.end {
                End::Failed(kind) => assert_eq!(error.io_error_kind(), Some(kind)),
                end => assert_eq!(end, End::Overclaimed, "{error}"),
            },
            Some(Err(error)) => {
                assert!(self.text.len() > 20 || reader.end == End::Forged, "{error}: {}", shown(&reader.given));
            }
            Some(Ok(ControlFlow::Break(()))) | None => {}
        }
    }

    /// Checks that the pieces are those of a text, with only the heads of its long lines. Returns where they end in it.
    fn end_in(&self, text: &[u8], bytes_max: usize) -> usize {
        let (mut at, mut end) = (0, 0);
        for (offset, len) in &self.pieces {
            let piece = &self.text[at..at + len];
            at += len;
            assert_eq!(usize::try_from(*offset), Ok(end), "pieces follow each other");
            let rest = &text[end..];
            let line = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            if line > bytes_max && *len == bytes_max + 2 {
                assert!(rest.starts_with(&piece[..len - 1]) && piece.ends_with(b"\n"), "{}", shown(piece));
                end = text.len().min(end + line + 1);
            } else {
                assert!(rest.starts_with(piece), "lines that were not read: {}", shown(piece));
                end += len;
            }
        }
        end
    }
}

/// Reads pieces of whole lines from a file that can be read at any offset. What it returns has nothing to do with the
/// offset.
pub(super) fn read_range(script: &Script<'_>) {
    let reader = AnyOffset(Mutex::new(Reader::new(script)));
    let [start, end] = [script.size, script.way / 64].map(u64::from);
    let range = start % 16..[u64::MAX, 40, start % 16, 1 << 33][(end % 4) as usize].max(start % 16);
    let mut text = 0;
    let mut take = |offset: u64, piece: &[u8]| {
        assert!(!piece.is_empty() && range.contains(&offset), "{offset} is not in {range:?}");
        text += piece.len();
        if text > 100 && script.way & 8 != 0 { own_panic() } else { Ok::<_, Error>(ControlFlow::Continue(())) }
    };
    let read = BUFFER.with_borrow_mut(|buffer| {
        caught(|| parts::read_range(&reader, range.clone(), buffer, usize::MAX / 4, &mut take))
    });
    let reader = reader.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    assert!(text <= reader.given.len(), "lines that were not read");
    match (read, reader.end) {
        (Some(Ok(_)), end) => assert!(matches!(end, End::Open | End::Said), "{end:?}, and no error"),
        (Some(Err(error)), End::Failed(kind)) => assert_eq!(error.io_error_kind(), Some(kind)),
        (Some(Err(error)), end) => assert!(matches!(end, End::Overclaimed | End::Forged), "{error}"),
        (None, _) => {}
    }
}

struct AnyOffset<'s>(Mutex<Reader<'s>>);

impl ReadAt for AnyOffset<'_> {
    fn read_at(&self, buffer: &mut [u8], _offset: u64) -> io::Result<usize> {
        // A reader that panicked earlier is still usable.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).read(buffer)
    }
}
