//! What a server does for its store from time to time: events that are too old go, and small spans become large ones.

use jird_store::{Error, Store};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often the store is looked at.
pub(crate) const EVERY: Duration = Duration::from_mins(1);
/// So many spans more than after the last compaction are worth another one.
const SPANS: u64 = 8;
/// How long events that are hidden may stay in files.
const CUT_MAX: Duration = Duration::from_hours(24);

/// The upkeep of a store.
pub(crate) struct Upkeep {
    store: Store,
    /// Events that are older than this go.
    keep: Option<Duration>,
    last: Mutex<Last>,
    removed: AtomicU64,
    merged: AtomicU64,
    failed: AtomicU64,
}

/// When what was done last.
#[derive(Default)]
struct Last {
    retained: Option<Instant>,
    compacted: Option<Instant>,
    /// The spans afterwards.
    spans: u64,
}

impl Upkeep {
    pub(crate) fn new(store: Store, keep: Option<Duration>) -> Self {
        let counts = [(); 3].map(|()| AtomicU64::new(0));
        let [removed, merged, failed] = counts;
        Self { store, keep, last: Mutex::default(), removed, merged, failed }
    }

    /// Does what is due.
    ///
    /// # Errors
    /// Those of the store; the next look tries again.
    pub(crate) fn look(&self) -> Result<(), Error> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let done = self.retain(&mut last).and_then(|()| self.compact(&mut last));
        self.failed.fetch_add(done.is_err().into(), Relaxed);
        done
    }

    /// A twenty-fourth of the time that events are kept, at least a minute and at most an hour, may go by until they are gone.
    fn retain(&self, last: &mut Last) -> Result<(), Error> {
        let Some(keep) = self.keep else { return Ok(()) };
        let every = (keep / 24).clamp(EVERY, Duration::from_hours(1));
        if last.retained.is_some_and(|at| at.elapsed() < every) {
            return Ok(());
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let before = now.checked_sub(keep).and_then(|before| i64::try_from(before.as_nanos()).ok());
        if let Some(before) = before {
            self.removed.fetch_add(self.store.retain(before)?.events_removed, Relaxed);
        }
        last.retained = Some(Instant::now());
        Ok(())
    }

    fn compact(&self, last: &mut Last) -> Result<(), Error> {
        let size = self.store.size()?;
        let is_old = last.compacted.is_none_or(|at| at.elapsed() > CUT_MAX);
        if size.spans < last.spans + SPANS && !(size.cut_spans > 0 && is_old) {
            return Ok(());
        }
        self.merged.fetch_add(self.store.compact()?.merged, Relaxed);
        last.compacted = Some(Instant::now());
        last.spans = self.store.size()?.spans;
        Ok(())
    }

    /// Appends the sums in Prometheus's text format.
    pub(crate) fn metrics(&self, text: &mut String) {
        for (name, help, value) in [
            (
                "store_events_removed_total",
                "Events that were removed because of their age, in whole spans.",
                &self.removed,
            ),
            ("store_spans_merged_total", "Spans that compactions merged.", &self.merged),
            ("store_upkeep_failed_total", "Times that retention or compaction failed.", &self.failed),
        ] {
            let value = value.load(Relaxed);
            writeln!(text, "# HELP jird_{name} {help}\n# TYPE jird_{name} counter\njird_{name} {value}")
                .expect("a `String` takes everything");
        }
    }
}
