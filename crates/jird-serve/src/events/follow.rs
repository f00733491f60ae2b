//! `GET /events?follow=true`: events as they come, as server-sent events.
//!
//! One task checks for new events, four times a second, because any process may write to the store; a writer of this
//! server notifies it at once. Followers read from the log when it tells them, each at its own pace: what a slow client
//! has not taken is not in memory.

use crate::base::problem::Problem;
use crate::cache::readers::Budget;
use crate::http::body::{Body, Chunk, GiveUp, Truncated};
use crate::request::rows::CHUNK;
use crate::request::select::Wish;
use crate::tables::pace::Pace;
use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use jird_store::{Store, Tail};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

/// How often it is asked whether another process wrote something.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Chunks that wait for a client.
const WAITING: usize = 2;

/// Tells followers about new events.
pub(crate) struct Follow {
    came: watch::Sender<()>,
    places: Arc<Semaphore>,
    places_max: usize,
}

impl Follow {
    pub(crate) fn new(followers: usize) -> Self {
        Self { came: watch::channel(()).0, places: Arc::new(Semaphore::new(followers)), places_max: followers }
    }

    /// The number of clients that follow.
    pub(crate) fn followers(&self) -> usize {
        self.places_max - self.places.available_permits()
    }

    /// Something came.
    pub(crate) fn tell(&self) {
        self.came.send_replace(());
    }

    /// Checks for new events, as long as there are followers.
    pub(crate) async fn look(&self, store: &Store) {
        let mut tail: Option<Tail> = None;
        loop {
            sleep(LOOK_EVERY).await;
            if self.came.receiver_count() == 0 {
                tail = None;
                continue;
            }
            let (store, known) = (store.clone(), tail.take());
            let looked = spawn_blocking(move || match known {
                Some(mut tail) => tail.skip().map(|came| (tail, came)),
                // What came before now is not known.
                None => store.tail(None).map(|tail| (tail, true)),
            });
            // After an error the next look may go well.
            let (found, came) = match looked.await {
                Ok(Ok((found, came))) => (Some(found), came),
                _ => (None, true),
            };
            tail = found;
            if came {
                self.tell();
            }
        }
    }
}

impl Follow {
    /// Begins an answer that ends when the client goes, or the server stops. `last` is the arrival number of the last
    /// event that the client has.
    pub(crate) async fn begin(
        &self,
        store: &Store,
        wish: Wish,
        last: Option<u64>,
        turns: &Arc<Semaphore>,
        (heartbeat, stopped): (Duration, watch::Receiver<bool>),
    ) -> Result<Response<Body>, Problem> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| Problem::busy("as many clients follow as this server allows"))?;
        // From here on, nothing is missed.
        let came = self.came.subscribe();
        let (sender, chunks) = mpsc::channel(WAITING);
        // It follows for as long as its client likes.
        let pace = Pace::new(turns, &Arc::new(Budget::new(Arc::default())));
        let store = store.clone();
        let follower = spawn_blocking(move || Follower::new(store, wish, last, Out { sender, pace })).await;
        let failed = |error: &dyn core::fmt::Display| {
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, format!("reading the events: {error}"))
        };
        let follower = follower.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
        tokio::spawn(run(follower, came, stopped, heartbeat, place));
        let mut response = Response::new(Body::stream(chunks, GiveUp::new(|| ())));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // nginx would collect them.
        response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
        Ok(response)
    }
}

async fn run(
    mut follower: Follower,
    mut came: watch::Receiver<()>,
    mut stopped: watch::Receiver<bool>,
    heartbeat: Duration,
    place: OwnedSemaphorePermit,
) {
    let sender = follower.out.sender.clone();
    loop {
        came.borrow_and_update();
        let sent = spawn_blocking(move || {
            let sent = follower.send();
            (follower, sent)
        });
        let Ok((back, sent)) = sent.await else {
            let _ = sender.send(Err(Truncated)).await;
            break;
        };
        follower = back;
        if let Err(Ended) = sent {
            break;
        }
        // Silence is not the end: a client, or what is between, may think so.
        let waited = tokio::select! {
            waited = timeout(heartbeat, came.changed()) => waited,
            () = sender.closed() => break,
            _ = stopped.wait_for(|stopped| *stopped) => break,
        };
        match waited {
            Ok(Err(_)) => break,
            Err(_) if sender.send(Ok(Bytes::from_static(b":\n\n"))).await.is_err() => break,
            Ok(Ok(())) | Err(_) => {}
        }
    }
    drop(place);
}

/// The client is gone, or the events are.
struct Ended;

/// Sends events to one client.
struct Follower {
    store: Store,
    tail: Tail,
    wish: Wish,
    /// Those of the past that are wanted first.
    past: Range<u64>,
    text: Vec<u8>,
    out: Out,
}

/// Where events go, and when.
struct Out {
    sender: mpsc::Sender<Chunk>,
    pace: Pace,
}

impl Out {
    /// Sends the text, if it is as long as that.
    fn pour(&mut self, text: &mut Vec<u8>, least: usize) -> Result<(), Failure> {
        if text.len() < least {
            return Ok(());
        }
        let chunk = core::mem::take(text).into();
        self.pace.hand_on(|| self.sender.blocking_send(Ok(chunk))).map_err(|_| Failure::Gone)
    }
}

impl Follower {
    /// `last` is the arrival number of the last event that the client has.
    fn new(store: Store, wish: Wish, last: Option<u64>, out: Out) -> Result<Self, jird_store::Error> {
        let mut tail = store.tail(None)?;
        let now = tail.next_arrival();
        let mut past = 0..0;
        match last {
            Some(last) if last + 1 < now => tail = store.tail(Some(last + 1))?,
            None if wish.window.since.is_some() => past = 0..now,
            Some(_) | None => {}
        }
        // The head of the answer goes out with the first bytes.
        Ok(Self { store, tail, wish, past, text: b":\n\n".to_vec(), out })
    }

    /// Sends all that is there.
    fn send(&mut self) -> Result<(), Ended> {
        let made = self.make();
        // Until there is more, it is the turn of others.
        self.out.pace.end();
        if let Err(Failure::Store) = made {
            // The client sees that the answer did not end in good order, and comes back.
            let _ = self.out.sender.blocking_send(Err(Truncated));
        }
        made.map_err(|_| Ended)
    }

    fn make(&mut self) -> Result<(), Failure> {
        let past = core::mem::take(&mut self.past);
        self.send_past(past)?;
        while let Some(arrived) = self.tail.next_batch()? {
            self.send_past(arrived.missed.clone())?;
            let Self { wish, text, out, .. } = self;
            out.pace.pause();
            let mut sieve = wish.sieve();
            for (key, event) in arrived.events() {
                if wish.has(key.time) && sieve.holds(event) {
                    text.extend_from_slice(format!("id:{}\ndata:", key.arrival).as_bytes());
                    text.extend_from_slice(event);
                    text.extend_from_slice(b"\n\n");
                    out.pour(text, CHUNK)?;
                }
            }
        }
        self.out.pour(&mut self.text, 1)
    }

    /// Sends the events with these arrival numbers that are in a snapshot, in the order of their times, and the last
    /// number when they have all been sent: a client that goes before that gets all of them again.
    fn send_past(&mut self, arrivals: Range<u64>) -> Result<(), Failure> {
        if arrivals.is_empty() {
            return Ok(());
        }
        let Self { store, wish, text, out, .. } = self;
        let events = store.snapshot()?.text(wish.window)?;
        let (condition, mut sieve) = (wish.for_index(), wish.sieve());
        let (mut keys, mut lines) = (Vec::new(), Vec::new());
        for section in 0..events.sections() {
            for id in events.select(section, condition.as_ref()).blocks {
                out.pace.pause();
                if out.sender.is_closed() {
                    return Err(Failure::Gone);
                }
                if !events.has_arrivals(id, &arrivals) {
                    continue;
                }
                events.read_keyed(id, &mut keys, &mut lines)?;
                for (key, event) in keys.iter().zip(lines.split(|byte| *byte == b'\n')) {
                    if arrivals.contains(&key.arrival) && sieve.holds(event) {
                        text.extend_from_slice(b"data:");
                        text.extend_from_slice(event);
                        text.extend_from_slice(b"\n\n");
                        out.pour(text, CHUNK)?;
                    }
                }
            }
        }
        text.extend_from_slice(format!("id:{}\n\n", arrivals.end - 1).as_bytes());
        Ok(())
    }
}

/// Why no more events are sent.
enum Failure {
    Gone,
    Store,
}

impl From<jird_store::Error> for Failure {
    fn from(_: jird_store::Error) -> Self {
        Self::Store
    }
}
