//! What others write and read.

use crate::common;
use crate::{check_integrity, fill, folder, memory, try_lines};
use jird::event::{JsonSource, Sink};
use jird_formats::sqlite::{SqliteQuery, SqliteSink, open, open_read_only, tables};
use serde_json::Value;
use std::collections::BTreeMap;

/// What the JSON document has otherwise: no null, and `T` in its dates; and numbers by value.
fn chinook_form(value: &Value) -> Value {
    match value {
        Value::Null => Value::String(String::new()),
        Value::Number(number) => number.as_f64().unwrap().into(),
        Value::String(text) if text.len() == 19 && text.as_bytes()[10] == b' ' && text.starts_with(['1', '2']) => {
            text.replacen(' ', "T", 1).into()
        }
        other => other.clone(),
    }
}

fn chinook_rows(records: &[Value]) -> Vec<BTreeMap<String, Value>> {
    let row = |record: &Value| {
        record.as_object().unwrap().iter().map(|(key, value)| (key.clone(), chinook_form(value))).collect()
    };
    records.iter().map(row).collect()
}

#[test]
fn chinook_is_what_its_json_says() {
    let Some(corpus) = common::corpus() else { return };
    let folder = corpus.join("tables/chinook");
    let document: Value = serde_json::from_slice(&std::fs::read(folder.join("ChinookData.json")).unwrap()).unwrap();
    let conn = open_read_only(folder.join("chinook.db")).unwrap();
    let tables = tables(&conn).unwrap();
    assert_eq!(tables.len(), document.as_object().unwrap().len());
    for table in tables {
        let text = try_lines(&mut SqliteQuery::table(&conn, &table).unwrap()).unwrap();
        let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(chinook_rows(&records), chinook_rows(document[&table].as_array().unwrap()), "{table}");

        // And into a table of our own, and back.
        let own = memory();
        fill(&text, SqliteSink::create(&own, &table)).unwrap();
        assert_eq!(try_lines(&mut SqliteQuery::table(&own, &table).unwrap()).unwrap(), text, "{table}");
        check_integrity(&own);
    }
}

#[test]
fn python_reads_what_we_write_and_we_read_the_same_as_python() {
    let Some(corpus) = common::corpus() else { return };
    let chinook = corpus.join("tables/chinook/chinook.db");
    let folder = folder("python");
    let path = folder.join("own.db");
    let own = open(&path).unwrap();
    let records = "{\"id\":1,\"t\":\"a\\u0000b\",\"r\":0.1,\"n\":null,\"j\":[1,\"x\"],\"late\":9007199254740993}\n{\"id\":2,\"t\":\"\u{1f600}\",\"r\":2.0}";
    fill(records, SqliteSink::create(&own, "own \"table\"")).unwrap();
    let script = r#"
import json, sqlite3, sys
for path in sys.argv[1:]:
    db = sqlite3.connect("file:" + path + "?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    names = [row[0] for row in db.execute("select name from sqlite_schema where type = 'table' order by rowid")]
    for name in names:
        for row in db.execute('select * from "' + name.replace('"', '""') + '"'):
            print(json.dumps([name, dict(row)]))
"#;
    let output = match std::process::Command::new("python3").arg("-c").arg(script).args([&chinook, &path]).output() {
        Ok(output) => output,
        Err(error) => {
            assert!(std::env::var_os("JIRD_REQUIRE_ALL").is_none_or(|all| all != "1"), "python3: {error}");
            return;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let theirs: Vec<Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut ours: Vec<Value> = Vec::new();
    for conn in [open_read_only(chinook).unwrap(), own] {
        for table in tables(&conn).unwrap() {
            let text = try_lines(&mut SqliteQuery::table(&conn, &table).unwrap()).unwrap();
            ours.extend(
                text.lines().map(|line| serde_json::json!([table, serde_json::from_str::<Value>(line).unwrap()])),
            );
        }
    }
    assert!(ours.len() > 15_000);
    assert_eq!(ours, theirs);
}

#[test]
fn memory_is_bounded_by_a_batch() {
    // More than a megabyte a row: rows are written long before a statement is full.
    let conn = memory();
    let record = format!("{{\"a\":\"{}\"}}\n", "x".repeat(3 << 19));
    let mut rows = SqliteSink::create(&conn, "t").into_rows();
    for index in 0..20 {
        jird::event::Source::send(&mut JsonSource::from_slice(record.as_bytes()), &mut rows).unwrap();
        let written: i64 = conn.query_row("select count(*) from t", [], |row| row.get(0)).unwrap();
        assert_eq!(written, index + 1);
    }
    rows.finish().unwrap();
}
