//! Which events a request wants: a stretch of time, a condition, and words that they contain.

use crate::base::problem::Problem;
use jird::Path;
use jird::hooks::event::Condition;
use jird::lines::{Check, Options, Scanner};
use jird::record::{Predicate, Projection};
use jird_store::{Matcher, Search, Window, time};
use std::ops::ControlFlow;
use std::time::{SystemTime, UNIX_EPOCH};

/// What events must be like.
pub(crate) struct Wish {
    pub(crate) window: Window,
    condition: Option<Condition>,
    search: Option<Search>,
}

/// What a request says of the events it wants.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    pub(crate) condition: Option<String>,
    pub(crate) search: Option<String>,
    pub(crate) since: Option<String>,
    pub(crate) until: Option<String>,
}

impl Choice {
    /// The place of the parameter of this name, if it is one of these.
    pub(crate) fn parameter(&mut self, name: &str) -> Option<&mut Option<String>> {
        Some(match name {
            "where" => &mut self.condition,
            "search" => &mut self.search,
            "since" => &mut self.since,
            "until" => &mut self.until,
            _ => return None,
        })
    }

    /// The parameters that the request has, with their names.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all =
            [("where", &self.condition), ("search", &self.search), ("since", &self.since), ("until", &self.until)];
        all.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)))
    }
}

impl Wish {
    /// What `since`, `until`, `where` and `search` say.
    ///
    /// # Errors
    /// 400 if one of them says nothing.
    pub(crate) fn new(choice: &Choice) -> Result<Self, Problem> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_nanos()).unwrap_or(i64::MAX);
        let time = |name: &str, text: Option<&str>| {
            let meant = text.map(|text| {
                let shown: String = text.chars().take(80).collect();
                time::meant(text, now).map_err(|why| Problem::bad(format!("{name} {shown}{why}")))
            });
            meant.transpose()
        };
        let (since, until) = (choice.since.as_deref(), choice.until.as_deref());
        let window = Window { since: time("since", since)?, until: time("until", until)? };
        if let (Some(since), Some(until)) = (window.since, window.until)
            && since >= until
        {
            return Err(Problem::bad("since is not before until, so no event is between them"));
        }
        let condition = choice.condition.as_deref().map(read).transpose()?;
        let search = choice.search.as_deref().map(Search::new).transpose();
        let search = search.map_err(|error| Problem::bad(error.to_string()))?.flatten();
        Ok(Self { window, condition, search })
    }

    /// The condition and the words, for the indexes of the store.
    pub(crate) fn for_index(&self) -> Option<jird_store::Condition> {
        let mut paths = self.condition.as_ref().map_or_else(Vec::new, |condition| condition.paths().to_vec());
        let mut parts: Vec<_> = self.condition.iter().map(|condition| condition.predicate().clone()).collect();
        if let Some(search) = &self.search {
            parts.push(Predicate::Json { slot: paths.len(), test: search.test() });
            paths.push(Path::root());
        }
        (!parts.is_empty()).then(|| jird_store::Condition::new(&Predicate::And(parts), &paths))
    }

    pub(crate) fn sieve(&self) -> Sieve<'_> {
        let paths = self.condition.as_ref().map_or(&[][..], Condition::paths);
        // Events were checked when they came in.
        let scanner = Scanner::new(Options { check: Check::Trusted, ..Options::default() });
        let matcher = self.search.as_ref().map(Search::matcher);
        Sieve { condition: self.condition.as_ref(), projection: Projection::new(paths), scanner, matcher }
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

/// Finds the events for which the condition holds and that contain the words.
pub(crate) struct Sieve<'w> {
    condition: Option<&'w Condition>,
    projection: Projection,
    scanner: Scanner,
    matcher: Option<Matcher>,
}

impl Sieve<'_> {
    /// The numbers of the lines that match. `ends` are the places of their ends.
    pub(crate) fn numbers(&mut self, lines: &[u8], ends: &[usize]) -> Vec<usize> {
        let mut numbers: Vec<usize> = match self.offsets(lines) {
            None => (0..ends.len()).collect(),
            Some(offsets) => offsets.iter().map(|offset| ends.partition_point(|end| end < offset)).collect(),
        };
        if let Some(matcher) = &mut self.matcher {
            if numbers.len() == ends.len() && !matcher.may_be_in(lines) {
                return Vec::new();
            }
            numbers.retain(|number| {
                let begin = number.checked_sub(1).map_or(0, |before| ends[before] + 1);
                matcher.holds(&lines[begin..ends[*number]])
            });
        }
        numbers
    }

    /// Whether one event matches.
    pub(crate) fn holds(&mut self, event: &[u8]) -> bool {
        self.offsets(event).is_none_or(|offsets| !offsets.is_empty())
            && self.matcher.as_mut().is_none_or(|matcher| matcher.holds(event))
    }

    /// The offsets of the lines for which the condition holds, each within its line. `None` if there is no condition.
    fn offsets(&mut self, lines: &[u8]) -> Option<Vec<usize>> {
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
}
