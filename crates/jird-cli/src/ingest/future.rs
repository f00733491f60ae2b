//! Events from the future: a clock that is wrong makes events that stay the newest of a store for years, and that no
//! retention by age removes.

use super::lines::{Fault, Wrong};
use crate::outcome::report as say;
use crate::window::{duration, now};
use anyhow::{Result, bail};
use jird::record::{Field, FieldReader, Projection};
use jird_store::{Batch, Settings, time};

/// A second, in nanoseconds.
const SECOND: i64 = 1_000_000_000;
/// Events whose times are further in the future than this are reported: a day, in nanoseconds.
const TOLD: i64 = 24 * 60 * 60 * SECOND;

/// How far in the future the time of an event may be.
#[derive(Clone, Debug)]
pub(super) struct FutureLimit {
    /// As it was typed.
    text: String,
    nanoseconds: i64,
}

impl FutureLimit {
    /// What is typed: 10m, 1d.
    pub(super) fn new(text: &str) -> Result<Self> {
        let limit = duration(text).and_then(|limit| i64::try_from(limit.as_nanos()).ok());
        match limit {
            Some(nanoseconds) => Ok(Self { text: text.to_owned(), nanoseconds }),
            None => bail!("wanted a duration such as 90s, 10m, 1h, 1d or 4w"),
        }
    }

    /// Takes the events that are later out of a batch of lines, and adds them to those that are wrong, which are in the
    /// order of the lines.
    pub(super) fn apply(&self, lines: &[u8], settings: &Settings, batch: &mut Batch, wrong: &mut Vec<Wrong>) {
        let now = now();
        let latest = now.saturating_add(self.nanoseconds);
        let latest_second = now / SECOND + self.nanoseconds / SECOND;
        let has_undated = batch.undated() > 0;
        if !has_undated && batch.times().iter().all(|time| *time <= latest) {
            return;
        }
        let projection = Projection::new(std::slice::from_ref(&settings.time_field));
        let mut late = LateTimes { latest, latest_second, has_undated, reader: FieldReader::new(&projection) };
        let times = batch.times().to_vec();
        let mut rows = times.iter();
        let mut kept = Vec::with_capacity(times.len());
        let mut others = std::mem::take(wrong).into_iter().peekable();
        let mut start = 0;
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            if let Some(other) = others.next_if(|other| other.offset == start) {
                wrong.push(other);
            } else if let Some(&time) = rows.next_if_event(line) {
                let found = late.of(time, line);
                kept.push(found.is_none());
                wrong.extend(found.map(|time| {
                    let raw = line.strip_suffix(b"\n").unwrap_or(line).to_vec();
                    let fault = Fault::Future { time, limit: self.text.clone() };
                    Wrong { offset: start, line: 0, raw, fault }
                }));
            }
            start += line.len();
        }
        let mut kept = kept.into_iter();
        batch.keep(|_| kept.next().unwrap_or(true));
    }
}

/// Finds times that are too late.
struct LateTimes<'p> {
    latest: i64,
    /// The same in seconds, which go beyond the last time that a store knows.
    latest_second: i64,
    /// Whether events have no time that a store knows. It may be beyond the last one.
    has_undated: bool,
    reader: FieldReader<'p>,
}

impl LateTimes<'_> {
    /// The time of an event as a text, if it is too late.
    fn of(&mut self, time: i64, line: &[u8]) -> Option<String> {
        if time > self.latest {
            return Some(time::to_text(time));
        }
        if !self.has_undated {
            return None;
        }
        let (mut fields, mut decoded) = ([Field::MISSING], String::new());
        self.reader.read_trusted(line.trim_ascii(), &mut fields).ok()?;
        let (text, time) = if let Some(number) = fields[0].as_number() {
            (number.text(), time::parse_number(number.text()))
        } else {
            let text = fields[0].text(&mut decoded)?;
            (text, time::parse(text.as_bytes()))
        };
        let last = (i64::MAX / SECOND).max(self.latest_second);
        time.filter(|(second, _)| *second > last).map(|_| text.to_owned())
    }
}

/// The rows of a batch. Blank lines have none.
trait Rows<'t> {
    /// The next time, if the line is an event.
    fn next_if_event(&mut self, line: &[u8]) -> Option<&'t i64>;
}

impl<'t> Rows<'t> for std::slice::Iter<'t, i64> {
    fn next_if_event(&mut self, line: &[u8]) -> Option<&'t i64> {
        let is_blank = line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
        if is_blank { None } else { self.next() }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_duration() {
        for (text, seconds) in [("0s", 0), ("90s", 90), ("10m", 600), ("1 h", 3600), ("1d", 86_400), ("2w", 1_209_600)]
        {
            assert_eq!(FutureLimit::new(text).unwrap().nanoseconds, seconds * 1_000_000_000, "{text}");
        }
        for text in ["", "1", "d", "-1d", "1.5h", "1y", "2024-03-05", "2024-03-05T07:00:00Z", "99999999d"] {
            assert!(FutureLimit::new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_that_no_store_knows_are_late_if_they_are_in_the_future() {
        let lines = b"{}\n{\"@t\":\"9999-12-31T00:00:00Z\"}\n{\"@t\":\"1000-01-01\"}\n{\"@t\":\"soon\"}\n {\"@t\":99999999999999999999} \n";
        let mut wrong = Vec::new();
        let settings = Settings::default();
        let mut batch = Batch::prepare(lines, &settings, &mut |_, _, error| panic!("{error}"));
        FutureLimit::new("1d").unwrap().apply(lines, &settings, &mut batch, &mut wrong);
        assert_eq!(batch.text(), b"{}\n{\"@t\":\"1000-01-01\"}\n{\"@t\":\"soon\"}\n");
        let found = wrong.iter().map(|wrong| match &wrong.fault {
            Fault::Future { time, .. } => &time[..],
            Fault::Json(_) => "",
        });
        assert_eq!(found.collect::<Vec<_>>(), ["9999-12-31T00:00:00Z", "99999999999999999999"]);
    }

    #[test]
    fn later_events_are_wrong_in_the_order_of_the_lines() {
        let lines = b"{\"@t\":1}\n\r\n{\"@t\":\"2261-01-01\"}\n{\n \t\n7\n{\"@t\":\"2261-01-02\"}\r\n{\"@t\":2}";
        let mut wrong = Vec::new();
        let mut batch = Batch::prepare(lines, &Settings::default(), &mut |offset, raw, error| {
            wrong.push(Wrong { offset, line: 0, raw: raw.to_vec(), fault: Fault::Json(error) });
        });
        FutureLimit::new("1d").unwrap().apply(lines, &Settings::default(), &mut batch, &mut wrong);
        assert_eq!(batch.text(), b"{\"@t\":1}\n7\n{\"@t\":2}\n");
        let found: Vec<_> = wrong.iter().map(|wrong| (wrong.offset, &wrong.raw[..])).collect();
        assert_eq!(found, [(11, &b"{\"@t\":\"2261-01-01\"}"[..]), (31, b"{"), (38, b"{\"@t\":\"2261-01-02\"}\r")]);
        assert!(matches!(wrong[1].fault, Fault::Json(_)) && matches!(wrong[2].fault, Fault::Future { .. }));
    }
}
