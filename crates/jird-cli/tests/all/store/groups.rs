//! Groups by few texts, by their codes, and by small integers; and still as those of a file.

use super::fine;
use crate::folder::Folder;
use jird_store::{Store, Sync, WriterOptions};
use std::fmt::Write;

/// A level that is missing, null, spelled with an escape or new in some events; an application; a status that is missing or
/// null in some; now and then a number in place of a level, and a text or a decimal in place of a status.
fn events(count: u32, has_numbers: bool) -> String {
    let mut text = String::new();
    for number in 0..count {
        let time = format!("2024-04-05T{:02}:{:02}:{:02}Z", number / 3600, number / 60 % 60, number % 60);
        let level = match number % 101 {
            7 => String::new(),
            8 => ",\"l\":null".to_owned(),
            9 => ",\"l\":\"Err\\u006fr\"".to_owned(),
            10 if number > count / 2 => format!(",\"l\":\"new {}\"", number % 7),
            11 if has_numbers => format!(",\"l\":{}.0", number % 3),
            rest => format!(",\"l\":{:?}", ["Debug", "Error", "Zoë \"x\"", ""][rest as usize % 4]),
        };
        let status = match number % 103 {
            7 => String::new(),
            8 => ",\"s\":null".to_owned(),
            9 if has_numbers => format!(",\"s\":{}", ["\"none\"", "200.5", "2e2"][number as usize % 3]),
            rest => format!(",\"s\":{}", [200, 0, 404, 65535, 500][rest as usize % 5]),
        };
        let app = ["Web", "Batch", "Mail"][number as usize / 50 % 3];
        let _ =
            writeln!(text, "{{\"@t\":{time:?}{level}{status},\"n\":{}.5,\"p\":{{\"a\":\"{app}\"}}}}", number % 1000);
    }
    text
}

fn stored(name: &str, lines: String) -> Folder {
    let folder = Folder::new(name).with("a.ndjson", lines);
    fine(&folder, "ingest", &["log", "a.ndjson", "--sync", "none"]);
    fine(&folder, "store", &["compact", "log"]);
    folder
}

#[test]
fn groups_by_codes_are_those_of_the_texts() {
    let queries = [
        ("select l, count(*) as c group by l", true),
        ("select l, count(*) as c, avg(n) as a, max(n) as m group by l having c > 20", true),
        ("select p.a, l, sum(n) as s, count(*) filter (where n > 500) as c group by p.a, l", true),
        ("select distinct l, p.a from stream", true),
        ("select count(distinct p.a) as c from stream", true),
        ("select l, median(n) as m where n > 100 group by l", true),
        // The order of the rows matters, and in the second even that of the batches.
        ("select l, array_agg(n) as all group by l having count(*) < 40", true),
        ("select p.a, l, stddev(n) as s, approx_percentile_cont(n, 0.95) as p group by p.a, l", true),
        ("select p.a, count(l) as c group by p.a", true),
        ("select a.l, count(*) as c from (select l, n from stream where n < 700) a group by a.l", true),
        ("select s, count(*) as c group by s", true),
        ("select l, s, p.a, count(*) as c, sum(n) as m, min(s + n) as o group by l, s, p.a", false),
        ("select s, l, p.a, count(*) as c, sum(n) as m group by s, l, p.a having c > 3", true),
        ("select distinct s from stream where n > 10", true),
        ("select s, count(*) as c where s > 200 or n < 3 group by s", true),
        ("select s, count(*) as c where s + n > 200 group by s", false),
        ("select s + 1 as t, count(*) as c group by t", false),
        ("select sum(s) as t, count(distinct s) as d from stream", true),
        ("select l, count(*) as c where n + 1 > 100 group by l", false),
        ("select l, min(l) as m group by l", false),
        // The scan computes with the texts.
        ("select l, max(length(l)) as m, sum(length(l)) as s, count(distinct upper(l)) as d group by l", false),
        ("select k, sum(n) as s from (select l as k, length(l) as n from stream) t group by k", false),
        ("select l, sum(length(p.a)) as s group by l", true),
        ("select l, count(*) as c where length(l) > 3 or n > 990 group by l", false),
        ("select upper(l) as u, count(*) as c group by u", false),
        ("select l, p.a, count(*) as c group by grouping sets ((l), (p.a))", false),
        ("select n, l, count(*) as c group by n, l having c > 2", false),
    ];
    for has_numbers in [false, true] {
        let folder = stored(&format!("codes-{has_numbers}"), events(40_000, has_numbers));
        for (sql, has_codes) in queries {
            let sorted = |out: String| {
                let mut lines: Vec<_> = out.lines().map(str::to_owned).collect();
                lines.sort();
                lines
            };
            let (of_file, said, code) = folder.query(&[sql, "a.ndjson"], b"");
            assert_eq!(code, 0, "{sql}: {said}");
            for threads in ["1", "2", "5"] {
                let (out, said, code) = folder.query(&[sql, "--store", "log", "--threads", threads], b"");
                assert_eq!((sorted(out), code), (sorted(of_file.clone()), 0), "{sql}: {said}");
            }
            let (plan, said, code) = folder.query(&[&format!("explain {sql}"), "--store", "log"], b"");
            assert_eq!(code, 0, "{said}");
            // A field with values of other kinds has no such column.
            assert!(has_numbers || plan.contains("GroupByCodes") == has_codes, "{sql}: {plan}");
        }
    }
}

#[test]
fn values_in_logs_have_groups_too() {
    let folder = stored("codes-in-log", events(20_000, false));
    let store = Store::open(&folder.0.join("log")).unwrap();
    let writer = store.writer(&WriterOptions { sync: Sync::None, seal_bytes: 1 << 20 }).unwrap();
    let mut all = folder.text("a.ndjson");
    for number in 0..900 {
        let status = [1_i64 << 52, -1, 0, 70_000, i64::from(i32::MIN)][number as usize % 5];
        let event = format!(
            "{{\"@t\":\"2024-04-06T00:00:00Z\",\"l\":\"of log {}\",\"s\":{status},\"n\":{number}}}",
            number % 300
        );
        writer.append_event(event.as_bytes()).unwrap();
        all.push_str(&event);
        all.push('\n');
    }
    writer.finish().unwrap();
    let folder = folder.with("all.ndjson", all);
    for sql in [
        "select l, p.a, count(*) as c, sum(n) as m group by l, p.a order by l, p.a",
        "select s, count(*) as c, sum(n) as m group by s order by s",
        "select l, s, count(*) as c group by l, s order by l, s",
    ] {
        let (of_file, _, _) = folder.query(&[sql, "all.ndjson"], b"");
        let (out, said, code) = folder.query(&[sql, "--store", "log"], b"");
        assert_eq!((out, code), (of_file, 0), "{sql}: {said}");
        let (plan, _, _) = folder.query(&[&format!("explain {sql}"), "--store", "log"], b"");
        assert!(plan.contains("GroupByCodes"), "{sql}: {plan}");
    }
}

/// Texts that are few in the newest spans, and many before: with little memory they are put aside, as those of a file.
#[test]
fn codes_take_memory_of_the_query() {
    let mut lines = String::new();
    for number in 0..60_000 {
        let text = if number < 50_000 { format!("{number:0>64}") } else { format!("few {}", number % 3) };
        let _ = writeln!(lines, "{{\"@t\":{number},\"l\":{text:?}}}");
    }
    let folder = Folder::new("codes-memory").with("a.ndjson", lines.as_str());
    let store = Store::create(&folder.0.join("log"), &jird_store::Settings::default()).unwrap();
    let middle = lines[..lines.len() / 2].rfind('\n').unwrap() + 1;
    for part in [&lines[..middle], &lines[middle..]] {
        let writer = store.writer(&WriterOptions { sync: Sync::None, seal_bytes: 1 << 30 }).unwrap();
        for line in part.lines() {
            writer.append_event(line.as_bytes()).unwrap();
        }
        writer.seal().unwrap();
        writer.finish().unwrap();
    }
    let sql = "select l, count(*) as c group by l order by c desc, l limit 5";
    let (of_file, _, _) = folder.query(&[sql, "a.ndjson"], b"");
    for limit in ["8MB", "1GB"] {
        let (out, said, code) = folder.query(&[sql, "--store", "log", "--memory-limit", limit, "--threads", "2"], b"");
        assert_eq!((out, code), (of_file.clone(), 0), "{limit}: {said}");
    }
}
