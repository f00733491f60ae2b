//! `jird ingest`, `jird store`, and queries over stores.
#![cfg(all(feature = "query", feature = "convert"))]
#![expect(clippy::format_collect, reason = "texts to test, not to hurry")]

mod copies;
mod damage;
mod delete;
mod extremes;
#[cfg(unix)]
mod follow;
mod future;
mod groups;
mod resume;
mod trouble;
mod watch;

use crate::folder::{Folder, gzip, words};

/// Events in order of time, one a minute from midnight, with a field of each kind.
fn events(count: u32) -> String {
    (0..count)
        .map(|index| {
            let (day, hour, minute) = (5 + index / 1440, index / 60 % 24, index % 60);
            format!(
                "{{\"@t\":\"2024-03-{day:02}T{hour:02}:{minute:02}:00.5Z\",\"Level\":\"{}\",\"Message\":\"event {index}\",\
                 \"Elapsed\":{},\"id\":\"r-{index:05}\",\"user\":{{\"id\":{}}}}}\n",
                ["Debug", "Error", "Warning"][index as usize % 3],
                f64::from(index) / 4.0,
                index % 7,
            )
        })
        .collect()
}

fn jird(folder: &Folder, command: &str, args: &[&str], input: &[u8]) -> (String, String, i32) {
    let output = folder.jird(command, args, input);
    let said = words(&output);
    (String::from_utf8(output.stdout).unwrap(), said, output.status.code().unwrap())
}

#[track_caller]
fn fine(folder: &Folder, command: &str, args: &[&str]) -> String {
    // How much was taken is reported, unless switched off.
    let quiet = if command == "ingest" { &["--quiet"][..] } else { &[] };
    let (out, said, code) = jird(folder, command, &[args, quiet].concat(), b"");
    assert_eq!((code, said.as_str()), (0, ""), "{command} {args:?}");
    out
}

/// A folder with the file `a.ndjson` and the store `log` of the same events.
fn folder(name: &str, count: u32) -> Folder {
    let folder = Folder::new(name).with("a.ndjson", events(count));
    fine(&folder, "ingest", &["log", "a.ndjson"]);
    folder
}

/// The same, where all events are in span files.
fn sealed(name: &str, count: u32) -> Folder {
    let folder = Folder::new(name).with("a.ndjson", events(count));
    fine(&folder, "ingest", &["log", "a.ndjson"]);
    fine(&folder, "store", &["compact", "log"]);
    folder
}

#[test]
fn a_store_answers_as_the_file_does_from_which_it_came() {
    let folder = folder("answers", 3000);
    for compression in ["none", "lz4", "zstd"] {
        let store = format!("log-{compression}");
        let options = [&store, "a.ndjson", "--compression", compression, "--column", "Elapsed,user.id"];
        fine(&folder, "ingest", &options);
        fine(&folder, "store", &["compact", &store]);
    }
    for sql in [
        "select Message where Elapsed > 700",
        "select * where id = 'r-01234'",
        "select * where user.id = 3 and Level = 'Error' limit 5",
        "select Message where match(Message, 'event 29..$')",
        "select Message where Message like '%77%' and not (Elapsed < 100)",
        "select count(*) as n",
        "select Level, count(*) as n, avg(Elapsed) as ms, min(id) as first group by Level order by Level",
        "select \"@t\", id order by \"@t\" limit 3",
        "select \"@t\", id where Elapsed > 10 order by \"@t\" desc limit 3",
        "select \"@t\", id where id = 'r-00007' order by \"@t\" desc limit 3",
        "select time_bucket('6h', \"@t\") as h, count(*) as n group by h order by h",
        "select a.id from stream a join stream b on a.id = b.id where a.user.id = 5 order by a.id limit 4",
        "select missing where missing is null limit 1",
        "select max(Elapsed) - min(Elapsed) as d where user.id in (1, 2)",
    ] {
        let (wanted, _, code) = folder.query(&[sql, "a.ndjson"], b"");
        assert!(code == 0 && !wanted.is_empty(), "{sql}");
        for store in ["log", "log-none", "log-lz4", "log-zstd"] {
            for threads in ["1", "2"] {
                let (out, said, code) = folder.query(&[sql, "--store", store, "--threads", threads], b"");
                assert_eq!((out.as_str(), code), (wanted.as_str(), 0), "{sql} {store}: {said}");
            }
        }
        let quoted = format!("{sql} ").replace("from stream", "from 'log'").replace("join stream", "join 'log'");
        let named = if sql.contains("from") { quoted } else { sql.to_owned() };
        assert_eq!(folder.query(&[&named, "log"], b"").0, wanted, "{sql} as an argument");
    }
}

#[test]
fn late_and_early_events_are_found_by_the_next_query() {
    let folder = folder("late", 100);
    let late =
        "{\"@t\":\"2024-03-05T00:10:30.0Z\",\"id\":\"late\"}\n{\"@t\":\"2031-01-01T00:00:00.0Z\",\"id\":\"early\"}\n";
    let (_, said, code) = jird(&folder, "ingest", &["log", "-q"], late.as_bytes());
    assert_eq!((code, said.as_str()), (0, ""));
    let ids = fine(&folder, "query", &["select id", "--store", "log"]);
    let ids: Vec<_> = ids.lines().collect();
    assert_eq!(ids.len(), 102);
    assert_eq!(ids[10..13], [r#"{"id":"r-00010"}"#, r#"{"id":"late"}"#, r#"{"id":"r-00011"}"#]);
    assert_eq!(ids[101], r#"{"id":"early"}"#);
    let newest = fine(&folder, "query", &["select id order by \"@t\" desc limit 2", "--store", "log"]);
    assert_eq!(newest, "{\"id\":\"early\"}\n{\"id\":\"r-00099\"}\n");
}

#[test]
fn a_window_has_the_events_from_its_start_to_before_its_end() {
    let folder = folder("window", 600);
    let count = |more: &[&str]| {
        fine(
            &folder,
            "query",
            &[&["select count(id) as n, min(id) as a, max(id) as b", "--store", "log"], more].concat(),
        )
    };
    assert_eq!(
        count(&["--since", "2024-03-05T01:00:00Z", "--until", "2024-03-05T02:00:00.5Z"]),
        "{\"n\":60,\"a\":\"r-00060\",\"b\":\"r-00119\"}\n"
    );
    assert_eq!(count(&["--since", "2024-03-05T09:59:00.5Z"]), "{\"n\":1,\"a\":\"r-00599\",\"b\":\"r-00599\"}\n");
    assert_eq!(count(&["--since", "1h"]), "{\"n\":0,\"a\":null,\"b\":null}\n");
    for (args, reason) in [
        (&["--since", "soon", "--store", "log"][..], "write a time such as"),
        (&["--since", "1h", "--until", "2h", "--store", "log"], "not before --until"),
        (&["--since", "1h", "a.ndjson"], "events of a store"),
        (&["--store", "nowhere"], "no event store is there"),
    ] {
        let (_, said, code) = folder.query(&[&["select id"], args].concat(), b"");
        assert!(code == 2 && said.contains(reason), "{args:?}: {said}");
    }
}

#[test]
fn bad_lines_stop_or_are_left_out_or_set_aside() {
    let text = "{\"id\":1}\n\n  {\"id\": 2}\nnot json\n{\"id\":3}\n{\"id\":\"\u{1}\"}\n";
    let folder = Folder::new("bad").with("bad.ndjson", text);
    let ids = |store: &str| fine(&folder, "query", &["select id", "--store", store]);
    let (_, said, code) = jird(&folder, "ingest", &["stops", "bad.ndjson", "--quiet"], b"");
    assert_eq!(code, 1);
    assert!(said.starts_with("jird: bad.ndjson:4:2: ") && said.contains("--on-error"), "{said}");
    assert_eq!(ids("stops"), "{\"id\":1}\n{\"id\":2}\n");
    let (_, said, code) = jird(&folder, "ingest", &["skips", "bad.ndjson", "--on-error", "skip"], b"");
    assert!(code == 1 && said.contains("2 bad records left out"), "{said}");
    assert!(said.contains("note: 3 events have no time in `/@t`"), "{said}");
    assert_eq!(ids("skips"), "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n");
    let (_, _, code) = jird(&folder, "ingest", &["sets", "bad.ndjson", "--on-error", "quarantine=q.ndjson"], b"");
    assert_eq!(code, 1);
    let aside = folder.text("q.ndjson");
    let lines: Vec<_> = aside.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].contains("\"line\":4,\"offset\":22,") && lines[0].contains("\"raw\":\"not json\""), "{aside}");
    assert!(lines[1].contains("\"line\":6,"), "{aside}");
    assert_eq!(ids("sets"), ids("skips"));
}

#[test]
fn compressed_files_and_pipes_are_ingested_and_long_lines_are_bad() {
    let text = events(50);
    let long = format!("{text}{{\"id\":\"{}\"}}\n{text}", "x".repeat(5000));
    let folder = Folder::new("inputs").with("a.ndjson.gz", gzip(&text)).with("long.ndjson", long);
    fine(&folder, "ingest", &["log", "a.ndjson.gz"]);
    let (_, said, code) = jird(&folder, "ingest", &["log", "-", "-q"], text.as_bytes());
    assert_eq!((code, said.as_str()), (0, ""));
    assert_eq!(fine(&folder, "query", &["select count(*) as n", "--store", "log"]), "{\"n\":100}\n");
    let args = ["long", "long.ndjson", "--record-limit", "1000", "--on-error", "skip", "--quiet"];
    let (_, said, code) = jird(&folder, "ingest", &args, b"");
    assert_eq!((code, said.as_str()), (1, ""));
    let (_, said, code) = jird(&folder, "ingest", &["stop", "long.ndjson", "--record-limit", "1000"], b"");
    assert!(code == 1 && said.contains("long.ndjson:51:1") && said.contains("1000 bytes"), "{said}");
    assert_eq!(fine(&folder, "query", &["select count(*) as n", "--store", "long"]), "{\"n\":100}\n");
}

#[test]
fn the_order_of_time_needs_no_sort() {
    let folder = folder("sorted", 200);
    let plan = fine(&folder, "query", &["explain select id order by \"@t\" limit 5", "--store", "log"]);
    assert!(!plan.contains("Sort"), "{plan}");
    let plan = fine(&folder, "query", &["explain select id order by id limit 5", "--store", "log"]);
    assert!(plan.contains("Sort"), "{plan}");
    // A text of another width is not in the order of time.
    let (_, _, code) = jird(&folder, "ingest", &["log"], b"{\"@t\":\"2024-03-05T00:00:00Z\",\"id\":\"odd\"}\n");
    assert_eq!(code, 0);
    let plan = fine(&folder, "query", &["explain select id order by \"@t\" limit 5", "--store", "log"]);
    assert!(plan.contains("Sort"), "{plan}");
}

#[test]
fn blocks_without_a_match_are_skipped_and_told() {
    let folder = sealed("skipped", 20_000);
    let stats = |sql: &str| {
        let (out, said, code) = folder.query(&[sql, "--store", "log", "--stats"], b"");
        assert_eq!(code, 0, "{said}");
        let store = said.lines().find(|line| line.starts_with("store")).unwrap_or_default().to_owned();
        (out, store)
    };
    let (out, store) = stats("select Message where id = 'r-12345'");
    assert_eq!(out, "{\"Message\":\"event 12345\"}\n");
    let read: u32 = store.split_whitespace().nth(2).and_then(|word| word.parse().ok()).unwrap();
    let all: u32 = store.split_whitespace().nth(4).and_then(|word| word.parse().ok()).unwrap();
    assert!(all >= 8 && read <= all / 2, "{store}");
    let (out, store) = stats("select Message where id = 'nobody'");
    assert!(out.is_empty() && !store.contains("by values 0"), "{store}");
    let info = fine(&folder, "store", &["info", "log"]);
    assert!(info.contains("queries asked of") && info.contains("were left out, by"), "{info}");
}

#[test]
fn an_explanation_says_which_blocks_of_a_store_a_query_reads() {
    let folder = sealed("foreseen", 20_000);
    let number = |line: &str, at: usize| -> u64 {
        line.split_whitespace().nth(at).and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{line}"))
    };
    let mut reads = Vec::new();
    for sql in [
        "select Message where id = 'r-12345'",
        "select Message where id = 'nobody'",
        "select Message, id where search('12345')",
        "select count(*) as n where \"@t\" < '2024-03-05T00:10:00.000Z'",
        "select max(Elapsed) as most where \"@t\" between '2024-03-05T00:10:00.000Z' and '2024-03-05T00:20:00.000Z'",
        "select id, Message order by \"@t\" desc limit 3",
        "select Level, count(*) as n group by Level",
        "select min(\"@t\") as first, max(\"@t\") as last",
        "select a.id from stream a join stream b on a.id = b.id where a.id = 'r-12345' and b.Elapsed < 10",
    ] {
        let plan = fine(&folder, "query", &[&format!("explain {sql}"), "--store", "log"]);
        let (_, said, code) = folder.query(&[sql, "--store", "log", "--stats"], b"");
        assert_eq!(code, 0, "{sql}: {said}");
        let blocks = plan.lines().filter(|line| line.starts_with("  blocks"));
        let foreseen: Vec<u64> = blocks.map(|line| number(line, 1)).collect();
        // A query reads a block once, whichever of its scans want it.
        let read = said.lines().find(|line| line.starts_with("store")).map_or(0, |line| number(line, 2));
        assert!(*foreseen.iter().max().unwrap() <= read && read <= foreseen.iter().sum(), "{sql}:\n{plan}\n{said}");
        reads.push(read);
    }
    let all = reads[6];
    assert!(all >= 8 && reads[1] < all / 2 && reads[3] < all && reads[4] < all && reads[5] < all, "{reads:?}");
    let plan = fine(&folder, "query", &["explain select id order by \"@t\" desc limit 3", "--store", "log"]);
    assert!(plan.contains("at first, of the newest events"), "{plan}");
    assert!(reads[7] <= 2, "{reads:?}");
    let plan = fine(&folder, "query", &["explain select id where id = 'nobody'", "--store", "log"]);
    assert!(plan.contains("; skipped: ") && plan.contains(" by values"), "{plan}");
}

/// The blocks that columns answered, and what `--stats` says of the store.
fn by_columns(said: &str) -> (u32, String) {
    let store = said.lines().find(|line| line.starts_with("store")).unwrap_or_default().to_owned();
    let before = store.split(" answered by columns").next().unwrap_or_default();
    (before.split_whitespace().last().and_then(|word| word.parse().ok()).unwrap(), store)
}

#[test]
fn columns_answer_where_a_query_looks_at_nothing_else() {
    let folder = Folder::new("columns-answer").with("a.ndjson", events(20_000));
    fine(&folder, "ingest", &["log", "a.ndjson", "--column", "Elapsed,Level,user.id"]);
    fine(&folder, "store", &["compact", "log"]);
    let answered = |sql: &str| {
        let (of_file, said, code) = folder.query(&[sql, "a.ndjson"], b"");
        assert_eq!(code, 0, "{sql}: {said}");
        let (out, said, code) = folder.query(&[sql, "--store", "log", "--stats"], b"");
        assert_eq!(code, 0, "{sql}: {said}");
        assert_eq!(out, of_file, "{sql}");
        by_columns(&said)
    };
    for sql in [
        "select Level, count(*) as n, avg(Elapsed) as ms group by Level order by Level",
        "select user.id as id, max(Elapsed) as most group by user.id order by id",
        "select Elapsed, Level where Level = 'Error' and Elapsed > 4000 limit 3",
        "select count(*) as n where user.id = 3",
        "select Elapsed order by Elapsed desc limit 5",
    ] {
        let (blocks, store) = answered(sql);
        assert!(blocks >= 1, "{sql}: {store}");
    }
    let (blocks, store) = answered("select Level, count(distinct id) as n group by Level order by Level");
    assert_eq!(blocks, 0, "{store}");
    let info = fine(&folder, "store", &["info", "log"]);
    assert!(info.contains("columns answered for"), "{info}");
    // A field of two kinds is reported with the lines that have them.
    let (_, said, _) = folder.query(&["select sum(Level) as n", "--store", "log"], b"");
    let (_, of_file, _) = folder.query(&["select sum(Level) as n", "a.ndjson"], b"");
    assert_eq!(said.replace("log", "a.ndjson"), of_file);
}

#[test]
fn a_field_that_queries_look_for_has_a_column_in_later_spans() {
    let folder = Folder::new("columns-asked").with("a.ndjson", events(4000));
    fine(&folder, "ingest", &["log", "a.ndjson"]);
    fine(&folder, "store", &["compact", "log"]);
    let sql = "select count(*) as n where Message like '%7%'";
    let answered = || {
        let (out, said, code) = folder.query(&[sql, "--store", "log", "--stats"], b"");
        assert_eq!(code, 0, "{said}");
        (out, by_columns(&said).0)
    };
    let (of_all, blocks) = answered();
    assert_eq!(blocks, 0);
    let sevens = (0..4000).filter(|id| id.to_string().contains('7')).count();
    // Of a time of their own: events among those of an older span are answered for together with them.
    let ingested = |name: &str, start: u32| {
        let at_night = |id: u32| format!("{{\"@t\":{},\"Message\":\"{id} at night\"}}\n", start + id);
        std::fs::write(folder.0.join(name), (0..4000).map(at_night).collect::<String>()).unwrap();
        fine(&folder, "ingest", &["log", name]);
        fine(&folder, "store", &["compact", "log"]);
        answered()
    };
    // Two queries are not many.
    let (_, blocks) = ingested("b.ndjson", 0);
    assert_eq!(blocks, 0);
    fine(&folder, "query", &[sql, "--store", "log"]);
    let (out, blocks) = ingested("c.ndjson", 5000);
    let n = |out: &str| out.split([':', '}']).nth(1).unwrap().parse::<usize>().unwrap();
    assert!(blocks > 0 && n(&out) == n(&of_all) + 2 * sevens, "{out} {of_all} {sevens}");
}

#[test]
fn sums_of_columns_are_those_of_the_texts() {
    let number = |index: u32, more: &str| match index % 9 {
        0 => "0.1".to_owned(),
        1 => "1.50".to_owned(),
        2 => format!("{index}"),
        3 => "-2.5e-7".to_owned(),
        4 => "null".to_owned(),
        5 => format!("{index}.{}", index * 7919),
        6 => "-0.0".to_owned(),
        7 if index % 90 == 7 => more.to_owned(),
        _ => "9007199254740992".to_owned(),
    };
    // The last one is not what is written for any double.
    for (name, more, rep) in [("decimals", "0.3", "typed"), ("digits", "0.30000000000000000001", "json")] {
        let line = |index| format!("{{\"@t\":{index},\"n\":{},\"g\":\"{}\"}}\n", number(index, more), index % 4);
        let lines: String = (0..4000).map(line).chain(["{\"@t\":1,\"g\":\"0\"}\n".to_owned()]).collect();
        let folder = Folder::new(&format!("sums-{name}")).with("a.ndjson", lines);
        fine(&folder, "ingest", &["log", "a.ndjson"]);
        fine(&folder, "store", &["compact", "log"]);
        for sql in [
            "select sum(n) as s, avg(n) as a, sum(distinct n) as d",
            "select g, sum(n) as s, avg(n) as a from stream group by g order by g",
            "select g, avg(n) as a from stream where n > 0.1 and n < 1e15 group by g order by g",
            "select count(*) as c where n >= 0.1 and n < 0.30000000000000000001 or n = 1.5",
            "select count(*) as c where n in (0.10, 9007199254740992.0, -25e-8)",
            "select n where n > 0.1 and n < 2 limit 5",
        ] {
            let of_file = folder.query(&[sql, "a.ndjson"], b"");
            let of_store = folder.query(&[sql, "--store", "log"], b"");
            assert_eq!(of_store, of_file, "{name}: {sql}");
        }
        let explained = fine(&folder, "query", &["explain select sum(n) as s", "--store", "log"]);
        assert!(explained.contains(&format!("(stream.{rep}:/n")), "{name}: {explained}");
    }
}

#[test]
fn a_store_is_compacted_verified_exported_and_emptied() {
    let folder = folder("care", 500);
    for part in 0..3 {
        let more = events(500).replace("event", &format!("part {part}"));
        let (_, said, code) = jird(&folder, "ingest", &["log", "-q"], more.as_bytes());
        assert_eq!((code, said.as_str()), (0, ""));
    }
    let all = fine(&folder, "query", &["select *", "--store", "log"]);
    assert_eq!(all.lines().count(), 2000);
    assert!(fine(&folder, "store", &["info", "log"]).contains("2000"));
    fine(&folder, "store", &["verify", "log"]);
    fine(&folder, "store", &["compact", "log"]);
    fine(&folder, "store", &["verify", "log"]);
    assert_eq!(fine(&folder, "query", &["select *", "--store", "log"]), all);
    assert_eq!(fine(&folder, "store", &["export", "log"]), all);
    for quiet in [&["compact"][..], &["verify"], &["verify", "--repair"], &["retain", "--older-than", "9000d"]] {
        assert_ne!(fine(&folder, "store", &[quiet, &["log"]].concat()), "", "{quiet:?}");
        assert_eq!(fine(&folder, "store", &[quiet, &["log", "--quiet"]].concat()), "", "{quiet:?}");
    }
    fine(&folder, "store", &["retain", "log", "--older-than", "1d"]);
    assert_eq!(fine(&folder, "query", &["select count(*) as n", "--store", "log"]), "{\"n\":0}\n");
}

/// Changes one byte of the only span file of a store, at this many bytes after a text in it.
fn damage(folder: &Folder, after: &[u8], bytes: usize) {
    let span = std::fs::read_dir(folder.0.join("log"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension == "arrow"))
        .unwrap();
    let mut text = std::fs::read(&span).unwrap();
    let at = text.windows(after.len()).position(|window| window == after).unwrap();
    text[at + bytes] ^= 1;
    std::fs::write(&span, text).unwrap();
}

#[test]
fn damage_is_told_and_the_rest_is_read() {
    let folder = sealed("damage", 5000);
    damage(&folder, b"event 100\"", 0);
    let (out, said, code) = folder.query(&["select id", "--store", "log"], b"");
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("damaged"), "{said}");
    let found = out.lines().count();
    assert!(0 < found && found < 5000 && out.contains("r-04999"), "{found}");
    let (_, said, code) = jird(&folder, "store", &["verify", "log"], b"");
    assert!(code == 1 && said.contains("damaged"), "{said}");
}

#[test]
fn damage_is_told_if_it_is_read_and_columns_and_documents_stand_in_for_each_other() {
    let answers = |name: &str, after: &[u8], bytes: usize| {
        let folder = Folder::new(name).with("a.ndjson", events(5000));
        fine(&folder, "ingest", &["log", "a.ndjson", "--column", "Elapsed,Level"]);
        fine(&folder, "store", &["compact", "log"]);
        damage(&folder, after, bytes);
        let (_, said, code) = jird(&folder, "store", &["verify", "log"], b"");
        assert!(code == 1 && said.contains("damaged"), "{said}");
        move |sql: &str| {
            let of_file = folder.query(&[sql, "a.ndjson"], b"").0;
            let (out, said, code) = folder.query(&[sql, "--store", "log"], b"");
            (out == of_file, said, code)
        }
    };
    let levels = "select Level, count(*) as n, sum(Elapsed) as ms group by Level order by Level";
    let ids = "select Level, min(id) as id, sum(Elapsed) as ms group by Level order by Level";
    // The documents of the first block.
    let ask = answers("damage-documents", b"event 100\"", 0);
    assert_eq!(ask(levels), (true, String::new(), 0));
    for sql in [ids, "select count(*) as n where match(Message, 'event 100$') or Level = 'Error'"] {
        let (is_same, said, code) = ask(sql);
        assert!(!is_same && code == 1 && said.contains("damaged"), "{sql}: {said}");
    }
    // What follows the documents of the last block: the first of its columns.
    let last = b"\"Message\":\"event 4999\",\"Elapsed\":1249.75,\"id\":\"r-04999\",\"user\":{\"id\":1}}\n";
    let ask = answers("damage-columns", last, last.len() + 100);
    let (is_same, said, code) = ask(levels);
    assert!(is_same && code == 1 && said.contains("its documents are read in their place"), "{said}");
    assert_eq!(ask("select Level, min(id) as id group by Level order by Level"), (true, String::new(), 0));
}

#[test]
fn lines_of_a_store_are_places_in_the_order_of_time() {
    let folder = Folder::new("lines").with("a.ndjson", events(20_000));
    fine(&folder, "ingest", &["log", "a.ndjson", "--column", "Elapsed,Level"]);
    fine(&folder, "store", &["compact", "log"]);
    for sql in [
        "select _line as line, id where Elapsed > 4000 and Level = 'Error'",
        "select _line as line where Level = 'Error'",
        "select _line as line where id = 'r-13579'",
        "select _line as line, \"@t\" where Elapsed < 4900 order by \"@t\" desc limit 3",
        "select _line as line, _file as file, Message where match(Message, 'event 1.*77$')",
        "select max(_line) as n, count(*) as c group by Level order by Level",
    ] {
        let (wanted, _, code) = folder.query(&[sql, "a.ndjson"], b"");
        assert!(code == 0 && !wanted.is_empty(), "{sql}");
        for threads in ["1", "2"] {
            let (out, said, code) = folder.query(&[sql, "--store", "log", "--threads", threads], b"");
            assert_eq!((out.replace("\"log\"", "\"a.ndjson\""), code), (wanted.clone(), 0), "{sql}: {said}");
        }
    }
    let since = ["--since", "2024-03-06T00:00:00.5Z"];
    let sql = "select _line as line, id where Elapsed >= 3000 limit 1";
    let out = fine(&folder, "query", &[&[sql, "--store", "log"], &since[..]].concat());
    assert_eq!(out, format!("{{\"line\":{},\"id\":\"r-12000\"}}\n", 12_000 - 1440 + 1));
}

#[test]
fn old_events_go_by_age_and_by_size_and_a_dry_run_only_says_so() {
    let folder = Folder::new("keep-size");
    // Three spans of a day each.
    for day in 5..8 {
        let lines: String = (0..2000)
            .map(|index| format!("{{\"@t\":\"2024-03-{day:02}T{:02}:00:00Z\",\"id\":{index}}}\n", index / 100))
            .collect();
        let name = format!("{day}.ndjson");
        std::fs::write(folder.0.join(&name), lines).unwrap();
        fine(&folder, "ingest", &["log", &name]);
        // Seals the log; spans of other days are not merged while one of them is large enough on its own.
        let writer = jird_store::Store::open(&folder.0.join("log"))
            .unwrap()
            .writer(&jird_store::WriterOptions::default())
            .unwrap();
        writer.seal().unwrap();
        writer.finish().unwrap();
    }
    let info = fine(&folder, "store", &["info", "log", "--json"]);
    let info = jird::parse(info.as_bytes()).unwrap();
    let info = info.root();
    let number = |value: jird::Value<'_>, key: &str| value.get(key).unwrap().as_u64().unwrap();
    let spans: Vec<_> = info.get("spans").unwrap().elements().collect();
    let sizes: Vec<u64> = spans.iter().map(|span| number(*span, "file_bytes") + number(*span, "index_bytes")).collect();
    assert_eq!((sizes.len(), number(info, "events"), info.get("damage").unwrap().elements().count()), (3, 6000, 0));
    assert_eq!(number(info, "disk_bytes"), sizes.iter().sum::<u64>());
    assert_eq!(&*spans[0].get("from").unwrap().as_str().unwrap(), "2024-03-05T00:00:00Z");
    let count = || fine(&folder, "query", &["select count(*) as n, min(\"@t\") as first", "--store", "log"]);
    let room = format!("{}B", sizes.iter().sum::<u64>());
    assert!(fine(&folder, "store", &["retain", "log", "--keep-size", &room]).starts_with("0 spans with 0 events"));
    let room = format!("{}B", sizes.iter().sum::<u64>() - 1);
    let said = fine(&folder, "store", &["retain", "log", "--keep-size", &room, "--dry-run"]);
    assert!(said.starts_with("1 span with 2000 events would be removed"), "{said}");
    assert!(count().contains("\"n\":6000"));
    let said = fine(&folder, "store", &["retain", "log", "--older-than", "2024-03-06T05:00:00Z", "--dry-run"]);
    assert!(said.contains("older events in 1 other file would be hidden"), "{said}");
    let said = fine(&folder, "store", &["retain", "log", "--keep-size", &room]);
    assert!(said.starts_with("1 span with 2000 events removed"), "{said}");
    assert_eq!(count(), "{\"n\":4000,\"first\":\"2024-03-06T00:00:00Z\"}\n");
    // Whichever goes further; the newest span stays.
    fine(&folder, "store", &["retain", "log", "--keep-size", "1GB", "--older-than", "2024-03-06T05:00:00Z"]);
    assert_eq!(count(), "{\"n\":3500,\"first\":\"2024-03-06T05:00:00Z\"}\n");
    fine(&folder, "store", &["retain", "log", "--keep-size", "1"]);
    assert_eq!(count(), "{\"n\":2000,\"first\":\"2024-03-07T00:00:00Z\"}\n");
    // Spans of the same times, and one with late events: whole ones go, and of the others nothing is hidden.
    for (name, days) in [("early", [1, 10]), ("late", [5, 10])] {
        let lines: String = (0..4000)
            .map(|index| format!("{{\"@t\":\"2024-03-{:02}T00:00:00Z\",\"id\":{index}}}\n", days[index / 2000]))
            .collect();
        std::fs::write(folder.0.join(name), lines).unwrap();
        fine(&folder, "ingest", &["same", name]);
        let store = jird_store::Store::open(&folder.0.join("same")).unwrap();
        let writer = store.writer(&jird_store::WriterOptions::default()).unwrap();
        writer.seal().unwrap();
        writer.finish().unwrap();
    }
    let said = fine(&folder, "store", &["retain", "same", "--keep-size", "1"]);
    assert!(said.starts_with("1 span with 4000 events removed; older events in 0 other files"), "{said}");
    let left = fine(&folder, "query", &["select count(*) as n, min(\"@t\") as first", "--store", "same"]);
    assert_eq!(left, "{\"n\":4000,\"first\":\"2024-03-05T00:00:00Z\"}\n");
    let (_, said, code) = jird(&folder, "store", &["retain", "log"], b"");
    assert!(code == 2 && said.contains("--older-than") && said.contains("--keep-size"), "{said}");
}

/// Whatever the form of a condition on the time field: the answer is that of the file, and of the store only the blocks
/// are read whose events are then.
#[test]
fn a_condition_on_the_time_field_is_a_window() {
    let folder = sealed("windows", 20_000);
    let mixed: String = (0..20_000)
        .map(|index| {
            let (day, hour, minute) = (5 + index / 1440, index / 60 % 24, index % 60);
            // The same time in three notations.
            let time = match index % 3 {
                0 => format!("\"2024-03-{day:02}T{hour:02}:{minute:02}:00Z\""),
                1 => format!("\"2024-03-{day:02} {hour:02}:{minute:02}:00.25\""),
                _ => (1_709_596_800 + index * 60).to_string(),
            };
            format!("{{\"@t\":{time},\"id\":{index},\"text\":\"{}\"}}\n", "x".repeat(150))
        })
        .collect();
    let folder = folder.with("mixed.ndjson", mixed);
    fine(&folder, "ingest", &["mixed", "mixed.ndjson"]);
    fine(&folder, "store", &["compact", "mixed"]);
    for (condition, share_of_texts, share_of_mixed) in [
        ("\"@t\" >= '2024-03-18T01:00:00' and \"@t\" < '2024-03-18T03:00'", 4, 1),
        ("\"@t\" between '2024-03-18T01:00:00Z' and '2024-03-18T03:00:00Z'", 4, 1),
        ("\"@t\" like '2024-03-18T01:%'", 4, 1),
        ("\"@t\" in ('2024-03-18T01:07:00.5Z', '2024-03-18T01:09:00Z')", 4, 1),
        ("\"@t\" >= timestamp '2024-03-18T01:00:00Z' and \"@t\" < timestamp '2024-03-18 03:00:00+01:00'", 4, 4),
        ("timestamp(\"@t\") > '2024-03-18T03:00:00Z' and not (\"@t\" > timestamp '2024-03-18T04:00:00Z')", 4, 4),
        ("\"@t\" < timestamp '2024-03-05T01:00:00Z' or \"@t\" > timestamp '2024-03-18T20:00:00Z'", 4, 4),
        ("timestamp(\"@t\") >= timestamp '2024-03-16T12:00:00Z' + interval '1 day' + interval '2 hours'", 3, 3),
        ("time_bucket('1 hour', \"@t\") = timestamp '2024-03-07T05:00:00Z'", 3, 3),
        ("date_trunc('day', timestamp(\"@t\")) = timestamp '2024-03-06T00:00:00Z'", 3, 3),
        ("time_bucket('1 month', \"@t\") > timestamp '2024-04-01T00:00:00Z'", 4, 4),
        ("timestamp(\"@t\") > now() - interval '1 day'", 4, 4),
        ("now() - interval '10 days' < timestamp(\"@t\")", 4, 4),
    ] {
        for (store, file, share) in [("log", "a.ndjson", share_of_texts), ("mixed", "mixed.ndjson", share_of_mixed)] {
            let sql = format!("select id, \"@t\" where {condition}");
            let (of_file, said_of_file, _) = folder.query(&[&sql, file], b"");
            let (of_store, said, code) = folder.query(&[&sql, "--store", store, "--stats"], b"");
            assert_eq!(of_store, of_file, "{condition}: {said}");
            assert_eq!(code, 0, "{condition}: {said} {said_of_file}");
            let line = said.lines().find(|line| line.contains("blocks read")).unwrap();
            let words: Vec<_> = line.split_whitespace().collect();
            let at = words.iter().position(|word| *word == "blocks").unwrap();
            let (read, all): (u64, u64) = (words[at - 3].parse().unwrap(), words[at - 1].parse().unwrap());
            assert!(read <= 24 / share, "{condition}: {line}");
            assert!(share == 1 || read < all || all == 0, "{condition}: {line}");
        }
    }
}

/// Casts read some texts and numbers in another way than the store does, and round.
#[test]
fn casts_of_times_leave_out_no_event_that_they_match() {
    let events = "{\"@t\":\"2024-03-05T07:00:00.9999Z\",\"id\":1}\n";
    let numbers = "{\"@t\":1709622000.5,\"id\":1}\n";
    let folder = Folder::new("casts").with("texts.ndjson", events).with("numbers.ndjson", numbers);
    for (name, condition) in [
        ("texts", "\"@t\"::timestamp(0) <= timestamp '2024-03-05T07:00:00'"),
        ("texts", "\"@t\"::timestamp(0) = timestamp '2024-03-05T07:00:00'"),
        ("texts", "try_cast(\"@t\" as timestamp(3)) = timestamp '2024-03-05T07:00:00.999'"),
        ("texts", "\"@t\"::date = '2024-03-05'"),
        ("numbers", "\"@t\"::timestamp < timestamp '2000-01-01'"),
        ("numbers", "cast(\"@t\" as timestamp with time zone) < timestamp '2000-01-01'"),
        ("numbers", "timestamp(\"@t\") > timestamp '2024-03-05T07:00:00Z'"),
    ] {
        let file = format!("{name}.ndjson");
        if !folder.0.join(name).exists() {
            fine(&folder, "ingest", &[name, &file]);
            fine(&folder, "store", &["compact", name]);
        }
        let sql = format!("select id where {condition}");
        let (of_file, ..) = folder.query(&[&sql, &file], b"");
        let (of_store, said, _) = folder.query(&[&sql, "--store", name], b"");
        assert_eq!((of_file.as_str(), of_store.as_str()), ("{\"id\":1}\n", "{\"id\":1}\n"), "{condition}: {said}");
    }
}

/// A time that the store cannot sort by is that of no block: nothing is left out then.
#[test]
fn events_whose_time_is_beyond_the_store_are_found_by_their_time() {
    let far = "{\"@t\":\"9999-12-31T00:00:00Z\",\"id\":1}\n{\"@t\":\"2024-03-05T00:00:00Z\",\"id\":2}\n{\"id\":3}\n";
    let folder = Folder::new("far-times").with("far.ndjson", far);
    let (_, said, _) = jird(&folder, "ingest", &["far", "far.ndjson"], b"");
    assert!(said.contains("1 without a time") || !said.is_empty(), "{said}");
    fine(&folder, "store", &["compact", "far"]);
    for (condition, ids) in [
        ("\"@t\" > '9000'", "1"),
        ("\"@t\" >= timestamp '2200-01-01T00:00:00Z'", "1"),
        ("\"@t\" < timestamp '2200-01-01T00:00:00Z'", "2"),
        ("\"@t\" is null", "3"),
    ] {
        let sql = format!("select id where {condition}");
        let (out, said, _) = folder.query(&[&sql, "--store", "far"], b"");
        assert_eq!(out, format!("{{\"id\":{ids}}}\n"), "{condition}: {said}");
    }
}

#[test]
fn a_block_that_is_read_twice_counts_once() {
    let folder = sealed("read-twice", 20_000);
    for sql in [
        "select sum(Elapsed) as s",
        "select * order by Elapsed desc limit 2",
        "select a.id from stream a join stream b on a.id = b.id where a.Elapsed > b.Elapsed",
        "select id where Elapsed = (select max(Elapsed) from stream)",
    ] {
        let (_, said, _) = folder.query(&[sql, "--store", "log", "--stats"], b"");
        for line in said.lines().filter(|line| line.starts_with("store")) {
            let words: Vec<_> = line.split_whitespace().collect();
            let at = words.iter().position(|word| *word == "blocks").unwrap();
            let (read, all): (u64, u64) = (words[at - 3].parse().unwrap(), words[at - 1].parse().unwrap());
            assert!(0 < read && read <= all && all > 5, "{sql}: {line}");
        }
        assert!(said.contains("blocks read"), "{sql}: {said}");
    }
}

#[test]
fn one_writer_at_a_time() {
    let folder = folder("writers", 10);
    let lock = std::fs::File::open(folder.0.join("log/LOCK")).unwrap();
    lock.lock().unwrap();
    let (_, said, code) = jird(&folder, "ingest", &["log", "a.ndjson"], b"");
    assert!(code == 2 && said.contains("writ"), "{said}");
    assert_eq!(fine(&folder, "query", &["select count(*) as n", "--store", "log"]), "{\"n\":10}\n");
}

#[test]
fn what_a_store_was_made_with_holds() {
    let folder = folder("settings", 10);
    for args in [&["--time-field", "when"][..], &["--column", "id"], &["--compression", "zstd"]] {
        let (_, said, code) = jird(&folder, "ingest", &[&["log", "a.ndjson"], args].concat(), b"");
        assert!(code == 2 && said.contains("log"), "{args:?}: {said}");
    }
    fine(&folder, "ingest", &["log", "a.ndjson", "--compression", "none", "--column", "auto"]);
    let (_, said, code) = jird(&folder, "ingest", &["log", "a.ndjson", "--column", "none"], b"");
    assert!(code == 2 && said.contains("its columns are auto, and not none"), "{said}");
    assert!(fine(&folder, "store", &["info", "log"]).contains("columns      auto\n"), "info");
    fine(&folder, "ingest", &["bare-log", "a.ndjson", "--column", "none"]);
    let info = fine(&folder, "store", &["info", "bare-log", "--json"]);
    assert!(info.contains("\"columns\":[],\"auto_columns\":false"), "{info}");
    // A command that adds to a store need not repeat its settings.
    let options = ["other-log", "a.ndjson", "--time-field", "@t", "--column", "id", "--compression", "zstd"];
    fine(&folder, "ingest", &options);
    fine(&folder, "ingest", &["other-log", "a.ndjson"]);
    assert_eq!(fine(&folder, "query", &["select count(*) as n", "--store", "other-log"]), "{\"n\":20}\n");
    let (_, said, code) = jird(&folder, "ingest", &["a.ndjson", "a.ndjson"], b"");
    assert!(code == 2 && said.contains("a.ndjson"), "{said}");
    std::fs::create_dir(folder.0.join("other")).unwrap();
    std::fs::write(folder.0.join("other/x.txt"), "x").unwrap();
    let (_, said, code) = jird(&folder, "ingest", &["other", "a.ndjson"], b"");
    assert!(code == 2 && said.contains("other"), "{said}");
    assert_eq!(std::fs::read_dir(folder.0.join("other")).unwrap().count(), 1);
}
