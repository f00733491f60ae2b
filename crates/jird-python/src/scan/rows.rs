//! Records, parsed by threads. The interpreter only makes values of them.

use super::failure::Failure;
use super::files::{Files, PartOutcome, Search, Work};
use core::ops::ControlFlow;
use jird::Document;
use jird::lines::Match;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Parts that may wait for the interpreter.
const WAITING_MAX: usize = 4;

/// The records of a part, as an array of JSON.
#[derive(Default)]
struct Gathered {
    text: Vec<u8>,
    /// The offsets of the records in their file.
    offsets: Vec<u64>,
}

/// How records are gathered.
pub(super) struct Gathering<'c> {
    gathered: Gathered,
    keys: Option<&'c [String]>,
}

impl<'c> Gathering<'c> {
    /// `keys` are those of columns, each with a colon; `None` if records are wanted whole.
    pub(super) fn new(keys: Option<&'c [String]>) -> Self {
        Self { gathered: Gathered::default(), keys }
    }
}

impl Work for Gathering<'_> {
    fn record(&mut self, record: &Match<'_, '_>, offset: u64) -> Result<(), String> {
        let Gathered { text, offsets } = &mut self.gathered;
        text.push(if offsets.is_empty() { b'[' } else { b',' });
        match self.keys {
            None => text.extend_from_slice(record.text()),
            Some(keys) => {
                for (index, (key, field)) in keys.iter().zip(record.fields()).enumerate() {
                    text.push(if index == 0 { b'{' } else { b',' });
                    text.extend_from_slice(key.as_bytes());
                    let raw = field.raw();
                    text.extend_from_slice(if raw.is_empty() { b"null" } else { raw.as_bytes() });
                }
                text.extend_from_slice(if keys.is_empty() { b"{}" } else { b"}" });
            }
        }
        offsets.push(offset);
        Ok(())
    }
}

/// The records of a part.
pub(super) struct Rows {
    /// An array of the records; `None` if there are none.
    pub(super) document: Option<Document<'static>>,
    pub(super) offsets: Vec<u64>,
    pub(super) file: usize,
    pub(super) bytes: u64,
    pub(super) skipped: u64,
    pub(super) failure: Option<Failure>,
}

impl Rows {
    /// No records, but a failure.
    pub(super) fn failed(failure: Failure) -> Self {
        let failure = Some(failure);
        Self { document: None, offsets: Vec::new(), file: 0, bytes: 0, skipped: 0, failure }
    }

    /// The place of the first record in the document.
    pub(super) fn first(&self) -> usize {
        let document = self.document.as_ref();
        document.map_or(0, |document| document.root().at(0).map_or(0, |first| document.place_of(first)))
    }

    pub(super) fn of(done: PartOutcome<Gathering<'_>>) -> Self {
        let PartOutcome { made, file, bytes, skipped, failure, .. } = done;
        let Gathered { mut text, offsets } = made.gathered;
        let document = (!offsets.is_empty()).then(|| {
            text.push(b']');
            jird::parse(&text).map(Document::into_owned)
        });
        let (document, broken) = match document.transpose() {
            Ok(document) => (document, None),
            // A file that was changed while it was read.
            Err(_) => (None, Some(Failure::Lost)),
        };
        Self { document, offsets, file, bytes, skipped, failure: failure.or(broken) }
    }
}

/// A scan on threads of its own. After this is dropped they end as soon as they have something to send. They are not
/// joined, because they may be waiting for a pipe.
pub(super) struct Running {
    receiver: Receiver<Rows>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Starts. With `keys`, only these columns are kept.
    pub(super) fn start(files: Arc<Files>, wanted: Search, keys: Option<Vec<String>>) -> Self {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let thread = thread::spawn(move || run(&files, &wanted, keys.as_deref(), &sender));
        Self { receiver, thread: Some(thread) }
    }

    /// The next rows, if they come soon: `Some(None)` at the end.
    #[expect(clippy::option_option, reason = "nothing yet, and nothing more")]
    pub(super) fn next_soon(&mut self) -> Option<Option<Rows>> {
        use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
        match self.receiver.recv_timeout(core::time::Duration::from_millis(50)) {
            Ok(rows) => Some(Some(rows)),
            Err(Timeout) => None,
            Err(Disconnected) => Some(None),
        }
    }

    /// Whether the threads have ended as they should, after the last rows.
    pub(super) fn has_panicked(&mut self) -> bool {
        self.thread.take().is_some_and(|thread| thread.join().is_err())
    }
}

fn run(files: &Files, wanted: &Search, keys: Option<&[String]>, sender: &SyncSender<Rows>) {
    let new = || Gathering::new(keys);
    files.scan(wanted, new, |done| match sender.send(Rows::of(done)) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    });
}
