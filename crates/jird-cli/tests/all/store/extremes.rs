//! What a few blocks of a store answer: the least and the greatest number of all events. And columns beside events in logs.

use super::{by_columns, fine, sealed};
use jird_store::{Store, Sync, WriterOptions};

/// The blocks that were read, and all that were looked at.
fn blocks(said: &str) -> (u32, u32) {
    let line = said.lines().find(|line| line.starts_with("store")).unwrap_or_default();
    let words: Vec<_> = line.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "blocks").unwrap_or_else(|| panic!("{said}"));
    (words[at - 3].parse().unwrap(), words[at - 1].parse().unwrap())
}

#[test]
fn few_blocks_have_the_least_and_the_greatest_number() {
    let folder = sealed("few-blocks", 20_000);
    let check = |file: &str, wanted: &[(&str, bool)]| {
        for (sql, is_of_few) in wanted {
            let (of_file, said, code) = folder.query(&[sql, file], b"");
            assert_eq!(code, 0, "{sql}: {said}");
            let (out, said, code) = folder.query(&[sql, "--store", "log", "--stats"], b"");
            assert_eq!((out, code), (of_file, 0), "{sql}: {said}");
            let (read, all) = blocks(&said);
            assert_eq!(read <= 4, *is_of_few, "{sql}: {read} of {all}");
        }
    };
    let wanted = [
        ("select max(Elapsed) as m", true),
        ("select min(Elapsed) as l, max(Elapsed) as m, max(\"@t\") as t", true),
        ("select max(Elapsed) - min(Elapsed) as range", true),
        ("select max(user.id) as most from stream", true),
        ("select max(m) as m from (select Elapsed as m from stream)", true),
        ("select max(Elapsed) as m, count(*) as n", false),
        ("select max(Elapsed) as m where Level = 'Error'", false),
        ("select max(Elapsed) filter (where Level = 'Error') as m", false),
        ("select Level, max(Elapsed) as m group by Level", false),
        ("select max(Elapsed * -1) as m", false),
        ("select max(Level) as m", false),
        ("select max(m) as m from (select Elapsed as m from stream limit 5)", false),
    ];
    check("a.ndjson", &wanted);
}

#[test]
fn columns_answer_beside_events_in_the_log() {
    let folder = sealed("few-in-log", 20_000);
    let store = Store::open(&folder.0.join("log")).unwrap();
    let writer = store.writer(&WriterOptions { sync: Sync::None, seal_bytes: 1 << 20 }).unwrap();
    let mut all = folder.text("a.ndjson");
    for index in 0..50 {
        let event =
            format!("{{\"@t\":\"2024-04-05T07:00:{index:02}.5Z\",\"Level\":\"Error\",\"Elapsed\":{}.5e3}}", index % 9);
        writer.append_event(event.as_bytes()).unwrap();
        all.push_str(&event);
        all.push('\n');
    }
    writer.finish().unwrap();
    let folder = folder.with("all.ndjson", all);
    assert!(fine(&folder, "store", &["info", "log"]).contains(", 50 events, "));
    for sql in [
        "select Level, avg(Elapsed) as a, max(Elapsed) as m group by Level order by Level",
        "select sum(Elapsed) as s, max(Elapsed) as m",
    ] {
        let (of_file, _, _) = folder.query(&[sql, "all.ndjson"], b"");
        let (out, said, code) = folder.query(&[sql, "--store", "log", "--stats"], b"");
        assert_eq!((out, code), (of_file, 0), "{sql}: {said}");
        assert!(by_columns(&said).0 > 5, "{sql}: {said}");
    }
    let (out, said, _) = folder.query(&["select max(Elapsed) as m", "--store", "log", "--stats"], b"");
    assert_eq!(out, "{\"m\":8500.0}\n");
    assert!(blocks(&said).0 <= 4, "{said}");
}
