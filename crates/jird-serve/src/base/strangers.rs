//! Connections that have not shown yet that they may ask, which make room for others when there is none left.
//!
//! A client that lacks the token can open connections and send nothing, half a head, or a body that never ends. So a
//! connection is a stranger's until a request on it has passed the guard, and when all places are taken, the stranger
//! that came first is sent away.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::Notify;

/// All strangers, the first that came in front.
#[derive(Debug, Default)]
pub(crate) struct Strangers(Mutex<VecDeque<Weak<Stranger>>>);

/// A connection.
#[derive(Debug, Default)]
pub(crate) struct Stranger {
    is_known: AtomicBool,
    sent_away: Notify,
}

impl Strangers {
    /// A connection came.
    pub(crate) fn come(&self) -> Arc<Stranger> {
        let stranger = Arc::new(Stranger::default());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() == all.capacity() {
            // Before the list grows, those go that are strangers no more.
            all.retain(|one| one.upgrade().is_some_and(|one| !one.is_known.load(Ordering::Relaxed)));
        }
        all.push_back(Arc::downgrade(&stranger));
        stranger
    }

    /// Sends away the one that came first, if there is one.
    pub(crate) fn send_away(&self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(first) = all.pop_front() {
            if let Some(first) = first.upgrade()
                && !first.is_known.load(Ordering::Relaxed)
            {
                first.sent_away.notify_one();
                return;
            }
        }
    }
}

impl Stranger {
    /// A request has passed the guard.
    pub(crate) fn is_known(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }

    /// Waits until it is sent away.
    pub(crate) async fn gone(&self) {
        self.sent_away.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_stranger_goes_first_and_nobody_else() {
        let strangers = Strangers::default();
        let all: Vec<_> = (0..100).map(|_| strangers.come()).collect();
        all.iter().step_by(2).for_each(|one| one.is_known());
        let ready = |one: &Stranger| {
            let mut context = core::task::Context::from_waker(core::task::Waker::noop());
            core::pin::pin!(one.gone()).as_mut().poll(&mut context).is_ready()
        };
        for index in (1..100).step_by(2) {
            strangers.send_away();
            assert!(ready(&all[index]), "{index}");
        }
        strangers.send_away();
        assert!(!all.iter().any(|one| ready(one)));
        for _ in 0..10_000 {
            strangers.come();
        }
        assert!(strangers.0.lock().unwrap().len() < 1000);
    }
}
