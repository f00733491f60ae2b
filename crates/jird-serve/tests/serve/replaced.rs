//! A database whose file is replaced, or goes, while it is served.

use crate::common::{Answer, Service, ask};
use jird_formats::sqlite::rusqlite::Connection;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A database with the rows of one state.
fn made(path: &Path, state: &str, rows: usize) {
    let conn = Connection::open(path).unwrap();
    let sql = format!(
        "create table t (id integer primary key, state text, rest text);
         with recursive n(i) as (select 1 union all select i + 1 from n where i < {rows})
         insert into t select i, '{state}', printf('%0100d', i) from n;"
    );
    conn.execute_batch(&sql).unwrap();
}

fn served(writes: bool, rows: usize) -> Service {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    made(&path, "old", rows);
    Service::start(folder, path, |settings| settings.write = writes)
}

fn beside(service: &Service, name: &str) -> PathBuf {
    service.path.with_file_name(name)
}

fn replace(service: &Service, state: &str, rows: usize) {
    let new = beside(service, "new.db");
    made(&new, state, rows);
    fs::rename(new, &service.path).unwrap();
}

/// Asks until the answer is not that the file was replaced.
fn settled(ask: impl Fn() -> Answer) -> Answer {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let answer = ask();
        if answer.status != 503 {
            return answer;
        }
        assert!(answer.header("retry-after").is_some() && Instant::now() < until, "{answer:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn count(path: &Path, sql: &str) -> i64 {
    let conn = Connection::open(path).unwrap();
    assert_eq!(conn.query_row("pragma integrity_check", [], |row| row.get::<_, String>(0)).unwrap(), "ok");
    conn.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_file_in_its_place_is_read_and_written_and_the_old_one_is_not() {
    for (old_rows, new_rows) in [(3, 2000), (2000, 3)] {
        let service = served(true, old_rows);
        for number in 0..20 {
            service.json("POST", "/t", &format!("{{\"state\":\"old\",\"rest\":\"{number}\"}}")).is(201);
            service.get("/t?limit=2").is(200);
        }
        fs::hard_link(&service.path, beside(&service, "before.db")).unwrap();
        replace(&service, "new", new_rows);
        let first = service.json("POST", "/t", "{\"state\":\"late\"}");
        assert!(matches!(first.status, 201 | 503), "{first:?}");
        settled(|| service.json("POST", "/t", "{\"state\":\"late\"}")).is(201);
        let text = service.get("/t?limit=5&select=state").is(200).text().to_owned();
        assert!(text.contains("new") && !text.contains("old"), "{text}");
        let mut service = service;
        service.stop();
        let late = count(&service.path, "select count(*) from t where state = 'late'");
        assert_eq!(late, 1 + i64::from(first.status == 201));
        assert_eq!(count(&service.path, "select count(*) from t where state = 'old'"), 0);
        assert_eq!(count(&service.path, "select count(*) from t"), late + i64::try_from(new_rows).unwrap());
        // What was acknowledged before is in the file in which it was written.
        let before = beside(&service, "before.db");
        assert_eq!(count(&before, "select count(*) from t"), i64::try_from(old_rows).unwrap() + 20);
    }
}

#[test]
fn readers_see_the_new_file_at_once_or_wait() {
    let service = served(false, 3);
    for round in 0..5 {
        let state = format!("state {round}");
        for _ in 0..3 {
            service.get("/t?select=state&limit=1").is(200);
        }
        replace(&service, &state, 3);
        let text = settled(|| service.get("/t?select=state&limit=1")).is(200).text().to_owned();
        assert_eq!(text, format!("[{{\"state\":\"{state}\"}}]\n"));
        service.get("/health").is(200);
    }
}

#[test]
fn a_file_that_is_gone_or_is_none_answers_503_until_there_is_one() {
    for writes in [true, false] {
        let service = served(writes, 3);
        let is_refused = |what: &str| {
            for answer in [service.get("/t"), service.get("/t/1"), service.json("POST", "/t", "{\"state\":\"x\"}")] {
                let is_right = answer.status == 503 || !writes && answer.status == 405;
                assert!(is_right, "{what}: {answer:?}");
            }
            service.get("/health").is(200);
        };
        service.get("/t").is(200);
        fs::remove_file(&service.path).unwrap();
        is_refused("removed");
        fs::create_dir(&service.path).unwrap();
        is_refused("a folder");
        fs::remove_dir(&service.path).unwrap();
        fs::write(&service.path, "no database, but a text\n".repeat(100)).unwrap();
        is_refused("a text");
        fs::remove_file(&service.path).unwrap();
        replace(&service, "new", 3);
        let text = settled(|| service.get("/t?select=state&limit=1")).is(200).text().to_owned();
        assert_eq!(text, "[{\"state\":\"new\"}]\n");
        fs::write(&service.path, "").unwrap();
        let emptied = settled(|| service.get("/t"));
        assert_eq!(emptied.status, 404, "{emptied:?}");
    }
}

#[test]
fn a_log_that_came_with_the_new_file_is_its_own() {
    let service = served(true, 3);
    service.json("POST", "/t", "{\"state\":\"old\"}").is(201);
    // Another program has written to the new database, and was ended before its log was in the file.
    let new = beside(&service, "new.db");
    made(&new, "new", 3);
    let conn = Connection::open(&new).unwrap();
    conn.query_row("pragma journal_mode = wal", [], |_| Ok(())).unwrap();
    conn.execute_batch("insert into t (state) values ('logged')").unwrap();
    let folder = tempfile::tempdir().unwrap();
    for suffix in ["", "-wal"] {
        fs::copy(beside(&service, &format!("new.db{suffix}")), folder.path().join(format!("n{suffix}"))).unwrap();
    }
    drop(conn);
    let _ = fs::remove_file(beside(&service, "t.db-shm"));
    fs::copy(folder.path().join("n-wal"), beside(&service, "moved-wal")).unwrap();
    fs::copy(folder.path().join("n"), beside(&service, "moved")).unwrap();
    fs::rename(beside(&service, "moved-wal"), beside(&service, "t.db-wal")).unwrap();
    fs::rename(beside(&service, "moved"), &service.path).unwrap();
    let text = settled(|| service.get("/t?select=state&order=id.desc&limit=1")).is(200).text().to_owned();
    assert_eq!(text, "[{\"state\":\"logged\"}]\n");
    let mut service = service;
    service.stop();
    assert_eq!(count(&service.path, "select count(*) from t"), 4);
}

#[test]
fn a_long_answer_is_of_one_file_or_cut() {
    let service = served(false, 50_000);
    let mut socket = ask(&service, "/t?select=state,rest");
    let mut start = vec![0; 10_000];
    socket.read_exact(&mut start).unwrap();
    replace(&service, "new", 50_000);
    service.get("/t?limit=1");
    let mut rest = Vec::new();
    let _ = socket.read_to_end(&mut rest);
    let answer = Answer::new(&[start, rest].concat());
    assert!(!String::from_utf8_lossy(&answer.body).contains("new"));
    assert!(!answer.is_whole, "its file is not served any more");
    settled(|| service.get("/t?limit=1")).is(200);
}
