//! A source and its sink on two threads.

use super::protocol::{Scalar, forwards, scalars};
use super::recording::Recording;
use super::{Failure, Interest, JsonText, Key, Place, Sink};
use crate::error::Error;
use core::convert::Infallible;
use core::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

/// Runs `send` on a thread of its own, and passes the records that it sends to `sink` on this thread. Use it when both
/// the source and the sink have enough work. Put filters on the source's side: everything that is sent is copied, and a
/// [`Skip`](Interest::Skip) of the sink comes too late.
///
/// Only complete records arrive. The pipe takes memory for a few batches of 256 KiB, or of one record if that is
/// longer. The sink is not finished.
///
/// ```
/// use jird::event::{JsonSink, JsonSource, Sink, Source};
/// use jird::hooks::event::pipe;
/// let mut out = JsonSink::new(Vec::new());
/// let mut numbers = JsonSource::from_slice(b"1 2 3");
/// let sent = pipe(&mut out, |pipe| numbers.send(pipe));
/// assert!(matches!(sent, Ok(Ok(()))));
/// out.finish()?;
/// assert_eq!(out.into_inner(), b"1\n2\n3\n");
/// # Ok::<(), jird::Error>(())
/// ```
///
/// # Errors
/// The sink's error; the return value of `send` is then lost. If `send` itself fails, the sink has received the records
/// before the failure.
///
/// # Panics
/// If `send` does, or if no thread can be started, as in WebAssembly.
pub fn pipe<S: Sink, T: Send>(
    sink: &mut S,
    send: impl FnOnce(&mut Pipe) -> T + Send,
) -> Result<T, Failure<Infallible, S::Error>> {
    let (full, batches) = sync_channel::<Batch>(BATCHES);
    let (used, empty) = channel();
    let is_wanted = AtomicBool::new(sink.wants_more());
    thread::scope(|scope| {
        let is_wanted = &is_wanted;
        let source = scope.spawn(move || {
            let mut pipe = Pipe { batch: Batch::default(), full, empty, is_wanted };
            let done = send(&mut pipe);
            // If this fails, the sink has failed, and `pipe` returns the sink's error.
            let _ = pipe.hand_over();
            done
        });
        let taken = take(sink, batches, &used, is_wanted);
        match source.join() {
            Ok(done) => taken.map(|()| done),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// A batch is handed over at about this size.
const BATCH_BYTES: usize = 256 << 10;

/// The maximum number of batches that wait for the sink.
const BATCHES: usize = 2;

/// The sink's side: runs until there are no more batches or the sink fails.
fn take<S: Sink>(
    sink: &mut S,
    batches: Receiver<Batch>,
    used: &Sender<Batch>,
    is_wanted: &AtomicBool,
) -> Result<(), Failure<Infallible, S::Error>> {
    for mut batch in batches {
        batch.send(sink)?;
        is_wanted.store(sink.wants_more(), Ordering::Relaxed);
        batch.clear();
        // Fails when the source has ended and no longer reuses batches.
        let _ = used.send(batch);
    }
    Ok(())
}

/// The source's end of a [`pipe`].
#[derive(Debug)]
pub struct Pipe<'p> {
    batch: Batch,
    full: SyncSender<Batch>,
    empty: Receiver<Batch>,
    is_wanted: &'p AtomicBool,
}

impl Pipe<'_> {
    /// Hands over the records that are complete.
    fn hand_over(&mut self) -> Result<(), PipeError> {
        self.batch.abandon();
        let next = self.empty.try_recv().unwrap_or_default();
        self.full.send(core::mem::replace(&mut self.batch, next)).map_err(|_| PipeError::Closed)
    }
}

/// Why nothing can be sent through a [`Pipe`].
#[derive(Debug)]
pub enum PipeError {
    /// The sink has failed.
    Closed,
    /// A record is too large.
    Record(Error),
}

impl fmt::Display for PipeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the sink has failed"),
            Self::Record(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for PipeError {}

/// Complete records, and the part of the next record that has arrived.
#[derive(Debug, Default)]
struct Batch {
    recording: Recording,
    /// The first event of each record, and the record's place.
    records: Vec<(usize, Place)>,
    /// Whether the last record is not complete.
    is_open: bool,
}

impl Batch {
    fn clear(&mut self) {
        self.recording.clear();
        self.records.clear();
        self.is_open = false;
    }

    /// Forgets a record that is not complete.
    fn abandon(&mut self) {
        if core::mem::take(&mut self.is_open)
            && let Some((start, _)) = self.records.pop()
        {
            self.recording.truncate(start);
        }
    }

    fn send<S: Sink>(&self, sink: &mut S) -> Result<(), Failure<Infallible, S::Error>> {
        let send = |start, place, sink: &mut S| {
            sink.begin_record(place)?;
            self.recording.send_at(start, sink)?;
            sink.end_record()
        };
        for &(start, place) in &self.records {
            if !sink.wants_more() {
                break;
            }
            send(start, place, sink).map_err(|error| Failure::Sink(error, place))?;
        }
        Ok(())
    }
}

impl Pipe<'_> {
    #[inline(always)]
    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<(), PipeError> {
        scalar.send(&mut self.batch.recording).map_err(PipeError::Record)
    }
}

impl Sink for Pipe<'_> {
    type Error = PipeError;

    fn begin_record(&mut self, place: Place) -> Result<(), PipeError> {
        self.batch.abandon();
        // The texts of abandoned records still take memory, so they count too.
        if self.batch.records.is_empty() {
            self.batch.clear();
        } else if self.batch.recording.size() >= BATCH_BYTES {
            self.hand_over()?;
        }
        self.batch.records.push((self.batch.recording.len(), place));
        self.batch.is_open = true;
        Ok(())
    }

    fn end_record(&mut self) -> Result<(), PipeError> {
        self.batch.is_open = false;
        if self.batch.recording.size() < BATCH_BYTES { Ok(()) } else { self.hand_over() }
    }

    #[inline]
    fn key(&mut self, key: Key<'_>) -> Result<Interest, PipeError> {
        self.batch.recording.key(key).map_err(PipeError::Record)
    }

    scalars!();
    forwards!(self => self.batch.recording, PipeError::Record; begin_object end_object begin_array end_array);

    fn json(&mut self, text: JsonText<'_>) -> Result<(), PipeError> {
        self.batch.recording.push_json(text).map_err(PipeError::Record)
    }

    fn wants_more(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed)
    }
}
