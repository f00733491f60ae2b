//! The pace of long answers: how many are made at the same time.
//!
//! A client that takes little has a thread at work until the buffers of the system are full, and short requests share the
//! processors with all of these. So answers take turns: when one has made a chunk, or read a block, it is the turn of
//! another. The time that an answer waits, for its turn or for its client, is not that of its work.

use crate::cache::readers::Budget;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The pace of an answer that this process makes.
pub(crate) struct Pace {
    turns: Arc<Semaphore>,
    turn: Option<OwnedSemaphorePermit>,
    budget: Arc<Budget>,
    runtime: Handle,
}

impl Pace {
    /// Of an answer with a budget, in a runtime, beside others that have the same turns.
    pub(crate) fn new(turns: &Arc<Semaphore>, budget: &Arc<Budget>) -> Self {
        Self { turns: Arc::clone(turns), turn: None, budget: Arc::clone(budget), runtime: Handle::current() }
    }

    /// Ends the turn of this answer.
    pub(crate) fn end(&mut self) {
        self.turn = None;
    }

    /// Lets others have a turn, and waits for the next one of this answer.
    pub(crate) fn pause(&mut self) {
        self.hand_on(|| ());
    }

    /// Hands a chunk on, and waits for the next turn.
    pub(crate) fn hand_on<T>(&mut self, hand_on: impl FnOnce() -> T) -> T {
        let Self { turns, turn, budget, runtime } = self;
        *turn = None;
        budget.wait(|| {
            let handed_on = hand_on();
            // They are never closed.
            *turn = runtime.block_on(Arc::clone(turns).acquire_owned()).ok();
            handed_on
        })
    }
}
