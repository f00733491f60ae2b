//! Which events a request wants: a stretch of time, and a condition.

use crate::base::problem::Problem;
use jird::hooks::event::Condition;
use jird::lines::{Check, Options, Scanner};
use jird::record::Projection;
use jird_store::{Window, time};
use std::ops::ControlFlow;
use std::time::{SystemTime, UNIX_EPOCH};

/// What events must be like.
pub(crate) struct Wish {
    pub(crate) window: Window,
    condition: Option<Condition>,
}

impl Wish {
    /// What `since`, `until` and `where` say.
    ///
    /// # Errors
    /// 400 if one of them says nothing.
    pub(crate) fn new(since: Option<&str>, until: Option<&str>, condition: Option<&str>) -> Result<Self, Problem> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_nanos()).unwrap_or(i64::MAX);
        let time = |name: &str, text: Option<&str>| {
            let meant = text.map(|text| {
                let shown: String = text.chars().take(80).collect();
                time::meant(text, now).map_err(|why| Problem::bad(format!("{name} {shown}{why}")))
            });
            meant.transpose()
        };
        let window = Window { since: time("since", since)?, until: time("until", until)? };
        if let (Some(since), Some(until)) = (window.since, window.until)
            && since >= until
        {
            return Err(Problem::bad("since is not before until, so no event is between them"));
        }
        Ok(Self { window, condition: condition.map(read).transpose()? })
    }

    /// The condition, for the indexes of the store.
    pub(crate) fn for_index(&self) -> Option<jird_store::Condition> {
        let condition = self.condition.as_ref()?;
        Some(jird_store::Condition::new(condition.predicate(), condition.paths()))
    }

    pub(crate) fn sieve(&self) -> Sieve<'_> {
        let paths = self.condition.as_ref().map_or(&[][..], Condition::paths);
        // Events were checked when they came in.
        let scanner = Scanner::new(Options { check: Check::Trusted, ..Options::default() });
        Sieve { condition: self.condition.as_ref(), projection: Projection::new(paths), scanner }
    }

    pub(crate) fn has(&self, time: i64) -> bool {
        self.window.since.is_none_or(|since| since <= time) && self.window.until.is_none_or(|until| time < until)
    }
}

#[cfg(feature = "query")]
fn read(condition: &str) -> Result<Condition, Problem> {
    jird_query::condition(condition).map_err(|error| Problem::bad(error.to_string()).at(error.place()))
}

#[cfg(not(feature = "query"))]
fn read(_: &str) -> Result<Condition, Problem> {
    Err(Problem::bad("this build reads no conditions: it has no queries"))
}

/// Finds the events for which the condition holds.
pub(crate) struct Sieve<'w> {
    condition: Option<&'w Condition>,
    projection: Projection,
    scanner: Scanner,
}

impl Sieve<'_> {
    /// The offsets of the lines that match, each within its line; `None`: all match.
    pub(crate) fn offsets(&mut self, lines: &[u8]) -> Option<Vec<usize>> {
        let filter = self.condition?.predicate();
        let mut offsets = Vec::new();
        let found = |row: jird::lines::Match<'_, '_>| {
            offsets.push(row.offset());
            ControlFlow::Continue(())
        };
        // A line that the disk corrupted does not match.
        let bad = |_: jird::lines::Bad<'_>| ControlFlow::Continue(());
        self.scanner.scan_all(lines, &self.projection, Some(filter), found, bad);
        Some(offsets)
    }

    /// Whether one event matches.
    pub(crate) fn holds(&mut self, event: &[u8]) -> bool {
        self.offsets(event).is_none_or(|offsets| !offsets.is_empty())
    }
}
