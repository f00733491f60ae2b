//! Decodes lines into a type.

use super::piece::newlines;
use super::stream::{StreamPiece, StreamPieces};
use crate::error::Error;
use crate::fault::ErrorKind;
use crate::policy::RECORD_BYTES_MAX;
use core::convert::Infallible;
use serde_core::de::DeserializeOwned;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SendError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The values of a piece of lines.
type PieceValues<T> = Vec<Result<T, Error>>;

/// A piece of whole lines, the number of lines before it, and the channel for its values.
struct TypedPiece<T> {
    text: StreamPiece,
    lines_before: u64,
    to: SyncSender<PieceValues<T>>,
}

/// The number of pieces in flight per thread.
const PIECES_PER_THREAD: usize = 3;

/// Decodes the values of NDJSON on all cores, and returns them in order, one for each line that is not blank.
///
/// For an invalid line the item is an error, which holds the line number, the column in the line, and the offset in
/// the whole input; the next line is the next item. A line longer than [`RECORD_BYTES_MAX`] is such an error too, of
/// kind [`Size`](ErrorKind::Size). If reading fails, the error is the last item; so it is if the reader panics. If no thread
/// can be started, as in WebAssembly, that error is the only item. This function reads ahead: for each core, several pieces of 256 KB (or of the longest line) and their values are in
/// memory.
///
/// ```
/// let log = "{\"id\": 1}\n\n{\"id\": \"two\"}\n{\"id\": 3}\n";
/// let mut ids = Vec::new();
/// for event in jird::lines::typed::<std::collections::BTreeMap<String, u64>>(log.as_bytes()) {
///     match event {
///         Ok(event) => ids.push(event["id"]),
///         Err(error) => assert_eq!(error.to_string(), "invalid type: string \"two\", expected u64 at line 3 column 8 (at /id)"),
///     }
/// }
/// assert_eq!(ids, [1, 3]);
/// ```
pub fn typed<T: DeserializeOwned + Send + 'static>(reader: impl Read + Send + 'static) -> Typed<T> {
    let threads = if cfg!(feature = "parallel") { thread::available_parallelism().map_or(1, usize::from) } else { 1 };
    typed_on(reader, threads)
}

/// As [`typed`], on `threads` threads, and one more that reads.
pub fn typed_on<T: DeserializeOwned + Send + 'static>(reader: impl Read + Send + 'static, threads: usize) -> Typed<T> {
    let waiting = threads.max(1) * PIECES_PER_THREAD;
    let (results, made) = sync_channel(waiting);
    let (pieces, work) = sync_channel::<TypedPiece<T>>(waiting);
    let work = Arc::new(Mutex::new(work));
    for running in 0..threads.max(1) {
        let work = Arc::clone(&work);
        match thread::Builder::new().spawn(move || decode_pieces(&work)) {
            Ok(_) => {}
            Err(error) if running == 0 => return Typed::failed(&error),
            // Fewer threads do the same work.
            Err(_) => break,
        }
    }
    // The others end after this one, which begins when all are detached: glibc reads from a thread after detaching it (its
    // bug 19951), which is a crash if the thread has ended by then and its stack is gone.
    let (held, detached) = sync_channel::<Infallible>(0);
    let started = thread::Builder::new().spawn(move || {
        let _ = detached.recv();
        cut(reader, &pieces, &results);
    });
    if let Err(error) = started.map(drop) {
        return Typed::failed(&error);
    }
    drop(held);
    Typed { made, ready: VecDeque::new() }
}

/// The iterator that [`typed`] returns.
#[derive(Debug)]
pub struct Typed<T> {
    /// For each piece, in order, the channel that its values will come from.
    made: Receiver<Receiver<PieceValues<T>>>,
    ready: VecDeque<Result<T, Error>>,
}

impl<T> Typed<T> {
    /// The error alone that no thread can be started, which WebAssembly never can.
    fn failed(error: &io::Error) -> Self {
        let (_, made) = sync_channel(0);
        let error = io::Error::new(error.kind(), format!("no thread can be started to decode lines: {error}"));
        Self { made, ready: [Err(error.into())].into() }
    }
}

impl<T> Iterator for Typed<T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Result<T, Error>> {
        while self.ready.is_empty() {
            let piece = self.made.recv().ok()?;
            // The thread that decoded the piece panicked, in the code of `T`.
            let values = piece.recv().unwrap_or_else(|_| panic!("a thread that decoded lines panicked"));
            self.ready = values.into();
        }
        self.ready.pop_front()
    }
}

/// Reads pieces and sends them to the threads, until the iterator is dropped.
fn cut<T>(reader: impl Read, pieces: &SyncSender<TypedPiece<T>>, results: &SyncSender<Receiver<PieceValues<T>>>) {
    let mut lines_before = 0;
    let _last = LastIfPanicking(results);
    // The threads live as long as the iterator, so this is not `drive`, which returns when all is done.
    let mut texts = StreamPieces::new(reader, RECORD_BYTES_MAX).live();
    loop {
        match texts.next() {
            Some(Ok(text)) => {
                let (to, made) = sync_channel(1);
                let lines = newlines(&text);
                if results.send(made).is_err() || pieces.send(TypedPiece { text, lines_before, to }).is_err() {
                    return;
                }
                lines_before += lines;
            }
            Some(Err(error)) => return drop(send_error(results, error.into())),
            None => {
                let too_long = match texts.skip_long_line() {
                    Ok(None) => return,
                    Ok(Some(offset)) => {
                        let (offset, column) = (offset + RECORD_BYTES_MAX as u64, RECORD_BYTES_MAX as u64 + 1);
                        Error::new(ErrorKind::Size, offset).placed(offset, lines_before + 1, column)
                    }
                    Err(error) => error.into(),
                };
                if send_error(results, too_long).is_err() {
                    return;
                }
                lines_before += 1;
            }
        }
    }
}

/// Sends an error after the values so far. Fails if the receiver is gone.
fn send_error<T>(
    results: &SyncSender<Receiver<PieceValues<T>>>,
    error: Error,
) -> Result<(), SendError<Receiver<PieceValues<T>>>> {
    let (to, made) = sync_channel(1);
    match to.try_send(vec![Err(error)]) {
        Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => results.send(made),
    }
}

/// Reports that a reader panicked; otherwise the values would end as if they were complete.
struct LastIfPanicking<'r, T>(&'r SyncSender<Receiver<PieceValues<T>>>);

impl<T> Drop for LastIfPanicking<'_, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            drop(send_error(self.0, io::Error::other("the reader panicked").into()));
        }
    }
}

fn decode_pieces<T: DeserializeOwned>(work: &Mutex<Receiver<TypedPiece<T>>>) {
    loop {
        let piece = work.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(TypedPiece { text, lines_before, to }) = piece else { return };
        let mut made = Vec::new();
        let mut start = 0;
        for (line, end) in memchr::memchr_iter(b'\n', &text).chain([text.len()]).enumerate() {
            let record = &text[start..end];
            if !record.trim_ascii().is_empty() {
                made.push(crate::from_slice(record).map_err(|error: Error| {
                    let (within, column) = (error.offset(), error.column() as u64);
                    error.placed(text.offset() + start as u64 + within, lines_before + line as u64 + 1, column)
                }));
            }
            start = end + 1;
        }
        // If the iterator was dropped, the values are not needed.
        drop(to.send(made));
    }
}
