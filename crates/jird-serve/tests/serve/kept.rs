//! Answers that are kept, and when they are not.

use crate::common::{Service, TASKS};
use jird_formats::sqlite::rusqlite::Connection;
use std::process::Command;

/// This test, run by itself with this variable, is the other process: it writes what the variable says.
const OTHER: &str = "JIRD_SERVE_WRITES";

#[test]
fn a_write_of_any_process_is_seen_at_once() {
    if let Ok(order) = std::env::var(OTHER) {
        let (path, sql) = order.split_once('\n').unwrap();
        Connection::open(path).unwrap().execute_batch(sql).unwrap();
        return;
    }
    for mode in ["wal", "delete"] {
        let service = Service::with(&format!("pragma journal_mode = {mode}; {TASKS}"), |settings| {
            settings.write = mode == "wal";
        });
        let title = || service.get("/tasks/1?select=title").is(200).text().to_owned();
        for round in 0..5 {
            // Often enough that every connection has the answer.
            for _ in 0..3 {
                title();
            }
            let sql = format!("update tasks set title = 'round {round}' where id = 1");
            let other = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "kept::a_write_of_any_process_is_seen_at_once"])
                .env(OTHER, format!("{}\n{sql}", service.path.display()))
                .output()
                .unwrap();
            assert!(other.status.success(), "{other:?}");
            assert_eq!(title(), format!("{{\"title\":\"round {round}\"}}\n"), "{mode}");
            if mode == "wal" {
                let body = format!("{{\"title\":\"ours {round}\"}}");
                service.json("PATCH", "/tasks/1", &body).is(204);
                assert_eq!(title(), format!("{body}\n"));
            }
            // A write that is taken back changes nothing.
            let conn = service.database();
            conn.execute_batch("begin; update tasks set title = 'never'; rollback").unwrap();
            assert!(!title().contains("never"));
        }
    }
}

#[test]
fn answers_differ_in_all_that_requests_differ_in() {
    let service = Service::new();
    for _ in 0..2 {
        assert!(service.get("/tasks").is(200).text().starts_with("[{\"id\":1"));
        assert!(service.get("/tasks?id=eq.2").is(200).text().starts_with("[{\"id\":2"));
        let lines = service.send("GET", "/tasks", &[("Accept", "application/x-ndjson")], b"").is(200);
        assert!(lines.text().starts_with("{\"id\":1"));
        let counted = service.send("GET", "/tasks?limit=1", &[("Prefer", "count=exact")], b"").is(206);
        assert_eq!(counted.header("content-range"), Some("0-0/3"));
        assert_eq!(service.get("/tasks?limit=1").is(200).header("content-range"), None);
        let whole = service.get("/tasks").is(200);
        let tag = whole.header("etag").unwrap();
        let known = service.send("GET", "/tasks", &[("If-None-Match", tag)], b"").is(304);
        assert!(known.body.is_empty() && known.header("etag") == Some(tag));
        assert_eq!(service.send("HEAD", "/tasks", &[], b"").header("content-length"), whole.header("content-length"));
    }
    service.get("/tasks/9").is(404);
    service
        .json("PUT", "/tasks/9", "{\"title\":\"x\",\"done\":false,\"price\":1,\"tags\":1,\"at\":\"\",\"note\":1}")
        .is(201);
    service.get("/tasks/9").is(200);
}

#[test]
fn a_column_that_is_new_is_in_answers_that_were_kept() {
    let service = Service::new();
    for _ in 0..3 {
        service.get("/pairs").is(200);
    }
    service
        .database()
        .execute_batch("insert into pairs values ('a', 1, 'c'); alter table pairs add d default 7")
        .unwrap();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !service.get("/pairs").is(200).text().contains("\"d\":7") {
        assert!(std::time::Instant::now() < until);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn what_a_view_computes_anew_is_not_kept() {
    let service = Service::with("create view dice as select random() as number", |_| ());
    let answers: Vec<_> = (0..3).map(|_| service.get("/dice").is(200).body).collect();
    assert!(answers.windows(2).all(|pair| pair[0] != pair[1]));
}
