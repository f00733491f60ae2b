//! Answers on their way: made at once and in memory if they are short, and otherwise by a thread of their own, a chunk
//! at a time and not before the client takes it.

use crate::base::problem::Problem;
use crate::cache::readers::RowCounts;
use crate::http::body::{Chunk, GiveUp, Truncated};
use crate::http::compress::Packer;
use crate::request::negotiation::Coding;
use crate::request::rows::{Out, Stop};
use crate::tables::pace::Pace;
use bytes::Bytes;
use hyper::StatusCode;
use tokio::sync::{mpsc, oneshot};

/// An answer that must be short.
pub(crate) struct Short {
    pub(crate) text: Vec<u8>,
    bytes_max: usize,
}

impl Short {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { text: Vec::with_capacity(1024), bytes_max }
    }
}

impl Out for Short {
    fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    fn full(&mut self) -> Result<(), Stop> {
        if self.text.len() > self.bytes_max { Err(Stop::Later) } else { Ok(()) }
    }
}

/// What is known when the first bytes are there.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResultFacts {
    /// The number of all rows, if it was asked for.
    pub(crate) total: Option<u64>,
    /// Where the answer goes on, if there is more.
    pub(crate) next: Option<String>,
    /// The arrival number of the last event that the answer could have had.
    pub(crate) last: Option<u64>,
}

/// That the answer has begun, or why not.
pub(crate) type Begun = Result<ResultFacts, Problem>;

/// An answer of any length.
pub(crate) struct Long {
    text: Vec<u8>,
    packer: Packer,
    told: ResultFacts,
    begun: Option<oneshot::Sender<Begun>>,
    chunks: mpsc::Sender<Chunk>,
    is_finished: bool,
    pace: Option<Pace>,
}

/// Chunks that wait for a client.
const WAITING: usize = 2;

impl Long {
    /// The answer, and what comes of it. One that another process makes has no pace of its own.
    pub(crate) fn new(
        coding: Option<Coding>,
        pace: Option<Pace>,
    ) -> std::io::Result<(Self, oneshot::Receiver<Begun>, mpsc::Receiver<Chunk>)> {
        let (begun, is_begun) = oneshot::channel();
        let (chunks, receiver) = mpsc::channel(WAITING);
        let packer = Packer::new(coding)?;
        let (text, told, begun) = (Vec::new(), ResultFacts::default(), Some(begun));
        Ok((Self { text, packer, told, begun, chunks, is_finished: false, pace }, is_begun, receiver))
    }

    /// Metadata of a page of events, sent before its first byte.
    pub(crate) fn page(&mut self, next: Option<String>, last: Option<u64>) {
        self.told.next = next;
        self.told.last = last;
    }

    /// Lets others have a turn.
    pub(crate) fn pause(&mut self) {
        self.pace.iter_mut().for_each(Pace::pause);
    }

    fn send(&mut self, bytes: Vec<u8>) -> Result<(), Stop> {
        if let Some(begun) = self.begun.take() {
            begun.send(Ok(self.told.clone())).map_err(|_| Stop::Gone)?;
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let send = || self.chunks.blocking_send(Ok(Bytes::from(bytes))).map_err(|_| Stop::Gone);
        match &mut self.pace {
            Some(pace) => pace.hand_on(send),
            None => send(),
        }
    }

    /// Ends the answer, whether or not it was made.
    pub(crate) fn finish(mut self, made: Result<RowCounts, Stop>) {
        self.is_finished = true;
        // Nothing is to be made any more.
        self.pace = None;
        let made = made.and_then(|_| {
            let mut text = core::mem::take(&mut self.text);
            let mut rest = self.packer.push(&mut text).map_err(|error| failed(&error))?;
            let packer = core::mem::replace(&mut self.packer, Packer::Plain);
            rest.extend_from_slice(&packer.finish().map_err(|error| failed(&error))?);
            self.send(rest)
        });
        match (made, self.begun.take()) {
            (Ok(()), _) => {}
            (Err(Stop::Problem(problem)), Some(begun)) => drop(begun.send(Err(problem))),
            (Err(Stop::Later), Some(begun)) => drop(begun.send(Err(Problem::busy("the answer was not made")))),
            // The head is gone already: the client sees that the body ends before its end.
            (Err(_), _) => drop(self.chunks.blocking_send(Err(Truncated))),
        }
    }
}

impl Drop for Long {
    /// After a panic, the client must not take what it has for all of the answer.
    fn drop(&mut self) {
        if !self.is_finished && self.begun.is_none() {
            drop(self.chunks.blocking_send(Err(Truncated)));
        }
    }
}

impl Out for Long {
    fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    fn full(&mut self) -> Result<(), Stop> {
        let bytes = self.packer.push(&mut self.text).map_err(|error| failed(&error))?;
        self.send(bytes)
    }

    fn begin(&mut self) {
        self.pause();
    }

    fn total(&mut self, total: u64) {
        self.told.total = Some(total);
    }
}

#[cold]
fn failed(error: &std::io::Error) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, format!("packing the answer: {error}"))
}

/// What is behind a long answer that has begun.
pub(crate) struct Running {
    pub(crate) total: Option<u64>,
    pub(crate) chunks: mpsc::Receiver<Chunk>,
    pub(crate) give_up: GiveUp,
}
