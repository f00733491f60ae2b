//! What an HTTP/2 connection has under way, so that a client which takes nothing cannot keep it.
//!
//! On HTTP/1 it is enough to look at the socket. On HTTP/2 the client has windows of its own: it can answer every ping and
//! yet never let an answer go on (RFC 9113, section 5.2). So each answer notes when it gave something to the connection, and
//! when the connection asked it for more, which it does only when the client has room.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// All of a connection.
#[derive(Debug)]
pub(crate) struct Exchanges {
    begun: Instant,
    all: Mutex<Vec<Weak<Exchange>>>,
    /// When there was one at last, in milliseconds since the connection began.
    busy: Arc<AtomicU64>,
}

/// A request and its answer.
#[derive(Debug)]
pub(crate) struct Exchange {
    begun: Instant,
    /// When the connection got something of the answer, in milliseconds since it began, if it has not asked for more yet.
    given: AtomicU64,
    busy: Arc<AtomicU64>,
}

/// Nothing waits for the client.
const NEVER: u64 = u64::MAX;

fn milliseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(NEVER - 1)
}

impl Exchanges {
    pub(crate) fn new() -> Self {
        Self { begun: Instant::now(), all: Mutex::default(), busy: Arc::default() }
    }

    /// A request came.
    pub(crate) fn begin(&self) -> Arc<Exchange> {
        let exchange =
            Arc::new(Exchange { begun: self.begun, given: AtomicU64::new(NEVER), busy: Arc::clone(&self.busy) });
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(&exchange));
        exchange
    }

    /// Whether a client has taken nothing of an answer for this long.
    pub(crate) fn is_stuck(&self, stall: Duration) -> bool {
        let now = milliseconds(self.begun);
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let given = all.iter().filter_map(Weak::upgrade).map(|one| one.given.load(Ordering::Relaxed)).min();
        given.is_some_and(|given| Duration::from_millis(now.saturating_sub(given)) >= stall)
    }

    /// Whether there was no request for this long.
    pub(crate) fn is_idle(&self, stall: Duration) -> bool {
        let now = milliseconds(self.begun);
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.iter().any(|one| one.strong_count() > 0) {
            self.busy.store(now, Ordering::Relaxed);
            return false;
        }
        Duration::from_millis(now.saturating_sub(self.busy.load(Ordering::Relaxed))) >= stall
    }
}

impl Exchange {
    /// The connection has got a part of the answer.
    pub(crate) fn give(&self) {
        self.given.store(milliseconds(self.begun), Ordering::Relaxed);
    }

    /// The connection asks for the next part.
    pub(crate) fn ask(&self) {
        self.given.store(NEVER, Ordering::Relaxed);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.busy.store(milliseconds(self.begun), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;

    #[test]
    fn a_client_that_takes_nothing_is_told_from_a_slow_answer() {
        const STALL: Duration = Duration::from_millis(40);
        let exchanges = Exchanges::new();
        assert!(!exchanges.is_idle(STALL));
        let (one, other) = (exchanges.begin(), exchanges.begin());
        sleep(2 * STALL);
        assert!(!exchanges.is_stuck(STALL) && !exchanges.is_idle(STALL), "the answers are not made yet");
        one.give();
        other.give();
        assert!(!exchanges.is_stuck(STALL));
        sleep(2 * STALL);
        one.ask();
        assert!(exchanges.is_stuck(STALL), "of the other one nothing was taken");
        drop(other);
        assert!(!exchanges.is_stuck(STALL) && !exchanges.is_idle(STALL));
        drop(one);
        assert!(!exchanges.is_idle(STALL));
        sleep(2 * STALL);
        assert!(exchanges.is_idle(STALL));
    }
}
