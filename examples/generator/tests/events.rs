//! What benches and examples rely on.
use std::path::Path;

use generate_events::{EVENTS_DEFAULT, SEED_DEFAULT, write_events, write_events_within};
use serde_json::Value;

fn events(count: u64, seed: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_events(&mut bytes, count, seed).expect("a Vec takes everything");
    bytes
}

fn parsed(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).expect("events are UTF-8");
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// The share of `events` that `holds`, in percent.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
fn percent(events: &[Value], holds: impl Fn(&Value) -> bool) -> f64 {
    100.0 * events.iter().filter(|event| holds(event)).count() as f64 / events.len() as f64
}

fn about(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual} is not within {tolerance} of {expected}");
}

#[test]
fn the_shares_and_the_mean_size_are_those_of_the_benchmark() {
    for seed in [SEED_DEFAULT, 1] {
        let bytes = events(50_000, seed);
        let all = parsed(&bytes);
        assert_eq!(all.len(), 50_000);
        about(percent(&all, |event| event["Elapsed"].as_f64().is_some_and(|elapsed| elapsed > 200.0)), 31.0, 0.3);
        about(percent(&all, |event| message(event).contains("/api/customers")), 18.0, 0.3);
        #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
        let megabytes = bytes.len() as f64 / 50_000.0 * EVENTS_DEFAULT as f64 / 1e6;
        about(megabytes, 490.0, 4.9);
    }
}

fn message(event: &Value) -> &str {
    event["Message"].as_str().expect("every event has a message")
}

#[test]
fn times_ascend_and_have_seven_digits() {
    let all = parsed(&events(5_000, 7));
    let times: Vec<&str> = all.iter().map(|event| event["@t"].as_str().expect("every event has a time")).collect();
    assert!(times.iter().all(|time| time.len() == "2024-03-05T06:59:58.0012345Z".len() && time.ends_with('Z')));
    assert!(times.is_sorted());
}

#[test]
fn times_fill_the_hours_that_are_asked_for() {
    for (count, hours) in [(5_000, 24), (5_000, 1), (10, 2)] {
        let mut bytes = Vec::new();
        write_events_within(&mut bytes, count, 7, hours).expect("a Vec takes everything");
        let all = parsed(&bytes);
        let last = all.last().and_then(|event| event["@t"].as_str()).expect("every event has a time");
        let (day, hour): (u64, u64) = (last[8..10].parse().unwrap(), last[11..13].parse().unwrap());
        let elapsed = (day - 5) * 24 + hour + 1 - 7;
        assert!(elapsed.abs_diff(hours) <= hours / 2 + 1, "{last} is {elapsed} hours after the start, and not {hours}");
    }
}

#[test]
fn the_example_has_something_of_everything() {
    let bytes = events(3_000, SEED_DEFAULT);
    let text = std::str::from_utf8(&bytes).expect("events are UTF-8");
    let all = parsed(&bytes);
    // Spelled with escaped slashes and a match all the same.
    let escaped = |line: &&str| line.contains(r#""Message":"GET \/api\/customers"#);
    assert!(text.lines().any(|line| escaped(&line)));
    // In the properties and not in the message, where a filter over the raw bytes would see it.
    let elsewhere =
        |event: &Value| !message(event).contains("/api/customers") && path(event).contains("/api/customers");
    assert!(all.iter().any(elsewhere));
    for needle in ["🌸", r"\ud83d\ude00", "Дмитрий", "東京", r"\r\n\tat ", r#"\""#, r"\\src", r"Zo\u00eb"] {
        assert!(text.contains(needle), "{needle}");
    }
    let elapsed = |event: &Value| event.get("Elapsed").cloned();
    assert!(all.iter().any(|event| elapsed(event).is_none()));
    assert!(all.iter().any(|event| elapsed(event).is_some_and(|elapsed| elapsed.is_u64())));
    assert!(all.iter().any(|event| event["Properties"]["OrderId"].as_u64().is_some_and(|id| id > 1 << 53)));
    assert!(all.iter().any(|event| event["Properties"]["Checksum"].as_u64().is_some_and(|sum| sum > 1 << 63)));
    assert!(all.iter().any(|event| event.get("@x").is_some()));
}

fn path(event: &Value) -> &str {
    event["Properties"]["RequestPath"].as_str().unwrap_or("")
}

#[test]
fn a_seed_gives_the_same_bytes_and_another_gives_others() {
    assert!(events(2_000, 5) == events(2_000, 5));
    assert!(events(2_000, 5) != events(2_000, 6));
    assert!(events(2_000, 5).starts_with(&events(1_000, 5)));
}

// The committed file is made by
//
//     cargo run --release -p generate-events -- --events 3000 -o examples/events.ndjson
#[test]
fn the_committed_example_is_what_the_generator_makes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../events.ndjson");
    let committed = std::fs::read(&path).expect("examples/events.ndjson is part of the repository");
    assert!(committed == events(3_000, SEED_DEFAULT), "make it again with the command above this test");
}
