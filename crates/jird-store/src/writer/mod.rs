//! The one writer of a store.
//!
//! Producers append batches to the log, one after the other, and wait for them to be durable together (group commit).
//! When the log has grown to the size of a span, a thread seals it while producers go on in a new one; if they are
//! quicker than it, they wait, so that memory stays bounded.

mod commit;
mod open;
mod seal;

use crate::error::{Damage, Error, ErrorKind, Sync};
use crate::event::{ArrivalClock, Batch, LoggedBatch};
use crate::files::{Lock, Output};
use crate::log;
use crate::logs::TakenFile;
use crate::manifest::{Folder, Fresh, LogEntry};
use crate::settings::{Settings, WriterOptions};
use crate::source::{Checkpoint, Mark, Sources};
use arrow_buffer::Buffer;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

/// How many file numbers are reserved at a time.
const NUMBERS: u64 = 8;

/// What the logs may keep when a writer ends.
const SEAL_BYTES_AT_END: usize = 4 << 20;

/// The one writer of a store. Several producers may share it, on several threads.
///
/// If it is dropped, everything acknowledged is safe, too; [`Writer::finish`] also tells of errors.
#[derive(Debug)]
pub struct Writer {
    shared: Arc<WriterState>,
    threads: Vec<JoinHandle<()>>,
    damage: Vec<Damage>,
}

/// A batch's place in the log, for [`Writer::commit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

/// What a writer did.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Events that were appended.
    pub events: u64,
    /// Their bytes, minified, with line feeds.
    pub bytes: u64,
    /// Those that have no time of their own, and got that of their arrival.
    pub undated: u64,
    /// Span files that were sealed.
    pub spans: u64,
    /// Why the last sealing failed, if it did. All events are in the logs then, where queries find them, and the next
    /// writer tries again.
    pub unsealed: Option<Error>,
}

#[derive(Debug)]
struct WriterState {
    folder: Folder,
    settings: Settings,
    options: WriterOptions,
    /// The identity of the store.
    store: u64,
    state: Mutex<State>,
    /// Numbers of files that are reserved and not used yet.
    numbers: Mutex<Range<u64>>,
    /// Something in the state changed.
    changed: Condvar,
    _lock: Box<dyn Lock>,
}

#[derive(Debug)]
struct State {
    log: OpenLog,
    /// The next log. It is made before it is needed, because that waits for the disk several times.
    spare: Option<OpenLog>,
    /// What is in the logs and not handed to the sealing thread.
    pending: Pending,
    /// What the sealing thread has to do, or does.
    sealing: Option<Arc<Pending>>,
    /// Why it could not; it tries again when this is taken.
    seal_error: Option<Error>,
    arrivals: u64,
    clock: ArrivalClock,
    /// Where it is noted which events were acknowledged.
    taken: TakenFile,
    sources: Sources,
    /// Batches that were appended, and those of them that are durable.
    appended: u64,
    synced: u64,
    /// Logs before the current one that are not fully durable, each with the number of the last batch in it.
    unsynced: Vec<(u64, Arc<dyn Output>)>,
    is_syncing: bool,
    /// Why nothing works any more.
    failed: Option<Error>,
    is_closing: bool,
    totals: Totals,
}

#[derive(Debug)]
struct OpenLog {
    number: u64,
    identity: u64,
    file: Arc<dyn Output>,
    bytes: u64,
}

/// Events in logs that become a span.
#[derive(Debug, Default)]
struct Pending {
    batches: Vec<Arc<LoggedBatch>>,
    bytes: usize,
    /// The number of the last batch.
    last: u64,
    /// The arrival number of the event that comes next.
    end: u64,
    /// The logs that have them, and whether each is kept aside because it is damaged.
    logs: Vec<(u64, bool)>,
}

impl Writer {
    /// Appends a batch: it is written to the log, and every snapshot from now on has it. It waits while sealing lags.
    ///
    /// # Errors
    /// Nothing of the batch was taken. The writer can be used on, unless the error is `Closed`.
    pub fn append(&self, batch: Batch) -> Result<Ticket, Error> {
        if batch.is_empty() {
            return Ok(Ticket(self.shared.state().appended));
        }
        self.append_marked(batch, Mark::default())
    }

    /// Appends a batch, which may be empty, together with how far its source was taken then: the store has both or
    /// neither. [`Writer::sources`] knows the checkpoint from now on, and so does every later writer.
    ///
    /// # Errors
    /// As [`Writer::append`].
    pub fn append_from(&self, batch: Batch, checkpoint: &Checkpoint) -> Result<Ticket, Error> {
        self.append_marked(batch, Mark { checkpoint: Some(checkpoint.clone()), ..Mark::default() })
    }

    /// How far sources were taken, by this writer and those before it.
    pub fn sources(&self) -> Sources {
        self.shared.state().sources.clone()
    }

    fn append_marked(&self, mut batch: Batch, mut mark: Mark) -> Result<Ticket, Error> {
        let mut state = self.shared.room()?;
        if batch.is_open() {
            // Taken here: a thread that prepares batches would take the time before the batch has its place.
            let now = state.clock.now();
            batch.arrive(now);
            mark.clock = Some(now);
        }
        let mark_bytes = mark.write();
        let arrival = state.arrivals;
        let head = log::head(state.log.identity, &batch, arrival, &mark_bytes);
        let path = || self.shared.folder.log(state.log.number);
        let file = &state.log.file;
        if let Err(error) = file.append(&head).and_then(|()| file.append(batch.text())) {
            let error = Error::io("write", &path(), &error);
            // What is half written must go, or what comes after it would not be found.
            if let Err(again) = file.truncate(state.log.bytes) {
                let what = format!("{error}; then it could not be cut: {again}");
                state.failed = Some(Error::new(ErrorKind::Closed, what));
            }
            return Err(error);
        }
        state.log.bytes += (head.len() + batch.text().len()) as u64;
        state.sources.note(&mark);
        state.arrivals += batch.events();
        if self.shared.options.sync != Sync::Batch {
            // No client waits: it is acknowledged as soon as this returns.
            let arrivals = state.arrivals;
            state.taken.note(arrivals);
        }
        state.appended += 1;
        state.totals.events += batch.events();
        state.totals.bytes += batch.text().len() as u64;
        state.totals.undated += batch.undated();
        let order = batch.order();
        let (text, times) = batch.into_parts();
        state.pending.bytes += text.len();
        let text = Buffer::from_vec(text);
        state.pending.batches.push(Arc::new(LoggedBatch { arrival, text, times, order, mark: mark_bytes.into() }));
        Ok(Ticket(state.appended))
    }

    /// Checks, minifies and appends one event.
    ///
    /// # Errors
    /// `Event` if it is no JSON, or too long; as [`Writer::append`].
    pub fn append_event(&self, event: &[u8]) -> Result<Ticket, Error> {
        self.append(Batch::of_event(event, &self.shared.settings)?)
    }

    /// Waits until a batch, and all before it, are as durable as [`WriterOptions::sync`] says. Producers that wait at
    /// the same time share one `fsync`.
    ///
    /// # Errors
    /// It is not surely durable. After a failed `fsync` the state of the disk is unknown, and the writer is `Closed`.
    pub fn commit(&self, ticket: Ticket) -> Result<(), Error> {
        match self.shared.options.sync {
            Sync::Batch => self.shared.sync_to(ticket.0),
            Sync::Interval(_) | Sync::None => self.shared.state().failed.clone().map_or(Ok(()), Err),
        }
    }

    /// What was found damaged in the logs of an earlier writer. The files are kept aside, as `log-N.damaged`.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// The settings of the store.
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// What was done so far.
    pub fn totals(&self) -> Totals {
        self.shared.state().totals.clone()
    }

    /// The bytes of events in the logs that no thread seals yet. Every snapshot reads them, without the help of an index.
    pub fn unsealed_bytes(&self) -> usize {
        self.shared.state().pending.bytes
    }

    /// Puts all that was appended so far into span files, which are indexed, and waits for that.
    ///
    /// # Errors
    /// A span file could not be written; what was acknowledged is in the log all the same.
    pub fn seal(&self) -> Result<(), Error> {
        let mut state = self.shared.state();
        let mut is_handed_on = false;
        loop {
            if let Some(error) = &state.failed {
                return Err(error.clone());
            }
            if let Some(error) = state.seal_error.take() {
                self.shared.changed.notify_all();
                return Err(error);
            }
            if state.sealing.is_some() {
                state = self.shared.wait(state);
            } else if is_handed_on || state.pending.batches.is_empty() {
                return Ok(());
            } else {
                self.shared.rotate(&mut state)?;
                is_handed_on = true;
            }
        }
    }

    /// Ends the writer as [`finish`](Self::finish) does, and before that [seals](Self::seal) what is in the logs, unless
    /// it is less than 4 MB: every query reads the logs whole, and sealing less would leave small files.
    ///
    /// # Errors
    /// As [`finish`](Self::finish). What came is durable whether or not it could be sealed.
    pub fn finish_sealed(self) -> Result<Totals, Error> {
        let unsealed = if self.unsealed_bytes() >= SEAL_BYTES_AT_END { self.seal().err() } else { None };
        let totals = self.finish()?;
        Ok(Totals { unsealed: totals.unsealed.or(unsealed), ..totals })
    }

    /// Ends the writer: everything is durable then, unless [`Sync::None`] was chosen. What is not sealed yet stays in
    /// the log, where readers and the next writer find it.
    ///
    /// # Errors
    /// Not everything is surely durable. A failure of the last sealing is not an error; the totals tell it.
    pub fn finish(mut self) -> Result<Totals, Error> {
        let appended = self.shared.state().appended;
        let synced = match self.shared.options.sync {
            Sync::None => Ok(()),
            Sync::Batch | Sync::Interval(_) => self.shared.sync_to(appended),
        };
        self.close();
        self.shared.drop_empty_logs();
        let mut state = self.shared.state();
        synced?;
        if let Some(error) = state.failed.take() {
            return Err(error);
        }
        Ok(Totals { unsealed: state.seal_error.take(), ..state.totals.clone() })
    }

    fn close(&mut self) {
        self.shared.state().is_closing = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join()
                && !std::thread::panicking()
            {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}

impl OpenLog {
    /// Whether no batch is in it.
    fn is_empty(&self) -> bool {
        self.bytes == log::START_BYTES as u64
    }
}

impl WriterState {
    /// A panic in another thread leaves the state as it was between two steps.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that batches are durable, up to the one of this number.
    fn note_synced(state: &mut State, last: u64) {
        state.synced = state.synced.max(last);
        state.unsynced.retain(|(last, _)| *last > state.synced);
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change, but not longer than until then.
    fn wait_until<'s>(&self, state: MutexGuard<'s, State>, until: Instant) -> MutexGuard<'s, State> {
        let rest = until.saturating_duration_since(Instant::now());
        self.changed.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits until there is room for another batch.
    fn room(&self) -> Result<MutexGuard<'_, State>, Error> {
        let mut state = self.state();
        loop {
            if let Some(error) = &state.failed {
                return Err(error.clone());
            }
            if state.pending.bytes < self.options.seal_bytes {
                return Ok(state);
            }
            if state.sealing.is_none() {
                self.rotate(&mut state)?;
            } else if let Some(error) = state.seal_error.take() {
                // The thread tries again now.
                self.changed.notify_all();
                return Err(error);
            } else {
                state = self.wait(state);
            }
        }
    }

    /// Begins a new log, unless nothing is in the current one, and hands what is in the old ones to the sealing thread.
    fn rotate(&self, state: &mut State) -> Result<(), Error> {
        if state.log.is_empty() {
            self.hand_on(state);
            return Ok(());
        }
        let log = match state.spare.take() {
            Some(log) => log,
            None => self.begin_log()?,
        };
        let before = std::mem::replace(&mut state.log, log);
        if state.synced < state.appended {
            state.unsynced.push((state.appended, before.file));
        }
        self.hand_on(state);
        Ok(())
    }

    /// Hands what is pending to the sealing thread, but for the current log.
    fn hand_on(&self, state: &mut State) {
        let current = state.log.number;
        let mut pending = std::mem::take(&mut state.pending);
        (pending.last, pending.end) = (state.appended, state.arrivals);
        pending.logs.retain(|(number, _)| *number != current);
        state.pending.logs.push((current, false));
        state.sealing = Some(Arc::new(pending));
        self.changed.notify_all();
    }

    /// The number of a new file.
    fn reserve(&self) -> Result<u64, Error> {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        if numbers.is_empty() {
            *numbers = self.folder.reserve_many(NUMBERS)?;
        }
        numbers.start += 1;
        Ok(numbers.start - 1)
    }

    /// Makes a new log, and names it in the manifest.
    fn begin_log(&self) -> Result<OpenLog, Error> {
        let fresh = Fresh::new(&self.folder, self.reserve()?);
        let number = fresh.number();
        let path = self.folder.log(number);
        let (start, identity) = log::start(number, self.store);
        let make = || {
            let file = self.folder.files.create(&path)?;
            file.append(&start)?;
            file.sync()?;
            Ok(file)
        };
        let file = make().map_err(|error| Error::io("make", &path, &error))?;
        self.folder.sync()?;
        self.folder.change(|manifest| {
            manifest.logs.push(LogEntry { number, identity: Some(identity), clips: Vec::new() });
            Ok(())
        })?;
        fresh.keep();
        Ok(OpenLog { number, identity, file, bytes: start.len() as u64 })
    }

    /// Removes the logs in the end in which nothing is. If that fails, they stay.
    fn drop_empty_logs(&self) {
        let state = self.state();
        if state.failed.is_some() {
            return;
        }
        let empty = state.spare.iter().chain([&state.log]).filter(|log| log.is_empty()).map(|log| log.number);
        let (empty, arrivals) = (empty.collect::<Vec<_>>(), state.arrivals);
        let dropped = self.folder.change_to_free(|manifest| {
            manifest.logs.retain(|log| !empty.contains(&log.number));
            manifest.arrivals = manifest.arrivals.max(arrivals);
            Ok(())
        });
        if dropped.is_ok() {
            empty.iter().for_each(|number| self.folder.discard(&self.folder.log(*number)));
        }
    }
}
