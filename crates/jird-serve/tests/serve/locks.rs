//! SQLite's locks on a database that is served, and what is lost, stale or mixed without them. Other processes write to
//! it meanwhile.

use crate::common::{Answer, Service, TASKS, ask};
use crate::streams::big;
use jird_formats::sqlite::rusqlite::Connection;
use jird_serve::{Server, Settings};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The test that runs by itself as the other process, with this variable: it does what the variable says.
const OTHER: &str = "JIRD_SERVE_OTHER";

/// How often each story is run; more with this variable.
fn rounds() -> usize {
    std::env::var("JIRD_SERVE_ROUNDS").map_or(4, |rounds| rounds.parse().unwrap())
}

/// Another process opens the database, runs these statements, and closes it. What it says of the last one.
fn other(path: &Path, sql: &str) -> String {
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "locks::another_process", "--nocapture"])
        .env(OTHER, format!("{}\n{sql}", path.display()))
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    let said = String::from_utf8(run.stdout).unwrap();
    said.lines().find_map(|line| line.split_once("said: ")).map_or_else(String::new, |(_, said)| said.to_owned())
}

#[test]
fn another_process() {
    let Ok(order) = std::env::var(OTHER) else { return };
    let (path, sql) = order.split_once('\n').unwrap();
    let conn = Connection::open(path).unwrap();
    conn.busy_timeout(Duration::ZERO).unwrap();
    let said = match sql.strip_prefix("select") {
        Some(_) => conn.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|value| value.to_string()),
        None => conn.execute_batch(sql).map(|()| "done".to_owned()),
    };
    println!("said: {}", said.unwrap_or_else(|error| error.to_string()));
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    path.with_file_name(format!("{}{suffix}", path.file_name().unwrap().to_str().unwrap()))
}

/// Requests of all kinds, none of which changes what the stories count.
fn ask_all(service: &Service) {
    for target in [
        "/tasks",
        "/tasks?id=eq.1",
        "/tasks/1",
        "/open_tasks",
        "/sources",
        "/openapi.json",
        "/metrics",
        "/health",
        "/",
        "/none",
        "/query?sql=select%20count(*)%20from%20tasks",
        "/query?sql=select%20*%20from%20tasks%20join%20open_tasks%20using%20(id)%20limit%201",
    ] {
        for method in ["GET", "HEAD", "OPTIONS"] {
            service.send(method, target, &[], b"");
        }
        service.send("GET", target, &[("Prefer", "count=exact"), ("Accept", "text/csv")], b"");
    }
    service.json("POST", "/query", "{\"sql\":\"select max(id) from tasks\"}");
    service.json("POST", "/tasks", "{\"id\":50,\"title\":\"x\"}");
    service.json("PUT", "/tasks/50", "{\"title\":\"y\",\"done\":true,\"price\":1,\"tags\":1,\"at\":\"\",\"note\":1}");
    service.json("PATCH", "/tasks/50", "{\"title\":\"z\"}");
    service.send("DELETE", "/tasks/50", &[], b"");
    service.json("PATCH", "/tasks/1", "{\"title\":");
}

#[test]
fn no_request_ends_a_lock_of_this_process() {
    for (mode, writes) in [("wal", true), ("wal", false), ("delete", false)] {
        let service =
            Service::with(&format!("pragma journal_mode = {mode}; {TASKS}"), |settings| settings.write = writes);
        service.get("/tasks").is(200);
        // The program that has the server built in may have connections of its own.
        let conn = service.database();
        conn.execute_batch("begin; select * from tasks").unwrap();
        let files = ["", "-shm"].map(|suffix| beside(&service.path, suffix));
        let before: Vec<_> = files.iter().flat_map(process_locks::of).collect();
        assert!(!before.is_empty() || !cfg!(target_os = "linux"));
        ask_all(&service);
        let after: Vec<_> = files.iter().flat_map(process_locks::of).collect();
        for lock in before {
            assert!(after.contains(&lock), "{mode} {writes}: {lock} of {after:?}");
        }
    }
}

#[test]
fn no_row_that_was_acknowledged_is_lost() {
    let service = Service::new();
    service.database().execute_batch("create table acknowledged (n integer)").unwrap();
    for round in 1..=rounds() {
        if round % 3 == 1 {
            ask_all(&service);
        }
        // It is the last to close, as far as it can see.
        assert_eq!(other(&service.path, "select count(*) from acknowledged"), (round - 1).to_string());
        service.json("POST", "/acknowledged", &format!("{{\"n\":{round}}}")).is(201);
        assert!(beside(&service.path, "-wal").exists());
        assert_eq!(other(&service.path, "select count(*) from acknowledged"), round.to_string());
    }
}

#[test]
fn no_reader_stays_behind() {
    let sql = "pragma journal_mode = wal; create table seen (n integer);";
    let service = Service::with(&format!("{sql} {TASKS}"), |_| {});
    let count = || service.send("GET", "/seen?limit=1", &[("Prefer", "count=exact")], b"");
    count().is(200);
    for round in 1..=rounds() {
        if round % 3 == 1 {
            ask_all(&service);
        }
        assert_eq!(other(&service.path, "insert into seen values (1)"), "done");
        let expected = format!("0-0/{round}");
        assert_eq!(count().header("content-range"), Some(&*expected));
    }
}

#[test]
fn no_answer_mixes_two_states() {
    const ROWS: usize = 30_000;
    let sql = format!(
        "create table many (id integer primary key, state integer, rest text);
         with recursive n(i) as (select 1 union all select i + 1 from n where i < {ROWS})
         insert into many select i, 0, printf('%0100d', i) from n;"
    );
    let service = Service::with(&format!("{sql} {TASKS}"), |_| {});
    for round in 1..=rounds() {
        let mut socket = ask(&service, "/many?select=state,rest");
        let mut start = vec![0; 10_000];
        socket.read_exact(&mut start).unwrap();
        ask_all(&service);
        let said = other(&service.path, &format!("update many set state = {round}"));
        assert!(said == "done" || said.contains("locked"), "{said}");
        let mut rest = Vec::new();
        socket.read_to_end(&mut rest).unwrap();
        let answer = Answer::new(&[start, rest].concat());
        let text = String::from_utf8(answer.body).unwrap();
        let first = text.split(',').next().unwrap().trim_start_matches('[').to_owned();
        assert_eq!(text.matches(&*first).count(), ROWS, "{first}");
    }
}

#[test]
fn a_lock_of_others_is_waited_for_also_by_new_connections() {
    let service = Service::with(&big(5000), |_| {});
    let conn = service.database();
    for target in ["/big", "/big/1", "/big?text=like.*1*2*&limit=1", "/big?limit=3"] {
        // Long answers close their connections.
        (0..3).for_each(|_| drop(service.get("/big").is(200)));
        conn.execute_batch("begin exclusive").unwrap();
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| service.send("GET", target, &[("Prefer", "count=exact")], b""));
            let plain = scope.spawn(|| service.get(target));
            std::thread::sleep(Duration::from_millis(300));
            conn.execute_batch("commit").unwrap();
            plain.join().unwrap().is(200);
            let status = asked.join().unwrap().status;
            assert!(matches!(status, 200 | 206), "{target}: {status}");
        });
    }
}

#[test]
fn a_server_starts_beside_a_lock_that_ends_soon() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("locked.db");
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(TASKS).unwrap();
    conn.execute_batch("begin exclusive").unwrap();
    std::thread::scope(|scope| {
        let started = scope.spawn(|| Server::bind(Settings::new(&path)).map(drop));
        std::thread::sleep(Duration::from_millis(300));
        conn.execute_batch("commit").unwrap();
        started.join().unwrap().unwrap();
    });
}
