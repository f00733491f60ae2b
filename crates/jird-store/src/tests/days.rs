//! Compactions keep days apart that are large enough to be files of their own.

use super::model::read;
use crate::files::simulated::Disk;
use crate::settings::{Compression, Settings, Window, WriterOptions};
use crate::store::Store;
use crate::{Extent, Sync};
use std::path::Path;
use std::sync::Arc;

const HOUR: i64 = 3600;

/// A store with a span for every five hours of four days, in which the hours have this many events of a hundred bytes.
fn of_hours(events: [usize; 4]) -> (Store, String) {
    let settings = Settings { compression: Compression::None, ..Settings::default() };
    let store = Store::create_on(Arc::new(Disk::default()), Path::new("/store"), &settings).unwrap();
    let mut all = String::new();
    let hours: Vec<i64> = (0..96).collect();
    for hours in hours.chunks(5) {
        let writer = store.writer(&WriterOptions { sync: Sync::None, ..WriterOptions::default() }).unwrap();
        for &hour in hours {
            for event in 0..events[hour as usize / 24] {
                let second = hour * HOUR + event as i64;
                let event =
                    format!("{{\"@t\":{second},\"pad\":\"{:>1$}\"}}", second, 100 - 17 - second.to_string().len());
                writer.append_event(event.as_bytes()).unwrap();
                all.push_str(&event);
                all.push('\n');
            }
        }
        writer.seal().unwrap();
        writer.finish().unwrap();
    }
    (store, all)
}

/// The days of the first and the last event of each span.
fn days(store: &Store) -> Vec<(i64, i64)> {
    let day = |time: i64| time / (24 * HOUR * 1_000_000_000);
    let spans = store.info().unwrap().spans;
    let mut days: Vec<_> = spans.iter().map(|span| (day(span.times.0), day(span.times.1))).collect();
    days.sort_unstable();
    days
}

fn events(store: &Store) -> String {
    read(&store.snapshot().unwrap(), Window::ALL).unwrap()
}

#[test]
fn large_days_become_spans_of_their_own() {
    // A span has at most 30 KB here. Days of 24, 12, 2 and 24 KB.
    let (store, all) = of_hours([10, 5, 1, 10]);
    assert!(days(&store).iter().any(|(first, last)| first < last));
    // The rest of a day that a compaction divided is merged with the next spans by another.
    for extent in [Extent::Tiers, Extent::Full, Extent::Full] {
        store.compact(extent).unwrap();
        assert_eq!(events(&store), all);
    }
    assert!(days(&store).iter().all(|(first, last)| first == last || (*first, *last) == (2, 3)), "{:?}", days(&store));
    let before = store.info().unwrap().spans.len();
    store.compact(Extent::Full).unwrap();
    assert_eq!(store.info().unwrap().spans.len(), before);
    assert_eq!(events(&store), all);
}
