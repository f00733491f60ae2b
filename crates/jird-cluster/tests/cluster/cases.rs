//! The queries of the benches, and what is reported besides rows: the same as on one machine.

use crate::processes::Processes;
use jird_query::cluster::Cluster;
use jird_query::{Format, OnError, Options, Query, Report};
use std::fmt::Write;
use std::fs;
use std::sync::Arc;

/// What a query prints, and what it did.
fn answer(
    sql: &str,
    files: &[String],
    options: &Options,
    cluster: Option<&Arc<dyn Cluster>>,
) -> (Result<String, String>, Report) {
    let query = Query::new(sql, files.to_vec(), options.clone());
    let query = match cluster {
        Some(cluster) => query.on(Arc::clone(cluster)),
        None => query,
    };
    let (mut out, mut report) = (Vec::new(), Report::default());
    let done = query.run(&mut out, &mut report);
    let text = done.map(|()| String::from_utf8_lossy(&out).into_owned());
    (text.map_err(|error| format!("{:?} {error}", error.kind())), report)
}

/// Log events, most of them alike.
fn events(count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let level = ["Info", "Debug", "Error"][number * number % 3];
        let elapsed = number * 7919 % 5000;
        let _ = write!(text, "{{\"@t\":\"2024-03-0{}T07:{:02}:00Z\",\"@l\":\"{level}\"", number % 9 + 1, number % 60);
        let _ = write!(text, ",\"Message\":\"GET /api/orders/{number} took \\u00e9{elapsed}\",\"Elapsed\":{elapsed}");
        if number % 5 == 0 {
            let _ = write!(text, ",\"Properties\":{{\"StatusCode\":{},\"Application\":\"Shop\"}}", 200 + number % 3);
        }
        if number % 11 == 0 {
            let _ = write!(text, ",\"mixed\":{}", ["1", "\"two\"", "null", "[3]", "1e400", "0.1"][number / 11 % 6]);
        }
        text.push_str("}\n");
    }
    text
}

#[track_caller]
fn same(sql: &str, files: &[String], options: &Options, cluster: &Arc<dyn Cluster>) {
    let (expected, alone) = answer(sql, files, options, None);
    let (found, together) = answer(sql, files, options, Some(cluster));
    assert_eq!(expected, found, "{sql}");
    let counts = |report: &Report| {
        let Report { rows, records, touched, bytes, searched_bytes, mismatches, bad, .. } = *report;
        (rows, records, touched, bytes, searched_bytes + report.unsearched_bytes, mismatches, bad)
    };
    // A scan that ends early ends where it happens to be.
    if !sql.contains("limit") {
        assert_eq!(counts(&alone), counts(&together), "{sql}");
    }
    let told = |report: &Report| {
        let mut fields = report.fields.clone();
        fields.sort();
        fields.dedup();
        (
            report.notes.clone(),
            report.widened.clone(),
            report.inferred,
            report.first_bad.clone(),
            report.pushed.clone(),
            fields,
        )
    };
    assert_eq!(told(&alone), told(&together), "{sql}");
}

#[test]
fn queries_of_the_benches_are_answered_as_on_one_machine() {
    let mut processes = Processes::start("cases", 2, 1);
    let cluster = processes.reach(4);
    let file = processes.file("events.ndjson");
    fs::write(&file, events(20_000)).expect("a file can be written");
    let cases = fs::read_to_string("../../bench/cases/events.sql").expect("the cases are there");
    let cases: Vec<_> = cases.lines().filter(|line| !line.starts_with("--") && !line.is_empty()).collect();
    assert!(cases.len() > 10);
    let more = [
        "select *",
        "select Message, _file where Elapsed = 1",
        "select _line, Elapsed where Elapsed > 4990",
        "select Elapsed + mixed as sum, mixed where mixed is not null",
        "select sum(mixed), avg(mixed), max(mixed), count(mixed)",
        "select mixed, count(*) as n group by mixed",
        "select Message where Elapsed > 10 limit 7 offset 3",
        "select upper(\"@l\") as l, json_type(mixed) as kind, count(*) group by 1, 2",
        "select \"@l\", first_value(Message order by Elapsed) as first group by \"@l\"",
        "select a.Message from stream a join stream b on a.Elapsed = b.Elapsed where a.Elapsed < 20 order by a.Message",
        "select Message from stream where Elapsed = (select max(Elapsed) from stream)",
        "select Elapsed, row_number() over (order by Elapsed, Message) as n from stream where Elapsed < 50",
        "select distinct Properties.Application as a",
        "select Elapsd where Elapsed > 4000 limit 1",
        "select Message where Elapsed = 'x'",
        "select timestamp(\"@t\") as t, count(*) as n group by t order by t limit 3",
        "select l from (select \"@l\" as l from stream where Elapsed > 4990 union all select Message from stream where Elapsed < 5)",
    ];
    let options = Options { threads: 2, ..Options::default() };
    for sql in cases.into_iter().chain(more) {
        same(sql, std::slice::from_ref(&file), &options, &cluster);
    }
    // Several files, in pieces of any size, in another form, and as a table.
    let half = processes.file("half.ndjson");
    fs::write(&half, events(300)).expect("a file can be written");
    let files = [half.clone(), file, half];
    for chunk_bytes in [100, 5000] {
        let options = Options { chunk_bytes, format: Format::Csv, ..options.clone() };
        for sql in ["select Message, Elapsed where Elapsed > 4900", "select \"@l\" as l, sum(Elapsed) as s group by l"]
        {
            same(sql, &files, &options, &cluster);
        }
    }
}

#[test]
fn bad_records_are_told_as_on_one_machine() {
    let mut processes = Processes::start("bad", 2, 1);
    let cluster = processes.reach(7);
    let (first, second) = (processes.file("first.ndjson"), processes.file("second.ndjson"));
    let mut text = events(3000).into_bytes();
    for at in [10_usize, 50_000, 50_200, 200_000] {
        text[at] = b'\n';
    }
    text.extend_from_slice(b"{\"Elapsed\":\xff}\n{\"Elapsed\":\"text\"}\nno json\n");
    fs::write(&first, &text).expect("a file can be written");
    fs::write(&second, events(100) + "{\"Elapsed\":[1}\n{\"Elapsed\":5}\n").expect("a file can be written");
    let files = [first, second];
    let queries =
        ["select count(*) as n, sum(Elapsed) as s", "select Message where Elapsed > 4000", "select Elapsed limit 3"];
    for sql in queries {
        let schema = jird_query::FieldTypes::parse(br#"{"Elapsed":"i64"}"#).expect("it is a schema");
        for schema in [jird_query::FieldTypes::default(), schema] {
            let options = Options { threads: 2, on_error: OnError::Skip, schema, ..Options::default() };
            same(sql, &files, &options, &cluster);
            let mut kept = Vec::new();
            for (name, cluster) in [("alone", None), ("together", Some(&cluster))] {
                let path = processes.file(&format!("{name}.quarantine"));
                let _ = fs::remove_file(&path);
                let on_error = OnError::Quarantine(path.clone().into());
                let (done, _) = answer(sql, &files, &Options { on_error, ..options.clone() }, cluster);
                assert!(done.is_ok(), "{done:?}");
                kept.push(fs::read_to_string(path).expect("it is there"));
            }
            assert_eq!(kept[0], kept[1], "{sql}");
        }
    }
    // One that stops the query is reported with its place.
    let options = Options { threads: 1, ..Options::default() };
    let (found, _) = answer("select count(*), sum(Elapsed)", &files[1..], &options, Some(&cluster));
    let (expected, _) = answer("select count(*), sum(Elapsed)", &files[1..], &options, None);
    assert_eq!(expected, found);
    assert!(found.is_err_and(|words| words.starts_with("Record") && words.contains("second.ndjson:101:14: ")));
}
