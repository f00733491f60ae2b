//! What a program that runs for long does for its store from time to time: events that are too old, or too many, go, and
//! small spans become large ones.

use super::{Compacted, Extent, Limits, Pace, Retained};
use crate::error::Error;
use crate::store::Store;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Retention and compaction of a store, for a program that calls [`retain`](Self::retain) and
/// [`compact`](Self::compact) [again and again](Self::EVERY). It keeps no thread.
///
/// ```
/// use jird_store::{Settings, Store, Upkeep, UpkeepLimits};
/// # let folder = std::env::temp_dir().join(format!("jird-upkeep-{}", std::process::id()));
/// # let _ = std::fs::remove_dir_all(&folder);
/// let store = Store::create(&folder, &Settings::default())?;
/// let limits = UpkeepLimits { age: None, bytes: Some(50 << 30) };
/// let mut upkeep = Upkeep::new(store, limits);
/// assert_eq!(upkeep.retain()?.spans_removed, 0);
/// assert_eq!(upkeep.compact()?.merged, 0);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), jird_store::Error>(())
/// ```
#[derive(Debug)]
pub struct Upkeep {
    store: Store,
    limits: UpkeepLimits,
    retained: Option<Instant>,
    /// The last compaction that deleted what is hidden.
    deleted: Option<Instant>,
    failed: Option<Instant>,
    /// Events are hidden in files that have newer ones.
    has_hidden: bool,
    /// The least number of spans since the last compaction.
    spans: u64,
}

/// What stays in a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpkeepLimits {
    /// Events that are younger than this.
    pub age: Option<Duration>,
    /// As many of the newest spans as fit into these bytes on disk.
    pub bytes: Option<u64>,
}

impl Upkeep {
    /// How often both should be called.
    pub const EVERY: Duration = Duration::from_mins(1);
    /// This many spans more than after the last compaction are worth another one, which merges four of a size.
    const SPANS: u64 = 3;
    /// How long events that are hidden may stay in files.
    const HIDDEN_MAX: Duration = Duration::from_hours(24);
    /// How long a compaction rests that has failed.
    const REST: Duration = Duration::from_hours(1);

    /// The upkeep of a store.
    pub fn new(store: Store, limits: UpkeepLimits) -> Self {
        Self { store, limits, retained: None, deleted: None, failed: None, has_hidden: false, spans: 0 }
    }

    /// Removes events beyond the limits, if that is due. A twenty-fourth of the time that events are kept, at least a minute
    /// and at most an hour, may go by until they are gone. The size is looked at each time.
    ///
    /// # Errors
    /// Those of [`Store::retain_within`]. The next call tries again.
    pub fn retain(&mut self) -> Result<Retained, Error> {
        let mut limits = Limits { before: None, bytes_max: self.limits.bytes };
        let is_due = |age: &Duration| {
            let every = (*age / 24).clamp(Self::EVERY, Duration::from_hours(1));
            self.retained.is_none_or(|at| at.elapsed() >= every)
        };
        let age = self.limits.age.filter(is_due);
        if let Some(age) = age {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            limits.before = now.checked_sub(age).and_then(|before| i64::try_from(before.as_nanos()).ok());
        }
        let is_too_large = || self.store.would_retain(limits).map(|retained| retained.spans_removed > 0);
        let retained = if limits.before.is_some() || (limits.bytes_max.is_some() && is_too_large()?) {
            self.store.retain_within(limits)?
        } else {
            Retained::default()
        };
        self.has_hidden |= retained.cut > 0;
        if age.is_some() {
            self.retained = Some(Instant::now());
        }
        Ok(retained)
    }

    /// Whether [`compact`](Self::compact) would delete what retention has hidden. A program with a writer seals it before,
    /// and so deletes that in logs, too.
    pub fn is_deletion_due(&self) -> bool {
        let has_hidden = || self.has_hidden || self.store.size().is_ok_and(|size| size.cut_spans > 0);
        !self.is_resting() && self.deleted.is_none_or(|at| at.elapsed() > Self::HIDDEN_MAX) && has_hidden()
    }

    /// Merges spans, and deletes what is hidden, if that is due. It takes a quarter of a processor ([`Pace::Quarter`]), and
    /// as long as that needs.
    ///
    /// # Errors
    /// Those of [`Store::compact`], for lack of room mostly. After one, and after damage, it rests for an hour.
    pub fn compact(&mut self) -> Result<Compacted, Error> {
        if self.is_resting() {
            return Ok(Compacted::default());
        }
        let compacted = self.compact_what_is_due();
        let is_fine = compacted.as_ref().is_ok_and(|compacted| compacted.damage.is_empty());
        self.failed = (!is_fine).then(Instant::now);
        compacted
    }

    fn is_resting(&self) -> bool {
        self.failed.is_some_and(|at| at.elapsed() < Self::REST)
    }

    fn compact_what_is_due(&mut self) -> Result<Compacted, Error> {
        let size = self.store.size()?;
        self.spans = self.spans.min(size.spans);
        let compacted = if self.is_deletion_due() {
            let compacted = self.store.compact_at(Extent::Tiers, Pace::Quarter)?;
            (self.has_hidden, self.deleted) = (false, Some(Instant::now()));
            compacted
        } else if size.spans >= self.spans + Self::SPANS {
            self.store.compact_at(Extent::Equals, Pace::Quarter)?
        } else {
            return Ok(Compacted::default());
        };
        self.spans = self.store.size()?.spans;
        Ok(compacted)
    }
}
