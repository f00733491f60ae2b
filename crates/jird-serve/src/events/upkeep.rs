//! What a server does for its store from time to time: events that are too old go, and small spans become large ones.

use crate::events::intake::Intake;
use jird_store::{Compacted, Error, Extent, Store};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often the store is looked at.
pub(crate) const EVERY: Duration = Duration::from_mins(1);
/// So many spans more than after the last compaction are worth another one, which merges four of a size.
const SPANS: u64 = 3;
/// How long events that are hidden may stay in files.
const HIDDEN_MAX: Duration = Duration::from_hours(24);
/// How long a compaction rests that has failed: for lack of room, mostly.
const REST: Duration = Duration::from_hours(1);

/// The upkeep of a store.
pub(crate) struct Upkeep {
    store: Store,
    intake: Arc<Intake>,
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
    /// A compaction that deleted what is hidden.
    deleted: Option<Instant>,
    failed: Option<Instant>,
    /// Events are hidden in files that have newer ones.
    has_hidden: bool,
    /// The least number of spans since the last compaction.
    spans: u64,
}

impl Upkeep {
    pub(crate) fn new(store: Store, intake: Arc<Intake>, keep: Option<Duration>) -> Self {
        let [removed, merged, failed] = [(); 3].map(|()| AtomicU64::new(0));
        Self { store, intake, keep, last: Mutex::default(), removed, merged, failed }
    }

    /// Does what is due. What fails is counted, and done later.
    pub(crate) fn look(&self) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if self.retain(&mut last).is_err() {
            self.failed.fetch_add(1, Relaxed);
        }
        if last.failed.is_some_and(|at| at.elapsed() < REST) {
            return;
        }
        last.failed = match self.compact(&mut last) {
            Ok(compacted) if compacted.damage.is_empty() => None,
            _ => {
                self.failed.fetch_add(1, Relaxed);
                Some(Instant::now())
            }
        };
    }

    /// A twenty-fourth of the time that events are kept, at least a minute and at most an hour, may go by until they are
    /// gone.
    fn retain(&self, last: &mut Last) -> Result<(), Error> {
        let Some(keep) = self.keep else { return Ok(()) };
        let every = (keep / 24).clamp(EVERY, Duration::from_hours(1));
        if last.retained.is_some_and(|at| at.elapsed() < every) {
            return Ok(());
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let before = now.checked_sub(keep).and_then(|before| i64::try_from(before.as_nanos()).ok());
        if let Some(before) = before {
            let retained = self.store.retain(before)?;
            self.removed.fetch_add(retained.events_removed, Relaxed);
            last.has_hidden |= retained.cut > 0;
        }
        last.retained = Some(Instant::now());
        Ok(())
    }

    fn compact(&self, last: &mut Last) -> Result<Compacted, Error> {
        let size = self.store.size()?;
        last.spans = last.spans.min(size.spans);
        let has_hidden = last.has_hidden || size.cut_spans > 0;
        let compacted = if has_hidden && last.deleted.is_none_or(|at| at.elapsed() > HIDDEN_MAX) {
            // Those in logs are deleted by not going into spans.
            self.intake.seal()?;
            let compacted = self.store.compact(Extent::Tiers)?;
            (last.has_hidden, last.deleted) = (false, Some(Instant::now()));
            compacted
        } else if size.spans >= last.spans + SPANS {
            self.store.compact(Extent::Equals)?
        } else {
            return Ok(Compacted::default());
        };
        self.merged.fetch_add(compacted.merged, Relaxed);
        last.spans = self.store.size()?.spans;
        Ok(compacted)
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
