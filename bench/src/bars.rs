//! The bars that jird has to clear.

use serde::Serialize;

use crate::against::is_jird;
use crate::peers::{self, Origin};
use crate::row::{Measured, Row, best, geometric_mean, quantile, times};
use crate::strings;
use crate::task::{DOCUMENTS, STREAM, Task};

/// One bar, and the value that jird reached.
#[derive(Debug, Serialize)]
pub(crate) struct Bar {
    pub(crate) text: String,
    /// `None` if a figure was not measured; then the bar is missed.
    pub(crate) value: Option<f64>,
    pub(crate) limit: f64,
    /// Whether the limit is a maximum instead of a minimum.
    pub(crate) at_most: bool,
}

const JIRD: &str = "jird";
const RESIDENT_BYTES_MAX: f64 = 200e6;
const CONVERTING_BYTES_MAX: f64 = 200e6;

impl Bar {
    pub(crate) fn holds(&self) -> bool {
        self.value.is_some_and(|value| if self.at_most { value <= self.limit } else { value >= self.limit })
    }

    pub(crate) fn at_least(text: String, value: Option<f64>, limit: f64) -> Self {
        Self { text, value, limit, at_most: false }
    }

    fn at_most(text: String, value: Option<f64>, limit: f64) -> Self {
        Self { text, value, limit, at_most: true }
    }
}

/// The bars of the tasks that ran. `avx2` says that no contestant could use AVX-512.
pub(crate) fn check(rows: &[Row], tasks: &[Task], avx2: bool) -> Vec<Bar> {
    tasks.iter().flat_map(|&task| of_task(rows, task, avx2)).collect()
}

fn of_task(rows: &[Row], task: Task, avx2: bool) -> Vec<Bar> {
    match task {
        Task::Dom => vec![
            against(rows, task, "simdjson", if avx2 { 1.1 } else { 1.2 }),
            worst_document(rows, task, "simdjson", 0.9),
            against(rows, task, "serde_json", 3.0),
        ],
        Task::Validate => {
            let mut bars = vec![against_parsing(rows, "simdjson", 2.0)];
            bars.extend(rust_peers(rows, task).map(|peer| against(rows, task, peer, 1.0)));
            bars
        }
        Task::Partial => vec![
            against(rows, task, "simdjson", 1.2),
            against(rows, task, "simdjson-od", 0.9),
            against_best_rust(rows, task, 2.5),
            trusted(rows, task, "simdjson-od", 1.15),
        ],
        Task::Users => vec![
            against(rows, task, "simdjson-od", 0.9),
            against_best_rust(rows, task, 2.5),
            trusted(rows, task, "simdjson-od", 1.1),
        ],
        Task::Small => vec![time_over(rows, task, "simdjson", 0.85)],
        Task::Two => vec![
            time_each(rows, task, 250.0),
            time_over(rows, task, "simdjson", 0.75),
            trusted(rows, task, "simdjson-od", 1.0 / 0.95),
        ],
        Task::Events => vec![events_over_dom(rows)],
        Task::EventsSkip => vec![skipping_over_all(rows)],
        Task::Minify => vec![speed(rows, task, 5.0)],
        Task::Typed => {
            vec![against(rows, task, "sonic-rs-typed", 1.3), worst_document(rows, task, "serde_json-typed", 2.0)]
        }
        Task::TypedSmall => vec![against_best_rust(rows, task, 1.0)],
        Task::ErrorTyped => vec![refusals(rows, task, 1.3)],
        Task::Million => vec![structs_over(rows, "sonic-rs", 0.65)],
        Task::Migrate => of_migrate(rows),
        Task::Encode => vec![against_best_rust(rows, task, 1.25)],
        Task::StringsOut | Task::StringsIn => vec![
            worst_against_rust(rows, task, "kind", strings::KINDS, 1.0),
            worst_against_rust(rows, task, "length", strings::LENGTHS, 1.0 / 1.05),
        ],
        Task::Error => vec![refusals(rows, task, 1.1)],
        Task::Query => QUERY_RATIOS
            .iter()
            .flat_map(|&(query, ratio)| of_query(rows, query, ratio))
            .chain([first_row(rows)])
            .collect(),
        Task::NdjsonToCsv => against_tools(rows, task, 2.0),
        Task::CsvToNdjson | Task::NdjsonToParquet => against_tools(rows, task, 1.3),
        Task::NdjsonToSqlite | Task::SqliteToJson => against_tools(rows, task, 3.0),
        Task::MillionStream => of_million_stream(rows, task),
        Task::SqliteRows => of_sqlite_rows(rows, task),
        Task::Gtfs => vec![Bar::at_most(
            "gtfs: jird's seconds".into(),
            time(rows, task, task.inputs()[0], JIRD).map(|ns| ns / 1e9),
            1.0,
        )],
        Task::Readers => of_readers(rows),
        Task::Parse => vec![
            against(rows, task, "simdjson", 1.5),
            Bar::at_least(
                "parse: jird over simdjson, twitter".into(),
                times(rows, task, "twitter", JIRD, "simdjson"),
                1.25,
            ),
        ],
        Task::Scan => vec![against(rows, task, "simdjson-s1", 0.9), worst_document(rows, task, "simdjson-s1", 0.75)],
    }
}

/// The bars of `million_stream`.
fn of_million_stream(rows: &[Row], task: Task) -> Vec<Bar> {
    vec![
        Bar::at_most(
            "million_stream: jird's time over from_slice into a Vec".into(),
            alone(rows, task, "jird-slice", JIRD),
            1.2,
        ),
        Bar::at_most(
            "million_stream: µs from the first bytes to the first object".into(),
            figure(rows, task, "first µs"),
            200.0,
        ),
        Bar::at_most(
            "million_stream: KB grown from 100 000 objects to a million".into(),
            figure(rows, task, "growth KB"),
            1000.0,
        ),
    ]
}

/// The bars of `sqlite_rows`.
fn of_sqlite_rows(rows: &[Row], task: Task) -> Vec<Bar> {
    vec![
        Bar::at_least(
            "sqlite_rows: jird over C, same statements of many rows".into(),
            alone(rows, task, JIRD, "c-many-unnumbered"),
            0.95,
        ),
        Bar::at_least(
            "sqlite_rows: jird over C, same statements of one row".into(),
            alone(rows, task, "jird-1", "c-unnumbered"),
            0.95,
        ),
        Bar::at_least("sqlite_rows: jird's best over the usual loop in C".into(), alone(rows, task, JIRD, "c"), 1.5),
        Bar::at_least(
            "sqlite_rows: jird's rate in the last tenth over the first".into(),
            figure(rows, task, "rate held"),
            0.9,
        ),
    ]
}

/// The bars of `readers`.
fn of_readers(rows: &[Row]) -> Vec<Bar> {
    let speeds = [
        ("filter", "jird-lines", 1.5),
        ("filter", "jird-lines-trusted", 2.0),
        ("match", "jird-lines-touched", 2.2),
        ("rare", "jird-lines-touched", 4.0),
    ];
    let ratios = [
        ("filter", "jird-lines-trusted", "simdjson-iterate-many", 1.5),
        ("filter", "jird-lines", "simdjson-iterate-many", 1.1),
        ("count", "jird-lines", "simdjson-parse-many", 1.6),
    ];
    let speeds = speeds.map(|(input, row, limit)| reader_speed(rows, input, row, limit));
    let ratios = ratios.map(|(input, row, peer, limit)| reader_over(rows, input, row, peer, limit));
    speeds.into_iter().chain(ratios).collect()
}

/// The bars of `migrate`, all over `serde_json`.
fn of_migrate(rows: &[Row]) -> Vec<Bar> {
    let bar = |what: &str, inputs: &[&str], limit| {
        let ratios: Option<Vec<f64>> = inputs.iter().map(|input| over_serde_json(rows, input)).collect();
        let mean = ratios.map(|ratios| geometric_mean(ratios.into_iter()));
        Bar::at_least(format!("migrate: {what}, jird-serde-json over serde_json"), mean, limit)
    };
    vec![
        worst_tree(rows),
        bar("events into trees", &["events"], 1.5),
        bar("events into structs", &["structs-events"], 1.6),
        bar("requests into structs", &["structs-request"], 1.6),
        bar("writing", &["write-twitter", "write-citm", "write-canada", "write-events", "write-tree"], 1.8),
        bar("from_reader", &["reader-structs", "reader-tree"], 4.0),
        bar("values taken from a reader", &["exact-structs", "exact-trees"], 1.0),
        worst_migration(rows),
    ]
}

fn over_serde_json(rows: &[Row], input: &str) -> Option<f64> {
    times(rows, Task::Migrate, input, peers::FACADE, "serde_json")
}

/// A document counts as 1 if its tree comes 2.5 times as fast as `serde_json`'s, or in 1.5 times the time of making the
/// same tree without a text.
fn worst_tree(rows: &[Row]) -> Bar {
    let share = |input: &&'static str| {
        let faster = over_serde_json(rows, input)? / 2.5;
        let made = times(rows, Task::Migrate, input, peers::FACADE, peers::MADE_TREE)? * 1.5;
        Some((faster.max(made), *input))
    };
    let shares: Option<Vec<_>> = DOCUMENTS.iter().map(share).collect();
    let worst = shares.and_then(|shares| shares.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)));
    let place = worst.map_or("", |(_, input)| input);
    let text =
        format!("migrate: a tree, of 2.5 × serde_json or of 1.5 × the time of making it, worst document {place}");
    Bar::at_least(text, worst.map(|one| one.0), 1.0)
}

fn worst_migration(rows: &[Row]) -> Bar {
    let inputs = Task::Migrate.inputs();
    let ratios: Option<Vec<_>> = inputs.iter().map(|input| Some((over_serde_json(rows, input)?, *input))).collect();
    let worst = ratios.and_then(|ratios| ratios.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)));
    let place = worst.map_or("", |(_, input)| input);
    Bar::at_least(format!("migrate: jird-serde-json over serde_json, worst row {place}"), worst.map(|one| one.0), 1.0)
}

/// jird's speed over that of the peer's better build, as the geometric mean over the task's inputs.
fn against(rows: &[Row], task: Task, peer: &str, limit: f64) -> Bar {
    let ratio = mean(task, |input| times(rows, task, input, JIRD, peer));
    Bar::at_least(format!("{}: jird over {peer}", task.name()), ratio, limit)
}

fn worst_document(rows: &[Row], task: Task, peer: &str, limit: f64) -> Bar {
    let ratio = |input: &&'static str| Some((times(rows, task, input, JIRD, peer)?, *input));
    let ratios: Option<Vec<_>> = task.inputs().iter().map(ratio).collect();
    let worst = ratios.and_then(|ratios| ratios.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)));
    let place = worst.map_or("", |(_, input)| input);
    let text = format!("{}: jird over {peer}, worst document {place}", task.name());
    Bar::at_least(text, worst.map(|one| one.0), limit)
}

/// jird's speed over that of the fastest Rust peer, on the input of `inputs` where it is lowest.
fn worst_against_rust(rows: &[Row], task: Task, what: &str, inputs: &[&'static str], limit: f64) -> Bar {
    let ratio = |input: &&'static str| Some((over_best_rust(rows, task, input)?, *input));
    // A task that writes does not use every input of the tasks that read.
    let inputs = inputs.iter().filter(|input| task.inputs().contains(input));
    let ratios: Option<Vec<_>> = inputs.map(ratio).collect();
    let worst = ratios.and_then(|ratios| ratios.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)));
    let place = worst.map_or("", |(_, input)| input);
    let text = format!("{}: jird over the best Rust peer, worst {what} {place}", task.name());
    Bar::at_least(text, worst.map(|one| one.0), limit)
}

/// Compares validation with the peer's parse without a visit, which `error` measures.
fn against_parsing(rows: &[Row], peer: &str, limit: f64) -> Bar {
    let ratio = mean(Task::Validate, |input| {
        Some(time(rows, Task::Error, input, peer)? / time(rows, Task::Validate, input, JIRD)?)
    });
    Bar::at_least(format!("validate: jird over {peer}'s parse (the good half of error)"), ratio, limit)
}

/// Compares `events` with `dom`, both of jird.
fn events_over_dom(rows: &[Row]) -> Bar {
    let ratio =
        mean(Task::Dom, |input| Some(time(rows, Task::Dom, input, JIRD)? / time(rows, Task::Events, input, JIRD)?));
    Bar::at_least("events: over dom, jird both".into(), ratio, 1.0)
}

fn skipping_over_all(rows: &[Row]) -> Bar {
    let ratio = time(rows, Task::Events, STREAM, JIRD)
        .zip(time(rows, Task::EventsSkip, STREAM, JIRD))
        .map(|(all, skipping)| all / skipping);
    Bar::at_least("events_skip: over taking everything, jird both".into(), ratio, 1.5)
}

fn against_best_rust(rows: &[Row], task: Task, limit: f64) -> Bar {
    let ratio = mean(task, |input| over_best_rust(rows, task, input));
    Bar::at_least(format!("{}: jird over the best Rust peer", task.name()), ratio, limit)
}

fn over_best_rust(rows: &[Row], task: Task, input: &str) -> Option<f64> {
    rust_peers(rows, task).filter_map(|peer| times(rows, task, input, JIRD, peer)).min_by(f64::total_cmp)
}

/// Compares the fastest row of jird that reads on trust, through any API.
fn trusted(rows: &[Row], task: Task, peer: &str, limit: f64) -> Bar {
    let fastest = |input: &str| {
        let ours = peers::ALL.iter().filter(|entry| entry.name.starts_with("jird-trusted"));
        ours.filter_map(|entry| times(rows, task, input, entry.name, peer)).max_by(f64::total_cmp)
    };
    let ratio = mean(task, fastest);
    Bar::at_least(format!("{}: jird on trust over {peer}", task.name()), ratio, limit)
}

fn time_over(rows: &[Row], task: Task, peer: &str, limit: f64) -> Bar {
    let ratio = mean(task, |input| times(rows, task, input, peer, JIRD));
    Bar::at_most(format!("{}: jird's time over {peer}'s", task.name()), ratio, limit)
}

/// Compares the part of `million` that users wait for.
fn structs_over(rows: &[Row], peer: &str, limit: f64) -> Bar {
    let part = "structs";
    let ratio = times(rows, Task::Million, part, peer, JIRD);
    Bar::at_most(format!("million: jird's time over {peer}'s ({part} directly)"), ratio, limit)
}

fn time_each(rows: &[Row], task: Task, limit: f64) -> Bar {
    let each = |input: &str| {
        let measured = best(rows, task, input, JIRD)?.measured()?;
        Some(measured.median_ns / measured.documents as f64)
    };
    Bar::at_most(format!("{}: jird's nanoseconds an event", task.name()), mean(task, each), limit)
}

fn speed(rows: &[Row], task: Task, limit: f64) -> Bar {
    let speed = |input: &str| Some(best(rows, task, input, JIRD)?.measured()?.speed());
    Bar::at_least(format!("{}: jird's GB/s", task.name()), mean(task, speed), limit)
}

fn reader_speed(rows: &[Row], input: &str, row: &str, limit: f64) -> Bar {
    let speed = best(rows, Task::Readers, input, row).and_then(Row::measured).map(Measured::speed);
    Bar::at_least(format!("readers {input}: GB/s of {row}"), speed, limit)
}

/// How many times as fast a reader is as another.
fn reader_over(rows: &[Row], input: &str, row: &str, peer: &str, limit: f64) -> Bar {
    Bar::at_least(format!("readers {input}: {row} over {peer}"), times(rows, Task::Readers, input, row, peer), limit)
}

/// The geometric mean over the task's inputs; `None` if any of them has no figure.
fn mean(task: Task, figure: impl Fn(&'static str) -> Option<f64>) -> Option<f64> {
    let figures: Option<Vec<f64>> = task.inputs().iter().map(|input| figure(input)).collect();
    figures.map(|figures| geometric_mean(figures.into_iter()))
}

/// The time of the peer's better build.
fn time(rows: &[Row], task: Task, input: &str, peer: &str) -> Option<f64> {
    Some(best(rows, task, input, peer)?.measured()?.median_ns)
}

/// The Rust peers that have the task.
fn rust_peers(rows: &[Row], task: Task) -> impl Iterator<Item = &'static str> {
    let rust = peers::ALL.iter().filter(|entry| entry.origin == Origin::Rust).map(|entry| entry.name);
    rust.filter(move |name| rows.iter().any(|row| row.task == task && row.peer == *name))
}

fn refusals(rows: &[Row], task: Task, limit: f64) -> Bar {
    let ratio = |input: &'static str| {
        let measured = best(rows, task, input, "jird")?.measured()?;
        Some((measured.refusal_ratio(), input))
    };
    let ratios: Option<Vec<_>> = task.inputs().iter().map(|input| ratio(input)).collect();
    let worst = ratios.and_then(|ratios| ratios.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)));
    let place = worst.map_or("", |(_, input)| input);
    let text = format!("{}: a refusal over a good parse, worst document {place}", task.name());
    Bar::at_most(text, worst.map(|one| one.0), limit)
}

/// How many times as fast as `DuckDB` each query must be, measured as a process and by the query's own time.
const QUERY_RATIOS: [(&str, f64); 8] = [
    ("filter", 2.0),
    ("filter-schema", 3.0),
    ("match", 3.0),
    ("match-touched", 3.0),
    ("lookup", 4.0),
    ("lookup-touched", 4.0),
    ("group", 2.0),
    ("group-schema", 2.0),
];

fn of_query(rows: &[Row], query: &str, limit: f64) -> [Bar; 3] {
    let measured = |peer: &str| best(rows, Task::Query, query, peer).and_then(Row::measured);
    let resident = measured(JIRD).and_then(resident_bytes);
    let alone = |peer: &str| {
        let inside = measured(peer)?.process.as_ref().map(|process| &process.inside_rounds_ns)?;
        (!inside.is_empty()).then(|| quantile(inside, 0.5))
    };
    [
        Bar::at_least(
            format!("query {query}: jird over duckdb, whole process"),
            times(rows, Task::Query, query, JIRD, "duckdb"),
            limit,
        ),
        Bar::at_least(
            format!("query {query}: jird over duckdb, the query alone"),
            alone("duckdb").zip(alone(JIRD)).map(|(theirs, ours)| theirs / ours),
            limit,
        ),
        Bar::at_most(format!("query {query}: jird's resident bytes"), resident, RESIDENT_BYTES_MAX),
    ]
}

/// The time from the start of the process.
fn first_row(rows: &[Row]) -> Bar {
    Bar::at_most(
        "query first: milliseconds to the first row".into(),
        time(rows, Task::Query, "first", JIRD).map(|ns| ns / 1e6),
        25.0,
    )
}

/// Compares jird with the fastest other program, even if that program's answer is wrong.
fn against_tools(rows: &[Row], task: Task, limit: f64) -> Vec<Bar> {
    let input = task.inputs()[0];
    let peers = rows.iter().filter(|row| row.task == task && !is_jird(&row.peer));
    let ratios = peers.filter_map(|row| Some((times(rows, task, input, JIRD, &row.peer)?, &row.peer)));
    let worst = ratios.min_by(|a, b| a.0.total_cmp(&b.0));
    let peer = worst.map_or("", |(_, peer)| peer);
    let resident = best(rows, task, input, JIRD).and_then(Row::measured).and_then(resident_bytes);
    let text = format!("{}: jird over the best peer {peer}, whole process", task.name());
    vec![
        Bar::at_least(text, worst.map(|one| one.0), limit),
        Bar::at_most(format!("{}: jird's resident bytes", task.name()), resident, CONVERTING_BYTES_MAX),
    ]
}

/// How many times as fast one contestant is as another.
fn alone(rows: &[Row], task: Task, peer: &str, other: &str) -> Option<f64> {
    times(rows, task, task.inputs()[0], peer, other)
}

/// Another figure that jird measured.
fn figure(rows: &[Row], task: Task, name: &str) -> Option<f64> {
    best(rows, task, task.inputs()[0], JIRD)?.measured()?.process.as_ref()?.figure(name)
}

fn resident_bytes(measured: &Measured) -> Option<f64> {
    measured.process.as_ref().map(|process| process.resident_bytes_max as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::Build;
    use crate::row::Outcome;

    fn row(task: Task, input: &str, peer: &str, median_ns: f64) -> Row {
        let measured =
            Measured { bytes: 1, documents: 2, rounds_ns: vec![median_ns], ..Measured::default() }.summed_up();
        let outcome = Outcome::Measured(measured);
        Row { task, input: input.into(), peer: peer.into(), build: Build::Default, loaded: true, outcome }
    }

    #[test]
    fn what_was_not_measured_is_missed() {
        let bars = check(&[], &Task::usual(), false);
        assert!(bars.iter().all(|bar| bar.value.is_none() && !bar.holds()), "{bars:?}");
    }

    #[test]
    fn jird_is_compared_with_the_fastest_rust_peer_and_the_fastest_trusted_row() {
        let task = Task::Users;
        let times =
            [(JIRD, 10.0), ("simdjson-od", 8.0), ("sonic-rs", 30.0), ("serde_json", 90.0), ("jird-trusted", 4.0)];
        let rows = times.map(|(peer, ns)| row(task, "twitter", peer, ns));
        let values: Vec<_> = check(&rows, &[task], false).iter().filter_map(|bar| bar.value).collect();
        for (value, wanted) in values.iter().zip([0.8, 3.0, 2.0]) {
            assert!((value - wanted).abs() < 1e-9, "{values:?}");
        }
    }

    #[test]
    fn a_million_structs_are_compared_and_their_other_parts_are_not() {
        let times = [("structs", JIRD, 13.0), ("structs", "sonic-rs", 20.0), ("tree", JIRD, 99.0)];
        let rows = times.map(|(part, peer, ns)| row(Task::Million, part, peer, ns));
        let bars = check(&rows, &[Task::Million], false);
        assert!(bars.len() == 1 && bars[0].at_most && bars[0].holds(), "{bars:?}");
        assert!(!check(&rows[..1], &[Task::Million], false)[0].holds());
    }

    #[test]
    fn a_tree_may_take_one_and_a_half_times_its_making_where_that_is_the_wall() {
        let inputs = Task::Migrate.inputs();
        let rows = |input: &&str, ours: f64| {
            [(peers::FACADE, ours), ("serde_json", 24.0), (peers::MADE_TREE, 8.0)]
                .map(|(peer, ns)| row(Task::Migrate, input, peer, ns))
        };
        let bars = |slowest: f64| {
            let slow = |input: &&str| if *input == "canada" { slowest } else { 6.0 };
            check(
                &inputs.iter().flat_map(|input| rows(input, slow(input))).collect::<Vec<_>>(),
                &[Task::Migrate],
                false,
            )
        };
        // 2 × serde_json, and 1.5 × the wall.
        assert!(bars(12.0)[0].holds() && !bars(13.0)[0].holds());
        let worst = |slowest| bars(slowest).pop().map(|bar| (bar.holds(), bar.text.ends_with("worst row canada")));
        assert_eq!((worst(23.0), worst(25.0)), (Some((true, true)), Some((false, true))));
    }

    #[test]
    fn readers_of_lines_are_compared_with_the_streams_of_simdjson() {
        let task = Task::Readers;
        let times =
            [("filter", "jird-lines", 10.0), ("filter", "simdjson-iterate-many", 12.0), ("count", "jird-lines", 10.0)];
        let rows = times.map(|(input, peer, ns)| row(task, input, peer, ns));
        let bars = check(&rows, &[task], false);
        let held: Vec<_> = bars.iter().filter(|bar| bar.text.contains(" over ")).map(Bar::holds).collect();
        assert_eq!(held, [false, true, false], "{bars:?}");
    }

    #[test]
    fn two_fields_are_compared_checked_and_on_trust() {
        let task = Task::Two;
        let times = [(JIRD, 70.0), ("simdjson", 100.0), ("jird-trusted", 60.0), ("simdjson-od", 61.0)];
        let bars = check(&times.map(|(peer, ns)| row(task, "events", peer, ns)), &[task], false);
        let held: Vec<_> = bars.iter().map(Bar::holds).collect();
        assert_eq!(held, [true, true, false], "{bars:?}");
    }

    #[test]
    fn times_are_per_event() {
        let bars = check(&[row(Task::Two, "events", JIRD, 500.0)], &[Task::Two], false);
        assert_eq!(bars[0].value.map(f64::round), Some(250.0));
    }
}
