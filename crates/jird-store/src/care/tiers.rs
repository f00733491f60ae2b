//! Which spans a compaction merges.

use super::compact::MERGED_MAX;
use super::merge::{SPAN_BYTES, ends_with_day};
use crate::event::Key;
use crate::manifest::SpanEntry;
use std::collections::BTreeMap;

/// How much a compaction rewrites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All spans that are small or overlap in time, and those that retention cut. Of a store that grows, it writes the
    /// newest part again each time.
    Full,
    /// Spans of about the same size, four or more at a time, and those that retention cut. A few small spans of each size
    /// remain. An event is written again at most once for each size between its first span and the largest, which differ
    /// by a factor of four: three times if spans have 4 MB at first.
    Tiers,
    /// As `Tiers`, but what retention cut stays hidden until another compaction.
    Equals,
}

impl Extent {
    /// The groups of spans that are worth rewriting, each into as few spans as its size needs.
    pub(super) fn groups(self, spans: &[SpanEntry]) -> Vec<Vec<SpanEntry>> {
        let mut spans = spans.to_vec();
        spans.sort_unstable_by_key(|span| (span.first, span.number));
        if self == Self::Full {
            return all(spans);
        }
        let mut groups = tiers(&spans);
        if self == Self::Tiers {
            let is_alone = |span: &&SpanEntry| !groups.iter().flatten().any(|other| other.number == span.number);
            let cut: Vec<_> = spans.iter().filter(|span| span.keep_from.is_some()).filter(is_alone).cloned().collect();
            groups.extend(cut.into_iter().map(|span| vec![span]));
        }
        groups
    }
}

/// Merges at least this many spans of one tier; the spans of a tier are this many times as large as those of the one below.
const TIER: usize = 4;
/// Spans that together have more bytes of events are not merged because they overlap.
const OVERLAP_BYTES: u64 = SPAN_BYTES * TIER as u64;

fn bytes(group: &[SpanEntry]) -> u64 {
    group.iter().map(|span| span.text_bytes).sum()
}

/// All that can be merged, by the order of time.
fn all(spans: Vec<SpanEntry>) -> Vec<Vec<SpanEntry>> {
    let mut groups: Vec<Vec<SpanEntry>> = Vec::new();
    for cluster in overlapping(spans) {
        let ends = |group: &[SpanEntry]| {
            let last = group.iter().map(|span| span.last).max();
            last.is_some_and(|last| ends_with_day(bytes(group), last, cluster[0].first))
        };
        let fits = |group: &Vec<SpanEntry>| {
            group.len() + cluster.len() <= MERGED_MAX && bytes(group) + bytes(&cluster) <= SPAN_BYTES && !ends(group)
        };
        match groups.last_mut() {
            Some(group) if fits(group) => group.extend(cluster),
            _ => groups.push(cluster),
        }
    }
    groups.retain(|group| group.len() > 1 || group[0].keep_from.is_some());
    groups
}

/// Spans of one size. They become one span of a higher tier; the largest, several that do not overlap.
fn tiers(spans: &[SpanEntry]) -> Vec<Vec<SpanEntry>> {
    let largest = SPAN_BYTES.ilog(TIER as u64);
    let mut equals: BTreeMap<u32, Vec<SpanEntry>> = BTreeMap::new();
    for span in spans {
        let tier = span.text_bytes.max(1).ilog(TIER as u64) + 1;
        equals.entry(tier.min(largest)).or_default().push(span.clone());
    }
    let of_tier = |(tier, spans)| if tier < largest { neighbours(spans) } else { crowds(spans) };
    let mut groups: Vec<_> = equals.into_iter().flat_map(of_tier).collect();
    groups.retain(|group| group.len() >= TIER);
    groups
}

/// Neighbours that make one span.
fn neighbours(spans: Vec<SpanEntry>) -> Vec<Vec<SpanEntry>> {
    let mut groups: Vec<Vec<SpanEntry>> = Vec::new();
    for span in spans {
        match groups.last_mut() {
            Some(group) if group.len() < MERGED_MAX && bytes(group) + span.text_bytes <= SPAN_BYTES => group.push(span),
            _ => groups.push(vec![span]),
        }
    }
    groups
}

/// Large spans of which many have events at one time, where queries read all of them.
fn crowds(spans: Vec<SpanEntry>) -> Vec<Vec<SpanEntry>> {
    let mut clusters = overlapping(spans);
    clusters.retain(|cluster| depth(cluster) >= TIER && bytes(cluster) <= OVERLAP_BYTES);
    clusters
}

/// Spans in the order of time, divided where none of those before reaches the next.
fn overlapping(spans: Vec<SpanEntry>) -> Vec<Vec<SpanEntry>> {
    let mut clusters: Vec<Vec<SpanEntry>> = Vec::new();
    let mut end: Option<Key> = None;
    for span in spans {
        let overlaps = end.is_some_and(|end| span.first <= end);
        end = end.max(Some(span.last));
        match clusters.last_mut() {
            Some(cluster) if overlaps && cluster.len() < MERGED_MAX => cluster.push(span),
            _ => clusters.push(vec![span]),
        }
    }
    clusters
}

/// At most how many spans have events at one time.
fn depth(cluster: &[SpanEntry]) -> usize {
    let at =
        |span: &SpanEntry| cluster.iter().filter(|other| other.first <= span.first && span.first <= other.last).count();
    cluster.iter().map(at).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Extent, MERGED_MAX, SPAN_BYTES, TIER, bytes, depth};
    use crate::event::{Key, TextOrder};
    use crate::manifest::SpanEntry;

    /// Spans, and what merging them wrote.
    #[derive(Default)]
    struct Spans {
        all: Vec<SpanEntry>,
        next: u64,
        added: u64,
        written: u64,
    }

    impl Spans {
        fn add(&mut self, times: (i64, i64), text_bytes: u64) {
            self.next += 1;
            self.added += text_bytes;
            self.put(times, text_bytes);
        }

        fn put(&mut self, (first, last): (i64, i64), text_bytes: u64) {
            let key = |time| Key { time, arrival: self.next };
            self.all.push(SpanEntry {
                number: self.next,
                events: 1,
                text_bytes,
                file_bytes: text_bytes,
                first: key(first),
                last: key(last),
                order: TextOrder::Empty,
                table_sum: 0,
                keep_from: None,
            });
            self.next += 1;
        }

        /// Merges as [`Store::compact`](crate::Store::compact) does, until there is nothing to merge.
        fn compact(&mut self, extent: Extent) {
            loop {
                let groups = extent.groups(&self.all);
                for group in &groups {
                    assert!(group.len() <= MERGED_MAX);
                    let (first, last) = (group[0].first.time, group.iter().map(|span| span.last.time).max().unwrap());
                    self.all.retain(|span| !group.contains(span));
                    self.written += bytes(group);
                    // Parts of the time, of equal size.
                    let parts = bytes(group).div_ceil(SPAN_BYTES);
                    for part in 0..parts as i64 {
                        let at = |part| first + (last - first) / parts as i64 * part;
                        self.put((at(part), at(part + 1) - i64::from(part + 1 < parts as i64)), bytes(group) / parts);
                    }
                }
                if extent == Extent::Full || groups.is_empty() {
                    break;
                }
            }
        }
    }

    #[test]
    fn each_event_is_written_once_for_each_size() {
        for size in [1, 7, 100, 1000] {
            let mut spans = Spans::default();
            for round in 0..3000 {
                // Some events are late.
                spans.add((round * 10 - 15, round * 10 + 10), size + round as u64 % 3);
                spans.compact(Extent::Tiers);
            }
            let tiers = u64::from((SPAN_BYTES / size).ilog(TIER as u64)) + 1;
            assert!(spans.written <= spans.added * tiers, "{size}: {} of {}", spans.written, spans.added);
            let full = spans.added / (SPAN_BYTES / TIER as u64) + 1;
            assert!(spans.all.len() as u64 <= full + tiers * (TIER as u64 - 1), "{size}: {} spans", spans.all.len());
        }
    }

    #[test]
    fn an_event_of_long_ago_costs_little() {
        let mut spans = Spans::default();
        for day in 1000..1050 {
            spans.add((day * 10, day * 10 + 9), SPAN_BYTES);
        }
        for round in 0..100 {
            // One of its events has no time but 0.
            spans.add((0, 20_000 + round), 100);
            spans.compact(Extent::Tiers);
        }
        assert!(spans.written < 100 * 100 * 6, "{}", spans.written);
        let before = spans.written;
        spans.compact(Extent::Full);
        assert!(spans.written > before + 49 * SPAN_BYTES, "and with all that overlaps, much");
    }

    #[test]
    fn large_spans_are_merged_where_many_overlap() {
        let mut spans = Spans::default();
        for _ in 0..3 {
            spans.add((0, 1000), SPAN_BYTES / 2);
        }
        spans.compact(Extent::Tiers);
        assert_eq!(spans.written, 0);
        spans.add((0, 1000), SPAN_BYTES / 2);
        spans.compact(Extent::Tiers);
        assert_eq!((spans.written, spans.all.len()), (SPAN_BYTES * 2, 2));
        assert_eq!(depth(&spans.all), 1);
        // Those that follow each other stay as they are.
        for at in 2..10 {
            spans.add((at * 1000, at * 1000 + 999), SPAN_BYTES / 2);
        }
        spans.compact(Extent::Tiers);
        assert_eq!(spans.written, SPAN_BYTES * 2);
    }

    #[test]
    fn a_day_that_fills_a_span_stays_apart() {
        let day = |day: i64| (day * 86_400_000_000_000, (day + 1) * 86_400_000_000_000 - 1);
        let mut spans = Spans::default();
        let quarter = SPAN_BYTES / TIER as u64;
        // Of the two little days one span is made, and of each of the others one already was.
        for (number, text_bytes) in [quarter - 1, 1, quarter, quarter + 5, 100].into_iter().enumerate() {
            spans.add(day(number as i64 - 2), text_bytes);
        }
        let numbers = |spans: &Spans| {
            let groups = Extent::Full.groups(&spans.all);
            groups.iter().map(|group| group.iter().map(|span| span.number).collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        assert_eq!(numbers(&spans), [[1, 3]]);
        spans.compact(Extent::Full);
        assert!(numbers(&spans).is_empty());
    }

    #[test]
    fn what_retention_cut_is_written_again() {
        let mut spans = Spans::default();
        for at in 0..3 {
            spans.add((at * 10, at * 10 + 9), 100);
        }
        spans.all[0].keep_from = Some(5);
        let group = vec![spans.all[0].clone()];
        assert_eq!(Extent::Tiers.groups(&spans.all), [group]);
        assert!(Extent::Equals.groups(&spans.all).is_empty());
        assert_eq!(Extent::Full.groups(&spans.all).len(), 1);
        // Once, with others of its size.
        spans.add((30, 39), 100);
        assert_eq!(Extent::Tiers.groups(&spans.all), [spans.all.clone()]);
    }
}
