//! Events from the future: a clock that is wrong makes events that stay the newest of a store for years, and that no
//! retention by age removes.

use crate::time;
use jird::record::{Field, FieldReader};
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Why an event is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventError {
    /// It is no JSON, or longer than a record may be.
    Json(jird::Error),
    /// Its time is further in the future than the limit allows.
    Late {
        /// The time: as the store writes it, or as the event has it where no store knows such a time.
        time: String,
        /// The limit.
        limit: FutureLimit,
    },
}

impl EventError {
    /// What is wrong, without a place in the event.
    pub fn reason(&self) -> String {
        match self {
            Self::Json(error) => error.kind().to_string(),
            late @ Self::Late { .. } => late.to_string(),
        }
    }
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => error.fmt(f),
            Self::Late { time, limit } => write!(f, "the time {time} is more than {limit} in the future"),
        }
    }
}

impl std::error::Error for EventError {}

impl From<jird::Error> for EventError {
    fn from(error: jird::Error) -> Self {
        Self::Json(error)
    }
}

/// How far in the future the time of an event may be. It is displayed in the largest unit up to days that divides it: `90s`,
/// `10m`, `1d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FutureLimit(Duration);

impl FutureLimit {
    /// Times up to so long after now are taken.
    ///
    /// ```
    /// use jird_store::FutureLimit;
    /// use std::time::Duration;
    /// let texts = [90, 600, 86_400].map(|seconds| FutureLimit::new(Duration::from_secs(seconds)).to_string());
    /// assert_eq!(texts, ["90s", "10m", "1d"]);
    /// ```
    #[must_use]
    pub fn new(limit: Duration) -> Self {
        Self(limit)
    }

    /// The last times that are taken now.
    pub(super) fn last_times(self) -> LastTimes {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let last = now.saturating_add(self.0);
        let nanoseconds = i64::try_from(last.as_nanos()).unwrap_or(i64::MAX);
        LastTimes { nanoseconds, seconds: i64::try_from(last.as_secs()).unwrap_or(i64::MAX), limit: self }
    }
}

impl fmt::Display for FutureLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let units = [("d", 86_400), ("h", 3600), ("m", 60)];
        let unit = units.into_iter().find(|(_, unit)| seconds > 0 && seconds.is_multiple_of(*unit));
        let (name, unit) = unit.unwrap_or(("s", 1));
        write!(f, "{}{name}", seconds / unit)
    }
}

/// The last times that are taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastTimes {
    nanoseconds: i64,
    /// The same in seconds, which go beyond the last time that a store knows.
    seconds: i64,
    limit: FutureLimit,
}

impl LastTimes {
    /// # Errors
    /// If the time of an event is later: `time`, if a store knows it, or else what `reader` finds in the time field.
    pub(super) fn check(
        &self,
        time: Option<i64>,
        event: &[u8],
        reader: &mut FieldReader<'_>,
    ) -> Result<(), EventError> {
        let late = match time {
            Some(time) => (time > self.nanoseconds).then(|| time::to_text(time)),
            None => self.beyond_all(event, reader),
        };
        late.map_or(Ok(()), |time| Err(EventError::Late { time, limit: self.limit }))
    }

    /// The time of an event as it has it, if it is later and beyond the last one that a store knows.
    #[cold]
    fn beyond_all(&self, event: &[u8], reader: &mut FieldReader<'_>) -> Option<String> {
        let (mut fields, mut decoded) = ([Field::MISSING], String::new());
        reader.read_trusted(event, &mut fields).ok()?;
        let [field] = fields;
        let (text, time) = if let Some(number) = field.as_number() {
            (number.text(), time::parse_number(number.text()))
        } else {
            let text = field.text(&mut decoded)?;
            (text, time::parse(text.as_bytes()))
        };
        let last_known = i64::MAX / 1_000_000_000;
        time.filter(|(second, _)| *second > self.seconds.max(last_known)).map(|_| text.to_owned())
    }
}
