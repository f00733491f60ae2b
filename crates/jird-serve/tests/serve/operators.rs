//! What those who run a server need: probes, sockets of other kinds, proxies before it, and a store that does not grow for
//! ever.

use super::common::{Answer, Service, TASKS, events};
use jird::json;
use jird_formats::sqlite::rusqlite::Connection;
use jird_serve::{Listen, Server, Settings, Source};
use jird_store::{Store, WriterOptions};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

const NDJSON: (&str, &str) = ("Content-Type", "application/x-ndjson");

/// The answer of a server that is not ready.
fn unready(answer: &Answer) -> jird::Json {
    assert_eq!((answer.status, answer.header("content-type")), (503, Some("application/json")));
    jird::from_slice(&answer.body).unwrap()
}

/// A database and a store, to which the server writes.
fn both(change: impl FnOnce(&mut Settings)) -> Service {
    let folder = tempfile::tempdir().unwrap();
    let (path, log) = (folder.path().join("a.db"), folder.path().join("log"));
    Connection::open(&path).unwrap().execute_batch(TASKS).unwrap();
    Service::start(folder, path, |settings| {
        settings.write = true;
        settings.sources.push(Source { name: None, path: log });
        change(settings);
    })
}

fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_there() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_is_ready_while_it_can_do_what_it_promises() {
    let service = both(|settings| settings.tokens = vec!["s3cret".into()]);
    let known = || service.send("GET", "/ready", &[("Authorization", "Bearer s3cret")], b"");
    let mut all = vec!["status", "database", "store", "disk"];
    if cfg!(feature = "query") {
        all.push("query");
    }
    let well = service.get("/ready").is(200).tree();
    assert_eq!(well, jird::Json::Object(all.iter().map(|name| ((*name).to_owned(), json!("ok"))).collect()));
    service.json("POST", "/ready", "{}").is(405);
    // A program that keeps its lock, and then lets it go.
    let other = Connection::open(&service.path).unwrap();
    other.execute_batch("begin immediate").unwrap();
    wait_for("locked", || known().status == 503);
    let told = unready(&known());
    assert_eq!((&told["status"], &told["store"]), (&json!("failed"), &json!("ok")));
    assert!(told["database"].as_str().unwrap().contains("locked"), "{told}");
    // Strangers do not learn why.
    assert_eq!(unready(&service.get("/ready"))["database"], "failed");
    service.get("/health").is(200);
    other.execute_batch("rollback").unwrap();
    wait_for("free again", || service.get("/ready").status == 200);
}

#[test]
fn a_server_without_its_database_is_not_ready() {
    let service = Service::with(TASKS, |_| ());
    service.get("/ready").is(200);
    fs::rename(&service.path, service.path.with_extension("away")).unwrap();
    wait_for("gone", || service.get("/ready").status == 503);
    assert!(unready(&service.get("/ready"))["database"].as_str().unwrap().contains("replaced"));
    fs::rename(service.path.with_extension("away"), &service.path).unwrap();
    wait_for("back", || service.get("/ready").status == 200);
}

#[test]
fn many_probes_are_one_try() {
    let service = both(|_| ());
    let other = Connection::open(&service.path).unwrap();
    other.execute_batch("begin immediate").unwrap();
    let start = Instant::now();
    std::thread::scope(|scope| {
        (0..40).for_each(|_| drop(scope.spawn(|| service.get("/ready"))));
        // Nobody else waits.
        for _ in 0..20 {
            let asked = Instant::now();
            service.get("/health").is(200);
            assert!(asked.elapsed() < Duration::from_secs(1));
        }
    });
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}

#[test]
fn a_probe_that_goes_away_leaves_its_try_to_the_next() {
    let service = both(|_| ());
    let other = Connection::open(&service.path).unwrap();
    other.execute_batch("begin immediate").unwrap();
    for _ in 0..3 {
        let mut socket = service.connect();
        socket.write_all(&service.request("GET", "/ready", &[], b"")).unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(unready(&service.get("/ready"))["database"], "the database is locked by another program");
}

#[test]
fn a_server_whose_writes_wait_is_not_ready() {
    let service = both(|_| ());
    let other = Connection::open(&service.path).unwrap();
    other.execute_batch("begin immediate").unwrap();
    std::thread::scope(|scope| {
        let writes: Vec<_> =
            (0..2).map(|_| scope.spawn(|| service.json("POST", "/tasks", r#"{"title": "x"}"#).status)).collect();
        std::thread::sleep(Duration::from_millis(200));
        let told = unready(&service.get("/ready"))["database"].as_str().unwrap().to_owned();
        assert!(told.contains("other writes") || told.contains("locked"), "{told}");
        writes.into_iter().for_each(|write| assert_eq!(write.join().unwrap(), 503));
    });
}

#[test]
fn metrics_have_sizes_and_what_waits() {
    let service = both(|_| ());
    service.json("POST", "/tasks", r#"{"title": "x"}"#).is(201);
    service.send("POST", "/ingest", &[NDJSON], b"{\"@t\":\"2024-01-01T00:00:00Z\"}\n").is(200);
    let text = service.get("/metrics").is(200).text().to_owned();
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name}: {text}")).parse::<u64>().unwrap()
    };
    for name in ["jird_database_bytes", "jird_database_wal_bytes", "jird_store_log_bytes"] {
        assert!(value(name) > 0, "{name}");
    }
    for name in ["jird_writes_waiting", "jird_events_waiting", "jird_store_spans", "jird_store_upkeep_failed_total"] {
        assert_eq!(value(name), 0, "{name}");
    }
}

/// The answer to a request by a Unix socket.
fn ask_unix(path: &Path, target: &str, headers: &str) -> Answer {
    let mut socket = UnixStream::connect(path).unwrap();
    write!(socket, "GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n").unwrap();
    let mut all = Vec::new();
    socket.read_to_end(&mut all).unwrap();
    Answer::new(&all)
}

#[test]
fn a_unix_socket_is_listened_at_and_removed() {
    let sockets = tempfile::tempdir().unwrap();
    let at = sockets.path().join("jird.sock");
    let listen = Listen::Unix(at.clone());
    // What a server that was killed leaves is no hindrance.
    drop(UnixListener::bind(&at).unwrap());
    let mut service = Service::with(TASKS, |settings| settings.listen = listen.clone());
    assert_eq!(ask_unix(&at, "/tasks?select=id&id=eq.1", "").is(200).text(), "[{\"id\":1}]\n");
    assert_eq!(ask_unix(&at, "/tasks", "Host: evil.example\r\n").status, 400);
    let second = |path: &Path| {
        let mut settings = Settings::new(&service.path);
        settings.listen = Listen::Unix(path.to_owned());
        Server::bind(settings).map(drop).unwrap_err().to_string()
    };
    assert!(second(&at).contains("in use"), "{}", second(&at));
    ask_unix(&at, "/health", "").is(200);
    // Nor is another file replaced.
    let file = sockets.path().join("notes.txt");
    fs::write(&file, "mine").unwrap();
    assert!(second(&file).contains("in use"), "{}", second(&file));
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    assert!(second(&sockets.path().join("none/jird.sock")).contains("listening at unix:"));
    service.stop();
    assert!(!at.exists());
    // What took its place stays.
    let mut service = Service::with(TASKS, |settings| settings.listen = listen);
    fs::remove_file(&at).unwrap();
    let _other = UnixListener::bind(&at).unwrap();
    service.stop();
    assert!(at.symlink_metadata().unwrap().file_type().is_socket());
}

#[test]
fn a_proxy_that_is_trusted_says_which_host_and_prefix_are_meant() {
    let forwarded = [("X-Forwarded-Host", "data.example"), ("X-Forwarded-Prefix", "/jird"), ("Host", "inside")];
    let start = |proxy: &str| {
        let proxy = proxy.parse().unwrap();
        Service::with(TASKS, move |settings| {
            settings.write = true;
            settings.hosts = vec!["data.example".into()];
            settings.proxies = vec![proxy];
        })
    };
    let ask = |service: &Service| {
        let headers = [&forwarded[..], &[("Content-Type", "application/json")]].concat();
        service.send("POST", "/tasks", &headers, b"{\"title\": \"x\"}")
    };
    let service = start("127.0.0.0/8");
    assert_eq!(ask(&service).is(201).header("location"), Some("/jird/tasks/4"));
    let document = service.send("GET", "/openapi.json", &forwarded, b"").is(200).tree();
    assert_eq!(document["servers"], json!([{"url": "/jird"}]));
    // From anybody else, these headers are words.
    assert_eq!(ask(&start("192.0.2.1")).status, 421);
    assert!(service.get("/openapi.json").is(200).tree()["servers"].is_null());
}

#[test]
fn all_paths_may_have_a_prefix() {
    let service = both(|settings| settings.path_prefix = "/jird/".into());
    for line in ["{\"@t\":\"2024-01-01T00:00:00Z\"}\n", "{\"@t\":\"2024-01-02T00:00:00Z\"}\n"] {
        service.send("POST", "/jird/ingest", &[NDJSON], line.as_bytes()).is(200);
    }
    let next = service.get("/jird/events?limit=1").is(200).header("link").unwrap().to_owned();
    let next = next.strip_prefix('<').unwrap().split('>').next().unwrap();
    assert!(next.starts_with("/jird/events?"), "{next}");
    assert!(service.get(next).is(200).text().contains("2024-01-01"));
    let made = service.json("POST", "/jird/tasks", r#"{"title": "x"}"#).is(201);
    service.get(made.header("location").unwrap()).is(200);
    for target in ["/tasks", "/", "/jirdtasks", "/jird/nothing", "/events", "/ingest"] {
        service.get(target).is(404);
    }
    // The page finds what is beside it.
    assert_eq!(service.get("/jird").is(308).header("location"), Some("/jird/"));
    let page = service.get("/jird/").is(200).text().to_owned();
    assert!(page.contains("href=\"_/page.css\"") && page.contains("src=\"_/page.js\""));
    service.get("/jird/_/page.js").is(200);
    // Probes know only an address.
    for target in ["/health", "/ready", "/jird/health", "/jird/ready"] {
        service.get(target).is(200);
    }
    let mut settings = Settings::new(&service.path);
    settings.path_prefix = "jird".into();
    assert!(Server::bind(settings).is_err());
}

#[test]
fn events_that_are_hidden_are_deleted_also_from_logs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events");
    let store = Store::create(&path, &jird_store::Settings::default()).unwrap();
    let writer = store.writer(&WriterOptions::default()).unwrap();
    let lines = b"{\"@t\":\"1999-01-01T00:00:00Z\",\"a\":\"OLDOLDOLD\"}\n{\"@t\":\"2099-01-01T00:00:00Z\",\"a\":\"NEWNEWNEW\"}\n";
    let batch = jird_store::Batch::prepare(lines, store.settings(), &mut |_, _, error| panic!("{error}"));
    writer.append(batch).unwrap();
    writer.finish().unwrap();
    // Nothing of it is compressed in a log.
    let has = |wanted: &[u8]| {
        let all = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
        all.filter_map(|file| fs::read(file).ok()).any(|bytes| bytes.windows(wanted.len()).any(|part| part == wanted))
    };
    assert!(has(b"OLDOLDOLD") && store.size().unwrap().spans == 0);
    let service = Service::start(folder, path.clone(), |settings| {
        settings.write = true;
        settings.keep = Some(Duration::from_hours(1));
    });
    wait_for("it is hidden", || events(&path).len() == 1);
    wait_for("it is deleted", || !has(b"OLDOLDOLD"));
    wait_for("the other is in a span", || store.size().unwrap().spans == 1);
    assert!(service.get("/events").is(200).text().contains("NEWNEWNEW"));
}

#[test]
fn old_events_go_and_small_spans_become_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events");
    let store = Store::create(&path, &jird_store::Settings::default()).unwrap();
    let year = |year: u32| format!("{{\"@t\":\"{year}-01-01T00:00:00Z\"}}");
    for number in 0..9 {
        let writer = store.writer(&WriterOptions::default()).unwrap();
        let of = if number == 0 { 1999 } else { 2090 + number };
        let batch =
            jird_store::Batch::prepare(year(of).as_bytes(), store.settings(), &mut |_, _, error| panic!("{error}"));
        writer.append(batch).unwrap();
        writer.seal().unwrap();
        writer.finish().unwrap();
    }
    assert_eq!(store.size().unwrap().spans, 9);
    let service = Service::start(folder, path.clone(), |settings| {
        settings.write = true;
        settings.keep = Some(Duration::from_hours(24));
    });
    wait_for("the old event is gone", || events(&path).len() == 8);
    wait_for("one span", || store.size().unwrap().spans == 1);
    assert_eq!(events(&path), (2091..2099).map(year).collect::<Vec<_>>());
    // They are counted when the work is done, which the store shows before.
    crate::common::wait_for(&service, "jird_store_events_removed_total 1");
    crate::common::wait_for(&service, "jird_store_spans_merged_total 8");
}

#[test]
fn the_spans_that_end_first_go_when_the_store_is_too_large() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events");
    let store = Store::create(&path, &jird_store::Settings::default()).unwrap();
    for year in 2001..=2003 {
        let writer = store.writer(&WriterOptions::default()).unwrap();
        let lines = format!("{{\"@t\":\"{year}-01-01T00:00:00Z\"}}\n").repeat(2000);
        let batch =
            jird_store::Batch::prepare(lines.as_bytes(), store.settings(), &mut |_, _, error| panic!("{error}"));
        writer.append(batch).unwrap();
        writer.seal().unwrap();
        writer.finish().unwrap();
    }
    let (all, spans) = (store.size().unwrap().span_bytes, 3);
    assert_eq!(store.size().unwrap().spans, spans);
    let service = Service::start(folder, path.clone(), |settings| {
        settings.write = true;
        settings.keep_bytes = Some(all / 2);
    });
    wait_for("one span is left", || store.size().unwrap().spans == 1);
    assert!(events(&path).iter().all(|event| event.contains("2003-01-01")) && events(&path).len() == 2000);
    crate::common::wait_for(&service, "jird_store_events_removed_total 4000");
}
