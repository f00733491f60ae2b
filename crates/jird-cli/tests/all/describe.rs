//! `jird describe` from outside.

use crate::folder::{Folder, words};
use std::process::Output;

const RECORDS: &str = r#"{"id":1,"name":"a","tags":["x",1],"user":{"id":7}}
{"id":2.5,"name":null,"user":{}}

{"id":"x","id":3,"a.b":true,"late":18446744073709551615}
"#;

fn text(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", words(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_table_says_what_was_met_and_where_first() {
    let folder = Folder::new("describe").with("a.ndjson", RECORDS);
    let expected = "3 records

field    type   null  missing  duplicate       met
id       json                  1 (a.ndjson:4)  1 integer (a.ndjson:1), 1 float (a.ndjson:2), 1 text (a.ndjson:4)
name     text      1        1                  1 text (a.ndjson:1)
tags     array              2                  1 array (a.ndjson:1)
tags[]   json                                  1 integer (a.ndjson:1), 1 text (a.ndjson:1)
user     object             1                  2 object (a.ndjson:1)
user.id  i64                1                  1 integer (a.ndjson:1)
\"a.b\"    boolean            2                  1 boolean (a.ndjson:4)
late     u64                2                  1 integer (a.ndjson:4)
";
    let printed = text(&folder.jird("describe", &["a.ndjson"], b""));
    let squeezed =
        |text: &str| text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    assert_eq!(squeezed(&printed), squeezed(expected));
}

#[test]
fn it_is_json_too_and_json_is_for_queries() {
    let folder = Folder::new("describe-json").with("a.ndjson", RECORDS).with("b.json", "[{\"id\":null}]");
    let json = text(&folder.jird("describe", &["a.ndjson", "b.json", "--format", "json"], b""));
    let fields = jird::from_str::<jird::Json>(&json).unwrap();
    assert_eq!(fields[0]["met"]["null"], jird::json!({"count": 1, "first": "b.json:1"}));
    assert_eq!((&fields[1]["field"], &fields[1]["missing"]), (&jird::json!("name"), &jird::json!(2)));
    let (out, _, _) = folder.query(&["select field where duplicates > 0"], json.as_bytes());
    assert_eq!(out, "{\"field\":\"id\"}\n");
}

#[test]
fn any_format_is_described() {
    let folder = Folder::new("describe-any").with("a.csv", "n,t\n1,x\n2,\n").with("a.ndjson", "{\"n\":1}\n{\"n\":2}\n");
    assert!(text(&folder.jird("describe", &["a.csv", "--typed"], b"")).contains("2 integer (a.csv:2)"));
    for to in ["a.parquet", "a.db", "a.arrow"] {
        folder.fine(&["a.ndjson", to]);
        let said = text(&folder.jird("describe", &[to], b""));
        assert!(said.contains("2 integer"), "{to}: {said}");
    }
    assert!(
        text(&folder.jird("describe", &["--from", "ndjson"], b"5\n\"x\"\n")).contains("2 records: 1 integer, 1 text")
    );
}

#[test]
fn bad_records_stop_it_or_are_left_out() {
    let folder = Folder::new("describe-bad").with("a.ndjson", "{\"a\":1}\nx\n");
    let stopped = folder.jird("describe", &["a.ndjson"], b"");
    assert_eq!(stopped.status.code(), Some(1));
    let skipped = folder.jird("describe", &["a.ndjson", "--on-error", "skip"], b"");
    assert_eq!(skipped.status.code(), Some(1));
    assert!(
        words(&skipped).contains("1 bad record left out")
            && String::from_utf8_lossy(&skipped.stdout).contains("1 integer")
    );
}

#[test]
fn keys_that_are_data_take_bounded_memory() {
    use std::fmt::Write;
    let lines = (0..20_000).fold(String::new(), |mut all, i| {
        let _ = writeln!(all, "{{\"k{i}\":1}}");
        all
    });
    let folder = Folder::new("describe-keys").with("a.ndjson", lines);
    let said = text(&folder.jird("describe", &["a.ndjson"], b""));
    assert!(said.contains("10000 values of other fields are not shown"), "{}", said.lines().last().unwrap());
}
