//! The way into the event store: one writer, which all requests share, and the file of events that were refused.
//!
//! A request hands over a batch and waits until it is as durable as the writer's settings say. One thread appends: what
//! came while it was at work it appends together, by one write and, if the disk is waited for, one `fsync`. Nothing
//! bounds its queue but the requests, each of which holds the room of its body until its batch is appended.

mod append;
mod quarantine;

use crate::base::error::Error;
use crate::base::problem::Problem;
use crate::base::settings::Settings;
use crate::base::waits::Waiting;
use append::{Job, append_all};
use hyper::StatusCode;
use jird_store::{Batch, Store, Totals, WriterOptions};
pub(crate) use quarantine::{Quarantine, RefusedEvent};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Seconds after which a store that could not be written is worth another try.
const RETRY_SECONDS: u32 = 5;

/// Takes events into the store.
pub(crate) struct Intake {
    settings: jird_store::Settings,
    queue: UnboundedSender<Job>,
    thread: Mutex<Option<JoinHandle<Result<Totals, jird_store::Error>>>>,
    pub(crate) quarantine: Quarantine,
    events: AtomicU64,
    bytes: AtomicU64,
    busy: AtomicU64,
    waiting: Waiting,
    /// How old the newest event of the last batch was when it was durable, in milliseconds.
    lag: AtomicU64,
}

impl Intake {
    /// Becomes the writer of a store. Refused events go to a file in its folder, unless another one is named.
    pub(crate) fn open(store: &Store, settings: &Settings) -> Result<Self, Error> {
        let failed = |error| Error::because("opening the store for writing", error);
        let options = WriterOptions { sync: settings.sync, ..WriterOptions::default() };
        let writer = store.writer(&options).map_err(failed)?;
        let (queue, jobs) = unbounded_channel();
        let quarantine = settings.quarantine.clone().unwrap_or_else(|| store.path().join(QUARANTINE));
        let thread = thread::Builder::new().name("append".into()).spawn(move || append_all(writer, jobs));
        Ok(Self {
            settings: store.settings().clone(),
            queue,
            thread: Mutex::new(Some(thread.map_err(|error| Error::because("starting a thread", error))?)),
            quarantine: Quarantine::new(quarantine),
            events: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            waiting: Waiting::default(),
            lag: AtomicU64::new(0),
        })
    }

    /// What the store was made with.
    pub(crate) fn settings(&self) -> &jird_store::Settings {
        &self.settings
    }

    /// Appends a batch, and waits until it is durable, but not longer than so.
    ///
    /// # Errors
    /// 507: the disk is full; 503: it is not there, or not yet, or it is unknown whether it will survive a power failure.
    pub(crate) async fn append(&self, batch: Batch, patience: Duration) -> Result<(), Problem> {
        if batch.is_empty() {
            return Ok(());
        }
        let (events, bytes) = (batch.events(), batch.text().len() as u64);
        // An event without a time gets that of its arrival.
        let newest = if batch.undated() == 0 { batch.times().iter().max().copied() } else { None };
        let (done, is_done) = oneshot::channel();
        let stopped = || refused("the server is stopping and takes no more events");
        let _waits = self.waiting.one();
        self.queue.send(Job::Append(batch, done)).map_err(|_| stopped())?;
        let late = |_| refused("the disk is slow: the events are not on it yet, and may still get there");
        let appended = timeout(patience, is_done).await.map_err(late)?.map_err(|_| stopped())?;
        appended.map_err(|error| {
            let detail = format!("the store takes no events: {error}");
            if error.is_full() { Problem::full(detail) } else { refused(&detail) }
        })?;
        self.events.fetch_add(events, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.lag.store(newest.map_or(0, age), Ordering::Relaxed);
        Ok(())
    }

    /// Whether it takes events.
    ///
    /// # Errors
    /// 503 if the thread that appends has ended.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        if self.queue.is_closed() { Err(refused("the store takes no more events")) } else { Ok(()) }
    }

    /// Puts all that is in logs into spans, and waits for that on this thread.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn seal(&self) -> Result<(), jird_store::Error> {
        let (done, is_done) = oneshot::channel();
        // A server that stops seals by itself what is much.
        let sent = self.queue.send(Job::Seal(done));
        sent.map_or(Ok(()), |()| is_done.blocking_recv().unwrap_or(Ok(())))
    }

    /// Batches that were handed over and are not durable yet.
    pub(crate) fn waiting(&self) -> u64 {
        self.waiting.count()
    }

    /// A request was told to come back later.
    pub(crate) fn note_busy(&self) {
        self.busy.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the writer: what came is durable, and what is much is sealed. Later batches are refused.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let _ = self.queue.send(Job::End);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        match thread.map(JoinHandle::join) {
            None | Some(Ok(Ok(_))) => Ok(()),
            Some(Ok(Err(error))) => Err(Error::because("ending the store's writer", error)),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }

    /// Appends the sums in Prometheus's text format.
    pub(crate) fn metrics(&self, text: &mut String) {
        let load = |sum: &AtomicU64| sum.load(Ordering::Relaxed);
        for (name, help, value) in [
            ("events_total", "Events that came into the store.", load(&self.events)),
            ("events_bytes_total", "Bytes of these events as they are kept.", load(&self.bytes)),
            ("events_refused_total", "Events that were rejected as invalid.", self.quarantine.refused()),
            ("events_refused_lost_total", "Those of them that were not set aside.", self.quarantine.lost()),
            ("events_busy_total", "Requests with events that were told to come back later.", load(&self.busy)),
        ] {
            let text = &mut *text;
            writeln!(text, "# HELP jird_{name} {help}\n# TYPE jird_{name} counter\njird_{name} {value}")
                .expect("a `String` takes everything");
        }
        let lag = load(&self.lag);
        let (name, help) =
            ("jird_events_lag_seconds", "Age of the newest event of the last batch when it was durable.");
        let (seconds, milliseconds) = (lag / 1000, lag % 1000);
        writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {seconds}.{milliseconds:03}")
            .expect("a `String` takes everything");
    }
}

/// How long ago a time was, in milliseconds; 0 if it is still to come.
fn age(nanoseconds: i64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as i64;
    (now.saturating_sub(nanoseconds) / 1_000_000).max(0).unsigned_abs()
}

impl Drop for Intake {
    /// A server that was never run has a writer, too. Errors were reported before, or do not matter.
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// Where refused events are, in the folder of the store.
const QUARANTINE: &str = "refused.ndjson";

fn refused(detail: &str) -> Problem {
    let mut problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail);
    problem.retry_after = Some(RETRY_SECONDS);
    problem
}
