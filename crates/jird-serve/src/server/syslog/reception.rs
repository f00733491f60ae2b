//! From messages to events in the store, for all sockets.
//!
//! Messages come in pieces, of which each becomes a batch. It is over when the batch is as durable as the settings say: so a
//! connection reads no further while the store does not keep up. A store that takes nothing is tried again until the server stops.

use super::counts::Counts;
use super::frames::{Frame, Frames};
use super::{LAST_PAUSE, LAST_TIME};
use crate::base::error::Error;
use crate::events::intake::{Intake, RefusedEvent};
use crate::routes::endpoints::syslog::{Events, trimmed};
use crate::routes::state::EventStore;
use crate::server::service::Service;
use core::pin::pin;
use jird_store::{Batch, BatchBuilder};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

/// The longest message, unless bodies of requests must be shorter.
const MESSAGE_BYTES_MAX: usize = 256 << 10;
/// How many connections may have a batch in memory at a time.
const TURNS: usize = 32;
/// How long to wait for a store that takes no events.
const RETRY: Duration = Duration::from_secs(1);
/// How long a batch may take: a client of syslog has no time limit.
const PATIENCE: Duration = Duration::from_hours(24);
/// What messages that are refused have for a source, and for a broken rule, in the file of refused events.
const NAME: &str = "syslog";

/// Where messages go.
pub(super) struct Reception {
    service: Arc<Service>,
    intake: Arc<Intake>,
    events: Events,
    pub(super) counts: Arc<Counts>,
    is_stopped: watch::Receiver<bool>,
    turns: Semaphore,
    /// The store takes nothing.
    is_stuck: AtomicBool,
    lost: Mutex<Lost>,
    /// The longest message.
    pub(super) limit: usize,
}

/// Messages that the store did not take before the server ended.
#[derive(Default)]
struct Lost {
    messages: u64,
    reason: String,
}

impl Lost {
    fn add(&mut self, messages: u64, reason: String) {
        self.messages += messages;
        self.reason = reason;
    }
}

/// Messages that become a batch.
pub(super) struct Taking<'r, 'b, 'p> {
    reception: &'r Reception,
    builder: &'b mut BatchBuilder<'p>,
    /// The event that is written.
    text: Vec<u8>,
    refused: Vec<Refusal>,
}

/// A message that is not taken: its beginning, and why.
struct Refusal {
    head: Vec<u8>,
    reason: String,
}

impl Reception {
    /// `None`: there is no store that takes events.
    pub(super) fn new(service: Arc<Service>, counts: Arc<Counts>, is_stopped: watch::Receiver<bool>) -> Option<Self> {
        let intake = service.store()?.intake.clone()?;
        let events = Events::new(intake.settings());
        let limit = service.limits().body_bytes.min(MESSAGE_BYTES_MAX);
        Some(Self {
            service,
            intake,
            events,
            counts,
            is_stopped,
            turns: Semaphore::new(TURNS),
            is_stuck: AtomicBool::new(false),
            lost: Mutex::default(),
            limit,
        })
    }

    /// Takes the messages of a connection that are there as a whole, and at its end what is left. `None` after a bug.
    pub(super) async fn take_frames(self: &Arc<Self>, frames: Frames, is_end: bool) -> Option<Frames> {
        let _turn = self.turns.acquire().await;
        let arrival = now();
        let take = move |frames: &mut Frames, taking: &mut Taking<'_, '_, '_>| {
            while let Some(frame) = frames.next(is_end) {
                taking.add(&frame, arrival);
            }
        };
        self.take(frames, take).await
    }

    /// Takes what `work` adds, and ends when that is durable. The work is done apart from the threads that serve connections.
    pub(super) async fn take<F: Send + 'static>(
        self: &Arc<Self>,
        mut from: F,
        work: impl FnOnce(&mut F, &mut Taking<'_, '_, '_>) + Send + 'static,
    ) -> Option<F> {
        let hand = self.service.hand().await;
        let reception = Arc::clone(self);
        let make = move || {
            let _hand = hand;
            let (batch, refused) = Batch::build(reception.intake.settings(), 0, |builder| {
                builder.limit_future(reception.service.limits().future);
                let mut taking = Taking { reception: &reception, builder, text: Vec::new(), refused: Vec::new() };
                work(&mut from, &mut taking);
                taking.refused
            });
            if !refused.is_empty() {
                reception.counts.refuse(refused.len() as u64);
                let refused: Vec<_> = refused.iter().map(Refusal::of_quarantine).collect();
                reception.intake.quarantine.take(NAME, &refused, 0);
            }
            (batch, from)
        };
        let (batch, from) = spawn_blocking(make).await.ok()?;
        if !batch.is_empty() {
            self.append(batch).await;
        }
        Some(from)
    }

    async fn append(&self, batch: Batch) {
        let mut is_stopped = self.is_stopped.clone();
        while let Err(problem) = self.intake.append(batch.clone(), PATIENCE).await {
            if *is_stopped.borrow() {
                self.counts.lose(batch.events());
                self.lost.lock().unwrap_or_else(PoisonError::into_inner).add(batch.events(), problem.to_string());
                return;
            }
            if !self.is_stuck.swap(true, Relaxed) {
                self.service.note_syslog(Some(&problem.to_string()));
            }
            // Then it is tried a last time.
            let _ = timeout(RETRY, is_stopped.wait_for(|stopped| *stopped)).await;
        }
        if self.is_stuck.swap(false, Relaxed) {
            self.service.note_syslog(None);
        }
        self.service.store().into_iter().for_each(EventStore::appended);
    }

    /// # Errors
    /// If the store did not take messages before the server ended.
    pub(super) fn finish(&self) -> Result<(), Error> {
        let Lost { messages, reason } = &*self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        if *messages == 0 {
            return Ok(());
        }
        Err(Error::new(format!("{messages} syslog messages that had come are lost: {reason}")))
    }

    /// What tells a socket when to end.
    pub(super) fn ending(&self) -> Ending {
        Ending { is_stopped: self.is_stopped.clone(), until: None }
    }
}

impl Taking<'_, '_, '_> {
    /// Adds a message, which came at a time. One that is empty is none.
    pub(super) fn add(&mut self, frame: &Frame<'_>, arrival: i64) {
        let counts = &self.reception.counts;
        let limit = self.reception.limit;
        let (bytes, reason) = match *frame {
            Frame::Message(message) => match trimmed(message) {
                [] => return,
                message => (message, None),
            },
            Frame::Long(head) => {
                (head, Some(format!("the message has more than {limit} bytes; this is its beginning")))
            }
            Frame::Cut(part) => (part, Some("the connection ended before the message did".to_owned())),
        };
        counts.receive(1);
        let reason = reason.or_else(|| {
            self.reception.events.write(bytes, arrival, &mut self.text);
            self.builder.add(&self.text).err().map(|error| error.reason())
        });
        if let Some(reason) = reason {
            self.refused.push(Refusal { head: bytes.to_vec(), reason });
        }
    }
}

impl Refusal {
    fn of_quarantine(&self) -> RefusedEvent<'_> {
        let message = self.reason.clone();
        RefusedEvent { index: 0, line: 0, offset: 0, raw: &self.head, kind: NAME, message, column: 0 }
    }
}

/// Says when a socket has brought all that came before the server was told to stop.
pub(super) struct Ending {
    is_stopped: watch::Receiver<bool>,
    until: Option<Instant>,
}

impl Ending {
    /// Waits for what a socket brings next. `None`: the server stops, and there is no more, or there was time enough for it.
    pub(super) async fn next<T>(&mut self, brings: impl Future<Output = io::Result<T>>) -> Option<io::Result<T>> {
        let mut brings = pin!(brings);
        if self.until.is_none() {
            tokio::select! {
                biased;
                _ = self.is_stopped.wait_for(|stopped| *stopped) => {}
                brought = brings.as_mut() => return Some(brought),
            }
        }
        let until = *self.until.get_or_insert_with(|| Instant::now() + LAST_TIME);
        let pause = LAST_PAUSE.min(until.saturating_duration_since(Instant::now()));
        if pause.is_zero() { None } else { timeout(pause, brings).await.ok() }
    }
}

/// The time, in nanoseconds since 1970.
pub(super) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}
