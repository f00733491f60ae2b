//! The stream as event stores: how they are made, and which events a query of them has, in which order.

use super::query::{Path, Step};
use super::value::{Json, Value, records};
use crate::dice::Random;
use jird_query::Window;
use jird_store::{Batch, ColumnChoice, Compression, Extent, Settings, Store, Sync, Writer, WriterOptions};

/// The time of events that have none of their own: 2026-01-01.
const ARRIVAL: i64 = 1_767_225_600 * SECOND;
const SECOND: i64 = 1_000_000_000;

/// Texts that are times, or nearly, with the nanoseconds since 1970 that a store takes them for.
pub(crate) const TIMES: [(&str, Option<i64>); 15] = [
    ("2024-03-05T07:00:00Z", Some(1_709_622_000 * SECOND)),
    ("2024-03-05T07:00:00.000Z", Some(1_709_622_000 * SECOND)),
    ("2024-03-05 07:00", Some(1_709_622_000 * SECOND)),
    ("2024-03-05T08:00:00+01:00", Some(1_709_622_000 * SECOND)),
    ("2024-03-05T07:00:00.000000001Z", Some(1_709_622_000 * SECOND + 1)),
    ("2024-03-05T07:00:01Z", Some(1_709_622_001 * SECOND)),
    ("2024-03-05", Some(1_709_596_800 * SECOND)),
    ("1969-12-31T23:59:59.999999999Z", Some(-1)),
    ("1677-09-21T00:12:43.145224192Z", Some(i64::MIN)),
    ("2262-04-11T23:47:16.854775807Z", Some(i64::MAX)),
    ("2262-04-11T23:47:16.854775808Z", None),
    ("9999-12-31T23:59:59Z", None),
    ("0001-01-01T00:00:00Z", None),
    ("2024-02-30T00:00:00Z", None),
    ("soon", None),
];

/// A text of [`regular`] times, which all have one width: `millis` after 07:00, below an hour.
pub(crate) fn regular(millis: usize) -> String {
    format!("2024-03-05T07:{:02}:{:02}.{:03}Z", millis / 60_000, millis / 1000 % 60, millis % 1000)
}

/// How the stores are made and asked.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) settings: Settings,
    time_field: Path,
    /// The window of the query.
    pub(crate) window: Window,
    /// Events before this time are removed.
    retained: Option<i64>,
    block_bytes: usize,
    seal_bytes: usize,
}

impl Plan {
    /// A random plan for records that have times at `times` and other fields at `paths`.
    pub(crate) fn new(random: &mut Random, times: Path, paths: &[Path], texts: &[&str]) -> Self {
        let time_field = match random.below(4) {
            0 => random.pick(paths),
            _ => times,
        };
        // All fields, so that columns can answer for whole queries, some of them, or those that the events suggest.
        let columns = match random.below(3) {
            0 => ColumnChoice::Fields(paths.iter().map(|path| path_of(path)).collect()),
            1 => ColumnChoice::Fields((0..random.below(5)).map(|_| path_of(random.pick(paths))).collect()),
            _ => ColumnChoice::Auto,
        };
        let compression = random.pick(&[Compression::None, Compression::Lz4, Compression::Zstd]);
        let settings = Settings { time_field: path_of(time_field), columns, compression };
        let events: Vec<_> =
            texts.iter().flat_map(|text| records(text)).map(|event| time(&event, time_field)).collect();
        let mut bound = |one_in: usize| {
            let is_wanted = random.below(one_in) == 0 && !events.is_empty();
            is_wanted.then(|| events[random.below(events.len())].saturating_add(random.pick(&[-1, 0, 0, 1])))
        };
        let window = Window { since: bound(3), until: bound(3) };
        let retained = bound(4);
        let block_bytes = random.pick(&[1, 100, 400, usize::MAX]);
        let seal_bytes = random.pick(&[1, 300, 2000, 1 << 20]);
        Self { settings, time_field, window, retained, block_bytes, seal_bytes }
    }

    /// The events that a query has of a text, in their order.
    pub(crate) fn events(&self, text: &str) -> Vec<Value> {
        let mut events: Vec<_> =
            records(&minified(text)).into_iter().map(|event| (time(&event, self.time_field), event)).collect();
        events.sort_by_key(|(time, _)| *time);
        let Window { since, until } = self.window;
        events.retain(|(time, _)| {
            self.retained.is_none_or(|from| *time >= from)
                && since.is_none_or(|since| *time >= since)
                && until.is_none_or(|until| *time < until)
        });
        events.into_iter().map(|(_, event)| event).collect()
    }

    /// Makes the store of a text: in several batches, by one writer after the other, sealed and compacted now and then.
    pub(crate) fn make(&self, random: &mut Random, path: &std::path::Path, text: &str) {
        let store =
            Store::create(path, &self.settings).expect("a store can be made").with_block_bytes(self.block_bytes);
        let open = || {
            let options = WriterOptions { sync: Sync::None, seal_bytes: self.seal_bytes };
            store.writer(&options).expect("there is no other writer")
        };
        let finish = |writer: Writer| writer.finish().expect("the disk works");
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        let mut writer = open();
        let mut rest = &lines[..];
        while !rest.is_empty() {
            let (some, others) = rest.split_at((1 + random.below(lines.len().div_ceil(2))).min(rest.len()));
            rest = others;
            let lines = some.concat();
            let batch = Batch::prepare_at(lines.as_bytes(), &self.settings, ARRIVAL, &mut |_, line, error| {
                panic!("{}: {error}", String::from_utf8_lossy(line))
            });
            writer.append(batch).expect("the disk works");
            match random.below(6) {
                0 => writer.seal().expect("the disk works"),
                1 => {
                    finish(writer);
                    writer = open();
                }
                2 => drop(store.compact(Extent::Full).expect("the disk works")),
                _ => {}
            }
        }
        if let Some(before) = self.retained {
            store.retain(before).expect("the disk works");
        }
        match random.below(3) {
            0 => {}
            1 => writer.seal().expect("the disk works"),
            _ => {
                writer.seal().expect("the disk works");
                store.compact(Extent::Full).expect("the disk works");
            }
        }
        finish(writer);
    }
}

/// The time of an event, in nanoseconds since 1970: that at the path, if it is one, else that of its arrival.
fn time(event: &Value, path: Path) -> i64 {
    // Only objects and arrays have fields.
    let own = match &event.json {
        Json::Object(_) => event.field(path),
        _ => None,
    };
    let time = own.and_then(|value| match &value.json {
        Json::Text(text) => of_text(text),
        Json::Number(_) => of_number(&value.raw),
        _ => None,
    });
    time.unwrap_or(ARRIVAL)
}

fn of_text(text: &str) -> Option<i64> {
    if let Some((_, time)) = TIMES.iter().find(|(known, _)| *known == text) {
        return *time;
    }
    let clock: Vec<i64> = text
        .strip_prefix("2024-03-05T07:")?
        .strip_suffix('Z')?
        .split([':', '.'])
        .map(|part| part.parse().expect("digits"))
        .collect();
    let [minutes, seconds, millis] = clock[..] else { return None };
    Some((1_709_622_000 + minutes * 60 + seconds) * SECOND + millis * 1_000_000)
}

/// Seconds below 10¹¹, milliseconds below 10¹⁴, microseconds below 10¹⁷, else nanoseconds.
fn of_number(text: &str) -> Option<i64> {
    let near: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    // The limits, and how many nanoseconds the unit has.
    let units = [(1e11, SECOND), (1e14, 1_000_000), (1e17, 1000)];
    let unit = units.iter().find(|(limit, _)| near.abs() < *limit).map_or(1, |(_, unit)| *unit);
    if let Ok(whole) = text.parse::<i64>() {
        return whole.checked_mul(unit);
    }
    // To the microsecond.
    let per_unit = match unit {
        SECOND => 1e6,
        1_000_000 => 1e3,
        1000 => 1.0,
        _ => 1e-3,
    };
    let micros = (near * per_unit).round();
    if micros.abs() < 9e18 { (micros as i64).checked_mul(1000) } else { None }
}

fn path_of(path: Path) -> jird::Path {
    path.iter().fold(jird::Path::root(), |path, step| match step {
        Step::Key(key) => path.key(*key),
        Step::Index(index) => path.index(*index),
        Step::Back(_) => unreachable!("no column of a store is counted from the end"),
    })
}

/// The text without the white space between tokens, but for line feeds.
fn minified(text: &str) -> String {
    let (mut is_string, mut is_escaped) = (false, false);
    let is_kept = |char: &char| {
        let was_string = is_string;
        match char {
            '"' if !is_escaped => is_string = !is_string,
            _ => {}
        }
        is_escaped = *char == '\\' && !is_escaped;
        was_string || !matches!(char, ' ' | '\t' | '\r')
    };
    text.chars().filter(is_kept).collect()
}
