//! `validate`, `query` and `convert` name the same line and the same reason for the same bad record.
#![cfg(all(feature = "convert", feature = "query"))]

use crate::folder::{Folder, words};
use std::fmt::Write as _;

/// What `validate` and `query` read at a time.
const CHUNK_BYTES: usize = 1 << 16;

/// Where lines are cut: at the borders of chunks, and of what `convert` reads at a time, which begins with 4096 bytes.
/// In the middle of the text there are some chunks without a bad record.
fn borders() -> impl Iterator<Item = usize> {
    let borders = (1..16).filter(|index| !(5..10).contains(index)).map(|index| index * CHUNK_BYTES);
    borders.flat_map(|border| [border, border + 4096])
}

const BAD: [&str; 6] =
    ["{\"id\":}", "nul", "{\"id\":1} 2", "{\"id\":\"\\u12\"}", "[1 2]", "{\"id\":1,\"name\":\"a\tb\"}"];

/// Where a record is wrong: its line, its column, the byte, and the reason.
type Place = (u64, u64, u64, String);

/// Records, with bad ones before, on and after each border.
fn text() -> (String, Vec<Place>) {
    let (mut text, mut places) = (String::new(), Vec::new());
    for (border, kinds) in borders().zip(0..) {
        let bad = |index: usize| BAD[(kinds + index) % BAD.len()];
        // The second bad line begins near the border.
        let target = border + [0, 1, 2, 5][kinds % 4] - 1 - bad(0).len() - 1;
        while target - text.len() > 200 {
            let id = text.len();
            let end = ["\n", "\r\n", "\n\n", " \n"][id % 4];
            let _ = write!(text, r#"{{"id":{id},"name":"{0:1$}"}}{end}"#, "", id % 100);
        }
        let _ = writeln!(text, "{:1$}", 7, target - text.len() - 1);
        for index in 0..3 {
            let wrong = jird::validate(bad(index).as_bytes()).unwrap_err();
            let line = text.matches('\n').count() as u64 + 1;
            let byte = text.len() as u64 + wrong.offset();
            places.push((line, wrong.offset() + 1, byte, wrong.kind().to_string()));
            text += bad(index);
            text += "\n";
        }
    }
    (text, places)
}

/// `name:LINE:COLUMN: reason (byte N, at /path)`
fn place_of(line: &str) -> Place {
    let mut parts = line.splitn(4, ':').skip(1);
    let (row, column) = (parts.next().unwrap(), parts.next().unwrap());
    let (reason, byte) = parts.next().unwrap().rsplit_once(" (byte ").unwrap();
    let byte = byte.split([',', ')']).next().unwrap();
    (row.parse().unwrap(), column.parse().unwrap(), byte.parse().unwrap(), reason.trim().to_owned())
}

/// The places in a quarantine, whose messages are `reason at line LINE column COLUMN`.
fn set_aside(quarantine: &str) -> Vec<Place> {
    let place = |line: &str| {
        let record: jird::Json = jird::from_str(line).unwrap();
        let (reason, place) = record["message"].as_str().unwrap().rsplit_once(" at line ").unwrap();
        let (line, column) = place.split_once(" column ").unwrap();
        assert_eq!(line, record["line"].to_string());
        (line.parse().unwrap(), column.parse().unwrap(), record["offset"].as_u64().unwrap(), reason.to_owned())
    };
    quarantine.lines().map(place).collect()
}

#[test]
fn the_commands_name_the_same_line_and_reason() {
    let (text, places) = text();
    let first = places[0].clone();
    let folder = Folder::new("bad-lines").with("in.ndjson", &text);
    let chunks = CHUNK_BYTES.to_string();
    for (threads, piped) in [("1", false), ("1", true), ("4", false), ("4", true)] {
        let how = format!("{threads} threads, {}", if piped { "a pipe" } else { "a file" });
        let (name, input) = if piped { ("-", text.as_bytes()) } else { ("in.ndjson", &b""[..]) };
        let run = |command: &str, args: &[&str]| {
            let output = folder.jird(command, &[args, &["--threads", threads]].concat(), input);
            assert_eq!(output.status.code(), Some(1), "{command}, {how}: {}", words(&output));
            output
        };

        let output = run("validate", &["--lines", "--chunk-bytes", &chunks, name]);
        let found: Vec<Place> = std::str::from_utf8(&output.stdout).unwrap().lines().map(place_of).collect();
        assert_eq!(found, places, "validate, {how}");

        // A sum needs types, so a file is read for them first, and this finds the bad records.
        let sums = ["select id", "select sum(number(id))", "select sum(id)"];
        for sql in if piped { &sums[..2] } else { &sums } {
            let _none_yet = std::fs::remove_file(folder.0.join("bad"));
            let args = [sql, name, "-o", "out", "--on-error", "quarantine=bad", "--chunk-bytes", &chunks];
            run("query", &args);
            assert_eq!(set_aside(&folder.text("bad")), places, "{sql}, {how}");
            let stopped = words(&run("query", &[sql, name, "-o", "out", "--chunk-bytes", &chunks]));
            let said = stopped.lines().find(|line| line.contains(" (byte ")).unwrap();
            let found = place_of(said.rsplit_once("jird: ").map_or(said, |(_, said)| said));
            // Threads that read in any order may meet another bad record first.
            let any_order = sql.contains("number");
            assert!(if any_order { places.contains(&found) } else { found == first }, "{sql}, {how}: {found:?}");
        }

        let args = ["--from", "ndjson", name, "out.ndjson", "--on-error"];
        let _none_yet = std::fs::remove_file(folder.0.join("bad"));
        run("convert", &[&args[..], &["quarantine=bad"]].concat());
        assert_eq!(set_aside(&folder.text("bad")), places, "convert, {how}");
        let stopped = words(&run("convert", &[&args[..], &["stop"]].concat()));
        let wanted = format!("{} at line {} column {}", first.3, first.0, first.1);
        assert!(stopped.contains(&wanted), "convert, {how}: {stopped}");
    }
}

#[test]
fn a_record_over_the_limit_costs_no_other() {
    const LIMIT: usize = 300_000;
    let record = |len: usize| format!(r#"{{"id":1,"text":"{}"}}"#, "x".repeat(len - 18));
    let (fits, long, endless) = (record(LIMIT), record(LIMIT + 1), record(10 * LIMIT));
    let text = [r#"{"id":1}"#, &long, &fits, "", &endless, r#"{"id":2}"#, "no", &endless].join("\n");
    let at = |line: u64, start: usize| (line, LIMIT as u64 + 1, (start + LIMIT) as u64);
    let second = 9 + long.len() + 1 + fits.len() + 2;
    let bad = second + endless.len() + 1 + 9;
    let places = [at(2, 9), at(5, second), (7, 2, bad as u64 + 1), at(8, bad + 3)];
    let folder = Folder::new("long-lines").with("in.ndjson", &text);
    let limit = LIMIT.to_string();
    for (threads, piped, chunk) in
        [("1", false, "77"), ("1", true, "99"), ("4", false, "100000"), ("4", false, "9999999")]
    {
        let (name, input) = if piped { ("-", text.as_bytes()) } else { ("in.ndjson", &b""[..]) };
        let args = [name, "--threads", threads, "--record-limit", &limit];
        let output = folder.jird("validate", &[&args[..], &["--lines", "--chunk-bytes", chunk]].concat(), input);
        let found = std::str::from_utf8(&output.stdout).unwrap();
        assert_eq!(found.matches(&format!("the limit is {LIMIT} bytes, --record-limit sets another")).count(), 3);
        let found: Vec<_> = found.lines().map(place_of).map(|(line, column, byte, _)| (line, column, byte)).collect();
        assert_eq!(found, places, "validate, {threads} threads, {chunk}");
        for sql in ["select id", "select sum(id)", "select count(*)", "select id where id > 0"] {
            let _none_yet = std::fs::remove_file(folder.0.join("bad"));
            let how = ["--on-error", "quarantine=bad", "--chunk-bytes", chunk];
            let output = folder.jird("query", &[&[sql], &args[..], &how].concat(), input);
            let wanted = match sql {
                "select sum(id)" => "{\"sum(id)\":4}\n",
                "select count(*)" => "{\"count(*)\":3}\n",
                _ => "{\"id\":1}\n{\"id\":1}\n{\"id\":2}\n",
            };
            assert_eq!(std::str::from_utf8(&output.stdout), Ok(wanted), "{sql}: {}", words(&output));
            let aside = folder.text("bad");
            let found: Vec<u64> = aside
                .lines()
                .map(|line| jird::from_str::<jird::Json>(line).unwrap()["line"].as_u64().unwrap())
                .collect();
            assert_eq!(found, [2, 5, 7, 8], "{sql}");
            assert!(words(&output).contains("--record-limit"), "{}", words(&output));
        }
    }
    // In `convert`, the limit may be exceeded by what is read at once.
    let args = ["in.ndjson", "-", "--record-limit", &limit, "--on-error", "skip"];
    let output = folder.jird("convert", &args, b"");
    let ids = std::str::from_utf8(&output.stdout).unwrap().lines().map(|line| &line[..8]).collect::<Vec<_>>();
    assert_eq!((ids.first(), ids.last(), ids.len() < 6), (Some(&"{\"id\":1}"), Some(&"{\"id\":2}"), true));
    assert!(words(&output).contains("--record-limit"), "{}", words(&output));
}
