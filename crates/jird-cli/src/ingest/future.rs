//! Events from the future: a clock that is wrong makes events that stay the newest of a store for years, and that no
//! retention by age removes.

use crate::outcome::report as say;
use crate::window::now;
use jird_store::time;

/// Events whose times are further in the future than this are reported: a day, in nanoseconds.
const TOLD: i64 = 24 * 60 * 60 * 1_000_000_000;

/// What was taken although its time is more than a day in the future.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FutureTally {
    events: u64,
    latest: i64,
}

impl FutureTally {
    /// Notes the times of events that are taken.
    pub(super) fn note(&mut self, times: &[i64]) {
        let Some(&latest) = times.iter().max() else { return };
        let limit = now().saturating_add(TOLD);
        if latest > limit {
            self.events += times.iter().filter(|time| **time > limit).count() as u64;
            self.latest = self.latest.max(latest);
        }
    }

    /// Says what it means.
    pub(super) fn tell(&self) {
        if self.events > 0 {
            let events = if self.events == 1 { "1 event is" } else { &format!("{} events are", self.events) };
            say(&format!(
                "note: {events} more than a day in the future, up to {}: a clock may be wrong, and no retention by age removes them before; --future-limit 1d refuses such events",
                time::to_text(self.latest)
            ));
        }
    }
}
