//! `jird bench`, from outside.
#![cfg(feature = "query")]

use crate::folder::Folder;
use jird::Json;
use std::fs;
use std::process::Output;

/// A folder with 500 records, and a list of cases.
fn folder(name: &str) -> Folder {
    let record = |id: u32| format!("{{\"@t\":\"2024-03-05T0{}:00:00Z\",\"id\":{id},\"Level\":\"Info\"}}\n", id % 10);
    let cases = "# two\nselect id where id >= 400\n\nselect Level, count(*) as n group by Level;\n";
    Folder::new(name).with("a.ndjson", (0..500).map(record).collect::<String>()).with("cases", cases)
}

fn bench(folder: &Folder, args: &[&str]) -> Output {
    folder.jird("bench", args, b"")
}

#[test]
fn a_header_and_a_line_for_each_case() {
    let folder = folder("text");
    let output = bench(&folder, &["--cases", "cases", "--runs", "3", "--percentile", "75", "a.ndjson"]);
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["source      a.ndjson", "records     500"]);
    assert_eq!(lines[3], "time range  2024-03-05T00:00:00Z to 2024-03-05T09:00:00Z");
    assert_eq!(lines[5..7], ["runs        3", "percentile  75"]);
    assert!(lines[8].contains("p75 ms") && lines[8].ends_with("query"), "{text}");
    assert!(lines[9].contains(" 20.00 % ") && lines[9].ends_with("  select id where id >= 400"), "{text}");
    assert!(lines[10].ends_with("  select Level, count(*) as n group by Level") && lines.len() == 11, "{text}");
}

#[test]
fn the_same_as_json() {
    let folder = folder("json");
    let output =
        bench(&folder, &["--cases", "cases", "--runs", "4", "--json", "--time", "none", "a.ndjson", "a.ndjson"]);
    let found: Json = jird::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["records"], &found["runs"], &found["percentile"]), (&1000.into(), &4.into(), &90.into()));
    assert!(found["time_range"].is_null());
    let case = &found["cases"][0];
    assert_eq!((&case["query"], &case["hits"]), (&"select id where id >= 400".into(), &200.into()));
    let all: Vec<f64> = case["all_seconds"].as_array().unwrap().iter().map(|time| time.as_f64().unwrap()).collect();
    assert!(all.len() == 4 && all.is_sorted() && all[0] > 0.0);
    assert_eq!(case["seconds"], case["all_seconds"][3]);
    let rate = 1000.0 / case["seconds"].as_f64().unwrap();
    assert!((case["records_per_second"].as_f64().unwrap() / rate - 1.0).abs() < 1e-9);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let folder = folder("wrong");
    fs::write(folder.0.join("bad"), "select id\nselect from\n").unwrap();
    fs::write(folder.0.join("empty"), "# nothing\n").unwrap();
    fs::write(folder.0.join("b.ndjson"), "{\"id\":1}\n{\n").unwrap();
    let tries: [(&[&str], i32, &str); 5] = [
        (&["--cases", "bad", "a.ndjson"], 2, "bad:2"),
        (&["--cases", "empty", "a.ndjson"], 2, "there is no query in this file"),
        (&["--cases", "none", "a.ndjson"], 2, "none: No such file"),
        (&["--cases", "cases", "-"], 2, "name files"),
        (&["--cases", "cases", "b.ndjson"], 1, "b.ndjson:2"),
    ];
    for (args, code, part) in tries {
        let output = bench(&folder, args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(code) && said.contains(part) && output.stdout.is_empty(),
            "{args:?}: {said}"
        );
    }
}

#[test]
fn the_cases_over_events_have_as_many_hits_as_duckdb_finds() {
    let folder = folder("events");
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let (cases, events) = (root.join("bench/cases/events.sql"), root.join("examples/events.ndjson"));
    let output =
        bench(&folder, &["--cases", cases.to_str().unwrap(), "--runs", "1", "--json", events.to_str().unwrap()]);
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
    let found: Json = jird::from_slice(&output.stdout).unwrap();
    let hits: Vec<u64> = found["cases"].as_array().unwrap().iter().map(|case| case["hits"].as_u64().unwrap()).collect();
    assert_eq!(hits, [930, 540, 1, 1, 6, 197, 191, 26, 6, 2, 353, 10, 10, 391]);
}

#[test]
fn groups_in_another_order_are_the_same_answer() {
    let folder = folder("groups").with("groups", "select id, count(*) as n group by id\n");
    let output = bench(&folder, &["--cases", "groups", "--runs", "30", "a.ndjson", "a.ndjson"]);
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}

/// Of a store, a run may read only a part, and not the same part each time.
#[cfg(feature = "convert")]
#[test]
fn a_store_is_measured_as_well() {
    let event = |id: u32| format!("{{\"@t\":\"2024-03-05T0{}:00:00Z\",\"id\":{id}}}\n", id / 6000);
    let folder = Folder::new("store")
        .with("a.ndjson", (0..60_000).map(event).collect::<String>())
        .with("cases", "select max(id) as m, min(id) as l\nselect id order by \"@t\" desc limit 3\n");
    assert_eq!(folder.jird("ingest", &["log", "a.ndjson"], b"").status.code(), Some(0));
    let output = bench(&folder, &["--cases", "cases", "--runs", "10", "log"]);
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("records     60000\n"), "{text}");
    assert!(text.contains("2024-03-05T00:00:00Z to 2024-03-05T09:00:00Z"), "{text}");
}
